//! What plans mean: every construct of the language, run.
#![deny(warnings, clippy::pedantic)]
#![forbid(unsafe_code)]

mod support;

mod computed;
mod edges;
mod flow;
mod inert;
mod literals;
mod plans;
mod printed;
mod references;
mod statics;
mod texts;
