//! Conditions, loops, and what happens when a step fails.

use crate::support::{Add, Same, done, failed};
use plan_runtime::run::ManualTimer;
use plan_runtime::{Error, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub serial_number: u32,
    pub name: String,
    pub tags: Vec<String>,
    pub size: (u32, u32),
    pub owner: Option<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Stock {
    pub all: Vec<Item>,
    pub next: Option<String>,
    pub counts: BTreeMap<String, u32>,
    pub raw: Value,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Said {
    pub id: String,
    pub number: Option<u32>,
}

/// Lists so many items.
#[tool]
pub async fn list(count: u32) -> Result<Stock> {
    let items = (0..count).map(|serial_number| Item {
        serial_number,
        name: format!("n{serial_number}"),
        tags: (0..serial_number).map(|tag| format!("t{tag}")).collect(),
        size: (serial_number, serial_number * 10),
        owner: (serial_number % 2 == 1).then(|| format!("o{serial_number}")),
    });
    Ok(Stock {
        all: items.collect(),
        next: (count > 0).then(|| "next".to_owned()),
        counts: BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]),
        raw: json!([{"x": 1}, {"x": 2}, "three"]),
    })
}

/// Says a text, with a number where there is one.
#[tool]
pub async fn say(text: String, number: Option<u32>) -> Result<Said> {
    Ok(Said { id: text, number })
}

/// Fails at this number.
#[tool]
pub async fn check(number: u32, bad: u32) -> Result<u32> {
    if number == bad {
        return Err(Error::msg(format!("{number} is bad")));
    }
    Ok(number)
}

/// What the tools with a memory share.
#[derive(Default)]
pub struct App {
    attempts: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
    order: Mutex<Vec<u32>>,
}

/// Fails so many times before it works.
#[tool]
pub async fn flaky(app: &App, failures: usize) -> Result<usize> {
    let attempt = app.attempts.fetch_add(1, Ordering::SeqCst) + 1;
    if attempt <= failures {
        return Err(Error::msg(format!("attempt {attempt} failed")));
    }
    Ok(attempt)
}

/// Is wrong for good.
#[tool]
pub async fn wrong(app: &App) -> Result<usize> {
    app.attempts.fetch_add(1, Ordering::SeqCst);
    Err(Error::permanent("wrong for good"))
}

/// Never ends.
#[tool]
pub async fn hang() -> Result<String> {
    std::future::pending().await
}

/// Notes how many work at once.
#[tool]
pub async fn work(app: &App, number: u32) -> Result<u32> {
    let now = app.running.fetch_add(1, Ordering::SeqCst) + 1;
    app.most.fetch_max(now, Ordering::SeqCst);
    for _ in 0..10 - number {
        smol::future::yield_now().await;
    }
    app.order.lock().unwrap().push(number);
    app.running.fetch_sub(1, Ordering::SeqCst);
    Ok(number)
}

plan! {
    Branches(count: u32, wanted: bool) -> Value {
        step all = List { count };
        step skipped = if wanted { Say { text: "wanted", number: 1 } };
        step of_reference = if wanted { Say { text: all.counts.len().to_string(), number: all.all.get(0)?.serial_number } } else { Say { text: "no", number: None } };
        step chain = if count > 2 {
            Say { text: all.all[2].name, number: all.all[2].size.1 }
        } else if all.all.is_empty() {
            Say { text: "empty", number: None }
        } else if wanted {
            Say { text: format!("{count} wanted"), number: count }
        } else {
            Say { text: "few", number: Some(all.all.len() as u32) }
        };
        step open_chain = if count > 2 { Same::<u32> { value: 1 } } else if wanted { Same::<u32> { value: 2 } };
        step nested = if wanted { if count > 2 { Same::<u32> { value: 1 } } else { Same::<u32> { value: 2 } } } else { Same::<u32> { value: 3 } };
        step nested_open = if wanted { if count > 2 { Same::<u32> { value: 1 } } };
        json!([skipped, chain.id, chain.number, open_chain, nested, nested_open, of_reference.id])
    }
}

#[test]
fn branches() {
    let run = |count, wanted| done(Branches { count, wanted }.run(&()));
    assert_eq!(
        run(3, true),
        json!([{"id": "wanted", "number": 1}, "n2", 20, 1, 1, 1, "2"])
    );
    assert_eq!(
        run(2, true),
        json!([{"id": "wanted", "number": 1}, "2 wanted", 2, 2, 2, null, "2"])
    );
    assert_eq!(run(2, false), json!([null, "few", 2, null, 3, null, "no"]));
    assert_eq!(
        run(0, true),
        json!([{"id": "wanted", "number": 1}, "empty", null, 2, 2, null, "2"])
    );
}

plan! {
    Lets(count: u32, limit: Option<u32>, pair: (u32, Option<String>)) -> Value {
        step all = List { count };
        step reference = if let Some(next) = &all.next { Say { text: next, number: Some(next.len() as u32) } };
        step copied = if let Some(limit) = limit { Same::<u32> { value: limit } };
        step several = if let (number, Some(text)) = &pair { Say { text, number } } else { Say { text: "none", number: None } };
        step chain = if let Some(next) = &all.next && next.len() > 3 && let Some(limit) = &limit && limit > &3 {
            Say { text: format!("{next} {limit}"), number: limit }
        } else if let [first, .., last] = &all.all[..] {
            Say { text: first.name, number: last.serial_number }
        } else {
            Say { text: "neither", number: None }
        };
        step name = if let Some(Item { name, size: (_, high), .. }) = all.all.last() { Say { text: name, number: high } };
        step whole = if let found @ Some(_) = &all.next { Same::<Option<String>> { value: found } };
        step slice = if let Some(text) = all.next.as_deref() { Say { text, number: None } };
        step nested = if let Some(a) = &limit { if let Some(b) = &all.next { Say { text: b, number: a } } else { Say { text: "b", number: a } } };
        json!([reference, copied, several, chain, name, whole, slice, nested])
    }
}

#[test]
fn lets() {
    let run = |count, limit, text: Option<&str>| {
        let pair = (7, text.map(str::to_owned));
        done(Lets { count, limit, pair }.run(&()))
    };
    assert_eq!(
        run(2, Some(4), Some("p")),
        json!([
            {"id": "next", "number": 4}, 4, {"id": "p", "number": 7}, {"id": "next 4", "number": 4},
            {"id": "n1", "number": 10}, "next", {"id": "next", "number": null}, {"id": "next", "number": 4}
        ])
    );
    assert_eq!(
        run(2, Some(3), None),
        json!([
            {"id": "next", "number": 4}, 3, {"id": "none", "number": null}, {"id": "n0", "number": 1},
            {"id": "n1", "number": 10}, "next", {"id": "next", "number": null}, {"id": "next", "number": 3}
        ])
    );
    assert_eq!(
        run(0, Some(5), None),
        json!([
            null, 5, {"id": "none", "number": null}, {"id": "neither", "number": null},
            null, null, null, {"id": "b", "number": 5}
        ])
    );
    assert_eq!(run(0, None, None)[1], Value::Null);
}

plan! {
    Lists(
        count: u32,
        array: [u8; 3],
        set: BTreeSet<String>,
        map: BTreeMap<String, u32>,
        hash_map: HashMap<String, u32>,
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
    Nested(count: u32) -> Value {
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
    Shadows(count: u32, name: String, flag: bool) -> Value {
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
    Values(count: u32, mark: u32) -> Value {
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

plan! {
    Failing(count: u32, bad: u32) -> Value {
        step all = List { count };
        #[optional]
        step optional = Check { number: 1, bad };
        #[optional]
        step whole = for item in all.all { Check { number: item.serial_number, bad } };
        #[optional(each)]
        step each = for item in all.all { Check { number: item.serial_number, bad } };
        #[optional(each)]
        step nested = for item in all.all { for index in 0..2 { Check { number: item.serial_number + index, bad } } };
        #[fallback(all.all[1].serial_number + count * 10)]
        step fallback = Check { number: 1, bad };
        #[fallback(7)]
        step literal = Check { number: 1, bad };
        #[fallback([fallback, count])]
        step of_list = for item in all.all { Check { number: item.serial_number, bad } };
        #[fallback(Said { id: format!("at {}", bad), number: optional })]
        step of_struct = Same::<Said> { value: if bad == 1 { panic!("no") } else { Said { id: "fine".into(), number: None } } };
        step told = Say { text: "told", number: optional };
        json!([optional, whole, each, nested, fallback, literal, of_list, of_struct, told.number])
    }
}

#[test]
fn what_fails() {
    assert_eq!(
        done(Failing { count: 3, bad: 9 }.run(&())),
        json!([1, [0, 1, 2], [0, 1, 2], [[0, 1], [1, 2], [2, 3]], 1, 1, [0, 1, 2], {"id": "fine", "number": null}, 1])
    );
    assert_eq!(
        done(Failing { count: 3, bad: 1 }.run(&())),
        json!([
            null, null, [0, null, 2], [[0, null], [null, 2], [2, 3]], 31, 7, [31, 3], {"id": "at 1", "number": null}, null
        ])
    );
}

plan! {
    Stops(count: u32, bad: u32) -> Vec<Vec<u32>> {
        step all = List { count };
        step one = for item in all.all { Check { number: item.serial_number, bad } };
        step two = for item in all.all { for index in 0..3 { Check { number: item.serial_number * 10 + index, bad } } };
        step used: usize = one.len();
        #[after(used)]
        step _last = Add { left: 1, right: 1 };
        two
    }
}

#[test]
fn a_failed_element_is_named() {
    assert_eq!(
        failed(Stops { count: 3, bad: 2 }.run(&()).concurrency(1)),
        "plan `stops` failed: step `one[2]` (check): 2 is bad (this blocked `used` and `_last`)"
    );
    let error = failed(Stops { count: 3, bad: 21 }.run(&()));
    assert!(
        error.contains("step `two[2][1]` (check): 21 is bad"),
        "{error}"
    );
}

plan! {
    Flakes(failures: usize) -> usize {
        #[retry(3, backoff = "1ms", max = "2ms")]
        step one = Flaky { failures };
        one
    }
}

plan! {
    FlakesInLoop(failures: usize) -> Vec<usize> {
        #[retry(attempts = 3, backoff = "1ms", jitter = false)]
        step each = for _ in 0..2 { Flaky { failures } };
        each
    }
}

plan! { Wrongs() -> usize { #[retry(5)] step one = Wrong {}; one } }

#[test]
fn retries() {
    let app = App::default();
    assert_eq!(done(Flakes { failures: 2 }.run(&app)), 3);
    assert_eq!(
        failed(Flakes { failures: 3 }.run(&App::default())),
        "plan `flakes` failed: step `one` (flaky): attempt 3 failed"
    );
    assert_eq!(
        done(FlakesInLoop { failures: 2 }.run(&App::default())).len(),
        2
    );
    let app = App::default();
    assert_eq!(
        failed(Wrongs {}.run(&app)),
        "plan `wrongs` failed: step `one` (wrong): wrong for good"
    );
    assert_eq!(app.attempts.load(Ordering::SeqCst), 1);
}

plan! {
    Hangs() -> Value {
        #[timeout("10s")]
        #[retry(2, backoff = "1s", jitter = false)]
        #[optional]
        step retried = Hang {};
        #[deadline("1m 30s")]
        #[fallback("late")]
        step late = Hang {};
        #[timeout("1h")]
        #[optional(each)]
        step each = for _ in 0..3 { Hang {} };
        json!([retried, late, each])
    }
}

plan! { HangsForGood() -> String { #[timeout("5s")] step one = Hang {}; one } }

#[test]
fn time_limits() {
    let timer = ManualTimer::new();
    let output = smol::block_on(timer.skip_waits(Hangs {}.run(&()).timer(&timer)));
    assert_eq!(output.unwrap(), json!([null, "late", [null, null, null]]));
    assert_eq!(timer.elapsed(), Duration::from_hours(1));
    let timer = ManualTimer::new();
    let output = smol::block_on(timer.skip_waits(HangsForGood {}.run(&()).timer(&timer)));
    assert_eq!(
        output.unwrap_err().to_string(),
        "plan `hangs_for_good` failed: step `one` (hang): took longer than 5s"
    );
}

plan! {
    Bounded(count: u32) -> Vec<u32> {
        #[concurrency(1)]
        step all = for number in 0..count { Work { number } };
        all
    }
}

plan! {
    BoundedByTwo(count: u32) -> Vec<u32> {
        #[concurrency(2)]
        step all = for number in 0..count { Work { number } };
        all
    }
}

plan! { Unbounded(count: u32) -> Vec<u32> { step all = for number in 0..count { Work { number } }; all } }

#[test]
fn elements_at_once() {
    let app = App::default();
    assert_eq!(done(Bounded { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 1);
    assert_eq!(*app.order.lock().unwrap(), [0, 1, 2, 3, 4]);
    let app = App::default();
    assert_eq!(done(BoundedByTwo { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 2);
    let app = App::default();
    assert_eq!(done(Unbounded { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 5);
    // What ends last stands first all the same.
    assert_eq!(*app.order.lock().unwrap(), [4, 3, 2, 1, 0]);
}

#[test]
fn as_data() {
    fn reads_back(plan: &Plan) {
        let text = serde_json::to_string_pretty(plan).unwrap();
        let read: Plan = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(&read, plan, "{text}");
        assert_eq!(serde_json::to_string_pretty(&read).unwrap(), text);
        assert_eq!(read.to_string(), plan.to_string());
    }
    for plan in [
        &Branches::PLAN,
        &Lets::PLAN,
        &Lists::PLAN,
        &Nested::PLAN,
        &Shadows::PLAN,
        &Values::PLAN,
        &Failing::PLAN,
        &Stops::PLAN,
        &Flakes::PLAN,
        &FlakesInLoop::PLAN,
        &Hangs::PLAN,
        &Bounded::PLAN,
        &Needs::PLAN,
    ] {
        reads_back(plan);
    }
}

plan! {
    Needs(count: u32, flag: bool) -> u32 {
        step all = List { count };
        step name = Same::<String> { value: "name" };
        step item = Same::<String> { value: "item" };
        step condition = if name.is_empty() { Same::<u32> { value: 1 } };
        step bound = if let Some(name) = &all.next { Same::<String> { value: name } };
        step branch = if flag { Same::<String> { value: name } } else { Same::<String> { value: format!("{}", item) } };
        step list = for item in all.all { Same::<String> { value: item.name } };
        step computed_list = for item in all.all.iter().skip(condition.map_or(0, |n| n as usize)) { Same::<String> { value: item.name.clone() } };
        step inner = for x in 0..2 { for item in list { Same::<String> { value: format!("{item}{x}") } } };
        step mixed = for one in all.all { Same::<String> { value: format!("{} {}", one.name, item) } };
        #[fallback(name.clone())]
        step fallback = Same::<String> { value: "x" };
        #[fallback([item])]
        step referenced = for item in 0..2 { Same::<String> { value: format!("{item}") } };
        7
    }
}

#[test]
fn dependencies() {
    let needs = |id: &str| {
        let steps = Needs::PLAN.dependencies(id);
        steps
            .iter()
            .map(|step| step.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(needs("condition"), ["name"]);
    assert_eq!(needs("bound"), ["all"]);
    assert_eq!(needs("branch"), ["name", "item"]);
    assert_eq!(needs("list"), ["all"]);
    assert_eq!(needs("computed_list"), ["all", "condition"]);
    assert_eq!(needs("inner"), ["list"]);
    assert_eq!(needs("mixed"), ["all", "item"]);
    assert_eq!(needs("fallback"), ["name"]);
    assert_eq!(needs("referenced"), ["item"]);
}
