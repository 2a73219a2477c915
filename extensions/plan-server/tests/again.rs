//! The questions of all runs, the search for runs, and runs that run again.

mod support;

use serde_json::{Value, json};
use support::{Folder, Process};

/// Returns a plan that sends an e-mail.
fn sends() -> String {
    let step = json!({"id": "sent", "tool": "email_send",
        "arguments": {"to": "{{PLACEHOLDER_to}}", "subject": "{{PLACEHOLDER_subject}}"}});
    json!([step]).to_string()
}

fn asks(run: &Value) -> bool {
    run["questions"]
        .as_array()
        .is_some_and(|all| !all.is_empty())
}

#[test]
fn one_list_has_the_questions_of_all_runs() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let long = "x".repeat(9_000);
    let inputs = json!({"to": "ada@example.org", "subject": long});
    let ids = [(); 2].map(|()| server.begin(&sends(), &inputs, "each"));
    for id in &ids {
        server.until(id, asks);
    }
    let (status, answer) = server.get("/api/questions");
    assert_eq!((status, &answer["count"]), (200, &json!(2)));
    let questions = answer["questions"].as_array().unwrap();
    let runs: Vec<&str> = questions
        .iter()
        .map(|it| it["run"].as_str().unwrap())
        .collect();
    assert!(ids.iter().all(|id| runs.contains(&id.as_str())));
    let question = &questions[0];
    assert_eq!(question["plan"], "email_send");
    assert!(question["text"].as_str().unwrap().ends_with("not shown"));
    let path = format!(
        "/api/runs/{}/questions/{}",
        runs[0],
        question["id"].as_str().unwrap()
    );
    let (_, whole) = server.get(&path);
    assert!(whole["text"].as_str().unwrap().contains(&long));
    let (status, _) = server.post(&path, &json!({"decision": "refuse", "reason": "no"}));
    assert_eq!(status, 200);
    assert_eq!(server.get(&path).0, 409);
    assert_eq!(server.get("/api/questions").1["count"], 1);
}

#[test]
fn a_run_is_found_by_its_inputs() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let begin = |subject: &str| {
        let inputs = json!({"to": "ada@example.org", "subject": subject});
        let id = server.begin(&sends(), &inputs, "none");
        server.ended(&id);
        id
    };
    let first = begin("The first \"quoted\" line");
    let second = begin("Another line");
    let found = |query: &str| -> (Vec<String>, Value) {
        let (status, list) = server.get(&format!("/api/runs?{query}"));
        assert_eq!(status, 200);
        let ids = list["runs"].as_array().unwrap().iter();
        let ids = ids.map(|run| run["id"].as_str().unwrap().to_owned());
        (ids.collect(), list)
    };
    assert_eq!(found("text=LINE").0, [second.clone(), first.clone()]);
    assert_eq!(found("text=%22quoted%22").0, std::slice::from_ref(&first));
    let by_id = found(&format!("text={}", &second[4..])).0;
    assert_eq!(by_id, std::slice::from_ref(&second));
    assert!(found("text=nowhere").0.is_empty());
    let (ids, list) = found("text=line&limit=1&count=true");
    assert_eq!(ids, std::slice::from_ref(&second));
    assert_eq!(list["count"], json!({"least": 2, "is_exact": true}));
    let (ids, list) = found(&format!("text=line&limit=1&before={second}"));
    assert_eq!((ids, &list["next"]), (vec![first], &Value::Null));
}

#[test]
fn a_plan_runs_again() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let steps = r#"[{"id": "slow", "tool": "slow", "arguments": {"ms": 1, "text": "{{PLACEHOLDER_text}}"}},
        {"id": "sent", "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "{{slow.result}}"}}]"#;
    let inputs = json!({"text": "9007199254740993"});
    let id = server.begin(steps, &inputs, "each");
    let decide = |id: &str, decision: Value| {
        let run = server.until(id, asks);
        server.answer(id, &run["questions"][0], &decision);
    };
    decide(&id, json!({"decision": "allow"}));
    decide(&id, json!({"decision": "refuse", "reason": "not now"}));
    assert_eq!(server.ended(&id)["state"], "failed");
    let (_, list) = server.get("/api/runs?state=failed");
    let error = "step `sent` (email_send): was refused: not now";
    assert_eq!(list["runs"][0]["error"], error);
    let path = |what: &str| format!("/api/runs/{id}/{what}");
    // The plan is plan JSON, which is a plan of its own.
    let (_, plan) = server.get(&path("plan"));
    assert_eq!(plan["inputs"], inputs);
    let (_, checked) = server.post("/api/check", &json!({"text": plan["text"]}));
    assert_eq!(checked["findings"], json!([]));
    // The completed step is kept.
    assert_eq!(server.post(&path("retry"), &json!({})).0, 200);
    decide(&id, json!({"decision": "allow"}));
    assert_eq!(server.ended(&id)["state"], "done");
    assert_eq!(folder.effects().len(), 2);
    let (status, refused) = server.post(&path("retry"), &json!({}));
    assert_eq!(
        (status, &refused["error"]["code"]),
        (409, &json!("CANNOT_RETRY"))
    );
    // The page asks before the calls of a second run as well.
    let (status, made) = server.post(&path("again"), &json!({}));
    assert_eq!(status, 201);
    let second = made["id"].as_str().unwrap();
    let run = server.until(second, asks);
    assert_eq!((&run["inputs"], &run["approve"]), (&inputs, &json!("each")));
    assert_eq!(server.get("/api/runs/none/plan").0, 404);
}

#[test]
fn the_age_of_a_question_outlives_the_server() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let inputs = json!({"to": "ada@example.org", "subject": "x"});
    let id = server.begin(&sends(), &inputs, "each");
    let first = server.until(&id, asks)["questions"][0].clone();
    server.kill();
    let server = Process::start(&folder);
    let second = server.until(&id, asks)["questions"][0].clone();
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["asked"], first["asked"]);
}
