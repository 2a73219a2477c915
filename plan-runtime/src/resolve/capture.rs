//! Deserializers of `serde_json` values with structured errors.
//!
//! serde_json's own deserializers convert each error to a string, which does not let a program find the expected type.

use super::access::{KeyOrText, VariantContent};
use super::error::ResolveError;
use super::value::{all_read, unsuitable};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::Value;
use std::fmt;

/// Passes a value from serde_json to a visitor, and returns the visitor's own error.
#[inline]
pub(super) fn kept<'de, V: Visitor<'de>>(
    visitor: V,
    read: impl FnOnce(ErrorCapture<'_, V>) -> serde_json::Result<V::Value>,
) -> Result<V::Value, ResolveError> {
    let mut error = None;
    let kept = ErrorCapture {
        visitor,
        error: &mut error,
    };
    match read(kept) {
        Ok(value) => Ok(value),
        Err(other) => Err(error.unwrap_or_else(|| ResolveError::new(other.to_string()))),
    }
}

/// A visitor that keeps its error.
pub(super) struct ErrorCapture<'k, V> {
    visitor: V,
    error: &'k mut Option<ResolveError>,
}

macro_rules! visits {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value).map_err(|error| {
                *self.error = Some(error);
                E::custom("kept")
            })
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ErrorCapture<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    visits! {
        visit_bool(bool) visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128) visit_f64(f64)
        visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
    }

    // serde_json represents numbers of any precision as a map in its own format.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(list)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(variant)
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

/// A value with a single owner.
pub(super) struct OwnedDeserializer(pub(super) Value);

impl IntoDeserializer<'_, ResolveError> for OwnedDeserializer {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for OwnedDeserializer {
    type Error = ResolveError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => kept(visitor, |visitor| number.deserialize_any(visitor)),
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => {
                let count = items.len();
                let mut items = items.into_iter();
                let mut access = SeqDeserializer::new(items.by_ref().map(OwnedDeserializer));
                let value = visitor.visit_seq(&mut access)?;
                all_read(value, count - items.len(), items.len(), "list")
            }
            Value::Object(members) => {
                let count = members.len();
                let mut members = members.into_iter();
                let parts = members
                    .by_ref()
                    .map(|(name, value)| (KeyOrText::Owned(name), OwnedDeserializer(value)));
                let value = visitor.visit_map(&mut MapDeserializer::new(parts))?;
                all_read(value, count - members.len(), members.len(), "map")
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        if super::is_of_serde_json(name) {
            kept(visitor, |visitor| {
                self.0.deserialize_newtype_struct(name, visitor)
            })
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let (name, content) = match self.0 {
            Value::String(name) => (name, None),
            Value::Object(members) if members.len() == 1 => match members.into_iter().next() {
                Some((name, value)) => (name, Some((Self(value), None))),
                None => return Err(unsuitable(&Value::Null)),
            },
            Value::Object(_) => {
                let expected = &"map with a single key";
                return Err(ResolveError::invalid_value(Unexpected::Map, expected));
            }
            other => return Err(unsuitable(&other)),
        };
        let name = KeyOrText::Owned(name);
        visitor.visit_enum(VariantContent { name, content })
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'de>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
