//! A machine whose driver does only what a test wants.

use super::super::hand::{End, Event as Happening, Outcome, in_order};
use super::described::{Described, places};
use super::driver::around;
use plan_runtime::machine::{
    Answer, CallEnd, CallError, CallId, Command, Cutoff, ErrorId, Event, FailureRole, Failures,
    Machine, Question, QuestionId, Reaction, ScopeId, StepPlace, StepSlot, StepStatus, Trail,
};
use plan_runtime::run::OnFailure;
use std::collections::{BTreeMap, BTreeSet};

/// A scope with commands so far.
#[derive(Clone, Default)]
struct Seen {
    /// The label of the step that has opened the scope.
    owner: Option<u32>,
    tries: Vec<Tried>,
}

/// An attempt of a step.
#[derive(Clone)]
struct Tried {
    slot: StepSlot,
    element: Vec<u32>,
    number: u32,
    inside: Option<Inside>,
}

/// The scope of an attempt, or the statuses in the scope after its final end.
#[derive(Clone)]
enum Inside {
    Open(ScopeId),
    Over(String),
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
    seen: BTreeMap<ScopeId, Seen>,
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
            seen: BTreeMap::new(),
            is_done: false,
        }
    }

    /// Takes all commands.
    pub(super) fn settle(&mut self) {
        while let Some(command) = self.machine.next(true) {
            match command {
                Command::Admit(call, _) => self.machine.handle(Event::Admitted(call)),
                Command::Start(call, _) if self.machine.view().may_open(call).is_some() => {
                    self.machine.handle(Event::Opened(call));
                }
                Command::Start(call, place) => {
                    let path = self.begin(call, place);
                    self.started.push(path.clone());
                    assert_eq!(self.running.insert(call, path), None);
                }
                Command::Await(call, place) => {
                    let path = self.begin(call, place);
                    if self.sent.contains(&path) {
                        self.end(call, End::Ok);
                    } else if self.hung_up {
                        self.end(call, End::Permanent);
                    } else {
                        assert_eq!(self.waiting.insert(call, path), None);
                    }
                }
                Command::Evaluate(id, question) => {
                    match question {
                        Question::Inputs(scope) if self.is_unfit(scope) => {
                            self.fail_inputs(id, scope);
                            continue;
                        }
                        Question::Inputs(scope) => self.see(scope),
                        Question::Branch(place, _) | Question::List(place, _) => {
                            self.see(self.machine.view().scope_of(place.slot));
                        }
                        _ => {}
                    }
                    self.answer(id, question);
                }
                Command::Sleep(timer, ..) => self.machine.handle(Event::Fired(timer)),
                Command::Drop(call) => {
                    let had = [&mut self.running, &mut self.waiting].map(|it| it.remove(&call));
                    assert!(had.iter().any(Option::is_some), "{call:?} is dropped twice");
                }
                Command::Free(scope) => self.free(scope),
                Command::Unwinding(_) => {}
                Command::Settled(scope, slot, status) => {
                    assert_eq!(self.machine.view().scope_of(slot), scope);
                    let view = self.machine.view();
                    let place = slot.index() - view.slots(scope).0.index();
                    assert_eq!(view.status(scope, place), status);
                }
                Command::Over(scope) => assert_ne!(scope, ScopeId::ROOT),
                Command::Done => assert!(!std::mem::replace(&mut self.is_done, true)),
            }
        }
        assert_eq!(self.is_done, self.machine.is_over());
        assert!(!self.is_done || self.running.is_empty() && self.waiting.is_empty());
    }

    /// An attempt of a call or a wait begins. Returns the path.
    fn begin(&mut self, call: CallId, place: StepPlace) -> String {
        let view = self.machine.view();
        let (parts, scope) = (around(view, call, place), view.scope_of(place.slot));
        let (_, element) = parts.last().cloned().unwrap();
        self.note(
            scope,
            Tried {
                slot: place.slot,
                element,
                number: place.attempt,
                inside: None,
            },
        );
        let parts = parts.iter().map(|(step, element)| (*step, &element[..]));
        self.plan.path(parts)
    }

    fn note(&mut self, scope: ScopeId, tried: Tried) {
        self.see(scope);
        self.seen.entry(scope).or_default().tries.push(tried);
    }

    /// Notes the attempts that have opened a scope and the scopes around it.
    fn see(&mut self, scope: ScopeId) {
        if self.seen.contains_key(&scope) {
            return;
        }
        let view = self.machine.view();
        let mut seen = Seen::default();
        if let Some(owner) = view.owner(scope) {
            seen.owner = Some(self.plan.tables.label(owner.step));
            let tried = Tried {
                slot: owner.slot,
                element: view.places(owner.slot, owner.element),
                number: owner.attempt,
                inside: Some(Inside::Open(scope)),
            };
            self.note(view.scope_of(owner.slot), tried);
        }
        self.seen.insert(scope, seen);
    }

    /// A scope is over for good, so that another scope may have its id.
    fn free(&mut self, scope: ScopeId) {
        let words = self.statuses(scope);
        self.seen.remove(&scope);
        let mut tries = self.seen.values_mut().flat_map(|it| &mut it.tries);
        let opens = |it: &Tried| matches!(it.inside, Some(Inside::Open(inner)) if inner == scope);
        if let Some(tried) = tries.find(|it| opens(it)) {
            tried.inside = Some(Inside::Over(words));
        }
    }

    fn answer(&mut self, id: QuestionId, question: Question) {
        let answer = Answer::Number(self.plan.answer(question));
        self.machine.handle(Event::Answered(id, answer));
        // A second answer does nothing.
        self.machine.handle(Event::Answered(id, Answer::Number(7)));
    }

    fn is_unfit(&self, scope: ScopeId) -> bool {
        let owner = self.machine.view().owner(scope);
        owner.is_some_and(|owner| self.plan.is_unfit(owner.step))
    }

    /// Fails the inputs of a scope, which never begins.
    fn fail_inputs(&mut self, id: QuestionId, scope: ScopeId) {
        let view = self.machine.view();
        let owner = view.owner(scope).expect("a scope in a step");
        let tried = Tried {
            slot: owner.slot,
            element: view.places(owner.slot, owner.element),
            number: owner.attempt,
            inside: None,
        };
        let around = view.scope_of(owner.slot);
        self.note(around, tried);
        let error = CallError {
            error: ErrorId(0),
            transient: false,
            lasting: false,
        };
        self.machine
            .handle(Event::Answered(id, Answer::Failed(error)));
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
                // A second end has no effect before the machine continues.
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

    /// Returns the end of a run in words, in the format of the model, without its value.
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
        let path = |trail: &Trail| {
            let parts = trail.0.iter().map(|it| (it.step, &it.element[..]));
            self.plan.path(parts)
        };
        let failures = steps.iter().map(|failure| {
            let blocked: Vec<String> = failure.blocked.iter().map(path).collect();
            format!(
                "{} #{} blocks {blocked:?}",
                path(&failure.trail),
                failure.attempts()
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
        let Some(seen) = self.seen.get(&scope) else {
            return String::new();
        };
        let labels = &self.plan.inside[&seen.owner];
        let id = |place: usize| &self.plan.ids[labels[place] as usize];
        let (first, count) = view.slots(scope);
        let words = (0..count).map(|place| {
            let id_here = id(place);
            let word = match view.status(scope, place) {
                StepStatus::Waiting | StepStatus::Skipped if !id_here.starts_with('s') => {
                    "idle".into()
                }
                StepStatus::Waiting => "not started".into(),
                StepStatus::Completed => "completed".into(),
                StepStatus::Skipped => "skipped".into(),
                StepStatus::Recovered => "recovered".into(),
                StepStatus::Failed => "failed".into(),
                StepStatus::Running | StepStatus::Cancelled => "cancelled".into(),
                StepStatus::Blocked => {
                    let by = view.blocker(scope, place).expect("a step that is blocked");
                    format!("blocked by {}", id(by))
                }
            };
            let tries = seen.tries.iter();
            let tries = tries.filter(|it| it.slot.index() == first.index() + place);
            let tries = tries.map(|tried| {
                let inside = match &tried.inside {
                    None => String::new(),
                    Some(Inside::Open(scope)) => format!("{{{}}}", self.statuses(*scope)),
                    Some(Inside::Over(words)) => format!("{{{words}}}"),
                };
                format!(" {}#{}{inside}", places(&tried.element), tried.number)
            });
            let tries: String = tries.collect();
            format!("{id_here} {word}{tries}")
        });
        words.collect::<Vec<String>>().join(", ")
    }
}
