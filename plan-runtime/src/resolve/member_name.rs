//! The keys of maps, which are the names of members in JSON.

use super::encode::refused;
use super::error::ResolveError;
use serde::ser::{self, Serialize, Serializer};

/// The key of a map, which is a member's name in JSON.
pub(super) struct MemberName;

type Never = ser::Impossible<String, ResolveError>;

fn no_name(what: &str) -> ResolveError {
    refused(format!(
        "has {what} as the key of a map, but JSON keys are strings"
    ))
}

macro_rules! names {
    ($($method:ident $type:ty)*) => {$(
        fn $method(self, value: $type) -> Result<String, ResolveError> {
            Ok(value.to_string())
        }
    )*};
}

impl Serializer for MemberName {
    type Ok = String;
    type Error = ResolveError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    names! {
        serialize_bool bool serialize_char char serialize_str &str
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128
    }

    fn serialize_f32(self, value: f32) -> Result<String, ResolveError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<String, ResolveError> {
        Err(no_name(&format!("the float {value}")))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, ResolveError> {
        Err(no_name("bytes"))
    }

    fn serialize_none(self) -> Result<String, ResolveError> {
        Err(no_name("`None`"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, ResolveError> {
        Err(no_name("an `Option`"))
    }

    fn serialize_unit(self) -> Result<String, ResolveError> {
        Err(no_name("`()`"))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<String, ResolveError> {
        Err(no_name(&format!("the struct `{name}`")))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, ResolveError> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, ResolveError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<String, ResolveError> {
        Err(no_name(&format!("the variant `{variant}`")))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, ResolveError> {
        Err(no_name("a list"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, ResolveError> {
        Err(no_name("a tuple"))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Never, ResolveError> {
        Err(no_name(&format!("the struct `{name}`")))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, ResolveError> {
        Err(no_name(&format!("the variant `{variant}`")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, ResolveError> {
        Err(no_name("a map"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Never, ResolveError> {
        Err(no_name(&format!("the struct `{name}`")))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, ResolveError> {
        Err(no_name(&format!("the variant `{variant}`")))
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<String, ResolveError> {
        Ok(value.to_string())
    }
}
