//! Questions, permits and rows of tables, which the model does not have.

use super::driver::{Hand, LATER, NEVER, TIMEOUT, block, call, each, tables};
use plan_runtime::machine::{
    Amounts, Answer, BadNodes, CallEnd, CallError, Capacity, Command, Duty, ErrorId, Event, Full,
    Machine, Node, NodeBlock, NodeBody, Pause, Question, Reaction, Reason, Recovery, Tables,
    Timing,
};

/// A question that nobody needs any more is not asked, and its late answer changes nothing.
#[test]
fn stale_answers_are_ignored() {
    let tables = tables(vec![each(NodeBody::Call), call(1), each(NodeBody::Call)]);
    let mut hand = Hand::of(&tables);
    let (stale, _) = hand.questions[0];
    hand.end("1#1", NEVER);
    let before = hand.machine.clone();
    hand.machine
        .handle(Event::Answered(stale, Answer::Number(3)));
    assert!(hand.machine == before && hand.is_done);
}

/// The row of a question is reused for another question, which the old answer does not reach.
#[test]
fn an_answer_does_not_reach_the_next_question() {
    let optional = Node {
        recovery: Recovery::Replace,
        amounts: Amounts::DEFAULT,
        ..Node::new(0, block(vec![each(NodeBody::Call), call(1)]), vec![])
    };
    let next = Node::new(2, NodeBody::For(Box::new(NodeBody::Call)), vec![0]);
    let tables = tables(vec![optional, next]);
    let mut hand = Hand::of(&tables);
    let (stale, _) = hand.questions.remove(0);
    hand.end("1#1", NEVER);
    let (fresh, _) = hand.questions[0];
    assert_ne!(stale, fresh);
    hand.machine
        .handle(Event::Answered(stale, Answer::Number(3)));
    hand.settle();
    assert!(hand.calls().is_empty());
    hand.answer(Answer::Number(1));
    assert_eq!(hand.calls(), ["2[0]#1"]);
}

#[test]
fn without_a_permit_only_waits_begin() {
    let waits = Node::new(1, NodeBody::Await, vec![]);
    let retried = Node {
        recovery: Recovery::Catch,
        ..call(2)
    };
    let tables = tables(vec![call(0), waits, retried, each(NodeBody::Call)]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 0));
    assert_eq!(hand.calls(), ["1#1"]);
    assert!(hand.questions.is_empty());
    hand.machine = Machine::new(&tables, Reaction::Stop, 64);
    hand.calls.clear();
    hand.settle_with(false);
    assert_eq!(hand.calls(), ["1#1"]);
    hand.settle_with(true);
    assert_eq!(hand.calls(), ["0#1", "1#1", "2#1"]);
    hand.machine.handle(Event::Cancelled);
    hand.settle_with(false);
    assert!(hand.is_done && hand.calls.is_empty());
}

/// The step that comes first in the plan starts first, plain or not.
#[test]
fn calls_start_in_the_order_of_the_plan() {
    let caught = |label| Node {
        recovery: Recovery::Catch,
        ..call(label)
    };
    let tables = tables(vec![call(0), caught(1), call(2), caught(3)]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 1));
    for label in 0..4 {
        assert_eq!(hand.calls(), [format!("{label}#1")]);
        hand.end(&format!("{label}#1"), CallEnd::Done);
    }
    assert!(hand.succeeds());
    // A scope begins in the turn of its step, and the calls in the scope come before the steps after it.
    let inner = vec![call(10), Node::call(11, vec![0])];
    let scopes = [0, 1].map(|label| Node::new(label, block(inner.clone()), vec![]));
    let steps = scopes.into_iter().chain([call(2), caught(3)]);
    let tables = self::tables(steps.collect());
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 1));
    for label in ["10", "11", "10", "11", "2", "3"] {
        assert_eq!(hand.calls(), [format!("{label}#1")]);
        hand.end(&format!("{label}#1"), CallEnd::Done);
    }
    assert!(hand.succeeds());
}

/// An attempt that waits for a permit when a step fails does not begin. The failure before the attempt counts.
#[test]
fn an_attempt_that_waits_for_a_permit_ends_with_its_scope() {
    let mut retried = call(0);
    retried.amounts.attempts = 2;
    let tables = tables(vec![retried, call(1), call(2)]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 2));
    let id = |hand: &Hand<'_>, label: &str| *hand.calls.iter().find(|it| it.1 == label).unwrap().0;
    let [first, second] = ["0#1", "1#1"].map(|label| id(&hand, label));
    hand.calls.clear();
    hand.machine.handle(Event::Ended(first, LATER));
    hand.machine.handle(Event::Ended(second, NEVER));
    hand.settle();
    assert!(hand.is_done && hand.calls.is_empty());
    let failures = hand.machine.view().result().unwrap_err();
    assert_eq!(failures.steps.len(), 2);
}

/// A decision lets one deferred call ask again, so a gate that decides about n calls one after the other is asked about 2 n.
#[test]
fn a_decision_asks_again_about_one_deferred_call() {
    let (count, most) = (1_000, 64);
    let mut step = each(block(vec![Node {
        timing: Timing {
            admits: true,
            ..Timing::default()
        },
        ..call(1)
    }]));
    step.amounts.at_once = u32::MAX;
    let mut machine = Machine::new(&tables(vec![step]), Reaction::Stop, u32::MAX);
    let (mut open, mut asked, mut ended) = (Vec::new(), 0, 0);
    loop {
        match machine.next(true) {
            Some(Command::Evaluate(id, _)) => {
                machine.handle(Event::Answered(id, Answer::Number(count)));
            }
            Some(Command::Admit(call, _)) if open.len() < most => {
                asked += 1;
                open.push(call);
            }
            Some(Command::Admit(call, _)) => {
                asked += 1;
                machine.handle(Event::Deferred(call));
            }
            Some(Command::Start(call, _)) => {
                ended += 1;
                machine.handle(Event::Ended(call, CallEnd::Done));
            }
            Some(Command::Done) => break,
            Some(_) => {}
            None => {
                let call = open.pop().expect("the driver decides about a call");
                machine.handle(Event::Admitted(call));
            }
        }
    }
    assert_eq!(ended, count);
    assert!(asked <= 3 * count, "{asked}");
}

/// A plan that a certain call turns out to be is no call, so its id may belong to another call.
#[test]
fn a_call_that_is_a_plan_is_not_certain() {
    let plan = NodeBlock::new(vec![call(1)]);
    let root = NodeBlock::new(vec![
        Node::new(0, NodeBody::Open(1), vec![]),
        Node {
            recovery: Recovery::Catch,
            ..Node::call(2, vec![0])
        },
    ]);
    let tables = Tables::new(&[root, plan]).unwrap();
    let mut hand = Hand::of(&tables);
    let opened = *hand.calls.keys().next().unwrap();
    hand.machine.handle(Event::Certain(opened));
    hand.calls.clear();
    hand.machine.handle(Event::Opened(opened));
    hand.settle();
    hand.end("1#1", CallEnd::Done);
    assert_eq!(hand.calls(), ["2#1"]);
    assert_eq!(hand.calls.keys().next(), Some(&opened));
    hand.machine.handle(Event::Cancelled);
    hand.settle();
    assert!(hand.is_done && hand.calls.is_empty());
}

/// The driver makes no value for an element of a list that has failed at another element.
#[test]
fn a_list_that_has_failed_asks_for_no_fallback() {
    let mut step = each(NodeBody::Call);
    step.each = Recovery::Replace;
    step.timing.fallback = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Number(2));
    hand.end("0[0]#1", NEVER);
    let failed = CallError {
        error: ErrorId(3),
        transient: false,
        lasting: false,
    };
    hand.answer(Answer::Failed(failed));
    hand.end("0[1]#1", NEVER);
    assert!(hand.is_done && hand.questions.is_empty());
}

/// A scope that is over no longer counts.
#[test]
fn blocks_one_after_the_other_need_the_room_of_one() {
    let after = |place: usize| place.checked_sub(1).into_iter().collect();
    let blocks = [1, 2, 3].map(|label| block(vec![call(label)]));
    let steps = blocks.into_iter().enumerate();
    let steps = steps.map(|(place, block)| Node::new(0, block, after(place)));
    let tables = tables(steps.collect());
    let capacity = Capacity {
        scopes: 2,
        slots: 4,
        ..Capacity::DEFAULT
    };
    let machine = Machine::with_capacity(&tables, Reaction::Stop, 64, capacity);
    let mut hand = Hand::new(&tables, machine);
    for call in ["1#1", "2#1", "3#1"] {
        hand.end(call, CallEnd::Done);
    }
    assert!(hand.succeeds());
}

#[test]
fn a_run_that_needs_too_many_rows_fails() {
    let inner = vec![each(NodeBody::Call)];
    let nested = Node::new(1, block(inner), vec![]);
    let tables1 = tables(vec![nested]);
    let all = Capacity::DEFAULT;
    for (capacity, full) in [
        (Capacity { scopes: 1, ..all }, Full::Scopes),
        (Capacity { slots: 1, ..all }, Full::Slots),
        (Capacity { depth: 1, ..all }, Full::Depth),
        (Capacity { elements: 1, ..all }, Full::Elements),
        (Capacity { calls: 1, ..all }, Full::Calls),
    ] {
        let machine = Machine::with_capacity(&tables1, Reaction::Stop, 64, capacity);
        let mut hand = Hand::new(&tables1, machine);
        if !hand.is_done {
            hand.answer(Answer::Number(2));
        }
        for call in hand.calls.values().cloned().collect::<Vec<_>>() {
            hand.end(&call, CallEnd::Done);
        }
        assert_eq!(hand.reason().0, Reason::Full(full));
    }
    // A plan that calls itself.
    let plan = NodeBlock::new(vec![Node::new(0, NodeBody::Plan(0), vec![])]);
    let tables = Tables::new(&[plan]).unwrap();
    assert_eq!(Hand::of(&tables).reason().0, Reason::Full(Full::Depth));
}

#[test]
fn a_description_that_contradicts_itself_has_no_tables() {
    let of = |steps| Tables::new(&[NodeBlock::new(steps)]).unwrap_err();
    assert_eq!(of(vec![Node::call(7, vec![1])]), BadNodes::NoStep(7));
    assert_eq!(of(vec![Node::call(7, vec![0])]), BadNodes::Circle(7));
    let plan = Node::new(7, NodeBody::Plan(1), vec![]);
    assert_eq!(of(vec![plan]), BadNodes::NoPlan(1));
    let undo = Node {
        duty: Duty::Undo(0),
        ..call(7)
    };
    assert_eq!(of(vec![undo.clone()]), BadNodes::NoStep(7));
    let undo = |label| Node {
        label,
        ..undo.clone()
    };
    assert_eq!(
        of(vec![call(1), undo(7), undo(8)]),
        BadNodes::TwoUndos(8),
        "a step has one undo step"
    );
    let duties = [Duty::Work, Duty::Undo(2), Duty::Always];
    for (place, before) in duties.into_iter().enumerate() {
        for duty in duties {
            let other = Node {
                duty: before,
                ..call(1)
            };
            let node = Node {
                duty: if duty == Duty::Undo(2) {
                    Duty::Undo(3)
                } else {
                    duty
                },
                ..Node::call(7, vec![0])
            };
            let is_allowed = place == 0 || before == Duty::Always && duty == Duty::Always;
            let tables = Tables::new(&[NodeBlock::new(vec![other, node, call(2), call(3)])]);
            assert_eq!(
                tables.err(),
                (!is_allowed).then_some(BadNodes::BadOrder(7)),
                "{duty:?} after {before:?}"
            );
        }
    }
    assert_eq!(Tables::new(&[]).unwrap_err(), BadNodes::NoPlan(0));
    let repeat = NodeBody::Loop(NodeBlock::new(vec![call(1)]));
    assert_eq!(of(vec![each(repeat)]), BadNodes::ListedLoop(0));
}

/// In each graph with a cycle, the error names a step of the cycle.
#[test]
fn the_error_of_a_circle_names_a_step_of_the_circle() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut circles = 0;
    for _ in 0..2_000 {
        let count = random.usize(1..8);
        let nodes = (0..count).map(|label| {
            let after = (0..count).filter(|_| random.usize(..count) == 0).collect();
            Node::call(label as u32, after)
        });
        let nodes: Vec<Node> = nodes.collect();
        let Err(error) = Tables::new(&[NodeBlock::new(nodes.clone())]) else {
            continue;
        };
        let BadNodes::Circle(label) = error else {
            panic!("{error}");
        };
        circles += 1;
        let (mut seen, mut open) = (vec![false; count], nodes[label as usize].after.clone());
        while let Some(place) = open.pop() {
            if !std::mem::replace(&mut seen[place], true) {
                open.extend(&nodes[place].after);
            }
        }
        assert!(seen[label as usize], "{label}: {nodes:?}");
    }
    assert!(circles > 500, "{circles}");
}

/// The depth of the bodies of a step has a bound, since some functions call themselves for each body in a body.
#[test]
fn bodies_inside_each_other_have_a_bound() {
    for (depth, is_too_deep) in [(64, false), (65, true), (200_000, true)] {
        let mut body = NodeBody::Call;
        for place in 0..depth {
            body = if place % 2 == 0 {
                NodeBody::If(vec![body])
            } else {
                NodeBody::For(Box::new(body))
            };
        }
        let plan = NodeBlock::new(vec![Node::new(7, body, vec![])]);
        let error = Tables::new(std::slice::from_ref(&plan)).err();
        assert_eq!(error, is_too_deep.then_some(BadNodes::TooDeep(7)));
        // The destructor of a description has no bound on its depth.
        std::mem::forget(plan);
    }
}

/// Does everything at once. Each second attempt of a call that may fail succeeds.
fn run(machine: &mut Machine, number: u32) {
    let mut open = true;
    while let Some(command) = machine.next(true) {
        match command {
            Command::Admit(call, _) => machine.handle(Event::Admitted(call)),
            Command::Start(call, place) => {
                let fails = place.attempt == 1 && machine.view().tables().label(place.step) == 5;
                let ending = if fails { LATER } else { CallEnd::Done };
                machine.handle(Event::Ended(call, ending));
            }
            Command::Evaluate(id, question) => {
                let answer = match question {
                    Question::Again(_, round) => u32::from(round + 1 < number),
                    _ => number,
                };
                machine.handle(Event::Answered(id, Answer::Number(answer)));
            }
            Command::Await(call, _) => machine.handle(Event::Ended(call, CallEnd::Done)),
            Command::Sleep(timer, Pause::Backoff | Pause::Every, _) => {
                machine.handle(Event::Fired(timer));
            }
            Command::Sleep(..)
            | Command::Drop(_)
            | Command::Free(_)
            | Command::Settled(..)
            | Command::Unwinding(_)
            | Command::Over(_) => {}
            Command::Done => open = false,
        }
    }
    assert!(!open && machine.view().result().is_ok());
}

/// A run of many rounds, elements and attempts has only as many rows as exist at one time.
#[test]
fn rows_are_used_again() {
    let mut fails = call(5);
    fails.amounts.attempts = 2;
    fails.timing.backoff = true;
    fails.timing.timeout = true;
    let waits = Node::new(1, NodeBody::Await, vec![0]);
    let inner = Node::new(2, block(vec![fails.clone(), waits.clone()]), vec![1]);
    let steps = vec![fails, waits, inner];
    let mut rounds = Node::new(0, NodeBody::Loop(NodeBlock::new(steps.clone())), vec![]);
    rounds.timing.every = true;
    let mut list = each(block(steps));
    list.amounts.at_once = 3;
    for step in [rounds, list] {
        let tables = tables(vec![step]);
        let rows = [50, 1000].map(|number| {
            let mut machine = Machine::new(&tables, Reaction::Stop, 64);
            run(&mut machine, number);
            machine.view().rows()
        });
        assert_eq!(rows[0], rows[1]);
        assert!(rows[1].iter().all(|rows| *rows < 60), "{rows:?}");
    }
}

/// A chain of steps is undone without a stack frame a step.
#[test]
fn long_chains_are_undone() {
    let length = 100_000_usize;
    let mut steps: Vec<Node> = (0..length)
        .map(|at| Node::call(1, at.checked_sub(1).into_iter().collect()))
        .collect();
    steps.push(Node {
        duty: Duty::Undo(0),
        ..call(2)
    });
    let tables = tables(steps);
    let mut machine = Machine::new(&tables, Reaction::Stop, 1);
    let mut calls = 0;
    while let Some(command) = machine.next(true) {
        if let Command::Start(call, _) = command {
            calls += 1;
            let ending = if calls == length {
                NEVER
            } else {
                CallEnd::Done
            };
            machine.handle(Event::Ended(call, ending));
        }
    }
    assert_eq!(machine.view().result().unwrap_err().undone.len(), 1);
}

/// The elements of the lists of the next two tests. The tests last for minutes if the work for an element grows with their number.
const MANY: u32 = 100_000;

/// A cancellation looks at the questions of each scope once, and not at all questions for each scope.
#[test]
fn many_scopes_with_questions_are_cancelled() {
    let questions = Node::new(1, NodeBody::If(vec![NodeBody::Call]), vec![]);
    let asked = NodeBlock {
        has_output: true,
        ..NodeBlock::default()
    };
    for inner in [NodeBlock::new(vec![questions]), asked] {
        let tables = tables(vec![each(NodeBody::Block(inner))]);
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Number(MANY));
        assert_eq!(hand.questions.len(), MANY as usize);
        hand.machine.handle(Event::Cancelled);
        hand.settle();
        assert!(hand.is_done);
    }
}

/// The failures of elements end the attempts that wait once, and not once for each element.
#[test]
fn many_elements_fail() {
    let mut calls = each(NodeBody::Call);
    calls.timing.timeout = true;
    let tables = tables(vec![calls]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, u32::MAX));
    hand.answer(Answer::Number(MANY));
    let timers = std::mem::take(&mut hand.timers);
    assert_eq!(timers.len(), MANY as usize);
    for timer in timers.into_keys() {
        hand.machine.handle(Event::TimedOut(timer, TIMEOUT));
    }
    hand.settle();
    assert!(hand.is_done);
}

/// A dropped call whose end was certain has no effect on another call with its id.
#[test]
fn a_dropped_call_is_not_certain() {
    let list = |label| Node::new(label, NodeBody::For(Box::new(NodeBody::Call)), vec![]);
    let failing = Node {
        recovery: Recovery::Replace,
        ..Node::new(0, block(vec![list(1)]), vec![])
    };
    let next = Node {
        after: vec![0],
        ..list(2)
    };
    let tables = tables(vec![failing, next]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Cancel, 64));
    hand.answer(Answer::Number(2));
    let certain = *hand.calls.iter().find(|it| it.1 == "1[1]#1").unwrap().0;
    let failed = *hand.calls.iter().find(|it| it.1 == "1[0]#1").unwrap().0;
    hand.calls.remove(&failed);
    hand.machine.handle(Event::Ended(failed, NEVER));
    hand.machine.handle(Event::Certain(certain));
    hand.settle();
    hand.answer(Answer::Number(2));
    assert!(hand.calls.contains_key(&certain));
    hand.machine.handle(Event::Cancelled);
    hand.settle();
    assert!(hand.is_done && hand.calls.is_empty());
}

/// The scope of a loop that has ended serves another loop, and leaves the line of the loop before.
#[test]
fn a_scope_is_in_the_line_of_its_loop() {
    let round = NodeBody::Loop(NodeBlock::new(vec![call(2)]));
    let plan = vec![
        call(1),
        Node::new(0, round, vec![0]),
        Node::call(3, vec![1]),
    ];
    let called = |label| Node::new(label, NodeBody::Plan(1), vec![]);
    let plans = [vec![called(8), called(9)], plan].map(NodeBlock::new);
    let tables = Tables::new(&plans).unwrap();
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 2));
    let firsts: Vec<_> = std::mem::take(&mut hand.calls).into_keys().collect();
    hand.machine.handle(Event::Ended(firsts[1], CallEnd::Done));
    hand.settle();
    // Without permits, the second plan ends its loop, and then the first plan reaches its loop.
    let (round, _) = hand.calls.pop_first().unwrap();
    hand.machine.handle(Event::Ended(round, CallEnd::Done));
    hand.settle_with(false);
    let (again, _) = hand.questions.remove(0);
    hand.machine
        .handle(Event::Answered(again, Answer::Number(0)));
    hand.settle_with(false);
    hand.machine.handle(Event::Ended(firsts[0], CallEnd::Done));
    hand.settle_with(false);
    assert!(hand.calls().is_empty());
    hand.settle();
    assert_eq!(hand.calls(), ["2[0]#1", "3#1"]);
}

/// An answer to the questions of many elements does not look at all questions.
#[test]
fn many_fallbacks_are_made() {
    let mut list = each(NodeBody::Await);
    list.each = Recovery::Replace;
    list.timing.fallback = true;
    let tables = tables(vec![list]);
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Number(MANY));
    for call in std::mem::take(&mut hand.calls).into_keys() {
        hand.machine.handle(Event::Ended(call, NEVER));
    }
    hand.settle();
    for (id, _) in std::mem::take(&mut hand.questions) {
        hand.machine.handle(Event::Answered(id, Answer::Made));
    }
    hand.settle();
    assert!(hand.succeeds());
}
