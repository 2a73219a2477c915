//! Tuple structs, and structs with one field or none.

use crate::shape::{always, field, fields, tuple};
use plan_runtime::Shape;
use plan_runtime::shape::{FieldPlace, TypeShape};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

#[test]
fn tuple_structs() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    struct Pair(u8, u8);
    assert_eq!(tuple::<Pair>().0, [(0, "0"), (1, "1")]);

    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    struct Shifted(
        #[serde(skip)] u8,
        u8,
        #[serde(skip_serializing)] u8,
        #[serde(skip_deserializing)] u8,
        u8,
    );
    let value = Shifted(0, 1, 2, 3, 4);
    let json = serde_json::to_value(&value).unwrap();
    assert_eq!(json, json!([1, 3, 4]));
    let (outputs, arguments) = tuple::<Shifted>();
    assert_eq!(outputs, [(0, "1"), (1, "3"), (2, "4")]);
    assert_eq!(arguments, [(0, "1"), (1, "2"), (2, "4")]);
    let read: Shifted = serde_json::from_value(json!([1, 2, 4])).unwrap();
    assert_eq!(read, Shifted(0, 1, 2, 0, 4));

    // If an element may be missing, those after it have no fixed index.
    #[derive(Serialize, Deserialize, Shape)]
    struct Unsteady(
        u8,
        #[serde(skip_serializing_if = "always", default)] u8,
        #[serde(default)] u8,
    );
    assert_eq!(tuple::<Unsteady>().0, [(0, "0")]);
    let required: Vec<_> = fields::<Unsteady>().iter().map(|f| f.required).collect();
    assert_eq!(required, [true, false, false]);
    assert!(serde_json::from_value::<Unsteady>(json!([1])).is_ok());
}

#[test]
fn one_field_for_the_whole() {
    #[derive(Serialize, Deserialize, Shape)]
    struct Newtype(u8);
    #[derive(Serialize, Deserialize, Shape)]
    struct Renamed(#[serde(rename = "nothing", default)] u8);
    #[derive(Serialize, Deserialize, Shape)]
    #[serde(transparent)]
    struct Transparent {
        #[serde(skip)]
        _cache: u8,
        inner: u8,
        _marker: std::marker::PhantomData<u8>,
    }
    assert_eq!(serde_json::to_value(Newtype(1)).unwrap(), json!(1));
    assert_eq!(field::<Newtype>("0").output, FieldPlace::Inner);
    assert_eq!(field::<Newtype>("0").argument, FieldPlace::Inner);
    assert_eq!(field::<Renamed>("0").argument, FieldPlace::Inner);
    let transparent: Transparent = serde_json::from_value(json!(1)).unwrap();
    assert_eq!(serde_json::to_value(&transparent).unwrap(), json!(1));
    assert_eq!(field::<Transparent>("inner").output, FieldPlace::Inner);
    assert_eq!(field::<Transparent>("inner").argument, FieldPlace::Inner);
    assert_eq!(
        field::<Transparent>("_cache").output,
        FieldPlace::LeftOut("#[serde(skip)]")
    );
    assert_eq!(
        field::<Transparent>("_marker").argument,
        FieldPlace::LeftOut("#[serde(transparent)]")
    );
}

#[test]
fn nothing_inside() {
    #[derive(Serialize, Deserialize, Shape)]
    struct Unit;
    #[derive(Serialize, Deserialize, Shape)]
    struct Empty {}
    #[derive(Serialize, Deserialize, Shape, Clone)]
    #[serde(into = "String", from = "String")]
    struct Converted {
        name: String,
    }
    impl From<Converted> for String {
        fn from(value: Converted) -> Self {
            value.name
        }
    }
    impl From<String> for Converted {
        fn from(name: String) -> Self {
            Self { name }
        }
    }
    assert!(fields::<Unit>().is_empty());
    assert!(fields::<Empty>().is_empty());
    assert!(matches!(Converted::SHAPE, TypeShape::Opaque));
}
