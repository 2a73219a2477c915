//! Numbers, as serde_json presents them to a visitor.

use super::error::ResolveError;
use super::members::Members;
use super::token::{Hint, Token};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Number;
use std::fmt;
use std::marker::PhantomData;

/// Returns the token of a number. Only serde_json knows its numbers, since one of its features makes strings of them.
pub(super) fn token<'a>(number: &Number, hint: Hint) -> Result<Token<'a>, ResolveError> {
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
