//! The elements of lists, in templates and in values, and the arguments of a tool by their index.

use super::error::{Location, ResolveError};
use super::meter::{MEMBER, PART, charge};
use super::node::{At, Node, Slot};
use super::walk::{EachTarget, tokens, walk};
use crate::plan::{Entry, Key, Template};
use serde::de::{DeserializeSeed, SeqAccess};
use serde_json::Value;

pub(super) struct Items<'a> {
    /// A node at the depth of the elements.
    inside: Node<'a, 'a>,
    /// The elements of a list in an output.
    values: &'a [Value],
    /// The elements of a list in a template.
    templates: &'a [Template],
    /// The number of elements read so far.
    index: usize,
    list: Option<Box<(List<'a>, Slot<'a>)>>,
}

/// A list whose elements are made one by one.
pub(super) enum List<'a> {
    Each(EachTarget<'a>),
    Made(std::vec::IntoIter<Value>),
}

impl<'a> Items<'a> {
    pub(super) fn new(inside: Node<'a, 'a>, list: List<'a>) -> Self {
        Self {
            inside,
            values: &[],
            templates: &[],
            index: 0,
            list: Some(Box::new((list, Slot::default()))),
        }
    }

    /// Returns the elements of a list in a template.
    #[inline]
    pub(super) fn of_templates(
        node: &Node<'_, 'a>,
        templates: &'a [Template],
    ) -> Result<Self, ResolveError> {
        Ok(Self {
            inside: node.deeper()?,
            values: &[],
            templates,
            index: 0,
            list: None,
        })
    }

    /// Returns the elements of a list in an output.
    #[inline]
    pub(super) fn of_values(
        node: &Node<'_, 'a>,
        values: &'a [Value],
    ) -> Result<Self, ResolveError> {
        Ok(Self {
            inside: node.deeper()?,
            values,
            templates: &[],
            index: 0,
            list: None,
        })
    }

    /// Returns the number of elements after the elements read so far.
    fn left(&self) -> usize {
        let length = match self.list.as_deref() {
            None => self.values.len() + self.templates.len(),
            Some((List::Each(each), _)) => each.items.len(),
            Some((List::Made(items), _)) => return items.len(),
        };
        length - self.index
    }

    /// Returns the error of a visitor that left elements over, as serde_json does.
    pub(super) fn check_read(&self) -> Result<(), ResolveError> {
        match self.left() {
            0 => Ok(()),
            left => Err(too_long(self.index, left, "list")),
        }
    }

    /// Adds the position of the list to an error without the position of an element.
    #[cold]
    pub(super) fn complete(&self, error: ResolveError) -> ResolveError {
        match self.list.as_deref() {
            Some((List::Each(each), _)) if !error.is_placed() => {
                error.behind(tokens(each.list_path()).rev())
            }
            _ => error,
        }
    }

    /// Returns the next element of a list.
    fn next(&mut self) -> Result<Option<Node<'_, 'a>>, ResolveError> {
        let (inside, index) = (&self.inside, self.index);
        let Some((list, slot)) = self.list.as_deref_mut() else {
            return Ok(None);
        };
        let at = match list {
            List::Made(items) => items.next().map(|value| {
                slot.made.set(value);
                At::Made(&slot.made)
            }),
            List::Each(each) => match each.items.get(index) {
                Some(item) => {
                    *slot = Slot::default();
                    self.index = index + 1;
                    charge(inside.meter, PART)?;
                    let target = walk(item, each.rest).map_err(|e| each.behind(e, index))?;
                    let at = At::of_target(target, slot);
                    return Ok(Some(inside.part(at)));
                }
                None => None,
            },
        };
        let Some(at) = at else {
            return Ok(None);
        };
        self.index = index + 1;
        charge(inside.meter, PART)?;
        Ok(Some(inside.part(at)))
    }

    /// Adds the position of the element that was read last.
    #[cold]
    fn inside(&self, error: ResolveError) -> ResolveError {
        let index = self.index - 1;
        match self.list.as_deref() {
            None if self.templates.is_empty() => error.inside_value(Location::Index(index)),
            None => error.inside(Location::Index(index)),
            Some((List::Each(each), slot)) => {
                let leads_on = slot.each.get().is_none();
                let rest = if leads_on { each.rest.segments } else { &[] };
                each.behind(error.behind(tokens(rest).rev()), index)
            }
            Some((List::Made(_), _)) => error,
        }
    }
}

#[cold]
pub(super) fn too_long(read: usize, left: usize, parts: &str) -> ResolveError {
    ResolveError::new(format!(
        "invalid length {}, expected fewer elements in {parts}: {read}",
        read + left
    ))
}

impl<'a> SeqAccess<'a> for Items<'a> {
    type Error = ResolveError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let at = match self.values.get(self.index) {
            Some(value) => Some(At::Value(value)),
            None => self.templates.get(self.index).map(At::Template),
        };
        let node = match at {
            Some(at) => {
                self.index += 1;
                charge(self.inside.meter, PART)?;
                self.inside.part(at)
            }
            None => match self.next()? {
                Some(node) => node,
                None => return Ok(None),
            },
        };
        match seed.deserialize(node) {
            Ok(item) => Ok(Some(item)),
            Err(error) => Err(self.inside(error)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left())
    }
}

/// The arguments of a tool, as the fields of a struct in their order. The hot path of a run has no other parts.
pub(super) struct Fields<'a> {
    inside: Node<'a, 'a>,
    entries: std::slice::Iter<'a, Entry>,
}

impl<'a> Fields<'a> {
    /// Creates the fields from the members of an object, each with a name.
    #[inline]
    pub(super) fn new(inside: Node<'a, 'a>, entries: &'a [Entry]) -> Self {
        let entries = entries.iter();
        Self { inside, entries }
    }
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
        charge(self.inside.meter, MEMBER + name.len())?;
        match seed.deserialize(self.inside.part(At::Template(value))) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(inside_field(error, name)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

#[cold]
fn inside_field(error: ResolveError, name: &str) -> ResolveError {
    error.inside(Location::Key(name.to_owned()))
}
