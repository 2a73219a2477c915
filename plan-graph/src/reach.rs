//! Reachability of steps.

use crate::Graph;

/// The visits per edge, on average, that all questions to one [`Paths`] may take.
const LOOKS: usize = 256;

impl Graph {
    /// Returns for each step `true` if a path of at least one edge leads from `start` to the step.
    ///
    /// # Panics
    ///
    /// Panics if there is no step `start`.
    pub fn reachable(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut open = vec![start];
        while let Some(step) = open.pop() {
            for &next in self.of(step) {
                let next = next as usize;
                if let Some(reached) = reached.get_mut(next)
                    && !std::mem::replace(reached, true)
                {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// Answers questions about the paths of a graph without cycles.
    pub fn paths(&self) -> Paths<'_> {
        let edges = (0..self.len()).map(|step| 1 + self.of(step).len());
        Paths {
            graph: self,
            levels: self.levels(),
            reached: vec![0; self.len()],
            questions: 0,
            open: Vec::new(),
            looks: LOOKS * edges.sum::<usize>(),
        }
    }
}

/// A cache that answers questions about the paths of an acyclic graph, in linear time for all questions together.
/// [`Graph::paths`] creates it.
#[derive(Debug)]
pub struct Paths<'g> {
    graph: &'g Graph,
    levels: Vec<Option<usize>>,
    /// The last question that reached each step.
    reached: Vec<usize>,
    questions: usize,
    open: Vec<usize>,
    /// The edges that may still be visited.
    looks: usize,
}

/// The error of a question that exceeds the limit of visits of its [`Paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Paths<'_> {
    /// Returns the first successor of `from` from which a path leads to `to`. The path from `from` to `to` then has at
    /// least two edges.
    ///
    /// # Errors
    ///
    /// Returns [`Exhausted`] once all questions together have visited 256 times as many edges and steps as the graph
    /// has.
    pub fn through(&mut self, from: usize, to: usize) -> Result<Option<usize>, Exhausted> {
        // If one search visited a step without success, the later searches of this question skip the step.
        self.questions += 1;
        let graph = self.graph;
        for &near in graph.of(from) {
            self.look()?;
            let near = near as usize;
            if self.may_lead(near, to) && self.leads(near, to)? {
                return Ok(Some(near));
            }
        }
        Ok(None)
    }

    fn leads(&mut self, from: usize, to: usize) -> Result<bool, Exhausted> {
        self.open.clear();
        self.open.push(from);
        let graph = self.graph;
        while let Some(step) = self.open.pop() {
            for &next in graph.of(step) {
                self.look()?;
                let next = next as usize;
                if next == to {
                    return Ok(true);
                }
                if self.may_lead(next, to) && self.reached[next] != self.questions {
                    self.reached[next] = self.questions;
                    self.open.push(next);
                }
            }
        }
        Ok(false)
    }

    /// Returns `false` if levels rule out a path, because a step leads only to lower levels.
    fn may_lead(&self, from: usize, to: usize) -> bool {
        self.levels.get(from) > self.levels.get(to)
    }

    fn look(&mut self) -> Result<(), Exhausted> {
        self.looks = self.looks.checked_sub(1).ok_or(Exhausted)?;
        Ok(())
    }
}
