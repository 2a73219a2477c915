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
            // Another worker may have it, or this one once it was replaced: Restate tries again.
            let error = format!(
                "this worker has no tool `{}`: add it with `with`",
                call.tool()
            );
            return Err(io::Error::other(error).into());
        }
        let (host, name) = (Arc::clone(&self.0), call.path().to_owned());
        // What a tool fails with is data: whether it is tried again is for the plan to say. All is in a `run`, since Restate may ask again for what was answered already, and
        // then it has to be the same.
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
