//! `for`.

use super::*;
use plan_runtime::plan;

plan! {
    Each(last: String) -> Vec<String> {
        #[concurrency(1)]
        step all = for what in ["a".to_owned(), last.clone()] {
            step done = Act { what };
            #[undo(done)]
            step undone = Act { what: format!("undo {done}") };
            done
        };
        all
    }
}

#[test]
fn its_completed_elements_are_undone_when_it_fails() {
    let log = Log::default();
    let error = ended(
        Each {
            last: "no b".into(),
        }
        .run(&log),
    )
    .unwrap_err();
    assert_eq!(log.taken(), "a, no b, undo a");
    assert_eq!(error.undone().collect::<Vec<_>>(), ["all[0].done"]);
}

#[test]
fn the_earliest_element_of_inner_lists_comes_first() {
    let log = Log::default();
    let plan = plan! {
        step all = for outer in [0, 1] {
            step inner = for inner in [0, 1] {
                step a = Act { what: format!("a{outer}{inner}") };
                Act { what: format!("b{outer}{inner} {a}") }
            };
            inner
        };
        all
    };
    ended(plan.run(&log).concurrency(1)).unwrap();
    assert_eq!(
        log.taken(),
        "a00, b00 a00, a01, b01 a01, a10, b10 a10, a11, b11 a11"
    );
}

#[test]
fn that_of_a_plan_is_visible_outside() {
    let log = Log::default();
    let plan = plan! { step inner = Each { last: "no b" }; inner };
    let timer = ManualTimer::new();
    let run = plan.run(&log).timer(timer.clone());
    let (output, report) = smol::block_on(timer.skip_waits(run.with_report()));
    assert_eq!(
        output.unwrap_err().to_string(),
        "plan `plan` failed: step `inner.all[1].done` (act): there is no b; undone: `inner.all[0].done`"
    );
    let status = |path| report.step(path).unwrap().status().name();
    assert_eq!(status("inner.all[0].undone"), "completed");
    assert_eq!(status("inner.all[1].done"), "failed");
}

#[test]
fn it_is_dropped_when_the_run_is_late() {
    let log = Log::default();
    late(
        Each {
            last: "slow b".into(),
        }
        .run(&log),
    );
    assert_eq!(log.taken(), "a, slow b, undo a");
}
