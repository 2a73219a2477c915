//! `#[catch]`, `#[optional]` and `#[fallback]`.

use super::*;
use plan_runtime::plan;

plan! {
    Left(first: String) -> String {
        step a = Act { what: first };
        #[undo(a)]
        step not_a = Act { what: format!("no undo of {a}") };
        step b = Act { what: format!("no {a}") };
        b
    }
}

#[test]
fn a_failure_ends_at_its_step_unless_something_was_left_undone() {
    let log = Log::default();
    let plan = plan! {
        #[optional]
        step optional = Act { what: "no a" };
        #[fallback("b")]
        step replaced = Act { what: "no b" };
        #[catch]
        step caught = Act { what: "no c" };
        (optional, replaced, caught.is_err())
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), (None, "b".to_owned(), true));

    let optional = plan! { #[optional] step left = Left { first: "a" }; left };
    let error = ended(optional.run(&log)).unwrap_err();
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["left.a"]);
    let replaced = plan! { #[fallback("b")] step left = Left { first: "a" }; left };
    let error = ended(replaced.run(&log)).unwrap_err();
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["left.a"]);
    // A caught failure contains them.
    let caught = plan! { #[catch] step left = Left { first: "a" }; left };
    let failure = ended(caught.run(&log)).unwrap().unwrap_err();
    assert!(
        failure.message.contains("not undone: `left.a`"),
        "{failure}"
    );
    assert!(!failure.transient);
}

#[test]
fn they_are_for_the_whole_list_or_for_each_element_which_alone_is_undone() {
    let log = Log::default();
    let plan = plan! {
        #[catch(each)]
        #[concurrency(1)]
        step each = for number in [0, 1] {
            step a = Act { what: format!("a{number}") };
            #[undo(a)]
            step not_a = Act { what: format!("undo {a}") };
            #[after(a)]
            step b = Act { what: if number == 1 { "no b" } else { "b" }.to_owned() };
            b
        };
        #[optional]
        #[after(each)]
        step whole = for number in [0, 1] { Act { what: if number == 1 { "no c" } else { "c" }.to_owned() } };
        (each.iter().map(Result::is_ok).collect::<Vec<_>>(), whole.is_none())
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), (vec![true, false], true));
    assert_eq!(log.taken(), "a0, b, a1, no b, undo a1, c, no c");
}

#[test]
fn they_see_one_failure_of_a_plan_the_first() {
    plan! {
        Two() -> String {
            step a = Act { what: "no a" };
            step b = Act { what: "no b" };
            format!("{a}{b}")
        }
    }
    let log = Log::default();
    let plan = plan! { #[catch] step two = Two {}; two };
    let failure = ended(plan.run(&log)).unwrap().unwrap_err();
    assert_eq!(
        (failure.step.as_str(), failure.message.as_str()),
        ("two.a", "there is no a")
    );
}

#[test]
fn they_catch_nothing_of_a_run_that_is_late() {
    let log = Log::default();
    let plan = plan! {
        #[catch]
        step caught = Act { what: "slow a" };
        #[optional]
        step optional = Act { what: "slow b" };
        #[fallback("c")]
        step replaced = Act { what: "slow c" };
        (caught.is_ok(), optional, replaced)
    };
    late(plan.run(&log));
}
