//! The largest allowed depth, on the stack of a test: reading, printing, writing, copying and dropping.

use super::UNLIMITED;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Contract, Contracts, Dialect, DocumentLimits, Reader};
use plan_runtime::plan::{Action, Body, Branch, Entry, For, Key, Part, Step, Template};
use serde_json::{Value, json};

const ALL: DocumentLimits = UNLIMITED.values(usize::MAX);

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

fn plan(arguments: &str) -> String {
    let step = format!(
        r#"{{"id":"s","tool":{{"name":"t"}},"arguments":{{"object":{{"x":{arguments}}}}}}}"#
    );
    format!(r#"{{"name":"p","inputs":[],"steps":[{step}],"output":{{"value":null}}}}"#)
}

/// Reads, prints, writes, copies and drops a plan, or returns the codes of its errors.
fn all(text: &str) -> Result<(), Vec<Code>> {
    let schema = json!({"$defs": {"s": {"anyOf": [
        {"type": "array", "items": {"$ref": "#/$defs/s"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/s"}},
        {"type": ["integer", "string"]},
    ]}}, "type": "object", "additionalProperties": {"$ref": "#/$defs/s"}});
    let tools = Contracts::from_iter([Contract::new("t").arguments(schema)]);
    let document = Reader::new().limits(ALL).tools(&tools).read(text);
    let document = document.map_err(|it| it.iter().map(|it| it.code).collect::<Vec<_>>())?;
    let plan = document.plan().clone();
    assert!(!plan.to_string().is_empty());
    assert!(!plan.mermaid().to_string().is_empty());
    assert_eq!(plan, *document.plan());
    let written = serde_json::to_value(&plan).unwrap();
    let read: Plan = serde_json::from_value(written).unwrap();
    assert_eq!(read, plan);
    Ok(())
}

#[test]
fn as_deep_as_json_may_be() {
    let kinds = [
        ("[", "1", "]", 1),
        (r#"{"object":{"a":"#, "1", "}}", 2),
        (r#"{"text":[{"value":"#, "1", "}]}", 3),
        (r#"{"merge":["#, r#"{"object":{}}"#, "]}", 2),
        (r#"{"merge":[{"object":{"a":"#, "1", "}}]}", 4),
    ];
    for (open, inner, close, levels) in kinds {
        let deepest = 115 / levels;
        assert_eq!(
            all(&plan(&nested(open, inner, close, deepest))),
            Ok(()),
            "{open}"
        );
        for levels in [127, 1_000, 10_000] {
            let codes = all(&plan(&nested(open, inner, close, levels))).unwrap_err();
            assert!(
                codes
                    .iter()
                    .all(|code| matches!(code, Code::InvalidJson | Code::LimitPassed))
            );
        }
    }
    let body = |levels| {
        let body = nested(
            r#"{"if":[{"then":"#,
            r#"{"tool":{"name":"t"}}"#,
            "}]}",
            levels,
        );
        format!(
            r#"{{"name":"p","inputs":[],"steps":[{{"id":"s","if":[{{"then":{body}}}]}}],"output":{{"value":null}}}}"#
        )
    };
    assert_eq!(all(&body(35)), Ok(()));
    assert!(all(&body(1_000)).is_err());
}

/// A format other than text has no limit of its own.
#[test]
fn plans_of_other_formats_have_the_limit_too() {
    let deep = |levels: usize| {
        let mut value = json!(1);
        for _ in 0..levels {
            value = json!([value]);
        }
        let mut plan: Value = serde_json::from_str(&plan("1")).unwrap();
        plan["steps"][0]["arguments"]["object"]["x"] = value;
        plan
    };
    serde_json::from_value::<Plan>(deep(100)).unwrap();
    for levels in [130, 290, 400] {
        let error = serde_json::from_value::<Plan>(deep(levels))
            .unwrap_err()
            .to_string();
        assert!(error.len() < 1_000, "{error}");
    }
}

#[test]
fn types_of_inputs_are_read_however_deep() {
    let read = |ty: &str| {
        let input = format!(r#"[{{"name":"x","type":"{ty}"}}]"#);
        let reference = r#"{"reference":{"input":"x","pointer":""}}"#;
        let text = plan(reference).replace(r#""inputs":[]"#, &format!(r#""inputs":{input}"#));
        let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        let tools = Contracts::from_iter([Contract::new("t").arguments(schema)]);
        let read = Reader::new()
            .limits(ALL)
            .tools(&tools)
            .read(&text)
            .map(drop);
        read.err().map(|findings| findings[0].code)
    };
    assert_eq!(read("u8"), None);
    assert_eq!(read(&nested("Vec<", "u8", ">", 3)), Some(Code::WrongType));
    assert_eq!(
        read(&nested("Option<", "String", ">", 30_000)),
        Some(Code::WrongType)
    );
    assert_eq!(
        read(&nested("Vec<", "u8", ">", 30_000)),
        Some(Code::LimitPassed)
    );
    assert_eq!(
        read(&nested("Vec<Option<", "u8", ">>", 30_000)),
        Some(Code::LimitPassed)
    );
}

/// The output type of a step that only passes on another step's output is known, even after many such steps.
#[test]
fn values_that_are_handed_on_are_known() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    let tool = Contract::new("t")
        .arguments(schema)
        .output(json!({"type": "string"}));
    let tools = Contracts::from_iter([tool]);
    for length in [1, 8, 9, 3_000] {
        let step = |at: usize| {
            format!(
                r#"{{"id":"s{at}","value":{{"reference":{{"step":"s{}","pointer":""}}}}}}"#,
                at - 1
            )
        };
        let mut steps = vec![r#"{"id":"s0","tool":{"name":"t"}}"#.to_owned()];
        steps.extend((1..=length).map(step));
        // The order of their definitions has no effect.
        steps.reverse();
        let call = format!(
            r#"{{"id":"c","tool":{{"name":"t"}},"arguments":{{"object":{{"x":{{"reference":{{"step":"s{length}","pointer":""}}}}}}}}}}"#
        );
        let text = format!(
            r#"{{"name":"p","inputs":[],"steps":[{},{call}],"output":{{"value":null}}}}"#,
            steps.join(",")
        );
        let findings = Reader::new().tools(&tools).read(&text).unwrap_err();
        let codes: Vec<Code> = findings.errors().map(|it| it.code).collect();
        assert_eq!(codes, [Code::WrongType], "{length}");
    }
}

/// Each step's output is a list of the previous step's output, so the type of the last is as deep as the number of steps.
#[test]
fn lists_of_lists_have_a_limit() {
    let step = |at: usize| {
        let body = format!(
            r#"{{"value":{{"reference":{{"step":"s{}","pointer":""}}}}}}"#,
            at - 1
        );
        format!(r#"{{"id":"s{at}","for":{{"pattern":"x","list":[1],"body":{body}}}}}"#)
    };
    let mut steps = vec![r#"{"id":"s0","tool":{"name":"t"}}"#.to_owned()];
    steps.extend((1..=2_000).map(step));
    let text = format!(
        r#"{{"name":"p","inputs":[],"steps":[{}],"output":{{"value":null}}}}"#,
        steps.join(",")
    );
    let tools = Contracts::from_iter([Contract::new("t").output(json!({"type": "string"}))]);
    let findings = Reader::new().tools(&tools).read(&text).unwrap_err();
    assert!(
        findings.errors().all(|it| it.code == Code::LimitPassed),
        "{findings}"
    );
}

#[test]
fn references_have_a_limit() {
    for part in [".x", "[*]", "[0]", "[\\\"a b\\\"]"] {
        let read = |parts: usize| {
            let path = part.repeat(parts);
            let text = format!(
                r#"[{{"id":"a","tool":"t","arguments":{{}}}},{{"id":"s","tool":"t","arguments":{{"x":"{{{{a.result{path}}}}}"}}}}]"#
            );
            let tools = Contracts::from_iter([Contract::new("t").output(json!({}))]);
            let read = Reader::new().tools(&tools).read(&text).map(drop);
            read.err().map(|findings| findings[0].code)
        };
        assert_eq!(read(60), None, "{part}");
        assert_eq!(read(300), Some(Code::LimitPassed), "{part}");
        assert_eq!(read(100_000), Some(Code::LimitPassed), "{part}");
    }
}

/// A value or a body around another one.
type Around<T> = fn(T) -> T;

/// A plan of one step, with a value in others and a body in others.
fn built(
    around: Around<Template>,
    values: usize,
    around_body: Around<Body>,
    bodies: usize,
) -> Plan {
    let value = (0..values).fold("x".into(), |inner, _| around(inner));
    let call = Action::call("t", Template::object([("x", value)]));
    let body = (0..bodies).fold(call.into(), |inner, _| around_body(inner));
    let mut plan = Plan::new("p");
    plan.steps = vec![Step::new("s", body)];
    plan
}

const VALUES: [Around<Template>; 4] = [
    |inner| vec![inner].into(),
    |inner| Template::object([("a", inner)]),
    |inner| Template::Object(vec![Entry::new(Key::Flattened, inner)]),
    |inner| Template::Text(vec![Part::Literal("a".into()), Part::value(inner, "")]),
];

const BODIES: [Around<Body>; 2] = [
    |inner| vec![Branch::new(None, inner)].into(),
    |inner| For::new("_", Vec::<Template>::new(), inner).into(),
];

/// The depth of a plan is checked before the plan is written.
#[test]
fn too_deep_a_plan_is_refused_before_it_is_written() {
    let deep_values = VALUES.map(|around| built(around, 2_000, BODIES[0], 0));
    let deep_bodies = BODIES.map(|around| built(VALUES[0], 0, around, 2_000));
    for plan in deep_values.iter().chain(&deep_bodies) {
        let mut said = String::new();
        let measured = allocation_counter::measure(|| {
            said = plan.to_blueprint().unwrap_err().to_string();
        });
        assert!(
            said.ends_with("step `s`: a value that is nested too deeply"),
            "{said}"
        );
        assert!(measured.bytes_total < 2_000, "{}", measured.bytes_total);
    }
}

#[test]
fn what_is_written_is_read_however_deep_it_is() {
    let mut written = 0;
    let plans = [1, 60, 120, 124, 125, 126, 127, 128]
        .into_iter()
        .flat_map(|levels| {
            let values = VALUES.map(|around| built(around, levels, BODIES[0], 0));
            let bodies = BODIES.map(|around| built(VALUES[0], 0, around, levels / 2 + 1));
            values.into_iter().chain(bodies)
        });
    for plan in plans {
        let plan_json = serde_json::to_string(&plan).ok();
        let plan_json = plan_json.filter(|text| serde_json::from_str::<Plan>(text).is_ok());
        let blueprint = plan.to_blueprint().ok();
        let documents = [
            (Dialect::PlanJson, plan_json),
            (Dialect::Blueprint, blueprint),
        ];
        for (dialect, text) in documents {
            let Some(text) = text else { continue };
            written += 1;
            let read = Reader::new().dialect(dialect).limits(ALL).read(&text);
            assert!(*read.unwrap().plan() == plan, "{dialect}");
        }
    }
    assert!(written > 45, "{written}");
}
