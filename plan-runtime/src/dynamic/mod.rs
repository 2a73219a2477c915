//! Plans that come as JSON: from a language model, a database, another system.
//!
//! A [`Reader`] makes a [`Plan`](crate::Plan) of them, of the same types as those of `plan!`, and finds all that is wrong with them before
//! anything runs. There are three [`Dialect`]s of other systems, and the canonical JSON of this one.
//!
//! A [`Toolbox`] has the tools of an application by their names, and runs such plans, with the same [`Run`](crate::Run), options,
//! observers and [`Report`](crate::Report) as those that `plan!` made. What is known of a tool beside its name is its
//! [`Contract`].

mod action_plan;
mod blueprint;
mod canonical;
mod contract;
mod cycle;
mod dialect;
mod draft;
mod finding;
mod fit;
mod limits;
mod node;
mod reader;
#[cfg(feature = "diagnostics")]
mod render;
mod runnable;
#[cfg(feature = "rust")]
mod rust;
mod schema;
mod spans;
mod steps;
mod syntax;
mod text;
mod tool_plan;
mod toolbox;
mod write;

pub use contract::{Contract, Contracts};
pub use dialect::{Dialect, Profile};
pub use finding::{Code, Finding, Findings, Label, Severity};
pub use limits::Limits;
pub use reader::{Document, Reader};
#[cfg(feature = "rust")]
pub use rust::RustSource;
pub use text::json_or_text;
pub use toolbox::Toolbox;
pub use write::{Lack, Lacking};
