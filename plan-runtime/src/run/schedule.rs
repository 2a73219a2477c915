use super::error::{Cause, Failure, RunError, StepError};
use super::graph::Graph;
use super::options::{OnFailure, Options};
use super::report::{Report, Status, StepReport};
use super::start::{Request, Started, StepFuture, StepResult};
use crate::plan::Plan;
use crate::resolve::{Held, Scope, resolve};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

/// Decides which step starts when, and polls those that run. What starting a step means is up to whoever polls.
pub(super) struct Schedule<'x> {
    plan: &'x Plan,
    options: Options,
    graph: Graph,
    inputs: Vec<Held>,
    outputs: Vec<Option<Held>>,
    ready: BinaryHeap<Reverse<usize>>,
    running: FuturesUnordered<Running<'x>>,
    steps: Vec<Progress>,
    failed: Vec<(usize, StepError)>,
    clock: Clock,
}

/// After so many, steps that never wait let others on their thread have a turn.
const STARTS_PER_POLL: usize = 512;

/// How far a step has come.
#[derive(Clone, Default)]
struct Progress {
    state: State,
    started: Option<Duration>,
    ended: Option<Duration>,
    arguments: Option<Value>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Waiting,
    Running,
    Completed,
    /// With its place among the failures.
    Failed(usize),
    /// By the step at this place, which failed.
    Blocked(usize),
    Cancelled,
}

impl<'x> Schedule<'x> {
    /// Fails, and says why, where the plan's steps can never all run.
    pub(super) fn new(plan: &'x Plan, inputs: Vec<Held>, options: Options) -> Result<Self, String> {
        let graph = Graph::new(plan)?;
        let count = plan.steps.len();
        Ok(Self {
            plan,
            options,
            inputs,
            outputs: std::iter::repeat_with(|| None).take(count).collect(),
            ready: (0..count)
                .filter(|step| graph.waits[*step] == 0)
                .map(Reverse)
                .collect(),
            graph,
            running: FuturesUnordered::new(),
            steps: vec![Progress::default(); count],
            failed: Vec::new(),
            clock: Clock::start(),
        })
    }

    /// Is ready once no step runs and none is to start.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        start: &mut dyn FnMut(usize, Request<'_>) -> Started<'x>,
    ) -> Poll<()> {
        let mut started = 0;
        loop {
            while self.running.len() < self.options.concurrency {
                let Some(step) = self.next_ready() else { break };
                if started == STARTS_PER_POLL {
                    self.ready.push(Reverse(step));
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                started += 1;
                self.start(step, start);
            }
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some((step, result))) => self.end(step, result),
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn next_ready(&mut self) -> Option<usize> {
        if self.options.on_failure != OnFailure::Continue && !self.failed.is_empty() {
            return None;
        }
        self.ready.pop().map(|Reverse(step)| step)
    }

    fn start(&mut self, step: usize, start: &mut dyn FnMut(usize, Request<'_>) -> Started<'x>) {
        self.steps[step].started = Some(self.clock.now());
        self.steps[step].state = State::Running;
        let Some(action) = self.plan.steps[step].action() else {
            return self.end(step, Err(StepError::Unknown));
        };
        let arguments = Cell::new(None);
        let mut request = Request::new(self.scope(), action);
        if self.options.arguments {
            request = request.recording(&arguments);
        }
        let started = catch(|| start(action.site, request));
        self.steps[step].arguments = arguments.take();
        match started {
            Ok(Started::Running(future)) => self.running.push(Running {
                step,
                future: Some(future),
            }),
            Ok(Started::Ended(result)) => self.end(step, result),
            Err(panic) => self.end(step, Err(panic)),
        }
    }

    fn end(&mut self, step: usize, result: StepResult) {
        self.steps[step].ended = Some(self.clock.now());
        match result {
            Ok(output) => {
                self.steps[step].state = State::Completed;
                self.outputs[step] = Some(output);
                self.free_unread(step);
                for &dependent in self.graph.dependents.of(step) {
                    self.graph.waits[dependent] -= 1;
                    if self.graph.waits[dependent] == 0 {
                        self.ready.push(Reverse(dependent));
                    }
                }
            }
            Err(error) => {
                self.steps[step].state = State::Failed(self.failed.len());
                self.failed.push((step, error));
                self.block(step);
                if self.options.on_failure == OnFailure::Cancel {
                    self.cancel();
                }
            }
        }
        self.release(step);
    }

    /// Marks all that needs a failed step. What another failure has blocked before stays with that one.
    fn block(&mut self, by: usize) {
        let mut from = vec![by];
        while let Some(step) = from.pop() {
            for place in 0..self.graph.dependents.of(step).len() {
                let dependent = self.graph.dependents.of(step)[place];
                if self.steps[dependent].state == State::Waiting {
                    self.steps[dependent].state = State::Blocked(by);
                    self.release(dependent);
                    from.push(dependent);
                }
            }
        }
    }

    fn cancel(&mut self) {
        let now = self.clock.now();
        for running in self.running.iter_mut() {
            // One that has ended, but was not heard of yet, did not finish as far as the run is concerned.
            running.abandon();
            self.steps[running.step].state = State::Cancelled;
            self.steps[running.step].ended = Some(now);
        }
        self.running.clear();
    }

    /// The step will read nothing any more.
    fn release(&mut self, step: usize) {
        for place in 0..self.graph.reads.of(step).len() {
            let read = self.graph.reads.of(step)[place];
            if let Some(readers) = self.graph.readers.get_mut(read) {
                *readers -= 1;
                self.free_unread(read);
            }
        }
    }

    fn free_unread(&mut self, step: usize) {
        if self.graph.readers[step] == 0 {
            self.outputs[step] = None;
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope::new(self.plan, &self.inputs, &self.outputs)
    }

    pub(super) fn plan(&self) -> &'x Plan {
        self.plan
    }

    /// What the run gives back.
    pub(super) fn output<O: DeserializeOwned>(&self) -> Result<O, RunError> {
        let cause = if self.failed.is_empty() {
            match catch(|| resolve(&self.plan.output.value, &self.scope())) {
                Ok(Ok(output)) => return Ok(output),
                Ok(Err(error)) => Cause::Output(StepError::arguments(error)),
                Err(panic) => Cause::Output(panic),
            }
        } else {
            Cause::Steps(self.failures())
        };
        Err(RunError::new(self.plan, cause))
    }

    /// The failures, in the order in which they came about, with what each blocked.
    fn failures(&self) -> Vec<Failure> {
        let mut failures: Vec<_> = self
            .failed
            .iter()
            .map(|(step, error)| {
                let step = &self.plan.steps[*step];
                Failure {
                    step: step.id.clone(),
                    tool: step.tool().map(|tool| tool.name.clone()),
                    error: error.clone(),
                    blocked: Vec::new(),
                }
            })
            .collect();
        for (step, progress) in self.plan.steps.iter().zip(&self.steps) {
            if let State::Blocked(by) = progress.state
                && let State::Failed(place) = self.steps[by].state
            {
                failures[place].blocked.push(step.id.clone());
            }
        }
        failures
    }

    /// What became of each step.
    pub(super) fn report(&self) -> Report {
        let status = |progress: &Progress| match progress.state {
            State::Waiting => Status::Skipped,
            State::Completed => Status::Completed,
            State::Failed(place) => Status::Failed(self.failed[place].1.clone()),
            State::Blocked(by) => Status::Blocked {
                by: self.plan.steps[by].id.clone(),
            },
            State::Running | State::Cancelled => Status::Cancelled,
        };
        let steps = self.plan.steps.iter().zip(&self.steps);
        Report::new(
            self.plan.name.clone(),
            self.clock.started_at,
            self.clock.now(),
            steps
                .map(|(step, progress)| {
                    let times = (progress.started, progress.ended);
                    StepReport::new(step, status(progress), times, progress.arguments.clone())
                })
                .collect(),
        )
    }
}

/// The report of a run that started no step.
pub(super) fn unstarted(plan: &Plan) -> Report {
    let steps = plan.steps.iter();
    Report::new(
        plan.name.clone(),
        SystemTime::now(),
        Duration::ZERO,
        steps
            .map(|step| StepReport::new(step, Status::Skipped, (None, None), None))
            .collect(),
    )
}

struct Clock {
    started_at: SystemTime,
    start: Instant,
}

impl Clock {
    fn start() -> Self {
        Self {
            started_at: SystemTime::now(),
            start: Instant::now(),
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A step that runs; a panic is its error.
struct Running<'x> {
    step: usize,
    future: Option<StepFuture<'x>>,
}

impl Running<'_> {
    /// Drops the tool's future. What its destructors panic about is lost: the step's fate is known already.
    fn abandon(&mut self) {
        let future = self.future.take();
        let _ = catch(|| drop(future));
    }
}

impl Future for Running<'_> {
    type Output = (usize, StepResult);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.future else {
            return Poll::Pending;
        };
        let result = match catch(|| future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => result,
            Err(panic) => Err(panic),
        };
        self.abandon();
        Poll::Ready((self.step, result))
    }
}

/// A panic, as a step's error.
fn catch<T>(run: impl FnOnce() -> T) -> Result<T, StepError> {
    // What `run` leaves half done belongs to the step that ends here, or to its author, who shared it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| StepError::Panic(message(payload)))
}

fn message(payload: Box<dyn Any + Send>) -> Arc<str> {
    match payload.downcast::<String>() {
        Ok(message) => (*message).into(),
        Err(payload) => match payload.downcast_ref::<&str>() {
            Some(message) => (*message).into(),
            None => "(the panic's payload is not text)".into(),
        },
    }
}
