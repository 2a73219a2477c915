//! Runs whose calls an engine makes, on this machine or others.

use super::durable::{Recorded, decode, encode_call};
use super::lasting::Undone;
use super::timer::Timer;
use crate::error::{Cause, StepError};
use crate::journal::JournalError;
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

/// Changes whenever runs ask an [`Engine`] for other things, or in another order, than they did in the last version of this crate: a run that an engine has begun cannot go on then. An engine
/// keeps it with each run.
pub const ENGINE_VERSION: u32 = 3;

/// What an engine does, on its way.
pub type EngineFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A durable engine: it makes the calls of a run, on whatever machine, and keeps all that happens outside of the run.
///
/// A run [on an engine](super::Run::engine) still decides which step is next: conditions, lists, blocks, loops, attempts, time limits, and what is undone. The engine is asked to
/// make each call, to sleep, and to wait for values from outside. The engine keeps the outcomes in their order. After a crash, the engine begins the run again, and gives
/// the run these outcomes in this order, so that the run comes to the place where it was.
///
/// # Rules
///
/// - *Order.* What the run asks for is a function of the answers that it has had. It is polled until it was not woken any more, then given one thing that has happened (the outcome of a call, a value, the end
///   of a sleep), and polled again.
/// - *Time.* [`now`](Timer::now) does not change while the run is polled, and is taken from what has happened. It is not the clock of the machine.
/// - *Decisions.* What Rust code in a plan has decided (a computed value, a condition, a list, arguments) need not be the same when it runs again. So the run asks with
///   [`recall`](Self::recall) for what was decided before, and says what it decides with [`remember`](Self::remember). That must be durable before anything is done that the run asks for afterwards.
///   An engine that reads its decisions elsewhere has the run wait for them with [`poll_decisions`](Self::poll_decisions).
/// - *JSON.* Values are written as JSON again when the run begins again. A type has to write the same each time, but for the order of its elements, as those of a `HashSet`: they keep the order that they had.
///
/// The tools run wherever the engine has them run, with [`Toolbox::perform`](crate::dynamic::Toolbox::perform).
///
/// This one makes all calls in the process, and forgets everything:
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
    /// The seed of all that is random in the run: the same whenever it is begun.
    fn seed(&self) -> u64;

    /// Returns the time of [`now`](Timer::now) as a date: the same date whenever the run is at that point. The report shows it.
    fn system_time(&self) -> SystemTime;

    /// Makes an attempt of a call. It begins when this returns; where the future is dropped, nobody waits for the outcome any more.
    fn call(&self, call: EngineCall) -> EngineFuture<CallOutcome>;

    /// Is ready once [`recall`](Self::recall) knows the decisions of this poll. The run waits for that before Rust code in the plan decides something.
    ///
    /// An engine that knows its decisions at any time needs no such method.
    fn poll_decisions(&self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// Returns the decision that was [remembered](Self::remember) under a key when the run was here before; `None` if it was not here.
    fn recall(&self, key: &str) -> Option<String>;

    /// Keeps what was decided.
    ///
    /// # Errors
    ///
    /// It cannot be kept, since it is too large, say. The step fails with this error then, which is remembered in its place: that is some hundred bytes, and has to be kept.
    fn remember(&self, key: String, decision: String) -> Result<()>;

    /// The value for the step or element with this path, from outside. It is not checked yet.
    fn receive(&self, path: &str) -> EngineFuture<Value>;
}

/// A call that an engine is to make: what a run knows of it, as data.
///
/// It is serialized as one JSON object, for whatever carries it to a worker.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineCall {
    pub(super) tool: String,
    /// As text: they may be nested as deep as JSON that is read may be, and are inside something.
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
    /// In milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<u64>,
}

impl EngineCall {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments, as JSON.
    pub fn arguments(&self) -> &str {
        self.arguments.get()
    }

    /// The id of the run, as [`CallContext::run_id`](super::CallContext::run_id).
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// The path of the call, as a [`CallContext`](super::CallContext) prints it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Which attempt it is, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How long anyone waits for the outcome at most. `None` if nothing limits it.
    pub fn time_left(&self) -> Option<Duration> {
        self.time.map(Duration::from_millis)
    }

    /// The key of the call, as [`CallContext::idempotency_key`](super::CallContext::idempotency_key).
    pub fn idempotency_key(&self) -> String {
        format!("{}/{}", self.run, self.lasting)
    }
}

impl fmt::Debug for EngineCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "EngineCall(`{}` of {}, attempt {})",
            self.path, self.tool, self.attempt
        )
    }
}

/// What came of a call that an engine made: an output, or why there is none.
///
/// It is serialized as one JSON object. All that an error says and means is kept, its type is not.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallOutcome(Box<RawValue>);

impl CallOutcome {
    /// The outcome of a call that could not be made, or whose outcome is lost.
    pub fn failed(error: Error) -> Self {
        Self::of(&Err(StepError::tool(error)), &Undone::new())
    }

    /// How many bytes it has as JSON.
    pub fn size(&self) -> usize {
        self.0.get().len()
    }

    /// Whether there is an output.
    pub fn is_ok(&self) -> bool {
        decode(self.0.get()).is_ok_and(|outcome| outcome.result.is_ok())
    }

    /// The output, or the error.
    pub(super) fn read(&self) -> std::result::Result<Recorded, serde_json::Error> {
        decode(self.0.get())
    }

    pub(super) fn of(result: &Result<Value, StepError>, undone: &Undone) -> Self {
        let body = encode_call((Duration::ZERO, Duration::ZERO), result.as_ref(), undone);
        let body = body.and_then(RawValue::from_string);
        // What JSON cannot hold is an error of the call.
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

/// The error of a run with secrets.
pub(super) fn secrets_on_engine() -> Cause {
    Cause::Unfit(vec![
        "it has secrets, which the engine would keep in plain text; let tools look the secrets up, or use an encrypted journal instead: `.durable(&db, id)` with `Sqlite::open(…)?.encrypted(&key)`".to_owned(),
    ])
}

/// The error of a run whose engine remembers something else than the plan can have decided.
pub(super) fn misfit(key: &str, error: &dyn fmt::Display) -> Arc<JournalError> {
    Arc::new(JournalError::Misfit {
        what: format!("what the engine remembers as `{key}`"),
        why: error.to_string(),
    })
}
