//! Types of many kinds, with random values.

use bytes::Bytes;
use plan_runtime::Shape;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Email {
    pub(crate) from: String,
    pub(crate) thread_id: Option<u64>,
    pub(crate) tags: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) enum Kind {
    Unit,
    New(String),
    Tuple(u8, Option<String>),
    Struct { number: f64 },
}

/// A type that contains itself.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) children: Vec<Tree>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct Wrapper<T>(pub(crate) T);

/// A type that cannot be cloned.
#[derive(Debug, Serialize, Deserialize, Shape)]
pub(crate) struct Unique {
    pub(crate) text: String,
}

/// A struct whose omitted fields are restored.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct LeftOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    list: Vec<u32>,
}

/// A struct that serde changes.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[allow(dead_code)]
pub(crate) struct Skips {
    text: String,
    #[serde(skip)]
    note: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct OneSided {
    #[serde(rename(serialize = "other"), default)]
    text: String,
    rest: u8,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct With {
    #[serde(with = "halved")]
    number: u64,
}

mod halved {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        (number / 2).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        u64::deserialize(from).map(|half| half * 2)
    }
}

/// An `Option` that is not read as `None` where it is missing, since a function of its own reads it.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct OptionWith {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some"
    )]
    number: Option<u64>,
}

fn some<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Option::<u64>::deserialize(from).map(|number| number.or(Some(0)))
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct ShortLeftOut {
    #[serde(default, skip_serializing_if = "is_short")]
    text: String,
}

fn is_short(text: &str) -> bool {
    text.len() < 3
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(u64),
    Float(f64),
    Text(String),
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(tag = "kind")]
pub(crate) enum Tagged {
    One { by_number: BTreeMap<String, u8> },
    Two { text: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub(crate) struct Flat {
    id: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(from = "String", into = "String")]
pub(crate) struct Converted(String);

impl From<String> for Converted {
    fn from(text: String) -> Self {
        Self(text.to_lowercase())
    }
}

impl From<Converted> for String {
    fn from(converted: Converted) -> Self {
        converted.0
    }
}

/// A type without a `Shape` that serde changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(dead_code)]
pub(crate) struct Unknown {
    text: String,
    #[serde(skip)]
    note: String,
}

/// A value of each type, which the number decides.
pub(crate) trait Sample: Sized {
    fn values() -> BoxedStrategy<Self>;
}

macro_rules! samples {
    ($($ty:ty => $strategy:expr;)*) => {$(
        impl Sample for $ty {
            fn values() -> BoxedStrategy<Self> {
                $strategy.boxed()
            }
        }
    )*};
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9é\u{1F600}\"\\\\]{0,6}"
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<i32>().prop_map(f64::from), -1e9_f64..1e9, Just(-0.0)]
}

samples! {
    String => text();
    u64 => any::<u64>();
    f64 => number();
    Vec<u8> => vec(any::<u8>(), 0..9);
    Bytes => vec(any::<u8>(), 0..9).prop_map(Bytes::from);
    Option<String> => option::of(text());
    (String, Option<u8>) => (text(), any::<Option<u8>>());
    BTreeMap<i32, Vec<bool>> => btree_map(any::<i32>(), vec(any::<bool>(), 0..3), 0..4);
    Value => option::of(text()).prop_map(|text| serde_json::json!({"text": text, "list": [1, -2, 0.5]}));
    Email => (text(), any::<Option<u64>>(), vec(text(), 0..3))
        .prop_map(|(from, thread_id, tags)| Email { from, thread_id, tags });
    Kind => prop_oneof![
        Just(Kind::Unit),
        text().prop_map(Kind::New),
        (any::<u8>(), option::of(text())).prop_map(|(number, text)| Kind::Tuple(number, text)),
        number().prop_map(|number| Kind::Struct { number }),
    ];
    Tree => text()
        .prop_map(|name| Tree { name, children: Vec::new() })
        .prop_recursive(3, 8, 3, |inner| {
            (text(), vec(inner, 0..3)).prop_map(|(name, children)| Tree { name, children })
        });
    Wrapper<Vec<Kind>> => vec(Kind::values(), 0..3).prop_map(Wrapper);
    Wrapper<Skips> => Skips::values().prop_map(Wrapper);
    Unique => text().prop_map(|text| Unique { text });
    LeftOut => (option::of(text()), vec(any::<u32>(), 0..3))
        .prop_map(|(maybe, list)| LeftOut { maybe, list });
    Skips => (text(), text()).prop_map(|(text, note)| Skips { text, note });
    OneSided => (text(), any::<u8>()).prop_map(|(text, rest)| OneSided { text, rest });
    With => any::<u32>().prop_map(|number| With { number: number.into() });
    OptionWith => option::of(any::<u64>()).prop_map(|number| OptionWith { number });
    ShortLeftOut => text().prop_map(|text| ShortLeftOut { text });
    Untagged => prop_oneof![
        any::<u64>().prop_map(Untagged::Number),
        any::<u8>().prop_map(|number| Untagged::Float(number.into())),
        text().prop_map(Untagged::Text),
    ];
    Tagged => prop_oneof![
        btree_map("[0-9]{1,2}", any::<u8>(), 0..3).prop_map(|by_number| Tagged::One { by_number }),
        text().prop_map(|text| Tagged::Two { text }),
    ];
    Flat => (any::<u8>(), btree_map("[a-c]", any::<u8>(), 0..3))
        .prop_map(|(id, rest)| Flat { id, rest });
    Converted => text().prop_map(Converted);
    Unknown => (text(), text()).prop_map(|(text, note)| Unknown { text, note });
}
