//! The service that makes the calls of steps.

use crate::host::Host;
use crate::wire::{self, Came};
use plan_runtime::Error;
use plan_runtime::run::{CallOutcome, EngineCall};
use restate_sdk::prelude::*;
use std::io;
use std::sync::Arc;

pub(crate) struct PlanSteps(pub(crate) Arc<dyn Host>);

#[restate_sdk::service]
impl PlanSteps {
    #[handler]
    pub(crate) async fn call(
        &self,
        ctx: Context<'_>,
        call: Json<EngineCall>,
    ) -> Result<Json<Came>, HandlerError> {
        let call = call.into_inner();
        if !self.0.has(call.tool()) {
            // Another worker may have the tool, or a newer version of the worker may, so Restate retries.
            let error = format!(
                "this worker has no tool `{}`: add it with `with`",
                call.tool()
            );
            return Err(io::Error::other(error).into());
        }
        let (host, name) = (Arc::clone(&self.0), call.path().to_owned());
        // A tool's failure is data, since the plan decides about retries. The whole call is in a `run`, since Restate may repeat a request that was
        // answered, and the answer must be equal.
        let came = ctx.run(move || async move {
            let outcome = host.perform(call).await;
            let bytes = outcome.size();
            let outcome = match wire::too_large("the output", bytes) {
                None => outcome,
                Some(error) => CallOutcome::failed(Error::permanent(error)),
            };
            Ok(Json(Came {
                outcome,
                at: wire::now(),
            }))
        });
        Ok(came.name(name).await?)
    }
}
