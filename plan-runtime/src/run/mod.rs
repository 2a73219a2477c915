//! Running a plan.
//!
//! A run is one future. The run polls the futures of its steps, so it needs no particular async runtime. It borrows
//! the application. If you drop a run, its calls are dropped, and no undo step and no always step runs. A step starts as soon as all steps that it
//! needs have completed. If several steps can start, the step that is first in the plan starts first.
//!
//! A run catches panics, if panics unwind, which is Rust's default. A panic in a tool, or in the Rust code of a step's arguments, fails the step. A run stops notifying an observer that panics, and ends with an error if a
//! timer panics. A run drops an output after the last step that reads the output has ended.
//!
//! | | |
//! |---|---|
//! | [`Run`] | the future that a plan's `run` returns, and its options |
//! | [`RunError`], [`RunErrorKind`], [`FailedStep`], [`StepError`] | the errors of a run and of its steps |
//! | [`Report`], [`StepReport`], [`Attempt`] | the outcome of each step, and of each attempt |
//! | [`Limits`] | bounds on the calls, values, memory and time of a run |
//! | [`Gate`] | allows or refuses each call |
//! | [`Signals`] | a handle that sends values to waiting steps |
//! | [`Throttle`] | limits on the rate and the number of calls of several runs |
//! | [`Observer`] | a receiver of the events of a run |
//! | [`Engine`] | a server that makes the calls of a run on other machines |
//! | [`Timer`] | the source of time for waits and time limits |
//! | [`Mock`], [`ManualTimer`] | an application and a timer for tests |

// The files of this folder. `ARCHITECTURE.md` lists the subfolders.
//
// | files | contents |
// |---|---|
// | `options.rs`, `limits.rs`, `on_failure.rs` | the options of a run: limits, the effect of a failure |
// | `begin.rs`, `polling.rs`, `nesting.rs` | a run from its first poll to its end: its journal or its engine, the checks before the first step, nested runs |
// | `start.rs`, `tool.rs`, `request.rs`, `storing.rs` | starts of calls by generated code or a toolbox, with tools, requests and futures |
// | `shared.rs`, `slots.rs`, `last_waker.rs` | the state that inner plans share, the tasks to poll, the waker of a run |
// | `making.rs` | values from templates |
// | `recorded.rs`, `answered.rs`, `deciding.rs` | records of plans, of the answers of gates and of decisions of Rust code |
// | `submission.rs`, `messages.rs` | submitted runs; messages to runs |
// | `engine.rs`, `calling.rs`, `elsewhere.rs`, `perform.rs` | engines: the trait, requests to the engine, calls of a run on an engine, the execution of a call in a worker |
// | `view.rs` | handles for servers |
// | `mock.rs`, `answer.rs` | the application for tests |
// | `clock.rs`, `catch.rs`, `hash.rs`, `one_thread.rs` | the time of a run, panics as errors, a hash that is equal in every build, values that stay on their thread |

mod admission;
mod answer;
mod answered;
mod begin;
mod calling;
mod catch;
mod clock;
mod context;
mod deciding;
mod drive;
pub(crate) mod durable;
mod elsewhere;
mod engine;
mod hash;
pub(crate) mod last_waker;
mod limits;
mod making;
mod messages;
mod mock;
mod nesting;
mod on_failure;
mod one_thread;
mod options;
#[cfg(feature = "dynamic")]
mod perform;
mod polling;
mod recorded;
pub(crate) mod report;
mod request;
mod shared;
pub(crate) mod signals;
mod slots;
pub(crate) mod start;
pub(crate) mod storing;
mod submission;
mod timer;
pub(crate) mod tool;
#[cfg(feature = "dynamic")]
mod view;
mod watch;

pub(crate) use crate::error::RunError;
pub use crate::error::{FailedStep, RunErrorKind, StepError};
pub use admission::Throttle;
// rustdoc loses the aliases of an item in a private module, and keeps those of its re-export.
#[doc(alias = "approve")]
pub use context::Gate;
pub use context::{CallContext, CallRecord, Decision, PendingCall};
pub use engine::{CallOutcome, ENGINE_VERSION, Engine, EngineCall, EngineFuture};
pub use limits::Limits;
pub use mock::Mock;
pub use on_failure::OnFailure;
pub use options::{DEFAULT_CONCURRENCY, DEFAULT_GRACE};
#[cfg(feature = "html")]
pub use report::HtmlParts;
pub(crate) use report::Report;
pub use report::{Attempt, CriticalLink, Status, StepReport, Totals, WaitReason, WaitReport};
pub use signals::{SignalError, Signals};
#[doc(hidden)]
pub use submission::submit;
pub use submission::{Submission, Submit};
pub use timer::{ManualTimer, ThreadTimer, Timer, TimerFuture};
#[doc(hidden)]
pub use tool::OnMock;
#[cfg(feature = "progress")]
pub use watch::Progress;
pub use watch::{Observer, StepRef};

pub(crate) use admission::allows;

pub(crate) use crate::error::Cause;
use crate::journal::SharedJournal;
use crate::plan::Executable;
use crate::plan::Secrecy;
use crate::print::MessageName;
use crate::resolve::{HandOver, ResolveError, StoredValue};
use drive::Driver;
use durable::{Owned, Target};
use options::{FindPlan, Options, ReadOutput};
use polling::{Beginning, Ending};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[doc(hidden)]
pub use start::CalledPlan;
use start::{StartFn, Starter};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
#[cfg(feature = "dynamic")]
pub(crate) use view::{Following, Together};

/// A run of a plan on an application, which is a future of the plan's output.
///
/// A plan's `run` method and [`Toolbox::run`](crate::dynamic::Toolbox::run) return a `Run`. A run does nothing before its first poll. A run is `Send` if
/// the application is `Sync` and the output is `Send`. It borrows the application.
///
/// # Panics
///
/// A method that sets an option panics after the first poll of the run. A poll after the end of the run panics as
/// well.
///
/// ```
/// use plan_runtime::{Result, plan, run::OnFailure, tool};
///
/// /// Doubles a number.
/// #[tool]
/// async fn double(number: u64) -> Result<u64> {
///     Ok(number * 2)
/// }
///
/// plan! {
///     Quadruple(number: u64) -> u64 {
///         step twice = Double { number };
///         step again = Double { number: twice };
///         again
///     }
/// }
///
/// // The tool of the plan needs no application, so any value is an application.
/// let run = Quadruple { number: 3 }.run(&()).concurrency(4).on_failure(OnFailure::Cancel);
/// assert_eq!(smol::block_on(run)?, 12);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[must_use = "a run does nothing unless it is awaited"]
pub struct Run<'a, App: ?Sized, O> {
    app: &'a App,
    starter: Starter<'a, App>,
    stage: Stage<'a>,
    output: OutputOf<O>,
    /// The output, while the final steps run.
    made: Option<O>,
    /// The run's claim, if it has a journal.
    claim: Option<Owned>,
}

/// Reads the output of a run.
struct OutputOf<O> {
    read: ReadOutput<O>,
    /// Reads an output from a journal.
    from_json: fn(Value) -> Result<O, serde_json::Error>,
}

enum Stage<'a> {
    New(
        Executable<'a>,
        Result<Vec<StoredValue>, Cause>,
        Box<Options<'a>>,
    ),
    /// The run waits for its journal.
    Beginning(Box<Beginning<'a>>),
    Running(Box<Driver<'a>>),
    /// The journal writes the end of the run.
    Ending(Box<Ending>),
    Ended,
}

impl<'a, App: ?Sized, O: DeserializeOwned + 'static> Run<'a, App, O> {
    /// Creates a run for generated code, which starts the steps on the application.
    #[doc(hidden)]
    pub fn on(
        plan: impl Into<Executable<'a>>,
        inputs: Result<Vec<StoredValue>, ResolveError>,
        app: &'a App,
        start: StartFn<App>,
        lacks: fn(&App, &crate::Plan) -> Vec<String>,
    ) -> Self {
        let plan = plan.into();
        let mut inputs = inputs.map_err(Cause::Inputs);
        let lacks = lacks(app, plan.plan);
        if !lacks.is_empty() {
            inputs = Err(Cause::Unfit(lacks));
        }
        Self::started_by(Starter::Plan(start), plan, inputs, app)
    }

    /// Creates a run, on an application of any type, for callers that start the steps themselves.
    #[doc(hidden)]
    pub fn new(
        plan: impl Into<Executable<'a>>,
        inputs: Result<Vec<StoredValue>, ResolveError>,
        app: &'a App,
        start: StartFn<App>,
    ) -> Self {
        let inputs = inputs.map_err(Cause::Inputs);
        Self::started_by(Starter::Plan(start), plan.into(), inputs, app)
    }

    /// Creates a run whose actions `starter` starts, or a run that fails for the `Cause`.
    pub(crate) fn started_by(
        starter: Starter<'a, App>,
        plan: Executable<'a>,
        inputs: Result<Vec<StoredValue>, Cause>,
        app: &'a App,
    ) -> Self {
        Self {
            app,
            starter,
            stage: Stage::New(plan, inputs, Box::default()),
            output: OutputOf {
                read: |output| output.read(),
                from_json: serde_json::from_value,
            },
            made: None,
            claim: None,
        }
    }
}

impl<'a, App: ?Sized> Run<'a, App, Value> {
    /// Creates a run of a plan that a step could call.
    pub(crate) fn of_called(called: CalledPlan<'a>, app: &'a App) -> Self {
        let CalledPlan {
            executable,
            inputs,
            own,
            ..
        } = called;
        Self::started_by(Starter::Called(own), executable, inputs, app)
    }

    /// Creates a run that cannot start.
    pub(crate) fn unfit(plan: Executable<'a>, app: &'a App, cause: Cause) -> Self {
        let start: StartFn<App> = |_, request, _| request.unknown();
        Self::started_by(Starter::Plan(start), plan, Err(cause), app)
    }
}

impl<'a, App: ?Sized, O> Run<'a, App, O> {
    /// Limits the number of concurrent calls; 0 counts as 1. A `for` makes one call for each element. The default is
    /// [`DEFAULT_CONCURRENCY`].
    ///
    /// All plans inside the run share this limit.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step all = for number in [1, 2, 3] { Double { number } }; all };
    /// assert_eq!(smol::block_on(plan.run(&()).concurrency(2))?, [2, 4, 6]);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn concurrency(self, limit: usize) -> Self {
        self.configure(|options| options.concurrency = Some(limit.max(1)))
    }

    /// Sets the effect of a failed step on other steps. The default is [`Stop`](OnFailure::Stop).
    ///
    /// ```
    /// use plan_runtime::run::OnFailure;
    /// # use plan_runtime::{Error, Result, plan, tool};
    /// # #[tool] async fn fail() -> Result<u64> { Err(Error::msg("out of order")) }
    /// # #[tool] async fn work() -> Result<u64> { Ok(1) }
    /// let plan = plan! {
    ///     step broken = Fail {};
    ///     step first = Work {};
    ///     #[after(first)]
    ///     step second = Work {};
    ///     second
    /// };
    /// let (result, report) = smol::block_on(plan.run(&()).on_failure(OnFailure::Continue).with_report());
    /// assert!(result.is_err());
    /// assert_eq!(report.step("second").unwrap().status().name(), "completed");
    /// ```
    #[track_caller]
    pub fn on_failure(self, on_failure: OnFailure) -> Self {
        self.configure(|options| options.on_failure = on_failure)
    }

    /// Limits the time of the run. At the deadline, the run drops its running calls, runs undo steps and always steps
    /// for the [grace period](Self::grace_period), and fails.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// use plan_runtime::run::RunErrorKind;
    /// use std::time::Duration;
    ///
    /// /// Takes forever.
    /// #[tool]
    /// async fn wait() -> Result<()> {
    ///     std::future::pending().await
    /// }
    ///
    /// let plan = plan! { step never = Wait {}; never };
    /// let run = plan.run(&()).deadline(Duration::from_millis(5));
    /// assert_eq!(smol::block_on(run).unwrap_err().kind(), RunErrorKind::Deadline);
    /// ```
    #[track_caller]
    pub fn deadline(self, deadline: Duration) -> Self {
        self.configure(|options| options.stop.deadline = Some(deadline))
    }

    /// Cancels the run when `cancel` completes: the run drops its running calls, runs undo steps and always steps for the
    /// [grace period](Self::grace_period), and fails. `cancel` can be any future, such as the receiver of a channel, a
    /// signal or a timer.
    ///
    /// ```
    /// use plan_runtime::run::RunErrorKind;
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn wait() -> Result<()> { std::future::pending().await }
    /// let plan = plan! { step never = Wait {}; never };
    /// let (cancel, cancelled) = smol::channel::bounded::<()>(1);
    /// let run = plan.run(&()).cancel_on(cancelled.recv());
    /// cancel.try_send(()).unwrap();
    /// assert_eq!(smol::block_on(run).unwrap_err().kind(), RunErrorKind::Cancelled);
    /// ```
    #[track_caller]
    pub fn cancel_on<F: Future + Send + 'a>(self, cancel: F) -> Self {
        let cancel = async move {
            cancel.await;
        };
        self.configure(|options| options.stop.cancel = Some(Box::pin(cancel)))
    }

    /// Limits the total time of undo steps and always steps after a cancellation or the deadline of the run. The run drops the steps that have
    /// not ended by then. The default is [`DEFAULT_GRACE`].
    ///
    /// If you drop a run instead of cancelling it, no undo step and no always step runs.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// use plan_runtime::run::RunErrorKind;
    /// use std::time::Duration;
    ///
    /// # #[tool] async fn reserve() -> Result<u64> { Ok(7) }
    /// # #[tool] async fn release(number: u64) -> Result<()> { assert_eq!(number, 7); Ok(()) }
    /// # #[tool] async fn wait(number: u64) -> Result<()> { drop(number); std::future::pending().await }
    /// let plan = plan! {
    ///     step held = Reserve {};
    ///     #[undo(held)]
    ///     step released = Release { number: held };
    ///     step never = Wait { number: held };
    ///     never
    /// };
    /// let run = plan.run(&()).deadline(Duration::from_millis(5)).grace_period(Duration::from_secs(60));
    /// let error = smol::block_on(run).unwrap_err();
    /// assert_eq!(error.kind(), RunErrorKind::Deadline);
    /// assert_eq!(error.undone().collect::<Vec<_>>(), ["held"]);
    /// ```
    #[track_caller]
    pub fn grace_period(self, grace: Duration) -> Self {
        self.configure(|options| options.stop.grace = Some(grace))
    }

    /// Stores the arguments of each call in the [report](Run::with_report), where [`StepReport::arguments`] and
    /// [`Attempt::arguments`] return them.
    ///
    /// The stored arguments are the JSON of the tool's struct, without fields that have
    /// `#[serde(skip_serializing)]`.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let (_, report) = smol::block_on(plan.run(&()).capture_arguments(true).with_report());
    /// assert_eq!(report.step("six").unwrap().arguments(), Some(&serde_json::json!({"number": 3})));
    /// ```
    #[track_caller]
    pub fn capture_arguments(self, capture: bool) -> Self {
        self.configure(|options| options.keeps.arguments = capture)
    }

    /// Stores a copy of every step's output in the [report](Run::with_report), where [`StepReport::output`] returns it.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; step text: String = format!("{six}!"); text };
    /// let (_, report) = smol::block_on(plan.run(&()).capture_outputs(true).with_report());
    /// assert_eq!(report.step("six").unwrap().output(), Some(&6.into()));
    /// assert_eq!(serde_json::to_value(&report)?["steps"][1]["output"], "6!");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[track_caller]
    pub fn capture_outputs(self, capture: bool) -> Self {
        self.configure(|options| options.keeps.outputs = capture)
    }

    /// Sets the run's limits. The default is [`Limits::DEFAULT`] for plans of `plan!`, and [`Limits::UNTRUSTED`] for other plans.
    ///
    /// ```
    /// use plan_runtime::run::{Limits, RunErrorKind};
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step all = for number in [1, 2, 3] { Double { number } }; all };
    /// let run = plan.run(&()).limits(Limits::DEFAULT.calls(2));
    /// assert_eq!(smol::block_on(run).unwrap_err().kind(), RunErrorKind::Limit);
    /// ```
    #[track_caller]
    pub fn limits(self, limits: Limits) -> Self {
        self.configure(|options| options.limits = Some(limits))
    }

    /// Sets a gate, which allows or refuses each call to a tool, including the calls of plans
    /// inside the run.
    ///
    /// If the run is [inside](Self::inside) another run with a gate, each call needs the permission
    /// of both gates.
    ///
    /// ```
    /// use plan_runtime::run::{Decision, Gate, PendingCall};
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn delete() -> Result<()> { Ok(()) }
    /// /// Allows calls that only read.
    /// struct ReadOnly;
    ///
    /// impl Gate for ReadOnly {
    ///     async fn ask(&self, call: PendingCall) -> Decision {
    ///         if call.is_read_only() {
    ///             Decision::Allow
    ///         } else {
    ///             Decision::Refuse("it changes data".into())
    ///         }
    ///     }
    /// }
    ///
    /// let plan = plan! { step done = Delete {}; done };
    /// let error = smol::block_on(plan.run(&()).gate(ReadOnly)).unwrap_err();
    /// assert_eq!(error.failures()[0].error().code(), "REFUSED");
    /// ```
    #[track_caller]
    pub fn gate(self, gate: impl Gate + 'static) -> Self {
        self.configure(|options| options.permissions.gate = Some(Arc::new(gate)))
    }

    /// Sets a throttle, which delays calls to keep its limits, including the calls of plans inside the run. Several runs can share a
    /// throttle.
    ///
    /// If you set several throttles, all of them apply. If this run is [inside](Self::inside) another run, the throttles of the other run also apply.
    ///
    /// If a tool runs a plan [inside](Self::inside) its call, the call counts toward a throttle only until the plan starts. So the calls of the plan do
    /// not wait for this call. If a tool runs a plan without `inside`, do not give the plan the
    /// throttle of the tool's own call. This call keeps its slot until the plan ends, so the plan could wait for the slot forever.
    ///
    /// ```
    /// use plan_runtime::run::{ManualTimer, Throttle};
    /// # use plan_runtime::{Result, plan, tool};
    /// use std::time::Duration;
    ///
    /// # #[tool] async fn fetch(page: u64) -> Result<u64> { Ok(page) }
    /// let plan = plan! { step pages = for page in [1, 2, 3] { Fetch { page } }; pages };
    /// let throttle = Throttle::new().rate("*", 1, Duration::from_secs(1));
    /// let timer = ManualTimer::new();
    /// let run = plan.run(&()).throttle(&throttle).timer(timer.clone());
    /// assert_eq!(smol::block_on(timer.skip_waits(run))?, [1, 2, 3]);
    /// assert_eq!(timer.elapsed(), Duration::from_secs(2));
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn throttle(self, throttle: &Throttle) -> Self {
        self.configure(|options| {
            if !throttle.is_empty() {
                options.permissions.throttles.push(throttle.clone());
            }
        })
    }

    /// Restricts the run, and the plans inside the run, to tools with these names. A trailing `*` matches any suffix.
    ///
    /// A plan that calls another tool does not start. A plan that a step calls counts as a tool. If the run is [inside](Self::inside) another run, the other run must allow the tools as well.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool(name = "mail.list")] async fn list() -> Result<u64> { Ok(2) }
    /// # #[tool(name = "mail.delete")] async fn delete(number: u64) -> Result<()> { Ok(drop(number)) }
    /// let plan = plan! { step number = List {}; step done = Delete { number }; done };
    /// assert!(smol::block_on(plan.run(&()).allow_tools(["mail.*"])).is_ok());
    ///
    /// let error = smol::block_on(plan.run(&()).allow_tools(["mail.list", "calendar.*"])).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "plan `plan` cannot start: the run may not call `mail.delete`, which step `done` calls; it may call `mail.list` and `calendar.*`"
    /// );
    /// ```
    #[track_caller]
    pub fn allow_tools<N: Into<String>>(self, tools: impl IntoIterator<Item = N>) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        self.configure(|options| options.permissions.only = Some(tools))
    }

    /// Adds an observer of the run. A run can have several observers. To use the observer after the run, pass
    /// an [`Arc`] of it.
    ///
    /// ```
    /// use plan_runtime::run::{Observer, StepRef};
    /// # use plan_runtime::{Result, plan, tool};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// #[derive(Default)]
    /// struct Attempts(AtomicUsize);
    ///
    /// impl Observer for Attempts {
    ///     fn attempt_started(&self, _: &StepRef<'_>, _: u32) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step twice = Double { number: 3 }; step again = Double { number: twice }; again };
    /// let attempts = Arc::new(Attempts::default());
    /// assert_eq!(smol::block_on(plan.run(&()).observe(attempts.clone()))?, 12);
    /// assert_eq!(attempts.0.load(Ordering::Relaxed), 2);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn observe(self, observer: impl Observer + 'static) -> Self {
        self.configure(|options| options.observers.add(observer))
    }

    /// Sets the source of time. The default is [`ThreadTimer`].
    ///
    /// With a [`ManualTimer`], a test of waits takes no time:
    ///
    /// ```
    /// use plan_runtime::run::ManualTimer;
    /// use plan_runtime::{Error, Result, plan, tool};
    /// use std::time::Duration;
    ///
    /// /// Never works.
    /// #[tool]
    /// async fn fail() -> Result<()> {
    ///     Err(Error::msg("out of order"))
    /// }
    ///
    /// let plan = plan! {
    ///     #[retry(3, backoff = "10s", jitter = false)]
    ///     step broken = Fail {};
    ///     broken
    /// };
    /// let timer = ManualTimer::new();
    /// let run = plan.run(&()).timer(timer.clone());
    /// let result = smol::block_on(timer.skip_waits(run));
    /// assert!(result.is_err());
    /// assert_eq!(timer.elapsed(), Duration::from_secs(10 + 20));
    /// ```
    #[track_caller]
    pub fn timer(self, timer: impl Timer + 'static) -> Self {
        self.configure(|options| options.timer = Some(Arc::new(timer)))
    }

    /// Fixes the random jitter of waits, for tests.
    ///
    /// ```
    /// use plan_runtime::run::ManualTimer;
    /// # use plan_runtime::{Error, Result, plan, tool};
    /// # #[tool] async fn fail() -> Result<()> { Err(Error::msg("out of order")) }
    /// let waits = |seed| {
    ///     let plan = plan! {
    ///         #[retry(5)]
    ///         step broken = Fail {};
    ///         broken
    ///     };
    ///     let timer = ManualTimer::new();
    ///     let run = plan.run(&()).seed(seed).timer(timer.clone());
    ///     assert!(smol::block_on(timer.skip_waits(run)).is_err());
    ///     timer.elapsed()
    /// };
    /// assert_eq!(waits(7), waits(7));
    /// assert_ne!(waits(7), waits(8));
    /// ```
    #[track_caller]
    pub fn seed(self, seed: u64) -> Self {
        self.configure(|options| options.seed = Some(seed))
    }

    /// Records the run in a journal under this ID, so that the run survives a crash. If the journal contains an unfinished run with this ID, the run resumes. If the
    /// recorded run has ended, this run makes no calls, and returns the recorded output or the recorded error.
    ///
    /// After a crash, the run repeats calls without a durable record, and does not repeat recorded calls. The plan and the inputs must be those of the first start, except for steps that have not run yet. All values go through JSON. An error
    /// of a tool keeps its message, its [code](crate::Error::code), and its mark as transient or permanent, but loses its Rust type.
    ///
    /// ```
    /// use plan_runtime::journal::Memory;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Charges a card.
    /// #[tool]
    /// async fn charge(cents: u64) -> Result<String> {
    ///     println!("charged {cents}");
    ///     Ok("receipt 1".to_owned())
    /// }
    ///
    /// plan! {
    ///     Order(cents: u64) -> String {
    ///         step receipt = Charge { cents };
    ///         receipt
    ///     }
    /// }
    ///
    /// let journal = Memory::new();
    /// let first = smol::block_on(Order { cents: 500 }.run(&()).durable(&journal, "order-17"))?;
    /// // The second run makes no call.
    /// let again = smol::block_on(Order { cents: 500 }.run(&()).durable(&journal, "order-17"))?;
    /// assert_eq!(first, again);
    ///
    /// let other = smol::block_on(Order { cents: 900 }.run(&()).durable(&journal, "order-17")).unwrap_err();
    /// assert_eq!(
    ///     other.to_string(),
    ///     "plan `order` cannot start: run `order-17` already exists with different inputs (`cents` was the number 500, and is now the number 900); use a new ID, or the original inputs"
    /// );
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The run does not start if another process runs it, if the plan or the inputs differ, or if the plan has [secrets](crate::Shape#secrets) and the
    /// journal has [no key](crate::guide::durable#secrets). The run stops when the journal fails, and [`RunError::journal`] returns the journal's
    /// error.
    #[track_caller]
    pub fn durable<J: SharedJournal + ?Sized>(self, journal: &J, id: impl Into<String>) -> Self {
        let (journal, id) = (journal.share(), id.into());
        self.configure(|options| options.target = Some(Target::new(journal, id)))
    }

    /// Runs the plan on an [`Engine`], which makes each call, possibly on another machine, and stores the outcome. The
    /// documentation of [`Engine`] has an example.
    ///
    /// The engine supplies the time, the [seed](Self::seed) and the values of `await`. All values go through JSON. Called plans and Rust
    /// code in plans run in this process. After a crash, observers receive the events of the repeated part of the run again.
    ///
    /// # Errors
    ///
    /// The run does not start if it is [durable](Self::durable) or [inside](Self::inside) another run, has a [gate](Self::gate) or a
    /// [throttle](Self::throttle), which an engine does not apply, or has [secrets](crate::Shape#secrets), which an engine would store in plain text.
    #[track_caller]
    pub fn engine(self, engine: impl Engine + 'static) -> Self {
        self.configure(|options| options.engine = Some(Arc::new(engine)))
    }

    /// Submits the run to a journal or an engine under this ID, without running it. A process that [serves](crate::serve::Server::serve) the journal, or a worker of
    /// the engine, runs it.
    ///
    /// Use this method for plans without a name and for plans from JSON. A plan with a name has a `submit` method that needs no application:
    /// `Order { cents: 500 }.submit(&db, "order-17").await?`.
    ///
    /// The journal does not store the options of the run, such as a [deadline](Self::deadline). The process that serves the run sets the options. If the
    /// journal already contains a run with this ID, this plan and these inputs, `submit` has no effect.
    ///
    /// ```
    /// use plan_runtime::journal::{Journal, Memory};
    /// use plan_runtime::plan;
    ///
    /// plan! {
    ///     Greet(name: String) -> String { format!("Hello, {name}!") }
    /// }
    ///
    /// let journal = Memory::new();
    /// smol::block_on(Greet { name: "Ada".into() }.submit(&journal, "greet-17"))?;
    /// // The same run again.
    /// smol::block_on(Greet { name: "Ada".into() }.run(&()).submit(&journal, "greet-17"))?;
    /// let run = smol::block_on(journal.look("greet-17")).unwrap().unwrap();
    /// assert_eq!(run.info.unwrap().plan, "greet");
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of the start of a [durable](Self::durable) run: another plan or other inputs under this ID, secrets without a key, or
    /// a journal that cannot be written.
    ///
    /// # Panics
    ///
    /// Panics if the run has been polled.
    #[track_caller]
    pub fn submit<S: Submit>(self, to: &S, id: impl Into<String>) -> S::Submission<'_, O>
    where
        O: DeserializeOwned + 'static,
    {
        let Stage::New(executable, inputs, options) = self.stage else {
            panic!("a run was submitted after it had started")
        };
        let id = id.into();
        let run = submission::info_of(&executable, inputs, options.secrecy.is_some(), to);
        to.submit(run, id)
    }

    /// Sets the ID of the run, which [`CallContext::run_id`] returns in its calls. By default, the ID is random. For a [durable](Self::durable) run,
    /// the ID of [`durable`](Self::durable) applies.
    ///
    /// ```
    /// use plan_runtime::run::CallContext;
    /// # use plan_runtime::{Result, plan, tool};
    /// /// Returns the ID of the run.
    /// #[tool]
    /// async fn run_id(#[context] context: CallContext) -> Result<String> {
    ///     Ok(context.run_id().to_owned())
    /// }
    ///
    /// let plan = plan! { step known = RunId {}; known };
    /// assert_eq!(smol::block_on(plan.run(&()).id("order-17"))?, "order-17");
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn id(self, id: impl Into<String>) -> Self {
        self.configure(|options| options.id = Some(id.into()))
    }

    /// Makes this run a part of the *outer run*, which is the run that made the call with this context.
    ///
    /// - The outer run's bound on calls, policy [on failure](Self::on_failure), observers, timer, seed and ID replace the options of this run.
    /// - The [limits](Self::limits), the [gate](Self::gate), the [throttles](Self::throttle), the [permissions](Self::allow_tools) and the deadline of both
    ///   runs apply.
    /// - Paths of steps start with the path of the call.
    /// - The outer run records this run, so this run cannot be [durable](Self::durable) by itself.
    ///
    /// The tool must await this run: after the end of the call, this run ends with an error. If the outer run is durable, await this run in the future of the tool itself, and not in a separate task or thread.
    ///
    /// Use this method in a tool that builds or selects a plan, and runs it. A plan that a step calls does not need this method. After
    /// this run has succeeded, its undo steps never run. They do not run either if the call is dropped.
    ///
    /// ```
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Says where it is called.
    /// #[tool]
    /// async fn locate(#[context] context: CallContext) -> Result<String> {
    ///     Ok(context.to_string())
    /// }
    ///
    /// /// Runs a plan.
    /// #[tool]
    /// async fn choose(#[context] context: CallContext) -> Result<String> {
    ///     let plan = plan! { step inner = Locate {}; inner };
    ///     Ok(plan.run(&()).inside(&context).await?)
    /// }
    ///
    /// let plan = plan! { step chosen = Choose {}; chosen };
    /// assert_eq!(smol::block_on(plan.run(&()))?, "chosen.inner");
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn inside(self, call: &CallContext) -> Self {
        self.configure(|options| {
            options.outer = call.run().map(|_| call.clone());
            if options.outer.is_some() {
                // The values sent to this run would have no reader.
                options.signals.take();
            }
        })
    }

    /// Makes the run return a [`Report`] of every step with its result, after success and failure.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let (result, report) = smol::block_on(plan.run(&()).with_report());
    /// assert_eq!(result?, 6);
    /// assert_eq!(report.totals().completed, 1);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[track_caller]
    pub fn with_report(self) -> WithReport<'a, App, O> {
        let run = self.configure(|options| options.keeps.report = true);
        WithReport { run }
    }

    /// Sets the secrets of the run. The run may have more secrets than its plan.
    #[track_caller]
    pub(crate) fn keeping(self, secrecy: Option<Arc<Secrecy>>) -> Self {
        self.configure(|options| options.secrecy = secrecy)
    }

    #[track_caller]
    fn configure(mut self, set: impl FnOnce(&mut Options<'a>)) -> Self {
        let Stage::New(_, _, options) = &mut self.stage else {
            panic!("the options of a run have to be set before its first poll");
        };
        set(options);
        self
    }

    /// Returns a handle that sends values to steps with `await`, such as `step reply: Reply = await;`.
    ///
    /// A plan with such a step runs only if you call this method before the first poll of the run. You can send values from another thread, and
    /// before the run starts. If the run is [inside](Self::inside) another run, call `signals` of the outermost run instead.
    ///
    /// ```
    /// use plan_runtime::plan;
    ///
    /// plan! {
    ///     Greet(greeting: String) -> String {
    ///         step name: String = await;
    ///         format!("{greeting}, {name}!")
    ///     }
    /// }
    ///
    /// let run = Greet { greeting: "Hello".into() }.run(&());
    /// let signals = run.signals();
    /// std::thread::spawn(move || signals.send("name", "Ada"));
    /// assert_eq!(smol::block_on(run)?, "Hello, Ada!");
    ///
    /// let error = smol::block_on(Greet { greeting: "Hello".into() }.run(&())).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "plan `greet` cannot start: step `name` waits for a value, and nobody can send it: call `Run::signals` before the run starts"
    /// );
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    pub fn signals(&self) -> Signals {
        match &self.stage {
            Stage::New(executable, _, options) => match &options.outer {
                Some(outer) => outer.signals(),
                None => signals::early(executable, (&options.signals, options.limits)),
            },
            Stage::Beginning(it) => {
                signals::early(&it.executable, (&it.options.signals, it.options.limits))
            }
            Stage::Running(driver) => driver.signals(),
            Stage::Ending(_) | Stage::Ended => Signals::to_nobody(true),
        }
    }

    /// Sets the function that finds called plans, for plans without generated code.
    #[doc(hidden)]
    pub fn find_plans(self, find: FindPlan<'a>) -> Self {
        self.configure(|options| options.find = Some(find))
    }
}

impl<'a, App, O> Run<'a, App, O>
where
    App: ?Sized + Sync,
    O: Serialize + DeserializeOwned + Send + 'static,
{
    /// Returns the plan, for a step that calls it, if the run has not started. The options of this run have no
    /// effect: the options of the outer run apply.
    pub(crate) fn called(self, hand_over: fn() -> Option<HandOver<O>>) -> Option<CalledPlan<'a>> {
        let Stage::New(executable, inputs, _) = self.stage else {
            return None;
        };
        let (starter, app) = (self.starter, self.app);
        let hands_over = starter.hands_over();
        let start = Box::new(move |number: usize, request: start::Request<'_>| {
            starter.start(number, request, app)
        });
        Some(CalledPlan::new::<O>(
            executable,
            inputs,
            (start, hands_over),
            hand_over,
        ))
    }
}

/// No field of a run is pinned.
impl<App: ?Sized, O> Unpin for Run<'_, App, O> {}

impl<App: ?Sized, O> Future for Run<'_, App, O> {
    type Output = Result<O, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_run(cx, None)
    }
}

impl<App: ?Sized, O> fmt::Debug for Run<'_, App, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stage {
            Stage::New(plan, ..) => {
                write!(f, "Run(`{}`, not started)", MessageName(&plan.plan.name))
            }
            Stage::Beginning(it) => {
                write!(f, "Run(`{}`, not started)", MessageName(&it.plan().name))
            }
            Stage::Running(driver) => {
                write!(f, "Run(`{}`, running)", MessageName(&driver.plan().name))
            }
            Stage::Ending(_) | Stage::Ended => f.write_str("Run(ended)"),
        }
    }
}

/// A run that returns its result and a [`Report`], from [`Run::with_report`].
///
/// ```
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
/// let plan = plan! { step six = Double { number: 3 }; six };
///
/// let (output, report) = smol::block_on(plan.run(&()).capture_arguments(true).with_report());
/// assert_eq!(output?, 6);
/// assert_eq!(report.totals().completed, 1);
///
/// let six = report.step("six").unwrap();
/// assert_eq!(*six.arguments().unwrap(), serde_json::json!({ "number": 3 }));
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[must_use = "a run does nothing unless it is awaited"]
pub struct WithReport<'a, App: ?Sized, O> {
    run: Run<'a, App, O>,
}

impl<App: ?Sized, O> Future for WithReport<'_, App, O> {
    type Output = (Result<O, RunError>, Report);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut report = None;
        let result = ready!(self.run.poll_run(cx, Some(&mut report)));
        let report = report.expect("a run that ends has a report");
        Poll::Ready((result, report))
    }
}

impl<App: ?Sized, O> fmt::Debug for WithReport<'_, App, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WithReport").field(&self.run).finish()
    }
}
