//! A tool whose every attempt takes a time and ends as the test has set, on a clock that the test moves.

use super::support::Driven;
use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{
    Action, Body, Branch, Condition, For, Output, Policy, Reference, Segment, Source, Step,
    Template,
};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{ManualTimer, Run, Timer};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, RunError, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

/// A tool that returns its key, or the value that the stage has for it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) key: Value,
}

impl Shape for Act {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Act {
    type Output = Value;
    const NAME: &'static str = "act";
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Ok,
    Transient,
    Permanent,
    Panic,
    Hang,
}

/// The duration of an attempt, and its end.
pub(crate) type Take = (Duration, End);

#[derive(Default)]
pub(crate) struct Stage {
    pub(crate) timer: ManualTimer,
    script: BTreeMap<String, Vec<Take>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tried: BTreeMap<String, usize>,
    log: Vec<String>,
    /// The numbers of the actions that have started.
    starts: Vec<usize>,
    running: usize,
    most: usize,
    dropped: usize,
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Stage {
    /// Sets the attempts for a key. The last one is repeated; without any, each takes 10 ms and succeeds.
    pub(crate) fn with(mut self, key: &str, takes: &[(u64, End)]) -> Self {
        let takes = takes.iter().map(|(time, end)| (ms(*time), *end));
        self.script.insert(key.into(), takes.collect());
        self
    }

    pub(crate) fn script(&mut self, key: String, takes: Vec<Take>) {
        self.script.insert(key, takes);
    }

    /// Returns the starts of calls with their times in ms: `a@0 b@10`.
    pub(crate) fn log(&self) -> String {
        self.state.lock().unwrap().log.join(" ")
    }

    /// The calls, sorted, and the numbers of the actions in the order of their starts. A call is in the log since its first poll.
    pub(crate) fn calls(&self) -> (Vec<String>, Vec<usize>) {
        let state = self.state.lock().unwrap();
        let mut calls = state.log.clone();
        calls.sort();
        (calls, state.starts.clone())
    }

    pub(crate) fn most(&self) -> usize {
        self.state.lock().unwrap().most
    }

    pub(crate) fn running(&self) -> usize {
        self.state.lock().unwrap().running
    }

    pub(crate) fn dropped(&self) -> usize {
        self.state.lock().unwrap().dropped
    }

    /// Lets time pass until the future is ready.
    pub(crate) fn play<F: Future>(&self, future: F) -> F::Output {
        let mut driven = Driven::new(future);
        loop {
            if let Poll::Ready(output) = driven.settle() {
                return output;
            }
            let next = self.timer.next().expect("the run waits for nothing");
            self.timer.advance(next);
        }
    }

    pub(crate) fn run<'a, O: serde::de::DeserializeOwned + 'static>(
        &'a self,
        plan: &'a Plan,
    ) -> Run<'a, Self, O> {
        Run::new(plan, Ok(Vec::<StoredValue>::new()), self, start).timer(self.timer.clone())
    }
}

pub(crate) fn start<'x>(number: usize, request: Request<'_>, stage: &'x Stage) -> Started<'x> {
    stage.state.lock().unwrap().starts.push(number);
    match request.action().tool {
        Some(_) => request.call::<Act, Stage>(stage),
        None => request.compute::<Value>(None),
    }
}

struct Present<'s>(&'s Stage, bool);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        state.running -= 1;
        state.dropped += usize::from(!self.1);
    }
}

impl Call<Stage> for Act {
    async fn call(self, stage: &Stage) -> Result<Value> {
        let key = text(&self.key);
        let (time, end) = {
            let mut state = stage.state.lock().unwrap();
            let tried = state.tried.entry(key.clone()).or_default();
            let take = stage
                .script
                .get(&key)
                .and_then(|takes| takes.get(*tried).or(takes.last()));
            *tried += 1;
            let at = stage.timer.elapsed().as_millis();
            state.log.push(format!("{key}@{at}"));
            state.running += 1;
            state.most = state.most.max(state.running);
            take.copied().unwrap_or((ms(10), End::Ok))
        };
        let mut present = Present(stage, false);
        if end == End::Hang {
            std::future::pending::<()>().await;
        }
        stage.timer.sleep(time).await;
        present.1 = true;
        match end {
            End::Ok | End::Hang => Ok(self.key),
            End::Transient => Err(Error::msg(format!("{key} is busy"))),
            End::Permanent => Err(Error::permanent(format!("{key} is gone"))),
            End::Panic => panic!("{key} is upside down"),
        }
    }
}

/// Returns the value of a run, or the message of its error with the failures and the steps that were undone or not.
pub(crate) fn ending<O: std::fmt::Debug>(result: &std::result::Result<O, RunError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => {
            let undone: Vec<&str> = error.undone().collect();
            let not_undone: Vec<&str> = error.not_undone().collect();
            format!(
                "{error:?} {undone:?} {not_undone:?} {}",
                error.has_started()
            )
        }
    }
}

pub(crate) fn string(text: &str) -> Template {
    text.to_owned().into()
}

pub(crate) fn list(items: Vec<Template>) -> Template {
    items.into()
}

pub(crate) fn of(source: Source, path: Vec<Segment>, written: &str) -> Template {
    let mut reference = Reference::new(source);
    reference.path = path.into();
    Template::Reference(reference.written(written))
}

pub(crate) fn local(depth: usize) -> Template {
    of(Source::Local(depth), vec![], "x")
}

/// Calls the tool with this key.
pub(crate) fn act(key: Template) -> Body {
    Action::call("act", Template::object([("key", key)])).into()
}

pub(crate) fn value(value: Template) -> Body {
    Action::value(value).into()
}

pub(crate) fn each(list: Template, body: Body) -> Body {
    For::new("x", list, body).into()
}

pub(crate) fn branch(conditions: Vec<Condition>, body: Body) -> Branch {
    Branch::new(conditions, body)
}

pub(crate) fn step(id: &str, body: Body, after: &[usize]) -> Step {
    let mut step = Step::new(id.to_owned(), body);
    step.after = after.to_vec();
    step
}

pub(crate) fn with(mut step: Step, policy: Policy) -> Step {
    step.policy = policy.into();
    step
}

/// A plan whose output is that of its last step.
pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    let last = steps.len() - 1;
    let mut plan = Plan::new("test");
    plan.output = Output::new(of(Source::Step(last), vec![], &steps[last].id));
    plan.steps = steps;
    plan
}
