//! The log of a scope.

use super::super::report::{Attempt, Report};
use super::super::{Status, StepError};
use super::trace::Span;
use super::waits::Waits;
use crate::machine::ScopeId;
use crate::plan::{Graph, Plan, Policy, Role, ToolInfo, number};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The end of a step.
pub(in crate::run) struct Settled {
    pub(in crate::run) status: Status,
    /// The element that has failed.
    pub(in crate::run) element: Vec<usize>,
    /// The index of the failed step that a blocked step needs.
    pub(in crate::run) by: Option<usize>,
}

impl From<Status> for Settled {
    fn from(status: Status) -> Self {
        Self {
            status,
            element: Vec::new(),
            by: None,
        }
    }
}

/// The position of an attempt. One element has at most one open attempt.
#[derive(Clone, Copy)]
pub(in crate::run) struct Spot {
    pub(in crate::run) scope: ScopeId,
    /// The index of the step in its plan.
    pub(in crate::run) step: usize,
    /// The number of the element, or [`Part::WHOLE`](crate::machine::Part::WHOLE).
    pub(in crate::run) element: u32,
}

/// An attempt that starts.
pub(in crate::run) struct NewAttempt {
    pub(in crate::run) element: Vec<usize>,
    pub(in crate::run) number: u32,
    pub(in crate::run) tool: Option<Arc<ToolInfo>>,
}

/// The logs of the scopes of a run.
#[derive(Default)]
pub(in crate::run) struct Logs<'x> {
    /// The log of the whole plan is the first.
    all: Vec<Option<ScopeLog<'x>>>,
    free: Vec<usize>,
    /// The logs of the scopes that have not ended permanently.
    open: BTreeMap<ScopeId, usize>,
}

/// The log of a scope. The times of a step count from the start of the run, and the times of attempts from the start of the scope.
pub(super) struct ScopeLog<'x> {
    pub(super) plan: &'x Plan,
    pub(super) graph: Arc<Graph>,
    /// The path of the step that the scope is, or `None` for the whole run.
    pub(super) path: Option<String>,
    pub(super) span: Span,
    pub(super) started_at: SystemTime,
    pub(super) began: Duration,
    pub(super) took: Option<Duration>,
    pub(super) steps: Vec<StepLog>,
}

/// The log of a step.
#[derive(Default)]
pub(super) struct StepLog {
    /// The number of steps that the step still waits for.
    pub(super) needs: u32,
    pub(super) is_ready: bool,
    /// `true` if the step has done more than to start a call that has not begun.
    pub(super) has_begun: bool,
    pub(super) started: Option<Duration>,
    pub(super) ended: Option<Duration>,
    pub(super) status: Option<Status>,
    pub(super) element: Vec<usize>,
    /// The length of the outermost list, after the step has read the list.
    pub(super) elements: Option<usize>,
    /// The failure that another value replaces.
    pub(super) noted: Option<(Vec<usize>, StepError)>,
    pub(super) policy: Option<Arc<Policy>>,
    pub(super) output: Option<Value>,
    /// `true` for a call without an entry among the attempts. The report makes the entry from the times of the step.
    pub(super) is_called: bool,
    /// The attempts in the order of their starts, if there is a report.
    pub(super) attempts: Vec<AttemptLog>,
    pub(super) waits: Waits,
    /// The attempts that run, by elements.
    pub(super) open: BTreeMap<u32, OpenAttempt>,
}

/// An attempt in the report.
pub(super) struct AttemptLog {
    pub(super) attempt: Attempt,
    pub(super) within: Option<Within>,
}

/// The source of the reports inside an attempt.
pub(super) enum Within {
    /// The log of the scope that the attempt has opened.
    Scope(usize),
    /// The plans that a tool has run inside its call.
    Call(Arc<dyn ReportsInside>),
}

/// The reports of the plans that a tool has run inside its call.
pub(in crate::run) trait ReportsInside: Send + Sync {
    /// Adds a report.
    fn keep(&self, report: Report);

    /// Takes the reports, in the order of their creation.
    fn take(&self) -> Vec<Report>;
}

/// An attempt that runs.
pub(super) struct OpenAttempt {
    pub(super) begun: NewAttempt,
    pub(super) started: Duration,
    pub(super) span: Span,
    /// The index in the list of attempts.
    pub(super) log: Option<usize>,
    pub(super) has_scope: bool,
    /// `true` after the event of the attempt's start.
    pub(super) is_told: bool,
    /// The time limit that the attempt has reached.
    pub(super) late: Option<StepError>,
    /// The elements that have their values once the attempt has ended.
    pub(super) finished: Vec<Vec<usize>>,
}

impl<'x> Logs<'x> {
    pub(super) fn log(&self, scope: ScopeId) -> Option<&ScopeLog<'x>> {
        self.all[*self.open.get(&scope)?].as_ref()
    }

    pub(super) fn log_mut(&mut self, scope: ScopeId) -> Option<&mut ScopeLog<'x>> {
        self.all[*self.open.get(&scope)?].as_mut()
    }

    pub(super) fn step(&mut self, scope: ScopeId, step: usize) -> Option<&mut StepLog> {
        self.log_mut(scope)?.steps.get_mut(step)
    }

    pub(super) fn attempt(&mut self, spot: Spot) -> Option<&mut OpenAttempt> {
        let step = self.step(spot.scope, spot.step)?;
        step.open.get_mut(&spot.element)
    }

    /// Returns the entry of an open attempt in the report.
    pub(super) fn kept(&mut self, spot: Spot) -> Option<&mut AttemptLog> {
        let step = self.step(spot.scope, spot.step)?;
        let at = step.open.get(&spot.element)?.log?;
        step.attempts.get_mut(at)
    }

    /// Returns the path of an open attempt.
    pub(super) fn path(&self, spot: Spot) -> Option<String> {
        let log = self.log(spot.scope)?;
        let attempt = log.steps[spot.step].open.get(&spot.element)?;
        let element = &attempt.begun.element;
        Some(log.part(spot.step, element, None).to_string())
    }

    /// Adds the log of a scope, which an attempt has opened.
    pub(super) fn open(&mut self, scope: ScopeId, log: ScopeLog<'x>, owner: Option<Spot>) {
        let at = self.free.pop().unwrap_or(self.all.len());
        if at == self.all.len() {
            self.all.push(None);
        }
        self.all[at] = Some(log);
        self.open.insert(scope, at);
        if let Some(attempt) = owner.and_then(|spot| self.attempt(spot)) {
            attempt.has_scope = true;
        }
        if let Some(attempt) = owner.and_then(|spot| self.kept(spot)) {
            attempt.within = Some(Within::Scope(at));
        }
    }

    /// Closes a scope that has ended. Drops its log unless the run has a report.
    pub(super) fn close(&mut self, scope: ScopeId, keeps: bool) {
        if let Some(at) = self.open.remove(&scope)
            && !keeps
        {
            self.all[at] = None;
            self.free.push(at);
        }
    }

    /// Takes a log for the report.
    pub(super) fn take(&mut self, at: usize) -> Option<ScopeLog<'x>> {
        self.all.get_mut(at)?.take()
    }

    /// Returns the steps of a scope that have no status.
    pub(in crate::run) fn unsettled(&self, scope: ScopeId) -> Vec<usize> {
        let steps = self.log(scope).map_or(&[][..], |log| &log.steps);
        let places = steps.iter().enumerate();
        let open = places.filter(|(_, it)| it.status.is_none());
        open.map(|(place, _)| place).collect()
    }

    /// Returns the scopes that have not ended permanently.
    pub(in crate::run) fn scopes(&self) -> Vec<ScopeId> {
        self.open.keys().copied().collect()
    }

    /// Names the step that has blocked each blocked step of a scope: the first one in the plan, regardless of the order of failures.
    pub(super) fn name_blocks(&mut self, scope: ScopeId, by: &dyn Fn(usize) -> Option<usize>) {
        let Some(log) = self.log_mut(scope) else {
            return;
        };
        for (place, step) in log.steps.iter_mut().enumerate() {
            if let (Some(Status::Blocked { by: named }), Some(by)) = (&mut step.status, by(place)) {
                named.clone_from(&log.plan.steps[by].id);
            }
        }
    }
}

impl<'x> ScopeLog<'x> {
    pub(super) fn new(
        (plan, graph): (&'x Plan, Arc<Graph>),
        path: Option<String>,
        span: Span,
        (now, started_at): (Duration, SystemTime),
    ) -> Self {
        let steps = plan.steps.iter().enumerate().map(|(step, of)| {
            let needs = match of.role {
                Role::Work => number(graph.needs().of(step).len()),
                // The step waits for the end of the work.
                Role::Undo(_) | Role::Always => 1,
            };
            StepLog {
                needs,
                is_ready: needs == 0,
                ..StepLog::default()
            }
        });
        Self {
            steps: steps.collect(),
            plan,
            graph,
            path,
            span,
            started_at,
            began: now,
            took: None,
        }
    }
}

impl StepLog {
    /// Returns the status of the step. A step that runs now counts as canceled, unless the report shows such steps.
    pub(super) fn status(&self, shows_running: bool) -> Status {
        match (&self.status, self.started) {
            (Some(status), _) => status.clone(),
            (None, Some(_)) if shows_running => Status::Running,
            (None, Some(_)) => Status::Cancelled,
            (None, None) => Status::NotStarted,
        }
    }
}

impl From<Attempt> for AttemptLog {
    fn from(attempt: Attempt) -> Self {
        Self {
            attempt,
            within: None,
        }
    }
}

impl OpenAttempt {
    pub(super) fn new(
        begun: NewAttempt,
        started: Duration,
        span: Span,
        log: Option<usize>,
    ) -> Self {
        Self {
            begun,
            started,
            span,
            log,
            has_scope: false,
            is_told: false,
            late: None,
            finished: Vec::new(),
        }
    }
}
