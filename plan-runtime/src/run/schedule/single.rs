//! Steps that are a single call: by far the most.

use super::super::catch::panicked;
use super::super::start::{Request, Started, StepResult, start_again};
use super::super::trace::Span;
use super::body_state::{BodyState, Failed, Job, OutputSlot, Work};
use super::step_state::StepState;
use super::task::CallState;
use super::{Schedule, Start};
use crate::error::StepError;
use crate::plan::{Action, Body};
use crate::resolve::Meter;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl<'x> Schedule<'x> {
    /// Notes that a step has started.
    #[inline(always)]
    pub(super) fn note_start(&mut self, step: usize) {
        if let Some((started, _)) = self.times.get_mut(step) {
            *started = Some(self.clock.now());
        }
        self.steps.states[step] = StepState::Running;
        self.open += 1;
        if self.watched {
            self.watch_start(step);
        }
    }

    #[inline(always)]
    pub(super) fn start(&mut self, step: usize, start: Start<'_, 'x>) {
        self.note_start(step);
        let body = &self.plan.steps[step].body;
        // A single call is by far the most frequent, and needs no more than this.
        let single = match body {
            Body::Action(action)
                if self.graph.simple[step] && !(self.is_followed || self.has_to_wait(action)) =>
            {
                Some(action)
            }
            _ => None,
        };
        let Some(action) = single else {
            return self.start_flow(step, start);
        };
        if self.watched {
            let span = self.watch_attempt(step, 0);
            self.start_single(step, action, Some(span), start);
        } else {
            self.start_single(step, action, None, start);
        }
    }

    /// Starts what is more than a single call.
    #[inline(never)]
    pub(super) fn start_flow(&mut self, step: usize, start: Start<'_, 'x>) {
        self.steps.more(step).flow = Some(Box::default());
        if let Err(error) = self.take_amounts(step) {
            if self.interrupts.happened().is_none() {
                self.fail(step, OutputSlot::WHOLE, None, error, 0);
            }
            return self.settle(step);
        }
        let body = &self.plan.steps[step].body;
        let number = self.graph.actions[step] as usize;
        self.seeing(step, |it| {
            it.enter(step, body, number, OutputSlot::WHOLE, None, start);
        });
        self.settle(step);
    }

    /// Starts a single call, in a span if somebody watches.
    #[inline(always)]
    fn start_single(
        &mut self,
        step: usize,
        action: &'x Action,
        span: Option<Span>,
        start: Start<'_, 'x>,
    ) {
        if let Some(error) = self.charge(action, true) {
            return self.ended_at_once(step, Err(error), span.as_ref());
        }
        let number = self.graph.actions[step] as usize;
        let called = self.graph.called(self.plan);
        let tool = called.implementation(number, self.hands_over);
        let tool = tool.filter(|_| span.is_none());
        let again = self.running.ended_call(tool);
        let given = self.give(step, true);
        let stop = || self.interrupts.look(&self.clock);
        let meter = Meter::new(self.room(), Some(&stop));
        let scope = self.scope().metered(&meter);
        let context =
            |is_plan: bool| self.context((step, 0), Vec::new(), 1, None, is_plan.then_some(number));
        let secrecy = self.secrecy.as_deref();
        let request = Request::new(&scope, action)
            .hiding(secrecy.map(|secrecy| secrecy.arguments(number)))
            .within(&context)
            .handing(given.as_ref(), self.keep(step));
        // It stays where it was returned until it is known what it is.
        let started = catch_unwind(AssertUnwindSafe(|| match &span {
            Some(span) => span.in_scope(|| start(number, request)),
            None => start_again(again, request, |request| start(number, request)),
        }));
        let bytes = meter.spent();
        self.take_back(given);
        self.count_json(step);
        match started {
            Ok(Started::Running(future)) => {
                self.calls += 1;
                self.has_permit = false;
                self.held.add(bytes);
                match span.and_then(|span| CallState::of(span, None, None)) {
                    None => self.running.push_call(step, future, tool, bytes),
                    more => self.running.push((step, 0), Some(future), more, bytes),
                }
            }
            Ok(Started::InContext(future, context)) => {
                self.held.add(bytes);
                let span = span.unwrap_or_else(Span::none);
                self.push_in_context((step, 0), future, span, None, context, bytes);
            }
            // It stays a step that runs, which the run drops when it ends.
            Ok(Started::Ended(Err(_))) if self.interrupts.happened().is_some() => {}
            Ok(Started::Ended(result)) => self.ended_at_once(step, result, span.as_ref()),
            Ok(Started::Plan(plan, context)) => {
                // It may be undone, as only what is more than a single call.
                let mut flow = Box::<BodyState<'_>>::default();
                let work = Work::Action(action);
                let job = flow.push_job(Job::new(work, number, OutputSlot::WHOLE, None));
                flow.jobs[job].attempts = 1;
                self.steps.more(step).flow = Some(flow);
                let span = span.unwrap_or_else(Span::none);
                self.start_plan((step, job), *plan, context, span, None, bytes);
            }
            Ok(Started::Asks(_)) => {
                self.ended_at_once(step, Err(StepError::Unknown), span.as_ref());
            }
            Err(payload) => self.ended_at_once(step, Err(panicked(payload)), span.as_ref()),
        }
    }

    /// The error of a step, without the values that it found if one of them may be secret.
    #[cold]
    pub(super) fn hushed(&self, step: usize, error: StepError) -> StepError {
        match &self.secrecy {
            Some(secrecy)
                if secrecy.touches(step)
                    || matches!(error, StepError::Output(_))
                        && !secrecy.output_of(step).is_empty() =>
            {
                error.without_values()
            }
            _ => error,
        }
    }

    /// Ends a step whose single call ended without a future. Unlike [`Self::single_ended`], it is not inlined, since few calls end so.
    #[inline(never)]
    fn ended_at_once(&mut self, step: usize, mut result: StepResult, span: Option<&Span>) {
        self.single_ended(step, &mut result, span);
    }

    /// A step that is a single call has ended. This and what follows is done for each step of each run, right where calls are polled:
    /// as functions of their own, they would save registers more than they work. The output is moved once, to its place: a move has to wait
    /// where bytes were written just before in other pieces.
    #[inline(always)]
    pub(super) fn single_ended(
        &mut self,
        step: usize,
        result: &mut StepResult,
        span: Option<&Span>,
    ) {
        match result {
            Ok(output) => {
                if self.watched {
                    self.watch_tried(step, 0, None, span);
                }
                if self.has_room(output.bytes()) {
                    self.end(step, output);
                } else {
                    drop(output.take());
                    self.end_failed(step, Failed::once(self.no_room()));
                }
            }
            Err(error) => {
                let error = std::mem::replace(error, StepError::Unknown);
                let error = error.of_call(|| self.block_place(step, Vec::new(), 1));
                let error = self.hushed(step, error);
                if self.watched {
                    self.watch_tried(step, 0, Some(&error), span);
                }
                self.end_failed(step, Failed::once(error));
            }
        }
    }
}
