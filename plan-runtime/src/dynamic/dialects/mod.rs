//! The dialects in which plans are written as JSON.
//!
//! Each dialect has a folder:
//!
//! - `mod.rs` describes the format and its origin, and contains the [`Rules`].
//! - `read.rs` reads the members of plans and steps.
//! - `scan.rs` finds the references in a string.
//!
//! The rest of the library uses only the rules, which are a row of the table in [`Dialect::rules`]. So a new dialect is a folder and a
//! row. `tests.rs` fails if another file names a dialect or one of its words. `tests/toy/` is a fifth dialect, as an example of a folder.
//!
//! The row of plan JSON is in `plan_json/rules.rs`. Plan JSON has no references in strings. The other three dialects, the
//! *string dialects*, write references in strings.
//!
//! | | parts that dialects share |
//! |---|---|
//! | `recognize.rs` | detection of a document's dialect |
//! | `reading/` | reading a plan: IDs, members, steps, templates, limits, and findings |
//! | `references/` | references in strings: their parts, their paths, their notation, malformed references |
//!
//! The prompt asks models for tool plans, so `tool_plan/` contains the instructions and the JSON Schema for models. Plans are written as plan JSON by
//! serde, and as flat blueprints by
//! `blueprint/write.rs`.

mod action_plan;
mod blueprint;
mod plan_json;
pub(super) mod reading;
mod recognize;
pub(super) mod references;
mod tool_plan;

pub(super) use recognize::recognize;
/// The guide and the JSON Schema for models, in the dialect that the prompt asks for.
#[cfg(feature = "dynamic")]
pub(super) use tool_plan::{GUIDE, schema};

use super::json_node::{JsonNode, JsonType};
use crate::plan::{Reference, Segment};
use crate::resolve::describe::short;
use reading::{Members, Syntax};
use recognize::{Outline, Sign};
use references::{Mark, Places, ReferenceTarget, Scan, ScannedReference, Style, Target, quote};
use std::collections::HashSet;
use std::fmt;

/// A format for plans as JSON.
///
/// | | steps | a reference | an input |
/// |---|---|---|---|
/// | [`ToolPlan`](Self::ToolPlan) | `{"steps": [{"id", "tool", "arguments"}], "output_steps"}` | `"$ref:inbox.data.0.id"` | – |
/// | [`Blueprint`](Self::Blueprint) | `{"requestId", "steps": [{"tool", "params", "dependsOn", "optional", "retryCount", "timeout"}]}` | `"${step[0].data[0].id}"` | – |
/// | [`ActionPlan`](Self::ActionPlan) | `[{"id", "intent", "tool", "arguments"}]` | `"{{inbox.result.data[0].id}}"` | `"{{PLACEHOLDER_reply}}"` |
/// | [`PlanJson`](Self::PlanJson) | the serde format of [`Plan`](crate::Plan) | | |
///
/// # References
/// A `$ref` is a whole string. References of the other dialects may also be inside a longer string, which contains their
/// formatted values. A reference that is a whole string keeps its type.
///
/// In a path, `.0` and `[0]` are an index, `[*]` and `.*` are every element of a list, and `["odd key"]` is a key that has
/// dots, brackets or other such characters. The string in brackets is a JSON string, with its escapes. The brackets also
/// work for an ID: `$ref:["step-1"].id`.
///
/// To write a string that only looks like a reference, put a JSON string in place of the reference: `$ref:"$ref:x"`,
/// `${"${x}"}`, `{{"{{ name }}"}}`. To convert a reference's value to a string, put an empty JSON string beside the
/// reference: `${step[0].data.count}${""}`.
///
/// A string that is a reference of another dialect is an error. Inside a longer string, the name of a step or an input in another
/// notation (`{{now.date}}` in a blueprint, `${now.date}` in an action plan) stays a part of the string, and a warning shows the
/// notation of this dialect. In plan JSON, every string is literal, so there is at most a warning.
///
/// ```
/// use plan_runtime::dynamic::Reader;
///
/// let document = Reader::new().read(r#"{"requestId": "r", "steps": [
///     {"id": "now", "tool": "clock", "params": {}},
///     {"tool": "write", "params": {"text": "It is {{now.date}}."}}
/// ]}"#)?;
/// assert_eq!(
///     document.warnings()[0].help.as_deref(),
///     Some(r#"write the reference as `${step[0].data.date}`; to keep the text, write `${"{{now.date}}"}`"#)
/// );
/// # Ok::<(), plan_runtime::dynamic::Findings>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The serde format of [`Plan`](crate::Plan).
    PlanJson,
    /// agentle4j's tool plans, with `$ref:`. `arguments` is an object, or a string that contains the JSON of an object.
    ToolPlan,
    /// The blueprint, with `${step[0]…}`.
    Blueprint,
    /// The Action/Step/Orchestrator's action plans, with `{{…}}`.
    ActionPlan,
    /// Job lists, of the tests.
    #[cfg(test)]
    JobList,
}

/// The strictness of a dialect's reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// The profile without exceptions: unknown members, malformed references and references to missing values are errors.
    #[default]
    Strict,
    /// The strict profile with an additional error: [`Code::Unchecked`](crate::dynamic::Code::Unchecked).
    Typed,
    /// The behavior of the dialect's original system, if it does no harm. Each exception that is visible in the document is
    /// a warning.
    ///
    /// Malformed references remain literal. Unknown members of a document and of its steps, such as `depends_on` or `retry`, are ignored with a
    /// warning. A member whose name usually stands for a condition, an approval, a repetition or further steps remains an error. An unknown member inside of a body or
    /// a policy remains an error as well. In tool plans, a missing field is null. In action plans, a reference to a missing step, field or input remains literal.
    Compat,
}

impl Dialect {
    /// Returns the row of this dialect in the table of dialects.
    pub(super) fn rules(self) -> &'static Rules {
        match self {
            Self::PlanJson => &plan_json::RULES,
            Self::ToolPlan => &tool_plan::RULES,
            Self::Blueprint => &blueprint::RULES,
            Self::ActionPlan => &action_plan::RULES,
            #[cfg(test)]
            Self::JobList => &tests::toy::RULES,
        }
    }

    /// Returns the rows of the table.
    fn table() -> impl Iterator<Item = &'static Rules> {
        Self::ALL.iter().map(|dialect| dialect.rules())
    }

    /// The dialect in which serde writes plans.
    pub(super) const OF_PLANS: Self = Self::PlanJson;

    /// All dialects, in order of precedence for a document that fits several.
    const ALL: &'static [Self] = &[
        Self::ActionPlan,
        Self::PlanJson,
        Self::ToolPlan,
        Self::Blueprint,
        #[cfg(test)]
        Self::JobList,
    ];
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rules().name)
    }
}

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
    /// The members that a reference may have between a step and its output.
    pub(crate) wrappers: &'static [&'static str],
    /// Returns the names of inputs in all references of a document, except names with more bytes than the number.
    pub(crate) inputs_in: fn(JsonNode<'_>, usize) -> HashSet<Box<str>>,
    /// The exceptions of the compat profile.
    pub(crate) compat: Compat,

    /// Returns the name of a step in a message, from its index and its ID.
    pub(crate) step: fn(usize, &str) -> String,

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

/// Returns the name of a step in a message, in a dialect whose references name steps by ID.
pub(crate) fn step_by_id(_: usize, id: &str) -> String {
    format!("step `{}`", short(id))
}

impl Rules {
    /// Writes a string that would have another meaning.
    pub(crate) fn literal(&self, text: &str) -> String {
        let mark = self.mark;
        mark.map_or_else(|| text.to_owned(), |mark| mark.literal(text))
    }

    /// Returns the member of a step that waits for the steps with these indexes and ids.
    pub(crate) fn after(&self, steps: &[(usize, &str)]) -> String {
        let (member, kind) = self.syntax.after();
        let steps = steps.iter().map(|(index, id)| match kind {
            JsonType::Number => index.to_string(),
            _ => format!("{:?}", short(id)),
        });
        let steps: Vec<String> = steps.collect();
        format!("\"{member}\": [{}]", steps.join(", "))
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

impl Rules {
    /// Writes the members of a call with these arguments.
    pub(crate) fn call_of(&self, tool: &str, arguments: &str) -> String {
        let tool = if self.wraps() {
            format!(r#"{{"name": {}}}"#, quote(tool))
        } else {
            quote(tool)
        };
        format!(
            r#""tool": {tool}, "{}": {arguments}"#,
            self.syntax.arguments()
        )
    }

    /// Writes the members of a call with this argument.
    pub(crate) fn call_with(&self, tool: &str, argument: &str, value: &str) -> String {
        let member = format!("{}: {value}", quote(argument));
        self.call_of(tool, &self.object_of(&member))
    }

    /// Writes an object with these members as a value.
    pub(crate) fn object_of(&self, members: &str) -> String {
        if self.wraps() {
            format!(r#"{{"object": {{{members}}}}}"#)
        } else {
            format!("{{{members}}}")
        }
    }

    /// Writes a reference to the local value with this number and name.
    pub(crate) fn variable(&self, number: usize, name: &str) -> String {
        self.value(ReferenceTarget::Local(number, name))
    }

    /// Writes a reference to a whole value.
    pub(crate) fn value(&self, to: ReferenceTarget<'_>) -> String {
        let form = self.form(to, &[]).unwrap_or_default();
        if self.wraps() { form } else { quote(&form) }
    }
}

#[cfg(test)]
mod tests;
