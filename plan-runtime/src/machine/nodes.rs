//! The description of a plan, from which its tables are made, and the errors of contradictory descriptions.

use plan_graph::Graph;
use std::collections::BTreeMap;
use std::fmt;

/// The steps of a plan, a block or a round. If several steps of a scope may start, the first step in the list starts first. A plain step takes a few bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    labels: Vec<u32>,
    /// For each step, the steps that must end before.
    after: Graph,
    /// The steps that are not plain, by their indices.
    others: BTreeMap<u32, Node>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// A number that the caller chooses. [`Tables::label`](super::Tables::label) returns the number.
    pub label: u32,
    /// The body of the step.
    pub body: NodeBody,
    /// The phase of the step.
    pub duty: Duty,
    /// The reaction to the step's failure.
    pub recovery: Recovery,
    /// The reaction to the failure of an element of a list.
    pub each: Recovery,
    /// The amounts of the step.
    pub amounts: Amounts,
    /// The time limits and waits of the step.
    pub timing: Timing,
    /// The steps of this scope that must end before the step, as indices of the scope. Steps of the work wait only for steps of the work. Always
    /// steps wait only for the always steps in the list, since all work ends before them. Undo steps run in the
    /// reverse order of the work. Their list may name only steps of the work, and has no effect.
    pub after: Vec<usize>,
}

/// The body of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeBody {
    /// A call of a tool.
    Call,
    /// A value that the driver makes. The bound on calls counts values as calls.
    Value,
    /// A call that may turn out to be the plan with this index in the list of plans.
    Open(usize),
    /// A wait for a value from outside.
    Await,
    /// Branches, at most one of which is taken.
    If(Vec<NodeBody>),
    /// A body for each element of a list.
    For(Box<NodeBody>),
    /// Rounds, one after the other.
    Loop(NodeBlock),
    /// A block.
    Block(NodeBlock),
    /// A call of the plan with this index in the list of plans, which opens a scope at once. The driver of this crate uses [`Open`](Self::Open) for
    /// each called plan, because only the start of the call shows that the plan runs as a scope.
    Plan(usize),
}

/// A scope: its steps, and the values that the driver makes before and after the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBlock {
    /// The steps.
    pub steps: Nodes,
    /// `true` if the driver makes the inputs of the scope before the work. Inputs that cannot be made fail the attempt that has opened the scope.
    pub has_inputs: bool,
    /// `true` if the driver makes the value of the scope after the work. A value that cannot be made fails the scope.
    pub has_output: bool,
}

/// The phase of a step in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// With the work of its scope.
    Work,
    /// After the scope has failed, if the step with this index in the scope has completed.
    Undo(usize),
    /// After everything else in the scope.
    Always,
}

/// The reaction to a step's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The scope fails.
    No,
    /// Another value replaces the value, unless an undo step has failed.
    Replace,
    /// The failure becomes the value.
    Catch,
}

/// The amounts of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amounts {
    /// The most attempts of a call, an element or a round.
    pub attempts: u32,
    /// The most elements that run at one time.
    pub at_once: u32,
    /// The most rounds.
    pub at_most: u32,
}

impl Amounts {
    /// The default amounts: one attempt, and no bound on elements or rounds.
    pub const DEFAULT: Self = Self {
        attempts: 1,
        at_once: u32::MAX,
        at_most: u32::MAX,
    };
}

/// The time limits and waits of a step. The driver has their durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// `true` for a wait before each attempt after the first.
    pub backoff: bool,
    /// `true` for a time limit of each attempt.
    pub timeout: bool,
    /// `true` for a time limit of all attempts of an element, or of a loop.
    pub deadline: bool,
    /// `true` for a least time between the starts of two rounds.
    pub every: bool,
    /// `true` if the driver finds out the amounts when the step starts.
    pub amounts: bool,
    /// `true` if the driver makes the value that replaces a failure.
    pub fallback: bool,
    /// `true` if the driver decides when each attempt of a call may start.
    pub admits: bool,
}

impl Node {
    /// Returns a step that is a call, with one attempt.
    pub const fn call(label: u32, after: Vec<usize>) -> Self {
        Self::new(label, NodeBody::Call, after)
    }

    /// Returns a step with one attempt.
    pub const fn new(label: u32, body: NodeBody, after: Vec<usize>) -> Self {
        Self {
            label,
            body,
            duty: Duty::Work,
            recovery: Recovery::No,
            each: Recovery::No,
            amounts: Amounts::DEFAULT,
            timing: Timing {
                backoff: false,
                timeout: false,
                deadline: false,
                every: false,
                amounts: false,
                fallback: false,
                admits: false,
            },
            after,
        }
    }

    /// Returns `true` if the step is plain.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.body, NodeBody::Call | NodeBody::Value)
            && self.duty == Duty::Work
            && self.recovery == Recovery::No
            && self.each == Recovery::No
            && self.amounts.attempts == 1
            && self.timing == Timing::default()
    }
}

impl FromIterator<Node> for Nodes {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        let mut all = Self::default();
        for mut node in nodes {
            all.after.push(std::mem::take(&mut node.after));
            all.labels.push(node.label);
            if !node.is_plain() {
                all.others.insert(all.labels.len() as u32 - 1, node);
            }
        }
        all
    }
}

impl Nodes {
    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }

    pub(super) fn after(&self, step: usize) -> &[u32] {
        self.after.of(step)
    }

    /// Returns a step, unless the step is plain.
    pub(super) fn other(&self, step: usize) -> Option<&Node> {
        self.others.get(&(step as u32))
    }

    /// Returns the steps that are not plain, with their indices.
    pub(super) fn others(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.others.iter().map(|(step, node)| (*step, node))
    }

    pub(super) fn duty(&self, step: usize) -> Duty {
        self.other(step).map_or(Duty::Work, |node| node.duty)
    }
}

impl NodeBlock {
    /// Returns a scope of these steps.
    pub fn new(steps: impl IntoIterator<Item = Node>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            has_inputs: false,
            has_output: false,
        }
    }
}

/// The error of [`Tables::new`](super::Tables::new).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNodes {
    /// No plan has this index in the list of plans.
    NoPlan(usize),
    /// The step with this label waits for a step that its scope does not have, or undoes a step that is not work.
    NoStep(u32),
    /// The step with this label waits for itself, directly or through other steps of its scope.
    Circle(u32),
    /// The step of this label names a step that it cannot wait for. Undo steps follow the order of the undone steps,
    /// and only always steps wait for always steps.
    BadOrder(u32),
    /// The undo step of this label undoes a step that another undo step undoes.
    TwoUndos(u32),
    /// The step of this label has a loop for each element of a list. A block around the loop makes the loop a step of its own.
    ListedLoop(u32),
    /// The step of this label has more lists and branches inside each other than [`BadNodes::DEPTH`].
    TooDeep(u32),
    /// The number of steps, edges or scopes exceeds the range of `u32`.
    TooMany,
}

impl fmt::Display for BadNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlan(plan) => write!(f, "there is no plan {plan}: add the plan to the list"),
            Self::NoStep(label) => write!(f, "step {label} names a step that does not exist"),
            Self::Circle(label) => {
                write!(
                    f,
                    "step {label} and others of its scope wait for each other"
                )
            }
            Self::BadOrder(label) => write!(
                f,
                "step {label} cannot wait for a step that it names: remove the name"
            ),
            Self::TwoUndos(label) => write!(
                f,
                "step {label} undoes a step that another step undoes: put both in one block"
            ),
            Self::TooDeep(label) => write!(
                f,
                "step {label} has more than {} lists and branches inside each other: put a block around the inner ones",
                Self::DEPTH
            ),
            Self::ListedLoop(label) => {
                write!(
                    f,
                    "step {label} has a loop in a list: put a block around the loop"
                )
            }
            Self::TooMany => write!(f, "the plan has too many steps: split the plan"),
        }
    }
}

impl std::error::Error for BadNodes {}

impl BadNodes {
    /// The most lists and branches of a step inside each other.
    pub const DEPTH: u32 = 64;
}

/// Converts a number to an id.
pub(super) fn number(number: usize) -> Result<u32, BadNodes> {
    match u32::try_from(number) {
        Ok(number) if number < u32::MAX => Ok(number),
        _ => Err(BadNodes::TooMany),
    }
}
