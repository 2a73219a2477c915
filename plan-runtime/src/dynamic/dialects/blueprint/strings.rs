//! Strings of a blueprint with references, and strings that only look like references.

use super::{RULES, scan};
use crate::Plan;
use crate::dynamic::dialects::reading::placeholder;
use crate::dynamic::dialects::references::{
    Piece, ReferenceTarget, Scan, ScannedReference, Target, foreign, quote,
};
use crate::plan::{Absent, Reference, Segment, Source};
use crate::print::short;
use std::collections::HashMap;

/// A part of a string.
#[derive(Clone, Copy)]
pub(super) enum TextPiece<'t> {
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

/// The steps that a string can refer to.
pub(super) struct Names<'p> {
    pub(super) plan: &'p Plan,
    /// The indexes of the steps by ID.
    pub(super) ids: HashMap<&'p str, usize>,
    /// The current step, or `None` in the output.
    pub(super) current: Option<usize>,
}

impl Names<'_> {
    /// Writes a string of these pieces as JSON. A scan of the string finds the pieces again. The error is the part that a blueprint cannot express.
    pub(super) fn string(&self, pieces: &[TextPiece<'_>]) -> Result<String, String> {
        let mut written = Vec::with_capacity(pieces.len());
        for piece in pieces {
            written.push(match piece {
                TextPiece::Text(text) => (*text).to_owned(),
                TextPiece::Reference(reference) => self.reference(reference)?,
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
                    text.push_str(&scan::MARK.literal(written));
                } else {
                    text.push_str(written);
                }
            }
            if self.reads_as(&text, pieces) {
                return Ok(quote(&text));
            }
        }
        Err(format!("the text `{}`", short(&written.concat())))
    }

    /// Returns `true` if a reader finds these pieces in a string.
    fn reads_as(&self, text: &str, pieces: &[TextPiece<'_>]) -> bool {
        let scan = scan_of(text);
        let known = |target: &Target| match target {
            Target::Id(id) => self.ids.contains_key(id.as_str()),
            Target::Index(index) => *index < self.plan.steps.len(),
            Target::Input(_) => true,
        };
        let is_reference = matches!(pieces, [TextPiece::Reference(_)]);
        let expected = pieces.iter();
        let expected = expected.filter(|piece| !matches!(piece, TextPiece::Text("")));
        scan.scan_errors.is_empty()
            && scan.is_whole() == is_reference
            && !(scan.is_plain() && placeholder::name_of(text).is_some())
            && foreign(&RULES, text, &scan, &known).0.is_empty()
            && expected.clone().count() == scan.pieces.len()
            && expected
                .zip(&scan.pieces)
                .all(|(piece, found)| match (piece, found) {
                    (TextPiece::Text(text), Piece::Text(found)) => text == found,
                    (TextPiece::Reference(reference), Piece::Reference(found)) => {
                        leads(reference, found)
                    }
                    _ => false,
                })
    }

    /// Writes a reference. The error is the part that a blueprint cannot express.
    fn reference(&self, reference: &Reference) -> Result<String, String> {
        let Source::Step(index) = reference.source else {
            return Err(format!(
                "the reference `{reference}`, which is not to a step"
            ));
        };
        let Some(step) = self.plan.steps.get(index) else {
            return Err(format!("the reference `{reference}`, which has no target"));
        };
        if self.current.is_some_and(|current| index >= current) {
            return Err(format!(
                "a reference to `{}`, which does not come earlier",
                step.id
            ));
        }
        let has_absent = |segment: &Segment| {
            segment.optional || (!segment.is_each() && !matches!(segment.absent, Absent::Error))
        };
        if reference.optional
            || reference.otherwise.is_some()
            || reference.path.iter().any(has_absent)
        {
            return Err(format!(
                "the reference `{reference}` through a value that may be absent"
            ));
        }
        let style = scan::style(ReferenceTarget::Step(index, ""), "");
        Ok(style.map_or_else(String::new, |style| style.write(&reference.path)))
    }
}

/// Finds the references in a string without names of values.
pub(super) fn scan_of(text: &str) -> Scan<'_> {
    scan::scan(text, &|_| false)
}

/// Returns `true` if the written reference leads to the value of the reference.
fn leads(reference: &Reference, found: &ScannedReference<'_>) -> bool {
    let is_source =
        matches!(found.target, Target::Index(index) if reference.source == Source::Step(index));
    let found_path = found.path.iter().map(Segment::token);
    is_source
        && found.compat_only.is_none()
        && reference.path.iter().map(Segment::token).eq(found_path)
}
