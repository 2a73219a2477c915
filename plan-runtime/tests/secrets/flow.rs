//! The flow of secrets in a plan.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::{Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Key {
    name: String,
    #[shape(secret)]
    value: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Session {
    user: String,
    keys: Vec<Key>,
    #[shape(secret)]
    token: Option<String>,
}

#[tool]
async fn log_in(#[shape(secret)] password: String) -> Result<Session> {
    let key = |name: &str| Key {
        name: name.into(),
        value: format!("{password} of {name}"),
    };
    Ok(Session {
        user: "sarah".into(),
        keys: vec![key("a"), key("b")],
        token: Some(password),
    })
}

/// Its output alone is secret.
#[tool]
async fn find_session(user: String) -> Result<Session> {
    Ok(Session {
        user,
        keys: vec![Key {
            name: "a".into(),
            value: "hunter2".into(),
        }],
        token: Some("hunter2".into()),
    })
}

#[tool]
async fn show(value: Value) -> Result<usize> {
    Ok(value.to_string().len())
}

#[tool]
async fn show_all(values: Vec<String>, more: Key) -> Result<()> {
    drop((values, more));
    Ok(())
}

/// The arguments of each call and the output of each step.
fn seen(report: &plan_runtime::Report) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    for step in report.steps() {
        for attempt in step.attempts() {
            if let Some(arguments) = attempt.arguments() {
                seen.push((format!("{} <", step.id()), arguments.clone()));
            }
        }
        if let Some(output) = step.output() {
            seen.push((format!("{} >", step.id()), output.clone()));
        }
    }
    seen
}

#[test]
fn what_reads_a_secret_is_secret() {
    let plan = plan! {
        step session = LogIn { password: "hunter2" };
        step whole = Show { value: session };
        step names = Show { value: session.keys[..].name };
        step values = Show { value: session.keys[..].value };
        step texts = ShowAll { values: [session.user, format!("<{}>", session.keys[1].value)], more: session.keys[0] };
        step _computed: usize = session.keys.len() + 1;
        step each = for key in session.keys { ShowAll { values: [key.name, key.value], more: Key { name: key.value, value: "own" } } };
        step maybe: String = if let Some(token) = &session.token { format!("{token}!") } else { "none".to_owned() };
        step after = Show { value: maybe };
        after
    };
    let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap(), 10);
    let secret = "(secret)";
    let keys = json!([{"name": "a", "value": secret}, {"name": "b", "value": secret}]);
    let session = json!({"user": "sarah", "keys": keys, "token": secret});
    let more = json!({"name": secret, "value": secret});
    let expected = [
        ("session <", json!({"password": secret})),
        ("session >", session.clone()),
        ("whole <", json!({"value": session})),
        ("names <", json!({"value": ["a", "b"]})),
        ("values <", json!({"value": [secret, secret]})),
        (
            "texts <",
            json!({"values": ["sarah", secret], "more": {"name": "a", "value": secret}}),
        ),
        ("texts >", Value::Null),
        ("_computed >", json!(secret)),
        ("each <", json!({"values": ["a", secret], "more": more})),
        ("each <", json!({"values": ["b", secret], "more": more})),
        ("each >", json!([null, null])),
        ("maybe >", json!(secret)),
        ("after <", json!({"value": secret})),
        ("after >", json!(10)),
    ];
    let seen = seen(&report);
    for (step, value) in expected {
        assert!(
            seen.contains(&(step.to_owned(), value.clone())),
            "{step} {value}: {seen:#?}"
        );
    }
}

#[test]
fn an_error_does_not_say_which_secret_it_found() {
    let plan = plan! {
        step session = LogIn { password: "hunter2" };
        step none = Show { value: session.keys[7].value };
        none
    };
    let error = smol::block_on(plan.run(&())).unwrap_err().to_string();
    assert!(
        error.contains("`session` has 2 elements at `/keys`"),
        "{error}"
    );
}

#[test]
fn what_is_secret_stays_so_where_failures_are_caught() {
    let plan = plan! {
        #[catch]
        step session = LogIn { password: "hunter2" };
        step whole = Show { value: session };
        step key = Show { value: session?.keys[1] };
        step token = Show { value: session.ok()?.token? };
        #[catch(each)]
        step sessions = for password in ["hunter2", "hunter3"] { LogIn { password } };
        step second = Show { value: sessions[1]?.token };
        step users = Show { value: sessions[..].ok()?.user };
        (whole, key, token, second, users)
    };
    let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    let (result, report) = smol::block_on(run.with_report());
    result.unwrap();
    let shown = serde_json::to_string(&report).unwrap() + &report.to_string();
    assert!(!shown.contains("hunter"), "{shown}");
    let session = report.step("session").unwrap().output().unwrap();
    assert_eq!(session["Ok"]["user"], "sarah");
    assert_eq!(session["Ok"]["token"], "(secret)");
    let users = report.step("users").unwrap().arguments().unwrap();
    assert_eq!(*users, json!({"value": ["sarah", "sarah"]}));
}

#[tool]
async fn log_out(session: Session, token: Option<String>) -> Result<()> {
    drop((session.user, token));
    Ok(())
}

#[tool]
async fn fail(after: String) -> Result<()> {
    Err(plan_runtime::Error::permanent(format!("not {after}")))
}

#[test]
fn what_is_secret_stays_so_in_undo_steps_and_always_steps() {
    let plan = plan! {
        #[catch]
        step session = LogIn { password: "hunter2" };
        #[undo(session)]
        step out = LogOut { session, token: session.token };
        step other = LogIn { password: "hunter3" };
        #[undo(other)]
        step other_out = LogOut { session: other, token: other.keys[0].value };
        step failed = Fail { after: other.user };
        #[always]
        step shown = Show { value: other };
        #[always]
        step token = Show { value: other.ok()?.token? };
        #[always]
        step user = Show { value: session.ok()?.user };
        #[always]
        step why = Show { value: failed };
        failed
    };
    let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
    let (result, report) = smol::block_on(run.with_report());
    let error = result.unwrap_err();
    assert_eq!(error.undone().len(), 2, "{error}");
    let shown = serde_json::to_string(&report).unwrap() + &format!("{report} {error} {error:?}");
    assert!(!shown.contains("hunter"), "{shown}");
    let argument = |step: &str, pointer: &str| {
        let arguments = report.step(step).unwrap().arguments().unwrap();
        arguments.pointer(pointer).unwrap().clone()
    };
    assert_eq!(argument("out", "/session/user"), "sarah");
    assert_eq!(argument("out", "/token"), "(secret)");
    assert_eq!(argument("other_out", "/session/keys/1/value"), "(secret)");
    assert_eq!(argument("shown", "/value/Ok/keys/1/name"), "b");
    assert_eq!(argument("shown", "/value/Ok/keys/1/value"), "(secret)");
    assert_eq!(argument("token", "/value"), "(secret)");
    assert_eq!(argument("user", "/value"), "sarah");
    assert_eq!(argument("why", "/value/Err/message"), "not sarah");
}

fn checked(token: Option<&str>) -> Result<u64, String> {
    Err(format!("there is no number in {token:?}"))
}

plan! {
    Asked(password: String) -> u64 {
        step session = LogIn { password };
        #[catch]
        step caught: u64 = checked(session.token.as_deref())?;
        step why = Show { value: caught.err()?.message };
        step number: u64 = checked(session.token.as_deref())? + why as u64;
        number
    }
}

#[test]
fn an_error_of_a_value_with_a_secret_is_not_shown() {
    let (result, report) = smol::block_on(
        Asked {
            password: "hunter2".into(),
        }
        .run(&())
        .capture_arguments(true)
        .capture_outputs(true)
        .with_report(),
    );
    let error = result.unwrap_err();
    let shown = format!(
        "{error} {error:?} {report} {}",
        serde_json::to_string(&report).unwrap()
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(
        shown.contains("the error is hidden, because the value contains secrets"),
        "{shown}"
    );
    let mut cause: Option<&dyn std::error::Error> = Some(error.failures()[0].error());
    while let Some(error) = cause {
        assert!(!error.to_string().contains("hunter2"), "{error}");
        cause = error.source();
    }
}

/// Only the condition of the loop reads the secret.
#[test]
fn the_condition_of_a_loop_shows_no_secret() {
    let toolbox = Toolbox::new().with::<FindSession>();
    let run = |condition: Value| {
        let plan = json!({
            "name": "p",
            "steps": [{
                "id": "rounds",
                "loop": {
                    "steps": [{"id": "session", "tool": {"name": "find_session"}, "arguments": {"object": {"user": "sarah"}}}],
                    "value": 1,
                    "while": condition,
                },
                "policy": {"at_most": 3},
            }],
            "output": {"value": null},
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let run = toolbox.run(&plan, (), &()).capture_outputs(true);
        let (result, report) = smol::block_on(run.with_report());
        let error = result.unwrap_err();
        format!(
            "{error} {error:?} {report} {}",
            serde_json::to_value(&report).unwrap()
        )
    };
    let of = |pointer: &str| json!({"reference": {"step": "session", "pointer": pointer}});
    for condition in [
        of("/token"),
        json!({"compare": [of("/token"), "<", 3]}),
        json!({"not": of("/keys/0/value")}),
        json!({"is_ok": of("/token")}),
        json!({"any": [false, of("/token")]}),
    ] {
        let seen = run(condition.clone());
        assert!(!seen.contains("hunter2"), "{condition}\n{seen}");
    }
    // A value that is not secret is shown.
    let seen = run(json!({"compare": [of("/user"), "<", 3]}));
    assert!(seen.contains("sarah"), "{seen}");
}
