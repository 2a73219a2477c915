//! Processes that run the runs of a database, and what is seen and done from outside.
//!
//! | | |
//! |---|---|
//! | `mod.rs` | the future that runs the runs |
//! | `inspect.rs` | reports, signals, and what keeps runs from going on |
//! | `retry.rs` | new attempts for what has failed |
//!
//! A server asks the database at short intervals which runs are due. A run that only waits is given up, and its row contains the time until which the run *rests*. A message and a claim
//! remove that time, so a server loads a waiting run only when something has happened or the time has come. A run that could not begin rests as well, with the reason in its row. A server that
//! starts tries such runs again.

mod inspect;
mod retry;

use crate::dynamic::Toolbox;
use crate::journal::{Journal, JournalError, Sqlite};
use crate::run::{Following, Run, RunError, ThreadTimer, Timer, TimerFuture, Together};
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How often the database is asked what there is to do.
const EVERY: Duration = Duration::from_millis(200);

/// How soon it is asked once this process has submitted something: what is submitted meanwhile is found together.
const SOON: Duration = Duration::from_millis(2);

/// A run that has nothing to do for less than this stays loaded.
const SHORT: Duration = Duration::from_secs(1);

/// After how long a run that could not be begun is tried again.
const AGAIN: Duration = Duration::from_secs(60);

/// How many runs are loaded at one time, unless [`Serve::concurrency`] sets another number.
const LOADED: usize = 64;

impl Sqlite {
    /// Runs what was [submitted](Run::submit), and goes on with runs that nobody runs any more, until it is dropped or cancelled, with `cancel_on`.
    ///
    /// A run whose plan is a tool of the toolbox ([`Toolbox::with`]) runs as that one, with the Rust code that is in it. Any other plan runs as it is recorded,
    /// with the tools of the toolbox, as in [`Toolbox::run`]. So does a run that was begun with an earlier version of a tool; only if Rust code is in that, which is not
    /// recorded, it goes on as the version of now, if what has run is the same in both.
    ///
    /// A run that only waits, for a value or for a time, is given up, and holds no memory. It is begun again when the value was sent, or the time has come, by any process
    /// that serves the database. A run that cannot be begun, say because a tool is missing, stays where it is, and is tried again after a minute;
    /// [`RunSummary::refusal`](crate::journal::RunSummary) says why.
    ///
    /// ```
    /// use plan_runtime::journal::{RunFilter, RunState, Sqlite};
    /// use plan_runtime::{dynamic::Toolbox, plan};
    ///
    /// plan! {
    ///     Greet(greeting: String) -> String {
    ///         step name: String = await;
    ///         format!("{greeting}, {name}!")
    ///     }
    /// }
    ///
    /// # let folder = std::env::temp_dir().join(format!("plan-serve-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let db = Sqlite::open(path)?;
    /// smol::block_on(Greet { greeting: "Hello".into() }.submit(&db, "greet-17"))?;
    ///
    /// let toolbox = Toolbox::<()>::new().with::<Greet>();
    /// // Any process may send it.
    /// db.signal(&toolbox, "greet-17", "name", "Ada")?;
    ///
    /// let done = RunFilter::new().state(RunState::Done);
    /// let all_done = async {
    ///     while db.runs(&done).count() < 1 {
    ///         smol::Timer::after(std::time::Duration::from_millis(10)).await;
    ///     }
    /// };
    /// smol::block_on(db.serve(&toolbox, &()).cancel_on(all_done))?;
    /// # drop(db);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn serve<'a, App: ?Sized + Sync>(
        &self,
        toolbox: &'a Toolbox<App>,
        app: &'a App,
    ) -> Serve<'a, App> {
        Serve {
            db: self.clone(),
            toolbox,
            app,
            most: LOADED,
            together: Together::default(),
            set: None,
            cancel: None,
            has_begun: false,
            has_more: false,
            pause: None,
            seen: 0,
            is_soon: false,
            root: Arc::default(),
            loaded: Vec::new(),
        }
    }
}

type Set<App> = dyn for<'r> Fn(Run<'r, App, Value>, &str) -> Run<'r, App, Value> + Send + Sync;

/// A future that runs the runs of a database. [`Sqlite::serve`] makes it.
///
/// It polls them itself, so it needs no particular async runtime. If it is dropped, its runs go on when the database is served again.
///
/// # Errors
///
/// It ends with an error if the database cannot be read or written.
#[must_use = "no run is run unless this is awaited"]
pub struct Serve<'a, App: ?Sized> {
    db: Sqlite,
    toolbox: &'a Toolbox<App>,
    app: &'a App,
    most: usize,
    together: Together,
    set: Option<Arc<Set<App>>>,
    cancel: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
    has_begun: bool,
    /// Whether there was more to do than could be loaded.
    has_more: bool,
    pause: Option<TimerFuture>,
    /// How many arrivals were noticed.
    seen: u64,
    /// Whether the pause is one after an arrival.
    is_soon: bool,
    root: Arc<Root>,
    loaded: Vec<Loaded<'a>>,
}

impl<'a, App: ?Sized + Sync> Serve<'a, App> {
    /// Has at most this many runs loaded at one time; 0 counts as 1. The default is 64. Runs that only wait are not loaded.
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.most = limit.max(1);
        self
    }

    /// Limits the bytes that all runs hold together, as [`Limits::total`](crate::run::Limits::total) limits those of one. The run whose value would exceed the limit is ended; others continue.
    pub fn total(mut self, bytes: usize) -> Self {
        self.together = Together::at_most(bytes);
        self
    }

    /// Configures each run, of which it gets the id, before it is begun: its [gate](Run::gate), its [limits](Run::limits), who [observes](Run::observe) it.
    ///
    /// ```no_run
    /// use plan_runtime::dynamic::Toolbox;
    /// use plan_runtime::journal::Sqlite;
    /// use plan_runtime::run::{Observer, Status, StepRef};
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
    /// let db = Sqlite::open("runs.db")?;
    /// let toolbox = Toolbox::<()>::new();
    /// let serve = db.serve(&toolbox, &()).configure(|run, id| run.observe(Log(id.to_owned())));
    /// smol::block_on(serve)?;
    /// # Ok::<(), plan_runtime::journal::JournalError>(())
    /// ```
    pub fn configure<F>(mut self, set: F) -> Self
    where
        F: for<'r> Fn(Run<'r, App, Value>, &str) -> Run<'r, App, Value> + Send + Sync + 'static,
    {
        self.set = Some(Arc::new(set));
        self
    }

    /// Ends once `cancel` is ready. What runs is dropped, and goes on when the database is served again.
    pub fn cancel_on<F: Future + Send + 'a>(mut self, cancel: F) -> Self {
        self.cancel = Some(Box::pin(async move {
            cancel.await;
        }));
        self
    }

    /// Loads what there is to do, as far as there is room.
    fn load(&mut self) -> Result<(), JournalError> {
        let room = self.most.saturating_sub(self.loaded.len());
        if room == 0 {
            self.has_more = true;
            return Ok(());
        }
        let (due, has_more) = self.db.due(room)?;
        self.has_more = has_more;
        for id in due {
            // One that is being begun is not in the journal's list of owned runs yet.
            if self.loaded.iter().any(|it| it.id == id) {
                continue;
            }
            let loaded = self.begin(id);
            self.loaded.push(loaded);
        }
        Ok(())
    }

    fn begin(&self, id: String) -> Loaded<'a> {
        let following = Following::among(&self.together);
        let run = run(
            (self.db.clone(), id.clone()),
            (self.toolbox, self.app),
            self.set.clone(),
            following.clone(),
        );
        Loaded {
            id,
            following,
            run: Box::pin(run),
            woken: Arc::new(Woken {
                is_woken: AtomicBool::new(true),
                root: Arc::clone(&self.root),
            }),
        }
    }

    /// Polls the runs that were woken. Whether one of them is not loaded any more.
    fn poll_runs(&mut self) -> Result<bool, JournalError> {
        let mut has_room = false;
        let mut place = 0;
        while let Some(one) = self.loaded.get_mut(place) {
            if !one.woken.is_woken.swap(false, Ordering::AcqRel) {
                place += 1;
                continue;
            }
            let waker = Waker::from(Arc::clone(&one.woken));
            let mut cx = Context::from_waker(&waker);
            let polled = catch_unwind(AssertUnwindSafe(|| one.run.as_mut().poll(&mut cx)));
            match polled {
                Ok(Poll::Pending) => {
                    let rests = one.following.rests();
                    let rests = rests.filter(|it| it.time.is_none_or(|time| time > SHORT));
                    let is_woken = one.woken.is_woken.load(Ordering::Acquire);
                    let Some(resting) = rests.filter(|_| !is_woken) else {
                        place += 1;
                        continue;
                    };
                    self.db.rest(&resting.claim, resting.time, resting.seen);
                    drop(self.loaded.swap_remove(place));
                }
                Ok(Poll::Ready(ended)) => {
                    let id = self.loaded.swap_remove(place).id;
                    if let Some(reason) = ended? {
                        self.db.refuse(&id, AGAIN, reason)?;
                    }
                }
                Err(_) => {
                    let id = self.loaded.swap_remove(place).id;
                    let reason = "it panicked while it was begun".to_owned();
                    self.db.refuse(&id, AGAIN, reason)?;
                }
            }
            has_room = true;
        }
        Ok(has_room)
    }

    fn poll_all(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), JournalError>> {
        if let Some(cancel) = &mut self.cancel
            && cancel.as_mut().poll(cx).is_ready()
        {
            self.loaded.clear();
            return Poll::Ready(Ok(()));
        }
        self.root.set(cx.waker());
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first {
            self.db.forgive()?;
        }
        let has_room = self.poll_runs()?;
        let mut looks = is_first || has_room && self.has_more;
        if self.db.has_arrivals(&mut self.seen, cx.waker()) {
            // Those that follow soon do not delay the first.
            if !std::mem::replace(&mut self.is_soon, true) {
                self.pause = Some(ThreadTimer.sleep(SOON));
            }
            // It waits for the next ones, too.
            cx.waker().wake_by_ref();
        }
        loop {
            let pause = self.pause.get_or_insert_with(|| ThreadTimer.sleep(EVERY));
            if pause.as_mut().poll(cx).is_pending() {
                break;
            }
            self.pause = None;
            self.is_soon = false;
            looks = true;
        }
        if looks {
            self.load()?;
        }
        // They have their turn after others of the process had theirs.
        let mut woken = self.loaded.iter().map(|it| &it.woken.is_woken);
        if woken.any(|it| it.load(Ordering::Acquire)) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<App: ?Sized + Sync> Future for Serve<'_, App> {
    type Output = Result<(), JournalError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.poll_all(cx);
        if polled.is_ready() {
            self.loaded.clear();
        }
        polled
    }
}

impl<App: ?Sized> fmt::Debug for Serve<'_, App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("db", &self.db)
            .field("loaded", &self.loaded.len())
            .finish_non_exhaustive()
    }
}

/// A run that is loaded.
struct Loaded<'a> {
    id: String,
    following: Following,
    run: Pin<Box<dyn Future<Output = Result<Option<String>, JournalError>> + Send + 'a>>,
    woken: Arc<Woken>,
}

/// Whether a run is to be polled.
struct Woken {
    is_woken: AtomicBool,
    root: Arc<Root>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.root.wake();
        }
    }
}

/// Who polls all of them.
#[derive(Default)]
struct Root(Mutex<Option<Waker>>);

impl Root {
    fn set(&self, waker: &Waker) {
        let mut root = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = root.replace(waker.clone());
        drop(root);
        drop(old);
    }

    fn wake(&self) {
        let root = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = root.clone();
        drop(root);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Runs a run. Returns the reason if the run cannot begin.
async fn run<App: ?Sized + Sync>(
    (db, id): (Sqlite, String),
    (toolbox, app): (&Toolbox<App>, &App),
    set: Option<Arc<Set<App>>>,
    following: Following,
) -> Result<Option<String>, JournalError> {
    let info = match db.look(&id).await {
        Ok(run) => run.and_then(|run| run.info),
        // Other runs have the right key.
        Err(error @ JournalError::Encrypted { .. }) => return Ok(Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let Some(info) = info else { return Ok(None) };
    let submitted = match toolbox.submitted(&info) {
        Ok(submitted) => submitted,
        Err(error) => return Ok(Some(error.to_string())),
    };
    drop(info);
    let journal = Arc::new(db);
    let run = submitted.run(app).throttle(toolbox.throttle_of_all());
    let run = match &set {
        Some(set) => set(run, &id),
        None => run,
    };
    let result = run.followed(journal, &id, &following).await;
    Ok(reason(result))
}

/// Why a run has not ended, if it has not.
fn reason(result: Result<Value, RunError>) -> Option<String> {
    let error = result.err()?;
    match error.journal() {
        // Somebody else has it.
        Some(JournalError::Owned { .. } | JournalError::Lost { .. }) => None,
        _ => Some(error.to_string()),
    }
}
