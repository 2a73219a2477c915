//! Literals: scalars, strings, lists, tuples, and nested struct and enum literals.

use crate::support::{Same, argument, done};
use plan_runtime::plan::{Number, Template};
use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, LinkedList, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Checks the value that a literal becomes for a type, after a run.
macro_rules! arrives {
    ($($ty:ty: $value:expr_2021 => $expected:expr_2021;)*) => {$(
        let plan = plan! { step same = Same::<$ty> { value: $value }; same };
        let arrived: $ty = done(plan.run(&()));
        assert_eq!(arrived, $expected, "{}", stringify!($ty: $value));
    )*};
}

#[test]
#[allow(clippy::float_cmp)]
fn numbers() {
    arrives! {
        u8: 255 => 255;
        u8: 7u8 => 7;
        u8: b'a' => 97;
        i8: -128 => -128;
        i8: -1i8 => -1;
        u16: 0xFF_FF => 65535;
        i16: -0x7F => -127;
        u32: 0b1010 => 10;
        i32: -2_147_483_648 => i32::MIN;
        i32: 0o17_i32 => 15;
        u64: 18_446_744_073_709_551_615 => u64::MAX;
        i64: -9_223_372_036_854_775_808 => i64::MIN;
        i64: -0 => 0;
        u128: 1u128 => 1;
        u128: 18_446_744_073_709_551_615 => u128::from(u64::MAX);
        i128: -9_223_372_036_854_775_808 => i128::from(i64::MIN);
        usize: 3usize => 3;
        isize: -3isize => -3;
        f64: 1.10 => 1.10;
        f64: -1.5e300 => -1.5e300;
        f64: 2f64 => 2.0;
        f64: 0.1_f64 => 0.1;
        f64: 1e-7 => 1e-7;
        f32: 1.1 => 1.1;
        f32: -0.1f32 => -0.1;
        Option<u8>: 5 => Some(5);
        Option<i64>: -5i64 => Some(-5);
        Option<Option<u8>>: Some(5) => Some(Some(5));
        Value: 5u64 => json!(5);
        Value: -5 => json!(-5);
        Value: 1.10 => json!(1.10);
        Value: 18_446_744_073_709_551_615u64 => json!(u64::MAX);
        Option<Value>: true => Some(json!(true));
    }
}

#[test]
fn signs() {
    let plan = plan! { step a = Same::<f64> { value: -0.0 }; a };
    let zero = done(plan.run(&()));
    assert!(zero == 0.0 && zero.is_sign_negative());
    let plan = plan! { step a = Same::<f64> { value: 1.10 }; a };
    let Template::Number(Number::Float(number)) = argument(plan.plan(), "a", "value") else {
        panic!("no number")
    };
    assert_eq!(number.to_bits(), 1.10_f64.to_bits());
}

#[test]
fn scalars() {
    arrives! {
        bool: true => true;
        Option<bool>: false => Some(false);
        char: 'x' => 'x';
        char: '\u{1F600}' => '😀';
        Value: 'x' => json!("x");
        Option<u8>: None => None::<u8>;
        Option<Option<u8>>: None => None::<Option<u8>>;
        Option<u8>: Some(1) => Some(1);
        Option<String>: Some("x") => Some("x".to_owned());
        Option<Vec<u8>>: Some([1]) => Some(vec![1]);
        (): () => ();
    }
}

#[test]
fn texts() {
    arrives! {
        String: "quote \" and \\ and \n {{x}}" => "quote \" and \\ and \n {{x}}";
        String: r#"raw "text""# => "raw \"text\"";
        Cow<'static, str>: "a" => "a";
        Box<str>: "a" => Box::from("a");
        Arc<str>: "a" => Arc::from("a");
        PathBuf: "/a/b" => PathBuf::from("/a/b");
        Value: "a" => json!("a");
        Option<String>: "a" => Some("a".to_owned());
        Option<Cow<'static, str>>: Some("a") => Some(Cow::Borrowed("a"));
        Option<Value>: "a" => Some(json!("a"));
        Vec<Option<String>>: ["a", None, Some("b")] => [Some("a".to_owned()), None, Some("b".to_owned())];
    }
}

#[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
struct Texts {
    shared: Rc<str>,
    path: Box<std::path::Path>,
}

#[test]
fn texts_in_what_cannot_be_sent() {
    let plan = plan! { Texts { shared: "a", path: "b" } };
    let texts = done(plan.run(&()));
    assert_eq!((&*texts.shared, texts.path.to_str()), ("a", Some("b")));
}

#[test]
fn lists() {
    arrives! {
        Vec<u8>: [1, 2, 3] => [1, 2, 3];
        Vec<u8>: [] => [0_u8; 0];
        [u8; 2]: [1, 2] => [1, 2];
        [[u8; 1]; 2]: [[1], [2]] => [[1], [2]];
        VecDeque<String>: ["a", "b"] => ["a", "b"];
        LinkedList<i8>: [-1] => LinkedList::from([-1]);
        BTreeSet<u8>: [2, 1, 2] => BTreeSet::from([1, 2]);
        HashSet<u8>: [1] => HashSet::from([1]);
        Box<[u8]>: [1] => Box::from([1]);
        Arc<[u8]>: [1] => Arc::from([1]);
        Option<Vec<u8>>: [1] => Some(vec![1]);
        Value: [1, "two", [3.5], true] => json!([1, "two", [3.5], true]);
        Vec<(u8, String)>: [(1, "a"), (2, "b")] => [(1, "a".to_owned()), (2, "b".to_owned())];
        (u8, String, Option<bool>): (1, "a", None) => (1, "a".to_owned(), None);
        (u8,): (1,) => (1,);
        [u8; 3]: [0; 3] => [0, 0, 0];
        u8: (7) => 7;
    }
}

pub mod types {
    //! Types whose literals are written with a path.

    use super::{Deserialize, Serialize, Shape};
    use serde_json::Value;

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    pub struct Outer {
        pub inner_part: Inner,
        #[serde(default)]
        pub left_out: u8,
        pub r#match: bool,
        #[serde(flatten)]
        pub flat: Flat,
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Flat {
        pub in_outer: u8,
        #[serde(flatten)]
        pub deeper: Deeper,
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Deeper {
        pub deep: Option<String>,
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Inner(pub String);

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(transparent)]
    pub struct Seen {
        pub list: Vec<u8>,
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Two(pub u8, pub String);

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Unit;

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    pub struct Generic<T> {
        pub it: T,
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
    pub enum External {
        Nothing,
        NewType(String),
        TwoThings(u8, String),
        WithFields {
            first_field: u8,
            #[serde(rename = "2nd")]
            second: Option<String>,
        },
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(tag = "type")]
    pub enum Internal {
        #[serde(rename = "nothing")]
        Nothing,
        NewType(Flat),
        WithFields {
            a: u8,
        },
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(tag = "t", content = "c")]
    pub enum Adjacent {
        Nothing,
        NewType(String),
        Two(u8, String),
        WithFields { a: u8 },
    }

    #[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
    #[serde(untagged)]
    pub enum Untagged {
        Text(String),
        Two(u8, String),
        WithFields { a: u8 },
        Other(Value),
    }
}

use types::{Adjacent, Deeper, External, Flat, Inner, Internal, Outer, Untagged};

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn structs() {
    let outer = plan! {
        step name = Same::<String> { value: "referred to" };
        step outer = Same::<Outer> { value: types::Outer {
            inner_part: types::Inner(name),
            left_out: 4,
            r#match: true,
            flat: Flat { in_outer: 1, deeper: Deeper { deep: name } },
        } };
        step rest = Same::<Outer> { value: Outer {
            inner_part: Inner("plain"), r#match: false,
            flat: Flat { in_outer: 2, deeper: crate::literals::types::Deeper { deep: None } }, ..
        } };
        (outer, rest)
    };
    let (outer, rest) = done(outer.run(&()));
    let deeper = |deep: Option<&str>| Deeper {
        deep: deep.map(text),
    };
    let flat = |in_outer, deep| Flat {
        in_outer,
        deeper: deeper(deep),
    };
    let inner_part = Inner(text("referred to"));
    let flatted = flat(1, Some("referred to"));
    assert_eq!(
        outer,
        Outer {
            inner_part,
            left_out: 4,
            r#match: true,
            flat: flatted
        }
    );
    let inner_part = Inner(text("plain"));
    assert_eq!(
        rest,
        Outer {
            inner_part,
            left_out: 0,
            r#match: false,
            flat: flat(2, None)
        }
    );
    arrives! {
        types::Seen: types::Seen { list: [1, 2] } => types::Seen { list: vec![1, 2] };
        types::Two: types::Two(1, "a") => types::Two(1, text("a"));
        types::Unit: types::Unit => types::Unit;
        Vec<types::Generic<u8>>: [types::Generic { it: 1 }] => [types::Generic { it: 1 }];
        types::Generic<String>: types::Generic::<String> { it: "a" } => types::Generic { it: text("a") };
        Option<types::Two>: types::Two(1, "a") => Some(types::Two(1, text("a")));
        Option<types::Two>: Some(types::Two(1, "a")) => Some(types::Two(1, text("a")));
        Value: types::Two(1, "a") => json!([1, "a"]);
    }
}

#[test]
fn enums() {
    arrives! {
        External: External::Nothing => External::Nothing;
        External: External::NewType("a") => External::NewType(text("a"));
        External: External::TwoThings(1, "a") => External::TwoThings(1, text("a"));
        External: External::WithFields { first_field: 1, second: "a" } =>
            External::WithFields { first_field: 1, second: Some(text("a")) };
        Internal: Internal::Nothing => Internal::Nothing;
        Internal: Internal::WithFields { a: 1 } => Internal::WithFields { a: 1 };
        Internal: Internal::NewType(Flat { in_outer: 3, deeper: Deeper { deep: "d" } }) =>
            Internal::NewType(Flat { in_outer: 3, deeper: Deeper { deep: Some(text("d")) } });
        Adjacent: Adjacent::Nothing => Adjacent::Nothing;
        Adjacent: Adjacent::NewType("a") => Adjacent::NewType(text("a"));
        Adjacent: Adjacent::Two(1, "a") => Adjacent::Two(1, text("a"));
        Adjacent: Adjacent::WithFields { a: 1 } => Adjacent::WithFields { a: 1 };
        Untagged: Untagged::Text("a") => Untagged::Text(text("a"));
        Untagged: Untagged::Two(1, "a") => Untagged::Two(1, text("a"));
        Untagged: Untagged::WithFields { a: 1 } => Untagged::WithFields { a: 1 };
        Untagged: Untagged::Other(json!([1, {"x": null}])) => Untagged::Other(json!([1, {"x": null}]));
        Vec<External>: [External::Nothing, External::NewType("a")] =>
            [External::Nothing, External::NewType(text("a"))];
        Value: External::NewType("a") => json!({"new_type": "a"});
    }
}

plan! {
    /// Literals with references in all their places.
    Referring(count: u8, name: String) -> Value {
        step external = Same::<Vec<External>> { value: [
            External::NewType(name),
            External::TwoThings(count, name),
            External::WithFields { first_field: count, second: Some(name) },
        ] };
        step internal = Same::<Internal> { value: Internal::WithFields { a: count } };
        step adjacent = Same::<[Adjacent; 2]> { value: [Adjacent::Two(count, name), Adjacent::WithFields { a: count }] };
        step untagged = Same::<Untagged> { value: Untagged::Text(name) };
        step computed = Same::<External> { value: External::TwoThings(count + 1, format!("{name}!")) };
        json!([external, internal, adjacent, untagged, computed])
    }
}

#[test]
fn literals_with_references() {
    let plan = Referring {
        count: 2,
        name: "n".into(),
    };
    let expected = json!([
        [{"new_type": "n"}, {"two_things": [2, "n"]}, {"with_fields": {"firstField": 2, "2nd": "n"}}],
        {"type": "WithFields", "a": 2},
        [{"t": "Two", "c": [2, "n"]}, {"t": "WithFields", "c": {"a": 2}}],
        "n",
        {"two_things": [3, "n!"]},
    ]);
    assert_eq!(done(plan.run(&())), expected);
}

/// The plan of this file as data.
pub fn plan() -> &'static plan_runtime::Plan {
    Referring::PLAN
}
