//! What a failure means for the other steps.

/// What a run does about the other steps when one fails. In any case the run ends with an error that names all failures.
///
/// A step that is optional or has a fallback does not fail in this sense.
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
    /// Starts nothing more, and lets the calls that run finish.
    ///
    /// It starts no step, no further element of a `for` and no further attempt. A step that waits for its next attempt fails
    /// with the error of the last one.
    #[default]
    Stop,
    /// Still runs every step that does not depend on the failed one.
    Continue,
    /// Starts nothing more, and drops the calls that run. With a journal, a call that has ended is not dropped, so the step completes and is undone.
    Cancel,
}
