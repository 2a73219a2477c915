//! Makes a plan of the string and the constants that `plan!` emits. A string that is not in the notation is a bug of this crate, and panics.

mod policy;
mod scalar;
mod template;
mod test;

use super::closed::Answers;
use super::cursor::DeclaredName;
use crate::Shape;
use crate::plan::depth::DEEPEST_COMPILED;
use crate::plan::{
    Action, AsJson, Await, Block, Body, Branch, Code, CompiledNames, Computed, Condition, For,
    Form, FormatSpec, InnerPlan, Input, LazyPlan, LocalValue, Loop, Output, Plan, ReceiveFn, Role,
    RustText, Step, Template, ToolInfo, ToolType,
};
use crate::shape::Secrets;
use crate::shape::inside::{Inside, Types};
use crate::shape::{FieldPlace, TypeShape, secrets, secrets_inside};
use plan_graph::notation::{
    BlockData, BodyData, BranchData, ConditionData, Named, PlanData, RoleData, StepData,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The tool of a plan in its encoded form.
pub struct StaticTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) output: fn() -> Inside,
    pub(super) plan: Option<&'static LazyPlan>,
    pub(super) hands_over: fn() -> bool,
    pub(super) of: fn() -> ToolType,
}

/// The meaning of a `?` in a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum QuestionMark {
    /// Null ends the reference.
    Option,
    /// Null ends the reference, and so does a missing part.
    Json,
    /// The reference continues in the `Ok` of a `Result`.
    Result,
}

/// A part of a plan that comes from rustc instead of the plan's literal.
#[derive(Clone, Copy)]
pub enum Constant {
    /// A tool, its arguments, and the facts about its types in the plan's crate.
    Tool(&'static StaticTool, TypeShape, fn() -> Inside),
    /// A type with fields that a reference or a literal names, and its name if they are declared elsewhere.
    Shape(TypeShape, Option<DeclaredName>),
    /// The meaning of a `?`.
    Asked(QuestionMark),
    /// The facts about the types of a test.
    Test(&'static dyn Answers),
    /// A computed value.
    Compute(&'static dyn Code<Computed>),
    /// The formatter of a placeholder in `format!`.
    Show(&'static dyn Code<FormatSpec>),
    /// A number of a policy.
    Count(fn() -> usize),
    /// A time of a policy.
    Time(fn() -> Duration),
    /// The check of a value from outside.
    Receive(ReceiveFn, fn() -> Inside),
}

impl Constant {
    /// Creates the constant of a tool with facts from the plan's crate.
    #[must_use]
    pub const fn seen(self, inside: fn() -> Inside) -> Self {
        match self {
            Self::Tool(tool, arguments, _) => Self::Tool(tool, arguments, inside),
            other => other,
        }
    }
}

/// Decodes a plan from its literal and the parts of its table of constants.
#[must_use]
pub fn decode(text: &'static str, table: &[&[Constant]]) -> Plan {
    let data = PlanData::<Text>::of_text(text, DEEPEST_COMPILED).unwrap_or_else(|rest| {
        let rest: String = rest.chars().take(40).collect();
        panic!("{BUG}, at `{rest}`")
    });
    let decoder = Decoder {
        constants: table.concat(),
        tools: HashMap::new(),
        name: data.name.into(),
        names: Arc::default(),
        locals: Vec::new(),
    };
    decoder.plan(data)
}

/// Adds the secrets that the plan's struct declares for the inputs.
#[must_use]
pub fn with_secrets<T: Shape>(mut plan: Plan) -> Plan {
    let found = secrets(T::SHAPE, Types::default(), false);
    if let TypeShape::Struct(fields) = T::SHAPE {
        for (input, field) in plan.inputs.iter_mut().zip(fields) {
            if let FieldPlace::Key(name) = field.argument {
                input.secrets = found.at(name);
            }
        }
    }
    plan
}

const BUG: &str =
    "`plan!` has encoded a plan that cannot be decoded: this is a bug of `plan-runtime`";

fn bug() -> ! {
    panic!("{BUG}")
}

/// A string of the notation.
type Text = &'static str;

struct Decoder {
    constants: Vec<Constant>,
    tools: HashMap<*const StaticTool, Arc<ToolInfo>>,
    /// The name of the plan.
    name: String,
    names: Arc<CompiledNames>,
    /// The local values in this position.
    locals: Vec<LocalValue<'static>>,
}

impl Decoder {
    fn constant(&self, place: usize) -> Constant {
        *self.constants.get(place).unwrap_or_else(|| bug())
    }

    fn plan(mut self, plan: PlanData<Text>) -> Plan {
        let inputs = plan.inputs.iter();
        self.names = Arc::new(CompiledNames {
            inputs: inputs.map(|input| (input.name, input.type_name)).collect(),
            steps: ids(&plan.steps),
        });
        let inputs = plan.inputs.into_iter().map(|input| Input {
            name: input.name.into(),
            type_name: RustText::of_program(input.type_name),
            description: RustText::of_program(input.description),
            secrets: Secrets::default(),
            is_guessed: false,
        });
        Plan {
            name: plan.name.into(),
            description: RustText::of_program(plan.description),
            inputs: inputs.collect(),
            steps: self.steps(plan.steps),
            output: Output {
                type_name: RustText::of_program(plan.output_type),
                value: self.template(plan.output),
            },
        }
    }

    fn steps(&mut self, steps: Named<Text, StepData<Text>>) -> Vec<Step> {
        let steps = steps.0.into_iter().map(|(id, step)| Step {
            id: id.into(),
            intent: RustText::of_program(step.intent),
            after: step.after,
            role: match step.role {
                None => Role::Work,
                Some(RoleData::Undo(undone)) => Role::Undo(undone),
                Some(RoleData::Always) => Role::Always,
            },
            body: self.body(step.body),
            policy: self.policy(step.policy.0),
        });
        steps.collect()
    }

    fn body(&mut self, body: BodyData<Text>) -> Body {
        match body {
            BodyData::Call(tool, arguments) => Body::Action(Action {
                tool: Some(self.tool(tool)),
                args: self.template(arguments),
            }),
            BodyData::Value(value) => Body::Action(Action {
                tool: None,
                args: self.template(value),
            }),
            BodyData::If(branches) => {
                let branches = branches.into_iter().map(|branch| self.branch(branch));
                Body::If(branches.collect())
            }
            BodyData::For(pattern, list, body) => {
                let list = self.bound(list, Form::Each(pattern), pattern);
                let body = self.body(*body);
                self.locals.pop();
                Body::For(Box::new(For {
                    pattern: RustText::of_program(pattern),
                    list,
                    body,
                }))
            }
            BodyData::Block(block) => Body::Block(Box::new(self.block(block, |_| ()).0)),
            BodyData::Loop(last, round, again) => {
                let (round, again) = self.block(round, |it| it.template(again));
                Body::Loop(Box::new(Loop { round, last, again }))
            }
            BodyData::Await(ty, receive) => {
                let Constant::Receive(receive, inside) = self.constant(receive) else {
                    bug()
                };
                let mut wait = Await::new(RustText::of_program(ty));
                wait.secrets = secrets_inside(inside(), self.declared(inside()), true);
                Body::Await(wait.compiled(ty, receive))
            }
        }
    }

    fn branch(&mut self, branch: BranchData<Text>) -> Branch {
        let around = self.locals.len();
        let conditions = branch
            .conditions
            .into_iter()
            .map(|condition| match condition {
                ConditionData::Holds(value) => Condition::Holds(self.template(value)),
                ConditionData::Let(pattern, value) => Condition::Let {
                    pattern: RustText::of_program(pattern),
                    value: self.bound(value, Form::Let(pattern), pattern),
                },
            });
        let branch = Branch {
            conditions: conditions.collect(),
            body: self.body(branch.body),
        };
        self.locals.truncate(around);
        branch
    }

    /// Decodes a block, and calls `then` with its names in scope. A block has access to the enclosing names and local values only through its
    /// inputs.
    fn block<T>(
        &mut self,
        block: BlockData<Text>,
        then: impl FnOnce(&mut Self) -> T,
    ) -> (Block, T) {
        let inputs = block.inputs.into_iter();
        let inputs: Vec<_> = inputs
            .map(|(name, value)| (name, self.template(value)))
            .collect();
        let names = Arc::new(CompiledNames {
            inputs: inputs.iter().map(|(name, _)| (*name, "")).collect(),
            steps: ids(&block.steps),
        });
        let around = std::mem::replace(&mut self.names, names);
        let locals = std::mem::take(&mut self.locals);
        let mut plan = Plan::new(self.name.clone());
        let names = inputs.iter().map(|(name, _)| *name);
        plan.inputs = names.map(|name| Input::new(name, "")).collect();
        plan.steps = self.steps(block.steps);
        plan.output.value = self.template(block.value);
        let then = then(self);
        (self.names, self.locals) = (around, locals);
        (Block::new(Template::object(inputs), plan), then)
    }

    /// Returns the facts about a type, and the shapes that the plan declares.
    fn declared(&self, inside: Inside) -> Types {
        let mut types = inside.types;
        for constant in &self.constants {
            if let Constant::Shape(shape, Some(name)) = constant {
                types.declare(name(), *shape);
            }
        }
        types
    }

    /// Returns the tool's description, which the steps that call the tool share.
    fn tool(&mut self, place: usize) -> Arc<ToolInfo> {
        let Constant::Tool(tool, arguments, inside) = self.constant(place) else {
            bug()
        };
        if let Some(info) = self.tools.get(&std::ptr::from_ref(tool)) {
            return Arc::clone(info);
        }
        let known = || self.declared(inside());
        let info = Arc::new(ToolInfo {
            name: tool.name.into(),
            description: tool.description.into(),
            secret_arguments: secrets(arguments, known(), false),
            secret_output: secrets_inside((tool.output)(), known(), true),
            plan: InnerPlan::of(tool.plan),
            as_json: AsJson(!(tool.hands_over)()),
            of: (tool.of)(),
        });
        self.tools.insert(tool, Arc::clone(&info));
        info
    }
}

fn ids(steps: &Named<Text, StepData<Text>>) -> Vec<Text> {
    steps.0.iter().map(|(id, _)| *id).collect()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`, at `rest`")]
    fn an_unknown_letter_is_a_bug() {
        let _ = decode("1 p0 0 0 0 ?rest", &[]);
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn more_than_a_plan_is_a_bug() {
        let _ = decode("1 p0 0 0 0 nn", &[]);
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn a_text_that_is_cut_is_a_bug() {
        let _ = decode("9 p0 0 0 0 n", &[]);
    }

    /// A plan with a reference, a loop, an `if`, policies and a `format!`.
    const TEXT: &str = "1 p0 1 1 i3 u640 3 1 a1 b1 c\
        0 1 0 AVl3 ri0 3 i.a#0 !k1 a?*;-7 s1 xc0 3 t1 3 7 ;\
        0 0 L11 1 in1 1 x0 0 Vs1 a;rs0 1 x;1;\
        0 0 I2 1 h1B0 0 n1 b1 xnVd3 1.5f0j1G1 u5 w;\
        0 x2 s1 hv2 :>=n";

    #[test]
    fn broken_text_is_a_bug() {
        let check = |text: String| {
            let text: &'static str = text.leak();
            let Err(payload) = std::panic::catch_unwind(|| decode(text, &[])) else {
                return;
            };
            let message = payload.downcast::<String>().expect("a formatted message");
            assert!(
                message.contains("this is a bug of `plan-runtime`"),
                "{message} for {text}"
            );
        };
        assert_eq!(decode(TEXT, &[]).steps.len(), 3);
        for place in 0..TEXT.len() {
            check(TEXT[..place].to_owned());
            for other in " ;09lnrqcLBéÿ".chars() {
                check(format!("{}{other}{}", &TEXT[..place], &TEXT[place + 1..]));
                check(format!("{}{other}{}", &TEXT[..place], &TEXT[place..]));
            }
        }
    }

    #[test]
    #[should_panic(expected = "this is a bug of `plan-runtime`")]
    fn nesting_has_a_bound() {
        let _ = decode(format!("1 p0 0 0 0 {}", "l1 ".repeat(600)).leak(), &[]);
    }
}
