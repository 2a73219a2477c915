//! The graph itself: its edges in two flat lists, its levels, and the graph without dispensable edges.

use std::borrow::Borrow;

/// For each step, the steps that it leads to. The caller decides if these are the steps that it needs, or the steps
/// that need it.
///
/// Steps are numbered with 32 bits, so that more of a large graph fits a cache. An edge may lead to a missing step,
/// because a plan built in Rust code may contain any number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The end of each step's list in `targets`.
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// Creates the graph in which each step leads to the steps in its list.
    ///
    /// # Panics
    ///
    /// Panics if there are 2³² edges or more.
    pub fn new<L>(lists: impl IntoIterator<Item = L>) -> Self
    where
        L: IntoIterator<Item: Borrow<usize>>,
    {
        let mut graph = Self::default();
        for list in lists {
            graph.push(list);
        }
        graph
    }

    /// Adds a step, which leads to the steps in this list.
    ///
    /// # Panics
    /// Panics if there are 2³² edges or more.
    pub fn push<L>(&mut self, list: L)
    where
        L: IntoIterator<Item: Borrow<usize>>,
    {
        let targets = list.into_iter().map(|to| number(*to.borrow()));
        self.targets.extend(targets);
        let end = u32::try_from(self.targets.len());
        self.ends.push(end.expect("fewer than 2³² edges"));
    }

    /// Frees the unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.ends.shrink_to_fit();
        self.targets.shrink_to_fit();
    }

    /// Returns the graph with all edges reversed. An edge to a missing step is omitted.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let targets = |step| self.of(step).iter().map(|&to| to as usize);
        let exists = |to: &usize| *to < self.len();
        // The start of each step's list, which becomes the position of its next entry.
        let mut next = vec![0; self.len()];
        for to in (0..self.len()).flat_map(targets).filter(exists) {
            next[to] += 1;
        }
        let mut total = 0_u32;
        for start in &mut next {
            total += std::mem::replace(start, total);
        }
        let mut reversed = vec![0; total as usize];
        for step in 0..self.len() {
            for to in targets(step).filter(exists) {
                reversed[next[to] as usize] = number(step);
                next[to] += 1;
            }
        }
        // Each entry of `next` is now the end of its list.
        Self {
            ends: next,
            targets: reversed,
        }
    }

    /// Returns the number of steps.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if the graph has no steps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the steps that a step leads to, in the order of its list.
    ///
    /// # Panics
    ///
    /// Panics if there is no such step.
    #[inline(always)]
    pub fn of(&self, step: usize) -> &[u32] {
        let start = step.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.targets[start as usize..self.ends[step] as usize]
    }

    /// Returns the level of each step: 0 for a step that leads nowhere, otherwise one more than the highest level among
    /// the steps that it leads to. `None` for a step of a cycle, and for a step that leads to a missing step or to a
    /// step without a level.
    pub fn levels(&self) -> Vec<Option<usize>> {
        let sources = self.reversed();
        let mut open: Vec<usize> = (0..self.len()).map(|step| self.of(step).len()).collect();
        let mut levels = vec![0; self.len()];
        let mut ready: Vec<usize> = (0..self.len()).filter(|&step| open[step] == 0).collect();
        while let Some(step) = ready.pop() {
            for &source in sources.of(step) {
                let source = source as usize;
                levels[source] = levels[source].max(levels[step] + 1);
                open[source] -= 1;
                if open[source] == 0 {
                    ready.push(source);
                }
            }
        }
        let levels = open.into_iter().zip(levels);
        levels
            .map(|(open, level)| (open == 0).then_some(level))
            .collect()
    }

    /// Returns the graph without each edge that a longer path replaces, with lists in descending order of levels.
    /// Returns `None` if the graph has a cycle. The method needs one bit of memory for each pair of steps.
    pub fn reduced(&self) -> Option<Self> {
        let levels: Vec<usize> = self.levels().into_iter().collect::<Option<_>>()?;
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&step| levels[step]);
        let words = self.len().div_ceil(64);
        // Each step has a row of bits: a set bit for each step that it leads to.
        let mut reached = vec![0_u64; words * self.len()];
        let mut lists = vec![Vec::new(); self.len()];
        for step in order {
            let mut targets: Vec<usize> = self.of(step).iter().map(|&to| to as usize).collect();
            // A longer path to a step leads through a step of a higher level.
            targets.sort_by_key(|&to| std::cmp::Reverse(levels[to]));
            for to in targets {
                if reached[step * words + to / 64] >> (to % 64) & 1 == 0 {
                    for word in 0..words {
                        reached[step * words + word] |= reached[to * words + word];
                    }
                    reached[step * words + to / 64] |= 1 << (to % 64);
                    lists[step].push(to);
                }
            }
        }
        Some(Self::new(lists))
    }
}

/// Converts a number. A number too large for any graph stays the number of a missing step.
#[inline]
pub(crate) fn number(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}
