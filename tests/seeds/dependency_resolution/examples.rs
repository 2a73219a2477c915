//! The document's real example, and its exercise.

use super::super::desk::{Answer, Desk, ids, levels, read, same_calls};
use super::super::typed;
use super::strict;
use plan_runtime::dynamic::{Dialect, Profile};
use serde_json::{Value, json};

/// The plan of "Real Example".
fn reply_to_sarah() -> Value {
    json!([
        {"id": "fetch_sarah_emails", "intent": "Find the e-mails of Sarah", "tool": "fetch_emails", "arguments": {"input": {
            "operation": "fetch", "filters": {"sender": "sarah"},
        }}},
        {"id": "reply_to_email", "intent": "Reply to the most recent one", "tool": "reply_email", "arguments": {"input": {
            "threadId": "{{fetch_sarah_emails.result.data[0].id}}", "to": "{{fetch_sarah_emails.result.data[0].from.email}}",
            "subject": "Re: {{fetch_sarah_emails.result.data[0].subject}}", "body": "{{PLACEHOLDER_reply_message}}",
        }}},
    ])
}

fn sarahs_desk() -> Desk {
    let email = json!({
        "id": "thread_abc123", "from": {"email": "sarah@company.com", "name": "Sarah"},
        "subject": "Q1 Report", "date": "2024-01-15T10:30:00Z",
    });
    Desk::new([
        ("fetch_emails", Ok(json!({ "data": [email] }))),
        ("reply_email", Ok(json!("replied"))),
    ])
}

#[test]
fn real_example_step_2_of_sarahs_thread_resolved_to() {
    let desk = sarahs_desk();
    let step_2 = |body: &str| json!({"input": {"threadId": "thread_abc123", "to": "sarah@company.com", "subject": "Re: Q1 Report", "body": body}});
    let inputs = json!({"reply_message": "Thank you."});
    let plan = strict(&reply_to_sarah());
    let ran = same_calls(&desk, &plan, typed::ReplyToSarah::PLAN, &inputs);
    assert_eq!(ran.arguments("reply_email"), &step_2("Thank you."));
    // In the document, the body still needs the user. The compat profile runs such a plan.
    let plan = read(Dialect::ActionPlan, Profile::Compat, &reply_to_sarah());
    let ran = desk.run(&plan, json!({}));
    let unfilled = step_2("{{PLACEHOLDER_reply_message}}");
    assert_eq!(ran.arguments("reply_email"), &unfilled);
    assert_eq!(ran.status("fetch_sarah_emails"), "completed");
}

/// The plan of "Exercise".
fn exercise() -> Value {
    json!([
        {"id": "A", "tool": "fetch_contacts", "arguments": {"input": {}}},
        {"id": "B", "tool": "fetch_emails", "arguments": {"input": {"from": "{{A.result.data[0].email}}"}}},
        {"id": "C", "tool": "summarize", "arguments": {"input": {"text": "{{B.result.data[0].body}}"}}},
        {"id": "D", "tool": "send_email", "arguments": {"input": {"to": "{{A.result.data[0].email}}", "body": "{{C.result.summary}}"}}},
    ])
}

fn exercise_desk(emails: Answer) -> Desk {
    Desk::new([
        (
            "fetch_contacts",
            Ok(json!({"data": [{"email": "ada@example.com"}]})),
        ),
        ("fetch_emails", emails),
        ("summarize", Ok(json!({"summary": "All is well."}))),
        ("send_email", Ok(json!("sent"))),
    ])
}

#[test]
fn exercise_2_draw_the_dependency_graph() {
    let plan = strict(&exercise());
    for (step, needs) in [
        ("A", vec![]),
        ("B", vec!["A"]),
        ("C", vec!["B"]),
        ("D", vec!["A", "C"]),
    ] {
        assert_eq!(ids(plan.dependencies(step)), needs, "{step}");
    }
    let drawn = plan.mermaid().to_string();
    for (from, to) in [("A", "B"), ("B", "C"), ("A", "D"), ("C", "D")] {
        let arrow = |line: &&str| {
            line.contains(&format!("step_{from} -->")) && line.ends_with(&format!(" step_{to}"))
        };
        assert_eq!(drawn.lines().filter(arrow).count(), 1, "{drawn}");
    }
}

#[test]
fn exercise_3_the_execution_order() {
    let expected = json!([["A"], ["B"], ["C"], ["D"]]);
    let (desk, plan) = (
        exercise_desk(Ok(json!({"data": [{"body": "Hello"}]}))),
        strict(&exercise()),
    );
    assert_eq!(levels(&plan), expected);
    let typed = levels(typed::Exercise::PLAN).to_string();
    assert_eq!(typed.to_uppercase(), expected.to_string());
    let ran = same_calls(&desk, &plan, typed::Exercise::PLAN, &json!({}));
    let tools: Vec<&str> = ran.calls.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(
        tools,
        ["fetch_contacts", "fetch_emails", "summarize", "send_email"]
    );
    let email = json!({"input": {"to": "ada@example.com", "body": "All is well."}});
    assert_eq!(ran.arguments("send_email"), &email);
}

#[test]
fn exercise_4_if_step_b_fails_c_and_d_are_affected() {
    let plan = strict(&exercise());
    assert_eq!(ids(plan.blocked_by("B")), ["C", "D"]);
    assert_eq!(ids(typed::Exercise::PLAN.blocked_by("b")), ["c", "d"]);
    let ran = exercise_desk(Err("the mailbox is locked")).run(&plan, json!({}));
    assert_eq!(ran.status("A"), "completed");
    assert_eq!(ran.status("B"), "failed: the mailbox is locked");
    assert_eq!(ran.status("C"), "blocked by `B`");
    assert_eq!(ran.status("D"), "blocked by `B`");
    let error = ran.output.unwrap_err();
    let affected: Vec<&str> = error.failures()[0].blocked().collect();
    assert_eq!(affected, ["C", "D"]);
}
