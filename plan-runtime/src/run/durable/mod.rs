//! Runs that write down what happens, and go on after a crash.
//!
//! A run that begins again does what it did before, in the same order, with what is recorded in the place of calls, and makes no other call meanwhile: it *replays*. Once nothing
//! is left to replay it is *live*: the calls that were held back are made.
//!
//! A run acts on its records one at a time, in the order in which they were written. That order holds for a live run as well: a record that was just written waits for
//! its turn like a record that is replayed. So a run decides after a crash as it did before.
//!
//! | | |
//! |---|---|
//! | `begin.rs` | claims a run, and compares it with what was begun |
//! | `changes.rs` | what differs between two versions of a plan |
//! | `failures.rs` | the failures of plans that tools ran inside their calls |
//! | `key.rs` | the names of records |
//! | `plans.rs` | the plans that its calls run |
//! | `record.rs` | what a record says |

mod begin;
mod changes;
mod failures;
mod key;
mod plans;
mod record;

#[cfg(feature = "sqlite")]
pub(crate) use begin::compare_names;
pub(super) use begin::{
    Begun, Inputs, Target, begin, info, may_have_secrets, secrets_in_journal, submit,
};
pub(crate) use key::Segment;
pub(super) use key::of_element;
#[cfg(feature = "sqlite")]
pub(crate) use plans::{ENTERED, PLANS};
#[cfg(feature = "dynamic")]
pub(crate) use record::read_inputs;
pub(super) use record::{Recorded, decode, encode, encode_call, read_values};

use super::hash::StableHasher;
use super::lasting::Undone;
use super::timer::{Sleep, Timer};
use crate::journal::{Claim, End, Found, Journal, JournalError, Message, Written};
use plans::Plans;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, pending, poll_fn, ready};
use std::hash::Hasher;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

/// The key of the record with the counts of undone steps before the run was retried, and with the count of the run.
///
/// After the key of an undo step, the record contains the lasting path of the step that was undone.
pub(crate) const UNDONE: &str = "!undone";

/// The end of the key of the inputs of a called plan, after the key of the attempt.
pub(crate) const INPUTS: &str = "!inputs";

/// The end of the key of the record with the branch whose block runs, after the key of the attempt. Only a step of which two branches have steps of one name has such a record.
pub(crate) const BRANCH: &str = "!branch";

/// The part of a key that is before the element and the attempt whose failure something made up for. Before it is the step, or the element, that has another value.
pub(crate) const MADE_UP: &str = "!made_up";

/// The end of the key of the record that a plan or a block inside the run has failed. A plan or block without undo steps and always steps has no such record.
pub(crate) const FAILED: &str = "!failed";

/// The key of the record of an interrupt, which ends a run before its time.
pub(crate) const INTERRUPT: &str = "!interrupt";

/// The key of the record of the end of the time for undo steps and always steps after an interrupt.
pub(crate) const GRACE: &str = "!grace";

/// The end of the key of the record that the wait before an attempt is over.
pub(crate) const BEGUN: &str = "!begun";

/// The end of the key of the record that the time of an attempt is over.
pub(crate) const LATE: &str = "!late";

/// What a durable run and the plans inside it have in common.
pub(super) struct Durable {
    journal: Arc<dyn Journal>,
    claim: Claim,
    timer: Arc<dyn Timer>,
    /// When this process took the run.
    start: Instant,
    /// When the run began, as its journal says.
    began: SystemTime,
    /// How long ago the run had begun when this process took it.
    before: Duration,
    /// `true` if no process has taken the run before, so that the journal has no record of the run.
    is_new: bool,
    /// Whether only its records are looked at.
    is_viewed: bool,
    /// The end of the run, if the run had ended before this process took it. Such a run is only replayed.
    ended: Option<End>,
    /// `true` if a record contains the answer of a gate.
    is_gated: AtomicBool,
    is_released: AtomicBool,
    plans: Mutex<Plans>,
    state: Mutex<State>,
}

/// The place of a record in the order of records. The records of earlier processes have their numbers, and come before the records of this process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Found(u64),
    Written(u64),
}

/// A record that the run is to act upon.
struct Due {
    time: Duration,
    is_durable: bool,
    /// The waker of the future that waits for the turn.
    waker: Option<Waker>,
    /// `true` if the future has not taken its turn: a tool keeps the plan of the future inside its call, and polls something else.
    is_passed: bool,
}

/// The number of polls of the outermost plan after which a record that has not taken its turn is passed over.
const PATIENCE: u64 = 4;

struct State {
    is_live: bool,
    /// `true` after the last record of a run that has ended.
    is_exhausted: bool,
    /// The time of the record that had its turn last.
    time: Duration,
    /// Set while the run acts on a record, so that the time is that of the record.
    has_turn: bool,
    /// How much later it is than the clock says, which was set back.
    ahead: Duration,
    /// The records that the run is to act upon.
    due: BTreeMap<Place, Due>,
    /// The record whose turn it is, and the number of the poll that gave the turn.
    turn: Option<(Place, u64)>,
    /// The number of polls of the outermost plan.
    polls: u64,
    /// The records that are not durable yet.
    writing: Vec<(Place, Written)>,
    /// The number of records that this process has written.
    written: u64,
    /// The number of ends of the run, and of plans inside it, that are about to come.
    stops: usize,
    /// The waits that were over before a crash, by the times at which they were.
    waits: BTreeMap<(Duration, u64), Waker>,
    /// How many of these there were.
    wait: u64,
    /// The one that is over now.
    over: Option<(Duration, u64)>,
    /// Who waits until no record of the live run has its turn to come.
    after_replays: Vec<Waker>,
    /// Who waits until the run is live, and until what was noted is durable.
    held: Vec<Waker>,
    /// The writes that nobody waits for by itself, and how many there were, and how many are durable.
    notes: VecDeque<Written>,
    noted: u64,
    durable: u64,
    /// How many calls run, but for those that only sleep.
    busy: usize,
    /// The times until which something sleeps, by number.
    alarms: BTreeSet<(Duration, u64)>,
    /// How many of these there were.
    alarm: u64,
    /// Why the journal cannot be used any more.
    failure: Option<Arc<JournalError>>,
    /// What polls the outermost plan.
    root: Option<Waker>,
    /// The last message that was taken.
    seen: u64,
    /// The bytes of its records.
    recorded: usize,
}

impl Durable {
    fn new(
        journal: Arc<dyn Journal>,
        claim: Claim,
        timer: Arc<dyn Timer>,
        (began, before): (SystemTime, Duration),
        is_live: bool,
    ) -> Self {
        Self {
            journal,
            claim,
            start: timer.now(),
            timer,
            began,
            before,
            is_new: is_live,
            is_viewed: false,
            ended: None,
            is_gated: AtomicBool::new(false),
            is_released: AtomicBool::new(false),
            plans: Mutex::default(),
            state: Mutex::new(State {
                is_live,
                is_exhausted: false,
                time: Duration::ZERO,
                has_turn: false,
                ahead: Duration::ZERO,
                waits: BTreeMap::new(),
                after_replays: Vec::new(),
                wait: 0,
                over: None,
                due: BTreeMap::new(),
                turn: None,
                polls: 0,
                writing: Vec::new(),
                written: 0,
                stops: 0,
                held: Vec::new(),
                notes: VecDeque::new(),
                noted: 0,
                durable: 0,
                busy: 0,
                alarms: BTreeSet::new(),
                alarm: 0,
                failure: None,
                root: None,
                seen: 0,
                recorded: 0,
            }),
        }
    }

    /// The same, of which only the records are looked at, if this is so, or which has ended.
    fn viewed(mut self, is_viewed: bool, ended: Option<End>) -> Self {
        self.is_viewed = is_viewed;
        self.ended = ended;
        self
    }

    /// Returns the counts of undone steps before the run was retried, and the count of the run.
    pub(super) fn undone_before(&self) -> Option<Undone> {
        let found = self.find(UNDONE).ok()??;
        let undone = serde_json::from_str(&found.body);
        undone
            .map_err(|error| {
                self.fail(JournalError::storage(format!(
                    "the record `{UNDONE}`: {error}"
                )));
            })
            .ok()
    }

    /// Returns `true` if the journal encrypts the run, so that plans inside the run may have secrets.
    pub(super) fn encrypts(&self) -> bool {
        let encrypts = self.journal.encrypts(&self.claim.id);
        encrypts.unwrap_or_default()
    }

    pub(super) fn is_viewed(&self) -> bool {
        self.is_viewed
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Returns `true` if nothing may be written: the run is viewed, or had ended before.
    pub(super) fn is_closed(&self) -> bool {
        self.is_viewed || self.has_ended()
    }

    /// Returns `true` after the last record of a run that has ended.
    pub(super) fn is_exhausted(&self) -> bool {
        self.has_ended() && self.state().is_exhausted
    }

    /// Notes that the run has gates: a record contains the answer of a gate.
    pub(super) fn has_gates(&self) {
        self.is_gated.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_gated(&self) -> bool {
        self.is_gated.load(Ordering::Relaxed)
    }

    /// All messages up to this one are taken.
    pub(super) fn has_seen(&self, message: u64) {
        self.state().seen = message;
    }

    /// The last message that was taken.
    #[cfg(feature = "sqlite")]
    pub(super) fn seen(&self) -> u64 {
        self.state().seen
    }

    #[cfg(feature = "sqlite")]
    pub(super) fn claim(&self) -> &Claim {
        &self.claim
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seed of all that is random in it.
    pub(super) fn seed(&self) -> u64 {
        let mut hasher = StableHasher::new();
        hasher.write(self.claim.id.as_bytes());
        hasher.finish()
    }

    /// When the run began.
    pub(super) fn began(&self) -> SystemTime {
        self.began
    }

    /// The time since the run began; while it replays or acts on a record, the recorded time.
    pub(super) fn now(&self) -> Duration {
        let by_clock = self.by_clock();
        let state = self.state();
        if state.is_live && !state.has_turn {
            by_clock.saturating_add(state.ahead)
        } else {
            state.time
        }
    }

    /// The time since the run began.
    pub(super) fn time(&self) -> Duration {
        let by_clock = self.by_clock();
        by_clock.saturating_add(self.state().ahead)
    }

    /// The same, as the clock of the machine says, as exact as a record.
    fn by_clock(&self) -> Duration {
        let here = self.timer.now().saturating_duration_since(self.start);
        let micros = self.before.saturating_add(here).as_micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The timer's time, after this much of the run.
    pub(super) fn at(&self, time: Duration) -> Option<Instant> {
        let before = self.before.saturating_add(self.state().ahead);
        match time.checked_sub(before) {
            Some(here) => self.start.checked_add(here),
            // Before the machine started, maybe.
            None => Some(self.start),
        }
    }

    /// Whether this time has come. While it replays, no time passes.
    pub(super) fn is_past(&self, time: Instant) -> bool {
        self.is_live() && self.timer.now() >= time
    }

    pub(super) fn is_live(&self) -> bool {
        self.state().is_live
    }

    /// Sleeps until this time of the run, which is in no case over before the run is live.
    pub(super) fn sleep_until(self: &Arc<Self>, time: Duration) -> Sleep {
        let this = Arc::clone(self);
        Box::pin(async move {
            this.live().await;
            let alarm = Alarm::set(&this, time);
            this.timer.sleep(time.saturating_sub(this.time())).await;
            drop(alarm);
        })
    }

    /// Sleeps for this time, from when the run is live.
    pub(super) fn sleep_live(self: &Arc<Self>, duration: Duration) -> Sleep {
        // No time at all is over immediately.
        if duration.is_zero() {
            return self.timer.sleep(duration);
        }
        let this = Arc::clone(self);
        Box::pin(async move {
            this.live().await;
            let alarm = Alarm::set(&this, this.time().saturating_add(duration));
            this.timer.sleep(duration).await;
            drop(alarm);
        })
    }

    /// Is ready once the run is live and not about to end, and all is durable that decided about what comes then.
    pub(super) async fn live(&self) {
        let noted = self.state().noted;
        poll_fn(|cx| {
            let mut state = self.state();
            let list = match state.is_live && state.durable >= noted && state.stops == 0 {
                true if !state.replays() => return Poll::Ready(()),
                // A plan inside a call, which was made again, replays still.
                true => &mut state.after_replays,
                false => &mut state.held,
            };
            if !list.iter().any(|waker| waker.will_wake(cx.waker())) {
                list.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// The record with this key. `Err` means that the run is over.
    pub(super) fn find(&self, key: &str) -> Result<Option<Found>, ()> {
        if self.failure().is_some() {
            return Err(());
        }
        if self.is_new {
            return Ok(None);
        }
        let found = self.journal.find(&self.claim, key);
        let found = found.map_err(|error| self.fail(error))?;
        if let Some(found) = &found {
            self.state().recorded += key.len() + found.body.len();
        }
        Ok(found)
    }

    /// The bytes of its records, as far as they are replayed or written.
    pub(super) fn recorded(&self) -> usize {
        self.state().recorded
    }

    /// The journal cannot be used: the run is over, and goes on when it is begun again.
    pub(super) fn fail(&self, error: JournalError) {
        let mut state = self.state();
        state.failure.get_or_insert_with(|| Arc::new(error));
        let root = state.root.take();
        drop(state);
        if let Some(root) = root {
            root.wake();
        }
    }

    pub(super) fn failure(&self) -> Option<Arc<JournalError>> {
        self.state().failure.clone()
    }

    /// Writes a record of this time. The future is ready when the record has its turn. If the write fails, the future is never ready, and the run is over.
    pub(super) fn write(self: &Arc<Self>, key: String, body: String, time: Duration) -> Sleep {
        // What follows from a failure of the journal has not happened.
        if self.is_closed() || self.failure().is_some() {
            return Box::pin(pending());
        }
        let bytes = key.len() + body.len();
        let mut written = self.journal.record(&self.claim, key, body);
        let mut state = self.state();
        state.recorded += bytes;
        state.written += 1;
        let place = Place::Written(state.written);
        let due = Due {
            time,
            is_durable: false,
            waker: None,
            is_passed: false,
        };
        state.due.insert(place, due);
        let root = state.root.clone();
        drop(state);
        let root = root.as_ref().unwrap_or(Waker::noop());
        match written.as_mut().poll(&mut Context::from_waker(root)) {
            Poll::Pending => self.state().writing.push((place, written)),
            Poll::Ready(result) => self.has_written(place, result),
        }
        Box::pin(self.turn(place, time))
    }

    fn has_written(&self, place: Place, result: Result<(), JournalError>) {
        match result {
            Err(error) => self.fail(error),
            Ok(()) => {
                if let Some(due) = self.state().due.get_mut(&place) {
                    due.is_durable = true;
                }
            }
        }
    }

    /// Polls the writes of records. The outermost plan is woken when one is durable, even if nothing polls the future that waits for the record.
    fn poll_writing(&self, cx: &Context<'_>) {
        let mut state = self.state();
        state.polls += 1;
        let mut writing = std::mem::take(&mut state.writing);
        drop(state);
        writing.retain_mut(|(place, written)| {
            match written.as_mut().poll(&mut Context::from_waker(cx.waker())) {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    self.has_written(*place, result);
                    false
                }
            }
        });
        self.state().writing.append(&mut writing);
    }

    /// Holds back the calls that have not started, until the guard is dropped: the run is about to end.
    pub(super) fn stop(self: &Arc<Self>) -> Stop {
        self.state().stops += 1;
        Stop(Arc::clone(self))
    }

    /// Writes what was decided. It is durable before any call is made because of it.
    pub(super) fn note(&self, key: String, body: String) {
        if self.is_closed() || self.failure().is_some() {
            return;
        }
        let bytes = key.len() + body.len();
        let note = self.journal.record(&self.claim, key, body);
        let mut state = self.state();
        state.recorded += bytes;
        state.notes.push_back(note);
        state.noted += 1;
        let root = state.root.take();
        drop(state);
        if let Some(root) = root {
            root.wake();
        }
    }

    /// Writes down how something ended, unless that was written before a crash. No call waits until the record is durable, which it is before the end of the run.
    pub(super) fn note_end(&self, key: String, body: String) {
        if self.is_closed() || self.failure().is_some() {
            return;
        }
        match self.journal.find(&self.claim, &key) {
            Ok(None) => drop(self.journal.record(&self.claim, key, body)),
            Ok(Some(_)) => {}
            Err(error) => self.fail(error),
        }
    }

    /// Has what was noted written on. The outermost plan does this whenever it is polled.
    pub(super) fn poll(&self, cx: &Context<'_>) {
        let mut notes = {
            let mut state = self.state();
            state.root = Some(cx.waker().clone());
            std::mem::take(&mut state.notes)
        };
        self.poll_writing(cx);
        let (mut done, mut failed) = (0, None);
        while let Some(note) = notes.front_mut() {
            // What a waker does is not ours: nothing is locked.
            match note.as_mut().poll(&mut Context::from_waker(cx.waker())) {
                Poll::Pending => break,
                Poll::Ready(Ok(())) => done += 1,
                Poll::Ready(Err(error)) => failed = failed.or(Some(error)),
            }
            notes.pop_front();
        }
        let mut state = self.state();
        notes.append(&mut state.notes);
        state.notes = notes;
        state.durable += done;
        let held = if done > 0 {
            std::mem::take(&mut state.held)
        } else {
            Vec::new()
        };
        drop(state);
        held.into_iter().for_each(Waker::wake);
        if let Some(error) = failed {
            self.fail(error);
        }
    }

    /// Called when nothing can happen without a record or a message. Gives the next record its turn, or makes the run live. `false` if neither is possible.
    pub(super) fn go_on(&self) -> bool {
        let by_clock = self.by_clock();
        let mut state = self.state();
        if state.is_live && !state.replays() && !state.after_replays.is_empty() {
            let after_replays = std::mem::take(&mut state.after_replays);
            drop(state);
            after_replays.into_iter().for_each(Waker::wake);
            return true;
        }
        state.has_turn &= state.turn.is_some();
        let Ok(first) = state.next_turn() else {
            return false;
        };
        let wait = state.waits.first_key_value();
        let wait = wait.map(|(wait, waker)| (*wait, waker.clone()));
        // A wait is over before what is recorded of a later time.
        if let Some((wait, waker)) = wait
            && first.as_ref().is_none_or(|(_, time, _)| wait.0 <= *time)
        {
            if state.over.replace(wait) == Some(wait) {
                return false;
            }
            state.pass(wait.0, by_clock);
            drop(state);
            waker.wake();
            return true;
        }
        if let Some((place, time, waker)) = first {
            if state.turn.is_some_and(|(turn, _)| turn == place) {
                // Its future was woken, and has its turn in one of the next polls.
                let root = state.root.clone();
                drop(state);
                root.into_iter().for_each(Waker::wake);
                return false;
            }
            state.turn = Some((place, state.polls));
            state.pass(time, by_clock);
            state.has_turn = true;
            drop(state);
            waker.wake();
            return true;
        }
        if state.is_live {
            return false;
        }
        if self.has_ended() && !std::mem::replace(&mut state.is_exhausted, true) {
            return true;
        }
        if self.is_viewed {
            return false;
        }
        if let Some(end) = &self.ended {
            drop(state);
            self.fail(self.lost_end(end));
            return true;
        }
        state.is_live = true;
        let held = std::mem::take(&mut state.held);
        drop(state);
        held.into_iter().for_each(Waker::wake);
        true
    }

    /// A call that runs, until it has ended.
    pub(super) fn run(self: &Arc<Self>) -> Busy {
        self.state().busy += 1;
        Busy(Arc::clone(self))
    }

    /// A call does nothing but sleep, until this is dropped.
    pub(super) fn rest(&self) -> Resting<'_> {
        Resting::begin(self)
    }

    /// Whether nothing is to be done before something comes from outside, or before this much time has passed.
    #[cfg(feature = "sqlite")]
    pub(super) fn rests(&self) -> Option<Option<Duration>> {
        let state = self.state();
        let rests = state.is_live
            && state.busy == 0
            && state.notes.is_empty()
            && state.due.is_empty()
            && state.writing.is_empty()
            && state.waits.is_empty()
            && state.failure.is_none();
        let next = state.alarms.first().map(|(time, _)| *time);
        drop(state);
        rests.then(|| next.map(|next| next.saturating_sub(self.time())))
    }

    /// Whether there is a record of an attempt with this key, or of anything inside it. `Err` means that the run is over.
    ///
    /// The end of the wait before an attempt does not count: the attempt may still wait for its turn.
    pub(super) fn has_begun(&self, key: &str) -> Result<bool, ()> {
        let next = |from: &str| {
            let next = self.journal.next_key(&self.claim, from);
            next.map_err(|error| self.fail(error))
        };
        let mut found = next(key)?;
        let begun = format!("{key}{BEGUN}");
        if found.as_ref() == Some(&begun) {
            found = next(&(begun + "\0"))?;
        }
        let rest = found.as_deref().and_then(|next| next.strip_prefix(key));
        Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '#', '!'])))
    }

    /// Is ready when this time of the run comes, which it did before a crash.
    pub(super) fn wait_again(self: &Arc<Self>, time: Duration) -> Sleep {
        let mut state = self.state();
        state.wait += 1;
        let wait = Waited {
            durable: Arc::clone(self),
            wait: (time, state.wait),
        };
        drop(state);
        Box::pin(wait)
    }

    /// Is ready when a record that was found has its turn, which happened at this time.
    pub(super) fn replay(self: &Arc<Self>, number: u64, time: Duration) -> Sleep {
        Box::pin(self.turn(Place::Found(number), time))
    }

    fn turn(self: &Arc<Self>, place: Place, time: Duration) -> Turn {
        Turn {
            durable: Arc::clone(self),
            place,
            time,
            is_over: false,
        }
    }

    /// Is ready once there may be messages with greater numbers.
    pub(super) fn watch(&self, after: u64) -> Sleep {
        self.journal.watch(&self.claim, after)
    }

    /// The messages with greater numbers. `Err` means that the run is over.
    pub(super) fn messages(&self, after: u64) -> Result<Vec<(u64, Message)>, ()> {
        self.journal
            .messages(&self.claim, after)
            .map_err(|error| self.fail(error))
    }

    /// The run has ended. If it had ended before, nothing is written.
    pub(super) fn end(&self, end: End) -> Written {
        // The failure of a journal is not the end of a run.
        if let Some(failure) = self.failure() {
            return Box::pin(ready(Err(JournalError::storage(failure.to_string()))));
        }
        match &self.ended {
            Some(before) if before.failed != end.failed && !self.is_viewed => {
                Box::pin(ready(Err(self.lost_end(before))))
            }
            Some(_) => Box::pin(ready(Ok(()))),
            None => self.journal.end(&self.claim, end),
        }
    }

    /// The error of a run that had ended, and whose records do not lead to that end.
    fn lost_end(&self, end: &End) -> JournalError {
        let failure = serde_json::from_str(&end.body).ok();
        JournalError::Ended {
            id: self.claim.id.to_string(),
            failure: failure.filter(|_| end.failed),
        }
    }
}

impl State {
    /// Returns the record that has the next turn, with the waker of its future. An error means that a record before it is not durable yet.
    fn next_turn(&mut self) -> Result<Option<(Place, Duration, Waker)>, ()> {
        if let Some((place, poll)) = self.turn
            && self.polls >= poll + PATIENCE
            && let Some(due) = self.due.get_mut(&place)
        {
            due.is_passed = true;
            self.turn = None;
        }
        for (place, due) in &self.due {
            if !due.is_durable {
                return Err(());
            }
            if let Some(waker) = due.waker.as_ref().filter(|_| !due.is_passed) {
                return Ok(Some((*place, due.time, waker.clone())));
            }
        }
        Ok(None)
    }

    /// Returns `true` if a record of an earlier process waits for its turn.
    fn replays(&self) -> bool {
        let first = self.due.first_key_value();
        first.is_some_and(|(place, _)| matches!(place, Place::Found(_)))
    }

    /// It is this time of the run at least, whatever the clock says.
    fn pass(&mut self, time: Duration, by_clock: Duration) {
        self.time = self.time.max(time);
        let ahead = self.time.saturating_sub(by_clock);
        self.ahead = self.ahead.max(ahead);
    }
}

impl Durable {
    /// Gives up the claim, at most once.
    fn release(&self) {
        if !self.is_released.swap(true, Ordering::Relaxed) {
            let (journal, claim) = (&self.journal, &self.claim);
            // If the journal panics, nobody can be told.
            let _ = super::catch::catch(|| journal.release(claim));
        }
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        self.release();
    }
}

/// The claim of a run, which is given up when this is dropped: a tool may keep the context of a call for longer.
pub(super) struct Owned(pub(super) Arc<Durable>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// A call that runs.
pub(super) struct Busy(Arc<Durable>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
    }
}

/// A call that sleeps.
pub(super) struct Resting<'d>(&'d Durable);

impl<'d> Resting<'d> {
    fn begin(durable: &'d Durable) -> Self {
        durable.state().busy -= 1;
        Self(durable)
    }
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.0.state().busy += 1;
    }
}

/// A time until which something sleeps.
struct Alarm(Arc<Durable>, (Duration, u64));

impl Alarm {
    fn set(durable: &Arc<Durable>, time: Duration) -> Self {
        let mut state = durable.state();
        state.alarm += 1;
        let alarm = (time, state.alarm);
        state.alarms.insert(alarm);
        drop(state);
        Self(Arc::clone(durable), alarm)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.state().alarms.remove(&self.1);
    }
}

/// A run that is about to end, so that no call starts.
pub(super) struct Stop(Arc<Durable>);

impl Drop for Stop {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stops -= 1;
        let held = std::mem::take(&mut state.held);
        drop(state);
        held.into_iter().for_each(Waker::wake);
    }
}

/// A record that waits for its turn.
struct Turn {
    durable: Arc<Durable>,
    place: Place,
    time: Duration,
    is_over: bool,
}

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.durable.state();
        if state.turn.is_some_and(|(place, _)| place == this.place) {
            state.turn = None;
            state.due.remove(&this.place);
            drop(state);
            this.is_over = true;
            return Poll::Ready(());
        }
        let due = state.due.entry(this.place).or_insert(Due {
            time: this.time,
            is_durable: true,
            waker: None,
            is_passed: false,
        });
        due.is_passed = false;
        let before = due.waker.replace(cx.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.durable.state();
        let gone = state.due.remove(&self.place);
        if state.turn.is_some_and(|(place, _)| place == self.place) {
            state.turn = None;
        }
        // The next record may have its turn now, and a plan inside a call may be dropped anywhere.
        let root = state.root.clone();
        drop(state);
        drop(gone);
        root.into_iter().for_each(Waker::wake);
    }
}

/// A wait that was over before a crash.
struct Waited {
    durable: Arc<Durable>,
    wait: (Duration, u64),
}

impl Future for Waited {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.durable.state();
        if state.over == Some(self.wait) {
            state.over = None;
            let gone = state.waits.remove(&self.wait);
            drop(state);
            drop(gone);
            return Poll::Ready(());
        }
        let before = state.waits.insert(self.wait, cx.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Waited {
    fn drop(&mut self) {
        let mut state = self.durable.state();
        let gone = state.waits.remove(&self.wait);
        if state.over == Some(self.wait) {
            state.over = None;
        }
        drop(state);
        drop(gone);
    }
}
