//! Replacements of missing values: the default of a part, and the replacement of a reference that has ended.

use super::unresolved::{Unresolved, UnresolvedReason, index_of};
use crate::dynamic::schema::{TooMuchWork, Type, Types, Work};
use crate::plan::{Key, Path, Selector, Template};
use crate::resolve::{EachTarget, Target, walk};
use serde_json::{Map, Value};
use std::ops::Range;

/// A value of the plan that replaces a missing value in some runs; never null.
#[derive(Clone)]
pub(super) struct Replacement {
    pub(super) value: Value,
    /// The number of lists around the value.
    pub(super) lists: usize,
    /// The condition of the runs: `` `a` is missing ``.
    pub(super) when: String,
    /// The place in the document; `None` if the reference contains the value.
    pub(super) place: Option<Range<usize>>,
}

impl Replacement {
    /// Returns a part of the value, under the same condition.
    pub(super) fn with(&self, value: Value) -> Self {
        Self {
            value,
            ..self.clone()
        }
    }
}

/// Follows the rest of a path from a value of the plan; null if the reference ends. The number is the position of the first segment.
pub(super) fn lead_on<'a>(
    value: &Value,
    (path, at): (Path<'_>, usize),
    when: &str,
    work: &Work,
) -> Result<Result<Value, Box<Unresolved<'a>>>, TooMuchWork> {
    work.spend(1 + path.segments.len())?;
    match walk(value, path) {
        Ok(Target::Value(value)) => {
            work.spend(weight(value))?;
            Ok(Ok(value.clone()))
        }
        Ok(Target::Each(EachTarget { items, rest, .. })) => {
            let at = at + path.segments.len() - rest.segments.len();
            let mut found = Vec::with_capacity(items.len());
            for item in items {
                match lead_on(item, (rest, at), when, work)? {
                    Ok(value) => found.push(value),
                    Err(lost) => return Ok(Err(lost)),
                }
            }
            Ok(Ok(found.into()))
        }
        Ok(_) => Ok(Ok(Value::Null)),
        Err(_) => {
            let mut inside = value;
            let parts = path.segments.iter();
            let place = parts.take_while(|segment| {
                let part = Path {
                    optional: false,
                    segments: std::slice::from_ref(*segment),
                    otherwise: None,
                };
                match walk(inside, part) {
                    Ok(Target::Value(value)) => inside = value,
                    _ => return false,
                }
                true
            });
            let place = place.count();
            Ok(Err(Box::new(Unresolved {
                segment: at + place,
                inside: Type::plain(Types::of(inside)),
                why: why(inside, &path.segments[place].selector),
                when: Some(when.to_owned()),
            })))
        }
    }
}

/// Returns the reason why a value does not have a part.
fn why(value: &Value, selector: &Selector) -> UnresolvedReason {
    match (value, index_of(selector)) {
        (Value::Array(items), Some(_)) => UnresolvedReason::NoElement(items.len()),
        (Value::Array(_), None) => UnresolvedReason::List,
        (_, Some(_)) => UnresolvedReason::NoList,
        _ if *selector == Selector::Each => UnresolvedReason::NoList,
        (Value::Object(_), None) => UnresolvedReason::NoField,
        (_, None) => UnresolvedReason::Scalar,
    }
}

/// Returns the work of copying a value.
pub(super) fn weight(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => text.len() / 64,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| name.len() / 64 + weight(value))
                .sum()
        }
        _ => 0,
    }
}

/// Returns the value of a literal template within the limit. Null also stands for a part that could not be read.
pub(super) fn literal(template: &Template, room: &mut usize) -> Option<Value> {
    *room = room.checked_sub(1)?;
    Some(match template {
        Template::Bool(value) => Value::from(*value),
        Template::Number(number) => number.value(),
        Template::String(text) => {
            *room = room.checked_sub(text.len() / 64)?;
            Value::from(text.as_str())
        }
        Template::List(items) => {
            let items = items.iter().map(|item| literal(item, room));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Template::Object(entries) => {
            let member = |entry: &crate::plan::Entry| match &entry.key {
                Key::Name(name) => Some((name.clone(), literal(&entry.value, room)?)),
                Key::Flattened | Key::Inner => None,
            };
            Value::Object(entries.iter().map(member).collect::<Option<Map<_, _>>>()?)
        }
        Template::Null
        | Template::Tagged(..)
        | Template::Text(_)
        | Template::Test(_)
        | Template::Reference(_)
        | Template::Computed(_) => return None,
    })
}
