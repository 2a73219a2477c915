//! Document 001: `${step[0].data…}` in strings, over a cache of results.
//!
//! The document's listing starts a path below `data`, and so fails the document's own unit tests. Here, a path starts at the
//! cached record, as those tests expect.

use regex::{Captures, Regex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static REFERENCE_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{step\[([0-9]+)\]\.([^}]+)\}").unwrap());
static ARRAY_INDEX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([^\[]+)\[([0-9]+)\]$").unwrap());

/// The records of the steps that have ended: `success`, `data`, `error`, `tool`, `params`.
pub(crate) type StepResultCache = BTreeMap<usize, Value>;

pub(crate) fn resolve_references(params: &Value, cache: &StepResultCache) -> Result<Value, String> {
    match params {
        Value::String(text) => resolve_string_references(text, cache).map(Value::from),
        Value::Array(items) => items
            .iter()
            .map(|item| resolve_references(item, cache))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| Ok((name.clone(), resolve_references(value, cache)?)))
            .collect(),
        other => Ok(other.clone()),
    }
}

fn resolve_string_references(text: &str, cache: &StepResultCache) -> Result<String, String> {
    let mut failure = None;
    let resolved = REFERENCE_PATTERN.replace_all(text, |reference: &Captures<'_>| {
        let found = cached(&reference[1], cache).map(|record| {
            let value = get_nested_value(record, &reference[2]);
            value.map_or_else(|| "undefined".to_owned(), |value| to_text(&value))
        });
        found.unwrap_or_else(|error| {
            failure.get_or_insert(error);
            String::new()
        })
    });
    let resolved = resolved.into_owned();
    failure.map_or(Ok(resolved), Err)
}

fn cached<'c>(index: &str, cache: &'c StepResultCache) -> Result<&'c Value, String> {
    let record = index
        .parse()
        .ok()
        .and_then(|index: usize| cache.get(&index));
    let available: Vec<String> = cache.keys().map(ToString::to_string).collect();
    let record = record.ok_or_else(|| {
        let available = available.join(", ");
        format!("Step {index} not found in cache. Available steps: {available}")
    })?;
    let failed = || format!("Step {index} failed: {}", record["error"]);
    (record["success"] == true)
        .then_some(record)
        .ok_or_else(failed)
}

fn get_nested_value(record: &Value, path: &str) -> Option<Value> {
    path.split('.')
        .try_fold(record, |value, key| match ARRAY_INDEX.captures(key) {
            Some(found) => value.get(&found[1])?.get(found[2].parse::<usize>().ok()?),
            None => value.get(key),
        })
        .cloned()
}

/// A value as JavaScript writes it into a string.
fn to_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let text = |item: &Value| {
                if item.is_null() {
                    String::new()
                } else {
                    to_text(item)
                }
            };
            items.iter().map(text).collect::<Vec<_>>().join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
        other => other.to_string(),
    }
}
