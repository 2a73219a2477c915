//! Workflows that rustc checks.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// Generated code names `::plan_runtime`, in this crate's own tests and docs too.
extern crate self as plan_runtime;

mod error;
pub mod plan;
#[doc(hidden)]
pub mod private;
pub mod resolve;
pub mod run;
pub mod shape;
mod tool;

pub use crate::error::{Error, Result, ResultExt};
pub use crate::plan::Plan;
#[doc(hidden)]
pub use crate::private as __private;
pub use crate::run::{Report, Run, RunError};
pub use crate::shape::Shape;
pub use crate::tool::{Call, Tool};

#[cfg(feature = "macros")]
pub use plan_macros::{Shape, Tool, plan, tool};
