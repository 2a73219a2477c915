//! Runs whose calls an engine makes, on this machine or others.

use super::durable::{Recorded, Undone, decode, encode_call};
use super::timer::Timer;
use crate::error::{Cause, StepError};
use crate::journal::JournalError;
use crate::print::{Line, MessageName};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

/// The version of the requests that a run makes to an [`Engine`]. The version changes if the requests or their order change in a version of this crate. A run cannot resume under another version, so an engine stores the version with each run.
pub const ENGINE_VERSION: u32 = 3;

/// A future of an engine, which owns its data.
pub type EngineFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A durable engine, which makes the calls of a run on any machine, and stores every event from outside of the run.
///
/// A run [on an engine](super::Run::engine) still makes every scheduling decision: conditions, lists, blocks, loops, attempts, time limits, and undo
/// steps. The engine makes each call, sleeps, and waits for values from outside, and it stores the outcomes in their order. After a crash, the engine
/// starts the run again and passes these outcomes to the run in this order, which returns the run to its state before the crash.
///
/// # Rules
///
/// - *Order.* The requests of a run are a function of the answers to earlier requests. The engine polls the run until nothing wakes it, then passes
///   one event to it (the outcome of a call, a value, the end of a sleep), and polls again.
/// - *Time.* [`now`](Timer::now) does not change while the run is polled, and is the time of the last event instead of the machine's clock.
/// - *Decisions.* Rust code in a plan (a computed value, a condition, a list, arguments) can return another value when it runs again. So the run
///   first asks for an earlier decision with [`recall`](Self::recall), and records a new decision with [`remember`](Self::remember). The record must
///   be durable before the engine serves any later request of the run. An engine that reads its decisions from elsewhere makes the run wait for them
///   with [`poll_decisions`](Self::poll_decisions).
/// - *JSON.* The run writes values as JSON again when it starts again. A type must serialize equally each time, except for the order of elements, as
///   in a `HashSet`: the recorded order applies.
///
/// A worker of the engine makes a call with [`Toolbox::perform`](crate::dynamic::Toolbox::perform).
///
/// This example engine makes all calls in its own process, and stores no outcomes:
///
/// ```
/// use plan_runtime::dynamic::Toolbox;
/// use plan_runtime::run::{CallOutcome, Engine, EngineCall, EngineFuture, ThreadTimer, Timer, TimerFuture};
/// use plan_runtime::{Result, plan, tool};
/// use std::sync::Arc;
/// use std::time::{Duration, Instant, SystemTime};
///
/// /// Doubles a number.
/// #[tool]
/// async fn double(number: u64) -> Result<u64> {
///     Ok(number * 2)
/// }
///
/// struct Here(Arc<Toolbox<()>>);
///
/// impl Timer for Here {
///     fn now(&self) -> Instant {
///         Instant::now()
///     }
///
///     fn sleep(&self, duration: Duration) -> TimerFuture {
///         ThreadTimer.sleep(duration)
///     }
/// }
///
/// impl Engine for Here {
///     fn seed(&self) -> u64 {
///         7
///     }
///
///     fn system_time(&self) -> SystemTime {
///         SystemTime::now()
///     }
///
///     fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome> {
///         let toolbox = Arc::clone(&self.0);
///         Box::pin(async move { toolbox.perform(call, &()).await })
///     }
///
///     fn recall(&self, _key: &str) -> Option<String> {
///         None
///     }
///
///     fn remember(&self, _key: String, _decision: String) -> Result<()> {
///         Ok(())
///     }
///
///     fn receive(&self, _path: &str) -> EngineFuture<serde_json::Value> {
///         Box::pin(std::future::pending())
///     }
/// }
///
/// let plan = plan! { step twice = Double { number: 3 }; step again = Double { number: twice }; again };
/// let engine = Here(Arc::new(Toolbox::new().with::<Double>()));
/// assert_eq!(smol::block_on(plan.run(&()).engine(engine))?, 12);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
pub trait Engine: Timer {
    /// Returns the seed of the run's random numbers, which is equal at each start of the run.
    fn seed(&self) -> u64;

    /// Returns the time of [`now`](Timer::now) as a date, which must be equal in each replay. The report contains
    /// the date.
    fn system_time(&self) -> SystemTime;

    /// Starts an attempt of a call, and returns a future of its outcome. A run that drops the future no longer waits for the outcome.
    fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome>;

    /// Completes when [`recall`](Self::recall) can return the recorded decisions. The run waits for this method before it evaluates Rust code in the
    /// plan.
    ///
    /// An engine with all decisions in memory does not need to implement this method.
    fn poll_decisions(&self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// Returns the decision that was [recorded](Self::remember) under a key before a crash, or `None` without such a decision.
    fn recall(&self, key: &str) -> Option<String>;

    /// Records a decision.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot store the decision, for example because of its size. The step then fails with this error, and the run
    /// records the error instead of the decision. So an engine must be able to store the few hundred bytes of the error.
    fn remember(&self, key: String, decision: String) -> Result<()>;

    /// Returns the value from outside for the step or element with this path. The run checks the value.
    fn receive(&self, path: &str) -> EngineFuture<Value>;
}

/// A call that an engine must make, with all data for a worker.
///
/// serde writes the call as one JSON object, so that an engine can send it to a worker.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineCall {
    pub(super) tool: String,
    /// Raw JSON, since the arguments may already have the deepest nesting that JSON can be read with, and this struct
    /// adds another level.
    pub(super) arguments: Box<RawValue>,
    pub(super) run: String,
    pub(super) plan: String,
    pub(super) step: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) element: Vec<usize>,
    pub(super) path: String,
    /// The path, with the counts of the parts that were undone.
    pub(super) lasting: String,
    /// The lasting path with the attempts of the call and of the blocks and plans around the call. `None` if each is the first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lasting_attempt: Option<String>,
    /// The counts of undone steps in plans that the tool has run inside earlier attempts of the call.
    #[serde(default, skip_serializing_if = "Undone::is_empty")]
    pub(super) undone: Undone,
    pub(super) attempt: u32,
    /// The time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<u64>,
}

impl EngineCall {
    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments as JSON.
    pub fn arguments(&self) -> &str {
        self.arguments.get()
    }

    /// Returns the ID of the run, like [`CallContext::run_id`](super::CallContext::run_id).
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Returns the path of the call, in the format of a printed [`CallContext`](super::CallContext).
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the number of the attempt, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the time until the run stops waiting for the outcome, or `None` without a time limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.time.map(Duration::from_millis)
    }

    /// Returns the key of the call, like [`CallContext::idempotency_key`](super::CallContext::idempotency_key).
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}", self.run, self.lasting)
    }
}

impl fmt::Debug for EngineCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "EngineCall(`{}` of {}, attempt {})",
            Line(&self.path),
            MessageName(&self.tool),
            self.attempt
        )
    }
}

/// The outcome of a call that an engine made: an output or an error.
///
/// serde writes the outcome as one JSON object. It keeps the message and every property of an error, and not the Rust
/// type.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallOutcome(Box<RawValue>);

impl CallOutcome {
    /// Creates the outcome of a call that could not be made, or whose outcome is lost.
    pub fn failed(error: Error) -> Self {
        Self::of(&Err(StepError::tool(error)), &Undone::new())
    }

    /// Returns the size of the outcome's JSON in bytes.
    pub fn size(&self) -> usize {
        self.0.get().len()
    }

    /// Returns `true` if the outcome is an output.
    pub fn is_ok(&self) -> bool {
        decode(self.0.get()).is_ok_and(|outcome| outcome.result.is_ok())
    }

    /// Returns the output or the error.
    pub(super) fn read(&self) -> std::result::Result<Recorded, serde_json::Error> {
        decode(self.0.get())
    }

    pub(super) fn of(result: &Result<Value, StepError>, undone: &Undone) -> Self {
        let body = encode_call((Duration::ZERO, Duration::ZERO), result.as_ref(), undone);
        let body = body.and_then(RawValue::from_string);
        // An output that serde cannot write as JSON is an error of the call.
        body.map_or_else(|error| Self::failed(Error::permanent(error)), Self)
    }
}

impl fmt::Debug for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_ok() {
            "CallOutcome(ok)"
        } else {
            "CallOutcome(failed)"
        })
    }
}

/// Creates the error of a run with secrets.
pub(super) fn secrets_on_engine() -> Cause {
    Cause::Unfit(vec![
        "it has secrets, which the engine would keep in plain text; let tools look the secrets up, or use an encrypted journal instead: `.durable(&db, id)` with `Sqlite::open(…)?.encrypted(&key)`".to_owned(),
    ])
}

/// Creates the error of a run whose engine returns an earlier decision of another type than the plan's.
pub(super) fn misfit(key: &str, error: &dyn fmt::Display) -> Arc<JournalError> {
    Arc::new(JournalError::Misfit {
        what: format!("what the engine remembers as `{key}`"),
        why: error.to_string(),
    })
}
