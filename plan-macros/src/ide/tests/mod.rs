//! The IDE expansion of half-typed plans.

mod lossless;
mod marker;
