//! Policies that `plan!` refuses.

use plan_runtime::plan::{Action, Amount, Body, Optional, Policy, Step, Template};
use std::time::Duration;

/// Returns the parts of a policy that have no effect, and that `plan!` refuses for this reason.
pub(super) fn pointless(step: &Step) -> Vec<&'static str> {
    let (policy, body) = (&*step.policy, &step.body);
    let default = Policy::DEFAULT;
    let is_computed = matches!(body, Body::Action(Action { tool: None, .. }));
    let has_waits = (policy.backoff, policy.max, policy.jitter)
        != (default.backoff, default.max, default.jitter);
    let has_limits = policy.timeout.is_some() || policy.deadline.is_some();
    let of_tries = [
        Amount::Attempts,
        Amount::Backoff,
        Amount::Max,
        Amount::Timeout,
        Amount::Deadline,
    ];
    let gives_tries = of_tries.iter().any(|it| given(policy, *it).is_some());
    let is_longer = |(timeout, deadline)| timeout > deadline;
    // `plan!` does not check the waits of more attempts than these.
    let retries = 1..policy.attempts.min(1001);
    let waits = || {
        retries.clone().fold(Duration::ZERO, |sum, n| {
            sum.saturating_add(wait_after(policy, n))
        })
    };
    let is_out_of_time =
        |deadline| !policy.jitter && policy.attempts <= 1000 && waits() >= deadline;
    let pointless = [
        (
            policy.attempts <= 1 && has_waits && given(policy, Amount::Attempts).is_none(),
            "how long to wait before another attempt, with one attempt",
        ),
        (
            policy.max != default.max && policy.max < policy.backoff,
            "a longest wait that is shorter than the first one",
        ),
        (
            policy.timeout.zip(policy.deadline).is_some_and(is_longer),
            "a time limit that is longer than the deadline of all attempts",
        ),
        (
            policy.attempts > 1 && policy.deadline.is_some_and(is_out_of_time),
            "attempts that the deadline leaves no time for",
        ),
        (
            is_computed && (policy.attempts > 1 || has_limits || gives_tries),
            "attempts or time limits of a computed value",
        ),
        (
            policy.fallback.is_some() && policy.optional == Optional::Whole,
            "that it is optional, beside a fallback",
        ),
    ];
    let pointless = pointless.into_iter().filter(|(is_said, _)| *is_said);
    let all = pointless.map(|(_, what)| what);
    all.chain(step.policy_mistakes()).collect()
}

/// Returns the template of an amount that is resolved at the start of the step.
pub(super) fn given(policy: &Policy, amount: Amount) -> Option<&Template> {
    let mut given = policy.given.iter();
    given.find_map(|(other, value)| (*other == amount).then_some(value))
}

/// Returns the longest wait after the attempt with this number, counted from 1.
fn wait_after(policy: &Policy, attempt: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempt.saturating_sub(1));
    policy.backoff.saturating_mul(factor).min(policy.max)
}
