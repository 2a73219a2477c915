//! Document 000: a resolver of serialized arguments and outputs.

use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A whole JSON string with its quotes: the id, and a path of fields.
static REF_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""\$ref:([a-zA-Z0-9_]+)(?:\.([a-zA-Z0-9_.]+))?""#).unwrap());

pub(crate) fn resolve(
    arguments: &str,
    outputs: &BTreeMap<String, String>,
) -> Result<String, String> {
    let (mut resolved, mut at) = (String::new(), 0);
    for reference in REF_PATTERN.captures_iter(arguments) {
        let (place, id) = (reference.get(0).unwrap().range(), &reference[1]);
        let output = outputs
            .get(id)
            .ok_or_else(|| format!("step `{id}` has no output"))?;
        resolved += &arguments[at..place.start];
        resolved += &match reference.get(2) {
            Some(path) => extract_field(id, output, path.as_str())?,
            None => format_output(output),
        };
        at = place.end;
    }
    Ok(resolved + &arguments[at..])
}

pub(crate) fn extract_dependencies(arguments: &str) -> BTreeSet<String> {
    let all = REF_PATTERN.captures_iter(arguments);
    all.map(|reference| reference[1].to_owned()).collect()
}

/// Returns the JSON of the value at a path. A missing field is null.
pub(crate) fn extract_field(id: &str, output: &str, path: &str) -> Result<String, String> {
    let json: Value = serde_json::from_str(output)
        .map_err(|error| format!("the output of step `{id}` is not JSON: {error}"))?;
    let pointer = format!("/{}", path.replace('.', "/"));
    Ok(json.pointer(&pointer).unwrap_or(&Value::Null).to_string())
}

/// Returns valid JSON unchanged, and any other string in quotes.
pub(crate) fn format_output(output: &str) -> String {
    match serde_json::from_str::<Value>(output) {
        Ok(_) => output.to_owned(),
        Err(_) => Value::from(output).to_string(),
    }
}
