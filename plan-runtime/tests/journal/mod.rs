//! Journals: the suite that all of them pass, and that it finds what is wrong; the one in a file, when its process is killed and its file is damaged.

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
