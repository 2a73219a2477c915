//! Plans that come as JSON: from a language model, a database, another system.
//!
//! A [`Reader`] makes a [`Plan`](crate::Plan) of them, of the same types as those of `plan!`, and finds all that is wrong with them before
//! anything runs. There are three [`Dialect`]s of other systems, and the canonical JSON of this one.

mod action_plan;
mod blueprint;
mod canonical;
mod cycle;
mod dialect;
mod draft;
mod finding;
mod limits;
mod node;
mod reader;
#[cfg(feature = "rust")]
mod rust;
mod spans;
mod steps;
mod syntax;
mod tool_plan;
mod write;

pub use dialect::{Dialect, Profile};
pub use finding::{Code, Finding, Findings, Label, Severity};
pub use limits::Limits;
pub use reader::{Document, Reader};
#[cfg(feature = "rust")]
pub use rust::RustSource;
pub use write::{Lack, Lacking};
