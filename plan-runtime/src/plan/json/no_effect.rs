//! Policies that change nothing.

use super::names::policy as names;
use crate::plan::{Amount, Body, Catch, Optional, Origin, Policy, Role, Step};

impl Step {
    /// Returns the errors that `plan!` reports for settings of the policy without an effect on the step.
    pub fn policy_mistakes(&self) -> impl Iterator<Item = &'static str> {
        let mistakes = meaningless(&self.policy, false, &self.body, self.role, Origin::Written);
        mistakes.into_iter().map(|(_, message)| message)
    }
}

/// Returns the members of a policy that have no effect, with messages in terms of `plan!`. The body of the step, which has this role, may be
/// invalid.
pub(crate) fn meaningless(
    policy: &Policy,
    is_broken: bool,
    body: &Body,
    role: Role,
    origin: Origin,
) -> Vec<(&'static str, &'static str)> {
    let in_role = meaningless_in_role(policy, role);
    if !in_role.is_empty() {
        return in_role;
    }
    let repeats = is_broken
        || match origin {
            Origin::Written => matches!(body, Body::For(_)),
            Origin::Recorded => body.repeats(),
        };
    let loops = is_broken || matches!(body, Body::Loop(_));
    let gives = |amount| policy.gives(amount).is_some();
    let waits_with_attempts =
        matches!(body, Body::Await(_)) && (policy.attempts > 1 || gives(Amount::Attempts));
    let catches = (policy.catch, policy.optional);
    let rules = [
        (
            policy.attempts == 0 && !gives(Amount::Attempts),
            names::ATTEMPTS,
            "a step is tried at least once",
        ),
        (
            waits_with_attempts,
            names::ATTEMPTS,
            "a wait has no attempts",
        ),
        (
            policy.concurrency == Some(0),
            names::CONCURRENCY,
            "at least one element must run at a time",
        ),
        (
            (policy.concurrency.is_some() || gives(Amount::Concurrency)) && !repeats,
            names::CONCURRENCY,
            "`concurrency` is for the elements of a `for`",
        ),
        (
            (policy.at_most.is_some() || gives(Amount::AtMost)) && !loops,
            names::AT_MOST,
            "`at_most` needs a `loop`",
        ),
        (
            (policy.every.is_some() || gives(Amount::Every)) && !loops,
            names::EVERY,
            "`every` needs a `loop`",
        ),
        (
            policy.collect && !loops,
            names::COLLECT,
            "`collect` needs a `loop`: a `for` already returns a list",
        ),
        (
            policy.at_most == Some(0) && !gives(Amount::AtMost),
            names::AT_MOST,
            "a loop has at least one round",
        ),
        (
            policy.optional == Optional::Each && !repeats,
            names::OPTIONAL,
            "`optional` is `each`, which is for the elements of a `for`",
        ),
        (
            policy.catch == Catch::Each && !repeats,
            names::CATCH,
            "`catch` is `each`, which is for the elements of a `for`",
        ),
        (
            catches == (Catch::Whole, Optional::Whole) || catches == (Catch::Each, Optional::Each),
            names::OPTIONAL,
            "`catch` leaves no failure for `optional`",
        ),
        (
            policy.catch == Catch::Whole && policy.fallback.is_some(),
            names::FALLBACK,
            "`catch` leaves no failure for `fallback`",
        ),
    ];
    applying(rules)
}

/// Returns the members of a policy that have no effect on an undo step or an always step.
fn meaningless_in_role(policy: &Policy, role: Role) -> Vec<(&'static str, &'static str)> {
    let (optional, catch, fallback) = match role {
        Role::Work => return Vec::new(),
        Role::Undo(_) => (
            "`optional` has no effect on an undo step",
            "`catch` has no effect on an undo step",
            "`fallback` has no effect on an undo step",
        ),
        Role::Always => (
            "`optional` has no effect on an always step",
            "`catch` has no effect on an always step",
            "`fallback` has no effect on an always step",
        ),
    };
    applying([
        (policy.optional != Optional::No, names::OPTIONAL, optional),
        (policy.catch != Catch::No, names::CATCH, catch),
        (policy.fallback.is_some(), names::FALLBACK, fallback),
    ])
}

/// Returns the members and messages of the rules that apply.
fn applying<const N: usize>(
    rules: [(bool, &'static str, &'static str); N],
) -> Vec<(&'static str, &'static str)> {
    let applying = rules.into_iter().filter(|(applies, ..)| *applies);
    applying
        .map(|(_, member, message)| (member, message))
        .collect()
}
