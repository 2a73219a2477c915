//! Waits before attempts and rounds, and time limits.

use super::super::super::StepError;
use super::super::super::durable::LATE;
use super::super::super::recorded;
use super::super::super::timer::Sleep;
use super::super::driver::Driver;
use super::super::task::{Of, Wait};
use crate::machine::{Answer, CallId, Event, Part, Pause, Question, QuestionId, ScopeId};
use crate::plan::Body;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

impl Driver<'_> {
    /// Keeps a timer of the machine. The driver starts the timer when the attempt begins, or when the round has ended.
    pub(in super::super) fn keep_timer(
        &mut self,
        (timer, pause): (CallId, Pause),
        (scope, part): (ScopeId, Part),
    ) {
        let (slot, now) = (part.slot.index(), self.scene.clock.now());
        let Some(records) = &mut self.scene.records else {
            return;
        };
        match pause {
            Pause::Every => {
                records.rounds.insert(slot, (timer, now));
            }
            Pause::Timeout => {
                let mut opened = records.opened.iter();
                if part.inside.is_some() || opened.any(|(_, it)| *it == part) {
                    records.timeouts.insert((slot, part.element), timer);
                }
            }
            Pause::Deadline | Pause::Backoff => {
                let limit = self
                    .scene
                    .values
                    .policy(scope, slot)
                    .deadline
                    .unwrap_or_default();
                let inside = self.scene.values.inside(scope, slot);
                let until = now.saturating_add(limit);
                let at = inside.deadlines.entry(part.element);
                at.or_insert((timer, until)).0 = timer;
            }
        }
    }

    /// Starts the time limits of attempts that have opened scopes. What is done in these once their time is over depends on that, so the end of the time has a record.
    #[cold]
    pub(in super::super) fn limit_opened(&mut self) {
        let Some(records) = &mut self.scene.records else {
            return;
        };
        for (scope, part) in std::mem::take(&mut records.opened) {
            self.limit_part(scope, part);
        }
    }

    fn limit_part(&mut self, scope: ScopeId, part: Part) {
        let slot = part.slot.index();
        let timed = self.timed(scope, &part);
        let now = self.scene.clock.now();
        let limit = self.scene.values.limit(scope, &part, timed, now);
        let deadline = self
            .scene
            .values
            .inside(scope, slot)
            .deadlines
            .get(&timed)
            .copied();
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let timeout = records.timeouts.remove(&(slot, part.element));
        let durable = Arc::clone(&records.durable);
        let (timer, limit) = match (limit, timeout, deadline) {
            (Some((limit, StepError::Timeout(_))), Some(timer), _)
            | (Some((limit, _)), _, Some((timer, _))) => (timer, limit),
            _ => return,
        };
        if timer == CallId::NONE {
            return;
        }
        self.tasks.drop_call(timer);
        let key = self.scene.key_of_part(scope, &part) + LATE;
        let Some(records) = &mut self.scene.records else {
            return;
        };
        let wait = match durable.find(&key) {
            Ok(None) => {
                records.limits.insert(timer, key);
                Wait::Timer(self.scene.clock.sleep(limit), Pause::Timeout)
            }
            found => {
                let turn = recorded::time(&durable, (key, found), || Box::pin(pending()));
                Wait::Timer(turn, Pause::Timeout)
            }
        };
        self.tasks.push_wait((timer, scope), part, wait);
    }

    /// Records that the time of an attempt is over. The time is over when the record has its turn. Returns `false` for other timers.
    pub(in super::super) fn records_limit(&mut self, of: &Of) -> bool {
        let Some(records) = &mut self.scene.records else {
            return false;
        };
        let (Some(part), Some(key)) = (of.part, records.limits.remove(&of.call)) else {
            return false;
        };
        let sleep = || Box::pin(ready(())) as Sleep;
        let wait = recorded::time(&records.durable, (key, Ok(None)), sleep);
        self.tasks
            .push_wait((of.call, of.scope), part, Wait::Timer(wait, Pause::Timeout));
        true
    }

    /// The element whose time limit is the limit of a part: all rounds of a loop share one.
    pub(in super::super) fn timed(&mut self, scope: ScopeId, part: &Part) -> u32 {
        let inside = self.scene.values.inside(scope, part.slot.index());
        match inside.bodies[part.body as usize].0 {
            Body::Loop(_) => Part::WHOLE,
            _ => part.element,
        }
    }

    /// Returns `true` for the time limit of an attempt whose work has ended.
    pub(in super::super) fn has_worked(&self, of: &Of) -> bool {
        let inside = of.part.and_then(|part| part.inside);
        inside.is_some_and(|scope| !self.scene.machine.view().works(scope))
    }

    /// An attempt has ended: its time limit is that of the next attempt.
    pub(in super::super) fn unlimit(&mut self, scope: ScopeId, part: &Part) {
        let timed = self.timed(scope, part);
        let inside = self.scene.values.inside(scope, part.slot.index());
        if let Some((timer, _)) = inside.deadlines.get(&timed).copied() {
            self.tasks.drop_call(timer);
        }
    }

    /// The wait before an attempt.
    pub(in super::super) fn wait_before_attempt(
        &mut self,
        (timer, pause): (CallId, Pause),
        (scope, part): (ScopeId, Part),
        wait: Duration,
    ) {
        let clock = &self.scene.clock;
        let sleep = match &self.scene.records {
            None => clock.sleep(wait),
            Some(records) => {
                let key = self.scene.key_of_part(scope, &part);
                recorded::wait_before(&records.durable, &key, wait, || clock.sleep(wait))
            }
        };
        let wait = Wait::Timer(sleep, pause);
        self.tasks.push_wait((timer, scope), part, wait);
    }

    /// Another round follows the round of a part. Returns the timer and the part of the next round, if the next round has to wait.
    pub(in super::super) fn before_round(
        &mut self,
        scope: ScopeId,
        part: Part,
    ) -> Option<(CallId, Duration)> {
        self.unlimit(scope, &part);
        let slot = part.slot.index();
        let (timer, started) = self.scene.records.as_mut()?.rounds.remove(&slot)?;
        let every = self
            .scene
            .values
            .policy(scope, slot)
            .every
            .unwrap_or_default();
        let now = self.scene.clock.now();
        let mut wait = started.saturating_add(every).saturating_sub(now);
        if let Some((_, until)) = self
            .scene
            .values
            .inside(scope, slot)
            .deadlines
            .get(&Part::WHOLE)
        {
            wait = wait.min(until.saturating_sub(now));
        }
        if wait.is_zero() {
            self.scene.machine.handle(Event::Fired(timer));
            return None;
        }
        Some((timer, wait))
    }

    /// A question has its answer.
    #[cold]
    pub(in super::super) fn answered(
        &mut self,
        id: QuestionId,
        (question, part): (Question, Option<Part>),
        answer: Answer,
    ) {
        let mut wait = None;
        match (question, answer, part) {
            (Question::Inputs(_), Answer::Made, Some(part)) => {
                let scope = self.scene.scope_of(&part);
                if let Some(records) = &mut self.scene.records {
                    records.opened.push((scope, part));
                }
            }
            (Question::Again(..), Answer::Number(0), Some(part)) => {
                let scope = self.scene.scope_of(&part);
                self.unlimit(scope, &part);
            }
            (Question::Again(..), Answer::Number(_), Some(part)) => {
                let scope = self.scene.scope_of(&part);
                wait = self.before_round(scope, part).map(|it| (it, scope));
            }
            _ => {}
        }
        self.scene.machine.handle(Event::Answered(id, answer));
        if let Some(((timer, wait), scope)) = wait
            && let Some(part) = self.scene.machine.view().part(timer)
        {
            self.wait_before_attempt((timer, Pause::Every), (scope, part), wait);
        }
    }

    /// A call is a plan, which has no record itself. Its time begins now.
    pub(in super::super) fn begin_plan(&mut self, of: &Of) {
        self.forget_due(of.call);
        let Some(part) = of.part.filter(|part| self.is_recorded && part.attempt == 1) else {
            return;
        };
        let slot = part.slot.index();
        if let Some(limit) = self.scene.values.policy(of.scope, slot).deadline {
            let until = self.scene.clock.now().saturating_add(limit);
            let inside = self.scene.values.inside(of.scope, slot);
            inside.deadlines.insert(part.element, (CallId::NONE, until));
        }
    }

    /// A call is a plan that the machine does not know.
    pub(in super::super) fn limit_plan(&mut self, of: &Of) {
        if let (Some(part), Some(records)) = (of.part, &mut self.scene.records) {
            records.opened.push((of.scope, part));
        }
    }

    /// Keeps the error of an attempt with a time limit.
    #[cold]
    pub(in super::super) fn keep_failure(&mut self, of: &Of, error: &StepError) {
        let Some(part) = of.part else { return };
        let slot = part.slot.index();
        let has_limit = self.scene.values.policy(of.scope, slot).deadline.is_some();
        if let Some(records) = self.scene.records.as_mut().filter(|_| has_limit) {
            records.failed.insert((slot, part.element), error.clone());
        }
    }
}
