//! Reading of documents that are too large.

use plan_runtime::dynamic::{Code, Contracts, DocumentLimits, Reader};
use std::time::Duration;

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
