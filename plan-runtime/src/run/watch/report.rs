//! The report of a run.

use super::super::StepError;
use super::super::catch::catch;
use super::super::report::{Report, Status, StepReport, critical};
use super::Watch;
use super::log::{ScopeLog, StepLog, Within};
use crate::plan::Step;
use crate::resolve::drop_quietly;
use std::time::Duration;

impl Watch<'_> {
    /// Returns the report of the run, and leaves nothing of the log. The call around the run has a copy.
    /// With `shows_running`, a step may run now. Otherwise, such a step counts as canceled.
    pub(in crate::run) fn report(&mut self, now: Duration, shows_running: bool) -> Option<Report> {
        self.shows_running = shows_running;
        if !self.keeps.report || std::mem::replace(&mut self.has_reported, true) {
            return None;
        }
        let report = self.report_of(0, now)?;
        if let Some(inside) = &self.around.inside {
            inside.keep(report.clone());
        }
        Some(report)
    }

    fn report_of(&mut self, at: usize, now: Duration) -> Option<Report> {
        let log = self.logs.take(at)?;
        let ScopeLog {
            plan,
            graph,
            started_at,
            began,
            took,
            steps,
            ..
        } = log;
        let steps = plan.steps.iter().zip(steps);
        let steps = steps.map(|(of, step)| self.step_report(of, step, began, now));
        let mut steps: Vec<_> = steps.collect();
        let mut took = took.unwrap_or_else(|| now.saturating_sub(began));
        if let (0, None, Some(retried)) = (at, &self.around.path, self.around.last_retry) {
            for step in &mut steps {
                step.fail_after(retried);
                took = took.max(step.ended().unwrap_or_default());
            }
        }
        let critical = critical(plan, graph.needs(), &steps, self.around.concurrency);
        let mut report = Report::new(graph.shared(plan), (started_at, took), steps, critical);
        report.is_retried = self.around.is_retried;
        #[cfg(feature = "html")]
        let report = report.recorded(self.keeps);
        Some(report)
    }

    fn step_report(
        &mut self,
        of: &Step,
        log: StepLog,
        began: Duration,
        now: Duration,
    ) -> StepReport {
        let status = log.status(self.shows_running);
        let since = |time: Option<Duration>| Some(time?.saturating_sub(began));
        let times = (since(log.started), since(log.ended));
        let (attempts, inside): (Vec<_>, Vec<_>) = log
            .attempts
            .into_iter()
            .map(|it| (it.attempt, it.within))
            .unzip();
        let is_refused = matches!(
            status,
            Status::Failed(StepError::Refused(_)) | Status::Recovered(StepError::Refused(_))
        );
        let mut report = StepReport::new(of, status, log.element, times, attempts);
        report.policy = log.policy;
        report.output = log.output;
        report.elements = log.elements;
        report.waits = log.waits.take();
        // A step that has only waited has made no call.
        let has_ended = report.waits.is_empty() && !matches!(report.status(), Status::Cancelled);
        if (log.is_called || has_ended) && !is_refused {
            report.add_only_attempt(of);
        }
        for (attempt, within) in inside.into_iter().enumerate() {
            let reports = match within {
                None => continue,
                Some(Within::Scope(at)) => self.report_of(at, now).into_iter().collect(),
                Some(Within::Call(inside)) => inside.take(),
            };
            report.add_inside(attempt, reports);
        }
        report.settle();
        report.wait_with_calls();
        report.begin_with_call(self.around.is_retried);
        report
    }
}

impl Drop for Watch<'_> {
    /// Records the report of a dropped run in the enclosing call as well.
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            // The timer may panic, and so may its destructor.
            let _ = catch(|| {
                let now = timer.now();
                let now = now.saturating_duration_since(self.start);
                self.report(now, false)
            });
            drop_quietly(timer);
        }
    }
}
