//! Orders of events that once went wrong.

use super::driver::{
    BUSY, DEADLINE, Hand, LATER, NEVER, TIMEOUT, block, call, each, held, passed, tables,
};
use plan_runtime::machine::{
    Amounts, Answer, CallEnd, CallError, CallId, Command, Cutoff, Duty, ErrorId, Event,
    FailureRole, Machine, Node, NodeBlock, NodeBody, Pause, Question, Reaction, Reason, Recovery,
    ScopeId, StepStatus, Tables,
};

/// A failure that leaves effects.
const LASTING: CallError = CallError {
    error: ErrorId(4),
    transient: false,
    lasting: true,
};

impl Hand<'_> {
    fn happen(&mut self, event: Event) {
        self.machine.handle(event);
        self.settle();
    }

    /// The id of a call.
    fn id(&self, call: &str) -> CallId {
        let found = self.calls.iter().find(|it| it.1 == call);
        *found.expect("the call runs").0
    }

    /// The status of a step of the plan.
    fn status(&self, place: usize) -> StepStatus {
        assert!(self.is_done);
        self.machine.view().status(ScopeId::ROOT, place)
    }
}

fn caught(node: Node) -> Node {
    Node {
        recovery: Recovery::Catch,
        ..node
    }
}

fn always(node: Node) -> Node {
    Node {
        duty: Duty::Always,
        ..node
    }
}

/// A step with two attempts.
fn again(node: Node) -> Node {
    let mut node = node;
    node.amounts.attempts = 2;
    node
}

/// After a cancellation, no value replaces an element that waits for its next attempt.
#[test]
fn a_cancelled_list_recovers_no_element() {
    for cancels in [false, true] {
        let mut step = again(each(NodeBody::Call));
        step.each = Recovery::Catch;
        step.timing.backoff = true;
        let tables = tables(vec![step, call(1)]);
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Number(1));
        hand.end("0[0]#1", LATER);
        if cancels {
            hand.happen(Event::Cancelled);
            assert_eq!(hand.status(0), StepStatus::Cancelled);
        } else {
            hand.end("1#1", NEVER);
            assert_eq!(hand.status(0), StepStatus::Recovered);
        }
    }
}

/// The report keeps a lasting failure that a scope has absorbed, though nothing in the scope may have to be undone.
#[test]
fn a_lasting_failure_remains_after_its_scope() {
    let lasting = CallEnd::Failed(LASTING);
    let mut list = each(NodeBody::Call);
    list.each = Recovery::Catch;
    for (inner, label) in [
        (vec![caught(call(7))], "7"),
        (vec![list], "0[0]"),
        (vec![always(call(7))], "7"),
        (
            vec![Node::new(1, block(vec![caught(call(7))]), vec![])],
            "7",
        ),
        (vec![caught(call(7)), call(8)], "7"),
    ] {
        let is_list = label != "7";
        let inner = || NodeBlock::new(inner.clone());
        let of = |body| Node::new(0, body, vec![]);
        for (node, place) in [
            (of(NodeBody::Block(inner())), ""),
            (of(NodeBody::Loop(inner())), "[0]"),
            (always(of(NodeBody::Block(inner()))), ""),
        ] {
            let tables = tables(vec![node]);
            let mut hand = Hand::of(&tables);
            if is_list {
                hand.answer(Answer::Number(1));
            }
            let (step, element) = label.split_at(1);
            hand.end(&format!("{step}{place}{element}#1"), lasting);
            if let Some(call) = hand.calls().first().map(|it| (*it).to_owned()) {
                hand.end(&call, CallEnd::Done);
            }
            if !place.is_empty() {
                hand.answer(Answer::Number(0));
            }
            assert!(hand.succeeds());
            let failures = hand.machine.view().so_far();
            let roles: Vec<_> = failures
                .steps
                .iter()
                .map(|it| (it.reason, it.role))
                .collect();
            assert_eq!(
                roles,
                [(Reason::Error(ErrorId(4)), FailureRole::Left)],
                "{label} {place}"
            );
        }
    }
}

/// A failure of the inputs or the value of a scope has the number of the attempt that has opened the scope.
#[test]
fn a_scope_without_its_value_has_failed_in_its_last_attempt() {
    for has_inputs in [false, true] {
        let inner = NodeBlock {
            has_inputs,
            has_output: !has_inputs,
            ..NodeBlock::default()
        };
        let step = again(Node::new(0, NodeBody::Block(inner), vec![]));
        let tables = tables(vec![step]);
        let mut machine = Machine::new(&tables, Reaction::Stop, 64).telling_scopes();
        let mut ends = 0;
        while let Some(command) = machine.next(true) {
            match command {
                Command::Evaluate(id, Question::Inputs(_) | Question::Output(_)) => {
                    machine.handle(Event::Answered(id, Answer::Failed(BUSY)));
                }
                Command::Over(scope) => {
                    assert!(machine.view().ended(scope).is_some());
                    ends += 1;
                }
                _ => {}
            }
        }
        assert_eq!(ends, 2, "{has_inputs}");
        let failures = machine.view().result().unwrap_err();
        let last = &failures.steps[0];
        assert_eq!((failures.steps.len(), last.attempts()), (1, 2));
        assert_eq!(last.trail.0[0].attempt, 2);
    }
}

/// A block that was cut by the time limit of another block has not reached its own time limit.
#[test]
fn undo_steps_after_a_time_limit_have_none() {
    for is_loop in [false, true] {
        let mut inner = held();
        inner.push(call(7));
        let body = if is_loop {
            NodeBody::Loop(NodeBlock::new(inner))
        } else {
            block(inner)
        };
        let mut inner = Node::new(1, body, vec![]);
        inner.timing.timeout = !is_loop;
        inner.timing.deadline = is_loop;
        let mut outer = Node::new(0, block(vec![inner]), vec![]);
        outer.timing.timeout = true;
        let tables = tables(vec![outer]);
        let mut hand = Hand::of(&tables);
        let place = if is_loop { "[0]" } else { "" };
        hand.end(&format!("8{place}#1"), CallEnd::Done);
        let outer = *hand.timers.keys().next().unwrap();
        hand.timers.remove(&outer);
        hand.happen(passed(outer, Pause::Timeout));
        assert_eq!(hand.timers.len(), 0);
        hand.end(&format!("9{place}#1"), CallEnd::Done);
        assert_eq!(hand.reason(), (Reason::Error(TIMEOUT), 1));
        let failures = hand.machine.view().result().unwrap_err();
        assert_eq!(failures.steps.len(), 1);
    }
}

/// After the failure of one element, the other elements no longer wait for values.
#[test]
fn a_failed_list_waits_for_no_value() {
    for reaction in [Reaction::Stop, Reaction::Continue, Reaction::Cancel] {
        let tables = tables(vec![each(NodeBody::Await)]);
        let mut hand = Hand::new(&tables, Machine::new(&tables, reaction, 64));
        hand.answer(Answer::Number(3));
        hand.end("0[1]#1", NEVER);
        assert_eq!(hand.reason(), (Reason::Error(ErrorId(2)), 1));
    }
}

/// A time limit that passes in line, or while the driver decides, ends the attempt at once.
#[test]
fn a_deadline_waits_for_no_permit() {
    let mut step = again(call(1));
    step.timing.deadline = true;
    let tables1 = tables(vec![call(0), step.clone()]);
    let mut hand = Hand::new(&tables1, Machine::new(&tables1, Reaction::Stop, 2));
    let [first, second] = ["0#1", "1#1"].map(|call| hand.id(call));
    hand.calls.remove(&second);
    hand.machine.handle(Event::Ended(second, LATER));
    // The attempt is in line, and the driver lets nothing start.
    hand.settle_with(false);
    hand.fire(Pause::Deadline);
    assert_eq!(hand.calls(), ["0#1"]);
    hand.calls.remove(&first);
    hand.happen(Event::Ended(first, CallEnd::Done));
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 1));

    step.timing.admits = true;
    let mut machine = Machine::new(&tables(vec![step]), Reaction::Stop, 64);
    let (mut asked, mut deadline) = (0, None);
    while let Some(command) = machine.next(true) {
        match command {
            Command::Admit(call, _) if asked == 0 => {
                asked += 1;
                machine.handle(Event::Admitted(call));
            }
            Command::Start(call, _) => machine.handle(Event::Ended(call, LATER)),
            Command::Sleep(timer, ..) => deadline = Some(timer),
            _ => asked += 1,
        }
    }
    assert!(asked > 1 && !machine.is_over());
    machine.handle(Event::TimedOut(deadline.unwrap(), DEADLINE));
    assert!(machine.is_over());
}

/// A call that turns out to be a plan after its run or its attempt was cut does no work.
#[test]
fn no_plan_begins_after_the_end_of_its_step() {
    let plan = |has_inputs| NodeBlock {
        has_inputs,
        ..NodeBlock::new(vec![call(7), always(call(9))])
    };
    for (has_inputs, is_limit) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut open = Node::new(0, NodeBody::Open(1), vec![]);
        open.timing.timeout = true;
        let root = NodeBlock::new(vec![open]);
        let tables = Tables::new(&[root, plan(has_inputs)]).unwrap();
        let mut hand = Hand::of(&tables);
        let opened = hand.id("0#1");
        hand.machine.handle(Event::Certain(opened));
        if is_limit {
            hand.fire(Pause::Timeout);
        } else {
            hand.happen(Event::Cancelled);
        }
        assert_eq!(hand.calls(), ["0#1"]);
        hand.calls.clear();
        hand.happen(Event::Opened(opened));
        let failures = hand.machine.view().result().unwrap_err();
        if is_limit {
            assert_eq!(hand.reason(), (Reason::Error(TIMEOUT), 1));
        } else {
            assert_eq!(failures.cutoff, Some(Cutoff::Cancelled));
            assert_eq!(hand.status(0), StepStatus::Cancelled);
        }
    }
}

/// A plan without its inputs fails, and does no work.
#[test]
fn a_run_without_its_inputs_fails() {
    let plan = NodeBlock {
        has_inputs: true,
        ..NodeBlock::new(vec![call(0)])
    };
    let tables = Tables::new(&[plan]).unwrap();
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Failed(BUSY));
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(1)), 1));
}

/// An element that waits for a value starts without a permit, within the bound of its list.
#[test]
fn a_list_waits_without_a_permit() {
    let mut step = each(NodeBody::Await);
    step.timing.amounts = true;
    let tables = tables(vec![step, call(1)]);
    let mut hand = Hand::new(&tables, Machine::new(&tables, Reaction::Stop, 1));
    hand.answer(Answer::Amounts(Amounts {
        at_once: 2,
        ..Amounts::DEFAULT
    }));
    assert_eq!(hand.calls(), ["1#1"]);
    hand.answer(Answer::Number(3));
    assert_eq!(hand.calls(), ["0[0]#1", "0[1]#1", "1#1"]);
    hand.end("0[0]#1", CallEnd::Done);
    assert_eq!(hand.calls(), ["0[1]#1", "0[2]#1", "1#1"]);
}

/// The value that would replace an element leaves effects, so no value replaces the step.
#[test]
fn a_lasting_failure_of_a_fallback_fails_the_step() {
    let mut step = each(NodeBody::Call);
    (step.each, step.recovery) = (Recovery::Replace, Recovery::Replace);
    step.timing.fallback = true;
    let tables = tables(vec![step]);
    let mut hand = Hand::of(&tables);
    hand.answer(Answer::Number(1));
    hand.end("0[0]#1", NEVER);
    hand.answer(Answer::Failed(LASTING));
    assert_eq!(hand.reason(), (Reason::Error(ErrorId(4)), 1));
}

/// A step that has failed remains failed if the run is cancelled while the elements of the step are undone.
#[test]
fn a_failed_step_that_is_undone_remains_failed() {
    for recovery in [Recovery::No, Recovery::Catch] {
        let mut step = each(block(vec![held()[0].clone(), held()[1].clone(), call(7)]));
        step.recovery = recovery;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        hand.answer(Answer::Number(2));
        for call in ["8[0]#1", "7[0]#1", "8[1]#1"] {
            hand.end(call, CallEnd::Done);
        }
        hand.end("7[1]#1", NEVER);
        hand.end("9[1]#1", CallEnd::Done);
        assert_eq!(hand.calls(), ["9[0]#1"]);
        hand.happen(Event::Cancelled);
        hand.end("9[0]#1", CallEnd::Done);
        assert_eq!(hand.status(0), StepStatus::Failed);
        assert_eq!(hand.reason(), (Reason::Error(ErrorId(2)), 1));
    }
}

/// The trail of a failure names the attempt, whether the step is plain or not.
#[test]
fn the_trail_of_each_failure_has_its_attempt() {
    for timeout in [false, true] {
        let mut step = call(0);
        step.timing.timeout = timeout;
        let tables = tables(vec![step]);
        let mut hand = Hand::of(&tables);
        hand.end("0#1", NEVER);
        let failures = hand.machine.view().result().unwrap_err();
        assert_eq!(failures.steps[0].trail.0[0].attempt, 1);
    }
}
