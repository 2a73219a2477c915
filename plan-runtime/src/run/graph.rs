use crate::plan::{Plan, Source};

/// What a run asks of a plan's graph, in a few flat lists.
pub(super) struct Graph {
    /// For each step, the steps that need it.
    pub(super) dependents: Lists,
    /// For each step, the steps whose outputs it reads.
    pub(super) reads: Lists,
    /// For each step, how many of its dependencies have not completed.
    pub(super) waits: Vec<usize>,
    /// For each step, how many are still to read its output; the plan's own output counts as one.
    pub(super) readers: Vec<usize>,
}

impl Graph {
    /// The graph, or why its steps can never all run. A plan that was made by hand may be anything.
    pub(super) fn new(plan: &Plan) -> Result<Self, String> {
        let steps = &plan.steps;
        for step in steps.iter() {
            if let Some(need) = step.needs.iter().find(|need| **need >= steps.len()) {
                return Err(format!(
                    "step `{}` needs step number {need}, but the plan has only {}",
                    step.id,
                    steps.len()
                ));
            }
        }
        let waits: Vec<usize> = steps.iter().map(|step| step.needs.len()).collect();
        let dependents = Lists::inverse(steps.iter().map(|step| &*step.needs));
        acyclic(plan, &waits, &dependents)?;

        let mut reads = Lists::new(steps.len());
        let mut readers = vec![0; steps.len()];
        for step in steps.iter() {
            reads.push(steps_in(step.reads()));
        }
        let output = steps_in(plan.output.value.reads()).collect::<Vec<_>>();
        for read in reads.items.iter().chain(&output) {
            if let Some(count) = readers.get_mut(*read) {
                *count += 1;
            }
        }
        Ok(Self {
            dependents,
            reads,
            waits,
            readers,
        })
    }
}

/// Takes steps away for as long as there is one that waits for nothing: what is left are cycles and what needs them.
fn acyclic(plan: &Plan, waits: &[usize], dependents: &Lists) -> Result<(), String> {
    let mut waits = waits.to_vec();
    let mut free: Vec<usize> = (0..waits.len()).filter(|step| waits[*step] == 0).collect();
    let mut taken = 0;
    while let Some(step) = free.pop() {
        taken += 1;
        for &dependent in dependents.of(step) {
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

/// A list for each step, end to end in one allocation.
pub(super) struct Lists {
    ends: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    fn new(steps: usize) -> Self {
        Self {
            ends: Vec::with_capacity(steps),
            items: Vec::new(),
        }
    }

    fn push(&mut self, list: impl Iterator<Item = usize>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// For each step, the steps whose list names it, in ascending order.
    fn inverse<'l>(lists: impl ExactSizeIterator<Item = &'l [usize]> + Clone) -> Self {
        let mut next = vec![0; lists.len()];
        for &item in lists.clone().flatten() {
            next[item] += 1;
        }
        let mut total = 0;
        for start in &mut next {
            total += std::mem::replace(start, total);
        }
        let mut items = vec![0; total];
        for (step, list) in lists.enumerate() {
            for &item in list {
                items[next[item]] = step;
                next[item] += 1;
            }
        }
        // Each start has moved to its list's end.
        Self { ends: next, items }
    }

    pub(super) fn of(&self, step: usize) -> &[usize] {
        let start = step.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[step]]
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn inverse_lists() {
        let needs: [&[usize]; 5] = [&[], &[0, 3], &[0, 1], &[], &[3]];
        let dependents = Lists::inverse(needs.iter().copied());
        let all: Vec<_> = (0..5).map(|step| dependents.of(step)).collect();
        assert_eq!(all, [&[1, 2][..], &[2], &[], &[1, 4], &[]]);
    }
}
