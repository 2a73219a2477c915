//! The bodies of steps: calls, conditions, loops.

use super::{Await, Plan, RustText, Step, Template, ToolInfo};
use std::sync::Arc;

/// The work of a step: an action, a choice between bodies, a body for each element of a list, a block, a loop, or a wait.
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
    /// The first branch whose conditions hold. Without such a branch, the output is null.
    If(Vec<Branch>),
    /// A body for each element of a list; the output is the list of their outputs.
    For(Box<For>),
    /// Steps that run as one. The output is the value of the block.
    Block(Box<Block>),
    /// Steps that run repeatedly. The output is the value of the last round, or with [`Policy::collect`](super::Policy::collect) the list of all
    /// values.
    Loop(Box<Loop>),
    /// A value from outside of the run, which is the output.
    Await(Await),
}

/// A block that runs again while a condition holds, one round after the other.
///
/// The largest number of rounds is in the step's [policy](super::Policy::at_most).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loop {
    /// The block of one round.
    pub round: Block,
    /// `true` if the first input of the block's plan is the value of the previous round, which is null in the first round. In the block's list of
    /// inputs, the value of that input is null.
    pub last: bool,
    /// The condition for another round, which starts if this is `true`. The template can refer to the inputs and steps
    /// of the block's plan.
    pub again: Template,
}

/// Steps inside a step, with a value of their own.
///
/// A block is a plan without a name: it receives values of the enclosing plan as inputs, and runs as a part of the enclosing run. A block succeeds or
/// fails as a whole: if one of its steps fails, the block fails after its undo steps have run.
///
/// ```
/// use plan_runtime::plan::{Action, Block, Body, Input, Reference, Source, Step, Template};
/// use plan_runtime::Plan;
///
/// // { step text = fetch { url }; count { text } }
/// let mut inner = Plan::new("pages");
/// inner.inputs = vec![Input::new("url", "String")];
/// let url = Reference::new(Source::Input(0));
/// let text = Reference::new(Source::Step(0));
/// inner.steps = vec![
///     Step::new("text", Action::call("fetch", Template::object([("url", url.into())]))),
///     Step::new("_", Action::call("count", Template::object([("text", text.into())]))),
/// ];
/// inner.output.value = Reference::new(Source::Step(1)).into();
///
/// // The URL is the first input of the plan around it.
/// let around = Template::object([("url", Reference::new(Source::Input(0)).into())]);
/// let body = Body::from(Block::new(around, inner));
/// assert_eq!(body.actions().len(), 2);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Block {
    /// The values of the enclosing plan that the block reads: an object with a member for each input of its plan, in their
    /// order.
    pub inputs: Template,
    /// The steps of the block, with its value as output. A call in the position of the block's last expression is a
    /// step with the ID `_`.
    pub plan: Plan,
}

/// A tool that is called, or a value that is computed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Action {
    /// The called tool, or `None` for a computed value.
    pub tool: Option<Arc<ToolInfo>>,
    /// The tool's arguments, or the computed value.
    pub args: Template,
}

/// A branch of a [`Body::If`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Branch {
    /// The conditions of the branch, which is taken if they all hold and no earlier branch is taken. An `else` has no
    /// conditions.
    ///
    /// In `plan!`, `&&` joins the conditions. A run evaluates them from left to right, and stops at the first false
    /// one.
    pub conditions: Vec<Condition>,
    /// The body of the branch.
    pub body: Body,
}

/// A condition of a [`Branch`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Condition {
    /// A condition that holds if the template is `true`.
    Holds(Template),
    /// A condition that holds if the value exists and is not null. The value is then a local value
    /// ([`Source::Local`](super::Source::Local)) of the later conditions and of the branch's body.
    Let {
        /// The pattern between `let` and `=`, as written.
        pattern: RustText,
        /// The value.
        value: Template,
    },
}

impl Condition {
    /// Returns the test, or the value that the pattern destructures.
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
    /// An array or an object. The body runs once for each element of the array, or once for each member of the object as `[key, value]`. This element
    /// or member is a local value of the body ([`Source::Local`](super::Source::Local)).
    pub list: Template,
    /// The body for each element.
    pub body: Body,
}

impl Body {
    /// Returns the actions in the body and in its blocks, in the order of their notation.
    pub fn actions(&self) -> Vec<&Action> {
        let mut actions = Vec::new();
        self.visit_all(&mut |part| {
            if let BodyPart::Action(action) = part {
                actions.push(action);
            }
        });
        actions
    }

    /// Returns the number of actions and blocks in the body. Each of them has a number, and the numbers of the actions and blocks inside a block
    /// follow the number of the block.
    pub(crate) fn count(&self) -> usize {
        let mut count = 0;
        self.visit_all(&mut |part| {
            count += usize::from(matches!(part, BodyPart::Action(_) | BodyPart::Block(_)));
        });
        count
    }

    /// Calls `f` with the parts of the body and of the blocks in it, whose sources belong to their block.
    pub(crate) fn visit_all<'a>(&'a self, f: &mut dyn FnMut(BodyPart<'a>)) {
        self.visit(&mut |part| {
            f(part);
            if let BodyPart::Block(block) = part {
                let steps = block.plan.steps.iter();
                steps.for_each(|step| step.body.visit_all(f));
            }
        });
    }

    /// Returns the blocks of the body, without the blocks inside them.
    pub(crate) fn blocks(&self) -> Vec<&Block> {
        let mut found = Vec::new();
        self.visit(&mut |part| {
            if let BodyPart::Block(block) = part {
                found.push(block);
            }
        });
        found
    }

    /// Returns `true` if the body contains a `for`.
    pub(crate) fn repeats(&self) -> bool {
        let mut repeats = false;
        self.visit(&mut |part| repeats |= matches!(part, BodyPart::List(_)));
        repeats
    }

    /// Calls a function with each action of the body, including those of blocks.
    pub(crate) fn each_action_mut(&mut self, f: &mut dyn FnMut(&mut Action)) {
        let block = match self {
            Self::Action(action) => return f(action),
            Self::Await(_) => return,
            Self::If(branches) => {
                let bodies = branches.iter_mut().map(|branch| &mut branch.body);
                return bodies.for_each(|body| body.each_action_mut(f));
            }
            Self::For(each) => return each.body.each_action_mut(f),
            Self::Block(block) => block,
            Self::Loop(repeat) => &mut repeat.round,
        };
        let steps = block.plan.steps.iter_mut();
        steps.for_each(|step| step.body.each_action_mut(f));
    }

    /// Returns `true` if the body, or a step of a block in it, waits for a value.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Self::Await(_) => true,
            Self::Action(_) => false,
            Self::If(branches) => branches.iter().any(|branch| branch.body.waits()),
            Self::For(each) => each.body.waits(),
            Self::Block(block) => block.plan.steps.iter().any(|step| step.body.waits()),
            Self::Loop(repeat) => {
                let mut steps = repeat.round.plan.steps.iter();
                steps.any(|step| step.body.waits())
            }
        }
    }

    /// Returns `true` if the body contains a block.
    pub(crate) fn has_blocks(&self) -> bool {
        let mut has_blocks = false;
        self.visit(&mut |part| has_blocks |= matches!(part, BodyPart::Block(_)));
        has_blocks
    }

    /// Calls `f` with the parts of the body, in the order of their notation. For a block, the parts are its inputs.
    pub(crate) fn visit<'a>(&'a self, f: &mut impl FnMut(BodyPart<'a>)) {
        match self {
            Self::Action(action) => f(BodyPart::Action(action)),
            Self::Block(block) => f(BodyPart::Block(block)),
            Self::Loop(repeat) => f(BodyPart::Block(&repeat.round)),
            Self::If(branches) => {
                for branch in branches {
                    for condition in &branch.conditions {
                        f(BodyPart::Condition(condition));
                    }
                    branch.body.visit(f);
                }
            }
            Self::For(each) => {
                f(BodyPart::List(&each.list));
                each.body.visit(f);
            }
            Self::Await(_) => {}
        }
    }
}

/// A part of a body.
#[derive(Clone, Copy)]
pub(crate) enum BodyPart<'a> {
    Action(&'a Action),
    Block(&'a Block),
    Condition(&'a Condition),
    List(&'a Template),
}

impl<'a> BodyPart<'a> {
    pub(crate) fn template(self) -> &'a Template {
        match self {
            Self::Action(action) => &action.args,
            Self::Block(block) => &block.inputs,
            Self::Condition(condition) => condition.template(),
            Self::List(template) => template,
        }
    }

    /// Returns the prefix of the part in the names of arguments.
    pub(crate) fn place(self) -> &'static str {
        match self {
            Self::Action(_) | Self::Block(_) => "",
            Self::Condition(_) => "if",
            Self::List(_) => "in",
        }
    }
}

impl Step {
    /// Returns the tools that the step may call and the values that it may compute, in the order of their notation.
    pub fn actions(&self) -> Vec<&Action> {
        self.body.actions()
    }

    /// Returns the action. Returns `None` if the step is an `if`, a `for`, a block or a loop, or waits for a value.
    pub fn action(&self) -> Option<&Action> {
        match &self.body {
            Body::Action(action) => Some(action),
            Body::If(_) | Body::For(_) | Body::Block(_) | Body::Loop(_) | Body::Await(_) => None,
        }
    }

    /// Returns the tool that the step calls, even if conditionally or for each element. Returns `None` if the step
    /// calls several tools or none.
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
