//! Records of decisions of Rust code, in a journal or an engine.
//!
//! `drive/scopes.rs` evaluates the code, and calls this module for the record.

use super::durable::{self, Durable, encode};
use super::engine::{self, Engine};
use super::recorded::unusable;
use super::shared::SharedRun;
use crate::Error;
use crate::error::StepError;
use crate::journal::JournalError;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;
use std::time::Duration;

/// The store of the decisions of a run.
#[derive(Clone, Copy)]
pub(super) enum Keeper<'r> {
    Journal(&'r Durable),
    Engine(&'r dyn Engine),
}

impl Keeper<'_> {
    /// Returns the recorded decision with this key, or makes and records the decision. An error of `decide` is a decision as well, unless the run `is_over`. Returns `Err` if the run has ended, with the failure of the engine if
    /// the engine failed, and in a view, which makes no decisions. With secrets, messages show no values.
    pub(super) fn decided<T: Serialize + DeserializeOwned>(
        self,
        key: String,
        (has_secrets, is_over): (bool, bool),
        decide: impl FnOnce() -> Result<T, StepError>,
    ) -> Result<Result<T, StepError>, Option<Arc<JournalError>>> {
        let fail = |error| self.fail(&key, error, has_secrets);
        if let Some(body) = self.find(&key).map_err(|()| None)? {
            let recorded = durable::decode(&body).map_err(fail)?;
            return match recorded.result {
                Ok(value) => serde_json::from_value(value).map(Ok).map_err(fail),
                Err(error) => Ok(Err(error)),
            };
        }
        if self.is_viewed() {
            return Err(None);
        }
        let decided = decide();
        let now = self.now();
        let body = match &decided {
            Ok(value) => {
                let value = serde_json::to_value(value).map_err(fail)?;
                durable::encode((now, now), Ok(&value))
            }
            // An error that ends the run is no decision.
            Err(error) if error.exceeded().is_some() || is_over => return Ok(decided),
            Err(error) => durable::encode((now, now), Err(error)),
        };
        let body = body.map_err(fail)?;
        Ok(self.keep(key, body).and(decided))
    }

    /// Fails the run because of an unreadable or unwritable record. Returns the failure of an engine.
    fn fail(
        self,
        key: &str,
        error: serde_json::Error,
        has_secrets: bool,
    ) -> Option<Arc<JournalError>> {
        let error: serde_json::Error = if has_secrets {
            serde::de::Error::custom("it has another type; a value may be secret")
        } else {
            error
        };
        match self {
            Self::Journal(durable) => {
                durable.fail(unusable(key, error));
                None
            }
            Self::Engine(_) => Some(engine::misfit(key, &error)),
        }
    }
}

impl<'r> Keeper<'r> {
    /// Returns the store of a run's decisions, or `None` for a run without a journal and an engine.
    pub(super) fn of(run: &'r SharedRun) -> Option<Self> {
        match (&run.durable, &run.engine) {
            (Some(durable), _) => Some(Self::Journal(durable)),
            (None, Some(engine)) => Some(Self::Engine(&**engine)),
            (None, None) => None,
        }
    }

    /// Returns `true` in a view of a stored run.
    pub(super) fn is_viewed(self) -> bool {
        matches!(self, Self::Journal(durable) if durable.is_viewed())
    }

    /// Returns the recorded decision, or `Err` if the run has ended.
    fn find(self, key: &str) -> Result<Option<String>, ()> {
        match self {
            Self::Journal(durable) => Ok(durable.find(key)?.map(|found| found.body)),
            Self::Engine(engine) => Ok(engine.recall(key)),
        }
    }

    /// Records a decision, or returns the error that replaces the decision.
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

/// Returns the error of a decision that the engine failed to store, and stores the error instead.
fn refused_by(engine: &dyn Engine, key: String, error: Error) -> StepError {
    let error = StepError::tool(error);
    if let Ok(body) = encode((Duration::ZERO, Duration::ZERO), Err(&error)) {
        // The record is short, so the engine is expected to store it.
        let _ = engine.remember(key, body);
    }
    error
}
