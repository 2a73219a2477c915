//! Plans as data: in a `static`, printed, and as plan JSON.

mod blocks;
mod built_in_rust;
mod equal;
mod executable;
mod flow;
mod json;
