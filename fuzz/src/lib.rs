//! Properties of all plans, regardless of their author. The fuzzer and the replay of its findings both check them.
//!
//! The property of `to_rust.rs` is a module of its target and of the tests of `plan-rust`, on which the tests of `plan-runtime` do not depend.

pub mod check;
pub mod generate;
mod input;
mod oracle;
mod read;
#[cfg(all(feature = "html", feature = "diagnostics"))]
pub mod render;
pub mod run;

pub use input::{limits, reached, reader, take_reached};
pub use read::read;
