//! A call that is about to start, and the request for its action.

use super::super::StepError;
use super::super::catch::catch;
use super::super::start::{Request, Started};
use super::super::trace::Span;
use super::limits::late;
use super::scene::{Host, Scene};
use super::task::Of;
use super::values::Values;
use crate::machine::{CallId, StepPlace};
use crate::plan::{Action, Role};
use crate::resolve::{Handed, Meter, StoredValue};
use serde_json::Value;
use std::cell::Cell;

/// A call that is about to start.
pub(super) struct Starting<'x> {
    pub(super) of: Of,
    /// The place of the step in its plan.
    pub(super) step: usize,
    pub(super) action: &'x Action,
    /// The number of the action in the whole plan.
    pub(super) number: usize,
    pub(super) attempt: u32,
}

/// The options for the start of an action.
#[derive(Clone, Copy)]
pub(super) struct Way<'r> {
    /// `true` if the action starts no call, but makes the question to gates.
    pub(super) asks: bool,
    /// The arguments that the gates were shown.
    pub(super) shown: Option<&'r Value>,
    /// The values that are handed over.
    pub(super) given: Option<&'r Handed>,
    /// The cell for the arguments that the report shows.
    pub(super) captured: Option<&'r Cell<Option<Value>>>,
}

impl Way<'_> {
    pub(super) const CALLS: Self = Self {
        asks: false,
        shown: None,
        given: None,
        captured: None,
    };

    pub(super) const ASKS: Self = Self {
        asks: true,
        shown: None,
        given: None,
        captured: None,
    };
}

impl<'x> Starting<'x> {
    /// Returns the call of a step that is not plain.
    pub(super) fn of(scene: &mut Scene<'x>, call: CallId, place: StepPlace) -> Option<Self> {
        let slot = place.slot;
        let scope = scene.machine.view().scope_of(slot);
        let step = scene.values.place_of(scope, slot.index());
        let part = scene.machine.view().part(call);
        let of = Of { call, scope, part };
        let (action, number) = scene.values.action(&of)?;
        Some(Self {
            of,
            step,
            action,
            number,
            attempt: place.attempt,
        })
    }

    /// Shows a step that runs after the work the values that the step sees. The values have to be put back.
    pub(super) fn before_call(
        &self,
        scene: &mut Scene<'_>,
    ) -> Option<(usize, Option<StoredValue>)> {
        let scope = self.of.scope;
        if scene.values.scope(scope).plan.steps[self.step].role == Role::Always {
            scene.show_results(scope);
        }
        scene.uncatch(scope, self.step)
    }

    /// Has the host start an action. Returns the bytes that the arguments count.
    pub(super) fn request(
        &self,
        scene: &mut Scene<'x>,
        span: &Span,
        way: Way<'_>,
        host: &mut dyn Host<'x>,
    ) -> (Result<Started<'x>, StepError>, usize) {
        let (Of { scope, part, .. }, step) = (self.of, self.step);
        let mut own = scene.values.take_own(scope);
        // With a journal, a replay takes no time.
        let limit = part.filter(|_| !way.asks && scene.run.durable.is_none());
        let limit = limit.and_then(|part| scene.values.limit_here(&scene.clock, scope, &part));
        let until = limit.as_ref().map(|(until, _)| *until);
        let (started, bytes) = {
            let at = scene.values.scope(scope);
            let stop = || scene.clock.is_over(until) || scene.look(scope);
            let meter = Meter::new(scene.values.held.room(), Some(&stop));
            let inside = part.and_then(|part| {
                let inside = scene.values.step(part.slot.index())?;
                Some(inside.locals(part.element))
            });
            let locals = inside.as_deref().unwrap_or_default();
            let is_always = part.is_some() && at.plan.steps[step].role == Role::Always;
            let resolving = scene
                .values
                .resolving(at, is_always, locals)
                .metered(&meter);
            let context = |is_plan| {
                let mut place = scene.at(self, is_plan);
                if way.asks {
                    // The question does not count in the time limits of the step.
                    place.until = None;
                }
                scene.context(place)
            };
            let mut request = Request::new(&resolving, self.action)
                .within(&context)
                .on(scene.run.engine.as_ref())
                .shown(way.shown)
                .hiding(at.secrets(self.number))
                .capturing(way.captured)
                .handing(way.given, Values::keep(at, step));
            if way.asks {
                request = request.asking();
            }
            let start = || match &mut own {
                None => host.start(self.number, request),
                Some((_, own)) => (own.start)(self.number, request),
            };
            (catch(|| span.in_scope(start)), meter.spent())
        };
        scene.values.put_own(own);
        let started = match started {
            Ok(Started::Ended(Err(error))) => Ok(Started::Ended(Err(late(error, limit)))),
            started => started,
        };
        (started, bytes)
    }
}
