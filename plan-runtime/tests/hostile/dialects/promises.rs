//! Members that no reader knows, and that promise that a step runs only sometimes or several times.

use plan_runtime::dynamic::{Code, Reader, Severity};
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

/// A plan of each other dialect with a member in its step, and what the arguments of a step are called.
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
            assert_eq!(errors[0].code, Code::UnknownMember);
            assert_eq!(
                errors[0].message,
                format!("unknown member `{name}` in a step")
            );
            assert_eq!(&text[errors[0].label.span.clone()], format!("\"{name}\""));
            let help = errors[0].help.as_deref().unwrap();
            let form = format!("in place of its `tool`, it can have `\"{instead}\": ");
            assert!(help.contains(runs) && help.contains(&form), "{help}");
            assert!(help.contains(arguments), "{help}");
        }
    }
}

/// Somebody may expect that the steps of a block run.
#[test]
fn no_step_of_a_block_is_left_out() {
    let steps = json!([{"id": "inner", "tool": "pay", "arguments": {}}]);
    for (name, value) in [("block", steps.clone()), ("sub_steps", steps.clone())] {
        for (document, arguments) in in_steps(name, &value) {
            let text = document.to_string();
            let found = Reader::new().read(&text).unwrap_err();
            assert_eq!(found.len(), 1, "{found}");
            assert_eq!(
                (found[0].code, found[0].severity),
                (Code::UnknownMember, Severity::Error)
            );
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

#[test]
fn what_promises_nothing_is_a_warning() {
    let names = CONDITIONS.iter().chain(&REPETITIONS);
    let nothing = names.flat_map(|name| [(*name, json!(null)), (*name, json!(""))]);
    let others = [
        ("if", json!(true)),
        ("skip_if", json!(false)),
        ("loop", json!(false)),
        ("iffy", json!("x")),
        ("priority", json!(1)),
    ];
    for (name, value) in nothing.chain(others) {
        for (document, _) in in_steps(name, &value) {
            let text = document.to_string();
            let read = Reader::new().read(&text).unwrap();
            assert!(
                read.warnings()
                    .iter()
                    .any(|it| it.code == Code::UnknownMember),
                "{name}: {value}"
            );
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
