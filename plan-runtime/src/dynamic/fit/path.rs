//! Where a reference leads to in what is known of an output.

use crate::dynamic::dialects::references::Style;
use crate::dynamic::schema::{Beyond, Element, Presence, Property, Type, Types, Work};
use crate::plan::{Absent, Reference, Segment, push_key};
use crate::resolve::describe::short;
use std::fmt::Write;

/// What a reference leads to.
pub(super) struct Found<'a> {
    pub(super) reference: &'a Reference,
    pub(super) ty: Type<'a>,
    /// Why there may be nothing.
    pub(super) absent: Option<String>,
    pub(super) style: Style,
    /// The input whose type nobody stated, where the reference is to the whole of it.
    pub(super) input: Option<usize>,
}

/// Why a way leads nowhere.
pub(super) struct Lost<'a> {
    /// The segment that leads nowhere.
    pub(super) segment: usize,
    /// What it is looked for in.
    pub(super) inside: Type<'a>,
    pub(super) why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
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
    path: &[Segment],
    absent: &mut Option<String>,
    work: &Work,
) -> Result<Result<Type<'a>, Lost<'a>>, Beyond> {
    // What an element lacks is for the element alone.
    let (mut lists, mut of_element) = (0, None);
    for (at, segment) in path.iter().enumerate() {
        let absent = if lists == 0 {
            &mut *absent
        } else {
            &mut of_element
        };
        match segment {
            Segment::Key(_, missing) | Segment::Index(_, missing) => {
                if ty.says_null() && absent.is_none() {
                    *absent = Some(nullable(path, at));
                }
                let (found, presence) = match member(&ty, segment) {
                    Ok(found) => found,
                    Err(why) => {
                        return Ok(Err(Lost {
                            segment: at,
                            inside: ty,
                            why,
                        }));
                    }
                };
                ty = found;
                work.spend(1 + ty.cost())?;
                let can_lack = presence == Presence::Maybe;
                if can_lack && !matches!(missing, Absent::Default(_)) && absent.is_none() {
                    *absent = Some(format!("`{}` may be missing", short(&words(path, at + 1))));
                }
            }
            Segment::Each => {
                if !ty.types().overlaps(Types::LIST) {
                    return Ok(Err(Lost {
                        segment: at,
                        inside: ty,
                        why: Why::NoList,
                    }));
                }
                ty = ty.element();
                work.spend(1 + ty.cost())?;
                lists += 1;
                of_element = None;
            }
            Segment::Optional(_) => {
                absent.get_or_insert_with(|| "the reference has a `?`".to_owned());
            }
            Segment::Or(_) | Segment::Else(_) => *absent = None,
            Segment::Same => {}
        }
    }
    let ends = matches!(path.last(), Some(Segment::Else(_)));
    if lists == 0 && ty.says_null() && absent.is_none() && !ends {
        *absent = Some(nullable(path, path.len()));
    }
    Ok(Ok((0..lists).fold(ty, |ty, _| Type::list(ty))))
}

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
        match segment {
            Segment::Key(key, _) => push_key(&mut place, key),
            Segment::Index(index, _) => {
                let _ = write!(place, "[{index}]");
            }
            Segment::Each => place.push_str("[*]"),
            _ => {}
        }
    }
    place
}

fn member<'a>(ty: &Type<'a>, segment: &Segment) -> Result<(Type<'a>, Presence), Why> {
    let (name, index) = match segment {
        Segment::Key(key, _) => (key.to_string(), crate::plan::index(key)),
        Segment::Index(index, _) => (index.to_string(), Some(*index)),
        _ => return Err(Why::Scalar),
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
                    why = Some(Why::NoElement(length));
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
                why = Some(Why::NoField);
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
            (Why::NoField, Some(_)) => Why::NoList,
            (why, _) => why,
        }),
        (None, None) if ty.types().is_empty() => Ok((Type::any(), Presence::Unknown)),
        (None, None) if ty.types().overlaps(Types::LIST) => Err(Why::List),
        (None, None) if index.is_some() => Err(Why::NoList),
        (None, None) => Err(Why::Scalar),
    }
}
