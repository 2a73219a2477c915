//! Policies that change nothing.

use super::names::policy as names;
use crate::plan::{Amount, Catch, Optional, Policy, Role};

/// The members of a policy that change nothing, with what is wrong in the words of `plan!`. `repeats` says whether the step, which has this role,
/// has a `for`.
pub(crate) fn meaningless(
    policy: &Policy,
    repeats: bool,
    role: Role,
) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
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
