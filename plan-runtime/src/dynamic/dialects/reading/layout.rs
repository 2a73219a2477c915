//! The members that differ between the three dialects of strings.

use super::{Members, PlanBuilder, PlanReader};
use crate::dynamic::json_node::JsonNode;
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
    pub(crate) inputs: fn(&mut PlanBuilder, JsonNode<'_>),
    /// All members of a step in the dialect's original system, and further members of the dialect. The members of plan JSON are not in this list.
    pub(crate) step: &'static [&'static str],
    /// All members of a body inside a step.
    pub(crate) body: &'static [&'static str],
    /// The members of a step that are parts of a policy. Each pair is the name in the policy and the name in the step.
    pub(crate) policy: &'static [(&'static str, &'static str)],
    /// Returns the ID of a step without one, in the step with this ID if the step is in a block.
    pub(crate) id: Option<fn(usize, Option<&str>) -> String>,
    /// `true` if references name steps by index instead of ID.
    pub(crate) by_place: bool,
    /// Reads the arguments of a call.
    pub(crate) arguments: fn(&mut PlanReader<'_>, &Members<'_>) -> Template,
    /// Reads the dependencies of a step and its policy, if the dialect has members for them.
    pub(crate) order: fn(&mut PlanReader<'_>, usize, &Members<'_>, &mut Step),
    /// Reads the output of a document that has no template for it.
    pub(crate) output: fn(&mut PlanReader<'_>, &Members<'_>, &[Step]) -> Output,
}
