//! Document 002, "Dependency Resolution": `{{step.result.path}}` in the arguments of an action plan.

mod examples;

use super::desk::{Answer, Desk, ids, levels, read, same_calls};
use super::typed;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Contract, Dialect, Profile, Reader, Toolbox};
use plan_runtime::plan::Source;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

#[track_caller]
fn strict(document: &Value) -> Plan {
    read(Dialect::ActionPlan, Profile::Strict, document)
}

/// A step `source` with this output, and a step `last` with these arguments. Returns the arguments that arrive, or the error.
fn resolved(profile: Profile, result: &Value, arguments: &Value) -> Result<Value, String> {
    let document = json!([
        {"id": "source", "tool": "fetch", "arguments": {}}, {"id": "last", "tool": "use", "arguments": arguments},
    ]);
    let plan = read(Dialect::ActionPlan, profile, &document);
    let desk = Desk::new([("fetch", Ok(result.clone())), ("use", Ok(Value::Null))]);
    let ran = desk.run(&plan, json!({}));
    match ran.report.step("last").unwrap().error() {
        Some(error) => Err(error.to_string()),
        None => Ok(ran.arguments("use").clone()),
    }
}

#[track_caller]
fn codes(document: &Value) -> Vec<Code> {
    let text = document.to_string();
    let findings = Reader::new().dialect(Dialect::ActionPlan).read(&text);
    let findings = findings.unwrap_err();
    findings.iter().map(|finding| finding.code).collect()
}

/// The plan of "How It Works".
fn find_john_and_send() -> Value {
    json!([
        {"id": "find_john", "tool": "fetch_entity", "arguments": {"input": {"entityType": "Contact", "filters": {"name": "John"}}}},
        {"id": "send_email", "tool": "send_email", "arguments": {"input": {
            "to": "{{find_john.result.data[0].email}}", "subject": "Hello", "body": "Hi {{find_john.result.data[0].name}}!",
        }}},
    ])
}

fn johns_desk() -> Desk {
    let john = json!({"data": [{"name": "John Smith", "email": "john.smith@example.com"}]});
    Desk::new([
        ("fetch_entity", Ok(john)),
        ("send_email", Ok(json!("sent"))),
    ])
}

#[test]
fn the_problem_the_email_of_john_is_known_when_the_email_is_sent() {
    let desk = johns_desk();
    let plan = strict(&find_john_and_send());
    let ran = same_calls(&desk, &plan, typed::SendToJohn::PLAN, &json!({}));
    let to = &ran.arguments("send_email")["input"]["to"];
    assert_eq!(to, "john.smith@example.com");
}

#[test]
fn placeholder_syntax_names_a_step_and_a_path_to_data() {
    for (placeholder, step, pointer) in [
        ("{{step_1.result.email}}", 0, "/email"),
        ("{{find_john.result.data[0].email}}", 1, "/data/0/email"),
        ("{{get_report.result.url}}", 2, "/url"),
    ] {
        let plan = strict(&json!([
            {"id": "step_1", "tool": "t", "arguments": {}},
            {"id": "find_john", "tool": "t", "arguments": {}},
            {"id": "get_report", "tool": "t", "arguments": {}},
            {"id": "last", "tool": "t", "arguments": {"x": placeholder}},
        ]));
        let reference = &plan.steps[3].references()[0].reference;
        assert_eq!(reference.source, Source::Step(step), "{placeholder}");
        assert_eq!(reference.pointer().as_str(), pointer, "{placeholder}");
    }
}

#[test]
fn how_it_works_the_resolver_transforms_the_arguments_of_step_2() {
    for profile in PROFILES {
        let plan = read(Dialect::ActionPlan, profile, &find_john_and_send());
        let ran = johns_desk().run(&plan, json!({}));
        assert_eq!(ran.status("find_john"), "completed");
        let expected = json!({"input": {"to": "john.smith@example.com", "subject": "Hello", "body": "Hi John Smith!"}});
        assert_eq!(ran.arguments("send_email"), &expected);
    }
}

#[test]
fn resolver_resolve_replaces_strings_and_leaves_other_values() {
    let result = json!({"name": "Ada", "n": 5});
    let arguments = json!({
        "whole": "{{source.result.name}}", "text": "{{source.result.name}} and {{source.result.name}}", "kept": [1, null, {"x": true}],
    });
    let expected = json!({"whole": "Ada", "text": "Ada and Ada", "kept": [1, null, {"x": true}]});
    for profile in PROFILES {
        assert_eq!(resolved(profile, &result, &arguments), Ok(expected.clone()));
    }
}

/// The document writes values into the serialized arguments, and parses the result. So a number arrives as a string, an object
/// breaks the JSON, and quotes within a value can add an argument. The project never writes values into serialized JSON.
#[test]
fn resolver_resolve_keeps_types_and_never_splices_text() {
    let result = json!({"n": 5, "object": {"a": 1}, "quotes": r#"x", "admin": "yes"#});
    let arguments = json!({"n": "{{source.result.n}}", "object": "{{source.result.object}}", "quotes": "{{source.result.quotes}}"});
    let expected = json!({"n": 5, "object": {"a": 1}, "quotes": r#"x", "admin": "yes"#});
    for profile in PROFILES {
        assert_eq!(resolved(profile, &result, &arguments), Ok(expected.clone()));
    }
    let executed = [json!({"stepId": "source", "status": "completed", "result": result})];
    let by_document =
        |arguments: Value| super::reference::placeholder_resolver::resolve(&arguments, &executed);
    let number = by_document(json!({"n": "{{source.result.n}}"}));
    assert_eq!(number, Ok(json!({"n": "5"})));
    assert!(by_document(json!({"object": "{{source.result.object}}"})).is_err());
    let quotes = by_document(json!({"quotes": "{{source.result.quotes}}"}));
    assert_eq!(quotes, Ok(json!({"quotes": "x", "admin": "yes"})));
}

#[test]
fn resolver_resolve_path_step_not_found() {
    let document = json!([{"id": "a", "tool": "t", "arguments": {"x": "{{b.result.x}}"}}]);
    assert_eq!(codes(&document), [Code::UnknownStep]);
}

/// The order of the list does not matter: a step waits for the steps that it refers to, so none is "not completed yet".
#[test]
fn resolver_resolve_path_step_not_completed_yet() {
    let mut document = find_john_and_send();
    document.as_array_mut().unwrap().reverse();
    let ran = johns_desk().run(&strict(&document), json!({}));
    let tools: Vec<&str> = ran.calls.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["fetch_entity", "send_email"]);
    assert_eq!(ran.status("send_email"), "completed");
}

#[test]
fn resolver_resolve_path_path_not_found() {
    let result = json!({"data": [{"id": 1}]});
    for path in ["gone", "data[3]", "data[3].id", "data[0].gone"] {
        let written = format!("{{{{source.result.{path}}}}}");
        let arguments = json!({ "x": written });
        let error = resolved(Profile::Strict, &result, &arguments).unwrap_err();
        assert!(error.contains(&written), "{error}");
        // The deployed resolver leaves such a reference unresolved as well.
        let compat = resolved(Profile::Compat, &result, &arguments);
        assert_eq!(compat, Ok(arguments));
    }
}

/// The document's paths start at the record of a step. Other members than `result` are not data of the plan: the report has them.
#[test]
fn resolver_resolve_path_starts_at_the_result() {
    let document = |text: &str| {
        json!([
            {"id": "source", "tool": "fetch", "arguments": {}}, {"id": "last", "tool": "use", "arguments": {"x": text}},
        ])
    };
    assert_eq!(
        codes(&document("{{source.status}}")),
        [Code::MalformedReference]
    );
    let arguments = json!({"x": "{{source.status}}"});
    let compat = resolved(Profile::Compat, &json!({"id": 1}), &arguments);
    assert_eq!(compat, Ok(arguments));
}

#[test]
fn resolver_access_property_handles_array_notation() {
    let result = json!({"data": [{"tags": ["a", "b"]}], "items": ["x", "y", "z"]});
    for (path, value) in [
        ("data[0]", json!({"tags": ["a", "b"]})),
        ("items[2]", json!("z")),
        ("data[0].tags[1]", json!("b")),
    ] {
        let arguments = json!({ "v": format!("{{{{source.result.{path}}}}}") });
        for profile in PROFILES {
            let found = resolved(profile, &result, &arguments);
            assert_eq!(found, Ok(json!({ "v": value })), "{path}");
        }
    }
}

#[test]
fn tool_orchestrator_executes_each_step_with_results_of_earlier_steps() {
    let plan = strict(&json!([
        {"id": "one", "tool": "one", "arguments": {"x": 1}},
        {"id": "two", "tool": "two", "arguments": {"x": "{{one.result.n}}"}},
        {"id": "three", "tool": "three", "arguments": {"x": "{{two.result}}", "y": "{{one.result.n}}"}},
    ]));
    let desk = Desk::new([
        ("one", Ok(json!({"n": "1st"}))),
        ("two", Ok(json!("2nd"))),
        ("three", Ok(json!("3rd"))),
    ]);
    let ran = desk.run(&plan, json!({}));
    let calls = [
        ("one".to_owned(), json!({"x": 1})),
        ("two".to_owned(), json!({"x": "1st"})),
        ("three".to_owned(), json!({"x": "2nd", "y": "1st"})),
    ];
    assert_eq!(ran.calls, calls);
    let results = json!({"one": {"n": "1st"}, "two": "2nd", "three": "3rd"});
    assert_eq!(ran.output.unwrap(), results);
}

#[test]
fn find_dependencies_finds_john_and_the_manager() {
    let plan = strict(&json!([
        {"id": "find_john", "tool": "fetch_entity", "arguments": {}},
        {"id": "find_manager", "tool": "fetch_entity", "arguments": {}},
        {"id": "send", "tool": "send_email", "arguments": {"input": {
            "to": "{{find_john.result.email}}", "cc": "{{find_manager.result.email}}",
        }}},
    ]));
    assert_eq!(
        ids(plan.dependencies("send")),
        ["find_john", "find_manager"]
    );
    let typed = typed::SendToJohnAndManager::PLAN;
    assert_eq!(
        ids(typed.dependencies("send")),
        ["find_john", "find_manager"]
    );
}

fn diamond() -> Value {
    json!([
        {"id": "A", "tool": "a", "arguments": {}},
        {"id": "B", "tool": "b", "arguments": {"x": "{{A.result.x}}"}},
        {"id": "C", "tool": "c", "arguments": {"x": "{{A.result.x}}"}},
        {"id": "D", "tool": "d", "arguments": {"x": "{{B.result.x}} {{C.result.x}}"}},
    ])
}

#[test]
fn get_execution_levels_of_the_diamond() {
    let expected = json!([["A"], ["B", "C"], ["D"]]);
    assert_eq!(levels(&strict(&diamond())), expected);
    let typed: Vec<Vec<String>> = serde_json::from_value(levels(typed::Diamond::PLAN)).unwrap();
    assert_eq!(
        json!(typed).to_string().to_uppercase(),
        expected.to_string()
    );
}

/// B and C each end only after the other has started.
#[test]
fn execution_order_b_and_c_run_in_parallel_and_d_waits_for_both() {
    let running = Arc::new(AtomicUsize::new(0));
    let meet = |toolbox: Toolbox<()>, name: &str| {
        let running = Arc::clone(&running);
        toolbox.with_fn(Contract::new(name), move |_| {
            let running = Arc::clone(&running);
            async move {
                running.fetch_add(1, Ordering::SeqCst);
                for _ in 0..1_000 {
                    if running.load(Ordering::SeqCst) == 2 {
                        return Ok(json!({"x": "met"}));
                    }
                    smol::future::yield_now().await;
                }
                Err(plan_runtime::Error::msg("the other step did not start"))
            }
        })
    };
    let toolbox = Toolbox::new()
        .with_fn(Contract::new("a"), |_| async { Ok(json!({"x": 1})) })
        .with_fn(Contract::new("d"), |given| async { Ok(given) });
    let toolbox = meet(meet(toolbox, "b"), "c");
    let plan = strict(&diamond());
    let output = smol::block_on(toolbox.run(&plan, json!({}), &())).unwrap();
    assert_eq!(output["D"], json!({"x": "met met"}));
}

#[test]
fn get_execution_levels_circular_dependency_detected() {
    let document = json!([
        {"id": "a", "tool": "t", "arguments": {"x": "{{b.result.x}}"}},
        {"id": "b", "tool": "t", "arguments": {"x": "{{c.result.x}}"}},
        {"id": "c", "tool": "t", "arguments": {"x": "{{a.result.x}}"}},
    ]);
    assert_eq!(codes(&document), [Code::Cycle]);
}

fn create_meeting() -> Value {
    json!([{"id": "create_meeting", "tool": "create_calendar_event", "arguments": {"input": {
        "title": "{{PLACEHOLDER_meeting_title}}", "startTime": "{{PLACEHOLDER_start_time}}",
        "attendees": ["{{PLACEHOLDER_attendee_email}}"],
    }}}])
}

fn calendar() -> Desk {
    Desk::new([("create_calendar_event", Ok(json!("created")))])
}

/// A placeholder of the user is an input of the plan.
#[test]
fn find_user_placeholders_of_create_meeting() {
    let plan = strict(&create_meeting());
    let mut names: Vec<&str> = plan.inputs.iter().map(|input| &*input.name).collect();
    let expected = ["attendee_email", "meeting_title", "start_time"];
    names.sort_unstable();
    assert_eq!(names, expected);
    let typed = typed::CreateMeeting::PLAN;
    let mut names: Vec<&str> = typed.inputs.iter().map(|input| &*input.name).collect();
    names.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn placeholder_convention_the_user_fills_inputs_before_the_run() {
    let desk = calendar();
    let inputs = json!({"meeting_title": "Q1", "start_time": "2024-01-15T10:30:00Z", "attendee_email": "sarah@company.com"});
    let plan = strict(&create_meeting());
    let ran = same_calls(&desk, &plan, typed::CreateMeeting::PLAN, &inputs);
    let filled = json!({"input": {"title": "Q1", "startTime": "2024-01-15T10:30:00Z", "attendees": ["sarah@company.com"]}});
    assert_eq!(ran.arguments("create_calendar_event"), &filled);
}

#[test]
fn placeholder_convention_nothing_runs_until_they_are_filled() {
    let (desk, plan) = (calendar(), strict(&create_meeting()));
    let ran = desk.run(&plan, json!({"meeting_title": "Q1"}));
    let error = ran.output.unwrap_err().to_string();
    assert!(error.contains("`start_time`") && error.contains("`attendee_email`"));
    assert!(ran.calls.is_empty());
    // Like the document's resolver, the compat profile leaves the placeholder unresolved.
    let plan = read(Dialect::ActionPlan, Profile::Compat, &create_meeting());
    let ran = desk.run(&plan, json!({}));
    let unresolved = &create_meeting()[0]["arguments"];
    assert_eq!(ran.arguments("create_calendar_event"), unresolved);
}

/// The steps of the document's table: a step that reads another one. Returns the status of the reading step.
fn status_after(answer: Answer) -> String {
    let plan = strict(&json!([
        {"id": "first", "tool": "first", "arguments": {}},
        {"id": "second", "tool": "second", "arguments": {"x": "{{first.result.data}}"}},
    ]));
    let desk = Desk::new([("first", answer), ("second", Ok(Value::Null))]);
    desk.run(&plan, json!({})).status("second")
}

#[test]
fn error_handling_not_completed_is_blocked_waiting_for_dependency() {
    assert_eq!(status_after(Err("it is down")), "blocked by `first`");
}

#[test]
fn error_handling_path_not_found_is_failed_missing_data() {
    let status = status_after(Ok(json!({"other": 1})));
    assert!(status.starts_with("failed: "), "{status}");
    assert!(status.contains("{{first.result.data}}"), "{status}");
    let (end, missing) = status.split_once("`data`").expect(&status);
    assert!(!end.is_empty() && !missing.is_empty(), "{status}");
    assert_eq!(status_after(Ok(json!({"data": 1}))), "completed");
}

/// The document's run fails at the step. The project refuses the plan before the run.
#[test]
fn error_handling_step_not_found_is_failed_invalid_reference() {
    let document =
        json!([{"id": "second", "tool": "second", "arguments": {"x": "{{frist.result.data}}"}}]);
    assert_eq!(codes(&document), [Code::UnknownStep]);
}
