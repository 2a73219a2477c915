//! Lists of runs.

use super::store::eventually;
use super::{Suite, good, info, same};
use crate::journal::spi::End;
use crate::journal::{RunFilter, RunState, RunSummary, Store};
use std::thread;
use std::time::{Duration, SystemTime};

/// A number of runs that exceeds the page size of most journals.
const MANY: usize = 150;

fn ids(runs: &[RunSummary]) -> Vec<&str> {
    runs.iter().map(|run| &*run.id).collect()
}

/// Checks the summaries of runs that began in this order after this time. One of the runs has an owner.
fn summaries_fit(runs: &[RunSummary], owned: &str, before: SystemTime) {
    let much = Duration::from_secs(10);
    let mut last = 0;
    for run in runs {
        let number = run.number;
        assert!(
            number > last,
            "the numbers of runs grow, but {number} came after {last}"
        );
        last = number;
        assert!(
            run.began + much >= before && run.began <= SystemTime::now() + much,
            "a list has the start of a run, but that is {:?}",
            run.began
        );
        let has_ended = run.ended.is_some_and(|ended| ended + much >= run.began);
        let is_running = run.state == RunState::Running;
        assert!(
            has_ended != is_running,
            "a list has the end of each run that has ended, but that of a {:?} run is {:?}",
            run.state,
            run.ended
        );
        let rule = "a list tells if a run has an owner";
        same(run.is_owned, run.id == owned, rule);
        let rule = "a run that no server gave up does not wait";
        same(run.waits, false, rule);
        same(&run.refusal, &None, "a run that could begin has no refusal");
    }
}

impl<S: Store, F: FnMut() -> S> Suite<F> {
    pub(super) fn lists(&self) {
        let (one, other) = (self.open(), self.open());
        let before = SystemTime::now();
        let plans = ["a'", "b%"].map(|plan| format!("{plan}{:x}", self.drawn));
        let of = |plan: usize| RunFilter::new().plan(plans[plan].clone());
        let runs = [0, 1, 0, 1, 0].map(|plan| self.submit(&one, &plans[plan]));
        let [done, failed, cancelled, unowned, owned] = &runs;
        let body = || "\"ü\"".to_owned();
        self.end(&one, done, End::Done(body()));
        self.end(&one, failed, End::Failed(body()));
        self.end(&one, cancelled, End::Cancelled(body()));
        let owner = self.claim(&one, owned).claim;
        let unnamed = self.claim(&one, &self.id()).claim;
        thread::sleep(Duration::from_millis(5));

        let (states, hour) = (RunFilter::state, Duration::from_secs(3600));
        let cases: [(&str, RunFilter, &[&String]); 17] = [
            ("by plan", of(0), &[done, cancelled, owned]),
            ("by plan", of(1), &[failed, unowned]),
            ("by plan", RunFilter::new().plan("a%"), &[]),
            (
                "newest first",
                of(0).newest_first(),
                &[owned, cancelled, done],
            ),
            ("by state", states(of(0), RunState::Done), &[done]),
            ("by state", states(of(1), RunState::Failed), &[failed]),
            ("by state", states(of(1), RunState::Done), &[]),
            ("by state", states(of(0), RunState::Failed), &[]),
            ("by state", states(of(0), RunState::Cancelled), &[cancelled]),
            ("by state", states(of(0), RunState::Running), &[owned]),
            ("by owner", of(0).is_owned(true), &[owned]),
            ("by owner", of(0).is_owned(false), &[done, cancelled]),
            (
                "by age",
                of(1).older_than(Duration::ZERO),
                &[failed, unowned],
            ),
            ("by age", of(1).older_than(hour), &[]),
            ("by age", of(1).older_than(Duration::MAX), &[]),
            ("by id", RunFilter::new().id(done), &[done]),
            ("by id and plan", of(1).id(done), &[]),
        ];
        for store in [&one, &other] {
            for (name, filter, expected) in &cases {
                let rule = format!("runs are listed {name}");
                let found = store.list(filter.clone());
                let expected: Vec<&str> = expected.iter().map(|id| id.as_str()).collect();
                same(ids(&found), expected, &rule);
            }
            let unknown = store.list(RunFilter::new().id(&*unnamed.id));
            let rule = "a run that nobody has described is not listed";
            same(unknown.len(), 0, rule);
        }
        for (id, plan) in runs.iter().zip([0, 1, 0, 1, 0]) {
            same(
                &other.summary(id).plan,
                &plans[plan],
                "a list names the plan",
            );
        }
        summaries_fit(&runs.each_ref().map(|id| other.summary(id)), owned, before);
        one.release(&owner);
        one.release(&unnamed);
        let rule = "a run that was given up has no owner";
        eventually(rule, || other.list(of(0).is_owned(true)).is_empty());
    }

    pub(super) fn pages(&self) {
        let store = self.open();
        let plan = format!("pages {:x}", self.drawn);
        let of = || RunFilter::new().plan(plan.clone());
        let mut claims: Vec<_> = (0..MANY)
            .map(|_| {
                let claim = self.claim(&store, &self.id()).claim;
                let described = store.describe(&claim, &info(&plan));
                good(described, "a claimed run can be described");
                claim
            })
            .collect();
        let expected: Vec<String> = claims.iter().map(|claim| claim.id.to_string()).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        let owned = claims.split_off(MANY - 1);
        claims.iter().for_each(|claim| store.release(claim));
        claims
            .iter()
            .for_each(|it| self.is_given_up(&store, &it.id));

        let rule = "pages follow each other in the order in which the runs began";
        for limit in [1, 7, MANY, usize::MAX] {
            let page = store.page(&of().limit(limit));
            assert!(
                (1..=limit).contains(&page.len()),
                "a page has runs, and at most {limit}, but it has {}",
                page.len()
            );
            if limit == 1 {
                continue;
            }
            same(ids(&store.list(of().limit(limit))), expected.clone(), rule);
        }
        let newest = store.list(of().newest_first().limit(7));
        let rule = "pages of the opposite order begin with the run that began last";
        same(ids(&newest), expected.iter().rev().copied().collect(), rule);
        let rule = "a page is empty only after the last run, also if runs before do not match";
        let page = store.page(&of().is_owned(true).limit(7));
        same(ids(&page), vec![&*owned[0].id], rule);
        let rule = "the limit of a page may be 0";
        same(store.page(&of().limit(0)).len(), 0, rule);

        // The last run of a page is deleted.
        let page = store.page(&of().limit(4));
        let last = page[3].number;
        self.end(&store, expected[3], End::Done("1".into()));
        thread::sleep(Duration::from_millis(5));
        store.delete(Duration::ZERO);
        let rule = "a page begins after the number of a run that was deleted";
        let next = store.page(&of().after(last).limit(1));
        same(ids(&next), vec![expected[4]], rule);
        let next = store.page(&of().newest_first().after(last).limit(1));
        same(ids(&next), vec![expected[2]], rule);
        self.give_up(&store, &owned[0]);
    }
}
