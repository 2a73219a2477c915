#![doc = include_str!("../README.md")]
mod source;

pub use plan_runtime::dynamic::{Unsupported, UnsupportedPart};
pub use source::{RustSource, to_rust};
