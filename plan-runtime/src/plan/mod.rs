//! A plan as data, which `plan!` and the readers of JSON plans produce.
//!
//! | | |
//! |---|---|
//! | [`Plan`], [`Input`], [`Step`], [`Output`] | the plan and its parts |
//! | [`Body`], [`Action`], [`Branch`], [`Condition`], [`For`], [`Block`], [`Loop`] | the body of a step: calls, conditions, loops, inner steps |
//! | [`Role`] | the role of a step: work, undo, or always |
//! | [`Policy`], [`Amount`], [`Optional`], [`Catch`] | the handling of failures and time limits |
//! | [`Template`], [`Entry`], [`Key`], [`Part`], [`FormatSpec`], [`Number`], [`Computed`], [`Tag`] | the arguments: JSON with references in it |
//! | [`Reference`], [`Source`], [`Segment`], [`Selector`], [`Absent`] | a path from a step or an input to a value |
//! | [`RustText`] | a type, a pattern, an expression or a description, with a flag for strings of the program |
//! | [`Use`] | a reference and its position in the arguments |
//!
//! You can inspect a plan without running it:
//!
//! ```
//! use plan_runtime::{Result, Shape, plan, tool};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, Shape)]
//! struct Room { number: u32, seats: Vec<String> }
//!
//! /// Finds a free room.
//! #[tool]
//! async fn find_room(day: String) -> Result<Room> { unimplemented!("{day}") }
//!
//! /// Puts a note on a door.
//! #[tool]
//! async fn label_door(room: u32, text: String) -> Result<()> { unimplemented!("{room} {text}") }
//!
//! plan! {
//!     Reserve(day: String) {
//!         step room = FindRoom { day };
//!         step label = LabelDoor { room: room.number, text: format!("for {}", room.seats[0]) };
//!     }
//! }
//!
//! let label = Reserve::PLAN.step("label").unwrap();
//! assert_eq!(label.tool().unwrap().description, "Puts a note on a door.");
//! let uses: Vec<String> = label.references().iter()
//!     .map(|usage| format!("{} is {} at {}", usage.place, usage.reference, usage.reference.pointer()))
//!     .collect();
//! assert_eq!(uses, ["room is room.number at /number", "text is room.seats[0] at /seats/0"]);
//! assert_eq!(Reserve::PLAN.dependencies("label")[0].id, "room");
//! assert_eq!(Reserve::PLAN.blocked_by("room")[0].id, "label");
//! ```

mod awaited;
mod block;
mod body;
mod called;
mod computed;
mod constructors;
pub(crate) mod depth;
mod display;
mod executable;
mod graph;
mod handing;
mod inner_plan;
#[macro_use]
pub(crate) mod json;
mod lazy;
mod masked;
mod missing;
mod operator;
mod pattern;
mod picture;
mod policy;
mod reference;
mod role;
pub(crate) mod root;
mod rust_text;
mod secrecy;
mod template;
mod tool_type;
mod uses;
mod written;

pub use awaited::Await;
pub(crate) use awaited::ReceiveFn;
pub(crate) use body::BodyPart;
pub use body::{Action, Block, Body, Branch, Condition, For, Loop};
pub(crate) use called::{CalledTools, ToolNumber};
pub use computed::{Code, Computed, FormatSpec};
pub(crate) use computed::{Compiled, CompiledNames, Form, LocalValue};
pub use executable::Executable;
pub(crate) use executable::{Checked, Converted, Graph, number};
pub(crate) use handing::{AsJson, Handing, Keep};
pub(crate) use inner_plan::InnerPlan;
pub use lazy::LazyPlan;
pub(crate) use missing::{Has, MissingTool, missing_tools};
#[cfg(feature = "html")]
pub(crate) use picture::path;
pub use picture::{Direction, Picture};
pub use policy::{Amount, Catch, Optional, Policy};
pub use reference::{Absent, Reference, Segment, Selector, Source};
pub use role::Role;
pub(crate) use role::{Origin, RolePlace, role_mistakes};
pub(crate) use root::Plan;
pub use rust_text::RustText;
pub(crate) use secrecy::KnownTool;
pub(crate) use secrecy::Secrecy;
pub use template::{Entry, Key, Number, Part, Tag, Template, Test};
pub(crate) use tool_type::ToolType;

pub(crate) use crate::print::is_word;
#[cfg(feature = "terminal")]
pub(crate) use display::is_note;
pub(crate) use json::InPlan;
pub use operator::{Comparison, Question};
pub(crate) use pattern::{Bound, bound_by_let, outcome_of, pattern_mistake, seen};
pub(crate) use reference::{ERR, OK, Path, index, is_ok};
pub use uses::Use;
pub(crate) use uses::push_key;
pub(crate) use written::{agrees, path_agrees, root_name, written};

pub use crate::shape::Secrets;
use std::sync::Arc;

/// An input of a plan: a field of the struct that `plan!` generates, or a member of the object that
/// [`Toolbox::run`](crate::dynamic::Toolbox::run) takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Input {
    /// The name that references use.
    pub name: String,
    /// The type, as written in Rust. A toolbox accepts a run without an input of type `Option<…>`. If the type is a number, a `String`, a `bool`, or
    /// a `Vec` or an `Option` of these, a toolbox accepts only values of that type.
    pub type_name: RustText,
    /// The purpose of the input, from its doc comment. Empty without a doc comment.
    pub description: RustText,
    /// The secret parts of the input's value.
    pub secrets: Secrets,
    /// `true` if the document does not contain the type, so that values of other types may be valid.
    pub(crate) is_guessed: bool,
}

impl Input {
    /// Returns the type, and any value for a guessed type.
    pub(crate) fn stated_type(&self) -> &str {
        match (self.is_guessed, self.is_option()) {
            (false, _) => &self.type_name,
            (true, false) => "",
            (true, true) => "Option<serde_json::Value>",
        }
    }

    /// Returns `true` if the type, as written, is `Option<…>` by any path.
    pub(crate) fn is_option(&self) -> bool {
        let path = self.type_name.split_once('<').map_or("", |(path, _)| path);
        path.rsplit("::").next().map(str::trim) == Some("Option")
    }
}

/// Compares inputs by their parts, independently of a guessed type.
impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            name,
            type_name: _,
            description,
            secrets,
            is_guessed: _,
        } = self;
        *name == other.name
            && self.stated_type() == other.stated_type()
            && *description == other.description
            && *secrets == other.secrets
    }
}

impl Eq for Input {}

/// The output of a plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// The type, as written. Empty without a declared type.
    pub type_name: RustText,
    /// The value.
    pub value: Template,
}

/// A step of a plan. In most steps, the [body](Self::body) is one call, which [`tool`](Self::tool), [`action`](Self::action) and
/// [`references`](Self::references) describe.
#[derive(Clone)]
#[non_exhaustive]
pub struct Step {
    /// The name that references use.
    pub id: String,
    /// The purpose of the step, from its doc comment. Empty without a doc comment.
    pub intent: RustText,
    /// The role of the step: work, undo, or always.
    pub role: Role,
    /// The body of the step.
    pub body: Body,
    /// The steps that must end first although their outputs are not used, by their indices in [`Plan::steps`], in any
    /// order.
    pub after: Vec<usize>,
    /// The handling of failures, and the time limits. Steps with the default policy share one value.
    pub policy: Arc<Policy>,
}

crate::print::visible_debug!(struct Step {
    id,
    intent,
    role,
    body,
    after,
    policy,
});

/// The tool that a step calls: its name, which identifies it, and its description, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolInfo {
    /// [`Tool::NAME`](crate::Tool::NAME).
    pub name: String,
    /// [`Tool::DESCRIPTION`](crate::Tool::DESCRIPTION).
    pub description: String,
    /// The secret parts of the arguments.
    pub secret_arguments: Secrets,
    /// The secret parts of the output.
    pub secret_output: Secrets,
    /// The plan of the tool, if the tool is a plan.
    pub(crate) plan: InnerPlan,
    /// `true` if outputs always go through JSON.
    pub(crate) as_json: AsJson,
    /// The Rust type of the tool, if the plan contains it.
    pub(crate) of: ToolType,
}
