//! References, and the paths into the values of their sources.

use super::InPlan;
use crate::plan::json::names::{absent, default, element, reference as names, segment};
use crate::plan::json::view::kind;
use crate::plan::{Absent, Reference, Segment, Source, agrees, written};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use std::collections::HashMap;

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
        if reference.optional {
            map.serialize_entry(names::OPTIONAL, &true)?;
        }
        if reference.path.iter().all(Segment::is_plain) {
            map.serialize_entry(names::POINTER, reference.pointer().as_str())?;
        } else {
            map.serialize_entry(names::PATH, &reference.path)?;
        }
        if let Some(otherwise) = &reference.otherwise {
            map.serialize_entry(names::ELSE, otherwise)?;
        }
        // A reader derives the member, and refuses a member that differs.
        let name = self.plan.and_then(|plan| plan.name_of(reference.source));
        if !self.without_notation
            && let (Some(name), Some(text)) = (name, reference.as_written())
            && !is_derived(name, reference, text)
            && agrees(name, reference.path(), text)
        {
            map.serialize_entry(names::WRITTEN, text)?;
        }
        map.end()
    }
}

/// Returns `true` if a string is the derived notation of the source and the path, possibly without the parts about missing
/// values.
fn is_derived(name: &str, reference: &Reference, text: &str) -> bool {
    let mut bare = reference.clone();
    bare.otherwise = None;
    bare.path
        .iter_mut()
        .for_each(|it| it.absent = Absent::Error);
    [reference.path(), bare.path()].into_iter().any(|path| {
        text == written(name, path)
            // The name may contain characters that are not part of a word.
            || text.strip_prefix(name) == written("x", path).strip_prefix('x')
    })
}

/// Writes a token if the token is the complete segment, or else an object.
impl Serialize for Segment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let token = self.token();
        let token = token.as_ref().map(jsonptr::Token::decoded);
        if let (Some(token), true) = (&token, self.is_plain()) {
            return serializer.serialize_str(token);
        }
        let mut map = serializer.serialize_map(None)?;
        match (token, &self.absent) {
            (None, _) => map.serialize_entry(segment::EACH, element::ELEMENT)?,
            (Some(token), absent) => {
                map.serialize_entry(segment::TOKEN, &token)?;
                match absent {
                    Absent::Error => {}
                    Absent::End => map.serialize_entry(segment::ABSENT, absent::END)?,
                    Absent::Failure => map.serialize_entry(segment::ABSENT, absent::FAILURE)?,
                    Absent::Default(value) if value.is_null() => {
                        map.serialize_entry(segment::ABSENT, absent::NULL)?;
                    }
                    Absent::Default(value) => {
                        let value = HashMap::from([(default::DEFAULT, value)]);
                        map.serialize_entry(segment::ABSENT, &value)?;
                    }
                }
            }
        }
        if self.optional {
            map.serialize_entry(segment::OPTIONAL, &true)?;
        }
        map.end()
    }
}
