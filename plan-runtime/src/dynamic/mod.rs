//! Tools by their names, and plans that are known only at run time.
//!
//! A [`Toolbox`] holds the tools of an application under their names, and runs any [`Plan`](crate::Plan) with them: one of
//! `plan!`, or one that was read from JSON. What is known of its tools are their [`Contract`]s, which a model that writes plans
//! is shown, and which such plans are checked against.

mod check;
mod contract;
mod text;
mod toolbox;

pub use contract::{Contract, Contracts};
pub use text::json_or_text;
pub use toolbox::Toolbox;
