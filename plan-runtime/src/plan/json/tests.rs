//! The documents that are plans and templates, with round trips through writing and reading.

use super::text::Json;
use crate::plan::{Plan, Template};
use crate::plans;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads a string as a plan and as a template. Returns `true` if either reader accepts it.
fn reads(text: &str) -> Result<bool, TestCaseError> {
    // Invalid JSON never reaches the reader.
    if serde_json::from_str::<Json<'_>>(text).is_err() {
        return Ok(false);
    }
    Ok(is_read_as::<Plan>(text)? | is_read_as::<Template>(text)?)
}

fn is_read_as<T>(text: &str) -> Result<bool, TestCaseError>
where
    T: DeserializeOwned + Serialize + PartialEq + Debug,
{
    let Ok(read) = serde_json::from_str::<T>(text) else {
        return Ok(false);
    };
    let written = serde_json::to_string(&read)?;
    let again: T = serde_json::from_str(&written)?;
    prop_assert_eq!(&serde_json::to_string(&again)?, &written);
    prop_assert_eq!(read, again);
    Ok(true)
}

/// Returns a strategy for the replacement of a part of a document.
fn other() -> impl Strategy<Value = Value> {
    let names = [
        "", "null", "a", "s0", "s1", "i0", "/a/0", "a/b", "10s", "Some(x)", "(a, b)", "element",
        "token", "whole", "end",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4_i64).prop_map(Value::from),
        prop::sample::select(vec![
            json!(0.5),
            json!([]),
            json!({}),
            json!([null]),
            json!({"value": 1})
        ]),
        prop::sample::select(names.to_vec()).prop_map(Value::from),
        prop::sample::select(vec![
            json!({"object": {}}),
            json!({"text": ["a", {"value": 1, "spec": ">3"}]}),
            json!({"merge": [{"object": {"a": 1}}, null, {"merge": []}]}),
            json!({"computed": {"written": "a", "reads": [{"local": 0}]}}),
            json!({"reference": {"local": 0, "pointer": ""}}),
            json!({"reference": {"input": 0, "optional": true, "path": [{"token": "a", "absent": "null"}, {"each": "element"}, {"token": "b", "absent": "end", "optional": true}], "else": [1]}}),
            json!({"default": 1}),
            json!({"tool": {"name": "t"}}),
            json!({"for": {"pattern": "x", "list": [], "body": {"value": null}}}),
            json!({"if": [{"then": {"value": 1}}]}),
            json!({"if": [{"all": [true, {"pattern": "Some(x)", "value": 1}], "then": {"value": 1}}]}),
        ]),
    ]
}

/// Returns a strategy for the replacement of a member's name.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "name",
        "value",
        "tool",
        "arguments",
        "if",
        "for",
        "then",
        "condition",
        "all",
        "pattern",
        "step",
        "input",
        "local",
        "pointer",
        "path",
        "written",
        "reads",
        "object",
        "merge",
        "text",
        "absent",
        "optional",
        "else",
        "fallback",
        "after",
        "x",
    ])
}

/// Changes the `at`th part of a document, in the order of traversal.
fn change(value: &mut Value, at: &mut usize, how: &(u8, Value, &str)) {
    if *at == 0 {
        match (how.0, &mut *value) {
            (0, Value::Object(members)) => {
                let first = members.keys().next().cloned();
                first.and_then(|name| members.remove(&name));
            }
            (1, Value::Object(members)) => {
                members.insert(how.2.to_owned(), how.1.clone());
            }
            (2, Value::Object(members)) => {
                let last = members.keys().next_back().cloned();
                if let Some(value) = last.and_then(|name| members.remove(&name)) {
                    members.insert(how.2.to_owned(), value);
                }
            }
            (3, Value::Array(items)) => items.push(how.1.clone()),
            (4, Value::Array(items)) => items.extend(items.first().cloned()),
            _ => *value = how.1.clone(),
        }
        *at = usize::MAX;
        return;
    }
    *at -= 1;
    let parts: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        if *at == usize::MAX {
            return;
        }
        change(part, at, how);
    }
}

static READ: AtomicUsize = AtomicUsize::new(0);
static CHANGED: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn plans_are_read() {
    each_plan_is_read();
    let read = READ.load(Ordering::Relaxed);
    assert!(read > 200, "only {read} are read");
}

#[test]
fn changed_plans_are_read() {
    each_changed_plan_is_read();
    let counts = [&CHANGED, &REFUSED].map(|it| it.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    fn each_plan_is_read(plan in plans::plan()) {
        if let Ok(text) = serde_json::to_string(&plan) {
            let read = reads(&text)? && reads(&serde_json::to_string(&plan.output.value)?)?;
            READ.fetch_add(usize::from(read), Ordering::Relaxed);
        }
    }

    fn each_changed_plan_is_read(
        plan in plans::plan(),
        changes in prop::collection::vec((0..200_usize, (0..8_u8, other(), name())), 1..3),
    ) {
        if let Ok(mut value) = serde_json::to_value(&plan) {
            for (mut at, how) in changes {
                change(&mut value, &mut at, &how);
            }
            let counter = if reads(&value.to_string())? { &CHANGED } else { &REFUSED };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn seeds_are_read() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/plan_json");
    let mut read = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let text = std::fs::read_to_string(seed.unwrap().path()).unwrap();
        assert!(reads(&text).unwrap(), "{text}");
        read += 1;
        // Any truncated document must not panic.
        for end in text.char_indices().map(|(at, _)| at) {
            reads(&text[..end]).unwrap();
            reads(&format!(
                "{}{}",
                &text[..end],
                &text[end..].trim_start_matches(|c| c != ',')
            ))
            .unwrap();
        }
    }
    assert!(read > 0);
}

#[test]
fn what_is_nested_deeper_is_not_read() {
    let nested = |count: usize, open: &str, close: &str, inner: &str| {
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let step = |value: &str| format!(r#"{{"name":"p","steps":[{{"id":"s","value":{value}}}]}}"#);
    for (count, is_read) in [(126, true), (127, true), (128, false), (5000, false)] {
        let list = nested(count, "[", "]", "1");
        let object = nested(count, r#"{"object":{"a":"#, "}}", "1");
        let merged = nested(count, r#"{"merge":["#, "]}", "null");
        let default = format!(
            r#"{{"reference":{{"input":0,"pointer":"","optional":true,"else":{}}}}}"#,
            nested(count, "[", "]", "1")
        );
        for text in [&list, &object, &default] {
            assert_eq!(reads(text).unwrap(), is_read, "{count} {text}");
        }
        assert_eq!(reads(&step(&list)).unwrap(), is_read, "{count}");
        reads(&merged).unwrap();
    }
    for (count, is_read) in [(64, true), (65, false)] {
        let open = r#"{"for":{"pattern":"x","list":[],"body":"#;
        let body = nested(count, open, "}}", r#"{"value":1}"#);
        let text = format!(r#"{{"name":"p","steps":[{{"id":"s",{}]}}"#, &body[1..]);
        assert_eq!(reads(&text).unwrap(), is_read, "{count}");
    }
    for (count, is_read) in [(256, true), (257, false)] {
        let pointer = format!(
            r#"{{"reference":{{"input":0,"pointer":"{}"}}}}"#,
            "/a".repeat(count)
        );
        assert_eq!(reads(&pointer).unwrap(), is_read, "{count}");
        let path = format!(
            r#"{{"reference":{{"input":0,"path":["a"{}]}}}}"#,
            r#","a""#.repeat(count - 1)
        );
        assert_eq!(reads(&path).unwrap(), is_read, "{count}");
    }
}

#[test]
fn odd_documents_are_read_or_not() {
    for (text, is_read) in [
        ("18446744073709551616", true),
        ("18446744073709551617", false),
        ("-9223372036854775809", false),
        ("-0", true),
        ("1e400", false),
        ("1e300", true),
        (r#""\ud800""#, false),
        (r#"{"object":{"\ud800":1}}"#, false),
        (r#"{"object":{"a":1,"a":2}}"#, false),
        (r#"{"object":{"a":1,"\u0061":2}}"#, false),
        (r#"{"object":{},"object":{}}"#, false),
        (
            r#"{"merge":[{"object":{"a":1}},{"merge":[{"object":{"a":1}}]}]}"#,
            false,
        ),
        (
            r#"{"merge":[{"object":{"a":1}},{"reference":{"step":3,"pointer":""}}]}"#,
            true,
        ),
        (r#"{"reference":{"step":1.0,"pointer":""}}"#, false),
        (r#"{"reference":{"step":1,"step":1,"pointer":""}}"#, false),
        (r#"{"reference":{"local":7,"pointer":"a"}}"#, false),
        (r#"{"reference":{"local":7,"pointer":"/a~2"}}"#, false),
        (
            r#"{"reference":{"local":7,"pointer":null,"path":[]}}"#,
            true,
        ),
        (
            r#"{"reference":{"step":1,"pointer":"/a","written":"b"}}"#,
            false,
        ),
        (
            r#"{"reference":{"step":1,"pointer":"/a","written":"x.a"}}"#,
            true,
        ),
        (r#"{"name":"p"}"#, true),
        (r#"{"name":""}"#, true),
        (r#"{"name":null}"#, false),
        (r#"["p"]"#, true),
        (
            r#"{"name":"p","inputs":[{"name":"a"},{"name":"a"}]}"#,
            false,
        ),
        (
            r#"{"name":"p","inputs":[{"name":"a"}],"steps":[{"id":"a","value":1}]}"#,
            false,
        ),
        (r#"{"name":"p","steps":[{"id":null,"value":1}]}"#, false),
        (r#"{"name":"p","steps":[{"id":" ","value":1}]}"#, false),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1},{"id":"a","value":1}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"after":["b"]},{"id":"b","value":1,"after":["a"]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"after":["b","b"]},{"id":"b","value":null}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","tool":{"name":"t"},"arguments":null}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"arguments":null}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"if":null}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"policy":{"attempts":-1}}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"policy":{"timeout":"1 fortnight"}}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"policy":{"optional":""}}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","value":1,"policy":{"optional":"no","fallback":null}}]}"#,
            true,
        ),
        (r#"{"name":"p","steps":[{"id":"a","if":[]}]}"#, true),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"condition":null,"then":{"value":1}}]}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":true,"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[true],"condition":true,"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[true,null],"then":{"value":1}}]}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"pattern":"Some(x)","value":null},{"reference":{"local":0,"pointer":""}}],"then":{"value":{"reference":{"local":0,"pointer":"","written":"x"}}}}]}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"reference":{"local":0,"pointer":""}},{"pattern":"Some(x)","value":1}],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"pattern":"Some(x)"}],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"pattern":"Some(x)","value":1,"then":2}],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"pattern":null,"value":1}],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"all":[{"value":1}],"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"pattern":"x","then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","if":[{"pattern":"5","value":1,"then":{"value":1}}]}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","for":{"pattern":"a","list":[],"body":{"value":{"reference":{"step":"a","pointer":""}}}}}]}"#,
            false,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","for":{"pattern":"x","list":[],"body":{"value":{"reference":{"local":0,"pointer":"","written":"x"}}}}}]}"#,
            true,
        ),
        (
            r#"{"name":"p","steps":[{"id":"a","for":{"pattern":"x","list":[],"body":{"value":{"reference":{"local":1,"pointer":""}}}}}]}"#,
            false,
        ),
    ] {
        assert_eq!(reads(text).unwrap(), is_read, "{text}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let text = r#"{"name": "p", "steps": [
        {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"to": {"reference": {"step": "b", "pointer": ""}}}}}
    ]}"#;
    let error = |read: serde_json::Result<Plan>| read.unwrap_err().to_string();
    let value: Value = serde_json::from_str(text).unwrap();
    let (written, built) = (serde_json::from_str(text), serde_json::from_value(value));
    for (error, place) in [
        (error(written), "line 2, column 98 of the plan"),
        (error(built), "/steps/0/arguments/object/to/reference/step"),
    ] {
        let expected =
            format!("step `a`: there is no step `b` at {place} (the plan has no other steps)");
        assert_eq!(error, expected);
    }
}
