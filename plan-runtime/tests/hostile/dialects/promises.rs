//! Members with names from other systems. The reader ignores no such member silently, and never runs a step that its author made conditional.

use plan_runtime::dynamic::{Code, Profile, Reader, Severity};
use serde_json::{Value, json};

/// Returns a plan of each other dialect with a member in its step.
pub(super) fn in_steps(name: &str, value: &Value) -> [String; 3] {
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
pub(super) fn help(reader: &Reader<'_>, text: &str, name: &str, severity: Severity) -> String {
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
    // A value of another kind is reported at the value.
    let key = format!("\"{name}\"");
    let rest = &text[text.find(&key).unwrap()..];
    let at = &text[finding.label.span.clone()];
    let is_value = finding.code == Code::WrongKind && rest[key.len() + 1..].starts_with(at);
    assert!(at == key || is_value, "{findings}");
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
        ("else if", &json!(true), "if"),
        ("otherwise", &json!(false), "if"),
        ("for_each", &test, "for"),
        ("loop over", &test, "for"),
        ("iterateOver", &test, "for"),
        ("map_over", &test, "for"),
        ("loop", &test, "loop"),
        ("while", &json!(true), "loop"),
        ("repeat", &json!(3), "loop"),
        ("times", &json!(3), "loop"),
        ("until", &test, "loop"),
        ("until", &json!(false), "loop"),
        ("do_while", &json!(false), "loop"),
        ("block", &steps, "block"),
        ("sub_steps", &steps, "block"),
        ("sequence", &steps, "block"),
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

/// Returns a plan of each other dialect with a member beside its steps.
fn beside_steps(name: &str, value: &Value) -> [String; 3] {
    let call = json!({"id": "s", "tool": "pay", "arguments": {}});
    [
        json!({"steps": [call], "output_steps": ["s"], (name): value}),
        json!({"plan": [call], (name): value}),
        json!({"requestId": "p", "steps": [{"tool": "pay", "params": {}}], (name): value}),
    ]
    .map(|document| document.to_string())
}

/// Each word with a value of each kind, in the compat profile. Only null, the empty string and the boolean without an effect are ignored.
#[test]
fn no_word_is_ignored_with_an_effect() {
    const BOTH: [bool; 2] = [true, true];
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(3),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x"]),
        json!({}),
        json!({"x": 1}),
    ];
    let conditions = ["if", "when", "condition", "runIf", "only_if", "enabled"];
    let others = [
        "unless",
        "skip",
        "skipIf",
        "disabled",
        "approval",
        "requires_approval",
    ];
    let repeats = [
        "for",
        "for_each",
        "forAll",
        "iterate",
        "iterate_over",
        "loop over",
        "mapOver",
        "loop",
        "repeat",
        "times",
        "max_iterations",
    ];
    let never_inert = [
        "else",
        "elif",
        "else_if",
        "otherwise",
        "while",
        "until",
        "doWhile",
    ];
    let blocks = ["block", "sub_steps", "parallel", "sequence"];
    let all = conditions.iter().map(|word| (word, [false, true]));
    let all = all.chain(
        others
            .iter()
            .chain(&repeats)
            .map(|word| (word, [true, false])),
    );
    let all = all.chain(never_inert.iter().map(|word| (word, BOTH)));
    let all = all.chain(blocks.iter().map(|word| (word, [false, false])));
    let reader = Reader::new().profile(Profile::Compat);
    for (word, with_bool) in all {
        for value in &values {
            let has_effect = match value {
                Value::Null => false,
                Value::Bool(given) => with_bool[usize::from(!given)],
                Value::Array(_) | Value::Object(_) => true,
                _ if blocks.contains(word) => false,
                // The original systems ignore this string beside a tool.
                Value::String(text) => !text.is_empty(),
                _ => true,
            };
            let in_steps = in_steps(word, value).map(|text| (text, *word == "for"));
            let beside = beside_steps(word, value).map(|text| (text, false));
            for (text, may_be_text) in in_steps.into_iter().chain(beside) {
                if *word == "parallel" && text.contains("requestId") {
                    continue;
                }
                let has_effect = has_effect && !(may_be_text && value.is_string());
                let read = reader.read(&text);
                assert_eq!(read.is_err(), has_effect, "{text}: {:?}", read.err());
            }
        }
    }
    // A reference is never ignored.
    for (text, value) in in_steps("for", &json!("HERE")).iter().zip([
        "$ref:s.list",
        "{{s.result.list}}",
        "${step[0].data.list}",
    ]) {
        let text = text.replace("HERE", value);
        help(&reader, &text, "for", Severity::Error);
    }
}

/// The help of a word that changes a policy or an order has the member of the dialect.
#[test]
fn an_order_or_a_policy_is_never_ignored() {
    for (name, value, by_id, by_place) in [
        ("depends_on", json!(["x"]), "after", "dependsOn"),
        ("Run-After", json!(["x"]), "after", "dependsOn"),
        ("needs", json!("x"), "after\": [\"x\"]", "dependsOn"),
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
    ] {
        let own = json!({"name": "p", "inputs": [], "steps": [{"id": "s", "tool": {"name": "pay"}, (name): value}, {"id": "x", "tool": {"name": "pay"}}]}).to_string();
        let told = help(&Reader::new(), &own, name, Severity::Error);
        assert!(told.contains(by_id), "{name}: {told}");
        for text in in_steps(name, &value) {
            let is_blueprint = text.contains("requestId");
            let instead = if is_blueprint { by_place } else { by_id };
            let told = help(&Reader::new(), &text, name, Severity::Error);
            assert!(told.contains(instead), "{name}: {told}");
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
