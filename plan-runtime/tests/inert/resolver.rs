//! Values arrive unchanged: compared with serde_json and jsonptr, over random outputs and pointers.

use crate::common::skips;
use crate::support::{at, each, key, object, reference, resolved};
use jsonptr::{Pointer, PointerBuf};
use plan_runtime::plan::{Key, Number, Part, Segment, Template};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

fn text() -> impl Strategy<Value = String> {
    let tricky = prop::sample::select(vec![
        "{{x}}",
        "$ref:x",
        "$ref:inbox.a",
        "${step[0].a}",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\0",
        "\u{1F600}",
        "\u{10FFFF}",
        "/",
        "~",
        "~0",
        "~1",
        "{}",
        "{:?}",
        "null",
        "",
        "0",
        "-",
        "01",
        "\u{2028}",
    ]);
    let part = prop_oneof![tricky.prop_map(str::to_owned), ".{0,8}"];
    prop_oneof![
        9 => prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat()),
        1 => Just("[".repeat(65536)),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a", "b", "0", "1", "01", "-", "", "a/b", "m~n", "+1", "$ref:x", "{{x}}"
        ])
        .prop_map(str::to_owned),
        ".{0,3}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..5)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

/// The pointers to all values in a value.
fn pointers(value: &Value, here: &PointerBuf, out: &mut Vec<PointerBuf>) {
    out.push(here.clone());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &here.with_trailing_token(index), out);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &here.with_trailing_token(name.as_str()), out);
            }
        }
        _ => {}
    }
}

/// A value, and a pointer that leads to something in it (or, half the time, mostly not).
fn value_and_pointer() -> impl Strategy<Value = (Value, PointerBuf)> {
    (
        value(),
        any::<prop::sample::Index>(),
        any::<bool>(),
        prop::collection::vec(name(), 0..4),
    )
        .prop_map(|(value, index, is_there, random)| {
            let mut all = Vec::new();
            pointers(&value, &PointerBuf::root(), &mut all);
            let mut pointer = all[index.index(all.len())].clone();
            if !is_there {
                random
                    .iter()
                    .for_each(|token| pointer.push_back(token.as_str()));
            }
            (value, pointer)
        })
}

/// Keys for all tokens, or indices where they are some: both have to lead to the same.
fn path(pointer: &Pointer, indices: bool) -> Vec<Segment> {
    let segment = |token: jsonptr::Token<'_>| match token.to_index() {
        Ok(jsonptr::index::Index::Num(index)) if indices => at(index),
        _ => key(&token.decoded()),
    };
    pointer.tokens().map(segment).collect()
}

proptest! {
    #[test]
    fn walks_like_jsonptr((value, pointer) in value_and_pointer(), indices: bool) {
        let args = object(vec![("x", reference("inbox.x", path(&pointer, indices)))]);
        match (pointer.resolve(&value), resolved::<Value>(&args, value.clone())) {
            (Ok(expected), Ok(arrived)) => prop_assert_eq!(
                serde_json::to_string(&arrived).unwrap(),
                serde_json::to_string(&json!({"x": expected})).unwrap()
            ),
            (Err(_), Err(error)) => {
                let reached = error.reached().unwrap();
                prop_assert!(reached.resolve(&value).is_ok(), "{} is not there", reached);
                prop_assert!(reached.count() < pointer.count());
                prop_assert!(error.to_string().len() < 1500, "{}", error);
            }
            (oracle, ours) => prop_assert!(false, "{pointer}: jsonptr {oracle:?}, ours {ours:?}"),
        }
    }

    #[test]
    fn strings_are_inert(text in text(), around in text()) {
        #[derive(Deserialize)]
        struct Args { alone: String, inside: String }
        let value = || reference("inbox.a", vec![key("a")]);
        let inside = Template::Text(vec![
            Part::Literal(around.clone()),
            Part::value(value(), ""),
            Part::Literal("{}".into()),
        ]);
        let args = object(vec![("alone", value()), ("inside", inside)]);
        let args: Args = resolved(&args, json!({"a": text})).unwrap();
        prop_assert_eq!(&args.alone, &text);
        prop_assert_eq!(args.inside, format!("{around}{text}{{}}"));
    }

    #[test]
    fn values_inside_text_are_json(value in value()) {
        let template = Template::Text(vec![Part::value(reference("inbox", vec![]), "")]);
        let expected = match &value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        prop_assert_eq!(resolved::<String>(&template, value).unwrap(), expected);
    }

    #[test]
    fn resolves_like_substitution(output in value(), template in template()) {
        // Every reference is to the whole output, so that each can be resolved.
        let expected = substitute(&template, &output);
        prop_assert_eq!(resolved::<Value>(&template, output).unwrap(), expected);
    }

    #[test]
    fn each_is_a_list(items in prop::collection::vec(prop::collection::vec(value(), 0..4), 0..4)) {
        let output = json!({"rows": items.iter().map(|row| json!({"cells": row.iter().map(|v| json!({"v": v})).collect::<Vec<_>>()})).collect::<Vec<_>>()});
        let template = reference("inbox.rows[..].cells[..].v", vec![key("rows"), each(), key("cells"), each(), key("v")]);
        prop_assert_eq!(resolved::<Vec<Vec<Value>>>(&template, output).unwrap(), items);
    }
}

fn template() -> impl Strategy<Value = Template> {
    let leaf = prop_oneof![
        Just(Template::Null),
        any::<bool>().prop_map(Template::Bool),
        any::<u64>().prop_map(|n| Template::Number(Number::Unsigned(n))),
        any::<i64>().prop_map(|n| Template::Number(Number::Signed(n))),
        prop::num::f64::NORMAL.prop_map(|n| Template::Number(Number::Float(n))),
        text().prop_map(Template::String),
        Just(reference("inbox", vec![])),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Template::List),
            prop::collection::btree_map(name(), inner.clone(), 0..4).prop_map(Template::object),
            inner.prop_map(|value| object(vec![("=", value)])),
        ]
    })
}

fn substitute(template: &Template, output: &Value) -> Value {
    match template {
        Template::Null => Value::Null,
        Template::Bool(value) => json!(value),
        Template::Number(Number::Unsigned(value)) => json!(value),
        Template::Number(Number::Signed(value)) => json!(value),
        Template::Number(Number::Float(value)) => json!(value),
        Template::String(text) => json!(text),
        Template::List(items) => items.iter().map(|item| substitute(item, output)).collect(),
        Template::Object(entries) => {
            let mut members = Map::new();
            for entry in entries {
                let value = substitute(&entry.value, output);
                match &entry.key {
                    Key::Name(name) => members.insert(name.to_string(), value),
                    _ => return value,
                };
            }
            members.into()
        }
        Template::Reference(_) => output.clone(),
        _ => unreachable!("not made"),
    }
}

#[test]
fn numbers_keep_their_value() {
    let numbers = json!([u64::MAX, i64::MIN, 1.10, 1e300, -0.0, 0, -1]);
    let template = reference("inbox", vec![]);
    let arrived: Value = resolved(&template, numbers.clone()).unwrap();
    assert_eq!(arrived.to_string(), numbers.to_string());
    assert_eq!(arrived[2].as_f64(), Some(1.10));
    assert_eq!(
        resolved::<u64>(&reference("x", vec![at(0)]), numbers.clone()).unwrap(),
        u64::MAX
    );
    assert_eq!(
        resolved::<i64>(&reference("x", vec![at(1)]), numbers.clone()).unwrap(),
        i64::MIN
    );
    assert_eq!(
        resolved::<u128>(&reference("x", vec![at(0)]), numbers.clone()).unwrap(),
        u128::from(u64::MAX)
    );
    let zero: f64 = resolved(&reference("x", vec![at(4)]), numbers).unwrap();
    assert!(zero == 0.0 && zero.is_sign_negative());
}

#[test]
fn pointer_vectors() {
    let Some(folder) = skips::unless("pointer_vectors", skips::corpora()) else {
        return;
    };
    let file = folder.join("json_pointer/json_pointer_vectors.json");
    let text = std::fs::read_to_string(file).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let document = &vectors["rfc6901_document"];
    let cases = vectors["rfc6901_evaluate"].as_array().unwrap();
    for case in cases {
        let pointer = Pointer::parse(case["pointer"].as_str().unwrap()).unwrap();
        for indices in [false, true] {
            let reference = reference("x", path(pointer, indices));
            assert_eq!(
                resolved::<Value>(&reference, document.clone()).unwrap(),
                case["value"],
                "{pointer}"
            );
        }
    }
    println!("{} pointers", cases.len());
    let plan = |pointer: &str| {
        let reference = json!({"reference": {"input": "q", "pointer": pointer}});
        json!({"name": "p", "inputs": [{"name": "q"}], "output": {"value": reference}}).to_string()
    };
    let cases = vectors["syntax_cases"].as_array().unwrap();
    for case in cases {
        let pointer = case["pointer"].as_str().unwrap();
        let read = serde_json::from_str::<plan_runtime::Plan>(&plan(pointer));
        assert_eq!(
            read.is_ok(),
            case["valid"].as_bool().unwrap(),
            "{pointer}: {read:?}"
        );
        if let Ok(plan) = read {
            assert_eq!(
                plan.output.value.references()[0]
                    .reference
                    .pointer()
                    .as_str(),
                pointer
            );
        }
    }
    println!("{} syntax cases", cases.len());
}
