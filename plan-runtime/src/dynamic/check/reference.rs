//! Whether what a reference leads to fits what takes it.

use super::checked_value::CheckedValue;
use super::path::Given;
use super::replacement::Replacement;
use super::value::{ValueCheck, subject};
use crate::dynamic::dialects::references::Style;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::{Clash, Form, Property, TooMuchWork, Type, Types};
use crate::plan::{Absent, Reference, Segment, Selector, is_word};
use crate::resolve::describe::short;
use std::borrow::Cow;

/// In how many members it is looked for how two objects differ.
const MOST_TRIED: usize = 64;

impl ValueCheck<'_> {
    /// How a reference does not fit.
    pub(super) fn reference(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        given: &Given<'_>,
        takes: &Type<'_>,
        required: bool,
    ) -> Result<Option<Note>, TooMuchWork> {
        let place = self.place.borrow();
        if let Some(clash) = given.ty.clash(takes, self.work)? {
            // To give null for what may be left out is to leave it out.
            let left_out = !required && given.ty.types() == Types::NULL;
            return Ok((!left_out).then(|| self.clash(item, reference, &given.ty, takes, clash)));
        }
        let never_there = given.ty.types().is_empty();
        for other in &given.replaced {
            // In a lenient profile, a reference that ends stays in place as text, which nobody wants.
            if !never_there
                && other
                    .value
                    .as_str()
                    .is_some_and(|it| Some(it) == reference.as_written())
            {
                continue;
            }
            if let Some(note) = self.replacement(item, other, takes)? {
                return Ok(Some(note));
            }
        }
        if !required || takes.types().overlaps(Types::NULL) {
            let breaks = given.breaks.as_ref();
            return Ok(breaks.map(|(at, why)| self.breaks(item, reference, takes, *at, why)));
        }
        let Some(absent) = &given.absent else {
            return Ok(None);
        };
        let (subject, written) = (subject(&place), short(&reference.text()));
        let but =
            |verb: &str| format!("{subject} is required, but `{written}` {verb} to nothing: ");
        if never_there && given.replaced.is_empty() {
            let lost = given.lost.as_ref();
            let lost = lost.and_then(|lost| item.lost(reference, lost));
            let note = lost.unwrap_or_else(|| Note::error(Code::MaybeAbsent, item.place(), absent));
            return Ok(Some(note.code(Code::MaybeAbsent).after(&but("leads"))));
        }
        let help = self.instead_of_absent(item, reference, takes);
        let note = Note::error(Code::MaybeAbsent, item.place(), absent).after(&but("may lead"));
        let may_end = reference.path.iter().any(stops);
        Ok(Some(note.help(help).warn_if(may_end)))
    }

    /// A reference that fails where something on its way is null, though what takes it could do without it.
    fn breaks(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        takes: &Type<'_>,
        at: usize,
        why: &str,
    ) -> Note {
        let place = self.place.borrow();
        let (subject, written) = (subject(&place), short(&reference.text()));
        let message = format!(
            "{subject} need not be there, but `{written}` fails if it leads through null: {why}"
        );
        let mut help = self.instead_of_absent(item, reference, takes);
        if let Some(ending) = self.ending(item, reference, at) {
            help = format!("{ending}, or {help}");
        }
        Note::error(Code::MaybeAbsent, item.place(), message).help(help)
    }

    /// How a value of the plan does not fit that replaces what a reference leads to.
    fn replacement(
        &self,
        item: &CheckedValue<'_>,
        replacement: &Replacement,
        takes: &Type<'_>,
    ) -> Result<Option<Note>, TooMuchWork> {
        let mut takes = Cow::Borrowed(takes);
        for _ in 0..replacement.lists {
            takes = Cow::Owned(takes.element());
        }
        let place = format!(
            "{}{}",
            self.place.borrow(),
            "[..]".repeat(replacement.lists)
        );
        let problem = self.literal(&replacement.value, &takes, place)?;
        Ok(problem.map(|problem| {
            let when = format!("if {}, ", replacement.when);
            let problem = problem.at(item.place()).after(&when);
            match &replacement.place {
                Some(place) => problem.related(place.clone(), "it is here"),
                None => problem,
            }
        }))
    }

    /// Whether it is known that one fits the other, for what to do about one that does not.
    pub(super) fn leads_to(&self, given: &Type<'_>, takes: &Type<'_>) -> bool {
        matches!(given.clash(takes, self.work), Ok(None))
    }

    fn clash(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        given: &Type<'_>,
        takes: &Type<'_>,
        clash: Clash,
    ) -> Note {
        let written = short(&reference.text());
        let (is, wanted) = (given.words(), takes.words());
        let place = self.place.borrow();
        let subject = subject(&place);
        if clash == Clash::Values {
            let values = |ty: &Type<'_>| self.allowed(&ty.forms().iter().collect::<Vec<_>>());
            let message = format!(
                "`{written}` is one of {}, but {subject} must be one of {}",
                values(given),
                values(takes)
            );
            return Note::error(Code::NotAllowed, item.place(), message);
        }
        let message = if is == wanted {
            let why = self.difference(given, takes);
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            format!("the value of `{written}` does not fit {subject}{why}")
        } else {
            format!("{subject} must be {wanted}, but `{written}` is {is}")
        };
        let (code, help) = self.way_out(item, reference, given, takes);
        Note::error(code, item.place(), message).help(help)
    }

    /// What is to be done about a reference to a value of another type.
    fn way_out(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        given: &Type<'_>,
        takes: &Type<'_>,
    ) -> (Code, Option<String>) {
        let style = item.style(reference);
        let mut path = reference.path.clone();
        let kinds = given.types().without(Types::NULL);
        if kinds == Types::LIST && self.leads_to(&given.element(), takes) {
            if let Some(whole) = item.alone_in_list() {
                let help =
                    format!("it is the whole list already; write it without brackets: `{whole}`");
                return (Code::ListOrElement, Some(help));
            }
            let first = Segment::new(Selector::Index(0));
            match path.iter().rposition(Segment::is_each) {
                Some(each) => path[each] = first,
                None => path.push(first),
            }
            return (Code::ListOrElement, Some(first_element(&style, &path)));
        }
        let wanted = takes.types().without(Types::NULL);
        if wanted == Types::LIST && self.leads_to(given, &takes.element()) {
            let listed = if style.is_string() {
                let written = short(&reference.text());
                format!("put it in a list: `[\"{written}\"]`")
            } else {
                "put it in a list".to_owned()
            };
            return (Code::ListOrElement, Some(listed));
        }
        let place = self.place.borrow();
        let field = place.rsplit(['.', ']']).next().unwrap_or_default();
        let member = given.property(field);
        let is_field = kinds == Types::OBJECT && is_word(field);
        let help = member.filter(|ty| is_field && self.leads_to(ty, takes));
        let help = help.map(|_| {
            path.push(Segment::new(Selector::Key(field.to_owned())));
            format!("did you mean `{}`?", style.write(&path))
        });
        let scalar = Types::NUMBER.or(Types::BOOL);
        let is_scalar = !kinds.is_empty() && kinds.without(scalar).is_empty();
        let help = help.or_else(|| match () {
            () if kinds == Types::OBJECT => self.fitting_field(item, reference, given, takes),
            () if is_scalar && wanted.overlaps(Types::STRING) => self.as_text(item, reference),
            () => None,
        });
        (Code::WrongType, help)
    }

    /// How an object differs from what takes it.
    fn difference(&self, given: &Type<'_>, takes: &Type<'_>) -> Option<String> {
        let [form] = takes.forms() else { return None };
        let lacks = |name: &str| {
            let has = |form: &Form<'_>| !matches!(form.property(name), Property::Closed);
            !given.forms().iter().any(has)
        };
        form.names().into_iter().take(MOST_TRIED).find_map(|name| {
            let required = form.required().contains(&name);
            match (given.property(name), form.property(name)) {
                (None, _) if required && lacks(name) => {
                    Some(format!("it has no `{}`", short(name)))
                }
                (Some(given), Property::Type(takes)) if !self.leads_to(&given, &takes) => {
                    Some(format!(
                        "its `{}` is {}, but must be {}",
                        short(name),
                        given.words(),
                        takes.words()
                    ))
                }
                _ => None,
            }
        })
    }
}

/// Whether the author or the profile allows that there is nothing here.
pub(super) fn stops(segment: &Segment) -> bool {
    matches!(segment.absent, Absent::End)
}

pub(super) fn first_element(style: &Style, path: &[Segment]) -> String {
    let fixed = style.write(path);
    format!("did you mean the first element, `{fixed}`?")
}
