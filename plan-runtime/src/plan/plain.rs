use super::write::{Joined, Member, joined, members};
use super::{Absent, Entry, Key, Number, Part, Reference, Segment, Tag, Template};
use crate::shape::Tagging;

impl Template {
    /// The same template, as it is read from canonical JSON: variants of enums and members of nested objects stand where
    /// serde puts them, and texts that stand beside each other are one.
    pub(crate) fn plain(&self) -> Self {
        match self {
            Self::Null | Self::Bool(_) | Self::String(_) | Self::Computed(_) => self.clone(),
            Self::Number(number) => Self::Number(match *number {
                Number::Signed(value) => match u64::try_from(value) {
                    Ok(value) => Number::Unsigned(value),
                    Err(_) => Number::Signed(value),
                },
                other => other,
            }),
            Self::List(items) => {
                let items: Vec<Self> = items.iter().map(Self::plain).collect();
                Self::List(items.into())
            }
            Self::Object(entries) => match &entries[..] {
                [entry] if entry.key == Key::Inner => entry.value.plain(),
                _ => self.plain_members(),
            },
            Self::Tagged(Tag::None | Tag::Variant(Tagging::Untagged, _), content) => {
                content.first().map_or(Self::Null, Self::plain)
            }
            Self::Tagged(Tag::Variant(Tagging::External, name), content) if content.is_empty() => {
                Self::String((*name).into())
            }
            Self::Tagged(..) => self.plain_members(),
            Self::Reference(reference) => Self::Reference(reference.plain()),
            Self::Text(parts) => match &joined(parts)[..] {
                [] => Self::String("".into()),
                [Joined::Text(text)] => Self::String(text.clone().into_owned().into()),
                parts => {
                    let part = |part: &Joined<'_>| match part {
                        Joined::Text(text) => Part::Literal(text.clone().into_owned().into()),
                        Joined::Value(value, spec) => Part::Value {
                            value: value.plain(),
                            spec: (*spec).to_owned().into(),
                            show: None,
                        },
                    };
                    Self::Text(parts.iter().map(part).collect::<Vec<_>>().into())
                }
            },
        }
    }

    fn plain_members(&self) -> Self {
        let mut found = Vec::new();
        members(self, &mut found);
        let entry = |member: Member<'_>| {
            let (key, value) = match member {
                Member::Template(name, value) => (Key::Name(name.to_owned().into()), value.plain()),
                Member::Name(name, text) => (
                    Key::Name(name.to_owned().into()),
                    Self::String(text.to_owned().into()),
                ),
                Member::Flat(value) => (Key::Flattened, value.plain()),
            };
            Entry { key, value }
        };
        Self::Object(found.into_iter().map(entry).collect::<Vec<_>>().into())
    }
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
