use super::bytes;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Something to say of a document: a mistake, or a warning.
///
/// All that is wrong with a document is found before anything of it runs, and said at once: [`Findings`] is the list.
///
/// ```
/// use plan_runtime::dynamic::{Reader, Severity};
///
/// let findings = Reader::new().read(r#"[{"id": "sent", "tool": "send", "arguments": {"to": "{{ mail.result }}"}}]"#).unwrap_err();
/// let finding = &findings[0];
/// assert_eq!(finding.code.as_str(), "malformed-reference");
/// assert_eq!(finding.severity, Severity::Error);
/// assert_eq!((finding.label.line, finding.step.as_deref()), (1, Some("sent")));
/// assert!(finding.help.as_ref().unwrap().contains("did you mean"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of mistake it is.
    pub code: Code,
    /// Whether the plan can be used all the same.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where it is, and a few words on that; the words may be empty.
    pub label: Label,
    /// Other places that have to do with it.
    pub related: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// The id of the step that it stands in.
    pub step: Option<String>,
}

/// A place in a document, with a few words on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The place, in bytes from the document's start.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column in that line, in characters from 1.
    pub column: usize,
    /// The words; they may be empty.
    pub text: String,
}

/// Whether a plan can be used although something was found in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It can be used.
    Warning,
    /// It cannot be used.
    Error,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)*) => {
        /// A kind of mistake, or of warning. [`Display`](fmt::Display) writes it as it stands in messages: `unknown-step`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it stands in messages.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// What the code is for, in one line.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+),)*
                }
            }
        }
    };
}

codes! {
    /// The document is no JSON.
    InvalidJson = "invalid-json",
    /// A limit of the reader was passed.
    LimitPassed = "limit-passed",
    /// The document looks like no dialect.
    UnknownDialect = "unknown-dialect",
    /// The document mixes two dialects.
    MixedDialects = "mixed-dialects",
    /// A part of the plan is of another kind than it has to be (a number where there should be text).
    WrongKind = "wrong-kind",
    /// A part that every plan or step has is not there.
    MissingMember = "missing-member",
    /// A member that no reader looks at.
    UnknownMember = "unknown-member",
    /// An object has a member twice.
    DuplicateMember = "duplicate-member",
    /// A number that cannot be held exactly.
    InexactNumber = "inexact-number",
    /// The plan has no steps.
    NoSteps = "no-steps",
    /// A step, an input or a tool has an empty name.
    EmptyName = "empty-name",
    /// Two steps have one id.
    DuplicateId = "duplicate-id",
    /// There is no such step.
    UnknownStep = "unknown-step",
    /// There is no such input.
    UnknownInput = "unknown-input",
    /// There is no such local value of a loop or a condition.
    UnknownLocal = "unknown-local",
    /// Steps wait for one another.
    Cycle = "cycle",
    /// Text that is nearly a reference.
    MalformedReference = "malformed-reference",
    /// A step is referred to by an index that the plan does not have.
    StepOutOfRange = "step-out-of-range",
    /// A step refers to itself or to a later one, which the dialect forbids.
    LaterStep = "later-step",
    /// There is no such tool.
    UnknownTool = "unknown-tool",
    /// The tool has no such argument.
    UnknownArgument = "unknown-argument",
    /// The tool needs an argument that is not given.
    MissingArgument = "missing-argument",
    /// A value does not fit what takes it.
    WrongType = "wrong-type",
    /// A value is none of those allowed.
    NotAllowed = "not-allowed",
    /// A reference leads to a field that the tool's output does not have.
    UnknownField = "unknown-field",
    /// A list stands where one element is meant, or one element where a list is.
    ListOrElement = "list-or-element",
    /// A value that may be absent stands where one is required.
    MaybeAbsent = "maybe-absent",
    /// Nothing uses what a step gives, and its tool only reads.
    UnusedOutput = "unused-output",
    /// A step waits for another without a reason.
    UnneededDependency = "unneeded-dependency",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// All that was found in a document, in the order in which it stands there.
///
/// It is a list of [`Finding`]s and, where one of them is an error, an [`Error`](std::error::Error). `{}` writes them for people, each
/// with its line and column. With the feature `diagnostics`, `render` underlines the places.
///
/// ```
/// use plan_runtime::dynamic::{Code, Reader};
///
/// let findings = Reader::new().read(r#"{"steps": [
///     {"id": "find_john", "tool": "find", "arguments": {"name": "John"}},
///     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:find_jon.email"}}
/// ]}"#).unwrap_err();
/// assert_eq!(findings.len(), 1);
/// assert_eq!(findings[0].code, Code::UnknownStep);
/// assert_eq!(findings.to_string(), "\
/// error[unknown-step]: there is no step `find_jon`
///   --> 3:62 in step `sent`
///    = help: a step with a similar name exists: `find_john`
/// ");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    text: Arc<str>,
    list: Vec<Finding>,
}

impl Findings {
    /// The document.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the plan cannot be used.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// The errors among them.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|f| f.severity == Severity::Error)
    }

    /// The warnings among them.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter().filter(|f| f.severity == Severity::Warning)
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(f, "{severity}[{}]: {}", self.code, self.message)?;
        write!(f, "  --> {}:{}", self.label.line, self.label.column)?;
        if let Some(step) = &self.step {
            write!(f, " in step `{step}`")?;
        }
        match self.label.text.as_str() {
            "" => writeln!(f)?,
            text => writeln!(f, ": {text}")?,
        }
        for label in &self.related {
            writeln!(f, "   = note: {label}")?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "   = help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)?;
        match self.text.as_str() {
            "" => Ok(()),
            text => write!(f, ": {text}"),
        }
    }
}

/// A finding whose line and column are not known yet.
#[derive(Debug)]
pub(super) struct Note {
    code: Code,
    severity: Severity,
    message: String,
    at: Range<usize>,
    label: String,
    related: Vec<(Range<usize>, String)>,
    help: Option<String>,
    step: Option<String>,
}

impl Note {
    pub(super) fn error(code: Code, at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            at,
            label: String::new(),
            related: Vec::new(),
            help: None,
            step: None,
        }
    }

    pub(super) fn warning(code: Code, at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, at, message)
        }
    }

    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(super) fn related(mut self, at: Range<usize>, label: impl Into<String>) -> Self {
        self.related.push((at, label.into()));
        self
    }

    pub(super) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    /// Whether it helps by a name that is similar to the wrong one.
    pub(super) fn names_similar(&self) -> bool {
        let help = self.help.as_deref().unwrap_or_default();
        help.starts_with("a step with a similar name")
    }

    pub(super) fn step(mut self, step: &str) -> Self {
        if !step.is_empty() {
            self.step = Some(step.to_owned());
        }
        self
    }
}

/// Notes on one text, which become findings.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

impl Notes {
    pub(super) fn push(&mut self, note: Note) {
        self.0.push(note);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.0.iter().any(|note| note.severity == Severity::Error)
    }

    /// The findings, in the order of the text; those at one place in the order in which they were found.
    pub(super) fn into_findings(mut self, text: &str) -> Findings {
        if self.0.is_empty() {
            return Findings::default();
        }
        self.0.sort_by_key(|note| note.at.start);
        let lines = Lines::of(text);
        let list = self.0.into_iter().map(|note| Finding {
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
}

/// Where the lines of a text start.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(bytes::start(text)).chain(after.map(|(at, _)| at + 1));
        Self {
            text,
            starts: starts.collect(),
        }
    }

    fn label(&self, span: Range<usize>, text: String) -> Label {
        let line = self.starts.partition_point(|start| *start <= span.start);
        let line = line.max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..span.start).unwrap_or_default();
        Label {
            line,
            column: before.chars().count() + 1,
            span,
            text,
        }
    }
}
