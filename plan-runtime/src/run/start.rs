//! What starts the steps of a plan: generated code, or a toolbox.

use super::StepError;
use super::context::GatedCall;
use super::context::{CallContext, RunningCall};
use crate::plan::Action;
use crate::resolve::{ErrorKind, Meter, ResolveError, Scope, StoredValue, encode_within, resolve};
use crate::{Call, Result};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;

/// A step's output, on its way.
pub type StepFuture<'x> = Pin<Box<dyn Future<Output = StepResult> + Send + 'x>>;

/// How a step ends.
pub type StepResult = Result<StoredValue, StepError>;

/// How generated code starts an action, by its number in the plan.
pub type StartFn<App> = for<'x> fn(usize, Request<'_>, &'x App) -> Started<'x>;

/// What starts the actions of a run.
pub(crate) enum Starter<'a, App: ?Sized> {
    /// Generated code.
    Plan(StartFn<App>),
    /// What was found for the actions of a plan before it runs.
    #[cfg_attr(
        not(feature = "dynamic"),
        expect(dead_code, reason = "a toolbox finds them")
    )]
    Found(Box<dyn Starts<App> + 'a>),
}

/// What starts the actions of one plan, by their numbers.
pub(crate) trait Starts<App: ?Sized>: Send {
    fn start<'x>(&self, call_index: usize, request: Request<'_>, app: &'x App) -> Started<'x>;
}

impl<App: ?Sized> Starter<'_, App> {
    #[inline]
    pub(super) fn start<'x>(
        &self,
        call_index: usize,
        request: Request<'_>,
        app: &'x App,
    ) -> Started<'x> {
        match self {
            Self::Plan(start) => start(call_index, request, app),
            Self::Found(found) => found.start(call_index, request, app),
        }
    }
}

/// A step that was started.
pub enum Started<'x> {
    /// It has ended already.
    Ended(StepResult),
    /// It runs.
    Running(StepFuture<'x>),
    /// It runs, and knows where it is.
    InContext(StepFuture<'x>, CallContext),
    /// Gates are to be asked about it first, unless it is a plan, whose calls they are asked about.
    Asks(Option<Box<GatedCall>>),
}

/// What there is to start an action with: the action, and what it can refer to.
#[derive(Clone, Copy)]
pub struct Request<'s> {
    scope: &'s Scope<'s>,
    action: &'s Action,
    captured: Option<&'s Cell<Option<Value>>>,
    context: Option<&'s dyn Fn(bool) -> CallContext>,
    /// Whether there are gates to be asked before the call.
    asks: bool,
    /// What they were shown as the arguments.
    given: Option<&'s Value>,
}

impl<'s> Request<'s> {
    /// A request to start an action of `scope`'s plan, whoever decides that it is time.
    pub fn new(scope: &'s Scope<'s>, action: &'s Action) -> Self {
        Self {
            scope,
            action,
            captured: None,
            context: None,
            asks: false,
            given: None,
        }
    }

    /// The same, which leaves the resolved arguments as JSON here.
    #[must_use]
    pub fn capturing(self, captured: Option<&'s Cell<Option<Value>>>) -> Self {
        Self { captured, ..self }
    }

    /// The same, for a call whose context this makes. It is given whether the tool is a plan.
    #[must_use]
    pub(super) fn within(self, context: &'s dyn Fn(bool) -> CallContext) -> Self {
        Self {
            context: Some(context),
            ..self
        }
    }

    /// The same, which is not to call, but to say what gates are asked about.
    #[must_use]
    pub(super) fn asking(self) -> Self {
        Self { asks: true, ..self }
    }

    /// The same, whose arguments were resolved already, if they were.
    #[must_use]
    pub(super) fn given(self, given: Option<&'s Value>) -> Self {
        Self { given, ..self }
    }

    /// The arguments of the call.
    fn arguments<T: DeserializeOwned>(&self) -> Result<T, StepError> {
        let arguments = match self.given {
            None => resolve(&self.action.args, self.scope),
            Some(given) => T::deserialize(given).map_err(serde::de::Error::custom),
        };
        let arguments = arguments.map_err(StepError::arguments)?;
        let checked = self.scope.check_arguments();
        checked.map_err(StepError::arguments)?;
        Ok(arguments)
    }

    /// What gates are asked about this call to a tool.
    fn question(self, tool: &str, description: &str, is_read_only: bool) -> Started<'static> {
        let call = self.arguments().map(|arguments| GatedCall {
            context: self
                .context
                .map_or_else(CallContext::default, |make| make(false)),
            tool: tool.to_owned(),
            description: description.to_owned(),
            is_read_only,
            arguments,
            shown: None,
        });
        match call {
            Ok(call) => Started::Asks(Some(Box::new(call))),
            Err(error) => Started::Ended(Err(error)),
        }
    }

    /// The action.
    pub fn action(&self) -> &'s Action {
        self.action
    }

    /// What the action can refer to.
    pub fn scope(&self) -> &'s Scope<'s> {
        self.scope
    }

    /// Calls a tool. Its arguments are resolved immediately, and its output is encoded when the call ends. `keep` also keeps the
    /// output's typed value.
    pub fn call<'x, T, A>(self, app: &'x A, keep: bool) -> Started<'x>
    where
        T: Call<A> + 'x,
        A: ?Sized,
    {
        if self.asks && T::PLAN.is_some() {
            return Started::Asks(None);
        }
        let tool: T = match self.arguments() {
            Ok(tool) => tool,
            Err(error) => return Started::Ended(Err(error)),
        };
        if self.asks {
            return self.question(T::NAME, T::DESCRIPTION, T::READ_ONLY);
        }
        if let Some(captured) = self.captured {
            let meter = self.scope.meter().map(Meter::again);
            match encode_within(&tool, meter.as_ref()) {
                Err(error) if stops(&error) => {
                    return Started::Ended(Err(StepError::arguments(error)));
                }
                arguments => captured.set(arguments.ok()),
            }
        }
        let room = self.scope.room();
        let store = move |output: Result<T::Output>| {
            let output = output.map_err(StepError::tool)?;
            let meter = Meter::new(room, None);
            StoredValue::metered(output, keep, &meter).map_err(StepError::output)
        };
        if !T::USES_CONTEXT {
            let output = tool.call(app);
            return Started::Running(Box::pin(async move { store(output.await) }));
        }
        let is_plan = T::PLAN.is_some();
        let context = self
            .context
            .map_or_else(CallContext::default, |make| make(is_plan));
        let running = RunningCall::of(&context);
        let output = tool.call_in(app, context.clone());
        let future = Box::pin(async move {
            let output = output.await;
            running.end();
            store(output)
        });
        Started::InContext(future, context)
    }

    /// Calls a tool whose arguments and output are JSON. The arguments are resolved immediately, and `check` returns what is wrong
    /// with them.
    #[cfg(feature = "dynamic")]
    pub(crate) fn call_json<'x, F>(
        self,
        (name, description, is_read_only): (&str, &str, bool),
        check: impl FnOnce(&Value) -> Vec<String>,
        call: impl FnOnce(Value) -> F,
    ) -> Started<'x>
    where
        F: Future<Output = Result<Value>> + Send + 'x,
    {
        let arguments: Value = match self.arguments() {
            Ok(arguments) => arguments,
            Err(error) => return Started::Ended(Err(error)),
        };
        if let Some(captured) = self.captured {
            captured.set(Some(arguments.clone()));
        }
        let mistakes = check(&arguments);
        if !mistakes.is_empty() {
            let error = serde::de::Error::custom(mistakes.join("; "));
            return Started::Ended(Err(StepError::arguments(error)));
        }
        if self.asks {
            return self.question(name, description, is_read_only);
        }
        let room = self.scope.room();
        let output = call(arguments);
        Started::Running(Box::pin(async move {
            let output = output.await.map_err(StepError::tool)?;
            StoredValue::made(output, room).map_err(StepError::output)
        }))
    }

    /// Computes a value; no tool is called.
    pub fn compute<T>(self, keep: bool) -> Started<'static>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let hold = |value| match self.scope.meter() {
            Some(meter) => StoredValue::metered(value, keep, &meter.again()),
            None => StoredValue::value(value, keep),
        };
        Started::Ended(
            resolve::<T>(&self.action.args, self.scope)
                .map_err(StepError::arguments)
                .and_then(|value| hold(value).map_err(StepError::output)),
        )
    }

    /// There is nothing that runs this step.
    pub fn unknown(self) -> Started<'static> {
        Started::Ended(Err(StepError::Unknown))
    }
}

/// Whether an error means that nothing more is to be made.
fn stops(error: &ResolveError) -> bool {
    matches!(error.kind(), ErrorKind::Limit | ErrorKind::Interrupted)
}
