//! Steps inside a step.

use crate::checks::{read, tools};
use plan_runtime::dynamic::Reader;

/// Returns steps of plan JSON, in which `@` stands for a reference to a step, `#` to an input, and `%` to a local
/// value.
pub(crate) fn plan(steps: &str) -> String {
    let mut document = String::new();
    let mut rest = steps;
    while let Some(at) = rest.find(['@', '#', '%']) {
        let kind = match rest.as_bytes()[at] {
            b'@' => "step",
            b'#' => "input",
            _ => "local",
        };
        let end = rest[at..]
            .find([',', '}', ']', '\n'])
            .map_or(rest.len(), |end| at + end);
        let (name, pointer) = rest[at + 1..end]
            .split_once('/')
            .unwrap_or((&rest[at + 1..end], ""));
        let pointer = if pointer.is_empty() {
            String::new()
        } else {
            format!("/{pointer}")
        };
        let name = if kind == "local" {
            name.to_owned()
        } else {
            format!("\"{name}\"")
        };
        document += &rest[..at];
        document += &format!(r#"{{"reference":{{"{kind}":{name},"pointer":"{pointer}"}}}}"#);
        rest = &rest[end..];
    }
    document += rest;
    format!(
        "{{\"name\": \"p\", \"inputs\": [{{\"name\": \"q\"}}], \"steps\": [\n{document}\n], \"output\": {{\"value\": {{\"reference\": {{\"step\": \"b\", \"pointer\": \"\"}}}}}}}}"
    )
}

const HITS: &str =
    r#"{"id": "hits", "tool": {"name": "search"}, "arguments": {"object": {"query": "x"}}},"#;

/// An input without a type has the type of its use, including a use in a block.
#[test]
fn inputs_without_a_type() {
    let steps = |limit: &str| {
        format!(
            r#"{{"id": "b", "block": {{"steps": [
{{"id": "c", "tool": {{"name": "search"}}, "arguments": {{"object": {{"query": "x", "limit": {limit}}}}}}},
{{"id": "d", "block": {{"steps": [], "tail": {{"tool": {{"name": "search"}}, "arguments": {{"object": {{"query": "x", "limit": #q}}}}}}}}}}
]}}}}"#
        )
    };
    let document = plan(&steps("1"));
    let plan_of = Reader::new()
        .tools(&tools())
        .read(&document)
        .unwrap()
        .into_plan();
    assert_eq!(&*plan_of.inputs[0].type_name, "i64");
}

/// An unreadable part may use any other part.
#[test]
fn what_is_broken_in_a_block_is_one_finding() {
    let broken = format!(
        r#"{HITS}
{{"id": "b", "block": {{"steps": [{{"id": "c", "tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {{"refrence": 1}}, "subject": "x"}}}}}}]}}}}"#
    );
    assert_eq!(read(&plan(&broken)).len(), 1);
}
