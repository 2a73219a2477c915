//! Reading of documents that are too large.

use crate::reading::limited;
use plan_runtime::dynamic::{Code, Contracts, DocumentLimits, Reader};
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
   = help: if the document is right, raise `DocumentLimits::steps`
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
   = help: if the document is right, raise `DocumentLimits::steps`
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
   = help: if the document is right, raise `DocumentLimits::depth`
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
   = help: if the document is right, raise `DocumentLimits::depth`
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
   = help: if the document is right, raise `DocumentLimits::string`
",
    );
    limited(
        |limits| limits.bytes = 6,
        r#"[
  "é"
]"#,
        "error[limit-passed]: the document has 10 bytes, but the limit is 6 bytes
  --> 2:4: the limit is here
   = help: if the document is right, raise `DocumentLimits::bytes`
",
    );
    limited(
        |limits| limits.bytes = 2,
        "xxx",
        "error[limit-passed]: the document has 3 bytes, but the limit is 2 bytes
  --> 1:3: the limit is here
   = help: if the document is right, raise `DocumentLimits::bytes`
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
   = help: if the document is right, raise `DocumentLimits::inputs`
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
   = help: if the document is right, raise `DocumentLimits::inputs`
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
   = help: if the document is right, raise `DocumentLimits::references`
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
   = help: if the document is right, raise `DocumentLimits::references`
",
    );
}

#[test]
fn findings() {
    limited(
        |limits| limits.findings = 1,
        r#"[
  {"id": "a", "tool": "t", "arguments": {"x": "${b.x}"}},
  {"id": "b", "tool": 1},
  {"id": "c", "tool": 2},
  {"id": "d", "tool": 3}
]"#,
        "error[wrong-kind]: the tool of a step is `1`, but must be a string
  --> 3:23 in step `b`
   = help: write it in quotes: `\"1\"`

error[limit-passed]: the document has at least 1 more error and 1 more warning
  --> 6:2
   = help: `DocumentLimits::findings` is 1, errors first; raise it to see more
",
    );
}

/// A document that was read with a limit is checked with it.
#[test]
fn findings_of_a_check() {
    let reader = Reader::new().limits(DocumentLimits::DEFAULT.findings(2));
    let steps: Vec<String> = (0..4)
        .map(|at| format!(r#"{{"id": "s{at}", "tool": "t", "arguments": {{}}}}"#))
        .collect();
    let text = format!("[{}]", steps.join(","));
    let findings = reader.read(&text).unwrap().check(&Contracts::new());
    assert_eq!(findings.len(), 3, "{findings}");
}

#[test]
fn everywhere() {
    for document in [
        r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_k}}", "y": "{{PLACEHOLDER_b}}"}}]"#,
        r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_k}}", "y": "{{PLACEHOLDER_k}} {{PLACEHOLDER_b}} {{PLACEHOLDER_c}}"}}]"#,
    ] {
        let limits = DocumentLimits::DEFAULT.inputs(1);
        let findings = Reader::new().limits(limits).read(document).unwrap_err();
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].message, "the plan has more than 1 input");
        assert_eq!(
            findings[0].help.as_deref(),
            Some("if the document is right, raise `DocumentLimits::inputs`")
        );
        let limits = DocumentLimits::DEFAULT.inputs(3);
        assert!(Reader::new().limits(limits).read(document).is_ok());
    }
    for (document, references) in [
        (
            r#"[{"id": "a", "tool": "t"}, {"id": "b", "tool": "t", "arguments": {"x": "{{a.result}}", "y": "{{a.result}} {{a.result}}"}}]"#,
            3,
        ),
        (
            r#"{"steps": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t", "arguments": {"x": ["$ref:a", "$ref:a.b"]}}]}"#,
            2,
        ),
        (
            r#"{"steps": [{"tool": "t", "params": {}}, {"tool": "t", "params": {"x": "${step[0].data.a}"}}]}"#,
            1,
        ),
        (
            r#"{"name": "p", "steps": [{"id": "a", "tool": {"name": "t"}}, {"id": "b", "value": [{"reference": {"step": "a", "pointer": ""}}, {"reference": {"step": "a", "pointer": ""}}]}],
           "output": {"value": {"reference": {"step": "a", "pointer": ""}}}}"#,
            3,
        ),
    ] {
        let read = |references| {
            let limits = DocumentLimits::DEFAULT.references(references);
            Reader::new().limits(limits).read(document)
        };
        if let Err(findings) = read(references) {
            panic!("{findings}");
        }
        let findings = read(references - 1).unwrap_err();
        assert_eq!(findings.len(), 1, "{findings}");
        assert!(
            findings[0].message.starts_with("the plan has more than "),
            "{findings}"
        );
    }
}

#[test]
fn attempts_and_times() {
    limited(
        |limits| limits.attempts = 3,
        r#"{"steps": [{"tool": "t", "params": {}, "retryCount": 3}]}"#,
        "error[limit-passed]: `retryCount` asks for 4 attempts, but a step may have at most 3
  --> 1:54 in step `step0`
   = help: if the document is right, raise `DocumentLimits::attempts`
",
    );
    limited(
        |limits| limits.time = Duration::from_secs(60),
        r#"{"steps": [{"tool": "t", "params": {}, "timeout": 60001}]}"#,
        "error[limit-passed]: `timeout` is 1m 1ms, but may be at most 1m
  --> 1:51 in step `step0`
   = help: if the document is right, raise `DocumentLimits::time`
",
    );
    for (policy, most) in [
        (r#""attempts": 4"#, 1),
        (r#""attempts": 3"#, 0),
        (r#""backoff": "2m", "max": "3m""#, 2),
        (r#""timeout": "61s""#, 1),
        (r#""deadline": "1h""#, 1),
        (
            r#""backoff": "1m", "max": "1m", "timeout": "60s", "deadline": "60s""#,
            0,
        ),
    ] {
        let document = format!(
            r#"{{"name": "p", "steps": [{{"id": "a", "tool": {{"name": "t"}}, "policy": {{{policy}}}}}], "output": {{"value": null}}}}"#
        );
        let limits = DocumentLimits::DEFAULT
            .attempts(3)
            .time(Duration::from_secs(60));
        let found = Reader::new().limits(limits).read(&document);
        let found = found.map_or_else(|it| it.len(), |_| 0);
        assert_eq!(found, most, "{policy}");
    }
}

#[test]
fn number_of_findings() {
    let steps: Vec<String> = (0..20)
        .map(|it| format!(r#"{{"id": "s{it}", "tool": 5}}"#))
        .collect();
    let document = format!("[{}]", steps.join(","));
    for most in [1, 5, 19] {
        let limits = DocumentLimits::DEFAULT.findings(most);
        let found = Reader::new().limits(limits).read(&document).unwrap_err();
        assert_eq!(found.len(), most + 1, "{found}");
        assert_eq!(found[most].code, Code::LimitPassed, "{found}");
    }
    let limits = DocumentLimits::DEFAULT.findings(20);
    let found = Reader::new().limits(limits).read(&document).unwrap_err();
    assert_eq!(found.len(), 20, "{found}");
}
