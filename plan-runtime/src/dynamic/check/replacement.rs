//! What a plan has for a value that is missing: the default of a part, and what replaces a reference that has ended.

use super::unresolved::{Unresolved, UnresolvedReason, index_of};
use crate::dynamic::schema::{TooMuchWork, Type, Types, Work};
use crate::plan::{Path, Selector};
use crate::resolve::{EachTarget, Target, walk};
use serde_json::Value;
use std::ops::Range;

/// A value of the plan that a reference leads to in some runs; never null.
#[derive(Clone)]
pub(super) struct Replacement {
    pub(super) value: Value,
    /// In how many lists it is an element.
    pub(super) lists: usize,
    /// In which runs: `` `a` is missing ``.
    pub(super) when: String,
    /// Where it is in the document, where that is not in a reference to it.
    pub(super) place: Option<Range<usize>>,
}

impl Replacement {
    /// A part of it, in the same runs.
    pub(super) fn with(&self, value: Value) -> Self {
        Self {
            value,
            ..self.clone()
        }
    }
}

/// What the rest of a path leads to from a value of the plan, null where it ends there. Its first segment has this place in the
/// reference.
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

/// Why a value does not have a part.
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

/// How much work it is to copy a value.
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
