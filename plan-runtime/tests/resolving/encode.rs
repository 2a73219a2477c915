//! Outputs become exact JSON, or an error.

use plan_runtime::resolve::{ErrorKind, StoredValue, encode};
use proptest::prelude::*;
use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

fn error(value: &impl Serialize) -> String {
    let error = encode(value).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NotJson | ErrorKind::TooDeep),
        "{error:?}"
    );
    error.to_string()
}

#[derive(serde::Serialize)]
enum Variant<T> {
    Unit,
    Newtype(T),
    Tuple(u8, T),
    Struct { inner: T },
}

#[test]
fn floats() {
    assert_eq!(
        error(&f64::NAN),
        "the value is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(&f32::NEG_INFINITY),
        "the value is -inf, which JSON cannot represent"
    );
    assert_eq!(
        error(&json_map("prices", vec![0.0, 1.0, 2.0, f64::INFINITY])),
        "`/prices/3` is inf, which JSON cannot represent"
    );
    assert_eq!(
        error(&Variant::Newtype(f64::NAN)),
        "`/Newtype` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(&Variant::Tuple(1, f64::NAN)),
        "`/Tuple/1` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(&Variant::Struct {
            inner: Some(f64::NAN)
        }),
        "`/Struct/inner` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(&json_map("a/b", (1, f32::NAN))),
        "`/a~1b/1` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        StoredValue::of(&f64::NAN)
            .unwrap_err()
            .pointer()
            .unwrap()
            .as_str(),
        ""
    );
}

#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
struct Unit;

#[derive(serde::Serialize)]
struct Newtype<T>(T);

/// A patch that distinguishes fields to leave, to remove and to set.
#[derive(serde::Serialize)]
struct Patch {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "inner")]
    name: Option<Option<u8>>,
}

fn inner<S: Serializer>(value: &Option<Option<u8>>, to: S) -> Result<S::Ok, S::Error> {
    value.as_ref().and_then(Option::as_ref).serialize(to)
}

#[test]
fn a_some_that_would_be_none() {
    let none = "is `Some(None)`, which JSON cannot tell from `None`: both are null";
    let unit = "is `Some(())`, which JSON cannot tell from `None`: both are null";
    assert_eq!(error(&Some(None::<u8>)), format!("the value {none}"));
    assert_eq!(error(&Some(Some(None::<u8>))), format!("the value {none}"));
    assert_eq!(
        error(&Some(Newtype(None::<u8>))),
        format!("the value {none}")
    );
    assert_eq!(
        error(&Some(Box::new(None::<u8>))),
        format!("the value {none}")
    );
    assert_eq!(
        error(&json_map("a/b", vec![Some(Some(1)), None, Some(None)])),
        format!("`/a~1b/2` {none}")
    );
    assert_eq!(
        error(&Variant::Struct {
            inner: Some(None::<u8>)
        }),
        format!("`/Struct/inner` {none}")
    );
    assert_eq!(error(&Some(())), format!("the value {unit}"));
    assert_eq!(error(&(1, Some(Unit))), format!("`/1` {unit}"));
    assert_eq!(error(&Some(Newtype(()))), format!("the value {unit}"));

    // Nothing is lost of these.
    assert_eq!(encode(&None::<Option<u8>>).unwrap(), Value::Null);
    assert_eq!(encode(&Some(Some(1))).unwrap(), json!(1));
    assert_eq!(encode(&Some([None::<u8>])).unwrap(), json!([null]));
    assert_eq!(
        encode(&Some((None::<u8>, ()))).unwrap(),
        json!([null, null])
    );
    assert_eq!(
        encode(&Some(Variant::Newtype(None::<u8>))).unwrap(),
        json!({"Newtype": null})
    );
    assert_eq!(
        encode(&Some(json_map("a", None::<u8>))).unwrap(),
        json!({"a": null})
    );
    assert_eq!(encode(&Some([(); 0])).unwrap(), json!([]));
    assert_eq!(
        encode(&((), Unit, None::<u8>)).unwrap(),
        json!([null, null, null])
    );
    assert_eq!(
        encode(&Patch { name: Some(None) }).unwrap(),
        json!({"name": null})
    );
    assert_eq!(encode(&Patch { name: None }).unwrap(), json!({}));
    // A null of untyped JSON means an absent value.
    assert_eq!(encode(&Some(Value::Null)).unwrap(), Value::Null);
}

/// A map whose keys need not be ordered.
struct Pairs<'a>(&'a [(f64, u8)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

fn json_map<T>(key: &str, value: T) -> BTreeMap<String, T> {
    BTreeMap::from([(key.to_owned(), value)])
}

#[test]
fn integers_and_keys() {
    assert_eq!(encode(&u128::from(u64::MAX)).unwrap(), json!(u64::MAX));
    assert_eq!(
        error(&vec![u128::MAX]),
        "`/0` is 340282366920938463463374607431768211455, which is beyond the integers of 64 bits"
    );
    assert_eq!(
        encode(&HashMap::from([(7, 'x')])).unwrap(),
        json!({"7": "x"})
    );
    assert_eq!(
        encode(&HashMap::from([(true, 1)])).unwrap(),
        json!({"true": 1})
    );
    assert_eq!(
        encode(&BTreeMap::from([(u128::MAX, 1)])).unwrap(),
        json!({"340282366920938463463374607431768211455": 1})
    );
    assert_eq!(
        encode(&BTreeMap::from([(Some('a'), 1)])).unwrap(),
        json!({"a": 1})
    );
    assert_eq!(
        error(&json_map("m", Pairs(&[(1.5, 3)]))),
        "`/m` has the number 1.5 as the key of a map, but JSON keys are strings"
    );
    assert_eq!(
        error(&json_map("m", BTreeMap::from([((1, 2), 3)]))),
        "`/m` has a list of 2 elements as the key of a map, but JSON keys are strings"
    );
    assert_eq!(
        error(&BTreeMap::from([(None::<u8>, 3)])),
        "the value has null as the key of a map, but JSON keys are strings"
    );
}

#[test]
fn nothing_is_lost() {
    #[derive(serde::Serialize)]
    struct Flat {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    let clash = Flat {
        a: 1,
        rest: json_map("a", 2),
    };
    assert_eq!(
        error(&clash),
        "`/a` is there more than once, but a JSON object can hold it only once"
    );
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("a lock is poisoned"))
        }
    }
    assert_eq!(
        error(&[Fails]),
        "`/0` cannot be serialized: a lock is poisoned"
    );
}

#[test]
fn depth() {
    struct Deep(u32);
    impl Serialize for Deep {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(Some(1))?;
            if self.0 > 1 {
                list.serialize_element(&Deep(self.0 - 1))?;
            }
            list.end()
        }
    }
    assert_eq!(error(&Deep(100_000)), "the value is nested too deeply");
    // A value that JSON can represent can be read back from text.
    let text = encode(&Deep(127)).unwrap().to_string();
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    assert!(encode(&Deep(128)).is_err());
}

#[derive(Debug, Clone, serde::Serialize)]
struct Sample {
    text: String,
    bytes: Vec<u8>,
    float: f64,
    small: f32,
    maybe: Option<i64>,
    pair: (char, bool),
    map: BTreeMap<i16, Vec<Option<String>>>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn is_what_serde_json_makes(
        text in ".{0,20}", bytes in prop::collection::vec(any::<u8>(), 0..20), float in prop::num::f64::NORMAL | prop::num::f64::ZERO, small in prop::num::f32::NORMAL,
        maybe: Option<i64>, pair: (char, bool), map in prop::collection::btree_map(any::<i16>(), prop::collection::vec(prop::option::of(".{0,9}"), 0..4), 0..4),
    ) {
        let sample = Sample { text, bytes, float, small, maybe, pair, map };
        prop_assert_eq!(encode(&sample).unwrap(), serde_json::to_value(&sample).unwrap());
        for value in [Variant::Unit, Variant::Newtype(sample.clone()), Variant::Tuple(1, sample.clone()), Variant::Struct { inner: sample }] {
            prop_assert_eq!(encode(&value).unwrap(), serde_json::to_value(&value).unwrap());
        }
    }
}
