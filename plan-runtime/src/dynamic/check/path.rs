//! Where a reference leads to in what is known of an output.

use crate::dynamic::schema::{Element, Presence, Property, TooMuchWork, Type, Types, Work};
use crate::plan::{Absent, Path, Segment, Selector, push_key};
use crate::resolve::describe::short;
use std::fmt::Write;

/// What a step, an input or a reference gives.
#[derive(Clone)]
pub(super) struct Given<'a> {
    pub(super) ty: Type<'a>,
    /// Why it may be null, or there may be nothing.
    pub(super) absent: Option<String>,
}

impl<'a> Given<'a> {
    pub(super) fn any() -> Self {
        Self::typed(Type::any())
    }

    pub(super) fn typed(ty: Type<'a>) -> Self {
        Self { ty, absent: None }
    }

    pub(super) fn nullable(&mut self, why: String) {
        let ty = std::mem::replace(&mut self.ty, Type::none());
        self.ty = ty.nullable();
        self.absent = Some(why);
    }
}

/// Why it is not known what a reference leads to.
pub(super) enum LeadsNowhere<'a> {
    Lost(Box<Unresolved<'a>>),
    Unknown(TooMuchWork),
}

impl From<TooMuchWork> for LeadsNowhere<'_> {
    fn from(why: TooMuchWork) -> Self {
        Self::Unknown(why)
    }
}

/// Why a path leads nowhere.
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

/// What a path leads to from what is given. It goes the way of `resolve/walk.rs`: what ends the reference there is replaced by its
/// `otherwise`, and anything else that is null or missing is not.
///
/// # Errors
///
/// Where the path leads nowhere, or there is too much work.
pub(super) fn follow<'a>(
    given: Given<'a>,
    path: Path<'_>,
    work: &Work,
) -> Result<Given<'a>, LeadsNowhere<'a>> {
    // Why the value so far may be null.
    let (mut ty, mut null) = (given.ty, given.absent);
    // Why it may end, as a whole and as an element of a list, and why it may fail.
    let (mut ends, mut fails): ([Option<String>; 2], Option<String>) = ([None, None], None);
    let (mut lists, mut optional) = (0, path.optional);
    for (at, segment) in path.segments.iter().enumerate() {
        let ends = &mut ends[usize::from(lists > 0)];
        null = null.or_else(|| nullable(&ty, path.segments, at));
        if optional {
            let why = null.take();
            ends.get_or_insert_with(|| why.unwrap_or_else(|| QUESTION_MARK.to_owned()));
        }
        optional = segment.optional;
        let is_each = segment.is_each();
        let may_end = matches!(segment.absent, Absent::End) && !is_each;
        let reason = if may_end { &mut *ends } else { &mut fails };
        *reason = reason.take().or(null.take());
        let found = if is_each {
            lists += 1;
            let is_list = ty.types().overlaps(Types::LIST);
            let element = is_list.then(|| (ty.element(), Presence::Sure));
            element.ok_or(UnresolvedReason::NoList)
        } else {
            member(&ty, segment)
        };
        let presence;
        (ty, presence) = found.map_err(|why| {
            LeadsNowhere::Lost(Box::new(Unresolved {
                segment: at,
                inside: ty,
                why,
            }))
        })?;
        work.spend(1 + ty.cost())?;
        if presence == Presence::Maybe {
            let reason = match &segment.absent {
                Absent::Error => &mut fails,
                Absent::End => ends,
                Absent::Default(default) if default.is_null() => &mut null,
                Absent::Default(_) => continue,
            };
            let missing = short(&words(path.segments, at + 1));
            reason.get_or_insert_with(|| format!("`{missing}` may be missing"));
        }
    }
    let [mut ends, _] = ends;
    if lists == 0 {
        null = null.or_else(|| nullable(&ty, path.segments, path.segments.len()));
        if optional {
            let why = null.take();
            ends.get_or_insert_with(|| why.unwrap_or_else(|| QUESTION_MARK.to_owned()));
        }
    } else {
        // An element that is null, or has ended, is null in the list.
        null = None;
    }
    if path.otherwise.is_some_and(|value| !value.is_null()) {
        ends = None;
    }
    let ty = (0..lists).fold(ty, |ty, _| Type::list(ty));
    let absent = ends.or(fails).or(null);
    Ok(Given { ty, absent })
}

/// Why there may be nothing where the author has written `?`.
const QUESTION_MARK: &str = "the reference has a `?`";

fn nullable(ty: &Type<'_>, path: &[Segment], end: usize) -> Option<String> {
    ty.says_null().then(|| match words(path, end).as_str() {
        "" => "the output may be null".to_owned(),
        place => format!("`{}` may be null", short(place)),
    })
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
