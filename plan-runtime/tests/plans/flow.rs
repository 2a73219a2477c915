//! Branches, lists and policies as data: printed, as JSON, and in a `static`.

use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Branch, Condition, For, Input, Optional, Output, Policy, Reference, Source, Step,
    Template,
};
use serde_json::json;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

fn reference(source: Source, name: &str) -> Template {
    Reference::new(source).written(name).into()
}

fn step(place: usize, id: &str) -> Template {
    reference(Source::Step(place), id)
}

/// Policies are written as differences, with and without a fallback.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let mut inbox = Step::new("inbox", Action::call("fetch", Template::Object(Vec::new())));
    inbox.intent = "Find them.".into();
    inbox.policy = Arc::new(
        Policy::DEFAULT
            .attempts(5)
            .backoff(Duration::from_millis(200))
            .max(Duration::from_secs(10))
            .jitter(false)
            .timeout(Duration::from_secs(10))
            .deadline(Duration::from_secs(60)),
    );

    let (mail, to) = (Source::Local(0), Source::Local(1));
    let binds = Condition::Let {
        pattern: "Some(to)".into(),
        value: Reference::new(mail).key("to").written("mail.to").into(),
    };
    let urgent = Condition::Holds(reference(Source::Input(0), "urgent"));
    let branches = vec![
        Branch::new([urgent], Action::call("phone", reference(mail, "mail"))),
        Branch::new([binds], Action::call("reply", reference(to, "to"))),
        Branch::new([], Action::value(Template::Null)),
    ];
    let mut sent = Step::new("sent", For::new("mail", step(0, "inbox"), branches));
    sent.intent = "Answer each.".into();
    sent.policy = Arc::new(Policy::DEFAULT.optional(Optional::Each).concurrency(4));

    let mut count = Step::new("count", Action::call("count", step(1, "sent")));
    count.policy = Arc::new(Policy::DEFAULT.fallback(step(0, "inbox")));

    let mut plan = Plan::new("flow");
    plan.inputs = vec![Input::new("urgent", "bool")];
    plan.steps = vec![inbox, sent, count];
    plan.output = Output::new(1);
    plan.output.type_name = "u64".into();
    plan
});

#[test]
fn prints_as_it_would_be_written() {
    let expected = r#"plan flow -> u64
  input urgent: bool

  #[retry(5, backoff = "200ms", max = "10s", jitter = false)]
  #[timeout("10s")]
  #[deadline("1m")]
  step inbox = fetch  // Find them.
    // starts at once

  #[concurrency(4)]
  #[optional(each)]
  step sent = for mail in inbox {  // Answer each.
    if urgent {
      phone
        mail
    } else if let Some(to) = mail.to {
      reply
        to
    } else {
      null
    }
  }
    // needs inbox

  #[fallback(inbox)]
  step count = count
    sent
    // needs inbox, sent

  output 1
"#;
    assert_eq!(PLAN.to_string(), expected);
}

#[test]
fn plan_json() {
    let step = |id: &str| json!({"reference": {"step": id, "pointer": ""}});
    let local =
        |depth: usize, pointer: &str| json!({"reference": {"local": depth, "pointer": pointer}});
    let json = serde_json::to_value(&*PLAN).unwrap();
    assert_eq!(
        json["steps"],
        json!([
            {
                "id": "inbox", "intent": "Find them.", "tool": {"name": "fetch"}, "arguments": {"object": {}},
                "policy": {"attempts": 5, "backoff": "200ms", "max": "10s", "jitter": false, "timeout": "10s", "deadline": "1m"},
            },
            {
                "id": "sent", "intent": "Answer each.",
                "for": {"pattern": "mail", "list": step("inbox"), "body": {"if": [
                    {
                        "condition": {"reference": {"input": "urgent", "pointer": ""}},
                        "then": {"tool": {"name": "phone"}, "arguments": local(0, "")},
                    },
                    {
                        "pattern": "Some(to)", "value": local(0, "/to"),
                        "then": {"tool": {"name": "reply"}, "arguments": local(1, "")},
                    },
                    {"then": {"value": null}},
                ]}},
                "policy": {"optional": "each", "concurrency": 4},
            },
            {
                "id": "count", "tool": {"name": "count"}, "arguments": step("sent"),
                "policy": {"fallback": step("inbox")},
            },
        ])
    );
    let read: Plan = serde_json::from_str(&json.to_string()).unwrap();
    assert_eq!(read, *PLAN);
    assert_eq!(read.to_string(), PLAN.to_string());
}

#[test]
fn what_a_step_refers_to() {
    let [inbox, sent, count] = &PLAN.steps[..] else {
        panic!()
    };
    assert_eq!(sent.reads(), [Source::Step(0), Source::Input(0)]);
    assert_eq!(count.reads(), [Source::Step(0), Source::Step(1)]);
    assert_eq!(count.needs(), [0, 1]);
    let uses = sent.references();
    let uses: Vec<_> = uses
        .iter()
        .map(|it| (it.place.as_str(), it.reference.as_written().unwrap()))
        .collect();
    let expected = [
        ("in", "inbox"),
        ("if", "urgent"),
        ("", "mail"),
        ("if", "mail.to"),
        ("", "to"),
    ];
    assert_eq!(uses, expected);
    assert_eq!(inbox.tool().unwrap().name, "fetch");
    assert!(inbox.action().is_some() && sent.action().is_none());
    assert!(sent.tool().is_none(), "it has two");
    assert_eq!(PLAN.levels().len(), 3);
}
