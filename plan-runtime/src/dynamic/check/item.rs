//! Values as they are checked: of a template, with places and references, or of JSON.

use super::known::KnownOutputs;
use super::path::Resolved;
use crate::dynamic::schema::{TooMuchWork, Types, Work, same};
use crate::plan::{Entry, Key, Number, Template};
use crate::resolve::describe;
use serde_json::{Map, Value};

/// A value. What is in it becomes an item when it is looked at, since there may be as many as the document has bytes.
#[derive(Clone, Copy)]
pub(super) struct CheckedValue<'a> {
    /// Its place among the [templates](crate::dynamic::spans::Spans) of a document.
    pub(super) at: Option<usize>,
    of: Of<'a>,
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Template(&'a Template, KnownOutputs<'a>),
    Value(&'a Value),
    Text(&'a str),
}

pub(super) enum ValueKind<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(&'a str),
    /// The number of [elements](Item::elements).
    List(usize),
    /// It has [members](Item::members).
    Object {
        /// There are others that are not known.
        open: bool,
    },
    /// Text with values in it.
    Text,
    Reference(Box<Resolved<'a>>),
    /// It could not be read, or only a run shows what it is.
    Unknown,
}

impl<'a> CheckedValue<'a> {
    /// A template of a plan, at this place.
    pub(super) fn of(template: &'a Template, at: usize, known: KnownOutputs<'a>) -> Self {
        Self {
            at: Some(at),
            of: Of::Template(template, known),
        }
    }

    /// JSON that is in no document.
    pub(super) fn of_value(value: &'a Value) -> Self {
        let of = Of::Value(value);
        Self { at: None, of }
    }

    /// A string that is in no document.
    pub(super) fn of_text(text: &'a str) -> Self {
        let of = Of::Text(text);
        Self { at: None, of }
    }

    /// What tells the value from the others of the same plan, or of the same JSON.
    pub(super) fn key(&self) -> usize {
        match self.of {
            Of::Template(template, _) => std::ptr::from_ref(template).addr(),
            Of::Value(value) => std::ptr::from_ref(value).addr(),
            Of::Text(text) => text.as_ptr().addr(),
        }
    }

    pub(super) fn kind(&self) -> ValueKind<'a> {
        match self.of {
            Of::Text(text) => ValueKind::String(text),
            Of::Value(value) => match value {
                Value::Null => ValueKind::Null,
                Value::Bool(value) => ValueKind::Bool(*value),
                Value::Number(number) => {
                    let exact = number
                        .as_u64()
                        .map(Number::Unsigned)
                        .or_else(|| number.as_i64().map(Number::Signed));
                    let float = || number.as_f64().map(Number::Float);
                    exact
                        .or_else(float)
                        .map_or(ValueKind::Unknown, ValueKind::Number)
                }
                Value::String(text) => ValueKind::String(text),
                Value::Array(items) => ValueKind::List(items.len()),
                Value::Object(_) => ValueKind::Object { open: false },
            },
            Of::Template(_, known) if self.at.is_some_and(|at| known.is_broken(at)) => {
                ValueKind::Unknown
            }
            Of::Template(template, known) => match template {
                Template::Null => ValueKind::Null,
                Template::Bool(value) => ValueKind::Bool(*value),
                Template::Number(number) => ValueKind::Number(*number),
                Template::String(text) => ValueKind::String(text),
                Template::List(items) => ValueKind::List(items.len()),
                Template::Object(entries) => {
                    let has = |key: Key| entries.iter().any(|entry| entry.key == key);
                    if has(Key::Inner) {
                        ValueKind::Unknown
                    } else {
                        ValueKind::Object {
                            open: has(Key::Flattened),
                        }
                    }
                }
                Template::Text(_) => ValueKind::Text,
                Template::Reference(reference) => match known.found(reference) {
                    Ok(found) => ValueKind::Reference(Box::new(found)),
                    // That it leads nowhere was said.
                    Err(_) => ValueKind::Unknown,
                },
                Template::Tagged(..) | Template::Computed(_) => ValueKind::Unknown,
            },
        }
    }

    /// Whether it is a reference, or may have one in it.
    pub(super) fn may_be_input(&self) -> bool {
        let composed = |template: &Template| {
            matches!(
                template,
                Template::Reference(_) | Template::List(_) | Template::Object(_)
            )
        };
        matches!(self.of, Of::Template(template, _) if composed(template))
    }

    /// The kinds of values that it may be.
    pub(super) fn types(&self) -> Types {
        match self.of {
            Of::Value(value) => Types::of(value),
            Of::Text(_) => Types::STRING,
            Of::Template(_, known) if self.at.is_some_and(|at| known.is_broken(at)) => Types::ALL,
            Of::Template(template, _) => match template {
                Template::Null => Types::NULL,
                Template::Bool(_) => Types::BOOL,
                Template::Number(Number::Float(value)) => Types::of_float(Some(*value)),
                Template::Number(_) => Types::INTEGER,
                Template::String(_) | Template::Text(_) => Types::STRING,
                Template::List(_) => Types::LIST,
                Template::Object(entries) => {
                    if entries.iter().any(|entry| entry.key == Key::Inner) {
                        Types::ALL
                    } else {
                        Types::OBJECT
                    }
                }
                Template::Reference(_) | Template::Tagged(..) | Template::Computed(_) => Types::ALL,
            },
        }
    }

    /// The places of its parts, if it is a template.
    fn parts(self) -> impl Iterator<Item = (usize, KnownOutputs<'a>)> {
        let template = match (self.at, self.of) {
            (Some(at), Of::Template(_, known)) => Some((at, known)),
            _ => None,
        };
        let parts = template.map(|(at, known)| {
            let parts = known.spans.templates.parts(at);
            parts.map(move |part| (part, known))
        });
        parts.into_iter().flatten()
    }

    /// The elements of a list; none of anything else.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> {
        let (templates, values): (&[Template], &[Value]) = match self.of {
            Of::Template(Template::List(items), _) => (items, &[]),
            Of::Value(Value::Array(items)) => (&[], items),
            _ => (&[], &[]),
        };
        let templates = templates.iter().zip(self.parts());
        let templates = templates.map(|(template, (at, known))| Self::of(template, at, known));
        templates.chain(values.iter().map(Self::of_value))
    }

    /// The members of an object that have names; none of anything else.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let (entries, members): (&[Entry], _) = match self.of {
            Of::Template(Template::Object(entries), _) => (entries, None),
            Of::Value(Value::Object(members)) => (&[], Some(members)),
            _ => (&[], None),
        };
        let entries = entries.iter().zip(self.parts());
        let entries = entries.filter_map(|(entry, (at, known))| match &entry.key {
            Key::Name(name) => Some((&**name, Self::of(&entry.value, at, known))),
            Key::Flattened | Key::Inner => None,
        });
        let members = members.into_iter().flatten();
        entries.chain(members.map(|(name, value)| (name.as_str(), Self::of_value(value))))
    }

    /// The value, where it is a literal that is neither a list nor an object.
    pub(super) fn scalar(&self) -> Option<Value> {
        Some(match self.kind() {
            ValueKind::Null => Value::Null,
            ValueKind::Bool(value) => Value::Bool(value),
            ValueKind::Number(number) => value(number),
            ValueKind::String(text) => Value::from(text),
            _ => return None,
        })
    }

    /// The value, where all of it is literal.
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

    /// Whether it is this value, as far as it is literal.
    pub(super) fn may_be(self, value: &Value, work: &Work) -> Result<bool, TooMuchWork> {
        work.spend(1)?;
        match (self.kind(), value) {
            (ValueKind::Unknown | ValueKind::Reference(_), _)
            | (ValueKind::Text, Value::String(_))
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
            ValueKind::List(1) => "a list of 1 element".to_owned(),
            ValueKind::List(count) => format!("a list of {count} elements"),
            ValueKind::Object { .. } => "an object".to_owned(),
            ValueKind::Text => "text".to_owned(),
            ValueKind::Reference(found) => found.ty.words(),
            ValueKind::Unknown => "a value".to_owned(),
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
