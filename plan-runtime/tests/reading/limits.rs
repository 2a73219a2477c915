//! What is read of a document that is too large.

use crate::limited;
use plan_runtime::dynamic::{Contracts, Limits, Reader};
use std::time::Duration;

#[test]
fn limits() {
    limited(
        |limits| limits.steps = 1,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]}"#,
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step exceeds the limit
   = help: if the document is right, raise `Limits::steps`
",
    );
    limited(
        |limits| limits.steps = 1,
        r#"[
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]"#,
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step exceeds the limit
   = help: if the document is right, raise `Limits::steps`
",
    );
    limited(
        |limits| limits.depth = 2,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": [[1]]}}
]}"#,
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:48 in step `b`
   = help: if the document is right, raise `Limits::depth`
",
    );
    limited(
        |limits| limits.depth = 2,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "{\"x\": [[1]]}"}
]}"#,
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:51 in step `b`
   = help: if the document is right, raise `Limits::depth`
",
    );
    limited(
        |limits| limits.string = 4,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "12345"}}
]}"#,
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 3:47 in step `b`
   = help: if the document is right, raise `Limits::string`
",
    );
    limited(
        |limits| limits.bytes = 6,
        r#"[
  "é"
]"#,
        "error[limit-passed]: the document has 10 bytes, and at most 6 are read
  --> 2:4: the limit is here
   = help: if the document is right, raise `Limits::bytes`
",
    );
    limited(
        |limits| limits.bytes = 2,
        "xxx",
        "error[limit-passed]: the document has 3 bytes, and at most 2 are read
  --> 1:3: the limit is here
   = help: if the document is right, raise `Limits::bytes`
",
    );
}

#[test]
fn inputs() {
    limited(
        |limits| limits.inputs = 1,
        r#"[
  {"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_A}}", "y": "{{PLACEHOLDER_A}} {{PLACEHOLDER_B}}"}},
  {"id": "b", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_C}}"}}
]"#,
        "error[limit-passed]: the plan has more than 1 input
  --> 2:94 in step `a`: the first input over the limit
   = help: if the document is right, raise `Limits::inputs`
",
    );
    limited(
        |limits| limits.inputs = 1,
        r#"{"inputs": [
  {"name": "a"},
  {"name": "b"},
  {"name": "c"}
], "plan": [{"id": "s", "tool": "t"}]}"#,
        "error[limit-passed]: the plan has more than 1 input
  --> 3:3: the first input over the limit
   = help: if the document is right, raise `Limits::inputs`
",
    );
}

#[test]
fn references() {
    limited(
        |limits| limits.references = 2,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "$ref:a", "y": ["$ref:a.z"]}},
  {"id": "c", "tool": "t", "arguments": {"x": "$ref:b"}},
  {"id": "d", "tool": "t", "arguments": {"x": "$ref:e"}}
]}"#,
        "error[limit-passed]: the plan has more than 2 references
  --> 4:48 in step `c`: the first reference over the limit
   = help: if the document is right, raise `Limits::references`
",
    );
    limited(
        |limits| limits.references = 1,
        r#"[
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "{{a.result}} and {{a.result}}"}}
]"#,
        "error[limit-passed]: the plan has more than 1 reference
  --> 3:65 in step `b`: the first reference over the limit
   = help: if the document is right, raise `Limits::references`
",
    );
}

#[test]
fn retries() {
    limited(
        |limits| limits.attempts = 3,
        r#"{"requestId": "r", "steps": [
  {"tool": "t", "params": {}, "retryCount": 2},
  {"tool": "t", "params": {}, "retryCount": 3}
]}"#,
        "error[limit-passed]: `retryCount` asks for 4 attempts, but a step may have at most 3
  --> 3:45 in step `step1`
   = help: if the document is right, raise `Limits::attempts`
",
    );
}

#[test]
fn times() {
    limited(
        |limits| limits.time = Duration::from_secs(1),
        r#"{"requestId": "r", "steps": [
  {"tool": "t", "params": {}, "timeout": 1000},
  {"tool": "t", "params": {}, "timeout": 1001}
]}"#,
        "error[limit-passed]: `timeout` is 1s 1ms, but may be at most 1s
  --> 3:42 in step `step1`
   = help: if the document is right, raise `Limits::time`
",
    );
}

#[test]
fn findings() {
    limited(
        |limits| limits.findings = 1,
        r#"[
  {"id": "a", "tool": "t", "z": 1},
  {"id": "b", "tool": 1},
  {"id": "c", "tool": 2},
  {"id": "d", "tool": 3}
]"#,
        "error[wrong-kind]: the tool of a step is `1`, but must be a string
  --> 3:23 in step `b`

error[limit-passed]: the document has at least 1 more error and 1 more warning
  --> 6:2
   = help: `Limits::findings` is 1, errors first; raise it to see more
",
    );
}

/// A document that was read with a limit is checked with it.
#[test]
fn findings_of_a_check() {
    let reader = Reader::new().limits(Limits::DEFAULT.findings(2));
    let steps: Vec<String> = (0..4)
        .map(|at| format!(r#"{{"id": "s{at}", "tool": "t", "arguments": {{}}}}"#))
        .collect();
    let text = format!("[{}]", steps.join(","));
    let findings = reader.read(&text).unwrap().check(&Contracts::new());
    assert_eq!(findings.len(), 3, "{findings}");
}
