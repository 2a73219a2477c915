//! Runs, their claims and their owners.

use super::{Blocking, PATIENCE, Suite, good, info, is_lost, same, short, wait, written};
use crate::journal::spi::{Claim, End};
use crate::journal::{Journal, JournalError};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

impl<J: Journal, F: FnMut() -> J> Suite<F> {
    pub(super) fn runs(&self) {
        let (journal, id) = (self.open(), self.id());
        let before = SystemTime::now();
        let claimed = self.claim(&journal, &id);
        let rule = "a claim has the id that was asked for";
        same(&*claimed.claim.id, &*id, rule);
        assert!(
            claimed.claim.epoch > 0,
            "epochs are counted from 1, but it is 0"
        );
        same(claimed.run.info, None, "a new run has no description");
        same(claimed.run.end, None, "a new run has not ended");
        let described = journal.describe(&claimed.claim, &info("first"));
        good(described, "a claimed run can be described");
        let rule = "a run can be looked at while somebody has it";
        let seen = good(journal.look(&id), rule).and_then(|run| run.info);
        same(seen, Some(info("first")), rule);
        let unknown = good(journal.look(&self.id()), rule);
        let rule = "nothing is seen of a run that does not exist";
        same(unknown, None, rule);
        journal.release(&claimed.claim);

        let second = self.claim_released(&journal, &id);
        let rule = "a claim finds the description";
        same(second.run.info, Some(info("first")), rule);
        same(second.run.end, None, "a run that has not ended has no end");
        let began = second.run.began;
        // Clocks are adjusted, and a database may round nanoseconds.
        let much = Duration::from_secs(10);
        assert!(
            began + much >= before && began <= SystemTime::now() + much,
            "a run begins when it is first described, but it began at {began:?}, and was claimed at {before:?}"
        );
        let described = journal.describe(&second.claim, &info("second"));
        good(described, "a run can be described again");
        let rule = "a record can be written";
        written(journal.append(&second.claim, "a".into(), "1".into()), rule);
        journal.release(&second.claim);
        thread::sleep(Duration::from_millis(2));
        let third = self.claim_released(&journal, &id);
        let rule = "the last description counts";
        same(third.run.info, Some(info("second")), rule);
        same(third.run.began, began, "a run begins once");
        let found = good(journal.find(&third.claim, "a"), "records can be looked up");
        let body = found.map(|found| found.body);
        let rule = "descriptions leave records alone";
        same(body, Some("1".to_owned()), rule);
    }

    pub(super) fn owners(&self) {
        let (one, other, id) = (self.open(), self.open(), self.id());
        let first = self.claim(&one, &id);
        for (journal, place) in [(&one, "the same process"), (&other, "another")] {
            let second = journal.claim(&id);
            assert!(
                matches!(second, Err(JournalError::Owned { .. })),
                "a run has one owner, but a claim by {place} gave {}",
                short(&second)
            );
        }
        // A refused claim changes nothing.
        let rule = "a refused claim leaves the owner alone";
        good(one.describe(&first.claim, &info("owned")), rule);
        self.claim(&other, &self.id());
        let mut epoch = first.claim.epoch;
        let mut claim = first.claim;
        for journal in [&other, &one, &one, &other] {
            // Only the owner can release the run.
            one.release(&claim);
            other.release(&claim);
            claim = self.claim_released(journal, &id).claim;
            assert!(
                claim.epoch > epoch,
                "epochs grow, but {} came after {epoch}",
                claim.epoch
            );
            epoch = claim.epoch;
        }
        let old = Claim::new(Arc::clone(&claim.id), epoch - 1);
        other.release(&old);
        let stolen = one.claim(&id);
        assert!(
            matches!(stolen, Err(JournalError::Owned { .. })),
            "an old claim cannot release a run, but after that a claim gave {}",
            short(&stolen)
        );
        let rule = "an old claim cannot release a run";
        good(other.describe(&claim, &info("owned")), rule);

        // One of many threads gets the run.
        let id = self.id();
        let gets_it = &|n: usize| {
            let journal = if n.is_multiple_of(2) { &one } else { &other };
            journal.claim(&id).is_ok()
        };
        let claims = thread::scope(|scope| {
            let spawn = |n| scope.spawn(move || gets_it(n));
            let threads: Vec<_> = (0..16).map(spawn).collect();
            let got = threads.into_iter().map(|it| it.join().is_ok_and(|got| got));
            got.filter(|got| *got).count()
        });
        same(claims, 1, "of 16 threads that claim a run, one gets it");
    }

    /// A run that is released without a description disappears.
    pub(super) fn nameless(&self) {
        let (journal, id) = (self.open(), self.id());
        let first = self.claim(&journal, &id);
        journal.release(&first.claim);
        thread::sleep(Duration::from_millis(2));
        let second = self.claim_released(&journal, &id);
        let rule = "nothing is left of a released run that nobody has described";
        assert!(
            second.run.began > first.run.began,
            "{rule}, but the next run with its id has its start"
        );
        assert!(
            second.claim.epoch > first.claim.epoch,
            "{rule}, but the next run with its id has its epoch"
        );
        // The journal keeps its records like those of a run whose owner was killed.
        let write = journal.append(&second.claim, "a".into(), "1".into());
        written(write, "a record can be written");
        journal.release(&second.claim);
        let third = self.claim_released(&journal, &id).claim;
        let found = good(journal.find(&third, "a"), "records can be looked up");
        let rule = "a run with a record is kept, even if nobody has described it";
        let body = found.map(|it| it.body);
        // An encrypted journal cannot know that a run without a description is encrypted.
        if journal.0.encrypts() {
            same(body.is_some(), true, rule);
        } else {
            same(body, Some("1".to_owned()), rule);
        }
        journal.release(&third);
    }

    pub(super) fn dropped_claims(&self) {
        let journal = self.open();
        for polls in 0..3 {
            let id = self.id();
            let mut claim = journal.0.claim(&id);
            let mut cx = Context::from_waker(Waker::noop());
            // After a ready future, the caller owns the claim.
            let is_ready = (0..polls).any(|_| claim.as_mut().poll(&mut cx).is_ready());
            drop(claim);
            if !is_ready {
                self.claim_released(&journal, &id);
            }
        }
    }

    /// Tests that every write with this claim is an error.
    #[track_caller]
    fn cannot_write(&self, journal: &Blocking<J>, old: &Claim, rule: &str) {
        let append = journal.append(old, "c".into(), "old".into());
        let end = journal.end(old, End::Failed("old".to_owned()));
        let results = [
            wait(append, PATIENCE, rule),
            wait(end, PATIENCE, rule),
            journal.describe(old, &info("old")),
            journal.messages(old, 0).map(drop),
        ];
        for (result, call) in results
            .iter()
            .zip(["append", "end", "describe", "messages"])
        {
            assert!(
                is_lost(result),
                "{rule}, but `{call}` with an old claim gave {} and not `Lost`",
                short(result)
            );
        }
    }

    pub(super) fn fencing(&self) {
        let (one, other) = (self.open(), self.open());
        let old = self.begin(&one);
        let rule = "a record can be written";
        written(one.append(&old, "a".into(), "1".into()), rule);
        // The write is queued before the release, so the journal still writes it.
        let queued = one.append(&old, "b".into(), "1".into());
        one.release(&old);
        let rule = "what is queued when a run is released is written still";
        written(queued, rule);
        let rule = "an owner that has released a run cannot write";
        self.cannot_write(&one, &old, rule);
        let new = self.claim_released(&other, &old.id).claim;

        // The owner slept, and has not noticed the loss.
        let rule = "an owner that has lost a run cannot write";
        for journal in [&one, &other] {
            self.cannot_write(journal, &old, rule);
            journal.release(&old);
        }
        let found = good(other.find(&new, "c"), "records can be looked up");
        same(found, None, "a write with an old claim leaves no trace");
        let rule = "a write with an old claim leaves no trace";
        written(other.append(&new, "c".into(), "new".into()), rule);
        for (key, expected) in [("a", "1"), ("b", "1"), ("c", "new")] {
            let found = good(other.find(&new, key), "records can be looked up");
            let body = found.map(|found| found.body);
            let rule = "the next owner finds all records";
            same(body.as_deref(), Some(expected), rule);
        }
        other.release(&new);
        let again = self.claim_released(&one, &old.id);
        let rule = "a description with an old claim leaves no trace";
        same(again.run.info, Some(info("begun")), rule);
        let rule = "an end with an old claim leaves no trace";
        same(again.run.end, None, rule);
    }
}
