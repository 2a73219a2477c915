//! The check of all references in a template: parts that are missing in some runs or in all runs.

use super::path::LeadsNowhere;
use super::{Checker, refers};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::{TooMuchWork, Types};
use crate::dynamic::spans::Templates;
use crate::plan::{Entry, Key, Reference, Segment, Template};
use crate::resolve::describe::short;
use std::collections::HashSet;

impl<'a> Checker<'a, '_> {
    /// Checks the references in a template.
    pub(super) fn references(&mut self, template: &'a Template, at: usize) {
        let known = self.known;
        // A test has its own findings for missing values.
        let mut asked: HashSet<usize> = HashSet::new();
        each(
            template,
            at,
            &known.spans.templates,
            &mut |at, part| match part {
                Template::Text(_) => self.text(part, at),
                Template::Object(entries) => self.merged(entries, at),
                Template::Test(_) => asked.extend(known.spans.templates.parts(at)),
                Template::Reference(reference) => {
                    let is_each = reference.path.iter().any(Segment::is_each);
                    let may_be_missing = asked.contains(&at) && !is_each;
                    self.reference(reference, at, may_be_missing);
                }
                _ => {}
            },
        );
    }

    /// Checks that the merged parts of an object are objects.
    fn merged(&mut self, entries: &'a [Entry], at: usize) {
        let known = self.known;
        for (entry, at) in entries.iter().zip(known.spans.templates.parts(at)) {
            if entry.key != Key::Flattened || known.is_broken(at) {
                continue;
            }
            let ty = known.of_template(&entry.value).in_value();
            let others = ty.types().without(Types::OBJECT.or(Types::NULL));
            if others.is_empty() || ty.is_trusted() || ty.beyond().is_some() {
                continue;
            }
            let part = match &entry.value {
                Template::Reference(reference) => format!("`{}`", short(&reference.text())),
                _ => "this part".to_owned(),
            };
            let but = |is: &str| format!("only an object can be merged, but {part} {is}");
            let place = known.place(at);
            self.add(match ty.types() {
                Types::ALL => known.unchecked(place, but("may be anything")),
                types if types.overlaps(Types::OBJECT) => {
                    let message = but(&format!("may be {}", others.words()));
                    Note::error(Code::WrongType, place, message)
                }
                _ => Note::error(Code::WrongType, place, but(&format!("is {}", ty.words()))),
            });
        }
    }

    /// Checks a reference. The value may be missing if a test or a pattern asks for the value.
    pub(super) fn reference(&mut self, reference: &'a Reference, at: usize, may_be_missing: bool) {
        let known = self.known;
        if known.is_broken(at) {
            return;
        }
        let (read, place) = (known.reference(reference), known.place(at));
        let why = match read.found() {
            Ok(found) => {
                let is_said = self.notes.has_note(&place);
                let note = match () {
                    // A required argument already has an error.
                    () if found.lost.is_some() && !self.notes.has_error(&place) => {
                        let lost = found.lost.as_ref();
                        lost.map(|lost| read.lost(at, lost).into_warning())
                    }
                    () if is_said || found.ty.beyond().is_some() => None,
                    () => read.unsure(at, &found, may_be_missing),
                };
                if let Some(note) = note {
                    self.add(note);
                }
                found.ty.beyond().cloned()
            }
            Err(LeadsNowhere::Lost(lost)) => {
                let note = read.lost(at, &lost);
                return self.add(note);
            }
            Err(LeadsNowhere::Unknown(why)) => Some(why),
        };
        let why = why.filter(|_| !known.is_unknown_around(reference.source));
        let Some(why) = why else { return };
        let whose = read.whose();
        let why = match why {
            TooMuchWork::Work => "the schema of its output is too large".to_owned(),
            TooMuchWork::Target(target) => refers("the schema of its output", &target),
        };
        let message = format!("{whose} cannot be checked: {why}");
        let note = Note::error(Code::LimitPassed, place, message);
        self.add(note);
    }
}

/// Calls a function for a template and its parts, with their places.
fn each<'a>(
    template: &'a Template,
    at: usize,
    spans: &Templates,
    f: &mut impl FnMut(usize, &'a Template),
) {
    f(at, template);
    for (part, at) in template.parts().zip(spans.parts(at)) {
        each(part, at, spans, f);
    }
}
