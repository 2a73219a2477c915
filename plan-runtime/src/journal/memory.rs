//! A journal that lives as long as the process.

use super::arrivals::Arrivals;
use super::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, Rest, Retry, RunInfo, StoredRun,
    Written,
};
use super::{Journal, JournalError, RunFilter, RunState, RunSummary, Store};
use std::collections::{HashMap, HashSet};
use std::future::{poll_fn, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

/// A journal that keeps its records while the process lives: for tests, and for runs that only need to survive errors.
///
/// A clone shares the records.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Runs>>, Arrivals);

#[derive(Default)]
struct Runs {
    by_id: HashMap<Arc<str>, Kept>,
    /// The last number of a claim or a message. An id may be used again after its run was deleted, so the runs share the numbers.
    last: u64,
}

/// The stored data of a run.
struct Kept {
    /// The number of the claim that described the run; 0 before that.
    number: u64,
    epoch: u64,
    is_owned: bool,
    rest: Resting,
    /// `true` if a step waits for a value during the rest.
    waits: bool,
    refusal: Option<String>,
    run: StoredRun,
    ended: Option<SystemTime>,
    records: Vec<Record>,
    keys: HashSet<String>,
    messages: Vec<(u64, Message)>,
    watching: Vec<Waker>,
}

/// The rest of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resting {
    Until(SystemTime),
    No,
    UntilMessage,
}

impl Resting {
    fn of(time: Option<Duration>) -> Self {
        let until = time.and_then(|time| SystemTime::now().checked_add(time));
        until.map_or(Self::UntilMessage, Self::Until)
    }
}

impl Kept {
    fn new() -> Self {
        Self {
            number: 0,
            epoch: 0,
            is_owned: false,
            rest: Resting::No,
            waits: false,
            refusal: None,
            run: StoredRun::new(SystemTime::now()),
            ended: None,
            records: Vec::new(),
            keys: HashSet::new(),
            messages: Vec::new(),
            watching: Vec::new(),
        }
    }

    fn is_due(&self, now: SystemTime) -> bool {
        let rests = match self.rest {
            Resting::Until(time) => time > now,
            Resting::No => false,
            Resting::UntilMessage => true,
        };
        self.number > 0 && self.run.end.is_none() && !self.is_owned && !rests
    }

    fn record(&mut self, key: String, body: String) -> Result<(), JournalError> {
        if !self.keys.insert(key.clone()) {
            let error = format!("`{key}` is recorded already");
            return Err(JournalError::storage(error));
        }
        let number = self.records.last().map_or(0, |last| last.number) + 1;
        self.records.push(Record::new(number, key, body));
        Ok(())
    }

    /// Returns the summary of a run that was described.
    fn summary(&self, id: &str) -> Option<RunSummary> {
        let plan = &self.run.info.as_ref()?.plan;
        let mut summary = RunSummary::new(self.number, id, plan, self.run.began);
        summary.ended = self.ended;
        let end = self.run.end.as_ref();
        summary.state = end.map_or(RunState::Running, End::state);
        summary.is_owned = self.is_owned;
        let rests = match self.rest {
            Resting::No => false,
            Resting::Until(time) => self.waits && time > SystemTime::now(),
            Resting::UntilMessage => true,
        };
        summary.waits = rests && self.refusal.is_none() && summary.ended.is_none();
        summary.refusal.clone_from(&self.refusal);
        Some(summary)
    }
}

impl Memory {
    /// Creates an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a function as the owner of a run.
    fn with<T>(
        &self,
        claim: &Claim,
        act: impl FnOnce(&mut Kept) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match self.runs().by_id.get_mut(&claim.id) {
            Some(kept) if kept.epoch == claim.epoch && kept.is_owned => act(kept),
            _ => Err(JournalError::Lost {
                id: claim.id.to_string(),
            }),
        }
    }

    /// Releases a run, and lets the run rest unless it has a message that the owner has not taken.
    fn give_up(&self, claim: &Claim, rest: Option<Rest>) {
        let mut runs = self.runs();
        let kept = runs.by_id.get_mut(&claim.id);
        // Another owner may have the run.
        let Some(kept) = kept.filter(|kept| kept.epoch == claim.epoch && kept.is_owned) else {
            return;
        };
        kept.is_owned = false;
        if let Some(rest) = rest
            && !kept.messages.iter().any(|(number, _)| *number > rest.seen)
        {
            kept.rest = Resting::of(rest.time);
            kept.waits = rest.waits;
        }
        let is_due = kept.is_due(SystemTime::now());
        let watching = std::mem::take(&mut kept.watching);
        if kept.run.info.is_none() && kept.records.is_empty() {
            runs.by_id.remove(&claim.id);
        }
        drop(runs);
        watching.into_iter().for_each(Waker::wake);
        if is_due {
            self.1.come();
        }
    }
}

/// The number of records, or runs, of a page.
const PAGE: usize = 256;

impl Journal for Memory {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        Box::pin(async move {
            let mut runs = self.runs();
            let Runs { by_id, last } = &mut *runs;
            let id: Arc<str> = id.into();
            let kept = by_id.entry(Arc::clone(&id)).or_insert_with(Kept::new);
            if kept.is_owned {
                return Err(JournalError::Owned {
                    id: id.to_string(),
                    owner: "this process".to_owned(),
                });
            }
            *last += 1;
            kept.is_owned = true;
            kept.epoch = *last;
            kept.rest = Resting::No;
            kept.refusal = None;
            Ok(Claimed::new(Claim::new(id, kept.epoch), kept.run.clone()))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        Box::pin(async move {
            let runs = self.runs();
            let kept = runs.by_id.get(id);
            let kept = kept.filter(|kept| kept.run.info.is_some());
            Ok(kept.map(|kept| kept.run.clone()))
        })
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move {
            self.with(claim, |kept| {
                if kept.number == 0 {
                    kept.number = claim.epoch;
                    kept.run.began = SystemTime::now();
                }
                kept.run.info = Some(run.clone());
                Ok(())
            })
        })
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        Box::pin(async move {
            let runs = self.runs();
            let records = runs.by_id.get(id).map_or(&[][..], |kept| &kept.records);
            let first = records.partition_point(|record| record.number <= after);
            let page = records[first..].iter().take(PAGE);
            Ok(page.cloned().collect())
        })
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        let written = self.with(claim, |kept| kept.record(key, body));
        Box::pin(ready(written))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        Box::pin(ready(self.with(claim, |kept| {
            kept.ended.get_or_insert_with(SystemTime::now);
            kept.run.end = Some(end);
            Ok(())
        })))
    }

    fn release(&self, claim: &Claim) {
        self.give_up(claim, None);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut runs = self.runs();
            let Runs { by_id, last } = &mut *runs;
            let kept = by_id.get_mut(id).filter(|kept| kept.run.info.is_some());
            let Some(kept) = kept else {
                return Err(JournalError::Unknown { id: id.to_owned() });
            };
            if let Message::Signal { path, .. } = message
                && kept.messages.iter().any(|(_, sent)| {
                    matches!(sent, Message::Signal { path: other, .. } if other == path)
                })
            {
                return Err(JournalError::Second { path: path.clone() });
            }
            *last += 1;
            kept.messages.push((*last, message.clone()));
            kept.rest = Resting::No;
            let watching = std::mem::take(&mut kept.watching);
            drop(runs);
            watching.into_iter().for_each(Waker::wake);
            self.1.come();
            Ok(())
        })
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        Box::pin(async move {
            self.with(claim, |kept| {
                let new = kept.messages.iter().filter(|(number, _)| *number > after);
                Ok(new.cloned().collect())
            })
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        let (memory, claim) = (self.clone(), claim.clone());
        Box::pin(poll_fn(move |cx| {
            let has_new = memory.with(&claim, |kept| {
                let has_new = kept.messages.iter().any(|(number, _)| *number > after);
                let is_known = kept.watching.iter().any(|it| it.will_wake(cx.waker()));
                if !has_new && !is_known {
                    kept.watching.push(cx.waker().clone());
                }
                Ok(has_new)
            });
            // An owner that has lost the run finds out when it asks for the messages.
            if has_new.unwrap_or(true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }
}

impl Store for Memory {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        Box::pin(async move {
            let now = SystemTime::now();
            let runs = self.runs();
            let all = runs.by_id.iter();
            let all = all.filter_map(|(id, kept)| kept.summary(id));
            let mut found: Vec<RunSummary> = all.filter(|run| matches(filter, run, now)).collect();
            drop(runs);
            found.sort_unstable_by_key(|run| run.number);
            if filter.is_newest_first {
                found.reverse();
            }
            found.truncate(filter.limit.unwrap_or(PAGE).min(PAGE));
            Ok(found)
        })
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>> {
        Box::pin(async move {
            let now = SystemTime::now();
            let runs = self.runs();
            let due = runs.by_id.iter().filter(|(_, kept)| kept.is_due(now));
            let mut due: Vec<(Resting, u64, &str)> = due
                .map(|(id, kept)| (kept.rest, kept.number, &**id))
                .collect();
            due.sort_unstable();
            let due = due.into_iter().take(limit);
            let summary = |(.., id): (_, _, &str)| runs.by_id.get(id)?.summary(id);
            Ok(due.filter_map(summary).collect())
        })
    }

    fn arrival(&self) -> Notified {
        self.1.next()
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        self.give_up(claim, Some(rest));
    }

    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            if let Some(kept) = self.runs().by_id.get_mut(id)
                && kept.run.end.is_none()
                && !kept.is_owned
            {
                kept.rest = Resting::of(Some(time));
                kept.refusal = Some(reason.to_owned());
            }
            Ok(())
        })
    }

    fn forgive(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let mut runs = self.runs();
            let kept = runs.by_id.values_mut();
            for kept in kept.filter(|kept| kept.refusal.is_some()) {
                kept.rest = Resting::No;
            }
            Ok(())
        })
    }

    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()> {
        Box::pin(async move {
            self.with(claim, |kept| {
                let Retry {
                    mut removed,
                    record,
                } = retry;
                removed.extend(record.iter().map(|(key, _)| key.clone()));
                for key in removed {
                    kept.keys.remove(&key);
                }
                let Kept { records, keys, .. } = kept;
                records.retain(|record| keys.contains(&record.key));
                kept.messages
                    .retain(|(_, message)| !matches!(message, Message::Cancel));
                (kept.run.end, kept.ended) = (None, None);
                record.map_or(Ok(()), |(key, body)| kept.record(key, body))
            })
        })
    }

    fn delete(&self, age: Duration) -> Answer<'_, u64> {
        Box::pin(async move {
            let before = SystemTime::now().checked_sub(age);
            let mut runs = self.runs();
            let count = runs.by_id.len();
            runs.by_id.retain(|_, kept| {
                let is_old = kept
                    .ended
                    .zip(before)
                    .is_some_and(|(it, before)| it < before);
                kept.is_owned || !is_old
            });
            Ok((count - runs.by_id.len()) as u64)
        })
    }
}

/// Returns `true` if a run meets all conditions of a filter.
fn matches(filter: &RunFilter, run: &RunSummary, now: SystemTime) -> bool {
    let is_older = |age| {
        now.checked_sub(age)
            .is_some_and(|before| run.began < before)
    };
    let is_after = |number| {
        if filter.is_newest_first {
            run.number < number
        } else {
            run.number > number
        }
    };
    filter.id.as_ref().is_none_or(|id| run.id == *id)
        && filter.plan.as_ref().is_none_or(|plan| run.plan == *plan)
        && filter.state.is_none_or(|state| run.state == state)
        && filter.is_owned.is_none_or(|it| run.is_owned == it)
        && filter.older_than.is_none_or(is_older)
        && filter.after.is_none_or(is_after)
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
