//! The questions to a store, and the deletion of runs.

use super::{Blocking, PATIENCE, Suite, good, info, same, short, signal, written};
use crate::journal::spi::{Claim, End, Message, Rest, Retry};
use crate::journal::{JournalError, RunFilter, RunState, RunSummary, Store};
use std::thread;
use std::time::{Duration, Instant};

/// A limit that no storage for tests reaches.
const ALL: usize = 1 << 20;

impl<S: Store> Blocking<S> {
    pub(super) fn page(&self, filter: &RunFilter) -> Vec<RunSummary> {
        let page = Self::answer(self.0.runs(filter), "runs");
        good(page, "runs can be listed")
    }

    /// Reads all pages.
    pub(super) fn list(&self, filter: RunFilter) -> Vec<RunSummary> {
        let mut all: Vec<RunSummary> = Vec::new();
        loop {
            let filter = match all.last() {
                None => filter.clone(),
                Some(last) => filter.clone().after(last.number),
            };
            let page = self.page(&filter);
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    #[track_caller]
    pub(super) fn summary(&self, id: &str) -> RunSummary {
        let mut found = self.list(RunFilter::new().id(id));
        same(found.len(), 1, "a filter for an id finds one run");
        found.remove(0)
    }

    pub(super) fn due(&self, limit: usize) -> Vec<String> {
        let due = Self::answer(self.0.due(limit), "due");
        let due = good(due, "due runs can be listed");
        let ids = due.into_iter().map(|run| {
            let is_due = run.state == RunState::Running && !run.is_owned;
            assert!(is_due, "a run that is due has not ended and has no owner");
            run.id
        });
        ids.collect()
    }

    pub(super) fn is_due(&self, id: &str) -> bool {
        self.due(ALL).iter().any(|due| due == id)
    }

    pub(super) fn refuse(&self, id: &str, time: Duration, reason: &str) {
        let refused = Self::answer(self.0.refuse(id, time, reason), "refuse");
        good(refused, "a run can be refused");
    }

    pub(super) fn forgive(&self) {
        let forgiven = Self::answer(self.0.forgive(), "forgive");
        good(forgiven, "refused runs can be forgiven");
    }

    /// Lets a run rest. Without a time, a step of the run waits for a value.
    pub(super) fn rest(&self, claim: &Claim, time: Option<Duration>, seen: u64) {
        self.0.rest(claim, Rest::new(time, time.is_none(), seen));
    }

    pub(super) fn retry(&self, claim: &Claim, retry: Retry) -> Result<(), JournalError> {
        Self::answer(self.0.retry(claim, retry), "retry")
    }

    pub(super) fn delete(&self, age: Duration) -> u64 {
        let deleted = Self::answer(self.0.delete(age), "delete");
        good(deleted, "runs can be deleted")
    }
}

/// Waits until the condition is met: an unawaited write becomes visible a moment later.
#[track_caller]
pub(super) fn eventually(rule: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < PATIENCE,
            "{rule}, but it is not so after {PATIENCE:?}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

impl<S: Store, F: FnMut() -> S> Suite<F> {
    /// Begins a run of this plan and releases it.
    #[track_caller]
    pub(super) fn submit(&self, store: &Blocking<S>, plan: &str) -> String {
        let claim = self.claim(store, &self.id()).claim;
        let described = store.describe(&claim, &info(plan));
        good(described, "a claimed run can be described");
        self.give_up(store, &claim);
        claim.id.to_string()
    }

    /// Releases a run, and waits until the store has done so.
    #[track_caller]
    pub(super) fn give_up(&self, store: &Blocking<S>, claim: &Claim) {
        store.release(claim);
        self.is_given_up(store, &claim.id);
    }

    #[track_caller]
    pub(super) fn is_given_up(&self, store: &Blocking<S>, id: &str) {
        let rule = "a run that was given up has no owner";
        eventually(rule, || !store.summary(id).is_owned);
    }

    /// Ends a run, and releases it.
    #[track_caller]
    pub(super) fn end(&self, store: &Blocking<S>, id: &str, end: End) {
        let claim = self.claim_released(store, id).claim;
        written(store.0.end(&claim, end), "a run can end");
        self.give_up(store, &claim);
    }

    /// Returns the due runs of this suite.
    pub(super) fn own_due(&self, store: &Blocking<S>) -> Vec<String> {
        let mine = format!("conformance {:x} ", self.drawn);
        let mut due = store.due(ALL);
        due.retain(|id| id.starts_with(&mine));
        due
    }

    pub(super) fn retries(&self) {
        let (one, other) = (self.open(), self.open());
        let claim = self.begin(&one);
        let old = claim.clone();
        for key in ["a", "b", "c"] {
            drop(one.append(&claim, key.into(), "old".into()));
        }
        good(one.send(&claim.id, &signal("s")), "anybody may send");
        good(one.send(&claim.id, &Message::Cancel), "anybody may send");
        let rule = "a run can end";
        written(one.0.end(&claim, End::Cancelled("1".into())), rule);
        self.give_up(&one, &claim);

        let claim = self.claim_released(&one, &old.id).claim;
        let retry = Retry::new(
            vec!["a".to_owned(), "missing".to_owned()],
            Some(("c".to_owned(), "new".to_owned())),
        );
        for store in [&one, &other] {
            let lost = store.retry(&old, retry.clone());
            assert!(
                matches!(lost, Err(JournalError::Lost { .. })),
                "an owner that has lost a run cannot write, but `retry` gave {}",
                short(&lost)
            );
        }
        let rule = "a retry with an old claim leaves no trace";
        same(one.summary(&old.id).state, RunState::Cancelled, rule);
        let records = good(one.records(&claim), "records can be read");
        same(records.len(), 3, rule);

        good(one.retry(&claim, retry), "the owner can retry a run");
        let summary = other.summary(&old.id);
        let state = (summary.state, summary.ended);
        same(state, (RunState::Running, None), "a retry removes the end");
        assert!(summary.is_owned, "a retried run stays claimed");
        let claimed = other.claim(&old.id);
        assert!(
            matches!(claimed, Err(JournalError::Owned { .. })),
            "a retried run stays claimed, but a claim gave {}",
            short(&claimed)
        );
        let records = good(one.records(&claim), "records can be read").into_iter();
        let records: Vec<_> = records.map(|record| (record.key, record.body)).collect();
        let expected = [("b", "old"), ("c", "new")];
        let expected = expected.map(|(key, body)| (key.to_owned(), body.to_owned()));
        let rule = "a retry removes records, and writes one after all others";
        same(&records[..], &expected[..], rule);
        let messages = good(one.messages(&claim, 0), "the owner can read messages");
        let messages: Vec<Message> = messages.into_iter().map(|(_, message)| message).collect();
        let rule = "a retry removes cancellations, and no signal";
        same(messages, vec![signal("s")], rule);
        let again = one.append(&claim, "a".into(), "again".into());
        written(again, "the key of a removed record can be written");
        let rule = "a retry may write no record";
        good(
            one.retry(&claim, Retry::new(vec!["a".to_owned()], None)),
            rule,
        );
        let found = good(one.find(&claim, "a"), "records can be looked up");
        same(found, None, "a retry removes records");
        self.give_up(&one, &claim);
        assert!(
            other.is_due(&old.id),
            "a retried run is due once its owner has given it up"
        );
        let run = self.claim_released(&other, &old.id).run;
        same(run.end, None, "a claim of a retried run finds no end");
    }

    pub(super) fn deletions(&self) {
        let (one, other) = (self.open(), self.open());
        let long = Duration::from_secs(3600);
        let failed = || End::Failed("1".to_owned());
        let [ended, owned, running] = [(); 3].map(|()| self.submit(&one, "deleted"));
        let old = self.claim(&one, &ended).claim;
        written(one.append(&old, "a".into(), "1".into()), "it is written");
        good(one.send(&ended, &signal("s")), "anybody may send");
        self.give_up(&one, &old);
        for id in [&ended, &owned] {
            self.end(&one, id, failed());
        }
        let owner = self.claim(&other, &owned).claim;
        // Runs of earlier tests may have ended.
        other.delete(long);
        thread::sleep(Duration::from_millis(5));
        for id in [&ended, &owned, &running] {
            let rule = "a run that ended a moment ago is younger than an hour";
            same(one.list(RunFilter::new().id(id)).len(), 1, rule);
        }
        let count = |store: &Blocking<S>| {
            let ended = [RunState::Done, RunState::Failed, RunState::Cancelled];
            let filter = |state| RunFilter::new().state(state).is_owned(false);
            let runs = ended.map(|state| store.list(filter(state)).len());
            runs.into_iter().sum::<usize>() as u64
        };
        let (expected, deleted) = (count(&one), other.delete(Duration::ZERO));
        same(deleted, expected, "`delete` returns the number of runs");
        let left = |id: &str| one.list(RunFilter::new().id(id)).len();
        same(left(&ended), 0, "a deleted run is not listed");
        same(left(&owned), 1, "a run with an owner is not deleted");
        same(left(&running), 1, "a run that has not ended is not deleted");
        let seen = good(one.look(&ended), "runs can be looked at");
        same(seen, None, "nothing is left of a deleted run");
        let records = good(one.records(&old), "records can be read");
        same(records, Vec::new(), "nothing is left of a deleted run");
        let sent = one.send(&ended, &signal("s"));
        assert!(
            matches!(sent, Err(JournalError::Unknown { .. })),
            "a deleted run gets no message, but `send` gave {}",
            short(&sent)
        );
        let claimed = self.claim(&one, &ended);
        let state = (claimed.run.info, claimed.run.end);
        let rule = "the id of a deleted run may be used again";
        same(state, (None, None), rule);
        let messages = good(one.messages(&claimed.claim, 0), "messages can be read");
        same(messages, Vec::new(), "nothing is left of a deleted run");
        assert!(
            claimed.claim.epoch > old.epoch,
            "claims of a deleted run are not valid for the next run with its id, but epoch {} came after {}",
            claimed.claim.epoch,
            old.epoch
        );
        one.release(&claimed.claim);
        self.give_up(&other, &owner);
        other.delete(Duration::ZERO);
        same(left(&owned), 0, "a run without an owner is deleted");
    }
}
