pub use crate::run::start::{Request, StartFn, Started, StepFuture, StepResult};

use crate::{Result, Run};
use serde::de::DeserializeOwned;
use std::future::Future;

/// A run as the call of a tool, which a plan is.
#[expect(
    clippy::manual_async_fn,
    reason = "that it is `Send` is to be checked here, not where a plan is"
)]
pub fn called<A, O>(run: Run<'_, A, O>) -> impl Future<Output = Result<O>> + Send
where
    A: ?Sized + Sync,
    O: DeserializeOwned,
{
    async move { Ok(run.await?) }
}
