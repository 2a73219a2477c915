//! The list of a `for`.

use super::Checker;
use super::guards::Guards;
use super::operand::operand;
use crate::dynamic::finding::Code;
use crate::dynamic::schema::Types;
use crate::plan::Template;
use crate::print::{Cut, SHORT};
use crate::resolve::describe::short;

impl<'a> Checker<'a, '_> {
    /// Checks the list of a `for`, which may be an object.
    pub(super) fn list(&mut self, template: &'a Template, at: usize) {
        let known = self.known;
        let read = match template {
            Template::Reference(reference) => Some(known.reference(reference)),
            _ => None,
        };
        if let Some(operand) = operand(template, at, known) {
            let code = match read {
                Some(_) => Code::ListOrElement,
                None => Code::WrongType,
            };
            let what = "a `for` iterates over a list or an object";
            let takes = Types::LIST.or(Types::OBJECT);
            let expected = (what, takes, code);
            let guards = Guards::default();
            return self.expect(expected, &operand, at, &guards, |_, is_absent| match read {
                Some(read) if is_absent => Some(read.instead_of_list()),
                Some(read) => read.list_around(),
                None => {
                    let written = match template {
                        Template::Null => "…".to_owned(),
                        _ => Cut(template, SHORT).to_string(),
                    };
                    Some(format!("refer to a list, or write one: `[{written}]`"))
                }
            });
        }
        // A reference that never has a value has no kind.
        if let Some(read) = read.filter(|_| !known.is_broken(at))
            && let Ok(found) = read.found()
            && found.ty.types().is_empty()
            && let Some(absent) = found.absent
        {
            let written = short(&read.reference.text());
            let message = format!(
                "a `for` iterates over a list or an object, but `{written}` has no value: {absent}"
            );
            self.report(Code::MaybeAbsent, at, message, read.instead_of_list());
        }
    }
}
