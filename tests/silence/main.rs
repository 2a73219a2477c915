//! Correct plans compile without warnings, whatever the code around them.
#![forbid(unsafe_code)]
#![deny(warnings, clippy::pedantic)]
#![recursion_limit = "400"]

mod macros;
mod many;
mod names;
mod prelude;
mod strict;
