//! Plans as data: in a `static`, printed, and as plan JSON.

mod equal;
mod flow;
mod json;
#[path = "../support/plans.rs"]
mod plans;
mod statics;
