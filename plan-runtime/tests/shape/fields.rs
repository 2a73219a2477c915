//! Fields that are left out, may be missing, are flattened or written by functions of the author.

use crate::shape::{agrees_with_serde, always, field, fields, five};
use plan_runtime::Shape;
use plan_runtime::shape::{FieldPlace, Omitted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;

#[test]
fn left_out() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Type {
        #[serde(skip)]
        skipped: u8,
        #[serde(default, skip_serializing)]
        secret: u8,
        #[serde(skip_serializing)]
        password: u8,
        #[serde(skip_deserializing)]
        made: u8,
        kept: u8,
    }
    let value = Type {
        skipped: 0,
        secret: 1,
        password: 2,
        made: 0,
        kept: 3,
    };
    agrees_with_serde(&value, json!({ "secret": 1, "password": 2 }));
    let places = |ident| {
        let field = field::<Type>(ident);
        (field.output, field.argument)
    };
    let skip = FieldPlace::LeftOut("#[serde(skip)]");
    assert_eq!(places("skipped"), (skip, skip));
    assert_eq!(
        places("secret").0,
        FieldPlace::LeftOut("#[serde(skip_serializing)]")
    );
    assert_eq!(
        places("made").1,
        FieldPlace::LeftOut("#[serde(skip_deserializing)]")
    );
}

#[test]
fn defaults_of_the_container() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug, Default)]
    #[serde(default, deny_unknown_fields, rename_all = "camelCase")]
    struct Type {
        one_thing: u8,
        other_thing: Option<u8>,
    }
    agrees_with_serde(
        &Type {
            one_thing: 1,
            other_thing: Some(2),
        },
        json!({}),
    );
}

mod stamp {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &u8, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&value.to_string())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }

    pub(crate) mod option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};

        #[allow(clippy::ref_option)]
        pub(crate) fn serialize<S: Serializer>(
            value: &Option<u8>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            value.serialize(to)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<u8>, D::Error> {
            Option::deserialize(from)
        }
    }
}

#[test]
fn functions_of_the_authors_own() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Type {
        #[serde(with = "stamp")]
        both: u8,
        #[serde(serialize_with = "stamp::option::serialize")]
        out: Option<u8>,
        #[serde(deserialize_with = "stamp::option::deserialize")]
        into: Option<u8>,
        #[serde(with = "stamp::option", default)]
        lenient: Option<u8>,
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            with = "stamp::option"
        )]
        absent: Option<u8>,
    }
    let value = Type {
        both: 1,
        out: Some(2),
        into: Some(3),
        lenient: Some(4),
        absent: Some(5),
    };
    agrees_with_serde(&value, json!({}));
    let opaque = |ident| {
        let field = field::<Type>(ident);
        (field.opaque, field.opaque_argument)
    };
    assert_eq!(opaque("both"), (true, true));
    assert_eq!(opaque("out"), (true, false));
    assert_eq!(opaque("into"), (false, true));
    assert!(matches!(field::<Type>("absent").omitted, Omitted::Null));
}

#[test]
fn an_option_under_any_name() {
    type Perhaps<T> = std::option::Option<T>;
    mod shadow {
        #[derive(
            serde::Serialize, serde::Deserialize, plan_runtime::Shape, PartialEq, Debug, Clone, Copy,
        )]
        pub(crate) struct Option(pub(crate) u8);
    }
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Type {
        perhaps: Perhaps<u8>,
        certain: shadow::Option,
        nested: Option<Option<u8>>,
    }
    agrees_with_serde(
        &Type {
            perhaps: Some(1),
            certain: shadow::Option(2),
            nested: Some(Some(3)),
        },
        json!({}),
    );
}

#[test]
fn what_stands_for_an_omitted_field() {
    #[derive(Serialize, Deserialize, Shape)]
    struct Type {
        kept: Option<u8>,
        #[serde(skip_serializing_if = "always")]
        option: Option<u8>,
        #[serde(skip_serializing_if = "always")]
        nothing: u8,
        #[serde(skip_serializing_if = "always", default)]
        list: Vec<u8>,
        #[serde(skip_serializing_if = "always", default = "five")]
        five: u8,
        #[serde(skip_serializing_if = "always", with = "stamp", default = "five")]
        opaque: u8,
    }
    let omitted = |ident| match field::<Type>(ident).omitted {
        Omitted::Never => None,
        Omitted::Null => Some(Value::Null),
        Omitted::Default(value) => Some(value()),
        other => panic!("a value that is {other:?}"),
    };
    assert!(matches!(
        field::<Type>("nothing").omitted,
        Omitted::Required
    ));
    assert_eq!(omitted("kept"), None);
    assert_eq!(omitted("option"), Some(json!(null)));
    assert_eq!(omitted("list"), Some(json!([])));
    assert_eq!(omitted("five"), Some(json!(5)));
    assert_eq!(omitted("opaque"), None);

    #[derive(Serialize, Deserialize, Shape)]
    #[serde(default)]
    struct Whole {
        #[serde(skip_serializing_if = "always")]
        three: u8,
        #[serde(skip_serializing_if = "always", default)]
        zero: u8,
        #[serde(skip_serializing_if = "always")]
        some: Option<u8>,
    }
    impl Default for Whole {
        fn default() -> Self {
            Self {
                three: 3,
                zero: 4,
                some: Some(5),
            }
        }
    }
    let empty: Whole = serde_json::from_value(json!({})).unwrap();
    let omitted = |ident| match field::<Whole>(ident).omitted {
        Omitted::Default(value) => value(),
        other => panic!("{other:?}"),
    };
    assert_eq!(omitted("three"), json!(empty.three));
    assert_eq!(omitted("zero"), json!(empty.zero));
    assert_eq!(omitted("some"), json!(empty.some));

    fn whole<T>() -> Generic<T> {
        Generic {
            known: 7,
            unknown: Vec::new(),
        }
    }
    #[derive(Serialize, Deserialize, Shape)]
    #[serde(default = "whole")]
    struct Generic<T> {
        #[serde(skip_serializing_if = "always")]
        known: u8,
        #[serde(skip_serializing_if = "always")]
        unknown: Vec<T>,
    }
    assert!(
        matches!(field::<Generic<u8>>("known").omitted, Omitted::Default(f) if f() == json!(7))
    );
    assert!(matches!(
        field::<Generic<u8>>("unknown").omitted,
        Omitted::Never
    ));
}

#[test]
fn flattened() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    struct Page {
        page: u8,
    }
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    struct Type {
        own: u8,
        #[serde(flatten)]
        page: Page,
        #[serde(flatten)]
        maybe: Option<Page>,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    let places: Vec<_> = fields::<Type>()
        .iter()
        .map(|field| (field.output, field.argument))
        .collect();
    assert_eq!(places[0].0, FieldPlace::Key("own"));
    assert_eq!(places[1], (FieldPlace::Flattened, FieldPlace::Flattened));
    assert!(!field::<Type>("maybe").required);
}
