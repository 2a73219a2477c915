//! The walk from a value along a reference's segments to the target of the reference.

use super::describe;
use super::error::{ErrorDetail, Location, ResolveError};
use crate::plan::{Absent, ERR, Path, Segment, Selector, index};
use serde_json::Value;

/// The target of a path.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    Value(&'a Value),
    Each(EachTarget<'a>),
    Absent,
}

/// Each element of a list, from which `rest` leads on. `path` led to the list and ends with `rest`.
#[derive(Clone, Copy)]
pub(crate) struct EachTarget<'a> {
    pub(crate) items: &'a [Value],
    pub(super) path: Path<'a>,
    pub(crate) rest: Path<'a>,
}

/// Follows `path` from `value` to the end. Returns `None` if a part is missing.
#[inline(always)]
pub(super) fn straight<'a>(value: &'a Value, path: Path<'_>) -> Option<&'a Value> {
    if path.optional && value.is_null() {
        return None;
    }
    if path.segments.is_empty() {
        return Some(value);
    }
    along(value, path.segments)
}

#[inline(never)]
fn along<'a>(value: &'a Value, segments: &[Segment]) -> Option<&'a Value> {
    segments.iter().try_fold(value, |at, segment| {
        let found = match &segment.selector {
            Selector::Key(key) => member(at, key)?,
            Selector::Index(index) => element(at, *index)?,
            Selector::Each => return None,
        };
        (!segment.optional || !found.is_null()).then_some(found)
    })
}

/// Follows `path` from `value`, without allocation: defaults are borrowed from the path.
pub(crate) fn walk<'a>(value: &'a Value, path: Path<'a>) -> Result<Target<'a>, ResolveError> {
    let otherwise = path.otherwise;
    let ended = || Ok(otherwise.map_or(Target::Absent, Target::Value));
    let (mut at, mut optional) = (value, path.optional);
    for (place, segment) in path.segments.iter().enumerate() {
        if optional && at.is_null() {
            return ended();
        }
        let found = match (&segment.selector, at) {
            (Selector::Key(key), _) => member(at, key),
            (Selector::Index(index), _) => element(at, *index),
            (Selector::Each, Value::Array(items)) => {
                let rest = path.after(place);
                return Ok(Target::Each(EachTarget { items, path, rest }));
            }
            (Selector::Each, _) => return Err(failed(ErrorDetail::NoList, at, path, place)),
        };
        at = match found {
            Some(found) => found,
            None => match missing(segment, at) {
                Ok(Some(default)) => default,
                Ok(None) => return ended(),
                Err(what) => return Err(failed(what, at, path, place)),
            },
        };
        optional = segment.optional;
    }
    if optional && at.is_null() {
        return ended();
    }
    Ok(Target::Value(at))
}

/// Returns the replacement for a missing part: a default, or `None` for the end of the reference. Only a value that could contain
/// such a part has a replacement.
#[cold]
fn missing<'a>(segment: &'a Segment, value: &Value) -> Result<Option<&'a Value>, ErrorDetail> {
    let is_key = matches!(&segment.selector, Selector::Key(key) if index(key).is_none());
    match (&segment.absent, value) {
        (Absent::End, Value::Null) => Ok(None),
        (_, Value::Array(_)) if is_key => Err(ErrorDetail::NoInside),
        (Absent::End, Value::Array(_) | Value::Object(_)) => Ok(None),
        (Absent::Default(default), Value::Array(_) | Value::Object(_)) => Ok(Some(default)),
        (Absent::Failure, Value::Object(members)) if members.contains_key(ERR) => {
            Err(ErrorDetail::failed(&members[ERR]))
        }
        (Absent::Error | Absent::Failure, Value::Array(items)) => Err(ErrorDetail::NoElement {
            length: items.len(),
        }),
        (Absent::Error | Absent::Failure, Value::Object(members)) => {
            let name = segment.token().map(|token| token.decoded().into_owned());
            let known = describe::known(members, &name.unwrap_or_default());
            Err(ErrorDetail::NoMember { known })
        }
        _ => Err(ErrorDetail::NoInside),
    }
}

#[inline]
fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(key),
        Value::Array(items) => items.get(index(key)?),
        _ => None,
    }
}

#[inline]
fn element(value: &Value, index: usize) -> Option<&Value> {
    match value {
        Value::Array(items) => items.get(index),
        Value::Object(members) => members.get(itoa::Buffer::new().format(index)),
        _ => None,
    }
}

/// Returns the error of a path that stopped at `value`, before the part with this index.
#[cold]
fn failed(what: ErrorDetail, value: &Value, path: Path<'_>, place: usize) -> ResolveError {
    // A pointer ends at the next list, whose elements have pointers of their own.
    let segments = path.segments[place..].iter();
    let more = segments.take_while(|segment| !segment.is_each()).count();
    let tokens: Vec<String> = tokens(&path.segments[..place + more]).collect();
    ResolveError::on_the_way(what, value, tokens.into_iter(), place)
}

/// Returns the unescaped tokens of a part of a path.
pub(super) fn tokens(path: &[Segment]) -> impl DoubleEndedIterator<Item = String> {
    path.iter()
        .filter_map(|segment| Some(segment.token()?.decoded().into_owned()))
}

impl EachTarget<'_> {
    /// Completes the error of an element.
    #[cold]
    pub(super) fn behind(&self, error: ResolveError, index: usize) -> ResolveError {
        error
            .inside_value(Location::Index(index))
            .behind(tokens(self.list_path()).rev())
    }

    /// Returns the part of the path up to the list.
    pub(super) fn list_path(&self) -> &[Segment] {
        let (all, rest) = (self.path.segments, self.rest.segments);
        &all[..all.len() - rest.len() - 1]
    }
}
