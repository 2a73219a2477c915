//! Templates, as far as they are plain: references that lead straight to a value, objects of named members, lists.

use super::Scope;
use super::access::KeyOrText;
use super::error::{ErrorDetail, Location, ResolveError};
use super::meter::{MEMBER, PART, charge};
use super::node::{DEEPEST, NodeDeserializer, TemplateNode};
use super::value::{InValue, all_read};
use super::walk::straight;
use crate::plan::{Entry, Key, Template};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// A template in its scope. What is not plain is left to [`NodeDeserializer`].
#[derive(Clone, Copy)]
pub(super) struct InTemplate<'a> {
    pub(super) template: &'a Template,
    pub(super) scope: &'a Scope<'a>,
    pub(super) depth: u16,
}

impl<'a> InTemplate<'a> {
    pub(super) fn new(template: &'a Template, scope: &'a Scope<'a>) -> Self {
        Self {
            template,
            scope,
            depth: 0,
        }
    }

    /// The value of a reference, where all of its way is there.
    #[inline]
    fn referred(self) -> Option<InValue<'a>> {
        let Template::Reference(reference) = self.template else {
            return None;
        };
        let source = self.scope.json_of(reference.source)?;
        Some(InValue {
            value: straight(source, reference.path())?,
            depth: self.depth,
            meter: self.scope.meter(),
        })
    }

    /// The members of an object into which nothing is flattened.
    #[inline]
    pub(super) fn members(self) -> Option<&'a [Entry]> {
        match self.template {
            Template::Object(entries)
                if entries
                    .iter()
                    .all(|entry| matches!(entry.key, Key::Name(_))) =>
            {
                Some(entries)
            }
            _ => None,
        }
    }

    #[inline]
    fn deeper(self) -> Result<u16, ResolveError> {
        if self.depth >= DEEPEST {
            return Err(ResolveError::of(ErrorDetail::TooDeep));
        }
        Ok(self.depth + 1)
    }

    pub(super) fn object<V: Visitor<'a>>(
        self,
        entries: &'a [Entry],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        visitor.visit_map(TemplateMembers {
            entries: entries.iter(),
            value: None,
            scope: self.scope,
            depth: self.deeper()?,
        })
    }

    pub(super) fn list<V: Visitor<'a>>(
        self,
        items: &'a [Template],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let mut access = TemplateItems {
            items: items.iter(),
            index: 0,
            scope: self.scope,
            depth: self.deeper()?,
        };
        let value = visitor.visit_seq(&mut access)?;
        all_read(value, access.index, access.items.len(), "list")
    }

    #[cold]
    fn complete(self, error: ResolveError) -> ResolveError {
        NodeDeserializer::complete(error, Some(self.template), self.scope, false)
    }
}

macro_rules! plainly {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            match self.referred() {
                Some(value) => value.$method($($argument,)* visitor).map_err(|e| self.complete(e)),
                None => NodeDeserializer::from(self).$method($($argument,)* visitor),
            }
        }
    )*};
}

macro_rules! plainly_with_members {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            if let Some(entries) = self.members() {
                return self.object(entries, visitor);
            }
            match self.referred() {
                Some(value) => value.$method($($argument,)* visitor).map_err(|e| self.complete(e)),
                None => NodeDeserializer::from(self).$method($($argument,)* visitor),
            }
        }
    )*};
}

impl<'a> Deserializer<'a> for InTemplate<'a> {
    type Error = ResolveError;

    plainly! {
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_identifier()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    plainly_with_members! {
        deserialize_any()
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match (self.template, self.referred()) {
            (Template::Null, _) => visitor.visit_none(),
            (_, Some(value)) => value
                .deserialize_option(visitor)
                .map_err(|e| self.complete(e)),
            (_, None) => NodeDeserializer::from(self).deserialize_option(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        if super::is_of_serde_json(name) {
            NodeDeserializer::from(self).deserialize_newtype_struct(name, visitor)
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        visitor.visit_unit()
    }
}

impl<'a> From<InTemplate<'a>> for NodeDeserializer<'a> {
    fn from(template: InTemplate<'a>) -> Self {
        Self {
            node: TemplateNode::Template(template.template),
            scope: template.scope,
            depth: template.depth,
            origin: None,
        }
    }
}

struct TemplateItems<'a> {
    items: std::slice::Iter<'a, Template>,
    index: usize,
    scope: &'a Scope<'a>,
    depth: u16,
}

impl<'a> SeqAccess<'a> for TemplateItems<'a> {
    type Error = ResolveError;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some(template) = self.items.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        charge(self.scope.meter(), PART)?;
        let item = seed.deserialize(InTemplate {
            template,
            scope: self.scope,
            depth: self.depth,
        });
        match item {
            Ok(item) => Ok(Some(item)),
            Err(error) => Err(error.inside(Location::Index(index))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct TemplateMembers<'a> {
    entries: std::slice::Iter<'a, Entry>,
    value: Option<(&'a str, &'a Template)>,
    scope: &'a Scope<'a>,
    depth: u16,
}

impl<'a> MapAccess<'a> for TemplateMembers<'a> {
    type Error = ResolveError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some(Entry {
            key: Key::Name(key),
            value,
        }) = self.entries.next()
        else {
            return Ok(None);
        };
        self.value = Some((key, value));
        charge(self.scope.meter(), MEMBER + key.len())?;
        seed.deserialize(KeyOrText::Borrowed(key)).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        let Some((key, template)) = self.value.take() else {
            return Err(ResolveError::custom("a value was asked for before its key"));
        };
        let value = seed.deserialize(InTemplate {
            template,
            scope: self.scope,
            depth: self.depth,
        });
        value.map_err(|error| in_member(error, key))
    }
}

#[cold]
fn in_member(error: ResolveError, key: &str) -> ResolveError {
    error.inside(Location::Key(key.to_owned()))
}
