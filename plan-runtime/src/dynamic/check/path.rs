//! Paths of references, followed through the types of outputs.

use super::guards::is_on_way;
use super::member::{Member, member};
use super::replacement::{Replacement, lead_on};
use super::unresolved::{Break, Unresolved, Unstated, index_of};
use crate::dynamic::schema::{Presence, TooMuchWork, Type, Types, Work};
use crate::plan::{Absent, Path, Segment, Selector, push_key};
use crate::resolve::describe::short;
use serde_json::Value;
use std::fmt::Write;
use std::mem::replace;

/// The type of a step, an input or a reference, and the reasons why its value may be missing.
#[derive(Clone)]
pub(super) struct Given<'a> {
    /// The type of the value; empty if the value is always missing.
    pub(super) ty: Type<'a>,
    /// The reason why the value may be null or missing.
    pub(super) absent: Option<String>,
    /// The part whose null or missing value makes a run fail.
    pub(super) breaks: Option<Break>,
    /// The kinds of values on the way that do not have the next part.
    pub(super) mixed: Option<String>,
    /// The part of the path that no schema describes.
    pub(super) unstated: Option<Unstated>,
    /// The plan's values for a missing part and for a reference that has ended.
    pub(super) replaced: Vec<Replacement>,
    /// The missing part of a reference that allows a missing part.
    pub(super) lost: Option<Box<Unresolved<'a>>>,
    /// The paths inside the value that lead to a present value, because a condition has found it.
    pub(super) present: Vec<&'a [Segment]>,
}

impl<'a> Given<'a> {
    /// Returns a value that fits everything, because the document already has a finding for the value.
    pub(super) fn trusted() -> Self {
        Self::typed(Type::trusted())
    }

    pub(super) fn typed(ty: Type<'a>) -> Self {
        Self {
            ty,
            absent: None,
            breaks: None,
            mixed: None,
            unstated: None,
            replaced: Vec::new(),
            lost: None,
            present: Vec::new(),
        }
    }

    /// Adds a value of the plan, which may be null.
    pub(super) fn replace(&mut self, other: Replacement) {
        if other.value.is_null() {
            self.absent = self.absent.take().or(Some(other.when));
        } else {
            self.replaced.push(other);
        }
    }

    /// Returns the `Result` of the value.
    pub(super) fn caught(self, work: &'a Work) -> Self {
        Self::typed(Type::result(self.in_value(), work))
    }

    pub(super) fn nullable(&mut self, why: String) {
        self.ty = replace(&mut self.ty, Type::none()).nullable();
        self.absent = Some(why);
    }
}

/// The reason why the value of a reference is unknown.
pub(super) enum LeadsNowhere<'a> {
    Lost(Box<Unresolved<'a>>),
    Unknown(TooMuchWork),
}

impl From<TooMuchWork> for LeadsNowhere<'_> {
    fn from(why: TooMuchWork) -> Self {
        Self::Unknown(why)
    }
}

/// Follows a path from a value, as `resolve/walk.rs` does: `otherwise` replaces a reference that has ended, and a default replaces a missing part. The number
/// is the position of the first segment. The problems of the value remain.
///
/// # Errors
///
/// Returns an error if each run fails at a segment or at the plan's replacement of a segment, or if the work is too much.
pub(super) fn follow<'a>(
    given: Given<'a>,
    (path, from): (Path<'_>, usize),
    work: &Work,
) -> Result<Given<'a>, LeadsNowhere<'a>> {
    let mut found = Given {
        absent: None,
        replaced: Vec::new(),
        present: Vec::new(),
        ..given
    };
    // A schema without values gives no information.
    if found.ty.types().is_empty() && given.replaced.is_empty() {
        found.ty = Type::any();
    }
    for other in given.replaced.iter().filter(|other| other.lists == 0) {
        match lead_on(&other.value, (path, from), &other.when, work)? {
            Ok(value) => found.replace(other.with(value)),
            Err(lost) => return Err(LeadsNowhere::Lost(lost)),
        }
    }
    let mut way = PathWalk {
        path,
        from,
        work,
        null: given.absent,
        present: given.present,
        ends: vec![ListEnd::default()],
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

/// The progress along a path.
struct PathWalk<'a, 'p> {
    path: Path<'p>,
    /// The position of the first segment in the whole path.
    from: usize,
    work: &'p Work,
    /// The reason why the value so far may be null.
    null: Option<String>,
    /// The paths that lead to a present value.
    present: Vec<&'a [Segment]>,
    /// The ends of the reference as a whole and of each list on its path.
    ends: Vec<ListEnd>,
    /// The reason why the reference may fail.
    fails: Option<String>,
    /// The result so far; its type is empty if every value has ended.
    found: Given<'a>,
}

#[derive(Default)]
struct ListEnd {
    may: bool,
    /// The reason, if a schema or the author states one.
    why: Option<String>,
}

impl<'a> PathWalk<'a, '_> {
    fn end(&mut self) -> &mut ListEnd {
        let last = self.ends.len() - 1;
        &mut self.ends[last]
    }

    /// Handles a `?` before this part: null ends the reference.
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
        let ty = replace(&mut self.found.ty, Type::none());
        if types != Types::NULL {
            self.found.ty = ty.present();
        }
    }

    /// Follows this part.
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
            self.found.breaks = breaks.or(null.clone().map(|why| Break {
                at: self.from + at,
                why,
                is_missing: false,
            }));
            self.fails = self.fails.take().or(null);
        }
        self.work.spend(self.found.ty.forms().len())?;
        let way = &self.path.segments[..=at];
        let is_present = self.present.iter().any(|it| is_on_way(way, it));
        let (ty, presence) = match member(&self.found.ty, segment) {
            Ok(mut found) => {
                if is_present {
                    found.presence = Presence::Sure;
                    found.ty = found.ty.present();
                }
                self.unlike(at, segment, &found);
                (found.ty, found.presence)
            }
            Err((why, may_be_there)) => {
                let lost = Box::new(Unresolved {
                    segment: self.from + at,
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
            self.ends.push(ListEnd::default());
        } else if presence != Presence::Sure {
            self.missing(at, segment, presence == Presence::Maybe)?;
        }
        Ok(())
    }

    /// Records values without this part, and parts without a schema.
    fn unlike(&mut self, at: usize, segment: &Segment, found: &Member<'_>) {
        let place = short(&words(self.path.segments, at));
        if !found.others.is_empty() && self.found.mixed.is_none() {
            let part = short(&words(&self.path.segments[at..], 1));
            let whole = match &*place {
                "" => "it".to_owned(),
                place => format!("`{place}`"),
            };
            let kinds = found.others.words();
            self.found.mixed = Some(format!("{whole} may be {kinds}, which has no `{part}`"));
        }
        if self.found.unstated.is_some() || found.ty.beyond().is_some() {
            return;
        }
        let needs = matches!(segment.absent, Absent::Error);
        let is_index = index_of(&segment.selector).is_some() || segment.is_each();
        self.found.unstated = if found.is_unstated {
            Some(Unstated::Type(place))
        } else if found.presence == Presence::Unknown && needs && !is_index {
            let part = short(&words(self.path.segments, at + 1));
            Some(Unstated::Presence(part))
        } else {
            None
        };
    }

    /// Handles a part that may be missing.
    fn missing(
        &mut self,
        at: usize,
        segment: &Segment,
        is_said: bool,
    ) -> Result<(), LeadsNowhere<'a>> {
        let part = short(&words(self.path.segments, at + 1));
        let why = is_said.then(|| format!("`{part}` may be missing"));
        // A part outside of the schema has another finding.
        let has_finding = self.found.lost.is_some();
        let unstated = || format!("no schema states whether `{part}` is always present");
        let ends = why.clone().or_else(|| (!has_finding).then(unstated));
        match &segment.absent {
            Absent::Error => {
                let breaks = why.clone().map(|why| Break {
                    at: self.from + at,
                    why,
                    is_missing: true,
                });
                self.found.breaks = self.found.breaks.take().or(breaks);
                self.fails = self.fails.take().or(why);
            }
            // The author wants the failure.
            Absent::Failure => {}
            Absent::End => {
                let end = self.end();
                end.may = true;
                end.why = end.why.take().or(ends);
            }
            Absent::Default(default) => {
                let (rest, when) = (self.path.after(at), format!("`{part}` is missing"));
                match lead_on(default, (rest, self.from + at + 1), &when, self.work)? {
                    Ok(Value::Null) => {
                        // A `?` may also give null.
                        let has_otherwise = self.path.otherwise.is_some();
                        self.end().may |= !has_otherwise;
                        if self.ends.len() == 1 {
                            self.found.absent = self.found.absent.take().or(ends);
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
                        if !is_said {
                            let presence = Unstated::Presence(part.clone());
                            self.found.unstated.get_or_insert(presence);
                        }
                        let breaks = why.clone().map(|why| Break {
                            at: self.from + at + 1,
                            why,
                            is_missing: false,
                        });
                        self.found.breaks = self.found.breaks.take().or(breaks);
                        self.fails = self.fails.take().or(why);
                    }
                    Err(lost) => return Err(LeadsNowhere::Lost(lost)),
                }
            }
        }
        Ok(())
    }

    /// Returns the result at the end of the path.
    fn arrived(mut self) -> Given<'a> {
        let lists = self.ends.len() - 1;
        let mut found = self.found;
        if let Some(otherwise) = self.path.otherwise.filter(|value| !value.is_null()) {
            for (lists, _) in self.ends.iter().enumerate().filter(|(_, end)| end.may) {
                found.replaced.push(Replacement {
                    value: otherwise.clone(),
                    lists,
                    when: "the reference stops at a missing part".to_owned(),
                    place: None,
                });
            }
            self.ends[0].why = None;
        }
        let is_replaced = self.path.otherwise.is_some_and(|value| !value.is_null());
        let way = self.path.segments;
        let present = self.present.iter().filter(|it| is_on_way(way, it));
        found.present = present.map(|it| &it[way.len()..]).collect();
        // An element that is null, or has ended, is null in the list.
        let null = self.null.filter(|_| lists == 0);
        let absent = self.ends[0].why.take().or(self.fails).or(null);
        found.absent = absent.or(found.absent);
        if lists > 0 && found.ty.types().is_empty() {
            found.ty = Type::any();
        }
        for end in self.ends.drain(1..).rev() {
            if end.may && !is_replaced {
                found.ty = found.ty.nullable();
            }
            found.ty = Type::list(found.ty);
        }
        found
    }
}

/// Returns `true` if the author allows that the part is missing.
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

/// The reason for a missing value if the author has written `?`.
const QUESTION_MARK: &str = "the reference has a `?`";

fn nullable(ty: &Type<'_>, path: &[Segment], end: usize) -> Option<String> {
    ty.says_null().then(|| match words(path, end).as_str() {
        "" => "the output may be null".to_owned(),
        place => format!("`{}` may be null", short(place)),
    })
}

/// Returns the path up to a segment in readable form: `data[0].from`.
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
