//! Properties of all plans, regardless of their author. The fuzzer and the replay of its findings both check them.

use plan_runtime::dynamic::{DocumentLimits, Reader};
use std::cell::Cell;

pub mod check;
pub mod generate;
mod oracle;
mod read;
#[cfg(all(feature = "html", feature = "diagnostics"))]
pub mod render;
pub mod run;
#[cfg(feature = "rust")]
pub mod to_rust;

pub use read::read;

thread_local! {
    static REACHED: Cell<usize> = const { Cell::new(0) };
}

/// Counts an input that has come to the assertions which only some inputs reach.
fn reached() {
    REACHED.set(REACHED.get() + 1);
}

/// Returns the count of this thread, and begins anew.
pub fn take_reached() -> usize {
    REACHED.take()
}

/// Returns limits that are small enough for a fuzzer to reach them.
fn limits() -> DocumentLimits {
    DocumentLimits::DEFAULT
        .bytes(1 << 16)
        .steps(64)
        .depth(16)
        .string(1 << 12)
        .name(1 << 8)
        .values(1 << 10)
}

/// Creates a strict reader of any dialect.
fn reader<'c>() -> Reader<'c> {
    Reader::new().limits(limits())
}
