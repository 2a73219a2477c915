use crate::print::{Cut, Line, MOST, MessageName};
use std::error::Error as StdError;
use std::fmt;

/// Why a journal did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// Somebody else runs the run.
    Owned {
        /// The id of the run.
        id: String,
        /// Who has it, as far as the journal knows.
        owner: String,
    },
    /// Another owner has taken over the run; this one can record nothing more.
    Lost {
        /// The id of the run.
        id: String,
    },
    /// There is no such run.
    Unknown {
        /// The id that was asked for.
        id: String,
    },
    /// A signal has been sent to this path before.
    Second {
        /// The path of the step.
        path: String,
    },
    /// What has run of a plan that a step calls was changed since.
    Changed {
        /// The name of the plan.
        plan: String,
        /// What has run, and how it was changed.
        change: String,
    },
    /// What is kept is of another type than the plan has now.
    Misfit {
        /// What does not fit: the output of a step, say.
        what: String,
        /// Why.
        why: String,
    },
    /// The run has ended, and its records do not lead to its end. Usually, the plan or the options differ. A failure beside steps that had not begun is another reason. No call was made.
    Ended {
        /// The id of the run.
        id: String,
        /// The recorded error of the run, if the run failed.
        failure: Option<String>,
    },
    /// The run is encrypted, and cannot be decrypted. Nothing of it was changed.
    Encrypted {
        /// The id of the run.
        id: String,
        /// The missing key, another key, or the damaged part.
        why: String,
    },
    /// What is kept could not be read or written: a full disk, a damaged file.
    Storage(Box<dyn StdError + Send + Sync>),
}

impl JournalError {
    /// An error of the storage.
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
            Self::Ended { id, failure } => {
                let id = MessageName(id);
                write!(
                    f,
                    "run `{id}` has ended, and its records do not lead to its end"
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
            | Self::Ended { .. }
            | Self::Encrypted { .. } => None,
        }
    }
}
