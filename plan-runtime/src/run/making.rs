//! Values that a run computes from templates: the inputs of blocks, lists, local values and amounts.

use crate::plan::{Amount, Block, Policy, Template, bound_by_let, outcome_of};
use crate::resolve::{
    ResolveError, Scope, StoredValue, describe, look, look_if_there, resolve, share,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::time::Duration;

/// Returns the values from around a block that the block reads, in the order of its inputs. The block shares the values that are handed over.
pub(super) fn inputs_of(
    block: &Block,
    scope: &Scope<'_>,
) -> Result<Vec<StoredValue>, ResolveError> {
    let Some(reads) = block.reads() else {
        let mut inputs: Map<String, Value> = resolve(&block.inputs, scope)?;
        let names = block.plan.inputs.iter();
        let inputs = names.map(|input| inputs.remove(&input.name).unwrap_or_default());
        return Ok(inputs.map(StoredValue::json).collect());
    };
    let reads = reads.into_iter();
    let inputs = reads.map(|(name, template)| share(name, template, scope));
    inputs.collect()
}

/// Resolves the list of a `for`.
pub(super) fn items(
    list: Value,
    template: &crate::plan::Template,
) -> Result<Vec<Value>, ResolveError> {
    match list {
        Value::Array(items) => Ok(items),
        Value::Object(members) => Ok(members
            .into_iter()
            .map(|(key, value)| Value::Array(vec![key.into(), value]))
            .collect()),
        other => Err(ResolveError::new(format!(
            "`for` iterates over a list or an object, but `{}` is {}",
            describe::short(&template.to_string()),
            describe::value(&other)
        ))),
    }
}

/// Returns the value that a `let` binds, if the pattern matches.
pub(super) fn bind(
    pattern: &str,
    value: &Template,
    scope: &Scope<'_>,
) -> Result<Option<Value>, ResolveError> {
    let found = match outcome_of(pattern, value) {
        None => look_if_there(value, scope)?,
        Some(_) => look(value, scope)?,
    };
    let bound = bound_by_let(pattern, value, found).map_err(|found| {
        ResolveError::new(format!(
            "the pattern `{}` needs a `Result`, but found {}",
            describe::short(pattern),
            describe::value(&found)
        ))
    })?;
    // The parts of an owned value are already charged.
    if let Some(Cow::Borrowed(bound)) = &bound {
        scope.charge(bound)?;
    }
    Ok(bound.map(Cow::into_owned))
}

/// Returns the name of an amount in errors.
pub(super) const fn part(amount: Amount) -> &'static str {
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

/// Resolves an amount of a policy.
pub(super) fn take(
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

/// Returns a duration, from a string in the format of `humantime` or from a `Duration` as serde writes it.
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
