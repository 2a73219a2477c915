//! Values arrive unchanged, regardless of the strings in them.

use super::tools::{Same, done};
use plan_runtime::{Shape, plan};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
struct Letter {
    text: String,
    raw: Value,
    lines: Vec<String>,
    map: BTreeMap<String, Value>,
    maybe: Option<String>,
}

plan! {
    /// Sends a letter on by every way that there is.
    Send(letter: Letter) -> Letters {
        step sent = Same::<Letter> { value: letter };
        step whole = Same::<Letter> { value: sent };
        step fields = Same::<Letter> { value: Letter {
            text: sent.text, raw: sent.raw, lines: sent.lines, map: sent.map, maybe: sent.maybe,
        } };
        step each = Same::<Vec<String>> { value: sent.lines[..] };
        step json = Same::<Value> { value: json!({"text": sent.text, "raw": [sent.raw], "lines": sent.lines[..]}) };
        step text = Same::<String> { value: format!("{}", sent.text) };
        step around = Same::<String> { value: format!("{{{{x}}}} {0} {{}} {0}", sent.text) };
        step debug: String = format!("{:?}", sent.text);
        step computed = Same::<String> { value: sent.text.clone() + &letter.text };
        step again: Letter = whole.clone();
        Letters { whole, fields, each, json, text, around, debug, computed, again }
    }
}

#[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
struct Letters {
    whole: Letter,
    fields: Letter,
    each: Vec<String>,
    json: Value,
    text: String,
    around: String,
    debug: String,
    computed: String,
    again: Letter,
}

fn check(letter: &Letter) {
    let got = done(
        Send {
            letter: letter.clone(),
        }
        .run(&()),
    );
    let text = &letter.text;
    let expected = Letters {
        whole: letter.clone(),
        fields: letter.clone(),
        each: letter.lines.clone(),
        json: json!({"text": text, "raw": [letter.raw], "lines": letter.lines}),
        text: text.clone(),
        around: format!("{{{{x}}}} {text} {{}} {text}"),
        debug: format!("{text:?}"),
        computed: format!("{text}{text}"),
        again: letter.clone(),
    };
    assert_eq!(got, expected);
    assert_eq!(
        serde_json::to_string(&got.json).unwrap(),
        serde_json::to_string(&expected.json).unwrap()
    );
}

const TRICKY: [&str; 20] = [
    "{{x}}",
    "$ref:sent",
    "$ref:sent.text",
    "${step[0].text}",
    "{{sent.result.text}}",
    "{sent}",
    "{}",
    "{0}",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\0",
    "/",
    "~1",
    "null",
    "\u{2028}",
    "\u{10FFFF}",
    "",
    "😀",
];

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(&TRICKY[..]).prop_map(str::to_owned),
        ".{0,6}"
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_inert(
        text in text(),
        raw in value(),
        lines in prop::collection::vec(text(), 0..4),
        map in prop::collection::btree_map(text(), value(), 0..3),
        maybe in prop::option::of(text()),
    ) {
        check(&Letter { text, raw, lines, map, maybe });
    }
}

#[test]
fn much_text() {
    let text = "[".repeat(65536);
    let letter = Letter {
        raw: json!([text]),
        lines: vec![text.clone(); 2],
        map: BTreeMap::from([(text.clone(), json!({}))]),
        maybe: Some(text.clone()),
        text,
    };
    check(&letter);
}

plan! {
    Numbers(raw: Value, max: u64, min: i64, ratio: f64) -> Vec<Value> {
        step same = Same::<Value> { value: raw };
        step numbers = Same::<(u64, i64, f64)> { value: (max, min, ratio) };
        step literal = Same::<Value> { value: json!([18_446_744_073_709_551_615, -9_223_372_036_854_775_808, 1.10]) };
        step text: String = format!("{} {} {}", numbers.0, numbers.1, numbers.2);
        step bits: bool = numbers.2.to_bits() == ratio.to_bits();
        [same, json!(numbers), literal, json!(text), json!(bits)]
    }
}

proptest! {
    #[test]
    fn numbers_are_exact(max: u64, min: i64, ratio in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
        let raw = json!({"max": max, "min": min, "ratio": ratio});
        let got = done(Numbers { raw: raw.clone(), max, min, ratio }.run(&()));
        prop_assert_eq!(got[0].to_string(), raw.to_string());
        prop_assert_eq!(got[1].to_string(), json!([max, min, ratio]).to_string());
        prop_assert_eq!(&got[3], &json!(format!("{max} {min} {ratio}")));
        prop_assert_eq!(&got[4], &json!(true));
    }
}

#[test]
fn extreme_numbers() {
    let raw: Value =
        serde_json::from_str("[18446744073709551615, -9223372036854775808, 1.10, 1e300, -0.0]")
            .unwrap();
    let plan = Numbers {
        raw: raw.clone(),
        max: u64::MAX,
        min: i64::MIN,
        ratio: 1.10,
    };
    let got = done(plan.run(&()));
    assert_eq!(got[0].to_string(), raw.to_string());
    assert_eq!(
        got[2].to_string(),
        "[18446744073709551615,-9223372036854775808,1.1]"
    );
    assert_eq!(
        got[3],
        json!("18446744073709551615 -9223372036854775808 1.1")
    );
}
