//! The states of runs, steps and attempts in events, lists and answers.

mod support;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Folder, PATIENCE, Process};

/// Three e-mails, each with a question.
const THREE: &str = r#"{"name": "three", "steps": [{"id": "sent", "for": {"pattern": "to",
    "list": ["a@example.org", "b@example.org", "c@example.org"], "body": {"tool": {"name": "email_send"}, "arguments": {"object": {
        "to": {"reference": {"local": 0, "pointer": ""}}, "subject": "Hello"}}}}}]}"#;

fn statuses(run: &Value, path: &str) -> Vec<String> {
    let steps = run["progress"].as_array().unwrap().iter();
    steps
        .filter(|step| step["path"].as_str().unwrap().starts_with(path))
        .map(|step| format!("{} {}", step["path"], step["status"]))
        .collect()
}

/// Refuses each of three open questions, after each possible answer to another question.
#[test]
fn a_refusal_among_open_questions_is_told() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    for refused in 0..3 {
        for allowed in [None, Some((refused + 1) % 3), Some((refused + 2) % 3)] {
            let id = server.begin(THREE, &json!({}), "each");
            let run = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 3);
            let question = |element: usize| {
                let all = run["questions"].as_array().unwrap().iter();
                let path = format!("sent[{element}]");
                all.clone().find(|it| it["path"] == *path).unwrap()
            };
            if let Some(allowed) = allowed {
                server.answer(&id, question(allowed), &json!({"decision": "allow"}));
                server.until(&id, |run| {
                    statuses(run, "sent[").contains(&format!("\"sent[{allowed}]\" \"completed\""))
                });
            }
            let refuse = json!({"decision": "refuse", "reason": "not to them"});
            server.answer(&id, question(refused), &refuse);
            let run = server.ended(&id);
            assert_eq!(
                (&run["state"], &run["questions"]),
                (&json!("failed"), &json!([]))
            );
            let error = format!("step `sent[{refused}]`: was refused: not to them");
            assert_eq!(run["error"], error);
            let mut expected = Vec::new();
            if let Some(allowed) = allowed {
                expected.push(format!("\"sent[{allowed}]\" \"completed\""));
            }
            expected.push("\"sent\" \"failed\"".into());
            assert_eq!(statuses(&run, "sent"), expected, "{run:#}");
        }
    }
}

/// The events of a step have the number, the times and the error of each attempt.
#[test]
fn attempts_are_told_with_their_numbers() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let text = r#"{"requestId": "patience", "steps": [
        {"tool": "slow", "params": {"ms": 700, "text": "done"}},
        {"tool": "flaky", "params": {"failures": 2}, "dependsOn": [0], "retryCount": 3}
    ]}"#;
    let id = server.begin(text, &json!({}), "none");
    let events = server.events(&id);
    let all: Vec<Value> = events
        .filter(|(name, step)| name == "step" && step["path"] == "step1")
        .map(|(_, step)| step)
        .collect();
    let told: Vec<String> = all
        .iter()
        .map(|step| {
            let has = |member: &'static str| if step[member].is_null() { "" } else { member };
            let parts = [&step["status"].to_string(), &step["attempt"].to_string()];
            let parts = [
                parts[0],
                parts[1],
                has("started_ms"),
                has("ended_ms"),
                has("error"),
            ];
            parts.join(" ")
        })
        .collect();
    let expected = [
        "\"running\" null started_ms  ",
        "\"running\" 1 started_ms ended_ms error",
        "\"running\" 2 started_ms  ",
        "\"running\" 2 started_ms ended_ms error",
        "\"running\" 3 started_ms  ",
        "\"running\" 3 started_ms ended_ms ",
        "\"completed\" null started_ms ended_ms ",
    ];
    assert_eq!(told, expected);
    let times = |attempt: u64| {
        let one = all
            .iter()
            .find(|it| it["attempt"] == attempt && !it["ended_ms"].is_null());
        let one = one.unwrap();
        (
            one["started_ms"].as_f64().unwrap(),
            one["ended_ms"].as_f64().unwrap(),
        )
    };
    assert!(
        times(1).1 <= times(2).0 + 1.0 && times(2).1 <= times(3).0 + 1.0,
        "{all:?}"
    );
}

#[test]
fn a_cancelled_run_has_a_state_of_its_own() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let offsite = r#"{"name": "offsite", "steps": [{"id": "room", "await": "String"}]}"#;
    let ids: Vec<String> = (0..2)
        .map(|_| server.begin(offsite, &json!({}), "none"))
        .collect();
    let failing = r#"{"requestId": "f", "steps": [{"tool": "flaky", "params": {"failures": 9}}]}"#;
    let failed = server.begin(failing, &json!({}), "none");
    assert_eq!(server.ended(&failed)["state"], "failed");
    server.until(&ids[0], |run| run["waits"] != json!([]));
    let mut events = server.events(&ids[0]);
    assert_eq!(
        server
            .post(&format!("/api/runs/{}/cancel", ids[0]), &json!({}))
            .0,
        200
    );
    let run = server.ended(&ids[0]);
    assert_eq!(run["state"], "cancelled");
    assert!(
        run["error"].as_str().unwrap().contains("was cancelled"),
        "{run}"
    );
    assert_eq!(events.next().unwrap().1["state"], "waiting");
    assert_eq!(
        events.last().unwrap(),
        ("end".into(), json!({"state": "cancelled"}))
    );

    let of = |state: &str| {
        let (status, list) = server.get(&format!("/api/runs?state={state}"));
        assert_eq!(status, 200, "{list}");
        let runs = list["runs"].as_array().unwrap().clone();
        assert!(runs.iter().all(|run| run["state"] == state), "{list}");
        runs.iter()
            .map(|run| run["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("cancelled"), [&*ids[0]]);
    assert_eq!(of("failed"), [&*failed]);
    assert_eq!(of("waiting"), [&*ids[1]]);
    assert_eq!(of("done"), [] as [&str; 0]);

    let execute = r#"mutation { executePlan(plan: {requestId: "c-1", steps: [{tool: "slow", params: {ms: 50000}}]}) { state } }"#;
    let cancelled = std::thread::scope(|scope| {
        let executed = scope.spawn(|| server.graphql(execute, &json!({})));
        let began = Instant::now();
        while server.get("/api/runs/gs-c-1").0 == 404 {
            assert!(began.elapsed() < PATIENCE, "it never begins");
            std::thread::sleep(Duration::from_millis(20));
        }
        let cancel = server.graphql(r#"mutation { cancelPlan(requestId: "c-1") }"#, &json!({}));
        assert_eq!(cancel["data"]["cancelPlan"], true);
        executed.join().unwrap()
    });
    assert_eq!(cancelled["data"]["executePlan"]["state"], "cancelled");
    let plan = server.graphql(
        r#"{ plan(requestId: "c-1") { state } results(requestId: "c-1") { state } }"#,
        &json!({}),
    );
    assert_eq!(
        plan["data"],
        json!({"plan": {"state": "cancelled"}, "results": {"state": "cancelled"}})
    );
    let counted = || server.metric("plan_runs_ended_total{state=\"cancelled\"}");
    server.until(&ids[0], |_| counted() == 2.0);
    assert_eq!(
        server.metric("plan_runs_ended_total{state=\"failed\"}"),
        1.0
    );
}

/// People answer questions and send values. Nobody has to do anything for a run that waits for a time.
#[test]
fn waiting_runs_are_found_by_what_they_wait_for() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plans = [
        (
            "time",
            json!([{"id": "pause", "tool": "sleep", "arguments": {"time": "1h"}}]),
        ),
        ("value", json!([{"id": "room", "await": "String"}])),
        (
            "answer",
            json!([{"id": "sent", "tool": "email_send", "arguments": {"to": "{{PLACEHOLDER_to}}", "subject": "x"}}]),
        ),
    ];
    let to = "ada@example.org";
    let ids = plans.map(|(waits_for, plan)| {
        let inputs = if waits_for == "answer" {
            json!({"to": to})
        } else {
            json!({})
        };
        let id = server.begin(&plan.to_string(), &inputs, "each");
        let run = server.until(&id, |run| run["waits_for"] == waits_for);
        assert_eq!(run["state"], "waiting");
        (waits_for, id)
    });
    for (waits_for, id) in ids {
        let (_, list) = server.get(&format!("/api/runs?waits_for={waits_for}"));
        let found: Vec<&Value> = list["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| &run["id"])
            .collect();
        assert_eq!(found, [&json!(id)], "{waits_for}");
        let inputs = if waits_for == "answer" {
            "to: ada@example.org"
        } else {
            ""
        };
        assert_eq!(list["runs"][0]["inputs_text"], inputs);
    }
    assert_eq!(server.get("/api/runs?waits_for=me").0, 400);
}

/// A run waits for a time only if a step does, and not while no server has begun it.
#[test]
fn a_new_run_does_not_wait() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!([{"id": "pause", "tool": "sleep", "arguments": {"time": "1h"}}]);
    for _ in 0..30 {
        let id = server.begin(&plan.to_string(), &json!({}), "none");
        let new = server.run(&id);
        let has_begun = !statuses(&new, "pause").is_empty();
        assert!(has_begun || new["waits_for"].is_null(), "{new:#}");
        let run = server.until(&id, |run| run["waits_for"] == "time");
        assert_eq!(run["state"], "waiting");
    }
}

/// The list has the times of the runs and of their reports.
#[test]
fn lists_and_runs_have_one_time() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let failing = json!([{"id": "line", "tool": "flaky", "arguments": {"failures": 9}}]);
    let slow = json!([{"id": "slow", "tool": "slow", "arguments": {"ms": 40, "text": "x"}}]);
    let ids = [failing, slow].map(|plan| server.begin(&plan.to_string(), &json!({}), "none"));
    let failed = server.ended(&ids[0]);
    assert_eq!(
        (&failed["is_transient"], &failed["idle_ms"]),
        (&json!(true), &Value::Null)
    );
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(
        server
            .post(&format!("/api/runs/{}/retry", ids[0]), &json!({}))
            .0,
        200
    );
    for id in &ids {
        let run = server.ended(id);
        let (_, list) = server.get("/api/runs");
        let mut runs = list["runs"].as_array().unwrap().iter();
        let listed = runs.find(|run| run["id"] == **id).unwrap();
        let times = |of: &Value| ["took_ms", "idle_ms"].map(|name| of[name].clone());
        assert_eq!(times(listed), times(&run));
        match run["idle_ms"].as_f64() {
            Some(idle) => assert!(
                idle >= 300.0 && run["took_ms"].as_f64() > Some(idle),
                "{run:#}"
            ),
            None => {
                let [took, report] = [&run["took_ms"], &run["report"]["duration_ms"]];
                let apart = took.as_f64().unwrap() - report.as_f64().unwrap();
                assert!(apart.abs() < 0.001, "{run:#}");
            }
        }
    }
}

/// The event and the state of a step with a `for` have the length of its list.
#[test]
fn a_running_list_has_its_length() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let id = server.begin(THREE, &json!({}), "each");
    let run = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 3);
    let steps = run["progress"].as_array().unwrap();
    let sent = steps.iter().find(|step| step["path"] == "sent").unwrap();
    assert_eq!(sent["elements"], 3, "{run:#}");
    // The length remains for a list that ends early.
    let cancel = format!("/api/runs/{id}/cancel");
    assert_eq!(server.post(&cancel, &json!({})).0, 200);
    let run = server.ended(&id);
    let mut steps = run["progress"].as_array().unwrap().iter();
    let sent = steps.rfind(|step| step["path"] == "sent").unwrap();
    assert_eq!(sent["elements"], 3, "{run:#}");
}
