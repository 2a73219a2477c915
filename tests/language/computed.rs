//! Computed values: any Rust expression, and its dependencies.

use crate::support::{Same, done};
use plan_runtime::plan::Source;
use plan_runtime::{Plan, Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Order {
    pub id: u64,
    pub items: Vec<Item>,
    pub note: Option<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Item {
    pub name: String,
    pub price: f64,
}

#[derive(Serialize, Deserialize, Shape, Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: i64,
    pub y: i64,
}

const BONUS: i64 = 100;

mod rules {
    pub const FACTOR: i64 = 3;

    pub fn twice(number: i64) -> i64 {
        number * 2
    }
}

fn half(number: i64) -> i64 {
    number / 2
}

fn total(items: &[super::computed::Item]) -> f64 {
    items.iter().map(|item| item.price).sum()
}

fn order() -> Order {
    let item = |name: &str, price| Item {
        name: name.into(),
        price,
    };
    Order {
        id: 9,
        items: vec![item("a", 1.5), item("b", 2.5)],
        note: Some("n".into()),
    }
}

plan! {
    Arithmetic(count: i64, order: Order) -> Vec<Value> {
        step seven: i64 = 7;
        step sum: i64 = count + seven * 2 - BONUS;
        step negated: i64 = -count;
        step brackets: i64 = (count + seven) * (count - seven);
        step more: bool = count > 5 && !(seven == 3) || count <= seven;
        step called: i64 = half(count) + self::rules::twice(seven) * rules::FACTOR;
        step cast: u8 = seven as u8 + (count as u8);
        step index: f64 = order.items[seven as usize - 6].price;
        step method: usize = order.items.len() + order.note.as_deref().unwrap_or("none").len();
        step turbofish: Vec<String> = order.items.iter().map(|item| item.name.clone()).collect::<Vec<_>>();
        step borrowed: f64 = total(&order.items) + f64::from(half(seven) as i32);
        step whole: f64 = { let Order { items, .. } = &order; total(items) };
        step reference: i64 = *std::cmp::max(&count, &seven);
        step range: i64 = (0..count).sum::<i64>() + (seven..=seven).count() as i64;
        step tuple: (i64, bool) = (count, more);
        step array: [i64; 3] = [count, seven, count + seven];
        step matched: String = match count { 0 => "zero".to_owned(), n if n < seven => format!("{n} < {seven}"), _ => "many".to_owned() };
        json!([sum, negated, brackets, more, called, cast, index, method, turbofish, borrowed, whole, reference, range, tuple, array, matched]).as_array().cloned().unwrap_or_default()
    }
}

#[test]
fn arithmetic() {
    let plan = Arithmetic {
        count: 4,
        order: order(),
    };
    let expected = json!([
        -82,
        -4,
        -33,
        true,
        44,
        11,
        2.5,
        3,
        ["a", "b"],
        7.0,
        4.0,
        7,
        7,
        [4, true],
        [4, 7, 11],
        "4 < 7"
    ]);
    assert_eq!(json!(done(plan.run(&()))), expected);
}

plan! {
    /// Names that the expression binds itself hide those of steps and inputs.
    Shadows(a: i64, b: i64, list: Vec<i64>, maybe: Option<i64>) -> Vec<i64> {
        step bound: i64 = { let a = b; a + 1 };
        step in_order: i64 = { let a = a + 1; let a = a * 2; a };
        step closure: i64 = list.iter().map(|a| a + 1).sum::<i64>() + b;
        step two: i64 = (|a: i64, b: i64| a - b)(10, 3);
        step outer: i64 = { let add = |x: i64| x + a; add(b) };
        step if_let: i64 = if let Some(a) = maybe { a } else { b };
        step let_chain: i64 = if let Some(b) = maybe && b > 1 { b } else { 0 };
        step let_else: i64 = { let Some(a) = maybe else { unreachable!() }; a };
        step while_let: i64 = { let mut list = list.clone(); let mut sum = 0; while let Some(a) = list.pop() { sum += a; } sum };
        step for_loop: i64 = { let mut sum = 0; for a in &list { sum += a; } for (a, b) in list.iter().zip(list.iter()) { sum += a * b; } sum };
        step arms: i64 = match maybe { Some(a) if a > 100 => a, Some(b @ 1..=9) => b + a, _ => 0 };
        step nested: i64 = { let outer = { let b = 5; b }; outer + b };
        step pattern: i64 = { let (a, Point { x, y: b }) = (1, Point { x: 2, y: 3 }); a + x + b };
        step slices: i64 = match &list[..] { [a, .., b] => a * 10 + b, _ => 0 };
        step labeled: i64 = 'a: { if b > 0 { break 'a 1; } 2 };
        step item: i64 = { fn a(b: i64) -> i64 { b } const B: i64 = 5; a(B) };
        step hidden_macro: i64 = { let a = 40; let v = vec![a, b]; v.iter().sum() };
        step matches: bool = matches!(maybe, Some(a) if a == 3);
        step last: i64 = { let matches = i64::from(matches); matches };
        [
            bound, in_order, closure, two, outer, if_let, let_chain, let_else, while_let, for_loop, arms, nested, pattern,
            slices, labeled, item, hidden_macro, last,
        ]
    }
}

#[test]
fn shadowed_names() {
    let plan = Shadows {
        a: 1,
        b: 2,
        list: vec![1, 2, 3],
        maybe: Some(3),
    };
    let expected = [3, 4, 11, 7, 3, 3, 3, 3, 6, 20, 4, 7, 6, 13, 1, 5, 42, 1];
    assert_eq!(done(plan.run(&())), expected);
}

fn reads<'a>(plan: &'a Plan, step: &str) -> Vec<&'a str> {
    let reads = plan.step(step).unwrap().reads();
    reads
        .iter()
        .filter_map(|source: &Source| plan.name_of(*source))
        .collect()
}

#[test]
fn shadowed_names_are_not_read() {
    for (step, expected) in [
        ("bound", &["b"][..]),
        ("in_order", &["a"]),
        ("closure", &["b", "list"]),
        ("two", &[]),
        ("outer", &["a", "b"]),
        ("if_let", &["b", "maybe"]),
        ("let_chain", &["maybe"]),
        ("let_else", &["maybe"]),
        ("while_let", &["list"]),
        ("for_loop", &["list"]),
        ("arms", &["a", "maybe"]),
        ("nested", &["b"]),
        ("pattern", &[]),
        ("slices", &["list"]),
        ("labeled", &["b"]),
        ("item", &[]),
        ("hidden_macro", &["b"]),
        ("matches", &["maybe"]),
        ("last", &["matches"]),
    ] {
        let mut read = reads(Shadows::PLAN, step);
        read.sort_unstable();
        assert_eq!(read, expected, "{step}");
    }
}

macro_rules! largest {
    ($first:expr $(, $rest:expr)*) => {{ let mut largest = $first; $(if $rest > largest { largest = $rest; })* largest }};
}

plan! {
    Macros(a: i64, b: i64, name: String) -> Vec<Value> {
        step list: Vec<i64> = vec![a, b, a + b];
        step repeated: Vec<i64> = vec![a; 3];
        step asserted: i64 = { assert!(a < b, "{a} and {}", b); assert_eq!(a, a); assert_ne!(a, b); a };
        step printed: String = { let mut text = String::new(); use std::fmt::Write as _; let _ = write!(text, "{a}-{}", b); text };
        step matched: bool = matches!(b, 2..=9 if a == 1);
        step formatted: String = format!("{name}{}", a) + &format!("{:>3}", b);
        step concatenated: String = [name.as_str(), concat!("x", 1), stringify!(a)].concat();
        step largest: i64 = largest!(a, b, 2);
        step point: i64 = { let x = a; let p = Point { x, y: b }; p.x * 10 + p.y };
        step updated: i64 = { let p = Point { x: a, ..Point { x: 0, y: b } }; p.x * 10 + p.y };
        json!([list, repeated, asserted, printed, matched, formatted, concatenated, largest, point, updated]).as_array().cloned().unwrap_or_default()
    }
}

#[test]
fn macros() {
    let plan = Macros {
        a: 1,
        b: 3,
        name: "n".into(),
    };
    let expected = json!([
        [1, 3, 4],
        [1, 1, 1],
        1,
        "1-3",
        true,
        "n1  3",
        "nx1a",
        3,
        13,
        13
    ]);
    assert_eq!(json!(done(plan.run(&()))), expected);
}

macro_rules! failing {
    ($($message:tt)*) => { plan_runtime::Error::permanent(format!($($message)*)) };
}

macro_rules! ensured {
    ($holds:expr, $($message:tt)*) => { if $holds { String::new() } else { format!($($message)*) } };
}

/// Tokens that are no expressions, and a format string among them.
macro_rules! spelled {
    (@ $text:literal) => {
        format!($text)
    };
}

plan! {
    /// Names in format strings alone.
    Captures(count: u64, label: String, city: String, town: String, place: String, width: usize, r#type: String) -> Vec<String> {
        step asserted: u64 = { assert!(count > 0, "{label} is empty"); count };
        step equal: u64 = { assert_eq!(count, 1, "{label:>width$} and {}", city); debug_assert_ne!(count, 2, "{town}"); count };
        step unknown: String = if count == 0 { Err(failing!("no {city}"))? } else { "found".to_owned() };
        step ensured: String = ensured!(count > 5, "no {town}, {place} and {other}", other = count);
        step spelled: String = spelled!(@ "{place}");
        step each: Vec<String> = (0..count).map(|own| ensured!(false, "{own} {type}")).collect();
        step panicked: u64 = if count == 0 { panic!("{type}") } else { 3 };
        step shown: String = { use std::fmt::Write as _; let mut text = String::new(); let _ = write!(text, "{city} {type}"); text };
        step plain: String = { assert_eq!("{label}", "{label}"); vec!["{town}"].concat() };
        [format!("{asserted} {equal} {panicked}"), unknown, ensured, spelled, each.concat(), shown, plain]
    }
}

#[test]
fn captures() {
    let plan = Captures {
        count: 1,
        label: "l".into(),
        city: "c".into(),
        town: "t".into(),
        place: "p".into(),
        width: 3,
        r#type: "k".into(),
    };
    let expected = [
        "1 1 3",
        "found",
        "no t, p and 1",
        "p",
        "0 k",
        "c k",
        "{town}",
    ];
    assert_eq!(done(plan.run(&())), expected);
    for (step, expected) in [
        ("asserted", &["count", "label"][..]),
        ("equal", &["city", "count", "label", "town", "width"]),
        ("unknown", &["city", "count"]),
        ("ensured", &["count", "place", "town"]),
        ("spelled", &["place"]),
        ("each", &["count", "type"]),
        ("panicked", &["count", "type"]),
        ("shown", &["city", "type"]),
        ("plain", &[]),
    ] {
        let mut read = reads(Captures::PLAN, step);
        read.sort_unstable();
        assert_eq!(read, expected, "{step}");
    }
}

plan! {
    /// Computed values as parts of other values.
    Parts(count: i64, y: i64) -> Value {
        step point = Same::<Point> { value: Point { x: count * 2, y } };
        step list = Same::<Vec<i64>> { value: [point.x + 1, count.pow(2), i64::MAX] };
        step some = Same::<Option<i64>> { value: Some(list.len() as i64 + y) };
        step direct = Same::<Option<i64>> { value: list.first().copied() };
        step whole = Same::<Point> { value: Point { x: count, y: point.y }.clone() };
        step text = Same::<String> { value: count.to_string() };
        json!({"point": point, "list": list, "some": some, "direct": direct, "whole": whole, "text": text, "n": list.len()})
    }
}

#[test]
fn parts() {
    let expected = json!({
        "point": {"x": 6, "y": 4}, "list": [7, 9, i64::MAX], "some": 7, "direct": 7,
        "whole": {"x": 3, "y": 4}, "text": "3", "n": 3,
    });
    assert_eq!(done(Parts { count: 3, y: 4 }.run(&())), expected);
}

/// A type without `Clone`, which an expression can only borrow.
#[derive(Serialize, Deserialize, Shape)]
pub struct Single {
    pub name: Option<String>,
    pub count: u64,
}

impl Single {
    /// A method with the name of one that takes its receiver.
    fn map(&self, more: u64) -> u64 {
        self.count + more
    }
}

plan! {
    Taking(names: Vec<String>, note: Option<String>, point: Point, single: Single, order: Order) -> Vec<Value> {
        step pairs: Vec<(String, String)> = names.iter().cloned().zip(names).collect();
        step twice: (Vec<String>, Vec<String>) = (names, names);
        step default: String = note.unwrap_or_default() + "!" + &note.map(|note| note.len().to_string()).unwrap_or_default();
        step matched: String = match note { Some(text) => text, None => "none".to_owned() };
        step price: f64 = match order { Order { items, id, .. } if id == 7 => items[0].price, _ => 0.0 };
        step grown: Vec<String> = { let mut names = names; names.push("c".to_owned()); names };
        step largest: i64 = point.x.max(point.y).max(3);
        step moved: Point = std::convert::identity(Point { x: 5, ..point });
        step looked: u64 = single.map(1) + match single { Single { count, .. } => count };
        step inside: String = single.name.unwrap_or_default();
        step item: String = order.items[largest as usize - 4].name;
        [
            json!(pairs), json!(twice), json!(default), json!(matched), json!(price), json!(grown), json!(largest), json!(moved),
            json!(looked), json!(inside), json!(item), json!(names), json!(note),
        ]
    }
}

#[test]
fn what_is_taken_is_cloned() {
    let taking = Taking {
        names: vec!["a".to_owned(), "b".to_owned()],
        note: Some("hey".to_owned()),
        point: Point { x: 2, y: 4 },
        single: Single {
            name: Some("one".to_owned()),
            count: 2,
        },
        order: Order {
            id: 7,
            items: vec![Item {
                name: "nut".to_owned(),
                price: 1.5,
            }],
            note: None,
        },
    };
    assert_eq!(
        Value::Array(smol::block_on(taking.run(&())).unwrap()),
        json!([
            [["a", "a"], ["b", "b"]],
            [["a", "b"], ["a", "b"]],
            "hey!3",
            "hey",
            1.5,
            ["a", "b", "c"],
            4,
            { "x": 5, "y": 4 },
            5,
            "one",
            "nut",
            ["a", "b"],
            "hey",
        ])
    );
}
