//! Findings with underlined positions in the document.

use super::note::boundary;
use super::{Finding, Findings, Label, Severity};
use crate::dynamic::source;
use crate::print::{Line, MessageName, width, wrapped};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use plan_graph::Safe;
use std::fmt::Write;
use std::ops::Range;

/// The width of the output. Longer lines are truncated.
const WIDTH: usize = 120;
/// The amount of a long line that is read on each side of an underlined part.
const MARGIN: usize = 4 * WIDTH;
/// The number of bytes from which a line is not read as a whole.
const LONG: usize = 1 << 16;

impl Findings {
    /// Writes the findings as rustc writes its own, with the positions in the document underlined. `origin` is the name of the document, such as
    /// the path of its file. Long lines are truncated, and characters that a terminal would not show appear as Rust escapes.
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let findings = Reader::new().read(r#"{"steps": [
    ///     {"id": "find_john", "tool": "find", "arguments": {"name": "John"}},
    ///     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:find_jon.email"}}
    /// ]}"#).unwrap_err();
    /// assert_eq!(findings.render("plan.json"), r#"
    /// error[unknown-step]: there is no step `find_jon`
    ///  --> plan.json:3:62
    ///   |
    /// 3 |     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:find_jon.email"}}
    ///   |                                                              ^^^^^^^^ in step `sent`
    ///   |
    ///   = help: did you mean `find_john`?
    /// "#.trim_start());
    /// ```
    pub fn render(&self, origin: &str) -> String {
        self.rendered(origin, &Renderer::plain().term_width(WIDTH), None)
    }

    /// Writes the findings like [`render`](Self::render), in the width and the colors of a terminal.
    #[cfg(feature = "terminal")]
    pub(crate) fn render_in(&self, origin: &str, columns: usize, colors: bool) -> String {
        let renderer = if colors {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        self.rendered(origin, &renderer.term_width(columns), Some(columns))
    }

    /// Writes the findings, with messages in this number of columns or on one line.
    fn rendered(&self, origin: &str, renderer: &Renderer, columns: Option<usize>) -> String {
        let mut out = String::new();
        let origin = &Line(origin).to_string();
        for finding in self {
            if !out.is_empty() {
                out.push('\n');
            }
            let group = group(finding, self.text(), origin, columns);
            out.push_str(&renderer.render(&[group]));
            out.push('\n');
        }
        out
    }
}

fn group<'a>(
    finding: &'a Finding,
    text: &'a str,
    origin: &'a str,
    columns: Option<usize>,
) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let words = match (finding.label.text.as_str(), &finding.step) {
        ("", Some(step)) => format!("in step `{}`", MessageName(step)),
        (words, _) => Line(words).to_string(),
    };
    let primary = &finding.label;
    // A label too far to the side of the line has lines of its own.
    let beside = |label: &&Label| {
        label.column.abs_diff(primary.column) < WIDTH / 2
            && label.span.start.abs_diff(primary.span.start) < LONG
    };
    let (near, far): (Vec<&Label>, Vec<&Label>) = finding.related.iter().partition(beside);
    let window = Window::of(near.iter().copied().chain([primary]), text);
    let annotation = AnnotationKind::Primary.span(window.inside(primary, text));
    let snippet = window
        .snippet(text, origin)
        .annotation(annotation.label(words))
        .annotations(near.iter().map(|label| window.context(label, text)));
    let title = "warning[]: ".len() + finding.code.as_str().len();
    let mut group = level
        .primary_title(lines(&finding.message, columns, title))
        .id(finding.code.as_str())
        .elements(window.origin(primary, origin))
        .element(snippet);
    for label in far {
        let window = Window::of([label].into_iter(), text);
        let snippet = window.snippet(text, origin);
        group = group
            .elements(window.origin(label, origin))
            .element(snippet.annotation(window.context(label, text)));
    }
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(lines(help, columns, "   = help: ".len()))),
        None => group,
    }
}

/// Returns a message on one line, or on several lines that fit into a number of columns beside a label of this width.
fn lines(message: &str, columns: Option<usize>, label: usize) -> String {
    let line = Line(message).to_string();
    match columns {
        Some(columns) if width(&line) + label > columns => {
            wrapped(&line, columns - label).join("\n")
        }
        _ => line,
    }
}

/// The part of a document that contains the labels.
struct Window {
    range: Range<usize>,
    line: usize,
    /// `true` if the line starts before the part, or some of the line is escaped, so that its columns are not those of the
    /// document.
    moved: bool,
}

impl Window {
    fn of<'a>(labels: impl Iterator<Item = &'a Label> + Clone, text: &str) -> Self {
        let first = labels.clone().min_by_key(|label| label.span.start);
        let (first, line) = first.map_or((0, 1), |label| (label.span.start, label.line));
        let last = labels.map(|label| end(label, text)).max();
        let last = last.unwrap_or_default().max(first);
        let mut moved = false;
        let mut start = match text[..first].rfind('\n') {
            Some(end) => end + 1,
            None => source::start(text).min(first),
        };
        let mut end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        if text[last..end].ends_with('\r') && end < text.len() {
            end -= 1;
        }
        if first - start > LONG || end - last > LONG {
            moved = true;
            start = boundary(text, start.max(first.saturating_sub(MARGIN)));
            end = boundary(text, end.min(last + MARGIN));
        }
        moved |= shown(&text[start..end], last - start) != text[start..last];
        Self {
            range: start..end,
            line,
            moved,
        }
    }

    /// Returns the position, if the snippet cannot show it itself.
    fn origin<'a>(&self, label: &Label, origin: &'a str) -> Option<Origin<'a>> {
        let place = Origin::path(origin).line(label.line);
        self.moved.then(|| place.char_column(label.column))
    }

    fn snippet<'a, T: Clone>(&self, text: &str, origin: &'a str) -> Snippet<'a, T> {
        let part = &text[self.range.clone()];
        let snippet = Snippet::source(shown(part, part.len())).line_start(self.line);
        if self.moved {
            snippet
        } else {
            snippet.path(origin)
        }
    }

    fn inside(&self, label: &Label, text: &str) -> Range<usize> {
        let part = &text[self.range.clone()];
        let place = |at: usize| shown(part, at - self.range.start).len();
        place(label.span.start)..place(end(label, text))
    }

    fn context<'a>(&self, label: &'a Label, text: &str) -> Annotation<'a> {
        let span = self.inside(label, text);
        AnnotationKind::Context
            .span(span)
            .label(Line(&label.text).to_string())
    }
}

/// Returns the end of a position, or the end of its part that fits on a line.
fn end(label: &Label, text: &str) -> usize {
    let Range { start, end } = label.span;
    let most = boundary(text, end.min(start + WIDTH / 2));
    if text[start..most].contains('\n') {
        end
    } else {
        most
    }
}

/// Returns the beginning of a part of a document, with escapes for characters that a terminal would not show.
fn shown(part: &str, end: usize) -> String {
    let mut text = String::with_capacity(end);
    let mut safe = Safe::lines(&mut text);
    let mut written = 0;
    for (at, c) in part[..end].char_indices() {
        let ends_line = c == '\r' && part[at + 1..].starts_with('\n');
        if ends_line || c == '\t' {
            let _ = safe.write_str(&part[written..at]);
            // A tab used for indentation, which becomes four spaces.
            if c == '\t' {
                let _ = safe.as_it_is("\t");
            }
            written = at + 1;
        }
    }
    let _ = safe.write_str(&part[written..end]);
    text
}
