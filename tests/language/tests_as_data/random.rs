//! Tests as data, compared with Rust: for random expressions, and for random values of all kinds that a test can use.

use super::expressions;
use super::generate::Random;
use crate::support::done;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::Template;
use plan_runtime::{Plan, Shape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Shape)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum State {
    Running,
    #[serde(rename = "all done")]
    Done,
    NotBegun,
}

/// A value of each type that a test can be about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Inner {
    pub signed_one: i64,
    pub unsigned: u64,
    pub ratio: f64,
    #[serde(rename = "a/b~c")]
    pub text: String,
    pub letter: char,
    pub state: State,
    pub numbers: Vec<i64>,
    pub words: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maybe_text: Option<String>,
    pub maybe_number: Option<i64>,
    pub maybe_state: Option<State>,
    pub outcome: Result<i64, String>,
    pub scores: BTreeMap<String, i64>,
    pub states: Vec<State>,
    pub flag: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Point(pub i64, pub f64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Wrapped(pub String);

/// Values of each type, in each kind of position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct All {
    #[serde(rename = "number")]
    pub signed: i64,
    pub small: i32,
    pub byte: u8,
    pub inner: Inner,
    pub other: Box<Inner>,
    pub point: Point,
    pub wrapped: Wrapped,
    pub pair: [i64; 2],
    pub texts: [String; 2],
    pub by_name: BTreeMap<String, Inner>,
}

pub const GREATEST: u64 = u64::MAX;
pub const LEAST: i64 = i64::MIN;
pub const HUGE: f64 = 1e300;
pub const NOTHING: f64 = -0.0;
pub const NAME: &str = "ä";
pub const LETTER: char = '\u{10000}';
pub const FIRST: State = State::NotBegun;

const TEXTS: [&str; 10] = [
    "",
    "a",
    "b",
    "aa",
    "ä",
    "\u{ffff}",
    "\u{10000}",
    "Done",
    "all done",
    "a\"\\\n",
];
const SIGNED: [i64; 12] = [
    0,
    1,
    -1,
    2,
    3,
    i64::MIN,
    i64::MAX,
    (1 << 53) + 1,
    1 << 53,
    -(1 << 53) - 1,
    255,
    97,
];
const UNSIGNED: [u64; 9] = [
    0,
    1,
    2,
    3,
    u64::MAX,
    1 << 63,
    (1 << 53) + 1,
    i64::MAX as u64,
    255,
];
const RATIOS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    0.5,
    -1.5,
    0.1,
    1e300,
    -1e300,
    5e-324,
    f64::MAX,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    18_446_744_073_709_551_616.0,
    -9_223_372_036_854_775_808.0,
];
const STATES: [State; 3] = [State::Running, State::Done, State::NotBegun];

fn list<T>(random: &mut Random, mut item: impl FnMut(&mut Random) -> T) -> Vec<T> {
    (0..random.below(4)).map(|_| item(random)).collect()
}

fn some<T>(random: &mut Random, item: impl Fn(&mut Random) -> T) -> Option<T> {
    (random.below(3) > 0).then(|| item(random))
}

fn text(random: &mut Random) -> String {
    (*random.of(&TEXTS)).to_owned()
}

fn scores(random: &mut Random) -> BTreeMap<String, i64> {
    let more = list(random, |it| (text(it), *it.of(&SIGNED)));
    let always = ("k".to_owned(), *random.of(&SIGNED));
    more.into_iter().chain([always]).collect()
}

fn inner(random: &mut Random) -> Inner {
    Inner {
        signed_one: *random.of(&SIGNED),
        unsigned: *random.of(&UNSIGNED),
        ratio: *random.of(&RATIOS),
        text: text(random),
        letter: *random.of(&['a', 'b', 'ä', '\u{ffff}', '\u{10000}', '"']),
        state: *random.of(&STATES),
        numbers: list(random, |it| *it.of(&SIGNED)),
        words: list(random, text),
        maybe_text: some(random, text),
        maybe_number: some(random, |it| *it.of(&SIGNED)),
        maybe_state: some(random, |it| *it.of(&STATES)),
        outcome: if random.below(2) == 0 {
            Ok(*random.of(&SIGNED))
        } else {
            Err(text(random))
        },
        scores: scores(random),
        states: list(random, |it| *it.of(&STATES)),
        flag: random.below(2) == 0,
    }
}

fn all(random: &mut Random) -> All {
    let one = inner(random);
    let other = match random.below(3) {
        // Otherwise, lists and maps would hardly ever be equal.
        0 => one.clone(),
        _ => inner(random),
    };
    All {
        signed: *random.of(&SIGNED),
        small: *random.of(&[0, 1, -1, 97, i32::MIN, i32::MAX]),
        byte: *random.of(&[0, 1, 97, 255]),
        inner: one,
        other: Box::new(other),
        point: Point(*random.of(&SIGNED), *random.of(&RATIOS)),
        wrapped: Wrapped(text(random)),
        pair: [*random.of(&SIGNED), *random.of(&SIGNED)],
        texts: [text(random), text(random)],
        by_name: [("k".to_owned(), inner(random))].into(),
    }
}

/// The number of values for each expression.
const VALUES: usize = 420;

/// The tests that are the output of a plan.
fn tests(plan: &Plan) -> &[Template] {
    match &plan.output.value {
        Template::List(tests) => tests,
        other => panic!("the output is not a list: {other:?}"),
    }
}

#[test]
fn they_say_what_rust_says() {
    let toolbox = Toolbox::<()>::new();
    let mut random = Random::new(1);
    let values: Vec<All> = (0..VALUES).map(|_| all(&mut random)).collect();
    let (mut pairs, mut held) = (0, 0);
    for (plan, run, in_rust) in expressions::all() {
        let tests = tests(plan);
        for test in tests {
            assert!(matches!(test, Template::Test(_)), "{test:?}");
        }
        let json = serde_json::to_string(plan).unwrap();
        let read = toolbox.read(&json).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*read.plan(), *plan);
        for value in &values {
            let expected = in_rust(value);
            let found = run(value.clone());
            let from_json = done(toolbox.run(
                &read,
                [("all", value)].into_iter().collect::<BTreeMap<_, _>>(),
                &(),
            ));
            let from_json: Vec<bool> = serde_json::from_value(from_json).unwrap();
            assert_eq!(expected.len(), tests.len());
            for (index, expected) in expected.iter().enumerate() {
                let test = &tests[index];
                assert_eq!(found[index], *expected, "`{test}` of {value:?}");
                assert_eq!(
                    from_json[index], *expected,
                    "`{test}` of {value:?}, as JSON"
                );
                pairs += 1;
                held += usize::from(*expected);
            }
        }
    }
    assert!(pairs >= 100_000, "{pairs}");
    // Expressions that are always true, or always false, would show little.
    assert!(
        (pairs / 5..pairs * 4 / 5).contains(&held),
        "{held} of {pairs}"
    );
}
