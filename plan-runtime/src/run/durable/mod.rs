//! Runs that record their progress, and resume after a crash.
//!
//! A run that starts again *replays* its records: it makes its earlier decisions in their order, and uses recorded outcomes instead of calls.
//! Other calls wait until the end of the replay. After the replay, the run is *live*, and makes these calls.
//!
//! A run acts on its records one at a time, in the order of their writing. That order applies to a live run as well: a new record waits for its turn
//! like a replayed record. So a run makes equal decisions before and after a crash.
//!
//! | | |
//! |---|---|
//! | `begin.rs` | claims a run, and compares it with the recorded run |
//! | `changes.rs` | differences between two versions of a plan |
//! | `claimed.rs` | the run in its journal, its running calls, and the guard that holds back new calls while the run is about to end |
//! | `clock.rs` | the time of the system's clock and of the records, and waits |
//! | `failures.rs` | the failures of plans that tools ran inside their calls |
//! | `history.rs` | the records of earlier processes, and the keys of records |
//! | `plans.rs` | the records of called plans |
//! | `record.rs` | the contents of a record |
//! | `turns.rs` | the sequence of the records that a run acts on |
//! | `writes.rs` | the records that are not durable yet, and the waker of the outermost plan |

mod begin;
mod changes;
mod claimed;
mod clock;
mod failures;
mod history;
mod plans;
mod record;
mod turns;
mod writes;

pub(crate) use begin::compare_names;
pub(super) use begin::{Begun, Inputs, Target, begin, info, secrets_in_journal, submit};
pub(crate) use claimed::Released;
pub(super) use claimed::{Busy, Owned, Resting, Stop};
pub(crate) use history::Segment;
pub(crate) use history::read_records;
pub(super) use history::{Found, of_element};
pub(crate) use plans::PLANS;
pub(super) use plans::inputs_before;
pub(crate) use record::{RETRIED, RUN, Undone, read_inputs};
pub(super) use record::{Recorded, decode, encode, encode_call};

use super::catch::locked;
use super::hash::StableHasher;
use super::signals::Inbox;
use super::timer::TimerFuture;
use crate::Plan;
use crate::journal::JournalError;
use crate::journal::spi::{Answer, End, Message, Rest, Written};
use crate::plan::Graph;
use claimed::ClaimedRun;
use clock::{Alarms, LastingClock, RecordedTime};
use history::{History, is_preceded};
use plans::Plans;
use std::collections::BTreeMap;
use std::future::{pending, poll_fn, ready};
use std::hash::Hasher;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use turns::{RecordPlace, Turn, Turns};
use writes::{Notes, Root, Write};

/// The key of the record with the counts of undone steps before the run was retried, and with the count of the run.
///
/// After the key of an undo step, the record contains the lasting path of the step that was undone.
pub(crate) const UNDONE: &str = "!undone";

/// The end of the key of the arguments of a called plan, after the key of the attempt.
pub(crate) const ARGUMENTS: &str = "?arguments";

/// The end of the key of the record with the branch whose block runs, after the key of the attempt. Only a step has such a record if two of its branches contain steps with
/// equal names.
pub(crate) const BRANCH: &str = "!branch";

/// The middle part of the key of a recovered failure. The step or the element that got the replacement comes before this part. The element and the
/// attempt that failed come after it.
pub(crate) const MADE_UP: &str = "!made_up";

/// The end of the key of a record about a failed plan or block inside the run. A plan or block without undo steps and always steps has no such record.
pub(crate) const FAILED: &str = "!failed";

/// The part of a key after the prefix of a called plan. The record contains the number of the plan's JSON.
pub(crate) const ENTERED: &str = "!plan.";

/// The key of the record of an interrupt, which ends a run early.
pub(crate) const INTERRUPT: &str = "!interrupt";

/// The key of the record of the end of the grace period after an interrupt.
pub(crate) const GRACE: &str = "!grace";

/// The last part of the key for the end of the wait before an attempt.
pub(crate) const BEGUN: &str = "!begun";

/// The last part of the key of the note that throttles have let a call start, after the key of the attempt.
pub(crate) const ADMITTED: &str = "!admitted";

/// The key of the note that the run asks gates about its calls.
const GATED: &str = "!gated";

/// The last part of the key for the end of an attempt's time limit.
pub(crate) const LATE: &str = "!late";

/// The state that a durable run shares with the plans inside it.
pub(super) struct Durable {
    pub(in crate::run) claimed: ClaimedRun,
    pub(super) clock: LastingClock,
    /// `true` if a record contains a question to a gate, or the answer of a gate.
    is_gated: AtomicBool,
    /// The last message that was taken.
    pub(super) seen: AtomicU64,
    /// The values that are sent into the run.
    pub(super) inbox: OnceLock<Arc<Inbox>>,
    plans: Mutex<Plans>,
    root: Arc<Root>,
    state: Mutex<DurableState>,
}

#[derive(Default)]
struct DurableState {
    is_live: bool,
    history: History,
    /// The messages that came before the run was claimed.
    messages: Vec<(u64, Message)>,
    /// `true` after the last record of a run that has ended.
    is_exhausted: bool,
    time: RecordedTime,
    turns: Turns,
    notes: Notes,
    alarms: Alarms,
    /// The number of imminent ends of the run, and of plans inside it.
    stops: usize,
    /// The number of calls so far that have waited for the run to be live.
    waiting: u64,
    /// The wakers of calls that wait until the live run has no more records to act on, by the numbers of the calls.
    after_replays: BTreeMap<u64, Waker>,
    /// The wakers of calls that wait until the run is live, and until all notes are durable, by the numbers of the calls.
    held: BTreeMap<u64, Waker>,
    /// The number of running calls, without calls that only sleep.
    busy: usize,
    /// The error that made the journal unusable.
    failure: Option<Arc<JournalError>>,
    /// The bytes of the records.
    recorded: usize,
}

impl DurableState {
    /// Returns `true` if the run is live and not about to end, and this number of notes is durable.
    fn is_free(&self, noted: u64) -> bool {
        self.is_live && self.notes.durable >= noted && self.stops == 0
    }
}

impl Durable {
    fn new(
        claimed: ClaimedRun,
        clock: LastingClock,
        history: History,
        messages: Vec<(u64, Message)>,
    ) -> Self {
        let is_gated = history.next_key(GATED) == Some(GATED);
        let state = DurableState {
            messages,
            is_live: claimed.is_new,
            recorded: history.bytes,
            history,
            ..DurableState::default()
        };
        Self {
            claimed,
            clock,
            is_gated: is_gated.into(),
            seen: AtomicU64::new(0),
            inbox: OnceLock::new(),
            plans: Mutex::default(),
            root: Arc::default(),
            state: Mutex::new(state),
        }
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

    pub(super) fn is_viewed(&self) -> bool {
        self.claimed.is_viewed
    }

    pub(super) fn has_ended(&self) -> bool {
        self.claimed.ended.is_some()
    }

    /// Returns `true` after the last record of a run that has ended.
    pub(super) fn is_exhausted(&self) -> bool {
        self.has_ended() && self.state().is_exhausted
    }

    /// Notes that the run has gates: a record contains the answer of a gate.
    pub(super) fn has_gates(&self) {
        self.is_gated.store(true, Ordering::Relaxed);
    }

    /// Records that the run has gates before its first question, so that a view can find open questions.
    pub(super) fn note_gates(&self) {
        if !self.is_gated.swap(true, Ordering::Relaxed) {
            self.note(GATED.to_owned(), "null".to_owned());
        }
    }

    pub(super) fn is_gated(&self) -> bool {
        self.is_gated.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, DurableState> {
        locked(&self.state)
    }

    /// Returns the seed of all random numbers in the run.
    pub(super) fn seed(&self) -> u64 {
        let mut hasher = StableHasher::new();
        hasher.write(self.claimed.claim.id.as_bytes());
        hasher.finish()
    }

    pub(super) fn is_live(&self) -> bool {
        self.state().is_live
    }

    /// Returns `true` if a call may start now, so that [`live`](Self::live) would be ready at once.
    pub(super) fn lets_start(&self) -> bool {
        let state = self.state();
        state.is_free(state.notes.noted) && !state.turns.replays()
    }

    /// Waits until the run is live and not about to end, and all earlier decisions are durable.
    pub(super) async fn live(&self) {
        let noted = self.state().notes.noted;
        let mut number = None;
        poll_fn(|cx| {
            let mut state = self.state();
            let is_free = state.is_free(noted);
            if is_free && !state.turns.replays() {
                return Poll::Ready(());
            }
            state.waiting += u64::from(number.is_none());
            let number = *number.get_or_insert(state.waiting);
            // The call was made again after a crash, and a plan inside the call still replays.
            let list = if is_free {
                &mut state.after_replays
            } else {
                &mut state.held
            };
            let before = list.insert(number, cx.waker().clone());
            drop((state, before));
            Poll::Pending
        })
        .await;
    }

    /// Returns the bytes of the replayed and written records.
    pub(super) fn recorded(&self) -> usize {
        self.state().recorded
    }

    /// Ends the run, because the journal is unusable. The run resumes when it is started again.
    pub(super) fn fail(&self, error: JournalError) {
        let mut state = self.state();
        state.failure.get_or_insert_with(|| Arc::new(error));
        drop(state);
        self.root.waker.wake();
    }

    pub(super) fn failure(&self) -> Option<Arc<JournalError>> {
        self.state().failure.clone()
    }

    /// Returns `true` if the run still writes records. After a failure of the journal, nothing is written, because the next start continues from the
    /// records before the failure.
    fn writes(&self) -> bool {
        !self.claimed.is_closed() && self.failure().is_none()
    }

    /// Writes a record of this time. The future is ready when the record has its turn. If the write fails, the future is never ready, and the run has ended.
    pub(super) fn write(
        self: &Arc<Self>,
        key: String,
        body: String,
        time: Duration,
    ) -> TimerFuture {
        if !self.writes() {
            return Box::pin(pending());
        }
        let bytes = key.len() + body.len();
        let run = &self.claimed;
        let written = run.journal.append(&run.claim, key, body);
        let mut state = self.state();
        state.recorded += bytes;
        let place = state.turns.add(time);
        drop(state);
        let mut write = Write::new(written, &self.root);
        match write.poll() {
            Poll::Pending => {
                let alarm = write.alarm();
                self.state().turns.writing.push((place, write));
                // The outermost plan, on another thread, may have polled the writes since the alarm rang.
                alarm.repeat();
            }
            Poll::Ready(result) => self.has_written(place, result),
        }
        Box::pin(Turn::new(self, place, time))
    }

    fn has_written(&self, place: RecordPlace, result: Result<(), JournalError>) {
        match result {
            Err(error) => self.fail(error),
            Ok(()) => self.state().turns.has_written(place),
        }
    }

    /// Compares the plan of a call with the plan that the call ran before a crash. If the records do not fit, the run ends.
    pub(in crate::run) fn enter(&self, prefix: &str, plan: (&Plan, &Graph), has_secrets: bool) {
        let _ = locked(&self.plans).enter(self, prefix, plan, has_secrets);
    }

    /// Holds back the calls that have not started, until the guard is dropped: the run is about to end.
    pub(super) fn stop(self: &Arc<Self>) -> Stop {
        self.state().stops += 1;
        Stop(Arc::clone(self))
    }

    /// Writes a decision. The note is durable before the decision leads to a call.
    pub(super) fn note(&self, key: String, body: String) {
        if !self.writes() {
            return;
        }
        let bytes = key.len() + body.len();
        let run = &self.claimed;
        let note = run.journal.append(&run.claim, key, body);
        let mut state = self.state();
        state.recorded += bytes;
        state.notes.add(note);
        drop(state);
        self.root.waker.wake();
    }

    /// Records the end of a part of the run, unless the record exists from before a crash. No call waits for this record. The record is durable before the end of the run
    /// is.
    pub(super) fn note_end(&self, key: String, body: String) {
        if !self.writes() {
            return;
        }
        if self.next_key(&key).as_ref() == Some(&key) {
            return;
        }
        let ClaimedRun { journal, claim, .. } = &self.claimed;
        drop(journal.append(claim, key, body));
    }

    /// Polls all writes. The outermost plan does this whenever it is polled, and is woken when a write is durable, even if nothing polls the future that waits for the record.
    pub(super) fn poll(&self, cx: &Context<'_>) {
        self.root.waker.set(cx.waker());
        let mut state = self.state();
        state.turns.polls += 1;
        // Nothing is locked while a foreign future is polled.
        if self.root.has_rung() {
            let mut writing = std::mem::take(&mut state.turns.writing);
            drop(state);
            writing.retain_mut(|(place, write)| match write.poll() {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    self.has_written(*place, result);
                    false
                }
            });
            state = self.state();
            state.turns.writing.append(&mut writing);
        }
        let mut notes = std::mem::take(&mut state.notes.writing);
        drop(state);
        let (done, failed) = Notes::poll(&mut notes, cx);
        let mut state = self.state();
        state.notes.take_back(notes, done);
        let held = if done > 0 {
            std::mem::take(&mut state.held)
        } else {
            BTreeMap::new()
        };
        drop(state);
        held.into_values().for_each(Waker::wake);
        if let Some(error) = failed {
            self.fail(error);
        }
    }

    /// Gives the next record its turn, or makes the run live. Called when the run cannot continue without a record or a message. Returns `false` if
    /// both are impossible.
    ///
    /// Before the run becomes live, `reach` gets the recorded calls that the run has not reached. `reach` returns `true` if a call may start now, and the
    /// key of a call that the run can no longer reach. Such a run stops, because it would lose the effect of the call.
    pub(super) fn go_on(
        &self,
        mut reach: impl FnMut(&[(String, bool)]) -> Result<bool, String>,
    ) -> bool {
        let by_clock = self.clock.now();
        let mut state = self.state();
        if state.is_live && !state.turns.replays() && !state.after_replays.is_empty() {
            let after_replays = std::mem::take(&mut state.after_replays);
            drop(state);
            after_replays.into_values().for_each(Waker::wake);
            return true;
        }
        state.time.has_turn &= state.turns.has_turn();
        let Ok(first) = state.turns.next() else {
            return false;
        };
        if let Some((place, time, waker)) = first {
            drop(state);
            if is_preceded(self, place, &mut reach) {
                return true;
            }
            state = self.state();
            if !state.turns.give(place) {
                // The future of the record has been woken, and gets its turn in a later poll.
                drop(state);
                self.root.waker.wake();
                return false;
            }
            state.time.pass(time, by_clock);
            state.time.has_turn = true;
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
        let untaken = state.history.untaken("");
        if !untaken.is_empty() && !self.has_ended() {
            drop(state);
            match reach(&untaken) {
                Ok(true) => return true,
                Ok(false) => state = self.state(),
                Err(record) => {
                    self.fail(JournalError::Untaken { record });
                    return true;
                }
            }
        }
        if self.is_viewed() {
            return false;
        }
        if let Some(end) = &self.claimed.ended {
            drop(state);
            self.fail(self.claimed.lost_end(end));
            return true;
        }
        state.is_live = true;
        let held = std::mem::take(&mut state.held);
        drop(state);
        held.into_values().for_each(Waker::wake);
        true
    }

    /// Returns the rest of the run if nothing is left to do before a message comes or time has passed.
    pub(super) fn rests(&self) -> Option<Rest> {
        let state = self.state();
        let rests = state.is_live
            && state.busy == 0
            && state.notes.writing.is_empty()
            && state.turns.is_empty()
            && state.failure.is_none();
        let next = state.alarms.set.first().map(|(time, _)| *time);
        drop(state);
        rests.then(|| {
            let time = next.map(|next| next.saturating_sub(self.time()));
            let waits = self.inbox.get().is_some_and(|inbox| inbox.is_awaited());
            Rest::new(time, waits, self.seen.load(Ordering::Relaxed))
        })
    }

    /// Returns a future that completes when a record of an earlier process has its turn. The record was written at this
    /// time.
    pub(super) fn replay(self: &Arc<Self>, number: u64, time: Duration) -> TimerFuture {
        self.state().history.take(number);
        Box::pin(Turn::new(self, RecordPlace::Found(number), time))
    }

    /// Returns the messages that came before the run was claimed, once.
    pub(super) fn first_messages(&self) -> Answer<'static, Vec<(u64, Message)>> {
        let messages = std::mem::take(&mut self.state().messages);
        Box::pin(ready(Ok(messages)))
    }

    /// Waits for messages with greater numbers.
    pub(super) fn messages(&self, after: u64) -> Answer<'static, Vec<(u64, Message)>> {
        let ClaimedRun { journal, claim, .. } = &self.claimed;
        let (journal, claim) = (Arc::clone(journal), claim.clone());
        Box::pin(async move {
            journal.watch(&claim, after).await;
            journal.messages(&claim, after).await
        })
    }

    /// Writes the end of the run. If the run had ended before, nothing is written.
    pub(super) fn end(&self, end: End) -> Written {
        // The failure of a journal is not the end of a run.
        match self.failure() {
            Some(failure) => Box::pin(ready(Err(JournalError::storage(failure.to_string())))),
            None => self.claimed.end(end),
        }
    }
}
