//! The check that each value of a reference fits its position.

use super::instead::leads_to;
use super::outputs::KnownReference;
use super::replacement::Replacement;
use super::unresolved::Break;
use super::value::{Passed, subject, why};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::outside;
use crate::dynamic::schema::{Mismatch, Reason, TooMuchWork, Type, Types};
use crate::plan::{Absent, Segment, Selector, is_word};
use crate::resolve::describe::short;
use std::borrow::Cow;
use std::ops::Range;

impl Passed<'_> {
    pub(super) fn place(&self) -> Range<usize> {
        self.read.known.place(self.at)
    }

    /// Returns a reference without siblings in its list, as JSON.
    pub(super) fn alone_in_list(&self) -> Option<String> {
        let (text, place) = (self.read.known.text, self.place());
        let before = text.get(..place.start)?.trim_end();
        let after = text.get(place.end..)?.trim_start();
        let is_alone = before.ends_with('[') && after.starts_with(']');
        is_alone.then(|| outside(text.get(place)?))?
    }

    /// Returns the note for a reference that does not fit.
    pub(super) fn problem(&self, required: bool) -> Result<Option<Note>, TooMuchWork> {
        let &Self {
            call,
            read,
            given,
            takes,
            ..
        } = self;
        let reference = read.reference;
        // The type of an input follows from its arguments. A path through a union has another finding.
        if read.untyped_input().is_some() || given.mixed.is_some() {
            return Ok(None);
        }
        let place = call.place.borrow();
        // Null has its own finding below, unless the value is always null.
        let is_null = required && given.ty.types() == Types::NULL;
        let mismatch = given.ty.mismatch(takes, !is_null, call.work)?;
        let unknown = match mismatch {
            Some(mismatch) if !mismatch.is_unknown() => {
                return Ok(Some(self.misfit(&mismatch)));
            }
            unknown => unknown,
        };
        let never_there = given.ty.types().is_empty();
        for other in &given.replaced {
            if let Some(note) = self.replacement(other)? {
                // In the compat profile, a reference that has ended remains as text.
                let text = other.value.as_str();
                let remains = text.is_some_and(|it| Some(it) == reference.as_written());
                return Ok(Some(note.warn_if(remains && !never_there)));
            }
        }
        if !required || takes.types().overlaps(Types::NULL) {
            let breaks = given.breaks.as_ref();
            let breaks = breaks.map(|it| self.breaks(it));
            return Ok(breaks.or_else(|| self.unstated(&unknown?)));
        }
        let Some(absent) = &given.absent else {
            return Ok(unknown.and_then(|it| self.unstated(&it)));
        };
        let (subject, written) = (subject(&place), short(&reference.text()));
        let but = |verb: &str| format!("{subject} is required, but `{written}` {verb} no value: ");
        if never_there && given.replaced.is_empty() {
            let lost = given.lost.as_ref();
            let lost = lost.map(|lost| read.lost(self.at, lost));
            let note = lost.unwrap_or_else(|| Note::error(Code::MaybeAbsent, self.place(), absent));
            return Ok(Some(note.code(Code::MaybeAbsent).after(&but("has"))));
        }
        let help = self.instead_of_absent();
        let note = Note::error(Code::MaybeAbsent, self.place(), absent).after(&but("may have"));
        let may_end = reference.path.iter().any(stops);
        Ok(Some(note.help(help).warn_if(may_end)))
    }

    /// Returns the note for a reference that may fail in an optional position.
    fn breaks(&self, found: &Break) -> Note {
        let place = self.call.place.borrow();
        let (subject, written) = (subject(&place), short(&self.read.reference.text()));
        let fails = if found.is_missing {
            "has no value"
        } else {
            "passes through null"
        };
        let message = format!(
            "{subject} may be omitted, but `{written}` fails if the reference {fails}: {}",
            found.why
        );
        let mut help = self.instead_of_absent();
        if let Some(ending) = self.read.without(found) {
            help = format!("{ending}, or {help}");
        }
        Note::error(Code::MaybeAbsent, self.place(), message).help(help)
    }

    /// Returns the note for a value that no schema describes.
    fn unstated(&self, mismatch: &Mismatch) -> Option<Note> {
        let read = self.read;
        // A path outside of the schema has another finding.
        if self.given.lost.is_some() {
            return None;
        }
        let place = self.call.place.borrow();
        let (subject, written) = (subject(&place), short(&read.reference.text()));
        let whose = read.whose();
        let part = match &*mismatch.place {
            "" => format!("`{written}`"),
            place => format!("`{}` in `{written}`", short(place)),
        };
        let (message, help) = match &mismatch.reason {
            Reason::Presence(name) => (
                format!(
                    "{subject} needs `{0}`, but no schema states whether {part} has `{0}`",
                    short(name)
                ),
                format!(
                    "list `{}` in `required` of the schema of {whose}",
                    short(name)
                ),
            ),
            Reason::NoSingleForm | Reason::Longer { .. } => (
                format!(
                    "the value of `{written}` may not fit {subject}: {}",
                    why(mismatch, &subject)
                ),
                read.stating(),
            ),
            _ => (
                format!(
                    "{subject} must be {}, but {part} may be anything",
                    self.takes.words()
                ),
                read.stating(),
            ),
        };
        Some(read.known.unchecked(self.place(), message).help(help))
    }

    /// Returns the note for a replacement that does not fit.
    fn replacement(&self, replacement: &Replacement) -> Result<Option<Note>, TooMuchWork> {
        let mut takes = Cow::Borrowed(self.takes);
        for _ in 0..replacement.lists {
            takes = Cow::Owned(takes.element());
        }
        let place = format!(
            "{}{}",
            self.call.place.borrow(),
            "[..]".repeat(replacement.lists)
        );
        let problem = self.call.literal(&replacement.value, &takes, place)?;
        Ok(problem.map(|problem| {
            let when = format!("if {}, ", replacement.when);
            let problem = problem.at(self.place()).after(&when);
            match &replacement.place {
                Some(place) => problem.related(place.clone(), "the value is here"),
                None => problem,
            }
        }))
    }

    fn misfit(&self, mismatch: &Mismatch) -> Note {
        let (reference, given, takes) = (self.read.reference, &self.given.ty, self.takes);
        let written = short(&reference.text());
        let (is, wanted) = (given.words(), takes.words());
        let place = self.call.place.borrow();
        let subject = subject(&place);
        let values = |ty: &Type<'_>| self.call.allowed(&ty.forms().iter().collect::<Vec<_>>());
        let narrowed = || self.narrowed(mismatch);
        let note = |code, message: String| Note::error(code, self.place(), message);
        match (&*mismatch.place, &mismatch.reason) {
            ("", Reason::Value { .. } | Reason::Listed(_)) if !values(takes).is_empty() => {
                let is = match &mismatch.reason {
                    Reason::Value { value, always } => {
                        let value = short(&value.to_string());
                        match &*values(given) {
                            _ if !always => format!("may be `{value}`"),
                            "" => format!("is `{value}`"),
                            all => format!("is one of {all}"),
                        }
                    }
                    _ => format!("is {is}"),
                };
                let wanted = values(takes);
                let message = format!("`{written}` {is}, but {subject} must be one of {wanted}");
                note(Code::NotAllowed, message).help(narrowed())
            }
            (
                "",
                Reason::Kind {
                    given: kinds,
                    always: false,
                    ..
                },
            ) => {
                let may_be = kinds.words();
                let message =
                    format!("{subject} must be {wanted}, but `{written}` may be {may_be}");
                note(Code::WrongType, message).help(narrowed())
            }
            ("" | "[..]", Reason::Kind { always: true, .. }) if is != wanted => {
                let (code, help) = self.way_out();
                note(
                    code,
                    format!("{subject} must be {wanted}, but `{written}` is {is}"),
                )
                .help(help)
            }
            _ => self.misfit_of_part(mismatch, &subject),
        }
    }

    fn misfit_of_part(&self, mismatch: &Mismatch, subject: &str) -> Note {
        let written = short(&self.read.reference.text());
        let why = why(mismatch, subject);
        let (code, help) = match (&mismatch.reason, self.way_out()) {
            (Reason::Bound { .. }, _) => (Code::NotAllowed, None),
            (
                Reason::Missing { always: false, .. }
                | Reason::Kind {
                    given: Types::NULL, ..
                },
                (Code::WrongType, help),
            ) => (Code::MaybeAbsent, help),
            (_, way_out) => way_out,
        };
        let message = format!("the value of `{written}` does not fit {subject}: {why}");
        let note = Note::error(code, self.place(), message);
        note.help(self.narrowed(mismatch).or(help))
    }

    /// Returns the code and the help for a reference to a value of another type.
    fn way_out(&self) -> (Code, Option<String>) {
        let (reference, given, takes) = (self.read.reference, &self.given.ty, self.takes);
        let work = self.call.work;
        let mut path = reference.path.to_vec();
        let kinds = given.types().without(Types::NULL);
        let first = given.first_element();
        if kinds == Types::LIST && !first.types().is_empty() && leads_to(&first, takes, work) {
            if let Some(whole) = self.alone_in_list() {
                let help =
                    format!("the reference already is a list; remove the brackets: `{whole}`");
                return (Code::ListOrElement, Some(help));
            }
            let first = Segment::new(Selector::Index(0));
            match path.iter().rposition(Segment::is_each) {
                Some(each) => path[each] = first,
                None => path.push(first),
            }
            return (Code::ListOrElement, Some(first_element(&self.read, &path)));
        }
        let wanted = takes.types().without(Types::NULL);
        if wanted == Types::LIST && leads_to(given, &takes.element(), work) {
            let listed = if self.read.style().is_string() {
                let written = short(&reference.text());
                format!("put the reference in a list: `[\"{written}\"]`")
            } else {
                "put the reference in a list".to_owned()
            };
            return (Code::ListOrElement, Some(listed));
        }
        let place = self.call.place.borrow();
        let field = place.rsplit(['.', ']']).next().unwrap_or_default();
        let member = given.property(field);
        let is_field = kinds == Types::OBJECT && is_word(field);
        let help = member.filter(|ty| is_field && leads_to(ty, takes, work));
        let help = help.map(|_| {
            path.push(Segment::new(Selector::Key(field.to_owned())));
            format!("did you mean `{}`?", self.read.shown(&path))
        });
        let scalar = Types::NUMBER.or(Types::BOOL);
        let is_scalar = !kinds.is_empty() && kinds.without(scalar).is_empty();
        let help = help.or_else(|| match () {
            () if kinds == Types::OBJECT => self.fitting_field(),
            () if is_scalar && wanted.overlaps(Types::STRING) => self.as_text(),
            () => None,
        });
        (Code::WrongType, help)
    }
}

/// Returns `true` if the author or the profile allows that the part is missing.
pub(super) fn stops(segment: &Segment) -> bool {
    matches!(segment.absent, Absent::End)
}

pub(super) fn first_element(read: &KnownReference<'_, '_>, path: &[Segment]) -> String {
    let fixed = read.shown(path);
    format!("did you mean the first element, `{fixed}`?")
}
