//! Steps that wait for one another.

use super::dialects::reading::Draft;
use super::finding::{Code, Note};
use crate::Plan;
use crate::plan::{Source, Template};
use crate::resolve::describe::short;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// How many steps of a way round are named.
const MOST_NAMED: usize = 16;

/// Says a way round for each group of steps that wait for one another.
pub(super) fn check(draft: &mut Draft, plan: &Plan) {
    if plan.cycle().is_none() {
        return;
    }
    for way in ways(plan) {
        let name = |step: usize| short(&plan.steps[step].id);
        let message = match &way[..] {
            [only] => format!("step `{}` waits for itself", name(*only)),
            _ => format!("steps wait for one another: {}", round(&way, name)),
        };
        let mut edges = (0..way.len()).take(MOST_NAMED).map(|at| {
            let (step, next) = (way[at], way[(at + 1) % way.len()]);
            let label = format!("`{}` needs `{}`", name(step), name(next));
            (edge(draft, plan, step, next), label)
        });
        let Some((place, label)) = edges.next() else {
            continue;
        };
        let mut note = Note::error(Code::Cycle, place, message)
            .label(label)
            .step(&plan.steps[way[0]].id.as_ref().into());
        for (place, label) in edges {
            note = note.related(place, label);
        }
        draft.notes.push(note.help(
            "take one of these references out, or have its value come from elsewhere".to_owned(),
        ));
    }
}

/// `a` → `b` → `a`, without the middle of a way that is long.
fn round(way: &[usize], name: impl Fn(usize) -> String) -> String {
    let named = |steps: &[usize]| {
        let names: Vec<String> = steps
            .iter()
            .map(|&step| format!("`{}`", name(step)))
            .collect();
        names.join(" → ")
    };
    let first = named(&way[..1]);
    match way.len().checked_sub(MOST_NAMED) {
        None | Some(0) => format!("{} → {first}", named(way)),
        Some(more) => {
            let (start, end) = (&way[..MOST_NAMED - 1], &way[way.len() - 1..]);
            format!("{} → {more} more → {} → {first}", named(start), named(end))
        }
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
    // Breadth first, so that the first way back is the shortest.
    let mut before: HashMap<NodeIndex, NodeIndex> = HashMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for next in graph.neighbors(node) {
            if next == start {
                let way = std::iter::successors(Some(node), |node| before.get(node).copied());
                let mut way: Vec<usize> = way.map(NodeIndex::index).collect();
                way.reverse();
                return Some(way);
            }
            if let Entry::Vacant(new) = before.entry(next) {
                new.insert(node);
                open.push_back(next);
            }
        }
    }
    None
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
