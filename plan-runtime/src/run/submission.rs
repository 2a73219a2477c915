//! A run that is described to a journal, for whoever serves it.

use super::durable;
use super::recordable;
use crate::Tool;
use crate::error::{Cause, RunError};
use crate::journal::Journal;
use crate::plan::{Executable, LazyPlan, Plan};
use crate::resolve::{StoredValue, encode};
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A run that is recorded once this is awaited: what `submit` of a plan and [`Run::submit`](super::Run::submit) return.
///
/// The plan and its inputs are durable once it is ready. It blocks the thread until then, some milliseconds.
#[must_use = "nothing is submitted unless this is awaited"]
pub struct Submission<'a> {
    plan: &'a Plan,
    /// Nothing once it has ended.
    inputs: Option<Result<Vec<Value>, Cause>>,
    journal: &'a dyn Journal,
    id: String,
}

impl<'a> Submission<'a> {
    /// A run of a plan with these inputs.
    pub(super) fn new(
        executable: &Executable<'a>,
        inputs: Result<Vec<StoredValue>, Cause>,
        is_secret: bool,
        journal: &'a dyn Journal,
        id: String,
    ) -> Self {
        Self {
            plan: executable.plan,
            inputs: Some(recordable(executable, inputs, is_secret)),
            journal,
            id,
        }
    }
}

impl Future for Submission<'_> {
    type Output = Result<(), RunError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let inputs = this.inputs.take();
        let inputs = inputs.expect("a submission was polled after it had ended");
        let submitted =
            inputs.and_then(|inputs| durable::submit(this.journal, &this.id, this.plan, &inputs));
        Poll::Ready(submitted.map_err(|cause| RunError::new(this.plan, cause, Vec::new())))
    }
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submission")
            .field("plan", &self.plan.name)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Submits a run of a plan whose inputs are these. Not for users: `plan!` calls it.
#[doc(hidden)]
pub fn submit<'a, T: Tool>(
    plan: &'static LazyPlan,
    inputs: &T,
    journal: &'a dyn Journal,
    id: String,
) -> Submission<'a> {
    let executable = Executable::from(plan);
    let inputs = encode(inputs).map_err(Cause::Inputs).map(|mut inputs| {
        let inputs = executable.plan.inputs.iter().map(|input| {
            let value = inputs.get_mut(&input.name).map(Value::take);
            StoredValue::json(value.unwrap_or_default())
        });
        inputs.collect()
    });
    Submission::new(&executable, inputs, false, journal, id)
}
