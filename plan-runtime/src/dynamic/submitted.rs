//! Runs that another process submitted, and calls for runs on an engine.

use super::toolbox::{Implementation, Toolbox};
use crate::journal::spi::RunInfo;
use crate::plan::{Executable, Has, Plan, missing_tools};
use crate::print::MessageName;
use crate::resolve::encode;
use crate::run::durable::read_inputs;
use crate::run::signals::wait_at;
use crate::run::{CallOutcome, Cause, EngineCall, Run, SignalError};
use crate::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A submitted run, which is data, with the toolbox that runs it. [`Toolbox::submitted`] returns it.
pub struct Submitted<'a, App: ?Sized> {
    toolbox: &'a Toolbox<App>,
    plan: SubmittedPlan,
    inputs: Value,
}

enum SubmittedPlan {
    /// The plan of a tool.
    Tool(&'static Plan),
    /// The submitted plan.
    Document(Box<Plan>),
}

impl<App: ?Sized> Toolbox<App> {
    /// Returns a run as it was submitted. It uses the toolbox's plan with that name, with its Rust code, if that plan is the submitted one or a later
    /// version of it. Otherwise it uses the submitted plan, with the tools of the toolbox.
    ///
    /// ```
    /// use plan_runtime::dynamic::Toolbox;
    /// use plan_runtime::journal::{Journal, Memory};
    /// use plan_runtime::plan;
    ///
    /// plan! {
    ///     Greet(name: String) -> String { format!("Hello, {name}!") }
    /// }
    ///
    /// let journal = Memory::new();
    /// smol::block_on(Greet { name: "Ada".into() }.submit(&journal, "greet-17"))?;
    ///
    /// let toolbox = Toolbox::<()>::new().with::<Greet>();
    /// let run = smol::block_on(journal.look("greet-17"))?.unwrap();
    /// let submitted = toolbox.submitted(&run.info.unwrap())?;
    /// assert_eq!(smol::block_on(submitted.run(&()))?, "Hello, Ada!");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the submitted run cannot be read, or if it has Rust code and is not a plan of the toolbox.
    pub fn submitted(&self, run: &RunInfo) -> Result<Submitted<'_, App>> {
        let inputs = read_inputs(&run.inputs).map_err(|error| {
            Error::permanent(format!("the inputs of the run cannot be read: {error}"))
        })?;
        Ok(Submitted {
            toolbox: self,
            plan: self.submitted_plan(run)?,
            inputs: Value::Object(inputs),
        })
    }

    /// Returns the run with the current plan of the toolbox: the plan with the name of the run's plan. Without such a plan in the toolbox, returns the run as [`submitted`](Self::submitted) does.
    pub(crate) fn current(&self, run: &RunInfo) -> Result<Submitted<'_, App>> {
        let submitted = self.submitted(run)?;
        Ok(match self.own_plan(run) {
            None => submitted,
            Some(own) => Submitted {
                plan: SubmittedPlan::Tool(own),
                ..submitted
            },
        })
    }

    /// Returns the current plan that has the name of a run's plan.
    fn own_plan(&self, run: &RunInfo) -> Option<&'static Plan> {
        self.contracts().get(&run.plan)?.plan.plan()
    }

    fn submitted_plan(&self, run: &RunInfo) -> Result<SubmittedPlan> {
        let own = self.own_plan(run);
        if let Some(own) = own
            && serde_json::to_string(own).is_ok_and(|own| own == run.document)
        {
            return Ok(SubmittedPlan::Tool(own));
        }
        let plan: Plan = serde_json::from_str(&run.document).map_err(|error| {
            Error::permanent(format!("the recorded plan cannot be read: {error}"))
        })?;
        let has_code = Executable::new(&plan)
            .graph
            .is_ok_and(|graph| graph.lacks_code);
        match own {
            // Only a program can have submitted this plan. The program has changed since, or has lost a tool that the
            // recorded plan calls.
            Some(own) if has_code || self.lacks_tools(&plan) => Ok(SubmittedPlan::Tool(own)),
            None if has_code => Err(Error::permanent(format!(
                "the toolbox has no plan `{}`, which contains Rust code; add it with `with`",
                MessageName(&run.plan)
            ))),
            _ => Ok(SubmittedPlan::Document(Box::new(
                self.contracts().mark_secrets(plan),
            ))),
        }
    }

    fn lacks_tools(&self, plan: &Plan) -> bool {
        let missing = missing_tools(plan, &|tool| match self.contracts().get(&tool.name) {
            Some(_) => Has::Tool,
            None => Has::NoName,
        });
        !missing.is_empty()
    }

    /// Makes a call for a run that is [on an engine](crate::run::Run::engine), possibly on another machine. The call is dropped some seconds after
    /// its time limit. The documentation of [`Engine`](crate::run::Engine) has an example.
    ///
    /// The tool gets the [context](crate::run::CallContext) of the call in its run: the path, the attempt, the key, the remaining time. The
    /// [throttle](Self::throttle) of this toolbox applies.
    ///
    /// The method never fails and never panics: every failure is in the outcome.
    pub async fn perform(&self, call: EngineCall, app: &App) -> CallOutcome
    where
        App: Sync,
    {
        let name = call.tool().to_owned();
        let Some((tool, contract)) = self.get(&name) else {
            return CallOutcome::failed(Error::permanent(format!(
                "this worker has no tool `{}`: add it to its toolbox",
                MessageName(&name)
            )));
        };
        call.perform(self.throttle_of_all(), app, |request| {
            tool.start(request, app, (contract, self.contracts()))
        })
        .await
    }
}

impl<App: ?Sized> Submitted<'_, App> {
    /// Returns the plan that runs.
    pub fn plan(&self) -> &Plan {
        match &self.plan {
            SubmittedPlan::Tool(plan) => plan,
            SubmittedPlan::Document(plan) => plan,
        }
    }

    /// Runs the plan on an application. The [throttle](Toolbox::throttle) of the toolbox is not set on the run.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Toolbox::run`].
    pub fn run<'r>(&'r self, app: &'r App) -> Run<'r, App, Value>
    where
        App: Sync,
    {
        let inputs = self.inputs.clone();
        match &self.plan {
            SubmittedPlan::Document(plan) => self.toolbox.begin(&**plan, inputs, app),
            SubmittedPlan::Tool(own) => {
                let called = match self.toolbox.get(&own.name) {
                    Some((Implementation::Typed(_, plan), _)) => plan(inputs, app),
                    _ => Err("the tool of this name is not a plan".to_owned()),
                };
                match called {
                    Ok(called) => Run::of_called(called.settled(&self.inputs), app),
                    Err(why) => Run::unfit(Executable::new(own), app, Cause::Unfit(vec![why])),
                }
            }
        }
    }
}

/// Checks a value for the step at this path, which waits for a value, and returns the JSON to send to a run elsewhere. The path has the format of
/// [`Signals::send`](crate::run::Signals::send).
///
/// If the program contains the plan, the code of the type checks the value. Otherwise, only the name of the type is available for the
/// check.
///
/// ```
/// use plan_runtime::dynamic::check_signal;
/// use plan_runtime::plan;
///
/// plan! {
///     Greet() -> String {
///         step name: String = await;
///         format!("Hello, {name}!")
///     }
/// }
///
/// assert_eq!(check_signal(Greet::PLAN, "name", "Ada")?, "Ada");
/// let error = check_signal(Greet::PLAN, "nam", "Ada").unwrap_err();
/// assert_eq!(error.to_string(), "no step of the run waits for a value at `nam` (`name` is similar)");
/// # Ok::<(), plan_runtime::run::SignalError>(())
/// ```
///
/// # Errors
///
/// Returns an error if no step waits for a value at this path, or if the value has another type.
pub fn check_signal(
    plan: &Plan,
    path: &str,
    value: impl Serialize,
) -> std::result::Result<Value, SignalError> {
    let wait = wait_at(plan, path).map_err(|similar| SignalError::Unknown {
        path: path.to_owned(),
        similar,
    })?;
    let value = encode(&value).map_err(|error| SignalError::Value {
        path: path.to_owned(),
        error: Arc::new(error),
    })?;
    let Some(wait) = wait else {
        return Ok(value);
    };
    let fits = match wait.receive(&value) {
        Some(received) => received,
        None => match super::check::misfit("it", &wait.type_name, &value) {
            None => Ok(value),
            Some(misfit) => Err(misfit),
        },
    };
    fits.map_err(|message| SignalError::Type {
        path: path.to_owned(),
        type_name: wait.type_name.to_string(),
        message,
    })
}

impl<App: ?Sized> fmt::Debug for Submitted<'_, App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Submitted(`{}`)", MessageName(&self.plan().name))
    }
}
