//! Tools, their arguments, and literal values of arguments.

use crate::checks::tools;
use plan_runtime::dynamic::Reader;

#[test]
fn what_a_step_gives_whose_call_cannot_be_read() {
    for (wrong, message) in [
        (
            r#""tool": 2.5, "arguments": {"query": "x"}"#,
            "`tool` is `2.5`, but must be a string",
        ),
        (r#""arguments": {"query": "x"}"#, "the step names no `tool`"),
        (
            r#""tool": "search", "arguments": {"query": "x"}, "value": [1]"#,
            "the step has both `tool` and `value`",
        ),
        (r#""for": 5"#, "`for` is `5`, but must be an object"),
    ] {
        let text = format!(
            r#"{{"steps": [{{"id": "found", {wrong}}}, {{"id": "read", "tool": "read_person", "arguments": {{"id": "$ref:found.0.id"}}}}]}}"#
        );
        let findings = Reader::new().tools(&tools()).read(&text).unwrap_err();
        let messages: Vec<&str> = findings.iter().map(|it| &*it.message).collect();
        assert_eq!(messages, [message], "{findings}");
    }
}

#[test]
fn arguments_that_are_not_an_object() {
    let text =
        r#"{"name": "p", "steps": [{"id": "a", "tool": {"name": "search"}, "arguments": []}]}"#;
    let findings = Reader::new().tools(&tools()).read(text).unwrap_err();
    assert_eq!(
        findings[0].message,
        "the arguments are a list of 0 elements, but must be an object"
    );
}
