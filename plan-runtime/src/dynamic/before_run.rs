//! Errors before the start of a run.

use super::Contracts;
use crate::plan::{Body, BodyPart, Has, Input, Part, Plan, Template, missing_tools};
use crate::resolve::describe::{self, short};
use crate::resolve::{StoredValue, encode};
use plan_graph::similar;
use serde::Serialize;
use serde_json::{Map, Value};

/// The obstacles to a plan's start, computed once for all runs.
#[derive(Clone, Copy)]
pub(super) struct NotReady {
    /// `true` if the toolbox lacks a tool.
    pub(super) tools: bool,
    /// `true` if a part lacks its code from `plan!`.
    pub(super) code: bool,
}

/// Returns the inputs of a plan in its order, or all obstacles to its start.
pub(super) fn ready(
    plan: &Plan,
    inputs: &impl Serialize,
    contracts: &Contracts,
    not_ready: NotReady,
) -> Result<Vec<StoredValue>, Vec<String>> {
    let mut mistakes = Vec::new();
    let inputs = match encode(inputs) {
        Ok(inputs) => read_inputs(plan, inputs, contracts, &mut mistakes),
        Err(error) => {
            mistakes.push(format!("the inputs cannot be encoded: {error}"));
            Vec::new()
        }
    };
    if not_ready.tools {
        tools(plan, contracts, &mut mistakes);
    }
    if not_ready.code {
        code(plan, &mut mistakes);
    }
    if mistakes.is_empty() {
        Ok(inputs)
    } else {
        Err(mistakes)
    }
}

fn read_inputs(
    plan: &Plan,
    inputs: Value,
    contracts: &Contracts,
    mistakes: &mut Vec<String>,
) -> Vec<StoredValue> {
    let mut given = match inputs {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        other => {
            let other = describe::value(&other);
            mistakes.push(format!("the inputs are {other}, not an object"));
            return Vec::new();
        }
    };
    let values = plan.inputs.iter().enumerate();
    let values = values.map(|(at, input)| Some((at, given.get(&*input.name)?)));
    let mut unfit = super::check::unfit(plan, &values.collect::<Vec<_>>(), contracts);
    let mut inputs = Vec::with_capacity(plan.inputs.len());
    for (at, input) in plan.inputs.iter().enumerate() {
        match given.remove(&*input.name) {
            Some(value) => {
                let whose = format!("the input `{}`", input.name);
                let misfit = misfit(&whose, input, &value);
                let unfit = || Some(format!("{whose} {}", unfit.remove(&at)?));
                mistakes.extend(misfit.or_else(unfit));
                inputs.push(StoredValue::json(value));
            }
            None if input.is_option() => inputs.push(StoredValue::json(Value::Null)),
            None => mistakes.push(format!("the input `{}` is missing", input.name)),
        }
    }
    for name in given.keys() {
        let names = plan.inputs.iter().map(|input| &*input.name);
        let meant = meant(name, names);
        mistakes.push(format!("there is no input `{}`{meant}", short(name)));
    }
    inputs
}

/// Returns the mismatch between a value and the declared type of an input.
fn misfit(whose: &str, input: &Input, value: &Value) -> Option<String> {
    if input.is_guessed {
        return None;
    }
    super::check::misfit(whose, &input.type_name, value)
}

fn meant<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    similar(wrong, names).map_or_else(String::new, |name| format!(" (`{name}` is similar)"))
}

/// Reports each tool that the plan calls and the toolbox lacks, with the steps that call it.
fn tools(plan: &Plan, contracts: &Contracts, mistakes: &mut Vec<String>) {
    let missing = missing_tools(plan, &|tool| match contracts.get(&tool.name) {
        Some(_) => Has::Tool,
        None => Has::NoName,
    });
    for missing in missing {
        let (name, callers) = (&missing.tool.name, missing.callers());
        let (meant, name) = (meant(name, contracts.names()), short(name));
        mistakes.push(format!(
            "the toolbox has no tool `{name}`{meant}, which {callers}"
        ));
    }
}

/// Adds an error if a plan from JSON has a part that needs code from `plan!`.
fn code(plan: &Plan, mistakes: &mut Vec<String>) {
    let mut is_value = false;
    let mut find = |place: &str, template: &Template| {
        without_code(template, &mut |open, text, close| {
            is_value |= open.is_empty();
            let written = format!("{open}{}{close}", short(text));
            mistakes.push(format!(
                "{place}: the plan was read from JSON, so there is no code to compute `{written}`"
            ));
        });
    };
    work_code(plan, "", &mut find);
    find("the output", &plan.output.value);
    if let Some(last) = mistakes.last_mut().filter(|_| is_value) {
        last.push_str(
            " (write conditions with `all`, `any`, `not` and `compare`, which need no code)",
        );
    }
}

/// Calls `find` with the templates of all steps and of steps in blocks, each with its step.
fn work_code(plan: &Plan, around: &str, find: &mut dyn FnMut(&str, &Template)) {
    for step in &plan.steps {
        let path = format!("{around}{}", step.id);
        let place = format!("step `{path}`");
        step.templates(&mut |_, template| find(&place, template));
        step.body.visit(&mut |part| {
            if let BodyPart::Block(block) = part {
                work_code(&block.plan, &format!("{path}."), find);
                find(&place, &block.plan.output.value);
            }
        });
        if let Body::Loop(repeat) = &step.body {
            find(&place, &repeat.again);
        }
    }
}

/// Calls `f` with each piece of code that a template lacks, between the strings around it.
fn without_code(template: &Template, f: &mut impl FnMut(&str, &str, &str)) {
    template.each(&mut |template| match template {
        Template::Computed(computed) if template.lacks_code() => f("", computed.written(), ""),
        Template::Text(parts) => {
            for spec in parts.iter().filter_map(Part::lacks_code) {
                f("{:", spec, "}");
            }
        }
        _ => {}
    });
}
