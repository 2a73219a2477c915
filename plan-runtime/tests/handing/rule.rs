//! The types whose values are handed over.

use super::types::*;
use bytes::{Bytes, BytesMut};
use plan_runtime::check::{Hand, Known, NotHandedOver as _};
use plan_runtime::{Shape, Tool, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Mutex;

macro_rules! handed {
    ($($ty:ty),* $(,)?) => {
        [$({
            static KNOWN: Known = Known::new();
            let hand_over = Hand::<$ty>::NEW.over(&KNOWN, Hand::<$ty>::CLONE);
            (stringify!($ty), hand_over.is_some())
        }),*]
    };
}

#[track_caller]
fn all(types: &[(&str, bool)], expected: bool) {
    let wrong = types.iter().filter(|(_, is)| *is != expected);
    let wrong: Vec<_> = wrong.map(|(name, _)| name).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn types_that_come_back_from_json() {
    all(
        &handed![
            String,
            Vec<u8>,
            Vec<Vec<Option<String>>>,
            Bytes,
            BytesMut,
            Value,
            Box<String>,
            Cow<'static, str>,
            Option<String>,
            (String, Option<u8>),
            [String; 3],
            Result<String, Kind>,
            HashMap<u8, Email>,
            BTreeMap<String, Value>,
            HashSet<String>,
            std::time::Duration,
            Email,
            Kind,
            Tree,
            LeftOut,
            Unique,
            Wrapper<Vec<Kind>>,
            Wrapper<Wrapper<String>>,
            Vec<Newtype>,
            Links,
            Option<Email>,
            Aliased,
        ],
        true,
    );
}

#[test]
fn types_that_change() {
    all(
        &handed![
            Skips,
            OneSided,
            With,
            OptionWith,
            ShortLeftOut,
            WholeDefault,
            Moving,
            MovingVariant,
            own::Listed,
            std::ops::RangeInclusive<String>,
            std::net::SocketAddr,
            Untagged,
            Tagged,
            Flat,
            Converted,
            Unknown,
            Vec<Skips>,
            Wrapper<Skips>,
            Option<With>,
            BTreeMap<String, OneSided>,
            Wrapper<Unknown>,
            // `Some` of null is null.
            Option<Option<String>>,
            Option<Vec<Option<Option<u8>>>>,
            Option<Value>,
            Option<Unit>,
            Option<Wrapper<Option<String>>>,
            Chain,
            // Their parts are in another order.
            BinaryHeap<String>,
            // A change to one owner's value is visible to the other.
            Mutex<String>,
            Cell<u8>,
            // Not from thread to thread.
            Rc<String>,
            HasUntagged,
            same_names::SameNames,
        ],
        false,
    );
}

#[test]
fn types_whose_json_takes_no_memory() {
    all(
        &handed![
            u64,
            bool,
            f32,
            (),
            Option<u8>,
            Id,
            Wrapper<Id>,
            Unit,
            PhantomData<String>
        ],
        false,
    );
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Newtype(String);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Id(u64);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Unit;

/// Omitted fields are read from the default of the whole type.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(default)]
struct WholeDefault {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
}

impl Default for WholeDefault {
    fn default() -> Self {
        Self {
            number: Some("5".into()),
        }
    }
}

/// After an omitted element, the next one takes its index.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Moving(
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<String>,
);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
enum MovingVariant {
    Two(
        #[serde(default, skip_serializing_if = "Vec::is_empty")] Vec<u8>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] Vec<u8>,
    ),
}

/// Types that contain themselves in nothing else.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Chain(Option<Box<Chain>>);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Links(Box<Others>);

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Others(Vec<Links>);

mod own {
    use super::{Deserialize, Serialize, Shape};

    /// Is not empty by default.
    #[derive(Clone, Debug, Serialize, Deserialize, Shape)]
    pub(super) struct Vec(std::vec::Vec<u8>);

    impl Vec {
        fn is_empty(&self) -> bool {
            self.0.is_empty()
        }
    }

    impl Default for Vec {
        fn default() -> Self {
            Self(vec![7])
        }
    }

    #[derive(Clone, Debug, Serialize, Deserialize, Shape)]
    pub(super) struct Listed {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec,
    }
}

/// Deserialization accepts both names, and serialization writes one.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Aliased {
    #[serde(rename(serialize = "to"), alias = "to")]
    receiver: String,
}

/// A string may be the name of the other variant.
#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
enum HasUntagged {
    Named,
    #[serde(untagged)]
    Other(String),
}

/// serde reads the first of both.
mod same_names {
    #![allow(unreachable_patterns)]

    use super::{Deserialize, Serialize, Shape};

    #[derive(Clone, Debug, Serialize, Deserialize, Shape)]
    pub(super) enum SameNames {
        #[serde(alias = "Second")]
        First,
        Second,
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Email)]
struct Derived {
    text: String,
}

/// Returns a list.
#[tool]
async fn listed(emails: Vec<Email>) -> plan_runtime::Result<Vec<Skips>> {
    drop(emails);
    Ok(Vec::new())
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = T)]
struct Generic<T> {
    value: T,
}

/// Refuses most addresses.
#[derive(Serialize, Shape, Tool)]
#[tool(output = String)]
struct Pay {
    to: Email,
}

impl<'de> Deserialize<'de> for Pay {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Plain {
            to: Email,
        }
        let Plain { to } = Plain::deserialize(from)?;
        if to.from.ends_with("@example.org") {
            Ok(Self { to })
        } else {
            Err(serde::de::Error::custom("not an address of the company"))
        }
    }
}

impl plan_runtime::Call<()> for Pay {
    async fn call(self, (): &()) -> plan_runtime::Result<String> {
        Ok(self.to.from)
    }
}

/// Returns a sender.
#[tool]
async fn find_sender(from: String) -> plan_runtime::Result<Email> {
    Ok(Email {
        from,
        thread_id: None,
        tags: Vec::new(),
    })
}

#[test]
fn a_tool_that_reads_its_arguments_itself_reads_them() {
    plan_runtime::plan! {
        PayOne(from: String) -> String {
            step to = FindSender { from };
            step paid = Pay { to };
            paid
        }
    }
    let pay = |from: &str| smol::block_on(PayOne { from: from.into() }.run(&()));
    assert_eq!(pay("s@example.org").unwrap(), "s@example.org");
    let error = pay("x@example.com").unwrap_err().to_string();
    assert!(error.contains("not an address of the company"), "{error}");
}

#[test]
fn tools_say_it_of_their_outputs() {
    assert!(Derived::hand_over().is_some());
    assert!(Listed::hand_over().is_none());
    // A type parameter has no known properties.
    assert!(Generic::<String>::hand_over().is_none());
}
