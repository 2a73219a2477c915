//! The admission of calls: the gates and throttles of a run, the calls that wait for these, and the request for a call that is about to start.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the calls that wait, the request for a call |
//! | `admitting.rs` | the decision about a call: its question to the gates, its turn |
//! | `undo.rs` | the undo steps that a question names |
//! | `plans.rs` | the limits and permissions of a plan, and a check that its waits can end |

mod admitting;
mod plans;
mod undo;

pub(super) use admitting::Admitting;
pub(super) use plans::{allowance, may_run};

use super::super::StepError;
use super::super::admission::{Throttle, Turn};
use super::super::context::{Allowance, AnyGate, Decision, Question};
use super::super::options::MOST_QUESTIONS;
use super::super::request::Mode;
use super::super::start::{Request, Started};
use super::super::watch::Span;
use super::scene::{Host, Scene, Starting};
use super::task::Site;
use super::values::Values;
use crate::machine::CallId;
use crate::plan::Action;
use crate::resolve::Handed;
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The gates and throttles of a run, and the calls that wait for these.
pub(super) struct Admission<'x> {
    pub(super) gates: Vec<Arc<dyn AnyGate>>,
    pub(super) throttles: Vec<Throttle>,
    pub(super) waiting: HashMap<CallId, Waiting<'x>>,
    /// The steps with calls that have waited, by slots.
    pub(super) steps: HashMap<usize, StepAdmission>,
    is_viewed: bool,
    /// `true` if a view has found an answer of a gate.
    pub(super) is_gated: bool,
}

/// A call that waits.
pub(super) struct Waiting<'x> {
    pub(super) it: Starting<'x>,
    /// `true` if the call waits for its turn, and not for gates.
    pub(super) has_answers: bool,
    /// The answer of the gates, whose record still waits for its turn.
    pub(super) answer: Option<Decision>,
    /// The earliest start of the wait, counted from the start of the outermost run.
    pub(super) since: Duration,
}

#[derive(Default)]
pub(super) struct StepAdmission {
    /// The numbers of the actions that the gates have allowed.
    pub(super) allowed: Vec<usize>,
    /// The calls by elements.
    pub(super) calls: HashMap<u32, CallAdmission>,
}

/// A call with all its attempts.
#[derive(Default)]
pub(super) struct CallAdmission {
    pub(super) is_allowed: bool,
    /// `true` if the call counts in the limit of calls.
    pub(super) is_counted: bool,
    pub(super) question: Option<Box<Question>>,
    /// The turn of the next attempt. The call may still wait for this turn.
    pub(super) turn: Option<Turn>,
    /// The number of the attempt that starts at the turn of a record.
    pub(super) recorded: u32,
}

impl<'x> Admission<'x> {
    /// Creates the admission of a run. Returns `None` if no call has to wait. A view of a run has the recorded answers of gates, but no gates.
    pub(super) fn of(allowance: &Allowance, is_viewed: bool) -> Option<Self> {
        let (gates, throttles) = (allowance.gates(), allowance.throttles());
        let has_any = is_viewed || !(gates.is_empty() && throttles.is_empty());
        has_any.then(|| Self {
            gates,
            throttles,
            waiting: HashMap::new(),
            steps: HashMap::new(),
            is_viewed,
            is_gated: false,
        })
    }

    pub(super) fn call(&self, of: &Site) -> Option<&CallAdmission> {
        self.steps.get(&of.slot())?.calls.get(&of.element())
    }

    pub(super) fn call_mut(&mut self, of: &Site) -> &mut CallAdmission {
        let step = self.steps.entry(of.slot()).or_default();
        step.calls.entry(of.element()).or_default()
    }

    /// Returns the question about a call, with the arguments that the gates were shown.
    pub(super) fn question(&self, of: &Site) -> Option<&Question> {
        self.call(of)?.question.as_deref()
    }

    /// Returns `true` if a call counts in the limit of calls.
    pub(super) fn is_counted(&self, of: &Site) -> bool {
        self.call(of).is_some_and(|call| call.is_counted)
    }

    /// Returns `true` if an attempt starts at the turn of a record.
    pub(super) fn is_recorded(&self, of: &Site) -> bool {
        let call = self.call(of);
        call.is_some_and(|call| call.recorded == of.attempt())
    }

    /// Takes the turn of a call that starts.
    pub(super) fn take_turn(&mut self, of: &Site) -> Option<Turn> {
        let step = self.steps.get_mut(&of.slot())?;
        step.calls.get_mut(&of.element())?.turn.take()
    }

    /// Forgets the calls of a step that has ended.
    pub(super) fn settled(&mut self, slot: usize) {
        self.steps.remove(&slot);
    }

    pub(super) fn must_ask(&self, it: &Starting<'_>) -> bool {
        let step = self.steps.get(&it.of.slot());
        let is_allowed = |step: &StepAdmission| {
            let call = step.calls.get(&it.of.element());
            step.allowed.contains(&it.number) || call.is_some_and(|call| call.is_allowed)
        };
        (self.is_viewed || self.has_gates()) && !step.is_some_and(is_allowed)
    }

    /// Returns `true` if the queue of waiting calls is full.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MOST_QUESTIONS
    }

    pub(super) fn has_gates(&self) -> bool {
        !self.gates.is_empty()
    }

    /// Returns `true` if another call waits for the turn of a record with the same answer about all elements.
    pub(super) fn is_answered(&self, it: &Starting<'_>, answer: &Decision) -> bool {
        let is_other =
            |other: &&Waiting<'_>| other.it.makes_the_call_of(it) && other.it.of.call != it.of.call;
        let mut others = self.waiting.values().filter(is_other);
        *answer == Decision::AllowStep && others.any(|it| it.answer == Some(Decision::AllowStep))
    }

    pub(super) fn needs_turn(&self, of: &Site, action: &Action) -> bool {
        let tool = action.tool.as_ref();
        let limits = |tool: &str| self.throttles.iter().any(|it| it.has(tool));
        let turn = self.call(of).and_then(|call| call.turn.as_ref());
        !turn.is_some_and(Turn::is_taken) && tool.is_some_and(|tool| limits(&tool.name))
    }

    /// Returns a new turn of a call of an action.
    pub(super) fn new_turn(&self, action: &Action) -> Turn {
        let tool = action.tool.as_ref().map_or("", |tool| &tool.name);
        Turn::new(&self.throttles, tool)
    }

    /// Returns the calls of an action of a step that wait for gates.
    pub(super) fn asked(&self, it: &Starting<'_>) -> Vec<Starting<'x>> {
        let asked = self.waiting.values().filter(|other| {
            let waits = !other.has_answers && other.answer.is_none();
            waits && other.it.makes_the_call_of(it)
        });
        asked.map(|other| other.it).collect()
    }

    /// Removes a call that stops waiting.
    pub(super) fn drop_wait(&mut self, values: &mut Values<'_>, call: CallId) {
        if let Some(waiting) = self.waiting.remove(&call) {
            self.forget_question(values, &waiting.it.of);
        }
    }

    /// Drops the arguments that the gates were shown.
    pub(super) fn forget_question(&mut self, values: &mut Values<'_>, of: &Site) {
        let step = self.steps.get_mut(&of.slot());
        let call = step.and_then(|step| step.calls.get_mut(&of.element()));
        if let Some(question) = call.and_then(|call| call.question.take()) {
            values.let_go(of.slot(), question.bytes);
        }
    }

    /// Closes the throttles of the tool of a failed call for this time.
    #[cold]
    pub(super) fn close_throttles(&self, scene: &mut Scene<'_>, of: &Site, time: Duration) {
        if let Some((action, _)) = scene.values.action(of)
            && let Some(tool) = &action.tool
        {
            let now = scene.run.timer.now();
            let throttles = self.throttles.iter();
            throttles.for_each(|throttle| throttle.close(&tool.name, now, time));
        }
    }
}

/// The options for the start of an action.
#[derive(Clone, Copy, Default)]
pub(super) struct Way<'r> {
    /// `true` if the action starts no call, but makes the question to gates.
    pub(super) asks: bool,
    /// `true` if the call begins later than its future.
    pub(super) is_held: bool,
    /// The arguments that the gates were shown.
    pub(super) shown: Option<&'r Value>,
    /// The values passed on as Rust values.
    pub(super) given: Option<&'r Handed>,
    /// The cell for the arguments that the report shows.
    pub(super) captured: Option<&'r Cell<Option<Value>>>,
    /// The span of the attempt.
    pub(super) span: Option<&'r Span>,
}

impl<'x> Starting<'x> {
    /// Requests the start of an action from the host. Returns the bytes that the arguments count.
    pub(super) fn request(
        &self,
        scene: &mut Scene<'x>,
        way: Way<'_>,
        host: &mut dyn Host<'x>,
    ) -> (Result<Started<'x>, StepError>, usize) {
        let of = &self.of;
        // With a journal, a replay takes no time.
        let is_limited = !way.asks && scene.run.durable.is_none();
        let limit = is_limited.then(|| scene.values.limit_here(&scene.clock, of));
        let limit = limit.flatten();
        let until = limit.as_ref().map(|(until, _)| *until);
        let (started, bytes) = scene.evaluate(of, until, |scene, resolving| {
            let at = scene.values.scope(of.scope);
            let context = |is_plan| {
                let mut place = scene.at(self, is_plan);
                if way.asks {
                    // The question does not count in the time limits of the step.
                    place.until = None;
                }
                scene.context(&place)
            };
            let request = Request {
                context: Some(&context),
                mode: match &scene.run.engine {
                    _ if way.asks => Mode::Question,
                    Some(engine) => Mode::Elsewhere(engine),
                    None if way.is_held => Mode::Later,
                    None => Mode::Call,
                },
                shown: way.shown,
                secret: at.secrets(self.number),
                captured: way.captured,
                given: way.given,
                keep: Values::keep(at, of.step),
                ..Request::new(resolving, self.action)
            };
            let mut start = || self.start(&scene.values, request, host);
            match way.span {
                None => start(),
                Some(span) => span.around(start),
            }
        });
        let started = match started {
            Ok(Started::Ended(Err(error))) => Ok(Started::Ended(Err(late(error, limit)))),
            started => started,
        };
        (started, bytes)
    }
}

/// Returns the error of a value whose time was over before it was made.
pub(super) fn late(error: StepError, limit: Option<(Duration, StepError)>) -> StepError {
    match limit {
        Some((_, late)) if error.is_interrupted() => late,
        _ => error,
    }
}
