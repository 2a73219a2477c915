//! Work that a failure leaves.

use std::fmt;

/// The recorded message of an error that [leaves work](super::StepError::leaves_work), without its type.
#[derive(Debug)]
pub(crate) struct LeftWork(pub(crate) String);

impl fmt::Display for LeftWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LeftWork {}
