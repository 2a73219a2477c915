//! The options of a run.

use super::admission::{Permits, Throttle};
use super::context::{Allowance, CallContext, Permissions};
use super::durable::{Durable, Target, Undone};
use super::engine::Engine;
use super::limits::Limits;
use super::on_failure::OnFailure;
use super::report::Keeps;
use super::shared::SharedRun;
use super::signals::Receiver;
use super::start::MadeOutput;
use super::timer::{ThreadTimer, Timer};
use super::watch::Observers;
use crate::plan::{Action, Executable, Secrecy};
use crate::resolve::ResolveError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The most calls of a run that wait for gates and throttles at one time.
pub(super) const MOST_QUESTIONS: usize = 64;

/// The maximum number of concurrent calls of a run, unless [`Run::concurrency`](super::Run::concurrency) sets another limit.
pub const DEFAULT_CONCURRENCY: usize = 64;

/// The time limit for undo steps and always steps after a run was cancelled, unless [`Run::grace_period`](super::Run::grace_period) sets another time.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(30);

/// A function that returns the plan of an action, if the action calls a plan.
pub(super) type FindPlan<'a> = Box<dyn Fn(&Action) -> Option<Executable<'a>> + Send + 'a>;

/// Reads the output of a plan.
pub(super) type ReadOutput<O> = fn(MadeOutput<'_>) -> Result<O, ResolveError>;

/// A future that cancels a run.
pub(super) type Cancel<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The causes that end a run before its time.
#[derive(Default)]
pub(super) struct StopOptions<'a> {
    pub(super) deadline: Option<Duration>,
    /// The time limit for undo steps and always steps after the run was cancelled or passed its deadline, unless it is [`DEFAULT_GRACE`].
    pub(super) grace: Option<Duration>,
    pub(super) cancel: Option<Cancel<'a>>,
}

#[derive(Default)]
pub(super) struct Options<'a> {
    /// The maximum number of concurrent calls, unless it is [`DEFAULT_CONCURRENCY`].
    pub(super) concurrency: Option<usize>,
    pub(super) on_failure: OnFailure,
    pub(super) stop: StopOptions<'a>,
    /// The limits of the run. `None` for the default limits of the plan.
    pub(super) limits: Option<Limits>,
    /// The limits that the run shares with other runs.
    pub(super) among: Option<Arc<Allowance>>,
    pub(super) permissions: Permissions,
    /// The content of the report.
    pub(super) keeps: Keeps,
    pub(super) observers: Observers,
    pub(super) timer: Option<Arc<dyn Timer>>,
    pub(super) seed: Option<u64>,
    pub(super) id: Option<String>,
    /// The secrets of the run, if the caller has declared more secrets than the plan.
    pub(super) secrecy: Option<Arc<Secrecy>>,
    /// The receiver of signals for the steps, if the run has a sender.
    pub(super) signals: OnceLock<Receiver>,
    /// The call that the run is inside of.
    pub(super) outer: Option<CallContext>,
    /// `true` if the code that starts the actions hands over Rust values.
    pub(super) hands_over: bool,
    /// The journal that the run will open.
    pub(super) target: Option<Target>,
    /// The open journal of the run.
    pub(super) durable: Option<Arc<Durable>>,
    /// The engine that makes the calls, unless the process makes the calls.
    pub(super) engine: Option<Arc<dyn Engine>>,
    /// Finds the plans behind calls by the names of the tools. `None` if the tools themselves contain their plans.
    pub(super) find: Option<FindPlan<'a>>,
    /// The counts of undone steps at the start of a call for a run on another machine.
    pub(super) undone: Undone,
}

impl Options<'_> {
    /// Takes the options that the plans inside an outermost run share with the run.
    pub(super) fn share(&mut self) -> SharedRun {
        let durable = self.durable.take();
        let before = durable.as_ref().and_then(|it| it.undone_before());
        let timer = self.timer.take();
        let concurrency = self.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        SharedRun {
            id: self.id.take().map_or_else(OnceLock::new, OnceLock::from),
            timer: timer.unwrap_or_else(|| Arc::new(ThreadTimer)),
            seed: self.seed,
            on_failure: self.on_failure,
            concurrency,
            observers: std::mem::take(&mut self.observers),
            inbox: self.signals.get().map(Receiver::inbox),
            permits: Permits::new(concurrency),
            questions: Throttle::new().concurrency("*", MOST_QUESTIONS),
            durable,
            engine: self.engine.take(),
            before: before.unwrap_or_default(),
            undone: Mutex::new(std::mem::take(&mut self.undone)),
        }
    }
}
