//! Runs of plans, with hand-written plans and start functions in the form of `plan!`.

mod admitted;
#[cfg(feature = "macros")]
mod asked;
mod begun;
mod blocks;
mod blocks_bounded;
mod blocks_undone;
mod branches;
mod bytes;
mod cancelling;
mod critical;
mod endings;
mod errors;
mod failing;
mod faults;
mod generated;
mod inside;
#[cfg(feature = "macros")]
mod interrupted;
mod model;
mod nesting;
#[cfg(all(feature = "dynamic", feature = "macros"))]
mod outlived;
mod outputs;
mod policies;
mod reference;
mod reports;
mod runtimes;
mod signals;
mod stage;
mod starting;
pub(crate) mod support;
#[cfg(feature = "macros")]
mod waited;
mod watched;
mod watching;
