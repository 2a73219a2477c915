//! The steps that may start something.
//!
//! Instructions for each step that is put in and taken out:
//!
//! | | this set | `BTreeSet` | `BinaryHeap` |
//! |---|---|---|---|
//! | 300 steps, all ready together | 110 | 500 | 120 to 130 |
//! | 30,000 steps, all ready together | 125 | 610 to 720 | 190 to 200 |
//! | 300 steps, four ready at a time | 120 | 250 | 55 |
//! | 300 steps, one after the other | 40 | 220 | 7 |
//!
//! So it pays where many steps are ready together; for narrow plans, a `BinaryHeap` is faster. A heap would also hold a step more than once.

/// A set of steps that gives the first of the plan first.
///
/// The first has a place of its own, since where steps come one after the other there is never another. Of the rest, in the lowest
/// level is a bit for each step, and in each level above one for each word of the level below that is not 0. So the first of them is
/// found in as many looks as there are levels, four for a million steps.
pub(super) struct Ready {
    first: Option<usize>,
    levels: Vec<Vec<u64>>,
}

const BITS: usize = u64::BITS as usize;

impl Ready {
    /// The empty set, for this number of steps.
    pub(super) fn new(steps: usize) -> Self {
        let mut levels = Vec::with_capacity(2);
        let mut words = steps.div_ceil(BITS).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(BITS);
            levels.push(vec![0; words]);
        }
        Self {
            first: None,
            levels,
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, step: usize) {
        match self.first {
            None if self.has_no_rest() => self.first = Some(step),
            Some(first) if step < first => {
                self.first = Some(step);
                self.insert_in_rest(first);
            }
            Some(first) if step == first => {}
            _ => self.insert_in_rest(step),
        }
    }

    fn has_no_rest(&self) -> bool {
        self.levels.last().is_none_or(|top| top[0] == 0)
    }

    fn insert_in_rest(&mut self, mut step: usize) {
        for level in &mut self.levels {
            let word = &mut level[step / BITS];
            let known = *word != 0;
            *word |= 1 << (step % BITS);
            if known {
                return;
            }
            step /= BITS;
        }
    }

    /// Takes the first out.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<usize> {
        match self.first.take() {
            None if self.has_no_rest() => None,
            None => self.pop_of_rest(),
            first => first,
        }
    }

    fn pop_of_rest(&mut self) -> Option<usize> {
        let mut first = 0;
        for level in self.levels.iter().rev() {
            let word = level[first];
            if word == 0 {
                return None;
            }
            first = first * BITS + word.trailing_zeros() as usize;
        }
        let mut step = first;
        for level in &mut self.levels {
            let word = &mut level[step / BITS];
            *word &= !(1 << (step % BITS));
            if *word != 0 {
                break;
            }
            step /= BITS;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::Ready;

    #[test]
    fn the_first_comes_first() {
        for steps in [0, 1, 63, 64, 65, 4096, 4097, 300_000] {
            let mut ready = Ready::new(steps);
            assert_eq!(ready.pop(), None);
            let some: Vec<usize> = (0..steps).filter(|step| step % 7 != 1).collect();
            some.iter().rev().for_each(|step| ready.insert(*step));
            some.iter().for_each(|step| ready.insert(*step));
            let all: Vec<usize> = std::iter::from_fn(|| ready.pop()).collect();
            assert_eq!(all, some);
        }
    }
}
