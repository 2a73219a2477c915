//! The graph of a plan's steps, as a run needs it.

use crate::plan::{Plan, Source, Step};
use plan_graph::Graph as Edges;

/// What a run asks of a plan's graph, in a few flat lists. Steps are numbered with 32 bits, so that more of it fits a cache.
pub(super) struct Graph {
    /// For each step, the steps that need it.
    pub(super) dependents: Edges,
    /// For each step, how many of its dependencies have not completed.
    pub(super) waits: Vec<u32>,
    /// For each step, how many are still to read its output; the plan's own output counts as one.
    pub(super) readers: Vec<u32>,
}

impl Graph {
    /// The graph, or why its steps can never all run. A plan that was made by hand may be anything.
    pub(super) fn new(plan: &Plan) -> Result<Self, String> {
        let steps = &plan.steps[..];
        let count = steps.len();
        let mut waits = Vec::with_capacity(count);
        let mut dependents = vec![0_u32; count];
        // Where each step needs only steps before it, which is how nearly all plans are written, there can be no cycle.
        let mut forward = true;
        let mut total = 0;
        let mut only_reads = true;
        for (place, step) in steps.iter().enumerate() {
            let needs = &*step.needs;
            only_reads &= step.after.is_empty();
            for &need in needs {
                let Some(dependents) = dependents.get_mut(need) else {
                    return Err(format!(
                        "step `{}` needs step number {need}, but the plan has only {count}",
                        step.id
                    ));
                };
                *dependents = dependents.wrapping_add(1);
                forward &= need < place;
            }
            total += needs.len();
            waits.push(number(needs.len()));
        }
        if u32::try_from(count.max(total)).is_err() {
            return Err(format!("{count} steps with {total} needs are too many"));
        }
        let readers = readers(plan, &dependents, only_reads);
        let dependents = Edges::inverse(steps.iter().map(|step| &*step.needs), dependents);
        if !forward && let Some(cycle) = plan.cycles().first() {
            let ids = cycle.iter().chain(cycle.first());
            let ids: Vec<_> = ids
                .map(|step| format!("`{}`", plan.steps[*step].id))
                .collect();
            return Err(format!("steps wait for each other: {}", ids.join(" → ")));
        }
        Ok(Self {
            dependents,
            waits,
            readers,
        })
    }
}

/// How many read each step's output, the plan's own output among them. `only_reads` says that no step only waits for another.
fn readers(plan: &Plan, dependents: &[u32], only_reads: bool) -> Vec<u32> {
    // What a step needs it reads, but for what it only waits for.
    let mut readers = dependents.to_vec();
    let waiting = |step: &&Step| !only_reads && !step.after.is_empty();
    for step in plan.steps.iter().filter(waiting) {
        step.needs.iter().for_each(|need| readers[*need] -= 1);
        reads(step, &mut |read| {
            if let Some(readers) = readers.get_mut(read) {
                *readers += 1;
            }
        });
    }
    for read in steps_in(plan.output.value.reads()) {
        if let Some(readers) = readers.get_mut(read) {
            *readers += 1;
        }
    }
    readers
}

/// Hands over the steps whose outputs a step reads. Where it waits for no others, they are all that it needs.
#[cold]
pub(super) fn reads(step: &Step, f: &mut impl FnMut(usize)) {
    steps_in(step.reads()).for_each(f);
}

/// The steps among what is read.
fn steps_in(reads: Vec<Source>) -> impl Iterator<Item = usize> {
    reads.into_iter().filter_map(|source| match source {
        Source::Step(step) => Some(step),
        Source::Input(_) | Source::Local(_) => None,
    })
}

/// A number of steps or of their needs, of which there are no more than fit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a graph has no more steps than that"
)]
#[inline]
pub(super) fn number(steps: usize) -> u32 {
    steps as u32
}
