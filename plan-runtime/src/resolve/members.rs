//! The members of an object, in templates and in values, including members from flattened objects.

use super::access::Name;
use super::error::{ErrorDetail, Location, ResolveError};
use super::items::too_long;
use super::meter::{MEMBER, charge, deeper};
use super::node::{At, Node, Slot, complete};
use crate::plan::{Entry, Key, Tag, Template};
use crate::shape::Tagging;
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess};
use serde_json::{Map, Value};
use std::cell::Cell;

/// The members, in order.
pub(super) struct Members<'a> {
    /// A node at the depth of the members.
    inside: Node<'a, 'a>,
    plain: Plain<'a>,
    /// The member whose name was read last.
    last: (&'a str, At<'a, 'a>),
    /// `true` between the name of a member and its value.
    is_pending: bool,
    /// The number of members, if the visitor must read all members.
    count: usize,
    layers: Option<Box<Layers<'a>>>,
}

/// The members of most objects, which follow each other in memory.
enum Plain<'a> {
    /// The members of an object in an output.
    Output(serde_json::map::Iter<'a>),
    /// The entries of an object in a template, if all entries have names.
    Entries(std::slice::Iter<'a, Entry>),
    /// All members are in the layers.
    None,
}

/// Returns `true` if each member of an object in a template has a name.
#[inline]
pub(super) fn are_named(entries: &[Entry]) -> bool {
    let is_named = |entry: &Entry| matches!(entry.key, Key::Name(_));
    entries.iter().all(is_named)
}

/// The members of objects that are no plain outputs. A flattened object is on top of its outer object in the stack.
struct Layers<'a> {
    top: Layer<'a>,
    below: Vec<Layer<'a>>,
    /// The object of the last member.
    place: MemberPlace<'a>,
    /// The name of the last member in an object that was made. The value is in `made`.
    name: Option<String>,
    made: Cell<Value>,
}

enum Layer<'a> {
    Entries(std::slice::Iter<'a, Entry>),
    /// A single member: a variant's tag or its content.
    One(Option<(&'a str, At<'a, 'a>)>),
    /// The members of an output, and the reference that led to the output.
    Output(serde_json::map::Iter<'a>, Option<&'a Template>),
    Made(serde_json::map::IntoIter, Option<&'a Template>),
    /// A single member whose name is private to serde_json. Its value is in `made`.
    Private(Option<String>),
}

/// The object of a member.
#[derive(Clone, Copy)]
enum MemberPlace<'a> {
    Template,
    Made,
    /// An object that is flattened, and the template that led to it.
    Flattened(Option<&'a Template>),
}

impl<'a> Layers<'a> {
    fn new(top: Layer<'a>) -> Self {
        Self {
            top,
            below: Vec::new(),
            place: MemberPlace::Template,
            name: None,
            made: Cell::default(),
        }
    }

    fn push(&mut self, layer: Layer<'a>) {
        let below = std::mem::replace(&mut self.top, layer);
        self.below.push(below);
    }

    fn push_one(&mut self, name: &'a str, at: At<'a, 'a>) {
        self.push(Layer::One(Some((name, at))));
    }

    /// Finds the next member. Returns `None` after the last member.
    fn next(
        &mut self,
        inside: &mut Node<'a, 'a>,
    ) -> Result<Option<(&'a str, At<'a, 'a>)>, ResolveError> {
        self.name = None;
        self.place = MemberPlace::Template;
        loop {
            let member = match &mut self.top {
                Layer::Entries(entries) => match entries.next() {
                    Some(Entry {
                        key: Key::Name(name),
                        value,
                    }) => Some((&**name, At::Template(value))),
                    Some(Entry { value, .. }) => {
                        self.add(value, inside)?;
                        continue;
                    }
                    None => None,
                },
                Layer::One(one) => one.take(),
                Layer::Output(members, origin) => members.next().map(|(name, value)| {
                    self.place = MemberPlace::Flattened(*origin);
                    (name.as_str(), At::Value(value))
                }),
                Layer::Made(members, origin) => members.next().map(|(name, value)| {
                    self.place = origin.map_or(MemberPlace::Made, |origin| {
                        MemberPlace::Flattened(Some(origin))
                    });
                    self.made.set(value);
                    self.name = Some(name);
                    ("", At::Absent)
                }),
                Layer::Private(name) => name.take().map(|name| {
                    self.place = MemberPlace::Made;
                    self.name = Some(name);
                    ("", At::Absent)
                }),
            };
            if member.is_some() {
                return Ok(member);
            }
            match self.below.pop() {
                Some(layer) => self.top = layer,
                None => return Ok(None),
            }
        }
    }

    /// Puts the members of an object on top.
    fn add(
        &mut self,
        template: &'a Template,
        inside: &mut Node<'a, 'a>,
    ) -> Result<(), ResolveError> {
        // Objects flattened into one another count as nested, or they could be without end.
        inside.depth = deeper(inside.depth)?;
        let slot = Slot::default();
        let at = inside.part(At::Template(template)).settle(&slot)?;
        if at.is_nothing() {
            return Ok(());
        }
        let origin = at.origin;
        match at.at {
            At::Template(Template::Object(entries)) => {
                self.push(Layer::Entries(entries.iter()));
            }
            At::Template(Template::Tagged(Tag::Variant(tagging, name), content)) => {
                let content = content.as_deref();
                match tagging {
                    Tagging::External => {
                        let content = content.unwrap_or(&Template::Null);
                        self.push_one(name, At::Template(content));
                    }
                    Tagging::Internal(tag) => {
                        if let Some(content) = content {
                            self.add(content, inside)?;
                        }
                        self.push_one(tag, At::Name(name));
                    }
                    Tagging::Adjacent([tag, key]) => {
                        if let Some(content) = content {
                            self.push_one(key, At::Template(content));
                        }
                        self.push_one(tag, At::Name(name));
                    }
                    // Settling removes all untagged variants.
                    Tagging::Untagged => {}
                }
            }
            At::Value(Value::Object(members)) => {
                self.push(Layer::Output(members.iter(), origin));
            }
            At::Made(made) => match made.take() {
                Value::Object(members) => self.push(Layer::Made(members.into_iter(), origin)),
                value => {
                    let error = ResolveError::of(ErrorDetail::NoObject).found(&value);
                    return Err(complete(error, origin, inside.scope, false));
                }
            },
            at => return Err(complete(no_object(at, inside), origin, inside.scope, false)),
        }
        Ok(())
    }
}

impl<'a> Members<'a> {
    #[inline]
    fn new(inside: Node<'a, 'a>, plain: Plain<'a>, layers: Option<Layers<'a>>) -> Self {
        Self {
            inside,
            plain,
            last: ("", At::Absent),
            is_pending: false,
            count: 0,
            layers: layers.map(Box::new),
        }
    }

    /// Returns the members of an object in a template whose members all have names.
    #[inline]
    pub(super) fn of_entries(
        node: &Node<'_, 'a>,
        entries: &'a [Entry],
    ) -> Result<Self, ResolveError> {
        Ok(Self::new(
            node.deeper()?,
            Plain::Entries(entries.iter()),
            None,
        ))
    }

    /// Returns the members of an object in a template.
    pub(super) fn of_template(
        node: &Node<'_, 'a>,
        template: &'a Template,
    ) -> Result<Self, ResolveError> {
        if let Template::Object(entries) = template
            && are_named(entries)
        {
            return Self::of_entries(node, entries);
        }
        let mut inside = node.deeper()?;
        let mut layers = Layers::new(Layer::One(None));
        layers.add(template, &mut inside)?;
        Ok(Self::new(inside, Plain::None, Some(layers)))
    }

    /// Returns the members of an object in an output. A visitor has to read all members.
    #[inline]
    pub(super) fn of_value(
        node: &Node<'_, 'a>,
        members: &'a Map<String, Value>,
    ) -> Result<Self, ResolveError> {
        Ok(Self {
            count: members.len(),
            ..Self::new(node.deeper()?, Plain::Output(members.iter()), None)
        })
    }

    /// Returns the members of an object that was made. A visitor has to read all members.
    pub(super) fn of_made(node: &Node<'_, 'a>, members: Map<String, Value>) -> Self {
        let count = members.len();
        let inside = Node {
            meter: None,
            ..node.part(At::Absent)
        };
        let layers = Layers::new(Layer::Made(members.into_iter(), None));
        Self {
            count,
            ..Self::new(inside, Plain::None, Some(layers))
        }
    }

    /// Returns a value of serde_json with a private name.
    pub(super) fn private(name: String, value: String) -> Self {
        let layers = Layers::new(Layer::Private(Some(name)));
        layers.made.set(value.into());
        let inside = Node::of_value(&Value::Null, None);
        Self::new(inside, Plain::None, Some(layers))
    }

    /// Returns the error of a visitor that left members over, as serde_json does.
    #[inline]
    pub(super) fn check_read(&self) -> Result<(), ResolveError> {
        let left = match (&self.plain, &self.layers) {
            (Plain::Output(members), _) => members.len(),
            (Plain::Entries(_), _) | (_, None) => 0,
            (Plain::None, Some(layers)) => match &layers.top {
                Layer::Made(members, None) => members.len(),
                _ => 0,
            },
        };
        match left {
            0 => Ok(()),
            left => Err(too_long(self.count - left, left, "map")),
        }
    }

    /// Finds and counts the next member in the layers. Returns `false` after the last member.
    fn count_next(&mut self) -> Result<bool, ResolveError> {
        self.is_pending = self.next()?;
        if self.is_pending {
            let name = self.last().0.as_str().len();
            charge(self.inside.meter, MEMBER + name)?;
        }
        Ok(self.is_pending)
    }

    /// Finds the next member of a template. Returns `false` after the last member.
    pub(super) fn next(&mut self) -> Result<bool, ResolveError> {
        let member = match (&mut self.plain, &mut self.layers) {
            (Plain::Entries(entries), _) => next_named(entries),
            (_, Some(layers)) => layers.next(&mut self.inside)?,
            (_, None) => None,
        };
        match member {
            Some(member) => self.last = member,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the name and the value of the last member.
    #[inline]
    fn last(&self) -> (Name<'_, 'a>, Node<'_, 'a>) {
        if let Some(layers) = &self.layers
            && let Some(name) = &layers.name
        {
            return (Name::Lent(name), self.inside.part(At::Made(&layers.made)));
        }
        let (name, at) = self.last;
        (Name::Borrowed(name), self.inside.part(at))
    }

    /// Returns the name and the value of the last member, with their storage in a slot.
    pub(super) fn take_last<'s>(&mut self, slot: &'s Slot<'a>) -> (Name<'s, 'a>, Node<'s, 'a>) {
        if let Some(layers) = &mut self.layers
            && let Some(name) = layers.name.take()
        {
            slot.made.set(layers.made.take());
            let name = slot.name.get_or_init(|| name);
            return (Name::Lent(name), self.inside.part(At::Made(&slot.made)));
        }
        let (name, at) = self.last;
        (Name::Borrowed(name), self.inside.part(at))
    }
    /// Adds the last member to an error of its value.
    #[cold]
    fn inside(&self, error: ResolveError) -> ResolveError {
        let name = Location::Key(self.last.0.to_owned());
        let layers = self.layers.as_ref();
        match (&self.plain, layers.map(|it| (it.place, &it.name))) {
            (Plain::Output(_), _) | (Plain::None, None) => error.inside_value(name),
            (Plain::Entries(_), _) | (_, Some((MemberPlace::Template, _))) => error.inside(name),
            (_, Some((MemberPlace::Made, _))) => error,
            (_, Some((MemberPlace::Flattened(origin), made))) => {
                let name = made
                    .as_ref()
                    .map_or(name, |name| Location::Key(name.clone()));
                complete(error.inside_value(name), origin, self.inside.scope, false)
            }
        }
    }

    /// Adds the last member to an error of its name.
    #[cold]
    fn at_name(&self, error: ResolveError) -> ResolveError {
        match self.plain {
            Plain::Output(_) => self.inside(error),
            Plain::Entries(_) | Plain::None => error,
        }
    }
}

#[inline]
fn next_named<'a>(entries: &mut std::slice::Iter<'a, Entry>) -> Option<(&'a str, At<'a, 'a>)> {
    match entries.next()? {
        Entry {
            key: Key::Name(name),
            value,
        } => Some((&**name, At::Template(value))),
        Entry { .. } => None,
    }
}

impl<'a> MapAccess<'a> for Members<'a> {
    type Error = ResolveError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let member = match &mut self.plain {
            Plain::Output(members) => {
                let member = members.next();
                Some(member.map(|(name, value)| (name.as_str(), At::Value(value))))
            }
            Plain::Entries(entries) => Some(next_named(entries)),
            Plain::None => None,
        };
        let name = match member {
            Some(Some((name, at))) => {
                self.last = (name, at);
                self.is_pending = true;
                charge(self.inside.meter, MEMBER + name.len())?;
                Name::Borrowed(name)
            }
            None if self.count_next()? => self.last().0,
            _ => return Ok(None),
        };
        match seed.deserialize(name) {
            Ok(name) => Ok(Some(name)),
            Err(error) => Err(self.at_name(error)),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        if !std::mem::take(&mut self.is_pending) {
            return Err(ResolveError::custom("a value was asked for before its key"));
        }
        match seed.deserialize(self.last().1) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.inside(error)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        match (&self.plain, &self.layers) {
            (Plain::Output(members), _) => Some(members.len()),
            (Plain::Entries(entries), _) => Some(entries.len()),
            (Plain::None, Some(layers)) => match &layers.top {
                Layer::Entries(entries) if layers.below.is_empty() => Some(entries.len()),
                Layer::Made(members, None) => Some(members.len()),
                _ => None,
            },
            (Plain::None, None) => None,
        }
    }
}

/// Creates the error of a flattened value that is not an object.
#[cold]
fn no_object<'a>(at: At<'_, 'a>, inside: &Node<'a, 'a>) -> ResolveError {
    let error = ResolveError::of(ErrorDetail::NoObject);
    match at {
        At::Value(value) => error.found(value),
        At::Each(each) => error.found_list(each.items.len()),
        At::Template(_) => match Value::deserialize(inside.part(at)) {
            Ok(value) => error.found(&value),
            Err(error) => error,
        },
        _ => error.found_absent(),
    }
}
