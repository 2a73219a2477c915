//! Plans as trees: what the model interprets, and the data that a run gets.

use crate::run::stage::{branch, list, of, step, string, value, with};
use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Await, Block, Body, Catch, Comparison, Condition, For, Input, Loop, Optional, Output,
    Policy, Role, Source, Step, Template, Test,
};
use std::fmt;
use std::time::Duration;

/// The wait before another attempt. A run may crash in the wait.
pub(crate) const BACKOFF: Duration = Duration::from_millis(1);

/// A step, and how its failure counts.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) work: Work,
    pub(crate) role: Role,
    pub(crate) recovers: Recovers,
    pub(crate) attempts: u32,
    /// The steps before it in its scope that it waits for.
    pub(crate) after: Vec<usize>,
}

/// The work of a step.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Work {
    Call,
    Await,
    /// The result of a condition, and the work if it holds.
    If(bool, Box<Work>),
    /// The work for each of two elements.
    For(Box<Work>),
    /// Two rounds; whether the condition still holds after them, which are the most.
    Loop(bool, Vec<Node>),
    Block(Vec<Node>),
    /// A call to a plan with these steps.
    Plan(Vec<Node>),
    /// A scope that fails before its work.
    Unfit(Unfit),
}

/// A scope that fails before its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// A block whose inputs cannot be made.
    Block,
    /// A loop whose first round has inputs that cannot be made.
    Round,
    /// A call to a plan whose inputs cannot be made.
    Inputs,
    /// A call to a plan with a call that the run does not allow.
    Refused,
}

impl Unfit {
    pub(crate) const ALL: [Self; 4] = [Self::Block, Self::Round, Self::Inputs, Self::Refused];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovers {
    No,
    Optional,
    Fallback,
    Catch,
    OptionalEach,
    CatchEach,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            work,
            role,
            recovers,
            attempts,
            after,
        } = self;
        write!(f, "{work:?}")?;
        if *role != Role::Work {
            write!(f, " {role:?}")?;
        }
        if *recovers != Recovers::No {
            write!(f, " {recovers:?}")?;
        }
        if *attempts != 1 {
            write!(f, " x{attempts}")?;
        }
        if !after.is_empty() {
            write!(f, " after {after:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => write!(f, "call"),
            Self::Await => write!(f, "await"),
            Self::If(holds, work) => write!(f, "if {holds} {work:?}"),
            Self::For(work) => write!(f, "for {work:?}"),
            Self::Loop(true, steps) => write!(f, "endless loop {steps:?}"),
            Self::Loop(false, steps) => write!(f, "loop {steps:?}"),
            Self::Block(steps) => write!(f, "block {steps:?}"),
            Self::Plan(steps) => write!(f, "plan {steps:?}"),
            Self::Unfit(unfit) => write!(f, "unfit {unfit:?}"),
        }
    }
}

impl Node {
    pub(crate) fn new(work: Work) -> Self {
        Self {
            work,
            role: Role::Work,
            recovers: Recovers::No,
            attempts: 1,
            after: Vec::new(),
        }
    }

    /// Returns the name of the step at an index of its scope. The name of a step in a block must be unknown outside.
    pub(crate) fn id(&self, depth: usize, place: usize) -> String {
        let kind = match self.role {
            Role::Undo(_) => 'u',
            Role::Always => 'a',
            _ => 's',
        };
        format!("{kind}{depth}{place}")
    }

    fn step(&self, place: usize, shift: usize, calls: &mut Calls) -> Step {
        let id = self.id(calls.depth, place);
        // A call reads all dependencies of its step. An undo step reads the undone step, and an always step the first
        // step.
        let reads: Vec<usize> = match self.role {
            Role::Undo(undone) => vec![undone],
            Role::Always => vec![0],
            _ => self.after.clone(),
        };
        calls.reads = reads.into_iter().map(|it| it + shift).collect();
        let body = calls.body(&self.work, &id);
        let after: Vec<usize> = self.after.iter().map(|it| it + shift).collect();
        let mut policy = Policy::DEFAULT
            .attempts(self.attempts)
            .backoff(BACKOFF)
            .jitter(false);
        match self.recovers {
            Recovers::No => {}
            Recovers::Optional => policy.optional = Optional::Whole,
            Recovers::Fallback => policy.fallback = Some(string("instead")),
            Recovers::Catch => policy.catch = Catch::Whole,
            Recovers::OptionalEach => policy.optional = Optional::Each,
            Recovers::CatchEach => policy.catch = Catch::Each,
        }
        if let Work::Loop(..) | Work::Unfit(Unfit::Round) = self.work {
            policy.at_most = Some(2);
        }
        let mut step = with(step(&id, body, &after), policy);
        step.role = match self.role {
            Role::Undo(undone) => Role::Undo(undone + shift),
            role => role,
        };
        step
    }
}

/// The plans that these steps call, and then the plan that they are. Its output is the list of the values of its work.
pub(crate) fn plans(steps: &[Node]) -> Vec<Plan> {
    // The calls of every second plan have keys.
    let knows = format!("{steps:?}").len().is_multiple_of(2);
    let mut calls = Calls {
        plans: Vec::new(),
        depth: 0,
        path: (!knows).then(String::new),
        reads: Vec::new(),
    };
    let plan = calls.plan(steps, 0);
    calls.plans.push(plan);
    calls.plans
}

/// The plans that are called, and where a call is.
struct Calls {
    plans: Vec<Plan>,
    /// The number of enclosing scopes.
    depth: usize,
    /// The path of the scope. `None` if the scope has several runs at a time, or if its calls have a context.
    path: Option<String>,
    /// The steps whose values the calls of a step read.
    reads: Vec<usize>,
}

impl Calls {
    fn plan(&mut self, steps: &[Node], shift: usize) -> Plan {
        let mut plan = Plan::new("test");
        self.depth += 1;
        let built = steps.iter().enumerate();
        plan.steps = built
            .map(|(place, node)| node.step(place, shift, self))
            .collect();
        self.depth -= 1;
        let work = (0..steps.len()).filter(|place| steps[*place].role == Role::Work);
        let values = work.map(|place| of(Source::Step(place + shift), vec![], "step"));
        plan.output = Output::new(list(values.collect()));
        plan
    }

    fn inside<T>(&mut self, part: Option<&str>, build: impl FnOnce(&mut Self) -> T) -> T {
        let path = self.path.clone();
        self.path = path.clone().zip(part).map(|(path, part)| path + part);
        let built = build(self);
        self.path = path;
        built
    }

    fn body(&mut self, work: &Work, id: &str) -> Body {
        let part = format!("{id}.");
        match work {
            // With a path that is known beforehand, the call has no context.
            Work::Call => {
                let reads = self.reads.iter();
                let reads = reads.map(|step| of(Source::Step(*step), vec![], "step"));
                let read = ("read", list(reads.collect()));
                match &self.path {
                    Some(path) => {
                        let key = ("key", string(&format!("{path}{id}")));
                        Action::call("plain", Template::object([key, read])).into()
                    }
                    None => Action::call("knowing", Template::object([read])).into(),
                }
            }
            Work::Await => Await::new("Value").into(),
            Work::If(holds, work) => {
                let holds = Condition::Holds(Template::Bool(*holds));
                Body::If(vec![branch(vec![holds], self.body(work, id))])
            }
            Work::For(work) => {
                let body = self.inside(None, |it| it.body(work, id));
                let elements = list(vec![Template::Null, Template::Null]);
                For::new("x", elements, body).into()
            }
            Work::Loop(goes_on, steps) => {
                let mut round = self.inside(None, |it| it.plan(steps, 1));
                round.inputs = vec![Input::new("last", "Option<Value>")];
                let last = of(Source::Input(0), vec![], "last");
                let bound = Condition::Let {
                    pattern: "Some(_)".into(),
                    value: last,
                };
                let more = Body::If(vec![
                    branch(vec![bound], value(Template::Bool(*goes_on))),
                    branch(vec![], value(Template::Bool(true))),
                ]);
                let name = format!("{MORE}{}", self.depth);
                round.steps.insert(0, step(&name, more, &[]));
                let inputs = Template::object([("last", Template::Null)]);
                let more = of(Source::Step(0), vec![], &name);
                let mut repeat = Loop::new(Block::new(inputs, round), more);
                repeat.last = true;
                repeat.into()
            }
            Work::Block(steps) => {
                let inner = self.inside(Some(&part), |it| it.plan(steps, 0));
                Block::new(Template::object::<&str>([]), inner).into()
            }
            Work::Plan(steps) => {
                let inner = self.inside(Some(&part), |it| it.plan(steps, 0));
                self.plans.push(inner);
                let place = (self.plans.len() - 1) as u64;
                Action::call("called", Template::object([("plan", place.into())])).into()
            }
            Work::Unfit(unfit) => self.unfit(*unfit, &part),
        }
    }

    fn unfit(&mut self, unfit: Unfit, part: &str) -> Body {
        let steps = [Node::new(Work::Call)];
        let mut inner = self.inside(Some(part), |it| it.plan(&steps, 0));
        // A number and a string have no order.
        let never = Test::Compare([1.into(), string("x")], Comparison::Less);
        let inputs = Template::object([("never", never.into())]);
        let takes_input = matches!(unfit, Unfit::Block | Unfit::Round);
        inner.inputs = (takes_input.then(|| Input::new("never", "bool")))
            .into_iter()
            .collect();
        match unfit {
            Unfit::Block => return Block::new(inputs, inner).into(),
            Unfit::Round => {
                return Loop::new(Block::new(inputs, inner), Template::Bool(false)).into();
            }
            Unfit::Inputs => {}
            Unfit::Refused => {
                let refused = Action::call("refused", Template::object::<&str>([]));
                inner.steps.push(step("refused", refused.into(), &[]));
            }
        }
        self.plans.push(inner);
        let place = (self.plans.len() - 1) as u64;
        let fails = Template::Bool(unfit == Unfit::Inputs);
        let args = Template::object([("plan", place.into()), ("fails", fails)]);
        Action::call("called", args).into()
    }
}

/// The name of a round's step that determines if another round follows.
pub(crate) const MORE: &str = "more";

impl Work {
    pub(crate) fn waits(&self) -> bool {
        *self == Self::Await
    }

    /// Returns `true` if a condition of a step without elements does not hold.
    pub(crate) fn is_skipped(&self) -> bool {
        match self {
            Self::If(holds, work) => !holds || work.is_skipped(),
            _ => false,
        }
    }

    /// Returns the work of its elements, if it fails before that work.
    pub(crate) fn unfit(&self) -> Option<Unfit> {
        match self {
            Self::Unfit(unfit) => Some(*unfit),
            Self::If(_, work) | Self::For(work) => work.unfit(),
            _ => None,
        }
    }

    /// The steps inside it.
    pub(crate) fn inner(&self) -> Option<&[Node]> {
        match self {
            Self::Call | Self::Await | Self::Unfit(_) => None,
            Self::If(_, work) | Self::For(work) => work.inner(),
            Self::Loop(_, steps) | Self::Block(steps) | Self::Plan(steps) => Some(steps),
        }
    }
}
