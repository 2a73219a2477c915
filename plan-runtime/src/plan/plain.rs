//! Templates as they are read from plan JSON.

use super::json::{Member, TextPart, View};
use super::{Absent, Entry, Key, Part, Reference, Segment, Template};

impl Template {
    /// The same template, as it is read from plan JSON: variants of enums and members of nested objects are where
    /// serde puts them, and adjacent texts are one.
    pub(crate) fn plain(&self) -> Self {
        match self.view() {
            View::Null => Self::Null,
            View::Bool(value) => Self::Bool(value),
            View::Number(number) => Self::Number(number),
            View::String(text) => match self {
                Self::String(_) => self.clone(),
                _ => Self::String(text.into_owned().into()),
            },
            View::List(items) => Self::List(items.iter().map(Self::plain).collect()),
            View::Object(members) => Self::Object(members.into_iter().map(entry).collect()),
            View::Reference(reference) => Self::Reference(reference.plain()),
            View::Text(parts) => {
                let part = |part| match part {
                    TextPart::Literal(text) => Part::Literal(text.into_owned().into()),
                    TextPart::Value(value, spec) => Part::Value {
                        value: value.plain(),
                        spec: spec.to_owned().into(),
                        show: None,
                    },
                };
                Self::Text(parts.into_iter().map(part).collect())
            }
            View::Computed(computed) => Self::Computed(computed.clone()),
        }
    }
}

fn entry(member: Member<'_>) -> Entry {
    let (key, value) = match member {
        Member::Template(name, value) => (Key::Name(name.to_owned().into()), value.plain()),
        Member::Text(name, text) => (
            Key::Name(name.to_owned().into()),
            Template::String(text.to_owned().into()),
        ),
        Member::Flattened(value) => (Key::Flattened, value.plain()),
    };
    Entry { key, value }
}

impl Reference {
    fn plain(&self) -> Self {
        let mut path = Vec::with_capacity(self.path.len());
        for segment in self.path.iter() {
            match segment.clone() {
                Segment::Same => {}
                Segment::Key(key, Absent::Default(make)) => {
                    path.push(Segment::of_token(key.into_owned(), Absent::Error));
                    path.push(Segment::Or(Box::new(make())));
                }
                Segment::Key(key, absent) => {
                    path.push(Segment::of_token(key.into_owned(), absent));
                }
                Segment::Index(index, Absent::Default(make)) => {
                    path.push(Segment::Index(index, Absent::Error));
                    path.push(Segment::Or(Box::new(make())));
                }
                other => path.push(other),
            }
        }
        Self {
            source: self.source,
            path: path.into(),
            written: self.written.clone(),
        }
    }
}
