//! Undo steps.

use super::super::support::Same;
use super::*;
use plan_runtime::plan;
use plan_runtime::run::Timer;

plan! {
    Pair(last: String) -> String {
        step a = Act { what: "a" };
        #[undo(a)]
        step not_a = Act { what: "undo a" };
        #[after(a)]
        step b = Act { what: last };
        b
    }
}

#[test]
fn a_scope_that_fails_is_undone_before_its_next_attempt_and_before_anyone_sees_the_failure() {
    let log = Log::default();
    let plan = plan! {
        #[retry(2)]
        step pair = Pair { last: "busy b" };
        pair
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), "busy b");
    assert_eq!(log.taken(), "a, busy b, undo a, a, busy b");

    let plan = plan! {
        #[catch]
        step caught = Pair { last: "no b" };
        #[optional]
        #[after(caught)]
        step optional = Pair { last: "no c" };
        #[fallback("d")]
        #[after(optional)]
        step replaced = Pair { last: "no d" };
        step seen = Act { what: format!("{} {} {replaced}", caught.is_err(), optional.is_none()) };
        seen
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), "true true d");
    assert_eq!(
        log.taken(),
        "a, no b, undo a, a, no c, undo a, a, no d, undo a, true true d"
    );
}

#[test]
fn elements_are_undone_within_their_concurrency_and_rounds_from_last_to_first() {
    let log = Log::default();
    let plan = plan! {
        #[at_most(3)]
        #[collect]
        step rounds = loop |last| {
            step number: usize = last.map_or(0, |number| number + 1);
            step a = Act { what: format!("a{number}") };
            #[undo(a)]
            step not_a = Act { what: format!("undo {a}") };
            number
        } while number < 2;
        step end = Act { what: format!("no {}", rounds.len()) };
        end
    };
    ended(plan.run(&log)).unwrap_err();
    assert_eq!(log.taken(), "a0, a1, a2, no 3, undo a2, undo a1, undo a0");

    let plan = plan! {
        #[concurrency(1)]
        step all = for number in [0, 1] {
            step a = Act { what: format!("a{number}") };
            #[undo(a)]
            step not_a = Act { what: format!("undo {a}") };
            #[after(not_a_yet)]
            step b = Act { what: format!("b{number}") };
            #[undo(b)]
            step not_b = Act { what: format!("undo {b} of {number}") };
            step not_a_yet: bool = a.is_empty();
            b
        };
        step end = Act { what: format!("no {}", all.len()) };
        end
    };
    ended(plan.run(&log)).unwrap_err();
    let done = log.taken();
    let undone: Vec<&str> = done
        .split(", ")
        .filter(|it| it.starts_with("undo"))
        .collect();
    assert_eq!(undone.len(), 4, "{done}");
    // One element after the other.
    let numbers: Vec<char> = undone.iter().filter_map(|it| it.chars().last()).collect();
    assert_eq!(numbers[0], numbers[1], "{done}");
    assert_eq!(numbers[2], numbers[3], "{done}");
}

#[test]
fn the_undo_steps_of_a_plan_that_succeeded_are_those_of_the_plan_around_it_caught_or_not() {
    let log = Log::default();
    let plan = plan! {
        step plain = Pair { last: "b" };
        #[catch]
        #[after(plain)]
        step caught = Pair { last: "c" };
        #[after(caught)]
        step end = Act { what: "no end" };
        (plain, caught.is_ok(), end)
    };
    let error = ended(plan.run(&log)).unwrap_err();
    assert_eq!(log.taken(), "a, b, a, c, no end, undo a, undo a");
    assert_eq!(error.undone().collect::<Vec<_>>(), ["caught.a", "plain.a"]);
    // If it fails, they run first.
    let plan = plan! { step inner = Pair { last: "no b" }; step end = Act { what: inner }; end };
    ended(plan.run(&log)).unwrap_err();
    assert_eq!(log.taken(), "a, no b, undo a");
}

#[test]
fn they_run_in_the_grace_of_a_run_that_is_late() {
    let log = Log::default();
    let error = late(
        Pair {
            last: "slow b".into(),
        }
        .run(&log),
    );
    assert_eq!(log.taken(), "a, slow b, undo a");
    assert_eq!(error.undone().collect::<Vec<_>>(), ["a"]);
}

/// Takes ten seconds.
#[tool]
async fn undo_slowly(timer: &ManualTimer) -> Result<()> {
    timer.sleep(Duration::from_secs(10)).await;
    Ok(())
}
/// Fails.
#[tool]
async fn fail(number: u64) -> Result<()> {
    Err(Error::permanent(format!("{number}")))
}

#[test]
fn one_that_runs_goes_on_when_the_run_is_late() {
    let plan = plan! {
        step a = Same::<u64> { value: 1 };
        #[undo(a)]
        step not_a = UndoSlowly {};
        step b = Fail { number: a };
        b
    };
    let timer = ManualTimer::new();
    let run = plan.run(&timer).timer(timer.clone());
    let run = run.deadline(Duration::from_secs(5));
    let error = smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["a"]);
    assert_eq!(timer.elapsed(), Duration::from_secs(10));
}
