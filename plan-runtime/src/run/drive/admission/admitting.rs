//! Calls that wait before they start: for the answers of gates, and for their turns among the calls of all runs with the same throttles.

use super::super::super::StepError;
use super::super::super::admission::Turn;
use super::super::super::context::{Decision, PendingCall, Question};
use super::super::super::report::WaitReason;
use super::super::super::start::Started;
use super::super::super::timer::TimerFuture;
use super::super::recording::{Known, Records};
use super::super::scene::{Host, Scene, Starting};
use super::super::task::{Site, Wait};
use super::super::tasks::Tasks;
use super::{Admission, Waiting, Way};
use crate::machine::{CallId, Event};
use crate::resolve::bytes_of;
use serde_json::Value;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

/// Decides which calls of a run may start, and keeps the other calls waiting.
pub(in super::super) struct Admitting<'d, 'x> {
    pub(in super::super) admission: &'d mut Admission<'x>,
    pub(in super::super) scene: &'d mut Scene<'x>,
    pub(in super::super) tasks: &'d mut Tasks<'x>,
    pub(in super::super) records: Option<&'d mut Records>,
}

impl<'x> Admitting<'_, 'x> {
    /// Decides whether a call may start. An error means that the call has failed.
    pub(in super::super) fn admit(
        &mut self,
        it: &Starting<'x>,
        host: &mut dyn Host<'x>,
    ) -> Result<(), StepError> {
        let call = it.of.call;
        let mut must_ask = self.admission.must_ask(it);
        let known = match &self.records {
            None => Known::Nothing,
            Some(records) => records.known(self.scene, it, must_ask),
        };
        if self.is_open(it, &known) {
            // A call whose arguments cannot be made fails before its question.
            self.question(it, host)?;
            self.wait_before(*it, WaitReason::Answer, Box::pin(pending()));
            return Ok(());
        }
        let is_answered = match &known {
            Known::Over => return Ok(()),
            Known::Begun => {
                match self.turn_to_start(&it.of) {
                    Some(turn) => self.wait_turn(*it, turn),
                    None => self.scene.machine.handle(Event::Admitted(call)),
                }
                return Ok(());
            }
            Known::Answered(_) => true,
            Known::Nothing => {
                must_ask &= self.admission.has_gates();
                let answer = Decision::AllowStep;
                must_ask && self.admission.is_answered(it, &answer)
            }
        };
        if must_ask && self.admission.is_full() {
            self.defer(it);
        } else if is_answered {
            self.wait_for_answer(it, known);
        } else if !must_ask || !self.ask(it, host)? {
            self.allowed(it);
        }
        Ok(())
    }

    /// Asks the gates about a call. Returns `false` for a call of a plan, because the gates decide on the calls inside
    /// the plan.
    fn ask(&mut self, it: &Starting<'x>, host: &mut dyn Host<'x>) -> Result<bool, StepError> {
        let (Some(mut call), bytes) = self.question(it, host)? else {
            return Ok(false);
        };
        if let Some(secrets) = self.scene.values.scope(it.of.scope).secrets(it.number) {
            call.hide(secrets);
        }
        call.undoes = self.undoes(&it.of);
        call.undone_by = self.undone_by(&it.of);
        // The question has a copy of the arguments, and maybe a copy without secrets.
        let bytes = bytes.saturating_mul(2 + usize::from(call.shown.is_some()));
        if !self.scene.values.held.has_room(bytes) {
            return Err(self.scene.values.held.full());
        }
        if let Some(durable) = &self.scene.run.durable {
            durable.note_gates();
        }
        let (question, answer) = Question::ask(self.admission.gates.clone(), call, bytes);
        // The bound of the queue counts only the calls of one plan.
        let turn = Turn::new(std::slice::from_ref(&self.scene.run.questions), "");
        let timer = Arc::clone(&self.scene.run.timer);
        let answer = Box::pin(async move {
            let _turn = turn.come(timer).await;
            answer.await;
        });
        self.admission.call_mut(&it.of).question = Some(Box::new(question));
        self.scene.values.hold(it.of.slot(), bytes);
        self.wait_before(*it, WaitReason::Answer, self.hold_back(answer));
        Ok(true)
    }

    /// Returns the question about a call, and the bytes of its arguments. There is no question about a plan.
    fn question(
        &mut self,
        it: &Starting<'x>,
        host: &mut dyn Host<'x>,
    ) -> Result<(Option<PendingCall>, usize), StepError> {
        self.count_asked(&it.of)?;
        let way = Way {
            asks: true,
            shown: self.admission.question(&it.of).map(|it| &it.arguments),
            ..Way::default()
        };
        let (started, bytes) = it.request(self.scene, way, host);
        match started? {
            Started::Asks(call) => Ok((call.map(|call| *call), bytes)),
            Started::Ended(Err(error)) => Err(error),
            _ => Err(StepError::Unknown),
        }
    }

    /// Queues a call whose gates have answered. The answer takes effect at the turn of its record.
    fn wait_for_answer(&mut self, it: &Starting<'x>, known: Known) {
        let answer = match (known, &self.records) {
            (Known::Answered(recorded), Some(records)) => {
                let turn = records.turn_of(&recorded);
                Some((recorded.answer, recorded.since, turn))
            }
            _ => None,
        };
        self.wait_for_turn(*it, answer);
    }

    /// Waits for the turn of an answer. An answer about all elements has only one record. So one call waits for the turn of the record, and the calls
    /// of the other elements wait for this call.
    fn wait_for_turn(
        &mut self,
        it: Starting<'x>,
        answer: Option<(Decision, Duration, TimerFuture)>,
    ) {
        let answer = answer.filter(|(answer, ..)| !self.admission.is_answered(&it, answer));
        let Some((answer, since, turn)) = answer else {
            return self.wait_before(it, WaitReason::Answer, Box::pin(pending()));
        };
        self.wait_before(it, WaitReason::Answer, turn);
        if let Some(waiting) = self.admission.waiting.get_mut(&it.of.call) {
            waiting.answer = Some(answer);
            waiting.since = since;
        }
    }

    /// Counts a call before the question, so that no gate gets more questions than the run may make calls.
    fn count_asked(&mut self, of: &Site) -> Result<(), StepError> {
        let call = self.admission.call_mut(of);
        if !std::mem::replace(&mut call.is_counted, true) {
            self.scene.values.held.charge_call()?;
        }
        Ok(())
    }

    /// Lets a call wait for the answers of gates, or for its turn.
    fn wait_before(&mut self, it: Starting<'x>, reason: WaitReason, wait: TimerFuture) {
        let waiting = Waiting {
            it,
            has_answers: reason == WaitReason::Turn,
            answer: None,
            since: Duration::ZERO,
        };
        self.admission.waiting.insert(it.of.call, waiting);
        self.scene.tell(|watch| watch.wait(&it.of, reason));
        self.push_wait(it.of, wait);
    }

    /// Lets a call wait for room in the full queue of waiting calls.
    fn defer(&mut self, it: &Starting<'x>) {
        self.scene
            .tell(|watch| watch.wait(&it.of, WaitReason::Turn));
        self.scene.machine.handle(Event::Deferred(it.of.call));
    }

    fn push_wait(&mut self, of: Site, wait: TimerFuture) {
        self.tasks.push_wait(of, Wait::Admission(wait));
    }

    /// Starts a call that has a permit and that the gates allow, unless the call has to wait for its turn.
    fn allowed(&mut self, it: &Starting<'x>) {
        let Some(wait) = self.take_turn(it) else {
            self.scene
                .tell(|watch| watch.waited(&it.of, Duration::ZERO));
            return self.scene.machine.handle(Event::Admitted(it.of.call));
        };
        if self.admission.is_full() && self.admission.needs_turn(&it.of, it.action) {
            return self.defer(it);
        }
        self.wait_turn(*it, wait);
    }

    /// Lets a call wait for its turn. The wait began at the given time or later.
    fn wait_turn(&mut self, it: Starting<'x>, (turn, since): (TimerFuture, Duration)) {
        self.wait_before(it, WaitReason::Turn, turn);
        if let Some(waiting) = self.admission.waiting.get_mut(&it.of.call) {
            waiting.since = since;
        }
    }

    /// Takes the turn of a call, if a throttle limits its tool. Returns the wait after which the call may try again, and the earliest start of this
    /// wait.
    fn take_turn(&mut self, it: &Starting<'_>) -> Option<(TimerFuture, Duration)> {
        let of = &it.of;
        if !self.admission.needs_turn(of, it.action) {
            return None;
        }
        let timer = &self.scene.run.timer;
        let turn = self.admission.call_mut(of).turn.take();
        let has_waited = turn.is_some();
        let mut turn = turn.unwrap_or_else(|| self.admission.new_turn(it.action));
        let durable = self.scene.run.durable.as_ref();
        let is_live = durable.is_none_or(|it| it.is_live());
        let wait: Option<TimerFuture> = if !is_live {
            Some(Box::pin(ready(())))
        } else if turn.take(timer.now()) {
            None
        } else {
            Some(turn.wait(timer))
        };
        self.admission.call_mut(of).turn = Some(turn);
        match wait {
            Some(wait) => Some((self.hold_back(wait), self.scene.run.retried_at())),
            None if has_waited => self.turn_to_start(of),
            None => None,
        }
    }

    /// Returns the wait for the turn of the record after which a call starts, unless the call has waited for that turn. A call has such a record if the
    /// throttles let the call wait. Without the record, the call would start earlier in a replay, and take the permit of another call.
    fn turn_to_start(&mut self, of: &Site) -> Option<(TimerFuture, Duration)> {
        let records = self.records.as_ref();
        let records = records.filter(|_| !self.admission.is_recorded(of))?;
        let turn = records.turn_to_start(self.scene, of)?;
        self.admission.call_mut(of).recorded = of.attempt();
        Some(turn)
    }

    /// Ends the wait of a call for gates or a turn.
    #[cold]
    pub(in super::super) fn has_waited(&mut self, call: CallId) -> Result<(), StepError> {
        let Some(waiting) = self.admission.waiting.remove(&call) else {
            return Ok(());
        };
        let Waiting {
            it,
            has_answers,
            answer: recorded,
            since,
        } = waiting;
        if has_answers {
            self.scene.tell(|watch| watch.waited(&it.of, since));
            self.scene.machine.handle(Event::Allowed(call));
            return Ok(());
        }
        let is_recorded = recorded.is_some();
        let asked = self.admission.call(&it.of);
        let question = asked.and_then(|call| call.question.as_ref());
        let answer = question.and_then(|question| question.take_answer());
        let none = || (Decision::Refuse("the gate gave no answer".into()), true);
        let (answer, waited) = answer.unwrap_or_else(none);
        let (answer, since) = match recorded {
            Some(recorded) => (recorded, since),
            None if waited => (answer, self.scene.run.retried_at()),
            // A gate that answers at once lets no call wait.
            None => (answer, Duration::MAX),
        };
        if self.records.is_some() && !is_recorded {
            self.record_answer(it, (answer, since));
            return Ok(());
        }
        match answer {
            Decision::Allow => self.allow(&it, since),
            Decision::AllowWith(arguments) => {
                self.change(&it, arguments)?;
                self.allow(&it, since);
            }
            Decision::AllowStep => {
                self.note_allowed(&it.of);
                let step = self.admission.steps.entry(it.of.slot()).or_default();
                step.allowed.push(it.number);
                self.stop_asking(it, since);
            }
            Decision::Refuse(reason) => {
                self.scene.tell(|watch| watch.waited(&it.of, since));
                self.admission
                    .forget_question(&mut self.scene.values, &it.of);
                return Err(StepError::Refused(reason.into()));
            }
        }
        Ok(())
    }

    fn allow(&mut self, it: &Starting<'x>, since: Duration) {
        self.scene.tell(|watch| watch.waited(&it.of, since));
        self.note_allowed(&it.of);
        self.admission.call_mut(&it.of).is_allowed = true;
        self.scene.machine.handle(Event::Allowed(it.of.call));
    }

    /// Replaces the arguments of a call with the arguments from the gates.
    fn change(&mut self, it: &Starting<'x>, arguments: Value) -> Result<(), StepError> {
        let values = &mut self.scene.values;
        self.admission.forget_question(values, &it.of);
        let bytes = bytes_of(&arguments);
        if !values.held.has_room(bytes) {
            return Err(values.held.full());
        }
        values.hold(it.of.slot(), bytes);
        let question = Question::changed(arguments, bytes);
        self.admission.call_mut(&it.of).question = Some(Box::new(question));
        Ok(())
    }

    /// Records the answer of the gates about a call, whose wait began at this time or later.
    fn record_answer(&mut self, it: Starting<'x>, (answer, since): (Decision, Duration)) {
        if answer == Decision::AllowStep {
            for Starting { of, .. } in self.admission.asked(&it) {
                self.drop_task(of.call);
                self.admission.forget_question(&mut self.scene.values, &of);
                self.push_wait(of, Box::pin(pending()));
            }
        }
        let is_answered = self.admission.is_answered(&it, &answer);
        let records = self.records.as_ref().filter(|_| !is_answered);
        let answer = records.map(|records| {
            let turn = records.write_answer(self.scene, &it, (&answer, since));
            (answer, since, turn)
        });
        self.wait_for_turn(it, answer);
    }

    /// Ends the questions about all calls of a step's action, after an answer that allows these calls.
    fn stop_asking(&mut self, first: Starting<'x>, since: Duration) {
        let mut asked = self.admission.asked(&first);
        for it in &asked {
            self.admission.drop_wait(&mut self.scene.values, it.of.call);
            self.drop_task(it.of.call);
        }
        asked.push(first);
        asked.sort_unstable_by_key(|it| it.of.element());
        for it in asked {
            self.scene.tell(|watch| watch.waited(&it.of, since));
            self.scene.machine.handle(Event::Allowed(it.of.call));
        }
    }

    /// Returns `true` if the run is a view of a run with gates. A view has no gates, so only a recorded answer reveals the gates of the run. The
    /// first time, this method withdraws the calls that the view has started without answers.
    fn views_gates(&mut self) -> bool {
        let durable = self.scene.run.durable.as_ref();
        if !durable.is_some_and(|it| it.is_viewed() && it.is_gated()) {
            return false;
        }
        if !std::mem::replace(&mut self.admission.is_gated, true) {
            let records = self.records.as_ref();
            let due = records.map_or_else(Vec::new, |it| it.calls.due());
            due.into_iter().for_each(|call| self.withdraw(call));
        }
        true
    }

    /// Returns `true` for a call of a view whose question to the gates is open.
    fn is_open(&mut self, it: &Starting<'x>, known: &Known) -> bool {
        if !self.views_gates() || !matches!(known, Known::Nothing) {
            return false;
        }
        // Gates decide on the calls of a plan, and not on the plan itself.
        let may_open = self.scene.machine.view().may_open(it.of.call);
        may_open.is_none() && self.is_unanswered(it)
    }

    /// Takes back a call of a view whose question to the gates is open.
    fn withdraw(&mut self, call: CallId) {
        let Some(of) = self.tasks.of(call, &self.scene.values) else {
            return;
        };
        let action = self.scene.values.action(&of);
        let Some((action, number)) = action.filter(|it| it.0.tool.is_some()) else {
            return;
        };
        let it = Starting { of, action, number };
        if self.is_unanswered(&it) {
            self.scene.tell(|watch| watch.watch.withdraw(of.spot()));
            if let Some(records) = &mut self.records {
                records.forget(call);
            }
            self.drop_task(call);
            self.scene.machine.handle(Event::Withdrawn(call));
            self.wait_before(it, WaitReason::Answer, Box::pin(pending()));
        }
    }

    /// Returns `true` if no record has the answer about a call.
    fn is_unanswered(&self, it: &Starting<'_>) -> bool {
        let answer = |records: &Records| records.answer(self.scene, it);
        matches!(self.records.as_deref().map_or(Ok(None), answer), Ok(None))
    }

    /// Holds a wait back as long as the run replays.
    fn hold_back(&self, wait: TimerFuture) -> TimerFuture {
        match &self.records {
            Some(records) => records.hold_back(wait),
            None => wait,
        }
    }

    fn drop_task(&mut self, call: CallId) {
        let (bytes, _) = self.tasks.drop_call(call);
        self.scene.values.held.remove(bytes);
    }
}
