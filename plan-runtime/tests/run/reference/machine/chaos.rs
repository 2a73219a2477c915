//! Random plans with every attribute, and random events in random order: answers come late, timers fire at any time, and a driver passes several
//! events before it takes commands. The machine ends, drops exactly the running calls, and reaches an equal state when another machine receives these
//! events. After a cancellation, only undo steps and always steps start. The report contains each lasting failure.

use super::super::random::cases;
use super::driver::passed;
use fastrand::Rng;
use plan_runtime::machine::{
    Amounts, Answer, CallEnd, CallError, CallId, Capacity, Command, Cutoff, Duty, ErrorId, Event,
    Machine, Node, NodeBlock, NodeBody, Pause, Question, QuestionId, Reaction, Reason, Recovery,
    ScopeId, StepFailure, StepPlace, StepSlot, StepStatus, Tables, Timing,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The label of undo steps and always steps.
const LAST: u32 = 1;

fn recovery(random: &mut Rng) -> Recovery {
    match random.u8(..4) {
        0 => Recovery::Replace,
        1 => Recovery::Catch,
        _ => Recovery::No,
    }
}

/// Returns a scope of some steps, whose bodies have a depth.
fn block(random: &mut Rng, depth: u32) -> NodeBlock {
    let mut steps: Vec<Node> = Vec::new();
    let work = random.usize(1..=3);
    for place in 0..work {
        let body = body(random, depth);
        let after = some(random, place);
        let mut node = attributes(random, Node::new(0, body, after));
        (node.recovery, node.each) = (recovery(random), recovery(random));
        steps.push(node);
    }
    for place in 0..work {
        if random.u8(..3) == 0 {
            let after = some(random, work);
            let mut node = Node::new(LAST, body(random, depth.min(1)), after);
            node.duty = Duty::Undo(place);
            steps.push(attributes(random, node));
        }
    }
    for _ in 0..random.u8(..8).saturating_sub(5) {
        let mut after = some(random, work);
        if let Some(last) = steps.last()
            && last.duty == Duty::Always
            && random.bool()
        {
            after.push(steps.len() - 1);
        }
        let mut node = Node::new(LAST, body(random, depth.min(1)), after);
        node.duty = Duty::Always;
        steps.push(attributes(random, node));
    }
    NodeBlock {
        has_inputs: random.u8(..4) == 0,
        has_output: random.u8(..4) == 0,
        ..NodeBlock::new(steps)
    }
}

/// Returns some of the first indices.
fn some(random: &mut Rng, places: usize) -> Vec<usize> {
    (0..places).filter(|_| random.u8(..3) == 0).collect()
}

/// Gives a step random amounts and times, or none.
fn attributes(random: &mut Rng, mut node: Node) -> Node {
    if random.u8(..3) > 0 {
        return node;
    }
    node.amounts = amounts(random);
    node.timing = Timing {
        backoff: random.bool(),
        timeout: random.bool(),
        deadline: random.bool(),
        every: random.bool(),
        amounts: random.bool(),
        fallback: random.bool(),
        admits: random.bool(),
    };
    node
}

fn amounts(random: &mut Rng) -> Amounts {
    Amounts {
        attempts: random.u32(1..=3),
        at_once: random.u32(1..=3),
        at_most: random.u32(1..=3),
    }
}

fn body(random: &mut Rng, depth: u32) -> NodeBody {
    let Some(inner) = depth.checked_sub(1) else {
        return match random.u8(..6) {
            0 => NodeBody::Await,
            1 => NodeBody::Value,
            _ => NodeBody::Call,
        };
    };
    match random.u8(..8) {
        0 => NodeBody::If((0..random.u8(1..=2)).map(|_| body(random, inner)).collect()),
        1 | 2 => NodeBody::For(Box::new(element(random, inner))),
        3 => NodeBody::Loop(block(random, inner)),
        4 | 5 => NodeBody::Block(block(random, inner)),
        6 if random.bool() => NodeBody::Open(random.usize(..2)),
        6 => NodeBody::Plan(random.usize(..2)),
        _ => NodeBody::Call,
    }
}

/// Returns the body of an element, which must not be a loop.
fn element(random: &mut Rng, depth: u32) -> NodeBody {
    match body(random, depth) {
        NodeBody::Loop(block) => NodeBody::Block(block),
        NodeBody::If(_) => NodeBody::If(vec![NodeBody::Call]),
        body => body,
    }
}

/// A driver that keeps the events, with the number of commands that it took after each.
struct Driver {
    machine: Machine,
    /// The slots of the calls so far.
    slots: BTreeMap<CallId, StepSlot>,
    freed: usize,
    calls: BTreeSet<CallId>,
    /// The calls that the driver has to decide about.
    asked: BTreeSet<CallId>,
    timers: BTreeMap<CallId, Pause>,
    /// The calls and timers of the events since the last command. The machine may drop any such call.
    ended: BTreeSet<CallId>,
    questions: Vec<(QuestionId, Question)>,
    is_done: bool,
    /// `true` after a cancellation or the deadline.
    is_stopped: bool,
    /// `true` after a call that may be a plan had a certain end.
    is_certain: bool,
    tells_scopes: bool,
    /// The scopes that have ended, but still have values.
    over: BTreeSet<ScopeId>,
    /// The scopes whose inputs the driver could not make.
    unfit: BTreeSet<ScopeId>,
    /// The lasting failures so far.
    lasting: Vec<ErrorId>,
    log: Vec<(Event, usize)>,
}

impl Driver {
    /// The number of failures that have ended the run because it needed more than it may have.
    fn fulls(&self) -> usize {
        let Err(failures) = self.machine.view().result() else {
            return 0;
        };
        let is_full = |failure: &&StepFailure| {
            matches!(failure.reason, Reason::Full(_) | Reason::Error(ErrorId(1)))
        };
        let fulls = failures.steps.iter().filter(is_full).count();
        assert!(failures.cutoff != Some(Cutoff::Full) || fulls == 1);
        fulls
    }

    fn take(&mut self) {
        let mut taken = 0;
        while let Some(command) = self.machine.next(true) {
            taken += 1;
            match command {
                Command::Admit(call, _) => assert!(!self.is_done && self.asked.insert(call)),
                Command::Start(call, place) | Command::Await(call, place) => {
                    assert!(!self.is_done && self.calls.insert(call));
                    self.slots.insert(call, place.slot);
                    self.check_start(place);
                }
                Command::Sleep(timer, pause, _) => {
                    assert_eq!(self.timers.insert(timer, pause), None);
                }
                Command::Evaluate(id, question) => {
                    self.questions.push((id, question));
                }
                Command::Drop(call) => {
                    let sets = [&mut self.calls, &mut self.asked];
                    let had = sets.map(|set| set.remove(&call)).contains(&true)
                        | self.timers.remove(&call).is_some();
                    assert!(had || self.ended.contains(&call));
                }
                Command::Free(scope) => self.free(scope),
                Command::Over(scope) => {
                    let failures = self.machine.view().ended(scope);
                    assert!(failures.is_none_or(|it| it.cutoff.is_some() || !it.steps.is_empty()));
                    self.over.insert(scope);
                }
                Command::Settled(..) | Command::Unwinding(_) => {}
                Command::Done => self.is_done = true,
            }
        }
        self.ended.clear();
        // One more finds none.
        let taken = taken + 1;
        if let Some(last) = self.log.last_mut() {
            last.1 = taken;
        }
    }

    /// Checks that a call may start in its scope and in the scopes around.
    fn check_start(&self, place: StepPlace) {
        let view = self.machine.view();
        let (mut step, mut scope) = (place.step, view.scope_of(place.slot));
        let mut is_work = true;
        loop {
            is_work &= view.tables().label(step) != LAST;
            assert!(!self.unfit.contains(&scope), "{scope:?} has no inputs");
            let Some(owner) = view.owner(scope) else {
                break;
            };
            (step, scope) = (owner.step, view.scope_of(owner.slot));
        }
        assert!(!is_work || !self.is_stopped, "work starts after the end");
    }

    /// Checks that a finally ended scope has no running step.
    fn free(&mut self, scope: ScopeId) {
        self.freed += 1;
        self.unfit.remove(&scope);
        assert!(self.over.remove(&scope) || !self.tells_scopes, "{scope:?}");
        let view = self.machine.view();
        let mut places = 0..view.slots(scope).1;
        let runs = places.any(|place| view.status(scope, place) == StepStatus::Running);
        assert!(!runs, "{scope:?}");
        for call in &self.calls {
            assert_ne!(view.scope_of(self.slots[call]), scope);
        }
    }

    /// The number of things that can happen.
    fn count(&self) -> usize {
        self.calls.len() + self.timers.len() + self.questions.len() + self.asked.len()
    }

    /// Hands over an event that can happen. Returns `false` if none can.
    fn happen(&mut self, random: &mut Rng) -> bool {
        let count = self.count();
        if count == 0 {
            return false;
        }
        let event = match random.u16(..400) {
            0 => Event::Cancelled,
            1 => Event::Late,
            2 => Event::Exhausted,
            // The call may turn out to be a plan after the cancellation.
            20..50 if self.is_certain => Event::Cancelled,
            3..20 if !self.calls.is_empty() => {
                let any = self.calls.iter().nth(random.usize(..self.calls.len()));
                let call = *any.unwrap();
                self.is_certain |= self.machine.view().may_open(call).is_some();
                Event::Certain(call)
            }
            _ => self.choose(random, random.clone().usize(..count)),
        };
        self.is_stopped |= matches!(event, Event::Cancelled | Event::Late);
        self.machine.handle(event);
        self.log.push((event, 0));
        true
    }

    /// Notes an error, unless the machine ignores the event.
    fn note(&mut self, error: CallError, is_open: bool) {
        if error.lasting && is_open {
            self.lasting.push(error.error);
        }
    }

    /// Returns `true` if a call runs.
    fn is_open(&self, call: CallId) -> bool {
        let view = self.machine.view();
        if !call.is_plain() {
            return view.part(call).is_some();
        }
        let (slot, scope) = (self.slots[&call], view.scope_of_plain(call));
        let place = slot.index() - view.slots(scope).0.index();
        view.status(scope, place) == StepStatus::Running
    }

    fn choose(&mut self, random: &mut Rng, number: usize) -> Event {
        let of = |set: &BTreeSet<CallId>, number: usize| set.iter().nth(number).copied();
        let calls = self.calls.len();
        let lasting = random.u8(..4) == 0;
        let error = CallError {
            error: ErrorId(if lasting {
                2 + self.log.len() as u32
            } else {
                0
            }),
            transient: random.bool(),
            lasting,
        };
        if let Some(call) = of(&self.calls, number) {
            self.calls.remove(&call);
            self.ended.insert(call);
            if self.machine.view().may_open(call).is_some() && random.bool() {
                return Event::Opened(call);
            }
            let ending = match random.u16(..600) {
                0 => CallEnd::Exceeds(ErrorId(1)),
                1..100 => {
                    self.note(error, self.is_open(call));
                    CallEnd::Failed(error)
                }
                _ => CallEnd::Done,
            };
            return Event::Ended(call, ending);
        }
        if let Some((&timer, &pause)) = self.timers.iter().nth(number - calls) {
            self.timers.remove(&timer);
            self.ended.insert(timer);
            return passed(timer, pause);
        }
        let number = number - calls - self.timers.len();
        if let Some(call) = of(&self.asked, number) {
            self.asked.remove(&call);
            self.ended.insert(call);
            return match random.u8(..20) {
                0 => {
                    self.note(error, self.is_open(call));
                    Event::Ended(call, CallEnd::Failed(error))
                }
                1..4 => Event::Allowed(call),
                4..8 => Event::Deferred(call),
                _ => Event::Admitted(call),
            };
        }
        let number = number - self.asked.len();
        let (id, question) = self.questions.swap_remove(number);
        let answer = match question {
            _ if random.u16(..600) == 0 => Answer::Exceeds(ErrorId(1)),
            _ if random.u8(..20) == 0 => {
                let is_open = self.machine.view().asked(id).is_some();
                self.note(error, is_open);
                if let Question::Inputs(scope) = question
                    && (is_open || scope == ScopeId::ROOT)
                {
                    self.unfit.insert(scope);
                }
                Answer::Failed(error)
            }
            Question::Amounts(_) => Answer::Amounts(amounts(random)),
            _ => Answer::Number(random.u32(..4)),
        };
        Event::Answered(id, answer)
    }
}

/// Plays a run to its end. Returns the number of events.
fn play(random: &mut Rng, tables: &Arc<Tables>, reaction: Reaction) -> [usize; 2] {
    let mut capacity = Capacity {
        depth: 5,
        scopes: 300,
        ..Capacity::DEFAULT
    };
    match random.u8(..16) {
        0..3 => capacity.elements = random.u64(..20),
        3 | 4 => capacity.calls = random.u32(..8),
        5 => capacity.plans = random.u32(..2),
        _ => {}
    }
    let bound = random.u32(1..=4);
    let (tells, tells_scopes) = (random.bool(), random.bool());
    let new = || {
        let mut machine = Machine::with_capacity(tables, reaction, bound, capacity);
        if tells {
            machine = machine.telling();
        }
        if tells_scopes {
            machine = machine.telling_scopes();
        }
        machine
    };
    let mut driver = Driver {
        machine: new(),
        slots: BTreeMap::new(),
        freed: 0,
        calls: BTreeSet::new(),
        asked: BTreeSet::new(),
        timers: BTreeMap::new(),
        ended: BTreeSet::new(),
        questions: Vec::new(),
        is_done: false,
        is_stopped: false,
        is_certain: false,
        tells_scopes,
        over: BTreeSet::new(),
        unfit: BTreeSet::new(),
        lasting: Vec::new(),
        log: Vec::new(),
    };
    driver.take();
    while !driver.is_done {
        // A driver may have several events before it takes commands.
        for _ in 0..random.u8(1..=3) {
            if !driver.happen(random) {
                break;
            }
        }
        driver.take();
        assert!(
            driver.is_done || driver.count() > 0,
            "nothing happens any more"
        );
        if driver.log.len() > 3000 {
            driver.machine.handle(Event::Cancelled);
            driver.machine.handle(Event::GraceOver);
            driver.log.push((Event::Cancelled, 0));
            driver.log.push((Event::GraceOver, 0));
            driver.take();
            assert!(driver.is_done);
        }
    }
    assert!(driver.calls.is_empty() && driver.timers.is_empty() && driver.asked.is_empty());
    let fulls = driver.fulls();
    assert!(fulls <= 1, "{fulls}");
    let reported = driver.machine.view().so_far().steps;
    for error in &driver.lasting {
        let is_it = |failure: &StepFailure| failure.reason == Reason::Error(*error);
        assert!(reported.iter().any(is_it), "{error:?} is not reported");
    }
    let mut other = new();
    while other.next(true).is_some() {}
    for (event, taken) in &driver.log {
        other.handle(*event);
        for _ in 0..*taken {
            other.next(true);
        }
    }
    assert!(other == driver.machine);
    [driver.log.len(), driver.freed]
}

#[test]
fn everything_at_any_time() {
    let mut count = [0, 0];
    for seed in 0..10 * cases() {
        let mut random = Rng::with_seed(seed);
        let plans = [2, 1].map(|depth| block(&mut random, depth));
        let tables = Tables::new(&plans).unwrap();
        for reaction in [Reaction::Stop, Reaction::Continue, Reaction::Cancel] {
            let counted = play(&mut random, &tables, reaction);
            count = [count[0] + counted[0], count[1] + counted[1]];
        }
    }
    println!("{count:?} events and freed scopes");
    assert!(count.iter().all(|it| *it > 20 * cases() as usize));
}
