//! Values that a driver makes: the inputs and the outputs of scopes, and the values that replace failures.

use super::core::Core;
use super::event::{CallError, Command, Question};
use super::ids::{RunId, ScopeId};
use super::lookup::Lookup;
use super::loss::{Fault, Loss, Reason};
use super::rows::OpenQuestion;
use super::state::{Owner, Phase, WHOLE};
use super::word::StepStatus;

impl Core {
    /// Asks the driver for a value of a scope.
    pub(super) fn ask_of(&mut self, scope: ScopeId, asked: OpenQuestion, question: Question) {
        let list = &mut self.scopes[scope].questions;
        let id = self.desk.questions.open(list, asked);
        self.desk.out.push_back(Command::Evaluate(id, question));
    }

    /// The driver has made the inputs of a scope, or has failed to.
    pub(super) fn inputs_made(&mut self, scope: ScopeId, result: Result<u32, CallError>) {
        let it = &mut self.scopes[scope];
        let (Err(error), Some(Owner { run, attempt })) = (result, it.owner) else {
            return self.begin_work(scope);
        };
        it.phase = Phase::Over;
        let tried = &self.desk.runs.rows[run].tries[attempt as usize];
        let (element, number) = (tried.element, tried.number);
        let fault = Lookup(self).fault(run, element, number, Reason::Error(error.error));
        self.attempt_ended(run, attempt, Err(Loss::of(error.mark(fault))));
    }

    /// The driver has made the value of a scope, or has failed to.
    pub(super) fn output_made(&mut self, scope: ScopeId, error: Option<CallError>) {
        let Some(error) = error else {
            return self.begin_always(scope);
        };
        let fault = Fault::new(Lookup(self).trail_of(scope), Reason::Error(error.error));
        let fault = error.mark(fault);
        let it = &mut self.scopes[scope];
        it.has_failed = true;
        it.left.add(Loss::of(fault));
        self.begin_undo(scope);
    }

    /// The driver has made the value that replaces a failure, or has failed to.
    pub(super) fn instead_made(
        &mut self,
        run: RunId,
        element: u32,
        result: Result<u32, CallError>,
    ) {
        let it = &mut self.desk.runs.rows[run];
        if element != WHOLE {
            let place = it.absorbed.iter().position(|it| it.0 == element);
            let absorbed = place.map(|place| it.absorbed.remove(place).1);
            let Err(error) = result else {
                it.outstanding -= 1;
                return;
            };
            let faults = absorbed.as_ref().and_then(|loss| loss.faults.first());
            let attempts = faults.map_or(1, |it| it.attempts);
            let mut fault = Lookup(self).fault(run, element, attempts, Reason::Error(error.error));
            fault.transient = error.transient;
            return self.fail_run(run, element, Loss::of(fault));
        }
        let Some(failed) = it.failed.take() else {
            return;
        };
        it.is.ended = true;
        let (scope, slot, left) = (it.scope, it.slot, std::mem::take(&mut it.left));
        let (element, mut old) = *failed;
        old.add(left);
        let Err(error) = result else {
            self.scopes[scope].left.add_absorbed(old);
            return self.finish_step(scope, slot, StepStatus::Recovered, None);
        };
        let attempts = old.faults.first().map_or(1, |it| it.attempts);
        let fault = Lookup(self).fault(run, element, attempts, Reason::Error(error.error));
        let mut loss = Loss::of(error.mark(fault));
        loss.add(old.of_undo_steps());
        self.finish_step(scope, slot, StepStatus::Failed, Some(loss));
    }
}
