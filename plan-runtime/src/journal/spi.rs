//! Types for implementations of a [`Journal`](super::Journal).

use super::JournalError;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A future of a [`Journal`](super::Journal).
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// A write that is not durable yet. The future is ready when the record is durable, as far as the journal guarantees this.
pub type Written = Answer<'static, ()>;

/// A wait for messages.
pub type Notified = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The right to run a run, and to write its records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claim {
    /// The id of the run.
    pub id: Arc<str>,
    /// The number of the claim: greater for each later claim of the run. Only the claim with the greatest number is valid.
    pub epoch: u64,
}

impl Claim {
    /// Returns the claim of a run with this number.
    pub fn new(id: impl Into<Arc<str>>, epoch: u64) -> Self {
        Self {
            id: id.into(),
            epoch,
        }
    }
}

/// A run that was claimed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claimed {
    /// The right to run the run.
    pub claim: Claim,
    /// The state of the run.
    pub run: StoredRun,
}

impl Claimed {
    /// Returns a claimed run in this state.
    pub fn new(claim: Claim, run: StoredRun) -> Self {
        Self { claim, run }
    }
}

/// The state of a run in a journal, without its records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredRun {
    /// The start of the run, by the clock of its first machine.
    pub began: SystemTime,
    /// The description of the run, or `None` for a run that has no description yet.
    pub info: Option<RunInfo>,
    /// The end of the run, if the run has ended.
    pub end: Option<End>,
    /// `true` if the journal encrypts all strings of the run, as a run with [secrets](crate::Shape#secrets) requires.
    pub is_encrypted: bool,
}

impl StoredRun {
    /// Returns a run without a description.
    pub fn new(began: SystemTime) -> Self {
        Self {
            began,
            info: None,
            end: None,
            is_encrypted: false,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn described(self, info: RunInfo) -> Self {
        Self {
            info: Some(info),
            ..self
        }
    }

    /// Sets the end.
    #[must_use]
    pub fn ended(self, end: End) -> Self {
        Self {
            end: Some(end),
            ..self
        }
    }

    /// Marks the run as encrypted.
    #[must_use]
    pub fn encrypted(self, is_encrypted: bool) -> Self {
        Self {
            is_encrypted,
            ..self
        }
    }
}

/// The description of a run. A journal stores these strings, and does not interpret them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The name of the plan, which filters use.
    pub plan: String,
    /// The plan, as JSON.
    pub document: String,
    /// The inputs of the run, as JSON.
    pub inputs: String,
    /// Set if the run is new and has secrets.
    pub(crate) has_secrets: bool,
}

impl RunInfo {
    /// Returns the description of a run of the plan with this name.
    pub fn new(
        plan: impl Into<String>,
        document: impl Into<String>,
        inputs: impl Into<String>,
    ) -> Self {
        Self {
            plan: plan.into(),
            document: document.into(),
            inputs: inputs.into(),
            has_secrets: false,
        }
    }
}

/// A record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The number of the record, which is greater than the numbers of all earlier records of the run.
    pub number: u64,
    /// The key that was passed to [`Journal::append`](super::Journal::append).
    pub key: String,
    /// The body that was passed to [`Journal::append`](super::Journal::append).
    pub body: String,
}

impl Record {
    /// Returns a record.
    pub fn new(number: u64, key: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            number,
            key: key.into(),
            body: body.into(),
        }
    }
}

/// The end of a run, as JSON: the output of the run, or its error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The run has this output.
    Done(String),
    /// The run has failed.
    Failed(String),
    /// The run was cancelled.
    Cancelled(String),
}

impl End {
    /// Returns `true` if the run has an output.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }

    /// Returns the output or the error, as JSON.
    pub fn body(&self) -> &str {
        let (Self::Done(body) | Self::Failed(body) | Self::Cancelled(body)) = self;
        body
    }

    /// Returns the end with this output or error.
    #[cfg(feature = "sqlite")]
    pub(crate) fn with_body(&self, body: String) -> Self {
        match self {
            Self::Done(_) => Self::Done(body),
            Self::Failed(_) => Self::Failed(body),
            Self::Cancelled(_) => Self::Cancelled(body),
        }
    }
}

/// A message to a run from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// A value for a step that waits for one.
    Signal {
        /// The path of the step.
        path: String,
        /// The value, as JSON.
        body: String,
    },
    /// A cancellation. The run drops its running calls, and runs undo steps and always steps.
    Cancel,
}

/// A rest of a run that only waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rest {
    /// The time until the run is due without a message; `None` for a run that only a message resumes.
    pub time: Option<Duration>,
    /// `true` if a step waits for a value from outside.
    pub waits: bool,
    /// The number of the last message that the run has taken.
    pub seen: u64,
}

impl Rest {
    /// Returns a rest.
    #[must_use]
    pub fn new(time: Option<Duration>, waits: bool, seen: u64) -> Self {
        Self { time, waits, seen }
    }
}

/// A change of the records of a failed run, after which the run continues.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// The keys of the records to remove.
    pub removed: Vec<String>,
    /// The record to write, as a replacement for a record with its key.
    pub record: Option<(String, String)>,
}

impl Retry {
    /// Returns a change that removes the records with these keys and writes a record.
    #[must_use]
    pub fn new(removed: Vec<String>, record: Option<(String, String)>) -> Self {
        Self { removed, record }
    }
}
