//! Where a reference leads to in what is known of an output.

use super::replacement::{Replacement, lead_on};
use super::unresolved::{Unresolved, UnresolvedReason, index_of};
use crate::dynamic::schema::{Element, Presence, Property, TooMuchWork, Type, Types, Work};
use crate::plan::{Absent, Path, Segment, Selector, push_key};
use crate::resolve::describe::short;
use serde_json::Value;
use std::fmt::Write;
use std::mem::replace;

/// What a step, an input or a reference gives.
#[derive(Clone)]
pub(super) struct Given<'a> {
    /// What is found. No value fits it where nothing ever is.
    pub(super) ty: Type<'a>,
    /// Why it may be null, or there may be nothing.
    pub(super) absent: Option<String>,
    /// Before which part of the reference a run fails where something is null, and why it may be.
    pub(super) breaks: Option<(usize, String)>,
    /// What the plan has for what is missing or has ended.
    pub(super) replaced: Vec<Replacement>,
    /// What is looked for in vain, where the reference can do without it.
    pub(super) lost: Option<Box<Unresolved<'a>>>,
}

impl<'a> Given<'a> {
    pub(super) fn any() -> Self {
        Self::typed(Type::any())
    }

    pub(super) fn typed(ty: Type<'a>) -> Self {
        Self {
            ty,
            absent: None,
            breaks: None,
            replaced: Vec::new(),
            lost: None,
        }
    }

    /// The same in a `Result`.
    pub(super) fn caught(self, work: &'a Work) -> Self {
        Self::typed(Type::result(self.ty, work))
    }

    /// The same list, in which the plan has these for some elements.
    pub(super) fn with_elements(self, mut replaced: Vec<Replacement>) -> Self {
        replaced.iter_mut().for_each(|other| other.lists += 1);
        Self { replaced, ..self }
    }

    pub(super) fn nullable(&mut self, why: String) {
        self.ty = replace(&mut self.ty, Type::none()).nullable();
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

/// What a path leads to from what is given. It goes the way of `resolve/walk.rs`: what ends the reference there is replaced by its
/// `otherwise`, what is missing by its default, and anything else that is null or missing is not.
///
/// # Errors
///
/// Where each run fails that comes to one of the segments, or to the plan's own value for one, and where there is too much work.
pub(super) fn follow<'a>(
    given: Given<'a>,
    path: Path<'_>,
    work: &Work,
) -> Result<Given<'a>, LeadsNowhere<'a>> {
    let mut found = Given::typed(given.ty);
    // A schema that nothing fits says nothing.
    if found.ty.types().is_empty() && given.replaced.is_empty() {
        found.ty = Type::any();
    }
    for other in given.replaced.iter().filter(|other| other.lists == 0) {
        match lead_on(&other.value, (path, 0), &other.when, work)? {
            Ok(Value::Null) => found.absent = Some(other.when.clone()),
            Ok(value) => found.replaced.push(other.with(value)),
            Err(lost) => return Err(LeadsNowhere::Lost(lost)),
        }
    }
    let mut way = Way {
        path,
        work,
        null: given.absent,
        ends: vec![End::default()],
        fails: None,
        found,
    };
    let mut optional = path.optional;
    for (at, segment) in path.segments.iter().enumerate() {
        way.may_end(at, optional);
        if way.found.ty.types().is_empty() {
            break;
        }
        way.part(at, segment)?;
        optional = segment.optional;
    }
    way.may_end(path.segments.len(), optional);
    Ok(way.arrived())
}

/// How far a path was followed.
struct Way<'a, 'p> {
    path: Path<'p>,
    work: &'p Work,
    /// Why the value so far may be null.
    null: Option<String>,
    /// Whether the reference may end, as a whole and in each list that it leads into.
    ends: Vec<End>,
    /// Why it may fail.
    fails: Option<String>,
    /// Its type is that of the value so far, of which there is none where all have ended.
    found: Given<'a>,
}

#[derive(Default)]
struct End {
    may: bool,
    /// Why, where a schema says so or somebody asked.
    why: Option<String>,
}

impl<'a> Way<'a, '_> {
    fn end(&mut self) -> &mut End {
        let last = self.ends.len() - 1;
        &mut self.ends[last]
    }

    /// Comes to a value before the part at this place, which ends the reference if it is null and there is a `?`.
    fn may_end(&mut self, at: usize, optional: bool) {
        let types = self.found.ty.types();
        if types.is_empty() {
            return;
        }
        let null = nullable(&self.found.ty, self.path.segments, at);
        self.null = self.null.take().or(null);
        if !optional {
            return;
        }
        let why = self.null.take();
        let end = self.end();
        end.may |= why.is_some() || types.overlaps(Types::NULL);
        if end.may && end.why.is_none() {
            end.why = Some(why.unwrap_or_else(|| QUESTION_MARK.to_owned()));
        }
        if types == Types::NULL {
            self.found.ty = Type::none();
        }
    }

    /// Goes on to the part at this place.
    fn part(&mut self, at: usize, segment: &Segment) -> Result<(), LeadsNowhere<'a>> {
        let null = self.null.take();
        let can_end = matches!(segment.absent, Absent::End) && !segment.is_each();
        if can_end {
            let may_be_null = null.is_some() || self.found.ty.types().overlaps(Types::NULL);
            let end = self.end();
            end.may |= may_be_null;
            end.why = end.why.take().or(null);
        } else {
            let breaks = self.found.breaks.take();
            self.found.breaks = breaks.or(null.clone().map(|why| (at, why)));
            self.fails = self.fails.take().or(null);
        }
        self.work.spend(self.found.ty.forms().len())?;
        let (ty, presence) = match member(&self.found.ty, segment) {
            Ok(found) => found,
            Err((why, may_be_there)) => {
                let lost = Box::new(Unresolved {
                    segment: at,
                    inside: self.found.ty.clone(),
                    why,
                    when: None,
                });
                if !may_be_missing(&self.found.ty, segment) {
                    return Err(LeadsNowhere::Lost(lost));
                }
                self.found.lost.get_or_insert(lost);
                if may_be_there {
                    (Type::any(), Presence::Unknown)
                } else {
                    (Type::none(), Presence::Maybe)
                }
            }
        };
        self.work.spend(1 + ty.cost())?;
        self.found.ty = ty;
        if segment.is_each() {
            self.ends.push(End::default());
        } else if presence != Presence::Sure {
            self.missing(at, segment, presence == Presence::Maybe)?;
        }
        Ok(())
    }

    /// The part at this place may be missing, perhaps because a schema says so.
    fn missing(
        &mut self,
        at: usize,
        segment: &Segment,
        is_said: bool,
    ) -> Result<(), LeadsNowhere<'a>> {
        let part = short(&words(self.path.segments, at + 1));
        let why = is_said.then(|| format!("`{part}` may be missing"));
        match &segment.absent {
            Absent::Error | Absent::Failure => self.fails = self.fails.take().or(why),
            Absent::End => {
                let end = self.end();
                end.may = true;
                end.why = end.why.take().or(why);
            }
            Absent::Default(default) => {
                let (rest, when) = (self.path.after(at), format!("`{part}` is missing"));
                match lead_on(default, (rest, at + 1), &when, self.work)? {
                    Ok(Value::Null) => {
                        // It may be a `?` that makes it null.
                        let has_otherwise = self.path.otherwise.is_some();
                        self.end().may |= !has_otherwise;
                        if self.ends.len() == 1 {
                            self.found.absent = self.found.absent.take().or(why);
                        }
                    }
                    Ok(value) => {
                        let lists = self.ends.len() - 1;
                        self.found.replaced.push(Replacement {
                            value,
                            lists,
                            when,
                            place: None,
                        });
                    }
                    Err(_) if default.is_null() && !self.found.ty.types().is_empty() => {
                        self.fails = self.fails.take().or(why);
                    }
                    Err(lost) => return Err(LeadsNowhere::Lost(lost)),
                }
            }
        }
        Ok(())
    }

    /// What was found at the end of the path.
    fn arrived(mut self) -> Given<'a> {
        let lists = self.ends.len() - 1;
        let mut found = self.found;
        if let Some(otherwise) = self.path.otherwise.filter(|value| !value.is_null()) {
            for (lists, _) in self.ends.iter().enumerate().filter(|(_, end)| end.may) {
                found.replaced.push(Replacement {
                    value: otherwise.clone(),
                    lists,
                    when: "the reference ends".to_owned(),
                    place: None,
                });
            }
            self.ends[0].why = None;
        }
        // An element that is null, or has ended, is null in the list.
        let null = self.null.filter(|_| lists == 0);
        let absent = self.ends.swap_remove(0).why.or(self.fails).or(null);
        found.absent = absent.or(found.absent);
        if lists > 0 && found.ty.types().is_empty() {
            found.ty = Type::any();
        }
        found.ty = (0..lists).fold(found.ty, |ty, _| Type::list(ty));
        found
    }
}

/// Whether a reference goes on where a part is missing from some of these values.
fn may_be_missing(ty: &Type<'_>, segment: &Segment) -> bool {
    let parts = match index_of(&segment.selector) {
        Some(_) => Types::LIST.or(Types::OBJECT),
        None => Types::OBJECT,
    };
    ty.types().overlaps(match segment.absent {
        _ if segment.is_each() => Types::NONE,
        Absent::Error | Absent::Failure => Types::NONE,
        Absent::Default(_) => parts,
        Absent::End => parts.or(Types::NULL),
    })
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

/// What a segment reads of a value, or why it reads nothing, and whether there may be something nevertheless, of which the schema
/// does not speak.
fn member<'a>(
    ty: &Type<'a>,
    segment: &Segment,
) -> Result<(Type<'a>, Presence), (UnresolvedReason, bool)> {
    let index = index_of(&segment.selector);
    let name = match &segment.selector {
        Selector::Key(key) => key.clone(),
        Selector::Index(index) => index.to_string(),
        Selector::Each if ty.types().overlaps(Types::LIST) => {
            return Ok((ty.element(), Presence::Sure));
        }
        Selector::Each => return Err((UnresolvedReason::NoList, false)),
    };
    let mut found: Option<Type<'a>> = None;
    let mut presence = Presence::Sure;
    let (mut why, mut may_be_there) = (None, false);
    for form in ty.forms() {
        let types = form.types();
        let (property, present) = match index {
            Some(index) if types.overlaps(Types::LIST) => match form.element(Some(index)) {
                Element::Type(element) => (Property::Type(element), form.has_element(index)),
                Element::Beyond(length) => {
                    why = Some(UnresolvedReason::NoElement(length));
                    continue;
                }
            },
            _ if types.overlaps(Types::OBJECT) => (form.property(&name), form.presence(&name)),
            _ => continue,
        };
        let property = match property {
            Property::Type(property) if !property.types().is_empty() => property,
            Property::Open => Type::any(),
            // Of one that must not be there, the schema is `false`.
            Property::Unlisted | Property::Closed | Property::Type(_) => {
                may_be_there |= matches!(property, Property::Unlisted);
                why = Some(match index {
                    Some(_) => UnresolvedReason::NoList,
                    None => UnresolvedReason::NoField,
                });
                continue;
            }
        };
        presence = match (present, presence) {
            (Presence::Sure, others) => others,
            (Presence::Unknown, _) | (_, Presence::Unknown) => Presence::Unknown,
            (Presence::Maybe, _) => Presence::Maybe,
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
        (None, Some(why)) => Err((why, may_be_there)),
        (None, None) if ty.types().overlaps(Types::LIST) => Err((UnresolvedReason::List, false)),
        (None, None) if index.is_some() => Err((UnresolvedReason::NoList, false)),
        (None, None) => Err((UnresolvedReason::Scalar, false)),
    }
}
