//! The amounts of policies that inputs give.

use super::super::StepError;
use super::Schedule;
use crate::plan::{Amount, Policy, Template};
use crate::resolve::{ResolveError, Scope, describe, resolve};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Schedule<'_> {
    /// The policy of a step, with the amounts that it was given when it started.
    pub(super) fn policy(&self, step: usize) -> &Arc<Policy> {
        let given = self.steps.more_of(step);
        let given = given.and_then(|more| more.policy.as_ref());
        given.unwrap_or(&self.plan.steps[step].policy)
    }

    /// Resolves the amounts of a policy that are given when the step starts.
    pub(super) fn take_amounts(&mut self, step: usize) -> Result<(), StepError> {
        let policy = &self.plan.steps[step].policy;
        if policy.given.is_empty() {
            return Ok(());
        }
        let mut resolved = (**policy).clone();
        for (amount, template) in &policy.given {
            let (taken, _) = self.metered(|scope| take(&mut resolved, *amount, template, scope))?;
            taken.map_err(|error| {
                self.hushed(step, StepError::arguments(error.of_part(part(*amount))))
            })?;
        }
        let is_given = |asked| policy.gives(asked).is_some();
        let named = &policy.named;
        let is_asked = |asked| is_given(asked) || named.iter().any(|(amount, _)| *amount == asked);
        if let Some((amount, why)) = resolved.contradiction(is_asked) {
            let error = ResolveError::new(format!("it is {why}")).of_part(part(amount));
            return Err(self.hushed(step, StepError::arguments(error)));
        }
        self.steps.more(step).policy = Some(Arc::new(resolved));
        Ok(())
    }
}

/// What an amount is called in errors.
pub(in crate::run) const fn part(amount: Amount) -> &'static str {
    match amount {
        Amount::Attempts => "its number of attempts",
        Amount::Backoff => "its first wait (`backoff`)",
        Amount::Max => "its longest wait (`max`)",
        Amount::Timeout => "its timeout",
        Amount::Deadline => "its deadline",
        Amount::Concurrency => "its concurrency",
        Amount::AtMost => "its number of rounds (`at_most`)",
        Amount::Every => "the time between its rounds (`every`)",
    }
}

pub(in crate::run) fn take(
    policy: &mut Policy,
    amount: Amount,
    template: &Template,
    scope: &Scope<'_>,
) -> Result<(), ResolveError> {
    let wrong = |why: &str| Err(ResolveError::new(why));
    match amount {
        Amount::Attempts => match resolve(template, scope)? {
            0 => return wrong("it is 0, but a step is tried at least once"),
            attempts => policy.attempts = attempts,
        },
        Amount::Concurrency => match resolve(template, scope)? {
            0 => return wrong("it is 0, but at least one element must run at a time"),
            limit => policy.concurrency = Some(limit),
        },
        Amount::AtMost => match resolve(template, scope)? {
            0 => return wrong("it is 0, but a loop has at least one round"),
            rounds => policy.at_most = Some(rounds),
        },
        Amount::Every => policy.every = Some(time(template, scope)?),
        Amount::Backoff => policy.backoff = time(template, scope)?,
        Amount::Max => policy.max = time(template, scope)?,
        Amount::Timeout | Amount::Deadline => {
            let limit = time(template, scope)?;
            if limit.is_zero() {
                return wrong("it is 0, but no call ends in no time");
            }
            if amount == Amount::Timeout {
                policy.timeout = Some(limit);
            } else {
                policy.deadline = Some(limit);
            }
        }
    }
    Ok(())
}

/// A time: a text for people, or what serde writes of a `Duration`.
fn time(template: &Template, scope: &Scope<'_>) -> Result<Duration, ResolveError> {
    let value: Value = resolve(template, scope)?;
    let time = match &value {
        Value::String(text) => humantime::parse_duration(text).ok(),
        value => Duration::deserialize(value).ok(),
    };
    time.ok_or_else(|| {
        let value = describe::value(&value);
        ResolveError::new(format!(
            "it is {value}, but must be a duration, such as \"200ms\" or \"1m 30s\""
        ))
    })
}
