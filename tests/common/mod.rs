//! The quick form and the long form of the tests, and the tests that are skipped.
#![allow(dead_code, unreachable_pub)]

pub mod skips;

use std::env;
use std::fmt::Debug;

/// Returns 1 for `PLAN_TESTS=all`, the long form of the tests, and 20 for `PLAN_TESTS=20`, which draws 20 times as many random cases.
/// Returns `None` without the variable: the tests then have their quick form.
pub fn times() -> Option<u64> {
    let given = env::var("PLAN_TESTS").ok()?;
    match &*given {
        "" | "quick" => None,
        "all" => Some(1),
        times => Some(times.parse().unwrap_or_else(|_| {
            panic!("PLAN_TESTS is `{times}`: write `all`, a number, or leave it out")
        })),
    }
}

/// Returns `true` for the long form.
pub fn is_long() -> bool {
    times().is_some()
}

/// Returns a size for the quick form or the long form.
pub fn amount<N: TryFrom<u64, Error: Debug>>(quick: u64, long: u64) -> N {
    N::try_from(if is_long() { long } else { quick }).unwrap()
}

/// Returns a number of random cases for the quick form or the long form, which `PLAN_TESTS` may multiply.
pub fn cases<N: TryFrom<u64, Error: Debug>>(quick: u64, long: u64) -> N {
    N::try_from(times().map_or(quick, |times| times * long)).unwrap()
}
