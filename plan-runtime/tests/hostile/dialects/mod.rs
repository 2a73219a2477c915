//! Strings that look like a reference of another dialect, and bytes that are not UTF-8.

mod bytes;
mod foreign;
mod places;
mod promises;
mod words;
