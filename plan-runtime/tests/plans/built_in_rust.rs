//! A plan that is made in Rust: what it resolves to, how it prints, its JSON and its graph.

use plan_runtime::Plan;
use plan_runtime::check::{Constant, decode};
use plan_runtime::plan::{
    Absent, Action, Input, Output, Part, Reference, Source, Step, Tag, Template, ToolInfo,
};
use plan_runtime::resolve::{Compute, ResolveError, Scope, Show, StoredValue, encode, resolve};
use plan_runtime::shape::Tagging;
use serde_json::{Value, json};
use std::sync::LazyLock;

struct Doubled;

impl Compute for Doubled {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        let total: &Value = scope.value_of(Source::Step(0))?;
        encode(&(total["total"].as_u64().unwrap_or(0) * 2))
    }
}

struct Padded;

impl Show for Padded {
    fn show(&self, value: &Value, out: &mut String) -> Result<(), ResolveError> {
        out.push_str(&format!("{:>8}", value.as_str().unwrap_or_default()));
        Ok(())
    }
}

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let constants = [Constant::Compute(&Doubled), Constant::Show(&Padded)];
    let compiled = "1 p0 0 1 5 inbox0 0 Vn;0 l2 c1 s0 15 inbox.total * 20 x1 v2 >8-n1 ";
    let Template::List(compiled) = decode(compiled, &[&constants]).output.value else {
        panic!()
    };
    let [twice, Template::Text(parts)] = &compiled[..] else {
        panic!()
    };
    let [Part::Value { spec, .. }] = &parts[..] else {
        panic!()
    };
    let sender = Reference::new(Source::Input(0)).written("sender");
    let filters = Template::object([("sender", sender.into())]);
    let args = Template::object([("filters", filters)]);
    let mut fetch = ToolInfo::new("fetch_emails");
    fetch.description = "Finds e-mails.".into();
    let mut inbox = Step::new("inbox", Action::call(fetch, args));
    inbox.intent = "Find the sender's e-mails.".into();

    let first = Reference::new(Source::Step(0)).key("data").index(0);
    let none = Absent::Default(Box::new("none".into()));
    let subject = first.key("subject").absent(none);
    let subject = Template::Text(vec![
        Part::Literal("Re: ".into()),
        Part::Value {
            value: subject.written("inbox.data[0].subject").into(),
            spec: spec.clone(),
        },
    ]);
    let plain = Template::object([("size", 3.into())]);
    let tag = Tag::Variant(Tagging::Internal("type"), "Plain");
    let sent = Step::new(
        "sent",
        Action::call(
            "reply_email",
            Template::object([
                ("subject", subject),
                ("kind", Template::Tagged(tag, Some(Box::new(plain)))),
                ("twice", twice.clone()),
            ]),
        ),
    );

    let mut plan = Plan::new("reply_to_latest");
    plan.description = "Replies to the most recent e-mail from a sender.".into();
    plan.inputs = vec![
        Input::new("sender", "String"),
        Input::new("reply", "String"),
    ];
    plan.inputs[0].description = "Whose e-mail.".into();
    plan.steps = vec![inbox, sent];
    plan.output = Output::new(Reference::new(Source::Step(1)).written("sent"));
    plan.output.type_name = "Receipt".into();
    plan
});

#[test]
fn looking_allocates_nothing() {
    let plan: &Plan = &PLAN;
    let allocations = allocation_counter::measure(|| {
        assert!(plan.step("sent").is_some() && plan.input("sender").is_some());
        assert_eq!(plan.name_of(Source::Step(0)), Some("inbox"));
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn references_allocate_nothing_on_their_way() {
    let outputs = [Some(StoredValue::json(json!({"data": [{"id": 7}]}))), None];
    let scope = Scope::new(&PLAN, &[], &outputs);
    let id = Reference::new(Source::Step(0))
        .key("data")
        .index(0)
        .key("id");
    let template = Template::from(id);
    let mut id = 0;
    let allocations =
        allocation_counter::measure(|| id = resolve::<u32>(&template, &scope).unwrap_or_default());
    assert_eq!((id, allocations.count_total), (7, 0));
}

#[test]
fn resolves() {
    let outputs = [
        Some(StoredValue::json(
            json!({"total": 21, "data": [{"subject": "{{x}}"}]}),
        )),
        None,
    ];
    let args: Value = resolve(
        &PLAN.steps[1].action().unwrap().args,
        &Scope::new(&PLAN, &[], &outputs),
    )
    .unwrap();
    assert_eq!(
        args,
        json!({"subject": "Re:    {{x}}", "kind": {"type": "Plain", "size": 3}, "twice": 42})
    );
    let outputs = [Some(StoredValue::json(json!({"data": [{}]}))), None];
    let args: Value = resolve(
        &PLAN.steps[1].action().unwrap().args,
        &Scope::new(&PLAN, &[], &outputs),
    )
    .unwrap();
    assert_eq!(args["subject"], "Re:     none");
}

#[test]
fn prints() {
    let expected = r#"plan reply_to_latest -> Receipt
  // Replies to the most recent e-mail from a sender.
  input sender: String  // Whose e-mail.
  input reply:  String

  step inbox = fetch_emails  // Find the sender's e-mails.
    filters: { sender: sender }
    // starts at once

  step sent = reply_email
    subject: format!("Re: {:>8}", inbox.data[0].subject)
    kind:    Plain { size: 3 }
    twice:   inbox.total * 2
    // needs inbox

  output sent
"#;
    assert_eq!(PLAN.to_string(), expected);
}

#[test]
fn plan_json() {
    let json = serde_json::to_value(&*PLAN).unwrap();
    assert_eq!(
        json["steps"][1]["arguments"]["object"]["subject"],
        json!({"text": ["Re: ", {"value": {"reference": {
            "step": "inbox",
            "path": ["data", "0", {"token": "subject", "absent": {"default": "none"}}],
            "written": "inbox.data[0].subject"
        }}, "spec": ">8"}]})
        .as_object()
        .map(|o| {
            // The notation equals the derived one, so it is left out.
            let mut o = o.clone();
            o["text"][1]["value"]["reference"]
                .as_object_mut()
                .unwrap()
                .remove("written");
            Value::from(o)
        })
        .unwrap()
    );
    assert_eq!(
        json["steps"][1]["arguments"]["object"]["kind"],
        json!({"object": {"type": "Plain", "size": 3}})
    );
    let read: Plan = serde_json::from_str(&serde_json::to_string(&*PLAN).unwrap()).unwrap();
    assert_eq!(read, *PLAN);
    assert_eq!(read.steps[1].needs(), [0]);
    assert_eq!(
        read.steps[1].references()[0].reference.to_string(),
        "inbox.data[0].subject.or(\"none\")"
    );
}

#[test]
fn graph() {
    let ids = |steps: Vec<&Step>| {
        steps
            .iter()
            .map(|step| step.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(PLAN.dependencies("sent")), ["inbox"]);
    assert_eq!(ids(PLAN.dependents("inbox")), ["sent"]);
    assert_eq!(ids(PLAN.blocked_by("inbox")), ["sent"]);
    assert_eq!(
        PLAN.levels().into_iter().map(ids).collect::<Vec<_>>(),
        [["inbox"], ["sent"]]
    );
    let uses = PLAN.steps[0].references();
    assert_eq!(
        (uses[0].place.as_str(), uses[0].reference.to_string()),
        ("filters.sender", "sender".to_owned())
    );
    assert_eq!(PLAN.steps[1].reads(), [Source::Step(0)]);
}
