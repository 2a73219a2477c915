//! A driver that starts calls, timers and questions. A test ends them.

use plan_runtime::machine::{
    Answer, CallEnd, CallError, CallId, Command, Duty, ErrorId, Event, Machine, MachineView, Node,
    NodeBlock, NodeBody, Pause, Question, QuestionId, Reaction, Reason, StepId, StepPlace, Tables,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A driver that starts, asks and sleeps, and lets the test do the rest.
pub(super) struct Hand<'p> {
    pub(super) tables: &'p Arc<Tables>,
    pub(super) machine: Machine,
    /// The label of each call or wait with its attempt.
    pub(super) calls: BTreeMap<CallId, String>,
    pub(super) timers: BTreeMap<CallId, Pause>,
    pub(super) questions: Vec<(QuestionId, Question)>,
    pub(super) is_done: bool,
}

/// An error after which another attempt may help.
pub(super) const BUSY: CallError = CallError {
    error: ErrorId(1),
    transient: true,
    lasting: false,
};
pub(super) const LATER: CallEnd = CallEnd::Failed(BUSY);
pub(super) const NEVER: CallEnd = CallEnd::Failed(CallError {
    error: ErrorId(2),
    transient: false,
    lasting: false,
});

/// The errors of time limits.
pub(super) const TIMEOUT: ErrorId = ErrorId(8);
pub(super) const DEADLINE: ErrorId = ErrorId(9);

/// Returns the event of a timer.
pub(super) fn passed(timer: CallId, pause: Pause) -> Event {
    match pause {
        Pause::Timeout => Event::TimedOut(timer, TIMEOUT),
        Pause::Deadline => Event::TimedOut(timer, DEADLINE),
        Pause::Backoff | Pause::Every => Event::Fired(timer),
    }
}

impl<'p> Hand<'p> {
    pub(super) fn new(tables: &'p Arc<Tables>, machine: Machine) -> Self {
        let mut hand = Self {
            tables,
            machine,
            calls: BTreeMap::new(),
            timers: BTreeMap::new(),
            questions: Vec::new(),
            is_done: false,
        };
        hand.settle();
        hand
    }

    pub(super) fn of(tables: &'p Arc<Tables>) -> Self {
        Self::new(tables, Machine::new(tables, Reaction::Stop, 64))
    }

    pub(super) fn settle(&mut self) {
        self.settle_with(true);
    }

    pub(super) fn settle_with(&mut self, may_start: bool) {
        while let Some(command) = self.machine.next(may_start) {
            match command {
                Command::Admit(call, _) => self.machine.handle(Event::Admitted(call)),
                Command::Start(call, place) | Command::Await(call, place) => {
                    let parts = around(self.machine.view(), call, place);
                    let places = parts.into_iter().flat_map(|(_, places)| places);
                    let places: String = places.map(|it| format!("[{it}]")).collect();
                    let label = self.tables.label(place.step);
                    let text = format!("{label}{places}#{}", place.attempt);
                    assert_eq!(self.calls.insert(call, text), None);
                }
                Command::Evaluate(id, question) => self.questions.push((id, question)),
                Command::Sleep(timer, pause, _) => {
                    assert_eq!(self.timers.insert(timer, pause), None);
                }
                Command::Drop(call) => {
                    let was_call = self.calls.remove(&call).is_some();
                    assert!(was_call || self.timers.remove(&call).is_some());
                }
                Command::Free(_)
                | Command::Settled(..)
                | Command::Unwinding(_)
                | Command::Over(_) => {}
                Command::Done => self.is_done = true,
            }
        }
    }

    pub(super) fn calls(&self) -> Vec<&str> {
        let mut calls: Vec<&str> = self.calls.values().map(String::as_str).collect();
        calls.sort_unstable();
        calls
    }

    pub(super) fn timers(&self) -> Vec<Pause> {
        self.timers.values().copied().collect()
    }

    pub(super) fn end(&mut self, call: &str, ending: CallEnd) {
        let found = self.calls.iter().find(|it| it.1 == call);
        let id = *found
            .unwrap_or_else(|| panic!("{call}: {:?}", self.calls))
            .0;
        self.calls.remove(&id);
        self.machine.handle(Event::Ended(id, ending));
        self.settle();
    }

    pub(super) fn timer(&self, pause: Pause) -> Option<CallId> {
        let found = self.timers.iter().find(|it| *it.1 == pause);
        found.map(|it| *it.0)
    }

    pub(super) fn fire(&mut self, pause: Pause) {
        let id = self
            .timer(pause)
            .unwrap_or_else(|| panic!("{pause:?}: {:?}", self.timers));
        self.timers.remove(&id);
        self.machine.handle(passed(id, pause));
        self.settle();
    }

    pub(super) fn answer(&mut self, answer: Answer) -> Question {
        let (id, question) = self.questions.remove(0);
        self.machine.handle(Event::Answered(id, answer));
        self.settle();
        question
    }

    /// The reason of the first failure, and the number of its attempts.
    pub(super) fn reason(&self) -> (Reason, u32) {
        assert!(self.is_done && self.calls.is_empty() && self.timers.is_empty());
        let failures = self.machine.view().result().unwrap_err();
        (failures.steps[0].reason, failures.steps[0].attempts())
    }

    pub(super) fn succeeds(&self) -> bool {
        assert!(self.is_done && self.calls.is_empty() && self.timers.is_empty());
        self.machine.view().result().is_ok()
    }
}

/// Returns the step of a call and the steps around it, the outermost first, each with its positions in lists.
pub(super) fn around(
    view: MachineView<'_>,
    call: CallId,
    place: StepPlace,
) -> Vec<(StepId, Vec<u32>)> {
    let element = view.part(call).map_or(0, |part| part.element);
    let mut parts = vec![(place.step, view.places(place.slot, element))];
    let mut scope = view.scope_of(place.slot);
    while let Some(owner) = view.owner(scope) {
        parts.push((owner.step, view.places(owner.slot, owner.element)));
        scope = view.scope_of(owner.slot);
    }
    parts.reverse();
    parts
}

pub(super) fn tables(steps: Vec<Node>) -> Arc<Tables> {
    Tables::new(&[NodeBlock::new(steps)]).unwrap()
}

pub(super) fn each(body: NodeBody) -> Node {
    Node::new(0, NodeBody::For(Box::new(body)), vec![])
}

pub(super) fn call(label: u32) -> Node {
    Node::call(label, vec![])
}

pub(super) fn block(steps: Vec<Node>) -> NodeBody {
    NodeBody::Block(NodeBlock::new(steps))
}

/// A step that is undone by another.
pub(super) fn held() -> Vec<Node> {
    let undo = Node {
        duty: Duty::Undo(0),
        ..call(9)
    };
    vec![call(8), undo]
}
