//! Written documents in the style of their dialect, without needless parts.

use super::read;
use plan_runtime::dynamic::{Dialect, Profile, Reader};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

fn written(text: &str, dialect: Dialect) -> String {
    let plan = Reader::new().read(text).unwrap().into_plan();
    let written = dialect.write(&plan).unwrap();
    assert_eq!(read(&written, dialect), plan, "{written}");
    written
}

#[test]
fn each_dialect_as_its_documents() {
    let tool_plan = r#"{
  "steps": [
    {
      "id": "inbox",
      "tool": "fetch",
      "arguments": {
        "from": "Sarah",
        "limit": 1.0
      }
    },
    {
      "id": "sent",
      "tool": "send",
      "arguments": {
        "to": "$ref:inbox.data.0.from",
        "all": "$ref:inbox.data[*][\"odd key\"]",
        "text": "$ref:\"$ref:x\""
      }
    }
  ],
  "output_steps": [
    "sent"
  ]
}"#;
    assert_eq!(written(tool_plan, Dialect::ToolPlan), tool_plan);
    let blueprint = r#"{
  "requestId": "r",
  "steps": [
    {
      "tool": "fetch",
      "params": {},
      "optional": true,
      "retryCount": 2,
      "timeout": 1500
    },
    {
      "id": "other",
      "tool": "send",
      "params": {
        "to": "Dear ${step[0].data[0].from}${\", ${x}\"}",
        "count": "${step[0].data.count}${\"\"}"
      }
    },
    {
      "tool": "send",
      "params": {},
      "dependsOn": [
        1
      ]
    }
  ]
}"#;
    assert_eq!(written(blueprint, Dialect::Blueprint), blueprint);
    let action_plan = r#"[
  {
    "id": "inbox",
    "intent": "Find it.",
    "tool": "fetch",
    "arguments": {
      "from": "{{PLACEHOLDER_sender}}"
    }
  },
  {
    "id": "step-1",
    "tool": "send",
    "arguments": {
      "subject": "Re: {{inbox.result.data[0].subject}}",
      "braces": "{{\"{{ x }}\"}}"
    }
  }
]"#;
    assert_eq!(written(action_plan, Dialect::ActionPlan), action_plan);
}

#[test]
fn members_of_its_own_stand_where_the_dialect_has_none() {
    let text = written(
        r#"{"name": "p", "description": "d", "inputs": [{"name": "n", "type": "u64"}],
            "plan": [{"id": "a", "tool": "t", "tool_description": "what it does", "arguments": {"n": "{{PLACEHOLDER_n}}"}}],
            "output": ["{{a.result.x}}"], "output_type": "Vec<String>"}"#,
        Dialect::ActionPlan,
    );
    assert_eq!(
        text.replace(['\n', ' '], ""),
        r#"{"name":"p","description":"d","inputs":[{"name":"n","type":"u64"}],"plan":[{"id":"a","tool":"t","tool_description":"whatitdoes","arguments":{"n":"{{PLACEHOLDER_n}}"}}],"output_type":"Vec<String>","output":["{{a.result.x}}"]}"#
    );
}

#[test]
fn a_plan_goes_from_one_dialect_into_another() {
    let plan = Reader::new()
        .read(r#"{"steps": [{"id": "a", "tool": "t", "arguments": {}}, {"id": "b", "tool": "u", "arguments": {"x": "$ref:a.list[*].id", "literal": "${step[0].data} and {{a.result}}"}}]}"#)
        .unwrap_err();
    // A string that looks like another dialect's reference needs its escape.
    assert_eq!(plan.iter().count(), 2);
    let plan = Reader::new()
        .read(r#"{"steps": [{"id": "a", "tool": "t", "arguments": {}}, {"id": "b", "tool": "u", "arguments": {"x": "$ref:a.list[*].id", "literal": "$ref:\"${step[0].data} and {{a.result}}\""}}]}"#)
        .unwrap()
        .into_plan();
    for dialect in super::DIALECTS {
        let text = dialect.write(&plan).unwrap();
        assert_eq!(read(&text, dialect), plan, "{text}");
    }
}

#[test]
fn what_the_compat_profile_left_as_text_is_text() {
    let reader = Reader::new().profile(Profile::Compat);
    let document = r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{ a }} {{b.result.x}}"}}]"#;
    let plan = reader.read(document).unwrap().into_plan();
    let text = Dialect::ActionPlan.write(&plan).unwrap();
    assert_eq!(read(&text, Dialect::ActionPlan), plan);
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Email {
    thread_id: Id,
    from: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Id(u64);

#[derive(Serialize, Deserialize, Shape)]
enum Mode {
    Fast {
        limit: u64,
    },
    #[allow(dead_code)]
    Slow,
}

/// Finds e-mails.
#[tool]
async fn find(from: String) -> Result<Vec<Email>> {
    let thread_id = Id(from.len() as u64);
    Ok(vec![Email { thread_id, from }])
}

/// Sends one.
#[tool]
async fn send(thread: u64, to: Vec<String>, subject: String, mode: Mode) -> Result<u64> {
    let _ = (to, subject, mode);
    Ok(thread)
}

plan! {
    /// Answers.
    Answer(sender: String) -> u64 {
        /// Find them.
        step found = Find { from: sender };
        step sent = Send {
            thread: found[0].thread_id.0,
            to: found[..].from,
            subject: format!("Re: {}", found[0].from),
            mode: Mode::Fast { limit: 3 },
        };
        sent
    }
}

#[test]
fn a_plan_of_rust_is_written_and_read_back() {
    let text = Dialect::ActionPlan.write(Answer::PLAN).unwrap();
    assert!(
        text.contains(r#""thread": "{{found.result[0].threadId}}""#),
        "{text}"
    );
    assert!(text.contains("\"Fast\""), "{text}");
    let read = read(&text, Dialect::ActionPlan);
    assert_eq!(&read, Answer::PLAN);
    assert_eq!(read.steps[1].needs(), Answer::PLAN.steps[1].needs());
    let plan_json = Dialect::PlanJson.write(Answer::PLAN).unwrap();
    assert_eq!(
        &serde_json::from_str::<Plan>(&plan_json).unwrap(),
        Answer::PLAN
    );
}
