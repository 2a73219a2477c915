//! Lists and objects that are being encoded.

use super::{Encoder, json, refused};
use crate::resolve::error::{Location, ResolveError};
use crate::resolve::meter::{MEMBER, Meter, OBJECT, PART, charge, charge_value};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::Serializer as Json;
use serde_json::{Map, Value};

pub(super) fn tagged(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(variant) => Value::Object(Map::from_iter([(variant.to_owned(), value)])),
        None => value,
    }
}

pub(super) struct List<'m> {
    pub(super) inside: Encoder<'m>,
    pub(super) items: Vec<Value>,
    pub(super) variant: Option<&'static str>,
}

impl List<'_> {
    #[inline]
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
        charge(self.inside.meter, PART)?;
        match value.serialize(self.inside) {
            Ok(value) => {
                self.items.push(value);
                Ok(())
            }
            Err(error) => {
                let error = error.inside_value(Location::Index(self.items.len()));
                Err(in_variant(error, self.variant))
            }
        }
    }

    fn finish(self) -> Value {
        tagged(self.variant, Value::Array(self.items))
    }
}

fn in_variant(error: ResolveError, variant: Option<&'static str>) -> ResolveError {
    match variant {
        Some(variant) => error.inside_value(Location::Key(variant.to_owned())),
        None => error,
    }
}

macro_rules! lists {
    ($($interface:ident $method:ident)*) => {$(
        impl ser::$interface for List<'_> {
            type Ok = Value;
            type Error = ResolveError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
                self.push(value)
            }

            fn end(self) -> Result<Value, ResolveError> {
                Ok(self.finish())
            }
        }
    )*};
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

pub(super) struct Object<'m> {
    pub(super) inside: Encoder<'m>,
    pub(super) members: Map<String, Value>,
    pub(super) key: Option<String>,
    pub(super) variant: Option<&'static str>,
}

impl Object<'_> {
    #[inline]
    fn insert<T: Serialize + ?Sized>(
        &mut self,
        key: String,
        value: &T,
    ) -> Result<(), ResolveError> {
        let first = if self.members.is_empty() { OBJECT } else { 0 };
        charge(self.inside.meter, first + MEMBER + key.len())?;
        let error = match value.serialize(self.inside) {
            Ok(value) => {
                // Both are looked at before either is lost.
                if !self.members.contains_key(&key) {
                    self.members.insert(key, value);
                    return Ok(());
                }
                refused("is there more than once, but a JSON object can hold it only once")
            }
            Err(error) => error,
        };
        Err(in_variant(
            error.inside_value(Location::Key(key)),
            self.variant,
        ))
    }

    fn finish(self) -> Value {
        tagged(self.variant, Value::Object(self.members))
    }
}

impl ser::SerializeMap for Object<'_> {
    type Ok = Value;
    type Error = ResolveError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ResolveError> {
        let name = self.inside.name(key);
        self.key = Some(name.map_err(|e| in_variant(e, self.variant))?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
        match self.key.take() {
            Some(key) => self.insert(key, value),
            None => Err(ResolveError::new("a value was given before its key")),
        }
    }

    fn end(self) -> Result<Value, ResolveError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Object<'_> {
    type Ok = Value;
    type Error = ResolveError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ResolveError> {
        self.insert(key.to_owned(), value)
    }

    fn end(self) -> Result<Value, ResolveError> {
        Ok(self.finish())
    }
}

pub(super) enum Struct<'m> {
    Object(Object<'m>),
    Json(<Json as Serializer>::SerializeStruct, Option<&'m Meter<'m>>),
}

impl ser::SerializeStruct for Struct<'_> {
    type Ok = Value;
    type Error = ResolveError;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ResolveError> {
        match self {
            Self::Object(object) => object.insert(key.to_owned(), value),
            Self::Json(inner, _) => inner
                .serialize_field(key, value)
                .map_err(|e| ResolveError::new(e.to_string())),
        }
    }

    fn end(self) -> Result<Value, ResolveError> {
        match self {
            Self::Object(object) => Ok(object.finish()),
            Self::Json(inner, meter) => {
                let value = json(inner.end())?;
                charge_value(meter, &value)?;
                Ok(value)
            }
        }
    }
}
