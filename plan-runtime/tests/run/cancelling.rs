use super::support::{Driven, Lab, plan, run};
use plan_runtime::run::OnFailure;

#[test]
fn dropping_a_run_after_any_number_of_polls_drops_what_runs() {
    let plan = plan("a, b, c < a, d < a b, e < c d, f < e");
    let order = ["b", "a", "d", "c", "e", "f"];
    for polls in 0..=7 {
        let lab = Lab::default();
        let mut driven = Driven::new(run(&plan, &lab));
        let mut ended = false;
        for poll in 0..polls {
            assert!(!ended);
            if poll > 0 {
                lab.let_through(order[poll - 1]);
            }
            ended = driven.poll().is_ready();
        }
        assert_eq!(ended, polls == 7);
        let running = lab.running();
        assert_eq!(running.is_empty(), polls == 0 || polls == 7);
        drop(driven);

        let started = lab.started();
        let mut dropped: Vec<_> = lab.dropped().split_whitespace().map(String::from).collect();
        dropped.sort();
        assert_eq!(dropped, running, "what ran was dropped, and nothing else");
        lab.let_through(&order.join(" "));
        assert_eq!(lab.started(), started, "nothing starts afterwards");
    }
}

#[test]
fn the_application_is_borrowed_for_the_run_alone() {
    let plan = plan("a");
    let mut lab = Lab::open();
    let mut driven = Driven::new(run(&plan, &lab));
    driven.ended().unwrap();
    drop(driven);
    lab = lab.with("a", super::support::Outcome::Fail);
    let run = run(&plan, &lab).on_failure(OnFailure::Stop);
    Driven::new(run).ended().unwrap_err();
}

#[test]
#[should_panic(expected = "a run was polled after it had ended")]
fn a_run_that_has_ended_is_not_polled_again() {
    let plan = plan("a");
    let lab = Lab::open();
    let mut driven = Driven::new(run(&plan, &lab));
    driven.ended().unwrap();
    let _ = driven.poll();
}
