//! Tools for trying plans, without a network: an office with mail, contacts and a calendar, a carrier, a slow tool, and a tool that fails.

mod carrier;
mod effects;
mod mail;
mod odd;
mod people;

use crate::limits;
pub(crate) use effects::{Effect, Effects};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{CallContext, Throttle};
use plan_runtime::{Error, Result, Sleep};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn toolbox(throttle: Throttle) -> Toolbox<Office> {
    Toolbox::new()
        .with_schema::<mail::ListEmails>()
        .with_schema::<mail::ReadEmail>()
        .with_schema::<mail::SendEmail>()
        .with_schema::<people::FindContacts>()
        .with_schema::<people::ListEvents>()
        .with_schema::<people::BookEvent>()
        .with_schema::<people::CancelEvent>()
        .with_schema::<carrier::FacilitiesList>()
        .with_schema::<carrier::ShipmentsList>()
        .with_schema::<carrier::MoveShipment>()
        .with_schema::<odd::Slow>()
        .with_schema::<odd::Flaky>()
        .with::<Sleep>()
        .with::<mail::ReplyToLatest>()
        .throttle(throttle)
}

/// The state that the tools share. Each effect is a line of a file, so that the effect outlives the process. One call has one effect.
pub(crate) struct Office {
    effects: Mutex<Effects>,
    running: AtomicUsize,
    /// The attempts of the calls to `flaky` since the start of the server, by the keys of the calls.
    tries: Mutex<HashMap<String, u32>>,
}

/// A call that is being made.
pub(crate) struct Running<'o>(&'o AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Office {
    /// Reads what has happened so far.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self {
            effects: Mutex::new(Effects::open(path, limits::EFFECTS)?),
            running: AtomicUsize::new(0),
            tries: Mutex::default(),
        })
    }

    fn effects(&self) -> MutexGuard<'_, Effects> {
        self.effects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call to a tool as running until the drop of the guard.
    fn enter(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::AcqRel);
        Running(&self.running)
    }

    /// Returns the number of calls that run.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Returns the number of a call's attempt. The numbers of [`CallContext`] begin again in a retry of the run.
    fn try_again(&self, context: &CallContext) -> u32 {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= TRIED {
            tries.clear();
        }
        let tried = tries.entry(context.idempotency_key()).or_default();
        *tried = context.attempt().max(tried.saturating_add(1));
        *tried
    }

    /// Writes the effect of a call, unless this call has had its effect. `make` gets the number of the effect, counted
    /// from 1.
    fn effect<T: Serialize + DeserializeOwned>(
        &self,
        context: &CallContext,
        tool: &str,
        make: impl FnOnce(u64) -> T,
    ) -> Result<T> {
        let key = context.idempotency_key();
        let call = format!("{} {context}", context.run_id());
        let make = |number| serde_json::to_value(make(number));
        let had = self.effects().have(key, call, tool, make);
        let failed =
            |error| Error::msg(format!("the effect of the call cannot be stored: {error}"));
        Ok(serde_json::from_value(had.map_err(failed)?)?)
    }

    /// Returns the outputs of the latest calls of a tool, in order.
    fn outputs<T: DeserializeOwned>(&self, tool: &str) -> Vec<T> {
        let effects = self.effects();
        let of_tool = effects.made().rev().filter(|made| made.tool == tool);
        let mut outputs: Vec<T> = of_tool
            .take(LATEST)
            .filter_map(|made| T::deserialize(&made.output).ok())
            .collect();
        outputs.reverse();
        outputs
    }
}

/// The most calls of `flaky` whose attempts the server counts.
const TRIED: usize = 10_000;

/// The most outputs of one tool that other tools see.
const LATEST: usize = 1_000;
