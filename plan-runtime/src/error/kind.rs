//! The kinds of errors of runs.

use serde::{Deserialize, Serialize};

/// The kind of a [`RunError`](crate::RunError).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunErrorKind {
    /// Steps failed.
    Steps,
    /// The run cannot start or cannot run here: its inputs or its plan do not fit, a tool is missing, or a step waits for a value that no handle can
    /// send.
    Refused,
    /// The run was cancelled, by [`Run::cancel_on`](crate::run::Run::cancel_on) or from outside.
    Cancelled,
    /// The run took longer than [`Run::deadline`](crate::run::Run::deadline) or the call around the run allows.
    Deadline,
    /// The run would have exceeded one of its [limits](crate::run::Limits).
    Limit,
    /// The [journal](crate::run::Run::durable) failed to start or continue the run. No records are lost: start the run again
    /// to resume.
    Journal,
    /// The output of the plan could not be computed from the outputs of its steps.
    Output,
    /// Code outside the steps panicked.
    Panic,
}
