//! Arguments from templates and outputs, and outputs from values.

mod encode;
mod errors;
mod literals;
mod references;
mod tests;
