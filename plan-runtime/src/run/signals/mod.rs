//! Values from outside for waiting steps.
//!
//! | | |
//! |---|---|
//! | `inbox.rs` | the sent values, and the steps that wait for values |
//! | `path.rs` | the paths of waiting steps |

mod inbox;
mod path;

pub(super) use inbox::{Inbox, Receiver, Sent, Waiting};

use super::limits::Limits;
use crate::journal::JournalError;
use crate::plan::{Executable, Graph, Plan};
use crate::print::{Cut, Line, MOST};
use crate::resolve::ResolveError;
use path::awaited;
pub(crate) use path::wait_at;
use serde::Serialize;
use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Returns the sender of values to a run that has not started.
pub(super) fn early(
    executable: &Executable<'_>,
    (receiver, limits): (&OnceLock<Receiver>, Option<Limits>),
) -> Signals {
    let graph = executable.graph.as_ref();
    let plan = || graph.ok().map(|graph| graph.shared(executable.plan));
    let receiver = receiver.get_or_init(|| Receiver::new(plan()));
    let inbox = receiver.inbox();
    inbox.limit(limits.unwrap_or(Limits::of(executable)));
    Signals::new(inbox, None)
}

/// A handle that sends values to the steps of a run that wait with `await`, as in `step reply: Reply = await;`.
/// [`Run::signals`](super::Run::signals) returns it.
///
/// You can clone the handle, and move it to another thread or task. A waiting run sleeps, and a value wakes the run.
///
/// After you drop the last handle, no more values can arrive. A wait with a `#[timeout]` or a `#[deadline]` then continues until its time limit, and a
/// wait without a limit fails with the code `NO_SIGNALS`.
///
/// ```
/// use plan_runtime::{plan, run::SignalError};
///
/// plan! {
///     Confirm(what: String) -> String {
///         step sure: bool = await;
///         format!("{what}: {sure}")
///     }
/// }
///
/// let run = Confirm { what: "delete all".into() }.run(&());
/// let signals = run.signals();
/// let error = signals.send("sure", "perhaps").unwrap_err();
/// assert_eq!(error.to_string(), "the value for `sure` has the wrong type: invalid type: string \"perhaps\", expected a boolean");
/// signals.send("sure", true)?;
/// assert_eq!(smol::block_on(run).unwrap(), "delete all: true");
///
/// assert!(matches!(signals.send("sure", true), Err(SignalError::Ended)));
/// # Ok::<(), SignalError>(())
/// ```
pub struct Signals {
    inbox: Arc<Inbox>,
    /// The path of the call that the run is inside of, with a dot.
    prefix: String,
}

impl Signals {
    /// Creates a handle for the steps of the plan that is called at this path, if it is not the outermost plan.
    pub(super) fn new(inbox: Arc<Inbox>, outer: Option<String>) -> Self {
        inbox.add_sender();
        Self {
            inbox,
            prefix: outer.map_or_else(String::new, |outer| outer + "."),
        }
    }

    /// Creates a handle that reaches no step, for a run that has ended or that started without signals.
    pub(super) fn to_nobody(is_over: bool) -> Self {
        let inbox = Receiver::new(None).inbox();
        if !is_over {
            inbox.reopen();
        }
        Self::new(inbox, None)
    }

    /// Returns the number of waits for values so far.
    pub(super) fn waits(&self) -> u64 {
        self.inbox.waits()
    }

    /// Sends a value to the step at this path. You can send the value before the step waits for the value, and even before the run starts: the run stores the
    /// value.
    ///
    /// The path is the name of the step. In a called plan, the path starts with the calling step and a dot, with the index of
    /// the element if the calling step is in a `for`: `orders[3].reply`. A [`CallContext`](super::CallContext) prints its path in this format.
    ///
    /// If a tool runs a plan that the outer plan does not contain, `send` accepts the paths of its steps only after
    /// they wait.
    ///
    /// The value stays in memory. A [durable](crate::run::Run::durable) run loses the value if the process ends before the step has taken it.
    /// `Server::signal` and [`Journal::send`](crate::journal::Journal::send) store a value in the journal.
    ///
    /// # Errors
    ///
    /// Returns an error, and drops the value, if no step waits at this path, if the step already has a value, if the value has another type than the step,
    /// if the value exceeds a [limit](super::Limits) of the run, or if the run has ended.
    pub fn send(&self, path: &str, value: impl Serialize) -> Result<(), SignalError> {
        let Self { inbox, prefix } = self;
        inbox.send(format!("{prefix}{path}"), &value)
    }
}

impl Clone for Signals {
    fn clone(&self) -> Self {
        self.inbox.add_sender();
        Self {
            inbox: Arc::clone(&self.inbox),
            prefix: self.prefix.clone(),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.inbox.remove_sender();
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signals").finish_non_exhaustive()
    }
}

/// The reason why a value was not sent. [`Signals::send`] returns it.
#[non_exhaustive]
pub enum SignalError {
    /// No step of the run waits for a value at this path.
    #[non_exhaustive]
    Unknown {
        /// The path.
        path: String,
        /// A path that is similar.
        similar: Option<String>,
    },
    /// The step has its value already.
    #[non_exhaustive]
    Second {
        /// The path of the step.
        path: String,
    },
    /// The value is not of the step's type.
    #[non_exhaustive]
    Type {
        /// The path of the step.
        path: String,
        /// The type, as written in the plan.
        type_name: String,
        /// The mismatch.
        message: String,
    },
    /// JSON cannot represent the value, or it exceeds a [limit](super::Limits) of the run.
    #[non_exhaustive]
    Value {
        /// The path of the step.
        path: String,
        /// The error of the value.
        error: Arc<ResolveError>,
    },
    /// The run has ended.
    Ended,
    /// The journal of the run has not stored the value.
    Journal(JournalError),
}

crate::print::visible_debug!(enum SignalError {
    Journal(_);
    Ended;
    Unknown { path, similar }, Second { path }, Type { path, type_name, message }, Value { path, error }
});

impl fmt::Display for SignalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { path, similar } => {
                let path = UntrustedText(path);
                write!(f, "no step of the run waits for a value at `{path}`")?;
                match similar {
                    Some(similar) => write!(f, " (`{}` is similar)", UntrustedText(similar)),
                    None => Ok(()),
                }
            }
            Self::Second { path } => {
                write!(f, "step `{}` has its value already", UntrustedText(path))
            }
            Self::Type { path, message, .. } => {
                let path = UntrustedText(path);
                write!(f, "the value for `{path}` has the wrong type: {message}")
            }
            Self::Value { path, error } => {
                let path = UntrustedText(path);
                write!(f, "the value for `{path}` cannot be sent: {error}")
            }
            Self::Ended => f.write_str("the run has ended"),
            Self::Journal(error) => error.fmt(f),
        }
    }
}

/// Untrusted text, on one line.
struct UntrustedText<'t>(&'t str);

impl fmt::Display for UntrustedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Cut(Line(self.0), MOST).fmt(f)
    }
}

impl StdError for SignalError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Value { error, .. } => Some(&**error),
            Self::Journal(error) => Some(error),
            Self::Type { .. } | Self::Unknown { .. } | Self::Second { .. } | Self::Ended => None,
        }
    }
}

/// Returns the plan's steps that wait for values, including those of plans inside it, computed once.
pub(super) fn awaited_in<'g>(graph: &'g Graph, plan: &Plan) -> &'g [String] {
    graph.awaited.get_or_init(|| awaited(plan).into())
}
