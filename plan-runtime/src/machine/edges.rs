//! The edges between the steps of a scope, which a description gives.

use super::bad::BadNodes;
use super::bad::number;
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
    starts: Vec<u32>,
    all: Vec<u32>,
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
    /// Adds a list without repetitions, in order.
    fn push(&mut self, list: &mut Vec<u32>) -> Result<(), BadNodes> {
        list.sort_unstable();
        list.dedup();
        self.all.append(list);
        self.starts.push(number(self.all.len())?);
        Ok(())
    }

    pub(super) fn of(&self, place: usize) -> &[u32] {
        &self.all[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// Returns the edges in the other direction.
    fn reversed(&self) -> Self {
        let count = self.starts.len() - 1;
        let mut starts = vec![0; count + 1];
        for to in &self.all {
            starts[*to as usize + 1] += 1;
        }
        for place in 0..count {
            starts[place + 1] += starts[place];
        }
        let (mut next, mut all) = (starts.clone(), vec![0; self.all.len()]);
        for from in 0..count {
            for &to in self.of(from) {
                let next = &mut next[to as usize];
                all[*next as usize] = from as u32;
                *next += 1;
            }
        }
        Self { starts, all }
    }
}

impl Edges {
    pub(super) fn of(scope: &NodeBlock) -> Result<Self, BadNodes> {
        let nodes = &scope.steps;
        number(nodes.len())?;
        let (mut needs, mut own) = (Lists::default(), Vec::new());
        needs.starts.reserve(nodes.len());
        for node in nodes {
            for &need in &node.after {
                let before = nodes.get(need).ok_or(BadNodes::NoStep(node.label))?;
                match (before.duty, node.duty) {
                    (Duty::Work, Duty::Work) | (Duty::Always, Duty::Always) => {
                        own.push(need as u32);
                    }
                    // The other steps of a scope come after all work.
                    (Duty::Work, Duty::Undo(_) | Duty::Always) => {}
                    _ => return Err(BadNodes::BadOrder(node.label)),
                }
            }
            needs.push(&mut own)?;
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
        let waits = (0..count).map(|place| self.needs.of(place).len() as u32);
        let mut waits: Vec<u32> = waits.collect();
        let mut open: Vec<usize> = (0..count).filter(|it| waits[*it] == 0).collect();
        while let Some(place) = open.pop() {
            for &reader in self.readers.of(place) {
                let reader = reader as usize;
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    open.push(reader);
                }
            }
        }
        let mut place = waits.iter().position(|waits| *waits > 0)?;
        // A step behind a circle waits as well. The way from step to dependency ends on a circle.
        for _ in 0..count {
            let mut needs = self.needs.of(place).iter().map(|it| *it as usize);
            place = needs.find(|it| waits[*it] > 0).unwrap_or(place);
        }
        Some(place)
    }
}
