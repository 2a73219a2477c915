//! Notes, which become findings. Their number and their lengths are bounded for any document.

use super::super::source;
use super::{Code, Finding, Findings, Label, Severity};
use crate::dynamic::DocumentLimits;
use crate::resolve::describe::counted;
use std::ops::Range;
use std::sync::Arc;

/// The default for the largest number of stored notes.
const MOST: usize = DocumentLimits::DEFAULT.findings;

/// The largest size in bytes of a message, a label or a help. The limit on names is far lower.
const LONGEST: usize = 2048;

/// The largest size in bytes of a step's ID in a finding.
const LONGEST_ID: usize = 1024;

/// The largest number of related positions of one note.
const MOST_RELATED: usize = 16;

/// A finding whose line and column are not known yet.
#[derive(Clone, Debug)]
pub(in crate::dynamic) struct Note {
    code: Code,
    severity: Severity,
    message: String,
    at: Range<usize>,
    label: String,
    related: Vec<(Range<usize>, String)>,
    help: Option<String>,
    step: Option<Arc<str>>,
}

/// The help of a note: a string, or none.
pub(in crate::dynamic) trait Help {
    fn text(self) -> Option<String>;
}

impl Help for () {
    fn text(self) -> Option<String> {
        None
    }
}

impl Help for &str {
    fn text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl Help for String {
    fn text(self) -> Option<String> {
        Some(self)
    }
}

impl<H: Help> Help for Option<H> {
    fn text(self) -> Option<String> {
        self?.text()
    }
}

impl Note {
    pub(in crate::dynamic) fn error(
        code: Code,
        at: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: cut(message.into(), LONGEST),
            at,
            label: String::new(),
            related: Vec::new(),
            help: None,
            step: None,
        }
    }

    pub(in crate::dynamic) fn warning(
        code: Code,
        at: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self::error(code, at, message).warn_if(true)
    }

    /// Creates an error about the member of [`DocumentLimits`] with this name, with a hint if the limit can be raised.
    pub(in crate::dynamic) fn limit(
        limit: impl Into<Option<&'static str>>,
        at: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let help = |limit| format!("if the document is right, raise `DocumentLimits::{limit}`");
        Self::error(Code::LimitPassed, at, message).help(limit.into().map(help))
    }

    /// Returns the note as a warning.
    pub(in crate::dynamic) fn into_warning(self) -> Self {
        let severity = Severity::Warning;
        Self { severity, ..self }
    }

    pub(in crate::dynamic) fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    pub(in crate::dynamic) fn at(self, at: Range<usize>) -> Self {
        Self { at, ..self }
    }

    /// Adds words before the message.
    pub(in crate::dynamic) fn after(mut self, words: &str) -> Self {
        self.message = cut(format!("{words}{}", self.message), LONGEST);
        self
    }

    pub(in crate::dynamic) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = cut(label.into(), LONGEST);
        self
    }

    pub(in crate::dynamic) fn related(
        mut self,
        at: impl Into<Option<Range<usize>>>,
        label: impl Into<String>,
    ) -> Self {
        if let Some(at) = at.into().filter(|_| self.related.len() < MOST_RELATED) {
            self.related.push((at, cut(label.into(), LONGEST)));
        }
        self
    }

    pub(in crate::dynamic) fn help(mut self, help: impl Help) -> Self {
        self.help = help.text().map(|help| cut(help, LONGEST));
        self
    }

    /// Takes the help out of it.
    pub(in crate::dynamic) fn take_help(&mut self) -> Option<String> {
        self.help.take()
    }

    /// Makes the note a warning if that suffices.
    pub(in crate::dynamic) fn warn_if(mut self, is_enough: bool) -> Self {
        if is_enough {
            self.severity = Severity::Warning;
        }
        self
    }

    /// Returns the distance between the value and the expected one, to compare alternatives.
    fn weight(&self) -> usize {
        match self.code {
            _ if self.severity == Severity::Warning => 1,
            Code::NotAllowed => 40,
            Code::WrongType | Code::ListOrElement => 30,
            Code::MissingArgument => 20,
            _ => 10,
        }
    }

    /// Sets the step. All notes on a step share its ID.
    pub(in crate::dynamic) fn step(mut self, step: &Arc<str>) -> Self {
        if !step.is_empty() {
            self.step = Some(match step.len() {
                ..=LONGEST_ID => Arc::clone(step),
                _ => cut(step.to_string(), LONGEST_ID).into(),
            });
        }
        self
    }
}

/// Truncates a string to this size.
fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        text.truncate(boundary(&text, longest));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Returns the start of the character that contains this byte. The standard library has `str::floor_char_boundary` since
/// Rust 1.91.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let mut starts = (0..=at.min(text.len())).rev();
    starts
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or_default()
}

/// Notes on one document, which become findings. Notes beyond the limit are counted, and errors take precedence.
#[derive(Clone, Debug)]
pub(in crate::dynamic) struct Notes {
    /// The largest number of stored notes.
    most: usize,
    kept: Vec<Note>,
    /// The number of stored errors.
    errors: usize,
    /// The number of stored warnings, which errors replace at the limit.
    warnings: usize,
    /// The number of errors beyond the limit.
    more_errors: usize,
    more_warnings: usize,
    /// The sum of the weights of all notes.
    weight: usize,
    /// The parts of the document whose later notes are dropped.
    pub(in crate::dynamic) skipped: Vec<Range<usize>>,
}

impl Default for Notes {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl From<Note> for Notes {
    fn from(note: Note) -> Self {
        let mut notes = Self::default();
        notes.push(note);
        notes
    }
}

impl Notes {
    /// Creates an empty list with this capacity. One slot is reserved for the error that makes the plan unusable.
    pub(in crate::dynamic) fn of(most: usize) -> Self {
        Self {
            most: most.max(1),
            kept: Vec::new(),
            errors: 0,
            warnings: 0,
            more_errors: 0,
            more_warnings: 0,
            weight: 0,
            skipped: Vec::new(),
        }
    }

    pub(in crate::dynamic) fn push(&mut self, note: Note) {
        let is_in = |part: &Range<usize>| part.start <= note.at.start && note.at.end <= part.end;
        if self.skipped.iter().any(is_in) {
            return;
        }
        self.weight = self.weight.saturating_add(note.weight());
        let is_error = note.severity == Severity::Error;
        let has_room = self.has_room(is_error);
        let (kept, more) = if is_error {
            (&mut self.errors, &mut self.more_errors)
        } else {
            (&mut self.warnings, &mut self.more_warnings)
        };
        if has_room {
            *kept += 1;
            self.kept.push(note);
        } else {
            *more += 1;
        }
    }

    /// Drops the last warnings if the errors need their room.
    fn fit(&mut self) {
        let fitting = self.warnings.min(self.most - self.errors);
        self.more_warnings += self.warnings - fitting;
        self.warnings = fitting;
        let mut seen = 0;
        self.kept.retain(|note| {
            seen += usize::from(note.severity == Severity::Warning);
            note.severity == Severity::Error || seen <= fitting
        });
    }

    /// Adds the notes on a part of the document, with this step, if there is one.
    pub(in crate::dynamic) fn append(&mut self, mut other: Self, step: Option<&Arc<str>>) {
        other.fit();
        self.more_errors += other.more_errors;
        self.more_warnings += other.more_warnings;
        for note in other.kept {
            self.push(match step {
                Some(step) => note.step(step),
                None => note,
            });
        }
    }

    pub(in crate::dynamic) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(in crate::dynamic) fn weight(&self) -> usize {
        self.weight
    }

    pub(in crate::dynamic) fn into_messages(mut self) -> Vec<String> {
        self.fit();
        self.kept.into_iter().map(|note| note.message).collect()
    }

    /// Returns `true` if one more warning, or error, would be stored instead of counted.
    pub(in crate::dynamic) fn has_room(&self, is_error: bool) -> bool {
        let before = if is_error {
            self.errors
        } else {
            self.kept.len()
        };
        before < self.most
    }

    /// Returns `true` if errors exceed the limit, so that a search for further ones has no purpose.
    pub(in crate::dynamic) fn is_full(&self) -> bool {
        self.errors == self.most && self.more_errors > 0
    }

    /// Returns `true` if the notes contain an error at this position.
    pub(in crate::dynamic) fn has_error(&self, at: &Range<usize>) -> bool {
        let mut errors = self
            .kept
            .iter()
            .filter(|note| note.severity == Severity::Error);
        errors.any(|note| note.at == *at)
    }

    /// Returns `true` if this range has an error or a warning.
    pub(in crate::dynamic) fn has_note(&self, at: &Range<usize>) -> bool {
        self.kept.iter().any(|note| note.at == *at)
    }

    pub(in crate::dynamic) fn into_first_error(self) -> Option<Note> {
        let mut kept = self.kept.into_iter();
        kept.find(|note| note.severity == Severity::Error)
    }

    pub(in crate::dynamic) fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// Returns the number of errors, including those beyond the limit.
    pub(in crate::dynamic) fn errors(&self) -> usize {
        self.errors + self.more_errors
    }

    /// Returns the findings, in the order of the document. Findings at one position keep the order of their discovery.
    pub(in crate::dynamic) fn into_findings(mut self, text: &str) -> Findings {
        if self.kept.is_empty() {
            return Findings::default();
        }
        self.fit();
        self.kept.sort_by_key(|note| note.at.start);
        self.kept.extend(self.rest(text));
        let lines = LineIndex::of(text, &self.kept);
        let list = self.kept.into_iter().map(|note| Finding {
            code: note.code,
            severity: note.severity,
            message: note.message,
            label: lines.label(note.at, note.label),
            related: note
                .related
                .into_iter()
                .map(|(at, label)| lines.label(at, label))
                .collect(),
            help: note.help,
            step: note.step,
        });
        Findings {
            list: list.collect(),
            text: text.into(),
        }
    }

    /// Returns the note with the number of the omitted findings.
    fn rest(&self, text: &str) -> Option<Note> {
        let end = text.len()..text.len();
        let (errors, warnings) = (self.more_errors, self.more_warnings);
        let more = [(errors, "more error"), (warnings, "more warning")];
        let more = more.into_iter().filter(|(count, _)| *count > 0);
        let more: Vec<_> = more.map(|(count, what)| counted(count, what)).collect();
        if more.is_empty() {
            return None;
        }
        let message = more.join(" and ");
        let message = format!("the document has at least {message}");
        let note = Note::error(Code::LimitPassed, end, message).warn_if(errors == 0);
        let most = self.most;
        let help =
            format!("`DocumentLimits::findings` is {most}, errors first; raise it to see more");
        Some(note.help(help))
    }
}

/// The lines and columns of the notes' positions.
struct LineIndex(Vec<(usize, usize, usize)>);

impl LineIndex {
    /// Scans the document once. The positions are few, and the lines may be as many as the bytes.
    fn of(text: &str, notes: &[Note]) -> Self {
        let places = notes.iter().flat_map(|note| {
            let related = note.related.iter().map(|(at, _)| at.start);
            related.chain([note.at.start])
        });
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places.dedup();
        let (mut at, mut line, mut column) = (source::start(text), 1, 1);
        let known = places.into_iter().map(|place| {
            let end = place.min(text.len());
            for byte in &text.as_bytes()[at.min(end)..end] {
                match byte {
                    b'\n' => (line, column) = (line + 1, 1),
                    // A byte after the first byte of a character.
                    0x80..0xC0 => {}
                    _ => column += 1,
                }
            }
            at = end;
            (place, line, column)
        });
        Self(known.collect())
    }

    fn label(&self, span: Range<usize>, text: String) -> Label {
        let known = self.0.binary_search_by_key(&span.start, |known| known.0);
        let (_, line, column) = known.map_or((0, 1, 1), |at| self.0[at]);
        Label {
            line,
            column,
            span,
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(warnings: usize, errors: usize) -> Findings {
        let mut notes = Notes::default();
        for _ in 0..warnings {
            notes.push(Note::warning(Code::UnknownMember, 0..1, "w"));
        }
        for _ in 0..errors {
            notes.push(Note::error(Code::WrongKind, 2..3, "e"));
        }
        notes.into_findings("a\nb")
    }

    #[test]
    fn errors_go_before_warnings() {
        let all = notes(MOST + 10, 3);
        assert_eq!((all.len(), all.errors().count()), (MOST + 1, 3));
        assert_eq!(
            all[MOST].message,
            "the document has at least 13 more warnings"
        );
        assert_eq!((all[MOST].label.line, all[MOST].label.column), (2, 2));

        let all = notes(5, MOST + 1);
        assert_eq!(all.errors().count(), MOST + 1);
        assert_eq!(
            all[MOST].message,
            "the document has at least 1 more error and 5 more warnings"
        );
        assert_eq!(notes(MOST, 0).len(), MOST);
        assert!(!notes(MOST + 1, 0).has_errors());
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(LONGEST);
        let mut note = Note::error(Code::Cycle, 0..0, long.as_str()).help(long.clone());
        for _ in 0..100 {
            note = note.related(0..0, long.as_str());
        }
        let note = note.label(long.as_str()).step(&long.into());
        let mut notes = Notes::default();
        notes.push(note);
        let findings = notes.into_findings("");
        assert_eq!(findings[0].related.len(), MOST_RELATED);
        assert!(findings.to_string().len() < (MOST_RELATED + 4) * (LONGEST + 100));
    }
}
