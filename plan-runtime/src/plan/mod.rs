//! A plan as data: what `plan!` expands to, and what JSON plans are read into.

mod graph;
mod reference;
mod template;
mod uses;

pub use reference::{Absent, Reference, Segment, Source};
pub use template::{Compute, Computed, Entry, Key, Number, Part, Show, Tag, Template};

pub use uses::Use;
pub(crate) use reference::index;
pub(crate) use uses::push_key;

use std::borrow::Cow;

/// A plan: named inputs, steps that call tools, and an output.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The plan's name as a tool, in snake case.
    pub name: Cow<'static, str>,
    /// What the plan does, from its doc comment; empty where nothing was said.
    pub description: Cow<'static, str>,
    /// What the plan is given.
    pub inputs: Cow<'static, [Input]>,
    /// The steps, in the order in which they were written.
    pub steps: Cow<'static, [Step]>,
    /// What the plan gives back.
    pub output: Output,
}

/// What a plan is given under a name.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name that references use.
    pub name: Cow<'static, str>,
    /// The type, as written.
    pub type_name: Cow<'static, str>,
    /// What it is for, from its doc comment; empty where nothing was said.
    pub description: Cow<'static, str>,
}

/// What a plan gives back.
#[derive(Clone, Debug)]
pub struct Output {
    /// The type, as written; empty where it was not.
    pub type_name: Cow<'static, str>,
    /// The value.
    pub value: Template,
}

/// A step of a plan.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name that references use.
    pub id: Cow<'static, str>,
    /// Why the step is there, from its doc comment; empty where nothing was said.
    pub intent: Cow<'static, str>,
    /// The tool that the step calls; `None` where the step is a computed value.
    pub tool: Option<ToolInfo>,
    /// The tool's arguments, or the computed value.
    pub args: Template,
    /// The steps, by their place in [`Plan::steps`], that must end first though nothing of theirs is used, in ascending order.
    pub after: Cow<'static, [usize]>,
    /// All steps, by their place in [`Plan::steps`], that must end first: those that `args` refers to and `after`, in ascending order.
    pub needs: Cow<'static, [usize]>,
}

/// What a plan says of the tool that a step calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolInfo {
    /// [`Tool::NAME`](crate::Tool::NAME).
    pub name: Cow<'static, str>,
    /// [`Tool::DESCRIPTION`](crate::Tool::DESCRIPTION).
    pub description: Cow<'static, str>,
}
