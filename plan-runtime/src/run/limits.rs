//! Limits on the memory of a run.

/// How much a run makes and holds before something in it fails, so that no plan uses up the memory.
///
/// The limits are about the values that steps read and give. The bytes are about what a value takes in memory: an element counts 32, a
/// member 64 and its name, an object that has members 600 more, and a text its length. What tools do with their own memory is not
/// counted.
///
/// What would exceed a limit is not made: its step fails, with an error that names the argument and the limit. While a value is made, the
/// run also looks whether its deadline, or that of the attempt, is over, and whether it was cancelled.
///
/// ```
/// use plan_runtime::run::Limits;
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn read(pages: usize) -> Result<String> { Ok("page".repeat(pages)) }
///
/// let plan = plan! {
///     step text = Read { pages: 300 };
///     step twice: String = format!("{text}{text}");
///     twice.len()
/// };
/// let run = plan.run(&()).limits(Limits::DEFAULT.value(2 << 10));
/// assert_eq!(
///     smol::block_on(run).unwrap_err().to_string(),
///     "plan `plan` failed: step `twice`: the value would take more than 2 KiB, the run's limit for one value; \
///      read less of it, or raise `run::Limits::value`"
/// );
/// ```
///
/// A plan that runs as a step of another has the same limits, and counts what it holds by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one value: the arguments of a call, a computed value, the list of a `for`, a condition, a fallback, an output of a
    /// tool, the output of the plan. By default 128 MiB.
    pub value: usize,
    /// Bytes of all that the run holds at one time: the outputs that are still to be read, the lists of each `for` with what their elements
    /// gave, the arguments of the calls that run, and what is kept for the report. The inputs are not counted. By default 512 MiB.
    pub total: usize,
}

impl Limits {
    /// 128 MiB for one value, and 512 MiB for all.
    pub const DEFAULT: Self = Self {
        value: 128 << 20,
        total: 512 << 20,
    };

    setters! {
        /// Limits the bytes of one value.
        value: usize;
        /// Limits the bytes of all that the run holds at one time.
        total: usize;
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
