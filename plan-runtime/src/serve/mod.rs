//! Processes that run the runs of a journal, and their inspection and control from outside.
//!
//! A [`Server`] runs, inspects and controls the runs of any [`Store`], such as [`Memory`](crate::journal::Memory) or `Sqlite`. The records are in the store, so servers in several processes share the runs.
//!
//! A server asks the store at short intervals for due runs. If a run only waits, the server releases the run, which *rests* until a stored time. A
//! message or a claim ends the rest earlier, so a server loads a resting run only after an event or at the stored time. A run that failed to start
//! rests as well, with its reason in the store. A server tries such runs again at its own start.

mod inspect;
mod retry;
mod serving;

pub use serving::Serve;

use crate::dynamic::Toolbox;
use crate::journal::spi::Message;
use crate::journal::{JournalError, RunFilter, RunSummary, Store};
use crate::run::{ThreadTimer, Timer};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The first pause between two questions of [`Server::wait`]. Each pause is twice as long as the pause before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The longest pause between two questions of [`Server::wait`].
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// A server for the runs of a journal, with their tools and their application. Clones share the journal, the tools and the application. Code for any journal needs the bounds `J: Store + Clone + 'static`.
///
/// ```
/// use plan_runtime::dynamic::Toolbox;
/// use plan_runtime::journal::Memory;
/// use plan_runtime::plan;
/// use plan_runtime::serve::Server;
///
/// plan! {
///     Greet(greeting: String) -> String {
///         step name: String = await;
///         format!("{greeting}, {name}!")
///     }
/// }
///
/// # smol::block_on(async {
/// // In a program: `let db = Sqlite::open("runs.db")?;`
/// let journal = Memory::new();
/// let server = Server::new(&journal, Toolbox::<()>::new().with::<Greet>(), ());
/// Greet { greeting: "Hello".into() }.submit(&journal, "greet-17").await?;
///
/// // Serves until the run waits for its value.
/// server.serve().cancel_on(server.wait("greet-17")).await?;
/// // Any process can send the value, and any other process can serve.
/// server.signal("greet-17", "name", "Ada").await?;
/// server.serve().cancel_on(server.wait("greet-17")).await?;
/// assert_eq!(server.output("greet-17").await?.unwrap(), "Hello, Ada!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Unknown runs
///
/// If a run does not exist, a method with the id of the run returns an error. The cause of the error is [`JournalError::Unknown`], and its message contains the id.
pub struct Server<J, App: ?Sized = ()> {
    journal: J,
    toolbox: Arc<Toolbox<App>>,
    app: Arc<App>,
}

impl<J: Store + Clone + 'static, App: ?Sized + Send + Sync> Server<J, App> {
    /// Returns a server of a journal.
    ///
    /// The application is a value, or an `Arc` that other code shares.
    pub fn new(journal: &J, toolbox: Toolbox<App>, app: impl Into<Arc<App>>) -> Self {
        Self {
            journal: journal.clone(),
            toolbox: Arc::new(toolbox),
            app: app.into(),
        }
    }

    /// Returns the journal.
    pub fn journal(&self) -> &J {
        &self.journal
    }

    /// Returns the toolbox.
    pub fn toolbox(&self) -> &Toolbox<App> {
        &self.toolbox
    }

    /// Returns the application.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Runs [submitted](crate::run::Run::submit) runs, and resumes the runs of processes that have ended, until the future is dropped or [cancelled](Serve::cancel_on).
    ///
    /// If the plan of a run is a tool of the toolbox ([`Toolbox::with`]), the run uses that tool with its Rust code. Any other plan runs as recorded,
    /// with the tools of the toolbox, as in [`Toolbox::run`]. A run of an earlier version of a tool runs as recorded if the recorded version contains
    /// no Rust code. Otherwise, the run continues as the current version, because Rust code is not recorded, provided that its completed steps are
    /// equal in both versions.
    ///
    /// The server releases a run that only waits for a value or a time, so that the run uses no memory. Any process that serves the journal resumes
    /// the run after the value arrives, or at that time. If a run cannot start, for example because a tool is missing, the server tries again after a
    /// minute. After each further refusal, the time until the next attempt doubles, up to an hour. [`RunSummary::refusal`] contains the reason.
    pub fn serve(&self) -> Serve<'_, J, App> {
        Serve::new(self)
    }

    /// Returns a page of the runs that match a filter, as [`Store::runs`] does. For the next page, set [`RunFilter::after`] to the number of the last run.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the journal cannot be read.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, JournalError> {
        self.journal.runs(filter).await
    }

    /// Returns the summary of a run.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Storage`] if the journal cannot
    /// be read.
    pub async fn run(&self, id: &str) -> Result<RunSummary, JournalError> {
        let found = self.journal.runs(&RunFilter::new().id(id)).await?;
        let unknown = || JournalError::Unknown { id: id.to_owned() };
        found.into_iter().next().ok_or_else(unknown)
    }

    /// Waits until a run has ended, [waits](RunSummary::waits) for a value, or was [refused](RunSummary::refusal). Returns the summary of the run, at most a second later.
    ///
    /// If the run was refused before this call, the method first waits for half a second: a server that has just started may try the run again.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Storage`] if the journal cannot
    /// be read.
    pub async fn wait(&self, id: &str) -> Result<RunSummary, JournalError> {
        let mut pause = FIRST_PAUSE;
        let mut was_refused = false;
        loop {
            let run = self.run(id).await?;
            let is_refused = run.refusal.is_some();
            if run.ended.is_some() || run.waits || is_refused && was_refused {
                return Ok(run);
            }
            if is_refused {
                pause = LAST_PAUSE;
            }
            was_refused = is_refused;
            ThreadTimer.sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Cancels a run, which drops its running calls, and runs undo steps and always steps. The process of the run cancels the run within a second. Without a
    /// process, the next process that serves the run cancels it. A run that has ended does not change.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Unknown`] if the run does not exist, and [`JournalError::Storage`] if the journal cannot
    /// be written.
    pub async fn cancel(&self, id: &str) -> Result<(), JournalError> {
        self.journal.send(id, &Message::Cancel).await
    }

    /// Deletes the runs that ended longer ago than `age` and have no living owner. Returns the number of these runs.
    ///
    /// Other runs can write during the deletion. After a kill, the next call continues.
    ///
    /// ```
    /// use plan_runtime::dynamic::Toolbox;
    /// use plan_runtime::journal::Memory;
    /// use plan_runtime::plan;
    /// use plan_runtime::serve::Server;
    /// use std::time::Duration;
    ///
    /// plan! {
    ///     Greet(name: String) -> String { format!("Hello, {name}!") }
    /// }
    ///
    /// # smol::block_on(async {
    /// let journal = Memory::new();
    /// Greet { name: "Ada".into() }.run(&()).durable(&journal, "greet-17").await?;
    /// let server = Server::new(&journal, Toolbox::<()>::new(), ());
    /// assert_eq!(server.delete(Duration::from_secs(86_400)).await?, 0);
    /// assert_eq!(server.delete(Duration::ZERO).await?, 1);
    /// let error = server.run("greet-17").await.unwrap_err();
    /// assert_eq!(error.to_string(), "there is no run `greet-17`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the journal cannot be read or written.
    pub async fn delete(&self, age: Duration) -> Result<u64, JournalError> {
        self.journal.delete(age).await
    }
}

impl<J: Clone, App: ?Sized> Clone for Server<J, App> {
    fn clone(&self) -> Self {
        Self {
            journal: self.journal.clone(),
            toolbox: Arc::clone(&self.toolbox),
            app: Arc::clone(&self.app),
        }
    }
}

impl<J, App: ?Sized> fmt::Debug for Server<J, App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
