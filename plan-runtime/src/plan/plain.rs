//! The normal form of a template, which equals the template after a round trip through plan JSON.

use super::json::{ObjectMember, TextPart, View};
use super::{Entry, Key, Part, Reference, Selector, Template, index};

impl Template {
    /// Returns the template in the form that plan JSON has: variants of enums and members of nested objects have the
    /// positions that serde gives them, and adjacent strings are joined.
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
