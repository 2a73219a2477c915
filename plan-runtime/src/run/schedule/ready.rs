//! The steps that may start something.

/// A set of steps that gives the first of the plan first.
///
/// In the lowest level is a bit for each step, and in each level above one for each word of the level below that is not 0. So the
/// first is found in as many looks as there are levels, four for a million steps.
pub(super) struct Ready {
    levels: Vec<Vec<u64>>,
}

const BITS: usize = u64::BITS as usize;

impl Ready {
    /// The empty set, for so many steps.
    pub(super) fn new(steps: usize) -> Self {
        let mut levels = Vec::with_capacity(2);
        let mut words = steps.div_ceil(BITS).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(BITS);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    pub(super) fn insert(&mut self, mut step: usize) {
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
    pub(super) fn pop(&mut self) -> Option<usize> {
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
