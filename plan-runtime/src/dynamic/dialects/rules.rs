//! The properties of a dialect: a row of the table in [`Dialect::rules`](super::Dialect::rules).

use super::Dialect;
use super::reading::{Members, Syntax};
use super::recognize::{Outline, Sign};
use super::references::{
    Mark, Places, ReferenceTarget, Scan, ScannedReference, Style, Target, quote,
};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::{Reference, Segment};
use crate::resolve::describe::short;
use std::collections::HashSet;

/// Finds the references in a string.
type Scanner = for<'t> fn(&'t str, &dyn Fn(&str) -> bool) -> Scan<'t>;

/// The functions and names of a dialect, for detection, reading, scanning and messages.
pub(crate) struct Rules {
    /// The name: `tool plan`.
    pub(crate) name: &'static str,
    /// The name of a document in a message: ``a tool plan (`$ref:`)``.
    pub(crate) document: &'static str,

    /// The detection of documents in this dialect.
    pub(crate) recognition: Recognition,

    /// The reader of documents.
    pub(crate) syntax: &'static dyn Syntax,
    /// The possible positions of references in a string.
    pub(crate) places: Places,
    /// The marks at the beginning and the end of a reference.
    pub(crate) mark: Option<Mark>,
    /// Finds the references in a string. The function returns `true` for a name that references can use.
    pub(crate) scan: Scanner,
    /// Returns the target at a position of a string, in the notation of only this dialect, and the end of its name.
    pub(crate) target: fn(&str, usize) -> Option<(Target, usize)>,
    /// Returns the names of inputs in all references of a document, except names with more bytes than the number.
    pub(crate) inputs_in: fn(JsonNode<'_>, usize) -> HashSet<Box<str>>,
    /// The exceptions of the compat profile.
    pub(crate) compat: Compat,

    /// Returns the notation of a reference for a message, in the style of an existing reference. Returns `None` for targets
    /// that the dialect cannot name.
    pub(crate) style: fn(ReferenceTarget<'_>, &str) -> Option<Style>,
    /// Returns a reference as an object, in a dialect without references in strings.
    pub(crate) object: Option<fn(ReferenceTarget<'_>, &[Segment]) -> String>,
}

/// The detection of documents in a dialect.
pub(crate) struct Recognition {
    /// Returns the sign that a document as a whole is in this dialect.
    pub(crate) sign: fn(&Outline<'_>) -> Option<Sign>,
    /// Returns `true` if a step shows the dialect, when no member around the steps does.
    pub(crate) has_step: fn(&Outline<'_>, &Members<'_>) -> bool,
    /// Returns `true` for a document of this dialect with steps but without calls.
    pub(crate) may_lack_calls: fn(&Outline<'_>) -> bool,
    /// The kind of a document in this dialect, when no sign shows another dialect.
    pub(crate) usual: Option<JsonType>,
}

/// The exceptions of the compat profile in a dialect.
pub(crate) struct Compat {
    /// `true` if a reference to a missing step may be meant for another program, and then remains literal.
    pub(crate) unknown_step_may_be_text: bool,
    /// Adds the handling of missing values to the path of a reference.
    pub(crate) allow_absence: fn(&mut Reference, &ScannedReference<'_>),
}

impl Rules {
    /// Writes a string that would have another meaning.
    pub(crate) fn literal(&self, text: &str) -> String {
        let mark = self.mark;
        mark.map_or_else(|| text.to_owned(), |mark| mark.literal(text))
    }

    /// Returns the name of a step in a message, from its index and its ID.
    pub(crate) fn step(&self, index: usize, id: &str) -> String {
        if self.syntax.names_steps() {
            format!("step `{}`", short(id))
        } else {
            format!("step[{index}]")
        }
    }

    /// Returns the member of a step that waits for the steps with these indexes and ids.
    pub(crate) fn after(&self, steps: &[(usize, &str)]) -> String {
        let steps = steps.iter();
        let (name, steps): (_, Vec<String>) = if self.syntax.names_steps() {
            let ids = steps.map(|(_, id)| format!("{:?}", short(id)));
            ("after", ids.collect())
        } else {
            let indexes = steps.map(|(index, _)| index.to_string());
            ("dependsOn", indexes.collect())
        };
        format!("\"{name}\": [{}]", steps.join(", "))
    }

    /// Returns a reference in the form of a document. Returns `None` for targets that the dialect cannot name.
    pub(crate) fn form(&self, to: ReferenceTarget<'_>, path: &[Segment]) -> Option<String> {
        match self.object {
            Some(object) => Some(object(to, path)),
            None => Some((self.style)(to, "")?.write(path)),
        }
    }

    /// Describes a reference inside a longer string, for messages.
    pub(crate) fn form_in_text(&self, form: &str) -> String {
        match self.places {
            Places::Nowhere => {
                format!(r#"the text with it is `{{"text": ["…", {{"value": {form}}}]}}`"#)
            }
            Places::Whole => {
                format!("use a tool to join the text and `{form}`")
            }
            Places::Anywhere => format!("write the reference as `{form}`"),
        }
    }

    /// Writes a part of a string, the second argument, that would have another meaning.
    pub(crate) fn literal_in(&self, text: &str, part: &str) -> String {
        match self.places {
            Places::Nowhere => r#"{"text": ["…"]}"#.to_owned(),
            // The dialect cannot express a part of a string.
            Places::Whole => self.literal(&short(text)),
            Places::Anywhere => self.literal(part),
        }
    }

    /// Returns `true` if references, and the members of objects, are in objects of their own.
    pub(crate) fn wraps(&self) -> bool {
        self.places == Places::Nowhere
    }
}

impl Dialect {
    /// Writes the members of a call with these arguments.
    pub(in crate::dynamic) fn call_of(self, tool: &str, arguments: &str) -> String {
        let rules = self.rules();
        let tool = if rules.wraps() {
            format!(r#"{{"name": {}}}"#, quote(tool))
        } else {
            quote(tool)
        };
        format!(
            r#""tool": {tool}, "{}": {arguments}"#,
            rules.syntax.arguments()
        )
    }

    /// Writes the members of a call with this argument.
    pub(in crate::dynamic) fn call_with(self, tool: &str, argument: &str, value: &str) -> String {
        let member = format!("{}: {value}", quote(argument));
        self.call_of(tool, &self.object_of(&member))
    }

    /// Writes an object with these members as a value.
    pub(in crate::dynamic) fn object_of(self, members: &str) -> String {
        if self.rules().wraps() {
            format!(r#"{{"object": {{{members}}}}}"#)
        } else {
            format!("{{{members}}}")
        }
    }

    /// Writes a reference to the local value with this number and name.
    pub(in crate::dynamic) fn variable(self, number: usize, name: &str) -> String {
        let rules = self.rules();
        let form = rules.form(ReferenceTarget::Local(number, name), &[]);
        let form = form.unwrap_or_default();
        if rules.wraps() { form } else { quote(&form) }
    }
}
