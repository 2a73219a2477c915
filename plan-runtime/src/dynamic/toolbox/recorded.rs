//! Plans of runs that a journal has.

use super::{Implementation, Toolbox};
use crate::journal::RunInfo;
use crate::plan::Executable;
use crate::print::MessageName;
use crate::run::durable::read_inputs;
use crate::{Plan, Run};
use serde_json::Value;

impl<App: ?Sized> Toolbox<App> {
    /// What runs a run that a journal has.
    pub(crate) fn resumed<'a>(
        &'a self,
        run: &RunInfo,
        app: &'a App,
    ) -> std::result::Result<Resumed<'a, App>, String> {
        let inputs = read_inputs(&run.inputs).map_err(|error| error.to_string())?;
        let inputs = Value::Object(inputs);
        match self.recorded(run)? {
            RecordedPlan::Tool(_) => match self.get(&run.plan) {
                Some(Implementation::Typed(_, plan)) => {
                    let called = plan(inputs, app)?;
                    let run = Run::of_called(called, app).throttle(&self.throttle);
                    Ok(Resumed::Plan(Box::new(run)))
                }
                _ => Err("the tool of this name is not a plan".to_owned()),
            },
            RecordedPlan::Document(plan) => Ok(Resumed::Document(plan, inputs)),
        }
    }

    /// The plan of a run that a journal has: a tool of the toolbox that is the same plan, or was, or what is recorded.
    pub(crate) fn recorded(&self, run: &RunInfo) -> std::result::Result<RecordedPlan, String> {
        let contract = self.contracts.get(&run.plan);
        let own = contract.and_then(|contract| contract.plan.plan());
        if let Some(own) = own
            && serde_json::to_string(own).is_ok_and(|own| own == run.document)
        {
            return Ok(RecordedPlan::Tool(own));
        }
        let plan: Plan = serde_json::from_str(&run.document)
            .map_err(|error| format!("the recorded plan cannot be read: {error}"))?;
        let has_code = Executable::new(&plan)
            .graph
            .is_ok_and(|graph| graph.lacks_code);
        match own {
            // Only a program can have said that. It has changed since.
            Some(own) if has_code => Ok(RecordedPlan::Tool(own)),
            None if has_code => Err(format!(
                "the toolbox has no plan `{}`, which contains Rust code; add it with `with`",
                MessageName(&run.plan)
            )),
            _ => Ok(RecordedPlan::Document(Box::new(
                self.contracts.mark_secrets(plan),
            ))),
        }
    }
}

/// The plan of a run that a journal has.
pub(crate) enum RecordedPlan {
    /// It is a tool.
    Tool(&'static Plan),
    /// It is run as it is recorded.
    Document(Box<Plan>),
}

/// What runs a run that a journal has.
pub(crate) enum Resumed<'a, App: ?Sized> {
    Plan(Box<Run<'a, App, Value>>),
    /// A plan and its inputs, to be run through the toolbox.
    Document(Box<Plan>, Value),
}
