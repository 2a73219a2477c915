//! Calls that begin later than their futures.

use super::request::Request;
use super::start::Started;
use super::storing::{Storing, once};
use crate::resolve::{drop_quietly, from_json};
use crate::{Call, Error, Result, Tool};
use serde_json::Value;

impl Request<'_> {
    /// Calls a tool when the call is first polled, since the journal or a throttle may not allow the call yet. A tool may be unable to move to
    /// another thread, so the future keeps the arguments as JSON.
    #[cold]
    pub(super) fn call_later<'x, T, A>(self, app: &'x A) -> Started<'x>
    where
        T: Call<A> + 'x,
        A: ?Sized + Sync,
    {
        let (tool, arguments) = match self.read::<T>() {
            Ok(Some(read)) => read,
            Ok(None) => return self.unknown(),
            Err(error) => return Started::Ended(Err(error)),
        };
        match tool.plan_on(app) {
            Ok(plan) => {
                let plan = plan.settled(&arguments).keeping(self.keep);
                return Started::Plan(plan, self.context(true));
            }
            Err(tool) => drop_quietly(tool),
        }
        if T::USES_CONTEXT {
            return self.in_context::<T, _>(move |context| {
                later(arguments, move |tool: T| tool.call_in(app, context))
            });
        }
        let (keep, room) = self.kept();
        let call = later(arguments, move |tool| T::call(tool, app));
        Started::Running(once(Storing::<T, _>::new(call, keep, room)))
    }
}

/// Calls a tool with these arguments. The run has already made the tool from these arguments once.
async fn later<T, F>(arguments: Value, call: impl FnOnce(T) -> F) -> Result<T::Output>
where
    T: Tool,
    F: Future<Output = Result<T::Output>>,
{
    let called = from_json::<T>(&arguments).map(call);
    called.map_err(Error::permanent)?.await
}
