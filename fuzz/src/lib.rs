//! What holds of plans that strangers write. The fuzzer and the replay of what it found both ask for it.

use plan_runtime::dynamic::{Limits, Reader};

pub mod check;
mod generate;
mod oracle;
mod read;
#[cfg(all(feature = "html", feature = "diagnostics"))]
pub mod render;
pub mod run;
#[cfg(feature = "rust")]
pub mod rust;

pub use read::read;

/// Small enough for a fuzzer to reach them.
fn limits() -> Limits {
    Limits {
        bytes: 1 << 16,
        steps: 64,
        depth: 16,
        string: 1 << 12,
        name: 1 << 8,
        values: 1 << 10,
    }
}

/// A strict reader of any dialect.
fn reader<'c>() -> Reader<'c> {
    Reader::new().limits(limits())
}
