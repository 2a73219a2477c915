//! A plan as an action plan.

use super::scan;
use crate::Plan;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::dialects::writing::json::{OutputJson, OutputMembers};
use crate::dynamic::dialects::writing::strings::leads_to_nothing;
use crate::dynamic::dialects::writing::{StepForm, Writer};
use crate::dynamic::{Dialect, Unsupported};
use crate::plan::{Input, Policy, Reference, Source, Template};
use std::collections::HashSet;

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let form = StepForm {
        layout: &super::read::LAYOUT,
        known: |_| Policy::DEFAULT,
        order: |writer, index, _| writer.after(index),
    };
    let mut writer = Writer::new(Dialect::ActionPlan, plan, target, form);
    let json = document(&mut writer);
    writer.finish(&json)
}

fn document<'p>(writer: &mut Writer<'p>) -> OutputJson<'p> {
    writer.check();
    let plan = writer.plan();
    let mut top = OutputMembers::default();
    if plan.name != "plan" {
        top.text("name", &plan.name);
    }
    top.text("description", &plan.description);
    check(writer);
    if let Some(inputs) = inputs(writer) {
        top.add("inputs", inputs);
    }
    let steps = writer.steps();
    let mut after = OutputMembers::default();
    writer.output(&mut after);
    if top.is_empty() && after.is_empty() {
        return steps;
    }
    top.add("plan", steps);
    top.extend(after);
    OutputJson::Object(top)
}

/// Returns the member `inputs`, if a reader could not derive it from the references.
fn inputs<'p>(writer: &mut Writer<'p>) -> Option<OutputJson<'p>> {
    let plan = writer.plan();
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut find = |template: &Template| {
        for read in template.references() {
            if let Source::Input(input) = read.reference.source
                && seen.insert(input)
            {
                found.push(input);
            }
        }
    };
    for step in &plan.steps {
        step.templates(&mut |_, template| find(template));
    }
    // A plan without a written output reads no inputs in the output.
    find(&plan.output.value);
    let is_said = |input: &Input| input.type_name == "String" && input.description.is_empty();
    let in_order = found.iter().copied().eq(0..plan.inputs.len());
    if in_order && plan.inputs.iter().all(is_said) {
        return None;
    }
    let written = plan.inputs.iter().map(|input| {
        let mut members = OutputMembers::default();
        members.add("name", input.name.as_str().into());
        members.text("type", &input.type_name);
        members.text("description", &input.description);
        OutputJson::Object(members)
    });
    Some(OutputJson::List(written.collect()))
}

/// Reports the names that an input cannot have.
fn check(writer: &mut Writer<'_>) {
    let inputs = &writer.plan().inputs;
    for (index, input) in inputs.iter().enumerate() {
        if input.name.trim().is_empty() {
            writer.cannot_express(format!("input {}", index + 1), "an empty name");
        }
        if writer.scope.inputs.get(input.name.as_str()) != Some(&index) {
            let place = format!("input `{}`", input.name);
            writer.cannot_express(place, "the name of another input");
        }
    }
}

/// Writes an input by its name, or a step by its ID.
fn target<'w>(
    writer: &'w Writer<'_>,
    reference: &Reference,
) -> Result<ReferenceTarget<'w>, Option<String>> {
    match reference.source {
        Source::Input(input) => {
            if !reference.path.is_empty() {
                return Err(Some(format!("the path `{reference}` into an input")));
            }
            let inputs = &writer.plan().inputs;
            let given = inputs
                .get(input)
                .ok_or_else(|| leads_to_nothing(reference))?;
            let first = writer.scope.inputs.get(given.name.as_str());
            if given.name.is_empty() || first != Some(&input) {
                return Err(None);
            }
            Ok(ReferenceTarget::Input(&given.name))
        }
        Source::Step(step) => {
            let id = writer.id_of(step, reference)?;
            if scan::is_input(id) {
                return Err(Some(format!(
                    "a reference to `{id}`, which has the name of an input"
                )));
            }
            Ok(ReferenceTarget::Step(step, id))
        }
        Source::Local(_) => Err(None),
    }
}
