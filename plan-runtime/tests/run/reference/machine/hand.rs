//! A machine whose driver does only what a test wants.

use super::super::hand::{End, Event as Happening, Outcome, in_order};
use super::super::tree::{self, Recovers};
use plan_runtime::machine::{
    Answer, CallEnd, CallError, CallId, Command, Cutoff, Duty, ErrorId, Event, FailureRole,
    Failures, Machine, Node, NodeBlock, NodeBody, Question, QuestionId, Reaction, Recovery,
    ScopeId, StepId, StepStatus, Tables, Trail,
};
use plan_runtime::plan::Role;
use plan_runtime::run::OnFailure;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A plan of the model as the machine has it. The labels of steps are places in `ids` and `answers`.
pub(super) struct Described {
    pub(super) tables: Arc<Tables>,
    pub(super) ids: Vec<String>,
    /// The answers about the bodies of a step, in the order of the text.
    answers: Vec<Vec<u32>>,
}

#[derive(Default)]
struct Describing {
    plans: Vec<NodeBlock>,
    ids: Vec<String>,
    answers: Vec<Vec<u32>>,
}

impl Described {
    pub(super) fn new(steps: &[tree::Node]) -> Self {
        let mut describing = Describing::default();
        describing.plans.push(NodeBlock::default());
        describing.plans[0] = describing.block(steps, 1);
        let Describing {
            plans,
            ids,
            answers,
        } = describing;
        let tables = Tables::new(&plans).unwrap();
        Self {
            tables,
            ids,
            answers,
        }
    }

    fn answer(&self, question: Question) -> u32 {
        let answers = |step: StepId| &self.answers[self.tables.label(step) as usize];
        match question {
            Question::Branch(place, body) | Question::List(place, body) => {
                answers(place.step)[body as usize]
            }
            // There are two rounds, or the loop is endless.
            Question::Again(_, 0) => 1,
            Question::Again(place, _) => answers(place.step).last().copied().unwrap_or(0),
            Question::Amounts(_)
            | Question::Inputs(_)
            | Question::Output(_)
            | Question::Fallback(_) => 0,
        }
    }

    pub(super) fn path(&self, trail: &Trail) -> String {
        let parts = trail.0.iter().map(|part| {
            let element: String = part.element.iter().map(|it| format!("[{it}]")).collect();
            format!("{}{element}", self.id(part.step))
        });
        parts.collect::<Vec<_>>().join(".")
    }

    fn id(&self, step: StepId) -> &str {
        &self.ids[self.tables.label(step) as usize]
    }
}

impl Describing {
    fn block(&mut self, steps: &[tree::Node], depth: usize) -> NodeBlock {
        let mut nodes = Vec::new();
        // Half of the scopes ask for their inputs.
        let has_inputs = self.ids.len().is_multiple_of(2);
        for (place, step) in steps.iter().enumerate() {
            let label = self.ids.len();
            self.ids.push(step.id(depth, place));
            self.answers.push(Vec::new());
            let body = self.body(&step.work, label, depth);
            let mut node = Node::new(label as u32, body, step.after.clone());
            node.duty = match step.role {
                Role::Undo(place) => Duty::Undo(place),
                Role::Always => Duty::Always,
                _ => Duty::Work,
            };
            (node.recovery, node.each) = match step.recovers {
                Recovers::No => (Recovery::No, Recovery::No),
                Recovers::Optional | Recovers::Fallback => (Recovery::Replace, Recovery::No),
                Recovers::Catch => (Recovery::Catch, Recovery::No),
                Recovers::OptionalEach => (Recovery::No, Recovery::Replace),
                Recovers::CatchEach => (Recovery::No, Recovery::Catch),
            };
            node.timing.fallback = label.is_multiple_of(2);
            node.amounts.attempts = step.attempts;
            if let tree::Work::Loop(..) = step.work {
                node.amounts.at_most = 2;
            }
            nodes.push(node);
        }
        NodeBlock {
            has_inputs,
            ..NodeBlock::new(nodes)
        }
    }

    fn body(&mut self, work: &tree::Work, label: usize, depth: usize) -> NodeBody {
        use tree::Work;
        self.answers[label].push(match work {
            Work::If(holds, _) | Work::Loop(holds, _) => u32::from(*holds),
            Work::For(_) => 2,
            _ => 0,
        });
        match work {
            Work::Call => NodeBody::Call,
            Work::Await => NodeBody::Await,
            Work::If(_, work) => NodeBody::If(vec![self.body(work, label, depth)]),
            Work::For(work) => NodeBody::For(Box::new(self.body(work, label, depth))),
            Work::Loop(_, steps) => NodeBody::Loop(self.block(steps, depth + 1)),
            Work::Block(steps) => NodeBody::Block(self.block(steps, depth + 1)),
            Work::Plan(steps) => {
                let plan = self.block(steps, depth + 1);
                self.plans.push(plan);
                let place = self.plans.len() - 1;
                // Half of the plans are calls that turn out to be plans.
                if label.is_multiple_of(2) {
                    NodeBody::Open(place)
                } else {
                    NodeBody::Plan(place)
                }
            }
        }
    }
}

/// A machine with the calls and waits that its driver has.
#[derive(Clone)]
pub(super) struct Hand<'p> {
    plan: &'p Described,
    pub(super) machine: Machine,
    running: BTreeMap<CallId, String>,
    waiting: BTreeMap<CallId, String>,
    started: Vec<String>,
    sent: BTreeSet<String>,
    hung_up: bool,
    pub(super) is_done: bool,
}

impl<'p> Hand<'p> {
    pub(super) fn new(plan: &'p Described, on_failure: OnFailure, bound: u32) -> Self {
        let reaction = match on_failure {
            OnFailure::Continue => Reaction::Continue,
            OnFailure::Cancel => Reaction::Cancel,
            _ => Reaction::Stop,
        };
        Self {
            plan,
            machine: Machine::new(&plan.tables, reaction, bound)
                .telling()
                .telling_scopes(),
            running: BTreeMap::new(),
            waiting: BTreeMap::new(),
            started: Vec::new(),
            sent: BTreeSet::new(),
            hung_up: false,
            is_done: false,
        }
    }

    /// Has the machine keep everything, as for a report.
    pub(super) fn keeping_all(mut self) -> Self {
        self.machine = self.machine.keeping_all();
        self
    }

    /// Takes all commands.
    pub(super) fn settle(&mut self) {
        while let Some(command) = self.machine.next(true) {
            match command {
                Command::Admit(call, _) => self.machine.handle(Event::Admitted(call)),
                Command::Start(call, _) if self.machine.view().may_open(call).is_some() => {
                    self.machine.handle(Event::Opened(call));
                }
                Command::Start(call, _) => {
                    let path = self.path(call);
                    self.started.push(path.clone());
                    assert_eq!(self.running.insert(call, path), None);
                }
                Command::Await(call, _) => {
                    let path = self.path(call);
                    if self.sent.contains(&path) {
                        self.end(call, End::Ok);
                    } else if self.hung_up {
                        self.end(call, End::Permanent);
                    } else {
                        assert_eq!(self.waiting.insert(call, path), None);
                    }
                }
                Command::Evaluate(id, question) => self.answer(id, question),
                Command::Sleep(timer, ..) => self.machine.handle(Event::Fired(timer)),
                Command::Drop(call) => {
                    let had = [&mut self.running, &mut self.waiting].map(|it| it.remove(&call));
                    assert!(had.iter().any(Option::is_some), "{call:?} is dropped twice");
                }
                Command::Free(_) | Command::Unwinding(_) => {}
                Command::Settled(scope, slot, status) => {
                    assert_eq!(self.machine.view().scope_of(slot), scope);
                    assert_eq!(self.machine.view().status(slot), status);
                }
                Command::Over(scope) => assert_ne!(scope, ScopeId::ROOT),
                Command::Done => assert!(!std::mem::replace(&mut self.is_done, true)),
            }
        }
        assert_eq!(self.is_done, self.machine.is_over());
        assert!(!self.is_done || self.running.is_empty() && self.waiting.is_empty());
    }

    fn path(&self, call: CallId) -> String {
        self.plan.path(&self.machine.view().trail(call).unwrap())
    }

    fn answer(&mut self, id: QuestionId, question: Question) {
        let answer = Answer::Number(self.plan.answer(question));
        self.machine.handle(Event::Answered(id, answer));
        // A second answer does nothing.
        self.machine.handle(Event::Answered(id, Answer::Number(7)));
    }

    fn end(&mut self, call: CallId, end: End) {
        let ending = match end {
            End::Ok => CallEnd::Done,
            end => CallEnd::Failed(CallError {
                error: ErrorId(0),
                transient: end == End::Transient,
                lasting: false,
            }),
        };
        self.machine.handle(Event::Ended(call, ending));
    }

    pub(super) fn happen(&mut self, event: &Happening) {
        let call_of = |of: &BTreeMap<CallId, String>, path: &str| {
            of.iter().find(|it| it.1 == path).map(|it| *it.0)
        };
        match event {
            Happening::End(path, end) => {
                let call = call_of(&self.running, path).expect("a call that runs");
                self.running.remove(&call);
                self.end(call, *end);
                // A second end does nothing before the machine goes on.
                self.end(call, End::Permanent);
            }
            Happening::Send(path) => {
                self.sent.insert(path.clone());
                if let Some(call) = call_of(&self.waiting, path) {
                    self.waiting.remove(&call);
                    self.end(call, End::Ok);
                }
            }
            Happening::HangUp => {
                self.hung_up = true;
                for (call, _) in std::mem::take(&mut self.waiting) {
                    self.end(call, End::Permanent);
                }
            }
            Happening::Cancel => self.machine.handle(Event::Cancelled),
            Happening::Deadline => self.machine.handle(Event::Late),
            Happening::Grace => self.machine.handle(Event::GraceOver),
        }
    }

    /// Returns the calls that have started since the last time and still run, sorted.
    pub(super) fn started(&mut self) -> Vec<String> {
        let running = self.running();
        let mut started = std::mem::take(&mut self.started);
        started.retain(|path| running.contains(path));
        started.sort();
        started
    }

    /// The calls that run, sorted.
    pub(super) fn running(&self) -> Vec<String> {
        let mut running: Vec<String> = self.running.values().cloned().collect();
        running.sort();
        running
    }

    pub(super) fn waits(&self) -> usize {
        self.waiting.len()
    }

    /// The end of a run in words, as the model has it. In place of its value is none.
    pub(super) fn outcome(&self) -> Outcome {
        let failures = self.machine.view().result().err();
        let result = match failures.as_ref().map(|it| it.cutoff) {
            None => Ok(serde_json::Value::Null),
            Some(Some(Cutoff::Cancelled)) => Err("cancelled"),
            Some(Some(Cutoff::Late)) => Err("late"),
            Some(_) => Err("failed"),
        };
        let Failures {
            steps,
            undone,
            not_undone,
            ..
        } = failures.unwrap_or_default();
        assert!(steps.is_sorted_by_key(|it| it.role != FailureRole::Work));
        let path = |trail: &Trail| self.plan.path(trail);
        let failures = steps.iter().map(|failure| {
            let blocked: Vec<String> = failure.blocked.iter().map(path).collect();
            format!(
                "{} #{} blocks {blocked:?}",
                path(&failure.trail),
                failure.attempts
            )
        });
        let sorted = |trails: Vec<Trail>| {
            let mut paths: Vec<String> = trails.iter().map(path).collect();
            paths.sort();
            paths
        };
        Outcome {
            result,
            steps: self.statuses(ScopeId::ROOT),
            failures: in_order(failures.collect()),
            undone: sorted(undone),
            not_undone: sorted(not_undone),
        }
    }

    fn statuses(&self, scope: ScopeId) -> String {
        let view = self.machine.view();
        let words = view.steps(scope).into_iter().map(|(step, status)| {
            let id = self.plan.id(step);
            let word = match status {
                StepStatus::Waiting | StepStatus::Skipped if !id.starts_with('s') => "idle".into(),
                StepStatus::Waiting => "not started".into(),
                StepStatus::Completed => "completed".into(),
                StepStatus::Skipped => "skipped".into(),
                StepStatus::Recovered => "recovered".into(),
                StepStatus::Failed => "failed".into(),
                StepStatus::Running | StepStatus::Cancelled => "cancelled".into(),
                StepStatus::Blocked => {
                    let by = view
                        .blocked_by(scope, step)
                        .expect("a step that is blocked");
                    format!("blocked by {}", self.plan.id(by))
                }
            };
            let tries = view.attempts(scope, step).into_iter().map(|tried| {
                let element: String = tried.element.iter().map(|it| format!("[{it}]")).collect();
                let inside = tried.inside.map(|it| format!("{{{}}}", self.statuses(it)));
                format!(" {element}#{}{}", tried.number, inside.unwrap_or_default())
            });
            let tries: String = tries.collect();
            format!("{id} {word}{tries}")
        });
        words.collect::<Vec<String>>().join(", ")
    }
}
