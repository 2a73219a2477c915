//! The check of the values in formatted strings. In the compat profile, a run writes a substitute for a missing value, so the finding is a warning.

use super::Checker;
use crate::dynamic::Profile;
use crate::dynamic::finding::{Code, Note};
use crate::plan::Template;
use crate::resolve::describe::short;

impl<'a> Checker<'a, '_> {
    /// Checks the values in a text: `format!` does not write an `Option` either.
    pub(super) fn text(&mut self, text: &'a Template, at: usize) {
        let known = self.known;
        if known.is_broken(at) {
            return;
        }
        for (value, at) in text.parts().zip(known.spans.templates.parts(at)) {
            let Template::Reference(reference) = value else {
                continue;
            };
            let read = known.reference(reference);
            let Ok(found) = read.found() else {
                continue;
            };
            let Some(absent) = found.absent.as_ref().filter(|_| !known.is_broken(at)) else {
                continue;
            };
            let never_there = found.ty.types().is_empty() && found.replaced.is_empty();
            let has = if never_there { "has" } else { "may have" };
            let written = short(&reference.text());
            let message = format!(
                "a formatted string needs a value, but `{written}` {has} no value: {absent}"
            );
            let note = Note::error(Code::MaybeAbsent, known.place(at), message)
                .help(read.instead_in_text())
                .warn_if(known.profile == Profile::Compat);
            self.add(note);
        }
    }
}
