//! `derive(Shape)` agrees with serde, which is the oracle.
#![allow(missing_docs, clippy::missing_errors_doc)]

mod enums;
mod fields;
mod names;
mod tuples;
mod types;

use plan_runtime::Shape;
use plan_runtime::shape::{Field, FieldPlace, Tagging, TypeShape, Variant};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
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

/// Checks the shape of a struct with named fields and without flattened ones: an output has the names that serde wrote,
/// serde reads the arguments under their names, and serde misses exactly the required ones.
///
/// `extra` contains, by Rust name, the fields that serde reads but did not write.
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
            FieldPlace::Key(key) => {
                expected.push(key);
                written.get(key)
            }
            FieldPlace::LeftOut(_) => None,
            other => panic!("`{}` is {other:?}", field.ident),
        };
        if let FieldPlace::Key(key) = field.argument {
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
        if let FieldPlace::Key(key) = field.argument {
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

fn five() -> u8 {
    5
}

/// Returns `true` for every value, so that the tests need no particular one.
fn always<T>(_: &T) -> bool {
    true
}

type Elements = Vec<(usize, &'static str)>;

/// The elements of an output and of an argument, in their order, by Rust name.
fn tuple<T: Shape>() -> (Elements, Elements) {
    let mut outputs = Vec::new();
    let mut arguments = Vec::new();
    for field in fields::<T>() {
        if let FieldPlace::Index(index) = field.output {
            outputs.push((index, field.ident));
        }
        if let FieldPlace::Index(index) = field.argument {
            arguments.push((index, field.ident));
        }
    }
    (outputs, arguments)
}

/// Returns the JSON of a literal of `variant`, with these values for its fields.
fn literal<T: Shape>(ident: &str, values: &[Value]) -> Value {
    let TypeShape::Enum(tagging, variants) = T::SHAPE else {
        panic!("no enum");
    };
    let variant: &Variant = variants.iter().find(|v| v.ident == ident).unwrap();
    let name = variant.argument.unwrap();
    let mut content = Value::Null;
    for (field, value) in variant.fields.iter().zip(values) {
        match field.argument {
            FieldPlace::Key(key) => content[key] = value.clone(),
            FieldPlace::Index(index) => {
                if content.is_null() {
                    content = json!([]);
                }
                let elements = content.as_array_mut().unwrap();
                assert_eq!(elements.len(), index);
                elements.push(value.clone());
            }
            FieldPlace::Inner => content = value.clone(),
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
        Tagging::Adjacent(&[tag, _]) if variant.fields.is_empty() => json!({ tag: name }),
        Tagging::Adjacent(&[tag, key]) => json!({ tag: name, key: content }),
        Tagging::Untagged => content,
    }
}
