//! The plain steps of the plan itself that may start. The step with the lowest slot starts first.

use super::ids::StepSlot;

const EMPTY: u32 = u32::MAX;

/// A set of slots. A single slot is in the field `first`, so a chain of steps changes no bit. Each other slot is a bit of the lowest level, and each
/// level above has a bit for each word below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadySet {
    first: u32,
    others: usize,
    levels: Vec<Vec<u64>>,
}

impl ReadySet {
    /// Creates a set for this number of slots.
    pub(super) fn new(slots: usize) -> Self {
        let mut words = slots.div_ceil(64).max(1);
        let mut levels = vec![vec![0; words]];
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words]);
        }
        Self {
            first: EMPTY,
            others: 0,
            levels,
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, StepSlot(slot): StepSlot) {
        if self.first == EMPTY && self.others == 0 {
            self.first = slot;
        } else if slot < self.first && self.first != EMPTY {
            let other = std::mem::replace(&mut self.first, slot);
            self.set(other);
        } else {
            self.set(slot);
        }
    }

    fn set(&mut self, slot: u32) {
        self.others += 1;
        let mut at = slot as usize;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    fn unset(&mut self, slot: usize) {
        self.others -= 1;
        let mut at = slot;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// Returns the lowest slot.
    pub(super) fn peek(&self) -> Option<StepSlot> {
        if self.first != EMPTY {
            return Some(StepSlot(self.first));
        }
        (self.others > 0).then(|| StepSlot(self.lowest() as u32))
    }

    #[inline]
    fn lowest(&self) -> usize {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            at = at * 64 + level[at].trailing_zeros() as usize;
        }
        at
    }

    /// Takes the lowest slot.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<StepSlot> {
        if self.first != EMPTY {
            return Some(StepSlot(std::mem::replace(&mut self.first, EMPTY)));
        }
        if self.others == 0 {
            return None;
        }
        let at = self.lowest();
        self.unset(at);
        Some(StepSlot(at as u32))
    }

    /// Removes a slot. Returns `true` if the set contained the slot.
    pub(super) fn remove(&mut self, StepSlot(slot): StepSlot) -> bool {
        if self.first == slot {
            self.first = EMPTY;
            return true;
        }
        let at = slot as usize;
        let is_there = self.levels[0][at / 64] & (1 << (at % 64)) != 0;
        if is_there {
            self.unset(at);
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::{ReadySet, StepSlot};
    use std::collections::BTreeSet;

    /// Compares sets with a `BTreeSet` for random slots.
    #[test]
    fn the_lowest_slot_comes_first() {
        let mut random = fastrand::Rng::with_seed(1);
        for slots in [1, 64, 65, 4_096, 4_097, 300_000] {
            let (mut ready, mut expected) = (ReadySet::new(slots), BTreeSet::new());
            for _ in 0..5_000 {
                let slot = StepSlot(random.u32(..slots as u32));
                match random.u8(..5) {
                    0 => assert_eq!(ready.remove(slot), expected.remove(&slot)),
                    1 | 2 => assert_eq!(ready.pop(), expected.pop_first()),
                    _ if expected.insert(slot) => ready.insert(slot),
                    _ => {}
                }
                assert_eq!(ready.peek(), expected.first().copied());
            }
        }
    }
}
