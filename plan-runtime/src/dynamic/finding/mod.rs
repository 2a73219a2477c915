//! Problems found in a document, with positions, for programs and for people.

mod note;
#[cfg(feature = "diagnostics")]
mod render;

use crate::print::{Line, MessageName};
pub(super) use note::{Help, Note, Notes};
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

crate::print::visible_debug! {
    /// A problem found in a document: an error or a warning.
    ///
    /// A reader finds all problems of a document before any of it runs, and reports them together as [`Findings`].
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
    #[derive(Clone, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub struct Finding {
        /// The kind of problem.
        pub code: Code,
        /// The severity, which determines if the plan is usable.
        pub severity: Severity,
        /// The problem, in one line.
        pub message: String,
        /// The position of the problem, with a short description that may be empty.
        pub label: Label,
        /// Other positions that are related to the problem.
        pub related: Vec<Label>,
        /// The fix.
        pub help: Option<String>,
        /// The id of the step that contains the problem, cut after 1,024 bytes.
        #[serde(serialize_with = "serialize_step")]
        pub step: Option<Arc<str>>,
    }
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn serialize_step<S: Serializer>(
    step: &Option<Arc<str>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    step.as_deref().serialize(serializer)
}

crate::print::visible_debug! {
    /// A position in a document, with a short description.
    #[derive(Clone, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub struct Label {
        /// The position, in bytes from the document's start.
        pub span: Range<usize>,
        /// The line, from 1.
        pub line: usize,
        /// The column in that line, in characters from 1.
        pub column: usize,
        /// The description, which may be empty.
        pub text: String,
    }
}

/// The severity of a finding, which determines if the plan is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// The plan is usable.
    Warning,
    /// The plan is unusable.
    Error,
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident = $text:literal,)*) => {
        /// A kind of error or warning. [`Display`](fmt::Display) writes it as in messages: `unknown-step`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])+ $name,)*
        }

        impl Code {
            /// Returns the code as it appears in messages.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The document is not JSON.
    InvalidJson = "invalid-json",
    /// The document exceeds a limit of the reader.
    LimitPassed = "limit-passed",
    /// The document has the form of no dialect.
    UnknownDialect = "unknown-dialect",
    /// The document mixes two dialects.
    MixedDialects = "mixed-dialects",
    /// A part of the plan is of the wrong kind, for example a number instead of a string.
    WrongKind = "wrong-kind",
    /// A required member of a plan or step is missing.
    MissingMember = "missing-member",
    /// A member has no meaning in this position.
    UnknownMember = "unknown-member",
    /// An object has two members with one name.
    DuplicateMember = "duplicate-member",
    /// A number has no exact representation.
    InexactNumber = "inexact-number",
    /// The plan has no steps.
    NoSteps = "no-steps",
    /// A step, an input or a tool has an empty name.
    EmptyName = "empty-name",
    /// Two steps, inputs or local values in one scope have one name.
    DuplicateId = "duplicate-id",
    /// No step has this ID.
    UnknownStep = "unknown-step",
    /// The plan has no input with this name.
    UnknownInput = "unknown-input",
    /// No enclosing list, pattern, block or loop has a local value with this name.
    UnknownLocal = "unknown-local",
    /// Steps wait for each other in a cycle.
    Cycle = "cycle",
    /// An undo step or an always step is in a position without roles, or refers to an unavailable step.
    Role = "role",
    /// A string resembles a reference, but is not a reference.
    MalformedReference = "malformed-reference",
    /// A reference has the index of a missing step.
    StepOutOfRange = "step-out-of-range",
    /// A step refers to itself or to a later step, which the dialect forbids.
    LaterStep = "later-step",
    /// No tool has this name.
    UnknownTool = "unknown-tool",
    /// The tool has no argument with this name.
    UnknownArgument = "unknown-argument",
    /// A required argument of the tool is missing.
    MissingArgument = "missing-argument",
    /// A value has the wrong type for its argument or its use.
    WrongType = "wrong-type",
    /// A value is not among the allowed values.
    NotAllowed = "not-allowed",
    /// A reference leads to a field that the tool's output lacks.
    UnknownField = "unknown-field",
    /// A list is in the position of an element, or an element is in the position of a list.
    ListOrElement = "list-or-element",
    /// A value that may be absent is in the position of a required value.
    MaybeAbsent = "maybe-absent",
    /// A string is a placeholder, and not a value.
    Placeholder = "placeholder",
    /// No schema describes a value in a position that needs a type.
    Unchecked = "unchecked",
    /// The output of a step is unused, although its tool only reads.
    UnusedOutput = "unused-output",
    /// A step waits for another step without a reason.
    UnneededDependency = "unneeded-dependency",
    /// A step with an effect does not wait for a step that only checks.
    UnorderedEffect = "unordered-effect",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

crate::print::visible_debug! {
    /// The problems found in a document, in the document's order.
    ///
    /// The list has at most 257 findings. If there are more than 256, errors take precedence over warnings, and the last finding
    /// contains the number of the omitted ones. A finding has at most 16 related positions, and strings of at most 2,048 bytes.
    ///
    /// `Findings` is a list of [`Finding`]s, and an [`Error`](std::error::Error) if it contains an error. `{}` writes them for people,
    /// each with its line and column. With the feature `diagnostics`, `render` underlines the positions.
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
    ///    = help: did you mean `find_john`?
    /// ");
    /// assert_eq!(serde_json::to_value(&findings)?[0]["code"], "unknown-step");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Clone, Default, PartialEq, Eq)]
    pub struct Findings {
        text: Arc<str>,
        list: Vec<Finding>,
    }
}

impl Findings {
    /// Returns the document.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the list contains an error, so that there is no usable plan.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Returns the errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> + fmt::Debug {
        self.list.iter().filter(|f| f.severity == Severity::Error)
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> + fmt::Debug {
        self.list.iter().filter(|f| f.severity == Severity::Warning)
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.list
    }
}

/// The list of the findings, each as an object with the names of its fields.
impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
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
        writeln!(f, "{severity}[{}]: {}", self.code, Line(&self.message))?;
        write!(f, "  --> {}:{}", self.label.line, self.label.column)?;
        if let Some(step) = &self.step {
            write!(f, " in step `{}`", MessageName(step))?;
        }
        match self.label.text.as_str() {
            "" => writeln!(f)?,
            text => writeln!(f, ": {}", Line(text))?,
        }
        for label in &self.related {
            writeln!(f, "   = note: {label}")?;
        }
        if let Some(help) = &self.help {
            writeln!(f, "   = help: {}", Line(help))?;
        }
        Ok(())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)?;
        match self.text.as_str() {
            "" => Ok(()),
            text => write!(f, ": {}", Line(text)),
        }
    }
}
