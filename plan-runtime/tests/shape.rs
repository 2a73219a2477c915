//! `derive(Shape)` says what serde does: serde itself is the oracle.
#![allow(missing_docs, clippy::missing_errors_doc)]

use plan_runtime::Shape;
use plan_runtime::shape::{Field, Omitted, Place, Tagging, TypeShape, Variant};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;

fn fields<T: Shape>() -> &'static [Field] {
    match T::SHAPE {
        TypeShape::Struct(fields) => fields,
        other => panic!("no struct: {other:?}"),
    }
}

fn field<T: Shape>(ident: &str) -> Field {
    *fields::<T>()
        .iter()
        .find(|field| field.ident == ident)
        .unwrap_or_else(|| panic!("no field `{ident}`"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("no object: {other}"),
    }
}

/// Checks the shape of a struct whose fields all have names and none of which is flattened: the names of an output are those
/// that serde wrote, and serde reads the arguments under theirs, and misses just those that are required.
///
/// `extra` holds, by Rust name, what serde reads but did not write.
fn agrees_with_serde<T>(value: &T, extra: Value)
where
    T: Shape + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let written = object(serde_json::to_value(value).unwrap());
    let extra = object(extra);
    let mut expected = Vec::new();
    let mut arguments = Map::new();
    for field in fields::<T>() {
        let output = match field.output {
            Place::Key(key) => {
                expected.push(key);
                written.get(key)
            }
            Place::LeftOut(_) => None,
            other => panic!("`{}` is {other:?}", field.ident),
        };
        if let Place::Key(key) = field.argument {
            let value = output.or_else(|| extra.get(field.ident));
            let value = value.unwrap_or_else(|| panic!("nothing to read `{}` from", field.ident));
            arguments.insert(key.to_owned(), value.clone());
        }
    }
    expected.sort_unstable();
    let mut keys: Vec<_> = written.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(expected, keys, "the names of an output");

    let read = |arguments: &Map<String, Value>| T::deserialize(arguments);
    let all = read(&arguments).unwrap_or_else(|e| panic!("{arguments:?}: {e}"));
    assert_eq!(&all, value, "read from {arguments:?}");
    for field in fields::<T>() {
        if let Place::Key(key) = field.argument {
            let mut without = arguments.clone();
            without.remove(key);
            assert_eq!(
                read(&without).is_err(),
                field.required,
                "`{}` is required",
                field.ident
            );
        }
    }
}

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
    assert_eq!(field.output, Place::Key("threadId"));
    assert_eq!(field.argument, Place::Key("THREAD-ID"));
}

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
    let skip = Place::LeftOut("#[serde(skip)]");
    assert_eq!(places("skipped"), (skip, skip));
    assert_eq!(
        places("secret").0,
        Place::LeftOut("#[serde(skip_serializing)]")
    );
    assert_eq!(
        places("made").1,
        Place::LeftOut("#[serde(skip_deserializing)]")
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

fn five() -> u8 {
    5
}

/// Whether it is left out does not depend on the value, so that the tests need no value.
fn always<T>(_: &T) -> bool {
    true
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
    };
    assert_eq!(omitted("kept"), None);
    assert_eq!(omitted("option"), Some(json!(null)));
    assert_eq!(omitted("nothing"), None);
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
    assert_eq!(places[0].0, Place::Key("own"));
    assert_eq!(places[1], (Place::Flattened, Place::Flattened));
    assert!(!field::<Type>("maybe").required);
}

type Elements = Vec<(usize, &'static str)>;

/// The elements of an output and of an argument, in their order, by Rust name.
fn tuple<T: Shape>() -> (Elements, Elements) {
    let mut outputs = Vec::new();
    let mut arguments = Vec::new();
    for field in fields::<T>() {
        if let Place::Index(index) = field.output {
            outputs.push((index, field.ident));
        }
        if let Place::Index(index) = field.argument {
            arguments.push((index, field.ident));
        }
    }
    (outputs, arguments)
}

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

    // Where an element may be missing, those behind it have no place of their own.
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
    assert_eq!(field::<Newtype>("0").output, Place::Inner);
    assert_eq!(field::<Newtype>("0").argument, Place::Inner);
    assert_eq!(field::<Renamed>("0").argument, Place::Inner);
    let transparent: Transparent = serde_json::from_value(json!(1)).unwrap();
    assert_eq!(serde_json::to_value(&transparent).unwrap(), json!(1));
    assert_eq!(field::<Transparent>("inner").output, Place::Inner);
    assert_eq!(field::<Transparent>("inner").argument, Place::Inner);
    assert_eq!(
        field::<Transparent>("_cache").output,
        Place::LeftOut("#[serde(skip)]")
    );
    assert_eq!(
        field::<Transparent>("_marker").argument,
        Place::LeftOut("#[serde(transparent)]")
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

#[test]
fn without_serde() {
    #[derive(Shape)]
    #[allow(dead_code)]
    struct Type<'a, T: ?Sized, const N: usize> {
        #[serde(rename = "n")]
        name: &'a str,
        numbers: [u8; N],
        inner: Box<T>,
    }
    assert_eq!(
        field::<Type<'static, str, 3>>("name").output,
        Place::Key("n")
    );
}

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
    assert_eq!(field::<Type>("own").output, Place::Key("own"));
}

/// What a literal of `variant` is in JSON, with these values for its fields.
fn literal<T: Shape>(ident: &str, values: &[Value]) -> Value {
    let TypeShape::Enum(tagging, variants) = T::SHAPE else {
        panic!("no enum");
    };
    let variant: &Variant = variants.iter().find(|v| v.ident == ident).unwrap();
    let name = variant.argument.unwrap();
    let mut content = Value::Null;
    for (field, value) in variant.fields.iter().zip(values) {
        match field.argument {
            Place::Key(key) => content[key] = value.clone(),
            Place::Index(index) => {
                if content.is_null() {
                    content = json!([]);
                }
                let elements = content.as_array_mut().unwrap();
                assert_eq!(elements.len(), index);
                elements.push(value.clone());
            }
            Place::Inner => content = value.clone(),
            other => panic!("{other:?}"),
        }
    }
    let tagging = if variant.untagged {
        Tagging::Untagged
    } else {
        tagging
    };
    match tagging {
        Tagging::External if variant.fields.is_empty() => json!(name),
        Tagging::External => json!({ name: content }),
        Tagging::Internal(tag) => {
            let mut object = content.as_object().cloned().unwrap_or_default();
            object.insert(tag.to_owned(), json!(name));
            Value::Object(object)
        }
        Tagging::Adjacent(tag, _) if variant.fields.is_empty() => json!({ tag: name }),
        Tagging::Adjacent(tag, key) => json!({ tag: name, key: content }),
        Tagging::Untagged => content,
    }
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
    assert_eq!(shifted[1..], [Place::Index(0), Place::Index(1)]);
    assert_eq!(variants[2].argument, Err("#[serde(skip)]"));
    assert_eq!(variants[3].argument, Err("#[serde(skip_deserializing)]"));
}

#[test]
fn generics_need_no_shape() {
    #[derive(Serialize, Deserialize, Shape, PartialEq, Debug)]
    #[serde(deny_unknown_fields)]
    struct Type<T, U = u8>
    where
        T: Clone,
    {
        first: T,
        second: Option<U>,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
    struct NoShape(u8);
    agrees_with_serde(
        &Type {
            first: NoShape(1),
            second: Some(NoShape(2)),
        },
        json!({}),
    );
}

#[test]
fn the_standard_library() {
    use std::borrow::Cow;
    use std::ops::{Bound, Range, RangeFrom, RangeTo};
    use std::rc::Rc;
    use std::sync::Arc;

    agrees(&(1..2_u8));
    agrees(&(1_u8..));
    agrees(&(..2_u8));
    assert_eq!(tuple::<(u8, u8, u8)>().0, [(0, "0"), (1, "1"), (2, "2")]);
    assert_eq!(fields::<Box<Range<u8>>>().len(), 2);
    assert_eq!(fields::<Arc<RangeFrom<u8>>>().len(), 1);
    assert_eq!(fields::<Rc<RangeTo<u8>>>().len(), 1);
    assert_eq!(fields::<Cow<'static, Range<u8>>>().len(), 2);
    assert_eq!(field::<std::num::Wrapping<u8>>("0").output, Place::Inner);
    assert_eq!(field::<std::cmp::Reverse<u8>>("0").output, Place::Inner);
    assert_eq!(
        serde_json::from_value::<Bound<u8>>(literal::<Bound<u8>>("Included", &[json!(1)])).unwrap(),
        Bound::Included(1)
    );
    assert_eq!(
        serde_json::from_value::<Result<u8, u8>>(literal::<Result<u8, u8>>("Err", &[json!(1)]))
            .unwrap(),
        Err(1)
    );

    fn agrees<T: Shape + Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
        agrees_with_serde(value, json!({}));
    }
}
