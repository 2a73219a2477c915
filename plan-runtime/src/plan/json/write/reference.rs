//! References, and the paths that lead on from what they read.

use super::InPlan;
use crate::plan::json::names::{absent, default, element, missing, reference as names, segment};
use crate::plan::json::view::{Item, Nothing, is_pointer, items, kind};
use crate::plan::{Absent, Reference, Segment, Source, agrees, written};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;

/// A step or an input, by its name alone; a local value by its depth.
pub(super) struct Named(pub(super) Source);

impl Serialize for InPlan<'_, Named> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Named(source) = self.part;
        match (self.plan, source) {
            (_, Source::Local(depth)) => depth.serialize(serializer),
            (Some(plan), source) => match plan.name_of(source) {
                Some(name) => serializer.serialize_str(name),
                None => Err(S::Error::custom(format_args!("the plan has no {source:?}"))),
            },
            (None, Source::Step(place) | Source::Input(place)) => place.serialize(serializer),
        }
    }
}

impl<T> InPlan<'_, T> {
    fn write_source<M: SerializeMap>(&self, map: &mut M, source: Source) -> Result<(), M::Error> {
        map.serialize_entry(kind(source), &self.of(Named(source)))
    }
}

impl Serialize for InPlan<'_, Source> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        self.write_source(&mut map, self.part)?;
        map.end()
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::alone(self).serialize(serializer)
    }
}

impl Serialize for InPlan<'_, &Reference> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reference = self.part;
        let mut map = serializer.serialize_map(None)?;
        self.write_source(&mut map, reference.source)?;
        if is_pointer(&reference.path) {
            map.serialize_entry(names::POINTER, reference.pointer().as_str())?;
        } else {
            map.serialize_entry(names::PATH, &Path(&reference.path))?;
        }
        // A reader derives it, and takes none that does not agree.
        let name = self.plan.and_then(|plan| plan.name_of(reference.source));
        if let Some(name) = name
            && !is_derived(name, reference)
            && agrees(name, &reference.path, &reference.written)
        {
            map.serialize_entry(names::WRITTEN, &reference.written)?;
        }
        map.end()
    }
}

/// Whether a reference is written as its source and its path are, be it without what they say of values that are not there.
fn is_derived(name: &str, reference: &Reference) -> bool {
    let way: Cow<'_, [Segment]> = reference.path.iter().filter_map(bare).collect();
    [&reference.path, &way].into_iter().any(|path| {
        reference.written == written(name, path)
            // The same, with a name that is not a word.
            || reference.written.strip_prefix(name) == written("x", path).strip_prefix('x')
    })
}

fn bare(segment: &Segment) -> Option<Segment> {
    match segment {
        Segment::Key(key, _) => Some(Segment::Key(key.clone(), Absent::Error)),
        Segment::Index(index, _) => Some(Segment::Index(*index, Absent::Error)),
        Segment::Each => Some(Segment::Each),
        Segment::Optional(_) => Some(Segment::Optional(false)),
        Segment::Same | Segment::Or(_) | Segment::Else(_) => None,
    }
}

struct Path<'a>(&'a [Segment]);

impl Serialize for Path<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for item in items(self.0) {
            match item {
                Item::Token(token, Nothing::Error) => list.serialize_element(&token)?,
                item => list.serialize_element(&item)?,
            }
        }
        list.end()
    }
}

/// A segment as an object of its own.
impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Token(token, nothing) => {
                match nothing {
                    Nothing::Error => {}
                    Nothing::Null => map.serialize_entry(segment::ABSENT, absent::NULL)?,
                    Nothing::Stop => map.serialize_entry(segment::ABSENT, absent::STOP)?,
                    Nothing::Default(value) => {
                        let value = serde_json::Map::from_iter([(
                            default::DEFAULT.to_owned(),
                            value.clone().into_owned(),
                        )]);
                        map.serialize_entry(segment::ABSENT, &value)?;
                    }
                }
                map.serialize_entry(segment::TOKEN, token)?;
            }
            Self::Each => map.serialize_entry(segment::EACH, element::ELEMENT)?,
            Self::Optional(true) => map.serialize_entry(segment::OPTIONAL, missing::MISSING)?,
            Self::Optional(false) => map.serialize_entry(segment::OPTIONAL, missing::NULL)?,
            Self::Else(value) => map.serialize_entry(segment::ELSE, value)?,
        }
        map.end()
    }
}
