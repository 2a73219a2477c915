//! Journals whose runs can be listed, deleted and served.

use super::Journal;
use super::spi::{Answer, Claim, End, Notified, Rest, Retry};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A [`Journal`] that lists its runs and its due runs, for a `Server`.
///
/// A run is *due* if it has been described, has not ended, has no living owner and does not rest. A claim and a message end the rest of a run.
pub trait Store: Journal {
    /// Returns a page of the runs that match a filter, in the order of their starts. A page is empty only after the last run. The journal chooses the length of the pages,
    /// up to the [limit](RunFilter::limit) of the filter.
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>>;

    /// Returns at most `limit` runs that are due. Runs with a finished rest come first, ordered by the ends of their rests. Runs without a rest
    /// follow in the order of their starts.
    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>>;

    /// Completes when a further run may be due, except for a run whose rest has ended. A server also queries due runs at short
    /// intervals, so the future may miss the changes of other processes.
    fn arrival(&self) -> Notified;

    /// Releases a run, as [`release`](Journal::release) does, and lets the run rest. The run does not rest if it has a message with a greater number
    /// than the one in `rest`.
    fn rest(&self, claim: &Claim, rest: Rest);

    /// Lets a refused run rest, and stores the reason in its summary. A run with a living owner, or a run that has ended, does not change. A run that this journal value has already released counts
    /// as a run without an owner.
    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()>;

    /// Ends the rests of refused runs.
    fn forgive(&self) -> Answer<'_, ()>;

    /// Removes records, the end and the cancellations of a run, and writes a record, all in one transaction. The run stays claimed.
    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()>;

    /// Deletes the data of all runs that ended longer ago than `age` and have no living owner. Returns the number of these runs.
    ///
    /// This method also deletes old runs without a description, whose process was killed at the start. The number does not include these runs.
    ///
    /// Other runs can write during the deletion. After a kill, the next call continues.
    fn delete(&self, age: Duration) -> Answer<'_, u64>;
}

/// A store that is shared, such as an `Arc<dyn Store>`.
impl<S: Store + ?Sized> Store for Arc<S> {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        (**self).runs(filter)
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>> {
        (**self).due(limit)
    }

    fn arrival(&self) -> Notified {
        (**self).arrival()
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        (**self).rest(claim, rest);
    }

    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()> {
        (**self).refuse(id, time, reason)
    }

    fn forgive(&self) -> Answer<'_, ()> {
        (**self).forgive()
    }

    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()> {
        (**self).retry(claim, retry)
    }

    fn delete(&self, age: Duration) -> Answer<'_, u64> {
        (**self).delete(age)
    }
}

/// The state of a run in a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunState {
    /// The run has not ended: it runs, it waits, or it has no owner now.
    Running,
    /// The run has an output.
    Done,
    /// The run has failed, or has passed its deadline.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

impl End {
    /// Returns the state of a run with this end.
    pub fn state(&self) -> RunState {
        match self {
            Self::Done(_) => RunState::Done,
            Self::Failed(_) => RunState::Failed,
            Self::Cancelled(_) => RunState::Cancelled,
        }
    }
}

/// A filter for lists of runs: a run has to meet all conditions.
///
/// ```
/// use plan_runtime::journal::{RunFilter, RunState};
///
/// // Runs that wait for a server.
/// let filter = RunFilter::new().plan("ship_order").state(RunState::Running).is_owned(false);
/// assert_eq!(filter.plan.as_deref(), Some("ship_order"));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct RunFilter {
    /// The id of the run.
    pub id: Option<String>,
    /// The name of the plan.
    pub plan: Option<String>,
    /// The state.
    pub state: Option<RunState>,
    /// `true` selects runs with a living owner, and `false` selects runs without a living owner.
    pub is_owned: Option<bool>,
    /// The least age, measured from the start of the run.
    pub older_than: Option<Duration>,
    /// The number of a run: the list begins after that run.
    pub after: Option<u64>,
    /// `true` for the opposite order, with the newest run first.
    pub is_newest_first: bool,
    /// The most runs of a page.
    pub limit: Option<usize>,
}

impl RunFilter {
    /// Returns a filter that all runs match.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the run with this id.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Selects the runs of the plan with this name.
    pub fn plan(mut self, plan: impl Into<String>) -> Self {
        self.plan = Some(plan.into());
        self
    }

    /// Selects the runs in this state.
    pub fn state(mut self, state: RunState) -> Self {
        self.state = Some(state);
        self
    }

    /// Selects the runs with a living owner, or, with `false`, the runs without. Use `false` and [`RunState::Running`] to find runs that wait for a server.
    pub fn is_owned(mut self, is_owned: bool) -> Self {
        self.is_owned = Some(is_owned);
        self
    }

    /// Selects the runs that began longer ago than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Begins the list after the run with this [number](RunSummary::number). To get the next page, pass the number of the last run of a page, which
    /// may have been deleted since.
    pub fn after(mut self, number: u64) -> Self {
        self.after = Some(number);
        self
    }

    /// Lists the runs in the opposite order, with the newest run first.
    pub fn newest_first(mut self) -> Self {
        self.is_newest_first = true;
        self
    }

    /// Limits the length of a page.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// The state of a run in a list of runs.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunSummary {
    /// The number of the run, which is greater than the numbers of all earlier runs.
    pub number: u64,
    /// The id.
    pub id: String,
    /// The name of the plan.
    pub plan: String,
    /// The start of the run.
    pub began: SystemTime,
    /// The end of the run, if the run has ended.
    pub ended: Option<SystemTime>,
    /// The state.
    pub state: RunState,
    /// `true` if the run has a living owner.
    pub is_owned: bool,
    /// `true` if a step of the run waits for a value, and the server has released the run until then. Most such runs wait for a
    /// person.
    pub waits: bool,
    /// The reason of the last refusal, if a server could not begin the run.
    pub refusal: Option<String>,
}

crate::print::visible_debug!(struct RunSummary {
    number,
    id,
    plan,
    began,
    ended,
    state,
    is_owned,
    waits,
    refusal,
});

impl RunSummary {
    /// Returns the summary of a run that has no owner and has not ended.
    pub fn new(
        number: u64,
        id: impl Into<String>,
        plan: impl Into<String>,
        began: SystemTime,
    ) -> Self {
        Self {
            number,
            id: id.into(),
            plan: plan.into(),
            began,
            ended: None,
            state: RunState::Running,
            is_owned: false,
            waits: false,
            refusal: None,
        }
    }
}
