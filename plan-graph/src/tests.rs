//! Graphs agree with a simple model and with each other. Large graphs are only tested for an answer.

use crate::Graph;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

type Lists = Vec<Vec<usize>>;

fn graph(lists: &Lists) -> Graph {
    Graph::new(lists)
}

fn lists(graph: &Graph) -> Lists {
    let list = |step| graph.of(step).iter().map(|&to| to as usize).collect();
    (0..graph.len()).map(list).collect()
}

/// Lists of up to `most` steps. Some graphs have no cycles, some name steps twice, some name steps that do not exist.
fn any_lists(most: usize) -> impl Strategy<Value = Lists> {
    let sizes = (1..=most, any::<bool>(), 0..3_usize, 1..5_usize);
    sizes.prop_flat_map(|(count, backward, beyond, edges)| {
        let list = prop::collection::vec(0..count + beyond, 0..=edges);
        prop::collection::vec(list, count).prop_map(move |mut lists| {
            for (step, list) in lists.iter_mut().enumerate() {
                list.retain(|&to| !backward || to < step || to >= count);
            }
            lists
        })
    })
}

/// Returns the reachable steps of each step: joins edges until no new pair appears.
fn closure(lists: &Lists) -> Vec<BTreeSet<usize>> {
    let existing = |list: &Vec<usize>| {
        list.iter()
            .copied()
            .filter(|&to| to < lists.len())
            .collect()
    };
    let mut reached: Vec<BTreeSet<usize>> = lists.iter().map(existing).collect();
    loop {
        let further: Vec<BTreeSet<usize>> = reached
            .iter()
            .map(|set| {
                set.iter()
                    .flat_map(|&to| &reached[to])
                    .chain(set)
                    .copied()
                    .collect()
            })
            .collect();
        if further == reached {
            return reached;
        }
        reached = further;
    }
}

/// Returns the level of a step, by its definition. `way` contains the steps on the current path.
fn level(lists: &Lists, step: usize, way: &mut Vec<usize>) -> Option<usize> {
    if way.contains(&step) || step >= lists.len() {
        return None;
    }
    way.push(step);
    let below: Option<Vec<usize>> = lists[step]
        .iter()
        .map(|&to| level(lists, to, way))
        .collect();
    way.pop();
    below.map(|below| below.iter().max().map_or(0, |most| most + 1))
}

/// Returns the length of the shortest cycle through a step among `steps`. The function tries cycles of 1, 2, 3… edges.
fn shortest(lists: &Lists, start: usize, steps: &BTreeSet<usize>) -> Option<usize> {
    let mut ends = BTreeSet::from([start]);
    (1..=lists.len()).find(|_| {
        ends = ends
            .iter()
            .flat_map(|&step| &lists[step])
            .filter(|to| steps.contains(to))
            .copied()
            .collect();
        ends.contains(&start)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn edges_are_those_of_the_lists(of in any_lists(12)) {
        let graph = graph(&of);
        prop_assert_eq!(&lists(&graph), &of);
        let sources = |step| {
            let twice = |from: usize| of[from].iter().filter(move |&&to| to == step).map(move |_| from);
            (0..of.len()).flat_map(twice).collect::<Vec<_>>()
        };
        let reversed: Lists = (0..of.len()).map(sources).collect();
        prop_assert_eq!(lists(&graph.reversed()), &reversed[..]);
        // Two reversals change only the order.
        let mut sorted = of.clone();
        for list in &mut sorted {
            list.retain(|&to| to < of.len());
            list.sort_unstable();
        }
        prop_assert_eq!(lists(&graph.reversed().reversed()), &sorted[..]);
    }

    #[test]
    fn levels_are_the_longest_paths(of in any_lists(9)) {
        let expected: Vec<_> = (0..of.len()).map(|step| level(&of, step, &mut Vec::new())).collect();
        prop_assert_eq!(graph(&of).levels(), expected);
    }

    #[test]
    fn components_lead_to_one_another(of in any_lists(12)) {
        let (components, reached) = (graph(&of).components(), closure(&of));
        for one in 0..of.len() {
            for other in 0..of.len() {
                let both = one == other || (reached[one].contains(&other) && reached[other].contains(&one));
                prop_assert_eq!(components[one] == components[other], both);
                // A component has a number after the components it leads to.
                prop_assert!(!reached[one].contains(&other) || components[one] >= components[other]);
            }
        }
    }

    #[test]
    fn cycles_are_the_shortest(of in any_lists(12)) {
        let (graph, reached) = (graph(&of), closure(&of));
        let mut expected = Vec::new();
        let mut left: BTreeSet<usize> = (0..of.len()).filter(|step| reached[*step].contains(step)).collect();
        while let Some(&first) = left.first() {
            let together: BTreeSet<usize> = left.iter().copied().filter(|other| reached[first].contains(other) && reached[*other].contains(&first)).collect();
            let lengths = together.iter().filter_map(|&step| Some((shortest(&of, step, &together)?, step)));
            let (length, start) = lengths.min().expect("each of them is part of a cycle");
            expected.push((start, length));
            left.retain(|step| !together.contains(step));
        }
        expected.sort_unstable();
        let cycles = graph.cycles();
        for cycle in &cycles {
            for (place, &step) in cycle.iter().enumerate() {
                prop_assert!(of[step].contains(&cycle[(place + 1) % cycle.len()]), "{:?}", cycle);
            }
            prop_assert_eq!(cycle.iter().collect::<BTreeSet<_>>().len(), cycle.len());
        }
        let found: Vec<_> = cycles.iter().map(|cycle| (cycle[0], cycle.len())).collect();
        prop_assert_eq!(found, expected);
        // A step has a level if it leads to no cycle, and to no step that does not exist.
        let beyond = of.iter().flatten().any(|&to| to >= of.len());
        prop_assert_eq!(cycles.is_empty() && !beyond, graph.levels().iter().all(Option::is_some));
    }

    #[test]
    fn what_is_reachable_is_reached(of in any_lists(12)) {
        let (graph, reached) = (graph(&of), closure(&of));
        for (start, expected) in reached.iter().enumerate() {
            let reachable = graph.reachable(start);
            let reachable: BTreeSet<usize> = (0..of.len()).filter(|&step| reachable[step]).collect();
            prop_assert_eq!(&reachable, expected);
        }
    }

    #[test]
    fn paths_lead_through_the_first_step_that_leads_on(mut of in any_lists(12)) {
        for (step, list) in of.iter_mut().enumerate() {
            list.retain(|&to| to < step);
        }
        let (graph, reached) = (graph(&of), closure(&of));
        let mut paths = graph.paths();
        for (from, list) in of.iter().enumerate() {
            for to in 0..of.len() {
                let expected = list.iter().copied().find(|&near| reached[near].contains(&to));
                prop_assert_eq!(paths.through(from, to), Ok(expected));
            }
        }
    }

    fn each_reduced_graph_leads_to_the_same_steps(of in any_lists(12)) {
        let graph = graph(&of);
        let Some(reduced) = graph.reduced() else {
            prop_assert!(graph.levels().contains(&None));
            return Ok(());
        };
        prop_assert_eq!(closure(&lists(&reduced)), closure(&of));
        // The reduced graph lacks exactly the dispensable edges.
        let mut paths = graph.paths();
        for (from, list) in of.iter().enumerate() {
            let mut kept: BTreeSet<usize> = list.iter().copied().collect();
            kept.retain(|&to| paths.through(from, to) == Ok(None));
            let mut edges = lists(&reduced)[from].clone();
            edges.sort_unstable();
            LEFT_OUT.fetch_add(list.len() - kept.len(), Ordering::Relaxed);
            prop_assert_eq!(edges, kept.into_iter().collect::<Vec<_>>());
        }
    }
}

/// Edges that a reduced graph does not have.
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_reduced_graph_leads_to_the_same_steps() {
    each_reduced_graph_leads_to_the_same_steps();
    let left_out = LEFT_OUT.load(Ordering::Relaxed);
    assert!(left_out > 20, "{left_out}");
}

const MANY: usize = 100_000;

#[test]
fn a_long_chain() {
    let chain: Lists = (0..MANY)
        .map(|step| step.checked_sub(1).into_iter().collect())
        .collect();
    let graph = graph(&chain);
    assert_eq!(graph.levels(), (0..MANY).map(Some).collect::<Vec<_>>());
    assert_eq!(graph.components(), (0..MANY as u32).collect::<Vec<_>>());
    assert_eq!(graph.cycles(), Lists::new());
    assert!(!graph.reachable(MANY / 2)[MANY / 2]);
    assert!(
        graph.reachable(MANY - 1)[..MANY - 1]
            .iter()
            .all(|reached| *reached)
    );
    assert!(
        graph.reversed().reachable(0)[1..]
            .iter()
            .all(|reached| *reached)
    );
    // In the reversed graph, the search for components goes as deep as the chain is long.
    assert_eq!(
        graph.reversed().components(),
        (0..MANY as u32).rev().collect::<Vec<_>>()
    );
    let mut paths = graph.paths();
    assert_eq!(paths.through(MANY - 1, 0), Ok(Some(MANY - 2)));
    assert_eq!(paths.through(MANY - 1, MANY - 2), Ok(None));
}

#[test]
fn a_wide_fan() {
    let mut fan = vec![vec![]];
    fan.extend((2..MANY).map(|_| vec![0]));
    fan.push((0..MANY - 1).collect());
    let graph = graph(&fan);
    let levels = graph.levels();
    assert_eq!(
        (levels[0], levels[1], levels[MANY - 1]),
        (Some(0), Some(1), Some(2))
    );
    assert_eq!(graph.cycles(), Lists::new());
    assert_eq!(graph.reversed().of(0).len(), MANY - 1);
    assert_eq!(graph.paths().through(MANY - 1, 0), Ok(Some(1)));
    // Each of them lies on a cycle of two once the first needs the last.
    fan[0].push(MANY - 1);
    assert_eq!(self::graph(&fan).cycles(), [[0, MANY - 1]]);
}

#[test]
fn one_big_cycle() {
    let cycle: Lists = (0..MANY).map(|step| vec![(step + 1) % MANY]).collect();
    let big = graph(&cycle);
    assert_eq!(big.cycles(), [(0..MANY).collect::<Vec<_>>()]);
    assert_eq!(big.levels(), vec![None; MANY]);
    assert!(big.reachable(7).iter().all(|reached| *reached));
    // The shorter cycle is preferred.
    let mut shortcut = cycle.clone();
    shortcut[40].push(10);
    assert_eq!(graph(&shortcut).cycles(), [(10..=40).collect::<Vec<_>>()]);
}

#[test]
fn many_small_cycles() {
    let pairs: Lists = (0..MANY).map(|step| vec![step ^ 1]).collect();
    let expected: Lists = (0..MANY)
        .step_by(2)
        .map(|step| vec![step, step + 1])
        .collect();
    assert_eq!(graph(&pairs).cycles(), expected);
}

/// A dense graph with a question for each edge of each step exhausts the limit.
#[test]
fn questions_end() {
    let count = 600;
    let dense: Lists = (0..count)
        .map(|step| (step % 2..step).step_by(2).collect())
        .collect();
    let dense = graph(&dense);
    let mut paths = dense.paths();
    let questions = (0..count).flat_map(|from| (0..from).map(move |to| (from, to)));
    let mut answers = questions.map(|(from, to)| paths.through(from, to));
    assert!(answers.any(|answer| answer == Err(crate::Exhausted)));
}
