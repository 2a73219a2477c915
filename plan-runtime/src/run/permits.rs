//! How many calls of a run, with all plans inside it, run at one time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The permits for the calls of a run. Who finds none waits in line, and is handed one when its turn has come.
pub(super) struct Permits(Mutex<Line>);

struct Line {
    free: usize,
    waiting: VecDeque<Arc<Place>>,
}

/// A place in line.
struct Place(Mutex<Turn>);

enum Turn {
    Waits(Waker),
    /// A permit was handed over, which is still to be taken.
    Come,
    /// Whoever waited does so no more.
    Left,
}

/// Who asks for permits: one schedule, with its place in line while it waits.
#[derive(Default)]
pub(super) struct Applicant(Option<Arc<Place>>);

impl Permits {
    pub(super) fn new(free: usize) -> Self {
        Self(Mutex::new(Line {
            free,
            waiting: VecDeque::new(),
        }))
    }

    /// Takes a permit. If there is none, the waker is woken once one was handed over.
    pub(super) fn take(&self, applicant: &mut Applicant, waker: &Waker) -> bool {
        let mut line = locked(&self.0);
        if let Some(place) = &applicant.0 {
            let mut turn = locked(&place.0);
            let has_come = matches!(*turn, Turn::Come);
            *turn = if has_come {
                Turn::Left
            } else {
                Turn::Waits(waker.clone())
            };
            drop(turn);
            if has_come {
                applicant.0 = None;
            }
            return has_come;
        }
        if line.free > 0 {
            line.free -= 1;
            return true;
        }
        let place = Arc::new(Place(Mutex::new(Turn::Waits(waker.clone()))));
        line.waiting.push_back(Arc::clone(&place));
        applicant.0 = Some(place);
        false
    }

    /// Takes a permit, if one is free.
    pub(super) fn try_take(&self) -> bool {
        let mut line = locked(&self.0);
        let has_one = line.free > 0;
        line.free -= usize::from(has_one);
        has_one
    }

    /// Takes permits for calls that run already, as many as there are.
    pub(super) fn count(&self, calls: usize) {
        let mut line = locked(&self.0);
        line.free = line.free.saturating_sub(calls);
    }

    /// Gives permits back, each to who waits longest.
    pub(super) fn give_back(&self, permits: usize) {
        for _ in 0..permits {
            let waker = self.hand_over();
            // Outside of the lock: whoever is woken may ask immediately.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    fn hand_over(&self) -> Option<Waker> {
        let mut line = locked(&self.0);
        while let Some(place) = line.waiting.pop_front() {
            let mut turn = locked(&place.0);
            if let Turn::Waits(waker) = std::mem::replace(&mut *turn, Turn::Come) {
                return Some(waker);
            }
            *turn = Turn::Left;
        }
        line.free += 1;
        None
    }

    /// Leaves the line. A permit that was handed over meanwhile goes to the next.
    pub(super) fn leave(&self, applicant: &mut Applicant) {
        if let Some(place) = applicant.0.take() {
            let turn = std::mem::replace(&mut *locked(&place.0), Turn::Left);
            if matches!(turn, Turn::Come) {
                self.give_back(1);
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Applicant, Permits};
    use std::task::Waker;

    fn take(permits: &Permits, applicant: &mut Applicant) -> bool {
        permits.take(applicant, Waker::noop())
    }

    #[test]
    fn a_permit_goes_to_who_waits_longest() {
        let permits = Permits::new(1);
        let [mut first, mut second, mut third] = [(); 3].map(|()| Applicant::default());
        assert!(take(&permits, &mut first));
        assert!(!take(&permits, &mut second));
        assert!(!take(&permits, &mut third));
        permits.give_back(1);
        assert!(!take(&permits, &mut third));
        assert!(!take(&permits, &mut first));
        assert!(take(&permits, &mut second));
    }

    #[test]
    fn who_leaves_loses_no_permit() {
        let permits = Permits::new(1);
        let [mut first, mut second, mut third] = [(); 3].map(|()| Applicant::default());
        assert!(take(&permits, &mut first));
        assert!(!take(&permits, &mut second));
        assert!(!take(&permits, &mut third));
        // Before its turn, and after it was handed one.
        permits.leave(&mut second);
        permits.give_back(1);
        permits.leave(&mut third);
        assert!(take(&permits, &mut second));
    }
}
