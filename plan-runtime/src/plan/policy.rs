//! The policy of a step for failures and time limits.

use super::{RustText, Template};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The policy of a step for failures and time limits. In a `for`, attempts and time limits apply to each element.
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
    /// The wait before the second attempt. The wait doubles before each further attempt.
    pub backoff: Duration,
    /// The longest wait between two attempts, after any number of doublings.
    pub max: Duration,
    /// `true` to randomize each wait, between zero and its full time, so that calls that failed together do not start again together.
    pub jitter: bool,
    /// The time limit of one attempt, whose future is dropped after it.
    pub timeout: Option<Duration>,
    /// The time limit of all attempts, including the waits between them.
    pub deadline: Option<Duration>,
    /// The failures that null replaces.
    pub optional: Optional,
    /// The failures that are values: the output is a [`Failure`](crate::Failure) in a `Result`.
    pub catch: Catch,
    /// The output of the step if it fails; for a `for`, the whole list.
    pub fallback: Option<Template>,
    /// The largest number of concurrent elements of a `for`, or `None` for as many as the run allows.
    pub concurrency: Option<usize>,
    /// The largest number of rounds of a loop. A loop fails if its condition still holds after that many rounds.
    pub at_most: Option<u32>,
    /// The least time between the starts of two rounds.
    pub every: Option<Duration>,
    /// `true` if the output of a loop is the list of the values of all rounds, instead of the value of the last round.
    pub collect: bool,
    /// Amounts that are resolved at the start of the step, and that replace the fields above. Their templates read only inputs. A time is a string
    /// such as `"1m 30s"`, or a [`Duration`] as serde writes it.
    pub given: Vec<(Amount, Template)>,
    /// The amounts that the author wrote as constants, with the notation of each constant.
    pub(crate) named: Vec<(Amount, RustText)>,
}

objects! {
    /// The members of a policy in plan JSON.
    names {
        ATTEMPTS = "attempts",
        BACKOFF = "backoff",
        MAX = "max",
        JITTER = "jitter",
        TIMEOUT = "timeout",
        DEADLINE = "deadline",
        OPTIONAL = "optional",
        CATCH = "catch",
        FALLBACK = "fallback",
        CONCURRENCY = "concurrency",
        AT_MOST = "at_most",
        EVERY = "every",
        COLLECT = "collect",
    }
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
    /// All amounts, in the order of plan JSON.
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

    /// Returns the name of the member in plan JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Attempts => names::ATTEMPTS,
            Self::Backoff => names::BACKOFF,
            Self::Max => names::MAX,
            Self::Timeout => names::TIMEOUT,
            Self::Deadline => names::DEADLINE,
            Self::Concurrency => names::CONCURRENCY,
            Self::AtMost => names::AT_MOST,
            Self::Every => names::EVERY,
        }
    }
}

/// The failures that null replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optional {
    /// A failure of the step fails the plan.
    #[default]
    No,
    /// The step's output is null.
    Whole,
    /// The elements of a `for` whose call or condition failed. In a `for` inside a `for`, the elements of the inner `for`. A list that cannot
    /// be resolved fails the step.
    Each,
}

/// The failures that are values. The output is then `{"Ok": value}` or `{"Err": failure}`, as serde writes a `Result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Catch {
    /// No failure.
    #[default]
    No,
    /// The failure of the step.
    Whole,
    /// The failures of the elements of a `for`. In a `for` inside a `for`, the failures of the elements of the inner `for`. A list that cannot be
    /// resolved fails the step.
    Each,
}

impl Policy {
    /// A policy of one attempt without a time limit, whose failure fails the plan.
    ///
    /// With more `attempts`, the waits start at 100 milliseconds, double up to 30 seconds, and have jitter.
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
        /// Sets the jitter: with `true`, each wait takes a random part of its time.
        jitter: bool;
        /// Limits the time of one attempt.
        timeout: Duration => Some;
        /// Limits the time of all attempts, including the waits between them.
        deadline: Duration => Some;
        /// Sets the failures that null replaces.
        optional: Optional;
        /// Sets the failures that become values.
        catch: Catch;
        /// Runs at most this many elements of a `for` concurrently.
        concurrency: usize => Some;
        /// Makes at most this many rounds of a loop.
        at_most: u32 => Some;
        /// Sets the least time between the starts of two rounds.
        every: Duration => Some;
        /// Takes the values of all rounds of a loop as the output.
        collect: bool;
    }

    /// Sets the output of the step for a failure.
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

    /// Returns the template of an amount that is resolved at the start of the step.
    pub(crate) fn gives(&self, amount: Amount) -> Option<&Template> {
        let mut given = self.given.iter();
        given.find_map(|(other, value)| (*other == amount).then_some(value))
    }

    /// Returns the amounts with templates, with their values from the fields of this policy. A time is a string.
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

    /// Raises the longest wait to the first wait, unless the plan sets the longest wait: an author who asks for a long first wait does
    /// not ask for a shorter one.
    pub(crate) fn wait_as_long_as_asked(&mut self) {
        let is_named = self.named.iter().any(|(amount, _)| *amount == Amount::Max);
        if !is_named && self.gives(Amount::Max).is_none() && self.max == Self::DEFAULT.max {
            self.max = self.max.max(self.backoff);
        }
    }

    /// Returns the error for two times that contradict each other, with the amount to blame, if `is_asked` returns
    /// `true` for one of the two.
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

    /// Returns the shared [`Policy::DEFAULT`] of all steps without a policy.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: LazyLock<Arc<Policy>> = LazyLock::new(Arc::default);
        Arc::clone(&SHARED)
    }

    /// Returns `true` for a policy that equals [`Policy::DEFAULT`].
    pub(crate) fn is_default(&self) -> bool {
        self.given.is_empty() && self.members().iter().all(|(_, is_set)| !is_set)
    }

    /// Returns the members in plan JSON, each with `true` if the field differs from [`Policy::DEFAULT`].
    pub(crate) fn members(&self) -> [(&'static str, bool); names::ALL.len()] {
        let Self {
            attempts,
            backoff,
            max,
            jitter,
            timeout,
            deadline,
            optional,
            catch,
            fallback,
            concurrency,
            at_most,
            every,
            collect,
            given: _,
            named: _,
        } = self;
        let default = Self::DEFAULT;
        [
            (names::ATTEMPTS, *attempts != default.attempts),
            (names::BACKOFF, *backoff != default.backoff),
            (names::MAX, *max != default.max),
            (names::JITTER, *jitter != default.jitter),
            (names::TIMEOUT, timeout.is_some()),
            (names::DEADLINE, deadline.is_some()),
            (names::OPTIONAL, *optional != Optional::No),
            (names::CATCH, *catch != Catch::No),
            (names::FALLBACK, fallback.is_some()),
            (names::CONCURRENCY, concurrency.is_some()),
            (names::AT_MOST, at_most.is_some()),
            (names::EVERY, every.is_some()),
            (names::COLLECT, *collect),
        ]
    }

    /// Returns the longest wait after the attempt with this number, counted from 1.
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
