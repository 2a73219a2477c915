//! Checks that rustc reports one error for a mutant, on its line.

use crate::mistakes::rustc::Message;
use crate::mutations::declared;
use crate::mutations::mutant::Mutant;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Verdict {
    /// The mutant is still right.
    Silent,
    /// The mutant is still right, with warnings.
    Warned,
    /// The mutant has one error, on its line.
    Right,
    /// Errors only where a step or input is used that was changed.
    AtUses,
    /// The mutant has one error, elsewhere.
    Elsewhere,
    /// The mutant has several errors.
    Several,
    /// The mutant has an error with an internal name of this crate.
    Internal,
}

impl Verdict {
    /// Returns `true` for a result that is worse than one error on the line.
    pub(crate) fn is_exception(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Several | Self::Internal)
    }
}

pub(crate) fn of(mutant: &Mutant, messages: &[Message]) -> Verdict {
    let errors: Vec<_> = messages.iter().filter(|message| message.is_error).collect();
    if errors.is_empty() {
        return if messages.is_empty() {
            Verdict::Silent
        } else {
            Verdict::Warned
        };
    }
    let lines = lines(mutant);
    let on_line = |error: &&&Message| {
        let starts = error
            .spans
            .iter()
            .map(|span| line(&mutant.text, span.start));
        starts.into_iter().any(|line| lines.contains(&line))
    };
    let here: Vec<_> = errors.iter().filter(on_line).collect();
    let declared = declared::all(&mutant.original);
    // A removed declaration, or, if nothing is wrong here, one whose type has changed.
    let changed: Vec<_> = declared
        .iter()
        .filter(|declared| {
            overlap(&declared.at, &mutant.before)
                || here.is_empty() && overlap(&declared.all, &mutant.before)
        })
        .map(|declared| declared.name.as_str())
        .collect();
    let at_use = |error: &Message| {
        error.spans.iter().any(|span| {
            let text = mutant.text.get(span.clone()).unwrap_or_default();
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.into_iter().any(|word| changed.contains(&word))
        })
    };
    let others = errors
        .iter()
        .filter(|error| !on_line(error) && !at_use(error))
        .count();
    if errors
        .iter()
        .any(|error| error.internal_names().next().is_some())
    {
        return Verdict::Internal;
    }
    match (here.len(), others) {
        (1, 0) => Verdict::Right,
        (0, 0) => Verdict::AtUses,
        (0, 1) => Verdict::Elsewhere,
        _ if errors.len() == 1 => Verdict::Elsewhere,
        // At most one beyond those where a removed declaration is used.
        _ if here.iter().filter(|error| !at_use(error)).count() <= 1 && others == 0 => {
            Verdict::AtUses
        }
        _ => Verdict::Several,
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The lines of the changed tokens, and of the tokens beside them.
fn lines(mutant: &Mutant) -> std::ops::RangeInclusive<usize> {
    let text = &mutant.text;
    let before = text[..mutant.after.start].trim_end().len();
    let end = &text[mutant.after.end..];
    let next = mutant.after.end + end.len() - end.trim_start().len();
    line(text, before)..=line(text, next)
}

/// Returns the line of a position.
pub(crate) fn line(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |text| text.matches('\n').count())
}
