//! The source of plans, from every dialect and with hostile strings in every position.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "../../../plan-runtime/tests/support/plans.rs"]
mod plans;
#[path = "../../../plan-runtime/tests/support/unseen.rs"]
mod unseen;

mod changed;
mod code;
mod fuzzed;
mod lies;
mod to_rust;
