//! The deserializer. All types are read through it: one deserializer means that rustc compiles the code of each type once.
//!
//! Functions without type parameters find the token of a node, and a visitor only takes the token.
//!
//! serde_json's deserializer does not count its results, so it cannot stop at a limit of the run. It does not limit depth together with the
//! template around the value, and its errors contain no position and no value.

use super::access::Variant;
use super::error::ResolveError;
use super::items::{Fields, Items};
use super::members::{Members, are_named};
use super::meter::{charge, charge_value};
use super::node::{At, Node, Slot, complete};
use super::token::{Hint, Token};
use super::variant;
use crate::plan::{Entry, Key, Template};
use serde::de::{Deserializer, Visitor};
use serde_json::Value;

impl<'a> Node<'_, 'a> {
    /// Reads the node by its own form, if a value in an output has the hinted kind.
    fn visit<V: Visitor<'a>>(self, hint: Hint, visitor: V) -> Result<V::Value, ResolveError> {
        // Most lists and objects are plain, and are too large to be moved as tokens.
        let value = self.plain();
        let members = match (value, self.at) {
            (Some(Value::Object(members)), _) => Some(self.members(hint, members)),
            (
                None,
                At::Template(Template::Object(entries)) | At::Arguments(Template::Object(entries)),
            ) if are_named(entries) => Some(Members::of_entries(&self, entries)),
            _ => None,
        };
        let read = if let Some(members) = members {
            members.and_then(|mut members| {
                let read = visitor.visit_map(&mut members)?;
                members.check_read().map(|()| read)
            })
        } else {
            let items = match (value, self.at) {
                (Some(Value::Array(items)), _) => Items::of_values(&self, items),
                (None, At::Template(Template::List(items))) => Items::of_templates(&self, items),
                _ => return self.visit_token(hint, visitor),
            };
            items.and_then(|mut items| {
                let read = visitor.visit_seq(&mut items)?;
                items.check_read().map(|()| read)
            })
        };
        match (read, value) {
            (Ok(read), _) => Ok(read),
            (Err(error), Some(value)) => Err(self.refused(error, value)),
            (Err(error), None) => Err(error),
        }
    }

    #[inline(never)]
    fn visit_token<V: Visitor<'a>>(self, hint: Hint, visitor: V) -> Result<V::Value, ResolveError> {
        let slot = Slot::default();
        let mut opened = self.open(hint, &visitor, &slot)?;
        let read = match &mut opened.token {
            Token::Unit => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(*value),
            Token::Unsigned(value) => visitor.visit_u64(*value),
            Token::Signed(value) => visitor.visit_i64(*value),
            Token::WideUnsigned(value) => visitor.visit_u128(**value),
            Token::WideSigned(value) => visitor.visit_i128(**value),
            Token::Float(value) => visitor.visit_f64(*value),
            Token::Borrowed(text) => visitor.visit_borrowed_str(text),
            Token::Owned(text) => visitor.visit_string(std::mem::take(text)),
            Token::Items(items) => visitor.visit_seq(items),
            Token::Members(members) => visitor.visit_map(members),
        };
        match read {
            Ok(value) => opened.check_read().map(|()| value),
            Err(error) => Err(opened.refused(error)),
        }
    }

    /// Completes an error about a value that was read without its token.
    #[cold]
    fn refused(&self, error: ResolveError, value: &Value) -> ResolveError {
        self.complete(error.found(value))
    }

    /// Returns the arguments in the order of the fields, if the template has them in this order.
    #[inline]
    fn arguments(&self, fields: &[&str]) -> Option<&'a [Entry]> {
        match self.at {
            At::Arguments(Template::Object(entries)) if are_in_order(entries, fields) => {
                Some(entries)
            }
            _ => None,
        }
    }

    /// Returns the JSON of the node as serde_json's `RawValue` reads it.
    #[cold]
    fn raw(self, name: &str) -> Result<Members<'a>, ResolveError> {
        let json = match self.at {
            At::Value(value) => {
                charge_value(self.meter, value)?;
                value.to_string()
            }
            _ => self.json()?.to_string(),
        };
        Ok(Members::private(name.to_owned(), json))
    }
}

#[inline]
fn are_in_order(entries: &[Entry], fields: &[&str]) -> bool {
    let is_field =
        |(entry, field): (&Entry, &&str)| matches!(&entry.key, Key::Name(name) if name == field);
    entries.len() == fields.len() && !fields.is_empty() && entries.iter().zip(fields).all(is_field)
}

macro_rules! hinted {
    ($($visit:ident $hint:ident: $($method:ident($($argument:ident: $type:ty),*))*;)*) => {$($(
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            $(let _ = $argument;)*
            self.$visit(Hint::$hint, visitor)
        }
    )*)*};
}

/// Most numbers and strings are in outputs.
macro_rules! numbers {
    ($($method:ident $hint:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
            if let Some(value @ Value::Number(number)) = self.plain()
                && let Some(whole) = number.as_u64()
            {
                return visitor.visit_u64(whole).map_err(|e| self.refused(e, value));
            }
            self.visit_token(Hint::$hint, visitor)
        }
    )*};
}

macro_rules! strings {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
            if let Some(value @ Value::String(text)) = self.plain() {
                return charge(self.meter, text.len())
                    .and_then(|()| visitor.visit_borrowed_str(text))
                    .map_err(|e| self.refused(e, value));
            }
            self.visit_token(Hint::Text, visitor)
        }
    )*};
}

impl<'a> Deserializer<'a> for Node<'_, 'a> {
    type Error = ResolveError;

    numbers! {
        deserialize_i8 I8
        deserialize_i16 I16
        deserialize_i32 I32
        deserialize_i64 I64
        deserialize_i128 I128
        deserialize_u8 U8
        deserialize_u16 U16
        deserialize_u32 U32
        deserialize_u64 U64
        deserialize_u128 U128
        deserialize_f32 F32
        deserialize_f64 F64
    }

    strings! { deserialize_str deserialize_string }

    hinted! {
        visit Any: deserialize_any() deserialize_seq() deserialize_tuple(length: usize)
            deserialize_tuple_struct(name: &'static str, length: usize) deserialize_map();
        visit_token Text: deserialize_char() deserialize_bytes() deserialize_byte_buf() deserialize_identifier();
        visit_token Unit: deserialize_unit() deserialize_unit_struct(name: &'static str);
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        if let Some(value @ Value::Bool(is_true)) = self.plain() {
            return visitor
                .visit_bool(*is_true)
                .map_err(|e| self.refused(e, value));
        }
        self.visit_token(Hint::Bool, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        match self.arguments(fields) {
            Some(entries) => visitor.visit_seq(Fields::new(self.deeper()?, entries)),
            None => self.visit(Hint::Struct, visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let slot;
        let node = match self.plain() {
            Some(value) => Node {
                at: At::Value(value),
                origin: self.of_template(),
                ..self
            },
            None => {
                slot = Slot::default();
                self.settle(&slot)?
            }
        };
        let read = if node.is_nothing() {
            visitor.visit_none()
        } else {
            visitor.visit_some(node)
        };
        // A type can fail after its value was read, such as an internally tagged enum.
        read.map_err(|error| {
            let is_each = matches!(node.at, At::Each(_));
            complete(error, node.origin, node.scope, is_each)
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        if super::is_of_serde_json(name) {
            return visitor.visit_map(&mut self.raw(name)?);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let slot = Slot::default();
        let node = self.settle(&slot)?;
        let variant = Variant::of(node, &slot);
        variant
            .and_then(|variant| visitor.visit_enum(variant))
            .map_err(|error| variant::refused(&node, error))
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        visitor.visit_unit()
    }
}
