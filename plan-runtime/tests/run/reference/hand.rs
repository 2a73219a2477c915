//! A run under the control of the test, which ends calls, sends values, cancels, and advances the time.

use super::tree::{BACKOFF, MORE, Node};
use crate::run::support::Driven;
use plan_runtime::check::{CalledPlan, Request, Started, plan_of};
use plan_runtime::journal::Memory;
use plan_runtime::plan::{Action, Executable, Number, Role, Template};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{
    CallContext, FailedStep, ManualTimer, OnFailure, Run, RunErrorKind, Signals, Status, StepReport,
};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Report, Result, RunError, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

/// A possible event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The call of this path ends.
    End(String, End),
    /// The step of this path is sent its value.
    Send(String),
    /// The last sender of values is dropped.
    HangUp,
    Cancel,
    Deadline,
    /// The end of the grace period after a cancellation or the deadline.
    Grace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ok,
    Transient,
    Permanent,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The output, or why there is none.
    pub(crate) result: Result<Value, &'static str>,
    /// The status of each step; the steps inside an attempt are in braces.
    pub(crate) steps: String,
    /// The path of each failure, with the steps that it blocked.
    pub(crate) failures: Vec<String>,
    /// Sorted, since what is independent may be undone in any order.
    pub(crate) undone: Vec<String>,
    pub(crate) not_undone: Vec<String>,
}

pub(crate) const DEADLINE: Duration = Duration::from_secs(3600);
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// The application: holds each call until the test ends it.
pub(crate) struct Hand<'p> {
    plan: &'p Executable<'p>,
    /// The plans that are called.
    plans: &'p [Executable<'p>],
    timer: ManualTimer,
    /// The most calls at one time.
    bound: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: BTreeMap<String, Slot>,
    /// The keys of the running calls with a context, by their paths.
    keys: BTreeMap<String, String>,
    started: Vec<String>,
    /// The numbers of the actions that have started.
    starts: Vec<usize>,
    is_cancelled: bool,
    cancel: Option<Waker>,
}

#[derive(Default)]
struct Slot {
    end: Option<End>,
    waker: Option<Waker>,
}

/// A tool whose call has a context.
#[derive(Serialize, Deserialize)]
struct Knowing {
    read: Vec<Value>,
}

/// A tool whose call does not.
#[derive(Serialize, Deserialize)]
struct Plain {
    key: String,
    read: Vec<Value>,
}

/// A plan.
#[derive(Serialize, Deserialize)]
struct Called {
    plan: usize,
    /// `true` if the inputs of the plan cannot be made.
    #[serde(default)]
    fails: bool,
}

macro_rules! tool {
    ($tool:ident, $name:literal) => {
        impl Shape for $tool {
            const SHAPE: TypeShape = TypeShape::Opaque;
        }

        impl Tool for $tool {
            type Output = Value;
            const NAME: &'static str = $name;
        }
    };
}

tool!(Knowing, "knowing");
tool!(Plain, "plain");
tool!(Called, "called");

impl Call<Hand<'_>> for Knowing {
    async fn call(self, _: &Hand<'_>) -> Result<Value> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, hand: &Hand<'_>, context: CallContext) -> Result<Value> {
        let path = context.to_string();
        let key = context.idempotency_key();
        let (_, key) = key.split_once('/').expect("the id of the run");
        hand.state().keys.insert(path.clone(), key.to_owned());
        hand.hold(path).await
    }
}

impl Call<Hand<'_>> for Plain {
    const USES_CONTEXT: bool = false;

    async fn call(self, hand: &Hand<'_>) -> Result<Value> {
        hand.hold(self.key).await
    }
}

impl Call<Hand<'_>> for Called {
    async fn call(self, _: &Hand<'_>) -> Result<Value> {
        Err(Error::permanent("it is called as a tool"))
    }

    fn plan_on<'x>(self, hand: &'x Hand<'_>) -> std::result::Result<CalledPlan<'x>, Self>
    where
        Self: 'x,
    {
        let inputs = if self.fails {
            Err(serde::de::Error::custom("its inputs cannot be made"))
        } else {
            Ok(Vec::<StoredValue>::new())
        };
        let run = Run::<Hand<'_>, Value>::new(&hand.plans[self.plan], inputs, hand, start);
        Ok(plan_of::<Self, _>(run))
    }
}

fn start<'x>(number: usize, request: Request<'_>, hand: &'x Hand<'_>) -> Started<'x> {
    hand.state().starts.push(number);
    let tool = request.action().tool.as_ref();
    match tool.map(|tool| &*tool.name) {
        Some("knowing") => request.call::<Knowing, Hand<'_>>(hand),
        Some("plain") => request.call::<Plain, Hand<'_>>(hand),
        Some("called") => request.call::<Called, Hand<'_>>(hand),
        Some(_) => request.unknown(),
        None => request.compute::<Value>(None),
    }
}

/// A running call, which ends with its drop.
struct Running<'h>(&'h Hand<'h>, String);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.running.remove(&self.1);
        state.keys.remove(&self.1);
    }
}

impl<'p> Hand<'p> {
    /// The last of these plans is the outermost, and calls the others.
    pub(crate) fn new(plans: &'p [Executable<'p>]) -> Self {
        let (plan, plans) = plans.split_last().expect("a plan");
        assert_eq!(plan.mistake(), None);
        Self {
            plan,
            plans,
            timer: ManualTimer::new(),
            bound: 10_000,
            state: Mutex::default(),
        }
    }

    /// Limits the number of concurrent calls of runs.
    pub(crate) fn within(mut self, bound: usize) -> Self {
        self.bound = bound;
        self
    }

    async fn hold(&self, path: String) -> Result<Value> {
        {
            let mut state = self.state();
            state.started.push(path.clone());
            let before = state.running.insert(path.clone(), Slot::default());
            assert!(before.is_none(), "{path} runs twice");
        }
        let running = Running(self, path);
        let end = poll_fn(|cx| {
            let mut state = self.state();
            let slot = state.running.get_mut(&running.1).unwrap();
            slot.waker = Some(cx.waker().clone());
            slot.end.map_or(Poll::Pending, Poll::Ready)
        });
        match end.await {
            End::Ok => Ok(running.1.clone().into()),
            End::Transient => Err(Error::msg("busy")),
            End::Permanent => Err(Error::permanent("gone")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the keys of the running calls with a context, by their paths.
    pub(crate) fn keys(&self) -> BTreeMap<String, String> {
        self.state().keys.clone()
    }

    /// The calls that run.
    pub(crate) fn running(&self) -> Vec<String> {
        self.state().running.keys().cloned().collect()
    }

    /// Returns the numbers of the actions that have started since the last call of this method, in the order of their
    /// starts.
    pub(crate) fn starts(&self) -> Vec<usize> {
        std::mem::take(&mut self.state().starts)
    }

    /// Returns the calls that have started since the last call of this method, sorted.
    pub(crate) fn started(&self) -> Vec<String> {
        let mut started = std::mem::take(&mut self.state().started);
        started.sort();
        started
    }

    /// Begins a run.
    pub(crate) fn begin(&self, on_failure: OnFailure, grace: Duration) -> Begun<'_> {
        self.begun(self.run(on_failure, grace))
    }

    /// Begins or resumes a run with a journal.
    pub(crate) fn begin_in(
        &self,
        on_failure: OnFailure,
        grace: Duration,
        journal: &Memory,
    ) -> Begun<'_> {
        self.begun(self.run(on_failure, grace).durable(journal, "run"))
    }

    fn run(&self, on_failure: OnFailure, grace: Duration) -> Run<'_, Self, Value> {
        let inputs = Ok(Vec::<StoredValue>::new());
        let cancelled = poll_fn(|cx| {
            let mut state = self.state();
            state.cancel = Some(cx.waker().clone());
            if state.is_cancelled {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let find = |action: &Action| match &action.args {
            Template::Object(members) if action.tool.as_ref()?.name == "called" => {
                let Template::Number(Number::Unsigned(place)) = members[0].value else {
                    return None;
                };
                Some(self.plans[usize::try_from(place).ok()?].clone())
            }
            _ => None,
        };
        Run::<Hand<'_>, Value>::new(self.plan, inputs, self, start)
            .find_plans(Box::new(find))
            .timer(self.timer.clone())
            .on_failure(on_failure)
            .concurrency(self.bound)
            .allow_tools(["called", "knowing", "plain"])
            .deadline(DEADLINE)
            .grace_period(grace)
            .cancel_on(cancelled)
    }

    fn begun<'h>(&'h self, run: Run<'h, Self, Value>) -> Begun<'h> {
        let signals = Some(run.signals());
        let run = run.with_report();
        let future: Ended = Box::pin(async move {
            let (result, report) = run.await;
            (result, Some(report))
        });
        Begun {
            hand: self,
            signals,
            driven: Driven::new(future),
            ended: None,
        }
    }
}

/// The result of a run, and its report if the run has one.
type Outgoing = (std::result::Result<Value, RunError>, Option<Report>);

type Ended<'h> = std::pin::Pin<Box<dyn Future<Output = Outgoing> + 'h>>;

/// A run on its way.
pub(crate) struct Begun<'h> {
    hand: &'h Hand<'h>,
    signals: Option<Signals>,
    driven: Driven<Ended<'h>>,
    ended: Option<Outgoing>,
}

impl Begun<'_> {
    /// Polls the run until only an event helps, and passes the waits before other attempts. Returns `true` if the run has ended.
    pub(crate) fn settle(&mut self) -> bool {
        // A wait may follow a wait, of the scope around it.
        for _ in 0..3 {
            if self.pause() {
                break;
            }
            self.hand.timer.advance(BACKOFF);
        }
        self.pause()
    }

    /// Polls the run until only an event or time helps. Returns `true` if the run has ended.
    pub(crate) fn pause(&mut self) -> bool {
        if self.ended.is_none()
            && let Poll::Ready(ended) = self.driven.settle()
        {
            self.ended = Some(ended);
        }
        self.ended.is_some()
    }

    /// Sends what may be there already.
    pub(crate) fn send_again(&self, path: &str) {
        let signals = self.signals.as_ref().expect("nobody has hung up");
        let _ = signals.send(path, "sent");
    }

    pub(crate) fn happen(&mut self, event: &Event) {
        match event {
            Event::End(path, end) => {
                let waker = {
                    let mut state = self.hand.state();
                    let slot = state.running.get_mut(path).expect("a call that runs");
                    slot.end = Some(*end);
                    slot.waker.take()
                };
                waker.expect("a call that was polled").wake();
            }
            Event::Send(path) => {
                let signals = self.signals.as_ref().expect("nobody has hung up");
                signals.send(path, "sent").unwrap();
            }
            Event::HangUp => drop(self.signals.take()),
            Event::Cancel => {
                let mut state = self.hand.state();
                state.is_cancelled = true;
                let waker = state.cancel.take();
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Event::Deadline => self.hand.timer.advance(DEADLINE),
            Event::Grace => self.hand.timer.advance(GRACE),
        }
    }

    /// Returns the error, if the run has ended with one.
    pub(crate) fn error(&self) -> Option<&RunError> {
        self.ended.as_ref()?.0.as_ref().err()
    }

    /// Returns the outcome of the run.
    pub(crate) fn outcome(self, steps: &[Node]) -> Outcome {
        let (result, report) = self.ended.expect("a run that has ended");
        let error = result.as_ref().err();
        let sorted = |paths: Vec<&str>| {
            let mut paths: Vec<String> = paths.into_iter().map(str::to_owned).collect();
            paths.sort();
            paths
        };
        let failures = error.map_or(&[][..], RunError::failures);
        Outcome {
            steps: report.map_or_else(String::new, |it| statuses(it.steps(), steps)),
            failures: in_order(failures.iter().map(failure).collect()),
            undone: sorted(error.map_or_else(Vec::new, |it| it.undone().collect())),
            not_undone: sorted(error.map_or_else(Vec::new, |it| it.not_undone().collect())),
            result: match result {
                Ok(value) => Ok(shortly(value)),
                Err(error) if error.kind() == RunErrorKind::Cancelled => Err("cancelled"),
                Err(error) if error.kind() == RunErrorKind::Deadline => Err("late"),
                Err(error) if !error.failures().is_empty() => Err("failed"),
                Err(error) => panic!("{error}"),
            },
        }
    }
}

/// The failures of the work in their order, then those of undo steps and always steps, which come in the order of time.
pub(crate) fn in_order(failures: Vec<String>) -> Vec<String> {
    let is_work = |text: &String| !text.split('.').any(|part| part.starts_with(['u', 'a']));
    let (mut all, mut last): (Vec<String>, Vec<String>) = failures.into_iter().partition(is_work);
    last.sort();
    all.extend(last);
    all
}

fn failure(failure: &FailedStep) -> String {
    let element: String = failure
        .element()
        .iter()
        .map(|at| format!("[{at}]"))
        .collect();
    let blocked: Vec<&str> = failure.blocked().collect();
    let (step, attempts) = (failure.step(), failure.attempts());
    format!("{step}{element} #{attempts} blocks {blocked:?}")
}

/// A value, where failures are in short.
fn shortly(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(shortly).collect(),
        Value::Object(mut members) => match members.remove("Err") {
            Some(failure) => {
                let text = |name: &str| failure[name].as_str().unwrap_or_default().to_owned();
                let transient = failure["transient"] == json!(true);
                json!({ "Err": err(&text("step"), &text("code"), transient) })
            }
            None => {
                let members = members.into_iter();
                members
                    .map(|(name, value)| (name, shortly(value)))
                    .collect()
            }
        },
        value => value,
    }
}

/// A failure in short.
pub(crate) fn err(step: &str, code: &str, transient: bool) -> String {
    let transient = if transient { " transient" } else { "" };
    format!("{step} {code}{transient}")
}

fn statuses(reports: &[StepReport], steps: &[Node]) -> String {
    let reports = reports
        .iter()
        .filter(|report| !report.id().starts_with(MORE));
    let mut words = Vec::new();
    for (report, node) in reports.zip(steps) {
        let mut word = format!("{} {}", report.id(), status(report.status(), node.role));
        for attempt in report.attempts() {
            let element: String = attempt
                .element()
                .iter()
                .map(|at| format!("[{at}]"))
                .collect();
            word += &format!(" {element}#{}", attempt.number());
            for inside in attempt.inside() {
                let inner = node.work.inner().expect("a scope");
                word += &format!("{{{}}}", statuses(inside.steps(), inner));
            }
        }
        words.push(word);
    }
    words.join(", ")
}

fn status(status: &Status, role: Role) -> String {
    match status {
        Status::Blocked { by, .. } => format!("blocked by {by}"),
        // The enclosing scopes determine if the step may still run.
        Status::Skipped | Status::NotStarted if role != Role::Work => "idle".to_owned(),
        status => status.name().to_owned(),
    }
}
