//! The state that the handlers of requests share.

use crate::answer::Room;
use crate::decisions::Decisions;
use crate::desk::Desk;
use crate::error::Problem;
use crate::findings::{is_of_reference, severity};
use crate::lasting::Lasting;
use crate::limits;
use crate::live::Live;
use crate::metrics::{Metrics, OfFinding, OfReference, OfRun};
use crate::plans::Plans;
use crate::run_id::reading;
use crate::title::{NO_NAME, title};
use crate::tools::Office;
use axum::http::StatusCode;
use plan_runtime::dynamic::{
    Document, DocumentLimits, Finding, Findings, Profile, Reader, Toolbox,
};
use plan_runtime::journal::{
    JournalError, RunFilter, RunState, RunSummary, Sqlite, Store, spi::RunInfo,
};
use plan_runtime::serve::Server;
use plan_runtime::{Plan, RunError};
use serde_json::Value;
use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Waits for the journal, for work of [`State::blocking`].
pub(crate) fn now<T>(answer: impl Future<Output = T>) -> T {
    Handle::current().block_on(answer)
}

/// The approximate number of runs that the server deletes together.
const MOST_DELETED: usize = 128;

pub(crate) fn bytes_of(info: &RunInfo) -> usize {
    info.document.len() + info.inputs.len()
}

pub(crate) struct State {
    pub(crate) server: Server<Sqlite, Office>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) decisions: Arc<Decisions>,
    pub(crate) plans: Arc<Plans>,
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) token: String,
    /// Memory for the responses that are being sent, and for the watched states of runs.
    pub(crate) answers: Room,
    pub(crate) states: Room,
    pub(crate) lasting: Lasting,
    /// A turn for each run that requests look up, so that requests for one run follow each other.
    looks: Mutex<HashMap<String, Arc<Turn>>>,
    readers: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Runs without a recorded end, with the bytes of their plans and inputs.
    open: Mutex<OpenRuns>,
}

type Turn = tokio::sync::Mutex<()>;

#[derive(Default)]
struct OpenRuns {
    of_runs: HashMap<String, usize>,
    bytes: usize,
}

impl OpenRuns {
    fn add(&mut self, id: &str, bytes: usize) {
        if !self.of_runs.contains_key(id) {
            self.of_runs.insert(id.to_owned(), bytes);
            self.bytes += bytes;
        }
    }

    fn remove(&mut self, id: &str) {
        self.bytes -= self.of_runs.remove(id).unwrap_or_default();
    }
}

/// A slot in the queue of requests, which is freed if the client goes away.
struct Place<'s>(&'s AtomicUsize);

impl<'s> Place<'s> {
    fn take(waiting: &'s AtomicUsize) -> Result<Self, Problem> {
        let place = Self(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) >= limits::WAITING_READERS {
            return Err(Problem::busy("too many queued requests"));
        }
        Ok(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl State {
    pub(crate) async fn new(
        db: Sqlite,
        toolbox: Toolbox<Office>,
        office: Office,
        decisions: Decisions,
        token: String,
    ) -> Result<Self, JournalError> {
        let (live, metrics) = (Arc::new(Live::default()), Arc::new(Metrics::new()));
        let (decisions, plans) = (Arc::new(decisions), Arc::new(Plans::new(&db)));
        let mut open = OpenRuns::default();
        let mut running = RunFilter::new().state(RunState::Running);
        loop {
            let page = db.runs(&running).await?;
            let Some(last) = page.last() else { break };
            running = running.after(last.number);
            for run in page {
                let info = plans.info(&run.id).await?;
                open.add(&run.id, info.map_or(0, |info| bytes_of(&info)));
            }
        }
        Ok(Self {
            desk: Arc::new(Desk::new(&live, &metrics, &decisions, &plans)),
            decisions,
            plans,
            server: Server::new(&db, toolbox, office),
            live,
            metrics,
            token,
            readers: Arc::new(Semaphore::new(limits::READERS)),
            waiting: AtomicUsize::new(0),
            answers: Room::new(limits::ANSWERS),
            states: Room::new(limits::STATES),
            lasting: Lasting::default(),
            looks: Mutex::default(),
            open: Mutex::new(open),
        })
    }

    /// Does long work on another thread than the threads that answer requests. The number of such threads is limited.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let place = Place::take(&self.waiting)?;
        let turn = Arc::clone(&self.readers).acquire_owned().await;
        drop(place);
        let state = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&state)
        });
        match done.await {
            Ok(result) => result,
            Err(error) => Err(Problem::storage(&error)),
        }
    }

    /// Looks at a run, like [`blocking`](Self::blocking). Requests for one run follow each other, so that requests for
    /// other runs get their turn.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = {
            let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
            looks.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(looks.entry(id.to_owned()).or_default())
        };
        let _turn = turn.lock().await;
        self.blocking(work).await
    }

    fn open(&self) -> MutexGuard<'_, OpenRuns> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a plan, and counts its findings.
    pub(crate) fn read<'t>(
        &self,
        text: &'t str,
        profile: Profile,
    ) -> Result<Document<'t>, Findings> {
        let read = self.reader(profile).name(NO_NAME).read(text);
        let found = match &read {
            Ok(document) => document.warnings(),
            Err(findings) => findings,
        };
        for finding in found {
            self.count(finding, profile);
        }
        read
    }

    /// Reads a plan for a run. A plan without a name gets a title, by which people find its runs.
    pub(crate) fn read_for_run<'t>(
        &self,
        text: &'t str,
        profile: Profile,
    ) -> Result<Document<'t>, Findings> {
        let document = self.read(text, profile)?;
        match title(document.plan()) {
            Some(title) if document.plan().name == NO_NAME => {
                self.reader(profile).name(title).read(text)
            }
            _ => Ok(document),
        }
    }

    pub(crate) fn reader(&self, profile: Profile) -> Reader<'_> {
        let limits = DocumentLimits::DEFAULT.bytes(limits::PLAN);
        let contracts = self.server.toolbox().contracts();
        Reader::new()
            .tools(contracts)
            .profile(profile)
            .limits(limits)
    }

    fn count(&self, finding: &Finding, profile: Profile) {
        let reading = reading(profile);
        let of_finding = OfFinding {
            reading,
            severity: severity(finding.severity),
            code: finding.code.as_str(),
        };
        self.metrics.findings.get_or_create(&of_finding).inc();
        if is_of_reference(finding.code) {
            let found = "before";
            let reference = OfReference { reading, found };
            self.metrics.references.get_or_create(&reference).inc();
        }
    }

    /// Submits a run, which is durable after the return. A repeated submission has no effect.
    pub(crate) fn submit(
        &self,
        document: &Document<'_>,
        inputs: Value,
        id: &str,
    ) -> Result<(), Problem> {
        let is_new = self.find(id)?.is_none();
        let plan = document.plan();
        let text = serde_json::to_string(plan).unwrap_or_default();
        let info = RunInfo::new(plan.name.clone(), text, inputs.to_string());
        if is_new {
            self.reserve(id, bytes_of(&info))?;
        }
        let run = self
            .server
            .toolbox()
            .run(document, inputs, self.server.app());
        let submitted = now(run.submit(self.server.journal(), id));
        if is_new {
            self.settle(id, bytes_of(&info));
        }
        submitted.map_err(|error| refused(&error, is_new))?;
        if is_new {
            self.metrics.started.inc();
            tracing::info!(run = id, plan = %document.plan().name, "a run was submitted");
        }
        Ok(())
    }

    /// Reserves room for a new run. The run keeps the room until its end, unless [`settle`](Self::settle) finds no such run.
    pub(crate) fn reserve(&self, id: &str, bytes: usize) -> Result<(), Problem> {
        self.has_room()?;
        let mut open = self.open();
        let has_room =
            open.of_runs.len() < limits::OPEN_RUNS && open.bytes + bytes <= limits::OPEN_BYTES;
        if !has_room && !open.of_runs.contains_key(id) {
            return Err(Problem::busy("too many unfinished runs"));
        }
        open.add(id, bytes);
        Ok(())
    }

    /// Keeps the memory of a submitted run reserved, and frees the memory of a rejected run. A concurrent request may
    /// submit the run, so the journal decides.
    pub(crate) fn settle(&self, id: &str, bytes: usize) {
        let found = self.find(id);
        let mut open = self.open();
        match found {
            Ok(Some(run)) if run.ended.is_none() => open.add(id, bytes),
            Ok(_) => open.remove(id),
            // The run may exist, so its room stays reserved.
            Err(_) => {}
        }
    }

    /// Checks that the database has room for a further run.
    fn has_room(&self) -> Result<(), Problem> {
        let used = now(self.server.journal().used_bytes());
        let used = used.map_err(|error| Problem::storage(&error))?;
        if used < limits::DATABASE_FOR_NEW {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "FULL",
            format!(
                "the database of runs is nearly full ({} of {} MiB), so no new run starts",
                used >> 20,
                limits::DATABASE >> 20
            ),
            "Wait until runs have ended, or cancel runs. The server deletes the oldest ended runs.",
        ))
    }

    /// Deletes the runs that ended first, until the database has at most half of its maximum size.
    pub(crate) async fn delete_ended(&self) -> Result<(), JournalError> {
        while self.server.journal().used_bytes().await? > limits::DATABASE_FOR_ENDED {
            let mut ended: Vec<SystemTime> = Vec::new();
            let mut all = RunFilter::new();
            while ended.len() < MOST_DELETED {
                let page = self.server.runs(&all).await?;
                let Some(last) = page.last() else { break };
                all = all.after(last.number);
                ended.extend(page.iter().filter_map(|run| run.ended));
            }
            ended.truncate(MOST_DELETED);
            ended.sort_unstable();
            let Some(last) = ended.get(ended.len() / 2) else {
                return Ok(());
            };
            let age = SystemTime::now().duration_since(*last).unwrap_or_default();
            let deleted = self.server.delete(age).await?;
            if deleted == 0 {
                return Ok(());
            }
            tracing::warn!(
                deleted,
                "the oldest ended runs are deleted, because the database is more than half full"
            );
        }
        Ok(())
    }

    /// Returns the summary of a run, for work of [`blocking`](Self::blocking).
    pub(crate) fn summary(&self, id: &str) -> Result<RunSummary, Problem> {
        self.find(id)?.ok_or_else(|| Problem::no_run(id))
    }

    /// Returns the summary of a run if there is such a run.
    pub(crate) fn find(&self, id: &str) -> Result<Option<RunSummary>, Problem> {
        match now(self.server.run(id)) {
            Ok(run) => Ok(Some(run)),
            Err(JournalError::Unknown { .. }) => Ok(None),
            Err(error) => Err(Problem::storage(&error)),
        }
    }

    /// Returns the plan of a run, and its inputs.
    pub(crate) fn plan(&self, id: &str) -> Result<(Arc<Plan>, Value), Problem> {
        let (document, inputs) = self.document(id)?;
        let plan = self.plans.parse(document);
        let plan = plan.map_err(|error| Problem::storage(&error))?;
        Ok((plan, inputs))
    }

    /// Returns the plan JSON of a run, and its inputs.
    pub(crate) fn document(&self, id: &str) -> Result<(String, Value), Problem> {
        let info = self.info(id)?;
        let inputs =
            serde_json::from_str(&info.inputs).map_err(|error| Problem::storage(&error))?;
        Ok((info.document, inputs))
    }

    pub(crate) fn info(&self, id: &str) -> Result<RunInfo, Problem> {
        let info = now(self.plans.info(id)).map_err(|error| Problem::storage(&error))?;
        info.ok_or_else(|| Problem::no_run(id))
    }

    /// Counts the runs that have ended since the last time. An observer learns of the end a little before the journal does.
    pub(crate) async fn count_ended(&self) {
        let mut open = Vec::new();
        for id in self.live.take_finished() {
            let Ok(run) = self.server.run(&id).await else {
                continue;
            };
            let Some(ended) = run.ended else {
                open.push(id);
                continue;
            };
            let state = state_name(run.state);
            self.metrics.ended.get_or_create(&OfRun { state }).inc();
            let took = ended.duration_since(run.began).unwrap_or_default();
            self.metrics.run_time.observe(took.as_secs_f64());
            tracing::info!(run = id, state, ?took, "a run has ended");
            self.open().remove(&id);
            self.live.ended(&id);
        }
        self.live.still_open(open);
    }
}

/// Returns the problem for a run that the server could not submit.
fn refused(error: &RunError, is_new: bool) -> Problem {
    let other = || {
        Problem::new(
            StatusCode::CONFLICT,
            "OTHER_RUN",
            error.to_string(),
            "There is a run with this id, with another plan or other inputs. Use another id.",
        )
    };
    match error.journal() {
        Some(JournalError::Changed { .. }) => other(),
        Some(error) => Problem::storage(error),
        None if !is_new => other(),
        None => Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "CANNOT_START",
            error.to_string(),
            "Correct the inputs, and start the plan again.",
        ),
    }
}

/// Returns the API's word for a state.
pub(crate) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Done => "done",
        RunState::Cancelled => "cancelled",
        _ => "failed",
    }
}

#[cfg(test)]
pub(crate) mod tests;
