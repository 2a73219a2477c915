//! Tests with values whose JSON does not determine the results of Rust's operators. Rust code evaluates them.

use crate::support::{Same, done};
use plan_runtime::plan::Template;
use plan_runtime::{Plan, Shape, plan};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::HashSet;
use std::ops::{Deref, Index, Not};

#[derive(Clone, Serialize, Deserialize)]
pub struct WithoutShape {
    #[serde(rename = "size")]
    number: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub enum Mood {
    Good,
    Bad,
}

/// All moods are equal.
impl PartialEq for Mood {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
#[serde(rename_all = "lowercase")]
pub enum Color {
    Red,
    Green,
}

/// Colors are equal to their names in another language.
impl PartialEq<&str> for Color {
    fn eq(&self, other: &&str) -> bool {
        *other == if *self == Self::Red { "rouge" } else { "vert" }
    }
}

impl PartialEq<Color> for String {
    fn eq(&self, other: &Color) -> bool {
        *other == self.as_str()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub enum Light {
    #[serde(rename = "stop")]
    Red,
    #[serde(rename = "go")]
    Green,
}

/// A color is equal to a list of it.
impl PartialEq<Vec<Color>> for Color {
    fn eq(&self, other: &Vec<Color>) -> bool {
        other.contains(self)
    }
}

impl PartialEq<Light> for Color {
    fn eq(&self, other: &Light) -> bool {
        (*self == Self::Red) == (*other == Light::Red)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, Shape)]
pub enum Level {
    Zero,
    Low,
    High,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Board {
    cells: Vec<u64>,
}

impl Index<usize> for Board {
    type Output = u64;

    fn index(&self, index: usize) -> &u64 {
        &self.cells[self.cells.len() - 1 - index]
    }
}

impl Index<&str> for Board {
    type Output = u64;

    fn index(&self, key: &str) -> &u64 {
        &self.cells[key.len()]
    }
}

impl Board {
    fn len(&self) -> usize {
        self.cells.len()
    }

    fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn is_some(&self) -> bool {
        self.cells.contains(&7)
    }
}

#[derive(Clone, Copy, Serialize, Deserialize, Shape)]
pub struct Switch {
    on: bool,
}

impl Not for Switch {
    type Output = bool;

    fn not(self) -> bool {
        self.on
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Guard(Box<WithoutShape>);

impl Deref for Guard {
    type Target = WithoutShape;

    fn deref(&self) -> &WithoutShape {
        &self.0
    }
}

mod as_text {
    use super::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(Clone, Serialize, Deserialize, Shape)]
pub struct Odd {
    single: f32,
    wide: i128,
    hidden: WithoutShape,
    guard: Guard,
    #[serde(with = "as_text")]
    text: u64,
    moods: [Mood; 2],
    color: Color,
    palette: Vec<Color>,
    light: Light,
    name: String,
    level: Level,
    twice: Option<Option<i64>>,
    json: Option<Value>,
    list: Option<Vec<Value>>,
    ratio: f64,
    board: Board,
    switch: Switch,
    set: HashSet<u8>,
    number: i64,
}

fn odd() -> Odd {
    Odd {
        single: 0.1,
        wide: 64,
        hidden: WithoutShape { number: 5 },
        guard: Guard(WithoutShape { number: 6 }.into()),
        text: 10,
        moods: [Mood::Good, Mood::Bad],
        color: Color::Red,
        palette: vec![Color::Green, Color::Red],
        light: Light::Red,
        name: "rouge".into(),
        level: Level::Low,
        twice: Some(Some(1)),
        json: Some(Value::from(1)),
        list: Some(vec![Value::Null]),
        ratio: 2.0,
        board: Board {
            cells: vec![7, 8, 9],
        },
        switch: Switch { on: true },
        set: HashSet::from([1, 2]),
        number: 3,
    }
}

const SINGLE: f32 = 0.1;
const COLOR: Color = Color::Red;
const WIDE: i128 = 64;
const LEVELS: [Level; 2] = [Level::Low, Level::High];
const NOT_A_NUMBER: f64 = f64::NAN;
const NOTHING: Option<i64> = None;

plan! {
    pub Oddities(x: Odd) -> Vec<bool> {
        [
            x.single == 0.1,
            x.single >= SINGLE,
            x.wide == WIDE,
            x.wide > 0,
            x.hidden.number == 5,
            x.guard.number == 6,
            x.text == 10,
            x.text > 9,
            x.moods[0] == Mood::Bad,
            x.moods[0] == x.moods[1],
            x.moods == x.moods,
            x.color == "rouge",
            x.name == Color::Red,
            x.name == COLOR,
            x.name == x.color,
            x.color == x.light,
            x.color == x.palette,
            x.level < LEVELS[1],
            x.level <= Level::High,
            x.twice.is_some(),
            x.twice == x.twice,
            x.json.is_some(),
            x.list.is_some() && x.hidden.number == 5,
            x.ratio < f64::INFINITY,
            x.ratio != NOT_A_NUMBER,
            x.board[0] == 9,
            x.board["a"] == 8,
            x.board.len() == 3,
            !x.board.is_empty(),
            x.board.is_some(),
            !x.switch,
            x.set == x.set,
            x.number - 1 == 2,
            Some(x.number) != NOTHING,
            x.number == 3 && x.number.is_positive(),
        ]
    }
}

fn tests(plan: &Plan) -> &[Template] {
    match &plan.output.value {
        Template::List(tests) => tests,
        other => panic!("the output is not a list: {other:?}"),
    }
}

#[test]
fn what_json_does_not_tell_is_left_to_rust() {
    let tests = tests(Oddities::PLAN);
    let data = tests
        .iter()
        .filter(|test| matches!(test, Template::Test(_)));
    let data: Vec<_> = data.map(ToString::to_string).collect();
    assert!(data.is_empty(), "{data:#?}");
    let outputs = done(Oddities { x: odd() }.run(&()));
    for (output, test) in outputs.iter().zip(tests) {
        assert!(output, "{test}");
    }
    assert_eq!(outputs.len(), tests.len());
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Plain {
    colors: [Color; 2],
    maybe: Option<Color>,
    #[serde(flatten)]
    flat: Flat,
    boxed: Box<Flat>,
    set: HashSet<u8>,
    list: Option<Vec<i64>>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    note: String,
    outcome: Result<Color, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Flat {
    #[serde(rename = "n-1")]
    number: i64,
}

plan! {
    pub Closed(x: Plain) -> Vec<bool> {
        [
            x.colors[0] == Color::Red,
            x.colors[0] != x.colors[1],
            x.maybe.is_none() || x.maybe == x.maybe,
            x.flat.number == 4,
            x.boxed.number == 5,
            x.set.len() == 2,
            x.list.is_some(),
            x.note == "",
            x.note.is_empty(),
            x.outcome.is_err(),
            x.outcome == x.outcome,
            (x.boxed.number) > (-1),
        ]
    }
}

/// The tests of other values.
#[test]
fn what_json_tells_is_data() {
    let tests = tests(Closed::PLAN);
    for test in tests {
        assert!(matches!(test, Template::Test(_)), "{test:?}");
    }
    let x = Plain {
        colors: [Color::Red, Color::Green],
        maybe: None,
        flat: Flat { number: 4 },
        boxed: Flat { number: 5 }.into(),
        set: [1, 2].into(),
        list: Some(Vec::new()),
        note: String::new(),
        outcome: Err(String::new()),
    };
    let outputs = done(Closed { x }.run(&()));
    for (output, test) in outputs.iter().zip(tests) {
        assert!(output, "{test}");
    }
}

plan! {
    pub Reversed(number: i64) -> (i64, bool, Vec<bool>) {
        step bytes = Same::<Vec<u8>> { value: b"ab".to_vec() };
        (-number, -number < 0 && b"ab"[..] == bytes[..], [!true, -number == -3, number > -0x10])
    }
}

/// An operator before a value is not a literal with its sign.
#[test]
fn signs_and_literals_of_other_kinds_are_rust() {
    assert_eq!(
        done(Reversed { number: 3 }.run(&())),
        (-3, true, vec![false, true, true])
    );
}
