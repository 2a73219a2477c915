//! Cycles: the strongly connected components of a graph, and a short cycle in each. Nothing here is recursive, since a plan may have a
//! million steps.

use crate::graph::{Graph, number};
use std::collections::{BTreeMap, VecDeque};

/// The most edges that a search for the shortest cycle visits, per step and edge of the component.
const LOOKS: usize = 64;

/// No step, and no component.
const NONE: u32 = u32::MAX;

impl Graph {
    /// Returns one cycle for each set of steps that lead to one another. Each step leads to the next, and the last step
    /// to the first.
    ///
    /// The cycle is the shortest of its set, and among several shortest the one with the earliest first step. In a set
    /// of more than 64 steps, the search may end early and return the shortest cycle found so far. The cycles are
    /// ordered by their first steps.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        // In nearly all plans each step leads only to earlier steps, and the graph has no cycles.
        let leads_back = |step| self.of(step).iter().all(|&to| to < number(step));
        if (0..self.len()).all(leads_back) {
            return Vec::new();
        }
        let components = self.components();
        let mut sizes = vec![0_u32; self.len()];
        for &component in &components {
            sizes[component as usize] += 1;
        }
        // Nearly every step is a separate component, which is a cycle only if the step leads to itself.
        let mut knots: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (step, &component) in components.iter().enumerate() {
            if sizes[component as usize] > 1 || self.of(step).contains(&number(step)) {
                knots.entry(component).or_default().push(step);
            }
        }
        if knots.is_empty() {
            return Vec::new();
        }
        let mut search = Search {
            graph: self,
            components: &components,
            before: vec![NONE; self.len()],
            reached: vec![NONE; self.len()],
            looks: 0,
        };
        let mut cycles: Vec<Vec<usize>> =
            knots.values().map(|steps| search.shortest(steps)).collect();
        cycles.sort_unstable();
        cycles
    }

    /// Returns the strongly connected component of each step, by Tarjan's algorithm: steps that lead to one another
    /// have one number. A component has a higher number than the components it leads to.
    pub(crate) fn components(&self) -> Vec<u32> {
        let mut components = vec![NONE; self.len()];
        // The time of the first visit of each step, and the earliest open step reachable from each step.
        let (mut seen, mut earliest) = (vec![NONE; self.len()], vec![NONE; self.len()]);
        let (mut clock, mut count) = (0, 0);
        let (mut open, mut path) = (Vec::new(), Vec::new());
        for start in 0..self.len() {
            if seen[start] == NONE {
                path.push((start, 0));
            }
            while let Some(&mut (step, ref mut edge)) = path.last_mut() {
                if seen[step] == NONE {
                    (seen[step], earliest[step]) = (clock, clock);
                    clock += 1;
                    open.push(step);
                }
                if let Some(&next) = self.of(step).get(*edge) {
                    *edge += 1;
                    let next = next as usize;
                    match seen.get(next) {
                        Some(&NONE) => path.push((next, 0)),
                        Some(&when) if components[next] == NONE => {
                            earliest[step] = earliest[step].min(when);
                        }
                        _ => {}
                    }
                    continue;
                }
                path.pop();
                if let Some(&(before, _)) = path.last() {
                    earliest[before] = earliest[before].min(earliest[step]);
                }
                if earliest[step] == seen[step] {
                    while components[step] == NONE
                        && let Some(member) = open.pop()
                    {
                        components[member] = count;
                    }
                    count += 1;
                }
            }
        }
        components
    }
}

/// A search for the shortest cycle of a component, breadth first.
struct Search<'g> {
    graph: &'g Graph,
    components: &'g [u32],
    /// The predecessor of each step in the search.
    before: Vec<u32>,
    /// The start of the last search that reached each step.
    reached: Vec<u32>,
    /// The edges that the search may still visit.
    looks: usize,
}

impl Search<'_> {
    fn shortest(&mut self, steps: &[usize]) -> Vec<usize> {
        let edges = steps.iter().map(|&step| 1 + self.graph.of(step).len());
        self.looks = LOOKS * edges.sum::<usize>();
        let mut best = Vec::new();
        for &start in steps {
            // Earlier searches have found the shortest cycle through each earlier start, so these starts are not on a
            // shorter cycle.
            if let Some(cycle) = self.through(start, best.len()) {
                best = cycle;
            }
        }
        best
    }

    /// Returns the shortest cycle through a step and later steps of its component, if the cycle is shorter than
    /// `limit`. A limit of 0 means no limit.
    fn through(&mut self, start: usize, limit: usize) -> Option<Vec<usize>> {
        let mut open = VecDeque::from([(start, 1)]);
        while let Some((step, length)) = open.pop_front() {
            if limit > 0 && length >= limit {
                return None;
            }
            for &next in self.graph.of(step) {
                if limit > 0 {
                    self.looks = self.looks.checked_sub(1)?;
                }
                let next = next as usize;
                if next == start {
                    let mut cycle = vec![step];
                    while let Some(&first) = cycle.last()
                        && first != start
                    {
                        cycle.push(self.before[first] as usize);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                let component = self.components.get(next);
                if next > start
                    && component == Some(&self.components[start])
                    && self.reached[next] != number(start)
                {
                    (self.reached[next], self.before[next]) = (number(start), number(step));
                    open.push_back((next, length + 1));
                }
            }
        }
        None
    }
}
