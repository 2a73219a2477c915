//! Reports of a run about interrupted undo steps, and about failures that have no step.

use super::hand::{End, Event, GRACE, Hand, Outcome};
use super::tree::{Node, Recovers, Work, plans};
use plan_runtime::plan::{Executable, Role};
use plan_runtime::run::OnFailure;

fn call() -> Node {
    Node::new(Work::Call)
}

/// Returns a completed step with its undo step, and a step that takes the next events.
fn held() -> Vec<Node> {
    let undo = Node {
        role: Role::Undo(0),
        ..call()
    };
    let then = Node {
        after: vec![0],
        ..call()
    };
    vec![call(), then, undo]
}

fn recovering(work: Work, recovers: Recovers) -> Node {
    Node {
        recovers,
        ..Node::new(work)
    }
}

/// Returns the outcome of a run after some events. An event is the path of a call that succeeds, the path of a call that
/// fails after a `!`, or a word.
fn outcome(steps: &[Node], events: &str) -> Outcome {
    outcome_under(OnFailure::Stop, steps, events)
}

fn outcome_under(on_failure: OnFailure, steps: &[Node], events: &str) -> Outcome {
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let hand = Hand::new(&plans);
    let mut run = hand.begin(on_failure, GRACE);
    for event in events.split_whitespace() {
        run.settle();
        run.happen(&match (event, event.strip_prefix('!')) {
            ("cancel", _) => Event::Cancel,
            ("deadline", _) => Event::Deadline,
            ("grace", _) => Event::Grace,
            (_, Some(path)) => Event::End(path.to_owned(), End::Transient),
            (path, None) => Event::End(path.to_owned(), End::Ok),
        });
    }
    assert!(run.settle(), "{:?} run", hand.running());
    run.outcome(steps)
}

#[test]
fn rounds_that_were_undone_before_the_grace_was_over_are_named() {
    let steps = [Node::new(Work::Loop(false, held()))];
    let first = "s10[0].s20 s10[0].s21 s10[1].s20 cancel";
    let got = outcome(&steps, &format!("{first} s10[1].u22 grace"));
    assert_eq!(got.undone, ["s10[1].s20"]);
    assert_eq!(got.not_undone, ["s10[0].s20"]);
    let got = outcome(&steps, &format!("{first} !s10[1].u22 grace"));
    assert_eq!(got.not_undone, ["s10[0].s20", "s10[1].s20"]);
    assert_eq!(got.failures, ["s10[1].u22 #1 blocks []"]);
}

#[test]
fn what_was_not_undone_in_the_grace_is_named_from_however_deep() {
    let inner = Node::new(Work::Loop(false, held()));
    let steps = [Node::new(Work::Block(vec![inner]))];
    let first = "s10.s20[0].s30 s10.s20[0].s31 s10.s20[1].s30 cancel";
    let got = outcome(&steps, &format!("{first} !s10.s20[1].u32 grace"));
    assert_eq!(got.not_undone, ["s10.s20[0].s30", "s10.s20[1].s30"]);
    assert_eq!(got.failures, ["s10.s20[1].u32 #1 blocks []"]);
}

#[test]
fn a_run_that_is_cancelled_catches_nothing() {
    for recovers in [Recovers::Catch, Recovers::Fallback, Recovers::Optional] {
        let steps = [recovering(Work::Loop(false, held()), recovers)];
        let got = outcome(&steps, "s10[0].s20 cancel !s10[0].u22");
        assert_eq!(got.result, Err("cancelled"));
        assert_eq!(got.not_undone, ["s10[0].s20"]);
        assert_eq!(got.failures, ["s10[0].u22 #1 blocks []"]);
    }
}

#[test]
fn what_was_undone_for_a_failure_that_ends_at_its_step_is_not_named() {
    for work in [Work::Loop(false, held()), Work::Block(held())] {
        let steps = [recovering(work, Recovers::Optional), call()];
        let got = match &steps[0].work {
            Work::Block(_) => outcome(&steps, "s10.s20 !s10.s21 s10.u22 !s11"),
            _ => outcome(
                &steps,
                "s10[0].s20 s10[0].s21 s10[1].s20 !s10[1].s21 s10[1].u22 s10[0].u22 !s11",
            ),
        };
        assert_eq!(got.result, Err("failed"));
        assert_eq!(got.undone, [""; 0]);
        assert_eq!(got.failures, ["s11 #1 blocks []"]);
    }
}

#[test]
fn an_always_step_that_runs_at_the_deadline_goes_on_in_the_grace() {
    for work in [Work::Block(vec![call()]), Work::Plan(vec![call()])] {
        let always = Node {
            role: Role::Always,
            ..Node::new(work)
        };
        let steps = [call(), always];
        let got = outcome(&steps, "s10 deadline a11.s20");
        assert_eq!(
            got.steps,
            "s10 completed #1, a11 completed #1{s20 completed #1}"
        );
        let got = outcome(&steps, "s10 deadline grace");
        assert_eq!(
            got.steps,
            "s10 completed #1, a11 cancelled #1{s20 cancelled #1}"
        );
    }
}

#[test]
fn a_loop_that_goes_on_no_more_is_undone_before_the_work_has_ended() {
    let steps = [call(), Node::new(Work::Loop(false, held()))];
    let got = outcome(&steps, "s11[0].s20 !s10 s11[0].s21 cancel s11[0].u22");
    assert_eq!(got.result, Err("cancelled"));
    assert_eq!(got.undone, ["s11[0].s20"]);
}

#[test]
fn rounds_of_an_always_step_that_fails_are_undone() {
    let always = Node {
        role: Role::Always,
        ..Node::new(Work::Loop(true, held()))
    };
    let rounds = "a11[0].s20 a11[0].s21 a11[1].s20 a11[1].s21";
    let got = outcome(
        &[call(), always],
        &format!("s10 {rounds} a11[1].u22 a11[0].u22"),
    );
    assert_eq!(got.result, Ok(serde_json::json!(["s10"])));
}

#[test]
fn a_cancellation_hides_no_failure_that_has_left_something() {
    for recovers in [Recovers::No, Recovers::Optional] {
        let steps = [recovering(Work::Loop(false, held()), recovers)];
        let failed = "s10[0].s20 s10[0].s21 s10[1].s20 !s10[1].s21 !s10[1].u22";
        let got = outcome(&steps, &format!("{failed} cancel s10[0].u22"));
        let failures = ["s10[1].s21 #1 blocks []", "s10[1].u22 #1 blocks []"];
        assert_eq!(got.failures, failures);
        assert_eq!(got.undone, ["s10[0].s20"]);
        assert_eq!(got.not_undone, ["s10[1].s20"]);
    }
}

#[test]
fn nor_is_what_was_undone_beside_it() {
    let each = Work::For(Box::new(Work::Block(held())));
    let steps = [recovering(each, Recovers::Optional), call()];
    let events = "s10[0].s20 s10[1].s20 !s10[0].s21 s10[0].u22 s10[1].u22 !s11";
    let got = outcome_under(OnFailure::Cancel, &steps, events);
    assert_eq!(got.undone, [""; 0]);
    assert_eq!(got.failures, ["s11 #1 blocks []"]);
}

#[test]
fn what_an_always_step_has_left_is_named() {
    let always = Node {
        role: Role::Always,
        ..Node::new(Work::Block(held()))
    };
    let steps = [Node::new(Work::Block(vec![call(), always])), call()];
    let events = "s10.s20 s10.a21.s30 !s10.a21.s31 !s10.a21.u32 !s11";
    assert_eq!(outcome(&steps, events).not_undone, ["s10.a21.s30"]);
}
