//! Plans → the source of `plan!`.

use crate::plans;
use plan_runtime::Plan;
use plan_runtime::dynamic::Reader;
use plan_runtime::plan::{
    Absent, Action, Comparison, For, Input, Output, Reference, Source, Step, Template, Test,
};
use plan_rust::{RustSource, to_rust};
use proptest::prelude::*;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

fn source(text: &str) -> String {
    let plan = Reader::new().name("draft").read(text).unwrap().into_plan();
    to_rust(&plan).unwrap()
}

#[test]
fn names_paths_and_values() {
    let text = r#"{"name": "search-and-book", "description": "Finds a car.\n\nBooks it.", "inputs": [
        {"name": "type", "type": "String", "description": "The kind of car."}, {"name": "maxPrice", "type": "f64"}
    ], "plan": [
        {"id": "1", "intent": "Look around.", "tool": "Search_Car", "arguments": {
            "type": "{{PLACEHOLDER_type}}", "limit": 5, "ratio": 1.0, "below": -3, "near": null, "tags": ["a\"b", "c"], "open": true
        }},
        {"id": "step-1", "tool": "cars.book", "arguments": {
            "carId": "{{1.result.cars[0].vehicleId}}", "type": "{{1.result.cars[0].type}}",
            "all": "{{1.result.cars[*][\"odd key\"].x}}",
            "note": "{{PLACEHOLDER_type}} for {{1.result.name}} {\"{{PLACEHOLDER_maxPrice}}\"}",
            "options": {"a": [1, null, {"b": "{{1.result}}"}], "what is long": "is broken into lines, of which each has one member", "c": {}}
        }},
        {"id": "self", "tool": "t", "arguments": {}}
    ], "output": "{{step-1.result}}"}"#;
    assert_eq!(
        source(text),
        r##"plan! {
    /// Finds a car.
    ///
    /// Books it.
    pub SearchAndBook(
        /// The kind of car.
        r#type: String,
        max_price: f64,
    ) -> <CarsBook as plan_runtime::Tool>::Output {
        /// Look around.
        step step_1 = SearchCar {
            r#type,
            limit: 5,
            ratio: 1.0,
            below: -3,
            near: None,
            tags: ["a\"b", "c"],
            open: true,
            ..
        };

        step step_1_2 = CarsBook {
            car_id: step_1.cars[0].vehicle_id,
            r#type: step_1.cars[0].r#type,
            all: step_1.cars[..]["odd key"].x,
            note: format!("{} for {} {{\"{max_price}\"}}", r#type, step_1.name),
            options: json!({
                "a": [1, null, { "b": step_1 }],
                "what is long": "is broken into lines, of which each has one member",
                "c": {}
            }),
            ..
        };

        step self_ = T { .. };

        step_1_2
    }
}
"##
    );
}

#[test]
fn policies_and_the_output_of_a_blueprint() {
    let text = r#"{"requestId": "r", "steps": [
        {"tool": "fetch", "params": {}, "retryCount": 2, "timeout": 1500, "optional": true},
        {"tool": "store", "params": {"list": [{"x": 1}, {"y": "${step[0].data}"}]}},
        {"tool": "done", "params": {}, "dependsOn": [0, 1]}
    ]}"#;
    assert_eq!(
        source(text),
        r#"plan! {
    pub R() -> serde_json::Value {
        #[retry(3)]
        #[timeout("1s 500ms")]
        #[optional]
        step step0 = Fetch { .. };

        step step1 = Store {
            list: [json!({ "x": 1 }), json!({ "y": step0 })],
            ..
        };

        #[after(step0, step1)]
        step step2 = Done { .. };

        json!({ "step0": step0, "step1": step1, "step2": step2 })
    }
}
"#
    );
}

#[test]
fn schemas_say_what_is_left_out() {
    let text = r#"[{"id": "a", "tool": "pay", "arguments": {"amount": 5, "count": 5}}, {"id": "b", "tool": "pay", "arguments": {"amount": 1}}]"#;
    let plan = Reader::new().read(text).unwrap().into_plan();
    let schema = json!({"properties": {"amount": {"type": ["number", "null"]}, "count": {"type": "integer"}}});
    let written = RustSource::new(&plan)
        .schema("pay", &schema)
        .write()
        .unwrap();
    assert!(
        written.contains("Pay { amount: 5.0, count: 5 };"),
        "{written}"
    );
    assert!(written.contains("Pay { amount: 1.0, .. };"), "{written}");
}

#[test]
fn what_only_plan_json_has() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "inputs": [{"name": "mail", "type": "Vec<Mail>"}],
        "steps": [
            {"id": "count", "value": {"text": ["n", {"value": {"computed": {"written": "mail.len()", "reads": [{"input": "mail"}]}}, "spec": ">3"}]}},
            {"id": "sent", "for": {"pattern": "m", "list": {"reference": {"input": "mail", "pointer": ""}}, "body": {"if": [
                {"condition": {"computed": {"written": "m.ok", "reads": [{"local": 0}]}}, "then": {"tool": {"name": "send"}, "arguments": {"object": {"to": {"reference": {"local": 0, "pointer": "/fromName"}}}}}},
                {"then": {"tool": {"name": "skip"}}}
            ]}}, "policy": {"optional": "each", "concurrency": 4, "attempts": 2, "backoff": "1s", "jitter": false, "fallback": []}}
        ],
        "output": {"type": "Vec<Option<Receipt>>", "value": {"reference": {"step": "sent", "pointer": ""}}}
    }))
    .unwrap();
    assert_eq!(
        RustSource::new(&plan).allow_code().write().unwrap(),
        r#"plan! {
    pub P(mail: Vec<Mail>) -> Vec<Option<Receipt>> {
        step count: String = format!("n{:>3}", mail.len());

        #[retry(2, backoff = "1s", jitter = false)]
        #[concurrency(4)]
        #[optional(each)]
        #[fallback([])]
        step sent = for m in mail {
            if m.ok { Send { to: m.from_name, .. } } else { Skip { .. } }
        };

        sent
    }
}
"#
    );
}

#[test]
fn what_rust_has_no_form_for() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "p",
        "inputs": [{"name": "A", "type": "no type"}],
        "steps": [
            {"id": "a", "value": {"computed": {"written": "A + 1", "reads": [{"input": "A"}]}}},
            {"id": "b", "tool": {"name": "3d"}, "arguments": {"object": {"x": {"computed": {"written": "A + 1", "reads": [{"input": "A"}]}}}}},
            {"id": "c", "tool": {"name": "t"}, "arguments": {"reference": {"step": "b", "pointer": ""}}},
            {"id": "d", "tool": {"name": "t"}, "arguments": {"object": {"threadId": 1, "thread_id": 2, "!": 3}}},
        ],
    }))
    .unwrap();
    assert_eq!(
        to_rust(&plan).unwrap_err().to_string(),
        "`plan!` cannot express 7 parts of the plan:\n\
         - input `A`: the type `no type`, which is not a Rust type\n\
         - step `a`: the computed value `A + 1`, whose type the plan does not keep\n\
         - step `b`: the tool `3d`, whose name is not a Rust identifier\n\
         - argument `x` of step `b`: the computed value `A + 1`, since `A` has another name in Rust\n\
         - the arguments of step `c`: `b` for all of them\n\
         - argument `!` of step `d`: a name that is not a Rust identifier\n\
         - argument `thread_id` of step `d`: a name that is not a Rust identifier"
    );
}

#[test]
fn defaults_that_no_type_says() {
    let why = |path: serde_json::Value| {
        let plan: Plan = serde_json::from_value(json!({
            "name": "p",
            "inputs": [{"name": "x", "type": "serde_json::Value"}],
            "steps": [{"id": "a", "tool": {"name": "Say"}, "arguments": {"object": {
                "text": {"reference": {"input": "x", "path": [path]}},
            }}}],
        }))
        .unwrap();
        to_rust(&plan).map_err(|error| error.to_string())
    };
    let lost = "which the type has to say in Rust";
    for path in [
        json!({"token": "odd key", "absent": "null"}),
        json!({"token": "odd key", "absent": {"default": 0}}),
        json!({"token": "0", "absent": {"default": 0}}),
    ] {
        let error = why(path.clone()).unwrap_err();
        assert!(error.contains(lost), "{path}: {error}");
    }
    let null = why(json!({"token": "0", "absent": "null"})).unwrap();
    assert!(null.contains("x.get(0)"), "{null}");
    let field = why(json!({"token": "field", "absent": "null"})).unwrap();
    assert!(field.contains("x.field"), "{field}");
}

static WRITTEN: AtomicUsize = AtomicUsize::new(0);
static LACKING: AtomicUsize = AtomicUsize::new(0);

#[test]
fn any_plan_is_written_or_said_to_lack_something() {
    each_plan_is_written_or_said_to_lack_something();
    let counts = [&WRITTEN, &LACKING].map(|it| it.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    fn each_plan_is_written_or_said_to_lack_something(plan in prop_oneof![plans::plan(), plans::plain()]) {
        match RustSource::new(&plan).allow_code().write() {
            Ok(source) => {
                let item: syn::Item = syn::parse_str(&source).unwrap();
                let is_plan = matches!(&item, syn::Item::Macro(item) if item.mac.path.is_ident("plan"));
                prop_assert!(is_plan);
                WRITTEN.fetch_add(1, Ordering::Relaxed);
            }
            Err(unsupported) => {
                prop_assert!(!unsupported.all().is_empty());
                LACKING.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[test]
fn how_long_a_reference_is_at_most_is_said() {
    let plan = |parts: usize| {
        let path = "/x".repeat(parts);
        let text = json!({"name": "p", "inputs": [{"name": "a"}], "steps": [
            {"id": "s", "tool": {"name": "t"}, "arguments": {"object": {"v": {"reference": {"input": "a", "pointer": path}}}}}
        ]});
        Reader::new().read(&text.to_string()).unwrap().into_plan()
    };
    assert!(to_rust(&plan(128)).is_ok());
    let said = to_rust(&plan(200)).unwrap_err().to_string();
    assert!(
        said.ends_with("…`, which has 200 parts, and at most 128 are written"),
        "{said}"
    );
}

/// `plan!` refuses it, so that the source would not compile; the plan shows it.
#[test]
fn what_has_no_effect_in_a_policy_is_not_written() {
    let call = r#""tool": {"name": "t"}, "arguments": {"object": {}}"#;
    let value = r#""value": "x""#;
    for (body, policy, attribute, lacks) in [
        (
            call,
            r#""attempts": 1, "backoff": "5s", "jitter": false"#,
            r#"#[retry(1, backoff = "5s", jitter = false)]"#,
            "how long to wait before another attempt, with one attempt",
        ),
        (
            call,
            r#""attempts": 2, "backoff": "5s", "max": "4s""#,
            r#"#[retry(2, backoff = "5s", max = "4s")]"#,
            "a longest wait that is shorter than the first one",
        ),
        (
            call,
            r#""timeout": "5s", "deadline": "4s""#,
            r#"#[deadline("4s")]"#,
            "a time limit that is longer than the deadline of all attempts",
        ),
        (
            call,
            r#""attempts": 3, "backoff": "2s", "jitter": false, "deadline": "6s""#,
            r#"#[retry(3, backoff = "2s", jitter = false)]"#,
            "attempts that the deadline leaves no time for",
        ),
        (
            value,
            r#""attempts": 2"#,
            "#[retry(2)]",
            "attempts or time limits of a computed value",
        ),
        (
            value,
            r#""attempts": {"reference": {"input": "n", "pointer": ""}}"#,
            "#[retry(n)]",
            "attempts or time limits of a computed value",
        ),
        (
            call,
            r#""optional": "whole", "fallback": 0"#,
            "#[optional]",
            "that it is optional, beside a fallback",
        ),
    ] {
        let text = format!(
            r#"{{"name": "p", "inputs": [{{"name": "n", "type": "u32"}}], "steps": [{{"id": "s", {body}, "policy": {{{policy}}}}}]}}"#
        );
        let plan = Reader::new().read(&text).unwrap().into_plan();
        assert!(plan.to_string().contains(attribute), "{plan}");
        let said = to_rust(&plan).unwrap_err().to_string();
        let expected = format!("`plan!` cannot express a part of the plan: step `s`: {lacks}");
        assert_eq!(said, expected);
    }
}

/// Notation that an author wrote about another name is not shown.
#[test]
fn messages_name_steps_and_local_values_as_they_are_called_now() {
    let call = |value| Action::call("t", Template::object([("a", value)]));
    let read = |source, text: &str| {
        let missing = Absent::Default(Box::new(json!(1)));
        let reference = Reference::new(source)
            .key("x")
            .absent(missing)
            .written(text);
        assert_eq!(reference.as_written(), Some(text));
        call(Template::Reference(reference))
    };
    let list = Template::List(vec![Template::Null]);
    let mut plan = Plan::new("p");
    plan.steps = vec![
        Step::new("now", call(Template::Null)),
        Step::new("s", read(Source::Step(0), "before.x")),
        Step::new("e", For::new("new", list, read(Source::Local(0), "old.x"))),
    ];
    let said = to_rust(&plan).unwrap_err().to_string();
    assert!(said.contains("the reference `now.x"), "{said}");
    assert!(said.contains("the reference `new.x"), "{said}");
}

#[test]
fn blocks() {
    let plan = r#"{"name": "travel", "inputs": [{"name": "city"}, {"name": "type", "type": "Vec<String>"}], "steps": [
        {"id": "trip", "intent": "Go there.", "block": {"steps": [
            {"id": "flight", "intent": "Book it.", "tool": {"name": "book_flight"}, "policy": {"attempts": 3},
                "arguments": {"object": {"to": {"reference": {"input": "city", "pointer": ""}}}}},
            {"id": "Flight", "undo": "flight", "tool": {"name": "cancel"},
                "arguments": {"object": {"booking": {"reference": {"step": "flight", "pointer": "/id"}}}}}
        ], "value": {"reference": {"step": "flight", "pointer": ""}}}},
        {"id": "pages", "for": {"pattern": "url", "list": {"reference": {"input": "type", "pointer": ""}}, "body": {"block": {"steps": [
            {"id": "page", "tool": {"name": "fetch"}, "arguments": {"object": {"url": {"reference": {"local": 0, "pointer": ""}}}}}
        ], "tail": {"if": [{"condition": {"reference": {"step": "page", "pointer": "/long"}}, "then": {"block": {"steps": [
            {"id": "short", "tool": {"name": "shorten"}, "arguments": {"object": {"text": {"reference": {"step": "page", "pointer": "/text"}}, "of": {"reference": {"step": "trip", "pointer": ""}}}}}
        ], "value": {"reference": {"step": "short", "pointer": ""}}}}}]}}}}},
        {"id": "also", "block": {"steps": [
            {"id": "page", "tool": {"name": "fetch"}, "arguments": {"object": {"url": "x"}}}
        ]}},
        {"id": "nothing", "block": {"steps": []}}
    ]}"#;
    assert_eq!(
        source(plan),
        r##"plan! {
    pub Travel(city: String, r#type: Vec<String>) {
        /// Go there.
        step trip = {
            /// Book it.
            #[retry(3)]
            step flight = BookFlight { to: city, .. };
            #[undo(flight)]
            step flight_2 = Cancel {
                booking: flight.id,
                ..
            };
            flight
        };

        step pages = for url in r#type {
            step page = Fetch { url, .. };
            if page.long {
                step short = Shorten {
                    text: page.text,
                    of: trip,
                    ..
                };
                short
            }
        };

        step also = {
            step page = Fetch { url: "x", .. };
        };

        step nothing = {};
    }
}
"##
    );
}

#[test]
fn loops() {
    let plan = r#"{"name": "issues", "inputs": [{"name": "repo"}, {"name": "most", "type": "u32"}], "steps": [
        {"id": "pages", "loop": {"last": "last", "steps": [
            {"id": "page", "tool": {"name": "list"}, "arguments": {"object": {
                "repo": {"reference": {"input": "repo", "pointer": ""}},
                "cursor": {"reference": {"input": "last", "pointer": "/next", "optional": true}}}}}
        ], "value": {"reference": {"step": "page", "pointer": ""}}, "while": {"reference": {"step": "page", "pointer": "/more"}}},
            "policy": {"at_most": {"reference": {"input": "most", "pointer": ""}}, "collect": true}},
        {"id": "job", "loop": {"steps": [], "tail": {"tool": {"name": "poll"}, "arguments": {"object": {"id": "x"}}},
            "while": {"reference": {"step": "_", "pointer": "/running"}}},
            "policy": {"at_most": 200, "every": "3s", "attempts": 3, "deadline": "10m"}},
        {"id": "word", "loop": {"last": "Page", "steps": [
            {"id": "page", "tool": {"name": "list"}, "arguments": {"object": {"cursor": {"reference": {"input": "Page", "pointer": ""}}}}}
        ], "value": {"reference": {"step": "page", "pointer": ""}}, "while": false}, "policy": {"at_most": 2}}
    ]}"#;
    assert_eq!(
        source(plan),
        r##"plan! {
    pub Issues(repo: String, most: u32) {
        #[at_most(most)]
        #[collect]
        step pages = loop |last| {
            step page = List {
                repo,
                cursor: last?.next,
                ..
            };
            page
        } while page.more;

        #[retry(3)]
        #[deadline("10m")]
        #[at_most(200, every = "3s")]
        step job = loop {
            Poll { id: "x", .. }
        } while job.running;

        #[at_most(2)]
        step word = loop |page| {
            step page_2 = List { cursor: page, .. };
            page_2
        } while false;
    }
}
"##
    );
}

#[test]
fn values_as_branches() {
    let write = |then: &str, otherwise: &str| {
        let text = format!(
            r#"{{"name": "p", "inputs": [{{"name": "x", "type": "bool"}}], "steps": [
                {{"id": "a", "tool": {{"name": "t"}}}},
                {{"id": "b", "if": [
                    {{"condition": {{"reference": {{"input": "x", "pointer": ""}}}}, "then": {then}}},
                    {{"then": {otherwise}}}
                ]}}
            ]}}"#
        );
        let plan: Plan = serde_json::from_str(&text).unwrap();
        to_rust(&plan).map_err(|error| error.to_string())
    };
    let call = r#"{"tool": {"name": "t"}}"#;
    let reference = r#"{"reference": {"step": "a", "pointer": "/id"}}"#;
    let block = r#"{"block": {"steps": [{"id": "c", "tool": {"name": "t"}}], "value": {"reference": {"step": "c", "pointer": "/id"}}}}"#;
    let value = |value: &str| format!(r#"{{"value": {value}}}"#);
    let squeezed = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let written = |then: &str, otherwise: &str| squeezed(write(then, otherwise).unwrap());
    let text = written(call, &value("\"none\""));
    assert!(
        text.contains("if x { T { .. } } else { \"none\" };"),
        "{text}"
    );
    let text = written(&value(reference), call);
    assert!(text.contains("if x { a.id } else { T { .. } };"), "{text}");
    let text = written(call, block);
    assert!(text.contains("else { step c = T { .. }; c.id };"), "{text}");
    // A value needs a type from another branch, and an object needs the name of its struct.
    let refused = |then: &str, otherwise: &str| write(then, otherwise).unwrap_err();
    let both = refused(&value("\"a\""), &value("\"b\""));
    assert!(both.contains("the computed value `\"a\"`"), "{both}");
    let object = refused(call, &value(r#"{"object": {"id": 1}}"#));
    assert!(object.contains("the computed value"), "{object}");
    let ends = refused(&value("1"), block);
    assert!(ends.contains("step `b`"), "{ends}");
}

#[test]
fn blocks_that_only_plan_json_has() {
    let block = |members: &str| {
        let text = format!(
            r#"{{"name": "p", "inputs": [{{"name": "x"}}], "steps": [
                {{"id": "a", "tool": {{"name": "t"}}}},
                {{"id": "b", "block": {{{members}}}}}
            ]}}"#
        );
        let plan: Plan = serde_json::from_str(&text).unwrap();
        to_rust(&plan).unwrap_err().to_string()
    };
    assert_eq!(
        block(r#""steps": [], "value": 1"#),
        r##"`plan!` cannot express a part of the plan: step `b`: a block of a value alone, whose type the plan does not keep"##
    );
    assert_eq!(
        block(
            r#""steps": [{"id": "c", "tool": {"name": "t"}}], "value": {"reference": {"step": "c", "pointer": "/x"}}"#
        ),
        r##"`plan!` cannot express a part of the plan: step `b`: the value `c.x` of a block, whose type the plan does not keep"##
    );
    assert_eq!(
        block(r#""inputs": {"y": {"reference": {"step": "a", "pointer": "/y"}}}, "steps": []"#),
        r##"`plan!` cannot express a part of the plan: step `b`: `y` in a block for `a.y`, which has no name"##
    );
    assert_eq!(
        block(r#""inputs": {"y": 1}, "steps": []"#),
        r##"`plan!` cannot express a part of the plan: step `b`: `y` in a block for `1`, which has no name"##
    );
    let collected = r#"{"name": "p", "steps": [{"id": "b", "policy": {"at_most": 2, "collect": true}, "loop": {
        "steps": [], "tail": {"tool": {"name": "t"}}, "while": {"reference": {"step": "_", "pointer": "/more"}}}}]}"#;
    let collected: Plan = serde_json::from_str(collected).unwrap();
    assert_eq!(
        to_rust(&collected).unwrap_err().to_string(),
        "`plan!` cannot express a part of the plan: step `b`: a condition that refers to the call at the end of a round, whose values the loop collects"
    );
    assert_eq!(
        block(r#""steps": [{"id": "c", "block": {"steps": [{"id": "d", "value": []}]}}]"#),
        r##"`plan!` cannot express a part of the plan: step `b.c.d`: the computed value `[]`, whose type the plan does not keep"##
    );
}

#[test]
fn tests_inside_tests_keep_their_parentheses() {
    let input = |place: usize| Template::from(Reference::new(Source::Input(place)));
    let (a, b, c) = (input(0), input(1), input(2));
    let equal = |left, right| Template::from(Test::Compare([left, right], Comparison::Equal));
    let all = |operands| Template::from(Test::All(operands));
    let any = Template::from(Test::Any(vec![a.clone(), b.clone()]));
    for (value, written) in [
        (
            all(vec![all(vec![a.clone(), b.clone()]), c.clone()]),
            "(a && b) && c",
        ),
        (all(vec![any, c.clone()]), "(a || b) && c"),
        (
            all(vec![equal(a.clone(), b.clone()), c.clone()]),
            "a == b && c",
        ),
        (equal(equal(a.clone(), b.clone()), c), "(a == b) == c"),
        (Test::Not(equal(a, b)).into(), "!(a == b)"),
    ] {
        let mut plan = Plan::new("p");
        plan.inputs = ["a", "b", "c"].map(|name| Input::new(name, "bool")).into();
        plan.output = Output::new(value);
        plan.output.type_name = "bool".into();
        let source = to_rust(&plan).unwrap();
        assert!(source.contains(&format!("        {written}\n")), "{source}");
    }
}

#[test]
fn invisible_characters_of_an_error_are_shown() {
    let text = r#"[{"id": "a", "tool": "t", "arguments": {"\u3164": 1}}]"#;
    let plan = Reader::new().read(text).unwrap().into_plan();
    let shown = format!("{:?}", to_rust(&plan).unwrap_err());
    assert!(!shown.contains('\u{3164}'), "{shown}");
}
