//! Attempts of calls that start only once the driver lets them.

use super::attempt::Activity;
use super::dispatcher::Dispatcher;
use super::event::Command;
use super::failures::Failures;
use super::ids::{AttemptId, CallId, RunId};
use super::rows::{CallKind, CallRow};

impl Dispatcher {
    /// Asks the driver whether an attempt may start.
    pub(super) fn ask_to_admit(&mut self, run: RunId, attempt: AttemptId) {
        let Some(call) = self.open(run, Some(attempt), CallKind::Call) else {
            return;
        };
        let it = &mut self.runs[run];
        self.out
            .push_back(Command::Admit(call, it.step_place(attempt)));
        let tried = &mut it.attempts[attempt];
        let failed = match std::mem::replace(&mut tried.activity, Activity::Nothing) {
            Activity::Ready(failed) => failed,
            _ => None,
        };
        tried.activity = Activity::Asked(call, failed);
        it.active += 1;
        self.asked += 1;
    }

    /// Takes back a question that the driver has answered. Returns the attempt, with the failure of the attempt before.
    pub(super) fn take_asked(
        &mut self,
        call: CallId,
    ) -> Option<(RunId, AttemptId, Option<Box<Failures>>)> {
        let CallRow { run, attempt, .. } = self.calls.get(call)?;
        let it = &mut self.runs[run];
        let tried = it.attempts.get_mut(attempt)?;
        let Activity::Asked(_, failed) = &mut tried.activity else {
            return None;
        };
        let failed = failed.take();
        it.active -= 1;
        self.asked -= 1;
        self.calls.close(call);
        Some((run, attempt, failed))
    }

    /// Takes the runs whose next calls the driver can decide about again.
    pub(super) fn take_deferred(&mut self) -> Vec<RunId> {
        let deferred = std::mem::take(&mut self.deferred);
        for run in &deferred {
            self.runs[*run].is.deferred = false;
        }
        deferred
    }

    /// A call that started was not made, so that its attempt waits again.
    pub(super) fn withdrawn(&mut self, call: CallId) {
        let Some(CallRow { run, attempt, .. }) = self.calls.get(call) else {
            return;
        };
        let attempts = &mut self.runs[run].attempts;
        if let Some(tried) = attempts.get_mut(attempt)
            && matches!(tried.activity, Activity::Call(_))
        {
            tried.activity = Activity::Asked(call, None);
            self.calling -= 1;
            self.asked += 1;
        }
    }
}
