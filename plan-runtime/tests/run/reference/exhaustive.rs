//! All small plans. For all events in all orders, a run equals the model. A run that is dropped at any moment makes no further calls.
//!
//! | steps | plans | tried |
//! |---|---|---|
//! | 1 | 8 | all |
//! | 2 | 234 | one in 4; all with `PLAN_TESTS=all` |
//! | 3 | 9,356 | one in 1,600; one in 80 with `PLAN_TESTS=all`; all with `PLAN_TESTS=100` |
//! | 4 | 468,328 | one in 400,000; one in 100,000 with `PLAN_TESTS=all`; one in 1,000 with `PLAN_TESTS=100` |
//!
//! `shapes.rs` defines a size. A plan is tried under each policy, with these events:
//!
//! - Calls succeed and fail, in every order.
//! - A value is sent to a step at any time, or no value can arrive any more.
//! - The run is cancelled at any time, and the time for undo steps and always steps is over at any time.
//!
//! The counts are runs that end, and runs that are dropped in each earlier state. The tests exclude plans in which two steps may wait for values
//! concurrently, waits in called plans, and false conditions around anything but a call. A sequence ends at a moment with a failure and a start,
//! since the language does not define their order.

use super::play::{Tried, try_all};
use super::shapes::{plans, unfit};
use crate::common;

/// The number of plans: few, some, or all of three steps.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Quick,
    Long,
    Exhaustive,
}

/// Returns `true` if all plans of three steps are to be tried.
pub(super) fn all_of_three() -> bool {
    form() == Form::Exhaustive
}

pub(super) fn form() -> Form {
    match common::times() {
        None => Form::Quick,
        Some(..100) => Form::Long,
        Some(_) => Form::Exhaustive,
    }
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

/// A scope that fails before its work replaces a call of a small plan.
#[test]
fn with_scopes_whose_inputs_fail() {
    let quick = form() == Form::Quick;
    let sizes = [
        (1, 1),
        (2, if quick { 4 } else { 1 }),
        (3, if quick { 1_600 } else { 80 }),
    ];
    let mut tried = Tried::default();
    for (size, one_in) in sizes {
        let plans = plans(size);
        for plan in plans.iter().step_by(one_in).flat_map(|plan| unfit(plan)) {
            tried += try_all(&plan);
        }
    }
    println!("{tried:?}");
    assert!(tried.ended > 500 && tried.crashed > 50, "{tried:?}");
    assert!(tried.unclear < tried.ended, "{tried:?}");
}

#[test]
fn of_one_step() {
    let tried = try_some(1, 1);
    assert_eq!((tried.plans, tried.ended, tried.dropped), (8, 72, 24));
}

#[test]
fn of_two_steps() {
    let (one_in, expected) = match form() {
        Form::Quick => (4, (59, 1594, 605)),
        Form::Long | Form::Exhaustive => (1, (234, 6106, 2342)),
    };
    let tried = try_some(2, one_in);
    assert_eq!((tried.plans, tried.ended, tried.dropped), expected);
}

#[test]
fn of_three_steps() {
    let (one_in, expected) = match form() {
        Form::Quick => (1_600, (6, 1022, 406)),
        Form::Long => (80, (117, 15946, 6452)),
        Form::Exhaustive => (1, (9356, 1_073_636, 440_112)),
    };
    let tried = try_some(3, one_in);
    assert_eq!((tried.plans, tried.ended, tried.dropped), expected);
}

#[test]
fn of_four_steps() {
    let (one_in, expected) = match form() {
        Form::Quick => (400_000, (2, 1501, 580)),
        Form::Long => (100_000, (5, 3226, 1264)),
        Form::Exhaustive => (1_000, (469, 899_409, 380_131)),
    };
    let tried = try_some(4, one_in);
    assert_eq!((tried.plans, tried.ended, tried.dropped), expected);
}
