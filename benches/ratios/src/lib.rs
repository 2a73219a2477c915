//! The cost of a plan, in ratios to other code with equal results.

#[allow(dead_code)]
#[path = "../../../plan-runtime/benches/cases/mod.rs"]
pub mod cases;
pub mod compiling;
pub mod constructs;
pub mod counting;
pub mod engines;
pub mod handing;
pub mod measure;
pub mod plans;
pub mod table;
