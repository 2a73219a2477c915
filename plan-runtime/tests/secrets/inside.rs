//! Secrets in plans inside plans, and in the view of gates.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{Decision, Gate, Observer, PendingCall, StepError, StepRef};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Serialize, Deserialize, Shape)]
struct Token {
    user: String,
    #[shape(secret)]
    text: String,
}

#[tool]
async fn log_in(user: String) -> Result<Token> {
    Ok(Token {
        user,
        text: "hunter2".into(),
    })
}

#[tool]
async fn count(text: String) -> Result<u64> {
    Ok(text.len() as u64)
}

plan! {
    /// Its input is not marked.
    Echo(text: String) -> String {
        step length = Count { text };
        format!("{text}, {length}")
    }
}

plan! {
    /// Gives a secret that its output type does not mark.
    Begin(user: String) -> String {
        step token = LogIn { user };
        token.text
    }
}

plan! {
    /// Its output has nothing to do with its input.
    Measure(#[shape(secret)] _text: String) -> u64 {
        step length = Count { text: "public" };
        length
    }
}

plan! {
    /// Calls another.
    Again(text: String) -> String {
        step more = Echo { text: format!("{text}!") };
        step _last = Count { text: more };
        more
    }
}

plan! {
    /// Refers to a missing field.
    Fail(members: HashMap<String, String>) -> u64 {
        step number = Count { text: members["nothing"] };
        number
    }
}

const MARKER: &str = "hunter2";

/// Writes down what happens.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl Observer for Log {
    fn attempt_failed(&self, step: &StepRef<'_>, _: u32, error: &StepError, _: Duration) {
        let mut log = self.0.lock().unwrap();
        log.push(format!("{step}: {error} {error:?}"));
    }
}

impl Gate for Log {
    async fn ask(&self, call: PendingCall) -> Decision {
        let real = call.arguments_with_secrets().to_string();
        assert!(!real.contains("(secret)"), "{real}");
        let mut log = self.0.lock().unwrap();
        log.push(format!("{call} {call:?} {}", call.arguments()));
        Decision::Allow
    }
}

#[test]
fn a_secret_that_is_given_to_a_plan_is_secret_inside() {
    let plan = plan! {
        step token = LogIn { user: "sarah" };
        step echo = Echo { text: token.text };
        step begun = Begin { user: "bob" };
        step both = Count { text: format!("{echo} {begun}") };
        step measured = Measure { _text: token.text };
        step again = Again { text: token.text };
        step user = Echo { text: token.user };
        (both, measured, again.len(), user)
    };
    let log = Arc::new(Log::default());
    let run = plan
        .run(&())
        .gate(log.clone())
        .observe(log.clone())
        .capture_arguments(true)
        .capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), (18, 6, 11, "sarah, 5".to_owned()));
    let output = |step: &str| report.step(step).unwrap().output().unwrap().clone();
    assert_eq!(output("echo"), "(secret)");
    assert_eq!(output("begun"), "(secret)");
    assert_eq!(output("measured"), 6);
    assert_eq!(output("again"), "(secret)");
    assert_eq!(output("user"), "sarah, 5");
    let shown = format!("{report} {report:?} {}", report.to_html());
    assert!(!shown.contains(MARKER), "{shown}");
    let asked = log.text();
    assert!(!asked.contains(MARKER), "{asked}");
    for line in [
        r#"echo.length: count {"text":"(secret)"}"#,
        r#"begun.token: log_in {"user":"bob"}"#,
        r#"measured.length: count {"text":"public"}"#,
        r#"again.more.length: count {"text":"(secret)"}"#,
        r#"user.length: count {"text":"sarah"}"#,
    ] {
        assert!(asked.contains(line), "{line}\n{asked}");
    }
}

#[test]
fn a_secret_is_secret_in_the_steps_after_a_block() {
    let plan = plan! {
        step token = LogIn { user: "sarah" };
        step block = { step length = Count { text: token.user }; length };
        step each = for n in 0..2_u64 { step length = Count { text: token.user }; step sum: u64 = n + length; sum };
        step after = Count { text: token.text };
        (block, each, after)
    };
    let log = Arc::new(Log::default());
    let run = plan.run(&()).gate(log.clone()).capture_arguments(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), (5, vec![5, 6], 7));
    let shown = format!("{report} {report:?} {} {}", report.to_html(), log.text());
    assert!(!shown.contains(MARKER), "{shown}");
    let line = r#"after: count {"text":"(secret)"}"#;
    assert!(log.text().contains(line), "{}", log.text());
}

#[test]
fn what_fails_in_a_plan_does_not_say_the_secret_that_it_was_given() {
    let plan = plan! {
        step token = LogIn { user: "sarah" };
        step members: HashMap<String, String> = HashMap::from([(token.text.clone(), "x".to_owned())]);
        step failed = Fail { members };
        failed
    };
    let log = Arc::new(Log::default());
    let (output, report) = smol::block_on(plan.run(&()).observe(log.clone()).with_report());
    let error = output.unwrap_err();
    let said = format!("{error} {error:?} {report} {report:?} {}", log.text());
    assert!(!said.contains(MARKER), "{said}");
    assert!(said.contains("its other members are secret"), "{said}");
    // The plan reports a value that is not secret.
    let members = HashMap::from([("public".to_owned(), String::new())]);
    let error = smol::block_on(Fail { members }.run(&())).unwrap_err();
    assert!(error.to_string().contains("public"), "{error}");
}

#[test]
fn a_toolbox_knows_the_secrets_of_its_tools_and_plans() {
    let toolbox = Toolbox::new()
        .with::<LogIn>()
        .with::<Echo>()
        .with::<Begin>()
        .with::<Count>()
        .with_fn(
            Contract::new("keep").arguments(json!({"type": "object", "properties": {
                "key": {"type": "string", "format": "password", "maxLength": 3},
                "name": {"type": "string"},
            }})),
            |_| async { Ok(json!(null)) },
        );
    // Independently of the document's own declarations.
    let text = r#"[
        {"id": "token", "tool": "log_in", "arguments": {"user": "sarah"}},
        {"id": "echo", "tool": "echo", "arguments": {"text": "<{{token.result.text}}>"}},
        {"id": "begun", "tool": "begin", "arguments": {"user": "bob"}},
        {"id": "counted", "tool": "count", "arguments": {"text": "{{begun.result}}"}},
        {"id": "kept", "tool": "keep", "arguments": {"key": "{{token.result.text}}", "name": "{{token.result.user}}"}}
    ]"#;
    let document = toolbox.read(text).unwrap();
    let plans: [Plan; 2] = [
        document.plan().clone(),
        serde_json::from_str(&serde_json::to_string(document.plan()).unwrap()).unwrap(),
    ];
    for plan in &plans {
        let log = Arc::new(Log::default());
        let run = toolbox
            .run(plan, (), &())
            .gate(log.clone())
            .observe(log.clone())
            .capture_arguments(true)
            .capture_outputs(true);
        let (output, report) = smol::block_on(run.with_report());
        let error = output.unwrap_err();
        let shown = format!("{error} {error:?} {report} {report:?} {}", log.text());
        assert!(!shown.contains(MARKER), "{shown}");
        assert!(error.to_string().contains("step `kept` (keep)"), "{error}");
        assert_eq!(report.step("echo").unwrap().output().unwrap(), "(secret)");
    }
    // A value that is not secret is shown, even for a tool with a secret output.
    let error = smol::block_on(toolbox.call("log_in", json!({"user": 5}), &())).unwrap_err();
    assert!(error.to_string().contains("number 5"), "{error}");
    // A single call as well.
    let error =
        smol::block_on(toolbox.call("keep", json!({"key": "hunter2 long"}), &())).unwrap_err();
    assert!(!error.to_string().contains(MARKER), "{error}");
}

#[test]
fn what_a_plan_writes_as_a_secret_is_not_printed() {
    let toolbox = Toolbox::<()>::new().with_fn(
        Contract::new("keep").arguments(json!({"type": "object", "properties": {
            "key": {"writeOnly": true},
            "names": {"type": "array", "items": {"properties": {"alias": {"format": "password"}}}},
        }})),
        |given| async { Ok(given) },
    );
    let document = toolbox
        .read(
            r#"[{"id": "kept", "tool": "keep", "arguments": {
                "key": {"of": ["hunter2", 7, true, null]},
                "names": [{"alias": "hunter2", "name": "sarah"}, {"alias": "is {{PLACEHOLDER_x}} hunter2"}]
            }}]"#,
        )
        .unwrap();
    let plan = document.plan();
    let expected = r#"plan plan
  input x: String

  step kept = keep
    key:   { of: ["(secret)", "(secret)", "(secret)", null] }
    names: [{ alias: "(secret)", name: "sarah" }, { alias: format!("(secret){}(secret)", x) }]
    // starts at once

  output { kept: kept }
"#;
    assert_eq!(plan.to_string(), expected);
    for shown in [plan.mermaid().to_string(), plan.dot().to_string()] {
        assert!(!shown.contains(MARKER), "{shown}");
    }
    // The plan is shown as it runs, and as it is stored.
    let run = toolbox
        .run(plan, json!({"x": "y"}), &())
        .capture_arguments(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap()["kept"]["key"]["of"][0], MARKER);
    let shown = format!("{report} {report:?} {}", report.to_html());
    assert!(!shown.contains(MARKER), "{shown}");
    let stored = serde_json::to_string(plan).unwrap();
    let read: Plan = serde_json::from_str(&stored).unwrap();
    assert_eq!(&read, plan);
    assert!(stored.contains(MARKER));
}
