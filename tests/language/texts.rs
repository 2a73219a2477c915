//! `json!` and `format!` in plans.

use crate::support::{Same, argument, done};
use plan_runtime::plan::{Part, Template};
use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

#[derive(Serialize, Deserialize, Shape, Clone, Debug)]
pub struct Row {
    pub name: String,
    pub count: i64,
    pub ratio: f64,
    pub tags: Vec<String>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("<{}>", self.name))
    }
}

fn row() -> Row {
    Row {
        name: "n\"é".into(),
        count: -42,
        ratio: 1.0 / 3.0,
        tags: vec!["a".into(), "b".into()],
    }
}

const LIMIT: u8 = 7;

plan! {
    Json(row: Row, flag: bool, maybe: Option<u8>) -> Vec<Value> {
        step a = Same::<Value> { value: json!({
            "name": row.name, "nested": { "list": [row.count, null, [], {}, { "deep": [[flag]] }] },
            "text": "{{x}} ${step[0].a}", "number": -1.5, "big": 18_446_744_073_709_551_615, "small": -9_223_372_036_854_775_808,
            "": true, "a/b~c": 'c', "max": u64::MAX, "limit": LIMIT,
            "sum": row.count + 1, "each": row.tags[..], "first": row.tags.get(0), "none": row.tags.get(5),
            "maybe": maybe, "some": Some(row.count), "format": format!("{}:{flag}", row.name),
            "list of computed": [row.tags.len(), row.tags[0].clone() + "!"], "row": row,
            "literal": Row { name: "x", count: 1, ratio: 0.5, tags: [row.name] },
        }) };
        step list = Same::<Value> { value: json!([1, row.name, null]) };
        step null = Same::<Value> { value: json!(null) };
        step alone = Same::<Value> { value: json!(row.count) };
        step optional = Same::<Option<Value>> { value: json!({"a": [row.count]}) };
        step map = Same::<Vec<Value>> { value: [json!({}), json!([]), json!("x")] };
        step computed_key: Value = json!({ format!("{}!", "key"): 1 });
        [a, list, null, alone, json!(optional), json!(map), computed_key]
    }
}

#[test]
fn json() {
    let row = row();
    let plan = Json {
        row: row.clone(),
        flag: true,
        maybe: None,
    };
    let expected = vec![
        json!({
            "name": row.name, "nested": { "list": [row.count, null, [], {}, { "deep": [[true]] }] },
            "text": "{{x}} ${step[0].a}", "number": -1.5, "big": u64::MAX, "small": i64::MIN,
            "": true, "a/b~c": "c", "max": u64::MAX, "limit": 7,
            "sum": -41, "each": ["a", "b"], "first": "a", "none": null,
            "maybe": null, "some": -42, "format": "n\"é:true",
            "list of computed": [2, "a!"], "row": row,
            "literal": Row { name: "x".into(), count: 1, ratio: 0.5, tags: vec![row.name.clone()] },
        }),
        json!([1, row.name, null]),
        json!(null),
        json!(-42),
        json!({"a": [-42]}),
        json!([{}, [], "x"]),
        json!({"key!": 1}),
    ];
    assert_eq!(done(plan.run(&())), expected);
}

plan! {
    Formats(row: Row, raw: Value, word: String, r#type: u8) -> Vec<String> {
        step plain: String = format!("plain");
        step empty: String = format!("");
        step braces: String = format!("{{}} {{{}}} }}{{", word);
        step positions: String = format!("{1} {0} {1} {}", row.count, word);
        step named: String = format!("{a}{b}{a}", a = row.name, b = row.count);
        step inline: String = format!("{word}|{word:?}|{r#type}");
        step widths: String = format!("[{:>6}][{:<6}][{:^6}][{:*^9}][{:+}][{:06}]", word, word, word, word, row.ratio, row.count);
        step precision: String = format!("{:.2} {:8.3} {:.1}", row.ratio, row.ratio, word);
        step radix: String = format!("{:x} {:#X} {:#010b} {:o} {:e}", r#type, r#type, r#type, r#type, row.ratio);
        step debug: String = format!("{:?} {:?} {:#?}", word, row.tags, row.tags);
        step display: String = format!("{row} {row:>10}");
        step spaces: String = format!("{ word } {0 }", row.count);
        step dollar: String = format!("{:1$}|{:>width$}|{:.*}", word, 8, 2, row.ratio, width = 5);
        step untyped: String = format!("{} {} {:?}", raw["a"], raw, raw["s"]);
        step mixed: String = format!("{} {} {}", row.tags.len() + 1, LIMIT, if row.count < 0 { "neg" } else { "pos" });
        step literals: String = format!("{} {} {:?} {}", 1.5, -3, "text", true);
        step indices: String = format!("{} {}", row.tags[1], row.tags[0].to_uppercase());
        step multiline: String = format!(
            "first {}
             second \
             third {word}",
            row.count,
        );
        step inside = Same::<Option<String>> { value: Some(format!("Re: {}", word)) };
        step in_json = Same::<Value> { value: json!({"x": format!("{word}")}) };
        [
            plain, empty, braces, positions, named, inline, widths, precision, radix, debug, display, spaces, dollar,
            untyped, mixed, literals, indices, multiline, inside.clone().unwrap_or_default(),
            format!("{}", in_json["x"].as_str().unwrap_or_default()),
        ]
    }
}

#[test]
fn formats() {
    let row = row();
    let raw = json!({"a": [1, {"b": null}], "s": "q\"q"});
    let (word, r#type) = ("wörd".to_owned(), 200_u8);
    let plan = Formats {
        row: row.clone(),
        raw: raw.clone(),
        word: word.clone(),
        r#type,
    };
    let expected = [
        "plain".to_owned(),
        String::new(),
        format!("{{}} {{{word}}} }}{{"),
        format!("{1} {0} {1} {0}", row.count, word),
        format!("{a}{b}{a}", a = row.name, b = row.count),
        format!("{word}|{word:?}|{type}"),
        format!(
            "[{word:>6}][{word:<6}][{word:^6}][{word:*^9}][{:+}][{:06}]",
            row.ratio, row.count
        ),
        format!("{:.2} {:8.3} {word:.1}", row.ratio, row.ratio),
        format!("{type:x} {type:#X} {type:#010b} {type:o} {:e}", row.ratio),
        format!("{word:?} {:?} {:#?}", row.tags, row.tags),
        format!("{row} {row:>10}"),
        format!("{word} {0}", row.count),
        format!("{:1$}|{:>width$}|{:.*}", word, 8, 2, row.ratio, width = 5),
        format!("{} {} {:?}", raw["a"], raw, raw["s"]),
        "3 7 neg".to_owned(),
        "1.5 -3 \"text\" true".to_owned(),
        "b A".to_owned(),
        format!("first {}\n             second third {word}", row.count),
        format!("Re: {word}"),
        word.clone(),
    ];
    let got = done(plan.run(&()));
    for (got, expected) in got.iter().zip(&expected) {
        assert_eq!(got, expected);
    }
    assert_eq!(got.len(), expected.len());
}

/// The data of a `format!`: the literal parts, and the references between them.
#[test]
fn formats_as_data() {
    let Template::Text(parts) = &Formats::PLAN.step("named").unwrap().action().unwrap().args else {
        panic!("no text")
    };
    let written: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) => format!("{text:?}"),
            Part::Value {
                value: Template::Reference(reference),
                ..
            } => reference.to_string(),
            other @ Part::Value { .. } => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(written, ["row.name", "row.count", "row.name"]);
    let Template::Object(json) = argument(Json::PLAN, "a", "value") else {
        panic!("no object")
    };
    assert_eq!(json.len(), 20);
}
