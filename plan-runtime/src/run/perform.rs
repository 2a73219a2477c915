//! Execution of one call for an engine, in a worker. The run of the call is on another machine.

use super::admission::{Throttle, Turn};
use super::catch::catch;
use super::context::{
    Allowance, CallContext, CallPlace, CallState, Elsewhere, LastingPaths, Permissions,
};
use super::engine::{CallOutcome, EngineCall};
use super::limits::Limits;
use super::options::Options;
use super::start::{Request, Started, StepFuture, StepResult};
use super::timer::{ThreadTimer, Timer, before};
use super::{Run, StepError};
use crate::plan::{Action, Plan, Reference, Source};
use crate::resolve::{Scope, StoredValue};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// The time that a call may take after the end of its caller's time limit, when the caller no longer waits for the call.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes a call, and converts its panics to errors.
async fn caught(mut call: StepFuture<'_>) -> StepResult {
    let result = poll_fn(|cx| match catch(|| call.as_mut().poll(cx)) {
        Ok(polled) => polled,
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await;
    // A panic of its destructors is ignored.
    let _ = catch(|| drop(call));
    result
}

/// Creates the context of a call for a run on another machine.
fn context_of(call: EngineCall) -> CallContext {
    let deadline = call.time_left();
    let mut options = Options {
        id: Some(call.run),
        undone: call.undone,
        ..Options::default()
    };
    let run = options.share();
    let now = run.timer.now();
    let this = call.lasting_attempt.as_ref().unwrap_or(&call.lasting);
    let lasting = LastingPaths {
        this: this.clone(),
        all: call.lasting,
    };
    CallContext::new(CallPlace {
        run: Arc::new(run),
        allowance: Allowance::new(Limits::DEFAULT, Permissions::default(), None, 0),
        depth: 0,
        at: Vec::new(),
        outer: None,
        beside: None,
        plan: call.plan,
        step: call.step,
        element: call.element,
        action: 0,
        attempt: call.attempt,
        times: 0,
        is_always: false,
        began: None,
        deadline: deadline.and_then(|left| now.checked_add(left)),
        called: None,
        is_last: false,
        inside: None,
        state: CallState::default(),
        elsewhere: Some(Elsewhere {
            path: call.path,
            lasting,
        }),
    })
}

impl EngineCall {
    /// Makes the call. `start` starts it.
    pub(crate) fn perform<'x, App: ?Sized + Sync>(
        self,
        throttle: &Throttle,
        app: &'x App,
        start: impl FnOnce(Request<'_>) -> Started<'x> + Send + 'x,
    ) -> Pin<Box<dyn Future<Output = CallOutcome> + Send + 'x>> {
        let timer = ThreadTimer;
        let patience = self
            .time_left()
            .map(|left| timer.sleep(left.saturating_add(PATIENCE)));
        let turn = Turn::new(std::slice::from_ref(throttle), self.tool());
        let context = context_of(self.clone());
        let call = context.clone();
        let call = async move {
            let _turn = turn.come(Arc::new(timer)).await;
            let started = catch(|| {
                let arguments = serde_json::from_str(self.arguments())
                    .map_err(|error| StepError::arguments(serde::de::Error::custom(error)))?;
                let plan = Plan::new("call");
                let inputs = [StoredValue::json(arguments)];
                let scope = Scope::new(&plan, &inputs, &[]);
                let given = Reference::new(Source::Input(0));
                let action = Action::call(self.tool(), given);
                let make = |_| call.clone();
                Ok(start(Request {
                    context: Some(&make),
                    ..Request::new(&scope, &action)
                }))
            });
            let output = match started.flatten() {
                Ok(Started::Ended(result)) => result?,
                Ok(Started::Running(future) | Started::InContext(future, _)) => {
                    caught(future).await?
                }
                Ok(Started::Plan(plan, context)) => {
                    let run = Run::of_called(*plan, app).inside(&context);
                    return run.await.map_err(|error| StepError::tool(error.into()));
                }
                Ok(Started::Asks(_)) => return Err(StepError::Unknown),
                Err(error) => return Err(error),
            };
            output.into_json().map_err(StepError::output)
        };
        Box::pin(async move {
            let result = before(
                Box::pin(call),
                patience.map(|sleep| (sleep, StepError::Unknown)),
            );
            let result = result.await.flatten();
            CallOutcome::of(&result, &context.undone_inside())
        })
    }
}
