//! Blocks as data: printed, and as JSON.

use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Block, Body, Branch, Condition, Executable, For, Input, Output, Policy, Reference,
    Role, Source, Step, Template,
};
use serde_json::json;
use std::time::Duration;

fn reference(source: Source) -> Template {
    Reference::new(source).into()
}

fn call(tool: &str, args: impl IntoIterator<Item = (&'static str, Template)>) -> Action {
    Action::call(tool, Template::object(args))
}

/// A block that reads these, each by its name.
fn block<const N: usize>(
    reads: [(&'static str, Template); N],
    steps: Vec<Step>,
    value: impl Into<Template>,
) -> Block {
    let mut plan = Plan::new("");
    plan.inputs = reads
        .iter()
        .map(|(name, _)| Input::new(*name, ""))
        .collect();
    plan.steps = steps;
    plan.output = Output::new(value);
    Block::new(Template::object(reads), plan)
}

/// Returns a plan with every construct.
fn trip() -> Plan {
    let mut plan = Plan::new("travel");
    plan.inputs = vec![
        Input::new("city", "String"),
        Input::new("urls", "Vec<String>"),
    ];
    let mut flight = Step::new(
        "flight",
        call("book_flight", [("to", reference(Source::Input(0)))]),
    );
    flight.intent = "Book it.\nA window seat, please.".into();
    flight.policy = Policy::DEFAULT
        .attempts(3)
        .timeout(Duration::from_secs(5))
        .into();
    let airport = Reference::new(Source::Step(0)).key("airport");
    let hotel = Step::new("hotel", call("book_hotel", [("near", airport.into())]));
    let undone = ("booking", reference(Source::Step(0)));
    let mut undo = Step::new("cancelled", call("cancel", [undone]));
    undo.role = Role::Undo(0);
    let trip = block(
        [("city", reference(Source::Input(0)))],
        vec![flight, hotel, undo],
        reference(Source::Step(1)),
    );

    let page = Step::new(
        "page",
        call("fetch", [("url", reference(Source::Input(0)))]),
    );
    let summary = ("page", reference(Source::Step(0)));
    let tail = Step::new(
        "_",
        call(
            "summarize",
            [summary, ("trip", reference(Source::Input(1)))],
        ),
    );
    let reads = [
        ("url", reference(Source::Local(0))),
        ("trip", reference(Source::Step(0))),
    ];
    let round = block(reads, vec![page, tail], reference(Source::Step(1)));
    let pages = For::new("url", reference(Source::Input(1)), round);

    let note = Step::new("note", call("note", [("of", reference(Source::Input(0)))]));
    let title = Reference::new(Source::Step(1)).index(0).key("title");
    let noted = block([("title", title.into())], vec![note], Template::Null);
    let branches = vec![
        Branch::new([Condition::Holds(true.into())], noted),
        Branch::new([], block([], vec![], reference_of_nothing())),
    ];

    plan.steps = vec![
        Step::new("trip", trip),
        Step::new("pages", pages),
        Step::new("noted", branches),
        Step::new("nothing", block([], vec![], Template::Null)),
    ];
    plan.steps[0].intent = "Go there.".into();
    plan.output = Output::new(reference(Source::Step(0)));
    plan
}

fn reference_of_nothing() -> Template {
    "none".into()
}

#[test]
fn a_block_is_printed_as_it_would_be_written() {
    let plan = trip();
    assert_eq!(Executable::new(&plan).mistake(), None);
    let expected = r#"plan travel
  input city: String
  input urls: Vec<String>

  step trip = {  // Go there.
    #[retry(3)]
    #[timeout("5s")]
    step flight = book_flight
      // Book it.
      // A window seat, please.
      to: city
    step hotel = book_hotel
      near: flight.airport
      // needs flight
    #[undo(flight)]
    step cancelled = cancel
      booking: flight
      // needs flight
    hotel
  }
    // starts at once

  step pages = for url in urls {
    step page = fetch
      url: url
    summarize
      page: page
      trip: trip
  }
    // needs trip

  step noted = if true {
    input title = pages[0].title
    step note = note
      of: title
  } else {
    {
      "none"
    }
  }
    // needs pages

  step nothing = {
  }
    // starts at once

  output trip
"#;
    assert_eq!(plan.to_string(), expected);
}

/// Plans with different behavior print differently, so that nobody confuses them.
#[test]
fn what_does_something_else_is_printed_otherwise() {
    let plan = |body: Body| {
        let mut plan = Plan::new("p");
        plan.inputs = vec![Input::new("x", "")];
        plan.steps = vec![Step::new("a", body)];
        plan.to_string()
    };
    let computed = |text: &str| {
        let value = plan_runtime::plan::Computed::new(text, []);
        let branch = Branch::new([], Action::value(value));
        plan(vec![branch].into())
    };
    let always = |inner: Block| plan(vec![Branch::new([], inner)].into());
    let b = Step::new("b", call("t", []));
    let (whole, part) = (
        reference(Source::Input(0)),
        Reference::new(Source::Input(0)).key("x").into(),
    );
    let texts = [
        plan(block([], vec![], Template::Null).into()),
        plan(Action::value(Template::object::<&str>([])).into()),
        always(block([], vec![], Template::Null)),
        always(block([], vec![b.clone()], Template::Null)),
        always(block([], vec![b.clone()], reference(Source::Step(0)))),
        always(block(
            [],
            vec![Step::new("_", call("t", []))],
            Template::Null,
        )),
        always(block(
            [],
            vec![Step::new("_", call("t", []))],
            reference(Source::Step(0)),
        )),
        always(block([("x", whole)], vec![], reference(Source::Input(0)))),
        always(block([("x", part)], vec![], reference(Source::Input(0)))),
        plan(vec![Branch::new([], call("t", []))].into()),
        computed("step b = t"),
        computed("input x = x.x"),
        computed("{ step b = t }"),
        computed("#[optional]"),
    ];
    for (place, text) in texts.iter().enumerate() {
        for other in &texts[..place] {
            assert_ne!(text, other);
        }
    }
}

#[test]
fn plan_json() {
    let plan = trip();
    let json = serde_json::to_value(&plan).unwrap();
    let reference = |kind: &str, name: &str| json!({"reference": {kind: name, "pointer": ""}});
    assert_eq!(
        json["steps"][0]["block"],
        json!({
            "inputs": {"city": reference("input", "city")},
            "steps": [
                {
                    "id": "flight",
                    "intent": "Book it.\nA window seat, please.",
                    "tool": {"name": "book_flight"},
                    "arguments": {"object": {"to": reference("input", "city")}},
                    "policy": {"attempts": 3, "timeout": "5s"},
                },
                {
                    "id": "hotel",
                    "tool": {"name": "book_hotel"},
                    "arguments": {"object": {"near": {"reference": {"step": "flight", "pointer": "/airport"}}}},
                },
                {
                    "id": "cancelled",
                    "undo": "flight",
                    "tool": {"name": "cancel"},
                    "arguments": {"object": {"booking": reference("step", "flight")}},
                },
            ],
            "value": reference("step", "hotel"),
        })
    );
    assert_eq!(
        json["steps"][1]["for"]["body"]["block"],
        json!({
            "inputs": {
                "url": {"reference": {"local": 0, "pointer": ""}},
                "trip": reference("step", "trip"),
            },
            "steps": [{
                "id": "page",
                "tool": {"name": "fetch"},
                "arguments": {"object": {"url": reference("input", "url")}},
            }],
            "tail": {
                "tool": {"name": "summarize"},
                "arguments": {"object": {"page": reference("step", "page"), "trip": reference("input", "trip")}},
            },
        })
    );
    assert_eq!(
        json["steps"][2]["if"][1]["then"]["block"],
        json!({"steps": [], "value": "none"})
    );
    assert_eq!(json["steps"][3]["block"], json!({"steps": []}));
    let read: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(read, plan);
    assert_eq!(read.to_string(), plan.to_string());
    assert_eq!(Executable::new(&read).mistake(), None);
}

/// The tail of a block is nothing but a call.
#[test]
fn a_tail_that_says_more_is_a_step() {
    let tail = Step::new("_", call("t", []));
    let mut with_intent = tail.clone();
    with_intent.intent = "Why".into();
    let mut optional = tail.clone();
    optional.policy = Policy::DEFAULT.attempts(2).into();
    let mut after = tail.clone();
    after.after = vec![0];
    let mut always = tail.clone();
    always.role = Role::Always;
    let value = Step::new("_", Action::value(1));
    let whole = reference(Source::Step(1));
    let part: Template = Reference::new(Source::Step(1)).key("x").into();
    for (last, value, is_tail) in [
        (tail.clone(), whole.clone(), true),
        (tail.clone(), part, false),
        (tail, Template::Null, false),
        (with_intent, whole.clone(), false),
        (optional, whole.clone(), false),
        (after, whole.clone(), false),
        (always, Template::Null, false),
        (value, whole, false),
    ] {
        let steps = vec![Step::new("a", call("t", [])), last];
        let mut plan = Plan::new("p");
        plan.steps = vec![Step::new("b", block([], steps, value))];
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(json.contains("tail"), is_tail, "{json}");
        assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }
}

#[test]
fn a_block_whose_inputs_are_not_those_of_its_plan_is_not_written() {
    let mut plan = trip();
    let Body::Block(trip) = &mut plan.steps[0].body else {
        panic!("a block");
    };
    trip.inputs = Template::object([("town", reference(Source::Input(0)))]);
    assert!(serde_json::to_string(&plan).is_err());
    let mistake = "step `trip` passes inputs to its block that the block does not declare";
    assert_eq!(Executable::new(&plan).mistake(), Some(mistake));
    assert!(plan.to_string().contains("    input { town: city }\n"));
}

#[test]
fn a_step_of_a_block_has_no_name_from_around_it() {
    for (id, mistake) in [
        ("city", Some("city")),
        ("pages", Some("pages")),
        ("trip", Some("trip")),
        ("_", None),
        ("new", None),
    ] {
        let mut plan = trip();
        let inner = block([], vec![Step::new(id, call("t", []))], Template::Null);
        plan.steps[3].body = block([], vec![Step::new("a", inner)], Template::Null).into();
        let executable = Executable::new(&plan);
        let expected = mistake.map(|id| format!("step `nothing` has a block in which step `a` has a block in which step `{id}` has the name of a step or a value outside the block"));
        assert_eq!(executable.mistake(), expected.as_deref());
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(
            serde_json::from_str::<Plan>(&json).is_ok(),
            mistake.is_none()
        );
    }
}
