//! Every form of a reference, and the pointer that it becomes.

use crate::support::{Make, Same, argument, done, failed, pointers};
use plan_runtime::plan::Template;
use plan_runtime::{Plan, Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Person {
    pub email: String,
    pub nick: Option<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Id(pub u64);

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Pair(pub Id, pub String);

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
#[serde(transparent)]
pub struct Wrapped {
    pub inner: Person,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Meta {
    #[serde(rename = "total-count")]
    pub total: u64,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    pub thread_id: Id,
    pub r#type: String,
    pub from: Box<Person>,
    pub carbon_copy: Option<Person>,
    pub shared: Arc<Person>,
    pub wrapped: Wrapped,
    pub pair: Pair,
    pub people: (Person,),
    pub tuple: (u8, String),
    #[serde(flatten)]
    pub meta: Meta,
    #[serde(rename(serialize = "written", deserialize = "read"), alias = "written")]
    pub renamed: u8,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    #[serde(rename = "a/b~c")]
    pub odd: String,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub data: Vec<T>,
    pub next: Option<String>,
    pub map: BTreeMap<String, T>,
    pub raw: Value,
}

fn email(number: u64) -> Email {
    let person = |nick: Option<&str>| Person {
        email: format!("{number}@example.org"),
        nick: nick.map(str::to_owned),
    };
    Email {
        thread_id: Id(number),
        r#type: "plain".into(),
        from: Box::new(person(Some("Jo"))),
        carbon_copy: (number % 2 == 1).then(|| person(Some("Cy"))),
        shared: Arc::new(person(None)),
        wrapped: Wrapped {
            inner: person(None),
        },
        pair: Pair(Id(number + 100), "second".into()),
        people: (person(None),),
        tuple: (7, "of a tuple".into()),
        meta: Meta { total: number * 2 },
        renamed: 9,
        labels: Vec::new(),
        note: None,
        odd: "escaped".into(),
    }
}

fn page() -> Page<Email> {
    Page {
        data: vec![email(1), email(2), email(3)],
        next: Some("token".into()),
        map: BTreeMap::from([("odd \"key\"/~".to_owned(), email(4))]),
        raw: json!({"a": [{"b": 1}, {"b": null}, {}], "k/~": "v", "0": "zero", "text": "t"}),
    }
}

plan! {
    Fields(page: Page<Email>) -> Value {
        step got = Same::<Page<Email>> { value: page };
        step whole = Same::<Page<Email>> { value: got };
        step id = Same::<Id> { value: got.data[0].thread_id };
        step inner = Same::<u64> { value: got.data[0].thread_id.0 };
        step raw_name = Same::<String> { value: got.data[0].r#type };
        step boxed = Same::<String> { value: got.data[0].from.email };
        step the_box = Same::<Box<Person>> { value: got.data[0].from };
        step shared = Same::<String> { value: got.data[0].shared.email };
        step wrapped = Same::<String> { value: got.data[0].wrapped.inner.email };
        step pair = Same::<u64> { value: got.data[0].pair.0.0 };
        step spaced = Same::<u64> { value: got.data[0].pair. 0. 0 };
        step spaced_name = Same::<String> { value: got.data[0].people.0. email };
        step second = Same::<String> { value: got.data[0].pair.1 };
        step tuple = Same::<(u8, String)> { value: got.data[0].tuple };
        step member = Same::<u8> { value: got.data[0].tuple.0 };
        step flat = Same::<u64> { value: got.data[0].meta.total };
        step renamed = Same::<u8> { value: got.data[0].renamed };
        step labels = Same::<Vec<String>> { value: got.data[0].labels };
        step note = Same::<Option<String>> { value: got.data[0].note };
        step odd = Same::<String> { value: got.data[0].odd };
        step key = Same::<Id> { value: got.map["odd \"key\"/~"].thread_id };
        json!({
            "whole": whole.next, "id": id, "inner": inner, "type": raw_name, "box": boxed, "the_box": the_box.nick,
            "shared": shared, "wrapped": wrapped, "pair": [pair, second], "spaced": [spaced, spaced_name], "tuple": tuple, "member": member, "flat": flat,
            "renamed": renamed, "labels": labels, "note": note, "odd": odd, "key": key,
        })
    }
}

#[test]
fn fields() {
    let got = done(Fields { page: page() }.run(&()));
    let expected = json!({
        "whole": "token", "id": 1, "inner": 1, "type": "plain", "box": "1@example.org", "the_box": "Jo",
        "shared": "1@example.org", "wrapped": "1@example.org", "pair": [101, "second"], "spaced": [101, "1@example.org"], "tuple": [7, "of a tuple"],
        "member": 7, "flat": 2, "renamed": 9, "labels": [], "note": null, "odd": "escaped", "key": 4,
    });
    assert_eq!(got, expected);
}

#[test]
fn pointers_of_fields() {
    let pointer = |step| pointers(Fields::PLAN, step, "value").concat();
    for (step, expected) in [
        ("got", ""),
        ("whole", ""),
        ("id", "/data/0/threadId"),
        ("inner", "/data/0/threadId"),
        ("raw_name", "/data/0/type"),
        ("boxed", "/data/0/from/email"),
        ("wrapped", "/data/0/wrapped/email"),
        ("pair", "/data/0/pair/0"),
        ("spaced", "/data/0/pair/0"),
        ("spaced_name", "/data/0/people/0/email"),
        ("second", "/data/0/pair/1"),
        ("member", "/data/0/tuple/0"),
        ("flat", "/data/0/total-count"),
        ("renamed", "/data/0/written"),
        ("odd", "/data/0/a~1b~0c"),
        ("key", "/map/odd \"key\"~1~0/threadId"),
    ] {
        assert_eq!(pointer(step), expected, "{step}");
    }
}

plan! {
    /// References that may give nothing.
    Optional(page: Page<Email>) -> Value {
        step got = Same::<Page<Email>> { value: page };
        step next = Same::<Option<String>> { value: got.next };
        step asked = Same::<Option<String>> { value: got.next? };
        step nick = Same::<Option<String>> { value: got.data[0].carbon_copy?.nick? };
        step none = Same::<Option<String>> { value: got.data[1].carbon_copy?.nick? };
        step first = Same::<Option<Id>> { value: got.data.get(0)?.thread_id };
        step tenth = Same::<Option<Id>> { value: got.data.get(9)?.thread_id };
        step whole = Same::<Option<Email>> { value: got.data.get(9) };
        step key = Same::<Option<u64>> { value: got.map.get("odd \"key\"/~")?.thread_id.0 };
        step no_key = Same::<Option<Email>> { value: got.map.get("none") };
        json!({
            "next": next, "asked": asked, "nick": nick, "none": none, "first": first, "tenth": tenth, "whole": whole,
            "key": key, "no_key": no_key,
        })
    }
}

#[test]
fn optional() {
    let expected = json!({
        "next": "token", "asked": "token", "nick": "Cy", "none": null, "first": 1, "tenth": null, "whole": null,
        "key": 4, "no_key": null,
    });
    assert_eq!(done(Optional { page: page() }.run(&())), expected);
}

plan! {
    Lists(page: Page<Email>, rows: Vec<Vec<Id>>, array: [Person; 2]) -> Value {
        step got = Same::<Page<Email>> { value: page };
        step ids = Same::<Vec<Id>> { value: got.data[..].thread_id };
        step numbers = Same::<Vec<u64>> { value: got.data[..].thread_id.0 };
        step copies = Same::<Vec<Option<Person>>> { value: got.data[..].carbon_copy };
        step nicks = Same::<Vec<Option<String>>> { value: got.data[..].carbon_copy?.nick? };
        step nested = Same::<Vec<Vec<u64>>> { value: rows[..][..].0 };
        step firsts = Same::<Vec<Id>> { value: rows[..][0] };
        step maybe = Same::<Vec<Option<u64>>> { value: rows[..].get(1)?.0 };
        step emails = Same::<Vec<String>> { value: array[..].email };
        step some = Same::<Option<Vec<String>>> { value: array[..].email };
        step first = Same::<String> { value: array[1].email };
        json!({
            "ids": ids, "numbers": numbers, "copies": copies[..]?.email, "nicks": nicks, "nested": nested,
            "firsts": firsts, "maybe": maybe, "emails": emails, "some": some, "first": first,
        })
    }
}

#[test]
fn lists() {
    let person = |email: &str| Person {
        email: email.into(),
        nick: None,
    };
    let plan = Lists {
        page: page(),
        rows: vec![vec![Id(1), Id(2)], vec![Id(3)]],
        array: [person("a"), person("b")],
    };
    let expected = json!({
        "ids": [1, 2, 3], "numbers": [1, 2, 3], "copies": ["1@example.org", null, "3@example.org"],
        "nicks": ["Cy", null, "Cy"], "nested": [[1, 2], [3]], "firsts": [1, 3], "maybe": [2, null],
        "emails": ["a", "b"], "some": ["a", "b"], "first": "b",
    });
    assert_eq!(done(plan.run(&())), expected);
    assert_eq!(
        pointers(Lists::PLAN, "ids", "value"),
        ["/data", "/threadId"]
    );
    assert_eq!(pointers(Lists::PLAN, "nested", "value"), ["", "", ""]);
}

plan! {
    Untyped(raw: Value) -> Value {
        step got = Same::<Value> { value: raw };
        step whole = Same::<Value> { value: got };
        step key = Same::<Value> { value: got["a"][0]["b"] };
        step pointer = Same::<Value> { value: got.pointer("/a/0/b") };
        step escaped = Same::<Value> { value: got.pointer("/k~1~0") };
        step null = Same::<Value> { value: got["a"][1]["b"] };
        step zero = Same::<Value> { value: got["0"] };
        step each = Same::<Value> { value: got["a"][..] };
        step asked = Same::<Option<Value>> { value: got["none"]?["x"] };
        step there = Same::<Option<Value>> { value: got["a"]?[0]["b"]? };
        step gotten = Same::<Option<Value>> { value: got.get("none") };
        step text = Same::<Option<Value>> { value: got["text"] };
        json!({
            "whole": whole["text"], "key": key, "pointer": pointer, "escaped": escaped, "null": null, "zero": zero,
            "each": each, "asked": asked, "there": there, "gotten": gotten, "text": text,
        })
    }
}

#[test]
fn untyped() {
    let expected = json!({
        "whole": "t", "key": 1, "pointer": 1, "escaped": "v", "null": null, "zero": "zero",
        "each": [{"b": 1}, {"b": null}, {}], "asked": null, "there": 1, "gotten": null, "text": "t",
    });
    assert_eq!(done(Untyped { raw: page().raw }.run(&())), expected);
    assert_eq!(pointers(Untyped::PLAN, "escaped", "value"), ["/k~1~0"]);
}

#[test]
fn missing_is_not_null() {
    let error = failed(
        Untyped {
            raw: json!({"a": []}),
        }
        .run(&()),
    );
    assert!(
        error.contains("0 elements at `/a`, so the list has no element 0"),
        "{error}"
    );
}

plan! {
    /// References in every place that takes a value.
    Places(id: Id, name: Option<String>) -> (Id, Vec<u64>, Option<String>, String) {
        step made = Same::<Id> { value: Id(id.0) };
        step person = Same::<Person> { value: Person { email: "e", nick: name? } };
        step list = Same::<Vec<u64>> { value: [id.0, made.0, 3] };
        step some = Same::<Option<Option<u64>>> { value: Some(made.0) };
        step map = Same::<Value> { value: json!({"id": id, "list": [list[0], some]}) };
        step text: String = format!("{}", map["list"][0]);
        (made, list, person.nick, text)
    }
}

#[test]
fn places() {
    let plan = Places {
        id: Id(5),
        name: None,
    };
    assert_eq!(
        done(plan.run(&())),
        (Id(5), vec![5, 5, 3], None, "5".into())
    );
}

#[test]
fn generic_tools() {
    let made = plan! {
        step page = Make::<Page<Id>> { json: r#"{"data": [4], "next": null, "map": {}, "raw": 1}"#, .. };
        (page.data[0], page.next, page.raw)
    };
    assert_eq!(done(made.run(&())), (Id(4), None, json!(1)));
}

#[test]
fn as_written() {
    let written = |plan: &Plan, step| match argument(plan, step, "value") {
        Template::Reference(reference) => reference.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        written(Optional::PLAN, "tenth"),
        "got.data.get(9)?.thread_id"
    );
    assert_eq!(
        written(Lists::PLAN, "nicks"),
        "got.data[..].carbon_copy?.nick?"
    );
    assert_eq!(
        written(Fields::PLAN, "key"),
        "got.map[\"odd \\\"key\\\"/~\"].thread_id"
    );
}

/// The plans of this file as data.
pub fn plans() -> [&'static Plan; 4] {
    [Fields::PLAN, Optional::PLAN, Lists::PLAN, Untyped::PLAN]
}
