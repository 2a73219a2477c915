//! All small plans: whatever happens in whatever order, a run goes as the model does; and if it is dropped at any moment, nothing goes on.
//!
//! | steps | plans | tried |
//! |---|---|---|
//! | 1 | 8 | all |
//! | 2 | 234 | all |
//! | 3 | 9,356 | one in 80; all with `ALL_PLANS=3` |
//! | 4 | 468,328 | one in 100,000; one in 1,000 with `ALL_PLANS=3` |
//!
//! What a size is, `shapes.rs` says. Tried is a plan under each policy: calls succeed and fail, in every order; a value is sent to a step at any time,
//! or nobody can send one any more; the run is cancelled at any time, and the time for what comes then is over at any time.
//!
//! What is counted are runs that end and runs that are dropped in each state before that. Left out are plans in which two steps may wait for values
//! at the same time, waits in called plans, and conditions that do not hold around anything but a call. A way is followed only up to a moment in
//! which a step fails as others start, or starts and fails: the language does not say which comes first.

use super::play::{Tried, try_all};
use super::shapes::plans;

/// Whether all plans of three steps are to be tried.
pub(super) fn all_of_three() -> bool {
    std::env::var("ALL_PLANS").is_ok_and(|size| size == "3")
}

/// Tries one plan in a number of them.
fn try_some(size: usize, one_in: usize) -> Tried {
    let mut tried = Tried::default();
    for plan in plans(size).iter().step_by(one_in) {
        tried += try_all(plan);
    }
    println!("{size} steps: {tried:?}");
    tried
}

#[test]
fn of_one_step() {
    let tried = try_some(1, 1);
    assert_eq!((tried.plans, tried.ended, tried.dropped), (8, 72, 24));
}

#[test]
fn of_two_steps() {
    let tried = try_some(2, 1);
    assert_eq!((tried.plans, tried.ended, tried.dropped), (234, 6106, 2342));
}

#[test]
fn of_three_steps() {
    let tried = try_some(3, if all_of_three() { 1 } else { 80 });
    let expected = if all_of_three() {
        (9356, 1_073_636, 440_112)
    } else {
        (117, 15946, 6452)
    };
    assert_eq!((tried.plans, tried.ended, tried.dropped), expected);
}

#[test]
fn of_four_steps() {
    let tried = try_some(4, if all_of_three() { 1_000 } else { 100_000 });
    let expected = if all_of_three() {
        (469, 899_409, 380_131)
    } else {
        (5, 3226, 1264)
    };
    assert_eq!((tried.plans, tried.ended, tried.dropped), expected);
}
