//! The API, from a faulty plan to a report, over restarts.

mod support;

use serde_json::{Value, json};
use support::{Folder, Process};

fn sample(server: &Process, name: &str) -> String {
    let (_, samples) = server.get("/api/samples");
    let samples = samples.as_array().unwrap().clone();
    let sample = samples
        .iter()
        .find(|sample| sample["name"] == name)
        .unwrap();
    sample["text"].as_str().unwrap().to_owned()
}

fn codes(findings: &Value) -> Vec<&str> {
    let findings = findings.as_array().unwrap().iter();
    findings
        .map(|finding| finding["code"].as_str().unwrap())
        .collect()
}

fn inputs() -> Value {
    json!({"sender": "sarah", "limit": 3, "text": "Yes, gladly."})
}

#[test]
fn a_plan_goes_the_whole_way() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let faulty = sample(&server, "faulty");
    let (status, checked) = server.post("/api/check", &json!({"text": faulty}));
    assert_eq!(status, 200);
    let expected = [
        "unknown-tool",
        "unknown-field",
        "wrong-type",
        "maybe-absent",
        "unknown-step",
    ];
    assert_eq!(codes(&checked["findings"]), expected);
    assert!(checked["plan"].is_null());
    // `inputs` makes a tool plan plan JSON, which people learn beside the errors.
    let text = r#"{"inputs": [], "steps": [{"id": "a", "tool": "emails_list"}]}"#;
    for (text, dialect) in [
        (&*faulty, "action plan"),
        (text, "plan JSON"),
        ("{}", ""),
        ("{", ""),
    ] {
        let (_, checked) = server.post("/api/check", &json!({"text": text}));
        assert_eq!(checked["dialect"].as_str().unwrap_or_default(), dialect);
    }
    for finding in checked["findings"].as_array().unwrap() {
        let label = &finding["labels"][0];
        let offset = |end: &str| usize::try_from(label[end]["offset"].as_u64().unwrap()).unwrap();
        assert!(offset("start") < offset("end"), "{finding}");
        assert!(finding["help"].is_string(), "{finding}");
    }
    let (status, answer) = server.post("/api/runs", &json!({"text": faulty, "inputs": inputs()}));
    assert_eq!(
        (status, &answer["error"]["code"]),
        (422, &json!("FAULTY_PLAN"))
    );
    assert_eq!(codes(&answer["error"]["findings"]), expected);

    let text = sample(&server, "reply");
    let (_, checked) = server.post("/api/check", &json!({"text": text, "profile": "strict"}));
    let plan = &checked["plan"];
    assert_eq!(checked["findings"], json!([]));
    let kinds: Vec<(&str, &str)> = plan["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| {
            (
                input["name"].as_str().unwrap(),
                input["kind"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [("sender", "text"), ("limit", "number"), ("text", "text")]
    );
    assert_eq!(plan["steps"][0]["read_only"], true);
    assert_eq!(plan["steps"][0]["affects"], json!(["sent"]));
    assert_eq!(plan["steps"][1]["needs"], json!(["inbox"]));
    let svg = plan["svg"].as_str().unwrap();
    assert!(svg.contains("data-path=\"sent\"") && !svg.contains("style="));

    for (wrong, name) in [
        (json!({"sender": "sarah", "limit": 3}), "text"),
        (
            json!({"sender": "sarah", "limit": 3, "text": "x", "txet": 1}),
            "txet",
        ),
    ] {
        let (status, answer) = server.post("/api/runs", &json!({"text": text, "inputs": wrong}));
        assert_eq!((status, &answer["error"]["code"]), (422, &json!("INPUTS")));
        assert!(answer["error"]["inputs"][name].is_string(), "{answer}");
    }
    let wrong = json!({"sender": "sarah", "limit": "three", "text": "x"});
    let (status, answer) = server.post("/api/runs", &json!({"text": text, "inputs": wrong}));
    assert_eq!(
        (status, &answer["error"]["code"]),
        (422, &json!("CANNOT_START")),
        "{answer}"
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`limit`")
    );

    let id = server.begin(&text, &inputs(), "each");
    let mut events = server.events(&id);
    let asked = server.until(&id, |run| {
        run["questions"] != json!([]) && run["state"] == "waiting"
    });
    let question = &asked["questions"][0];
    assert_eq!(
        (&question["path"], &question["tool"]),
        (&json!("sent"), &json!("email_send"))
    );
    assert_eq!(question["arguments"]["to"], "sarah@example.org");
    assert_eq!(folder.effects(), [] as [Value; 0]);
    let answers = format!(
        "/api/runs/{id}/questions/{}",
        question["id"].as_str().unwrap()
    );
    assert_eq!(
        server.post(&answers, &json!({"decision": "perhaps"})).0,
        400
    );
    assert_eq!(server.post(&answers, &json!({"decision": "allow"})).0, 200);
    assert_eq!(server.post(&answers, &json!({"decision": "allow"})).0, 409);
    let run = server.ended(&id);
    assert_eq!(run["state"], "done");
    assert_eq!(run["output"]["sent"]["subject"], "Re: Lunch on Friday?");
    assert_eq!(folder.effects().len(), 1);

    assert_eq!(events.next().unwrap().0, "state");
    let events: Vec<(String, Value)> = events.collect();
    assert_eq!(
        events.last().unwrap(),
        &("end".into(), json!({"state": "done"}))
    );
    let finished = |(name, event): &(String, Value)| {
        name == "step" && event["path"] == "sent" && event["status"] == "completed"
    };
    assert!(events.iter().any(finished), "{events:?}");

    let (status, page) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert_eq!(status, 200);
    assert!(
        page.contains("/report.css")
            && !page.contains("style=")
            && page.contains("Re: Lunch on Friday?")
    );
    let (_, list) = server.get("/api/runs?state=done");
    assert_eq!(
        (&list["runs"][0]["id"], &list["next"]),
        (&json!(id), &Value::Null)
    );
    assert_eq!(server.get("/api/runs?state=failed").1["runs"], json!([]));
    assert_eq!(server.metric("plan_runs_started_total"), 1.0);
}

#[test]
fn what_waits_and_what_is_asked_outlives_the_server() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let waits = server.begin(&sample(&server, "offsite"), &json!({}), "none");
    let asks = server.begin(&sample(&server, "reply"), &inputs(), "each");
    server.until(&waits, |run| {
        let since = &run["waits"][0]["since"];
        run["waits"]
            == json!([{"path": "room", "step": "room", "type": "String", "intent": "Get the name of a free room.", "since": since}])
    });
    let first = server.until(&asks, |run| run["questions"] != json!([]));
    let token = server.token.clone();
    server.kill();

    let server = Process::start(&folder);
    assert_eq!(server.token, token);
    let second = server.until(&asks, |run| run["questions"] != json!([]));
    assert_eq!(
        first["questions"][0]["arguments"],
        second["questions"][0]["arguments"]
    );
    let question = second["questions"][0]["id"].as_str().unwrap();
    // An answer to a question of the first server is not one to a question of this one.
    let old = first["questions"][0]["id"].as_str().unwrap();
    assert_ne!(question, old);
    let allow = json!({"decision": "allow"});
    assert_eq!(
        server
            .post(&format!("/api/runs/{asks}/questions/{old}"), &allow)
            .0,
        409
    );
    let refuse = json!({"decision": "refuse", "reason": "not to her"});
    assert_eq!(
        server
            .post(&format!("/api/runs/{asks}/questions/{question}"), &refuse)
            .0,
        200
    );
    let run = server.ended(&asks);
    assert_eq!(run["state"], "failed");
    assert!(
        run["error"].as_str().unwrap().contains("not to her"),
        "{run}"
    );

    let signals = format!("/api/runs/{waits}/signals");
    let (status, answer) = server.post(&signals, &json!({"path": "room", "value": 5}));
    assert_eq!(
        (status, &answer["error"]["code"]),
        (422, &json!("WRONG_VALUE"))
    );
    let (status, answer) = server.post(&signals, &json!({"path": "rom", "value": "B2"}));
    assert_eq!(status, 422);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`room` is similar"),
        "{answer}"
    );
    assert_eq!(
        server
            .post(&signals, &json!({"path": "room", "value": "B2"}))
            .0,
        200
    );
    assert_eq!(server.ended(&waits)["output"]["told"]["subject"], "B2");
    // The event was booked before the end of the first server, and once.
    let booked = folder.effects();
    assert_eq!(
        booked
            .iter()
            .filter(|effect| effect["tool"] == "event_book")
            .count(),
        1
    );
}

#[test]
fn a_cancelled_run_undoes() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let id = server.begin(&sample(&server, "offsite"), &json!({}), "none");
    server.until(&id, |run| run["waits"] != json!([]));
    assert_eq!(
        server.post(&format!("/api/runs/{id}/cancel"), &json!({})).0,
        200
    );
    let run = server.ended(&id);
    assert_eq!(run["state"], "cancelled");
    assert_eq!(
        run["undone"],
        json!([{"path": "back", "undoes": "booked", "status": "completed"}])
    );
    assert_eq!(
        server.post(&format!("/api/runs/{id}/cancel"), &json!({})).0,
        409
    );
    assert_eq!(folder.effects().last().unwrap()["tool"], "event_cancel");
}

/// The record and the report name the people who have cancelled, resumed and retried a run.
#[test]
fn decisions_about_runs_have_names() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let id = server.begin(&sample(&server, "offsite"), &json!({}), "none");
    let waits = |run: &Value| run["waits"] != json!([]);
    server.until(&id, waits);
    let post = |what: &str, body: Value| {
        assert_eq!(server.post(&format!("/api/runs/{id}/{what}"), &body).0, 200);
    };
    post(
        "cancel",
        json!({"by": "Ada", "reason": "The offsite is off."}),
    );
    server.ended(&id);
    post("retry", json!({"by": "Bob"}));
    server.until(&id, waits);
    post("cancel", json!({}));
    let run = server.ended(&id);
    let decisions = run["decisions"].as_array().unwrap().iter();
    let decisions: Vec<_> = decisions
        .map(|it| [&it["decision"], &it["path"], &it["by"], &it["reason"]].map(Value::clone))
        .collect();
    let none = Value::Null;
    assert_eq!(
        decisions,
        [
            [
                "cancel".into(),
                "".into(),
                "Ada".into(),
                "The offsite is off.".into()
            ],
            ["resume".into(), "".into(), "Bob".into(), none.clone()],
            ["cancel".into(), "".into(), none.clone(), none],
        ]
    );
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    for part in [
        "<dd>cancelled by <strong>Ada</strong>, ",
        ", because “The offsite is off.”",
        "<dd>resumed by <strong>Bob</strong>, ",
        "<h2>Undone</h2>",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
}

/// The page and the report list the calls whose effects remain, and a blocked step keeps its reason.
#[test]
fn remaining_effects_are_listed() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!([
        {"id": "told", "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}},
        {"id": "line", "tool": "flaky", "arguments": {"failures": 2}, "after": ["told"]},
        {"id": "last", "tool": "slow", "arguments": {"ms": 1}, "after": ["line"]}
    ]);
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let run = server.ended(&id);
    let remains =
        json!([{"path": "told", "tool": "email_send", "why": "the step has no undo step"}]);
    assert_eq!(run["not_undone"], remains);
    let mut progress = run["progress"].as_array().unwrap().iter();
    let last = progress.find(|it| it["path"] == "last").unwrap();
    assert_eq!(last["error"], "step `line` has failed");
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    let line = "<h2>Not undone</h2>";
    assert!(report.contains(line), "{report}");
    let line = "<li><code>told</code> with <code>email_send</code>: the step has no undo step</li>";
    assert!(report.contains(line), "{report}");
    assert!(report.contains("<p class=\"error\">step <code>line</code>: "));
}

/// Each attempt of the block books an event, and the service of each tool does nothing for a key that it has seen.
/// A person who has allowed a call has allowed its undo step, also after a restart of the server.
#[test]
fn a_run_that_asks_undoes_without_an_answer() {
    let folder = Folder::new();
    let mut server = Process::start(&folder);
    for is_killed in [false, true] {
        let id = server.begin(&sample(&server, "offsite"), &json!({}), "each");
        let run = server.until(&id, |run| run["questions"] != json!([]));
        let question = &run["questions"][0];
        assert_eq!(question["undone_by"], json!(["event_cancel"]));
        server.answer(&id, question, &json!({"decision": "allow"}));
        server.until(&id, |run| run["waits"] != json!([]));
        if is_killed {
            server.kill();
            server = Process::start(&folder);
            server.until(&id, |run| run["waits"] != json!([]));
        }
        let path = format!("/api/runs/{id}/cancel");
        assert_eq!(server.post(&path, &json!({})).0, 200);
        let run = server.ended(&id);
        assert_eq!(
            run["restarts"].as_array().unwrap().len(),
            usize::from(is_killed)
        );
        let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
        let row = "<dt>Server restarted</dt><dd><time datetime=\"2";
        assert_eq!(report.contains(row), is_killed, "{report}");
        let (_, text) = server.get_text(&format!("/api/runs/{id}/report.md"));
        assert_eq!(text.contains("| Server restarted | 2"), is_killed, "{text}");
        let undone = json!([{"path": "back", "undoes": "booked", "status": "completed"}]);
        assert_eq!(run["undone"], undone);
        assert_eq!(folder.effects().last().unwrap()["tool"], "event_cancel");
    }
}

/// The permission of a call includes its undo step, so the server asks about a call that only reads as well.
#[test]
fn no_undo_step_runs_without_a_question() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let steps = r#"{"steps": [
        {"id": "found", "tool": "contacts_find", "arguments": {"name": "ada"}},
        {"id": "sent", "undo": "found", "tool": "email_send", "arguments": {"to": "eve@example.org", "subject": "x"}},
        {"id": "broken", "tool": "flaky", "arguments": {"failures": 9}, "after": ["found"]}
    ], "output_steps": ["broken"]}"#;
    let id = server.begin(steps, &json!({}), "each");
    let run = server.until(&id, |run| {
        run["questions"].as_array().is_some_and(|it| !it.is_empty())
    });
    let question = &run["questions"][0];
    assert_eq!(
        (&question["path"], &question["undone_by"]),
        (&json!("found"), &json!(["email_send"]))
    );
    // A person who answers in the list of all runs sees the undo step as well.
    let listed = &server.get("/api/questions").1["questions"][0];
    let mut expected = question.clone();
    expected.as_object_mut().unwrap().remove("arguments");
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&listed[name], value, "{name}");
    }
    let refuse = json!({"decision": "refuse", "reason": "it would send an e-mail"});
    server.answer(&id, question, &refuse);
    assert_eq!(server.ended(&id)["state"], "failed");
    assert!(folder.effects().is_empty());
}

#[test]
fn what_each_attempt_of_a_block_books_is_cancelled() {
    let plan = json!({"steps": [{"id": "trip", "policy": {"attempts": 3, "backoff": "1ms"}, "block": {"steps": [
        {"id": "booked", "tool": "event_book", "arguments": {"title": "Offsite", "day": "2027-03-12"}},
        {"id": "back", "undo": "booked", "tool": "event_cancel", "arguments": {"id": "$ref:booked.id"}},
        {"id": "line", "tool": "flaky", "arguments": {"failures": 9}, "after": ["booked"]},
        {"id": "told", "always": true, "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "Offsite"}}
    ], "value": "$ref:line"}}], "output_steps": ["trip"]});
    let folder = Folder::new();
    let server = Process::start(&folder);
    let id = server.begin(&plan.to_string(), &json!({}), "none");
    let run = server.ended(&id);
    assert_eq!(run["state"], "failed");
    let effects = folder.effects();
    let made = |tool: &str| {
        let made = effects.iter();
        made.filter(|effect| effect["tool"] == tool && effect["again"] == false)
            .count()
    };
    let counts = ["event_book", "event_cancel", "email_send"].map(made);
    assert_eq!(counts, [3, 3, 3], "{effects:#?}");
}

#[test]
fn calls_end_before_a_graceful_end() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let text = r#"{"requestId": "slow", "steps": [
        {"tool": "slow", "params": {"ms": 1000, "text": "a"}},
        {"tool": "slow", "params": {"ms": 10, "text": "${step[0].data}b"}}
    ]}"#;
    let id = server.begin(text, &json!({}), "none");
    // The tool notes nothing when it begins.
    std::thread::sleep(std::time::Duration::from_millis(400));
    let mut events = server.events(&id);
    assert_eq!(events.next().unwrap().0, "state");
    assert!(server.terminate());
    assert!(events.all(|(name, _)| name != "end"));
    // The first call has ended, and the second has not begun.
    assert_eq!(folder.effects().len(), 1);
    let server = Process::start(&folder);
    assert_eq!(server.ended(&id)["output"]["step1"], "ab");
    let again = folder
        .effects()
        .iter()
        .filter(|effect| effect["again"] == true)
        .count();
    assert_eq!((folder.effects().len(), again), (2, 0));
}

#[test]
fn lists_have_pages() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let text = sample(&server, "shipments");
    let ids: Vec<String> = (0..7)
        .map(|_| server.begin(&text, &json!({}), "none"))
        .collect();
    ids.iter().for_each(|id| drop(server.ended(id)));
    let (mut found, mut before) = (Vec::new(), String::new());
    for page in 0..3 {
        let (_, list) = server.get(&format!("/api/runs?limit=3{before}"));
        for run in list["runs"].as_array().unwrap() {
            found.push(run["id"].as_str().unwrap().to_owned());
        }
        assert_eq!(list["next"].is_null(), page == 2);
        before = format!("&before={}", list["next"].as_str().unwrap_or_default());
    }
    found.reverse();
    assert_eq!(found, ids);
}

#[test]
fn runs_are_found_by_their_plan_and_by_their_time() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let first = server.begin(&sample(&server, "shipments"), &json!({}), "none");
    server.ended(&first);
    // A plan without a name has the intents of its steps, or its tools, as a title.
    let second = server.begin(&sample(&server, "reply"), &inputs(), "none");
    server.ended(&second);
    let third = server.begin(&sample(&server, "contacts"), &json!({}), "none");
    server.ended(&third);
    let names = [
        "Find people. Invite each of them to lunch.",
        "Find the latest e-mail. Reply to it.",
        "late-shipments",
    ];
    assert_eq!(server.get("/api/plans").1, json!({"plans": names}));
    let ids = |query: &str| -> Vec<String> {
        let (status, list) = server.get(&format!("/api/runs?count=true&{query}"));
        assert_eq!(status, 200, "{list}");
        let ids = list["runs"].as_array().unwrap().iter();
        let ids: Vec<String> = ids.map(|run| run["id"].as_str().unwrap().into()).collect();
        let states = &list["count"]["states"];
        let count = json!({"least": ids.len(), "is_exact": true, "states": states});
        assert_eq!((&list["count"], &list["next"]), (&count, &Value::Null));
        ids
    };
    assert_eq!(
        ids("plan=Find%20people.%20Invite%20each%20of%20them%20to%20lunch."),
        std::slice::from_ref(&third)
    );
    assert_eq!(ids("since=1h").len(), 3);
    assert_eq!(ids("since=0s").len(), 0);
    let (_, run) = server.get(&format!("/api/runs/{second}"));
    let began = run["began"].as_str().unwrap();
    assert_eq!(ids(&format!("to={began}")), [first]);
    assert_eq!(ids(&format!("from={began}")), [third.clone(), second]);
    assert_eq!(
        ids(&format!(
            "from={began}&since=1h&plan=Find%20people.%20Invite%20each%20of%20them%20to%20lunch."
        )),
        [third]
    );
    assert_eq!(
        ids("from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z"),
        [""; 0]
    );
    assert_eq!(ids("to=9999-01-01T00:00:00Z").len(), 3);
    for wrong in ["since=yesterday", "from=monday", "to=1"] {
        let (status, answer) = server.get(&format!("/api/runs?{wrong}"));
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!("BAD_REQUEST"))
        );
    }
}

#[test]
fn answers_have_names() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let id = server.begin(&sample(&server, "offsite"), &json!({}), "each");
    let run = server.until(&id, |run| run["questions"] != json!([]));
    let question = &run["questions"][0];
    let path = format!(
        "/api/runs/{id}/questions/{}",
        question["id"].as_str().unwrap()
    );
    let name = "Ada\u{202e}\n".repeat(200);
    let allow = json!({"decision": "allow", "by": name, "reason": "as \u{200b}agreed"});
    server.answer(&id, question, &allow);
    // A second answer learns of the first answer.
    let (status, late) = server.post(&path, &json!({"decision": "refuse", "by": "Bob"}));
    assert_eq!(
        (status, &late["error"]["code"]),
        (409, &json!("NO_SUCH_QUESTION"))
    );
    assert_eq!(late["error"]["decision"]["decision"], "allow");
    let message = late["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the call was allowed by Ada"),
        "{message}"
    );
    assert_eq!(server.get(&path).0, 409);
    server.until(&id, |run| run["waits"] != json!([]));
    // The report begins with the open wait, whose bar ends with the axis.
    let text = |end: &str| server.get_text(&format!("/api/runs/{id}/report.{end}")).1;
    let (html, markdown) = (text("html"), text("md"));
    let wait =
        "Waits for a value for <code>room</code>: <code>String</code>, since <time datetime=";
    for part in [
        wait,
        ", not ended after <strong>",
        "waiting for ",
        "▸</text>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let wait = "**Waits for** a value for `room`: `String`, since 2";
    assert!(markdown.contains(wait), "{markdown}");
    assert!(!markdown.contains("| Output |"), "{markdown}");
    let signals = format!("/api/runs/{id}/signals");
    let value = json!({"path": "room", "value": "B2", "by": "Bob"});
    assert_eq!(
        server
            .post(&signals, &json!({"path": "room", "value": 2, "by": "Eve"}))
            .0,
        422
    );
    assert_eq!(server.post(&signals, &value).0, 200);
    let run = server.until(&id, |run| run["questions"] != json!([]));
    let changed = json!({"to": "bob@example.org", "subject": "x"});
    server.answer(
        &id,
        &run["questions"][0],
        &json!({"decision": "allow", "arguments": changed}),
    );
    assert_eq!(server.ended(&id)["state"], "done");
    server.kill();

    // The answers outlive the server, and the report lists the answers.
    let server = Process::start(&folder);
    let (_, run) = server.get(&format!("/api/runs/{id}"));
    let all = run["decisions"].as_array().unwrap();
    let part = |name: &str| -> Vec<Value> { all.iter().map(|it| it[name].clone()).collect() };
    assert_eq!(part("path"), ["booked", "room", "told"]);
    assert_eq!(
        part("tool"),
        [json!("event_book"), Value::Null, json!("email_send")]
    );
    assert_eq!(part("decision"), ["allow", "send", "allow"]);
    assert_eq!(part("changed"), [false, false, true]);
    assert_eq!(
        part("reason"),
        [json!(r"as \u{200b}agreed"), Value::Null, Value::Null]
    );
    let [ada, bob, nobody] = &part("by")[..] else {
        panic!("{run}")
    };
    assert!(
        ada.as_str().unwrap().starts_with(r"Ada\u{202e}\nAda"),
        "{ada}"
    );
    assert!(ada.as_str().unwrap().len() < 2_000, "{ada}");
    assert_eq!((bob, nobody), (&json!("Bob"), &Value::Null));
    let text = |end: &str| server.get_text(&format!("/api/runs/{id}/report.{end}")).1;
    let report = text("html");
    let output = run["output"].to_string();
    let shown = output.replace('"', "&quot;");
    for part in [
        format!("<dt>Output</dt><dd><code>{shown}</code>"),
        "<section aria-label=\"Answers and retries\">".to_owned(),
    ] {
        assert!(report.contains(&part), "{part} in {report}");
    }
    assert!(!report.contains("Waits for"), "{report}");
    let row = format!("| Output | `{output}` |");
    let markdown = text("md");
    assert!(markdown.contains(&row), "{row} in {markdown}");
    // The page, the report and Markdown have one duration.
    let took = run["report"]["duration_ms"].as_f64().unwrap() / 1e3;
    let took = plan_graph::Time(std::time::Duration::from_secs_f64(took));
    assert!(
        report.contains(&format!(" in <strong>{took}</strong>")),
        "{report}"
    );
    assert!(
        markdown.contains(&format!("| Took | {took} |")),
        "{markdown}"
    );
    assert!(
        report.contains("<dt>Answer for room</dt><dd>a value was sent by <strong>Bob</strong>, <time datetime=\"2"),
        "{report}"
    );
}

#[test]
fn two_servers_do_not_share_a_port() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let address = server.url.strip_prefix("http://").unwrap();
    let other = Folder::new();
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_plan-server"))
        .args(["--address", address, "--data"])
        .arg(other.path())
        .output()
        .unwrap();
    assert!(!command.status.success());
    let said = String::from_utf8(command.stderr).unwrap();
    assert!(
        said.contains(address) && said.starts_with("plan-server: "),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_token() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let server = Process::start(&folder);
    let token = folder.path().join("token");
    let mode = std::fs::metadata(&token).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A folder that the server makes is its owner's alone.
    let inner = Folder::inside(&folder);
    let other = Process::start(&inner);
    let mode = std::fs::metadata(inner.path())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    drop(other);
    assert_eq!(std::fs::read_to_string(token).unwrap(), server.token);
}

#[test]
fn each_tool_says_whether_it_only_reads() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let (_, tools) = server.get("/api/tools");
    let kind = |name: &str| {
        let mut all = tools.as_array().unwrap().iter();
        all.find(|it| it["name"] == name).unwrap()["read_only"].clone()
    };
    assert_eq!(
        (kind("emails_list"), kind("email_send")),
        (json!(true), json!(false))
    );
}
