//! The check that an object with merged parts fits its position.

use super::{ValueCheck, subject, why};
use crate::dynamic::check::checked_value::CheckedValue;
use crate::dynamic::check::outputs::Outputs;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::schema::{Mismatch, Reason, TooMuchWork, Type, Types};
use crate::plan::Template;
use crate::resolve::describe::short;

impl ValueCheck<'_> {
    /// Returns the problem of an object whose named members fit.
    pub(super) fn merged(
        &self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
    ) -> Result<Notes, TooMuchWork> {
        let CheckedValue::Template(Template::Object(entries), _, known) = item else {
            return Ok(Notes::default());
        };
        // The named members fit a form each, but perhaps not the form of the merged parts.
        let objects = takes
            .forms()
            .iter()
            .filter(|it| it.types().overlaps(Types::OBJECT));
        let is_one = objects.count() == 1;
        let given = known.of_entries(entries, &|template, given| {
            let is_known = !is_one && given.mixed.is_none() && !has_untyped(&known, template);
            let ty = if is_known {
                given.in_value()
            } else {
                Type::trusted()
            };
            (ty, self.is_left_out(std::ptr::from_ref(template).addr()))
        });
        if given.beyond().is_some() {
            return Ok(Notes::default());
        }
        let Some(mut mismatch) = given.mismatch(takes, false, self.work)? else {
            return Ok(Notes::default());
        };
        if let Reason::Missing { name, always } = &mut mismatch.reason {
            *always &= given.forms().len() == 1;
            if let (true, "", [form]) = (*always, &*mismatch.place, takes.forms()) {
                return Ok(self.missing(item, &[name], form).into());
            }
        }
        let place = self.place.borrow();
        let why = why(&mismatch, &subject(&place));
        let note = match &mismatch.reason {
            Reason::Presence(name) => {
                let name = short(name);
                let message = format!(
                    "`{name}` is required, but no schema states whether the merged object has `{name}`"
                );
                known.unchecked(item.place(), message)
            }
            _ if mismatch.is_unknown() => {
                let message = format!("the merged object is not checked: {why}");
                known.unchecked(item.place(), message)
            }
            _ => {
                let message = format!("the merged object does not fit {}: {why}", subject(&place));
                Note::error(code(&mismatch), item.place(), message)
            }
        };
        Ok(note.into())
    }
}

fn code(mismatch: &Mismatch) -> Code {
    match &mismatch.reason {
        Reason::Missing { .. }
        | Reason::Kind {
            given: Types::NULL, ..
        } => Code::MaybeAbsent,
        Reason::Value { .. } | Reason::Bound { .. } | Reason::Listed(_) => Code::NotAllowed,
        Reason::Extra(_) => Code::UnknownArgument,
        _ => Code::WrongType,
    }
}

/// Returns `true` if a template refers to an input without a stated type.
fn has_untyped(known: &Outputs<'_, '_>, template: &Template) -> bool {
    let mut has = false;
    template.each(&mut |it| {
        if let Template::Reference(reference) = it {
            has |= known.reference(reference).untyped_input().is_some();
        }
    });
    has
}
