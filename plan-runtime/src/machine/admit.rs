//! Attempts of calls that the driver lets start: a gate, a limit of a rate, a record of an earlier run.

use super::desk::Desk;
use super::event::Command;
use super::ids::{CallId, RunId};
use super::loss::Loss;
use super::rows::{CallKind, CallRow};
use super::state::Doing;

impl Desk {
    /// Asks the driver whether an attempt may start.
    pub(super) fn ask_to_admit(&mut self, run: RunId, attempt: u32) {
        let Some(call) = self.open(run, Some(attempt), CallKind::Call) else {
            return;
        };
        let it = &mut self.runs[run];
        self.out
            .push_back(Command::Admit(call, it.step_place(attempt)));
        let tried = &mut it.tries[attempt as usize];
        let failed = match std::mem::replace(&mut tried.doing, Doing::Nothing) {
            Doing::Ready(failed) => failed,
            _ => None,
        };
        tried.doing = Doing::Asked(call, failed);
        it.active += 1;
        self.asked += 1;
    }

    /// Takes back a question that the driver has answered. Returns the attempt, with the failure of the attempt before.
    pub(super) fn take_asked(&mut self, call: CallId) -> Option<(RunId, u32, Option<Box<Loss>>)> {
        let CallRow { run, attempt, .. } = self.calls.get(call)?;
        let it = &mut self.runs[run];
        let tried = it.tries.get_mut(attempt as usize)?;
        let Doing::Asked(_, failed) = &mut tried.doing else {
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
        let tries = &mut self.runs[run].tries;
        if let Some(tried) = tries.get_mut(attempt as usize)
            && matches!(tried.doing, Doing::Call(_))
        {
            tried.doing = Doing::Asked(call, None);
            self.calling -= 1;
            self.asked += 1;
        }
    }
}
