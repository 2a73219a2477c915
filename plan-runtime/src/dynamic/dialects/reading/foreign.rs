//! Findings for a string that names a step or an input in the notation of another dialect.

use super::PlanReader;
use crate::dynamic::dialects::references::{
    self, ForeignReference, Places, ReferenceTarget, Scan, Target, named,
};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, Source, Text};
use crate::plan::Segment;
use crate::print::short;
use plan_graph::similar;

impl PlanReader<'_> {
    /// Reports the parts of a string that are references in other dialects. Returns `false` if such a part is an error.
    pub(crate) fn foreign(&mut self, text: &Text<'_>, own: &Scan<'_>) -> bool {
        let known = |target: &Target| self.has(target);
        let (found, more) = references::foreign(self.builder.dialect, &text.value, own, &known);
        let mut sound = true;
        for (index, foreign) in found.iter().enumerate() {
            let is_last = index + 1 == found.len();
            let more = if is_last { more } else { 0 };
            sound &= self.foreign_one(text, foreign, more);
        }
        sound
    }

    fn foreign_one(
        &mut self,
        text: &Text<'_>,
        ForeignReference { written, of }: &ForeignReference<'_>,
        more: usize,
    ) -> bool {
        let place = text.place(&written.range);
        let alone = written.range == (0..text.value.len());
        let (named, form) = self.form(text, &written.target, &written.path);
        let like = match more {
            0 => String::new(),
            more => format!(", as are {more} more like it"),
        };
        let is_error = of.is_some() && self.builder.dialect.rules().places != Places::Nowhere;
        let note = match of.filter(|_| is_error) {
            Some(other) => {
                let message = format!(
                    "this is a reference of {}, but the document is {}",
                    other.rules().document,
                    self.builder.dialect.rules().document
                );
                let note = Note::error(Code::MixedDialects, place, message);
                match &self.builder.shows {
                    Some(shows) => note.related(
                        shows.clone(),
                        format!("this is {}", self.builder.dialect.rules().document),
                    ),
                    None => note,
                }
            }
            None => {
                let message = format!(
                    "`{}` is not a reference in {}, though it names the {named}",
                    short(written.text),
                    self.builder.dialect.rules().document
                );
                Note::warning(Code::MalformedReference, place, message)
                    .label(format!("it is text{like}"))
            }
        };
        self.builder
            .note(note.help(self.foreign_help(text, written.text, form, alone)));
        !is_error
    }

    /// Returns the fix: the reference in this dialect, and the notation that keeps the string.
    fn foreign_help(
        &self,
        text: &Text<'_>,
        written: &str,
        form: Option<String>,
        alone: bool,
    ) -> String {
        let rules = self.builder.dialect.rules();
        let help = match form {
            None => format!(
                "{} has no inputs, as action plans and plan JSON have",
                rules.document
            ),
            Some(form) if alone => format!("the reference is `{form}`"),
            Some(form) => (rules.form_in_text)(&form),
        };
        let literal = (rules.literal_in)(&text.value, written);
        format!("{help}; to keep the text, write `{literal}`")
    }

    /// Returns `true` if the dialect has its references in strings, which can name local values.
    fn in_strings(&self) -> bool {
        self.builder.dialect.rules().places != Places::Nowhere
    }

    /// Returns `true` if the target of a reference exists.
    fn has(&self, target: &Target) -> bool {
        match target {
            Target::Id(id) => {
                self.builder.step_of(id).is_some()
                    || (self.syntax.names_steps() && self.builder.id_around(id).is_some())
                    || self.builder.input_names.contains_key(id.as_str())
                    || (self.in_strings() && self.knows(id))
            }
            Target::Index(index) => *index < self.builder.steps,
            Target::Input(_) => true,
        }
    }

    /// Returns the kind of a reference's target, and the notation of the reference in this dialect.
    fn form(&self, text: &Text<'_>, target: &Target, path: &[Segment]) -> (String, Option<String>) {
        let id;
        let (kind, to, name) = match target {
            Target::Index(index) => {
                id = short(&self.id_at(text, *index).unwrap_or_default());
                ("step", ReferenceTarget::Step(*index, &id), &id)
            }
            Target::Id(name) if self.in_strings() && self.names_value(name) => {
                ("value", ReferenceTarget::Value(name), name)
            }
            Target::Id(name) => match self.builder.step_of(name) {
                Some(step) => ("step", ReferenceTarget::Step(step, name), name),
                None if self.builder.id_around(name).is_some() => {
                    ("step", ReferenceTarget::Step(usize::MAX, name), name)
                }
                None => ("input", ReferenceTarget::Input(name), name),
            },
            Target::Input(name) => ("input", ReferenceTarget::Input(name), name),
        };
        let form = (self.builder.dialect.rules().form)(to, path);
        (format!("{kind} `{}`", short(name)), form)
    }

    /// Returns the intended reference, for a reference of this dialect that begins here and names its target in the notation of another
    /// one.
    pub(crate) fn meant(&self, text: &Text<'_>, at: usize) -> Option<String> {
        let meant = references::meant(self.builder.dialect, &text.value, at)?;
        let (_, form) = self.form(text, &meant.target, &meant.path);
        form.filter(|_| self.has(&meant.target))
    }

    /// Returns the reference that a string without marks probably means, in the dialect's notation.
    pub(crate) fn form_of_unmarked(&self, text: &Text<'_>) -> Option<String> {
        let meant = references::unmarked(&text.value)?;
        let (_, form) = self.form(text, &meant.target, &meant.path);
        form.filter(|_| self.has(&meant.target))
    }

    /// Returns the reference with a similar name, in the dialect's notation.
    pub(super) fn similar(&mut self, text: &Text<'_>, at: usize) -> Option<String> {
        let meant = references::meant(self.builder.dialect, &text.value, at)?;
        let Target::Id(name) = &meant.target else {
            return None;
        };
        let Some(similar) = self.similar_value(name) else {
            let steps = self.builder.steps_to_compare();
            let similar = similar(name, steps.iter().map(|(_, id)| id.as_str()))?;
            let target = Target::Id(similar.to_owned());
            return self.form(text, &target, &meant.path).1;
        };
        let rest = &meant.text[meant.named.end - meant.range.start..];
        let style = (self.builder.dialect.rules().style)(ReferenceTarget::Value(&similar), "")?;
        let open = &meant.text[..meant.named.start - meant.range.start];
        Some(format!("{open}{}{rest}", named(style.names, &similar)))
    }

    /// Returns the ID of a step from the document.
    pub(super) fn id_at(&self, text: &Text<'_>, index: usize) -> Option<String> {
        let id = self.builder.spans.steps.get(index)?.id.range();
        let raw = text.source().whole().get(id)?;
        // A step without an ID has its own position in place of the ID's.
        if !raw.starts_with('"') {
            return self.syntax.default_id(self, index);
        }
        let source = Source::document(raw);
        let id = JsonNode::of(raw, &source).ok()?.text().ok()?;
        Some(id.value.into_owned())
    }
}
