//! Checks of bodies against tools in all dialects, with suggestions in the notation of each dialect.

use plan_runtime::dynamic::{Contract, Contracts, Reader};
use serde_json::json;

#[test]
fn bodies_in_dialects() {
    let mail = json!({"type": "object", "properties": {"id": {"type": "string"}, "from": {"type": "string"}}, "required": ["id"], "additionalProperties": false});
    let tools = Contracts::from_iter([
        Contract::new("find").output(mail),
        Contract::new("send").arguments(json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"], "additionalProperties": false})),
    ]);
    for (document, meant) in [
        (
            r#"{"steps": [{"id": "a", "tool": "find", "arguments": {}}, {"id": "b", "block":
            {"steps": [{"id": "c", "tool": "send", "arguments": {"to": "$ref:a.form"}}], "tail": {"tool": "sent", "arguments": {"to": "$ref:a.form"}}}}]}"#,
            "$ref:a.from",
        ),
        (
            r#"{"requestId": "r", "steps": [{"tool": "find", "params": {}}, {"block":
            {"inputs": {"mail": "${step[0].data}"}, "steps": [{"tool": "send", "params": {"to": "${mail.data.form}"}}], "tail": {"tool": "sent", "params": {"to": "${mail.data.form}"}}}}]}"#,
            "${mail.data.from}",
        ),
        (
            r#"[{"id": "a", "tool": "find", "arguments": {}}, {"id": "b", "block":
            {"steps": [{"id": "c", "tool": "send", "arguments": {"to": "{{a.result.form}}"}}], "tail": {"tool": "sent", "arguments": {"to": "{{a.result.form}}"}}}}]"#,
            "{{a.result.from}}",
        ),
    ] {
        let findings = Reader::new().tools(&tools).read(document).unwrap_err();
        let codes: Vec<_> = findings.iter().map(|it| it.code.to_string()).collect();
        assert_eq!(
            codes,
            ["unknown-field", "unknown-tool", "unknown-field"],
            "{findings}"
        );
        let help = format!("did you mean `{meant}`?");
        assert_eq!(findings[0].help.as_deref(), Some(&*help), "{findings}");
        assert_eq!(findings[2].help.as_deref(), Some(&*help), "{findings}");
        let wrong = meant.replace("from", "form");
        assert_eq!(
            &document[findings[0].label.span.clone()].trim_matches('"'),
            &wrong
        );
        assert_eq!(&document[findings[1].label.span.clone()], "\"sent\"");
    }
}
