//! Durable runs, which resume after drops, kills, changes of the plan and failures of the journal.

mod basics;
mod cells;
mod changes;
mod dropped;
mod engine;
mod faults;
mod found;
mod heard;
mod keys;
#[cfg(feature = "sqlite")]
mod kill;
mod limits;
mod order;
mod orphans;
mod outlived;
pub(crate) mod random;
pub(crate) mod rough;
mod sleeps;
pub(crate) mod support;
mod throttled;
mod times;
