//! Literals of every kind of type that serde derives, resolved into it.

use crate::support::{key, object, reference, resolved, string};
use plan_runtime::plan::{Absent, Reference, Source, Tag, Template};
use plan_runtime::shape::Tagging;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    x: i32,
    y: i32,
}

macro_rules! shapes {
    ($name:ident $($attribute:meta)?) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        $(#[$attribute])?
        enum $name {
            Empty,
            Named { x: i32, label: Option<String> },
            Newtype(Point),
        }
    };
}

shapes!(External);
shapes!(Internal serde(tag = "type"));
shapes!(Adjacent serde(tag = "t", content = "c"));

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Named { x: i32, label: Option<String> },
    Text(String),
}

fn tagged(tagging: Tagging, name: &'static str, content: Option<Template>) -> Template {
    Template::Tagged(Tag::Variant(tagging, name), content.map(Box::new))
}

/// The template resolves into this value, and into its JSON, and reads back from plan JSON as the same.
fn gives<T: Serialize + DeserializeOwned + PartialEq + Debug>(template: &Template, expected: &T) {
    let output = || json!({"n": 7, "s": "text", "point": {"x": 1, "y": 2}, "unit": "Empty"});
    assert_eq!(&resolved::<T>(template, output()).unwrap(), expected);
    let json: Value = resolved(template, output()).unwrap();
    assert_eq!(serde_json::from_value::<T>(json).unwrap(), *expected);
    let text = serde_json::to_string(template).unwrap();
    let read: Template = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert_eq!(&resolved::<T>(&read, output()).unwrap(), expected);
}

fn named() -> Template {
    object(vec![
        ("x", reference("inbox.n", vec![key("n")])),
        ("label", reference("inbox.s", vec![key("s")])),
    ])
}

fn point() -> Template {
    reference("inbox.point", vec![key("point")])
}

macro_rules! each_variant {
    ($name:ident, $tagging:expr) => {{
        gives(&tagged($tagging, "Empty", None), &$name::Empty);
        gives(
            &tagged($tagging, "Named", Some(named())),
            &$name::Named {
                x: 7,
                label: Some("text".into()),
            },
        );
        gives(
            &tagged($tagging, "Newtype", Some(point())),
            &$name::Newtype(Point { x: 1, y: 2 }),
        );
        // Inside a struct, a list and an option.
        let list = Template::List(
            vec![
                tagged($tagging, "Empty", None),
                tagged($tagging, "Named", Some(named())),
            ]
            .into(),
        );
        gives(
            &list,
            &vec![
                Some($name::Empty),
                Some($name::Named {
                    x: 7,
                    label: Some("text".into()),
                }),
            ],
        );
    }};
}

#[test]
fn external() {
    each_variant!(External, Tagging::External);
    gives(
        &reference("inbox.unit", vec![key("unit")]),
        &External::Empty,
    );
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Tuple {
        Pair(i32, String),
        Maybe(Option<u8>),
    }
    let pair = Template::List(vec![reference("inbox.n", vec![key("n")]), string("b")]);
    gives(
        &tagged(Tagging::External, "Pair", Some(pair)),
        &Tuple::Pair(7, "b".into()),
    );
    gives(
        &tagged(Tagging::External, "Maybe", Some(Template::Null)),
        &Tuple::Maybe(None),
    );
}

#[test]
fn internal() {
    each_variant!(Internal, Tagging::Internal("type"));
}

#[test]
fn adjacent() {
    each_variant!(Adjacent, Tagging::Adjacent(&["t", "c"]));
}

#[test]
fn untagged() {
    let literal = tagged(Tagging::Untagged, "Named", Some(named()));
    gives(
        &literal,
        &Untagged::Named {
            x: 7,
            label: Some("text".into()),
        },
    );
    let text = tagged(
        Tagging::Untagged,
        "Text",
        Some(reference("inbox.s", vec![key("s")])),
    );
    gives(&text, &Untagged::Text("text".into()));
}

#[test]
fn structs_of_every_kind() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unit;
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapped(Point);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Clear {
        point: Point,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        n: u8,
        #[serde(flatten)]
        point: Point,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    assert_eq!(
        resolved::<Unit>(&object(vec![]), json!(null)).unwrap(),
        Unit
    );
    assert_eq!(
        resolved::<Unit>(&Template::Null, json!(null)).unwrap(),
        Unit
    );
    gives(
        &object(vec![("=", point())]),
        &Wrapped(Point { x: 1, y: 2 }),
    );
    gives(
        &object(vec![("=", point())]),
        &Clear {
            point: Point { x: 1, y: 2 },
        },
    );
    let extra = object(vec![("z", string("more"))]);
    let flat = object(vec![
        ("n", reference("inbox.n", vec![key("n")])),
        ("..", point()),
        ("..", extra),
    ]);
    let rest = BTreeMap::from([("z".to_owned(), json!("more"))]);
    gives(
        &flat,
        &Flat {
            n: 7,
            point: Point { x: 1, y: 2 },
            rest,
        },
    );
    let pair = Template::List(vec![reference("inbox.n", vec![key("n")]), string("b")]);
    gives(&pair, &(7, "b".to_owned()));
}

#[test]
fn options() {
    let x = || Reference::new(Source::Step(0));
    let get = |reference: Reference, output: Value| {
        resolved::<Option<u8>>(&Template::Reference(reference), output)
    };
    let total = || x().key("total");
    let default = |value: Value| total().absent(Absent::Default(Box::new(value)));
    assert_eq!(get(total(), json!({"total": null})).unwrap(), None);
    assert_eq!(get(total(), json!({"total": 3})).unwrap(), Some(3));
    assert!(get(total(), json!({})).is_err());
    assert_eq!(get(default(json!(null)), json!({})).unwrap(), None);
    assert_eq!(get(total().absent(Absent::End), json!({})).unwrap(), None);
    assert_eq!(get(default(json!(9)), json!({})).unwrap(), Some(9));
    let inside = || default(json!({"a": [4]})).key("a").index(0);
    assert_eq!(get(inside(), json!({})).unwrap(), Some(4));
    assert_eq!(
        get(default(json!(8)), json!({"total": 1})).unwrap(),
        Some(1)
    );
    let null = || default(json!(null)).optional().key("x");
    assert_eq!(get(null(), json!({})).unwrap(), None);
    let end = || total().absent(Absent::End).optional().key("x");
    assert_eq!(get(end(), json!({})).unwrap(), None);
    assert_eq!(get(end(), json!({"total": {"x": 2}})).unwrap(), Some(2));
    // `?` is about null, and this is missing.
    let asked = || total().optional().key("x");
    assert_eq!(get(asked(), json!({"total": null})).unwrap(), None);
    assert!(get(asked(), json!({})).is_err());
    let second = x().index(1).absent(Absent::End).key("x");
    assert_eq!(get(second, json!([1])).unwrap(), None);
    // A value without parts is not absent.
    let inside = x().key("a").key("b").absent(Absent::End).optional();
    assert!(get(inside, json!({"a": 1})).is_err());
    let each = x().each().key("a").absent(Absent::End).optional();
    let each = Template::Reference(each);
    let list: Vec<Option<u8>> = resolved(&each, json!([{"a": 1}, {}, {"a": null}])).unwrap();
    assert_eq!(list, [Some(1), None, None]);
    // An index is a key on an object, and the other way round.
    assert_eq!(get(x().index(10), json!({"10": 1})).unwrap(), Some(1));
    assert_eq!(get(x().key("1"), json!([0, 1])).unwrap(), Some(1));
    for none in ["01", "+1", "-", "1 ", ""] {
        assert!(get(x().key(none), json!([0, 1])).is_err(), "{none:?}");
    }
}

#[test]
fn map_keys() {
    let output = json!({"1": "a", "-2": "b"});
    let whole = reference("x", vec![]);
    let map: HashMap<i8, String> = resolved(&whole, output.clone()).unwrap();
    assert_eq!(map, HashMap::from([(1, "a".into()), (-2, "b".into())]));
    let literal = object(vec![("true", string("yes"))]);
    assert_eq!(
        resolved::<HashMap<bool, String>>(&literal, json!(null)).unwrap(),
        HashMap::from([(true, "yes".into())])
    );
    assert!(resolved::<HashMap<u8, String>>(&whole, output).is_err());
    assert!(resolved::<HashMap<u8, u8>>(&whole, json!({"+1": 1})).is_err());
    let bytes: serde_bytes::ByteBuf = resolved(&whole, json!([1, 2])).unwrap();
    assert_eq!(bytes.as_ref(), [1, 2]);
}
