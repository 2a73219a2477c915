//! The record of a call: its key, and the meaning of its body.

use plan_runtime::run::CallContext;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::Write;

/// Returns the key of a call's record. `None` if the path of the call is not as expected.
pub(crate) fn key_of(context: &CallContext) -> Option<String> {
    let path = context.idempotency_key();
    let mut element = String::new();
    for index in context.element() {
        let _ = write!(element, "[{index}]");
    }
    // The path of a call has the counts of undone steps and the number of the action, and its key has the attempt.
    let path = path.strip_suffix(&element)?;
    let path = without_number(without_number(path, '/'), '~');
    let (before, step) = split_name(path, context.step())?;
    let key = format!("{step}{element}@{}", context.attempt());
    let Some(outer) = context.outer() else {
        return (before.strip_suffix('/')? == context.run_id()).then_some(key);
    };
    let before = before.strip_suffix('.')?;
    let beside = beside(before, context.plan()).unwrap_or_default();
    Some(format!("{}{beside}.{key}", key_of(outer)?))
}

/// Removes a number with this character before it.
fn without_number(path: &str, mark: char) -> &str {
    match path.trim_end_matches(|c: char| c.is_ascii_digit()) {
        without if without.len() < path.len() => without.strip_suffix(mark).unwrap_or(path),
        _ => path,
    }
}

/// Splits a name off the end of a path. A name that is no word is in quotes.
fn split_name<'p>(path: &'p str, name: &str) -> Option<(&'p str, &'p str)> {
    let quoted = serde_json::to_string(name).ok()?;
    let before = path
        .strip_suffix(&*quoted)
        .or_else(|| path.strip_suffix(name))?;
    Some(path.split_at(before.len()))
}

/// Returns the name of a plan that a tool runs inside its call, such as `#book-0123456789abcdef.1`, from the end of a path.
fn beside<'p>(path: &'p str, plan: &str) -> Option<&'p str> {
    let (before, count) = path.rsplit_once('.')?;
    if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (before, hash) = before.rsplit_once('-')?;
    if hash.len() != 16 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let (before, _) = split_name(before, plan)?;
    let before = before.strip_suffix('#')?;
    Some(&path[before.len()..])
}

/// Returns `true` for the record of a call that has an output.
pub(crate) fn is_output(body: &str) -> bool {
    let members: Result<HashMap<String, &RawValue>, _> = serde_json::from_str(body);
    members.is_ok_and(|members| members.contains_key("value") && !members.contains_key("error"))
}
