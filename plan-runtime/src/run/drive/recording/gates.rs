//! Records of the answers of gates.

use super::super::super::answered::{self, RecordedAnswer};
use super::super::super::context::Decision;
use super::super::super::durable::{ADMITTED, Durable};
use super::super::super::recorded::{held_back, unusable, write};
use super::super::super::timer::TimerFuture;
use super::super::scene::Scene;
use super::super::starting::Starting;
use super::super::task::Site;
use super::{Keys, Records};
use std::sync::Arc;
use std::time::Duration;

/// The recorded facts about a call before the call starts.
pub(in super::super) enum Known {
    /// The run has ended.
    Over,
    /// The call has begun before a crash, so the call waits for nothing.
    Begun,
    /// The gates have answered before a crash.
    Answered(RecordedAnswer),
    Nothing,
}

impl Records {
    /// Looks up a call that may have to wait for gates and throttles.
    pub(in super::super) fn known(
        &self,
        scene: &Scene<'_>,
        it: &Starting<'_>,
        must_ask: bool,
    ) -> Known {
        let key = Keys(scene).of_attempt(&it.of);
        let Ok(begun) = begun(&self.durable, &key) else {
            return Known::Over;
        };
        if must_ask {
            match self.answer(scene, it) {
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

    /// Returns `true` if a call has begun before a crash. `Err` means that the run has ended.
    pub(in super::super) fn has_begun_before(
        &self,
        scene: &Scene<'_>,
        of: &Site,
    ) -> Result<bool, ()> {
        let key = Keys(scene).of_attempt(of);
        Ok(of.part.is_some() && begun(&self.durable, &key)?.is_some())
    }

    /// Notes that a call has its turn among the calls of all runs with the same throttles. Without this note, a failure that comes later would
    /// end the call's wait for the turn in a replay.
    pub(in super::super) fn note_turn(&self, scene: &Scene<'_>, of: &Site) {
        let key = Keys(scene).of_attempt(of) + ADMITTED;
        if let Ok(None) = self.durable.find(&key) {
            self.durable.note(key, "null".to_owned());
        }
    }

    /// Returns the recorded answer about a call. `Err` means that the run has ended.
    pub(in super::super) fn answer(
        &self,
        scene: &Scene<'_>,
        it: &Starting<'_>,
    ) -> Result<Option<RecordedAnswer>, ()> {
        let durable = &self.durable;
        // An answer about the call itself precedes an answer about all elements.
        let mut key = Keys(scene).of_answer(&it.of);
        let mut found = durable.find(&key)?;
        if found.is_none() {
            key = Keys(scene).of_answers(it);
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

    /// Returns the wait for the turn of a recorded answer.
    pub(in super::super) fn turn_of(&self, answer: &RecordedAnswer) -> TimerFuture {
        self.durable.replay(answer.number, answer.time)
    }

    /// Holds a wait back as long as the run replays.
    pub(in super::super) fn hold_back(&self, wait: TimerFuture) -> TimerFuture {
        Box::pin(held_back(Arc::clone(&self.durable), wait))
    }

    /// Writes the answer of the gates about a call, whose wait began at this time or later. The future is ready when the record has its turn.
    pub(in super::super) fn write_answer(
        &self,
        scene: &Scene<'_>,
        it: &Starting<'_>,
        (answer, since): (&Decision, Duration),
    ) -> TimerFuture {
        let key = match answer {
            Decision::AllowStep => Keys(scene).of_answers(it),
            Decision::Allow | Decision::AllowWith(_) | Decision::Refuse(_) => {
                Keys(scene).of_answer(&it.of)
            }
        };
        let now = self.durable.time();
        let body = answered::body(answer, (since, now));
        write(&self.durable, key, body, now)
    }
}

/// Returns the number of the record of the call with this key, if the call has begun before a crash. A call that has not ended has the highest number. `Err` means that the run has ended.
fn begun(durable: &Durable, key: &str) -> Result<Option<u64>, ()> {
    match durable.find(key)? {
        Some(found) => Ok(Some(found.number)),
        None if durable.is_live() => Ok(None),
        None => Ok(durable.has_begun(key).then_some(u64::MAX)),
    }
}
