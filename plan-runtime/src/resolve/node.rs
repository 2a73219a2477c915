//! The deserializer for every kind of value: templates that are not plain, values in outputs, and intermediate values.

use super::access::{EachItems, KeyOrText, VariantContent};
use super::capture::{OwnedDeserializer, kept};
use super::code::{Compute, known};
use super::error::{ErrorDetail, ResolveError};
use super::members::Members;
use super::meter::{charge, deeper};
use super::template::InTemplate;
use super::value::InValue;
use super::walk::{TemplateNode, tokens, walk};
use super::{Scope, test, text};
use crate::plan::{Entry, Key, Number, Reference, Source, Tag, Template};
use crate::shape::Tagging;
use serde::de::{Deserialize as _, Deserializer, Error as _, Unexpected, Visitor};
use serde_json::Value;
use std::borrow::Cow;

/// A node, with its position.
pub(super) struct NodeDeserializer<'a> {
    pub(super) node: TemplateNode<'a>,
    pub(super) scope: &'a Scope<'a>,
    pub(super) depth: u16,
    /// The template that led to the node, if it did so directly.
    pub(super) origin: Option<&'a Template>,
}

impl<'a> NodeDeserializer<'a> {
    /// Creates the node of a part.
    pub(super) fn part(&self, node: TemplateNode<'a>) -> Self {
        Self {
            node,
            scope: self.scope,
            depth: self.depth,
            origin: None,
        }
    }

    /// Follows references and computes values, until the node is a value or a template of known form.
    #[inline]
    pub(super) fn settle(self) -> Result<Self, ResolveError> {
        // Most values that are deserialized are in outputs, and settled already.
        match self.node {
            TemplateNode::Template(_) => self.settle_template(),
            _ => Ok(self),
        }
    }

    /// Returns the value of a settled node, borrowed from an output if possible. An absent value is null.
    pub(super) fn look(self) -> Result<Cow<'a, Value>, ResolveError> {
        Ok(match self.node {
            TemplateNode::Value(value) => Cow::Borrowed(value),
            TemplateNode::Made(value) => Cow::Owned(value),
            _ => Cow::Owned(Value::deserialize(self)?),
        })
    }

    fn settle_template(mut self) -> Result<Self, ResolveError> {
        while let TemplateNode::Template(template) = self.node {
            self.node = match template {
                Template::Object(entries) => match &entries[..] {
                    [
                        Entry {
                            key: Key::Inner,
                            value,
                        },
                    ] => TemplateNode::Template(value),
                    _ => break,
                },
                Template::Tagged(Tag::None | Tag::Variant(Tagging::Untagged, _), content) => {
                    match content.as_deref() {
                        Some(content) => TemplateNode::Template(content),
                        None => TemplateNode::Template(&Template::Null),
                    }
                }
                Template::Reference(reference) => {
                    let node = match self.scope.json_of(reference.source) {
                        Ok(Some(value)) => walk(value, reference.path()),
                        Ok(None) => Err(ResolveError::of(ErrorDetail::NoOutput)),
                        Err(error) => Err(error),
                    };
                    self.origin = Some(template);
                    let scope = self.scope;
                    self.node =
                        node.map_err(|e| e.referred(reference, name_of(reference, scope)))?;
                    break;
                }
                Template::Text(parts) => {
                    TemplateNode::Made(text::write(parts, self.scope, self.depth)?.into())
                }
                Template::Test(test) => {
                    TemplateNode::Made(test::evaluate(test, template, self.scope, self.depth)?)
                }
                Template::Computed(computed) => {
                    self.origin = Some(template);
                    let value = match computed.code().and_then(known::<dyn Compute + Sync, _>) {
                        Some(compute) => compute.compute_in(self.scope),
                        None => Err(ResolveError::of(ErrorDetail::NotExecutable)),
                    };
                    TemplateNode::Made(value.map_err(|e| e.computed(computed.written()))?)
                }
                _ => break,
            };
        }
        Ok(self)
    }

    /// Adds the position to an error about this node's own content.
    #[cold]
    pub(super) fn complete(
        error: ResolveError,
        origin: Option<&'a Template>,
        scope: &Scope<'_>,
        each: bool,
    ) -> ResolveError {
        match origin {
            Some(Template::Reference(reference)) => {
                let error = if each {
                    error
                } else {
                    error.behind(tokens(&reference.path).rev())
                };
                error.referred(reference, name_of(reference, scope))
            }
            Some(Template::Computed(computed)) => error.computed(computed.written()),
            _ => error,
        }
    }

    /// Deserializes a settled node by its own form.
    fn any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let (origin, scope) = (self.origin, self.scope);
        let each = matches!(self.node, TemplateNode::Each { .. });
        self.content(visitor)
            .map_err(|e| Self::complete(e, origin, scope, each))
    }

    /// Takes the node out of this deserializer, and returns both.
    fn taken(mut self) -> (TemplateNode<'a>, Self) {
        let node = std::mem::replace(&mut self.node, TemplateNode::Absent);
        (node, self)
    }

    fn content<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let (node, at) = self.taken();
        match node {
            TemplateNode::Value(value) => at.value(value).deserialize_any(visitor),
            TemplateNode::Template(template) => at.template(template, visitor),
            TemplateNode::Name(name) => visitor.visit_borrowed_str(name),
            TemplateNode::Made(value) => {
                // Deserializing consumes the value, and an error describes the value.
                let is_small = match &value {
                    Value::String(text) => text.len() <= 64,
                    value => !value.is_array() && !value.is_object(),
                };
                let found = (is_small && at.origin.is_some()).then(|| value.clone());
                let made = OwnedDeserializer(value).deserialize_any(visitor);
                made.map_err(|error| found.iter().fold(error.bare(), ResolveError::found))
            }
            TemplateNode::Each { items, path, rest } => {
                EachItems::visit(&at, items, (path, rest), visitor)
            }
            TemplateNode::Absent => visitor.visit_unit().map_err(ResolveError::found_absent),
        }
    }

    fn value(&self, value: &'a Value) -> InValue<'a> {
        InValue {
            value,
            depth: self.depth,
            meter: self.scope.meter(),
        }
    }

    fn template<V: Visitor<'a>>(
        &self,
        template: &'a Template,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        match template {
            Template::Null => visitor.visit_unit(),
            Template::Bool(value) => visitor.visit_bool(*value),
            Template::Number(Number::Unsigned(value)) => visitor.visit_u64(*value),
            Template::Number(Number::Signed(value)) => visitor.visit_i64(*value),
            Template::Number(Number::Float(value)) => visitor.visit_f64(*value),
            Template::String(value) => {
                charge(self.scope.meter(), value.len())?;
                visitor.visit_borrowed_str(value)
            }
            Template::List(items) => self.plain(template).list(items, visitor),
            // A variant without content is a string, as serde_json writes it.
            Template::Tagged(Tag::Variant(Tagging::External, name), None) => {
                visitor.visit_borrowed_str(name)
            }
            Template::Object(_) | Template::Tagged(..) => {
                let plain = self.plain(template);
                match plain.members() {
                    Some(entries) => plain.object(entries, visitor),
                    None => visitor.visit_map(Members::of(self.deeper()?, template)?),
                }
            }
            Template::Reference(_)
            | Template::Text(_)
            | Template::Test(_)
            | Template::Computed(_) => Err(ResolveError::custom("a template was not settled")),
        }
    }

    fn plain(&self, template: &'a Template) -> InTemplate<'a> {
        InTemplate {
            template,
            scope: self.scope,
            depth: self.depth,
        }
    }

    /// Returns the deserializer of this node's parts, which are one level deeper.
    #[inline]
    pub(super) fn deeper(&self) -> Result<NodeDeserializer<'a>, ResolveError> {
        Ok(NodeDeserializer {
            depth: deeper(self.depth)?,
            ..self.part(TemplateNode::Absent)
        })
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(
            self.node,
            TemplateNode::Absent
                | TemplateNode::Value(Value::Null)
                | TemplateNode::Made(Value::Null)
                | TemplateNode::Template(Template::Null)
        )
    }
}

/// Returns the name of a reference's source. A local value has the first name of the reference.
fn name_of<'a>(reference: &'a Reference, scope: &Scope<'a>) -> Option<&'a str> {
    match reference.source {
        Source::Local(_) => reference.variable().map(|(name, _)| name),
        source => scope.plan().name_of(source),
    }
}

/// Values in outputs are read with the hint, and all else by its own form.
macro_rules! hinted {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            let at = self.settle()?;
            if let TemplateNode::Value(value) = at.node {
                let value = at.value(value);
                return value
                    .$method($($argument,)* visitor)
                    .map_err(|e| Self::complete(e, at.origin, at.scope, false));
            }
            at.any(visitor)
        }
    )*};
}

impl<'a> Deserializer<'a> for NodeDeserializer<'a> {
    type Error = ResolveError;

    hinted! {
        deserialize_any()
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_identifier()
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let at = self.settle()?;
        if at.is_nothing() {
            return visitor.visit_none();
        }
        visitor.visit_some(at)
    }

    fn deserialize_unit<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        let at = self.settle()?;
        match at.node {
            // A tool without arguments accepts every form of an empty struct.
            TemplateNode::Template(Template::Object(entries)) if entries.is_empty() => {
                visitor.visit_unit()
            }
            _ => at.any(visitor),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        // serde_json's `RawValue` needs its own deserializer.
        if super::is_of_serde_json(name) {
            let (origin, scope) = (self.origin, self.scope);
            let value = Value::deserialize(self)?;
            return kept(visitor, |visitor| {
                value.deserialize_newtype_struct(name, visitor)
            })
            .map_err(|e| Self::complete(e, origin, scope, false));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let at = self.settle()?;
        let (origin, scope) = (at.origin, at.scope);
        enumeration(at, visitor).map_err(|e| Self::complete(e, origin, scope, false))
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        visitor.visit_unit()
    }
}

fn enumeration<'a, V: Visitor<'a>>(
    at: NodeDeserializer<'a>,
    visitor: V,
) -> Result<V::Value, ResolveError> {
    let unit = |name, visitor: V| {
        let (name, content) = (KeyOrText::Borrowed(name), None);
        visitor.visit_enum(VariantContent::<NodeDeserializer<'a>> { name, content })
    };
    let (node, at) = at.taken();
    let unexpected = match node {
        TemplateNode::Value(value) => return at.value(value).deserialize_enum("", &[], visitor),
        TemplateNode::Made(value) => {
            let made = OwnedDeserializer(value).deserialize_enum("", &[], visitor);
            return made.map_err(ResolveError::bare);
        }
        TemplateNode::Name(name) => return unit(name, visitor),
        TemplateNode::Template(Template::String(name)) => return unit(name, visitor),
        TemplateNode::Template(Template::Tagged(
            Tag::Variant(Tagging::External, name),
            content,
        )) => {
            let Some(content) = content.as_deref() else {
                return unit(name, visitor);
            };
            let content = at.deeper()?.part(TemplateNode::Template(content));
            return visitor.visit_enum(VariantContent {
                name: KeyOrText::Borrowed(name),
                content: Some((content, None)),
            });
        }
        TemplateNode::Template(template @ (Template::Object(_) | Template::Tagged(..))) => {
            let mut members = Members::of(at.deeper()?, template)?;
            let (Some((name, content, _)), None) = (members.next()?, members.next()?) else {
                let expected = &"map with a single key";
                return Err(ResolveError::invalid_value(Unexpected::Map, expected));
            };
            let content = Some((content, None));
            return visitor.visit_enum(VariantContent { name, content });
        }
        TemplateNode::Absent | TemplateNode::Template(Template::Null) => Unexpected::Unit,
        TemplateNode::Template(Template::Bool(value)) => Unexpected::Bool(*value),
        TemplateNode::Each { .. } | TemplateNode::Template(Template::List(_)) => Unexpected::Seq,
        TemplateNode::Template(_) => Unexpected::Other("number"),
    };
    let error = ResolveError::invalid_type(unexpected, &"string or map");
    Err(match node {
        TemplateNode::Absent => error.found_absent(),
        _ => error,
    })
}
