//! Plans as text of a dialect.

pub(crate) mod json;
pub(crate) mod strings;
mod template;

use super::reading::steps;
use super::references::ReferenceTarget;
use crate::Plan;
use crate::dynamic::{Dialect, Unsupported, UnsupportedPart};
use crate::plan::{Action, Body, Catch, Key, Output, Policy, Reference, Role, Template};
use json::{OutputJson, OutputMembers};
use std::collections::{HashMap, HashSet};

/// What a reference reads, by its name in a dialect, or the part that the dialect cannot express; `None` if that is already reported.
type ToTarget =
    for<'w> fn(&'w Writer<'_>, &Reference) -> Result<ReferenceTarget<'w>, Option<String>>;

/// A plan that is being written.
pub(crate) struct Writer<'p> {
    pub(crate) dialect: Dialect,
    pub(crate) plan: &'p Plan,
    target: ToTarget,
    pub(crate) ids: HashMap<&'p str, usize>,
    /// The first input of each name.
    pub(crate) inputs: HashMap<&'p str, usize>,
    /// The step whose parts are being written; without one, it is the output.
    pub(crate) step: Option<&'p str>,
    pub(crate) unsupported: Vec<UnsupportedPart>,
}

impl<'p> Writer<'p> {
    pub(crate) fn new(dialect: Dialect, plan: &'p Plan, target: ToTarget) -> Self {
        let ids = plan.steps.iter().enumerate();
        let inputs = plan.inputs.iter().enumerate().rev();
        Self {
            dialect,
            plan,
            target,
            ids: ids.map(|(index, step)| (step.id.as_ref(), index)).collect(),
            inputs: inputs
                .map(|(index, input)| (input.name.as_str(), index))
                .collect(),
            step: None,
            unsupported: Vec::new(),
        }
    }

    pub(crate) fn finish(self, json: &OutputJson<'_>) -> Result<String, Unsupported> {
        let mut unsupported = self.unsupported;
        if unsupported.is_empty() {
            match serde_json::to_string_pretty(json) {
                Ok(text) => return Ok(text),
                Err(error) => {
                    unsupported.push(UnsupportedPart::new("the plan", error.to_string()));
                }
            }
        }
        Err(Unsupported::new(self.dialect.rules().document, unsupported))
    }

    pub(crate) fn cannot_express(
        &mut self,
        place: impl Into<String>,
        construct: impl Into<String>,
    ) {
        self.unsupported
            .push(UnsupportedPart::new(place, construct));
    }

    /// The step that is written, or the output.
    pub(crate) fn here(&self) -> String {
        match self.step {
            Some(id) => format!("step `{id}`"),
            None => "the output".to_owned(),
        }
    }

    /// A part of the arguments or of the output.
    pub(crate) fn at(&self, path: &str) -> String {
        match (self.step, path) {
            (Some(id), "") => format!("the arguments of step `{id}`"),
            (Some(id), path) => format!("argument `{path}` of step `{id}`"),
            (None, "") => "the output".to_owned(),
            (None, path) => format!("`{path}` of the output"),
        }
    }

    /// What all dialects ask of a plan as a whole.
    pub(crate) fn check(&mut self) {
        if self.plan.name.is_empty() {
            self.cannot_express("the plan", "an empty name");
        }
        if self.plan.steps.is_empty() {
            self.cannot_express("the plan", "no steps");
        }
    }

    /// Reports each input, as this dialect has no inputs.
    pub(crate) fn no_inputs(&mut self) {
        for input in &self.plan.inputs {
            let place = format!("input `{}`", input.name);
            self.cannot_express(place, "a plan of this dialect has no inputs");
        }
    }

    /// The steps, each with its `id`, `intent`, `tool` and arguments. `default` is the id of a step that gives none itself; `known` is the
    /// part of a policy that the dialect has; `order` gives the members for it, and for the steps that a step waits for.
    pub(crate) fn steps(
        &mut self,
        default: Option<fn(usize) -> String>,
        known: fn(&Policy) -> Policy,
        order: fn(&mut Self, usize, &Policy) -> OutputMembers<'p>,
    ) -> OutputJson<'p> {
        let plan = self.plan;
        let mut steps = Vec::with_capacity(plan.steps.len());
        for (index, step) in plan.steps.iter().enumerate() {
            let action = self.action(index);
            let known = known(&step.policy);
            self.policy(&step.policy, &known);
            self.role(step.role);
            let order = order(self, index, &known);
            let Some(action) = action else { continue };
            let mut members = OutputMembers::default();
            if default.is_none_or(|id| step.id != id(index)) {
                members.add("id", step.id.as_str().into());
            }
            members.text("intent", &step.intent);
            if let Some(tool) = &action.tool {
                members.add("tool", tool.name.as_str().into());
                members.text("tool_description", &tool.description);
            }
            let arguments = self.arguments(&action.args);
            members.add(self.dialect.rules().arguments, arguments);
            members.extend(order);
            steps.push(OutputJson::Object(members));
        }
        OutputJson::List(steps)
    }

    /// The steps of a dialect that has neither policies nor an order without data.
    pub(crate) fn plain_steps(&mut self) -> OutputJson<'p> {
        let order = |writer: &mut Self, index: usize, _: &Policy| {
            let plan = writer.plan;
            for after in plan.steps[index].only_after() {
                let name = plan.steps.get(after).map_or("", |step| &step.id);
                let construct = format!("that it waits for `{name}` (`#[after]`)");
                writer.cannot_express(writer.here(), construct);
            }
            OutputMembers::default()
        };
        self.steps(None, |_| Policy::DEFAULT, order)
    }

    /// Begins with a step: its one action.
    pub(crate) fn action(&mut self, index: usize) -> Option<&'p Action> {
        let plan = self.plan;
        let step = &plan.steps[index];
        self.step = Some(&step.id);
        if step.id.trim().is_empty() {
            let number = index + 1;
            self.cannot_express(format!("step {number}"), "an empty id");
        }
        if self.ids.get(step.id.as_str()) != Some(&index) {
            let place = self.here();
            self.cannot_express(place, "the id of another step");
        }
        let construct = match &step.body {
            Body::Action(action) => match &action.tool {
                Some(tool) if tool.name.trim().is_empty() => "a tool without a name".to_owned(),
                Some(_) => return Some(action),
                None => format!("the computed value `{}`", action.args),
            },
            Body::If(_) => "an `if`".to_owned(),
            Body::For(_) => "a `for`".to_owned(),
            Body::Block(_) => "a block of steps".to_owned(),
            Body::Loop(_) => "a `loop`".to_owned(),
            Body::Await(_) => "that it waits for a value from outside (`await`)".to_owned(),
        };
        let place = self.here();
        self.cannot_express(place, construct);
        None
    }

    /// No dialect has steps that are anything but work.
    fn role(&mut self, role: Role) {
        let construct = match role {
            Role::Work => return,
            Role::Undo(undone) => {
                let undone = self.plan.steps.get(undone);
                let undone = undone.map_or("", |step| &step.id);
                format!("that it undoes `{undone}` (`#[undo]`)")
            }
            Role::Always => "that it always runs (`#[always]`)".to_owned(),
        };
        let place = self.here();
        self.cannot_express(place, construct);
    }

    /// The parts of a policy that no dialect knows; `known` are those that this one does.
    pub(crate) fn policy(&mut self, policy: &Policy, known: &Policy) {
        let default = Policy::DEFAULT;
        let mut unsupported = Vec::new();
        if policy.attempts != known.attempts {
            unsupported.push(format!("{} attempts", policy.attempts));
        }
        if policy.backoff != default.backoff
            || policy.max != default.max
            || policy.jitter != default.jitter
        {
            unsupported.push("how long to wait before another attempt".to_owned());
        }
        if let Some(timeout) = policy.timeout.filter(|_| policy.timeout != known.timeout) {
            let timeout = humantime::format_duration(timeout);
            unsupported.push(format!("a time limit of {timeout} for each attempt"));
        }
        if policy.deadline.is_some() {
            unsupported.push("a deadline for all attempts together".to_owned());
        }
        if policy.optional != known.optional {
            unsupported.push("that it is optional".to_owned());
        }
        if policy.catch != Catch::No {
            unsupported.push("that its failure is a value".to_owned());
        }
        if let Some(fallback) = &policy.fallback {
            unsupported.push(format!("the fallback `{fallback}`"));
        }
        for (amount, template) in &policy.given {
            unsupported.push(format!("that `{template}` gives its `{}`", amount.name()));
        }
        if policy.concurrency.is_some() {
            unsupported.push("how many elements run concurrently".to_owned());
        }
        let place = self.here();
        unsupported
            .into_iter()
            .for_each(|part| self.cannot_express(&place, part));
    }

    /// Arguments: an object, or a reference to one.
    pub(crate) fn arguments(&mut self, args: &Template) -> OutputJson<'p> {
        let args = args.plain();
        if !matches!(args, Template::Object(_) | Template::Reference(_)) {
            let place = self.at("");
            self.cannot_express(place, format!("`{args}`, which is not an object"));
            return OutputJson::Null;
        }
        self.template(&mut String::new(), &args)
    }

    /// Adds the output, if a reader would come to another.
    pub(crate) fn output(&mut self, top: &mut OutputMembers<'p>) {
        let Output { type_name, value } = &self.plan.output;
        self.step = None;
        let default = steps::outputs(&self.plan.steps, 0..self.plan.steps.len());
        if type_name.is_empty() && *value == default.value {
            return;
        }
        top.text("output_type", type_name);
        let json = self.template(&mut String::new(), &value.plain());
        top.add("output", json);
    }

    /// The steps whose outputs the output is, if it is nothing else.
    pub(crate) fn output_steps(&self) -> Option<Vec<&'p str>> {
        let Output { type_name, value } = &self.plan.output;
        let Template::Object(entries) = value.plain() else {
            return None;
        };
        let (mut ids, mut seen) = (Vec::new(), HashSet::new());
        for entry in &entries {
            let (Key::Name(name), Template::Reference(reference)) = (&entry.key, &entry.value)
            else {
                return None;
            };
            let (id, &index) = self.ids.get_key_value(name.as_str())?;
            let is_step = reference.source == crate::plan::Source::Step(index);
            if !is_step || !reference.is_whole() || !seen.insert(index) {
                return None;
            }
            ids.push(*id);
        }
        (type_name.is_empty() && !ids.is_empty()).then_some(ids)
    }
}
