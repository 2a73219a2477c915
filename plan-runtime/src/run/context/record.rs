//! The record of a call, for journals that commit more together with the record.

use crate::journal::spi::Claim;
use crate::run::durable::decode;

/// The position of the record that a durable run writes at the end of a call. [`CallContext::record`](super::CallContext::record) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallRecord {
    /// The claim that [`append`](crate::journal::Journal::append) gets.
    pub claim: Claim,
    /// The key that [`append`](crate::journal::Journal::append) gets.
    pub key: String,
}

impl CallRecord {
    /// Returns `true` if this body of the record contains the output of the call, and `false` for a failure.
    pub fn has_output(body: &str) -> bool {
        decode(body).is_ok_and(|recorded| recorded.result.is_ok())
    }
}
