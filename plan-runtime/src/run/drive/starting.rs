//! A call that is about to start, and the request for its action.

use super::super::StepError;
use super::super::start::{Request, Started};
use super::super::trace::Span;
use super::scene::{Host, Scene};
use super::task::Site;
use super::values::Values;
use crate::machine::{CallId, StepPlace};
use crate::plan::Action;
use crate::resolve::Handed;
use serde_json::Value;
use std::cell::Cell;
use std::time::Duration;

/// A call that is about to start.
#[derive(Clone, Copy)]
pub(super) struct Starting<'x> {
    pub(super) of: Site,
    pub(super) action: &'x Action,
    /// The number of the action in the whole plan.
    pub(super) number: usize,
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
    /// Returns the call of a step that is not plain.
    pub(super) fn of(scene: &mut Scene<'x>, call: CallId, place: StepPlace) -> Option<Self> {
        let of = scene.of(call, place);
        let (action, number) = scene.values.action(&of)?;
        Some(Self { of, action, number })
    }

    /// Returns `true` if both calls are calls of one action of a step, possibly for different elements.
    pub(super) fn makes_the_call_of(&self, other: &Starting<'_>) -> bool {
        self.number == other.number && self.of.slot() == other.of.slot()
    }

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
                engine: scene.run.engine.as_ref(),
                asks: way.asks,
                is_held: way.is_held,
                shown: way.shown,
                secret: at.secrets(self.number),
                captured: way.captured,
                given: way.given,
                keep: Values::keep(at, of.step),
                ..Request::new(resolving, self.action)
            };
            let mut start = || match scene.values.own(of.scope) {
                None => host.start(self.number, request),
                Some(own) => (own.start)(self.number, request),
            };
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
