//! Correct plans compile without warnings, in any surrounding code.
#![forbid(unsafe_code)]
#![deny(warnings, clippy::pedantic)]
#![allow(
    unreachable_pub,
    reason = "plans and tools are public, as in a crate that others use"
)]
#![recursion_limit = "400"]

mod blanket;
mod macros;
mod many;
mod names;
mod prelude;
mod strict;
