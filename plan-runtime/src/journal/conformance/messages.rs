//! Tests of messages, of the ends of runs, and of storage after it was reopened.

use super::{Blocking, SHORT, SOON, Suite, good, info, same, short, signal, wait, written};
use crate::journal::spi::{Claim, End, Message, Notified};
use crate::journal::{Journal, JournalError, blocking};
use std::thread;

impl<J: Journal, F: FnMut() -> J> Suite<F> {
    pub(super) fn messages(&self) {
        let (one, other, id) = (self.open(), self.open(), self.id());
        let unknown = |result: &Result<(), JournalError>, run: &str| {
            assert!(
                matches!(result, Err(JournalError::Unknown { .. })),
                "a message to {run} is refused, but `send` gave {} and not `Unknown`",
                short(result)
            );
        };
        unknown(
            &one.send(&id, &Message::Cancel),
            "a run that does not exist",
        );
        let claim = self.claim(&one, &id).claim;
        unknown(
            &other.send(&id, &signal("a")),
            "a run that nobody has described",
        );
        let rule = "a claimed run can be described";
        good(one.describe(&claim, &info("waits")), rule);

        let messages = |journal: &Blocking<J>, claim: &Claim, after| {
            let rule = "the owner can read messages";
            good(journal.messages(claim, after), rule)
        };
        let rule = "a new run has no messages";
        same(messages(&one, &claim, 0), Vec::new(), rule);
        let sent = [
            signal("a"),
            Message::Cancel,
            signal("b/c[1]\0'"),
            signal(""),
        ];
        for (n, message) in sent.iter().enumerate() {
            let journal = if n.is_multiple_of(2) { &one } else { &other };
            good(journal.send(&id, message), "anybody may send a message");
        }
        for journal in [&one, &other] {
            let rule = "a path gets one signal";
            let second = journal.send(&id, &signal("a"));
            assert!(
                matches!(second, Err(JournalError::Second { .. })),
                "{rule}, but a second `send` gave {} and not `Second`",
                short(&second)
            );
        }
        let found = messages(&one, &claim, 0);
        let bodies: Vec<&Message> = found.iter().map(|(_, message)| message).collect();
        let expected: Vec<&Message> = sent.iter().collect();
        let rule = "messages come as they were sent, in their order";
        same(bodies, expected, rule);
        let mut last = 0;
        for (n, (number, _)) in found.iter().enumerate() {
            assert!(
                *number > last,
                "the numbers of messages grow from 1, but {number} came after {last}"
            );
            last = *number;
            let rest = messages(&one, &claim, *number);
            let rule = "only messages after a number are read";
            same(&rest[..], &found[n + 1..], rule);
        }
        let elsewhere = self.begin(&other);
        let none = messages(&other, &elsewhere, 0);
        let rule = "a run does not see the messages of others";
        same(none, Vec::new(), rule);
        let rule = "two runs may get signals with the same path";
        good(one.send(&elsewhere.id, &signal("a")), rule);

        one.release(&claim);
        let rule = "a message may be sent while nobody has the run";
        good(other.send(&id, &signal("nobody")), rule);
        let next = self.claim_released(&other, &id).claim;
        let kept = messages(&other, &next, 0);
        same(kept.len(), 5, "messages are kept for the next owner");
        let rule = "messages are kept for the next owner";
        same(&kept[..4], &found[..], rule);
    }

    pub(super) fn watches(&self) {
        let (one, other) = (self.open(), self.open());
        let claim = self.begin(&one);
        let neighbor = self.begin(&one);
        let quiet = |watch: &mut Notified| blocking::wait(watch.as_mut(), SHORT).is_none();
        let mut after = 0;
        for (n, journal) in [&one, &other, &other, &one].into_iter().enumerate() {
            let mut watch = one.watch(&claim, after);
            let mut second = one.watch(&claim, after);
            let mut elsewhere = one.watch(&neighbor, 0);
            drop(one.watch(&claim, after));
            assert!(
                quiet(&mut watch),
                "without a message, `watch` waits, but it was ready"
            );
            assert!(
                quiet(&mut second),
                "without a message, `watch` waits, but it was ready"
            );
            let rule = "anybody may send a message";
            good(journal.send(&claim.id, &signal(&format!("{n}"))), rule);
            let rule = "a message makes `watch` ready within a second";
            wait(watch, SOON, rule);
            wait(second, SOON, rule);
            let rule = "`watch` is ready if there are messages already";
            wait(one.watch(&claim, after), SOON, rule);
            assert!(
                quiet(&mut elsewhere),
                "a message for one run does not wake another, but `watch` was ready"
            );
            let new = good(one.messages(&claim, after), "the owner can read messages");
            same(new.len(), 1, "after `watch` the message is there");
            after = new[0].0;
        }
        // A message arrives while another thread waits for it.
        thread::scope(|scope| {
            let watch = one.watch(&claim, after);
            let waits = scope.spawn(|| blocking::wait(watch, SOON));
            thread::sleep(SHORT);
            let rule = "anybody may send a message";
            good(one.send(&claim.id, &Message::Cancel), rule);
            let woken = waits.join().is_ok_and(|woken| woken.is_some());
            assert!(
                woken,
                "a message wakes whoever waits in `watch`, but it did not"
            );
        });
        let rule = "`watch` is ready after its owner has released the run";
        thread::scope(|scope| {
            let watch = one.watch(&neighbor, 0);
            let waits = scope.spawn(|| blocking::wait(watch, SOON));
            thread::sleep(SHORT);
            one.release(&neighbor);
            let woken = waits.join().is_ok_and(|woken| woken.is_some());
            assert!(woken, "{rule}, but it waited on");
        });
        wait(one.watch(&neighbor, 0), SOON, rule);
    }

    pub(super) fn ends(&self) {
        let (one, other) = (self.open(), self.open());
        for end in [End::Done, End::Failed, End::Cancelled] {
            let claim = self.begin(&one);
            let end = end("{\"it's\":\"\\u0000 ü\"}".to_owned());
            drop(one.append(&claim, "before".into(), "1".into()));
            written(one.end(&claim, end.clone()), "a run can end");
            let found = good(one.find(&claim, "before"), "records can be looked up");
            assert!(
                found.is_some(),
                "what was recorded before the end is durable before, but it is not found"
            );
            let claimed = other.claim(&claim.id);
            assert!(
                matches!(claimed, Err(JournalError::Owned { .. })),
                "a run that has ended stays claimed, but a claim gave {}",
                short(&claimed)
            );
            one.release(&claim);
            let claimed = self.claim_released(&other, &claim.id);
            same(claimed.run.end, Some(end), "a claim finds the end");
            let rule = "a claim finds the description";
            same(claimed.run.info, Some(info("begun")), rule);
        }
    }

    pub(super) fn reopening(&self) {
        let journal = self.open();
        let claim = self.begin(&journal);
        for n in 0..50 {
            drop(journal.append(&claim, format!("{n}"), format!("{n}")));
        }
        let rule = "anybody may send a message";
        good(journal.send(&claim.id, &signal("kept")), rule);
        journal.release(&claim);
        drop(journal);

        let journal = self.open();
        let claimed = self.claim_released(&journal, &claim.id);
        let rule = "a description is kept";
        same(claimed.run.info, Some(info("begun")), rule);
        for n in 0..50 {
            let found = good(
                journal.find(&claimed.claim, &format!("{n}")),
                "records can be looked up",
            );
            let body = found.map(|found| found.body);
            let rule = "what is queued when a journal is dropped is written still";
            same(body, Some(format!("{n}")), rule);
        }
        let kept = good(
            journal.messages(&claimed.claim, 0),
            "the owner can read messages",
        );
        same(kept.len(), 1, "messages are kept");
        let write = journal.append(&claimed.claim, "50".into(), "50".into());
        written(write, "a run goes on after it was opened again");
        let last = |key| {
            good(
                journal.find(&claimed.claim, key),
                "records can be looked up",
            )
        };
        let (before, after) = (last("49"), last("50"));
        assert!(
            before.map(|it| it.number) < after.map(|it| it.number),
            "numbers grow across owners, but they do not"
        );
    }
}
