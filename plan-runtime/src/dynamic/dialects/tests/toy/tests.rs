//! Job lists are recognized, read, checked and run, and all messages about them have their notation.

use crate::dynamic::{Code, Contract, Dialect, Finding, Profile, Reader, Toolbox};
use serde_json::{Value, json};

const STEPS: &str = r#"{"id": "mail", "tool": "find", "payload": {"name": "Sarah"}}"#;

fn toolbox() -> Toolbox<()> {
    let text = json!({"type": "string"});
    let mail = json!({"type": "object", "properties": {"from": text, "cc": text}, "required": ["from"], "additionalProperties": false});
    let find = Contract::new("find").read_only().output(mail);
    let taken = json!({"type": "object", "properties": {"to": text}, "required": ["to"]});
    let send = Contract::new("send").arguments(taken).output(text);
    Toolbox::new()
        .with_fn(find, async |_| Ok(json!({"from": "sarah@x"})))
        .with_fn(send, async |taken| Ok(taken["to"].clone()))
}

/// Returns a job list whose second step has these members.
fn jobs(members: &str) -> String {
    format!(r#"{{"jobs": [{STEPS}, {{"id": "sent", "tool": "send", {members}}}]}}"#)
}

/// Returns the only finding of a document, with the characters at its position.
fn found(text: &str) -> (Finding, String) {
    let toolbox = toolbox();
    let findings = match toolbox.read(text) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    };
    assert_eq!(findings.len(), 1, "{findings}");
    let finding = findings[0].clone();
    let place = text[finding.label.span.clone()].to_owned();
    (finding, place)
}

fn ran(text: &str) -> Value {
    let toolbox = toolbox();
    let document = toolbox.read(text).unwrap();
    assert_eq!(document.dialect(), Dialect::JobList);
    assert!(document.warnings().is_empty(), "{}", document.warnings());
    smol::block_on(toolbox.run(&document, json!({}), &())).unwrap()
}

#[test]
fn it_is_recognized_and_runs() {
    let text =
        jobs(r#""payload": {"to": "for <<mail.from>>, not <<\"<<x>>\">>"}, "follows": ["mail"]"#);
    assert_eq!(Reader::new().recognize(&text), Some(Dialect::JobList));
    assert_eq!(ran(&text)["sent"], "for sarah@x, not <<x>>");
    let text = jobs(r#""payload": {"to": "<<mail.from>>"}, "policy": {"attempts": 2}"#);
    assert_eq!(ran(&text)["sent"], "sarah@x");
}

#[test]
fn its_findings_have_its_notation() {
    for (members, code, place, help) in [
        (
            r#""payload": {"to": "<<mail.form>>"}"#,
            Code::UnknownField,
            r#"<<mail.form>>"#,
            "<<mail.from>>",
        ),
        (
            r#""payload": {"to": "<<mial.from>>"}"#,
            Code::UnknownStep,
            "mial",
            "`mail`",
        ),
        (
            r#""payload": {"to": "<<mail from>>"}"#,
            Code::MalformedReference,
            "<<mail from>>",
            "`<<id.field>>`",
        ),
        (
            r#""payload": {"to": "{{mail.result.from}}"}"#,
            Code::MixedDialects,
            "{{mail.result.from}}",
            "write the reference as `<<mail.from>>`; to keep the text, write `<<\"{{mail.result.from}}\">>`",
        ),
        (
            r#""payload": {"to": "<<mail.from>>"}, "depends_on": ["mail"]"#,
            Code::UnknownMember,
            "\"depends_on\"",
            "did you mean `follows`?",
        ),
        (
            r#""arguments": {"to": "<<mail.from>>"}"#,
            Code::UnknownMember,
            "\"arguments\"",
            "did you mean `payload`?",
        ),
    ] {
        let (finding, at) = found(&jobs(members));
        assert_eq!(finding.code, code, "{finding}");
        assert!(at.contains(place), "{at}");
        assert!(
            finding.help.as_deref().unwrap_or_default().contains(help),
            "{finding}"
        );
    }
}

#[test]
fn no_profile_ignores_a_repetition_beside_the_jobs() {
    let text = format!(r#"{{"jobs": [{STEPS}], "repeat": 3}}"#);
    for profile in [Profile::Strict, Profile::Compat] {
        let findings = Reader::new().profile(profile).read(&text).unwrap_err();
        let help = findings[0].help.as_deref().unwrap_or_default();
        assert!(help.contains(r#"a step can have `"loop": "#), "{findings}");
    }
}

#[test]
fn a_complete_help_is_a_part_of_a_right_document() {
    let (finding, _) = found(&jobs(r#""payload": {"to": "<<mail.cc>>"}"#));
    assert_eq!(finding.code, Code::MaybeAbsent, "{finding}");
    let help = finding.help.unwrap_or_default();
    let start = help.find(r#""if": "#).unwrap_or_else(|| panic!("{help}"));
    let fix = help[start..].split('`').next().unwrap_or_default();
    let text = format!(r#"{{"jobs": [{STEPS}, {{"id": "sent", {fix}}}]}}"#);
    assert_eq!(ran(&text)["sent"], Value::Null, "{help}");
}

#[test]
fn other_dialects_know_its_references() {
    let text = r#"[{"id": "mail", "tool": "find", "arguments": {}}, {"id": "sent", "tool": "send", "arguments": {"to": "<<mail.from>>"}}]"#;
    let (finding, at) = found(text);
    assert_eq!((finding.code, &*at), (Code::MixedDialects, "<<mail.from>>"));
    assert!(finding.message.contains("a job list"), "{finding}");
}
