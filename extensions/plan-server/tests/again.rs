//! The questions of all runs, the search for runs, and runs that run again.

mod support;

use plan_graph::Time;
use serde_json::{Value, json};
use std::time::Duration;
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
    let count = json!({"least": 2, "is_exact": true, "states": {"done": 2}});
    assert_eq!(list["count"], count);
    let (ids, list) = found(&format!("text=line&limit=1&before={second}"));
    assert_eq!((ids, &list["next"]), (vec![first], &Value::Null));
}

/// A search finds a run by the name of the run, and by the name of the plan. A repeated run keeps the name.
#[test]
fn a_run_and_its_plan_have_names() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let text = json!({"name": "weekly", "steps": [{"id": "a", "await": "String"}]}).to_string();
    let begin = |name: &str| {
        let (status, made) = server.post("/api/runs", &json!({"text": text, "name": name}));
        assert_eq!(status, 201);
        made["id"].as_str().unwrap().to_owned()
    };
    begin(" ");
    let id = begin("Monday\u{202e} ");
    let (_, run) = server.get(&format!("/api/runs/{id}"));
    let name = json!(r"Monday\u{202e}");
    assert_eq!((&run["name"], &run["plan"]), (&name, &json!("weekly")));
    let (_, page) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert!(page.contains(r"<h1>Monday\u{202e}: weekly</h1>"), "{page}");
    let (_, plan) = server.get(&format!("/api/runs/{id}/plan"));
    let starts = [
        ("printed", "plan weekly"),
        ("mermaid", "---\ntitle: \"weekly\""),
        ("dot", "digraph"),
    ];
    for (member, start) in starts {
        let text = plan[member].as_str().unwrap();
        assert!(text.starts_with(start), "{text}");
    }
    assert!(plan["text"].as_str().unwrap().contains("weekly"), "{plan}");
    assert_eq!(
        server.post(&format!("/api/runs/{id}/again"), &json!({})).0,
        201
    );
    for (query, expected) in [("text=monday", 2), ("text=weekly", 3), ("plan=weekly", 3)] {
        let (_, list) = server.get(&format!("/api/runs?{query}"));
        assert_eq!(list["runs"].as_array().unwrap().len(), expected, "{query}");
        assert_eq!(list["runs"][0]["name"], name);
    }
    let (_, plans) = server.get("/api/plans");
    assert_eq!(plans, json!({"plans": ["weekly"]}));
}

/// The runs of a sorted list continue on the next page, and the counts are independent of the page and of the state.
#[test]
fn runs_are_sorted_and_counted() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let begin = |name: &str, tool: &str, arguments: Value| {
        let step = json!({"id": "a", "tool": {"name": tool}, "arguments": {"object": arguments}});
        let text = json!({"name": name, "steps": [step]}).to_string();
        server.ended(&server.begin(&text, &json!({}), "none"));
    };
    begin("b", "slow", json!({"ms": 400}));
    begin("C", "slow", json!({"ms": 1}));
    begin("a", "flaky", json!({"failures": 1}));
    let names = |query: &str| {
        let (status, list) = server.get(&format!("/api/runs?count=true&{query}"));
        assert_eq!(status, 200, "{list}");
        let all = list["runs"].as_array().unwrap().iter();
        let names: Vec<String> = all.map(|it| it["plan"].as_str().unwrap().into()).collect();
        (names.join(""), list)
    };
    let sorted = |order: &str| names(&format!("sort={order}")).0;
    let orders = ["began", "-began", "plan", "-plan", "state", "-state"];
    // The newest of equal runs comes first in each order.
    let expected = ["bCa", "aCb", "abC", "Cba", "Cba", "aCb"];
    assert_eq!(orders.map(sorted), expected);
    assert!(sorted("took").ends_with('b') && sorted("-took").starts_with('b'));
    let (first, list) = names("sort=plan&limit=2");
    let next = list["next"].as_str().unwrap();
    let (second, list) = names(&format!("sort=plan&limit=2&before={next}&state="));
    assert_eq!(
        (&*first, &*second, &list["next"]),
        ("ab", "C", &Value::Null)
    );
    let id = list["runs"][0]["id"].as_str().unwrap();
    assert_eq!(names(&format!("sort=plan&before={id}")).0, "b");
    assert_eq!(server.get("/api/runs?before=x:").0, 400);
    let (failed, list) = names("sort=plan&state=failed");
    let count = json!({"least": 1, "is_exact": true, "states": {"done": 2, "failed": 1}});
    assert_eq!((&*failed, &list["count"]), ("a", &count));
    assert_eq!(names("text=LINE%20was%20busy").0, "a");
    let (status, wrong) = server.get("/api/runs?sort=size");
    let help = wrong["error"]["help"].as_str().unwrap_or_default();
    assert!(status == 400 && help.contains("`took`"), "{wrong}");
}

/// A list of open runs contains the progress of their lists. An element ends once: after its inner list, and after its last attempt.
#[test]
fn a_running_list_has_its_progress() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let each = |list: Value, body: Value, policy: Value| {
        let step = json!({"id": "all", "for": {"pattern": "ms", "list": list, "body": body}, "policy": policy});
        let plan = json!({"steps": [step], "output_steps": ["all"]});
        server.begin(&plan.to_string(), &json!({}), "none")
    };
    let has = |id: &str, elements: usize, ended: usize, failed: usize| {
        let list = json!([{"path": "all", "elements": elements, "ended": ended, "failed": failed}]);
        server.until(id, |run| run["lists"] == list);
        let (_, all) = server.get("/api/runs");
        let mut runs = all["runs"].as_array().unwrap().iter();
        assert_eq!(runs.find(|it| it["id"] == id).unwrap()["lists"], list);
    };
    let slow = json!({"tool": "slow", "arguments": {"ms": "$ref:ms"}});
    let one = json!({"concurrency": 1, "optional": "each"});
    // The second element fails, because its time is too long for the tool.
    let id = each(json!([1, 60_001, 1, 60_000, 60_000]), slow.clone(), one);
    has(&id, 5, 3, 1);
    let rows = json!([[1, 1], [1, 1], [30_000]]);
    let nested = json!({"for": {"pattern": "one", "list": "$ref:ms", "body": {"tool": "slow", "arguments": {"ms": "$ref:one"}}}});
    let id = each(rows, nested, json!({"concurrency": 1}));
    let mut counts = server
        .events(&id)
        .filter_map(|(_, it)| it["ended"].as_u64());
    assert!(counts.any(|ended| ended == 2));
    has(&id, 3, 2, 0);
    let (run, all) = (server.run(&id), json!("all"));
    let mut steps = run["progress"].as_array().unwrap().iter();
    assert_eq!(steps.find(|it| it["path"] == all).unwrap()["ended"], 2);
    // A failed step has no open list, although the run continues.
    let plan = json!({"steps": [
        {"id": "other", "tool": "slow", "arguments": {"ms": 30_000}},
        {"id": "all", "for": {"pattern": "ms", "list": [60_001, 1, 1], "body": slow}, "policy": {"concurrency": 1}}
    ], "output_steps": ["all"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let run = server.until(&id, |run| {
        let mut steps = run["progress"].as_array().unwrap().iter();
        steps.any(|it| it["path"] == all && it["status"] == "failed")
    });
    assert_eq!(
        (&run["state"], &run["lists"]),
        (&json!("running"), &json!([]))
    );
    // An element that waits for its next attempt runs, in events as in the state of the run.
    let plan = json!({"steps": [
        {"id": "first", "tool": "slow", "arguments": {"ms": 600}},
        {"id": "all", "after": ["first"], "for": {"pattern": "failures", "list": [0, 1], "body": {"tool": "flaky", "arguments": {"failures": "$ref:failures"}}},
            "policy": {"attempts": 3, "backoff": "60s", "jitter": false}}
    ], "output_steps": ["all"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let events = server
        .events(&id)
        .filter(|(_, event)| event["path"] == "all[1]");
    let states: Vec<Value> = events
        .take(2)
        .map(|(_, event)| event["status"].clone())
        .collect();
    assert_eq!(states, ["failed", "running"]);
    let run = server.run(&id);
    let mut all = run["progress"].as_array().unwrap().iter();
    let element = all.find(|it| it["path"] == "all[1]").unwrap();
    assert!(element["status"] == "running" && element["error"].is_string());
    has(&id, 2, 1, 0);
    // The state is equal after a restart.
    drop(server);
    let server = Process::start(&folder);
    server.until(&id, |run| {
        let mut all = run["progress"].as_array().unwrap().iter();
        all.any(|it| it["path"] == "all[1]" && it["status"] == "running")
    });
}

/// A report has one row for equal answers about the elements of a list, and a long input is on one line until the reader opens it.
#[test]
fn a_report_has_short_rows() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let report = |id: &str| {
        server.ended(id);
        server.get_text(&format!("/api/runs/{id}/report.html")).1
    };
    let plan = json!({"steps": [{"id": "sent", "for": {"pattern": "to", "list": ["a@example.org", "b@example.org"],
        "body": {"tool": "email_send", "arguments": {"to": "$ref:to", "subject": "x"}}}, "policy": {"concurrency": 2}}], "output_steps": ["sent"]});
    let id = server.begin(&plan.to_string(), &json!({}), "each");
    let run = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 2);
    for question in run["questions"].as_array().unwrap() {
        let allow = json!({"decision": "allow", "by": "Ada"});
        server.answer(&id, question, &allow);
        std::thread::sleep(Duration::from_millis(2));
    }
    let page = report(&id);
    let row = "<dt>Answers for 2 calls of sent</dt><dd>allowed by <strong>Ada</strong>, from <time";
    assert!(page.contains(row), "{page}");
    let inputs = json!({"to": "ada@example.org", "subject": "x".repeat(900)});
    let page = report(&server.begin(&sends(), &inputs, "none"));
    let row = "<dt>Input subject</dt><dd><details><summary><code>&quot;xxx";
    assert!(page.contains(row), "{page}");
}

/// The 24 hours of a run begin again with a retry.
#[test]
fn an_old_run_has_time_after_a_retry() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let inputs = json!({"to": "ada@example.org", "subject": "x"});
    let id = server.begin(&sends(), &inputs, "each");
    let run = server.until(&id, asks);
    server.answer(&id, &run["questions"][0], &json!({"decision": "refuse"}));
    server.ended(&id);
    assert!(server.terminate());
    let database = rusqlite::Connection::open(folder.path().join("runs.db")).unwrap();
    let hour = 3_600_000_000_000_i64;
    let sql = "UPDATE runs SET began = began - ?1, ended = ended - ?1";
    assert_eq!(database.execute(sql, [26 * hour]).unwrap(), 1);
    drop(database);
    let server = Process::start(&folder);
    let (status, _) = server.post(&format!("/api/runs/{id}/retry"), &json!({}));
    assert_eq!(status, 200);
    server.until(&id, asks);
    // A restart keeps the time of the retry.
    assert!(server.terminate());
    let server = Process::start(&folder);
    let run = server.until(&id, asks);
    let (_, all) = server.get("/api/questions");
    assert_eq!(all["questions"][0]["expires"], run["expires"]);
    assert!(run["expires"].as_str() > run["questions"][0]["asked"].as_str());
    server.answer(&id, &run["questions"][0], &json!({"decision": "allow"}));
    assert_eq!(server.ended(&id)["state"], "done");
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

/// The first refusal ends the run, and the record has all refusals.
#[test]
fn an_answer_to_several_questions_is_recorded_for_each() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [{"id": "sent", "for": {"pattern": "to", "list": ["a@example.org", "b@example.org"],
        "body": {"tool": "email_send", "arguments": {"to": "$ref:to", "subject": "x"}}}, "policy": {"concurrency": 2}}], "output_steps": ["sent"]});
    let id = server.begin(&plan.to_string(), &json!({}), "each");
    let run = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 2);
    let ids: Vec<_> = (0..2).map(|at| &run["questions"][at]["id"]).collect();
    let path = format!("/api/runs/{id}/questions");
    let refuse = json!({"questions": ids, "decision": "refuse", "by": "Ada", "reason": "no"});
    assert_eq!(server.post(&path, &refuse), (200, json!({"answered": 2})));
    let run = server.ended(&id);
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    let (steps, records) = report.split_once("<h2>Answers and retries</h2>").unwrap();
    assert!(steps.contains("<h2>Timeline</h2>") && records.contains("<dt>Answer for sent[1]</dt>"));
    let decisions = run["decisions"].as_array().unwrap();
    let paths: Vec<_> = decisions
        .iter()
        .map(|it| (&it["path"], &it["decision"], &it["by"]))
        .collect();
    let refused = json!(["sent[0]", "sent[1]", "refuse", "Ada"]);
    assert_eq!(
        paths,
        [
            (&refused[0], &refused[2], &refused[3]),
            (&refused[1], &refused[2], &refused[3])
        ]
    );
    // The questions are closed.
    assert_eq!(server.post(&path, &refuse).0, 409);
    let other = json!({"questions": ids, "decision": "allow_step"});
    assert_eq!(server.post(&path, &other).0, 400);
    // A report that does not exist is an unknown run.
    let (status, missing) = server.get("/api/runs/nope/report.html");
    assert_eq!(
        (status, &missing["error"]["code"]),
        (404, &json!("NO_SUCH_RUN"))
    );
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

/// The event of a question, the state of its run and the list of all questions have the intent of the step that asks.
#[test]
fn a_nested_question_has_the_intent_of_its_step() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [
        {"id": "slow", "tool": "slow", "arguments": {"ms": 600}},
        {"id": "all", "intent": "Book all days.", "after": ["slow"], "for": {"pattern": "day", "list": ["2027-03-12"], "body": {"block": {"steps": [
            {"id": "booked", "intent": "Book one day.", "tool": "event_book", "arguments": {"title": "x", "day": "$ref:day"}}
        ], "value": "$ref:booked.id"}}}}
    ], "output_steps": ["all"]});
    let id = server.begin(&plan.to_string(), &json!({}), "each");
    let mut events = server.events(&id);
    let allow = json!({"decision": "allow"});
    let run = server.until(&id, asks);
    server.answer(&id, &run["questions"][0], &allow);
    let is_booked = |asked: &Value| asked["path"] == "all[0].booked";
    let (_, event) = events
        .find(|(name, event)| name == "question" && is_booked(event))
        .unwrap();
    let run = server.until(&id, |run| is_booked(&run["questions"][0]));
    let (_, all) = server.get("/api/questions");
    for asked in [&event, &run["questions"][0], &all["questions"][0]] {
        assert_eq!(asked["intent"], "Book one day.", "{asked}");
    }
}

/// The plan of a run without a name has no name in the editor, so a changed plan has another title.
#[test]
fn a_title_is_not_the_name_of_an_edited_plan() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let edited = |plan: Value| {
        let id = server.begin(&plan.to_string(), &json!({}), "none");
        let (_, plan) = server.get(&format!("/api/runs/{id}/plan"));
        let text = plan["text"]
            .as_str()
            .unwrap()
            .replace(r#""intent": "Wait.""#, r#""intent": "Rest.""#);
        let id = server.begin(&text, &json!({}), "none");
        server.run(&id)["plan"].clone()
    };
    let steps = json!([{"id": "slow", "intent": "Wait.", "tool": {"name": "slow"}, "arguments": {"object": {"ms": 1}}}]);
    let output = json!({"value": {"reference": {"step": "slow", "pointer": ""}}});
    let plan = |name: &str| json!({"name": name, "steps": steps, "output": output});
    assert_eq!(edited(plan("plan")), "Rest.");
    assert_eq!(edited(plan("nap")), "nap");
}

/// A retry keeps the attempts that it repeats, also after a restart of the server.
#[test]
fn attempts_before_a_retry_are_kept() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!([
        {"id": "kept", "tool": "slow", "arguments": {"ms": 1}},
        {"id": "line", "tool": "flaky", "arguments": {"failures": 1}, "after": ["kept"]}
    ]);
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let first = server.ended(&id);
    assert_eq!(
        (&first["state"], &first["earlier"]),
        (&json!("failed"), &json!([]))
    );
    let path = format!("/api/runs/{id}/retry");
    assert_eq!(server.post(&path, &json!({})).0, 200);
    let second = server.ended(&id);
    let earlier = &second["earlier"][0]["attempts"];
    assert_eq!(
        (&earlier[0]["path"], &earlier[0]["attempt"]),
        (&json!("line"), &json!(1))
    );
    assert!(earlier[0]["error"].is_string() && earlier[0]["ended_ms"].is_f64());
    // The completed step is not repeated.
    assert_eq!(earlier.as_array().unwrap().len(), 1, "{earlier}");
    // The tool counts its failures over retries.
    assert_eq!(second["state"], "done", "{second}");
    server.kill();
    let server = Process::start(&folder);
    assert_eq!(server.run(&id)["earlier"], second["earlier"]);
    assert_eq!(server.run(&id)["restarts"], json!([]));
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert!(report.contains("<dt>Before retry 1</dt><dd><time datetime=\"2"));
    let attempt =
        "<li><code>line</code>, attempt 1: <strong class=\"failed\">failed</strong>, after ";
    assert!(report.contains(attempt), "{report}");
}

/// An attempt has the same times on the page, in the report, in Markdown and in JSON, also after a retry. Each form shows the attempts before
/// the retry, and an undone step is not a completed step.
#[test]
fn an_attempt_has_one_time() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [
        {"id": "kept", "tool": "contacts_find", "arguments": {"name": "Ada"}},
        {"id": "a", "after": ["kept"], "tool": "event_book", "arguments": {"title": "x", "day": "2027-03-12"}},
        {"id": "z", "undo": "a", "tool": "event_cancel", "arguments": {"id": "$ref:a.id"}},
        {"id": "line", "after": ["a"], "tool": "flaky", "arguments": {"failures": 2}}
    ], "output_steps": ["line"]});
    let start = json!({"text": plan.to_string(), "profile": "strict", "inputs": {}, "approve": "none", "name": "Ada <b>"});
    let (_, begun) = server.post("/api/runs", &start);
    let id = begun["id"].as_str().unwrap();
    let texts = || {
        let text = |end: &str| server.get_text(&format!("/api/runs/{id}/report.{end}")).1;
        (text("html"), text("md"))
    };
    // The milliseconds from the start to the end of each step with one call.
    let of_step = |run: &Value, at: usize| {
        let step = &run["report"]["steps"][at];
        let ms = |of: &Value, name: &str| of[name].as_f64().unwrap();
        let times = |of: &Value| (ms(of, "started_ms"), ms(of, "duration_ms"));
        assert_eq!(times(step), times(&step["attempts"][0]), "{step}");
        times(step)
    };
    let first = server.ended(id);
    let (kept, failed) = (of_step(&first, 0), of_step(&first, 3));
    let shown = |ms: f64| Time(Duration::from_secs_f64(ms / 1e3)).to_string();
    let (html, text) = texts();
    for part in ["<title>Ada &lt;b&gt;: ", "1 undone"] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert_eq!(html.matches("<dt>Began").count(), 0);
    assert!(
        html.contains(&format!("<dt>Took</dt><dd>{}</dd>", shown(kept.1))),
        "{html}"
    );
    let row = |name: &str, status: &str, calls: u32, took: f64| {
        format!(
            "| `{name}` | `{}` | {status} | {calls} | {} |",
            if name == "kept" {
                "contacts_find"
            } else {
                "flaky"
            },
            shown(took)
        )
    };
    assert!(
        text.contains(&row("kept", "completed", 1, kept.1)),
        "{text}"
    );
    assert!(
        text.contains("| `a` | `event_book` | undone | 1 |"),
        "{text}"
    );
    std::thread::sleep(Duration::from_millis(1_300));
    server.post(&format!("/api/runs/{id}/retry"), &json!({"by": "Ada"}));
    let second = server.ended(id);
    assert_eq!(of_step(&second, 0), kept);
    let retried = &second["earlier"][0];
    let mut attempts = retried["attempts"].as_array().unwrap().iter();
    let earlier = attempts.find(|it| it["path"] == "line").unwrap();
    let (started, ended) = (&earlier["started_ms"], &earlier["ended_ms"]);
    let took = ended.as_f64().unwrap() - started.as_f64().unwrap();
    assert!(
        (started.as_f64().unwrap() - failed.0).abs() < 0.01,
        "{earlier} {failed:?}"
    );
    assert!((took - failed.1).abs() < 0.01, "{earlier} {failed:?}");
    assert!(retried["idle_ms"].as_f64().unwrap() >= 1_300.0, "{retried}");
    let (html, text) = texts();
    assert!(html.contains("class=\"bad earlier\""), "{html}");
    assert!(
        html.contains("<dt>Retried</dt><dd>1 time, with 1."),
        "{html}"
    );
    let parts = [
        row("line", "failed", 2, of_step(&second, 3).1),
        format!(
            "- `line`, attempt 1: failed, took {}: `the line was busy",
            shown(took)
        ),
        "- The run: retried by `Ada`".to_owned(),
        "of that time between an end and a retry |".to_owned(),
    ];
    for part in parts {
        assert!(text.contains(&part), "{part} in {text}");
    }
}

/// The time between a failure and its retry is no wait of the repeated step.
#[test]
fn a_step_does_not_wait_for_a_retry() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [{"id": "line", "tool": "flaky", "arguments": {"failures": 1}}], "output_steps": ["line"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    assert_eq!(server.ended(&id)["state"], "failed");
    std::thread::sleep(Duration::from_millis(1_300));
    server.post(&format!("/api/runs/{id}/retry"), &json!({}));
    let run = server.ended(&id);
    let step = &run["report"]["steps"][0];
    let ms = |name: &str| step[name].as_f64().unwrap();
    assert!(ms("started_ms") > 1_300.0, "{step}");
    assert!(ms("duration_ms") < 1_000.0, "{step}");
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert!(!report.contains("for its turn"), "{report}");
}

/// The times of a retried run do not begin before the retry, and the report has the times that the retry removed.
#[test]
fn times_after_a_retry_are_true() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [
        {"id": "a", "tool": "event_book", "arguments": {"title": "x", "day": "2027-03-12"}},
        {"id": "z", "undo": "a", "tool": "event_cancel", "arguments": {"id": "$ref:a.id"}},
        {"id": "m", "after": ["a"], "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}}
    ], "output_steps": ["m"]});
    let id = server.begin(&plan.to_string(), &json!({}), "each");
    let answer = |path: &str, decision: &Value| {
        let run = server.until(&id, |run| run["questions"][0]["path"] == path);
        std::thread::sleep(std::time::Duration::from_millis(700));
        server.answer(&id, &run["questions"][0], decision);
    };
    let changed =
        json!({"decision": "allow", "by": "Ada", "arguments": {"title": "x", "day": "2027-03-15"}});
    answer("a", &changed);
    answer("m", &json!({"decision": "refuse"}));
    server.ended(&id);
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let (_, whole) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert!(
        whole.contains(r#"<p class="facts">3 steps in <strong>"#),
        "{whole}"
    );
    server.post(&format!("/api/runs/{id}/retry"), &json!({}));
    let run = server.until(&id, asks);
    let earlier = &run["earlier"][0];
    let waited = earlier["waited_ms"].as_f64();
    assert!(waited.is_some_and(|it| it >= 1_400.0), "{earlier}");
    // The step waits since the retry, and not since the start of the run.
    let began = run["progress"][0]["started_ms"].as_f64();
    assert!(began.is_some_and(|it| it >= 3_900.0), "{}", run["progress"]);
    let question = &run["questions"][0];
    assert_eq!(question["arguments"]["day"], "2027-03-12");
    let change = &question["changed_before"];
    assert_eq!(change["by"], "Ada");
    assert_eq!(change["arguments"], json!({"day": "2027-03-15"}));
    let (_, open) = server.get_text(&format!("/api/runs/{id}/report.html"));
    for part in [
        r#"<li class="waiting">… waiting</li>"#,
        r#"<p class="facts">3 steps, not ended after <strong>"#,
        r#"<p class="wait">Waits for an answer to <code>a</code>: <code>event_book</code>, since <time"#,
    ] {
        assert!(open.contains(part), "{part} in {open}");
    }
    answer("a", &json!({"decision": "allow"}));
    let run = server.until(&id, |run| run["questions"][0]["path"] == "m");
    assert_eq!(run["questions"][0]["changed_before"], Value::Null);
    answer("m", &json!({"decision": "allow"}));
    let run = server.ended(&id);
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    let (_, records) = report.split_once("<dt>Before retry 1</dt>").unwrap();
    let words = ["</time>, took ", " s of waits<ul>", "</strong>, after "];
    for part in words {
        assert!(records.contains(part), "{part} in {records}");
    }
    let took = earlier["took_ms"].as_f64();
    assert!(took >= waited, "{earlier}");
    assert!(report.contains("without an attempt of this timeline"));
    // The time of a person is apart from the time of the tool.
    let (_, text) = server.get_text(&format!("/api/runs/{id}/report.md"));
    let step = &run["report"]["steps"][2];
    let waited = step["waited_ms"]["answer"].as_f64().unwrap();
    let took = step["duration_ms"].as_f64().unwrap() - waited;
    let [took, waited] =
        [took, waited].map(|ms| Time(Duration::from_secs_f64(ms / 1e3)).to_string());
    let row = format!("| `m` | `email_send` | completed | 1 | {took} | {waited} |");
    assert!(text.contains(&row), "{row} in {text}");
}

/// Each form of a report shows the times of the last attempt, and the attempts before a retry under a separate heading.
#[test]
fn a_retry_without_a_call_has_its_own_times() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!({"steps": [
        {"id": "mails", "tool": "emails_list", "arguments": {"limit": 1}},
        {"id": "sent", "tool": "email_send", "arguments": {"to": "$ref:mails[9].from", "subject": "x"}}
    ], "output_steps": ["sent"]});
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let first = server.ended(&id);
    assert_eq!(first["state"], "failed", "{first}");
    let took = |run: &Value| run["report"]["duration_ms"].as_f64().unwrap();
    for retry in 1..=2 {
        std::thread::sleep(Duration::from_millis(1_100));
        server.post(&format!("/api/runs/{id}/retry"), &json!({}));
        let run = server.until(&id, |run| {
            run["state"] == "failed"
                && run["earlier"]
                    .as_array()
                    .is_some_and(|it| it.len() == retry)
        });
        let idle = 1_100.0 * retry as f64;
        let step = &run["report"]["steps"][1];
        let started = step["started_ms"].as_f64().unwrap();
        assert!(
            started >= idle && step["duration_ms"].as_f64() < Some(500.0),
            "{step}"
        );
        assert_eq!(step["attempts"][0]["called"], false, "{step}");
        assert!(
            step["attempts"][0]["started_ms"].as_f64() >= Some(idle),
            "{step}"
        );
        let retried = &run["earlier"][retry - 1];
        let [attempt] = &retried["attempts"].as_array().unwrap()[..] else {
            panic!("one attempt before the retry: {retried}");
        };
        assert_eq!(
            (&attempt["path"], &attempt["no_call"]),
            (&json!("sent"), &json!(true))
        );
        let ended = attempt["ended_ms"].as_f64().unwrap();
        assert!(ended < idle && ended >= idle - 1_100.0, "{attempt}");
        // The time counts from the retry before, without the time between an end and a retry.
        let before = retried["took_ms"].as_f64().unwrap();
        let least = if retry == 1 { took(&first) - 1.0 } else { 0.0 };
        assert!(before >= least && before < 1_000.0, "{retried}");
    }
    let (_, text) = server.get_text(&format!("/api/runs/{id}/report.md"));
    assert!(
        text.contains("| `sent` | `email_send` | failed | 0 |"),
        "{text}"
    );
    for part in ["### Before retry 1, took ", "### Before retry 2, took "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(
        text.matches("- `sent`, attempt 1: failed, no call: `")
            .count(),
        2,
        "{text}"
    );
    let (_, html) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert_eq!(html.matches("</strong>, after ").count(), 2, "{html}");
    assert_eq!(html.matches(", no call: ").count(), 2, "{html}");
}
