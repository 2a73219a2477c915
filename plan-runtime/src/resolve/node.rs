//! The deserializer for every kind of value: templates that are not plain, values in outputs, and values made on the way.

use super::access::{EachItems, KeyOrText, VariantContent};
use super::capture::{OwnedDeserializer, kept};
use super::code::{Compute, known};
use super::error::{ErrorDetail, ResolveError};
use super::members::Members;
use super::meter::charge;
use super::template::InTemplate;
use super::value::InValue;
use super::walk::{Led, tokens, walk};
use super::{Scope, text};
use crate::plan::{Entry, Key, Number, Path, Reference, Source, Tag, Template};
use crate::shape::Tagging;
use serde::de::{Deserializer, Error as _, Unexpected, Visitor};
use serde_json::Value;

/// How deep templates and values may be nested together.
pub(super) const DEEPEST: u16 = 256;

/// A value to deserialize.
pub(super) enum TemplateNode<'a> {
    Template(&'a Template),
    /// Text of the plan, such as a variant's name.
    Name(&'a str),
    /// A value in an output.
    Value(&'a Value),
    /// A value that was made just now.
    Made(Value),
    /// A string that was made just now.
    Text(String),
    /// Each element of a list, from which `rest` leads on. `path` led here and ends with `rest`.
    Each {
        items: &'a [Value],
        path: Path<'a>,
        rest: Path<'a>,
    },
    Absent,
}

/// A node, and where it is from.
pub(super) struct NodeDeserializer<'a> {
    pub(super) node: TemplateNode<'a>,
    pub(super) scope: &'a Scope<'a>,
    pub(super) depth: u16,
    /// The template that led to the node, if it did so directly.
    pub(super) origin: Option<&'a Template>,
}

impl<'a> NodeDeserializer<'a> {
    /// A part of this node.
    pub(super) fn part(&self, node: TemplateNode<'a>) -> Self {
        Self {
            node,
            scope: self.scope,
            depth: self.depth,
            origin: None,
        }
    }

    /// Follows references and computes, so that what is left is a value or a template of known form.
    #[inline]
    pub(super) fn settle(self) -> Result<Self, ResolveError> {
        // Most values that are deserialized are in outputs, and settled already.
        match self.node {
            TemplateNode::Template(_) => self.settle_template(),
            _ => Ok(self),
        }
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
                    let node = follow_reference(reference, self.scope);
                    self.origin = Some(template);
                    self.node = node.map_err(|e| self.referred(e, reference))?;
                    break;
                }
                Template::Text(parts) => {
                    TemplateNode::Text(text::write(parts, self.scope, self.depth)?)
                }
                Template::Computed(computed) => {
                    self.origin = Some(template);
                    let value = match computed.compute.and_then(known::<dyn Compute + Sync, _>) {
                        Some(compute) => compute.compute(self.scope),
                        None => Err(ResolveError::of(ErrorDetail::NotExecutable)),
                    };
                    TemplateNode::Made(value.map_err(|e| e.computed(&computed.written))?)
                }
                _ => break,
            };
        }
        Ok(self)
    }

    #[cold]
    fn referred(&self, error: ResolveError, reference: &Reference) -> ResolveError {
        error.referred(reference, name_of(reference, self.scope))
    }

    /// Completes an error of this node's own content with where it is from.
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
            Some(Template::Computed(computed)) => error.computed(&computed.written),
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

    fn content<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match &self.node {
            TemplateNode::Value(value) => self.value(value).deserialize_any(visitor),
            TemplateNode::Template(template) => self.template(template, visitor),
            TemplateNode::Name(name) => visitor.visit_borrowed_str(name),
            TemplateNode::Made(value) => {
                let found = value.clone_if_small();
                let TemplateNode::Made(value) = self.node else {
                    unreachable!("matched above")
                };
                OwnedDeserializer(value)
                    .deserialize_any(visitor)
                    .map_err(|e| found.blame(e.bare()))
            }
            TemplateNode::Text(_) => {
                let TemplateNode::Text(text) = self.node else {
                    unreachable!("matched above")
                };
                visitor.visit_string(text)
            }
            TemplateNode::Each { .. } => EachItems::visit(self, visitor),
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
                    None => Members::visit(self.deeper()?, template, visitor),
                }
            }
            Template::Reference(_) | Template::Text(_) | Template::Computed(_) => {
                Err(ResolveError::custom("a template was not settled"))
            }
        }
    }

    fn plain(&self, template: &'a Template) -> InTemplate<'a> {
        InTemplate {
            template,
            scope: self.scope,
            depth: self.depth,
        }
    }

    /// This node's parts are one level deeper.
    #[inline]
    pub(super) fn deeper(&self) -> Result<NodeDeserializer<'a>, ResolveError> {
        if self.depth >= DEEPEST {
            return Err(ResolveError::of(ErrorDetail::TooDeep));
        }
        Ok(NodeDeserializer {
            node: TemplateNode::Absent,
            scope: self.scope,
            depth: self.depth + 1,
            origin: None,
        })
    }

    fn is_nothing(&self) -> bool {
        matches!(
            self.node,
            TemplateNode::Absent
                | TemplateNode::Value(Value::Null)
                | TemplateNode::Made(Value::Null)
                | TemplateNode::Template(Template::Null)
        )
    }
}

/// What a reference's source is called. A local value has the name with which the reference begins.
fn name_of<'a>(reference: &'a Reference, scope: &Scope<'a>) -> Option<&'a str> {
    match reference.source {
        Source::Local(_) => {
            let written = reference.written.as_deref()?;
            let end = written.find(|c: char| !c.is_alphanumeric() && c != '_');
            Some(&written[..end.unwrap_or(written.len())])
        }
        source => scope.plan().name_of(source),
    }
}

#[inline]
fn follow_reference<'a>(
    reference: &'a Reference,
    scope: &Scope<'a>,
) -> Result<TemplateNode<'a>, ResolveError> {
    let Some(value) = scope.json_of(reference.source) else {
        return Err(ResolveError::of(ErrorDetail::NoOutput));
    };
    along(value, reference.path())
}

/// What a path leads to from a value.
#[inline]
pub(super) fn along<'a>(
    value: &'a Value,
    path: Path<'a>,
) -> Result<TemplateNode<'a>, ResolveError> {
    Ok(match walk(value, path)? {
        Led::To(value) => TemplateNode::Value(value),
        Led::ToEach(items, rest) => TemplateNode::Each { items, path, rest },
        Led::Nowhere => TemplateNode::Absent,
    })
}

/// The value that an error reports as found, kept because deserializing consumes the original.
enum Made {
    Small(Value),
    Large,
}

impl Made {
    fn blame(self, error: ResolveError) -> ResolveError {
        match self {
            Self::Small(value) => error.found(&value),
            Self::Large => error,
        }
    }
}

trait CloneIfSmall {
    fn clone_if_small(&self) -> Made;
}

impl CloneIfSmall for Value {
    fn clone_if_small(&self) -> Made {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => Made::Small(self.clone()),
            Self::String(text) if text.len() <= 64 => Made::Small(self.clone()),
            _ => Made::Large,
        }
    }
}

/// Values in outputs are read with the hint.
macro_rules! hinted {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
            let at = self.settle()?;
            if let TemplateNode::Value(value) = at.node {
                let value = at.value(value);
                return value
                    .$method(visitor)
                    .map_err(|e| Self::complete(e, at.origin, at.scope, false));
            }
            at.any(visitor)
        }
    )*};
}

macro_rules! by_form {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'a>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, ResolveError> {
            $(let _ = $argument;)*
            self.settle()?.any(visitor)
        }
    )*};
}

impl<'a> Deserializer<'a> for NodeDeserializer<'a> {
    type Error = ResolveError;

    hinted! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_identifier
    }

    by_form! {
        deserialize_any()
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
            // A tool without arguments has none, however its struct is written.
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
            let value = <Value as serde::Deserialize>::deserialize(self)?;
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
    let unit = |name: KeyOrText<'a>, visitor: V| {
        let content = None::<(NodeDeserializer<'a>, _)>;
        visitor.visit_enum(VariantContent { name, content })
    };
    match &at.node {
        TemplateNode::Value(value) => at.value(value).deserialize_enum("", &[], visitor),
        TemplateNode::Template(Template::String(name)) => unit(KeyOrText::Borrowed(name), visitor),
        TemplateNode::Name(name) => unit(KeyOrText::Borrowed(name), visitor),
        TemplateNode::Text(_) => match at.node {
            TemplateNode::Text(name) => unit(KeyOrText::Owned(name), visitor),
            _ => unreachable!("matched above"),
        },
        TemplateNode::Template(Template::Tagged(
            Tag::Variant(Tagging::External, name),
            content,
        )) => {
            let content = match content.as_deref() {
                Some(content) => Some((at.deeper()?.part(TemplateNode::Template(content)), None)),
                None => None,
            };
            visitor.visit_enum(VariantContent {
                name: KeyOrText::Borrowed(name),
                content,
            })
        }
        TemplateNode::Template(template @ (Template::Object(_) | Template::Tagged(..))) => {
            let mut members = Members::of(at.deeper()?, template)?;
            let only = members.next()?;
            match (only, members.next()?) {
                (Some((name, content)), None) => visitor.visit_enum(VariantContent {
                    name,
                    content: Some((content, None)),
                }),
                _ => Err(ResolveError::invalid_value(
                    Unexpected::Map,
                    &"map with a single key",
                )),
            }
        }
        TemplateNode::Made(_) => match at.node {
            TemplateNode::Made(value) => OwnedDeserializer(value)
                .deserialize_enum("", &[], visitor)
                .map_err(ResolveError::bare),
            _ => unreachable!("matched above"),
        },
        TemplateNode::Absent => {
            Err(ResolveError::invalid_type(Unexpected::Unit, &"string or map").found_absent())
        }
        TemplateNode::Each { .. } => Err(ResolveError::invalid_type(
            Unexpected::Seq,
            &"string or map",
        )),
        TemplateNode::Template(template) => Err(match template {
            Template::Null => ResolveError::invalid_type(Unexpected::Unit, &"string or map"),
            Template::Bool(value) => {
                ResolveError::invalid_type(Unexpected::Bool(*value), &"string or map")
            }
            Template::List(_) => ResolveError::invalid_type(Unexpected::Seq, &"string or map"),
            _ => ResolveError::invalid_type(Unexpected::Other("number"), &"string or map"),
        }),
    }
}
