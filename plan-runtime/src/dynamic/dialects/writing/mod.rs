//! Writing plans in a dialect.

mod body;
pub(crate) mod json;
mod policy;
mod scope;
pub(crate) mod strings;
mod template;

use super::reading::steps::{self, Layout};
use super::references::ReferenceTarget;
use crate::Plan;
use crate::dynamic::{Dialect, Unsupported, UnsupportedPart};
use crate::plan::json::names::step as members;
use crate::plan::{Amount, Block, Body, Key, Origin, Output, Policy, Reference, Role, Template};
use json::{OutputJson, OutputMembers};
use scope::Scope;
use std::collections::HashSet;

/// Returns the target of a plan's reference with its name in a dialect. The error is the part that the dialect cannot express, or `None` if
/// that has been reported.
type ToTarget =
    for<'w> fn(&'w Writer<'_>, &Reference) -> Result<ReferenceTarget<'w>, Option<String>>;

/// The members of a dialect's steps besides the body.
pub(crate) struct StepForm {
    pub(crate) layout: &'static Layout,
    /// The part of a policy for which there are members of a step.
    pub(crate) known: fn(&Policy) -> Policy,
    /// Writes the members for this part of the policy, and for the dependencies of a step.
    pub(crate) order: for<'p> fn(&mut Writer<'p>, usize, &Policy) -> OutputMembers<'p>,
}

/// A plan that is being written.
pub(crate) struct Writer<'p> {
    pub(crate) dialect: Dialect,
    form: StepForm,
    target: ToTarget,
    /// The plan or the block that is being written.
    pub(crate) scope: Scope<'p>,
    /// The enclosing plans and blocks, the outermost first.
    around: Vec<Scope<'p>>,
    /// The current part of the step.
    part: Part,
    pub(crate) unsupported: Vec<UnsupportedPart>,
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Arguments,
    Value,
    Condition,
    List,
    Reads,
    Policy,
    Fallback,
}

impl Part {
    fn words(self) -> &'static str {
        match self {
            Self::Arguments => "the arguments",
            Self::Value => "the value",
            Self::Condition => "a condition",
            Self::List => "the list",
            Self::Reads => "the inputs of the block",
            Self::Policy => "the policy",
            Self::Fallback => "the fallback",
        }
    }
}

impl<'p> Writer<'p> {
    pub(crate) fn new(dialect: Dialect, plan: &'p Plan, target: ToTarget, form: StepForm) -> Self {
        Self {
            dialect,
            form,
            target,
            scope: Scope::of(plan),
            around: Vec::new(),
            part: Part::Value,
            unsupported: Vec::new(),
        }
    }

    /// Returns the whole plan.
    pub(crate) fn plan(&self) -> &'p Plan {
        self.around.first().unwrap_or(&self.scope).plan
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

    /// Returns the path of the current step, with the steps around it.
    fn path(&self) -> Option<String> {
        let scopes = self.around.iter().chain([&self.scope]);
        let ids =
            scopes.filter_map(|scope| Some(scope.plan.steps.get(scope.current?)?.id.as_str()));
        let ids: Vec<&str> = ids.collect();
        (!ids.is_empty()).then(|| ids.join("."))
    }

    /// Describes the position: the current step, or the output.
    pub(crate) fn here(&self) -> String {
        match self.path() {
            Some(path) => format!("step `{path}`"),
            None => "the output".to_owned(),
        }
    }

    /// Describes the position of a part: the path in the current part of the step or the output.
    pub(crate) fn at(&self, path: &str) -> String {
        let (step, part) = (self.path(), self.part);
        match (step, path) {
            (Some(step), "") => format!("{} of step `{step}`", part.words()),
            (Some(step), path) if part == Part::Arguments => {
                format!("argument `{path}` of step `{step}`")
            }
            (Some(step), path) => format!("`{path}` of {} of step `{step}`", part.words()),
            (None, "") => "the output".to_owned(),
            (None, path) => format!("`{path}` of the output"),
        }
    }

    /// Writes a [plain](Template::plain) template as this part of the step.
    fn part(&mut self, part: Part, template: &Template) -> OutputJson<'p> {
        self.part = part;
        self.template(&mut String::new(), template)
    }

    /// Checks the requirements of all dialects on a plan as a whole.
    pub(crate) fn check(&mut self) {
        if self.plan().name.is_empty() {
            self.cannot_express("the plan", "an empty name");
        }
        if self.plan().steps.is_empty() {
            self.cannot_express("the plan", "no steps");
        }
    }

    /// Reports each input, as this dialect has no inputs.
    pub(crate) fn no_inputs(&mut self) {
        for input in &self.plan().inputs {
            let place = format!("input `{}`", input.name);
            self.cannot_express(place, "a plan of this dialect has no inputs");
        }
    }

    /// Writes all steps of the plan.
    pub(crate) fn steps(&mut self) -> OutputJson<'p> {
        self.roles();
        let steps = 0..self.scope.plan.steps.len();
        let steps = steps.map(|index| OutputJson::Object(self.step(index)));
        OutputJson::List(steps.collect())
    }

    /// Writes a step of the current plan or block.
    fn step(&mut self, index: usize) -> OutputMembers<'p> {
        let step = &self.scope.plan.steps[index];
        self.begin(index);
        self.id(index);
        let mut to = OutputMembers::default();
        let around = self.around.last();
        let around = around.and_then(|scope| Some(&*scope.plan.steps.get(scope.current?)?.id));
        let is_default = |id: fn(usize, Option<&str>) -> String| step.id == id(index, around);
        if !self.form.layout.id.is_some_and(is_default) {
            to.add("id", step.id.as_str().into());
        }
        to.text("intent", &step.intent);
        self.role(&mut to, step.role);
        self.body(&mut to, &step.body, true);
        let known = (self.form.known)(&step.policy);
        let policy = self.policy(step, &known);
        let order = (self.form.order)(self, index, &known);
        to.extend(order);
        if !policy.is_empty() {
            to.add(members::POLICY, OutputJson::Object(policy));
        }
        let is_loop = matches!(step.body, Body::Loop(_));
        if is_loop && step.policy.at_most.is_none() && step.policy.gives(Amount::AtMost).is_none() {
            self.cannot_express(self.here(), "a `loop` without a bound");
        }
        self.scope.current = None;
        to
    }

    /// Reports the errors about roles, which no reader accepts.
    fn roles(&mut self) {
        for mistake in self.scope.plan.role_mistakes(Origin::Written) {
            self.scope.current = mistake.step;
            self.cannot_express(self.here(), format!("that it {}", mistake.message));
        }
        self.scope.current = None;
    }

    /// Begins with a step.
    fn begin(&mut self, index: usize) {
        self.scope.current = Some(index);
    }

    /// Reports an error in the ID of a step.
    fn id(&mut self, index: usize) {
        let id = self.scope.plan.steps[index].id.as_str();
        if id.trim().is_empty() {
            let number = index + 1;
            let place = if self.around.is_empty() {
                format!("step {number}")
            } else {
                self.here()
            };
            self.cannot_express(place, "an empty id");
        }
        if self.scope.ids.get(id) != Some(&index) {
            self.cannot_express(self.here(), "the id of another step");
        }
        if self.around.is_empty() || id == Block::TAIL {
            return;
        }
        let is_taken =
            |scope: &Scope<'_>| scope.ids.contains_key(id) || scope.inputs.contains_key(id);
        if self.scope.inputs.contains_key(id) || self.around.iter().any(is_taken) {
            let construct = "a step in a block with the name of something around it";
            self.cannot_express(self.here(), construct);
        }
    }

    /// Writes the steps that a step waits for, by their IDs.
    pub(crate) fn after(&mut self, index: usize) -> OutputMembers<'p> {
        let (plan, mut to) = (self.scope.plan, OutputMembers::default());
        let after = plan.steps[index].only_after().into_iter();
        let ids = after.filter_map(|after| self.known_id(after));
        let ids: Vec<&str> = ids.collect();
        if !ids.is_empty() {
            let ids = ids.into_iter().map(OutputJson::from);
            to.add(members::AFTER, OutputJson::List(ids.collect()));
        }
        to
    }

    /// Returns the ID of a step, if it is unique.
    fn known_id(&mut self, step: usize) -> Option<&'p str> {
        let Some(found) = self.scope.plan.steps.get(step) else {
            self.cannot_express(self.here(), "a step that does not exist");
            return None;
        };
        let id = found.id.as_str();
        (self.scope.ids.get(id) == Some(&step)).then_some(id)
    }

    /// Writes the role of the step.
    fn role(&mut self, to: &mut OutputMembers<'p>, role: Role) {
        match role {
            Role::Work => {}
            Role::Undo(undone) if !self.form.layout.by_place => {
                if let Some(id) = self.known_id(undone) {
                    to.add(members::UNDO, id.into());
                }
            }
            Role::Undo(undone) if self.is_later(undone) => {
                let step = self.scope.plan.steps.get(undone);
                let id = step.map_or("", |step| &step.id);
                let construct = format!("that it undoes `{id}`, which does not come earlier");
                self.cannot_express(self.here(), construct);
            }
            Role::Undo(undone) => to.add(members::UNDO, undone.into()),
            Role::Always => to.add(members::ALWAYS, OutputJson::Bool(true)),
        }
    }

    /// Arguments: an object, or a reference to one.
    pub(crate) fn arguments(&mut self, args: &Template) -> OutputJson<'p> {
        let args = args.plain();
        self.part = Part::Arguments;
        if !matches!(args, Template::Object(_) | Template::Reference(_)) {
            let place = self.at("");
            self.cannot_express(place, format!("`{args}`, which is not an object"));
            return OutputJson::Null;
        }
        self.template(&mut String::new(), &args)
    }

    /// Adds the output, if a reader would derive another one.
    pub(crate) fn output(&mut self, top: &mut OutputMembers<'p>) {
        let Output { type_name, value } = &self.plan().output;
        let default = steps::all_outputs(&self.plan().steps);
        if type_name.is_empty() && *value == default.value {
            return;
        }
        top.text("output_type", type_name);
        let json = self.template(&mut String::new(), &value.plain());
        top.add("output", json);
    }

    /// Returns the steps whose outputs form the plan's output, if the output consists of nothing else.
    pub(crate) fn output_steps(&self) -> Option<Vec<&'p str>> {
        let Output { type_name, value } = &self.plan().output;
        let Template::Object(entries) = value.plain() else {
            return None;
        };
        let (mut ids, mut seen) = (Vec::new(), HashSet::new());
        for entry in &entries {
            let (Key::Name(name), Template::Reference(reference)) = (&entry.key, &entry.value)
            else {
                return None;
            };
            let (id, &index) = self.scope.ids.get_key_value(name.as_str())?;
            let is_step = reference.source == crate::plan::Source::Step(index);
            if !is_step || !reference.is_whole() || !seen.insert(index) {
                return None;
            }
            ids.push(*id);
        }
        (type_name.is_empty() && !ids.is_empty()).then_some(ids)
    }
}
