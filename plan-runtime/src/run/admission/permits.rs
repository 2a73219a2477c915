//! The number of concurrent calls of a run, with all plans and blocks inside it.

use super::super::catch::locked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// The permits for the calls of a run. An applicant without a permit waits in line. A free permit goes to the first applicant in the order of the
/// plan.
pub(in crate::run) struct Permits(Mutex<Line>);

struct Line {
    free: usize,
    /// The number of extra permits in use, which end with their calls.
    owed: usize,
    waiting: BTreeMap<Rank, Arc<PermitPlace>>,
    /// The number of applicants so far.
    joined: u64,
}

/// The position of a call in the plan and in the enclosing plans, and the number of earlier applicants.
type Rank = (Vec<usize>, u64);

/// An applicant's entry in the line.
struct PermitPlace(Mutex<PermitTurn>);

enum PermitTurn {
    Waits(Waker),
    /// A permit was assigned, and has not been taken yet.
    Come,
}

/// The permits of one plan, with its entry in the line while the plan waits.
#[derive(Default)]
pub(in crate::run) struct Applicant(Option<(Rank, Arc<PermitPlace>)>);

impl Applicant {
    /// Returns `true` if a permit has been assigned and not yet taken.
    pub(in crate::run) fn has_come(&self) -> bool {
        let place = self.0.as_ref();
        place.is_some_and(|(_, place)| matches!(*locked(&place.0), PermitTurn::Come))
    }
}

impl Permits {
    pub(in crate::run) fn new(free: usize) -> Self {
        Self(Mutex::new(Line {
            free,
            owed: 0,
            waiting: BTreeMap::new(),
            joined: 0,
        }))
    }

    /// Takes a permit for a call at this position in the plan. If no permit is free, the line wakes the waker after it
    /// assigned a permit to the call.
    pub(in crate::run) fn take(
        &self,
        applicant: &mut Applicant,
        at: impl FnOnce() -> Vec<usize>,
        waker: &Waker,
    ) -> bool {
        let mut line = locked(&self.0);
        if let Some((rank, place)) = &mut applicant.0 {
            let mut turn = locked(&place.0);
            if matches!(*turn, PermitTurn::Come) {
                drop(turn);
                applicant.0 = None;
                return true;
            }
            *turn = PermitTurn::Waits(waker.clone());
            drop(turn);
            let at = at();
            if at != rank.0
                && let Some(place) = line.waiting.remove(rank)
            {
                rank.0 = at;
                line.waiting.insert(rank.clone(), place);
            }
            return false;
        }
        if line.free > 0 {
            line.free -= 1;
            return true;
        }
        let place = Arc::new(PermitPlace(Mutex::new(PermitTurn::Waits(waker.clone()))));
        let rank = (at(), line.joined);
        line.joined += 1;
        line.waiting.insert(rank.clone(), Arc::clone(&place));
        applicant.0 = Some((rank, place));
        false
    }

    /// Returns `true` if no applicant in the line comes before this position in the plan.
    pub(in crate::run) fn is_next(&self, at: impl FnOnce() -> Vec<usize>) -> bool {
        let line = locked(&self.0);
        let first = line.waiting.first_key_value();
        first.is_none_or(|((first, _), _)| at() < *first)
    }

    /// Takes a permit, if one is free.
    pub(in crate::run) fn try_take(&self) -> bool {
        let mut line = locked(&self.0);
        let has_one = line.free > 0;
        line.free -= usize::from(has_one);
        has_one
    }

    /// Takes the permits of calls that already run. If too few permits are free, takes all free permits.
    pub(in crate::run) fn count(&self, calls: usize) {
        let mut line = locked(&self.0);
        line.free = line.free.saturating_sub(calls);
    }

    /// Returns permits, and assigns each of them to the first in line.
    pub(in crate::run) fn give_back(&self, permits: usize) {
        for _ in 0..permits {
            let waker = self.hand_over();
            // Outside of the lock, since a woken task may ask immediately.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Removes extra permits. Permits in use are removed at the end of their calls.
    pub(in crate::run) fn take_back(&self, permits: usize) {
        let mut line = locked(&self.0);
        let free = line.free.min(permits);
        line.free -= free;
        line.owed += permits - free;
    }

    fn hand_over(&self) -> Option<Waker> {
        let mut line = locked(&self.0);
        if line.owed > 0 {
            line.owed -= 1;
            return None;
        }
        let Some((_, place)) = line.waiting.pop_first() else {
            line.free = line.free.saturating_add(1);
            return None;
        };
        match std::mem::replace(&mut *locked(&place.0), PermitTurn::Come) {
            PermitTurn::Waits(waker) => Some(waker),
            PermitTurn::Come => None,
        }
    }

    /// Leaves the line. A permit that was assigned since goes to the next applicant.
    pub(in crate::run) fn leave(&self, applicant: &mut Applicant) {
        if let Some((rank, place)) = applicant.0.take() {
            locked(&self.0).waiting.remove(&rank);
            let has_come = matches!(*locked(&place.0), PermitTurn::Come);
            if has_come {
                self.give_back(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Applicant, Permits};
    use std::task::Waker;

    fn take(permits: &Permits, applicant: &mut Applicant) -> bool {
        permits.take(applicant, Vec::new, Waker::noop())
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
    fn a_permit_goes_to_who_is_first_in_the_plan() {
        let permits = Permits::new(0);
        let places = [vec![1, 0, 2], vec![1, 1], vec![0, 7], vec![1, 0]];
        let mut applicants = [(); 4].map(|()| Applicant::default());
        let take = |applicant: &mut Applicant, place: &Vec<usize>| {
            permits.take(applicant, || place.clone(), Waker::noop())
        };
        for (applicant, place) in applicants.iter_mut().zip(&places) {
            assert!(!take(applicant, place));
        }
        // Applicant 1 now waits with an earlier call.
        assert!(!take(&mut applicants[1], &vec![0, 0]));
        let mut left = vec![0, 1, 2, 3];
        for first in [1, 2, 3, 0] {
            permits.give_back(1);
            left.retain(|it| !take(&mut applicants[*it], &places[*it]));
            assert!(!left.contains(&first), "{left:?}");
        }
        assert!(left.is_empty());
    }

    #[test]
    fn who_leaves_loses_no_permit() {
        let permits = Permits::new(1);
        let [mut first, mut second, mut third] = [(); 3].map(|()| Applicant::default());
        assert!(take(&permits, &mut first));
        assert!(!take(&permits, &mut second));
        assert!(!take(&permits, &mut third));
        // `second` leaves before its turn, and `third` leaves after it got a permit.
        permits.leave(&mut second);
        permits.give_back(1);
        permits.leave(&mut third);
        assert!(take(&permits, &mut second));
    }
}
