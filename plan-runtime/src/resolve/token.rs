//! The content of a node in the form that a visitor takes.

use super::error::ResolveError;
use super::items::{Items, List};
use super::members::Members;
use super::meter::{OBJECT, charge};
use super::node::{At, Node, Slot};
use crate::plan::{Number, Tag, Template};
use crate::shape::Tagging;
use serde::de::{Deserializer, Error as _, Expected, MapAccess, Unexpected, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;

/// The hint of a type, for values in outputs. Like serde_json, a node with a hint reads only scalars of the hinted kind.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hint {
    Any,
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    Text,
    Unit,
    Struct,
}

/// The content of a node, as a visitor takes it.
pub(super) enum Token<'a> {
    Unit,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    WideUnsigned(Box<u128>),
    WideSigned(Box<i128>),
    Float(f64),
    Borrowed(&'a str),
    Owned(String),
    Items(Items<'a>),
    Members(Members<'a>),
}

/// A settled node with its token.
pub(super) struct Opened<'n, 'a> {
    pub(super) token: Token<'a>,
    node: Node<'n, 'a>,
    /// A small value that was made, for an error.
    found: Option<Value>,
}

impl Opened<'_, '_> {
    /// Returns an error if the visitor left parts over.
    pub(super) fn check_read(&self) -> Result<(), ResolveError> {
        let read = match &self.token {
            Token::Items(items) => items.check_read(),
            Token::Members(members) => members.check_read(),
            _ => Ok(()),
        };
        read.map_err(|error| self.node.complete(error))
    }

    /// Adds the position and the value to the error of a visitor.
    #[cold]
    pub(super) fn refused(&self, error: ResolveError) -> ResolveError {
        let error = match (&self.token, self.node.at) {
            (Token::Items(items), _) => items.complete(error),
            (Token::Unit, At::Absent) => error.found_absent(),
            (_, At::Made(_)) => self.found.iter().fold(error.bare(), ResolveError::found),
            _ => error,
        };
        self.node.complete(error)
    }
}

impl<'n, 'a> Node<'n, 'a> {
    /// Finds the token of the node.
    pub(super) fn open<'s>(
        self,
        hint: Hint,
        expected: &dyn Expected,
        slot: &'s Slot<'a>,
    ) -> Result<Opened<'s, 'a>, ResolveError>
    where
        'n: 's,
    {
        let node = self.settle(slot)?;
        let mut found = None;
        let token = match node.at {
            At::Value(value) => node.token_of_value(value, hint, expected),
            At::Template(template) | At::Arguments(template) => {
                node.token_of_template(template, hint)
            }
            At::Name(name) => Ok(Token::Borrowed(name)),
            At::Made(made) => {
                let value = made.take();
                if node.origin.is_some() && is_small(&value) {
                    found = Some(value.clone());
                }
                node.token_of_made(value)
            }
            At::Each(each) => node
                .deeper()
                .map(|inside| Token::Items(Items::new(inside, List::Each(*each)))),
            At::Absent => Ok(Token::Unit),
        };
        match token {
            Ok(token) => Ok(Opened { token, node, found }),
            Err(error) => Err(node.complete(error)),
        }
    }

    fn token_of_value(
        &self,
        value: &'a Value,
        hint: Hint,
        expected: &dyn Expected,
    ) -> Result<Token<'a>, ResolveError> {
        let is_hinted = match (value, hint) {
            (Value::Array(_) | Value::Object(_), _) => true,
            (_, Hint::Any | Hint::Unit | Hint::Struct) => true,
            (Value::Bool(_), hint) => hint == Hint::Bool,
            (Value::String(_), hint) => hint == Hint::Text,
            (Value::Number(_), hint) => hint != Hint::Bool && hint != Hint::Text,
            (Value::Null, _) => false,
        };
        if !is_hinted {
            return Err(ResolveError::invalid_type(unexpected(value), expected));
        }
        Ok(match value {
            Value::Null => Token::Unit,
            Value::Bool(value) => Token::Bool(*value),
            Value::Number(number) => return token_of_number(number, hint),
            Value::String(text) => {
                charge(self.meter, text.len())?;
                Token::Borrowed(text)
            }
            Value::Array(items) => Token::Items(Items::of_values(self, items)?),
            Value::Object(members) => Token::Members(self.members(hint, members)?),
        })
    }

    /// Returns the members of an object in an output.
    #[inline]
    pub(super) fn members(
        &self,
        hint: Hint,
        members: &'a Map<String, Value>,
    ) -> Result<Members<'a>, ResolveError> {
        // A struct has no room for more members.
        if hint != Hint::Struct && !members.is_empty() {
            charge(self.meter, OBJECT)?;
        }
        Members::of_value(self, members)
    }

    fn token_of_template(
        &self,
        template: &'a Template,
        hint: Hint,
    ) -> Result<Token<'a>, ResolveError> {
        Ok(match template {
            Template::Null => Token::Unit,
            Template::Bool(value) => Token::Bool(*value),
            Template::Number(Number::Unsigned(value)) => Token::Unsigned(*value),
            Template::Number(Number::Signed(value)) => Token::Signed(*value),
            Template::Number(Number::Float(value)) => Token::Float(*value),
            Template::String(value) => {
                charge(self.meter, value.len())?;
                Token::Borrowed(value)
            }
            Template::List(items) => Token::Items(Items::of_templates(self, items)?),
            // A variant without content is a string, as serde_json writes it.
            Template::Tagged(Tag::Variant(Tagging::External, name), None) => Token::Borrowed(name),
            // A tool without arguments has none, however its struct is written.
            Template::Object(entries) if hint == Hint::Unit && entries.is_empty() => Token::Unit,
            Template::Object(_) | Template::Tagged(..) => {
                Token::Members(Members::of_template(self, template)?)
            }
            Template::Reference(_)
            | Template::Text(_)
            | Template::Test(_)
            | Template::Computed(_) => {
                return Err(ResolveError::custom("a template was not settled"));
            }
        })
    }

    /// Returns the token of a value that was made and counted.
    fn token_of_made(&self, value: Value) -> Result<Token<'a>, ResolveError> {
        Ok(match value {
            Value::Null => Token::Unit,
            Value::Bool(value) => Token::Bool(value),
            Value::Number(number) => return token_of_number(&number, Hint::Any),
            Value::String(text) => Token::Owned(text),
            Value::Array(items) => {
                let inside = Node {
                    meter: None,
                    ..self.part(At::Absent)
                };
                Token::Items(Items::new(inside, List::Made(items.into_iter())))
            }
            Value::Object(members) => Token::Members(Members::of_made(self, members)),
        })
    }
}

fn is_small(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 64,
        value => !value.is_array() && !value.is_object(),
    }
}

/// Returns the kind of a value in serde's terms.
#[cold]
pub(super) fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), _, _) => Unexpected::Unsigned(value),
            (_, Some(value), _) => Unexpected::Signed(value),
            (_, _, Some(value)) => Unexpected::Float(value),
            _ => Unexpected::Other("number"),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

/// Returns the token of a number. serde_json has to read its numbers, since one of its features makes strings of them.
fn token_of_number<'a>(number: &serde_json::Number, hint: Hint) -> Result<Token<'a>, ResolveError> {
    if let Some(whole) = number.as_u64() {
        return Ok(Token::Unsigned(whole));
    }
    let seen = Seen(PhantomData);
    let token = match hint {
        Hint::I8 => number.deserialize_i8(seen),
        Hint::I16 => number.deserialize_i16(seen),
        Hint::I32 => number.deserialize_i32(seen),
        Hint::I64 => number.deserialize_i64(seen),
        Hint::I128 => number.deserialize_i128(seen),
        Hint::U8 => number.deserialize_u8(seen),
        Hint::U16 => number.deserialize_u16(seen),
        Hint::U32 => number.deserialize_u32(seen),
        Hint::U64 => number.deserialize_u64(seen),
        Hint::U128 => number.deserialize_u128(seen),
        Hint::F32 => number.deserialize_f32(seen),
        Hint::F64 => number.deserialize_f64(seen),
        _ => number.deserialize_any(seen),
    };
    token.map_err(|error| ResolveError::new(error.to_string()))
}

/// A visitor that returns a number as serde_json presents it.
struct Seen<'a>(PhantomData<&'a ()>);

macro_rules! seen {
    ($($method:ident($type:ty) $token:ident)*) => {$(
        fn $method<E>(self, value: $type) -> Result<Token<'a>, E> {
            Ok(Token::$token(value.into()))
        }
    )*};
}

impl<'de, 'a> Visitor<'de> for Seen<'a> {
    type Value = Token<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    seen! {
        visit_u64(u64) Unsigned
        visit_i64(i64) Signed
        visit_u128(u128) WideUnsigned
        visit_i128(i128) WideSigned
        visit_f64(f64) Float
    }

    /// Reads a number of any precision, whose name is private to serde_json.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Token<'a>, M::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Ok(Token::Unit);
        };
        let digits: String = map.next_value()?;
        Ok(Token::Members(Members::private(name, digits)))
    }
}
