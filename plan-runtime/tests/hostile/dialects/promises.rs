//! Members with names from other systems. The reader ignores no such member silently, and never runs a step that its author made conditional.

use plan_runtime::dynamic::{Code, Profile, Reader, Severity};
use serde_json::{Value, json};

/// Returns a plan of each other dialect with a member in its step.
fn in_steps(name: &str, value: &Value) -> [String; 3] {
    let with = |mut step: Value| {
        step[name] = value.clone();
        step
    };
    let call = json!({"id": "s", "tool": "pay", "arguments": {}});
    let action = json!({"id": "s", "intent": "Pay.", "tool": "pay", "arguments": {}});
    let blueprint = json!({"tool": "pay", "params": {}, "dependsOn": []});
    [
        json!({"steps": [with(call)], "output_steps": ["s"]}).to_string(),
        json!([with(action)]).to_string(),
        json!({"requestId": "p", "steps": [with(blueprint)]}).to_string(),
    ]
}

/// Reads a document with one finding, at this member, and returns the help.
#[track_caller]
fn help(reader: &Reader<'_>, text: &str, name: &str, severity: Severity) -> String {
    let findings = match reader.read(text) {
        Ok(read) => read.warnings().clone(),
        Err(findings) => findings,
    };
    assert_eq!(findings.len(), 1, "{name}: {findings}");
    let finding = &findings[0];
    assert!(
        matches!(finding.code, Code::UnknownMember | Code::WrongKind),
        "{name}: {findings}"
    );
    assert_eq!(finding.severity, severity, "{name}: {findings}");
    assert_eq!(&text[finding.label.span.clone()], format!("\"{name}\""));
    finding.help.clone().unwrap_or_default()
}

#[test]
fn a_step_never_runs_that_its_author_made_conditional() {
    let steps = json!([{"id": "inner", "tool": "pay", "arguments": {}}]);
    let test = json!("amount < 100");
    for (name, value, instead) in [
        ("if", &test, "if"),
        ("condition", &test, "if"),
        ("when", &json!(false), "if"),
        ("runIf", &test, "if"),
        ("only_if", &test, "if"),
        ("unless", &json!(true), "if"),
        ("Skip-If", &test, "if"),
        ("enabled", &json!(false), "if"),
        ("else", &test, "if"),
        ("for_each", &test, "for"),
        ("loop over", &test, "for"),
        ("loop", &test, "loop"),
        ("while", &json!(true), "loop"),
        ("repeat", &json!(3), "loop"),
        ("until", &test, "loop"),
        ("block", &steps, "block"),
        ("sub_steps", &steps, "block"),
        ("parallel", &steps, "block"),
    ] {
        for text in in_steps(name, value) {
            if name == "parallel" && text.contains("requestId") {
                continue;
            }
            let form = format!("in place of its `tool`, a step can have `\"{instead}\": ");
            for profile in [Profile::Strict, Profile::Compat] {
                let reader = Reader::new().profile(profile);
                let help = help(&reader, &text, name, Severity::Error);
                assert!(help.contains(&form), "{name}: {help}");
            }
        }
    }
    // A step with a block has no tool.
    for text in in_steps("block", &json!({"steps": steps})) {
        let found = Reader::new().read(&text).unwrap_err();
        assert_eq!(found[0].code, Code::WrongKind, "{found}");
        assert_eq!(found[0].message, "the step has both `tool` and `block`");
    }
    let text = r#"{"plan": [{"id": "a", "tool": "pay", "arguments": {}}], "repeat": 3}"#;
    help(&Reader::new(), text, "repeat", Severity::Error);
}

/// The help of a word that changes a policy or an order has the member of the dialect.
#[test]
fn an_order_or_a_policy_is_never_ignored() {
    for (name, value, by_id, by_place) in [
        ("depends_on", json!(["x"]), "after", "dependsOn"),
        ("Run-After", json!(["x"]), "after", "dependsOn"),
        ("sequential", json!(true), "after", "dependsOn"),
        ("retries", json!(3), "attempts", "retryCount"),
        ("max_retries", json!(3), "attempts", "retryCount"),
        ("backoff", json!("1s"), "backoff", "backoff"),
        ("timeout_ms", json!(500), "timeout", "timeout"),
        ("timeoutSeconds", json!(5), "timeout", "timeout"),
        ("time_limit", json!(10), "timeout", "timeout"),
        ("continue_on_error", json!(true), "optional", "optional"),
        ("fallback", json!("none"), "fallback", "fallback"),
        ("onFailure", json!({"tool": "refund"}), "catch", "catch"),
        ("max_concurrency", json!(4), "concurrency", "concurrency"),
        ("rollback", json!({"tool": "refund"}), "undo", "undo"),
        ("finally", json!(true), "always", "always"),
        ("requires_approval", json!(true), "await", "await"),
    ] {
        let own = json!({"name": "p", "inputs": [], "steps": [{"id": "s", "tool": {"name": "pay"}, (name): value}]}).to_string();
        let told = help(&Reader::new(), &own, name, Severity::Error);
        assert!(told.contains(&format!("\"{by_id}\"")), "{name}: {told}");
        for text in in_steps(name, &value) {
            let is_blueprint = text.contains("requestId");
            let instead = if is_blueprint { by_place } else { by_id };
            let told = help(&Reader::new(), &text, name, Severity::Error);
            assert!(told.contains(&format!("\"{instead}\"")), "{name}: {told}");
            // The original systems ignore such a member.
            let compat = Reader::new().profile(Profile::Compat);
            assert_eq!(help(&compat, &text, name, Severity::Warning), told);
        }
    }
}

#[test]
fn a_word_without_an_effect_is_a_warning_in_compat() {
    for (name, value) in [
        ("when", json!(null)),
        ("when", json!("")),
        ("if", json!(true)),
        ("skip_if", json!(false)),
        ("loop", json!(false)),
        ("enabled", json!(true)),
        ("iffy", json!("x")),
        ("priority", json!(1)),
        ("dependencies", json!([])),
        ("retries", json!(0)),
    ] {
        for text in in_steps(name, &value) {
            help(&Reader::new(), &text, name, Severity::Error);
            let compat = Reader::new().profile(Profile::Compat);
            help(&compat, &text, name, Severity::Warning);
        }
    }
    // A member that a step may have is optional.
    for name in ["if", "loop", "undo", "policy"] {
        for text in in_steps(name, &json!(null)) {
            for profile in [Profile::Strict, Profile::Compat] {
                let read = Reader::new().profile(profile).read(&text).unwrap();
                assert!(read.warnings().is_empty(), "{name}: {}", read.warnings());
            }
        }
    }
}
