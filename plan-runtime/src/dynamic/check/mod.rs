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
mod known;
mod path;
mod problem;
mod reference;
mod unresolved;
mod unused;
mod value;

use super::dialects::reading::MOST_NAMES;
use super::finding::{Code, Note, Notes};
use super::schema::{TooMuchWork, Type, Work};
use super::spans::{Span, Spans, Templates};
use super::{Contract, Contracts, Dialect};
use crate::plan::{Action, BodyPart, Part, Plan, Step, Template, ToolInfo};
use crate::resolve::describe::short;
use input::Inputs;
use item::CheckedValue;
use known::{KnownOutputs, UnknownSchema};
use plan_graph::similar;
use problem::{Problem, ProblemPlace};
use serde_json::Value;
use std::ops::Range;
use value::ValueCheck;

/// Checks a plan against what is known of tools. The types of inputs that nobody stated follow from where they are used.
pub(super) fn check(
    plan: &Plan,
    spans: &Spans,
    dialect: Dialect,
    contracts: &Contracts,
    notes: &mut Notes,
) -> Vec<(usize, String)> {
    let work = Work::for_values(spans.templates.len());
    let computed = known::computed(plan, spans, contracts, &work);
    let known = KnownOutputs {
        plan,
        spans,
        dialect,
        contracts,
        computed: &computed,
        work: &work,
    };
    let mut checker = Checker {
        known,
        notes,
        inputs: Inputs::default(),
        step: None,
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
    let work = Work::for_values(values(arguments));
    let fit = ValueCheck::new(tool, false, &work);
    match fit.problems(
        CheckedValue::of_value(arguments),
        &Type::of(schema, &work),
        true,
    ) {
        Ok(problems) => {
            let kept = problems.kept.into_iter();
            kept.map(|problem| problem.message).collect()
        }
        Err(why) => vec![unchecked(tool, &why)],
    }
}

/// How many values a value is, with those in it.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Says that it is not known whether the arguments of a tool fit.
fn unchecked(tool: &str, why: &TooMuchWork) -> String {
    let why = match why {
        TooMuchWork::Work => "its schema and its arguments take too many comparisons".to_owned(),
        TooMuchWork::Target(target) => refers("its schema", target),
    };
    format!("`{}` cannot be checked: {why}", short(tool))
}

fn refers(schema: &str, target: &str) -> String {
    format!(
        "{schema} refers to `{}`, which does not exist",
        short(target)
    )
}

struct Checker<'a, 'n> {
    known: KnownOutputs<'a>,
    notes: &'n mut Notes,
    inputs: Inputs<'a>,
    /// The step that is checked.
    step: Option<usize>,
}

impl<'a> Checker<'a, '_> {
    fn step(&mut self, index: usize, step: &'a Step) {
        let spans = self.known.spans.steps.get(index);
        let Some(spans) = spans.filter(|spans| !spans.broken) else {
            return;
        };
        self.step = Some(index);
        let mut next = spans.templates();
        // Its templates come one after the other, the fallback last.
        let mut place = || {
            let at = next;
            next = self.known.spans.templates.after(at);
            at
        };
        let mut parts = Vec::new();
        step.body.visit(&mut |part| parts.push((part, place())));
        let fallback = step.policy.fallback.as_ref();
        let fallback = fallback.map(|fallback| (fallback, place()));
        for (part, at) in parts {
            match part {
                BodyPart::Action(action) => self.action(action, at),
                BodyPart::Condition(template) | BodyPart::List(template) => {
                    self.references(template, at);
                }
            }
        }
        if let Some((fallback, at)) = fallback {
            self.references(fallback, at);
        }
        self.step = None;
    }

    fn output(&mut self) {
        if let Some(at) = self.known.spans.output {
            self.references(&self.known.plan.output.value, at);
        }
    }

    fn action(&mut self, action: &'a Action, at: usize) {
        let arguments = CheckedValue::of(&action.args, at, self.known);
        self.references(&action.args, at);
        let Some(tool) = &action.tool else { return };
        let Some(contract) = self.known.contracts.get(&tool.name) else {
            self.unknown_tool(tool);
            return;
        };
        let Some(schema) = &contract.arguments else {
            return;
        };
        let takes = Type::of(schema, self.known.work);
        let fit = ValueCheck::new(&tool.name, true, self.known.work);
        let problems = fit.problems(arguments, &takes, true).and_then(|problems| {
            if self.known.spans.untyped.is_empty() {
                Ok(problems)
            } else {
                fit.inputs(arguments, &takes, &mut self.inputs)
                    .map(|()| problems)
            }
        });
        match problems {
            Ok(problems) => {
                self.notes
                    .leave_out(problems.more_errors, problems.more_warnings);
                problems
                    .kept
                    .into_iter()
                    .for_each(|problem| self.problem(problem));
            }
            Err(why) => {
                let message = unchecked(&tool.name, &why);
                self.problem(Problem::new(Code::LimitPassed, None, message).at(ProblemPlace::Tool));
            }
        }
    }

    /// Says which references in the template at this place lead nowhere.
    fn references(&mut self, template: &'a Template, at: usize) {
        let spans = self.known.spans;
        each(template, at, &spans.templates, &mut |at, part| {
            let Template::Reference(reference) = part else {
                return;
            };
            if self.known.is_broken(at) {
                return;
            }
            let why = match self.known.found(reference) {
                Ok(found) => found.ty.beyond().cloned(),
                Err(UnknownSchema::Lost(lost)) => {
                    self.lost(at, reference, &lost.1, &lost.0);
                    None
                }
                Err(UnknownSchema::Beyond(why)) => Some(why),
            };
            let Some(why) = why else { return };
            let whose = self.known.whose(reference.source);
            let why = match why {
                TooMuchWork::Work => "the schema of its output is too large".to_owned(),
                TooMuchWork::Target(target) => refers("the schema of its output", &target),
            };
            let message = format!("{whose} cannot be checked: {why}");
            self.problem(Problem::new(Code::LimitPassed, Some(at), message));
        });
    }

    fn unknown_tool(&mut self, tool: &ToolInfo) {
        let names = || self.known.contracts.names();
        let help = match similar(&tool.name, names()) {
            Some(meant) => Some(format!("a tool with a similar name exists: `{meant}`")),
            None if !self.known.contracts.is_empty()
                && self.known.contracts.len() <= MOST_NAMES =>
            {
                let names: Vec<String> = names().map(short).collect();
                Some(format!("the tools are `{}`", names.join("`, `")))
            }
            None => None,
        };
        let message = format!("there is no tool `{}`", short(&tool.name));
        let problem = Problem::new(Code::UnknownTool, None, message);
        self.problem(problem.at(ProblemPlace::Tool).help(help));
    }

    fn problem(&mut self, problem: Problem) {
        let step = self.step.and_then(|step| self.known.plan.steps.get(step));
        let spans = self.step.and_then(|step| self.known.spans.steps.get(step));
        let template = problem.at.and_then(|at| self.known.spans.templates.get(at));
        let place = match problem.part {
            ProblemPlace::Tool => spans.map(|spans| spans.tool),
            ProblemPlace::Key => template.map(|template| template.key.unwrap_or(template.value)),
            ProblemPlace::Value => template.map(|template| template.value),
        };
        let place = place.or(spans.map(|spans| spans.whole));
        let place: Range<usize> = place.map_or(0..0, Span::range);
        let note = if problem.warning {
            Note::warning(problem.code, place, problem.message)
        } else {
            Note::error(problem.code, place, problem.message)
        };
        let note = note.help(problem.help);
        self.notes.push(match step {
            Some(step) => note.step(&step.id.as_str().into()),
            None => note,
        });
    }
}

/// Hands over the template at a place and all that is in it, each with its place.
fn each<'a>(
    template: &'a Template,
    at: usize,
    spans: &Templates,
    f: &mut impl FnMut(usize, &'a Template),
) {
    f(at, template);
    let mut places = spans.parts(at);
    let mut inner = |part: &'a Template| {
        if let Some(at) = places.next() {
            each(part, at, spans, f);
        }
    };
    match template {
        Template::List(parts) => parts.iter().for_each(inner),
        Template::Tagged(_, content) => content.as_deref().into_iter().for_each(inner),
        Template::Object(entries) => entries.iter().for_each(|entry| inner(&entry.value)),
        Template::Text(parts) => {
            for part in parts {
                if let Part::Value { value, .. } = part {
                    inner(value);
                }
            }
        }
        _ => {}
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
