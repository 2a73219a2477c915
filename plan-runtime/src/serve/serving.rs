//! The future that executes the runs of a journal.

use super::Server;
use crate::journal::spi::{Answer, Notified};
use crate::journal::{JournalError, RunSummary, Store};
use crate::run::last_waker::LastWaker;
use crate::run::{Following, Run, RunError, ThreadTimer, Timer, TimerFuture, Together};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The longest time between two queries of due runs.
const EVERY: Duration = Duration::from_millis(200);

/// The time between an arrival and the query, so that one query finds several arrivals.
const SOON: Duration = Duration::from_millis(2);

/// A run that rests for less than this time stays loaded.
const SHORT: Duration = Duration::from_secs(1);

/// The time until the next attempt of a refused run. Each further refusal doubles the time.
const AGAIN: Duration = Duration::from_secs(60);

/// The longest time until the next attempt of a refused run.
const LAST_AGAIN: Duration = Duration::from_secs(3600);

/// The largest number of runs with a count of refusals.
const COUNTED: usize = 10_000;

/// The number of runs that are loaded at one time, unless [`Serve::concurrency`] sets another number.
const LOADED: usize = 64;

type Set<App> =
    dyn for<'r> Fn(Run<'r, App, Value>, &RunSummary) -> Run<'r, App, Value> + Send + Sync;

/// A future that executes the runs of a journal, from [`Server::serve`].
///
/// The future polls the runs, so it needs no particular async runtime. If you drop the future, the runs continue when a process serves the journal again.
///
/// # Errors
///
/// The future ends with an error if the journal cannot be read or written.
#[must_use = "no run is run unless this is awaited"]
pub struct Serve<'a, J, App: ?Sized> {
    server: &'a Server<J, App>,
    most: usize,
    together: Together,
    set: Option<Arc<Set<App>>>,
    cancel: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    due: DueRuns<'a>,
    root: Arc<LastWaker>,
    loaded: Vec<Loaded<'a>>,
    /// The number of times that this future has refused a run in a row.
    refusals: HashMap<String, u32>,
}

/// The queries of due runs.
struct DueRuns<'a> {
    /// `true` after the first query.
    has_begun: bool,
    /// `true` if the server must query the journal as soon as it has room.
    is_wanted: bool,
    /// `true` if there were more runs than room.
    has_more: bool,
    asked: Option<Answer<'a, Vec<RunSummary>>>,
    /// The runs that were unloaded since the query. The answer may be older than their ends.
    left: Vec<String>,
    pause: Option<TimerFuture>,
    /// The next arrival; `None` between an arrival and the query.
    arrival: Option<Notified>,
}

impl<'a, J: Store + Clone + 'static, App: ?Sized + Send + Sync> Serve<'a, J, App> {
    pub(super) fn new(server: &'a Server<J, App>) -> Self {
        Self {
            server,
            most: LOADED,
            together: Together::default(),
            set: None,
            cancel: None,
            due: DueRuns {
                has_begun: false,
                is_wanted: true,
                has_more: false,
                asked: None,
                left: Vec::new(),
                pause: None,
                arrival: None,
            },
            root: Arc::default(),
            loaded: Vec::new(),
            refusals: HashMap::new(),
        }
    }

    /// Sets the maximum number of loaded runs; 0 counts as 1. The default is 64. Runs that only wait are not loaded.
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.most = limit.max(1);
        self
    }

    /// Limits the bytes that all runs hold together, as [`Limits::total`](crate::run::Limits::total) does for one run. A run whose value would
    /// exceed the limit ends. Other runs continue.
    pub fn total(mut self, bytes: usize) -> Self {
        self.together = Together::at_most(bytes);
        self
    }

    /// Configures each run by its summary, before the run begins: the [gate](Run::gate), the [limits](Run::limits), an [observer](Run::observe).
    ///
    /// ```no_run
    /// use plan_runtime::dynamic::Toolbox;
    /// use plan_runtime::journal::Memory;
    /// use plan_runtime::run::{Observer, Status, StepRef};
    /// use plan_runtime::serve::Server;
    /// use std::time::Duration;
    ///
    /// struct Log(String);
    ///
    /// impl Observer for Log {
    ///     fn step_finished(&self, step: &StepRef<'_>, status: &Status, took: Duration) {
    ///         println!("{}: {step}: {} in {took:?}", self.0, status.name());
    ///     }
    /// }
    ///
    /// let server = Server::new(&Memory::new(), Toolbox::new(), ());
    /// let serve = server.serve().configure(|run, of| run.observe(Log(of.id.clone())));
    /// smol::block_on(serve)?;
    /// # Ok::<(), plan_runtime::journal::JournalError>(())
    /// ```
    pub fn configure<F>(mut self, set: F) -> Self
    where
        F: for<'r> Fn(Run<'r, App, Value>, &RunSummary) -> Run<'r, App, Value>
            + Send
            + Sync
            + 'static,
    {
        self.set = Some(Arc::new(set));
        self
    }

    /// Ends the future with `Ok` when `cancel` is ready, and drops the output of `cancel`. Loaded runs continue when a process serves the journal again.
    pub fn cancel_on<F: Future + Send + 'a>(mut self, cancel: F) -> Self {
        self.cancel = Some(Box::pin(async move {
            cancel.await;
        }));
        self
    }

    /// Queries more runs than the server has room for, so that the answer shows if further runs are due.
    fn ask(&mut self) {
        let journal = &self.server.journal;
        let room = self.most.saturating_sub(self.loaded.len());
        self.due.has_more = room == 0;
        if room == 0 {
            return;
        }
        // A loaded run is due until it is claimed.
        let unclaimed = self.loaded.iter().filter(|it| !it.following.has_begun());
        let limit = room + unclaimed.count() + 1;
        let is_first = !std::mem::replace(&mut self.due.has_begun, true);
        self.due.left.clear();
        self.due.asked = Some(Box::pin(async move {
            if is_first {
                journal.forgive().await?;
            }
            journal.due(limit).await
        }));
    }

    /// Loads due runs, as far as there is room.
    fn load(&mut self, runs: Vec<RunSummary>) {
        for run in runs {
            if self.loaded.iter().any(|it| it.id == run.id) {
                continue;
            }
            if self.due.left.contains(&run.id) {
                self.due.is_wanted = true;
            } else if self.loaded.len() < self.most {
                let loaded = self.begin(run);
                self.loaded.push(loaded);
            } else {
                self.due.has_more = true;
                break;
            }
        }
    }

    fn begin(&self, of: RunSummary) -> Loaded<'a> {
        let following = Following::among(&self.together);
        let id = of.id.clone();
        let again = again(self.refusals.get(&id).copied());
        let set = self.set.clone();
        let run = run(self.server, of, set, following.clone(), again);
        Loaded {
            id,
            again,
            following,
            run: Box::pin(run),
            is_refused: false,
            woken: Arc::new(RunWaker {
                is_woken: AtomicBool::new(true),
                root: Arc::clone(&self.root),
            }),
        }
    }

    /// Counts a refusal. Progress of a run resets its count.
    fn count(&mut self, id: &str, is_refused: bool) {
        if !is_refused {
            self.refusals.remove(id);
        } else if self.refusals.len() < COUNTED || self.refusals.contains_key(id) {
            *self.refusals.entry(id.to_owned()).or_default() += 1;
        }
    }

    /// Polls the runs that were woken.
    fn poll_runs(&mut self) -> Result<(), JournalError> {
        let journal = &self.server.journal;
        let mut place = 0;
        while let Some(one) = self.loaded.get_mut(place) {
            if !one.woken.is_woken.swap(false, Ordering::AcqRel) {
                place += 1;
                continue;
            }
            let waker = Waker::from(Arc::clone(&one.woken));
            let mut cx = Context::from_waker(&waker);
            let polled = catch_unwind(AssertUnwindSafe(|| one.run.as_mut().poll(&mut cx)));
            let is_refused = match polled {
                Ok(Poll::Pending) => {
                    let rests = one.following.rests();
                    let is_long = |rest: Option<Duration>| rest.is_none_or(|time| time > SHORT);
                    let rests = rests.filter(|(_, rest)| is_long(rest.time));
                    let is_woken = one.woken.is_woken.load(Ordering::Acquire);
                    let Some((claim, rest)) = rests.filter(|_| !is_woken) else {
                        place += 1;
                        continue;
                    };
                    journal.rest(&claim, rest);
                    false
                }
                Ok(Poll::Ready(ended)) => ended?,
                Err(_) if !one.is_refused => {
                    let (id, again) = (one.id.clone(), one.again);
                    one.run = Box::pin(async move {
                        let reason = "the run panicked at its start";
                        journal.refuse(&id, again, reason).await?;
                        Ok(true)
                    });
                    one.is_refused = true;
                    one.woken.is_woken.store(true, Ordering::Release);
                    continue;
                }
                // The journal has panicked.
                Err(_) => true,
            };
            let left = self.loaded.swap_remove(place);
            self.count(&left.id, is_refused);
            self.due.is_wanted |= self.due.has_more;
            if self.due.asked.is_some() {
                self.due.left.push(left.id);
            }
        }
        Ok(())
    }

    /// Waits for an arrival or for the end of a pause, and then queries the journal.
    fn poll_pause(&mut self, cx: &mut Context<'_>) {
        let (due, journal) = (&mut self.due, &self.server.journal);
        if !due.has_begun {
            due.arrival = Some(journal.arrival());
        }
        loop {
            if let Some(arrival) = &mut due.arrival
                && arrival.as_mut().poll(cx).is_ready()
            {
                due.arrival = None;
                due.pause = Some(ThreadTimer.sleep(SOON));
            }
            let pause = due.pause.get_or_insert_with(|| ThreadTimer.sleep(EVERY));
            if pause.as_mut().poll(cx).is_pending() {
                return;
            }
            // The next query starts after the wait for arrivals has begun, so that no arrival is lost.
            due.arrival.get_or_insert_with(|| journal.arrival());
            (due.pause, due.is_wanted) = (None, true);
        }
    }

    fn poll_all(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), JournalError>> {
        if let Some(cancel) = &mut self.cancel
            && cancel.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Ok(()));
        }
        self.root.set(cx.waker());
        self.poll_runs()?;
        self.poll_pause(cx);
        loop {
            if let Some(asked) = &mut self.due.asked {
                let Poll::Ready(runs) = asked.as_mut().poll(cx) else {
                    break;
                };
                self.due.asked = None;
                self.load(runs?);
            }
            if !std::mem::take(&mut self.due.is_wanted) {
                break;
            }
            self.ask();
        }
        // The runs have their turn after other tasks of the process had theirs.
        let mut woken = self.loaded.iter().map(|it| &it.woken.is_woken);
        if woken.any(|it| it.load(Ordering::Acquire)) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<J: Store + Clone + 'static, App: ?Sized + Send + Sync> Future for Serve<'_, J, App> {
    type Output = Result<(), JournalError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.poll_all(cx);
        if polled.is_ready() {
            self.loaded.clear();
        }
        polled
    }
}

impl<J, App: ?Sized> fmt::Debug for Serve<'_, J, App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("loaded", &self.loaded.len())
            .finish_non_exhaustive()
    }
}

/// A run that is loaded.
struct Loaded<'a> {
    id: String,
    /// The time until the next attempt if the run cannot begin.
    again: Duration,
    following: Following,
    /// Returns `true` if the run could not begin.
    run: Answer<'a, bool>,
    /// `true` after a panic, which the server reports to the journal.
    is_refused: bool,
    woken: Arc<RunWaker>,
}

/// A waker with a flag for a run that must be polled.
struct RunWaker {
    is_woken: AtomicBool,
    root: Arc<LastWaker>,
}

impl Wake for RunWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.root.wake();
        }
    }
}

/// Returns the time until the next attempt of a run after this number of refusals.
fn again(before: Option<u32>) -> Duration {
    let factor = 2_u32.saturating_pow(before.unwrap_or_default());
    AGAIN.saturating_mul(factor).min(LAST_AGAIN)
}

/// Executes a run. If the run cannot begin, the journal stores the reason, and the future returns `true`.
async fn run<J: Store + Clone + 'static, App: ?Sized + Send + Sync>(
    server: &Server<J, App>,
    of: RunSummary,
    set: Option<Arc<Set<App>>>,
    following: Following,
    again: Duration,
) -> Result<bool, JournalError> {
    let journal = &server.journal;
    let reason = match journal.look(&of.id).await {
        // An unreadable run must not stop other runs. If the journal is unreadable, the refusal fails as well.
        Err(error) => Some(error.to_string()),
        Ok(None) => None,
        Ok(Some(run)) => match run.info {
            None => Some("the journal contains no plan of the run".to_owned()),
            Some(info) => match server.toolbox.submitted(&info) {
                Err(error) => Some(error.to_string()),
                Ok(submitted) => {
                    drop(info);
                    let run = submitted.run(&server.app);
                    let run = run.throttle(server.toolbox.throttle_of_all());
                    let run = match &set {
                        Some(set) => set(run, &of),
                        None => run,
                    };
                    let shared = Arc::new(journal.clone());
                    reason(run.followed(shared, &of.id, &following).await)
                }
            },
        },
    };
    if let Some(reason) = &reason {
        journal.refuse(&of.id, again, reason).await?;
    }
    Ok(reason.is_some())
}

/// Returns the reason why a run could not end, or `None` for a run that has ended.
fn reason(result: Result<Value, RunError>) -> Option<String> {
    let error = result.err()?;
    match error.journal() {
        // Another owner has the run.
        Some(JournalError::Owned { .. } | JournalError::Lost { .. }) => None,
        _ => Some(error.to_string()),
    }
}
