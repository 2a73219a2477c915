//! The list of a `for`.

use super::Checker;
use super::checked_value::{CheckedValue, ValueKind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::Types;
use crate::plan::Template;
use crate::print::{Cut, SHORT};
use crate::resolve::describe::short;

impl Checker<'_, '_> {
    /// Checks the list of a `for`, which may be an object.
    pub(super) fn list(&mut self, template: &Template, at: usize) {
        let known = self.known;
        let Template::Reference(reference) = template else {
            return self.written_list(template, at);
        };
        let read = known.reference(reference);
        let Some(found) = read.found().ok().filter(|_| !known.is_broken(at)) else {
            return;
        };
        let types = found.ty.types();
        let iterated = Types::LIST.or(Types::OBJECT);
        let replaced = found.replaced.iter().filter(|it| it.lists == 0);
        let kinds = replaced.fold(types, |all, it| all.or(Types::of(&it.value)));
        let beside = kinds.without(Types::NULL).without(iterated);
        let written = short(&reference.text());
        if types.is_empty() || kinds.overlaps(iterated) {
            if types == Types::ALL {
                if !found.ty.is_trusted() && found.ty.beyond().is_none() {
                    let message = format!("a `for` needs a list, but `{written}` may be anything");
                    let note = known.unchecked(known.place(at), message);
                    let note = note.help(read.stating());
                    self.add(note);
                }
                return;
            }
            if !beside.is_empty() && found.mixed.is_none() {
                let kinds = beside.words();
                let message = format!(
                    "a `for` iterates over a list or an object, but `{written}` may be {kinds}"
                );
                let note = Note::error(Code::WrongType, known.place(at), message);
                return self.add(note);
            }
            let Some(absent) = found.absent else { return };
            let message =
                format!("a `for` needs a list, but `{written}` may have no value: {absent}");
            let note = Note::error(Code::MaybeAbsent, known.place(at), message);
            let note = note.help(read.instead_of_list());
            return self.add(note);
        }
        let words = found.ty.words();
        let message =
            format!("a `for` iterates over a list or an object, but `{written}` is {words}");
        let note = Note::error(Code::ListOrElement, known.place(at), message);
        let help = read.list_around();
        self.add(note.help(help));
    }

    /// Checks the list of a `for` that is no reference.
    fn written_list(&mut self, template: &Template, at: usize) {
        let value = CheckedValue::Template(template, at, self.known);
        let kind = value.kind();
        if matches!(kind, ValueKind::Unknown)
            || kind.types().overlaps(Types::LIST.or(Types::OBJECT))
        {
            return;
        }
        let message = format!(
            "a `for` iterates over a list or an object, but the value is {}",
            value.words()
        );
        let note = Note::error(Code::WrongType, self.known.place(at), message);
        let help = match template {
            Template::Null => "refer to a list, or write one: `[…]`".to_owned(),
            _ => format!(
                "refer to a list, or write one: `[{}]`",
                Cut(template, SHORT)
            ),
        };
        self.add(note.help(help));
    }
}
