//! Decisions of Rust code: a run that is kept makes each decision once.

use super::calling::refused_by;
use super::durable::{self, Durable};
use super::engine::{self, Engine};
use super::recorded::unusable;
use super::shared::SharedRun;
use crate::error::{Interrupt, StepError};
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// The keeper of the decisions of a run.
#[derive(Clone, Copy)]
pub(super) enum Keeper<'r> {
    Journal(&'r Durable),
    Engine(&'r dyn Engine),
}

/// The error of a step that is recorded for an error, if there is one, and the error that is made of the recorded error.
pub(super) type Errors<E> = (fn(&E) -> Option<&StepError>, fn(StepError) -> E);

/// Errors of steps are recorded as they are.
pub(super) const AS_IT_IS: Errors<StepError> = (|error| Some(error), |error| error);

/// Makes decisions, or takes them from their keeper.
pub(super) struct Decider<'d> {
    pub(super) keeper: Keeper<'d>,
    /// `true` if messages must not show values.
    pub(super) has_secrets: bool,
    /// Ends the run.
    pub(super) stop: &'d dyn Fn(Interrupt),
    /// Returns `true` if the run is over.
    pub(super) is_over: &'d dyn Fn() -> bool,
}

impl Decider<'_> {
    /// Returns the decision with this key. A failure to decide is recorded as the error of a step. `None` means that the run is over.
    pub(super) fn decided<T, E>(
        &self,
        key: String,
        decide: impl FnOnce() -> Result<T, E>,
        (error_of, made_of): Errors<E>,
    ) -> Option<Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let fail = |error| self.fail(&key, error);
        if let Some(body) = self.keeper.find(&key).ok()? {
            let recorded = durable::decode(&body).map_err(fail).ok()?;
            return match recorded.result {
                Ok(value) => serde_json::from_value(value).map_err(fail).ok().map(Ok),
                Err(error) => Some(Err(made_of(error))),
            };
        }
        let decided = decide();
        let now = self.keeper.now();
        let body = match &decided {
            Ok(value) => {
                let value = serde_json::to_value(value).map_err(fail).ok()?;
                durable::encode((now, now), Ok(&value))
            }
            Err(error) => match error_of(error) {
                // An error that ends the run decides nothing.
                Some(error) if error.exceeded().is_none() && !(self.is_over)() => {
                    durable::encode((now, now), Err(error))
                }
                _ => return Some(decided),
            },
        };
        let body = body.map_err(fail).ok()?;
        Some(match self.keeper.keep(key, body) {
            Ok(()) => decided,
            Err(error) => Err(made_of(error)),
        })
    }

    /// A record cannot be read or written.
    fn fail(&self, key: &str, error: serde_json::Error) {
        let error: serde_json::Error = if self.has_secrets {
            serde::de::Error::custom("it has another type; a value may be secret")
        } else {
            error
        };
        match self.keeper {
            Keeper::Journal(durable) => durable.fail(unusable(key, error)),
            Keeper::Engine(_) => {
                let error = engine::misfit(key, &error);
                (self.stop)(Interrupt::Journal(error));
            }
        }
    }
}

impl<'r> Keeper<'r> {
    /// Returns the keeper of a run, if there is one.
    pub(super) fn of(run: &'r SharedRun) -> Option<Self> {
        match (&run.durable, &run.engine) {
            (Some(durable), _) => Some(Self::Journal(durable)),
            (None, Some(engine)) => Some(Self::Engine(&**engine)),
            (None, None) => None,
        }
    }

    /// Returns the recorded decision. `Err` means that the run is over.
    fn find(self, key: &str) -> Result<Option<String>, ()> {
        match self {
            Self::Journal(durable) => Ok(durable.find(key)?.map(|found| found.body)),
            Self::Engine(engine) => Ok(engine.recall(key)),
        }
    }

    /// Keeps a decision. `Err` takes its place.
    fn keep(self, key: String, body: String) -> Result<(), StepError> {
        match self {
            Self::Journal(durable) => durable.note(key, body),
            Self::Engine(engine) => {
                if let Err(error) = engine.remember(key.clone(), body) {
                    return Err(refused_by(engine, key, error));
                }
            }
        }
        Ok(())
    }

    /// Returns the time of a decision. An engine keeps no times of decisions.
    fn now(self) -> Duration {
        match self {
            Self::Journal(durable) => durable.now(),
            Self::Engine(_) => Duration::ZERO,
        }
    }
}
