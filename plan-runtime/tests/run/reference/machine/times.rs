//! Attempts, time limits, pauses and bounds, which the model does not have.

use super::driver::{DEADLINE, Hand, LATER, NEVER, TIMEOUT, block, call, each, held, tables};
use plan_runtime::machine::{
    Amounts, Answer, CallEnd, CallError, CallId, Command, Cutoff, Duty, ErrorId, Event,
    FailureRole, Machine, Node, NodeBlock, NodeBody, Pause, Question, Reaction, Reason, Recovery,
    Tables,
};

#[test]
fn an_attempt_follows_after_a_wait() {
    let mut step = call(0);
    step.amounts.attempts = 3;
    step.timing.backoff = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.end("0#1", LATER);
    assert_eq!(
        (hand.calls(), hand.timers()),
        (vec![], vec![Pause::Backoff])
    );
    hand.fire(Pause::Backoff);
    hand.end("0#2", LATER);
    hand.fire(Pause::Backoff);
    hand.end("0#3", LATER);
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 3));
}

/// A failure elsewhere ends the wait: the attempt before it was the last.
#[test]
fn a_wait_before_an_attempt_ends_with_its_scope() {
    let mut step = call(0);
    step.amounts.attempts = 2;
    step.timing.backoff = true;
    let tables = tables(vec![step, call(1)]);
    let mut hand = Hand::of(&tables);
    hand.end("0#1", LATER);
    hand.end("1#1", NEVER);
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 1));
}

#[test]
fn an_attempt_that_takes_too_long_is_dropped_and_made_again() {
    for has_deadline in [false, true] {
        let mut step = call(0);
        step.amounts.attempts = 2;
        step.timing.timeout = true;
        step.timing.deadline = has_deadline;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        let deadline = hand.timer(Pause::Deadline);
        hand.fire(Pause::Timeout);
        assert_eq!(hand.calls(), ["0#2"]);
        assert_eq!(hand.timers().len(), 1 + usize::from(has_deadline));
        // The time limit of all attempts continues.
        assert_eq!(hand.timer(Pause::Deadline), deadline);
        if has_deadline {
            hand.fire(Pause::Deadline);
            assert_eq!(hand.reason(), (Reason::Error(DEADLINE), 2));
        } else {
            hand.fire(Pause::Timeout);
            assert_eq!(hand.reason(), (Reason::Error(TIMEOUT), 2));
        }
    }
}

/// The undo steps of a block do not count toward its time limit. If one fails, the block has no other attempt.
#[test]
fn a_block_that_takes_too_long_is_undone_and_run_again() {
    let mut inner = held();
    inner.push(Node::call(7, vec![0]));
    for (ending, attempts) in [(CallEnd::Done, 2), (NEVER, 1)] {
        let mut step = Node::new(0, block(inner.clone()), vec![]);
        step.amounts.attempts = 2;
        step.timing.timeout = true;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        for _ in 0..attempts {
            hand.end("8#1", CallEnd::Done);
            hand.fire(Pause::Timeout);
            assert_eq!((hand.calls(), hand.timers().len()), (vec!["9#1"], 0));
            hand.end("9#1", ending);
        }
        assert_eq!(hand.reason(), (Reason::Error(TIMEOUT), attempts));
    }
}

/// Undo steps run past the deadline, so no attempt follows. A deadline that comes after a timeout is the reason.
#[test]
fn no_attempt_follows_a_deadline_that_passes_while_steps_are_undone() {
    for (has_backoff, is_late) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut inner = held();
        inner.push(Node::call(7, vec![0]));
        let mut step = Node::new(0, block(inner), vec![]);
        step.amounts.attempts = 2;
        step.timing.timeout = true;
        step.timing.deadline = true;
        step.timing.backoff = has_backoff;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        hand.end("8#1", CallEnd::Done);
        if is_late {
            hand.fire(Pause::Timeout);
        } else {
            hand.end("7#1", LATER);
        }
        assert_eq!(hand.calls(), ["9#1"]);
        hand.fire(Pause::Deadline);
        hand.end("9#1", CallEnd::Done);
        assert!(hand.is_done && hand.timers.is_empty());
        let reason = if is_late {
            Reason::Error(DEADLINE)
        } else {
            Reason::Error(ErrorId(1))
        };
        assert_eq!(hand.reason(), (reason, 1));
    }
}

/// No round runs again after the deadline of its loop, though the deadline passes while the round is undone.
#[test]
fn no_round_is_tried_again_after_the_deadline_of_its_loop() {
    let mut inner = held();
    inner.push(Node::call(7, vec![0]));
    let mut step = Node::new(0, NodeBody::Loop(NodeBlock::new(inner)), vec![]);
    step.amounts.attempts = 2;
    step.timing.deadline = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.end("8[0]#1", CallEnd::Done);
    hand.end("7[0]#1", LATER);
    hand.fire(Pause::Deadline);
    hand.end("9[0]#1", CallEnd::Done);
    assert!(hand.is_done);
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 1));
}

/// A call whose time is over while the driver decides does not start, though the driver admits the call.
#[test]
fn a_call_that_is_admitted_too_late_does_not_start() {
    for event in [Event::Admitted, Event::Allowed] {
        let mut step = call(0);
        step.amounts.attempts = 2;
        step.timing.deadline = true;
        step.timing.admits = true;
        let mut machine = Machine::new(&tables(vec![step]), Reaction::Stop, 64);
        let asked = |machine: &mut Machine| match machine.next(true) {
            Some(Command::Admit(call, _)) => call,
            command => panic!("{command:?}"),
        };
        let first = asked(&mut machine);
        machine.handle(Event::Admitted(first));
        let Some(Command::Start(first, _)) = machine.next(true) else {
            panic!("the call starts");
        };
        let Some(Command::Sleep(deadline, Pause::Deadline, _)) = machine.next(true) else {
            panic!("the time begins");
        };
        machine.handle(Event::Ended(first, LATER));
        let second = asked(&mut machine);
        machine.handle(Event::TimedOut(deadline, DEADLINE));
        machine.handle(event(second));
        let mut commands = std::iter::from_fn(|| machine.next(true));
        assert!(commands.all(|it| !matches!(it, Command::Start(..))));
        assert!(machine.is_over());
    }
}

/// Nothing replaces the failure of a round that waits for its next attempt when another step fails: `each` is about elements.
#[test]
fn a_loop_that_stops_fails_with_its_round() {
    let mut step = Node::new(0, NodeBody::Loop(NodeBlock::new(vec![call(1)])), vec![]);
    step.each = Recovery::Catch;
    step.amounts.attempts = 2;
    step.timing.backoff = true;
    let tables = tables(vec![step, call(2)]);
    let mut hand = Hand::of(&tables);
    hand.end("1[0]#1", LATER);
    hand.end("2#1", NEVER);
    let failures = hand.machine.view().result().unwrap_err();
    assert_eq!(failures.steps.len(), 2);
}

#[test]
fn a_wait_for_a_value_has_time_limits() {
    for (pause, reason) in [
        (Pause::Timeout, Reason::Error(TIMEOUT)),
        (Pause::Deadline, Reason::Error(DEADLINE)),
    ] {
        let mut step = Node::new(0, NodeBody::Await, vec![]);
        step.amounts.attempts = 2;
        step.timing.timeout = true;
        step.timing.deadline = true;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        hand.fire(pause);
        assert_eq!(hand.reason(), (reason, 1));
    }
}

/// A loop of one call with a time limit and a pause between rounds.
fn poll(at_most: u32) -> Node {
    let mut step = Node::new(0, NodeBody::Loop(NodeBlock::new(vec![call(1)])), vec![]);
    step.timing.every = true;
    step.timing.deadline = true;
    step.amounts.at_most = at_most;
    step
}

#[test]
fn rounds_wait_for_each_other() {
    let tables = tables(vec![poll(3)]);
    let mut hand = Hand::of(&tables);
    hand.end("1[0]#1", CallEnd::Done);
    assert!(matches!(
        hand.answer(Answer::Number(1)),
        Question::Again(_, 0)
    ));
    assert!(hand.calls().is_empty());
    hand.fire(Pause::Every);
    // The pause ends before the round.
    hand.fire(Pause::Every);
    hand.end("1[1]#1", CallEnd::Done);
    hand.answer(Answer::Number(1));
    hand.end("1[2]#1", CallEnd::Done);
    hand.answer(Answer::Number(1));
    assert_eq!(hand.reason(), (Reason::TooManyRounds(3), 1));
}

#[test]
fn a_loop_has_a_time_limit() {
    let tables = tables(vec![poll(9)]);
    // In a round, in the pause, and in a question.
    for at in 0..3 {
        let mut hand = Hand::of(&tables);
        if at > 0 {
            hand.end("1[0]#1", CallEnd::Done);
        }
        if at == 1 {
            hand.answer(Answer::Number(1));
        }
        hand.fire(Pause::Deadline);
        if at == 2 {
            assert!(!hand.is_done);
            hand.answer(Answer::Number(1));
        }
        assert_eq!(hand.reason(), (Reason::Error(DEADLINE), 1), "{at}");
    }
}

#[test]
fn amounts_are_asked_for() {
    let mut step = each(NodeBody::Call);
    step.timing.amounts = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    let amounts = Amounts {
        at_once: 2,
        ..Amounts::DEFAULT
    };
    let question = hand.answer(Answer::Amounts(amounts));
    assert!(matches!(question, Question::Amounts(_)));
    hand.answer(Answer::Number(4));
    assert_eq!(hand.calls(), ["0[0]#1", "0[1]#1"]);
    hand.end("0[1]#1", CallEnd::Done);
    assert_eq!(hand.calls(), ["0[0]#1", "0[2]#1"]);
    for call in ["0[0]#1", "0[2]#1", "0[3]#1"] {
        hand.end(call, CallEnd::Done);
    }
    assert!(hand.succeeds());
}

/// The elements of an inner list start before the next element of the outer list. A bound holds for undo steps as well.
#[test]
fn elements_start_in_order_and_are_undone_within_the_bound() {
    let mut step = each(NodeBody::For(Box::new(block(held()))));
    step.amounts.at_once = 2;
    let tables = tables(vec![step, Node::call(1, vec![0])]);
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Number(2));
    hand.answer(Answer::Number(2));
    assert_eq!(hand.calls(), ["8[0][0]#1", "8[0][1]#1"]);
    assert!(hand.questions.is_empty());
    hand.end("8[0][0]#1", CallEnd::Done);
    hand.answer(Answer::Number(2));
    assert_eq!(hand.calls(), ["8[0][1]#1", "8[1][0]#1"]);
    for call in ["8[0][1]#1", "8[1][0]#1", "8[1][1]#1"] {
        hand.end(call, CallEnd::Done);
    }
    hand.end("1#1", NEVER);
    assert_eq!(hand.calls(), ["9[1][0]#1", "9[1][1]#1"]);
    hand.end("9[1][1]#1", CallEnd::Done);
    assert_eq!(hand.calls(), ["9[0][1]#1", "9[1][0]#1"]);
    for call in ["9[1][0]#1", "9[0][1]#1", "9[0][0]#1"] {
        hand.end(call, CallEnd::Done);
    }
    assert_eq!(hand.machine.view().result().unwrap_err().undone.len(), 4);
}

/// An element that waits for another attempt fails when another element fails for good. The failure of the first element in the list counts.
#[test]
fn an_element_that_waits_fails_with_the_others() {
    let mut step = each(NodeBody::Call);
    step.amounts.attempts = 2;
    step.timing.backoff = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Number(2));
    hand.end("0[0]#1", LATER);
    hand.end("0[1]#1", NEVER);
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 1));
}

#[test]
fn the_first_branch_that_holds_is_taken() {
    let branches = vec![NodeBody::Call, block(vec![call(1)]), NodeBody::Call];
    let tables = tables(vec![Node::new(0, NodeBody::If(branches), vec![])]);
    for (branch, expected) in [
        (0, vec![]),
        (1, vec!["0#1"]),
        (2, vec!["1#1"]),
        (3, vec!["0#1"]),
    ] {
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Number(branch));
        assert_eq!(hand.calls(), expected);
    }
}

#[test]
fn a_value_that_cannot_be_made_fails_its_step_or_scope() {
    let error = CallError {
        error: ErrorId(2),
        transient: false,
        lasting: false,
    };
    let branch = NodeBody::If(vec![NodeBody::Call]);
    let mut listed = each(NodeBody::Call);
    // A list is no element.
    listed.each = Recovery::Catch;
    for node in [Node::new(0, branch, vec![]), listed] {
        let tables = tables(vec![node]);
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Failed(error));
        assert_eq!(hand.reason(), (Reason::Error(ErrorId(2)), 0));
    }
    let mut round = Node::new(0, NodeBody::Loop(NodeBlock::new(held())), vec![]);
    round.amounts.at_most = 2;
    let tables1 = tables(vec![round]);
    let mut hand = Hand::of(&tables1);
    hand.end("8[0]#1", CallEnd::Done);
    hand.answer(Answer::Failed(error));
    hand.end("9[0]#1", CallEnd::Done);
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(2)), 1));
    // The value of a scope: its steps are undone.
    let plan = NodeBlock {
        has_output: true,
        ..NodeBlock::new(held())
    };
    for is_cut in [false, true] {
        let tables = Tables::new(std::slice::from_ref(&plan)).unwrap();
        let mut hand = Hand::of(&tables);
        hand.end("8#1", CallEnd::Done);
        if is_cut {
            hand.machine.handle(Event::Cancelled);
            hand.settle();
        } else {
            hand.answer(Answer::Failed(error));
        }
        hand.end("9#1", CallEnd::Done);
        let failures = hand.machine.view().result().unwrap_err();
        assert_eq!(failures.undone.len(), 1);
        assert_eq!(failures.cutoff, is_cut.then_some(Cutoff::Cancelled));
        assert_eq!(failures.steps.len(), usize::from(!is_cut));
    }
}

/// A cancellation after a time limit does not hide the time limit: the scope was ended by the limit.
#[test]
fn the_first_cause_that_ends_a_scope_counts() {
    let mut inner = held();
    inner.push(Node::call(7, vec![0]));
    let inner = Node::new(1, block(inner), vec![]);
    let mut outer = Node::new(0, block(vec![inner]), vec![]);
    outer.timing.timeout = true;
    let tables = tables(vec![outer]);
    let mut hand = Hand::of(&tables);
    hand.end("8#1", CallEnd::Done);
    hand.fire(Pause::Timeout);
    assert_eq!(hand.calls(), ["9#1"]);
    hand.machine.handle(Event::Cancelled);
    hand.settle();
    hand.end("9#1", CallEnd::Done);
    assert_eq!(hand.reason(), (Reason::Error(TIMEOUT), 1));
    let failures = hand.machine.view().result().unwrap_err();
    assert_eq!(failures.cutoff, Some(Cutoff::Cancelled));
}

/// The time limits of a call leave the call alone if its end is certain. After a deadline, no attempt follows.
#[test]
fn a_call_whose_end_is_certain_outlasts_its_time_limits() {
    for (pause, ending, attempts) in [
        (Pause::Timeout, CallEnd::Done, 1),
        (Pause::Deadline, CallEnd::Done, 1),
        (Pause::Timeout, LATER, 2),
        (Pause::Deadline, LATER, 1),
    ] {
        let mut step = call(1);
        step.amounts.attempts = 2;
        step.timing.timeout = pause == Pause::Timeout;
        step.timing.deadline = pause == Pause::Deadline;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        let certain = *hand.calls.keys().next().unwrap();
        hand.machine.handle(Event::Certain(certain));
        hand.fire(pause);
        assert_eq!(hand.calls(), ["1#1"]);
        hand.end("1#1", ending);
        if attempts == 2 {
            hand.end("1#2", CallEnd::Done);
        }
        assert_eq!(hand.succeeds(), ending == CallEnd::Done || attempts == 2);
    }
}

/// A cancellation, or the time limit of a block, leaves a call alone whose end is certain: its step is undone if the call has succeeded.
#[test]
fn a_scope_that_is_cut_waits_for_a_call_whose_end_is_certain() {
    let plain = held();
    let mut limited = held();
    limited[0].timing.timeout = true;
    for steps in [plain, limited] {
        for (is_block, ending) in [false, true]
            .into_iter()
            .flat_map(|is_block| [(is_block, CallEnd::Done), (is_block, NEVER)])
        {
            let mut steps = steps.clone();
            steps.push(call(7));
            if is_block {
                let mut step = Node::new(0, block(steps), vec![]);
                step.timing.timeout = true;
                steps = vec![step];
            }
            let tables = tables(steps);
            let machine = Machine::new(&tables, Reaction::Stop, 64).telling();
            let mut hand = Hand::new(&tables, machine);
            let certain = *hand.calls.iter().find(|it| it.1 == "8#1").unwrap().0;
            hand.machine.handle(Event::Certain(certain));
            if is_block {
                let limit = hand.timers.iter().next_back().map(|it| *it.0);
                let of_block = |timer: &CallId| hand.machine.view().part(*timer).unwrap().step;
                let timers = hand.timers.keys().copied();
                let block = timers.min_by_key(of_block).or(limit).unwrap();
                hand.timers.remove(&block);
                hand.machine.handle(Event::TimedOut(block, TIMEOUT));
            } else {
                hand.machine.handle(Event::Cancelled);
            }
            hand.settle();
            assert_eq!(hand.calls(), ["8#1"]);
            assert!(!hand.is_done);
            hand.end("8#1", ending);
            let is_undone = ending == CallEnd::Done;
            if is_undone {
                assert_eq!(hand.calls(), ["9#1"]);
                hand.end("9#1", CallEnd::Done);
            }
            assert!(hand.is_done);
            let failures = hand.machine.view().result().unwrap_err();
            assert_eq!(failures.undone.len(), usize::from(is_undone));
        }
    }
}

/// The value of an element may not replace its failure after all.
#[test]
fn an_element_without_another_value_has_failed() {
    let mut step = each(NodeBody::Call);
    step.each = Recovery::Replace;
    step.timing.fallback = true;
    let tables = tables(vec![step]);
    for is_replaced in [true, false] {
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Number(2));
        hand.end("0[0]#1", CallEnd::Done);
        hand.end("0[1]#1", NEVER);
        let error = CallError {
            error: ErrorId(2),
            transient: false,
            lasting: false,
        };
        hand.answer(if is_replaced {
            Answer::Made
        } else {
            Answer::Failed(error)
        });
        assert!(hand.is_done);
        assert_eq!(hand.machine.view().result().is_ok(), is_replaced);
    }
}

/// The error of a block that takes too long names the steps of the block that have failed, also its always steps.
#[test]
fn a_block_that_takes_too_long_names_failures_inside() {
    let always = Node {
        duty: Duty::Always,
        ..call(9)
    };
    let mut step = Node::new(0, block(vec![call(8), always]), vec![]);
    step.timing.timeout = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.fire(Pause::Timeout);
    hand.end("9#1", NEVER);
    let failures = hand.machine.view().result().unwrap_err();
    let failed: Vec<_> = failures
        .steps
        .iter()
        .map(|it| (it.reason, it.role))
        .collect();
    assert_eq!(
        failed,
        [
            (Reason::Error(TIMEOUT), FailureRole::Work),
            (Reason::Error(ErrorId(2)), FailureRole::Always)
        ]
    );
}

/// A failed run whose calls can no longer end drops these calls and undoes its steps.
#[test]
fn a_failed_run_drops_the_calls_that_cannot_end() {
    let mut steps = held();
    steps.push(call(7));
    steps.push(call(6));
    let tables = tables(steps);
    for has_failed in [false, true] {
        let mut hand = Hand::of(&tables);
        hand.end("8#1", CallEnd::Done);
        if has_failed {
            hand.end("7#1", NEVER);
        }
        hand.machine.handle(Event::Exhausted);
        hand.settle();
        let expected = if has_failed {
            vec!["9#1"]
        } else {
            vec!["6#1", "7#1"]
        };
        assert_eq!(hand.calls(), expected);
    }
}
