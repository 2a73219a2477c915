//! Runs with a journal: their records.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the keys of records, notes for `retry_failed`, answers of gates, values from outside |
//! | `calls.rs` | calls |
//! | `times.rs` | waits before attempts and rounds, time limits, early ends of a run |
//! | `untaken.rs` | recorded calls that a resumed run has not reached |

mod calls;
mod times;
mod untaken;
pub(super) use calls::{CallRecords, follow, mark_repeated};

use super::super::answered::{self, RecordedAnswer};
use super::super::context::Decision;
use super::super::durable::{
    self, ADMITTED, BRANCH, Durable, FAILED, INTERRUPT, MADE_UP, UNDONE, of_element,
};
use super::super::recorded::{held_back, unusable, write};
use super::super::signals::{Inbox, Sent, Waiting};
use super::super::timer::{TimerFuture, before};
use super::super::{StepError, recorded};
use super::scene::{Scene, Starting};
use super::task::{Receiving, Site};
use crate::error::Elements;
use crate::machine::{CallId, Failures, Part, ScopeId};
use crate::plan::{Await, Block, Body, Role};
use crate::resolve::bytes_of;
use serde_json::Value;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use times::{Interrupts, TimeRecords};

/// The records of a run with a journal.
pub(super) struct Records {
    durable: Arc<Durable>,
    pub(super) calls: CallRecords,
    pub(super) times: TimeRecords,
    interrupts: Interrupts,
}

impl Records {
    pub(super) fn new(durable: &Arc<Durable>) -> Self {
        Self {
            durable: Arc::clone(durable),
            calls: CallRecords::new(Arc::clone(durable)),
            times: TimeRecords::new(Arc::clone(durable)),
            interrupts: Interrupts::new(Arc::clone(durable)),
        }
    }

    /// Takes the recorded end of the run.
    pub(super) fn begin(&mut self, scene: &Scene<'_>) {
        self.interrupts.replay(scene, INTERRUPT);
    }

    /// Polls the journal, and ends the run if the journal has failed or if a recorded end takes effect.
    #[cold]
    pub(super) fn look(&mut self, scene: &mut Scene<'_>, cx: &mut Context<'_>) {
        let is_ending = self.calls.is_ending();
        self.interrupts.look(scene, is_ending, cx);
    }

    /// Forgets that a call is to be recorded. Returns `false` if the call is still held back.
    pub(super) fn forget(&mut self, call: CallId) -> bool {
        self.times.forget(call);
        self.calls.forget(call)
    }

    /// Begins the time of a call that is a plan, which has no record itself.
    pub(super) fn begin_plan(&mut self, scene: &mut Scene<'_>, of: &Site) {
        self.forget(of.call);
        scene.values.begin_time(of, || scene.clock.now());
    }
}

/// The keys of the records of a run.
#[derive(Clone, Copy)]
pub(super) struct Keys<'s, 'x>(pub(super) &'s Scene<'x>);

impl Keys<'_, '_> {
    /// Returns the beginning of the keys of a scope's records.
    pub(super) fn prefix(self, scope: ScopeId) -> String {
        let outer = self.0.outer(scope);
        outer.map_or_else(String::new, |outer| {
            outer.key_inside(self.0.beside_of(scope))
        })
    }

    /// Returns the key of a step, or of an element of the step.
    pub(super) fn of_step(self, of: &Site, element: &[usize]) -> String {
        let id = &self.0.values.step_of(of).id;
        of_element(&self.prefix(of.scope), id, element)
    }

    /// Returns the key of the element of a call.
    pub(super) fn of_element(self, of: &Site) -> String {
        self.of_step(of, &self.0.element(of))
    }

    /// Returns the key of an attempt.
    pub(super) fn of_attempt(self, of: &Site) -> String {
        format!("{}@{}", self.of_element(of), of.attempt())
    }

    /// Returns the key of the answer of the gates about a call.
    fn of_answer(self, of: &Site) -> String {
        self.of_element(of) + "?gate"
    }

    /// Returns the key of an answer about all elements of a step that make the same call.
    fn of_answers(self, it: &Starting<'_>) -> String {
        let first = self.0.values.scope(it.of.scope).first_action(it.of.step);
        format!("{}?gate{}", self.of_step(&it.of, &[]), it.number - first)
    }
}

/// Notes how parts of a run with a journal have ended, for `Server::retry_failed`.
pub(super) struct EndNotes<'s, 'x> {
    scene: &'s Scene<'x>,
    durable: &'s Durable,
}

impl<'s, 'x> EndNotes<'s, 'x> {
    /// Returns `None` for a run without a journal.
    pub(super) fn of(scene: &'s Scene<'x>) -> Option<Self> {
        let durable = scene.run.durable.as_deref()?;
        Some(Self { scene, durable })
    }

    /// Notes that an undo step has undone a step with this lasting path.
    pub(super) fn undone(&self, scope: ScopeId, undo: usize, path: &str) {
        let id = &self.scene.values.scope(scope).plan.steps[undo].id;
        let key = of_element(&Keys(self.scene).prefix(scope), id, &[]) + UNDONE;
        self.end(key, &Value::from(path));
    }

    /// Writes to the journal that the only call of an undo step has succeeded. The write comes before the turn of the
    /// call's record, because a concurrent failure may end the run. Returns `false` for other calls.
    pub(super) fn undo_call(&self, of: &Site) -> bool {
        let steps = &self.scene.values.scope(of.scope).plan.steps;
        let Role::Undo(undone) = steps[of.step].role else {
            return false;
        };
        let is_one_call = is_one_call(&steps[of.step].body);
        if is_one_call {
            let path = of_element(&self.scene.lasting_prefix(of.scope), &steps[undone].id, &[]);
            self.undone(of.scope, of.step, &path);
        }
        is_one_call
    }

    /// Records which block of a step runs, if the names of the block's steps do not identify the block. `Server::retry_failed` needs the block.
    pub(super) fn branch(&self, of: &Site, block: &Block) {
        if let Some(number) = recorded::branch(&self.scene.values.step_of(of).body, block) {
            let key = Keys(self.scene).of_attempt(of) + BRANCH;
            self.end(key, &Value::from(number));
        }
    }

    /// Records that a failure of a step, or of an element of the step, was recovered. The failed attempt is part of the key: after `Server::retry_failed`,
    /// another attempt may follow.
    pub(super) fn made_up(&self, of: &Site, failures: &Failures) {
        let depth = self.scene.values.scope(of.scope).depth;
        let failure = failures.steps.first();
        let Some(failed) = failure.and_then(|failure| failure.trail.0.get(depth)) else {
            return;
        };
        let element: Vec<usize> = failed.element.iter().map(|at| *at as usize).collect();
        let place = if of.element() == Part::WHOLE {
            &[][..]
        } else {
            &element
        };
        let note = format!("{MADE_UP}{}@{}", Elements(&element), failed.attempt);
        self.end(Keys(self.scene).of_step(of, place) + &note, &Value::Null);
    }

    /// Notes that a plan or block has failed, unless the plan is the run.
    pub(super) fn failed(&self, scope: ScopeId) {
        // Without a grace period, no step of the run ends after an interrupt.
        if self.scene.stops.stopped.is_some() && self.scene.stops.grace.is_zero() {
            return;
        }
        let has_last = self.scene.values.scope(scope).graph.last.is_some();
        if self.scene.outer(scope).is_some()
            && (has_last || self.scene.machine.view().has_kept(scope))
        {
            self.end(Keys(self.scene).prefix(scope) + FAILED, &Value::Null);
        }
    }

    /// Records the end of a part of the run, for `Server::retry_failed`.
    fn end(&self, key: String, body: &Value) {
        self.durable.note_end(key, body.to_string());
    }
}

/// Returns `true` if a step with this body makes at most one call.
fn is_one_call(body: &Body) -> bool {
    match body {
        Body::Action(_) => true,
        Body::If(branches) => branches.iter().all(|branch| is_one_call(&branch.body)),
        _ => false,
    }
}

/// The recorded facts about a call before the call starts.
pub(super) enum Known {
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
    pub(super) fn known(&self, scene: &Scene<'_>, it: &Starting<'_>, must_ask: bool) -> Known {
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

    /// Returns the wait for the turn of the record after which a throttled call starts, and the earliest start of the call's wait. The note about a
    /// call that has not waited has no turn.
    pub(super) fn turn_to_start(
        &self,
        scene: &Scene<'_>,
        of: &Site,
    ) -> Option<(TimerFuture, Duration)> {
        let key = Keys(scene).of_attempt(of) + ADMITTED;
        let Some(found) = self.durable.find(&key).ok()? else {
            let (since, now) = (scene.run.retried_at(), self.durable.time());
            let body = durable::encode((since, now), Ok(&Value::Null));
            let is_live = self.durable.is_live();
            return is_live.then(|| (write(&self.durable, key, body, now), since));
        };
        let recorded = durable::decode(&found.body).ok()?;
        // Older versions recorded the end as the start.
        let since = Some(recorded.started).filter(|started| *started < recorded.ended);
        let turn = self.durable.replay(found.number, recorded.ended);
        Some((turn, since.unwrap_or_default()))
    }

    /// Notes that a call has its turn among the calls of all runs with the same throttles. Without this note, a failure that comes later would
    /// end the call's wait for the turn in a replay.
    pub(super) fn note_turn(&self, scene: &Scene<'_>, of: &Site) {
        let key = Keys(scene).of_attempt(of) + ADMITTED;
        if let Ok(None) = self.durable.find(&key) {
            self.durable.note(key, "null".to_owned());
        }
    }

    /// Returns the recorded answer about a call. `Err` means that the run has ended.
    pub(super) fn answer(
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
    pub(super) fn turn_of(&self, answer: &RecordedAnswer) -> TimerFuture {
        self.durable.replay(answer.number, answer.time)
    }

    /// Holds a wait back as long as the run replays.
    pub(super) fn hold_back(&self, wait: TimerFuture) -> TimerFuture {
        Box::pin(held_back(Arc::clone(&self.durable), wait))
    }

    /// Writes the answer of the gates about a call, whose wait began at this time or later. The future is ready when the record has its turn.
    pub(super) fn write_answer(
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
        None => Ok(durable.history(|it| it.has_begun(key)).then_some(u64::MAX)),
    }
}

impl Records {
    /// Returns the wait for a value that has a record, or is to have one.
    #[cold]
    pub(super) fn receiving(
        &self,
        scene: &Scene<'_>,
        of: &Site,
        (inbox, path, wait): (&Arc<Inbox>, &str, &Await),
    ) -> Receiving {
        let durable = &self.durable;
        let key = Keys(scene).of_attempt(of);
        match recorded::found(durable, &key) {
            // The run has ended.
            Err(()) => Box::pin(pending()),
            Ok(Some((number, recorded))) => {
                let (inbox, path) = (Arc::clone(inbox), path.to_owned());
                let replay = durable.replay(number, recorded.ended);
                Box::pin(async move {
                    replay.await;
                    let value = recorded.result?;
                    let bytes = bytes_of(&value);
                    let sent = Arc::new(Sent { value, bytes });
                    // A further attempt gets the same value.
                    inbox.keep(path, &sent);
                    Ok(sent)
                })
            }
            Ok(None) => {
                let waiting = Waiting::new(Arc::clone(inbox), path.to_owned(), wait.clone());
                receive_live(durable, scene, of, (key, waiting))
            }
        }
    }
}

fn receive_live(
    durable: &Arc<Durable>,
    scene: &Scene<'_>,
    of: &Site,
    (key, waiting): (String, Waiting),
) -> Receiving {
    let durable = Arc::clone(durable);
    let started = scene.clock.in_all(scene.clock.now());
    let limit = scene.values.limit(of, scene.clock.now());
    let has_limit = limit.is_some();
    let limit = limit.map(|(limit, error)| (scene.clock.sleep(limit), error));
    Box::pin(async move {
        durable.live().await;
        let received = before(poll_fn(|cx| waiting.poll(cx, has_limit)), limit).await;
        let received = received.and_then(|sent| sent.ok_or(StepError::NoSignals));
        let now = durable.time();
        let result = received.as_ref().map(|sent| &sent.value);
        let body = durable::encode((started, now), result);
        recorded::write(&durable, key, body, now).await;
        received
    })
}
