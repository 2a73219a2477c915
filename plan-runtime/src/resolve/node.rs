//! A node: a template in its scope, a value in an output, or an intermediate value.

use super::code::{Compute, known};
use super::error::{ErrorDetail, ResolveError};
use super::meter::{Meter, deeper};
use super::walk::{EachTarget, Target, straight, tokens, walk};
use super::{Scope, test, text};
use crate::plan::{Entry, Key, Reference, Source, Tag, Template};
use crate::shape::Tagging;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

/// A value to deserialize.
#[derive(Clone, Copy)]
pub(super) enum At<'n, 'a> {
    Template(&'a Template),
    /// The arguments for a struct with a derived `Deserialize`. If the members of the template are the fields in their order, the
    /// deserializer reads the fields by index.
    Arguments(&'a Template),
    /// A string of the plan, such as a variant's name.
    Name(&'a str),
    /// A value in an output.
    Value(&'a Value),
    /// A value that was made just now. Deserializing takes the value.
    Made(&'n Cell<Value>),
    Each(&'n EachTarget<'a>),
    Absent,
}

impl<'n, 'a> At<'n, 'a> {
    pub(super) fn of_target(target: Target<'a>, slot: &'n Slot<'a>) -> Self {
        match target {
            Target::Value(value) => Self::Value(value),
            Target::Each(each) => Self::Each(slot.each.get_or_init(|| each)),
            Target::Absent => Self::Absent,
        }
    }
}

/// The storage of a node that owns its value.
#[derive(Default)]
pub(super) struct Slot<'a> {
    pub(super) made: Cell<Value>,
    pub(super) each: OnceCell<EachTarget<'a>>,
    /// The name of a variant.
    pub(super) name: OnceCell<String>,
}

/// A value to deserialize, with its position. The lifetime `'n` is the lifetime of values that were made.
#[derive(Clone, Copy)]
pub(super) struct Node<'n, 'a> {
    pub(super) at: At<'n, 'a>,
    /// `None` for a value without a template.
    pub(super) scope: Option<&'a Scope<'a>>,
    /// `None` for parts of a value that has been counted.
    pub(super) meter: Option<&'a Meter<'a>>,
    pub(super) depth: u16,
    /// The template that led to the node, if it did so directly.
    pub(super) origin: Option<&'a Template>,
}

impl<'a> Node<'a, 'a> {
    #[inline]
    pub(super) fn template(template: &'a Template, scope: &'a Scope<'a>) -> Self {
        Self::in_scope(At::Template(template), scope, 0)
    }

    #[inline]
    pub(super) fn in_scope(at: At<'a, 'a>, scope: &'a Scope<'a>, depth: u16) -> Self {
        Self {
            at,
            scope: Some(scope),
            meter: scope.meter(),
            depth,
            origin: None,
        }
    }

    pub(super) fn of_value(value: &'a Value, meter: Option<&'a Meter<'a>>) -> Self {
        Self {
            at: At::Value(value),
            scope: None,
            meter,
            depth: 0,
            origin: None,
        }
    }
}

impl<'n, 'a> Node<'n, 'a> {
    /// Creates the node of a part. `self` has the depth of the part.
    #[inline]
    pub(super) fn part<'p>(&self, at: At<'p, 'a>) -> Node<'p, 'a> {
        Node {
            at,
            scope: self.scope,
            meter: self.meter,
            depth: self.depth,
            origin: None,
        }
    }

    /// Returns a node for this node's parts, which are one level deeper.
    #[inline]
    pub(super) fn deeper(&self) -> Result<Node<'a, 'a>, ResolveError> {
        Ok(Node {
            depth: deeper(self.depth)?,
            ..self.part(At::Absent)
        })
    }

    /// Returns a value in an output: the node itself, or the target of a reference whose whole path exists.
    #[inline(always)]
    pub(super) fn plain(&self) -> Option<&'a Value> {
        match self.at {
            At::Value(value) => Some(value),
            At::Template(Template::Reference(reference)) => {
                // A source without JSON is an error of the settled node.
                let source = self.scope?.json_if_there(reference.source)?;
                straight(source, reference.path())
            }
            _ => None,
        }
    }

    /// Returns the template of the node.
    #[inline]
    pub(super) fn of_template(&self) -> Option<&'a Template> {
        match self.at {
            At::Template(template) => Some(template),
            _ => self.origin,
        }
    }

    /// Follows references and computes values, until the node is a value or a template of known form. The slot contains a value that was made.
    pub(super) fn settle<'s>(self, slot: &'s Slot<'a>) -> Result<Node<'s, 'a>, ResolveError>
    where
        'n: 's,
    {
        match (self.at, self.scope) {
            (At::Template(template) | At::Arguments(template), Some(scope)) => {
                self.settle_template(template, scope, slot)
            }
            _ => Ok(self),
        }
    }

    fn settle_template<'s>(
        &self,
        mut template: &'a Template,
        scope: &'a Scope<'a>,
        slot: &'s Slot<'a>,
    ) -> Result<Node<'s, 'a>, ResolveError> {
        let mut origin = None;
        let at = loop {
            template = match template {
                Template::Object(entries) => match &entries[..] {
                    [
                        Entry {
                            key: Key::Inner,
                            value,
                        },
                    ] => value,
                    _ => break At::Template(template),
                },
                Template::Tagged(Tag::None | Tag::Variant(Tagging::Untagged, _), content) => {
                    match content.as_deref() {
                        Some(content) => content,
                        None => &Template::Null,
                    }
                }
                Template::Reference(reference) => {
                    origin = Some(template);
                    break At::of_target(follow(reference, scope)?, slot);
                }
                Template::Text(parts) => {
                    slot.made.set(text::write(parts, scope, self.depth)?.into());
                    break At::Made(&slot.made);
                }
                Template::Test(test) => {
                    let made = test::evaluate(test, template, scope, self.depth)?;
                    slot.made.set(made);
                    break At::Made(&slot.made);
                }
                Template::Computed(computed) => {
                    origin = Some(template);
                    let value = match computed.code().and_then(known::<dyn Compute + Sync, _>) {
                        Some(compute) => compute.compute_in(scope),
                        None => Err(ResolveError::of(ErrorDetail::NotExecutable)),
                    };
                    slot.made
                        .set(value.map_err(|e| e.computed(computed.written()))?);
                    break At::Made(&slot.made);
                }
                _ => break At::Template(template),
            };
        };
        Ok(Node {
            origin,
            ..self.part(at)
        })
    }

    /// Returns the value of a settled node, borrowed from an output if possible. An absent value is null.
    pub(super) fn look(self) -> Result<Cow<'a, Value>, ResolveError> {
        Ok(match self.at {
            At::Value(value) => Cow::Borrowed(value),
            At::Made(made) => Cow::Owned(made.take()),
            _ => Cow::Owned(self.json()?),
        })
    }

    /// Adds the position to an error about this node's own content.
    #[cold]
    pub(super) fn complete(&self, error: ResolveError) -> ResolveError {
        let error = match self.at {
            At::Value(value) => error.found(value),
            _ => error,
        };
        complete(
            error,
            self.of_template(),
            self.scope,
            matches!(self.at, At::Each(_)),
        )
    }

    pub(super) fn is_nothing(&self) -> bool {
        match self.at {
            At::Absent | At::Value(Value::Null) | At::Template(Template::Null) => true,
            At::Made(made) => {
                let value = made.take();
                let is_nothing = value.is_null();
                made.set(value);
                is_nothing
            }
            _ => false,
        }
    }
}

/// Returns the target of a reference.
fn follow<'a>(reference: &'a Reference, scope: &'a Scope<'a>) -> Result<Target<'a>, ResolveError> {
    let target = match scope.json_of(reference.source) {
        Ok(Some(value)) => walk(value, reference.path()),
        Ok(None) => Err(ResolveError::of(ErrorDetail::NoOutput)),
        Err(error) => Err(error),
    };
    target.map_err(|e| e.referred(reference, name_of(reference, scope)))
}

/// Adds to an error the template that led to the content with the error.
#[cold]
pub(super) fn complete(
    error: ResolveError,
    origin: Option<&Template>,
    scope: Option<&Scope<'_>>,
    each: bool,
) -> ResolveError {
    match (origin, scope) {
        (Some(Template::Reference(reference)), Some(scope)) => {
            let error = if each {
                error
            } else {
                error.behind(tokens(&reference.path).rev())
            };
            error.referred(reference, name_of(reference, scope))
        }
        (Some(Template::Computed(computed)), _) => error.computed(computed.written()),
        _ => error,
    }
}

/// Returns the name of a reference's source. A local value has the first name of the reference.
fn name_of<'a>(reference: &'a Reference, scope: &Scope<'a>) -> Option<&'a str> {
    match reference.source {
        Source::Local(_) => reference.variable().map(|(name, _)| name),
        source => scope.plan().name_of(source),
    }
}
