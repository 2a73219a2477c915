//! Names of fields: the rules of serde, in each of their notations.

use crate::shape::{agrees_with_serde, field, fields};
use plan_runtime::Shape;
use plan_runtime::shape::FieldPlace;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

macro_rules! renamed_fields {
    ($($name:ident $($rule:literal)?;)*) => {$(
        #[test]
        #[allow(non_snake_case)]
        fn $name() {
            #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
            #[serde(deny_unknown_fields $(, rename_all = $rule)?)]
            struct Type {
                a: u8,
                very_tasty: u8,
                r#type: u8,
                _leading: u8,
                __double__: u8,
                trailing_: u8,
                mixedCase: u8,
                UPPER: u8,
                x1_y2: u8,
                #[serde(rename = "odd key/with~slashes")]
                renamed: u8,
                #[serde(rename(serialize = "out", deserialize = "in"))]
                both_ways: u8,
                #[serde(rename(deserialize = "only_in"))]
                one_way: u8,
                #[serde(alias = "other_name")]
                with_alias: u8,
                maybe: Option<u8>,
                #[serde(default)]
                by_default: u8,
            }
            let value = Type {
                a: 1, very_tasty: 2, r#type: 3, _leading: 4, __double__: 5, trailing_: 6, mixedCase: 7, UPPER: 8,
                x1_y2: 9, renamed: 10, both_ways: 11, one_way: 12, with_alias: 13, maybe: Some(14), by_default: 15,
            };
            agrees_with_serde(&value, json!({}));
            assert_eq!(fields::<Type>()[2].ident, "type");
        }
    )*};
}

renamed_fields! {
    fields_as_they_are;
    fields_in_lowercase "lowercase";
    fields_in_uppercase "UPPERCASE";
    fields_in_pascal_case "PascalCase";
    fields_in_camel_case "camelCase";
    fields_in_snake_case "snake_case";
    fields_in_screaming_snake_case "SCREAMING_SNAKE_CASE";
    fields_in_kebab_case "kebab-case";
    fields_in_screaming_kebab_case "SCREAMING-KEBAB-CASE";
}

#[test]
fn rules_of_both_sides() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(
        deny_unknown_fields,
        rename_all(serialize = "camelCase", deserialize = "SCREAMING-KEBAB-CASE")
    )]
    struct Type {
        thread_id: u8,
        #[serde(rename = "same")]
        renamed_field: u8,
    }
    agrees_with_serde(
        &Type {
            thread_id: 1,
            renamed_field: 2,
        },
        json!({}),
    );
    let field = field::<Type>("thread_id");
    assert_eq!(field.output, FieldPlace::Key("threadId"));
    assert_eq!(field.argument, FieldPlace::Key("THREAD-ID"));
}
