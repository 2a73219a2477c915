//! Plans that are known only at run time: as JSON from a language model, a database, another system.
//!
//! A [`Reader`] makes a [`Plan`](crate::Plan) of them, of the same types as those of `plan!`, and finds all that is wrong with them before
//! anything runs. There are three [`Dialect`]s of other systems, and the canonical JSON of this one.
//!
//! A [`Toolbox`] holds the tools of an application under their names, and runs any plan with them. What is known of its tools are
//! their [`Contract`]s, which a model that writes plans is shown, and which such plans are checked against.

mod action_plan;
mod blueprint;
mod canonical;
mod check;
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
mod schema;
mod spans;
mod steps;
mod syntax;
mod text;
mod tool_plan;
mod toolbox;

pub use contract::{Contract, Contracts};
pub use dialect::{Dialect, Profile};
pub use finding::{Code, Finding, Findings, Label, Severity};
pub use limits::Limits;
pub use reader::{Document, Reader};
pub use text::json_or_text;
pub use toolbox::Toolbox;
