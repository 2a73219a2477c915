//! Tools that answer with known outputs, and record their arguments.

use plan_runtime::dynamic::{Contract, Dialect, Profile, Reader, Toolbox};
use plan_runtime::plan::{Executable, Step};
use plan_runtime::run::OnFailure;
use plan_runtime::{Error, Plan, Report, RunError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The output of a tool, or its error.
pub(crate) type Answer = Result<Value, &'static str>;

pub(crate) struct Desk {
    toolbox: Toolbox<()>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

/// The end of a run.
pub(crate) struct Ran {
    pub(crate) output: Result<Value, RunError>,
    pub(crate) report: Report,
    /// The tools in the order of their calls, with their arguments.
    pub(crate) calls: Vec<(String, Value)>,
}

impl Desk {
    pub(crate) fn new<'t>(answers: impl IntoIterator<Item = (&'t str, Answer)>) -> Self {
        let calls: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let mut toolbox = Toolbox::new();
        for (tool, answer) in answers {
            let (name, calls) = (tool.to_owned(), Arc::clone(&calls));
            toolbox = toolbox.with_fn(Contract::new(name.clone()), move |arguments| {
                calls.lock().unwrap().push((name.clone(), arguments));
                let answer = answer.clone().map_err(Error::msg);
                async move { answer }
            });
        }
        Self { toolbox, calls }
    }

    pub(crate) fn run<'a>(&'a self, plan: impl Into<Executable<'a>>, inputs: Value) -> Ran {
        let run = self.toolbox.run(plan, inputs, &());
        let run = run.on_failure(OnFailure::Continue);
        let run = run.capture_arguments(true).capture_outputs(true);
        let (output, report) = smol::block_on(run.with_report());
        let calls = std::mem::take(&mut *self.calls.lock().unwrap());
        Ran {
            output,
            report,
            calls,
        }
    }
}

impl Ran {
    /// The arguments of the only call of a tool.
    #[track_caller]
    pub(crate) fn arguments(&self, tool: &str) -> &Value {
        let mut calls = self.calls.iter().filter(|(name, _)| name == tool);
        let (_, arguments) = calls.next().unwrap_or_else(|| panic!("{}", self.report));
        assert_eq!(calls.count(), 0, "{tool} is called more than once");
        arguments
    }

    /// The arguments of each tool, since independent steps run in any order.
    pub(crate) fn by_tool(&self) -> BTreeMap<&str, &Value> {
        let calls = self.calls.iter();
        calls.map(|(tool, given)| (tool.as_str(), given)).collect()
    }

    #[track_caller]
    pub(crate) fn status(&self, step: &str) -> String {
        self.report.step(step).unwrap().status().to_string()
    }
}

/// Reads a document without an error.
#[track_caller]
pub(crate) fn read(dialect: Dialect, profile: Profile, document: &Value) -> Plan {
    let text = document.to_string();
    let reader = Reader::new().dialect(dialect).profile(profile);
    match reader.read(&text) {
        Ok(document) => document.into_plan(),
        Err(findings) => panic!("{findings}\n{text}"),
    }
}

/// Runs two plans with equal tools: the calls are equal. Returns the end of the first run.
#[track_caller]
pub(crate) fn same_calls<'a>(
    desk: &'a Desk,
    plan: impl Into<Executable<'a>>,
    other: impl Into<Executable<'a>>,
    inputs: &Value,
) -> Ran {
    let (one, other) = (
        desk.run(plan, inputs.clone()),
        desk.run(other, inputs.clone()),
    );
    assert!(!one.calls.is_empty(), "{}", one.report);
    assert_eq!(one.by_tool(), other.by_tool());
    one
}

pub(crate) fn ids<'p>(steps: impl IntoIterator<Item = &'p Step>) -> Vec<&'p str> {
    steps.into_iter().map(|step| &*step.id).collect()
}

pub(crate) fn levels(plan: &Plan) -> Value {
    json!(plan.levels().into_iter().map(ids).collect::<Vec<_>>())
}
