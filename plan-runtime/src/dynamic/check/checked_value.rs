//! Checked values: a template with places and references, or JSON.

use super::outputs::KnownOutputs;
use super::path::Given;
use crate::dynamic::schema::{TooMuchWork, Types, Work, same};
use crate::dynamic::spans::Span;
use crate::plan::{Entry, Key, Number, Reference, Template, Test};
use crate::resolve::describe;
use serde_json::{Map, Value};
use std::ops::Range;

/// A value. Its parts become values on demand, because a document may contain nearly as many values as bytes.
#[derive(Clone, Copy)]
pub(super) enum CheckedValue<'a> {
    /// A template of a plan, with its position among the [templates](crate::dynamic::spans::Spans) of the document.
    Template(&'a Template, usize, KnownOutputs<'a>),
    /// JSON outside of the document.
    Json(&'a Value),
}

pub(super) enum ValueKind<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(&'a str),
    /// The number of [elements](CheckedValue::elements).
    List(usize),
    /// An object with [members](CheckedValue::members).
    Object {
        /// The object has unknown members as well.
        open: bool,
    },
    /// Text with values in it.
    Text,
    Reference(&'a Reference, Box<Given<'a>>),
    Test(&'a Test),
    /// An unreadable value, or a computed value.
    Unknown,
}

impl ValueKind<'_> {
    /// Returns the kinds of the value.
    pub(super) fn types(&self) -> Types {
        match self {
            Self::Null => Types::NULL,
            Self::Bool(_) => Types::BOOL,
            Self::Number(Number::Float(value)) => Types::of_float(Some(*value)),
            Self::Number(_) => Types::INTEGER,
            Self::String(_) | Self::Text => Types::STRING,
            Self::List(_) => Types::LIST,
            Self::Object { .. } => Types::OBJECT,
            Self::Test(test) if test.is_bool() => Types::BOOL,
            Self::Test(_) => Types::INTEGER,
            Self::Reference(..) | Self::Unknown => Types::ALL,
        }
    }
}

impl<'a> CheckedValue<'a> {
    /// Returns a key that identifies the value in its plan or in its JSON.
    pub(super) fn key(&self) -> usize {
        match self {
            Self::Template(template, ..) => std::ptr::from_ref(*template).addr(),
            Self::Json(value) => std::ptr::from_ref(*value).addr(),
        }
    }

    /// Returns the position of the value in the document.
    pub(super) fn place(&self) -> Range<usize> {
        match self {
            Self::Template(_, at, known) => known.place(*at),
            Self::Json(_) => 0..0,
        }
    }

    /// Returns the position of the member's name, or else of the value.
    pub(super) fn key_place(&self) -> Range<usize> {
        let key = match self {
            Self::Template(_, at, known) => known.spans.templates.get(*at).and_then(|it| it.key),
            Self::Json(_) => None,
        };
        key.map_or_else(|| self.place(), Span::range)
    }

    pub(super) fn kind(&self) -> ValueKind<'a> {
        match self {
            Self::Json(value) => match value {
                Value::Null => ValueKind::Null,
                Value::Bool(value) => ValueKind::Bool(*value),
                Value::Number(number) => {
                    let unsigned = number.as_u64().map(Number::Unsigned);
                    unsigned
                        .or_else(|| number.as_i64().map(Number::Signed))
                        .or_else(|| number.as_f64().map(Number::Float))
                        .map_or(ValueKind::Unknown, ValueKind::Number)
                }
                Value::String(text) => ValueKind::String(text),
                Value::Array(items) => ValueKind::List(items.len()),
                Value::Object(_) => ValueKind::Object { open: false },
            },
            Self::Template(_, at, known) if known.is_broken(*at) => ValueKind::Unknown,
            Self::Template(template, _, known) => match template {
                Template::Null => ValueKind::Null,
                Template::Bool(value) => ValueKind::Bool(*value),
                Template::Number(number) => ValueKind::Number(*number),
                Template::String(text) => ValueKind::String(text),
                Template::List(items) => ValueKind::List(items.len()),
                Template::Object(entries) if has(entries, &Key::Inner) => ValueKind::Unknown,
                Template::Object(entries) => ValueKind::Object {
                    open: has(entries, &Key::Flattened),
                },
                Template::Text(_) => ValueKind::Text,
                Template::Test(test) => ValueKind::Test(test),
                Template::Reference(reference) => match known.reference(reference).found() {
                    Ok(found) => ValueKind::Reference(reference, Box::new(found)),
                    // The reference has a finding already.
                    Err(_) => ValueKind::Unknown,
                },
                Template::Tagged(..) | Template::Computed(_) => ValueKind::Unknown,
            },
        }
    }

    /// Returns `true` if the value is a reference or may contain a reference.
    pub(super) fn may_be_input(&self) -> bool {
        use Template::{List, Object, Reference};
        matches!(self, Self::Template(Reference(_) | List(_) | Object(_), ..))
    }

    /// Returns `true` for null and for a reference.
    pub(super) fn may_be_null(&self) -> bool {
        use Template::{Null, Reference};
        matches!(
            self,
            Self::Template(Null | Reference(_), ..) | Self::Json(Value::Null)
        )
    }

    /// Returns the kinds of the value before a run resolves its references.
    pub(super) fn shown(&self) -> Shown {
        match self {
            Self::Template(template, ..) => shown(template),
            Self::Json(value) => (Types::of(value), self.scalar()),
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(
            self,
            Self::Template(Template::List(_), ..) | Self::Json(Value::Array(_))
        )
    }

    /// Returns `true` for a list and for an object.
    pub(super) fn has_parts(&self) -> bool {
        let is_object = matches!(
            self,
            Self::Template(Template::Object(_), ..) | Self::Json(Value::Object(_))
        );
        is_object || self.is_list()
    }

    /// Returns the elements of a list, or the parts of another template.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> {
        let (template, values): (_, &[Value]) = match self {
            Self::Template(template, at, known) => (Some((template, at, known)), &[]),
            Self::Json(value) => (None, value.as_array().map_or(&[], Vec::as_slice)),
        };
        let parts = template.into_iter().flat_map(|(template, at, known)| {
            let parts = template.parts().zip(known.spans.templates.parts(at));
            parts.map(move |(part, at)| Self::Template(part, at, known))
        });
        parts.chain(values.iter().map(Self::Json))
    }

    /// Returns the named members of an object, and no members of another value.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let (entries, members): (&[Entry], _) = match self {
            Self::Template(Template::Object(entries), ..) => (entries, None),
            Self::Json(Value::Object(members)) => (&[], Some(members)),
            _ => (&[], None),
        };
        let entries = entries.iter().zip(self.elements());
        let entries = entries.filter_map(|(entry, value)| match &entry.key {
            Key::Name(name) => Some((&**name, value)),
            Key::Flattened | Key::Inner => None,
        });
        let members = members.into_iter().flatten();
        let members = members.map(|(name, value)| (name.as_str(), Self::Json(value)));
        // The chain takes a kilobyte of the stack at each depth of a value.
        entries.chain(members).collect::<Vec<_>>().into_iter()
    }

    /// Returns the value if the value is a literal scalar.
    pub(super) fn scalar(&self) -> Option<Value> {
        Some(match self.kind() {
            ValueKind::Null => Value::Null,
            ValueKind::Bool(value) => Value::Bool(value),
            ValueKind::Number(number) => number.value(),
            ValueKind::String(text) => Value::from(text),
            _ => return None,
        })
    }

    /// Returns the value if all of its parts are literal.
    pub(super) fn literal(self, work: &Work) -> Result<Option<Value>, TooMuchWork> {
        work.spend(1)?;
        Ok(match self.kind() {
            ValueKind::List(count) => {
                let mut items = Vec::with_capacity(count);
                for item in self.elements() {
                    match item.literal(work)? {
                        Some(item) => items.push(item),
                        None => return Ok(None),
                    }
                }
                Some(Value::Array(items))
            }
            ValueKind::Object { open: false } => {
                let mut members = Map::new();
                for (name, member) in self.members() {
                    match member.literal(work)? {
                        Some(member) => members.insert(name.to_owned(), member),
                        None => return Ok(None),
                    };
                }
                Some(Value::Object(members))
            }
            _ => self.scalar(),
        })
    }

    /// Returns `true` if each literal part equals the part of another value.
    pub(super) fn may_be(self, value: &Value, work: &Work) -> Result<bool, TooMuchWork> {
        work.spend(1)?;
        match (self.kind(), value) {
            (ValueKind::Unknown | ValueKind::Reference(..), _)
            | (ValueKind::Test(_), Value::Bool(_) | Value::Number(_))
            | (ValueKind::Object { open: true }, Value::Object(_)) => Ok(true),
            (ValueKind::List(count), Value::Array(values)) if count == values.len() => {
                for (item, value) in self.elements().zip(values) {
                    if !item.may_be(value, work)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (ValueKind::Object { open: false }, Value::Object(members))
                if self.members().count() == members.len() =>
            {
                for (name, item) in self.members() {
                    let fits = match members.get(name) {
                        Some(value) => item.may_be(value, work)?,
                        None => false,
                    };
                    if !fits {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(self.scalar().is_some_and(|scalar| same(&scalar, value))),
        }
    }

    /// `the string "ten"`, `a list of 3 elements`.
    pub(super) fn words(&self) -> String {
        match self.kind() {
            ValueKind::List(count) => describe::list(count),
            ValueKind::Object { .. } => "an object".to_owned(),
            ValueKind::Text => "text".to_owned(),
            ValueKind::Reference(_, found) => found.ty.words(),
            ValueKind::Test(test) if test.is_bool() => "`true` or `false`".to_owned(),
            ValueKind::Test(_) => "a number".to_owned(),
            ValueKind::Unknown => "a value".to_owned(),
            _ => self
                .scalar()
                .map_or_else(String::new, |value| describe::value(&value)),
        }
    }
}

/// The kinds of a value, and the value of a literal scalar.
pub(super) type Shown = (Types, Option<Value>);

/// Returns the kinds of a template before a run resolves its references.
pub(super) fn shown(template: &Template) -> Shown {
    let literal = |value| (Types::of(&value), Some(value));
    let types = match template {
        Template::Null => return literal(Value::Null),
        Template::Bool(value) => return literal(Value::Bool(*value)),
        Template::Number(number) => return literal(number.value()),
        Template::String(text) => return literal(Value::from(text.as_str())),
        Template::Text(_) => Types::STRING,
        Template::List(_) => Types::LIST,
        Template::Object(_) => Types::OBJECT,
        _ => Types::ALL,
    };
    (types, None)
}

fn has(entries: &[Entry], key: &Key) -> bool {
    entries.iter().any(|entry| entry.key == *key)
}
