//! Values as they are checked: of a template, with places and references, or of JSON.

use super::path::Found;
use crate::dynamic::schema::Types;
use crate::plan::{Key, Number, Template};
use serde_json::Value;

/// A value, with its place among the [templates](crate::dynamic::spans::Spans::templates) of a document.
pub(super) struct Item<'a> {
    pub(super) at: Option<usize>,
    pub(super) kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(&'a str),
    List(Vec<Item<'a>>),
    Object {
        members: Vec<(&'a str, Item<'a>)>,
        /// It has members that are not known.
        open: bool,
    },
    /// Text with values in it.
    Text,
    Reference(Box<Found<'a>>),
    /// It could not be read, or only a run shows what it is.
    Unknown,
}

/// What a template's references lead to, and which templates could not be read.
pub(super) trait Places<'a> {
    fn is_broken(&self, at: usize) -> bool;

    fn found(&mut self, at: usize, reference: &'a crate::plan::Reference) -> Kind<'a>;
}

impl<'a> Item<'a> {
    /// `next` is the place of the template, and then of the one behind it.
    pub(super) fn of(
        template: &'a Template,
        next: &mut usize,
        places: &mut impl Places<'a>,
    ) -> Self {
        let at = *next;
        *next += 1;
        let kind = match template {
            _ if places.is_broken(at) => Kind::Unknown,
            Template::Null => Kind::Null,
            Template::Bool(value) => Kind::Bool(*value),
            Template::Number(number) => Kind::Number(*number),
            Template::String(text) => Kind::String(text),
            Template::List(items) => Kind::List(
                items
                    .iter()
                    .map(|item| Self::of(item, next, places))
                    .collect(),
            ),
            Template::Object(entries) => {
                let (mut members, mut open, mut inner) = (Vec::new(), false, false);
                for entry in entries.iter() {
                    let value = Self::of(&entry.value, next, places);
                    match &entry.key {
                        Key::Name(name) => members.push((&**name, value)),
                        Key::Flattened => open = true,
                        Key::Inner => inner = true,
                    }
                }
                match inner {
                    true => Kind::Unknown,
                    false => Kind::Object { members, open },
                }
            }
            Template::Tagged(_, content) => {
                for inner in content.iter() {
                    Self::of(inner, next, places);
                }
                Kind::Unknown
            }
            Template::Text(parts) => {
                for part in parts.iter() {
                    if let crate::plan::Part::Value { value, .. } = part {
                        Self::of(value, next, places);
                    }
                }
                Kind::Text
            }
            Template::Reference(reference) => places.found(at, reference),
            Template::Computed(_) => Kind::Unknown,
        };
        Self { at: Some(at), kind }
    }

    /// JSON that stands in no document.
    pub(super) fn of_value(value: &'a Value) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(number) => {
                let exact = number
                    .as_u64()
                    .map(Number::Unsigned)
                    .or_else(|| number.as_i64().map(Number::Signed));
                let float = || number.as_f64().map(Number::Float);
                exact.or_else(float).map_or(Kind::Unknown, Kind::Number)
            }
            Value::String(text) => Kind::String(text),
            Value::Array(items) => Kind::List(items.iter().map(Self::of_value).collect()),
            Value::Object(members) => Kind::Object {
                members: members
                    .iter()
                    .map(|(name, value)| (name.as_str(), Self::of_value(value)))
                    .collect(),
                open: false,
            },
        };
        Self { at: None, kind }
    }

    pub(super) fn types(&self) -> Types {
        match &self.kind {
            Kind::Null => Types::NULL,
            Kind::Bool(_) => Types::BOOL,
            Kind::Number(Number::Float(value)) => Types::of_float(Some(*value)),
            Kind::Number(_) => Types::INTEGER,
            Kind::String(_) | Kind::Text => Types::STRING,
            Kind::List(_) => Types::LIST,
            Kind::Object { .. } => Types::OBJECT,
            Kind::Reference(_) | Kind::Unknown => Types::ALL,
        }
    }

    /// The value, where it is a literal that is neither a list nor an object.
    pub(super) fn scalar(&self) -> Option<Value> {
        Some(match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => value(*number),
            Kind::String(text) => Value::from(*text),
            _ => return None,
        })
    }

    /// `the string "ten"`, `a list of 3 elements`.
    pub(super) fn words(&self) -> String {
        use crate::resolve::describe;
        match &self.kind {
            Kind::List(items) if items.len() == 1 => "a list of 1 element".to_owned(),
            Kind::List(items) => format!("a list of {} elements", items.len()),
            Kind::Object { .. } => "an object".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::Reference(found) => found.ty.words(),
            Kind::Unknown => "a value".to_owned(),
            _ => self
                .scalar()
                .map_or_else(String::new, |value| describe::value(&value)),
        }
    }
}

fn value(number: Number) -> Value {
    match number {
        Number::Unsigned(value) => Value::from(value),
        Number::Signed(value) => Value::from(value),
        Number::Float(value) => Value::from(value),
    }
}
