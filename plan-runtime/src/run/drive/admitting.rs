//! Calls that wait before they start: for the answers of gates, and for their turns among the calls of all runs with the same throttles.

use super::super::StepError;
use super::super::context::{Decision, GatedCall, Question};
use super::super::start::Started;
use super::super::throttle::Turn;
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::admission::{Admission, Waiting};
use super::driver::Driver;
use super::records::Known;
use super::scene::Host;
use super::starting::{Starting, Way};
use super::task::{Of, Wait};
use crate::machine::{CallId, Event, Part, Pause, StepPlace};
use crate::plan::{Action, Role};
use std::future::{pending, ready};
use std::time::Duration;

impl<'x> Driver<'x> {
    /// Decides whether a call may start.
    #[cold]
    #[inline(never)]
    pub(super) fn admit(&mut self, call: CallId, place: StepPlace, host: &mut dyn Host<'x>) {
        let Some(it) = self.starting(call, place) else {
            return self.failed(call, StepError::Unknown);
        };
        let Some(admission) = &self.admission else {
            return self.scene.machine.handle(Event::Admitted(call));
        };
        let mut must_ask = admission.must_ask(&it.of, it.number);
        let known = self.known(&it, must_ask);
        if self.is_open(&it, &known) {
            // A call whose arguments cannot be made fails before its question.
            return match self.question(&it, host) {
                Ok(_) => self.wait_for_ever((it.of, it.action), it.number),
                Err(error) => self.call_failed(it.of, error),
            };
        }
        let Some(admission) = &self.admission else {
            return;
        };
        let is_answered = match &known {
            Known::Over => return,
            Known::Begun => return self.scene.machine.handle(Event::Admitted(call)),
            Known::Answered(_) => true,
            Known::Nothing => {
                must_ask &= admission.has_gates();
                must_ask && admission.is_answered(&it.of, it.number, &Decision::AllowStep)
            }
        };
        if must_ask && admission.is_full() {
            return self.scene.machine.handle(Event::Deferred(call));
        }
        if is_answered {
            return self.wait_for_answer(&it, known);
        }
        if must_ask {
            match self.ask(&it, host) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => return self.call_failed(it.of, error),
            }
        }
        self.allowed(it.of, it.action, it.number);
    }

    /// Asks the gates about a call. Returns `false` if the call is a plan, since the gates are asked about the calls of the plan.
    fn ask(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) -> Result<bool, StepError> {
        let (Some(mut call), bytes) = self.question(it, host)? else {
            return Ok(false);
        };
        if let Some(secrets) = self.scene.values.scope(it.of.scope).secrets(it.number) {
            call.hide(secrets);
        }
        let Some(admission) = &mut self.admission else {
            return Ok(false);
        };
        // The question has a copy of the arguments, and maybe a copy without secrets.
        let bytes = bytes.saturating_mul(2 + usize::from(call.shown.is_some()));
        if !self.scene.values.has_room(bytes) {
            return Err(self.scene.values.full());
        }
        let (question, answer) = Question::ask(admission.gates.clone(), call, bytes);
        admission.call_mut(&it.of).question = Some(Box::new(question));
        self.scene.values.hold(it.of.slot(), bytes);
        self.wait_before(it.of, it.action, it.number);
        self.push_wait_before(&it.of, Wait::Timer(self.hold_back(answer), Pause::Backoff));
        Ok(true)
    }

    /// Returns the question about a call, and the bytes of its arguments. There is no question about a plan.
    fn question(
        &mut self,
        it: &Starting<'x>,
        host: &mut dyn Host<'x>,
    ) -> Result<(Option<GatedCall>, usize), StepError> {
        self.count_asked(&it.of)?;
        let seen = self.before_call(it);
        let (started, bytes) = self.request((it, &Span::none()), Way::ASKS, host);
        self.scene.catch_again(seen);
        match started? {
            Started::Asks(call) => Ok((call.map(|call| *call), bytes)),
            Started::Ended(Err(error)) => Err(error),
            _ => Err(StepError::Unknown),
        }
    }

    /// The gates have answered, and the answer counts when its record has its turn.
    fn wait_for_answer(&mut self, it: &Starting<'x>, known: Known) {
        self.wait_before(it.of, it.action, it.number);
        let answer = match known {
            Known::Answered(recorded) => {
                let turn = self.turn_of(&recorded);
                Some((recorded.answer, turn))
            }
            _ => None,
        };
        self.wait_for_turn(it.of, it.number, answer);
    }

    /// Waits for the turn of an answer. An answer about all elements has one record, so the other calls wait for the call that waits for the record.
    fn wait_for_turn(&mut self, of: Of, number: usize, answer: Option<(Decision, Sleep)>) {
        let Some(admission) = &mut self.admission else {
            return;
        };
        let is_other = |(answer, _): &(Decision, Sleep)| admission.is_answered(&of, number, answer);
        let wait: Sleep = match answer.filter(|answer| !is_other(answer)) {
            Some((answer, turn)) => {
                if let Some(waiting) = admission.waiting.get_mut(&of.call) {
                    waiting.answer = Some(answer);
                }
                turn
            }
            None => Box::pin(pending()),
        };
        self.push_wait_before(&of, Wait::Timer(wait, Pause::Backoff));
    }

    /// Counts a call before the question, so that nobody is asked about more calls than the run may make.
    fn count_asked(&mut self, of: &Of) -> Result<(), StepError> {
        let Some(admission) = &mut self.admission else {
            return Ok(());
        };
        let call = admission.call_mut(of);
        if !std::mem::replace(&mut call.is_counted, true) {
            self.scene.values.charge_call()?;
        }
        Ok(())
    }

    /// Shows a step that runs after the work the values that the step sees. The values have to be put back.
    pub(super) fn before_call(
        &mut self,
        it: &Starting<'_>,
    ) -> Option<(usize, Option<crate::resolve::StoredValue>)> {
        let scope = it.of.scope;
        if self.scene.values.scope(scope).plan.steps[it.step].role == Role::Always {
            self.scene.show_results(scope);
        }
        self.scene.uncatch(scope, it.step)
    }

    fn wait_before(&mut self, of: Of, action: &'x Action, number: usize) {
        let waiting = Waiting {
            of,
            action,
            number,
            has_answers: false,
            answer: None,
        };
        if let Some(admission) = &mut self.admission {
            admission.waiting.insert(of.call, waiting);
        }
    }

    /// A call waits until a failure ends its question.
    pub(super) fn wait_for_ever(&mut self, (of, action): (Of, &'x Action), number: usize) {
        self.wait_before(of, action, number);
        self.push_wait_before(&of, Wait::Timer(Box::pin(pending()), Pause::Backoff));
    }

    fn push_wait_before(&mut self, of: &Of, wait: Wait) {
        if let Some(part) = of.part {
            self.tasks.push_wait((of.call, of.scope), part, wait);
        }
    }

    /// The gates let a call start, and there is a permit. The call starts now, unless the call has to wait for its turn.
    fn allowed(&mut self, of: Of, action: &'x Action, number: usize) {
        // Without the wait, the run is over.
        let Ok(wait) = self.take_turn(&of, action) else {
            return;
        };
        let Some(wait) = wait else {
            return self.scene.machine.handle(Event::Admitted(of.call));
        };
        if self.admission.as_ref().is_some_and(|it| it.is_full()) {
            return self.scene.machine.handle(Event::Deferred(of.call));
        }
        self.wait_before(of, action, number);
        if let Some(admission) = &mut self.admission
            && let Some(waiting) = admission.waiting.get_mut(&of.call)
        {
            waiting.has_answers = true;
        }
        self.push_wait_before(&of, Wait::Timer(wait, Pause::Backoff));
    }

    /// Takes the turn of a call, if a throttle limits its tool. Returns the wait after which the call may try again. `Err` means that the run is over.
    fn take_turn(&mut self, of: &Of, action: &Action) -> Result<Option<Sleep>, ()> {
        let needs_turn = |it: &Admission<'_>| it.needs_turn(of, action);
        if !self.admission.as_deref().is_some_and(needs_turn) || self.has_begun_before(of)? {
            return Ok(None);
        }
        let Some(admission) = &mut self.admission else {
            return Ok(None);
        };
        let timer = &self.scene.run.options.timer;
        let tool = action.tool.as_ref().map_or("", |tool| &tool.name);
        let turn = admission.call_mut(of).turn.take();
        let mut turn = turn.unwrap_or_else(|| Turn::new(&admission.throttles, tool));
        let records = self.scene.records.as_ref();
        let is_live = records.is_none_or(|it| it.durable.is_live());
        let wait: Option<Sleep> = if !is_live {
            Some(Box::pin(ready(())))
        } else if turn.take(timer.now()) {
            None
        } else {
            Some(turn.wait(timer))
        };
        admission.call_mut(of).turn = Some(turn);
        Ok(wait.map(|wait| self.hold_back(wait)))
    }

    /// Returns `true` if a call waits for gates or a turn. The call does not wait any more.
    #[cold]
    pub(super) fn has_waited(&mut self, call: CallId) -> bool {
        let Some(admission) = &mut self.admission else {
            return false;
        };
        let Some(Waiting {
            of,
            action,
            number,
            has_answers,
            answer,
        }) = admission.waiting.remove(&call)
        else {
            return false;
        };
        if has_answers {
            self.scene.machine.handle(Event::Allowed(call));
            return true;
        }
        let recorded = answer;
        let question = admission.call(&of).and_then(|call| call.question.as_ref());
        let answer = question.and_then(|question| question.take_answer());
        let answer = answer.unwrap_or_else(|| Decision::Refuse("the gate gave no answer".into()));
        if self.is_recorded && recorded.is_none() {
            self.record_answer((of, action), number, answer);
            return true;
        }
        let Some(admission) = &mut self.admission else {
            return false;
        };
        match recorded.unwrap_or(answer) {
            Decision::Allow => {
                admission.call_mut(&of).is_allowed = true;
                self.scene.machine.handle(Event::Allowed(call));
            }
            Decision::AllowStep => {
                let step = admission.steps.entry(of.slot()).or_default();
                step.allowed.push(number);
                self.stop_asking((of, action), number);
            }
            Decision::Refuse(reason) => {
                self.forget_question(&of);
                self.call_failed(of, StepError::Refused(reason.into()));
            }
        }
        true
    }

    /// Records the answer of the gates about a call.
    fn record_answer(&mut self, (of, action): (Of, &'x Action), number: usize, answer: Decision) {
        if answer == Decision::AllowStep {
            for (of, _) in self.asked(of.slot(), number) {
                let bytes = self.tasks.drop_call(of.call);
                self.scene.values.remove(bytes);
                self.forget_question(&of);
                self.push_wait_before(&of, Wait::Timer(Box::pin(pending()), Pause::Backoff));
            }
        }
        let admission = self.admission.as_ref();
        let is_answered = admission.is_some_and(|it| it.is_answered(&of, number, &answer));
        let answer = (!is_answered).then(|| {
            let turn = self.write_answer(&of, number, &answer);
            (answer, turn)
        });
        self.wait_before(of, action, number);
        self.wait_for_turn(of, number, answer);
    }

    /// Returns the calls of an action of a step that wait for gates.
    fn asked(&self, slot: usize, number: usize) -> Vec<(Of, &'x Action)> {
        let waiting = self.admission.iter().flat_map(|it| it.waiting.values());
        let asked = waiting.filter(|it| {
            let waits = !it.has_answers && it.answer.is_none();
            waits && it.of.slot() == slot && it.number == number
        });
        asked.map(|it| (it.of, it.action)).collect()
    }

    /// Asks no more about the calls of an action of a step, which are all allowed.
    fn stop_asking(&mut self, first: (Of, &'x Action), number: usize) {
        let mut asked = self.asked(first.0.slot(), number);
        for (of, _) in &asked {
            self.drop_wait_before(of.call);
            let bytes = self.tasks.drop_call(of.call);
            self.scene.values.remove(bytes);
        }
        asked.push(first);
        asked.sort_unstable_by_key(|(of, _)| of.element());
        for (of, _) in asked {
            self.scene.machine.handle(Event::Allowed(of.call));
        }
    }

    /// A call waits no more.
    pub(super) fn drop_wait_before(&mut self, call: CallId) {
        let admission = self.admission.as_mut();
        if let Some(waiting) = admission.and_then(|it| it.waiting.remove(&call)) {
            self.forget_question(&waiting.of);
        }
    }

    /// A call needs the arguments no more that the gates were shown.
    pub(super) fn forget_question(&mut self, of: &Of) {
        let Some(admission) = &mut self.admission else {
            return;
        };
        let step = admission.steps.get_mut(&of.slot());
        let call = step.and_then(|step| step.calls.get_mut(&of.element()));
        if let Some(question) = call.and_then(|call| call.question.take()) {
            self.scene.values.let_go(of.slot(), question.bytes);
        }
    }

    /// The error of a call has it that nobody is to call the tool for this time.
    #[cold]
    pub(super) fn close_throttles(&mut self, of: &Of, part: &Part, time: Duration) {
        if self.admission.is_none() {
            return;
        }
        let inside = self.scene.values.inside(of.scope, of.slot());
        let (body, _) = inside.bodies[part.body as usize];
        if let (crate::plan::Body::Action(action), Some(admission)) = (body, &self.admission)
            && let Some(tool) = &action.tool
        {
            let now = self.scene.run.options.timer.now();
            let throttles = admission.throttles.iter();
            throttles.for_each(|throttle| throttle.close(&tool.name, now, time));
        }
    }
}
