//! `loop`.

use super::*;
use plan_runtime::plan;

plan! {
    Rounds(last: String) -> String {
        #[at_most(3)]
        step done = loop |before| {
            step what: String = if before.is_none() { "a".to_owned() } else { last.clone() };
            step act = Act { what };
            act
        } while done == "a";
        done
    }
}

#[test]
fn a_retry_around_it_starts_at_the_first_round() {
    let log = Log::default();
    let plan = plan! {
        #[retry(2)]
        step block = {
            #[at_most(3)]
            step rounds = loop |before| {
                step act = Act { what: if before.is_none() { "a" } else { "b" }.to_owned() };
                act
            } while act == "a";
            Act { what: format!("busy {rounds}") }
        };
        block
    };
    ended(plan.run(&log)).unwrap();
    assert_eq!(log.taken(), "a, b, busy b, a, b, busy b");
}

#[test]
fn in_a_list_it_is_a_step_of_the_block() {
    let log = Log::default();
    let plan = plan! {
        #[concurrency(1)]
        step all = for number in [1, 2] {
            #[at_most(3)]
            #[collect]
            step rounds = loop |before| {
                step count: usize = before.map_or(1, |count| count + 1);
                step act = Act { what: format!("{number} {count}") };
                step end: usize = count + act.len() * 0;
                end
            } while end < number;
            rounds
        };
        all
    };
    assert_eq!(ended(plan.run(&log)).unwrap(), [vec![1], vec![1, 2]]);
    assert_eq!(log.taken(), "1 1, 2 1, 2 2");
}

#[test]
fn that_of_a_plan_is_visible_outside() {
    let log = Log::default();
    let plan = plan! { step inner = Rounds { last: "no b" }; inner };
    let error = ended(plan.run(&log)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `plan` failed: step `inner.done[1].act` (act): there is no b"
    );
}

#[test]
fn it_is_dropped_when_the_run_is_late() {
    let log = Log::default();
    late(
        Rounds {
            last: "slow b".into(),
        }
        .run(&log),
    );
    assert_eq!(log.taken(), "a, slow b");
}
