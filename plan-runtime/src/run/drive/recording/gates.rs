//! Records of the answers of gates.

use super::super::super::answered::{self, RecordedAnswer};
use super::super::super::context::Decision;
use super::super::super::durable::Durable;
use super::super::super::recorded::{held_back, unusable};
use super::super::super::timer::Sleep;
use super::super::driver::Driver;
use super::super::records::Known;
use super::super::starting::Starting;
use super::super::task::Of;
use crate::machine::{CallId, Event};
use std::future::pending;
use std::sync::Arc;

impl<'x> Driver<'x> {
    /// Looks up a call that may have to wait for gates and throttles.
    pub(in super::super) fn known(&self, it: &Starting<'_>, must_ask: bool) -> Known {
        let Some(records) = &self.scene.records else {
            return Known::Nothing;
        };
        let key = self.scene.key_of_attempt(&it.of, it.step, it.attempt);
        let Ok(begun) = begun(&records.durable, &key) else {
            return Known::Over;
        };
        if must_ask {
            match self.answer(&it.of, it.number) {
                Err(()) => return Known::Over,
                // An answer that came after the call is about other elements.
                Ok(Some(answer)) if begun.is_none_or(|begun| answer.number < begun) => {
                    return Known::Answered(answer);
                }
                Ok(_) => {}
            }
        }
        begun.map_or(Known::Nothing, |_| Known::Begun)
    }

    /// Returns `true` if a call has begun before a crash. `Err` means that the run is over.
    pub(in super::super) fn has_begun_before(&self, of: &Of) -> Result<bool, ()> {
        let (Some(records), Some(part)) = (&self.scene.records, &of.part) else {
            return Ok(false);
        };
        let key = self.scene.key_of_part(of.scope, part);
        Ok(begun(&records.durable, &key)?.is_some())
    }

    /// Returns the recorded answer about a call. `Err` means that the run is over.
    fn answer(&self, of: &Of, number: usize) -> Result<Option<RecordedAnswer>, ()> {
        let Some(records) = &self.scene.records else {
            return Ok(None);
        };
        let durable = &records.durable;
        // The answer about the call itself was given before an answer about all elements.
        let step = self.scene.values.place_of(of.scope, of.slot());
        let mut key = self.key_of_answer(of, step);
        let mut found = durable.find(&key)?;
        if found.is_none() {
            key = self.key_of_answers(of, step, number);
            found = durable.find(&key)?;
        }
        if found.is_some() {
            durable.has_gates();
        }
        let answer = found.map(|found| answered::read(&found));
        answer.transpose().map_err(|error| {
            durable.fail(unusable(&key, error));
        })
    }

    /// Returns `true` if the run is a view of a run with gates. A view has no gates, and starts calls without records until it finds an answer.
    fn views_gates(&mut self) -> bool {
        let durable = self.scene.run.durable.as_ref();
        let is_gated = durable.is_some_and(|it| it.is_viewed() && it.is_gated());
        let admission = self.admission.as_mut().filter(|_| is_gated);
        let Some(admission) = admission else {
            return false;
        };
        if !std::mem::replace(&mut admission.is_gated, true) {
            let records = self.scene.records.as_ref();
            let due = records.map_or_else(Vec::new, |it| it.due.keys().copied().collect());
            due.into_iter().for_each(|call| self.withdraw(call));
        }
        true
    }

    /// Returns `true` for a call of a view whose question to the gates is open.
    pub(in super::super) fn is_open(&mut self, it: &Starting<'x>, known: &Known) -> bool {
        if !self.views_gates() || !matches!(known, Known::Nothing) {
            return false;
        }
        // Gates are asked about the calls of a plan, and not about the plan.
        let may_open = self.scene.machine.view().may_open(it.of.call);
        may_open.is_none() && matches!(self.answer(&it.of, it.number), Ok(None))
    }

    /// Takes back a call of a view whose question to the gates is open.
    fn withdraw(&mut self, call: CallId) {
        let Some(of) = self.tasks.of(call) else {
            return;
        };
        let Some((action, number)) = self
            .scene
            .values
            .action(&of)
            .filter(|it| it.0.tool.is_some())
        else {
            return;
        };
        if matches!(self.answer(&of, number), Ok(None)) {
            self.scene.watching().withdraw(&of);
            self.drop_task(call);
            self.scene.machine.handle(Event::Withdrawn(call));
            self.wait_for_ever((of, action), number);
        }
    }

    fn key_of_answer(&self, of: &Of, step: usize) -> String {
        let element = self.scene.element_of(of);
        self.scene.key(of.scope, step, &element) + "?gate"
    }

    /// The key of an answer about all elements of a step that make the same call.
    fn key_of_answers(&self, of: &Of, step: usize, number: usize) -> String {
        let it = self.scene.values.scope(of.scope);
        let first = it.actions + it.graph.actions[step] as usize;
        let key = self.scene.key(of.scope, step, &[]);
        format!("{key}?gate{}", number - first)
    }

    /// Returns the wait for the turn of a recorded answer.
    pub(in super::super) fn turn_of(&self, answer: &RecordedAnswer) -> Sleep {
        match &self.scene.records {
            Some(records) => records.durable.replay(answer.number, answer.time),
            None => Box::pin(pending()),
        }
    }

    /// Holds a wait back as long as the run replays.
    pub(in super::super) fn hold_back(&self, wait: Sleep) -> Sleep {
        match &self.scene.records {
            Some(records) => Box::pin(held_back(Arc::clone(&records.durable), wait)),
            None => wait,
        }
    }

    /// Writes the answer of the gates about a call. The future is ready when the record has its turn.
    pub(in super::super) fn write_answer(
        &self,
        of: &Of,
        number: usize,
        answer: &Decision,
    ) -> Sleep {
        let Some(records) = &self.scene.records else {
            return Box::pin(pending());
        };
        let step = self.scene.values.place_of(of.scope, of.slot());
        let key = match answer {
            Decision::AllowStep => self.key_of_answers(of, step, number),
            Decision::Allow | Decision::Refuse(_) => self.key_of_answer(of, step),
        };
        let now = records.durable.time();
        match answered::body(answer, now) {
            Ok(body) => records.durable.write(key, body, now),
            Err(error) => {
                records.durable.fail(unusable(&key, error));
                Box::pin(pending())
            }
        }
    }
}

/// Returns the number of the record of the call with this key, if the call has begun before a crash. A call that has not ended has the highest number. `Err` means that the run is over.
fn begun(durable: &Durable, key: &str) -> Result<Option<u64>, ()> {
    match durable.find(key)? {
        Some(found) => Ok(Some(found.number)),
        None if durable.is_live() => Ok(None),
        None => Ok(durable.has_begun(key)?.then_some(u64::MAX)),
    }
}
