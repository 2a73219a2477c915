//! Enums, however they are tagged.

use crate::shape::{field, literal};
use plan_runtime::Shape;
use plan_runtime::shape::{FieldPlace, Tagging, TypeShape};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Debug;

#[test]
fn a_tag_on_a_struct() {
    #[derive(Serialize, Deserialize, Shape)]
    #[serde(tag = "kind")]
    struct Type {
        own: u8,
    }
    assert_eq!(
        serde_json::to_value(Type { own: 1 }).unwrap(),
        json!({ "kind": "Type", "own": 1 })
    );
    assert_eq!(field::<Type>("own").output, FieldPlace::Key("own"));
}

macro_rules! enums {
    ($($test:ident $(#[$attr:meta])*;)*) => {$(
        #[test]
        fn $test() {
            #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
            #[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
            $(#[$attr])*
            enum Type {
                VeryTasty { thread_id: u8, #[serde(rename = "other")] renamed: u8 },
                #[serde(rename = "renamed variant", rename_all = "SCREAMING_SNAKE_CASE")]
                Named { thread_id: u16 },
                OnlyMap(BTreeMap<String, u8>),
                NoContent,
            }
            let read = |json| serde_json::from_value::<Type>(json).unwrap();
            assert_eq!(
                read(literal::<Type>("VeryTasty", &[json!(1), json!(2)])),
                Type::VeryTasty { thread_id: 1, renamed: 2 }
            );
            assert_eq!(read(literal::<Type>("Named", &[json!(1000)])), Type::Named { thread_id: 1000 });
            assert_eq!(
                read(literal::<Type>("OnlyMap", &[json!({ "k": 1 })])),
                Type::OnlyMap(BTreeMap::from([("k".to_owned(), 1)]))
            );
            assert_eq!(read(literal::<Type>("NoContent", &[])), Type::NoContent);
        }
    )*};
}

enums! {
    externally_tagged;
    internally_tagged #[serde(tag = "kind")];
    adjacently_tagged #[serde(tag = "kind", content = "value")];
    untagged #[serde(untagged)];
}

#[test]
fn tuple_variants_and_exceptions() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[allow(dead_code)]
    enum Type {
        Pair(u8, u8),
        Shifted(#[serde(skip)] u8, u8, u8),
        #[serde(skip)]
        Secret,
        #[serde(skip_deserializing)]
        Output,
        #[serde(untagged)]
        Bare(u8),
    }
    let read = |json| serde_json::from_value::<Type>(json).unwrap();
    assert_eq!(
        read(literal::<Type>("Pair", &[json!(1), json!(2)])),
        Type::Pair(1, 2)
    );
    assert_eq!(read(literal::<Type>("Bare", &[json!(1)])), Type::Bare(1));
    assert_eq!(read(json!({ "Shifted": [1, 2] })), Type::Shifted(0, 1, 2));
    let TypeShape::Enum(Tagging::External, variants) = Type::SHAPE else {
        panic!("no enum");
    };
    let shifted: Vec<_> = variants[1].fields.iter().map(|f| f.argument).collect();
    assert_eq!(shifted[1..], [FieldPlace::Index(0), FieldPlace::Index(1)]);
    assert_eq!(variants[2].argument, Err("#[serde(skip)]"));
    assert_eq!(variants[3].argument, Err("#[serde(skip_deserializing)]"));
}
