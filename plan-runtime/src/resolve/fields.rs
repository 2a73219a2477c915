//! The arguments of a tool, as the fields of a struct.

use super::error::ResolveError;
use super::meter::{MEMBER, charge};
use super::parts::{Parts as _, in_member};
use super::template::InTemplate;
use crate::plan::{Entry, Key, Template};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// A template for a struct with a derived `Deserialize`. If the members of the template are the fields in their order, the deserializer reads the
/// fields by index.
pub(super) struct InFields<'a>(pub(super) InTemplate<'a>);

impl<'a> Deserializer<'a> for InFields<'a> {
    type Error = ResolveError;

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        match self.0.template {
            Template::Object(entries) if are_in_order(entries, fields) => {
                visitor.visit_seq(Fields {
                    inside: self.0.deeper()?,
                    entries: entries.iter(),
                })
            }
            _ => self.0.deserialize_struct(name, fields, visitor),
        }
    }

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        self.0.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

#[inline]
fn are_in_order(entries: &[Entry], fields: &[&str]) -> bool {
    let is_field =
        |(entry, field): (&Entry, &&str)| matches!(&entry.key, Key::Name(name) if name == field);
    entries.len() == fields.len() && !fields.is_empty() && entries.iter().zip(fields).all(is_field)
}

/// The members of an object, each with a name.
struct Fields<'a> {
    inside: InTemplate<'a>,
    entries: std::slice::Iter<'a, Entry>,
}

impl<'a> SeqAccess<'a> for Fields<'a> {
    type Error = ResolveError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some(Entry {
            key: Key::Name(name),
            value,
        }) = self.entries.next()
        else {
            return Ok(None);
        };
        charge(self.inside.scope.meter(), MEMBER + name.len())?;
        match seed.deserialize(self.inside.part(value)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(in_member::<InTemplate<'_>>(error, name)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}
