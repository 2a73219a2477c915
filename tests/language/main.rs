//! The meaning of plans: a run of every construct of the language.
#![deny(warnings, clippy::pedantic)]
#![allow(
    unreachable_pub,
    reason = "plans and tools are public, as in a crate that others use"
)]
#![forbid(unsafe_code)]

mod support;

mod amounts;
mod asked;
mod attributes;
mod blocks;
mod caught;
mod computed;
mod context;
mod edges;
mod flattened;
mod flow;
mod foreign;
mod gate;
mod limits;
mod literals;
mod meets;
mod plans;
mod printed;
mod references;
mod repeated;
mod reports;
mod saga;
mod signals;
mod signals_in_blocks;
mod statics;
mod stored_plans;
mod tests_as_data;
mod texts;
mod throttle;
mod undo;
