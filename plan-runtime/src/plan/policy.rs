//! What a step does about failures and time.

use super::{RustText, Template};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// How a step handles failures and time limits. In a `for`, attempts and time limits apply to each element.
///
/// ```
/// use plan_runtime::plan::Policy;
/// use std::time::Duration;
///
/// let patient = Policy::DEFAULT.attempts(5).timeout(Duration::from_secs(10));
/// assert!(patient.jitter);
/// assert_eq!(patient.attempts, 5);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// The maximum number of attempts of an action. 0 counts as 1.
    ///
    /// Only failures that another attempt may avoid are tried again: transient errors of tools, panics, and attempts that took too long. Arguments are
    /// resolved for each attempt.
    pub attempts: u32,
    /// How long to wait before the second attempt; before each further one, it is twice as long.
    pub backoff: Duration,
    /// How long to wait between two attempts at most, even if the wait was doubled several times.
    pub max: Duration,
    /// Whether to wait for a random part of that time, between none and all of it, so that calls that failed together do not try again together.
    pub jitter: bool,
    /// How long one attempt may take. Its future is dropped then.
    pub timeout: Option<Duration>,
    /// How long all attempts and the waits between them may take.
    pub deadline: Option<Duration>,
    /// Whether null replaces what failed.
    pub optional: Optional,
    /// Whether a failure is a value: the output is a [`Failure`](crate::Failure) in a `Result`.
    pub catch: Catch,
    /// The output of the step if it fails; for a `for`, the whole list.
    pub fallback: Option<Template>,
    /// How many elements of a `for` run concurrently at most; `None` is as many as the run allows.
    pub concurrency: Option<usize>,
    /// How many rounds a loop has at most. One whose condition holds after that many fails.
    pub at_most: Option<u32>,
    /// The time from the start of a round to that of the next.
    pub every: Option<Duration>,
    /// Whether a loop gives the values of all rounds, and not that of the last.
    pub collect: bool,
    /// Amounts that are resolved when the step starts, and replace those above. They read nothing but inputs. A time is a text such as `"1m 30s"`, or what serde
    /// writes of a [`Duration`].
    pub given: Vec<(Amount, Template)>,
    /// The constants that the other amounts are, as written.
    pub(crate) named: Vec<(Amount, RustText)>,
}

/// A number or a time of a [`Policy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Amount {
    /// [`Policy::attempts`]
    Attempts,
    /// [`Policy::backoff`]
    Backoff,
    /// [`Policy::max`]
    Max,
    /// [`Policy::timeout`]
    Timeout,
    /// [`Policy::deadline`]
    Deadline,
    /// [`Policy::concurrency`]
    Concurrency,
    /// [`Policy::at_most`]
    AtMost,
    /// [`Policy::every`]
    Every,
}

impl Amount {
    /// All of them, in the order in which plan JSON has them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Attempts,
        Self::Backoff,
        Self::Max,
        Self::Timeout,
        Self::Deadline,
        Self::Concurrency,
        Self::AtMost,
        Self::Every,
    ];
}

/// Whether null replaces what failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optional {
    /// The failure is the plan's.
    #[default]
    No,
    /// The step's output is null.
    Whole,
    /// The element of a `for` whose call or condition failed is null; of nested ones, the innermost. A list that cannot be resolved
    /// fails the step.
    Each,
}

/// Whether a failure is a value. The output is then `{"Ok": value}` or `{"Err": failure}`, as serde writes a `Result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Catch {
    /// It is not.
    #[default]
    No,
    /// That of the step is.
    Whole,
    /// Those of the elements of a `for` are; of nested ones, of the innermost. A list that cannot be resolved fails the step.
    Each,
}

impl Policy {
    /// One attempt without a time limit, whose failure fails the plan.
    ///
    /// Where only `attempts` differ, the waits start at 100 milliseconds, double up to 30 seconds, and have jitter.
    pub const DEFAULT: Self = Self {
        attempts: 1,
        backoff: plan_graph::BACKOFF,
        max: plan_graph::LONGEST_WAIT,
        jitter: true,
        timeout: None,
        deadline: None,
        optional: Optional::No,
        catch: Catch::No,
        fallback: None,
        concurrency: None,
        at_most: None,
        every: None,
        collect: false,
        given: Vec::new(),
        named: Vec::new(),
    };

    setters! {
        /// Makes at most this many attempts.
        attempts: u32;
        /// Waits for this time before the second attempt.
        backoff: Duration;
        /// Waits no longer than this between two attempts.
        max: Duration;
        /// Waits for a random part of the time, or for all of it.
        jitter: bool;
        /// Limits how long one attempt may take.
        timeout: Duration => Some;
        /// Limits how long all attempts and the waits between them may take.
        deadline: Duration => Some;
        /// Replaces what failed by null.
        optional: Optional;
        /// Makes failures values.
        catch: Catch;
        /// Runs at most this many elements of a `for` concurrently.
        concurrency: usize => Some;
        /// Makes at most this many rounds of a loop.
        at_most: u32 => Some;
        /// Waits until this time has passed since the start of a round before the next starts.
        every: Duration => Some;
        /// Takes the values of all rounds of a loop as the output.
        collect: bool;
    }

    /// Takes this as the output of the step if it fails.
    #[must_use]
    pub fn fallback(mut self, fallback: impl Into<Template>) -> Self {
        self.fallback = Some(fallback.into());
        self
    }

    /// Takes an amount from this template, which reads inputs, when the step starts.
    ///
    /// ```
    /// use plan_runtime::plan::{Amount, Policy, Reference, Source};
    ///
    /// let attempts = Reference::new(Source::Input(0));
    /// let policy = Policy::DEFAULT.given(Amount::Attempts, attempts);
    /// assert_eq!(policy.given[0].0, Amount::Attempts);
    /// ```
    #[must_use]
    pub fn given(mut self, amount: Amount, value: impl Into<Template>) -> Self {
        self.given.retain(|(other, _)| *other != amount);
        self.given.push((amount, value.into()));
        self.given.sort_by_key(|(amount, _)| *amount);
        self
    }

    /// What gives an amount when the step starts.
    pub(crate) fn gives(&self, amount: Amount) -> Option<&Template> {
        let mut given = self.given.iter();
        given.find_map(|(other, value)| (*other == amount).then_some(value))
    }

    /// The amounts that something gives when the step starts, as they are here: numbers, and times as text.
    pub(crate) fn amounts(&self) -> impl Iterator<Item = (Amount, String)> {
        self.given.iter().filter_map(|(amount, _)| {
            let time = |time: Duration| humantime::format_duration(time).to_string();
            let value = match amount {
                Amount::Attempts => self.attempts.to_string(),
                Amount::Backoff => time(self.backoff),
                Amount::Max => time(self.max),
                Amount::Timeout => time(self.timeout?),
                Amount::Deadline => time(self.deadline?),
                Amount::Concurrency => self.concurrency?.to_string(),
                Amount::AtMost => self.at_most?.to_string(),
                Amount::Every => time(self.every?),
            };
            Some((*amount, value))
        })
    }

    /// Raises the longest wait to the first one, where nothing says that it is shorter: who asks for a long first wait does not ask for a
    /// shorter one.
    pub(crate) fn wait_as_long_as_asked(&mut self) {
        let is_named = self.named.iter().any(|(amount, _)| *amount == Amount::Max);
        if !is_named && self.gives(Amount::Max).is_none() && self.max == Self::DEFAULT.max {
            self.max = self.max.max(self.backoff);
        }
    }

    /// What is wrong with two times that do not go together, if `is_asked` holds for one of them, and which says so.
    pub(crate) fn contradiction(
        &self,
        is_asked: impl Fn(Amount) -> bool,
    ) -> Option<(Amount, String)> {
        let time = |time: Duration| humantime::format_duration(time);
        if (is_asked(Amount::Timeout) || is_asked(Amount::Deadline))
            && let (Some(timeout), Some(deadline)) = (self.timeout, self.deadline)
            && timeout > deadline
        {
            let why = format!(
                "{}, but no call can take this long: the `deadline` of all attempts is {}",
                time(timeout),
                time(deadline)
            );
            return Some((Amount::Timeout, why));
        }
        // A first wait is cut to the longest one by default.
        let says_max = is_asked(Amount::Max) || self.max != Self::DEFAULT.max;
        if says_max
            && (is_asked(Amount::Backoff) || is_asked(Amount::Max))
            && self.max < self.backoff
        {
            let why = format!(
                "{}, which is shorter than the first wait, `backoff`: {}",
                time(self.max),
                time(self.backoff)
            );
            return Some((Amount::Max, why));
        }
        None
    }

    /// [`Policy::DEFAULT`] as all steps have it that say nothing about failures and time.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);
        Arc::clone(&SHARED)
    }

    /// Whether nothing differs from [`Policy::DEFAULT`].
    pub(crate) fn is_default(&self) -> bool {
        let Self {
            attempts,
            backoff,
            max,
            jitter,
            timeout: None,
            deadline: None,
            optional: Optional::No,
            catch: Catch::No,
            fallback: None,
            concurrency: None,
            at_most: None,
            every: None,
            collect: false,
            given,
            named: _,
        } = self
        else {
            return false;
        };
        let default = Self::DEFAULT;
        given.is_empty()
            && *attempts == default.attempts
            && *backoff == default.backoff
            && *max == default.max
            && *jitter == default.jitter
    }

    /// The longest wait after the attempt of this number, counted from 1.
    pub(crate) fn wait_after(&self, attempt: u32) -> Duration {
        let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
        self.backoff.saturating_mul(factor).min(self.max)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
