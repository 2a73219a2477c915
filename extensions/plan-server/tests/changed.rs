//! People who change the arguments of a call before they allow the call.

mod support;

use serde_json::{Value, json};
use support::{Folder, Process};

fn asks(run: &Value) -> bool {
    run["questions"]
        .as_array()
        .is_some_and(|all| !all.is_empty())
}

#[test]
fn changed_arguments_are_checked_and_outlive_the_server() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = json!([
        {"id": "slow", "tool": "slow", "arguments": {"ms": 9_007_199_254_740_993_u64}},
        {"id": "sent", "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "{{slow.result}}"}},
    ]);
    let id = server.begin(&plan.to_string(), &json!({}), "each");
    let run = server.until(&id, asks);
    let question = run["questions"][0]["id"].as_str().unwrap();
    let path = format!("/api/runs/{id}/questions/{question}");
    let (_, whole) = server.get(&path);
    let arguments: Value = serde_json::from_str(whole["json"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, plan[0]["arguments"]);
    let decide = |body: Value| {
        let (status, answer) = server.post(&path, &body);
        (status, answer["error"]["code"].as_str().map(str::to_owned))
    };
    for (decision, arguments, status, code) in [
        ("allow", json!({"ms": "soon"}), 422, "ARGUMENTS"),
        (
            "allow",
            json!({"ms": 1, "text": "a", "more": 1}),
            422,
            "ARGUMENTS",
        ),
        ("allow", json!([]), 422, "ARGUMENTS"),
        ("refuse", json!({"ms": 1}), 400, "BAD_REQUEST"),
    ] {
        let answer = decide(json!({"decision": decision, "arguments": arguments}));
        assert_eq!(answer, (status, Some(code.to_owned())), "{arguments}");
    }
    let changed = json!({"ms": 1, "text": "Hello"});
    let answer = decide(json!({"decision": "allow", "arguments": changed}));
    assert_eq!(answer, (200, None));
    // The question of the next step may come before the record of the call is in the journal.
    let asks_next = |run: &Value| {
        run["questions"][0]["tool"] == "email_send"
            && run["report"]["steps"][0]["status"] == "completed"
    };
    let run = server.until(&id, asks_next);
    server.kill();
    let server = Process::start(&folder);
    let again = server.until(&id, asks_next);
    for run in [run, again] {
        let attempt = &run["report"]["steps"][0]["attempts"][0];
        assert_eq!(
            (&attempt["arguments"], &attempt["changed"]),
            (&changed, &json!(true))
        );
        assert_eq!(run["questions"][0]["arguments"]["subject"], "Hello");
        // The record has the arguments before and after the change.
        let decision = &run["decisions"][0];
        assert_eq!(
            (&decision["original"], &decision["arguments"]),
            (&plan[0]["arguments"], &changed)
        );
        // The arguments of the next call come from this step.
        assert_eq!(run["questions"][0]["sources"], json!({"subject": ["slow"]}));
    }
    let (_, report) = server.get_text(&format!("/api/runs/{id}/report.html"));
    for change in [
        "<code>ms</code>: originally <code>9007199254740993</code>, changed to <code>1</code>",
        "<code>text</code>: originally no value, changed to <code>&quot;Hello&quot;</code>",
    ] {
        assert!(report.contains(change), "{report}");
    }
    let (_, text) = server.get_text(&format!("/api/runs/{id}/report.md"));
    let change = "; `ms`: `9007199254740993` → `1`; `text`: no value → `\"Hello\"`\n";
    assert!(text.contains(change), "{text}");
}
