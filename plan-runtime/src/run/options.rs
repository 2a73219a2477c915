//! The options of a run.

use super::context::{Allowance, AnyGate, CallContext};
use super::durable::{Durable, Target};
use super::engine::Engine;
use super::limits::Limits;
use super::observe::Observer;
use super::on_failure::OnFailure;
use super::shared::{SharedOptions, SharedRun, UndoneCounts};
use super::signals::Receiver;
use super::throttle::Throttle;
use super::timer::{ThreadTimer, Timer};
use crate::plan::Secrecy;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How many calls of a run are made concurrently, unless [`Run::concurrency`](super::Run::concurrency) sets another limit.
pub const DEFAULT_CONCURRENCY: usize = 64;

/// How long undo steps and always steps may take after a run was cancelled, unless [`Run::grace`](super::Run::grace) sets another time.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(30);

pub(super) struct Options<'a> {
    pub(super) concurrency: usize,
    pub(super) on_failure: OnFailure,
    pub(super) deadline: Option<Duration>,
    /// How long undo steps and always steps may take after the run was cancelled or passed its deadline.
    pub(super) grace: Duration,
    pub(super) cancel: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    /// `None` for those that the plan has by default.
    pub(super) limits: Option<Limits>,
    /// What it holds together with other runs.
    pub(super) among: Option<Arc<Allowance>>,
    pub(super) gate: Option<Arc<dyn AnyGate>>,
    /// The names of the tools that may be called.
    pub(super) only: Option<Vec<String>>,
    pub(super) throttles: Vec<Throttle>,
    pub(super) capture: bool,
    pub(super) capture_outputs: bool,
    /// Whether each attempt is to be in a report.
    pub(super) record: bool,
    pub(super) observers: Vec<Arc<dyn Observer>>,
    pub(super) timer: Option<Arc<dyn Timer>>,
    pub(super) seed: Option<u64>,
    pub(super) id: Option<String>,
    /// What is secret, where more is known than the plan says.
    pub(super) secrecy: Option<Arc<Secrecy>>,
    /// What is sent to its steps, if somebody can send something.
    pub(super) signals: OnceLock<Receiver>,
    /// The call that the run is inside of.
    pub(super) outer: Option<CallContext>,
    /// Whether its actions are started by code that hands over values in Rust.
    pub(super) hands_over: bool,
    /// The journal that it is to have.
    pub(super) target: Option<Target>,
    /// The journal that it has.
    pub(super) durable: Option<Arc<Durable>>,
    /// What makes its calls, if the process does not.
    pub(super) engine: Option<Arc<dyn Engine>>,
    /// Where it counts how often steps were undone, if somebody is to see that.
    pub(super) undone: Option<UndoneCounts>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            concurrency: DEFAULT_CONCURRENCY,
            on_failure: OnFailure::default(),
            deadline: None,
            grace: DEFAULT_GRACE,
            cancel: None,
            limits: None,
            among: None,
            gate: None,
            only: None,
            throttles: Vec::new(),
            capture: false,
            capture_outputs: false,
            record: false,
            observers: Vec::new(),
            timer: None,
            seed: None,
            id: None,
            secrecy: None,
            signals: OnceLock::new(),
            outer: None,
            hands_over: false,
            target: None,
            durable: None,
            engine: None,
            undone: None,
        }
    }
}

impl Options<'_> {
    /// What the plans inside an outermost run have in common with it.
    pub(super) fn share(&mut self) -> SharedRun {
        SharedRun::new(SharedOptions {
            id: self.id.take(),
            timer: self.timer.take().unwrap_or_else(|| Arc::new(ThreadTimer)),
            seed: self.seed,
            on_failure: self.on_failure,
            concurrency: self.concurrency,
            observers: std::mem::take(&mut self.observers),
            inbox: self.signals.get().map(Receiver::inbox),
            durable: self.durable.take(),
            engine: self.engine.take(),
            undone: self.undone.take().unwrap_or_default(),
        })
    }
}
