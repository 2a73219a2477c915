//! What a step does: calls, conditions, loops.

use super::{RustText, Step, Template, ToolInfo};
use std::sync::Arc;

/// The work of a step: an action, or a choice between bodies, or a body for each element of a list.
///
/// ```
/// use plan_runtime::plan::{Action, Body, For, Reference, Source};
///
/// // for id in ids { id }
/// let (ids, id) = (Reference::new(Source::Input(0)), Reference::new(Source::Local(0)));
/// let body = Body::from(For::new("id", ids, Action::value(id)));
/// assert_eq!(body.actions().len(), 1);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Body {
    /// A tool is called, or a value is computed.
    Action(Action),
    /// The first branch whose conditions hold. If there is none, the output is null.
    If(Vec<Branch>),
    /// A body for each element of a list; the output is the list of their outputs.
    For(Box<For>),
}

/// A tool that is called, or a value that is computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Action {
    /// The tool that is called; `None` where a value is computed.
    pub tool: Option<Arc<ToolInfo>>,
    /// The tool's arguments, or the computed value.
    pub args: Template,
}

/// A branch of a [`Body::If`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Branch {
    /// The branch is taken if no branch before it is and all of these hold. An `else` has no conditions.
    ///
    /// In `plan!`, `&&` joins them. They are tested from left to right, up to the first that does not hold.
    pub conditions: Vec<Condition>,
    /// What it does.
    pub body: Body,
}

/// A condition of a [`Branch`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Condition {
    /// It holds if the template is `true`.
    Holds(Template),
    /// It holds if the value exists and is not null. The value is then a local value
    /// ([`Source::Local`](super::Source::Local)) of the conditions after it and of the branch's body.
    Let {
        /// The pattern between `let` and `=`, as written.
        pattern: RustText,
        /// The value.
        value: Template,
    },
}

impl Condition {
    /// The test, or the value that the pattern is for.
    pub fn template(&self) -> &Template {
        match self {
            Self::Holds(value) | Self::Let { value, .. } => value,
        }
    }
}

/// A body for each element of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct For {
    /// The pattern between `for` and `in`, as written.
    pub pattern: RustText,
    /// An array, each of whose elements is a local value of one round ([`Source::Local`](super::Source::Local)), or an object, each
    /// of whose members is one as `[key, value]`.
    pub list: Template,
    /// What is done for each.
    pub body: Body,
}

impl Body {
    /// The actions in the body, in the order in which they are written.
    pub fn actions(&self) -> Vec<&Action> {
        let mut actions = Vec::new();
        self.visit(&mut |part| {
            if let BodyPart::Action(action) = part {
                actions.push(action);
            }
        });
        actions
    }

    /// How many actions there are.
    pub(crate) fn count(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |part| count += usize::from(matches!(part, BodyPart::Action(_))));
        count
    }

    /// Whether there is a `for` in it.
    pub(crate) fn repeats(&self) -> bool {
        let mut repeats = false;
        self.visit(&mut |part| repeats |= matches!(part, BodyPart::List(_)));
        repeats
    }

    /// Hands over the body's parts, in the order in which they are written.
    pub(crate) fn visit<'a>(&'a self, f: &mut impl FnMut(BodyPart<'a>)) {
        match self {
            Self::Action(action) => f(BodyPart::Action(action)),
            Self::If(branches) => {
                for branch in branches {
                    for condition in &branch.conditions {
                        f(BodyPart::Condition(condition.template()));
                    }
                    branch.body.visit(f);
                }
            }
            Self::For(each) => {
                f(BodyPart::List(&each.list));
                each.body.visit(f);
            }
        }
    }
}

/// A part of a body.
#[derive(Clone, Copy)]
pub(crate) enum BodyPart<'a> {
    Action(&'a Action),
    Condition(&'a Template),
    List(&'a Template),
}

impl<'a> BodyPart<'a> {
    pub(crate) fn template(self) -> &'a Template {
        match self {
            Self::Action(action) => &action.args,
            Self::Condition(template) | Self::List(template) => template,
        }
    }

    /// What the part is called where arguments go by their names.
    pub(crate) fn place(self) -> &'static str {
        match self {
            Self::Action(_) => "",
            Self::Condition(_) => "if",
            Self::List(_) => "in",
        }
    }
}

impl Step {
    /// The tools that the step may call and the values that it may compute, in the order in which they are written.
    pub fn actions(&self) -> Vec<&Action> {
        self.body.actions()
    }

    /// The action; `None` if the step is an `if` or a `for`.
    pub fn action(&self) -> Option<&Action> {
        match &self.body {
            Body::Action(action) => Some(action),
            Body::If(_) | Body::For(_) => None,
        }
    }

    /// The tool that the step calls, even if conditionally or for each element; `None` if there are several, or none.
    pub fn tool(&self) -> Option<&ToolInfo> {
        self.shared_tool().map(|tool| &**tool)
    }

    pub(crate) fn shared_tool(&self) -> Option<&Arc<ToolInfo>> {
        if let Body::Action(action) = &self.body {
            return action.tool.as_ref();
        }
        let actions = self.actions();
        let mut tools = actions.iter().map(|action| action.tool.as_ref());
        let first = tools.next()??;
        let same = |tool: Option<&Arc<ToolInfo>>| tool.is_some_and(|tool| tool.name == first.name);
        tools.all(same).then_some(first)
    }
}
