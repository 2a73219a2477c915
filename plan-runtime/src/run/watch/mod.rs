//! The events of a run, for observers, for `tracing` and for the report.
//!
//! A driver reports each event to a [`Watch`]. The watch contains the plan, and is independent of the driver.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the events |
//! | `log.rs` | the log of a scope: its steps, their attempts |
//! | `observe.rs`, `trace.rs`, `progress.rs` | observers, `tracing`, progress bars |
//! | `heard.rs` | the events of a step for observers and `tracing` |
//! | `report.rs` | the report |
//! | `waits.rs`, `waiting.rs` | the waits of calls and of `await` steps |

mod heard;
mod log;
mod observe;
#[cfg(feature = "progress")]
mod progress;
mod report;
mod trace;
mod waiting;
mod waits;

pub(super) use heard::is_heard;
pub(super) use log::{NewAttempt, ReportsInside, Settled, Spot};
pub(super) use observe::Observers;
pub use observe::{Observer, StepRef};
#[cfg(feature = "progress")]
pub use progress::Progress;
pub(super) use trace::Span;

pub(super) use super::report::Keeps;
use super::report::{Attempt, Totals, undone};
use super::timer::Timer;
use super::{Status, StepError};
use crate::machine::ScopeId;
use crate::plan::{Graph, Plan, Policy, Role};
use heard::{Listeners, quietly};
use log::{Logs, OpenAttempt, ScopeLog, Within};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The listeners of a run, and the log of its report. Times count from the start of the run.
pub(super) struct Watch<'x> {
    pub(super) keeps: Keeps,
    around: Around,
    pub(super) logs: Logs<'x>,
    pub(super) listeners: Listeners,
    /// The step that exceeded a limit of the run.
    pub(super) exceeded: Option<Spot>,
    has_reported: bool,
    /// `true` if the report shows steps that run.
    shows_running: bool,
    /// The timer of a run inside a call.
    timer: Option<Arc<dyn Timer>>,
    start: Instant,
}

/// The surroundings of a watched run.
pub(super) struct Around {
    /// The path of the call that the run is inside of.
    pub(super) path: Option<String>,
    /// The reports inside that call.
    pub(super) inside: Option<Arc<dyn ReportsInside>>,
    /// `true` if a server has retried the run.
    pub(super) is_retried: bool,
    /// The age of the run at its last retry.
    pub(super) last_retry: Option<Duration>,
    /// The largest number of concurrent calls of the run.
    pub(super) concurrency: usize,
}

impl<'x> Watch<'x> {
    /// Returns a watch of a run with listeners or a report.
    pub(super) fn new(
        observers: &Observers,
        keeps: Keeps,
        around: impl FnOnce() -> Around,
        (timer, start): (&Arc<dyn Timer>, Instant),
    ) -> Option<Box<Self>> {
        let is_heard = is_heard(observers);
        (keeps.report || is_heard).then(|| {
            let around = around();
            Box::new(Self {
                keeps,
                logs: Logs::default(),
                listeners: Listeners {
                    observers: observers.clone(),
                    is_heard,
                },
                exceeded: None,
                has_reported: false,
                shows_running: false,
                timer: around.inside.as_ref().map(|_| Arc::clone(timer)),
                around,
                start,
            })
        })
    }

    /// Returns `true` if the report needs only the times of a plain call.
    pub(super) fn needs_only_times(&self) -> bool {
        let captures = self.keeps.arguments || self.keeps.outputs;
        self.keeps.report && !captures && !self.listeners.is_heard
    }

    /// Returns `true` if the report or an observer needs times.
    pub(super) fn needs_times(&self) -> bool {
        self.keeps.report || self.listeners.observers.listen()
    }

    /// Opens a scope: the plan, or a scope inside an attempt.
    pub(super) fn open(
        &mut self,
        scope: ScopeId,
        (plan, graph): (&'x Plan, Arc<Graph>),
        owner: Option<Spot>,
        times: (Duration, SystemTime),
    ) {
        let path = match owner {
            None => self.around.path.clone(),
            Some(spot) => self.logs.path(spot),
        };
        let around = owner.and_then(|spot| Some(self.logs.attempt(spot)?.span.clone()));
        let around = around.unwrap_or_else(Span::none);
        let span = quietly(Span::none, || around.in_scope(|| Span::run(plan)));
        let log = ScopeLog::new((plan, graph), path, span, times);
        self.logs.open(scope, log, owner);
        self.listeners.open(&self.logs, scope);
    }

    /// Records that the values of a scope are dropped.
    pub(super) fn close(&mut self, scope: ScopeId) {
        self.logs.close(scope, self.keeps.report);
    }

    /// Returns `true` if a step has not started.
    pub(super) fn is_unstarted(&mut self, scope: ScopeId, step: usize) -> bool {
        let it = self.logs.step(scope, step);
        it.is_some_and(|it| it.started.is_none())
    }

    /// Records the start of a step.
    pub(super) fn start(&mut self, scope: ScopeId, step: usize, now: Duration) {
        if let Some(it) = self.logs.step(scope, step) {
            it.started = Some(now);
        }
    }

    /// Reports the start of a step, unless the start was reported.
    pub(super) fn has_started(&mut self, scope: ScopeId, step: usize) {
        let Some(it) = self.logs.step(scope, step) else {
            return;
        };
        if it.started.is_some() && !std::mem::replace(&mut it.has_begun, true) {
            let was_ready = std::mem::replace(&mut it.is_ready, true);
            self.listeners.start(&self.logs, scope, step, was_ready);
        }
    }

    /// Reports the start of an open attempt, whose call has begun.
    pub(super) fn has_begun(&mut self, spot: Spot) {
        if !self.listeners.is_heard {
            return;
        }
        self.has_started(spot.scope, spot.step);
        if let Some(attempt) = self.logs.attempt(spot)
            && !std::mem::replace(&mut attempt.is_told, true)
        {
            attempt.span.open();
            self.listeners.begun(&self.logs, spot);
        }
    }

    /// Removes an open attempt, whose call was dropped before it began.
    pub(super) fn has_not_begun(&mut self, spot: Spot) {
        let Some(step) = self.logs.step(spot.scope, spot.step) else {
            return;
        };
        let open = step.open.remove(&spot.element);
        if let Some(kept) = open.and_then(|it| step.attempts.get_mut(it.log?)) {
            kept.attempt.withdraw();
        }
        step.is_called = false;
        let mut attempts = step.attempts.iter();
        if !step.has_begun && attempts.all(|it| it.attempt.is_withdrawn()) {
            step.started = None;
        }
    }

    /// Records the start of a plain call. The report needs only its times.
    pub(super) fn call(&mut self, scope: ScopeId, step: usize, now: Duration) {
        if let Some(it) = self.logs.step(scope, step) {
            it.started.get_or_insert(now);
            it.is_called = true;
        }
    }

    /// Adds the entry of a plain call, if the log has only the times of the call.
    pub(super) fn enter(&mut self, spot: Spot) {
        let Some(log) = self.logs.log_mut(spot.scope) else {
            return;
        };
        let step = &mut log.steps[spot.step];
        if let (true, Some(started)) = (std::mem::take(&mut step.is_called), step.started) {
            let action = log.plan.steps[spot.step].action();
            let begun = NewAttempt {
                element: Vec::new(),
                number: 1,
                tool: action.and_then(|action| action.tool.clone()),
            };
            self.log_attempt(spot, begun, started, Span::none());
        }
    }

    /// Records the start of an attempt. Returns its span.
    pub(super) fn begin(&mut self, spot: Spot, begun: NewAttempt, now: Duration) -> Span {
        let span = self.listeners.span_of(&self.logs, spot, &begun);
        self.log_attempt(spot, begun, now, span.clone());
        span
    }

    fn log_attempt(&mut self, spot: Spot, begun: NewAttempt, now: Duration, span: Span) {
        let keeps = self.keeps.report;
        let Some(log) = self.logs.log_mut(spot.scope) else {
            return;
        };
        let started = now.saturating_sub(log.began);
        let step = &mut log.steps[spot.step];
        let place = keeps.then(|| {
            let NewAttempt {
                element,
                number,
                tool,
            } = &begun;
            let attempt = Attempt::new(element.clone(), *number, started, tool.clone());
            step.attempts.push(attempt.into());
            step.attempts.len() - 1
        });
        let attempt = OpenAttempt::new(begun, now, span, place);
        step.open.insert(spot.element, attempt);
    }

    /// Records the resolved arguments of an open attempt.
    pub(super) fn arguments(&mut self, spot: Spot, arguments: Value) {
        if let Some(attempt) = self.logs.kept(spot) {
            attempt.attempt.arguments = Some(arguments);
        }
    }

    /// Records that a gate has changed the arguments of an open attempt.
    pub(super) fn changed(&mut self, spot: Spot) {
        if let Some(attempt) = self.logs.kept(spot) {
            attempt.attempt.is_changed = true;
        }
    }

    /// Records an open attempt of a call that may run plans by itself.
    pub(super) fn inside(&mut self, spot: Spot, inside: Arc<dyn ReportsInside>) {
        self.enter(spot);
        if let Some(attempt) = self.logs.kept(spot) {
            attempt.within = Some(Within::Call(inside));
        }
    }

    /// Records the end of the time limit of an open attempt. An attempt with a scope ends with the scope.
    pub(super) fn late(&mut self, spot: Spot, error: &StepError, now: Duration) {
        match self.logs.attempt(spot) {
            Some(attempt) if attempt.has_scope => {
                attempt.late.get_or_insert_with(|| error.clone());
            }
            Some(_) => self.end(spot, Some(error), now),
            None => {}
        }
    }

    /// Records the end of the time limit of all open attempts of a step.
    pub(super) fn all_late(&mut self, spot: Spot, error: &StepError, now: Duration) {
        let step = self.logs.step(spot.scope, spot.step);
        let open: Vec<u32> = step.map_or_else(Vec::new, |it| it.open.keys().copied().collect());
        for element in open {
            self.late(Spot { element, ..spot }, error, now);
        }
    }

    /// Returns the error of the time limit that an open attempt has reached.
    pub(super) fn lateness(&mut self, spot: Spot) -> Option<StepError> {
        self.logs.attempt(spot)?.late.take()
    }

    /// Records the end of an attempt, if the attempt is open.
    pub(super) fn end(&mut self, spot: Spot, error: Option<&StepError>, now: Duration) {
        if error.is_some() {
            self.enter(spot);
        }
        self.has_begun(spot);
        let Some(log) = self.logs.log_mut(spot.scope) else {
            return;
        };
        let began = log.began;
        let step = &mut log.steps[spot.step];
        step.waits.end(spot.element, now.saturating_sub(began));
        let Some(attempt) = step.open.remove(&spot.element) else {
            return;
        };
        if let Some(kept) = attempt.log.and_then(|at| step.attempts.get_mut(at)) {
            kept.attempt.end(now.saturating_sub(began), error);
        }
        self.listeners.end(&self.logs, spot, &attempt, error, now);
        for element in &attempt.finished {
            self.listeners.element(&self.logs, spot, element);
        }
    }

    /// Records the length of a list that a step, or an element of the step, iterates over.
    pub(super) fn list(&mut self, spot: Spot, element: &[usize], length: usize) {
        if let (Some(step), []) = (self.logs.step(spot.scope, spot.step), element) {
            step.elements = Some(length);
        }
        self.listeners.list(&self.logs, spot, element, length);
    }

    /// Elements have their values. Elements of an attempt with a scope wait for the end of the attempt.
    pub(super) fn finish(&mut self, spot: Spot, elements: Vec<Vec<usize>>) {
        match self.logs.attempt(spot) {
            Some(attempt) => attempt.finished.extend(elements),
            None => elements
                .iter()
                .for_each(|it| self.listeners.element(&self.logs, spot, it)),
        }
    }

    /// Records a failure that a fallback or null replaces. The failure of the first element is kept, unless the failure
    /// of another element names unique unfinished work.
    pub(super) fn note(&mut self, spot: Spot, element: Vec<usize>, error: StepError) {
        let Some(step) = self.logs.step(spot.scope, spot.step) else {
            return;
        };
        let rank = |(element, error): &(Vec<usize>, StepError)| {
            let is_named = matches!(error, StepError::Block(_)) || !error.leaves_work();
            (is_named, element.clone())
        };
        let new = (element, error);
        let is_whole = spot.element == crate::machine::Part::WHOLE;
        let replaces = |old: &_| is_whole || rank(&new) < rank(old);
        if step.noted.as_ref().is_none_or(replaces) {
            step.noted = Some(new);
        }
    }

    /// Returns the recorded failure of a step.
    pub(super) fn noted(&mut self, scope: ScopeId, step: usize) -> Option<(Vec<usize>, StepError)> {
        self.logs.step(scope, step)?.noted.take()
    }

    /// Records the resolved amounts of a step.
    pub(super) fn policy(&mut self, scope: ScopeId, step: usize, policy: Arc<Policy>) {
        if let Some(step) = self.logs.step(scope, step) {
            step.policy = Some(policy);
        }
    }

    /// Records the output of a step.
    pub(super) fn output(&mut self, scope: ScopeId, step: usize, output: Value) {
        if let Some(step) = self.logs.step(scope, step) {
            step.output = Some(output);
        }
    }

    /// Records the end of a step, or that the step will never start.
    pub(super) fn settle(&mut self, scope: ScopeId, step: usize, settled: Settled, now: Duration) {
        let began = self.logs.log(scope).map_or(now, |log| log.began);
        let Some(it) = self.logs.step(scope, step) else {
            return;
        };
        let has_begun = it.started.is_some() || !matches!(settled.status, Status::Cancelled);
        if it.status.is_some() || !has_begun {
            return;
        }
        if it.started.is_some() {
            it.ended = Some(now);
        }
        it.open.clear();
        it.waits.end_all(now.saturating_sub(began));
        it.status = Some(settled.status);
        it.element = settled.element;
        // In a resumed run, observers receive no start of a call that only an earlier process may have begun.
        if it.has_begun || it.started.is_none() {
            self.listeners.settled(&self.logs, scope, step, settled.by);
        }
        self.release(scope, step);
    }

    /// Records the output of a step at its dependents, which then wait for one step less.
    fn release(&mut self, scope: ScopeId, step: usize) {
        let is_observed = self.listeners.observers.listen();
        let Some(log) = self.logs.log(scope).filter(|_| is_observed) else {
            return;
        };
        let has_output = matches!(
            log.steps[step].status,
            Some(Status::Completed | Status::Skipped | Status::Recovered(_))
        );
        if !has_output {
            return;
        }
        let graph = Arc::clone(&log.graph);
        for &dependent in graph.dependents().of(step) {
            let dependent = dependent as usize;
            if let Some(it) = self.logs.step(scope, dependent) {
                it.needs = it.needs.saturating_sub(1);
                if it.needs == 0 && !std::mem::replace(&mut it.is_ready, true) {
                    self.listeners.ready(&self.logs, scope, dependent);
                }
            }
        }
    }

    /// Marks all steps that need a failed step as blocked.
    pub(super) fn block(&mut self, scope: ScopeId, by: usize, now: Duration) {
        let Some(log) = self.logs.log(scope) else {
            return;
        };
        let (plan, graph) = (log.plan, Arc::clone(&log.graph));
        let mut open = vec![by];
        while let Some(step) = open.pop() {
            for &dependent in graph.dependents().of(step) {
                let dependent = dependent as usize;
                let status = Status::Blocked {
                    by: plan.steps[by].id.clone(),
                };
                let settled = Settled {
                    by: Some(by),
                    ..status.into()
                };
                if self
                    .logs
                    .step(scope, dependent)
                    .is_some_and(|it| it.status.is_none())
                {
                    self.settle(scope, dependent, settled, now);
                    open.push(dependent);
                }
            }
        }
    }

    /// Records the end of a scope. Undo steps with nothing to undo are skipped.
    pub(super) fn over(
        &mut self,
        scope: ScopeId,
        has_failed: bool,
        by: &dyn Fn(usize) -> Option<usize>,
        now: Duration,
    ) {
        self.logs.name_blocks(scope, by);
        let Some(log) = self.logs.log(scope) else {
            return;
        };
        let may_undo = has_failed || scope != ScopeId::ROOT;
        let plan = log.plan;
        for (step, of) in plan.steps.iter().enumerate() {
            let Role::Undo(undone) = of.role else {
                continue;
            };
            let Some(log) = self.logs.log(scope) else {
                return;
            };
            let has_completed = matches!(log.steps[undone].status, Some(Status::Completed));
            if log.steps[step].status.is_none() && !(may_undo && has_completed) {
                self.settle(scope, step, Status::Skipped.into(), now);
            }
        }
        self.finished(scope, now);
    }

    /// Records the end of a scope.
    fn finished(&mut self, scope: ScopeId, now: Duration) {
        let Some(log) = self.logs.log_mut(scope) else {
            return;
        };
        // A scope that is undone later has ended twice.
        let took = now.saturating_sub(log.began);
        if log.took.replace(took).is_none() {
            let status = |step: usize| Some(log.steps.get(step)?.status(false));
            let undone = undone(log.plan, status);
            let totals = Totals::of((0..log.steps.len()).filter_map(status).zip(undone));
            self.listeners.over(&self.logs, scope, &totals);
        }
    }
}
