/// How many tools of a run work at once, where [`Run::concurrency`](super::Run::concurrency) does not say otherwise.
pub const DEFAULT_CONCURRENCY: usize = 64;

/// What a run does about the other steps when one fails. In any case the run ends with an error that names all failures.
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
    /// Starts no further step, and lets those that run finish.
    #[default]
    Stop,
    /// Still runs every step that does not depend on the failed one.
    Continue,
    /// Starts no further step, and drops those that run.
    Cancel,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) concurrency: usize,
    pub(super) on_failure: OnFailure,
    pub(super) arguments: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: DEFAULT_CONCURRENCY,
            on_failure: OnFailure::default(),
            arguments: false,
        }
    }
}
