//! Branches, lists and policies as data: printed, and as JSON.

use plan_runtime::Plan;
use plan_runtime::plan::{
    Absent, Action, Body, Branch, Condition, For, Input, Number, Optional, Output, Policy,
    Reference, Segment, Shared, Source, Step, Template, ToolInfo,
};
use serde_json::json;
use std::borrow::Cow::Borrowed;
use std::sync::LazyLock;
use std::time::Duration;

const fn reference(source: Source, path: &'static [Segment], written: &'static str) -> Template {
    Template::Reference(Reference {
        source,
        path: Borrowed(path),
        written: Borrowed(written),
    })
}

const fn tool(name: &'static str) -> ToolInfo {
    ToolInfo {
        name: Borrowed(name),
        description: Borrowed(""),
    }
}

const TO: [Segment; 1] = [Segment::Key(Borrowed("to"), Absent::Error)];

static FETCH: ToolInfo = tool("fetch");
static PHONE: ToolInfo = tool("phone");
static REPLY: ToolInfo = tool("reply");
static COUNT: ToolInfo = tool("count");

const fn call(site: usize, tool: &'static ToolInfo, args: Template) -> Body {
    Body::Action(Action {
        site,
        tool: Some(Shared::Static(tool)),
        args,
    })
}

/// Policies are written as differences, with and without a fallback.
static PLAN: LazyLock<Plan> = LazyLock::new(|| Plan {
    name: Borrowed("flow"),
    description: Borrowed(""),
    inputs: Borrowed(&[Input {
        name: Borrowed("urgent"),
        type_name: Borrowed("bool"),
        description: Borrowed(""),
    }]),
    steps: vec![
        Step {
            id: Borrowed("inbox"),
            intent: Borrowed("Find them."),
            body: call(0, &FETCH, Template::Object(Borrowed(&[]))),
            after: Borrowed(&[]),
            needs: Borrowed(&[]),
            policy: Shared::from(Policy {
                attempts: 5,
                backoff: Duration::from_millis(200),
                max: Duration::from_secs(10),
                jitter: false,
                timeout: Some(Duration::from_secs(10)),
                deadline: Some(Duration::from_secs(60)),
                ..Policy::DEFAULT
            }),
        },
        Step {
            id: Borrowed("sent"),
            intent: Borrowed("Answer each."),
            body: Body::For(
                vec![For {
                    pattern: Borrowed("mail"),
                    list: reference(Source::Step(0), &[], "inbox"),
                    body: Body::If(
                        vec![
                            Branch {
                                conditions: vec![Condition::Holds(reference(
                                    Source::Input(0),
                                    &[],
                                    "urgent",
                                ))],
                                body: call(1, &PHONE, reference(Source::Local(0), &[], "mail")),
                            },
                            Branch {
                                conditions: vec![Condition::Let {
                                    pattern: Borrowed("Some(to)"),
                                    value: reference(Source::Local(0), &TO, "mail.to"),
                                }],
                                body: call(2, &REPLY, reference(Source::Local(1), &[], "to")),
                            },
                            Branch {
                                conditions: Vec::new(),
                                body: Body::Action(Action {
                                    site: 3,
                                    tool: None,
                                    args: Template::Null,
                                }),
                            },
                        ]
                        .into(),
                    ),
                }]
                .into(),
            ),
            after: Borrowed(&[]),
            needs: Borrowed(&[0]),
            policy: Shared::from(Policy {
                optional: Optional::Each,
                concurrency: Some(4),
                ..Policy::DEFAULT
            }),
        },
        Step {
            id: Borrowed("count"),
            intent: Borrowed(""),
            body: call(4, &COUNT, reference(Source::Step(1), &[], "sent")),
            after: Borrowed(&[]),
            needs: Borrowed(&[0, 1]),
            policy: Shared::from(Policy {
                fallback: Some(reference(Source::Step(0), &[], "inbox")),
                ..Policy::DEFAULT
            }),
        },
    ]
    .into(),
    output: Output {
        type_name: Borrowed("u64"),
        value: Template::Number(Number::Unsigned(1)),
    },
});

#[test]
fn prints_as_it_would_be_written() {
    let expected = r#"plan flow -> u64
  input urgent: bool

  #[retry(5, backoff = "200ms", max = "10s", jitter = false)]
  #[timeout("10s")]
  #[deadline("1m")]
  step inbox = fetch  // Find them.

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
    for (read, step) in read.steps.iter().zip(PLAN.steps.iter()) {
        assert_eq!(read.needs, step.needs);
        let sites = |step: &Step| step.actions().iter().map(|it| it.site).collect::<Vec<_>>();
        assert_eq!(sites(read), sites(step));
    }
}

#[test]
fn what_a_step_refers_to() {
    let [inbox, sent, count] = &PLAN.steps[..] else {
        panic!()
    };
    assert_eq!(sent.reads(), [Source::Step(0), Source::Input(0)]);
    assert_eq!(count.reads(), [Source::Step(0), Source::Step(1)]);
    assert_eq!(*count.needs, count.needed());
    let uses = sent.references();
    let uses: Vec<_> = uses
        .iter()
        .map(|it| (it.place.as_str(), &*it.reference.written))
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
