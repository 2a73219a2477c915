#![doc = include_str!("../README.md")]
mod source;

pub use source::{RustSource, Unsupported, UnsupportedPart, to_rust};
