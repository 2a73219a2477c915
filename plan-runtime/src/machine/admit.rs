//! Attempts of calls that the driver lets start: a gate, a limit of a rate, a record of an earlier run.

use super::core::{Core, Todo};
use super::desk::Desk;
use super::engine::Machine;
use super::event::{Command, StepPlace};
use super::ids::{CallId, RunId, ScopeId};
use super::loss::Loss;
use super::rows::{CallKind, CallRow};
use super::state::{Doing, Owner};

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

    /// A call that started was not made, so that its attempt waits again.
    pub(super) fn withdrawn(&mut self, call: CallId) {
        let Some(CallRow { run, attempt, .. }) = self.calls.get(call) else {
            return;
        };
        let tries = &mut self.runs.rows[run].tries;
        if let Some(tried) = tries.get_mut(attempt as usize)
            && matches!(tried.doing, Doing::Call(_))
        {
            tried.doing = Doing::Asked(call, None);
            self.calling -= 1;
            self.asked += 1;
        }
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

impl Machine {
    /// Returns where in the plan the next attempt starts, if an attempt may start. The list has two numbers for each scope, the outermost scope first: the index of the step in the
    /// scope, and the index of the job in the step. A driver that shares its permits with others compares these lists.
    pub fn first(&mut self) -> Option<Vec<usize>> {
        let core = &mut self.core;
        if core.desk.calling >= self.bound {
            return None;
        }
        let (mut scope, mut step, mut job) = match core.first_in_line() {
            Some((scope, place, _)) => (scope, place.step, place.job),
            None => {
                let slot = core.ready.peek()?;
                (ScopeId::ROOT, core.scopes[ScopeId::ROOT].step(slot), 0)
            }
        };
        let mut places = Vec::new();
        loop {
            let it = &core.scopes[scope];
            let first = core.tables.rows[it.row].first;
            places.extend([job as usize, (step.0 - first) as usize]);
            let Some(Owner { run, attempt }) = it.owner else {
                break;
            };
            let around = &core.desk.runs.rows[run];
            (scope, step) = (around.scope, around.step);
            job = around.tries[attempt as usize].job;
        }
        places.reverse();
        Some(places)
    }
}
