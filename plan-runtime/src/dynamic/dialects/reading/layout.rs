//! What differs in the members of the three dialects of strings.

use super::{Members, PlanBuilder, PlanReader};
use crate::dynamic::json_node::JsonNode;
use crate::plan::{Output, Step, Template};

/// The members of a dialect, and what is special about them. All of its documents have a list of steps.
pub(crate) struct Layout {
    /// What a document is called if it is an object.
    pub(crate) document: &'static str,
    /// Whether a document may be the list of steps alone.
    pub(crate) may_be_list: bool,
    /// All members of a document.
    pub(crate) top: &'static [&'static str],
    /// Those that may have the list of steps, the usual one first.
    pub(crate) steps: &'static [&'static str],
    /// What is wrong with a document without them, and what helps.
    pub(crate) no_steps: (&'static str, Option<&'static str>),
    /// The member with the name of the plan, and what it is called.
    pub(crate) name: (&'static str, &'static str),
    /// Reads the member `inputs`, if it is one of them.
    pub(crate) inputs: fn(&mut PlanBuilder, JsonNode<'_>),
    /// All members of a step that the systems know which the dialect comes from, or that say more of it. Those of plan JSON come on top.
    pub(crate) step: &'static [&'static str],
    /// All members of a body in another one.
    pub(crate) body: &'static [&'static str],
    /// The members of a step that are parts of a policy, each after its name there.
    pub(crate) policy: &'static [(&'static str, &'static str)],
    /// The id of a step that gives none itself, in the step of this id if it is in a block.
    pub(crate) id: Option<fn(usize, Option<&str>) -> String>,
    /// Whether steps are named by their places, and not by their ids.
    pub(crate) by_place: bool,
    /// Reads the arguments of a call.
    pub(crate) arguments: fn(&mut PlanReader<'_>, &Members<'_>) -> Template,
    /// Reads which steps a step waits for, and its policy, where the dialect has members for that.
    pub(crate) order: fn(&mut PlanReader<'_>, usize, &Members<'_>, &mut Step),
    /// Reads the output of a document that has no template for it.
    pub(crate) output: fn(&mut PlanReader<'_>, &Members<'_>, &[Step]) -> Output,
}
