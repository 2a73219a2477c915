//! Tests of the compiler's messages, and of the project's prose and code.
#![forbid(unsafe_code)]

mod common;
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
mod seeds;
mod structure;
mod words;
