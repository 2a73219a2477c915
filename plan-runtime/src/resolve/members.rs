//! The members of an object in a template, with what is flattened into it.

use super::access::KeyOrText;
use super::error::{ErrorDetail, Location, ResolveError};
use super::meter::{MEMBER, charge};
use super::node::{NodeDeserializer, TemplateNode};
use crate::plan::{Entry, Key, Tag, Template};
use crate::shape::Tagging;
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde_json::Value;

/// The members, in order. Flattened objects lie on top of the one that they are flattened into.
pub(super) struct Members<'a> {
    at: NodeDeserializer<'a>,
    top: Layer<'a>,
    below: Vec<Layer<'a>>,
    pending: Option<(String, NodeDeserializer<'a>, Option<&'a Template>)>,
    pending_plain: Option<(&'a str, NodeDeserializer<'a>)>,
}

enum Layer<'a> {
    Entries(std::slice::Iter<'a, Entry>),
    /// One member: a variant's tag or its content.
    One(Option<(&'static str, TemplateNode<'a>)>),
    /// The members of an object in an output, and the reference that led to it.
    Output(serde_json::map::Iter<'a>, Option<&'a Template>),
    Made(serde_json::map::IntoIter, Option<&'a Template>),
}

/// A member's name, its value, and the template that led to the object that it is in.
type Member<'a> = (KeyOrText<'a>, NodeDeserializer<'a>, Option<&'a Template>);

impl<'a> Members<'a> {
    pub(super) fn visit<V: Visitor<'a>>(
        at: NodeDeserializer<'a>,
        template: &'a Template,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        visitor.visit_map(Self::of(at, template)?)
    }

    pub(super) fn of(
        at: NodeDeserializer<'a>,
        template: &'a Template,
    ) -> Result<Self, ResolveError> {
        let mut members = Self {
            at,
            top: Layer::One(None),
            below: Vec::new(),
            pending: None,
            pending_plain: None,
        };
        members.add(template)?;
        Ok(members)
    }

    /// The next member.
    pub(super) fn next(
        &mut self,
    ) -> Result<Option<(KeyOrText<'a>, NodeDeserializer<'a>)>, ResolveError> {
        Ok(self.advance()?.map(|(key, at, _)| (key, at)))
    }

    #[inline]
    fn advance(&mut self) -> Result<Option<Member<'a>>, ResolveError> {
        loop {
            match &mut self.top {
                Layer::Entries(entries) => match entries.next() {
                    Some(Entry {
                        key: Key::Name(name),
                        value,
                    }) => {
                        return Ok(Some((
                            KeyOrText::Borrowed(name),
                            self.at.part(TemplateNode::Template(value)),
                            None,
                        )));
                    }
                    Some(Entry {
                        key: Key::Flattened | Key::Inner,
                        value,
                    }) => {
                        self.add(value)?;
                        continue;
                    }
                    None => {}
                },
                Layer::One(one) => {
                    if let Some((key, node)) = one.take() {
                        return Ok(Some((KeyOrText::Borrowed(key), self.at.part(node), None)));
                    }
                }
                Layer::Output(members, origin) => {
                    if let Some((key, value)) = members.next() {
                        let origin = *origin;
                        return Ok(Some((
                            KeyOrText::Borrowed(key),
                            self.at.part(TemplateNode::Value(value)),
                            origin,
                        )));
                    }
                }
                Layer::Made(members, origin) => {
                    if let Some((key, value)) = members.next() {
                        let origin = *origin;
                        return Ok(Some((
                            KeyOrText::Owned(key),
                            self.at.part(TemplateNode::Made(value)),
                            origin,
                        )));
                    }
                }
            }
            match self.below.pop() {
                Some(layer) => self.top = layer,
                None => return Ok(None),
            }
        }
    }

    /// Puts the members of an object on top.
    fn add(&mut self, template: &'a Template) -> Result<(), ResolveError> {
        // Objects flattened into one another count as nested, or they could be without end.
        self.at.depth = self.at.deeper()?.depth;
        let at = self.at.part(TemplateNode::Template(template)).settle()?;
        let origin = at.origin;
        match at.node {
            TemplateNode::Absent
            | TemplateNode::Value(Value::Null)
            | TemplateNode::Made(Value::Null)
            | TemplateNode::Template(Template::Null) => {}
            TemplateNode::Template(Template::Object(entries)) => {
                self.push(Layer::Entries(entries.iter()));
            }
            TemplateNode::Template(Template::Tagged(Tag::Variant(tagging, name), content)) => {
                let content = content.as_deref();
                match tagging {
                    Tagging::External => {
                        let content = content.unwrap_or(&Template::Null);
                        self.push(Layer::One(Some((name, TemplateNode::Template(content)))));
                    }
                    Tagging::Internal(tag) => {
                        if let Some(content) = content {
                            self.add(content)?;
                        }
                        self.push(Layer::One(Some((tag, TemplateNode::Name(name)))));
                    }
                    Tagging::Adjacent(tag, key) => {
                        if let Some(content) = content {
                            self.push(Layer::One(Some((key, TemplateNode::Template(content)))));
                        }
                        self.push(Layer::One(Some((tag, TemplateNode::Name(name)))));
                    }
                    // Settling leaves none of these.
                    Tagging::Untagged => {}
                }
            }
            TemplateNode::Value(Value::Object(members)) => {
                self.push(Layer::Output(members.iter(), origin));
            }
            TemplateNode::Made(Value::Object(members)) => {
                self.push(Layer::Made(members.into_iter(), origin));
            }
            node => return Err(self.no_object(&node, origin)),
        }
        Ok(())
    }

    fn push(&mut self, layer: Layer<'a>) {
        let below = std::mem::replace(&mut self.top, layer);
        if !matches!(below, Layer::One(None)) {
            self.below.push(below);
        }
    }

    #[cold]
    fn no_object(&self, node: &TemplateNode<'a>, origin: Option<&'a Template>) -> ResolveError {
        let what = |value: &Value| ResolveError::of(ErrorDetail::NoObject).found(value);
        let error = match node {
            TemplateNode::Value(value) => what(value),
            TemplateNode::Made(value) => what(value),
            TemplateNode::Text(text) => what(&Value::String(text.clone())),
            TemplateNode::Each { items, .. } => {
                ResolveError::of(ErrorDetail::NoObject).found_list(items.len())
            }
            TemplateNode::Template(template) => match <Value as serde::Deserialize>::deserialize(
                self.at.part(TemplateNode::Template(template)),
            ) {
                Ok(value) => what(&value),
                Err(error) => error,
            },
            TemplateNode::Name(_) | TemplateNode::Absent => {
                ResolveError::of(ErrorDetail::NoObject).found_absent()
            }
        };
        NodeDeserializer::complete(error, origin, self.at.scope, false)
    }
}

impl<'a> MapAccess<'a> for Members<'a> {
    type Error = ResolveError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some((key, at, origin)) = self.advance()? else {
            return Ok(None);
        };
        charge(self.at.scope.meter(), MEMBER + key.as_str().len())?;
        match (key, origin) {
            (KeyOrText::Borrowed(key), None) => {
                self.pending_plain = Some((key, at));
                seed.deserialize(KeyOrText::Borrowed(key)).map(Some)
            }
            (key, origin) => {
                self.pending = Some((key.as_str().to_owned(), at, origin));
                seed.deserialize(key).map(Some)
            }
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        if let Some((key, at)) = self.pending_plain.take() {
            return seed
                .deserialize(at)
                .map_err(|e| e.inside(Location::Key(key.to_owned())));
        }
        let Some((key, at, origin)) = self.pending.take() else {
            return Err(ResolveError::custom("a value was asked for before its key"));
        };
        let scope = self.at.scope;
        seed.deserialize(at).map_err(|e| {
            NodeDeserializer::complete(e.inside_value(Location::Key(key)), origin, scope, false)
        })
    }
}
