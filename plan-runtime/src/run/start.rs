//! The code that starts the steps of a plan: generated code, or a toolbox.

use super::StepError;
use super::calling::arguments_on;
use super::context::PendingCall;
use super::context::{CallContext, Polled, RunningCall};
use super::request::Mode;
pub use super::request::Request;
use super::storing::{Calling, Storing, once};
pub use super::storing::{StepFuture, StepResult};
use crate::error::Cause;
use crate::plan::{Action, Executable, Keep, Plan, Template};
use crate::resolve::look;
use crate::resolve::{
    HandOver, Handed, MemoryBudget, Meter, ResolveError, Scope, StoredValue, drop_quietly,
    from_json, resolve, resolve_json, settle, take,
};
use crate::{Call, Error, Result, Tool};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A function of generated code that starts an action by its number in the plan.
pub type StartFn<App> = for<'x> fn(usize, Request<'_>, &'x App) -> Started<'x>;

/// The starter of a run's actions.
pub(crate) enum Starter<'a, App: ?Sized> {
    /// The generated function of a `plan!`.
    Plan(StartFn<App>),
    /// The actions of a plan, resolved before the run.
    Found(Box<dyn Starts<App> + 'a>),
    /// The code of one plan, which runs as if a step called it.
    Called(OwnStart<'a>),
}

/// A starter of one plan's actions, by their numbers.
pub(crate) trait Starts<App: ?Sized>: Send {
    fn start<'x>(&self, call_index: usize, request: Request<'_>, app: &'x App) -> Started<'x>;

    /// Returns `true` if one of the tools is a plan.
    fn finds_plans(&self) -> bool;

    /// Returns the plan that a call is.
    fn plan(&self, action: &Action) -> Option<&'static Plan>;
}

impl<'a, App: ?Sized> Starter<'a, App> {
    /// Returns `true` if the starter hands values over in Rust. A toolbox finds tools by name, and the type of a named tool
    /// can differ from the plan's.
    pub(super) fn hands_over(&self) -> bool {
        matches!(self, Self::Plan(_))
    }

    /// Returns `true` if one of the tools that are found by their names is a plan.
    pub(super) fn finds_plans(&self) -> bool {
        match self {
            Self::Found(found) => found.finds_plans(),
            Self::Plan(_) | Self::Called(_) => false,
        }
    }

    /// Returns the plan of a called tool, if tools are found by name.
    pub(super) fn plan(&self, action: &Action) -> Option<&'static Plan> {
        match self {
            Self::Found(found) => found.plan(action),
            Self::Plan(_) | Self::Called(_) => None,
        }
    }

    #[inline]
    pub(super) fn start(
        &self,
        call_index: usize,
        request: Request<'_>,
        app: &'a App,
    ) -> Started<'a> {
        match self {
            Self::Called(own) => (own.start)(call_index, request),
            Self::Plan(start) => start(call_index, request, app),
            Self::Found(found) => found.start(call_index, request, app),
        }
    }
}

/// A step that was started.
pub enum Started<'x> {
    /// An action that has ended already.
    Ended(StepResult),
    /// A running action.
    Running(StepFuture<'x>),
    /// A running action with the context of its call.
    InContext(StepFuture<'x>, CallContext),
    /// A plan, which runs as a part of the enclosing run.
    Plan(Box<CalledPlan<'x>>, CallContext),
    /// A call that gates must allow first. `None` for a plan, because gates decide on the calls inside the plan.
    Asks(Option<Box<PendingCall>>),
}

impl Started<'_> {
    pub(crate) fn failed(error: StepError) -> Self {
        Self::Ended(Err(error))
    }
}

/// A check of a call's output.
#[cfg(feature = "jsonschema")]
type CheckOutput<'c> = dyn Fn(&Value) -> Result<(), ResolveError> + Send + Sync + 'c;

#[cfg(feature = "jsonschema")]
fn checked(output: StepResult, check: &CheckOutput<'_>) -> StepResult {
    let output = output?;
    let json = output.as_json().map_err(StepError::output)?;
    check(json).map_err(StepError::output)?;
    Ok(output)
}

#[cfg(feature = "jsonschema")]
impl Started<'_> {
    /// Checks the output of the call before the run stores it.
    pub(crate) fn checking(
        self,
        check: impl Fn(&Value) -> Result<(), ResolveError> + Send + Sync + 'static,
    ) -> Self {
        match self {
            Self::Running(call) => Self::Running(once(async move { checked(call.await, &check) })),
            Self::InContext(call, context) => {
                let call = once(async move { checked(call.await, &check) });
                Self::InContext(call, context)
            }
            Self::Plan(mut plan, context) => {
                let store = plan.own.store;
                plan.own.store = Box::new(move |output, keep, room| {
                    store(output, keep, room).map(|stored| checked(stored, &check))
                });
                Self::Plan(plan, context)
            }
            ended => ended,
        }
    }
}

/// Checks a recorded output against this type. The returned step has ended, with an error if the output does not fit.
fn fits<'x, T: DeserializeOwned>(recorded: &Value) -> Started<'x> {
    Started::Ended(match from_json::<T>(recorded) {
        Ok(value) => {
            drop_quietly(value);
            Ok(StoredValue::json(Value::Null))
        }
        Err(error) => Err(StepError::output(serde::de::Error::custom(error))),
    })
}

impl Request<'_> {
    /// Returns `true` if a value is null.
    pub(crate) fn is_null(&self, template: &Template) -> bool {
        look(template, self.scope).is_ok_and(|value| value.is_null())
    }

    /// Returns the call to a tool, for the gates.
    pub(super) fn question_of<'x, T: Tool>(self) -> Started<'x> {
        if T::PLAN.is_some() {
            return Started::Asks(None);
        }
        self.question(T::NAME, T::DESCRIPTION, T::READ_ONLY)
    }

    /// Returns the call to a tool, for the gates.
    fn question<'x>(self, tool: &str, description: &str, is_read_only: bool) -> Started<'x> {
        let arguments = self.arguments_with(|| resolve_json(&self.action.args, self.scope));
        let call = arguments.map(|arguments| PendingCall {
            context: self.context(false),
            tool: tool.to_owned(),
            description: description.to_owned(),
            is_read_only,
            arguments,
            shown: None,
            undoes: None,
            undone_by: Vec::new(),
        });
        call.map_or_else(Started::failed, |call| Started::Asks(Some(Box::new(call))))
    }

    /// Calls a tool. Its arguments are resolved immediately, and its output is stored when the call ends.
    pub fn call<'x, T, A>(self, app: &'x A) -> Started<'x>
    where
        T: Call<A> + 'x,
        A: ?Sized + Sync,
    {
        match self.mode {
            Mode::Recorded(output) => return fits::<T::Output>(output),
            Mode::Question if T::PLAN.is_some() => return Started::Asks(None),
            Mode::Elsewhere(engine) => {
                let started = self.call_elsewhere::<T, A>(engine, app);
                return started.unwrap_or_else(Started::failed);
            }
            Mode::Later => return self.call_later::<T, A>(app).unwrap_or_else(Started::failed),
            Mode::Call | Mode::Question => {}
        }
        let tool: T = match self.arguments() {
            Ok(tool) => tool,
            Err(error) => return Started::failed(error),
        };
        if let Mode::Question = self.mode {
            return self.question(T::NAME, T::DESCRIPTION, T::READ_ONLY);
        }
        if let Err(error) = self.capture(&tool) {
            return Started::failed(error);
        }
        let tool = match tool.plan_on(app) {
            Ok(plan) => {
                return Started::Plan(plan.keeping(self.keep), self.context(true));
            }
            Err(tool) => tool,
        };
        if !T::USES_CONTEXT {
            let call = Calling::new(tool, app, T::call, self.kept());
            return Started::Running(Box::pin(call));
        }
        self.call_in_context(tool, app)
    }

    pub(super) fn call_in_context<'x, T, A>(self, tool: T, app: &'x A) -> Started<'x>
    where
        T: Call<A> + 'x,
        A: ?Sized,
    {
        self.in_context::<T, _>(|context| tool.call_in(app, context))
    }

    pub(super) fn in_context<'x, T, F>(self, call: impl FnOnce(CallContext) -> F) -> Started<'x>
    where
        T: Tool + 'x,
        F: Future<Output = Result<T::Output>> + Send + 'x,
    {
        let (keep, room) = self.kept();
        let context = self.context(T::PLAN.is_some());
        let running = RunningCall::of(&context);
        let output = Polled::new(&context, call(context.clone()));
        let rests = T::WAITS.then(|| context.clone());
        let call = async move {
            let resting = rests.as_ref().and_then(CallContext::rest);
            let output = output.await;
            drop(resting);
            running.end();
            output
        };
        let call = Storing::<T, _>::new(call, keep, room);
        Started::InContext(once(call), context)
    }

    /// Calls a tool whose arguments and output are JSON. The arguments are resolved immediately, and `check` returns their errors.
    pub(crate) fn call_json<'x, F>(
        self,
        (name, description, is_read_only): (&str, &str, bool),
        check: impl FnOnce(&Value) -> Vec<String>,
        call: impl FnOnce(Value) -> F,
    ) -> Result<Started<'x>, StepError>
    where
        F: Future<Output = Result<Value>> + Send + 'x,
    {
        let arguments = match self.mode {
            Mode::Recorded(output) => return Ok(fits::<Value>(output)),
            Mode::Elsewhere(engine) => {
                let has_code = self.action.args.has_code();
                let make = &mut || self.arguments_as_json();
                arguments_on(&**engine, has_code, &self.context(false), make)
            }
            Mode::Call | Mode::Later | Mode::Question => self.arguments_as_json(),
        }?;
        if let Some(captured) = self.captured {
            captured.set(Some(arguments.clone()));
        }
        let mistakes = check(&arguments);
        if !mistakes.is_empty() {
            let error = serde::de::Error::custom(mistakes.join("; "));
            return Err(StepError::arguments(error));
        }
        match self.mode {
            Mode::Question => return Ok(self.question(name, description, is_read_only)),
            Mode::Elsewhere(engine) => {
                let context = self.context(false);
                return self.have_called(engine, (name, &arguments), &context, |_| Ok(()));
            }
            _ => {}
        }
        let room = self.scope.room();
        let output = call(arguments);
        Ok(Started::Running(once(async move {
            let output = output.await.map_err(StepError::tool)?;
            StoredValue::made(output, room).map_err(StepError::output)
        })))
    }

    /// Computes a value; no tool is called.
    pub fn compute<'x, T>(self, hand_over: Option<HandOver<T>>) -> Started<'x>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        match self.mode {
            Mode::Recorded(output) => return fits::<T>(output),
            Mode::Elsewhere(engine) => return Started::Ended(self.compute_once::<T>(engine)),
            _ => {}
        }
        let hold = |value| {
            let meter = self.scope.meter().map(Meter::again);
            let meter = meter.unwrap_or_else(Meter::unlimited);
            StoredValue::kept(value, self.keep, || hand_over, &meter)
        };
        let value = match self.given {
            Some(given) => take::<T>(&self.action.args, self.scope, given),
            None => resolve(&self.action.args, self.scope),
        };
        let value = value.map_err(StepError::arguments);
        Started::Ended(value.and_then(|value| hold(value).map_err(StepError::output)))
    }

    /// Returns the failure of a step that nothing can run.
    pub fn unknown<'x>(self) -> Started<'x> {
        Started::failed(StepError::Unknown)
    }

    /// Calls a tool when the call is first polled, since the journal or a throttle may not allow the call yet. A tool may be unable to move to
    /// another thread, so the future keeps the arguments as JSON.
    #[cold]
    fn call_later<'x, T, A>(self, app: &'x A) -> Result<Started<'x>, StepError>
    where
        T: Call<A> + 'x,
        A: ?Sized + Sync,
    {
        let (tool, arguments) = self.read::<T>()?.ok_or(StepError::Unknown)?;
        match tool.plan_on(app) {
            Ok(plan) => {
                let plan = plan.settled(&arguments).keeping(self.keep);
                return Ok(Started::Plan(plan, self.context(true)));
            }
            Err(tool) => drop_quietly(tool),
        }
        if T::USES_CONTEXT {
            return Ok(self.in_context::<T, _>(move |context| {
                later(arguments, move |tool: T| tool.call_in(app, context))
            }));
        }
        let (keep, room) = self.kept();
        let call = later(arguments, move |tool| T::call(tool, app));
        Ok(Started::Running(once(Storing::<T, _>::new(
            call, keep, room,
        ))))
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

/// A plan that a step calls, before the plan starts. It runs like a block: the enclosing plan may end it, and undo it after it has succeeded. The
/// limits of the enclosing run apply to it.
pub struct CalledPlan<'x> {
    pub(super) executable: Executable<'x>,
    pub(super) inputs: Result<Vec<StoredValue>, Cause>,
    pub(super) hands_over: bool,
    pub(super) own: OwnStart<'x>,
}

pub(crate) type StartAction<'x> = dyn Fn(usize, Request<'_>) -> Started<'x> + Send + 'x;

type StoreOutput =
    dyn Fn(MadeOutput<'_>, Keep, MemoryBudget) -> Result<StepResult, ResolveError> + Send + Sync;

/// The output of a plan, before it has its type.
pub(super) enum MadeOutput<'o> {
    /// A JSON value.
    Json(Value),
    /// The template refers to the output.
    At(&'o Template, &'o Scope<'o>, &'o Handed),
}

impl MadeOutput<'_> {
    /// Converts the output to a value of its type.
    pub(super) fn read<O: DeserializeOwned + 'static>(self) -> Result<O, ResolveError> {
        match self {
            Self::Json(json) => from_json(&json).map_err(serde::de::Error::custom),
            Self::At(template, scope, given) => take(template, scope, given),
        }
    }
}

/// The start function of a called plan, with the type of the plan's output.
pub(crate) struct OwnStart<'x> {
    pub(super) start: Box<StartAction<'x>>,
    pub(super) fits: fn(&Value) -> Result<(), serde_json::Error>,
    store: Box<StoreOutput>,
    keep: Keep,
}

impl OwnStart<'_> {
    /// Returns an error if JSON does not fit the plan's output type.
    pub(super) fn fits(&self, output: &Value) -> Result<(), serde_json::Error> {
        (self.fits)(output)
    }

    /// Stores the output of the plan like a call's.
    pub(super) fn store(
        &self,
        output: MadeOutput<'_>,
        room: MemoryBudget,
    ) -> Result<StepResult, ResolveError> {
        (self.store)(output, self.keep, room)
    }
}

impl<'x> CalledPlan<'x> {
    /// Creates a plan with an output of a type.
    pub(super) fn new<O>(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        (start, hands_over): (Box<StartAction<'x>>, bool),
        hand_over: fn() -> Option<HandOver<O>>,
    ) -> Self
    where
        O: Serialize + DeserializeOwned + Send + 'static,
    {
        let own = OwnStart {
            start,
            fits: |value| from_json::<O>(value).map(drop_quietly),
            store: Box::new(move |output, keep, room| {
                let (output, given) = match output {
                    MadeOutput::Json(json) => {
                        let output = from_json::<O>(&json).map_err(serde::de::Error::custom)?;
                        (output, Some(json))
                    }
                    MadeOutput::At(template, scope, given) => (take(template, scope, given)?, None),
                };
                let meter = Meter::new(room, None);
                let stored = StoredValue::kept(output, keep, hand_over, &meter);
                let stored = stored.and_then(|stored| match &given {
                    Some(given) => {
                        let bytes = stored.bytes();
                        let settled = settle(given, stored.into_json()?);
                        Ok(StoredValue::weighed(settled, bytes))
                    }
                    None => Ok(stored),
                });
                Ok(stored.map_err(StepError::output))
            }),
            keep: Keep::Json,
        };
        Self {
            executable,
            inputs,
            hands_over,
            own,
        }
    }

    /// Restores the order of the inputs' elements from the original values.
    pub(crate) fn settled(mut self, given: &Value) -> Self {
        let plan = self.executable.plan;
        self.inputs = self.inputs.and_then(|inputs| {
            let inputs = plan.inputs.iter().zip(inputs).map(|(input, made)| {
                let Some(given) = given.get(&input.name) else {
                    return Ok(made);
                };
                let made = made.into_json().map_err(Cause::Inputs)?;
                Ok(StoredValue::json(settle(given, made)))
            });
            inputs.collect()
        });
        self
    }

    /// Sets the stored form of the output.
    pub(super) fn keeping(mut self, keep: Keep) -> Box<Self> {
        self.own.keep = keep;
        Box::new(self)
    }
}
