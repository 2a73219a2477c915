//! The kind of an error of a run, and the error as JSON.

use super::RunErrorKind;
use super::run::{Cause, FailedStep, Interrupt, RunError};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

impl RunError {
    /// Returns the kind of the error.
    ///
    /// ```
    /// use plan_runtime::run::{Limits, RunErrorKind};
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Counts.
    /// #[tool]
    /// async fn count() -> Result<u64> {
    ///     Ok(1)
    /// }
    ///
    /// let plan = plan! { step one = Count {}; one };
    /// let run = plan.run(&()).limits(Limits::DEFAULT.calls(0));
    /// let error = smol::block_on(run).unwrap_err();
    /// assert_eq!(error.kind(), RunErrorKind::Limit);
    /// assert_eq!(serde_json::to_value(&error)?["kind"], "limit");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn kind(&self) -> RunErrorKind {
        match self.cause() {
            Cause::Steps => RunErrorKind::Steps,
            Cause::Interrupted(Interrupt::Deadline(_) | Interrupt::Outer) => RunErrorKind::Deadline,
            Cause::Interrupted(Interrupt::Cancelled) => RunErrorKind::Cancelled,
            Cause::Interrupted(
                Interrupt::Limit(_) | Interrupt::Recorded(_) | Interrupt::Nested(_),
            ) => RunErrorKind::Limit,
            Cause::Interrupted(Interrupt::Journal(_)) | Cause::Journal(_) => RunErrorKind::Journal,
            Cause::Panicked(_) => RunErrorKind::Panic,
            Cause::Output(_) => RunErrorKind::Output,
            Cause::Inputs(_)
            | Cause::Unfit(_)
            | Cause::NoSignals(_)
            | Cause::Plan(_)
            | Cause::Interrupted(Interrupt::Outside(_)) => RunErrorKind::Refused,
        }
    }
}

/// An error as an object with `kind`, `plan`, `message`, `failures`, `undone` and `not_undone`, for programs.
impl Serialize for RunError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("RunError", 6)?;
        error.serialize_field("kind", &self.kind())?;
        error.serialize_field("plan", self.plan())?;
        error.serialize_field("message", &self.to_string())?;
        error.serialize_field("failures", self.failures())?;
        error.serialize_field("undone", &self.undone().collect::<Vec<_>>())?;
        error.serialize_field("not_undone", &self.not_undone().collect::<Vec<_>>())?;
        error.end()
    }
}

/// A failed step as an object with `step`, `element`, `tool`, `code`, `message`, `attempts` and `blocked`.
impl Serialize for FailedStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut failed = serializer.serialize_struct("FailedStep", 7)?;
        failed.serialize_field("step", self.step())?;
        failed.serialize_field("element", self.element())?;
        failed.serialize_field("tool", &self.tool())?;
        failed.serialize_field("code", self.error().code())?;
        failed.serialize_field("message", &self.error().to_string())?;
        failed.serialize_field("attempts", &self.attempts())?;
        failed.serialize_field("blocked", &self.blocked().collect::<Vec<_>>())?;
        failed.end()
    }
}
