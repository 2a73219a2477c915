use crate::plan::{Plan, Source, Step};

/// What a run asks of a plan's graph, in a few flat lists. Steps are numbered with 32 bits, so that more of it fits a cache.
pub(super) struct Graph {
    /// For each step, the steps that need it.
    pub(super) dependents: Lists,
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
        let dependents = Lists::inverse(steps.iter().map(|step| &*step.needs), dependents);
        if !forward {
            acyclic(plan, &waits, &dependents)?;
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

/// Takes steps away for as long as there is one that waits for nothing: what is left are cycles and what needs them.
fn acyclic(plan: &Plan, waits: &[u32], dependents: &Lists) -> Result<(), String> {
    let mut waits = waits.to_vec();
    let mut free: Vec<usize> = (0..waits.len()).filter(|step| waits[*step] == 0).collect();
    let mut taken = 0;
    while let Some(step) = free.pop() {
        taken += 1;
        for &dependent in dependents.of(step) {
            let dependent = dependent as usize;
            waits[dependent] -= 1;
            if waits[dependent] == 0 {
                free.push(dependent);
            }
        }
    }
    if taken == waits.len() {
        return Ok(());
    }
    let way = plan.cycle().unwrap_or_default();
    let way = way.iter().chain(way.first());
    let way: Vec<_> = way
        .map(|step| format!("`{}`", plan.steps[*step].id))
        .collect();
    Err(format!("steps wait for each other: {}", way.join(" → ")))
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

/// A list for each step, end to end in one allocation.
pub(super) struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// For each step, the steps whose list names it, in ascending order. `counts` says how many they are.
    fn inverse<'l>(lists: impl Iterator<Item = &'l [usize]>, counts: Vec<u32>) -> Self {
        let mut next = counts;
        let mut total = 0;
        for start in &mut next {
            total += std::mem::replace(start, total);
        }
        let mut items = vec![0; total as usize];
        for (step, list) in lists.enumerate() {
            for &item in list {
                items[next[item] as usize] = number(step);
                next[item] += 1;
            }
        }
        // Each start has moved to its list's end.
        Self { ends: next, items }
    }

    pub(super) fn of(&self, step: usize) -> &[u32] {
        let start = step.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[step] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn inverse_lists() {
        let needs: [&[usize]; 5] = [&[], &[0, 3], &[0, 1], &[], &[3]];
        let dependents = Lists::inverse(needs.iter().copied(), vec![2, 1, 0, 2, 0]);
        let all: Vec<_> = (0..5).map(|step| dependents.of(step)).collect();
        assert_eq!(all, [&[1, 2][..], &[2], &[], &[1, 4], &[]]);
    }
}
