//! The Rust types of the corpus' tools, derived from their schemas and their recorded responses.
//!
//! - A node with values of one JSON kind has that kind: `i64` if all numbers are integers, and `f64` otherwise. A node with
//!   values of several kinds, or without values, is a `serde_json::Value`.
//! - An object is a struct, or a `BTreeMap` if none of its keys can be written as a Rust name.
//! - A member is an `Option` if one of its values is `null`, or if the object's schema lists required members without it, or,
//!   with a schema that lists none, if a recorded object lacks it.

use crate::corpus::names::{distinct, field_name, is_name, pascal_case};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Bool,
    Int,
    Float,
    Text,
    Json,
    List(Box<Type>),
    Map(Box<Type>),
    Maybe(Box<Type>),
    Struct(usize),
}

impl Type {
    /// Returns the type of the present value, and `true` if it may be absent.
    pub(crate) fn present(&self) -> (&Type, bool) {
        match self {
            Type::Maybe(inner) => (inner, true),
            other => (other, false),
        }
    }

    /// Returns the type of a member that is always present.
    pub(crate) fn sure(self) -> Type {
        match self {
            Type::Maybe(inner) => inner.sure(),
            Type::List(inner) => Type::List(Box::new(inner.sure())),
            Type::Map(inner) => Type::Map(Box::new(inner.sure())),
            other => other,
        }
    }

    /// Replaces structs by untyped values.
    pub(crate) fn untyped(self) -> Type {
        match self {
            Type::Struct(_) => Type::Json,
            Type::Maybe(inner) => Type::Maybe(Box::new(inner.untyped())),
            Type::List(inner) => Type::List(Box::new(inner.untyped())),
            Type::Map(inner) => Type::Map(Box::new(inner.untyped())),
            other => other,
        }
    }

    pub(crate) fn maybe(self) -> Type {
        match self {
            Type::Maybe(_) => self,
            other => Type::Maybe(Box::new(other)),
        }
    }
}

pub(crate) struct Field {
    pub json: String,
    pub ident: String,
    pub ty: Type,
}

pub(crate) struct Struct {
    pub module: String,
    pub name: String,
    pub fields: Vec<Field>,
}

impl Struct {
    pub(crate) fn field(&self, json: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.json == json)
    }
}

/// The structs of all tools.
#[derive(Default)]
pub(crate) struct Structs(pub Vec<Struct>);

impl Structs {
    /// Adds a struct, under another name if the module has one of this name.
    pub(crate) fn add(&mut self, module: &str, name: &str, members: Vec<(String, Type)>) -> Type {
        let taken = |name: &str| {
            self.0
                .iter()
                .any(|known| known.module == module && known.name == name)
        };
        let name = distinct(name, &taken);
        let mut idents = BTreeSet::new();
        let fields = members.into_iter().map(|(json, ty)| {
            let ident = distinct(&field_name(&json), &|name| idents.contains(name));
            idents.insert(ident.clone());
            Field { json, ident, ty }
        });
        let fields = fields.collect();
        self.0.push(Struct {
            module: module.to_owned(),
            name,
            fields,
        });
        Type::Struct(self.0.len() - 1)
    }

    /// The type as Rust, with `root` before the modules of structs.
    pub(crate) fn rust(&self, ty: &Type, root: &str) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Int => "i64".to_owned(),
            Type::Float => "f64".to_owned(),
            Type::Text => "::std::string::String".to_owned(),
            Type::Json => "::serde_json::Value".to_owned(),
            Type::List(inner) => format!("::std::vec::Vec<{}>", self.rust(inner, root)),
            Type::Map(inner) => format!(
                "::std::collections::BTreeMap<::std::string::String, {}>",
                self.rust(inner, root)
            ),
            Type::Maybe(inner) => format!("::core::option::Option<{}>", self.rust(inner, root)),
            Type::Struct(index) => {
                format!("{root}::{}::{}", self.0[*index].module, self.0[*index].name)
            }
        }
    }
}

/// The observed JSON in one position.
#[derive(Default)]
pub(crate) struct Seen {
    null: bool,
    bool: bool,
    int: bool,
    float: bool,
    text: bool,
    json: bool,
    list: Option<Box<Seen>>,
    object: Option<Object>,
}

#[derive(Default)]
struct Object {
    count: usize,
    members: BTreeMap<String, (usize, Seen)>,
    required: Option<BTreeSet<String>>,
}

impl Seen {
    pub(crate) fn schema(&mut self, schema: &Value) {
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for kind in kinds {
            match kind {
                "boolean" => self.bool = true,
                "integer" => self.int = true,
                "number" => self.float = true,
                "string" => self.text = true,
                "null" => self.null = true,
                "array" => self.list.get_or_insert_default().schema(&schema["items"]),
                "object" => self.properties(&schema["properties"], schema["required"].as_array()),
                other => panic!("a schema of an unknown type: {other}"),
            }
        }
    }

    /// An object with these members.
    pub(crate) fn properties(&mut self, properties: &Value, required: Option<&Vec<Value>>) {
        let object = self.object.get_or_insert_default();
        for (key, schema) in properties.as_object().into_iter().flatten() {
            object
                .members
                .entry(key.clone())
                .or_default()
                .1
                .schema(schema);
        }
        if let Some(required) = required {
            let names = required.iter().filter_map(Value::as_str).map(str::to_owned);
            object.required.get_or_insert_default().extend(names);
        }
    }

    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::Bool(_) => self.bool = true,
            Value::Number(number) if number.is_i64() => self.int = true,
            Value::Number(_) => self.float = true,
            Value::String(_) => self.text = true,
            Value::Array(elements) => {
                let list = self.list.get_or_insert_default();
                elements.iter().for_each(|element| list.value(element));
            }
            Value::Object(members) => {
                let object = self.object.get_or_insert_default();
                object.count += 1;
                for (key, value) in members {
                    let (count, seen) = object.members.entry(key.clone()).or_default();
                    *count += 1;
                    seen.value(value);
                }
            }
        }
    }

    /// Records the value of a reference with this type.
    pub(crate) fn reference(&mut self, ty: &Type) {
        match ty {
            Type::Bool => self.bool = true,
            Type::Int => self.int = true,
            Type::Float => self.float = true,
            Type::Text => self.text = true,
            Type::Maybe(inner) => self.reference(inner),
            Type::List(inner)
                if matches!(**inner, Type::Bool | Type::Int | Type::Float | Type::Text) =>
            {
                self.list.get_or_insert_default().reference(inner);
            }
            Type::Json | Type::List(_) | Type::Map(_) | Type::Struct(_) => self.json = true,
        }
    }

    /// The type, whose structs go into the module under names that start with `name`.
    pub(crate) fn into_type(self, module: &str, name: &str, structs: &mut Structs) -> Type {
        let number = self.int || self.float;
        let kinds = [
            self.bool,
            number,
            self.text,
            self.list.is_some(),
            self.object.is_some(),
        ];
        if self.json || kinds.iter().filter(|kind| **kind).count() != 1 {
            return Type::Json;
        }
        let ty = if let Some(list) = self.list {
            let name = name
                .strip_suffix('s')
                .map_or_else(|| format!("{name}Item"), str::to_owned);
            Type::List(Box::new(list.into_type(module, &name, structs)))
        } else if let Some(object) = self.object {
            object.into_type(module, name, structs)
        } else if self.bool {
            Type::Bool
        } else if self.text {
            Type::Text
        } else if self.float {
            Type::Float
        } else {
            Type::Int
        };
        if self.null { ty.maybe() } else { ty }
    }
}

impl Object {
    fn into_type(self, module: &str, name: &str, structs: &mut Structs) -> Type {
        if self.members.is_empty() {
            return Type::Json;
        }
        if !self.members.keys().any(|key| is_name(key)) {
            let mut all = Seen::default();
            for (_, (_, seen)) in self.members {
                all.merge(seen);
            }
            return Type::Map(Box::new(all.into_type(
                module,
                &format!("{name}Value"),
                structs,
            )));
        }
        let mut members = Vec::new();
        for (key, (count, seen)) in self.members {
            let ty = seen.into_type(module, &format!("{name}{}", pascal_case(&key)), structs);
            let there = match &self.required {
                Some(required) => required.contains(&key),
                None => count == self.count,
            };
            members.push((key, if there { ty } else { ty.maybe() }));
        }
        structs.add(module, name, members)
    }
}

impl Seen {
    fn merge(&mut self, other: Seen) {
        self.null |= other.null;
        self.bool |= other.bool;
        self.int |= other.int;
        self.float |= other.float;
        self.text |= other.text;
        self.json |= other.json;
        if let Some(list) = other.list {
            self.list.get_or_insert_default().merge(*list);
        }
        if let Some(object) = other.object {
            let into = self.object.get_or_insert_default();
            into.count += object.count;
            if let Some(required) = object.required {
                into.required = Some(match into.required.take() {
                    Some(known) => known.intersection(&required).cloned().collect(),
                    None => required,
                });
            }
            for (key, (count, seen)) in object.members {
                let member = into.members.entry(key).or_default();
                member.0 += count;
                member.1.merge(seen);
            }
        }
    }
}

impl Seen {
    /// The schema of a response: it describes the elements if lists were recorded, else the object itself.
    pub(crate) fn answer(&mut self, properties: &Value) {
        match &mut self.list {
            Some(list) => list.properties(properties, None),
            None => self.properties(properties, None),
        }
    }
}
