//! Whether a plan fits the tools that it calls, as far as their contracts say.
//!
//! What may be right is never called wrong:
//!
//! - What a schema does not say, or says in a way that is not understood, fits.
//! - Other arguments than those that a schema names are mistakes where it forbids them (`additionalProperties: false`), and where their
//!   name is nearly that of one that is not given. Otherwise they are a warning: many tools look at more than they name.
//! - An output has the fields that its schema names, and no others, unless `additionalProperties` allows them. A plan can only rely on
//!   what was promised.
//! - A field may be absent where its object's schema has a `required` that lacks it. Without any `required`, nothing is known of that.
//! - Null for an argument that need not be given is as good as not giving it.
//! - An element of a list is taken to be there, as in Rust.
//! - Where a profile allows that a reference leads to nothing, that is a warning.

mod bounds;
mod input;
mod item;
mod lost;
mod path;
mod problem;
mod reference;
mod unused;
mod value;

use super::draft::MOST_NAMES;
use super::finding::{Code, Note, Notes};
use super::schema::{Type, Types};
use super::spans::{Span, Spans};
use super::{Contract, Contracts, Dialect};
use crate::plan::{
    Action, Body, BodyPart, Condition, Optional, Plan, Reference, Segment, Source, Step, Template,
    ToolInfo,
};
use crate::resolve::describe::{short, similar};
use input::Inputs;
use item::{Item, Kind, Places};
use path::{Found, follow};
use problem::{Place, Problem};
use serde_json::Value;
use std::ops::Range;
use value::Fit;

/// How far the output of a step is looked for that computes none itself.
const DEPTH: usize = 8;

/// Checks a plan against what is known of tools. The types of inputs that nobody stated follow from where they are used.
pub(super) fn check(
    plan: &Plan,
    spans: &Spans,
    dialect: Dialect,
    contracts: &Contracts,
    notes: &mut Notes,
) -> Vec<(usize, String)> {
    let mut checker = Checker {
        plan,
        spans,
        dialect,
        contracts,
        notes,
        inputs: Inputs::default(),
        step: None,
        quiet: false,
    };
    for (index, step) in plan.steps.iter().enumerate() {
        checker.step(index, step);
    }
    checker.output();
    unused::check(plan, spans, dialect, contracts, checker.notes);
    let inputs = std::mem::take(&mut checker.inputs);
    inputs.types(plan, spans, checker.notes)
}

/// What of the arguments of a tool does not fit its schema.
pub(super) fn check_value(tool: &str, arguments: &Value, schema: &Value) -> Vec<String> {
    let fit = Fit::new(tool, false);
    let problems = fit.problems(&Item::of_value(arguments), &Type::of(schema), "", true);
    problems
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

struct Checker<'a, 'n> {
    plan: &'a Plan,
    spans: &'a Spans,
    dialect: Dialect,
    contracts: &'a Contracts,
    notes: &'n mut Notes,
    inputs: Inputs<'a>,
    /// The step that is checked.
    step: Option<usize>,
    /// What is found was said already.
    quiet: bool,
}

/// What a step or an input gives.
struct Given<'a> {
    ty: Type<'a>,
    absent: Option<String>,
}

impl<'a> Checker<'a, '_> {
    fn step(&mut self, index: usize, step: &'a Step) {
        let spans = self.spans.steps.get(index);
        if spans.is_some_and(|spans| spans.broken) {
            return;
        }
        self.step = Some(index);
        let mut next = spans.map_or(usize::MAX / 2, |spans| spans.templates());
        let mut bodies = Vec::new();
        step.body.visit(&mut |part| {
            bodies.push(part);
        });
        for part in bodies {
            match part {
                BodyPart::Action(action) => self.action(action, &mut next),
                BodyPart::Condition(template) | BodyPart::List(template) => {
                    Item::of(template, &mut next, self);
                }
            }
        }
        if let Some(fallback) = &step.policy.fallback {
            Item::of(fallback, &mut next, self);
        }
        self.step = None;
    }

    fn output(&mut self) {
        if let Some(mut next) = self.spans.output {
            Item::of(&self.plan.output.value, &mut next, self);
        }
    }

    fn action(&mut self, action: &'a Action, next: &mut usize) {
        let arguments = Item::of(&action.args, next, self);
        let Some(tool) = &action.tool else { return };
        let Some(contract) = self.contracts.get(&tool.name) else {
            self.unknown_tool(tool);
            return;
        };
        let Some(schema) = &contract.arguments else {
            return;
        };
        let takes = Type::of(schema);
        let fit = Fit::new(&tool.name, true);
        for problem in fit.problems(&arguments, &takes, "", true) {
            self.problem(problem);
        }
        self.inputs.expect(&arguments, &takes, "");
    }

    fn unknown_tool(&mut self, tool: &ToolInfo) {
        let names = || self.contracts.names();
        let help = match similar(&tool.name, names()) {
            Some(meant) => Some(format!("a tool with a similar name exists: `{meant}`")),
            None if !self.contracts.is_empty() && self.contracts.len() <= MOST_NAMES => {
                let names: Vec<&str> = names().collect();
                Some(format!("the tools are `{}`", names.join("`, `")))
            }
            None => None,
        };
        let message = format!("there is no tool `{}`", short(&tool.name));
        let problem = Problem::new(Code::UnknownTool, None, message);
        self.problem(problem.at(Place::Tool).help(help));
    }

    fn problem(&mut self, problem: Problem) {
        if self.quiet {
            return;
        }
        let step = self.step.and_then(|step| self.plan.steps.get(step));
        let spans = self.step.and_then(|step| self.spans.steps.get(step));
        let template = problem.at.and_then(|at| self.spans.templates.get(at));
        let place = match problem.part {
            Place::Tool => spans.map(|spans| spans.tool),
            Place::Key => template.map(|template| template.key.unwrap_or(template.value)),
            Place::Value => template.map(|template| template.value),
        };
        let place = place.or(spans.map(|spans| spans.whole));
        let place: Range<usize> = place.map_or(0..0, Span::range);
        let note = match problem.warning {
            true => Note::warning(problem.code, place, problem.message),
            false => Note::error(problem.code, place, problem.message),
        };
        let note = note.help(problem.help);
        self.notes.push(match step {
            Some(step) => note.step(&step.id.as_ref().into()),
            None => note,
        });
    }

    /// What a source gives.
    fn given(&self, source: Source, depth: usize) -> Given<'a> {
        match source {
            Source::Step(index) => match self.plan.steps.get(index) {
                Some(step) => self.given_by(step, depth),
                None => Given::any(),
            },
            Source::Input(index) => self
                .plan
                .inputs
                .get(index)
                .map_or_else(Given::any, |input| {
                    match self.spans.untyped.contains(&index) {
                        true => Given::any(),
                        false => Given::typed(input::stated(&input.type_name)),
                    }
                }),
            Source::Local(_) => Given::any(),
        }
    }

    fn given_by(&self, step: &'a Step, depth: usize) -> Given<'a> {
        let mut given = self.body(&step.body, depth);
        if let Some(fallback) = &step.policy.fallback
            && matches!(fallback, Template::Null)
        {
            given.nullable(format!(
                "where step `{}` fails, its output is null",
                step.id
            ));
        }
        if step.policy.optional == Optional::Whole && step.policy.fallback.is_none() {
            given.nullable(format!(
                "step `{}` is optional, and where it fails its output is null",
                step.id
            ));
        }
        let each = step.policy.optional == Optional::Each;
        if each && given.ty.types() == Types::LIST {
            let element = given.ty.element().or(Type::plain(Types::NULL));
            given.ty = Type::list(element);
        }
        if matches!(step.body, Body::If(_)) && given.absent.is_some() {
            given.absent = Some(format!(
                "step `{}` may be skipped, and its output is null then",
                step.id
            ));
        }
        given
    }

    fn body(&self, body: &'a Body, depth: usize) -> Given<'a> {
        let Some(depth) = depth.checked_sub(1) else {
            return Given::any();
        };
        match body {
            Body::Action(action) => match &action.tool {
                Some(tool) => {
                    let contract = self.contracts.get(&tool.name);
                    let schema = contract.and_then(|contract| contract.output.as_ref());
                    Given::typed(schema.map_or_else(Type::any, Type::of))
                }
                None => match &action.args {
                    Template::Reference(reference) => {
                        let given = self.given(reference.source, depth);
                        let mut absent = given.absent;
                        let ty = follow(given.ty, &reference.path, 0, &mut absent);
                        ty.map_or_else(|_| Given::any(), |ty| Given { ty, absent })
                    }
                    _ => Given::any(),
                },
            },
            Body::If(branches) => {
                let mut all = Given::typed(Type::none());
                for branch in branches.iter() {
                    let given = self.body(&branch.body, depth);
                    all.ty = all.ty.or(given.ty);
                    all.absent = all.absent.or(given.absent);
                }
                let ends = branches.last().map(|branch| &branch.condition);
                if !matches!(ends, Some(Condition::Always)) {
                    all.nullable(String::new());
                }
                all
            }
            Body::For(rounds) => rounds.first().map_or_else(Given::any, |each| {
                Given::typed(Type::list(self.body(&each.body, depth).ty))
            }),
        }
    }
}

impl<'a> Places<'a> for Checker<'a, '_> {
    fn is_broken(&self, at: usize) -> bool {
        self.spans.has_broken(at..at + 1)
    }

    fn found(&mut self, at: usize, reference: &'a Reference) -> Kind<'a> {
        let given = self.given(reference.source, DEPTH);
        let mut absent = given.absent;
        let ty = match follow(given.ty.clone(), &reference.path, 0, &mut absent) {
            Ok(ty) => ty,
            Err(lost) => {
                self.lost(at, reference, &given.ty, &lost);
                return Kind::Unknown;
            }
        };
        let whole = !reference
            .path
            .iter()
            .any(|segment| segment.token().is_some() || matches!(segment, Segment::Each));
        let input = match reference.source {
            Source::Input(index) if whole && self.spans.untyped.contains(&index) => Some(index),
            _ => None,
        };
        Kind::Reference(Box::new(Found {
            reference,
            ty,
            absent,
            style: self.style(reference),
            input,
        }))
    }
}

impl<'a> Given<'a> {
    fn any() -> Self {
        Self::typed(Type::any())
    }

    fn typed(ty: Type<'a>) -> Self {
        Self { ty, absent: None }
    }

    fn nullable(&mut self, why: String) {
        let ty = std::mem::replace(&mut self.ty, Type::none());
        self.ty = ty.or(Type::plain(Types::NULL));
        self.absent = Some(why);
    }
}

/// Whether the tool of every action of a step says that it only reads.
fn only_reads(step: &Step, contracts: &Contracts) -> bool {
    let reads = |action: &&Action| {
        let contract: Option<&Contract> = action
            .tool
            .as_ref()
            .and_then(|tool| contracts.get(&tool.name));
        contract.is_some_and(|contract| contract.read_only)
    };
    let actions = step.actions();
    !actions.is_empty() && actions.iter().all(reads)
}
