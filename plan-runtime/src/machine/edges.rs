//! The edges between the steps of a scope, which a description gives.

use super::bad::BadNodes;
use super::describe::{Duty, NodeBlock};

/// The edges between the steps of a scope, as places in the scope.
pub(super) struct Edges {
    /// The steps that a step waits for, and the steps that wait for it.
    pub(super) needs: Lists,
    pub(super) readers: Lists,
}

/// A list for each step, one after the other.
pub(super) struct Lists {
    /// The beginning of each list, and the end of the last.
    starts: Vec<usize>,
    all: Vec<usize>,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            starts: vec![0],
            all: Vec::new(),
        }
    }
}

impl Lists {
    fn push(&mut self, list: Vec<usize>) {
        self.all.append(&mut once(list));
        self.starts.push(self.all.len());
    }

    pub(super) fn of(&self, place: usize) -> &[usize] {
        &self.all[self.starts[place]..self.starts[place + 1]]
    }

    /// Returns the edges in the other direction.
    fn reversed(&self) -> Self {
        let count = self.starts.len() - 1;
        let mut starts = vec![0; count + 1];
        for to in &self.all {
            starts[to + 1] += 1;
        }
        for place in 0..count {
            starts[place + 1] += starts[place];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; self.all.len()]);
        for from in 0..count {
            for &to in self.of(from) {
                all[next[to]] = from;
                next[to] += 1;
            }
        }
        Self { starts, all }
    }
}

impl Edges {
    pub(super) fn of(scope: &NodeBlock) -> Result<Self, BadNodes> {
        let nodes = &scope.steps;
        let mut needs = Lists::default();
        for node in nodes {
            let mut own = Vec::new();
            for &need in &node.after {
                let before = nodes.get(need).ok_or(BadNodes::NoStep(node.label))?;
                match (before.duty, node.duty) {
                    (Duty::Work, Duty::Work) | (Duty::Always, Duty::Always) => own.push(need),
                    // The other steps of a scope come after all work.
                    (Duty::Work, Duty::Undo(_) | Duty::Always) => {}
                    _ => return Err(BadNodes::BadOrder(node.label)),
                }
            }
            needs.push(own);
        }
        let edges = Self {
            readers: needs.reversed(),
            needs,
        };
        match edges.in_circle(nodes.len()) {
            Some(place) => Err(BadNodes::Circle(nodes[place].label)),
            None => Ok(edges),
        }
    }

    /// A step that waits for itself, if there is one.
    fn in_circle(&self, count: usize) -> Option<usize> {
        let waits = (0..count).map(|place| self.needs.of(place).len());
        let mut waits: Vec<usize> = waits.collect();
        let mut open: Vec<usize> = (0..count).filter(|it| waits[*it] == 0).collect();
        while let Some(place) = open.pop() {
            for &reader in self.readers.of(place) {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    open.push(reader);
                }
            }
        }
        let mut place = waits.iter().position(|waits| *waits > 0)?;
        // A step behind a circle waits as well. The way from step to dependency ends on a circle.
        for _ in 0..count {
            let needs = self.needs.of(place).iter().copied();
            place = needs.into_iter().find(|it| waits[*it] > 0).unwrap_or(place);
        }
        Some(place)
    }
}

/// Each place once, in order.
fn once(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}
