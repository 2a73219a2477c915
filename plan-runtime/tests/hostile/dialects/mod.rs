//! Text that looks like a reference of another dialect, and bytes that are not text.

mod bytes;
mod foreign;
mod promises;
mod words;
