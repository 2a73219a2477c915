//! Lists and objects that are being encoded.

use super::made::Made;
use super::{Encoder, json, refused};
use crate::resolve::error::{Location, ResolveError};
use crate::resolve::meter::{Meter, PART, charge, charge_value};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::Serializer as Json;
use std::borrow::Cow;

fn tagged<M: Made>(variant: Option<&'static str>, value: M) -> M {
    match variant {
        Some(variant) => M::tagged(variant, value),
        None => value,
    }
}

pub(super) struct List<'m, M: Made> {
    pub(super) inside: Encoder<'m, M>,
    pub(super) items: M::Items,
    pub(super) variant: Option<&'static str>,
}

impl<M: Made> List<'_, M> {
    #[inline]
    pub(super) fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
        charge(self.inside.meter, PART)?;
        match value.serialize(self.inside) {
            Ok(value) => {
                M::push(&mut self.items, value);
                Ok(())
            }
            Err(error) => {
                let error = error.inside_value(Location::Index(M::count(&self.items)));
                Err(in_variant(error, self.variant))
            }
        }
    }

    pub(super) fn finish(self) -> M {
        tagged(self.variant, M::list(self.items))
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
        impl<M: Made> ser::$interface for List<'_, M> {
            type Ok = M;
            type Error = ResolveError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
                self.push(value)
            }

            fn end(self) -> Result<M, ResolveError> {
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

pub(super) struct Object<'m, M: Made> {
    pub(super) inside: Encoder<'m, M>,
    pub(super) members: M::Members,
    pub(super) key: Option<String>,
    pub(super) variant: Option<&'static str>,
}

/// Counts a member, without its value, and its object if the member is the first.
#[inline(always)]
fn count_member<M: Made>(
    meter: Option<&Meter<'_>>,
    members: &M::Members,
    mut weight: usize,
) -> Result<(), ResolveError> {
    if M::OBJECT > 0 && M::is_empty(members) {
        weight += M::OBJECT;
    }
    if weight > 0 {
        charge(meter, weight)?;
    }
    Ok(())
}

#[cold]
fn repeated(key: Cow<'static, str>) -> ResolveError {
    let error = refused("is there more than once, but a JSON object can hold it only once");
    in_member(error, key)
}

#[cold]
fn in_member(error: ResolveError, key: Cow<'static, str>) -> ResolveError {
    error.inside_value(Location::Key(key.into_owned()))
}

impl<M: Made> Object<'_, M> {
    #[inline]
    fn insert<T: Serialize + ?Sized>(
        &mut self,
        key: Cow<'static, str>,
        value: &T,
    ) -> Result<(), ResolveError> {
        let weight = M::weight_of_member(&key);
        count_member::<M>(self.inside.meter, &self.members, weight)?;
        let inserted = match value.serialize(self.inside) {
            Ok(value) => M::insert(&mut self.members, key, value).map_err(repeated),
            Err(error) => Err(in_member(error, key)),
        };
        inserted.map_err(|error| in_variant(error, self.variant))
    }

    fn finish(self) -> M {
        tagged(self.variant, M::object(self.members))
    }
}

impl<M: Made> ser::SerializeMap for Object<'_, M> {
    type Ok = M;
    type Error = ResolveError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ResolveError> {
        let name = self.inside.name(key);
        self.key = Some(name.map_err(|e| in_variant(e, self.variant))?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResolveError> {
        match self.key.take() {
            Some(key) => self.insert(key.into(), value),
            None => Err(ResolveError::new("a value was given before its key")),
        }
    }

    fn end(self) -> Result<M, ResolveError> {
        Ok(self.finish())
    }
}

impl<M: Made> ser::SerializeStructVariant for Object<'_, M> {
    type Ok = M;
    type Error = ResolveError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ResolveError> {
        self.insert(key.into(), value)
    }

    fn end(self) -> Result<M, ResolveError> {
        Ok(self.finish())
    }
}

pub(super) enum Struct<'m, M: Made> {
    Object(Encoder<'m, M>, M::Members),
    Json(<Json as Serializer>::SerializeStruct, Option<&'m Meter<'m>>),
}

impl<M: Made> ser::SerializeStruct for Struct<'_, M> {
    type Ok = M;
    type Error = ResolveError;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ResolveError> {
        match self {
            Self::Object(inside, members) => {
                let weight = M::weight_of_member(&key.into());
                count_member::<M>(inside.meter, members, weight)?;
                let value = match value.serialize(*inside) {
                    Ok(value) => value,
                    Err(error) => return Err(in_member(error, key.into())),
                };
                if M::insert_field(members, key, value) {
                    Ok(())
                } else {
                    Err(repeated(key.into()))
                }
            }
            Self::Json(inner, _) => inner
                .serialize_field(key, value)
                .map_err(|e| ResolveError::new(e.to_string())),
        }
    }

    #[inline]
    fn end(self) -> Result<M, ResolveError> {
        match self {
            Self::Object(_, members) => Ok(M::object(members)),
            Self::Json(inner, meter) => {
                let value = json(inner.end())?;
                charge_value(meter, &value)?;
                Ok(M::json(value))
            }
        }
    }
}
