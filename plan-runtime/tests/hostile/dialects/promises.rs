//! Unknown members that promise a conditional or a repeated step.

use plan_runtime::dynamic::{Code, Profile, Reader, Severity};
use serde_json::{Value, json};

const CONDITIONS: [&str; 9] = [
    "if",
    "condition",
    "when",
    "unless",
    "skip_if",
    "only_if",
    "run_if",
    "runIf",
    "Skip-If",
];
const REPETITIONS: [&str; 7] = [
    "for_each", "foreach", "forEach", "loop", "while", "repeat", "until",
];

/// Returns a plan of each other dialect with a member in its step, and the name of a step's arguments.
fn in_steps(name: &str, value: &Value) -> [(Value, &'static str); 3] {
    let with = |mut step: Value| {
        step[name] = value.clone();
        step
    };
    let call = json!({"id": "s", "tool": "pay", "arguments": {}});
    [
        (
            json!({"steps": [with(call.clone())], "output_steps": ["s"]}),
            "arguments",
        ),
        (
            json!([with(
                json!({"id": "s", "intent": "Pay.", "tool": "pay", "arguments": {}})
            )]),
            "arguments",
        ),
        (
            json!({"requestId": "p", "steps": [with(json!({"tool": "pay", "params": {}, "dependsOn": []}))]}),
            "params",
        ),
    ]
}

#[test]
fn a_step_never_runs_that_its_author_made_conditional() {
    let all = CONDITIONS.iter().map(|name| (name, "in any case", "if"));
    let all = all.chain(REPETITIONS.iter().map(|name| {
        let instead = match name.to_lowercase().replace('_', "").as_str() {
            "foreach" => "for",
            _ => "loop",
        };
        (name, "once", instead)
    }));
    for (name, runs, instead) in all {
        for (document, arguments) in in_steps(name, &json!("amount < 100")) {
            let text = document.to_string();
            let found = Reader::new()
                .read(&text)
                .map(|read| read.plan().to_string());
            let found = found.unwrap_err();
            let errors: Vec<_> = found
                .iter()
                .filter(|it| it.severity == Severity::Error)
                .collect();
            assert_eq!(errors.len(), 1, "{found}");
            let (code, message) = match *name {
                "if" => (
                    Code::WrongKind,
                    "`if` is a string, but must be a list of branches".to_owned(),
                ),
                "loop" => (
                    Code::WrongKind,
                    "`loop` is a string, but must be an object".to_owned(),
                ),
                name => (
                    Code::UnknownMember,
                    format!("unknown member `{name}` in a step"),
                ),
            };
            assert_eq!(errors[0].code, code);
            assert_eq!(errors[0].message, message);
            assert_eq!(&text[errors[0].label.span.clone()], format!("\"{name}\""));
            let help = errors[0].help.as_deref().unwrap();
            let form = format!("in place of its `tool`, it can have `\"{instead}\": ");
            assert!(help.contains(runs) && help.contains(&form), "{help}");
            assert!(help.contains(arguments), "{help}");
        }
    }
}

/// A reader could expect that the steps of a block run.
#[test]
fn no_step_of_a_block_is_left_out() {
    let steps = json!([{"id": "inner", "tool": "pay", "arguments": {}}]);
    for (name, value) in [("block", steps.clone()), ("sub_steps", steps.clone())] {
        for (document, arguments) in in_steps(name, &value) {
            let text = document.to_string();
            let found = Reader::new().read(&text).unwrap_err();
            assert_eq!(found.len(), 1, "{found}");
            let code = match name {
                "block" => Code::WrongKind,
                _ => Code::UnknownMember,
            };
            assert_eq!((found[0].code, found[0].severity), (code, Severity::Error));
            let help = found[0].help.as_deref().unwrap();
            let form = "has no steps in it; in place of its `tool`, it can have `\"block\": ";
            assert!(help.contains(form) && help.contains(arguments), "{help}");
        }
    }
    // A block in its form is one, and has no tool beside it.
    for (document, _) in in_steps("block", &json!({"steps": steps})) {
        let text = document.to_string();
        let found = Reader::new().read(&text).unwrap_err();
        let first = found.iter().next().unwrap();
        assert_eq!(first.code, Code::WrongKind, "{found}");
        assert_eq!(first.message, "the step has both `tool` and `block`");
        assert_eq!(&text[first.label.span.clone()], "\"block\"");
    }
}

#[test]
fn a_plan_promises_as_its_steps_do() {
    for (mut document, _) in in_steps("intent", &json!("Pay.")) {
        if document.is_array() {
            document = json!({"plan": document});
        }
        document["repeat"] = json!(3);
        let text = document.to_string();
        let found = Reader::new().read(&text);
        assert!(
            found
                .unwrap_err()
                .iter()
                .any(|it| { it.message.starts_with("unknown member `repeat` in") })
        );
    }
}

/// Reads a document in which this member does nothing: an error, or a warning where the systems ignore the member.
fn ignored_in_compat(name: &str, value: &Value) {
    for (document, _) in in_steps(name, value) {
        let text = document.to_string();
        let found = Reader::new().read(&text).unwrap_err();
        assert_eq!(found.len(), 1, "{name}: {found}");
        let code = match name {
            "if" | "loop" => Code::WrongKind,
            _ => Code::UnknownMember,
        };
        assert_eq!(
            (found[0].code, found[0].severity),
            (code, Severity::Error),
            "{name}"
        );
        assert_eq!(&text[found[0].label.span.clone()], format!("\"{name}\""));
        let read = Reader::new().profile(Profile::Compat).read(&text);
        let read = read.unwrap_or_else(|found| panic!("{name}: {found}"));
        assert_eq!(read.warnings()[0].code, Code::UnknownMember, "{name}");
    }
}

#[test]
fn what_promises_nothing_is_ignored_in_compat_alone() {
    let names = CONDITIONS.iter().chain(&REPETITIONS);
    let nothing = names.flat_map(|name| [(*name, json!(null)), (*name, json!(""))]);
    let nothing =
        nothing.filter(|(name, value)| !value.is_null() || !matches!(*name, "if" | "loop"));
    let others = [
        ("if", json!(true)),
        ("skip_if", json!(false)),
        ("loop", json!(false)),
        ("iffy", json!("x")),
        ("priority", json!(1)),
    ];
    for (name, value) in nothing.chain(others) {
        ignored_in_compat(name, &value);
    }
    // A member that a step may have is as one that is left out.
    for name in ["if", "loop", "undo", "policy"] {
        for (document, _) in in_steps(name, &json!(null)) {
            let text = document.to_string();
            for profile in [Profile::Strict, Profile::Compat] {
                let read = Reader::new().profile(profile).read(&text).unwrap();
                assert!(read.warnings().is_empty(), "{name}: {}", read.warnings());
            }
        }
    }
    for (name, value) in [
        ("if", json!(false)),
        ("unless", json!(true)),
        ("while", json!(true)),
    ] {
        for (document, _) in in_steps(name, &value) {
            Reader::new().read(&document.to_string()).unwrap_err();
        }
    }
}

/// Returns members about order, failures and time, with their equivalents in a dialect of IDs and in a blueprint.
fn order_and_policies() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let after = r#"`"after": ["#;
    let depends = r#"`"dependsOn": [0]`"#;
    let attempts = r#""attempts": 4"#;
    let retries = r#"`"retryCount": 3`"#;
    let timeout = r#""timeout": "#;
    let whole = r#"`"policy": {"optional": "whole"}`"#;
    let optional = r#"`"optional": true`"#;
    let fallback = r#"`"policy": {"fallback": "none"}`"#;
    let catch = r#"`"policy": {"catch": true}`"#;
    let concurrency = r#"`"policy": {"concurrency": 4}`"#;
    vec![
        ("depends_on", json!(["x"]), after, depends),
        ("dependencies", json!(["x"]), after, depends),
        ("requires", json!("x"), after, depends),
        ("Run-After", json!(["x"]), after, depends),
        ("sequential", json!(true), after, depends),
        ("retry", json!(3), attempts, retries),
        ("retries", json!(3), attempts, retries),
        ("max_retries", json!(3), attempts, retries),
        ("maxAttempts", json!(4), attempts, retries),
        (
            "retry_policy",
            json!({"max": 3}),
            r#""attempts": 3"#,
            r#"`"retryCount": 2`"#,
        ),
        (
            "backoff",
            json!("1s"),
            r#""backoff": "1s", "attempts": 3"#,
            r#""backoff": "1s""#,
        ),
        (
            "timeout_ms",
            json!(500),
            r#""timeout": "500ms""#,
            r#"`"timeout": 500`, in milliseconds"#,
        ),
        (
            "timeoutSeconds",
            json!(5),
            r#""timeout": "5s""#,
            r#"`"timeout": 5000`, in milliseconds"#,
        ),
        (
            "time_limit",
            json!("2m"),
            r#""timeout": "2m""#,
            r#"`"timeout": 120000`"#,
        ),
        (
            "deadline",
            json!(10),
            r#"`"policy": {"deadline": "10s"}`, with its unit"#,
            timeout,
        ),
        ("continue_on_error", json!(true), whole, optional),
        ("required", json!(false), whole, optional),
        ("fallback", json!("none"), fallback, fallback),
        ("on_error", json!("continue"), catch, catch),
        ("onFailure", json!({"tool": "refund"}), catch, catch),
        ("max_concurrency", json!(4), concurrency, concurrency),
        (
            "rollback",
            json!({"tool": "refund"}),
            r#"`"undo": "a"`"#,
            r#"`"undo": 0`"#,
        ),
        (
            "finally",
            json!(true),
            r#"`"always": true`"#,
            r#"`"always": true`"#,
        ),
        (
            "requires_approval",
            json!(true),
            r#""await": "bool""#,
            r#""await": "bool""#,
        ),
        ("delay", json!("5s"), after, depends),
    ]
}

/// Without its order or its policy, a plan is another one.
#[test]
fn an_order_or_a_policy_is_never_ignored() {
    for (name, value, by_id, by_place) in order_and_policies() {
        for (document, arguments) in in_steps(name, &value) {
            let text = document.to_string();
            let found = Reader::new().read(&text).unwrap_err();
            assert_eq!(found.len(), 1, "{name}: {found}");
            assert_eq!(
                (found[0].code, found[0].severity),
                (Code::UnknownMember, Severity::Error)
            );
            let help = found[0].help.as_deref().unwrap();
            let instead = match arguments {
                "params" => by_place,
                _ => by_id,
            };
            assert!(help.contains(instead), "{name}: {help}");
            // The systems ignore it.
            let read = Reader::new().profile(Profile::Compat).read(&text).unwrap();
            assert_eq!(read.warnings().len(), 1);
            assert_eq!(read.warnings()[0].help.as_deref(), Some(help));
        }
        // Plan JSON as well.
        let document = json!({"name": "p", "inputs": [], "steps": [{"id": "s", "tool": {"name": "pay"}, (name): value}]});
        let text = document.to_string();
        let found = Reader::new().read(&text).unwrap_err();
        assert_eq!(
            (found.len(), found[0].code),
            (1, Code::UnknownMember),
            "{name}"
        );
        let help = found[0].help.as_deref().unwrap();
        assert!(help.contains(by_id), "{name}: {help}");
    }
}

/// Members that only restate the default.
#[test]
fn what_happens_anyway_is_ignored_in_compat_alone() {
    for (name, value) in [
        ("depends_on_steps", json!([])),
        ("dependencies", json!([])),
        ("needs", json!(null)),
        ("retries", json!(0)),
        ("max_attempts", json!(1)),
        ("retry", json!(false)),
        ("on_error", json!("fail")),
        ("continueOnError", json!(false)),
        ("required", json!(true)),
        ("enabled", json!(true)),
        ("requires_approval", json!(false)),
    ] {
        ignored_in_compat(name, &value);
    }
}
