//! Strings with references, and strings that only look like references.

use super::Writer;
use super::json::OutputJson;
use super::scope::Scope;
use crate::dynamic::dialects::references::{self, ReferenceTarget, Scan, ScannedReference, Target};
use crate::plan::{Absent, Reference, Segment, Selector, Source};
use crate::print::short;

/// A part of a string.
#[derive(Clone, Copy)]
pub(crate) enum TextPiece<'t> {
    Text(&'t str),
    Reference(&'t Reference),
}

/// The literal parts of a string that are escaped.
#[derive(Clone, Copy, PartialEq)]
enum Escape {
    /// Only empty parts, which make a string of an adjacent value.
    Empty,
    /// The parts that a reader would misinterpret.
    Needed,
    All,
}

impl<'p> Writer<'p> {
    /// Writes a string of these pieces. The function scans the string like a reader, to verify it.
    pub(crate) fn string(&mut self, path: &str, pieces: &[TextPiece<'_>]) -> OutputJson<'p> {
        let mut written = Vec::with_capacity(pieces.len());
        for piece in pieces {
            written.push(match piece {
                TextPiece::Text(text) => (*text).to_owned(),
                TextPiece::Reference(reference) => match self.reference(reference) {
                    Ok(text) => text,
                    Err(construct) => {
                        // An unsupported input or step has been reported already.
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

    /// Checks the name of a member, which cannot be escaped.
    pub(crate) fn name(&mut self, path: &str, name: &str) {
        let is_reference =
            |piece: &references::Piece<'_>| matches!(piece, references::Piece::Reference(_));
        if self.scan(name).pieces.iter().any(is_reference) {
            self.cannot_express(self.at(path), "a name that looks like a reference");
        }
    }

    fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        (self.dialect.rules().scan)(text, &|name| self.knows(name))
    }

    /// Returns `true` if a reader would find these pieces in a string.
    fn reads_as(&self, text: &str, pieces: &[TextPiece<'_>]) -> bool {
        let scan = self.scan(text);
        let known = |target: &Target| match target {
            Target::Id(id) => {
                let around = self.around.iter().chain([&self.scope]);
                let names_steps = !self.form.layout.by_place;
                self.scope.ids.contains_key(id.as_str())
                    || around.take(1).any(|it| it.inputs.contains_key(id.as_str()))
                    || (names_steps && self.is_around(id))
                    || self.knows(id)
            }
            Target::Index(index) => *index < self.scope.plan.steps.len(),
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
                ) if self.leads(reference, found) && found.compat_only.is_none() => {}
                _ => return false,
            }
        }
    }

    /// Returns `true` for a name in scope.
    fn knows(&self, name: &str) -> bool {
        let names_steps = !self.form.layout.by_place;
        let here = self.around.iter().chain([&self.scope]);
        let known = |(level, scope): (usize, &Scope<'_>)| {
            scope.local(name).is_some()
                || (names_steps && scope.ids.contains_key(name))
                || (level > 0 && scope.inputs.contains_key(name))
        };
        here.enumerate().any(known)
    }

    /// Returns `true` if a step around the block has this ID.
    fn is_around(&self, id: &str) -> bool {
        self.around.iter().any(|scope| scope.ids.contains_key(id))
    }

    /// Returns `true` if a reader would find this reference in the written one.
    fn leads(&self, reference: &Reference, found: &ScannedReference<'_>) -> bool {
        let Some((_, rest)) = self.scope.named(reference) else {
            return false;
        };
        let scope = &self.scope;
        let source = match &found.target {
            Target::Index(index) => Some(Source::Step(*index)),
            Target::Input(name) => {
                let plan = self.plan();
                let is_plan = self.around.is_empty();
                let mut inputs = plan.inputs.iter();
                let input = inputs.position(|input| input.name == *name);
                input.filter(|_| is_plan).map(Source::Input)
            }
            Target::Id(name) => match scope.local(name) {
                Some((depth, part)) => {
                    let is_part = match part {
                        Some(part) => reference.path.first().is_some_and(
                            |first| matches!(first.selector, Selector::Index(it) if it == part),
                        ),
                        None => true,
                    };
                    is_part.then_some(Source::Local(depth))
                }
                None if !self.form.layout.by_place && scope.ids.contains_key(name.as_str()) => {
                    scope.ids.get(name.as_str()).copied().map(Source::Step)
                }
                None if !self.around.is_empty() => {
                    scope.inputs.get(name.as_str()).copied().map(Source::Input)
                }
                None => None,
            },
        };
        source == Some(reference.source) && same_path(&rest.path, &found.path)
    }

    /// Writes a reference in the dialect's syntax. The error is the part that the syntax cannot express.
    fn reference(&self, reference: &Reference) -> Result<String, Option<String>> {
        let source = reference.source;
        let is_known = self.scope.plan.name_of(source).is_some();
        let Some((name, mut rest)) = self.scope.named(reference) else {
            return Err(Some(match source {
                Source::Local(_) => format!("the value `{reference}` of a loop or a condition"),
                _ if is_known => {
                    format!("the reference `{reference}`, whose name a pattern around it has")
                }
                _ => leads_to_nothing(reference),
            }));
        };
        if let Source::Input(input) = source
            && self.scope.last.contains(&input)
            && !rest.path.is_empty()
        {
            // In the first round, null needs no notation.
            if !rest.optional {
                let construct =
                    format!("the reference `{reference}`, which fails in the first round");
                return Err(Some(construct));
            }
            rest.optional = false;
        }
        plain_path(reference, &rest)?;
        let of_block = matches!(source, Source::Input(_)) && !self.around.is_empty();
        let to = if of_block || matches!(source, Source::Local(_)) {
            ReferenceTarget::Value(&name)
        } else {
            (self.target)(self, reference)?
        };
        let form = (self.dialect.rules().form)(to, &rest.path);
        form.ok_or(None)
    }

    /// Returns the ID of a reference's step, if it is unique.
    pub(crate) fn id_of(
        &self,
        step: usize,
        reference: &Reference,
    ) -> Result<&'p str, Option<String>> {
        let step_at = self.scope.plan.steps.get(step);
        let id = &step_at.ok_or_else(|| leads_to_nothing(reference))?.id;
        if id.is_empty() || self.scope.ids.get(id.as_str()) != Some(&step) {
            return Err(None);
        }
        Ok(id)
    }

    /// Returns `true` if the step does not come before the current one.
    pub(crate) fn is_later(&self, step: usize) -> bool {
        self.scope.current.is_some_and(|current| step >= current)
    }
}

pub(crate) fn leads_to_nothing(reference: &Reference) -> String {
    format!("the reference `{reference}`, which leads to nothing")
}

/// Returns the unsupported effect of an absent value in the `rest` of a reference, after its name.
fn plain_path(reference: &Reference, rest: &Reference) -> Result<(), String> {
    if rest.otherwise.is_some() {
        return Err(format!(
            "the default for the reference `{reference}` of the compat profile"
        ));
    }
    let has_default =
        |segment: &Segment| matches!(&segment.absent, Absent::Default(value) if !value.is_null());
    if rest.path.iter().any(has_default) {
        return Err(format!(
            "the default of a field that may be left out (`{reference}`)"
        ));
    }
    let asks = |segment: &Segment| {
        segment.optional || (!segment.is_each() && !matches!(segment.absent, Absent::Error))
    };
    if rest.optional || rest.path.iter().any(asks) {
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
