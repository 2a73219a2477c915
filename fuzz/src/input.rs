//! The reader of the inputs, and the count of those that reach the assertions.

use plan_runtime::dynamic::{DocumentLimits, Reader};
use std::cell::Cell;

thread_local! {
    static REACHED: Cell<usize> = const { Cell::new(0) };
}

/// Counts an input that has come to the assertions which only some inputs reach.
pub fn reached() {
    REACHED.set(REACHED.get() + 1);
}

/// Returns the count of this thread, and begins anew.
pub fn take_reached() -> usize {
    REACHED.take()
}

/// Returns limits that are small enough for a fuzzer to reach them.
pub fn limits() -> DocumentLimits {
    DocumentLimits::DEFAULT
        .bytes(1 << 16)
        .steps(64)
        .depth(16)
        .string(1 << 12)
        .name(1 << 8)
        .values(1 << 10)
}

/// Creates a strict reader of any dialect.
pub fn reader<'c>() -> Reader<'c> {
    Reader::new().limits(limits())
}
