//! Limits on the calls, the values, the memory and the time of a run.

use crate::Plan;
use crate::plan::Executable;
use std::time::Duration;

/// The limits of a run, which protect memory, time and called services from a plan that needs too much.
///
/// [`DEFAULT`](Self::DEFAULT) applies to plans of `plan!`, and [`UNTRUSTED`](Self::UNTRUSTED) to plans read from JSON or built in Rust. A run
/// shares its limits with all plans inside the run. If a plan inside the run has [its own limits](super::Run::limits), or was read from
/// JSON or built in Rust, both limits apply to this plan.
///
/// If a value or a call would exceed a limit, the run ends, regardless of `#[optional]` and `#[fallback]`. The [error](super::RunErrorKind::Limit) contains the
/// limit, the step and its argument. While a run computes a value, it also checks its deadline,
/// the time limit of the attempt, and its cancellation.
///
/// A size in bytes approximates the memory of a value: an element counts 32, a member counts 64 and its name, an object with members counts
/// 600 more, and a string counts its length. The memory inside tools does not count.
///
/// ```
/// use plan_runtime::run::{Limits, RunErrorKind};
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn read(pages: usize) -> Result<String> { Ok("page".repeat(pages)) }
///
/// let plan = plan! {
///     step text = Read { pages: 300 };
///     step twice: String = format!("{text}{text}");
///     twice.len()
/// };
/// let run = plan.run(&()).limits(Limits::DEFAULT.value(2 << 10));
/// let error = smol::block_on(run).unwrap_err();
/// assert_eq!(error.kind(), RunErrorKind::Limit);
/// assert_eq!(
///     error.to_string(),
///     "plan `plan` was ended: step `twice`: the value would take more than 2 KiB, the run's limit for one value; \
///      read less of it, or raise `run::Limits::value`"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one value: the arguments of a call, a computed value, the list of a `for`, a condition, a fallback, an output of a
    /// tool, the output of the plan. The default is 128 MiB.
    pub value: usize,
    /// Bytes of the arguments of one call. The default is the limit on one value for plans of `plan!`, and 16 MiB for others.
    pub arguments: usize,
    /// Bytes that the run holds at one time. They include outputs with remaining readers, the lists of each `for` and the values
    /// of their elements, the arguments of running calls, and the values stored for the report. They exclude the inputs. The default is 512
    /// MiB.
    pub total: usize,
    /// Calls of tools and of plans. Further attempts of a call do not count. The default is unlimited for plans of `plan!`, and 10,000 for
    /// others.
    pub calls: usize,
    /// Attempts of all calls. The default is unlimited for plans of `plan!`, and 20,000 for others.
    pub attempts: usize,
    /// Elements of all lists that a `for` iterates over, and rounds of all loops, with or without calls. The default is unlimited for plans of
    /// `plan!`, and 100,000 for others.
    pub elements: usize,
    /// The number of nested plans, as steps of the outermost plan. The default is unlimited for plans of `plan!`, and 16 for
    /// others. A run refuses more than 63 plans that share a stack.
    pub depth: usize,
    /// Bytes of all records that the run writes to its [journal](super::Run::durable). The default is unlimited for plans of `plan!`, and 256 MiB for
    /// others. A run that exceeds this limit ends as at a [deadline](super::Run::deadline): its undo steps and always steps run, and may write
    /// the limit's number of bytes again.
    pub recorded: usize,
    /// The longest duration of the run, in addition to its [deadline](super::Run::deadline). The default is unlimited for plans of `plan!`, and
    /// 24 hours for others.
    pub time: Duration,
}

impl Limits {
    /// The default limits of plans of `plan!`: 128 MiB for one value, 512 MiB for all values, and otherwise unlimited.
    pub const DEFAULT: Self = Self {
        value: 128 << 20,
        arguments: 128 << 20,
        total: 512 << 20,
        calls: usize::MAX,
        attempts: usize::MAX,
        elements: usize::MAX,
        depth: usize::MAX,
        recorded: usize::MAX,
        time: Duration::MAX,
    };

    /// The default limits for plans that were not written with `plan!`: the value limits of
    /// [`DEFAULT`](Self::DEFAULT), and limits on the calls, attempts, elements, nesting and time.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use plan_runtime::Error;
    ///
    /// let toolbox = Toolbox::<()>::new().with_fn(Contract::new("ask"), |_| async { Err(Error::msg("try again")) });
    /// let plan = r#"{
    ///     "name": "stubborn",
    ///     "steps": [{
    ///         "id": "answers",
    ///         "for": {"pattern": "x", "list": [1, 2, 3], "body": {"tool": {"name": "ask"}}},
    ///         "policy": {"attempts": 10000, "backoff": "0s"}
    ///     }],
    ///     "output": {"value": null}
    /// }"#;
    /// let plan = toolbox.read(plan)?;
    /// assert_eq!(
    ///     smol::block_on(toolbox.run(&plan, (), &())).unwrap_err().to_string(),
    ///     "plan `stubborn` was ended: step `answers[2]` (ask): the run has made 20000 attempts, its limit; \
    ///      retry less, or raise `run::Limits::attempts`"
    /// );
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub const UNTRUSTED: Self = Self {
        arguments: 16 << 20,
        calls: 10_000,
        attempts: 20_000,
        elements: 100_000,
        depth: 16,
        recorded: 256 << 20,
        time: Duration::from_secs(24 * 60 * 60),
        ..Self::DEFAULT
    };

    setters! {
        /// Limits the bytes of one value.
        value: usize;
        /// Limits the bytes of the arguments of one call.
        arguments: usize;
        /// Limits the bytes that the run holds at one time.
        total: usize;
        /// Limits the calls.
        calls: usize;
        /// Limits the attempts of all calls.
        attempts: usize;
        /// Limits the elements of all lists, with the rounds of all loops.
        elements: usize;
        /// Limits the number of nested plans.
        depth: usize;
        /// Limits the bytes of all records in a journal.
        recorded: usize;
        /// Limits the time of the run.
        time: Duration;
    }

    /// Returns the limits that a plan has by default.
    pub(super) fn of(executable: &Executable<'_>) -> Self {
        if executable.is_source {
            Self::DEFAULT
        } else {
            Self::UNTRUSTED
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The bytes of a call with its attempts, of a block and of a wait, in steps that are more than a single call.
pub(super) const CALL_BYTES: usize = 408;

/// The bytes of a list without its elements.
pub(super) const LIST_BYTES: usize = 128;

/// The bytes of each output in a list.
pub(super) const ELEMENT_BYTES: usize = 32;

/// Returns the bytes of a block or a called plan without its values.
pub(super) fn bytes_of_scope(plan: &Plan) -> usize {
    plan.steps.len().saturating_mul(128).saturating_add(1_720)
}
