//! From a value along a reference's segments to the value that the reference leads to.

use super::describe;
use super::error::{Place, ResolveError, What};
use super::meter::{Meter, charge_value};
use crate::plan::{Absent, Segment, index};
use serde_json::Value;

/// Where the way led.
pub(super) enum Led<'a> {
    To(&'a Value),
    /// To a default, which is nowhere in the output.
    ToDefault(Value),
    /// To every element of this list, and on from each along the rest of the way.
    ToEach(&'a [Value], &'a [Segment]),
    /// To nothing, which was allowed.
    Nowhere,
}

static NULL: Value = Value::Null;

/// Follows `path` from `value` to the end, where everything on it is there, which it nearly always is.
#[inline]
pub(super) fn straight<'a>(value: &'a Value, path: &[Segment]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, segment| match segment {
        Segment::Key(key, _) => member(at, key),
        Segment::Index(index, _) => element(at, *index),
        _ => None,
    })
}

/// Follows `path` from `value`. Nothing is allocated on the way but a default.
pub(super) fn walk<'a>(
    value: &'a Value,
    path: &'a [Segment],
    meter: Option<&Meter<'_>>,
) -> Result<Led<'a>, ResolveError> {
    let mut at = value;
    let mut rest = path;
    while let [segment, tail @ ..] = rest {
        let (found, absent) = match segment {
            Segment::Key(key, absent) => (member(at, key), *absent),
            Segment::Index(index, absent) => (element(at, *index), *absent),
            Segment::Each => {
                return match at {
                    Value::Array(items) => Ok(Led::ToEach(items, tail)),
                    _ => Err(failed(What::NoList, at, path, rest)),
                };
            }
            Segment::Optional(_) if at.is_null() => return nowhere(tail, meter),
            Segment::Optional(_) | Segment::Same | Segment::Or(_) | Segment::Else(_) => {
                rest = tail;
                continue;
            }
        };
        if let Some(found) = found {
            at = found;
            rest = tail;
            continue;
        }
        // Nothing is there. That may be allowed, but only where something could have been.
        let stop =
            matches!(absent, Absent::Stop) || matches!(after(tail), Some(Segment::Optional(true)));
        match at {
            Value::Null if stop => return nowhere(tail, meter),
            Value::Array(items) => {
                if let Segment::Key(key, _) = segment
                    && index(key).is_none()
                {
                    return Err(failed(What::NoInside, at, path, rest));
                }
                if matches!(absent, Absent::Error)
                    && !stop
                    && !matches!(after(tail), Some(Segment::Or(_)))
                {
                    let length = items.len();
                    return Err(failed(What::NoElement { length }, at, path, rest));
                }
            }
            Value::Object(_) => {}
            _ => return Err(failed(What::NoInside, at, path, rest)),
        }
        if stop {
            return nowhere(tail, meter);
        }
        match (absent, after(tail), at) {
            (Absent::Null, ..) => {
                at = &NULL;
                rest = tail;
            }
            (Absent::Default(default), ..) => {
                let default = default();
                charge_value(meter, &default)?;
                return from_default(default, tail, meter);
            }
            (_, Some(Segment::Or(default)), _) => {
                charge_value(meter, default)?;
                return from_default((**default).clone(), tail, meter);
            }
            (_, _, Value::Object(members)) => {
                let name = segment
                    .token()
                    .map(|t| t.decoded().into_owned())
                    .unwrap_or_default();
                let known = describe::known(members, &name);
                return Err(failed(What::NoMember { known }, at, path, rest));
            }
            (_, _, _) => return Err(failed(What::NoInside, at, path, rest)),
        }
    }
    Ok(Led::To(at))
}

/// The way led to nothing, which was allowed.
#[cold]
fn nowhere(tail: &[Segment], meter: Option<&Meter<'_>>) -> Result<Led<'static>, ResolveError> {
    match tail.last() {
        Some(Segment::Else(value)) => {
            charge_value(meter, value)?;
            Ok(Led::ToDefault((**value).clone()))
        }
        _ => Ok(Led::Nowhere),
    }
}

/// The next segment that is there in JSON too.
fn after(tail: &[Segment]) -> Option<&Segment> {
    tail.iter()
        .find(|segment| !matches!(segment, Segment::Same))
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

/// The way stopped before `rest`, which is the end of `path`, at `value`.
#[cold]
fn failed(what: What, value: &Value, path: &[Segment], rest: &[Segment]) -> ResolveError {
    // Pointers end at the next list, of which each element has its own.
    let end = rest
        .iter()
        .position(|segment| matches!(segment, Segment::Each))
        .map_or(path.len(), |each| path.len() - rest.len() + each);
    let tokens: Vec<String> = tokens(&path[..end]).collect();
    let reached = tokens_in(&path[..path.len() - rest.len()]);
    ResolveError::on_the_way(what, value, tokens.into_iter(), reached)
}

/// The unescaped tokens of a part of a path, last to first where reversed.
pub(super) fn tokens(path: &[Segment]) -> impl DoubleEndedIterator<Item = String> {
    path.iter()
        .filter_map(|segment| Some(segment.token()?.decoded().into_owned()))
}

fn tokens_in(path: &[Segment]) -> usize {
    tokens(path).count()
}

#[cold]
fn from_default(
    default: Value,
    rest: &[Segment],
    meter: Option<&Meter<'_>>,
) -> Result<Led<'static>, ResolveError> {
    match follow(&default, rest, meter)? {
        Some(value) => Ok(Led::ToDefault(value)),
        None => Ok(Led::Nowhere),
    }
}

/// As [`walk`], but the result is a value of its own.
pub(super) fn follow(
    value: &Value,
    path: &[Segment],
    meter: Option<&Meter<'_>>,
) -> Result<Option<Value>, ResolveError> {
    match walk(value, path, meter)? {
        Led::To(value) => {
            charge_value(meter, value)?;
            Ok(Some(value.clone()))
        }
        Led::ToDefault(value) => Ok(Some(value)),
        Led::Nowhere => Ok(None),
        Led::ToEach(items, rest) => {
            let each = items.iter().enumerate().map(|(index, item)| {
                let value =
                    follow(item, rest, meter).map_err(|e| behind_each(e, index, path, rest))?;
                Ok(value.unwrap_or(Value::Null))
            });
            each.collect::<Result<_, ResolveError>>()
                .map(|list| Some(Value::Array(list)))
        }
    }
}

/// Completes the error of an element: `path` led to its list, `rest` on from it.
#[cold]
pub(super) fn behind_each(
    error: ResolveError,
    index: usize,
    path: &[Segment],
    rest: &[Segment],
) -> ResolveError {
    let list = &path[..path.len() - rest.len()];
    let list = &list[..list.len().saturating_sub(1)];
    error
        .inside_value(Place::Index(index))
        .behind(tokens(list).rev())
}
