//! Document 002: `{{step.result…}}` in the JSON of arguments, and the other functions of the document.

use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{\{([^}]+)\}\}").unwrap());
static ARRAY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([0-9A-Za-z_]+)\[([0-9]+)\]$").unwrap());
static DEPENDENCY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{([0-9A-Za-z_]+)\.").unwrap());
static OF_USER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{PLACEHOLDER_([0-9A-Za-z_]+)\}\}").unwrap());

/// Replaces placeholders in the JSON of a value, and parses the result. Steps are `{"stepId", "status", "result"}`.
pub(crate) fn resolve(value: &Value, executed_steps: &[Value]) -> Result<Value, String> {
    let json = value.to_string();
    let (mut resolved, mut at) = (String::new(), 0);
    for found in PLACEHOLDER.captures_iter(&json) {
        if found[1].starts_with("PLACEHOLDER_") {
            continue;
        }
        let place = found.get(0).unwrap().range();
        resolved += &json[at..place.start];
        resolved += &match resolve_path(&found[1], executed_steps)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        at = place.end;
    }
    serde_json::from_str(&(resolved + &json[at..])).map_err(|error| error.to_string())
}

fn resolve_path(path: &str, executed_steps: &[Value]) -> Result<Value, String> {
    let mut parts = path.split('.');
    let id = parts.next().unwrap_or_default();
    let mut steps = executed_steps.iter();
    let step = steps
        .find(|step| step["stepId"] == id)
        .ok_or_else(|| format!("Step not found: {id}"))?;
    if step["status"] != "completed" {
        return Err(format!("Step {id} not completed yet"));
    }
    let found = parts.try_fold(step, access_property);
    found
        .cloned()
        .ok_or_else(|| format!("Path not found: {path}"))
}

fn access_property<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match ARRAY.captures(key) {
        Some(found) => value.get(&found[1])?.get(found[2].parse::<usize>().ok()?),
        None => value.get(key),
    }
}

pub(crate) fn find_dependencies(step: &Value) -> BTreeSet<String> {
    let arguments = step["arguments"].to_string();
    let found = DEPENDENCY.captures_iter(&arguments);
    found.map(|found| found[1].to_owned()).collect()
}

pub(crate) fn get_execution_levels(plan: &[Value]) -> Result<Vec<Vec<String>>, String> {
    let id = |step: &Value| step["id"].as_str().unwrap_or_default().to_owned();
    let mut left: Vec<(String, BTreeSet<String>)> = plan
        .iter()
        .map(|step| (id(step), find_dependencies(step)))
        .collect();
    let (mut levels, mut completed) = (Vec::new(), BTreeSet::new());
    while !left.is_empty() {
        let is_ready = |needs: &BTreeSet<String>| needs.is_subset(&completed);
        let (ready, waiting): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, needs)| is_ready(needs));
        if ready.is_empty() {
            return Err("Circular dependency detected".to_owned());
        }
        let ready: Vec<String> = ready.into_iter().map(|(id, _)| id).collect();
        completed.extend(ready.iter().cloned());
        levels.push(ready);
        left = waiting;
    }
    Ok(levels)
}

/// Returns the names in the order of their first occurrences.
pub(crate) fn find_user_placeholders(plan: &Value) -> Vec<String> {
    let (json, mut names) = (plan.to_string(), Vec::new());
    for found in OF_USER.captures_iter(&json) {
        if !names.contains(&found[1].to_owned()) {
            names.push(found[1].to_owned());
        }
    }
    names
}
