//! What a call knows of the run around it, and the permits for calls.

use super::super::context::{CallContext, CallPlace, Inside};
use super::super::start::StepFuture;
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::body_state::BodyState;
use super::task::CallState;
use super::{INSIDE, Schedule};
use crate::error::StepError;
use crate::plan::Role;
use crate::shape::Secrets;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::time::{Duration, Instant};

impl<'x> Schedule<'x> {
    /// The place of a job in the plan and in those around it.
    pub(super) fn place(&self, step: usize, job: usize) -> Vec<usize> {
        [&*self.at, &[step, job]].concat()
    }

    /// The context of a call; of the plan's action with this number, if it calls a plan.
    #[cold]
    pub(super) fn context(
        &self,
        (step, job): (usize, usize),
        element: Vec<usize>,
        attempt: u32,
        until: Option<Duration>,
        calls_plan: Option<usize>,
    ) -> CallContext {
        self.held.share();
        let run = self.options.deadline.map(|limit| match &self.ending {
            // What runs then goes on, in the grace.
            Some(ending) if !ending.is_in_grace() => limit.saturating_add(self.options.grace),
            _ => limit,
        });
        let own = [until, run].into_iter().flatten().min();
        let outer = self.outer.as_ref().and_then(CallContext::deadline);
        // What comes after the work of a block does not count in the time limits of its step.
        let outer = outer.filter(|_| !(self.is_inner && self.ending.is_some()));
        let own = own.and_then(|elapsed| self.clock.at(elapsed));
        let deadline: Option<Instant> = [own, outer].into_iter().flatten().min();
        CallContext::new(CallPlace {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            depth: self.depth,
            at: self.place(step, job),
            outer: self.outer.clone(),
            beside: self.beside.clone(),
            plan: self.name.to_owned(),
            step: self.plan.steps[step].id.clone(),
            element,
            action: self.action_of(step, job),
            began: self.run.durable.as_ref().map(|durable| durable.now()),
            attempt,
            times: self.times_before(step),
            is_always: self.plan.steps[step].role == Role::Always,
            deadline,
            is_plan: calls_plan.is_some(),
            computes: calls_plan.is_some() && self.computes_inputs(step),
            is_last: self.ending.is_some() || self.outer.as_ref().is_some_and(CallContext::is_last),
            secrets: match (calls_plan, &self.secrecy) {
                (Some(action), Some(secrecy)) => secrecy.arguments(action).clone(),
                _ => Secrets::NONE,
            },
            inside: self.options.record.then(|| {
                let (arguments, outputs) = (self.options.capture, self.options.capture_outputs);
                Arc::new(Inside::new(&self.allowance, arguments, outputs))
            }),
            counts: AtomicBool::new(false),
            dropped: Mutex::default(),
            turn: Mutex::default(),
            elsewhere: None,
            plans_inside: Mutex::default(),
        })
    }

    /// Returns the count of a step, or of the step that it undoes. For an always step, returns the count of the run.
    fn times_before(&self, step: usize) -> u32 {
        let undone = match self.plan.steps[step].role {
            Role::Work => step,
            Role::Undo(undone) => undone,
            Role::Always => return self.run.times_retried(),
        };
        let id = &self.plan.steps[undone].id;
        self.run.times_undone(|| self.lasting_prefix(), id)
    }

    /// Returns the beginning of the lasting paths of the plan's steps.
    pub(super) fn lasting_prefix(&self) -> String {
        let outer = self.outer.as_ref();
        outer.map_or_else(String::new, |it| it.lasting_inside(self.beside.as_deref()))
    }

    /// Whether code makes an argument of a step's calls, in a durable run.
    fn computes_inputs(&self, step: usize) -> bool {
        let actions = || self.plan.steps[step].actions();
        self.run.durable.is_some() && actions().iter().any(|action| action.args.has_code())
    }

    /// Which of the actions of a step a job is.
    fn action_of(&self, step: usize, job: usize) -> usize {
        let job = self.steps.flow(step).and_then(|flow| flow.jobs.get(job));
        job.map_or(0, |job| job.number - self.graph.actions[step] as usize)
    }

    /// Adds a call that knows where it is, and may run plans.
    #[cold]
    pub(super) fn push_in_context(
        &mut self,
        place: (usize, usize),
        future: StepFuture<'x>,
        span: Span,
        limit: Option<(Sleep, StepError)>,
        context: CallContext,
        bytes: usize,
    ) {
        self.share_permits();
        if context.count() {
            self.has_permit = false;
        }
        if self.clock.stands() && self.has_run_plan(place) {
            // The plan gave the permit back before a crash, and other calls started with the permit.
            context.stop_counting();
        }
        self.calls += 1;
        self.keep_inside(place, &context);
        let more = CallState::of(span, limit, Some(context));
        self.running.push(place, Some(future), more, bytes);
    }

    /// Keeps what runs inside a call for the report.
    pub(super) fn keep_inside(&mut self, (step, job): (usize, usize), context: &CallContext) {
        if let Some(inside) = context.inside() {
            let log = self.steps.flow(step).and_then(|flow| flow.jobs[job].log);
            self.held.add(INSIDE);
            self.inside
                .push((step, log.unwrap_or_default(), Arc::clone(inside)));
        }
    }

    /// Whether there is a permit for one more call. If not, the run is woken when there is one.
    #[cold]
    pub(super) fn may_call(&mut self, cx: &Context<'_>, step: usize) -> bool {
        let mut applicant = std::mem::take(&mut self.applicant);
        let next = || {
            let flow = self.steps.flow(step);
            self.place(step, flow.map_or(0, BodyState::next_job))
        };
        if self.has_permit {
            if self.run.permits.is_next(next) {
                return true;
            }
            self.run.permits.give_back(1);
        }
        self.has_permit = self.run.permits.take(&mut applicant, next, cx.waker());
        self.applicant = applicant;
        self.has_permit
    }

    /// A call has ended. Its permit is for the next one here, unless another is before that in the plan.
    #[cold]
    pub(super) fn call_ended(&mut self, state: Option<&CallState<'_>>) {
        let context = state.and_then(|state| state.context.as_ref());
        if !context.is_none_or(CallContext::has_counted) {
            return;
        }
        self.run.permits.leave(&mut self.applicant);
        if std::mem::replace(&mut self.has_permit, true) {
            self.run.permits.give_back(1);
        }
    }

    /// No further call is to start for now.
    pub(super) fn give_back(&mut self) {
        if !self.is_shared {
            return;
        }
        self.run.permits.leave(&mut self.applicant);
        if std::mem::take(&mut self.has_permit) {
            self.run.permits.give_back(1);
        }
    }
}
