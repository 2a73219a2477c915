//! What the compiler says of plans, and what holds of the project's text and code.
#![forbid(unsafe_code)]

mod compared;
mod compile;
mod conformance;
mod corpus;
mod guide;
mod mistakes;
mod mutations;
mod promoted;
mod public_api;
mod readme;
mod structure;
mod words;
