//! Constructors for plans that are built in Rust. Each one takes the required parts.

use super::{
    Action, AsJson, Await, Block, Body, Branch, Computed, Condition, Entry, For, FormatSpec,
    InnerPlan, Input, Key, Loop, Number, Output, Part, Plan, Policy, Reference, Role, RustText,
    Step, Template, Test, ToolInfo, ToolType,
};
use crate::shape::Secrets;
use std::sync::Arc;

impl Plan {
    /// Creates a plan without inputs and steps, whose output is null.
    ///
    /// ```
    /// use plan_runtime::plan::{Action, Step, Template};
    /// use plan_runtime::Plan;
    ///
    /// let mut plan = Plan::new("hello");
    /// let call = Action::call("send", Template::object([("text", "Hello!".into())]));
    /// plan.steps = vec![Step::new("sent", call)];
    /// assert_eq!(plan.to_string(), "\
    /// plan hello
    ///
    ///   step sent = send
    ///     text: \"Hello!\"
    ///     // starts at once
    /// ");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: RustText::default(),
            inputs: Vec::new(),
            steps: Vec::new(),
            output: Output::new(Template::Null),
        }
    }
}

impl Input {
    /// Creates an input of a type, in the notation of Rust.
    pub fn new(name: impl Into<String>, type_name: impl Into<RustText>) -> Self {
        Self {
            name: name.into(),
            type_name: type_name.into(),
            description: RustText::default(),
            secrets: Secrets::default(),
            is_guessed: false,
        }
    }
}

impl Output {
    /// Creates an output without a type.
    pub fn new(value: impl Into<Template>) -> Self {
        Self {
            type_name: RustText::default(),
            value: value.into(),
        }
    }
}

impl Step {
    /// Creates a step with a body: an [`Action`], a [`For`], a [`Block`], an [`Await`], or the [`Branch`]es of an `if`.
    pub fn new(id: impl Into<String>, body: impl Into<Body>) -> Self {
        Self {
            id: id.into(),
            intent: RustText::default(),
            role: Role::Work,
            body: body.into(),
            after: Vec::new(),
            policy: Policy::shared(),
        }
    }
}

impl ToolInfo {
    /// Creates a tool with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            as_json: AsJson::default(),
            of: ToolType::default(),
            secret_arguments: Secrets::default(),
            secret_output: Secrets::default(),
            plan: InnerPlan::default(),
        }
    }
}

impl Action {
    /// Creates a call to a tool. Several calls to a tool may share one [`ToolInfo`].
    pub fn call(tool: impl Into<ToolInfo>, args: impl Into<Template>) -> Self {
        Self {
            tool: Some(Arc::new(tool.into())),
            args: args.into(),
        }
    }

    /// Creates a computed value.
    pub fn value(value: impl Into<Template>) -> Self {
        Self {
            tool: None,
            args: value.into(),
        }
    }
}

impl Branch {
    /// Creates a branch, which is taken if all of its conditions hold. An `else` has no conditions.
    pub fn new(conditions: impl IntoIterator<Item = Condition>, body: impl Into<Body>) -> Self {
        Self {
            conditions: conditions.into_iter().collect(),
            body: body.into(),
        }
    }
}

impl For {
    /// Creates `for pattern in list { body }`.
    pub fn new(
        pattern: impl Into<RustText>,
        list: impl Into<Template>,
        body: impl Into<Body>,
    ) -> Self {
        Self {
            pattern: pattern.into(),
            list: list.into(),
            body: body.into(),
        }
    }
}

impl Block {
    /// Creates a block with the steps of a plan. The members of this object are the plan's inputs.
    pub fn new(inputs: impl Into<Template>, plan: Plan) -> Self {
        Self {
            inputs: inputs.into(),
            plan,
        }
    }
}

impl Loop {
    /// Creates `loop { round } while again`.
    pub fn new(round: Block, again: impl Into<Template>) -> Self {
        Self {
            round,
            last: false,
            again: again.into(),
        }
    }
}

impl Entry {
    /// Creates a member of an object from its key and its value.
    pub fn new(key: Key, value: impl Into<Template>) -> Self {
        Self {
            key,
            value: value.into(),
        }
    }
}

impl Part {
    /// Creates a value with a format: the part after the colon in `format!`. The format `""` is `{}`.
    pub fn value(value: impl Into<Template>, spec: impl Into<FormatSpec>) -> Self {
        Self::Value {
            value: value.into(),
            spec: spec.into(),
        }
    }
}

/// Conversions into a type.
macro_rules! conversions {
    ($to:ty: $($from:ty => $variant:expr),+ $(,)?) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                $variant(value)
            }
        }
    )+};
}

conversions! {
    ToolInfo:
    &str => Self::new,
}

conversions! {
    Body:
    Action => Self::Action,
    Vec<Branch> => Self::If,
    For => |each| Self::For(Box::new(each)),
    Block => |block| Self::Block(Box::new(block)),
    Loop => |repeat| Self::Loop(Box::new(repeat)),
    Await => Self::Await,
}

conversions! {
    Template:
    bool => Self::Bool,
    u64 => |value| Self::Number(Number::Unsigned(value)),
    &str => |text: &str| Self::String(text.into()),
    String => Self::String,
    Vec<Self> => Self::List,
    Reference => Self::Reference,
    Test => |test| Self::Test(Box::new(test)),
    Computed => Self::Computed,
}
