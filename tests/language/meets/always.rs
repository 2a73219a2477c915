//! Always steps.

use super::*;
use plan_runtime::plan;

plan! {
    Told(last: String) -> String {
        step a = Act { what: "a" };
        #[undo(a)]
        step not_a = Act { what: "undo a" };
        #[after(a)]
        step b = Act { what: last };
        #[always]
        step told = Act { what: format!("told {}", b.is_ok()) };
        b
    }
}

#[test]
fn they_run_in_each_attempt_of_a_scope_after_its_undo_steps() {
    let log = Log::default();
    let plan = plan! {
        #[retry(2)]
        step inner = Told { last: "busy b" };
        inner
    };
    ended(plan.run(&log)).unwrap();
    assert_eq!(
        log.taken(),
        "a, busy b, undo a, told false, a, busy b, told true"
    );
}

#[test]
fn they_run_in_each_element_and_in_each_round() {
    let log = Log::default();
    let plan = plan! {
        #[concurrency(1)]
        step all = for number in [0, 1] {
            step a = Act { what: format!("a{number}") };
            #[always]
            step told = Act { what: format!("told {number} {}", a.is_ok()) };
            a
        };
        #[at_most(2)]
        step rounds = loop |last| {
            step number: usize = last.map_or(all.len(), |number| number + 1);
            #[always]
            step told = Act { what: format!("told {}", number.is_ok()) };
            number
        } while number < 3;
        rounds
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), 3);
    assert_eq!(
        log.taken(),
        "a0, told 0 true, a1, told 1 true, told true, told true"
    );
}

#[test]
fn they_run_when_the_plan_ends_that_a_step_calls() {
    let log = Log::default();
    let plan = plan! {
        step inner = Told { last: "b" };
        step end = Act { what: format!("after {inner}") };
        end
    };
    ended(plan.run(&log)).unwrap();
    assert_eq!(log.taken(), "a, b, told true, after b");
}

#[test]
fn they_run_after_the_undo_steps_of_a_run_that_is_late() {
    let log = Log::default();
    late(
        Told {
            last: "slow b".into(),
        }
        .run(&log),
    );
    assert_eq!(log.taken(), "a, slow b, undo a, told false");
    let plan = plan! { step inner = Told { last: "slow b" }; inner };
    late(plan.run(&log));
    assert_eq!(log.taken(), "a, slow b, undo a, told false");
}
