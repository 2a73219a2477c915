//! Strings with references in them, and strings that look as if.

use super::Writer;
use super::json::OutputJson;
use crate::dynamic::dialects::references::{self, Scan, Target};
use crate::plan::{Absent, Reference, Segment, Source};
use crate::print::short;

/// A part of a string.
#[derive(Clone, Copy)]
pub(crate) enum TextPiece<'t> {
    Text(&'t str),
    Reference(&'t Reference),
}

/// Which texts of a string are escaped.
#[derive(Clone, Copy, PartialEq)]
enum Escape {
    /// None but empty ones, which only make a text of the value beside them.
    Empty,
    /// Those that a reader would take for something else.
    Needed,
    All,
}

impl<'p> Writer<'p> {
    /// A string of these pieces. It is read as the readers do, so what is written is what was meant.
    pub(crate) fn string(&mut self, path: &str, pieces: &[TextPiece<'_>]) -> OutputJson<'p> {
        let mut written = Vec::with_capacity(pieces.len());
        for piece in pieces {
            written.push(match piece {
                TextPiece::Text(text) => (*text).to_owned(),
                TextPiece::Reference(reference) => match self.reference(reference) {
                    Ok(text) => text,
                    Err(construct) => {
                        // Of inputs and steps without a form it was said once already.
                        if let Some(construct) = construct {
                            self.cannot_express(self.at(path), construct);
                        }
                        return OutputJson::Null;
                    }
                },
            });
        }
        for escape in [Escape::Empty, Escape::Needed, Escape::All] {
            let mut text = String::new();
            for (piece, written) in pieces.iter().zip(&written) {
                let escaped = match (piece, escape) {
                    (TextPiece::Reference(_), _) => false,
                    (TextPiece::Text(""), _) => pieces.len() > 1,
                    (TextPiece::Text(_), Escape::Empty) => false,
                    (TextPiece::Text(text), Escape::Needed) => !self.reads_as(text, &[*piece]),
                    (TextPiece::Text(_), Escape::All) => true,
                };
                if escaped {
                    text.push_str(&(self.dialect.rules().literal)(written));
                } else {
                    text.push_str(written);
                }
            }
            if self.reads_as(&text, pieces) {
                return OutputJson::String(text.into());
            }
        }
        let text = written.concat();
        self.cannot_express(self.at(path), format!("the text `{}`", short(&text)));
        OutputJson::Null
    }

    /// The name of a member, which cannot be escaped.
    pub(crate) fn name(&mut self, path: &str, name: &str) {
        let is_reference =
            |piece: &references::Piece<'_>| matches!(piece, references::Piece::Reference(_));
        if self.scan(name).pieces.iter().any(is_reference) {
            self.cannot_express(self.at(path), "a name that looks like a reference");
        }
    }

    fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        (self.dialect.rules().scan)(text, &|id| self.ids.contains_key(id))
    }

    /// Whether a reader would find these pieces in a text.
    fn reads_as(&self, text: &str, pieces: &[TextPiece<'_>]) -> bool {
        let scan = self.scan(text);
        let known = |target: &Target| match target {
            Target::Id(id) => {
                self.ids.contains_key(id.as_str()) || self.inputs.contains_key(id.as_str())
            }
            Target::Index(index) => *index < self.plan.steps.len(),
            Target::Input(_) => true,
        };
        if !scan.scan_errors.is_empty()
            || !references::foreign(self.dialect, text, &scan, &known)
                .0
                .is_empty()
            || scan.is_whole() != matches!(pieces, [TextPiece::Reference(_)])
        {
            return false;
        }
        let mut found = scan.pieces.iter();
        let expected = pieces.iter();
        let mut expected = expected.filter(|piece| !matches!(piece, TextPiece::Text("")));
        loop {
            match (expected.next(), found.next()) {
                (None, None) => return true,
                (Some(TextPiece::Text(text)), Some(references::Piece::Text(found)))
                    if text == found => {}
                (
                    Some(TextPiece::Reference(reference)),
                    Some(references::Piece::Reference(found)),
                ) if self.leads(reference, &found.target)
                    && found.compat_only.is_none()
                    && same_path(&reference.path, &found.path) => {}
                _ => return false,
            }
        }
    }

    fn leads(&self, reference: &Reference, target: &Target) -> bool {
        match (reference.source, target) {
            (Source::Step(step), Target::Id(id)) => self.ids.get(id.as_str()) == Some(&step),
            (Source::Step(step), Target::Index(index)) => step == *index,
            (Source::Input(input), Target::Input(name)) => {
                let input = self.plan.inputs.get(input);
                input.is_some_and(|input| input.name == *name)
            }
            _ => false,
        }
    }

    /// A reference in the dialect's syntax. The error is the part that the syntax cannot express.
    fn reference(&self, reference: &Reference) -> Result<String, Option<String>> {
        plain_path(reference)?;
        if matches!(reference.source, Source::Local(_)) {
            return Err(Some(format!(
                "the value `{reference}` of a loop or a condition"
            )));
        }
        let to = (self.target)(self, reference)?;
        let form = (self.dialect.rules().form)(to, &reference.path);
        form.ok_or(None)
    }

    /// The id of a step that a reference reads, if it is that of no other.
    pub(crate) fn id_of(
        &self,
        step: usize,
        reference: &Reference,
    ) -> Result<&'p str, Option<String>> {
        let step_at = self.plan.steps.get(step);
        let id = &step_at.ok_or_else(|| leads_to_nothing(reference))?.id;
        if id.is_empty() || self.ids.get(id.as_str()) != Some(&step) {
            return Err(None);
        }
        Ok(id)
    }

    /// Whether the step comes no earlier than the one that is written.
    pub(crate) fn is_later(&self, step: usize) -> bool {
        let current = self.step.and_then(|id| self.ids.get(id));
        current.is_some_and(|&current| step >= current)
    }
}

pub(crate) fn leads_to_nothing(reference: &Reference) -> String {
    format!("the reference `{reference}`, which leads to nothing")
}

/// Says what a reference does where something is absent, if it does not fail.
fn plain_path(reference: &Reference) -> Result<(), String> {
    if reference.otherwise.is_some() {
        return Err(format!(
            "the default for the reference `{reference}` of the compat profile"
        ));
    }
    let has_default =
        |segment: &Segment| matches!(&segment.absent, Absent::Default(value) if !value.is_null());
    if reference.path.iter().any(has_default) {
        return Err(format!(
            "the default of a field that may be left out (`{reference}`)"
        ));
    }
    let asks = |segment: &Segment| {
        segment.optional || (!segment.is_each() && !matches!(segment.absent, Absent::Error))
    };
    if reference.optional || reference.path.iter().any(asks) {
        return Err(format!(
            "the reference `{reference}` through a value that may be absent"
        ));
    }
    Ok(())
}

fn same_path(one: &[Segment], other: &[Segment]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.token() == other.token())
}
