//! Words of other systems in each object of a step. The document with the fix of the help is a plan.

use plan_runtime::dynamic::{Code, Finding, Findings, Reader};
use serde_json::{Map, Value, json};

/// Names of members in other systems, and members of another object.
const WORDS: &str = "if when condition run_if enabled else elif otherwise unless skip for for_each map_over repeat \
    loop while until do_while times max_iterations block sub_steps sequence parallel concurrency depends_on after \
    requires sequential retries maxAttempts backoff timeout timeout_ms timeoutSeconds deadline optional \
    continue_on_error required fallback onError rollback undo finally always await approval policy args params \
    result return in items do action as item body previous then value pattern list tail steps all If For Value \
    Arguments Condition Tail";

/// Steps, and the objects in them.
fn places() -> Vec<(Value, &'static str)> {
    let call = json!({"tool": "t", "arguments": {}});
    let bind = json!({"pattern": "Some(x)", "value": "$ref:a.l", "then": call});
    let each = json!({"pattern": "x", "list": "$ref:a.l", "body": call});
    let repeat = json!({"steps": [], "tail": call, "while": "$ref:a.ok"});
    let most = json!({"at_most": 3});
    let branches = json!({"if": [{"condition": "$ref:a.ok", "then": call}, {"then": call}, bind]});
    let for_step = json!({"for": each, "policy": {"concurrency": 2}});
    let loop_step = json!({"loop": repeat, "policy": most});
    let block = json!({"block": {"steps": [], "tail": call}});
    let with_policy =
        json!({"tool": "t", "arguments": {}, "policy": {"attempts": 2, "timeout": "1s"}});
    vec![
        (call.clone(), ""),
        (json!({"tool": "t", "undo": "a"}), ""),
        (json!({"tool": "t", "always": true}), ""),
        (json!({"tool": "t", "after": ["a"]}), ""),
        (json!({"await": "String"}), ""),
        (json!({"value": 1}), ""),
        (with_policy.clone(), ""),
        (with_policy, "/policy"),
        (branches.clone(), ""),
        (branches.clone(), "/if/0"),
        (branches.clone(), "/if/0/then"),
        (branches.clone(), "/if/1"),
        (branches, "/if/2"),
        (for_step.clone(), ""),
        (for_step.clone(), "/for"),
        (for_step.clone(), "/for/body"),
        (for_step, "/policy"),
        (loop_step.clone(), ""),
        (loop_step.clone(), "/loop"),
        (loop_step.clone(), "/loop/tail"),
        (loop_step, "/policy"),
        (block.clone(), ""),
        (block.clone(), "/block"),
        (block, "/block/tail"),
        (json!({"block": {"steps": [], "value": 1}}), "/block"),
    ]
}

fn document(step: &Value) -> String {
    let mut step = step.clone();
    step["id"] = json!("s");
    json!({"steps": [{"id": "a", "tool": "t"}, step]}).to_string()
}

fn object<'s>(step: &'s mut Value, at: &str) -> &'s mut Map<String, Value> {
    step.pointer_mut(at).unwrap().as_object_mut().unwrap()
}

/// Returns the members in a help, with content for each `…`.
fn filled(code: &str) -> Map<String, Value> {
    let call = r#"{"tool": "t", "arguments": {}}"#;
    let ok = r#""$ref:a.ok""#;
    let mut code = code.to_owned();
    for (name, value) in [
        ("list", r#""$ref:a.l""#),
        ("condition", ok),
        ("while", ok),
        ("not", ok),
        ("then", call),
        ("tail", call),
        ("body", call),
        ("value", "1"),
    ] {
        code = code.replace(&format!("\"{name}\": …"), &format!("\"{name}\": {value}"));
    }
    serde_json::from_str(&format!("{{{code}}}")).unwrap_or_else(|error| panic!("{code}: {error}"))
}

/// Adds members, of which a policy keeps its own members.
fn add(object: &mut Map<String, Value>, members: Map<String, Value>) {
    for (name, value) in members {
        match (object.get_mut(&name), value) {
            (Some(Value::Object(given)), Value::Object(value)) => given.extend(value),
            (_, value) => drop(object.insert(name, value)),
        }
    }
}

/// Returns the step with the fix, or `None` for a help without a complete fix.
fn applied(mut step: Value, at: &str, help: &str, given: &str) -> Option<Value> {
    let codes: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    let value = object(&mut step, at).remove(given).unwrap();
    let replaces = help.strip_prefix("in place of its `");
    if let Some((_, owner)) = replaces.and_then(|it| it.split_once("`, ")) {
        let code = codes.iter().find(|code| code.starts_with('"')).unwrap();
        let mut new = filled(code);
        if owner.starts_with("a step ") {
            let policy = codes.iter().find(|code| code.starts_with(r#""policy""#));
            new.extend(policy.map(|code| filled(code)).unwrap_or_default());
            return Some(new.into());
        }
        let around = object(&mut step, at);
        let body = match around
            .keys()
            .find(|name| matches!(name.as_str(), "then" | "body"))
        {
            Some(name) => format!("{at}/{name}"),
            None => at.to_owned(),
        };
        *object(&mut step, &body) = new;
    } else if help.starts_with("did you mean") {
        let is_new = object(&mut step, at)
            .insert(codes[0].to_owned(), value)
            .is_none();
        assert!(is_new, "{help}");
    } else if let Some((before, code)) = help.split_once("write `") {
        let (code, after) = code.split_once('`').unwrap();
        let at = match after {
            " in the step" => "",
            " in the `policy`" => "/policy",
            _ => at,
        };
        if before.starts_with("for the ") || before.starts_with("an always step ") {
            filled(code);
            return None;
        }
        add(object(&mut step, at), filled(code));
    } else if !help.starts_with("remove `") {
        return None;
    }
    Some(step)
}

fn read(step: &Value) -> Findings {
    match Reader::new().read(&document(step)) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

/// Returns the finding about the member with this name.
fn of_member(text: &str, findings: &Findings, name: &str) -> Option<Finding> {
    let key = format!("\"{name}\"");
    let is_of = |it: &&Finding| {
        matches!(it.code, Code::UnknownMember | Code::WrongKind)
            && text[it.label.span.clone()] == key
    };
    findings.iter().find(is_of).cloned()
}

#[test]
fn a_help_never_names_a_member_that_cannot_stand_there() {
    let values = [
        json!("a"),
        json!(3),
        json!(true),
        json!(["a"]),
        json!({"k": 1}),
    ];
    let (mut count, mut all) = (0, Vec::new());
    for (step, at) in places() {
        assert_eq!(read(&step).errors().count(), 0, "{step}: {}", read(&step));
        for word in WORDS.split_whitespace() {
            for value in &values {
                let mut wrong = step.clone();
                if object(&mut wrong, at).contains_key(word) {
                    continue;
                }
                object(&mut wrong, at).insert(word.to_owned(), value.clone());
                let findings = read(&wrong);
                let Some(finding) = of_member(&document(&wrong), &findings, word) else {
                    continue;
                };
                let help = finding.help.clone().unwrap_or_default();
                let Some(right) = applied(wrong, at, &help, word) else {
                    continue;
                };
                count += 1;
                let found = read(&right);
                let is_renamed = help.starts_with("did you mean");
                // Another spelling beside a member that excludes the right one is a separate error.
                if is_renamed && help.contains(&format!("`{}`", word.to_lowercase())) {
                    continue;
                }
                let is_wrong = |it: &&Finding| {
                    let conflicts = ["both", "can have only one", "takes no"];
                    !is_renamed || conflicts.iter().any(|part| it.message.contains(part))
                };
                let wrong: Vec<_> = found.errors().filter(is_wrong).collect();
                if !wrong.is_empty() {
                    all.push(format!("{word}: {value} at {at}: {help}\n{right}\n{found}"));
                }
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(count > 1_000, "{count}");
}

/// A part of a step has the member of the step in its help.
#[test]
fn a_member_of_the_step_is_written_in_the_step() {
    let call = json!({"tool": "t", "arguments": {}});
    for (name, value, help) in [
        (
            "after",
            json!(["a"]),
            r#"write `"after": ["a"]` in the step"#,
        ),
        (
            "timeout",
            json!("2s"),
            r#"write `"policy": {"timeout": "10s"}` in the step"#,
        ),
        ("policy", json!({}), "write the `policy` in the step"),
    ] {
        for at in ["/if/0", "/if/0/then", "/policy"] {
            let mut step = json!({"if": [{"condition": "$ref:a.ok", "then": call}], "policy": {"timeout": "1s"}});
            object(&mut step, at).insert(name.to_owned(), value.clone());
            let found = read(&step);
            let told = found.to_string();
            let is_known = at == "/policy" && name != "after";
            assert!(
                is_known || told.contains(help) || told.contains("remove `timeout`"),
                "{told}"
            );
        }
    }
}

/// A step with an unreadable id may be used under its id.
#[test]
fn an_unreadable_id_has_one_finding() {
    for id in [
        json!(5),
        json!(["a"]),
        json!({}),
        json!(true),
        json!("x".repeat(10_000)),
    ] {
        let find = json!({"id": id, "tool": "find", "arguments": {}});
        let call = json!({"id": "b", "tool": "find", "arguments": {}});
        for text in [
            json!({"steps": [find, call], "output_steps": ["b"]}),
            json!({"plan": [find, call], "output": "{{b.result}}"}),
        ] {
            let tools = [plan_runtime::dynamic::Contract::new("find").read_only()];
            let tools = tools.into_iter().collect();
            let text = text.to_string();
            let findings = Reader::new().tools(&tools).read(&text).unwrap_err();
            assert_eq!(findings.len(), 1, "{findings}");
        }
    }
}
