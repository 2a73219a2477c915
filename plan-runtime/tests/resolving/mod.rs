//! From templates and outputs to arguments, and from values to outputs.

mod encode;
mod errors;
mod literals;
mod references;
mod tests;
