//! The deserializer for values in outputs. Most deserialized nodes are such values, and no other nodes are plain values.
//!
//! serde_json's deserializer for `&Value` takes 42,000 instructions for a list of ten structs of seven members, and this one takes 50,000.
//! But serde_json's deserializer does not count its results, so it cannot stop at a limit of the run. It does not limit depth together
//! with the template around the value, and its errors contain no position and no value. `serde_path_to_error` around it would add the
//! position, for 136,000 instructions. A second pass that finds the position after a failure would have to be this deserializer, over the
//! whole template, since a visitor can be used only once.

use super::access::{KeyOrText, VariantContent};
use super::capture::{kept, unexpected};
use super::error::{Location, ResolveError};
use super::meter::{Meter, OBJECT, charge, charge_value, deeper};
use super::parts::{Items, NamedParts, Parts};
use serde::de::{Deserializer, Error as _, Expected, Unexpected, Visitor};
use serde_json::{Map, Value};

/// A value in an output.
#[derive(Clone, Copy)]
pub(super) struct InValue<'a> {
    pub(super) value: &'a Value,
    pub(super) depth: u16,
    pub(super) meter: Option<&'a Meter<'a>>,
}

impl<'a> InValue<'a> {
    pub(super) fn whole(value: &'a Value, meter: Option<&'a Meter<'a>>) -> Self {
        let depth = 0;
        Self {
            value,
            depth,
            meter,
        }
    }

    #[inline]
    fn deeper(self) -> Result<Self, ResolveError> {
        let depth = deeper(self.depth)?;
        Ok(Self { depth, ..self })
    }

    fn list<V: Visitor<'a>>(
        self,
        items: &'a [Value],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let mut access = Items {
            inside: self.deeper()?,
            items: items.iter(),
            index: 0,
        };
        let value = visitor.visit_seq(&mut access)?;
        all_read(value, access.index, access.items.len(), "list")
    }

    fn object<V: Visitor<'a>>(
        self,
        members: &'a Map<String, Value>,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let mut access = NamedParts {
            inside: self.deeper()?,
            members: members.iter().map(|(name, value)| (name.as_str(), value)),
            pending: None,
        };
        let value = visitor.visit_map(&mut access)?;
        let left = access.members.len();
        all_read(value, members.len() - left, left, "map")
    }

    fn enumeration<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let (name, content) = match self.value {
            Value::String(name) => (name, None),
            Value::Object(members) => {
                let mut members = members.iter();
                let (Some((name, value)), None) = (members.next(), members.next()) else {
                    let expected = &"map with a single key";
                    return Err(ResolveError::invalid_value(Unexpected::Map, expected));
                };
                let content = self.deeper()?.part(value);
                (name, Some((content, Some(name.as_str()))))
            }
            value => return Err(unsuitable(value)),
        };
        visitor.visit_enum(VariantContent {
            name: KeyOrText::Borrowed(name),
            content,
        })
    }
}

impl<'a> Parts<'a> for InValue<'a> {
    type Part = Value;

    #[inline]
    fn part(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    #[inline]
    fn meter(self) -> Option<&'a Meter<'a>> {
        self.meter
    }

    #[cold]
    fn inside(error: ResolveError, place: Location) -> ResolveError {
        error.inside_value(place)
    }

    #[cold]
    fn at_name(error: ResolveError, name: &str) -> ResolveError {
        error.inside_value(Location::Key(name.to_owned()))
    }
}

/// Refuses the parts that a visitor left over, as serde_json does.
#[inline]
pub(super) fn all_read<T>(
    value: T,
    read: usize,
    left: usize,
    parts: &str,
) -> Result<T, ResolveError> {
    match left {
        0 => Ok(value),
        _ => Err(too_long(read, left, parts)),
    }
}

#[cold]
fn too_long(read: usize, left: usize, parts: &str) -> ResolveError {
    ResolveError::custom(format_args!(
        "invalid length {}, expected fewer elements in {parts}: {read}",
        read + left
    ))
}

#[cold]
pub(super) fn unsuitable(value: &Value) -> ResolveError {
    let unexpected = match value {
        Value::Number(_) => Unexpected::Other("number"),
        value => unexpected(value),
    };
    ResolveError::invalid_type(unexpected, &"string or map")
}

#[cold]
fn not_this(found: &Value, expected: &dyn Expected) -> ResolveError {
    ResolveError::invalid_type(unexpected(found), expected).found(found)
}

/// Reads a value with the hint, like serde_json: a scalar of another kind than the hint is an error.
macro_rules! hinted {
    ($($kind:ident: $($method:ident)*;)*) => {$($(
        #[inline]
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
            #[inline(never)]
            fn other<'a, V: Visitor<'a>>(at: InValue<'a>, visitor: V) -> Result<V::Value, ResolveError> {
                match at.value {
                    Value::Number(number) if matches!(at.value, Value::$kind(_)) => {
                        kept(visitor, |visitor| number.$method(visitor)).map_err(|e| e.found(at.value))
                    }
                    Value::Array(_) | Value::Object(_) | Value::$kind(_) => at.deserialize_any(visitor),
                    scalar => Err(not_this(scalar, &visitor)),
                }
            }
            if let Value::Number(number) = self.value
                && matches!(self.value, Value::$kind(_))
                && let Some(whole) = number.as_u64()
            {
                return visitor.visit_u64(whole).map_err(|e: ResolveError| e.found(self.value));
            }
            other(self, visitor)
        }
    )*)*};
}

impl<'a> Deserializer<'a> for InValue<'a> {
    type Error = ResolveError;

    hinted! {
        Bool: deserialize_bool;
        Number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
            deserialize_f32 deserialize_f64;
        String: deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
            deserialize_identifier;
    }

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self.value {
            Value::Array(items) => self.list(items, visitor),
            Value::Object(members) => {
                charge(self.meter, if members.is_empty() { 0 } else { OBJECT })
                    .and_then(|()| self.object(members, visitor))
            }
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => kept(visitor, |visitor| number.deserialize_any(visitor)),
            Value::String(text) => {
                charge(self.meter, text.len()).and_then(|()| visitor.visit_borrowed_str(text))
            }
        }
        .map_err(|e| e.found(self.value))
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        // serde_json's `RawValue` needs its own deserializer.
        if super::is_of_serde_json(name) {
            charge_value(self.meter, self.value)?;
            let value = self.value.clone();
            return kept(visitor, |visitor| {
                value.deserialize_newtype_struct(name, visitor)
            });
        }
        visitor.visit_newtype_struct(self)
    }

    /// Reads a struct, which has no room for more members.
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        match self.value {
            Value::Object(members) => self
                .object(members, visitor)
                .map_err(|e| e.found(self.value)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        self.enumeration(visitor).map_err(|e| e.found(self.value))
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'a>>
        unit unit_struct seq tuple tuple_struct map
    }
}
