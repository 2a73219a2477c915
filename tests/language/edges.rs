//! References where Rust and JSON differ, and other corners.

use crate::support::{Add, Same, done, pointers};
use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Inner {
    pub id: u64,
}

impl Default for Inner {
    fn default() -> Self {
        Self { id: 77 }
    }
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Skipping(pub u8, #[serde(skip)] pub u8, pub Inner);

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Maybe(pub Option<Inner>);

fn is_default(inner: &Inner) -> bool {
    *inner == Inner::default()
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Corners {
    #[serde(flatten)]
    pub extra: HashMap<String, Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub inner: Inner,
    pub skipping: Skipping,
    pub maybe: Maybe,
    pub boxed: Box<[Inner]>,
    pub queue: VecDeque<Inner>,
    pub set: BTreeSet<u8>,
    #[allow(clippy::option_option)]
    pub deep: Option<Option<Inner>>,
    pub maps: BTreeMap<String, HashMap<String, Inner>>,
    pub lists: Vec<Option<Vec<Inner>>>,
}

fn corners() -> Corners {
    Corners {
        extra: HashMap::from([("k".to_owned(), json!({"x": [1]}))]),
        inner: Inner::default(),
        skipping: Skipping(1, 0, Inner { id: 2 }),
        maybe: Maybe(Some(Inner { id: 3 })),
        boxed: [Inner { id: 4 }].into(),
        queue: VecDeque::from([Inner { id: 5 }, Inner { id: 6 }]),
        set: BTreeSet::from([9, 8]),
        deep: Some(Some(Inner { id: 7 })),
        maps: BTreeMap::from([(
            "a".to_owned(),
            HashMap::from([("b".to_owned(), Inner { id: 8 })]),
        )]),
        lists: vec![Some(vec![Inner { id: 1 }, Inner { id: 2 }]), None],
    }
}

plan! {
    References(corners: Corners, r#type: Inner, raw: Value) -> Vec<Value> {
        step got = Same::<Corners> { value: corners };
        step extra = Same::<Value> { value: got.extra["k"]["x"][0] };
        step inner = Same::<u64> { value: got.inner.id };
        step whole = Same::<Inner> { value: got.inner };
        step rest = Same::<u64> { value: got.skipping.2.id };
        step maybe = Same::<Option<u64>> { value: got.maybe.0?.id };
        step boxed = Same::<u64> { value: got.boxed[0].id };
        step queue = Same::<Vec<u64>> { value: got.queue[..].id };
        step second = Same::<u64> { value: got.queue[1].id };
        step set = Same::<Vec<u8>> { value: got.set[..] };
        step deep = Same::<Option<u64>> { value: got.deep??.id };
        step maps = Same::<u64> { value: got.maps["a"]["b"].id };
        step gotten = Same::<Option<u64>> { value: got.maps.get("a")?.get("b")?.id };
        step lists = Same::<Vec<Option<Vec<u64>>>> { value: got.lists[..]?[..].id };
        step raw_name = Same::<u64> { value: r#type.id };
        step asked = Same::<Option<Value>> { value: raw.get("a")?.get(0)? };
        step absent = Same::<Option<Value>> { value: raw.pointer("/x/y")?["z"] };
        [
            json!(extra), json!(inner), json!(whole), json!(rest), json!(maybe), json!(boxed), json!(queue), json!(second),
            json!(set), json!(deep), json!(maps), json!(gotten), json!(lists), json!(raw_name), json!(asked), json!(absent),
        ]
    }
}

#[test]
fn references() {
    let plan = References {
        corners: corners(),
        r#type: Inner { id: 10 },
        raw: json!({"a": [true]}),
    };
    let expected = json!([
        1, 77, {"id": 77}, 2, 3, 4, [5, 6], 6, [8, 9], 7, 8, 8, [[1, 2], null], 10, true, null
    ]);
    assert_eq!(json!(done(plan.run(&()))), expected);
    assert_eq!(pointers(References::PLAN, "extra", "value"), ["/k/x/0"]);
    assert_eq!(
        pointers(References::PLAN, "rest", "value"),
        ["/skipping/1/id"]
    );
    assert_eq!(pointers(References::PLAN, "maybe", "value"), ["/maybe/id"]);
}

plan! {
    /// A value that cannot be sent to another thread can be an input.
    Local(text: Rc<str>, step: u64) -> (String, u64) {
        step length = Same::<Box<str>> { value: format!("{text}") };
        step types: HashMap<String, Vec<Vec<u8>>>= HashMap::from([("x".to_owned(), vec![vec![1]])]);
        step arrows: u64 = { let f: fn(u64) -> u64 = |x| x + 1; f(step) };
        (format!("{text} {length} {}", types.len()), arrows)
    }
}

#[test]
fn inputs_that_cannot_be_sent() {
    assert_eq!(
        done(
            Local {
                text: "ab".into(),
                step: 1
            }
            .run(&())
        ),
        ("ab ab 1".into(), 2)
    );
}

plan! { StepAs(step: u8) -> u64 { step as u64 } }
plan! { StepIs(step: u8) -> bool { step == 3 } }
plan! { StepDot(step: Inner) -> u64 { step.id } }
plan! { Comparison(a: u8, b: u8) -> bool { a <= b } }
plan! { Matching(a: Option<String>) -> usize { match &a { Some(a) if !a.is_empty() => a.len(), _ => 0 } } }

#[test]
fn tails() {
    assert_eq!(done(StepAs { step: 3 }.run(&())), 3);
    assert!(done(StepIs { step: 3 }.run(&())));
    assert_eq!(
        done(
            StepDot {
                step: Inner { id: 5 }
            }
            .run(&())
        ),
        5
    );
    assert!(done(Comparison { a: 1, b: 2 }.run(&())));
    assert_eq!(
        done(
            Matching {
                a: Some("abc".into())
            }
            .run(&())
        ),
        3
    );
}

macro_rules! largest {
    ($first:expr $(, $rest:expr)*) => {{ let mut largest = $first; $(if $rest > largest { largest = $rest; })* largest }};
}

macro_rules! with_name {
    ($name:ident, $value:expr, $body:expr) => {{
        let $name = $value;
        $body
    }};
}

macro_rules! map {
    ($($key:expr => $value:expr),*) => { BTreeMap::from([$(($key.to_string(), $value)),*]) };
}

plan! {
    /// A name in another macro means what it means outside of it.
    ForeignMacros(a: i64, b: i64) -> Vec<Value> {
        step sum = Add { left: a, right: b };
        step max: i64 = largest!(a, sum, b + 1, { let b = 1; b });
        step named: i64 = with_name!(x, a, x + b);
        step mapped: BTreeMap<String, i64> = map!("a" => a, "sum" => sum);
        step text: String = stringify!(a b).to_owned();
        [json!(max), json!(named), json!(mapped), json!(text)]
    }
}

#[test]
fn foreign_macros() {
    let expected = json!([7, 7, {"a": 3, "sum": 7}, "a b"]);
    assert_eq!(json!(done(ForeignMacros { a: 3, b: 4 }.run(&()))), expected);
}

#[test]
fn an_input_that_json_cannot_hold_is_named() {
    plan! {
        Prices(first: f64, prices: Vec<f64>) -> f64 {
            step total: f64 = first + f64::from(u32::try_from(prices.len()).unwrap_or(u32::MAX));
            total
        }
    }
    let error = |first, prices| {
        let run = Prices { first, prices }.run(&());
        smol::block_on(run).unwrap_err().to_string()
    };
    assert_eq!(
        error(1.0, vec![1.0, f64::NAN]),
        "plan `prices` cannot start: input `prices`: `/1` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(f64::INFINITY, vec![]),
        "plan `prices` cannot start: input `first`: the value is inf, which JSON cannot represent"
    );
}
