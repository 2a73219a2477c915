//! Policies that change nothing.

use super::names::policy as names;
use crate::plan::{Catch, Optional, Policy};

/// The members of a policy that change nothing, with what is wrong in the words of `plan!`. `repeats` says whether the step has a `for`.
pub(crate) fn meaningless(policy: &Policy, repeats: bool) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    if policy.attempts == 0 {
        found.push((names::ATTEMPTS, "a step is tried at least once"));
    }
    if policy.concurrency == Some(0) {
        found.push((
            names::CONCURRENCY,
            "at least one element must run at a time",
        ));
    }
    if policy.concurrency.is_some() && !repeats {
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
