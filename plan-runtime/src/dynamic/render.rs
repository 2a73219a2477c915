//! Findings with the places in the document underlined.

use super::finding::{Finding, Findings, Label, Severity};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::borrow::Cow;
use std::ops::Range;

/// How wide the output is. A line that is longer is cut.
const WIDTH: usize = 120;
/// How much of a long line is looked at on either side of what is underlined.
const MARGIN: usize = 4 * WIDTH;
/// From how many bytes on a line is not looked at as a whole.
const LONG: usize = 1 << 16;

impl Findings {
    /// Writes the findings as rustc writes its own, with the places in the document underlined. `origin` is what the document is called, such as
    /// the path of its file. Long lines are cut.
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
    ///   = help: a step with a similar name exists: `find_john`
    /// "#.trim_start());
    /// ```
    pub fn render(&self, origin: &str) -> String {
        self.rendered(origin, &Renderer::plain().term_width(WIDTH))
    }

    /// The same in colours, by the escape sequences of terminals.
    pub fn render_colored(&self, origin: &str) -> String {
        self.rendered(origin, &Renderer::styled().term_width(WIDTH))
    }

    fn rendered(&self, origin: &str, renderer: &Renderer) -> String {
        let mut out = String::new();
        for finding in self {
            if !out.is_empty() {
                out.push('\n');
            }
            let group = group(finding, self.text(), origin);
            out.push_str(&renderer.render(&[group]));
            out.push('\n');
        }
        out
    }
}

fn group<'a>(finding: &'a Finding, text: &'a str, origin: &'a str) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let words = match (finding.label.text.as_str(), &finding.step) {
        ("", Some(step)) => Cow::Owned(format!("in step `{step}`")),
        (words, _) => Cow::Borrowed(words),
    };
    let primary = &finding.label;
    // What is too far to the side to be shown beside it has lines of its own.
    let beside = |label: &&Label| {
        label.column.abs_diff(primary.column) < WIDTH / 2
            && label.span.start.abs_diff(primary.span.start) < LONG
    };
    let (near, far): (Vec<&Label>, Vec<&Label>) = finding.related.iter().partition(beside);
    let window = Window::of(near.iter().copied().chain([primary]), text);
    let annotation = AnnotationKind::Primary.span(window.inside(primary, text));
    let snippet = window
        .snippet(text, origin)
        .annotation(annotation.label(visible(&words).into_owned()))
        .annotations(near.iter().map(|label| window.context(label, text)));
    let mut group = level
        .primary_title(visible(&finding.message))
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
        Some(help) => group.element(Level::HELP.message(visible(help))),
        None => group,
    }
}

/// The part of a document that labels stand in.
struct Window {
    range: Range<usize>,
    line: usize,
    /// The line does not start where the part does.
    cut: bool,
}

impl Window {
    fn of<'a>(labels: impl Iterator<Item = &'a Label> + Clone, text: &str) -> Self {
        let first = labels.clone().min_by_key(|label| label.span.start);
        let (first, line) = first.map_or((0, 1), |label| (label.span.start, label.line));
        let last = labels.map(|label| end(label, text)).max();
        let last = last.unwrap_or_default().max(first);
        let mut cut = false;
        let mut start = text[..first].rfind('\n').map_or(0, |at| at + 1);
        let mut end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        if first - start > LONG || end - last > LONG {
            cut = true;
            start = boundary(text, start.max(first.saturating_sub(MARGIN)));
            end = boundary(text, end.min(last + MARGIN));
        }
        Self {
            range: start..end,
            line,
            cut,
        }
    }

    /// The place, where the snippet cannot say it itself.
    fn origin<'a>(&self, label: &Label, origin: &'a str) -> Option<Origin<'a>> {
        let place = Origin::path(origin).line(label.line);
        self.cut.then(|| place.char_column(label.column))
    }

    fn snippet<'a, T: Clone>(&self, text: &'a str, origin: &'a str) -> Snippet<'a, T> {
        let snippet = Snippet::source(&text[self.range.clone()]).line_start(self.line);
        match self.cut {
            true => snippet,
            false => snippet.path(origin),
        }
    }

    fn inside(&self, label: &Label, text: &str) -> Range<usize> {
        label.span.start - self.range.start..end(label, text) - self.range.start
    }

    fn context<'a>(&self, label: &'a Label, text: &str) -> Annotation<'a> {
        let span = self.inside(label, text);
        AnnotationKind::Context
            .span(span)
            .label(visible(&label.text))
    }
}

/// Where a place ends, or where it is cut, if it is longer than a line should be.
fn end(label: &Label, text: &str) -> usize {
    let Range { start, end } = label.span;
    let most = boundary(text, end.min(start + WIDTH / 2));
    match text[start..most].contains('\n') {
        true => end,
        false => most,
    }
}

/// The start of the sign that this byte is of.
fn boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// A text without signs that do something to a terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect::<String>().into()
}
