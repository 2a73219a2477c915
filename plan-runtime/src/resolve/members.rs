//! The members of an object in a template, including those of flattened objects.

use super::access::KeyOrText;
use super::error::{ErrorDetail, Location, ResolveError};
use super::meter::{MEMBER, charge};
use super::node::NodeDeserializer;
use super::walk::TemplateNode;
use crate::plan::{Entry, Key, Tag, Template};
use crate::shape::Tagging;
use serde::de::{DeserializeSeed, Error as _, MapAccess};
use serde_json::Value;

/// The members, in order. The stack contains a flattened object above its outer object.
pub(super) struct Members<'a> {
    at: NodeDeserializer<'a>,
    /// The topmost is last.
    layers: Vec<Layer<'a>>,
    pending: Option<Member<'a>>,
}

enum Layer<'a> {
    Entries(std::slice::Iter<'a, Entry>),
    /// A single member: a variant's tag or its content.
    One(Option<(&'static str, TemplateNode<'a>)>),
    /// The members of an object in an output, and the reference that led to it.
    Output(serde_json::map::Iter<'a>, Option<&'a Template>),
    Made(serde_json::map::IntoIter, Option<&'a Template>),
}

/// A member's name, its value, and the template that led to the object that it is in.
type Member<'a> = (KeyOrText<'a>, NodeDeserializer<'a>, Option<&'a Template>);

impl<'a> Members<'a> {
    pub(super) fn of(
        at: NodeDeserializer<'a>,
        template: &'a Template,
    ) -> Result<Self, ResolveError> {
        let mut members = Self {
            at,
            layers: Vec::new(),
            pending: None,
        };
        members.add(template)?;
        Ok(members)
    }

    pub(super) fn next(&mut self) -> Result<Option<Member<'a>>, ResolveError> {
        while let Some(top) = self.layers.last_mut() {
            let member = match top {
                Layer::Entries(entries) => match entries.next() {
                    Some(Entry {
                        key: Key::Name(name),
                        value,
                    }) => Some((name.into(), TemplateNode::Template(value), None)),
                    Some(Entry { value, .. }) => {
                        self.add(value)?;
                        continue;
                    }
                    None => None,
                },
                Layer::One(one) => one.take().map(|(key, node)| (key.into(), node, None)),
                Layer::Output(members, origin) => members
                    .next()
                    .map(|(key, value)| (key.into(), TemplateNode::Value(value), *origin)),
                Layer::Made(members, origin) => members.next().map(|(key, value)| {
                    (KeyOrText::Owned(key), TemplateNode::Made(value), *origin)
                }),
            };
            match member {
                Some((key, node, origin)) => return Ok(Some((key, self.at.part(node), origin))),
                None => self.layers.pop(),
            };
        }
        Ok(None)
    }

    /// Puts the members of an object on top.
    fn add(&mut self, template: &'a Template) -> Result<(), ResolveError> {
        // Objects flattened into one another count as nested, or they could be without end.
        self.at.depth = self.at.deeper()?.depth;
        let at = self.at.part(TemplateNode::Template(template)).settle()?;
        if at.is_nothing() {
            return Ok(());
        }
        let origin = at.origin;
        match at.node {
            TemplateNode::Template(Template::Object(entries)) => {
                self.layers.push(Layer::Entries(entries.iter()));
            }
            TemplateNode::Template(Template::Tagged(Tag::Variant(tagging, name), content)) => {
                let content = content.as_deref();
                match tagging {
                    Tagging::External => {
                        let content = content.unwrap_or(&Template::Null);
                        self.add_one(name, TemplateNode::Template(content));
                    }
                    Tagging::Internal(tag) => {
                        if let Some(content) = content {
                            self.add(content)?;
                        }
                        self.add_one(tag, TemplateNode::Name(name));
                    }
                    Tagging::Adjacent([tag, key]) => {
                        if let Some(content) = content {
                            self.add_one(key, TemplateNode::Template(content));
                        }
                        self.add_one(tag, TemplateNode::Name(name));
                    }
                    // Settling removes all untagged variants.
                    Tagging::Untagged => {}
                }
            }
            TemplateNode::Value(Value::Object(members)) => {
                self.layers.push(Layer::Output(members.iter(), origin));
            }
            TemplateNode::Made(Value::Object(members)) => {
                self.layers.push(Layer::Made(members.into_iter(), origin));
            }
            node => return Err(self.no_object(&node, origin)),
        }
        Ok(())
    }

    fn add_one(&mut self, key: &'static str, node: TemplateNode<'a>) {
        self.layers.push(Layer::One(Some((key, node))));
    }

    #[cold]
    fn no_object(&self, node: &TemplateNode<'a>, origin: Option<&'a Template>) -> ResolveError {
        let what = |value: &Value| ResolveError::of(ErrorDetail::NoObject).found(value);
        let error = match node {
            TemplateNode::Value(value) => what(value),
            TemplateNode::Made(value) => what(value),
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

    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some((key, at, origin)) = self.next()? else {
            return Ok(None);
        };
        charge(self.at.scope.meter(), MEMBER + key.as_str().len())?;
        self.pending = Some((key.clone(), at, origin));
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        let Some((key, at, origin)) = self.pending.take() else {
            return Err(ResolveError::custom("a value was asked for before its key"));
        };
        let scope = self.at.scope;
        seed.deserialize(at).map_err(|error| {
            let place = Location::Key(key.as_str().to_owned());
            match origin {
                None => error.inside(place),
                _ => NodeDeserializer::complete(error.inside_value(place), origin, scope, false),
            }
        })
    }
}
