//! Policies that change nothing.

use super::names::policy as names;
use crate::plan::{Amount, Body, Catch, Optional, Origin, Policy, Role};

/// Returns the members of a policy that have no effect, with messages in terms of `plan!`. The body of the step, which has this role, may be
/// invalid.
pub(crate) fn meaningless(
    policy: &Policy,
    is_broken: bool,
    body: &Body,
    role: Role,
    origin: Origin,
) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let repeats = is_broken
        || match origin {
            Origin::Written => matches!(body, Body::For(_)),
            Origin::Recorded => body.repeats(),
        };
    let loops = is_broken || matches!(body, Body::Loop(_));
    if role != Role::Work {
        for (is_set, name, undo, always) in [
            (
                policy.optional != Optional::No,
                names::OPTIONAL,
                "`optional` has no effect on an undo step",
                "`optional` has no effect on an always step",
            ),
            (
                policy.catch != Catch::No,
                names::CATCH,
                "`catch` has no effect on an undo step",
                "`catch` has no effect on an always step",
            ),
            (
                policy.fallback.is_some(),
                names::FALLBACK,
                "`fallback` has no effect on an undo step",
                "`fallback` has no effect on an always step",
            ),
        ] {
            if is_set {
                found.push((name, if role == Role::Always { always } else { undo }));
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    if policy.attempts == 0 && policy.gives(Amount::Attempts).is_none() {
        found.push((names::ATTEMPTS, "a step is tried at least once"));
    }
    if matches!(body, Body::Await(_))
        && (policy.attempts > 1 || policy.gives(Amount::Attempts).is_some())
    {
        found.push((names::ATTEMPTS, "a wait has no attempts"));
    }
    if policy.concurrency == Some(0) {
        found.push((
            names::CONCURRENCY,
            "at least one element must run at a time",
        ));
    }
    if (policy.concurrency.is_some() || policy.gives(Amount::Concurrency).is_some()) && !repeats {
        found.push((
            names::CONCURRENCY,
            "`concurrency` is for the elements of a `for`",
        ));
    }
    for (is_set, name, message) in [
        (
            policy.at_most.is_some() || policy.gives(Amount::AtMost).is_some(),
            names::AT_MOST,
            "`at_most` needs a `loop`",
        ),
        (
            policy.every.is_some() || policy.gives(Amount::Every).is_some(),
            names::EVERY,
            "`every` needs a `loop`",
        ),
        (
            policy.collect,
            names::COLLECT,
            "`collect` needs a `loop`: a `for` gives a list already",
        ),
    ] {
        if is_set && !loops {
            found.push((name, message));
        }
    }
    if policy.at_most == Some(0) && policy.gives(Amount::AtMost).is_none() {
        found.push((names::AT_MOST, "a loop has at least one round"));
    }
    if policy.optional == Optional::Each && !repeats {
        found.push((
            names::OPTIONAL,
            "`optional` is `each`, which is for the elements of a `for`",
        ));
    }
    if policy.catch == Catch::Each && !repeats {
        found.push((
            names::CATCH,
            "`catch` is `each`, which is for the elements of a `for`",
        ));
    }
    for (catch, optional) in [
        (Catch::Whole, Optional::Whole),
        (Catch::Each, Optional::Each),
    ] {
        if (policy.catch, policy.optional) == (catch, optional) {
            found.push((names::OPTIONAL, "`catch` leaves no failure for `optional`"));
        }
    }
    if policy.catch == Catch::Whole && policy.fallback.is_some() {
        found.push((names::FALLBACK, "`catch` leaves no failure for `fallback`"));
    }
    found
}
