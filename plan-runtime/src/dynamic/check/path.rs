//! Where a reference leads to in what is known of an output.

use crate::dynamic::dialects::references::Style;
use crate::dynamic::schema::{Element, Presence, Property, TooMuchWork, Type, Types, Work};
use crate::plan::{Absent, Path, Reference, Segment, Selector, push_key};
use crate::resolve::describe::short;
use std::fmt::Write;

/// What a reference leads to.
pub(super) struct Resolved<'a> {
    pub(super) reference: &'a Reference,
    pub(super) ty: Type<'a>,
    /// Why there may be nothing.
    pub(super) absent: Option<String>,
    pub(super) style: Style,
    /// The input whose type nobody stated, where the reference is to the whole of it.
    pub(super) input: Option<usize>,
}

/// Why a way leads nowhere.
pub(super) struct Unresolved<'a> {
    /// The segment that leads nowhere.
    pub(super) segment: usize,
    /// What it is looked for in.
    pub(super) inside: Type<'a>,
    pub(super) why: UnresolvedReason,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnresolvedReason {
    NoField,
    /// The list has at most this number of elements.
    NoElement(usize),
    NoList,
    /// Fields are of an element, and this is a list.
    List,
    /// It has no parts.
    Scalar,
}

/// Follows a path.
///
/// # Errors
///
/// Where there is too much work. That the path leads nowhere is one of the answers.
pub(super) fn follow<'a>(
    mut ty: Type<'a>,
    path: Path<'_>,
    absent: &mut Option<String>,
    work: &Work,
) -> Result<Result<Type<'a>, Unresolved<'a>>, TooMuchWork> {
    // What an element lacks is for the element alone.
    let (mut lists, mut of_element) = (0, None);
    let mut optional = path.optional;
    for (at, segment) in path.segments.iter().enumerate() {
        let lost = |inside, why| {
            Ok(Err(Unresolved {
                segment: at,
                inside,
                why,
            }))
        };
        let absent = if lists == 0 {
            &mut *absent
        } else {
            &mut of_element
        };
        if optional {
            absent.get_or_insert_with(|| ASKED.to_owned());
        }
        optional = segment.optional;
        if segment.is_each() {
            if !ty.types().overlaps(Types::LIST) {
                return lost(ty, UnresolvedReason::NoList);
            }
            ty = ty.element();
            work.spend(1 + ty.cost())?;
            lists += 1;
            of_element = None;
            continue;
        }
        if ty.says_null() && absent.is_none() {
            *absent = Some(nullable(path.segments, at));
        }
        let (found, presence) = match member(&ty, segment) {
            Ok(found) => found,
            Err(why) => return lost(ty, why),
        };
        ty = found;
        work.spend(1 + ty.cost())?;
        let has_default = matches!(&segment.absent, Absent::Default(default) if !default.is_null());
        if presence == Presence::Maybe && !has_default && absent.is_none() {
            *absent = Some(format!(
                "`{}` may be missing",
                short(&words(path.segments, at + 1))
            ));
        }
    }
    if lists == 0 && optional {
        absent.get_or_insert_with(|| ASKED.to_owned());
    }
    if lists == 0 && ty.says_null() && absent.is_none() {
        *absent = Some(nullable(path.segments, path.segments.len()));
    }
    if path.otherwise.is_some() {
        *absent = None;
    }
    Ok(Ok((0..lists).fold(ty, |ty, _| Type::list(ty))))
}

/// Why there may be nothing where the author has written `?`.
const ASKED: &str = "the reference has a `?`";

fn nullable(path: &[Segment], end: usize) -> String {
    match words(path, end).as_str() {
        "" => "the output may be null".to_owned(),
        place => format!("`{}` may be null", short(place)),
    }
}

/// The part of a path up to a segment, as people write it: `data[0].from`.
pub(super) fn words(path: &[Segment], end: usize) -> String {
    let mut place = String::new();
    for segment in path.iter().take(end) {
        match &segment.selector {
            Selector::Key(key) => push_key(&mut place, key),
            Selector::Index(index) => {
                let _ = write!(place, "[{index}]");
            }
            Selector::Each => place.push_str("[*]"),
        }
    }
    place
}

fn member<'a>(ty: &Type<'a>, segment: &Segment) -> Result<(Type<'a>, Presence), UnresolvedReason> {
    let (name, index) = match &segment.selector {
        Selector::Key(key) => (key.clone(), crate::plan::index(key)),
        Selector::Index(index) => (index.to_string(), Some(*index)),
        Selector::Each => return Err(UnresolvedReason::NoList),
    };
    let mut found: Option<Type<'a>> = None;
    let mut presence = Presence::Sure;
    let mut why = None;
    for form in ty.forms() {
        let types = form.types();
        let property = match index {
            Some(index) if types.overlaps(Types::LIST) => match form.element(Some(index)) {
                Element::Type(element) => Property::Type(element),
                Element::Beyond(length) => {
                    why = Some(UnresolvedReason::NoElement(length));
                    continue;
                }
            },
            _ if types.overlaps(Types::OBJECT) => {
                presence = match (form.presence(&name), presence) {
                    (Presence::Sure, others) => others,
                    (Presence::Unknown, _) | (_, Presence::Unknown) => Presence::Unknown,
                    (Presence::Maybe, _) => Presence::Maybe,
                };
                form.property(&name)
            }
            _ => continue,
        };
        let property = match property {
            Property::Type(property) => property,
            Property::Open => Type::any(),
            Property::Unlisted | Property::Closed => {
                why = Some(UnresolvedReason::NoField);
                continue;
            }
        };
        found = Some(match found {
            Some(others) => others.or(property),
            None => property,
        });
    }
    match (found, why) {
        // Where only some of the forms have it, nothing is known of whether it is there.
        (Some(found), Some(_)) => Ok((found, Presence::Unknown)),
        (Some(found), None) => Ok((found, presence)),
        (None, Some(why)) => Err(match (why, index) {
            (UnresolvedReason::NoField, Some(_)) => UnresolvedReason::NoList,
            (why, _) => why,
        }),
        (None, None) if ty.types().is_empty() => Ok((Type::any(), Presence::Unknown)),
        (None, None) if ty.types().overlaps(Types::LIST) => Err(UnresolvedReason::List),
        (None, None) if index.is_some() => Err(UnresolvedReason::NoList),
        (None, None) => Err(UnresolvedReason::Scalar),
    }
}
