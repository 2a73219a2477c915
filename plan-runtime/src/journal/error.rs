//! The errors of journals.

use crate::print::{Cut, Line, MOST, MessageName};
use std::error::Error as StdError;
use std::fmt;

/// An error of a [`Journal`](super::Journal).
#[non_exhaustive]
pub enum JournalError {
    /// Another owner runs the run.
    Owned {
        /// The id of the run.
        id: String,
        /// A name of the owner, for people.
        owner: String,
    },
    /// Another owner has taken over the run. This owner can no longer write records.
    Lost {
        /// The id of the run.
        id: String,
    },
    /// No run has this ID.
    Unknown {
        /// The ID in the request.
        id: String,
    },
    /// A signal has been sent to this path before.
    Second {
        /// The path of the step.
        path: String,
    },
    /// The run calls a plan whose completed steps were changed.
    Changed {
        /// The name of the plan.
        plan: String,
        /// The completed step, and its change.
        change: String,
    },
    /// A recorded value has another type than the plan has now.
    Misfit {
        /// The recorded value, such as the output of a step.
        what: String,
        /// The error of its type.
        why: String,
    },
    /// The resumed run does not reach a recorded call, so the run would lose the effect of the call. Usually, a policy of a step, the concurrency, a limit
    /// or the code of an argument differs from the earlier process. The run resumes with the earlier settings.
    Untaken {
        /// The key of the record.
        record: String,
    },
    /// The run has ended, and a replay of its records does not reach this end. Usually, the plan or the options differ. Another reason is a failure
    /// before other steps had started. The run made no call.
    Ended {
        /// The id of the run.
        id: String,
        /// The recorded error of the run, if the run failed.
        failure: Option<String>,
    },
    /// The run is encrypted, and cannot be decrypted. The journal did not change the run.
    Encrypted {
        /// The id of the run.
        id: String,
        /// The missing key, another key, or the damaged part.
        why: String,
    },
    /// The storage cannot be read or written, for example because the disk is full or the file is damaged.
    Storage(Box<dyn StdError + Send + Sync>),
}

crate::print::visible_debug!(enum JournalError {
    Storage(_);
    ;
    Owned { id, owner }, Lost { id }, Unknown { id }, Second { path }, Changed { plan, change }, Misfit { what, why }, Untaken { record },
    Ended { id, failure }, Encrypted { id, why }
});

impl JournalError {
    /// Returns an error of the storage.
    pub fn storage(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Storage(error.into())
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned { id, owner } => {
                let (id, owner) = (MessageName(id), Cut(Line(owner), MOST));
                write!(f, "run `{id}` is being run by {owner}")
            }
            Self::Lost { id } => write!(
                f,
                "another process has taken over run `{}`",
                MessageName(id)
            ),
            Self::Unknown { id } => write!(f, "there is no run `{}`", MessageName(id)),
            Self::Second { path } => {
                write!(f, "step `{}` already has a value", Cut(Line(path), MOST))
            }
            Self::Changed { plan, change } => write!(
                f,
                "the run calls plan `{}`, which was changed: {}",
                MessageName(plan),
                Line(change)
            ),
            Self::Misfit { what, why } => write!(
                f,
                "{} does not fit the plan any more: {}",
                Line(what),
                Cut(Line(why), MOST)
            ),
            Self::Untaken { record } => write!(
                f,
                "the resumed run does not reach the recorded call `{}`, so its effect would be lost: a policy, the concurrency, a limit or Rust code has changed",
                Cut(Line(record), MOST)
            ),
            Self::Ended { id, failure } => {
                let id = MessageName(id);
                write!(
                    f,
                    "run `{id}` has ended, but a replay of its records does not reach the recorded end"
                )?;
                match failure {
                    Some(failure) => write!(f, ": {}", Cut(Line(failure), MOST)),
                    None => Ok(()),
                }
            }
            Self::Encrypted { id, why } => write!(
                f,
                "run `{}` cannot be decrypted: {}",
                MessageName(id),
                Cut(Line(why), MOST)
            ),
            Self::Storage(error) => {
                write!(f, "the journal cannot be used: {}", Cut(Line(error), MOST))
            }
        }
    }
}

impl StdError for JournalError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Storage(error) => Some(&**error),
            Self::Owned { .. }
            | Self::Lost { .. }
            | Self::Unknown { .. }
            | Self::Second { .. }
            | Self::Changed { .. }
            | Self::Misfit { .. }
            | Self::Untaken { .. }
            | Self::Ended { .. }
            | Self::Encrypted { .. } => None,
        }
    }
}
