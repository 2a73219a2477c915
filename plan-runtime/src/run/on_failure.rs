//! The effect of a failure on the other steps.

/// The policy for the other steps when one step fails. With each policy, the run ends with an error that
/// contains all failures.
///
/// The policy does not apply to the failure of a step with `#[optional]`, `#[catch]` or `#[fallback]`.
///
/// ```
/// use plan_runtime::run::OnFailure;
/// # use plan_runtime::{Error, Result, plan, tool};
/// # #[tool] async fn read(disk: u8) -> Result<u8> { if disk > 0 { Ok(disk) } else { Err(Error::msg("no disk")) } }
///
/// let plan = plan! {
///     step broken = Read { disk: 0 };
///     step sound = Read { disk: 1 };
///     step after_sound = Read { disk: sound };
///     (broken, after_sound)
/// };
/// let completed = |on_failure| {
///     let run = plan.run(&()).concurrency(1).on_failure(on_failure);
///     smol::block_on(run.with_report()).1.totals().completed
/// };
/// assert_eq!(completed(OnFailure::Stop), 0);
/// assert_eq!(completed(OnFailure::Continue), 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Starts no more work, and lets running calls finish.
    ///
    /// The run starts no step, no element of a `for` and no attempt. A step that waits for its next attempt fails with the
    /// error of its last attempt.
    #[default]
    Stop,
    /// Runs every step that does not depend on the failed step.
    Continue,
    /// Starts no more work, and drops running calls. With a journal, a call may have ended without a durable record: its step completes, and is then undone.
    Cancel,
}
