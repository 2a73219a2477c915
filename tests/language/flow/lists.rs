//! `for` over what is a list in Rust and in JSON, and in one another.

use super::{Item, List, Say};
use crate::support::{Same, done};
use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::RandomState;

plan! {
    pub Lists(
        count: u32,
        array: [u8; 3],
        set: BTreeSet<String>,
        map: BTreeMap<String, u32>,
        hash_map: HashMap<String, u32, RandomState>,
        queue: VecDeque<u32>,
        boxed: Box<[u32]>,
    ) -> Value {
        step all = List { count };
        step vec = for item in all.all { Same::<String> { value: item.name } };
        step of_array = for number in array { Same::<u8> { value: number } };
        step of_set = for text in set { Same::<String> { value: text } };
        step pairs = for (key, value) in map { Say { text: key, number: value } };
        step entries = for entry in map { Say { text: entry.0, number: entry.1 } };
        step of_field = for (key, value) in all.counts { Say { text: format!("{key}={value}"), number: None } };
        step hashed = for (key, value) in hash_map { Say { text: key, number: value } };
        step of_queue = for number in queue { Same::<u32> { value: number } };
        step of_box = for number in boxed { Same::<u32> { value: number } };
        step of_value = for value in all.raw { Same::<Value> { value } };
        step in_value = for value in all.raw { Same::<Value> { value: value.get("x").cloned().unwrap_or_default() } };
        step range = for index in 0..3 { Same::<u32> { value: index } };
        step range_of = for index in 1..=count { Same::<u32> { value: index * 2 } };
        step literal = for word in ["a", "b"] { Same::<String> { value: word } };
        step made = for number in vec![count, count + 1] { Same::<u32> { value: number } };
        step taken = for item in all.all.iter().take(2) { Same::<String> { value: item.name } };
        step filtered = for item in all.all.iter().filter(|item| item.serial_number > 0) { Same::<u32> { value: item.serial_number } };
        step reversed = for item in all.all.iter().rev() { Same::<u32> { value: item.serial_number } };
        step enumerated = for (index, item) in all.all.iter().enumerate() { Say { text: item.name, number: Some(index as u32) } };
        step projected = for name in all.all[..].name { Same::<String> { value: name } };
        step borrowed = for item in &all.all { Same::<u32> { value: item.serial_number } };
        json!({
            "vec": vec, "array": of_array, "set": of_set, "pairs": pairs, "entries": entries, "field": of_field, "hashed": hashed,
            "queue": of_queue, "box": of_box, "value": of_value, "in value": in_value, "range": [range, range_of], "literal": literal,
            "made": made, "taken": taken, "filtered": filtered, "reversed": reversed, "enumerated": enumerated,
            "projected": projected, "borrowed": borrowed,
        })
    }
}

#[test]
fn lists() {
    let map = BTreeMap::from([("k".to_owned(), 1), ("l".to_owned(), 2)]);
    let lists = Lists {
        count: 3,
        array: [3, 1, 2],
        set: ["y", "x"].map(str::to_owned).into(),
        map,
        hash_map: HashMap::from([("h".to_owned(), 3)]),
        queue: [5, 4].into(),
        boxed: Box::new([9, 8]),
    };
    let pairs = json!([{"id": "k", "number": 1}, {"id": "l", "number": 2}]);
    assert_eq!(
        done(lists.run(&())),
        json!({
            "vec": ["n0", "n1", "n2"],
            "array": [3, 1, 2],
            "set": ["x", "y"],
            "pairs": pairs,
            "entries": pairs,
            "field": [{"id": "a=1", "number": null}, {"id": "b=2", "number": null}],
            "hashed": [{"id": "h", "number": 3}],
            "queue": [5, 4],
            "box": [9, 8],
            "value": [{"x": 1}, {"x": 2}, "three"],
            "in value": [1, 2, null],
            "range": [[0, 1, 2], [2, 4, 6]],
            "literal": ["a", "b"],
            "made": [3, 4],
            "taken": ["n0", "n1"],
            "filtered": [1, 2],
            "reversed": [2, 1, 0],
            "enumerated": [{"id": "n0", "number": 0}, {"id": "n1", "number": 1}, {"id": "n2", "number": 2}],
            "projected": ["n0", "n1", "n2"],
            "borrowed": [0, 1, 2],
        })
    );
}

#[test]
fn empty_lists() {
    let lists = Lists {
        count: 0,
        array: [0; 3],
        set: BTreeSet::new(),
        map: BTreeMap::new(),
        hash_map: HashMap::new(),
        queue: VecDeque::new(),
        boxed: Box::new([]),
    };
    let output = done(lists.run(&()));
    for list in [
        "vec",
        "set",
        "pairs",
        "entries",
        "hashed",
        "queue",
        "box",
        "taken",
        "filtered",
        "reversed",
        "enumerated",
        "projected",
        "borrowed",
    ] {
        assert_eq!(output[list], json!([]), "{list}");
    }
}

plan! {
    pub Nested(count: u32) -> Value {
        step all = List { count };
        step patterns = for (index, Item { name, size: (_, high), .. }) in all.all.iter().enumerate() {
            Say { text: format!("{index}: {name}"), number: high }
        };
        step tags = for item in all.all { for tag in item.tags { Same::<String> { value: format!("{} {tag}", item.name) } } };
        step computed = for item in all.all.iter().skip(1) { for (index, tag) in item.tags.iter().enumerate() {
            Same::<String> { value: format!("{tag} {}", item.name.len() + index) }
        } };
        step three = for a in 0..2 { for b in 0..2 { for c in [a, b] { Same::<u32> { value: a * 100 + b * 10 + c } } } };
        step large = for item in all.all { if item.serial_number > 0 { Same::<u32> { value: item.serial_number } } };
        step either = for item in all.all { if item.tags.is_empty() { Say { text: "none", .. } } else { Say { text: item.tags[0], .. } } };
        step owned = for item in all.all { if let Some(owner) = &item.owner { Same::<String> { value: owner } } };
        step in_if = if count > 1 { for item in all.all { Same::<u32> { value: item.serial_number } } } else { for x in 0..1 { Same::<u32> { value: x } } };
        step in_let = if let Some(next) = &all.next { for item in all.all { Say { text: format!("{next} {}", item.name), number: item.serial_number } } };
        step results = Say { text: patterns[2].id, number: patterns[0].number? };
        step every = Same::<Vec<String>> { value: patterns[..].id };
        step deep = Same::<String> { value: tags[2][1] };
        json!([patterns, tags, computed, three, large, either[..].id, owned, in_if, in_let?[..].id, results.id, every, deep])
    }
}

#[test]
fn nested() {
    assert_eq!(
        done(Nested { count: 3 }.run(&())),
        json!([
            [{"id": "0: n0", "number": 0}, {"id": "1: n1", "number": 10}, {"id": "2: n2", "number": 20}],
            [[], ["n1 t0"], ["n2 t0", "n2 t1"]],
            [["t0 2"], ["t0 2", "t1 3"]],
            [[[0, 0], [10, 11]], [[101, 100], [111, 111]]],
            [null, 1, 2],
            ["none", "t0", "t0"],
            [null, "o1", null],
            [0, 1, 2],
            ["next n0", "next n1", "next n2"],
            "2: n2",
            ["0: n0", "1: n1", "2: n2"],
            "n2 t1",
        ])
    );
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Label {
    pub text: String,
    pub marks: Vec<u32>,
    pub item: Option<Item>,
}

plan! {
    pub Shadows(count: u32, name: String, flag: bool) -> Value {
        step all = List { count };
        step other = Same::<String> { value: "step" };
        step input = for name in all.all { Same::<String> { value: name.name } };
        step input_again = Same::<String> { value: name };
        step own_list = for all in all.all { Same::<u32> { value: all.serial_number } };
        step its_own = for its_own in 0..2 { Same::<u32> { value: its_own } };
        step of_step = for other in 0..2 { Same::<String> { value: format!("{other}") } };
        step outer = for name in ["a", "b"] { for name in [format!("{name}1"), name.clone()] { Same::<String> { value: name } } };
        step in_branch = if flag { for name in 0..2 { Same::<String> { value: format!("{name}") } } } else { for x in 0..1 { Same::<String> { value: format!("{name}{x}") } } };
        step after_let = if let Some(name) = &all.next && flag { Same::<String> { value: name } } else { Same::<String> { value: name } };
        step computed = if let Some(name) = &all.next && flag { Same::<usize> { value: name.len() + 1 } } else { Same::<usize> { value: name.len() } };
        json!([input, input_again, own_list, its_own, of_step, outer, in_branch, after_let, computed, other])
    }
}

#[test]
fn shadows() {
    let run = |flag| {
        let name = "input".to_owned();
        done(
            Shadows {
                count: 2,
                name,
                flag,
            }
            .run(&()),
        )
    };
    let common = [
        json!(["n0", "n1"]),
        json!("input"),
        json!([0, 1]),
        json!([0, 1]),
        json!(["0", "1"]),
        json!([["a1", "a"], ["b1", "b"]]),
    ];
    let with = |rest: Value| {
        let rest = rest.as_array().unwrap().clone();
        Value::Array(common.iter().cloned().chain(rest).collect())
    };
    assert_eq!(run(true), with(json!([["0", "1"], "next", 5, "step"])));
    assert_eq!(run(false), with(json!([["input0"], "input", 5, "step"])));
}

plan! {
    pub Values(count: u32, mark: u32) -> Value {
        step all = List { count };
        step text = for item in all.all { Same::<String> { value: format!("{} {:>3} {mark}", item.name, item.size.1) } };
        step raw = for item in all.all { Same::<Value> { value: json!({"item": item, "in": [item.name, item.serial_number + mark, null]}) } };
        step literal = for item in all.all {
            Same::<Label> { value: Label { text: item.name, marks: [item.serial_number, mark, all.all[0].serial_number], item: Some(item) } }
        };
        step computed = for item in all.all { Same::<u32> { value: item.size.0 + item.size.1 + mark + all.all.len() as u32 } };
        step maybe = for item in all.all { Same::<Option<String>> { value: item.owner } };
        step first = for item in all.all { Same::<Option<u32>> { value: item.tags.first().map(|tag| tag.len() as u32) } };
        json!([text, raw[1], literal[1].marks, literal[1].item?.name, computed, maybe, first])
    }
}

#[test]
fn values_of_elements() {
    let item =
        json!({"serialNumber": 1, "name": "n1", "tags": ["t0"], "size": [1, 10], "owner": "o1"});
    assert_eq!(
        done(Values { count: 2, mark: 5 }.run(&())),
        json!([
            ["n0   0 5", "n1  10 5"],
            {"item": item, "in": ["n1", 6, null]},
            [1, 5, 0],
            "n1",
            [7, 18],
            [null, "o1"],
            [null, 2],
        ])
    );
}
