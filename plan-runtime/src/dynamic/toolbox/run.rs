//! Runs of plans with the tools of a toolbox.

use super::super::Contract;
use super::super::before_run::{self, NotReady};
use super::{Implementation, Toolbox};
use crate::Plan;
use crate::plan::{
    Action, CalledTools, Executable, Input, KnownTool, Output, Reference, Secrecy, Source, Step,
};
use crate::run::Run;
use crate::run::start::{Request, Started, Starter, Starts};
use crate::run::{Cause, RunError};
use crate::shape::Secrets;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl<App: ?Sized> Toolbox<App> {
    /// Runs a plan on an application, with the tools of these names.
    ///
    /// A plan is a [`Plan`](crate::Plan), a [`Document`](crate::dynamic::Document), the `PLAN` of a `plan!`, or an [`Executable`]. Each run checks a `Plan` again. The other three
    /// types are checked only once.
    ///
    /// The inputs are an object with a member for each of [`Plan::inputs`](crate::Plan::inputs); without inputs, write `()`. The struct of a `plan!` plan is such
    /// an object. An input of a type `Option<…>` may be left out. The output is JSON.
    ///
    /// The run of a `plan!` plan has equal results here, with one exception: the literal of a computed step
    /// (`step c: Config = Config { … }`) stays as written. The run does not convert the literal to a `Config` and back, which
    /// may change its JSON.
    ///
    /// ```
    /// # use plan_runtime::{Result, dynamic::Toolbox, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// plan! {
    ///     Quadruple(number: u64) -> u64 {
    ///         step twice = Double { number };
    ///         step again = Double { number: twice };
    ///         again
    ///     }
    /// }
    ///
    /// let toolbox = Toolbox::new().with::<Double>();
    /// assert_eq!(smol::block_on(toolbox.run(Quadruple::PLAN, Quadruple { number: 3 }, &()))?, 12);
    ///
    /// let error = smol::block_on(toolbox.run(Quadruple::PLAN, serde_json::json!({"nmber": 3}), &())).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "plan `quadruple` cannot start: the input `number` is missing; there is no input `nmber` (`number` is similar)"
    /// );
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of every run. Before it starts, the run also reports these errors together:
    ///
    /// - tools that the toolbox lacks,
    /// - inputs that are missing, unknown to the plan, or not of the declared type,
    /// - inputs that are not an object,
    /// - computed values of a plan from JSON, which have no code.
    pub fn run<'a>(
        &'a self,
        plan: impl Into<Executable<'a>>,
        inputs: impl Serialize,
        app: &'a App,
    ) -> Run<'a, App, Value> {
        self.begin(plan, inputs, app).throttle(&self.throttle)
    }

    /// Creates the run without the toolbox's throttle.
    pub(in crate::dynamic) fn begin<'a>(
        &'a self,
        plan: impl Into<Executable<'a>>,
        inputs: impl Serialize,
        app: &'a App,
    ) -> Run<'a, App, Value> {
        let plan = plan.into();
        let (found, not_ready) = FoundTools::new(self, &plan);
        let inputs =
            before_run::ready(plan.plan, &inputs, &self.contracts, not_ready).map_err(Cause::Unfit);
        let secrecy = self.secrecy(&plan);
        Run::started_by(Starter::Found(Box::new(found)), plan, inputs, app).keeping(secrecy)
    }

    /// Calls one tool, as a run of a plan with only that step.
    ///
    /// ```
    /// # use plan_runtime::{Result, dynamic::Toolbox, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// use serde_json::json;
    ///
    /// let toolbox = Toolbox::new().with::<Double>();
    /// assert_eq!(smol::block_on(toolbox.call("double", json!({"number": 3}), &()))?, 6);
    ///
    /// let error = smol::block_on(toolbox.call("duoble", json!({"number": 3}), &())).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "plan `duoble` cannot start: the toolbox has no tool `duoble` (`double` is similar), which step `called` calls"
    /// );
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Self::run).
    pub async fn call(
        &self,
        name: &str,
        arguments: impl Serialize,
        app: &App,
    ) -> std::result::Result<Value, RunError> {
        let given = Reference::new(Source::Input(0));
        let mut plan = Plan::new(name);
        plan.inputs = vec![Input::new("arguments", "Value")];
        plan.steps = vec![Step::new("called", Action::call(name, given))];
        plan.output = Output::new(Reference::new(Source::Step(0)));
        let inputs = BTreeMap::from([("arguments", arguments)]);
        self.run(&plan, inputs, app).await
    }

    /// Returns the secrets in the runs of a plan, independent of the plan's own declarations, if the toolbox has tools
    /// with secrets.
    fn secrecy(&self, plan: &Executable<'_>) -> Option<Arc<Secrecy>> {
        if plan.graph.is_err() || !self.contracts.may_have_secrets {
            return None;
        }
        Secrecy::of(plan.plan, &Secrets::NONE, &|tool| {
            let contract = self.contracts.get(&tool.name)?;
            Some(KnownTool {
                arguments: &contract.secret_arguments,
                output: &contract.secret_output,
                plan: contract.plan,
            })
        })
    }
}

/// The tools of a plan's actions, looked up once for a run.
struct FoundTools<'a, App: ?Sized> {
    toolbox: &'a Toolbox<App>,
    called: Arc<CalledTools>,
    /// The implementations, in the order of the called tools. `None` if the toolbox lacks the tool.
    found: Vec<Option<(&'a Implementation<App>, &'a Contract)>>,
}

impl<'a, App: ?Sized> FoundTools<'a, App> {
    /// Looks the tools up, and returns them with the obstacles to the plan's start.
    fn new(toolbox: &'a Toolbox<App>, executable: &Executable<'a>) -> (Self, NotReady) {
        let plan = executable.plan;
        let called = match &executable.graph {
            Ok(graph) => Arc::clone(graph.called(plan)),
            Err(_) => Arc::new(CalledTools::of(plan)),
        };
        let found = called.tools.iter().map(|tool| toolbox.get(&tool.name));
        let found: Vec<_> = found.collect();
        let not_ready = NotReady {
            tools: found.iter().any(Option::is_none),
            code: executable
                .graph
                .as_ref()
                .is_ok_and(|graph| graph.lacks_code),
        };
        let found = Self {
            toolbox,
            called,
            found,
        };
        (found, not_ready)
    }
}

impl<App: ?Sized> Starts<App> for FoundTools<'_, App> {
    fn start<'x>(&self, number: usize, request: Request<'_>, app: &'x App) -> Started<'x> {
        if request.action().tool.is_none() {
            return request.compute::<Value>(None);
        }
        let number = self.called.number(number);
        match number.and_then(|number| self.found[number.get() as usize - 1]) {
            Some((tool, contract)) => tool.start(request, app, (contract, &self.toolbox.contracts)),
            None => request.unknown(),
        }
    }

    fn finds_plans(&self) -> bool {
        let mut found = self.found.iter().flatten();
        found.any(|(_, contract)| contract.plan.is_some())
    }

    fn plan(&self, action: &Action) -> Option<&'static Plan> {
        let contract = self.toolbox.contracts.get(&action.tool.as_ref()?.name)?;
        contract.plan.plan()
    }
}
