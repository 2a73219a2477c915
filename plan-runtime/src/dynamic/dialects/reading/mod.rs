//! The parts that readers share: names, templates, and findings.

mod block;
pub(crate) mod body;
pub(crate) mod counts;
pub(crate) mod cycle;
#[cfg(feature = "dynamic")]
mod extensions;
#[cfg(feature = "dynamic")]
pub(crate) mod foreign;
#[cfg(feature = "dynamic")]
pub(crate) mod inputs;
#[cfg(feature = "dynamic")]
pub(crate) mod layout;
mod members;
pub(crate) mod names;
mod plan_reader;
pub(crate) mod policy;
#[cfg(feature = "dynamic")]
pub(crate) mod reference;
pub(crate) mod roles;
pub(crate) mod steps;
#[cfg(feature = "dynamic")]
mod strings;
mod template;
mod test;
#[cfg(feature = "dynamic")]
pub(crate) mod unknown;
#[cfg(feature = "dynamic")]
mod words;

pub(crate) use body::nothing;
pub(crate) use members::{Member, Members, duplicate, wrong_kind};
pub(crate) use plan_reader::{PlanReader, Syntax};
pub(crate) use test::{is_reference, meant, test, unknown_beside};

/// The largest number of listed names in a finding without a similar name.
pub(crate) const MOST_NAMES: usize = 8;
