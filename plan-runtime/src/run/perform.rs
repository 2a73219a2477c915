//! Calls for runs that are on another machine.

use super::catch::catch;
use super::context::{Allowance, CallContext, CallPlace, CallState, Elsewhere, Permissions};
use super::engine::{CallOutcome, EngineCall, EnginePlace};
use super::limits::Limits;
use super::options::Options;
use super::start::{Request, Started, StepFuture, StepResult};
use super::throttle::{Throttle, Turn};
use super::timer::{ThreadTimer, Timer, TimerFuture};
use super::{Run, StepError};
use crate::plan::{Action, Plan, Reference, Source};
use crate::resolve::{Scope, StoredValue};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How long a call may go on after nobody waits for it any more. By then, whoever made the call has seen that its time is over.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call whose panics are its errors.
async fn caught(mut call: StepFuture<'_>) -> StepResult {
    let result = poll_fn(|cx| match catch(|| call.as_mut().poll(cx)) {
        Ok(polled) => polled,
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await;
    // What its destructors panic about is lost.
    let _ = catch(|| drop(call));
    result
}

/// Returns the value of a future, or the error of a time limit that is over before.
async fn before<T>(
    mut coming: Pin<Box<dyn Future<Output = T> + Send + '_>>,
    mut limit: Option<(TimerFuture, StepError)>,
) -> Result<T, StepError> {
    poll_fn(|cx| {
        if let Poll::Ready(value) = coming.as_mut().poll(cx) {
            return Poll::Ready(Ok(value));
        }
        match &mut limit {
            Some((sleep, error)) => sleep.as_mut().poll(cx).map(|()| Err(error.clone())),
            None => Poll::Pending,
        }
    })
    .await
}

/// The context of a call for a run on another machine.
fn context_of(call: EnginePlace) -> CallContext {
    let run = Options {
        id: Some(call.run),
        undone: call.undone,
        ..Options::default()
    };
    let run = { run }.share();
    let now = run.options.timer.now();
    let deadline = call.time_left.and_then(|left| now.checked_add(left));
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
        deadline,
        called: None,
        is_last: false,
        inside: None,
        state: CallState::default(),
        elsewhere: Some(Elsewhere {
            path: call.path,
            lasting: call.lasting,
        }),
    })
}

impl EngineCall {
    /// Makes the call, which this starts.
    pub(crate) fn perform<'x, App: ?Sized + Sync>(
        self,
        throttle: &Throttle,
        app: &'x App,
        start: impl FnOnce(Request<'_>) -> Started<'x>,
    ) -> Pin<Box<dyn Future<Output = CallOutcome> + Send + 'x>> {
        let timer = ThreadTimer;
        let patience = self
            .time_left()
            .map(|left| timer.sleep(left.saturating_add(PATIENCE)));
        let turn = Turn::new(std::slice::from_ref(throttle), self.tool());
        let context = context_of(self.clone().place());
        let started = catch(|| {
            let arguments = serde_json::from_str(self.arguments())
                .map_err(|error| StepError::arguments(serde::de::Error::custom(error)))?;
            let plan = Plan::new("call");
            let inputs = [StoredValue::json(arguments)];
            let scope = Scope::new(&plan, &inputs, &[]);
            let given = Reference::new(Source::Input(0));
            let action = Action::call(self.tool(), given);
            let make = |_| context.clone();
            Ok(start(Request::new(&scope, &action).within(&make)))
        });
        let call = async move {
            let _turn = turn.come(Arc::new(timer)).await;
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
