//! A fast path for plain templates: references that lead directly to a value, objects with named members, lists.

use super::Scope;
use super::error::{Location, ResolveError};
use super::meter::{Meter, deeper};
use super::node::NodeDeserializer;
use super::parts::{Items, NamedParts, Parts};
use super::value::{InValue, all_read};
use super::walk::{TemplateNode, straight};
use crate::plan::{Entry, Key, Template};
use serde::de::{Deserializer, Visitor};

/// A template in its scope. [`NodeDeserializer`] handles the templates that are not plain.
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

    /// Returns the value of a reference, if the whole path exists.
    #[inline(always)]
    fn referred(self) -> Option<InValue<'a>> {
        let Template::Reference(reference) = self.template else {
            return None;
        };
        // A later lookup reports a source without JSON.
        let source = self.scope.json_if_there(reference.source)?;
        Some(InValue {
            value: straight(source, reference.path())?,
            depth: self.depth,
            meter: self.scope.meter(),
        })
    }

    /// Returns the members of an object without flattened objects.
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
    pub(super) fn deeper(self) -> Result<Self, ResolveError> {
        let depth = deeper(self.depth)?;
        Ok(Self { depth, ..self })
    }

    pub(super) fn object<V: Visitor<'a>>(
        self,
        entries: &'a [Entry],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let named = |entry: &'a Entry| match &entry.key {
            Key::Name(name) => Some((name.as_ref(), &entry.value)),
            Key::Flattened | Key::Inner => None,
        };
        visitor.visit_map(NamedParts {
            inside: self.deeper()?,
            members: entries.iter().map_while(named),
            pending: None,
        })
    }

    pub(super) fn list<V: Visitor<'a>>(
        self,
        items: &'a [Template],
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

    #[cold]
    fn complete(self, error: ResolveError) -> ResolveError {
        NodeDeserializer::complete(error, Some(self.template), self.scope, false)
    }
}

impl<'a> Parts<'a> for InTemplate<'a> {
    type Part = Template;

    #[inline]
    fn part(self, template: &'a Template) -> Self {
        Self { template, ..self }
    }

    #[inline]
    fn meter(self) -> Option<&'a Meter<'a>> {
        self.scope.meter()
    }

    #[cold]
    fn inside(error: ResolveError, place: Location) -> ResolveError {
        error.inside(place)
    }

    fn at_name(error: ResolveError, _: &str) -> ResolveError {
        error
    }
}

/// `=> members` reads an object by its members.
macro_rules! plainly {
    ($($method:ident($($argument:ident: $type:ty),*) $(=> $members:ident)?)*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            #[inline(never)]
            fn other<'a, V: Visitor<'a>>(
                at: InTemplate<'a>,
                $($argument: $type,)*
                visitor: V,
            ) -> Result<V::Value, ResolveError> {
                NodeDeserializer::from(at).$method($($argument,)* visitor)
            }
            $(if let Some(entries) = self.$members() {
                return self.object(entries, visitor);
            })?
            match self.referred() {
                Some(value) => value.$method($($argument,)* visitor).map_err(|e| self.complete(e)),
                None => other(self, $($argument,)* visitor),
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
        deserialize_any() => members
        deserialize_map() => members
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) => members
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
