/// How many tools of a run work at once, where [`Run::concurrency`](super::Run::concurrency) does not say otherwise.
pub const DEFAULT_CONCURRENCY: usize = 64;

/// What a run does about the other steps when one fails. In any case the run ends with an error that names all failures.
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
