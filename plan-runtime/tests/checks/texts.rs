//! Formatted strings with values that may be absent: `format!` does not compile with an `Option`.

use crate::checks::variables::{DIALECTS, Root, call, document, reference, text};
use crate::checks::{all_findings, tools};
use plan_runtime::dynamic::{
    Code, Contract, Dialect, Findings, Profile, Reader, Severity, Toolbox,
};
use serde_json::{Value, json};

/// Returns a plan that reads a person, and sends a string with this part of the person.
fn greeting(dialect: Dialect, path: &[&str]) -> Option<String> {
    let part = text(dialect, &reference(dialect, Root::First, path))?;
    let first = call(dialect, "read_person", json!({"id": "x"}));
    let second = call(dialect, "send", json!({"to": "t", "subject": part}));
    Some(document(dialect, first, second))
}

fn found(text: &str, profile: Profile) -> Findings {
    all_findings(Reader::new().tools(&tools()).profile(profile).read(text))
}

#[test]
fn a_value_in_a_text_is_there() {
    for (dialect, written, help) in [
        (
            Dialect::Blueprint,
            "${step[0].data.email}",
            r#"write the text only if the value is present: `"if": [{"pattern": "Some(x)", "value": "${step[0].data.email}", "then": {…}}]`, where the text has `${x.data}`"#,
        ),
        (
            Dialect::ActionPlan,
            "{{first.result.email}}",
            r#"write the text only if the value is present: `"if": [{"pattern": "Some(x)", "value": "{{first.result.email}}", "then": {…}}]`, where the text has `{{x.result}}`"#,
        ),
        (
            Dialect::PlanJson,
            "first.email",
            r#"write the text only if the value is present: `"if": [{"pattern": "Some(x)", "value": {"reference": {"step": "first", "pointer": "/email"}}, "then": {…}}]`, where the text has `{"reference": {"local": 0, "pointer": ""}}`"#,
        ),
    ] {
        let text = greeting(dialect, &["email"]).unwrap();
        let findings = found(&text, Profile::Strict);
        assert_eq!(findings.len(), 1, "{findings}");
        let finding = &findings[0];
        assert_eq!(
            (finding.code, finding.severity),
            (Code::MaybeAbsent, Severity::Error)
        );
        let message = format!(
            "a formatted string needs a value, but `{written}` may have no value: `email` may be null"
        );
        assert_eq!(finding.message, message);
        assert_eq!(finding.help.as_deref(), Some(help));
        let at = &text[finding.label.span.clone()];
        assert!(at.contains("email") && !at.contains("Hello"), "{at}");
        // A missing value fails a run.
        let missing = found(
            &greeting(dialect, &["manager_of", "id"]).unwrap(),
            Profile::Strict,
        );
        assert_eq!(missing[0].code, Code::MaybeAbsent, "{missing}");
        for path in [&["id"][..], &["age"]] {
            let findings = found(&greeting(dialect, path).unwrap(), Profile::Strict);
            assert!(findings.is_empty(), "{findings}");
        }
    }
}

/// The suggested fix is right, and runs.
#[test]
fn a_text_of_a_value_that_was_asked_for() {
    for dialect in DIALECTS {
        let Some(part) = text(dialect, &reference(dialect, Root::Variable("x", 0), &[])) else {
            continue;
        };
        let first = call(dialect, "read_person", json!({"id": "x"}));
        let then = call(dialect, "send", json!({"to": "t", "subject": part}));
        let value = reference(dialect, Root::First, &["email"]);
        let second = json!({"if": [{"pattern": "Some(x)", "value": value, "then": then}]});
        let text = document(dialect, first, second);
        let findings = found(&text, Profile::Strict);
        assert!(findings.is_empty(), "{findings}");
        for (email, expected) in [(json!(null), None), (json!("a@b"), Some("Hello a@b"))] {
            let sent = run(
                &text,
                Profile::Strict,
                &json!({"id": "x", "email": email, "age": 3}),
            );
            assert_eq!(sent, expected.map(str::to_owned));
        }
    }
}

/// Returns the sent string of a run whose first step returns this value.
fn run(text: &str, profile: Profile, gives: &Value) -> Option<String> {
    let sent = std::sync::Arc::new(std::sync::Mutex::new(None));
    let (gives, seen) = (gives.clone(), std::sync::Arc::clone(&sent));
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new("read_person"), move |_| {
            let gives = gives.clone();
            async move { Ok(gives) }
        })
        .with_fn(Contract::new("send"), move |given: Value| {
            *seen.lock().unwrap() = given["subject"].as_str().map(str::to_owned);
            async move { Ok(given) }
        });
    let document = Reader::new().profile(profile).read(text).unwrap();
    smol::block_on(toolbox.run(document.plan(), (), &())).unwrap();
    sent.lock().unwrap().clone()
}

/// The original systems write a replacement for an absent value. In the compat profile, a run does so as well, and the check warns.
#[test]
fn the_compat_profile_warns() {
    for dialect in [Dialect::Blueprint, Dialect::ActionPlan] {
        let text = greeting(dialect, &["email"]).unwrap();
        let findings = found(&text, Profile::Compat);
        assert_eq!(findings.len(), 1, "{findings}");
        let finding = &findings[0];
        assert_eq!(
            (finding.code, finding.severity),
            (Code::MaybeAbsent, Severity::Warning)
        );
        let gives = json!({"id": "x", "email": null, "age": 3});
        assert_eq!(
            run(&text, Profile::Compat, &gives).as_deref(),
            Some("Hello null")
        );
    }
    // A reference to a missing value remains literal.
    let text = greeting(Dialect::ActionPlan, &["manager_of", "id"]).unwrap();
    let sent = run(
        &text,
        Profile::Compat,
        &json!({"id": "x", "email": null, "age": 3}),
    );
    assert_eq!(
        sent.as_deref(),
        Some("Hello {{first.result.manager_of.id}}")
    );
}

/// A step that may be skipped, and an element that null replaces.
#[test]
fn outputs_that_may_be_absent_in_texts() {
    let text = r#"[
{"id": "a", "if": [{"condition": true, "then": {"tool": "read_person", "arguments": {"id": "x"}}}]},
{"id": "b", "tool": "send", "arguments": {"to": "t", "subject": "Hello {{a.result.id}}"}}
]"#;
    assert_eq!(
        found(text, Profile::Strict).to_string(),
        "\
error[maybe-absent]: a formatted string needs a value, but `{{a.result.id}}` may have no value: if step `a` is skipped, its output is null
  --> 3:72 in step `b`
   = help: give the `if` of `a` a last branch without a condition, or write the text only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"{{a.result.id}}\", \"then\": {…}}]`, where the text has `{{x.result}}`
"
    );
}
