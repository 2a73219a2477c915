//! The members that differ between the three string dialects, and the members of plan JSON that their steps may have.

use super::policy::Own;
use super::{Members, PlanReader};
use crate::dynamic::dialects::Dialect;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::step;
use crate::plan::{Output, Step, Template};

/// The members of a dialect. All documents of these dialects have a list of steps.
pub(crate) struct Layout {
    /// The name for a document that is an object.
    pub(crate) document: &'static str,
    /// `true` if a document may be only the list of steps.
    pub(crate) may_be_list: bool,
    /// All members of a document.
    pub(crate) top: &'static [&'static str],
    /// The possible members for the list of steps, the usual one first.
    pub(crate) steps: &'static [&'static str],
    /// The message for a document without these members, and the fix.
    pub(crate) no_steps: (&'static str, Option<&'static str>),
    /// The member with the name of the plan, and its description.
    pub(crate) name: (&'static str, &'static str),
    /// Reads the member `inputs`, if the dialect has it.
    pub(crate) inputs: fn(&mut PlanReader, JsonNode<'_>),
    /// All members of a step in the dialect's original system, and further members of the dialect. The members of plan JSON are not in this list.
    pub(crate) step: &'static [&'static str],
    /// All members of a body inside a step.
    pub(crate) body: &'static [&'static str],
    /// The members of a step that are parts of a policy.
    pub(crate) policy: &'static Own,
    /// Returns the ID of a step without one, in the step with this ID if the step is in a block.
    pub(crate) id: Option<fn(usize, Option<&str>) -> String>,
    /// Reads the arguments of a call.
    pub(crate) arguments: fn(&mut PlanReader, &Members<'_>) -> Template,
    /// The member with the dependencies of a step, and the kind of their names. By numbers, references name steps by index instead of ID.
    pub(crate) after: (&'static str, JsonType),
    /// Reads the policy in the members of a step, if the dialect has such members.
    pub(crate) own_policy: fn(&mut PlanReader, &Members<'_>, &mut Step),
    /// The member for a list of outputs.
    pub(crate) outputs: &'static str,
    /// Reads the output of a document that has no template for it.
    pub(crate) output: fn(&mut PlanReader, &Members<'_>, &[Step]) -> Output,
}

/// Returns all members of a body in a dialect with this name for the arguments of a call.
pub(crate) const fn body(arguments: &'static str) -> [&'static str; 7] {
    [
        step::TOOL,
        arguments,
        "tool_description",
        step::VALUE,
        step::IF,
        step::FOR,
        step::BLOCK,
    ]
}

/// Returns `true` for the name of a call's arguments in any dialect.
pub(super) fn is_arguments(name: &str) -> bool {
    Dialect::table().any(|rules| rules.syntax.arguments() == name)
}

/// Returns the kind of a member in the form of plan JSON, and the words for the form.
pub(super) fn form(name: &str, layout: &Layout) -> Option<(JsonType, &'static str)> {
    Some(match name {
        step::IF => (JsonType::List, "a list of branches"),
        step::AFTER => (JsonType::List, "a list"),
        step::FOR | step::BLOCK | step::LOOP | step::POLICY => (JsonType::Object, "an object"),
        step::UNDO if layout.after.1 == JsonType::Number => {
            (JsonType::Number, "the index of a step")
        }
        step::AWAIT | step::UNDO => (JsonType::String, "a string"),
        step::ALWAYS => (JsonType::Bool, "`true`"),
        _ => return None,
    })
}
