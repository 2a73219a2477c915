//! The events of observers and `tracing`.

#[cfg(feature = "tracing")]
use super::super::catch::catch;
use super::super::observe::StepRef;
use super::super::report::Totals;
use super::super::trace::{self, Span};
use super::super::{Status, StepError};
use super::body_state::OutputSlot;
use super::{Schedule, StepState};
use std::time::Duration;

/// Tells the subscriber of `tracing`, which may panic, and may write errors of tools, which may, too.
#[cfg(feature = "tracing")]
fn quietly(tell: impl FnOnce()) {
    let _ = catch(tell);
}

impl Schedule<'_> {
    /// Subscribers of `tracing` may come and go while the run waits.
    pub(super) fn look_who_watches(&mut self) {
        self.watched = self.run.is_observed() || trace::is_on();
    }

    /// The path of the plan, if it runs as a step of another.
    pub(super) fn outer(&self) -> Option<&dyn std::fmt::Display> {
        self.outer.as_ref().map(|outer| outer as _)
    }

    fn whole(&self, step: usize) -> StepRef<'_> {
        StepRef::whole(self.plan, step, self.outer())
    }

    fn part<'e>(&'e self, step: usize, job: usize, element: &'e [usize]) -> StepRef<'e> {
        let flow = self.steps.flow(step);
        let tool = match flow.and_then(|flow| flow.jobs.get(job)) {
            Some(job) => job.work.tool().map(|tool| &**tool),
            None => self.plan.steps[step].tool(),
        };
        StepRef {
            plan: self.plan,
            index: step,
            element,
            tool,
            outer: self.outer(),
        }
    }

    fn elements(&self, step: usize, job: usize) -> (Vec<usize>, u32, Duration) {
        let flow = self.steps.flow(step);
        match flow.and_then(|flow| Some((flow, flow.jobs.get(job)?))) {
            Some((flow, job)) => (flow.elements(job.place), job.attempts, job.tried),
            None => (Vec::new(), 1, self.times(step).0.unwrap_or_default()),
        }
    }

    pub(super) fn watch_plan_start(&mut self) {
        #[cfg(feature = "tracing")]
        {
            self.span = catch(|| Span::run(self.plan)).unwrap_or_else(|_| Span::none());
        }
        self.run.tell(|observer| {
            if self.outer.is_none() {
                observer.plan_started(self.plan);
            }
            for step in 0..self.plan.steps.len() {
                if self.waits[step] == 0 {
                    observer.step_ready(&self.whole(step));
                }
            }
        });
    }

    /// A step is no longer waiting for others.
    #[cold]
    pub(super) fn watch_ready(&self, step: usize) {
        self.run
            .tell(|observer| observer.step_ready(&self.whole(step)));
    }

    pub(super) fn watch_plan_end(&self) {
        if !self.watched {
            return;
        }
        let totals = Totals::of((0..self.plan.steps.len()).map(|step| self.status(step)));
        let took = self.clock.now();
        #[cfg(feature = "tracing")]
        quietly(|| self.span.finished(&totals, took));
        if self.outer.is_none() {
            self.run
                .tell(|observer| observer.plan_finished(self.plan, &totals, took));
        }
    }

    pub(super) fn watch_start(&self, step: usize) {
        self.run
            .tell(|observer| observer.step_started(&self.whole(step)));
    }

    pub(super) fn watch_list(&self, step: usize, place: OutputSlot, length: usize) {
        if let (true, Some(flow)) = (self.run.is_observed(), self.steps.flow(step)) {
            let element = flow.elements(place);
            let part = self.part(step, usize::MAX, &element);
            self.run
                .tell(|observer| observer.list_started(&part, length));
        }
    }

    pub(super) fn watch_element(&self, step: usize, element: &[usize]) {
        let part = self.part(step, usize::MAX, element);
        self.run.tell(|observer| observer.element_finished(&part));
    }

    /// An attempt starts; its span is given back.
    pub(super) fn watch_attempt(&self, step: usize, job: usize) -> Span {
        if !self.watched {
            return Span::none();
        }
        let (element, attempt, _) = self.elements(step, job);
        let part = self.part(step, job, &element);
        self.run
            .tell(|observer| observer.attempt_started(&part, attempt));
        #[cfg(feature = "tracing")]
        return catch(|| Span::attempt(&self.span, &part, attempt))
            .unwrap_or_else(|_| Span::none());
        #[cfg(not(feature = "tracing"))]
        Span::none()
    }

    /// An attempt has ended.
    pub(super) fn watch_tried(
        &self,
        step: usize,
        job: usize,
        error: Option<&StepError>,
        span: Option<&Span>,
    ) {
        if !self.watched {
            return;
        }
        #[cfg(feature = "tracing")]
        quietly(|| span.unwrap_or(&Span::none()).outcome(error));
        let _ = span;
        if !self.run.is_observed() {
            return;
        }
        let (element, attempt, tried) = self.elements(step, job);
        let part = self.part(step, job, &element);
        let took = self.clock.now().saturating_sub(tried);
        self.run.tell(|observer| match error {
            None => observer.attempt_completed(&part, attempt, took),
            Some(error) => observer.attempt_failed(&part, attempt, error, took),
        });
    }

    pub(super) fn watch_retry(&self, step: usize, job: usize, wait: Duration) {
        if !self.watched {
            return;
        }
        let (element, attempt, _) = self.elements(step, job);
        let part = self.part(step, job, &element);
        #[cfg(feature = "tracing")]
        quietly(|| self.span.retrying(&part, attempt + 1, wait));
        self.run
            .tell(|observer| observer.retrying(&part, attempt + 1, wait));
    }

    /// A step has ended, or will never start.
    pub(super) fn watch_end(&self, step: usize) {
        if !self.watched {
            return;
        }
        let whole = self.whole(step);
        let status = self.status(step);
        #[cfg(feature = "tracing")]
        quietly(|| self.span.step(&whole, status.name()));
        self.run
            .tell(|observer| match (&status, self.steps.states[step]) {
                (Status::Skipped, _) => observer.step_skipped(&whole),
                (_, StepState::Blocked(by)) => {
                    observer.step_blocked(&whole, &self.plan.steps[by as usize]);
                }
                _ => {
                    let (started, ended) = self.times(step);
                    let took = ended.unwrap_or_default();
                    let took = took.saturating_sub(started.unwrap_or_default());
                    observer.step_finished(&whole, &status, took);
                }
            });
    }
}
