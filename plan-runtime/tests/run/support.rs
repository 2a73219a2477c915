//! Plans from a line of words, a tool whose every call waits at a gate, and a driver that polls only woken futures.

use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{Action, Body, Output, Reference, Source, Step, Template};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{Decision, Gate, ManualTimer, PendingCall, Run, Timer, TimerFuture};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Report, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// `"a, b < a, c < a b"`: `b` reads `a`, `c` reads `a` and `b`. The output is that of the last step.
pub(crate) fn plan(text: &str) -> Plan {
    let steps: Vec<(&str, Vec<&str>)> = text
        .split(',')
        .map(|step| {
            let (id, needs) = step.split_once('<').unwrap_or((step, ""));
            (id.trim(), needs.split_whitespace().collect())
        })
        .collect();
    let place = |id: &str| steps.iter().position(|step| step.0 == id).expect(id);
    graph(
        steps
            .iter()
            .map(|(id, needs)| (id.to_string(), needs.iter().map(|id| place(id)).collect()))
            .collect(),
    )
}

pub(crate) fn graph(steps: Vec<(String, Vec<usize>)>) -> Plan {
    let ids: Vec<String> = steps.iter().map(|(id, _)| id.clone()).collect();
    let reference = |step: usize| {
        let id = ids.get(step).cloned().unwrap_or_default();
        Template::Reference(Reference::new(Source::Step(step)).written(id))
    };
    let output = match ids.len() {
        0 => 0.into(),
        count => reference(count - 1),
    };
    let mut plan = Plan::new("test");
    for (id, needs) in &steps {
        let from: Vec<Template> = needs.iter().copied().map(reference).collect();
        let args = Template::object([("name", id.clone().into()), ("from", from.into())]);
        let step = Step::new(id.clone(), Action::call("work", args));
        plan.steps.push(step);
    }
    plan.output = Output::new(output);
    plan.output.type_name = "u64".into();
    plan
}

/// The action of a step that has but one.
pub(crate) fn action(step: &mut Step) -> &mut Action {
    match &mut step.body {
        Body::Action(action) => action,
        body => panic!("{body:?}"),
    }
}

/// Returns one more than the sum of its arguments, after it is let through.
#[derive(Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) name: String,
    pub(crate) from: Vec<u64>,
}

impl Shape for Work {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Work {
    type Output = u64;
    const NAME: &'static str = "work";
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Ok,
    Fail,
    Panic,
}

/// An application that notes what its one tool does, and holds each call until the test lets it through.
#[derive(Default)]
pub(crate) struct Lab {
    open: bool,
    outcomes: BTreeMap<String, Outcome>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    gates: BTreeMap<String, Arc<Semaphore>>,
    started: Vec<String>,
    ended: Vec<String>,
    dropped: Vec<String>,
    most: usize,
}

impl Lab {
    /// Creates a lab without waits.
    pub(crate) fn open() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }

    /// Sets the end of the call for a step.
    pub(crate) fn with(mut self, step: &str, outcome: Outcome) -> Self {
        self.outcomes.insert(step.into(), outcome);
        self
    }

    /// Lets calls through, now or when they come.
    pub(crate) fn let_through(&self, steps: &str) {
        for step in steps.split_whitespace() {
            self.gate(step).add_permits(1);
        }
    }

    fn gate(&self, step: &str) -> Arc<Semaphore> {
        let mut state = self.state.lock().unwrap();
        let gate = state.gates.entry(step.into());
        gate.or_insert_with(|| Arc::new(Semaphore::new(0))).clone()
    }

    fn enter(&self, step: &str) {
        self.state.lock().unwrap().started.push(step.into());
        let running = self.running().len();
        let mut state = self.state.lock().unwrap();
        state.most = state.most.max(running);
    }

    /// Returns all started calls, in order.
    pub(crate) fn started(&self) -> String {
        self.state.lock().unwrap().started.join(" ")
    }

    /// Returns all calls that were dropped before their end.
    pub(crate) fn dropped(&self) -> String {
        self.state.lock().unwrap().dropped.join(" ")
    }

    /// Returns all running calls, in the order of their starts.
    pub(crate) fn running(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let over = |step: &&String| !state.ended.contains(step) && !state.dropped.contains(step);
        state.started.iter().filter(over).cloned().collect()
    }

    /// The largest number of calls that ran concurrently.
    pub(crate) fn most(&self) -> usize {
        self.state.lock().unwrap().most
    }
}

struct Present<'l> {
    lab: &'l Lab,
    name: String,
    ended: bool,
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let mut state = self.lab.state.lock().unwrap();
        let name = std::mem::take(&mut self.name);
        if self.ended {
            state.ended.push(name);
        } else {
            state.dropped.push(name);
        }
    }
}

impl Call<Lab> for Work {
    async fn call(self, lab: &Lab) -> Result<u64> {
        lab.enter(&self.name);
        let mut present = Present {
            lab,
            name: self.name.clone(),
            ended: false,
        };
        if !lab.open {
            let gate = lab.gate(&self.name);
            gate.acquire().await?.forget();
        }
        present.ended = true;
        match lab.outcomes.get(&self.name) {
            None | Some(Outcome::Ok) => Ok(1 + self.from.iter().sum::<u64>()),
            Some(Outcome::Fail) => Err(Error::msg(format!("no {} today", self.name))),
            Some(Outcome::Panic) => panic!("{} is upside down", self.name),
        }
    }
}

/// Starts a step like generated code.
pub(crate) fn start<'x>(_: usize, request: Request<'_>, lab: &'x Lab) -> Started<'x> {
    request.call::<Work, Lab>(lab)
}

pub(crate) fn run<'a>(plan: &'a Plan, lab: &'a Lab) -> Run<'a, Lab, u64> {
    Run::new(plan, Ok(Vec::<StoredValue>::new()), lab, start)
}

/// Polls a future, but only after it was woken.
pub(crate) struct Driven<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
    pub(crate) polls: usize,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<F: Future> Driven<F> {
    pub(crate) fn new(future: F) -> Self {
        Self {
            future: Box::pin(future),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            polls: 0,
        }
    }

    /// Polls once, woken or not.
    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        self.polls += 1;
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polls for as long as there is reason to.
    pub(crate) fn settle(&mut self) -> Poll<F::Output> {
        while self.woken.0.load(Ordering::SeqCst) {
            if let Poll::Ready(output) = self.poll() {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    }

    pub(crate) fn pending(&mut self) {
        assert!(self.settle().is_pending(), "the run has ended");
    }

    pub(crate) fn ended(&mut self) -> F::Output {
        match self.settle() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("the run waits, and nothing wakes it"),
        }
    }
}

/// Each step's status, in words.
pub(crate) fn statuses(report: &Report) -> String {
    let steps = report.steps().iter();
    let words: Vec<_> = steps
        .map(|step| format!("{} {}", step.id(), step.status()))
        .collect();
    words.join(", ")
}

pub(crate) fn reference(step: usize) -> Template {
    Template::Reference(Reference::new(Source::Step(step)).written("written"))
}

/// A gate that never answers.
pub(crate) struct Silent;

impl Gate for Silent {
    async fn ask(&self, _: PendingCall) -> Decision {
        pending().await
    }
}

/// A timer whose sleeps of up to this length panic at their second poll.
pub(crate) struct Broken(pub(crate) ManualTimer, pub(crate) Duration);

impl Timer for Broken {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn sleep(&self, time: Duration) -> TimerFuture {
        if time > self.1 {
            return self.0.sleep(time);
        }
        let mut is_polled = false;
        Box::pin(poll_fn(move |cx| {
            assert!(!is_polled, "no sleep");
            is_polled = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }
}
