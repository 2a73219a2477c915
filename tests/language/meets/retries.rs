//! `#[retry]`.

use super::*;
use plan_runtime::plan;

#[test]
fn a_scope_runs_anew_unless_something_was_left_undone() {
    let log = Log::default();
    let plan = plan! {
        #[retry(3)]
        step block = {
            step a = Act { what: "a" };
            Act { what: format!("busy {a}") }
        };
        block
    };
    ended(plan.run(&log)).unwrap();
    assert_eq!(log.taken(), "a, busy a, a, busy a");

    let plan = plan! {
        #[retry(3)]
        step block = {
            step a = Act { what: "a" };
            #[undo(a)]
            step not_a = Act { what: "no undo" };
            Act { what: format!("busy {a}") }
        };
        block
    };
    let error = ended(plan.run(&log)).unwrap_err();
    assert_eq!(log.taken(), "a, busy a, no undo");
    assert!(error.is_permanent());
}

#[test]
fn one_element_or_one_round_is_repeated() {
    let log = Log::default();
    let plan = plan! {
        #[retry(2)]
        #[concurrency(1)]
        step all = for number in [0, 1] {
            step a = Act { what: if number == 1 { "busy a" } else { "a" }.to_owned() };
            a
        };
        #[retry(2)]
        #[at_most(2)]
        step rounds = loop |last| {
            step number: usize = last.map_or(all.len() - 2, |number| number + 1);
            step a = Act { what: if number == 1 { "busy b" } else { "b" }.to_owned() };
            step end: usize = number + a.len() * 0;
            end
        } while number < 1;
        rounds
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), 1);
    assert_eq!(log.taken(), "a, busy a, busy a, b, busy b, busy b");
}

#[test]
fn a_plan_runs_anew() {
    plan! {
        Busy() -> String {
            step a = Act { what: "a" };
            step b = Act { what: format!("busy {a}") };
            b
        }
    }
    let log = Log::default();
    let plan = plan! { #[retry(2)] step busy = Busy {}; busy };
    ended(plan.run(&log)).unwrap();
    assert_eq!(log.taken(), "a, busy a, a, busy a");
}

#[test]
fn no_attempt_starts_once_the_run_is_late() {
    let log = Log::default();
    let plan = plan! {
        #[retry(5, backoff = "40s", jitter = false)]
        step busy = Act { what: "busy a" };
        #[retry(5)]
        step slow = Act { what: "slow b" };
        (busy, slow)
    };
    late(plan.run(&log));
    assert_eq!(log.taken(), "busy a, slow b, busy a");
}
