//! Durable runs: they are dropped, killed, changed and let down by their journal, and go on as if nothing had happened.

mod basics;
mod cells;
mod changes;
mod engine;
mod faults;
mod found;
mod keys;
#[cfg(feature = "sqlite")]
mod kill;
mod order;
mod outlived;
pub(crate) mod random;
mod rough;
pub(crate) mod support;
mod times;
