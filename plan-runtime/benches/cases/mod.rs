//! The measured cases, shared by the benches of this crate and the tables of `benches/run`.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each bench uses some of it"
)]

pub mod resolving;
pub mod running;
pub mod shapes;
