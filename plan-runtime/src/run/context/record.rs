//! The record of a call, for journals that commit more together with the record.

use super::{CallContext, locked};
use crate::journal::spi::Claim;
use crate::run::durable::decode;

/// The position of the record that a durable run writes at the end of a call. [`CallContext::record`] returns it.
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

impl CallContext {
    /// Returns the position of the record of this attempt. Returns `None` if the run is not [durable](crate::run::Run::durable) in a journal, and
    /// after the end of the call. A tool can pass the position to a journal that commits SQL of the tool together with the record.
    ///
    /// ```
    /// use plan_runtime::journal::Memory;
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Returns the key of its record.
    /// #[tool]
    /// async fn key(#[context] context: CallContext) -> Result<Option<String>> {
    ///     Ok(context.record().map(|record| record.key))
    /// }
    ///
    /// let plan = plan! { step of_call = Key {}; of_call };
    /// let key = smol::block_on(plan.run(&()).durable(&Memory::new(), "run-1"))?;
    /// assert_eq!(key.as_deref(), Some("of_call@1"));
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    pub fn record(&self) -> Option<CallRecord> {
        let place = self.0.as_ref()?;
        let durable = place.run.durable.as_ref()?;
        // No later record can be written, so no commit may depend on one.
        if locked(&place.state.dropped).is_over {
            return None;
        }
        Some(CallRecord {
            claim: durable.claimed.claim.clone(),
            key: self.key(),
        })
    }
}
