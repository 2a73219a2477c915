//! Attempts of calls that the driver lets start: a gate, a limit of a rate, a record of an earlier run.

use super::core::{Core, Todo};
use super::desk::Desk;
use super::event::{Command, StepPlace};
use super::ids::{CallId, RunId};
use super::loss::Loss;
use super::rows::{CallKind, CallRow};
use super::state::Doing;

impl Desk {
    /// Asks the driver whether an attempt may start.
    pub(super) fn ask_to_admit(&mut self, run: RunId, attempt: u32, place: StepPlace) {
        let Some(call) = self.open(run, Some(attempt), CallKind::Call) else {
            return;
        };
        self.out.push_back(Command::Admit(call, place));
        let it = &mut self.runs.rows[run];
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
    fn take_asked(&mut self, call: CallId) -> Option<(RunId, u32, Option<Box<Loss>>)> {
        let CallRow { run, attempt, .. } = self.calls.get(call)?;
        let it = &mut self.runs.rows[run];
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
}

impl Core {
    /// The driver lets an attempt start.
    pub(super) fn admitted(&mut self, call: CallId) {
        if let Some((run, attempt, failed)) = self.desk.take_asked(call) {
            self.desk.has_decided = true;
            self.desk.runs.rows[run].tries[attempt as usize].is_admitted = true;
            self.wait_in_line(run, attempt, failed);
            self.todo.push_back(Todo::Run(run));
        }
    }

    /// The driver cannot decide about an attempt now.
    pub(super) fn deferred(&mut self, call: CallId) {
        if let Some((run, attempt, failed)) = self.desk.take_asked(call) {
            self.desk.runs.rows[run].is.deferred = true;
            self.desk.deferred.push(run);
            self.desk.has_decided |= self.desk.asked == 0;
            self.wait_in_line(run, attempt, failed);
        }
    }

    /// The driver can decide about further calls.
    pub(super) fn ask_again(&mut self) {
        self.desk.has_decided = false;
        for run in std::mem::take(&mut self.desk.deferred) {
            self.desk.runs.rows[run].is.deferred = false;
            self.todo.push_back(Todo::Run(run));
        }
    }
}
