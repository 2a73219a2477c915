//! Submission of runs as data, for another process to run.

use super::begin::recordable;
use super::durable;
use super::engine::secrets_on_engine;
use crate::Tool;
use crate::error::{Cause, RunError};
use crate::journal::Journal;
use crate::journal::spi::RunInfo;
use crate::plan::{Executable, LazyPlan, Plan};
use crate::resolve::{StoredValue, encode};
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A destination for submitted runs: a [`Journal`], whose server runs them, or the client of an engine.
///
/// `submit` of a plan and [`Run::submit`](super::Run::submit) take one.
#[diagnostic::on_unimplemented(
    message = "runs cannot be submitted to `{Self}`",
    label = "this is neither a journal nor the client of an engine",
    note = "open a journal, `let db = Sqlite::open(\"runs.db\")?;`, and submit to `&db`; or make a client, `let restate = plan_restate::Client::new(\"http://…\")?;`, and submit to `&restate`"
)]
pub trait Submit {
    /// A future that submits a run with an output of the type `O`.
    type Submission<'s, O>
    where
        Self: 's,
        O: 's;

    /// Returns a future that submits a run under this ID. An error of the run is the output of that future.
    fn submit<O: DeserializeOwned + 'static>(
        &self,
        run: Result<RunInfo, RunError>,
        id: String,
    ) -> Self::Submission<'_, O>;

    /// Returns `true` for a [`Journal`], which may keep a run with [secrets](crate::Shape#secrets). An engine gets no such run.
    fn keeps_secrets(&self) -> bool {
        false
    }
}

// `do_not_recommend`, since a type without `Submit` may be meant as a client instead of a journal.
#[diagnostic::do_not_recommend]
impl<J: Journal> Submit for J {
    type Submission<'s, O>
        = Submission<'s>
    where
        J: 's,
        O: 's;

    fn submit<O>(&self, run: Result<RunInfo, RunError>, id: String) -> Submission<'_> {
        Submission(Box::pin(async move {
            let run = run?;
            let submitted = durable::submit(self, &id, &run).await;
            submitted.map_err(|cause| RunError::new(&Plan::new(&*run.plan), cause, Vec::new()))
        }))
    }

    fn keeps_secrets(&self) -> bool {
        true
    }
}

/// A future that records a run in a [`Journal`]. `submit` of a plan and [`Run::submit`](super::Run::submit) return it.
///
/// The plan and its inputs are durable once the future is ready.
#[must_use = "nothing is submitted unless this is awaited"]
pub struct Submission<'a>(Pin<Box<dyn Future<Output = Result<(), RunError>> + Send + 'a>>);

impl Future for Submission<'_> {
    type Output = Result<(), RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission").finish_non_exhaustive()
    }
}

/// Returns the data to submit for a run of a plan with these inputs.
pub(super) fn info_of(
    executable: &Executable<'_>,
    inputs: Result<Vec<StoredValue>, Cause>,
    is_secret: bool,
    to: &impl Submit,
) -> Result<RunInfo, RunError> {
    let inputs = recordable(executable, inputs, is_secret);
    let info = inputs.and_then(|inputs| {
        if inputs.has_secrets && !to.keeps_secrets() {
            return Err(secrets_on_engine());
        }
        let mut info = durable::info(executable.plan, &inputs.values)?;
        info.has_secrets = inputs.has_secrets;
        Ok(info)
    });
    info.map_err(|cause| RunError::new(executable.plan, cause, Vec::new()))
}

/// Submits a run of a plan whose inputs are these. Not for users: `plan!` calls it.
#[doc(hidden)]
pub fn submit<'s, T: Tool, S: Submit>(
    plan: &'static LazyPlan,
    inputs: &T,
    to: &'s S,
    id: String,
) -> S::Submission<'s, T::Output> {
    let executable = Executable::from(plan);
    let inputs = encode(inputs).map_err(Cause::Inputs).map(|mut inputs| {
        let inputs = executable.plan.inputs.iter().map(|input| {
            let value = inputs.get_mut(&input.name).map(serde_json::Value::take);
            StoredValue::json(value.unwrap_or_default())
        });
        inputs.collect()
    });
    let run = info_of(&executable, inputs, false, to);
    to.submit(run, id)
}
