//! References, conditions, arguments and times as other systems have them: each has one finding, whose help is right.

use crate::checks::read_with;
use plan_runtime::dynamic::{Code, Contract, Contracts, Findings};
use serde_json::json;

fn read(text: &str) -> Findings {
    let string = json!({"type": "string"});
    let found = json!({
        "type": "object",
        "properties": {"id": string, "size": {"type": "integer"}},
        "required": ["id", "size"],
        "additionalProperties": false,
    });
    let takes = json!({"type": "object", "properties": {"id": string}, "required": ["id"]});
    let tools: Contracts = [
        Contract::new("find").output(found),
        Contract::new("call").arguments(takes).output(string),
    ]
    .into_iter()
    .collect();
    read_with(&tools, text)
}

/// A tool plan whose last step is `b`.
fn tool(step: &str) -> String {
    let find = r#"{"id": "a", "tool": "find", "arguments": {}}"#;
    format!(r#"{{"steps": [{find}, {step}], "output_steps": ["a", "b"]}}"#)
}

#[test]
fn references() {
    let action = |value: &str| {
        let text = r#"[{"id": "l", "tool": "find", "arguments": {}},
{"id": "b", "tool": "call", "arguments": {"id": "VALUE"}}]"#;
        text.replace("VALUE", value)
    };
    let right = "{{l.result.id}}";
    for (value, meant) in [
        ("${{l.result.id}}", right),
        ("$steps.l.outputs.id", right),
        ("{{l.output.id}}", right),
        ("{{steps.l.result.id}}", right),
        ("{{steps.l.outputs.id}}", right),
        ("{{inputs.q}}", "{{PLACEHOLDER_q}}"),
        ("{{placeholder_q}}", "{{PLACEHOLDER_q}}"),
    ] {
        let findings = read(&action(value));
        let errors: Vec<_> = findings.errors().collect();
        assert_eq!(errors.len(), 1, "{value} {findings}");
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert!(
            help.contains(&format!("did you mean `{meant}`?")),
            "{value} {findings}"
        );
        assert_eq!(read(&action(meant)).to_string(), "", "{value}");
    }
}

#[test]
fn a_condition_as_text() {
    let condition = |value: &str| {
        tool(&format!(
            r#"{{"id": "b", "if": [{{"condition": {value}, "then": {{"value": 1}}}}]}}"#
        ))
    };
    let findings = read(&condition(r#""$ref:a.size > 3""#));
    assert_eq!(findings.len(), 1, "{findings}");
    let help = findings[0].help.as_deref().unwrap_or_default();
    assert_eq!(
        help,
        r#"a condition is a test, such as `{"compare": […, ">", …]}`"#
    );
    let right = r#"{"compare": ["$ref:a.size", ">", 3]}"#;
    assert_eq!(read(&condition(right)).to_string(), "");
}

#[test]
fn arguments() {
    let blueprint = r#"{"requestId": "r", "steps": [{"tool": "call", "parameters": {"id": "x"}}]}"#;
    for (text, name) in [
        (
            tool(r#"{"id": "b", "tool": "call", "parameters": {"id": "x"}}"#),
            "arguments",
        ),
        (blueprint.to_owned(), "params"),
    ] {
        let findings = read(&text);
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].code, Code::UnknownMember, "{findings}");
        let help = findings[0].help.as_deref().unwrap_or_default();
        assert_eq!(help, format!("did you mean `{name}`?"), "{findings}");
        assert_eq!(read(&text.replace("parameters", name)).to_string(), "");
    }
    let own = |arguments: &str| {
        format!(
            r#"{{"name": "p", "inputs": [], "steps": [{{"id": "b", "tool": {{"name": "find"}}, {arguments}}}], "output": {{"value": null}}}}"#
        )
    };
    let findings = read(&own(r#""params": {}"#));
    assert_eq!(findings.len(), 1, "{findings}");
    assert_eq!(findings[0].message, "unknown member `params` in a step");
    assert_eq!(read(&own(r#""arguments": {"object": {}}"#)).to_string(), "");
}

#[test]
fn times_without_a_use() {
    for (wrong, message, right) in [
        (
            r#""timeout": "10s", "deadline": "5s""#,
            "`timeout` is longer than `deadline`, so the deadline ends the step first",
            r#""timeout": "5s", "deadline": "10s""#,
        ),
        (
            r#""backoff": "10s", "max": "1s""#,
            "the longest wait between attempts is shorter than `backoff`, the first one",
            r#""backoff": "1s", "max": "10s""#,
        ),
    ] {
        let read = |policy: &str| {
            read(&tool(&format!(
                r#"{{"id": "b", "tool": "call", "arguments": {{"id": "y"}}, "policy": {{"attempts": 3, {policy}}}}}"#
            )))
        };
        let findings = read(wrong);
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].code, Code::NotAllowed);
        assert_eq!(findings[0].message, message);
        assert_eq!(read(right).to_string(), "");
    }
}
