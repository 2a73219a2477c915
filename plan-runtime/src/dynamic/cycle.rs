//! Steps that wait for one another.

use super::draft::Draft;
use super::finding::{Code, Note};
use crate::Plan;
use crate::plan::{Source, Template};
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use std::ops::Range;

/// Says a way round for each group of steps that wait for one another.
pub(super) fn check(draft: &mut Draft, plan: &Plan) {
    if plan.cycle().is_none() {
        return;
    }
    for way in ways(plan) {
        let name = |step: usize| plan.steps[step].id.as_ref();
        let round: Vec<&str> = way
            .iter()
            .chain(way.first())
            .map(|&step| name(step))
            .collect();
        let message = match way.len() {
            1 => format!("step `{}` waits for itself", round[0]),
            _ => format!("steps wait for one another: `{}`", round.join("` → `")),
        };
        let edges: Vec<(Range<usize>, String)> = (0..way.len())
            .map(|at| {
                let (step, next) = (way[at], way[(at + 1) % way.len()]);
                (
                    edge(draft, plan, step, next),
                    format!("`{}` needs `{}`", name(step), name(next)),
                )
            })
            .collect();
        let mut edges = edges.into_iter();
        let Some((place, label)) = edges.next() else {
            continue;
        };
        let mut note = Note::error(Code::Cycle, place, message)
            .label(label)
            .step(name(way[0]));
        for (place, label) in edges {
            note = note.related(place, label);
        }
        draft.notes.push(note.help(
            "take one of these references out, or have its value come from elsewhere".to_owned(),
        ));
    }
}

/// A way round for each group of steps that wait for one another.
fn ways(plan: &Plan) -> Vec<Vec<usize>> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = plan.steps.iter().map(|_| graph.add_node(())).collect();
    for (step, node) in plan.steps.iter().zip(&nodes) {
        for &needed in step.needs.iter() {
            if let Some(needed) = nodes.get(needed) {
                graph.add_edge(*node, *needed, ());
            }
        }
    }
    let groups = kosaraju_scc(&graph).into_iter();
    let mut ways: Vec<Vec<usize>> = groups
        .filter_map(|group| shortest(&graph, &group))
        .collect();
    ways.sort_unstable();
    ways
}

/// The shortest way round through the group's first step.
fn shortest(graph: &DiGraph<(), ()>, group: &[NodeIndex]) -> Option<Vec<usize>> {
    let start = *group.iter().min()?;
    if group.len() == 1 {
        return graph
            .contains_edge(start, start)
            .then(|| vec![start.index()]);
    }
    let back = graph
        .neighbors(start)
        .filter_map(|next| astar(graph, next, |node| node == start, |_| 1, |_| 0));
    let (_, mut way) = back.min_by_key(|(length, _)| *length)?;
    way.rotate_right(1);
    Some(way.into_iter().map(NodeIndex::index).collect())
}

/// Where a step says that it needs another.
fn edge(draft: &Draft, plan: &Plan, step: usize, needed: usize) -> Range<usize> {
    let Some(spans) = draft.spans.steps.get(step) else {
        return 0..0;
    };
    if let Some((_, place)) = spans.after.iter().find(|(after, _)| *after == needed) {
        return place.range();
    }
    let mut at = spans.templates();
    let mut found = None;
    plan.steps[step].templates(&mut |_, template| {
        template.each(&mut |part| {
            let reads = match part {
                Template::Reference(reference) => reference.source == Source::Step(needed),
                Template::Computed(computed) => computed.reads.contains(&Source::Step(needed)),
                _ => false,
            };
            if reads && found.is_none() {
                found = draft.spans.templates.get(at);
            }
            at += 1;
        });
    });
    found.map_or(spans.whole, |span| span.value).range()
}
