//! The JSON of templates and paths, independent of their form in Rust.

use crate::plan::{
    Computed, Entry, Key, Number, Part, Reference, Selector, Source, Tag, Template, Test, index,
};
use crate::shape::Tagging;
use std::borrow::Cow;
use std::collections::HashMap;

/// A template in the form of its JSON: variants of enums are objects and strings, and members of nested objects have the positions
/// that serde gives them.
pub(in crate::plan) enum View<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    List(&'a [Template]),
    Object(Vec<ObjectMember<'a>>),
    Reference(&'a Reference),
    /// Two literals are never adjacent.
    Text(Vec<TextPart<'a>>),
    Test(&'a Test),
    Computed(&'a Computed),
}

/// A member of an object.
pub(in crate::plan) enum ObjectMember<'a> {
    Template(&'a str, &'a Template),
    Text(&'a str, &'a str),
    /// Members that only a run can determine.
    Flattened(&'a Template),
}

/// A part of a formatted string.
pub(in crate::plan) enum TextPart<'a> {
    Literal(Cow<'a, str>),
    Value(&'a Template, &'a str),
}

static NULL: Template = Template::Null;

impl Template {
    pub(in crate::plan) fn view(&self) -> View<'_> {
        match self {
            Self::Null => View::Null,
            Self::Bool(value) => View::Bool(*value),
            Self::Number(number) => View::Number(match *number {
                Number::Signed(value) => match u64::try_from(value) {
                    Ok(value) => Number::Unsigned(value),
                    Err(_) => Number::Signed(value),
                },
                other => other,
            }),
            Self::String(text) => View::String(Cow::Borrowed(text)),
            Self::List(items) => View::List(items),
            Self::Object(entries) => match &entries[..] {
                [entry] if entry.key == Key::Inner => entry.value.view(),
                _ => View::Object(self.members()),
            },
            Self::Tagged(Tag::None | Tag::Variant(Tagging::Untagged, _), content) => {
                content.as_deref().unwrap_or(&NULL).view()
            }
            Self::Tagged(Tag::Variant(Tagging::External, name), None) => {
                View::String(Cow::Borrowed(name))
            }
            Self::Tagged(..) => View::Object(self.members()),
            Self::Reference(reference) => View::Reference(reference),
            Self::Text(parts) => {
                let mut parts = text_parts(parts);
                match &mut parts[..] {
                    [] => View::String(Cow::Borrowed("")),
                    [TextPart::Literal(text)] => View::String(std::mem::take(text)),
                    _ => View::Text(parts),
                }
            }
            Self::Test(test) => View::Test(test),
            Self::Computed(computed) => View::Computed(computed),
        }
    }

    /// Returns the template in the form of plan JSON. Variants of enums and members of nested objects have the positions that serde
    /// gives them. Adjacent strings are joined.
    pub fn plain(&self) -> Self {
        match self.view() {
            View::Null => Self::Null,
            View::Bool(value) => Self::Bool(value),
            View::Number(number) => Self::Number(number),
            View::String(text) => match self {
                Self::String(_) => self.clone(),
                _ => Self::String(text.into_owned()),
            },
            View::List(items) => Self::List(items.iter().map(Self::plain).collect()),
            View::Object(members) => Self::Object(members.into_iter().map(entry).collect()),
            View::Reference(reference) => Self::Reference(reference.plain()),
            View::Text(parts) => {
                let part = |part| match part {
                    TextPart::Literal(text) => Part::Literal(text.into_owned()),
                    TextPart::Value(value, spec) => Part::value(value.plain(), spec),
                };
                Self::Text(parts.into_iter().map(part).collect())
            }
            View::Test(test) => test.map(Self::plain).into(),
            View::Computed(computed) => Self::Computed(computed.clone()),
        }
    }

    fn members(&self) -> Vec<ObjectMember<'_>> {
        let mut members = Members::default();
        members.add(self);
        members.into_list()
    }
}

fn entry(member: ObjectMember<'_>) -> Entry {
    let (key, value) = match member {
        ObjectMember::Template(name, value) => (Key::Name(name.to_owned()), value.plain()),
        ObjectMember::Text(name, text) => (
            Key::Name(name.to_owned()),
            Template::String(text.to_owned()),
        ),
        ObjectMember::Flattened(value) => (Key::Flattened, value.plain()),
    };
    Entry { key, value }
}

impl Reference {
    fn plain(&self) -> Self {
        let mut plain = self.clone();
        for segment in &mut plain.path {
            if let Selector::Key(key) = &segment.selector
                && let Some(index) = index(key)
            {
                segment.selector = Selector::Index(index);
            }
        }
        plain
    }
}

impl View<'_> {
    /// Returns `true` if only a run can determine some of the members.
    pub(in crate::plan) fn is_merged(members: &[ObjectMember<'_>]) -> bool {
        members.iter().any(ObjectMember::is_flattened)
    }
}

impl<'a> ObjectMember<'a> {
    fn name(&self) -> Option<&'a str> {
        match *self {
            Self::Template(name, _) | Self::Text(name, _) => Some(name),
            Self::Flattened(_) => None,
        }
    }

    pub(in crate::plan) fn is_flattened(&self) -> bool {
        matches!(self, Self::Flattened(_))
    }
}

/// The members of an object template, with those of the flattened objects, as far as the plan contains them.
#[derive(Default)]
struct Members<'a> {
    /// The members, each with the number of its object.
    list: Vec<(usize, ObjectMember<'a>)>,
    objects: usize,
}

impl<'a> Members<'a> {
    fn add(&mut self, template: &'a Template) {
        let object = self.objects;
        let add = |this: &mut Self, member| this.list.push((object, member));
        match template {
            Template::Null => {}
            Template::Object(entries) => {
                for entry in entries {
                    match &entry.key {
                        Key::Name(name) => {
                            add(self, ObjectMember::Template(name, &entry.value));
                        }
                        Key::Flattened | Key::Inner => self.add_inner(&entry.value),
                    }
                }
            }
            Template::Tagged(tag, content) => {
                let inner = content.as_deref();
                match tag {
                    Tag::None | Tag::Variant(Tagging::Untagged, _) => {
                        self.add(inner.unwrap_or(&NULL));
                    }
                    Tag::Variant(Tagging::External, name) => {
                        add(self, ObjectMember::Template(name, inner.unwrap_or(&NULL)));
                    }
                    Tag::Variant(Tagging::Internal(tag), name) => {
                        add(self, ObjectMember::Text(tag, name));
                        self.add_inner(inner.unwrap_or(&NULL));
                    }
                    Tag::Variant(Tagging::Adjacent([tag, key]), name) => {
                        add(self, ObjectMember::Text(tag, name));
                        if let Some(content) = inner {
                            add(self, ObjectMember::Template(key, content));
                        }
                    }
                }
            }
            other => add(self, ObjectMember::Flattened(other)),
        }
    }

    fn add_inner(&mut self, template: &'a Template) {
        self.objects += 1;
        self.add(template);
    }

    /// Returns the members. If several objects have members with one name, a run uses the last member. Two members with one name in a single
    /// object are illegal, and stay.
    fn into_list(self) -> Vec<ObjectMember<'a>> {
        let Self { list, objects } = self;
        let mut last: HashMap<&str, usize> = HashMap::new();
        let mut replaced = Vec::new();
        if objects > 0 {
            replaced = vec![false; list.len()];
            for (place, (object, member)) in list.iter().enumerate() {
                let Some(name) = member.name() else {
                    // The members of this object are unknown, so it may contain the last member of any name.
                    last.clear();
                    continue;
                };
                if let Some(before) = last.insert(name, place) {
                    replaced[before] = list[before].0 != *object;
                }
            }
        }
        let list = list.into_iter().enumerate();
        let list = list.filter(|(place, _)| !replaced.get(*place).is_some_and(|it| *it));
        list.map(|(_, (_, member))| member).collect()
    }
}

fn text_parts(parts: &[Part]) -> Vec<TextPart<'_>> {
    let mut joined = Vec::with_capacity(parts.len());
    for part in parts {
        match (part, joined.last_mut()) {
            (Part::Literal(text), Some(TextPart::Literal(before))) => {
                before.to_mut().push_str(text);
            }
            (Part::Literal(text), _) if text.is_empty() => {}
            (Part::Literal(text), _) => joined.push(TextPart::Literal(Cow::Borrowed(text))),
            (Part::Value { value, spec }, _) => joined.push(TextPart::Value(value, spec)),
        }
    }
    joined
}

/// Returns the member's name for the kind of a source.
pub(super) fn kind(source: Source) -> &'static str {
    match source {
        Source::Step(_) => super::names::source::STEP,
        Source::Input(_) => super::names::source::INPUT,
        Source::Local(_) => super::names::source::LOCAL,
    }
}
