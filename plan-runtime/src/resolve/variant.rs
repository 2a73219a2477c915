//! The variant of an enum in a node.

use super::access::{Content, Name, Variant};
use super::error::ResolveError;
use super::members::Members;
use super::node::{At, Node, Slot};
use super::token::unexpected;
use super::walk::tokens;
use crate::plan::{Tag, Template};
use crate::shape::Tagging;
use serde::de::{Error as _, Unexpected};
use serde_json::Value;
use std::cell::Cell;

impl<'n, 'a> Variant<'n, 'a> {
    /// Returns the variant of a settled node.
    pub(super) fn of(node: Node<'n, 'a>, slot: &'n Slot<'a>) -> Result<Self, ResolveError> {
        let unexpected = match node.at {
            At::Name(name) => return Ok(Self::unit(Name::Borrowed(name))),
            At::Template(Template::Tagged(Tag::Variant(Tagging::External, name), None)) => {
                return Ok(Self::unit(Name::Borrowed(name)));
            }
            At::Template(Template::String(name)) => {
                return Ok(Self::unit(Name::Borrowed(name)));
            }
            At::Value(Value::String(name)) => return Ok(Self::unit(Name::Borrowed(name))),
            At::Value(Value::Object(members)) => {
                let inside = node.deeper()?;
                let mut members = members.iter();
                let (Some((name, value)), None) = (members.next(), members.next()) else {
                    return Err(not_single());
                };
                return Ok(Self {
                    name: Name::Borrowed(name),
                    content: Content(Some((inside.part(At::Value(value)), Some(name)))),
                });
            }
            At::Template(Template::Tagged(
                Tag::Variant(Tagging::External, name),
                Some(content),
            )) => {
                let content = node.deeper()?.part(At::Template(content));
                return Ok(Self {
                    name: Name::Borrowed(name),
                    content: Content(Some((content, None))),
                });
            }
            At::Template(template @ (Template::Object(_) | Template::Tagged(..))) => {
                let mut members = Members::of_template(&node, template)?;
                if !members.next()? {
                    return Err(not_single());
                }
                let (name, content) = members.take_last(slot);
                if members.next()? {
                    return Err(not_single());
                }
                return Ok(Self {
                    name,
                    content: Content(Some((content, None))),
                });
            }
            At::Made(made) => return Self::of_made(node, made, slot),
            At::Value(value) => kind_for_variant(value),
            At::Absent | At::Template(Template::Null) => Unexpected::Unit,
            At::Template(Template::Bool(value)) => Unexpected::Bool(*value),
            At::Each(_) | At::Template(Template::List(_)) => Unexpected::Seq,
            At::Template(_) | At::Arguments(_) => Unexpected::Other("number"),
        };
        let error = ResolveError::invalid_type(unexpected, &"string or map");
        Err(match node.at {
            At::Absent => error.found_absent(),
            At::Each(each) => error.behind(tokens(each.path.segments).rev()),
            _ => error,
        })
    }

    fn of_made(
        node: Node<'n, 'a>,
        made: &'n Cell<Value>,
        slot: &'n Slot<'a>,
    ) -> Result<Self, ResolveError> {
        let name_of = |name| Name::Lent(slot.name.get_or_init(|| name));
        match made.take() {
            Value::String(name) => Ok(Self::unit(name_of(name))),
            Value::Object(members) => {
                let mut members = members.into_iter();
                let (Some((name, value)), None) = (members.next(), members.next()) else {
                    return Err(not_single());
                };
                made.set(value);
                let content = Node {
                    meter: None,
                    ..node.part(At::Made(made))
                };
                Ok(Self {
                    name: name_of(name),
                    content: Content(Some((content, None))),
                })
            }
            value => {
                let unexpected = kind_for_variant(&value);
                Err(ResolveError::invalid_type(unexpected, &"string or map"))
            }
        }
    }
}

/// Completes an error about a variant.
#[cold]
pub(super) fn refused(node: &Node<'_, '_>, error: ResolveError) -> ResolveError {
    node.complete(match node.at {
        At::Made(_) => error.bare(),
        _ => error,
    })
}

#[cold]
fn not_single() -> ResolveError {
    ResolveError::invalid_value(Unexpected::Map, &"map with a single key")
}

#[cold]
fn kind_for_variant(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Number(_) => Unexpected::Other("number"),
        value => unexpected(value),
    }
}
