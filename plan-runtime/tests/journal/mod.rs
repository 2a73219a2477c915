//! Journals: the suite that each of them passes, and the journal in a file, with killed processes and damaged files.

pub(crate) mod asking;
#[cfg(feature = "sqlite")]
mod batches;
mod conformance;
#[cfg(feature = "sqlite")]
mod damage;
#[cfg(feature = "sqlite")]
mod inspect;
#[cfg(feature = "sqlite")]
mod killed;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqlite")]
mod support;
#[cfg(feature = "sqlite")]
mod versions;
