//! The four shapes as plans of `plan!`, with 300 steps each.

use crate::cases::running::{Join, One, Three, Two, Zero, block_on};
use plan_runtime::run::Run;

include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// Runs the plan of a shape.
pub fn run(name: &str) {
    let run: Run<'_, (), u64> = match name {
        "chain" => Chain {}.run(&()),
        "fan" => Fan {}.run(&()),
        "grid" => Grid {}.run(&()),
        _ => Dag {}.run(&()),
    };
    assert_eq!(block_on(run).unwrap(), 1);
}
