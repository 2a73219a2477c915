//! Tests of due runs, and of *resting* runs, which a server has released until a time or a message.

use super::store::eventually;
use super::{Blocking, SHORT, SOON, Suite, good, same, signal, wait, written};
use crate::journal::spi::{End, Message, Notified, Rest, Retry};
use crate::journal::{Store, blocking};
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

impl<S: Store, F: FnMut() -> S> Suite<F> {
    pub(super) fn due_runs(&self) {
        let (one, other) = (self.open(), self.open());
        let before = self.own_due(&one).len();
        let [first, owned, ended, last] = [(); 4].map(|()| self.submit(&one, "due"));
        let claim = self.claim(&other, &owned).claim;
        self.end(&one, &ended, End::Done("1".to_owned()));
        let unnamed = self.claim(&one, &self.id()).claim;
        one.release(&unnamed);
        for store in [&one, &other] {
            let due = self.own_due(store).split_off(before);
            let rule =
                "runs without owners that have not ended are due, in the order of their starts";
            same(due, vec![first.clone(), last.clone()], rule);
            for limit in 0..3 {
                let count = store.due(limit).len();
                same(count, limit, "`due` returns as many runs as it may");
            }
        }
        let all = one.due(usize::MAX);
        same(&one.due(2)[..], &all[..2], "`due` returns the first runs");
        self.give_up(&other, &claim);
        assert!(one.is_due(&owned), "a run that was given up is due");
        for id in [first, owned, last] {
            self.end(&one, &id, End::Done("1".to_owned()));
        }
    }

    pub(super) fn rests(&self) {
        let (one, other) = (self.open(), self.open());
        let [forever, hour, asking] = [(); 3].map(|()| self.begin(&one));
        one.rest(&forever, None, 0);
        one.rest(&hour, Some(HOUR), 0);
        one.0.rest(&asking, Rest::new(Some(HOUR), true, 0));
        for claim in [&forever, &hour, &asking] {
            self.is_given_up(&other, &claim.id);
            // The rest released the claim.
            one.release(claim);
            assert!(!one.is_due(&claim.id), "a run that rests is not due");
        }
        one.forgive();
        let rule = "`forgive` ends no other rest";
        assert!(!one.is_due(&hour.id) && !one.is_due(&forever.id), "{rule}");
        let rule = "a run waits if one of its steps waits for a value";
        same(other.summary(&forever.id).waits, true, rule);
        same(other.summary(&hour.id).waits, false, rule);
        same(other.summary(&asking.id).waits, true, rule);

        good(other.send(&hour.id, &Message::Cancel), "anybody may send");
        for claim in [&forever, &asking] {
            good(other.send(&claim.id, &signal("s")), "anybody may send");
        }
        for claim in [&forever, &hour, &asking] {
            assert!(one.is_due(&claim.id), "a message ends the rest of a run");
            same(one.summary(&claim.id).waits, false, rule);
        }
        // A claim ends the rest permanently.
        let claim = self.claim(&one, &forever.id).claim;
        let (seen, _) = good(one.messages(&claim, 0), "messages can be read")[0];
        one.rest(&claim, None, seen);
        self.is_given_up(&one, &claim.id);
        let rule = "a run rests if its owner has taken all messages";
        assert!(!one.is_due(&claim.id), "{rule}, but it is due");
        let claim = self.claim(&other, &forever.id).claim;
        self.give_up(&other, &claim);
        assert!(one.is_due(&claim.id), "a claim ends the rest of a run");

        let claim = self.claim(&other, &forever.id).claim;
        other.rest(&claim, None, seen - 1);
        self.is_given_up(&other, &claim.id);
        let rule = "a run does not rest with a message that its owner has not taken";
        assert!(one.is_due(&claim.id), "{rule}, but it rests");
        same(one.summary(&claim.id).waits, false, rule);

        // The first owner has lost the run, and asks for a rest.
        let new = self.claim(&other, &forever.id).claim;
        one.rest(&claim, None, seen);
        other.rest(&claim, None, seen);
        let rule = "an owner that has lost a run cannot let it rest";
        written(other.append(&new, "kept".into(), "1".into()), rule);
        assert!(one.summary(&new.id).is_owned, "{rule}, but it has no owner");
        self.give_up(&other, &new);
        assert!(one.is_due(&new.id), "{rule}, but it rests");
        for id in [&forever.id, &hour.id, &asking.id] {
            self.end(&one, id, End::Done("1".to_owned()));
        }
    }

    pub(super) fn ends_of_rests(&self) {
        let store = self.open();
        let ready = self.submit(&store, "ready");
        let (second, first) = (self.begin(&store), self.begin(&store));
        for (claim, time) in [(&first, 1), (&second, 2)] {
            let time = Duration::from_millis(time);
            store.0.rest(claim, Rest::new(Some(time), true, 0));
        }
        for claim in [&first, &second] {
            self.is_given_up(&store, &claim.id);
            let rule = "a run is due once its rest is over";
            eventually(rule, || store.is_due(&claim.id));
            same(store.summary(&claim.id).waits, false, "a rest has ended");
        }
        let mut due = self.own_due(&store);
        due.retain(|id| [&*first.id, &*second.id, &*ready].contains(&&**id));
        let expected = [&*first.id, &*second.id, &*ready].map(str::to_owned);
        let rule = "runs whose rest is over come first, in the order of the ends of their rests";
        same(&due[..], &expected[..], rule);
        for id in due {
            self.end(&store, &id, End::Done("1".to_owned()));
        }
    }

    pub(super) fn refusals(&self) {
        let (one, other) = (self.open(), self.open());
        let [refused, sent, owned, ended] = [(); 4].map(|()| self.submit(&one, "refused"));
        let claim = self.claim(&other, &owned).claim;
        self.end(&one, &ended, End::Done("1".to_owned()));
        let reason = "it's \"ü\"\n\\0";
        for id in [&refused, &sent, &owned, &ended] {
            one.refuse(id, HOUR, reason);
        }
        for id in [&refused, &sent] {
            let run = other.summary(id);
            let state = (run.refusal.as_deref(), run.waits);
            let rule = "a refusal is noted with its reason, and the run does not wait";
            same(state, (Some(reason), false), rule);
            assert!(!other.is_due(id), "a run that was refused rests");
        }
        for id in [&owned, &ended] {
            let rule = "a run with an owner, and a run that has ended, cannot be refused";
            same(other.summary(id).refusal, None, rule);
        }
        good(other.send(&sent, &Message::Cancel), "anybody may send");
        assert!(one.is_due(&sent), "a message ends the rest of a run");
        let waiting = self.begin(&one);
        one.rest(&waiting, None, 0);
        self.is_given_up(&one, &waiting.id);
        good(one.send(&waiting.id, &signal("s")), "anybody may send");
        other.refuse(&waiting.id, HOUR, reason);
        let rule = "a run that was refused after its value came does not wait";
        same(one.summary(&waiting.id).waits, false, rule);
        self.end(&one, &waiting.id, End::Done("1".to_owned()));
        self.give_up(&other, &claim);
        assert!(
            one.is_due(&owned),
            "a refusal does not touch a run with an owner"
        );

        let claim = self.claim(&one, &sent).claim;
        one.release(&claim);
        one.refuse(&sent, HOUR, reason);
        let rule = "a run can be refused as soon as it was released";
        same(one.summary(&sent).refusal.as_deref(), Some(reason), rule);

        one.forgive();
        assert!(other.is_due(&refused), "`forgive` ends the rest of a run");
        one.refuse(&refused, Duration::ZERO, "again");
        let refusal = one.summary(&refused).refusal;
        same(refusal.as_deref(), Some("again"), "the last refusal counts");
        let rule = "a run that was refused is due once its rest is over";
        eventually(rule, || one.is_due(&refused));
        let claim = self.claim(&one, &refused).claim;
        let rule = "a claim ends a refusal";
        same(one.summary(&refused).refusal, None, rule);
        self.give_up(&one, &claim);
        for id in [&refused, &sent, &owned] {
            self.end(&one, id, End::Done("1".to_owned()));
        }
    }

    /// Returns a fresh arrival. The notifications of earlier tests may come late.
    fn quiet_arrival(&self, store: &Blocking<S>) -> Notified {
        let mut quiet = None;
        eventually("without a new run, `arrival` waits", || {
            let mut arrival = store.0.arrival();
            let is_quiet = blocking::wait(arrival.as_mut(), SHORT).is_none();
            quiet = is_quiet.then_some(arrival);
            is_quiet
        });
        quiet.unwrap_or_else(|| store.0.arrival())
    }

    pub(super) fn arrivals(&self) {
        let store = self.open();
        let rule = "`arrival` is ready after a run was submitted";
        // One future is polled before the submission, and one after.
        let (early, late) = (self.quiet_arrival(&store), store.0.arrival());
        let id = self.submit(&store, "arrives");
        wait(early, SOON, rule);
        wait(late, SOON, rule);

        let claim = self.claim(&store, &id).claim;
        store.rest(&claim, None, 0);
        self.is_given_up(&store, &id);
        let rule = "`arrival` is ready after a message to a run that rests";
        let (early, late) = (self.quiet_arrival(&store), store.0.arrival());
        good(store.send(&id, &signal("s")), "anybody may send");
        wait(early, SOON, rule);
        wait(late, SOON, rule);

        let rule = "`arrival` is ready after a run was given up";
        let claim = self.claim(&store, &id).claim;
        let arrival = self.quiet_arrival(&store);
        store.release(&claim);
        wait(arrival, SOON, rule);
        let rule = "`arrival` is ready after the rest of a run with a new message";
        let claim = self.claim_released(&store, &id).claim;
        let arrival = self.quiet_arrival(&store);
        store.rest(&claim, None, 0);
        wait(arrival, SOON, rule);
        self.is_given_up(&store, &id);

        let rule = "`arrival` is ready after a failed run was retried";
        self.end(&store, &id, End::Failed("1".to_owned()));
        let claim = self.claim(&store, &id).claim;
        let arrival = self.quiet_arrival(&store);
        let retried = store.retry(&claim, Retry::new(Vec::new(), None));
        good(retried, "the owner can retry a run");
        store.release(&claim);
        wait(arrival, SOON, rule);

        // A run arrives while another thread waits for it.
        let arrival = self.quiet_arrival(&store);
        thread::scope(|scope| {
            let waits = scope.spawn(|| blocking::wait(arrival, SOON));
            thread::sleep(SHORT);
            self.submit(&store, "arrives");
            let woken = waits.join().is_ok_and(|woken| woken.is_some());
            assert!(
                woken,
                "a new run wakes whoever waits in `arrival`, but it did not"
            );
        });
    }
}
