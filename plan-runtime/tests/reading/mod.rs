//! All dialects: the finding for each error, and the reading of the rest of the document.

mod action_plans;
mod blueprint_references;
mod documents;
mod extensions;
pub(crate) mod fuzzed;
mod limits;
mod placeholders;
mod plan_json;
mod right;
mod tool_plan_references;
mod unknown;

use plan_runtime::dynamic::{Dialect, Reader};
use serde_json::Value;

fn of(dialect: Dialect) -> Reader<'static> {
    Reader::new().dialect(dialect)
}

/// All findings of a document; if it can be read, the plan and the warnings.
pub(crate) fn said(reader: &Reader, document: &str) -> String {
    match reader.read(document) {
        Ok(document) if document.warnings().is_empty() => document.plan().to_string(),
        Ok(document) => format!("{}\n{}", document.plan(), document.warnings()),
        Err(findings) => findings.to_string(),
    }
}

#[track_caller]
fn say(reader: &Reader, document: fn(&str) -> String, parts: &[(&str, &str)]) {
    for (part, expected) in parts {
        let document = document(part);
        assert_eq!(said(reader, &document), *expected, "of {document}");
    }
}

fn whole(document: &str) -> String {
    document.to_owned()
}

/// The arguments of a step `b` after a step `a`.
fn arguments(json: &str) -> String {
    format!(
        r#"{{"steps": [
  {{"id": "a", "tool": "t"}},
  {{"id": "b", "tool": "t", "arguments": {json}}}
]}}"#
    )
}

/// A string as the argument `x` of that step.
fn tool_plan(text: &str) -> String {
    arguments(&format!(r#"{{"x": {}}}"#, Value::from(text)))
}

fn blueprint(text: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [
  {{"tool": "t", "params": {{}}}},
  {{"tool": "t", "params": {{"x": {}}}}}
]}}"#,
        Value::from(text)
    )
}

fn action_plan(text: &str) -> String {
    format!(
        r#"[
  {{"id": "a", "tool": "t", "arguments": {{}}}},
  {{"id": "b", "tool": "t", "arguments": {{"x": {}}}}}
]"#,
        Value::from(text)
    )
}

/// Members of the second of two steps.
fn blueprint_step(members: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [
  {{"tool": "t"}},
  {{"tool": "t", {members}}}
]}}"#
    )
}
