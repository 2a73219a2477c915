//! Runs that need more than they may have: such a run is over at once, and no fallback applies.

use super::driver::{Hand, NEVER, call, each, held, tables};
use plan_runtime::machine::{
    Answer, CallEnd, Capacity, Command, Cutoff, ErrorId, Event, FailureRole, Failures, Full,
    Machine, Node, NodeBlock, NodeBody, Question, Reaction, Reason, Recovery, Tables, Timing,
};
use std::sync::Arc;

/// The things that a run has had, as [`Capacity`] counts them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    elements: u64,
    is_undone: bool,
}

/// Returns plans with everything that counts, in which every failure is caught. Steps with the label 1 are values. Calls with the label 5
/// fail once.
fn plans() -> [NodeBlock; 2] {
    let caught = |body| Node {
        recovery: Recovery::Catch,
        ..Node::new(0, body, vec![0])
    };
    let mut fails = call(5);
    fails.amounts.attempts = 2;
    let round = NodeBlock::new(vec![call(2), fails.clone()]);
    let mut steps = held();
    steps.extend([
        caught(NodeBody::For(Box::new(NodeBody::Call))),
        caught(NodeBody::Loop(round)),
        caught(NodeBody::Plan(1)),
        Node::new(1, NodeBody::Value, vec![]),
        fails.clone(),
    ]);
    [
        NodeBlock::new(steps),
        NodeBlock::new(vec![call(3), caught(NodeBody::Value), fails]),
    ]
}

/// Runs the plan with lists of two elements and two rounds.
fn run(tables: &Arc<Tables>, capacity: Capacity) -> (Count, Result<(), Failures>) {
    let mut machine = Machine::with_capacity(tables, Reaction::Stop, 3, capacity);
    let mut count = Count::default();
    let mut is_done = false;
    while let Some(command) = machine.next(true) {
        assert!(!is_done);
        match command {
            Command::Start(call, place) => {
                let label = tables.label(place.step);
                count.is_undone |= label == 9;
                let ending = if label == 5 && place.attempt == 1 {
                    super::driver::LATER
                } else {
                    CallEnd::Done
                };
                machine.handle(Event::Ended(call, ending));
            }
            Command::Evaluate(id, question) => {
                let number = match question {
                    Question::List(..) => {
                        count.elements += 2;
                        2
                    }
                    Question::Again(_, round) => {
                        count.elements += 1;
                        u32::from(round == 0)
                    }
                    _ => 0,
                };
                machine.handle(Event::Answered(id, Answer::Number(number)));
            }
            Command::Done => is_done = true,
            _ => {}
        }
    }
    assert!(is_done);
    (count, machine.view().result())
}

#[test]
fn a_run_may_have_as_much_as_its_capacity() {
    let tables = Tables::new(&plans()).unwrap();
    let all = Capacity::DEFAULT;
    let (count, result) = run(&tables, all);
    assert!(result.is_ok() && !count.is_undone);
    let elements = count.elements;
    assert_eq!(elements, 4);
    for most in 0..=elements {
        for (capacity, full, need) in [
            (
                Capacity {
                    elements: most,
                    ..all
                },
                Full::Elements,
                elements,
            ),
            (
                Capacity {
                    plans: most as u32,
                    ..all
                },
                Full::Plans,
                1,
            ),
        ] {
            let (count, result) = run(&tables, capacity);
            let Err(failures) = result else {
                assert!(most >= need, "{most} {full:?}");
                continue;
            };
            assert!(most < need, "{most} {full:?}");
            assert_eq!(failures.cutoff, Some(Cutoff::Full));
            let reasons = failures.steps.iter().map(|it| it.reason);
            assert_eq!(reasons.collect::<Vec<_>>(), [Reason::Full(full)]);
            assert!(!count.is_undone && failures.undone.is_empty());
        }
    }
}

/// An attempt whose timer finds no room does not hang.
#[test]
fn timers_need_room_as_well() {
    let timing = Timing {
        timeout: true,
        deadline: true,
        every: true,
        ..Timing::default()
    };
    let block = NodeBlock::new(vec![call(1)]);
    let bodies = [
        (NodeBody::Call, 3),
        (NodeBody::Await, 3),
        (NodeBody::Block(block.clone()), 2),
        (NodeBody::Loop(block), 3),
    ];
    for (body, need) in bodies {
        let mut step = Node::new(0, body, vec![]);
        step.timing = timing;
        step.recovery = Recovery::Catch;
        // The plain step comes after the step that finds no room.
        let tables = tables(vec![step, call(2)]);
        for calls in 0..=need {
            let capacity = Capacity {
                calls,
                ..Capacity::DEFAULT
            };
            let machine = Machine::with_capacity(&tables, Reaction::Stop, 64, capacity);
            let hand = Hand::new(&tables, machine);
            if calls == need {
                assert!(!hand.is_done && hand.calls.len() == 2);
            } else {
                assert_eq!(hand.reason(), (Reason::Full(Full::Calls), 1), "{calls}");
            }
        }
    }
    // The wait before the second attempt begins when the first attempt has ended.
    let mut step = each(NodeBody::Call);
    step.amounts.attempts = 2;
    step.timing.backoff = true;
    let tables = tables(vec![step]);
    let capacity = Capacity {
        calls: 2,
        ..Capacity::DEFAULT
    };
    let machine = Machine::with_capacity(&tables, Reaction::Stop, 64, capacity);
    let mut hand = Hand::new(&tables, machine);
    hand.answer(Answer::Number(2));
    hand.end("0[0]#1", super::driver::LATER);
    assert!(!hand.is_done && hand.timers.len() == 1);
}

/// A driver that counts bytes ends a run at the call or the question that needs too many.
#[test]
fn a_driver_ends_a_run_that_needs_too_much() {
    let mut steps = held();
    let caught = |body| Node {
        recovery: Recovery::Catch,
        ..Node::new(1, body, vec![0])
    };
    steps.extend([caught(NodeBody::Call), Node::call(2, vec![0])]);
    steps.push(caught(NodeBody::If(vec![NodeBody::Call])));
    let tables = tables(steps);
    for at in 0..5 {
        let mut hand = Hand::of(&tables);
        let end = CallEnd::Exceeds(ErrorId(7));
        if at == 0 {
            hand.end("8#1", end);
        } else {
            hand.end("8#1", CallEnd::Done);
        }
        match at {
            1 => hand.end("1#1", end),
            2 => hand.end("2#1", end),
            3 => {
                hand.answer(Answer::Exceeds(ErrorId(7)));
            }
            4 => {
                // Within an undo step, after a failure.
                hand.answer(Answer::Number(0));
                hand.end("1#1", CallEnd::Done);
                hand.end("2#1", NEVER);
                hand.end("9#1", end);
            }
            _ => {}
        }
        assert!(hand.is_done && hand.calls.is_empty());
        let failures = hand.machine.view().result().unwrap_err();
        let failed = failures.steps.iter().map(|it| (it.reason, it.role));
        let failed: Vec<_> = failed.collect();
        let exceeds = Reason::Error(ErrorId(7));
        match at {
            4 => assert_eq!(
                failed,
                [
                    (Reason::Error(ErrorId(2)), FailureRole::Work),
                    (exceeds, FailureRole::Undo)
                ]
            ),
            _ => assert_eq!(failed, [(exceeds, FailureRole::Work)]),
        }
        assert_eq!(failures.not_undone.len(), usize::from(at > 0));
        assert!(failures.undone.is_empty());
        assert_eq!(failures.cutoff, Some(Cutoff::Full));
    }
}
