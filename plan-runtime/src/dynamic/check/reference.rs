//! Whether what a reference leads to fits what takes it.

use super::item::CheckedValue;
use super::path::Resolved;
use super::problem::Problem;
use super::value::{ValueCheck, subject};
use crate::dynamic::finding::Code;
use crate::dynamic::schema::{Clash, Form, Property, TooMuchWork, Type, Types};
use crate::plan::{Absent, Segment, Selector, is_word};
use crate::resolve::describe::short;

/// In how many members it is looked for how two objects differ.
const MOST_TRIED: usize = 64;

impl ValueCheck<'_> {
    /// How a reference does not fit.
    pub(super) fn reference(
        &self,
        item: &CheckedValue<'_>,
        found: &Resolved<'_>,
        takes: &Type<'_>,
        place: &str,
        required: bool,
    ) -> Result<Option<Problem>, TooMuchWork> {
        let written = short(&found.reference.text());
        if let Some(clash) = found.ty.clash(takes, self.work)? {
            // To give null for what may be left out is to leave it out.
            if !required && found.ty.types() == Types::NULL {
                return Ok(None);
            }
            return Ok(Some(self.clash(item, found, takes, place, clash)));
        }
        let Some(absent) = &found.absent else {
            return Ok(None);
        };
        if !required || takes.types().overlaps(Types::NULL) {
            return Ok(None);
        }
        let message = format!(
            "{} is required, but `{written}` may lead to nothing: {absent}",
            subject(place)
        );
        let allowed = found.reference.path.iter().any(stops);
        let help = "refer to a value that is always present, not to an optional step or field";
        let problem = Problem::new(Code::MaybeAbsent, item.at, message).warning(allowed);
        Ok(Some(problem.help(Some(help.to_owned()))))
    }

    /// Whether it is known that one fits the other, for what to do about one that does not.
    fn leads_to(&self, given: &Type<'_>, takes: &Type<'_>) -> bool {
        matches!(given.clash(takes, self.work), Ok(None))
    }

    fn clash(
        &self,
        item: &CheckedValue<'_>,
        found: &Resolved<'_>,
        takes: &Type<'_>,
        place: &str,
        clash: Clash,
    ) -> Problem {
        let written = short(&found.reference.text());
        let (given, wanted) = (found.ty.words(), takes.words());
        let subject = subject(place);
        if clash == Clash::Values {
            let values = |ty: &Type<'_>| {
                let forms: Vec<&Form<'_>> = ty.forms().iter().collect();
                self.allowed(&forms)
            };
            let message = format!(
                "`{written}` is one of {}, but {subject} must be one of {}",
                values(&found.ty),
                values(takes)
            );
            return Problem::new(Code::NotAllowed, item.at, message);
        }
        let message = if given == wanted {
            let why = self
                .difference(&found.ty, takes)
                .map_or_else(String::new, |why| format!(": {why}"));
            format!("the value of `{written}` does not fit {subject}{why}")
        } else {
            format!("{subject} must be {wanted}, but `{written}` is {given}")
        };
        let problem = |code| Problem::new(code, item.at, message.clone());
        let path = &found.reference.path;
        let (given, wanted) = (
            found.ty.types().without(Types::NULL),
            takes.types().without(Types::NULL),
        );
        if given == Types::LIST && self.leads_to(&found.ty.element(), takes) {
            let each = path.iter().rposition(Segment::is_each);
            let mut path = path.clone();
            let first = Segment::new(Selector::Index(0));
            match each {
                Some(each) => path[each] = first,
                None => path.push(first),
            }
            let fixed = found.style.write(&path);
            return problem(Code::ListOrElement)
                .help(format!("did you mean the first element, `{fixed}`?"));
        }
        if wanted == Types::LIST && self.leads_to(&found.ty, &takes.element()) {
            let listed = if found.style.is_string() {
                format!("put it in a list: `[\"{written}\"]`")
            } else {
                "put it in a list".to_owned()
            };
            return problem(Code::ListOrElement).help(listed);
        }
        let field = place.rsplit(['.', ']']).next().unwrap_or_default();
        let member = found.ty.property(field);
        if given == Types::OBJECT
            && is_word(field)
            && member.is_some_and(|ty| self.leads_to(&ty, takes))
        {
            let mut path = path.clone();
            path.push(Segment::new(Selector::Key(field.to_owned())));
            let fixed = found.style.write(&path);
            return problem(Code::WrongType).help(format!("did you mean `{fixed}`?"));
        }
        problem(Code::WrongType)
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

/// Whether the profile allows that there is nothing here.
pub(super) fn stops(segment: &Segment) -> bool {
    matches!(segment.absent, Absent::End)
}
