//! `await`.

use super::*;
use plan_runtime::plan;
use plan_runtime::run::SignalError;

plan! {
    Asked(before: String) -> String {
        step asked = Act { what: before };
        #[after(asked)]
        step reply: String = await;
        step done = Act { what: reply };
        done
    }
}

#[test]
fn a_value_that_was_given_stays_for_the_next_attempt() {
    let log = Log::default();
    let plan = plan! { #[retry(2)] step asked = Asked { before: "a" }; asked };
    let run = plan.run(&log);
    run.signals().send("asked.reply", "busy b").unwrap();
    assert_eq!(ended(run).unwrap(), "busy b");
    assert_eq!(log.taken(), "a, busy b, a, busy b");
}

#[test]
fn each_element_and_each_round_has_its_own() {
    let log = Log::default();
    let plan = plan! {
        step all = for what in ["a", "b"] { Asked { before: what } };
        #[at_most(2)]
        step rounds = loop |before| {
            step reply: String = await;
            step end: String = format!("{}{reply}", before.unwrap_or(all.concat()));
            end
        } while reply == "e";
        rounds
    };
    let run = plan.run(&log);
    let signals = run.signals();
    for (path, value) in [
        ("all[1].reply", "d"),
        ("all[0].reply", "c"),
        ("rounds[0].reply", "e"),
        ("rounds[1].reply", "f"),
    ] {
        signals.send(path, value).unwrap();
    }
    assert_eq!(ended(run).unwrap(), "cdef");
}

#[test]
fn its_path_in_a_plan_starts_with_that_of_the_step() {
    let log = Log::default();
    let plan = plan! { step inner = Asked { before: "a" }; inner };
    let run = plan.run(&log);
    let signals = run.signals();
    assert!(matches!(
        signals.send("reply", "b"),
        Err(SignalError::Unknown { .. })
    ));
    signals.send("inner.reply", "b").unwrap();
    assert_eq!(ended(run).unwrap(), "b");
}

#[test]
fn it_is_dropped_when_the_run_is_late() {
    let log = Log::default();
    let run = Asked { before: "a".into() }.run(&log);
    let signals = run.signals();
    late(run);
    assert_eq!(log.taken(), "a");
    assert!(matches!(
        signals.send("reply", "b"),
        Err(SignalError::Ended)
    ));
}
