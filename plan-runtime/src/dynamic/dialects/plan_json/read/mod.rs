//! The reader of plan JSON, the serde format of [`Plan`], which reports all errors with their positions.

mod plain;
mod reference;
mod step;
mod template;

use crate::Plan;
use crate::dynamic::dialects::reading::foreign;
use crate::dynamic::dialects::reading::{
    Members, PlanReader, Syntax, body, counts, names::OwnStep, names::RENAME, names::own_step,
    policy, steps,
};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::{self, input, output, plan};
use crate::plan::{Action, Input, Output, Step, Template};
use crate::print::short;
use std::ops::Range;

/// The notation of steps and values in plan JSON.
pub(super) struct PlanJson;

impl Syntax for PlanJson {
    fn document(&self, reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Plan> {
        let top = reader.object(node, "a plan", plan::ALL)?;
        let name = reader.required(&top, plan::NAME, "the plan", "the name of the plan");
        let description =
            reader.optional_text(&top, plan::DESCRIPTION, "the description of the plan");
        let inputs = inputs(reader, &top);
        let untyped = inputs.iter().enumerate();
        let untyped = untyped.filter(|(_, input)| input.type_name.is_empty());
        reader.here.spans.untyped = untyped.map(|(place, _)| place).collect();
        let nodes = reader.list(&top, plan::STEPS, "`steps`");
        if !counts::steps_fit(reader, &nodes) {
            return None;
        }
        reader.declare_steps(&nodes);
        let steps = reader.steps(&nodes);
        let output = read_output(reader, &top);
        Some(Plan {
            name: name.unwrap_or_default(),
            description: description.into(),
            inputs,
            steps,
            output,
        })
    }

    fn default_id(&self, _: &PlanReader, _: usize) -> Option<String> {
        None
    }

    fn step(
        &self,
        reader: &mut PlanReader,
        index: usize,
        mut members: Members<'_>,
        step: &mut Step,
    ) {
        reader.only(&mut members, "a step", names::step::ALL);
        steps::purpose(reader, &members, step);
        step.body = body::body(reader, &members, "the step", reader.here.depth);
        step.after = body::after(reader, index, &members);
        policy::policy_of(reader, index, &members, step);
        body::check_bound(reader, &members, step);
    }

    fn lists(&self) -> &'static [&'static str] {
        &[plan::STEPS]
    }

    fn body(&self) -> &'static [&'static str] {
        names::BODY
    }

    fn arguments(&self) -> &'static str {
        names::step::ARGUMENTS
    }

    fn tool_form(&self) -> &'static str {
        r#"name the tool: `"tool": {"name": "send"}`"#
    }

    fn call(&self, reader: &mut PlanReader, members: &Members<'_>) -> Action {
        step::call(reader, members)
    }

    fn string(&self, reader: &mut PlanReader, node: JsonNode<'_>, _: usize) -> Option<Template> {
        let text = reader.text(node, "a value")?;
        foreign::foreign(reader, &text, &Default::default());
        Some(Template::String(text.value.into_owned()))
    }

    fn object(
        &self,
        reader: &mut PlanReader,
        node: JsonNode<'_>,
        depth: usize,
    ) -> Option<Template> {
        template::wrapped(reader, node, depth)
    }

    /// Returns `true` for an object, which is the form of a template.
    fn gives(&self, _: &PlanReader, node: JsonNode<'_>) -> bool {
        node.kind() == JsonType::Object
    }

    fn own_step(&self, reader: &mut PlanReader, node: JsonNode<'_>, of: OwnStep) -> Option<usize> {
        let name = reader.text(node, of.words())?;
        own_step(reader, (&name.value, of), node.place())
    }

    fn after(&self) -> (&'static str, JsonType) {
        (names::step::AFTER, JsonType::String)
    }
}

fn inputs(reader: &mut PlanReader, top: &Members<'_>) -> Vec<Input> {
    let mut inputs = Vec::new();
    for node in reader.list(top, plan::INPUTS, "`inputs`") {
        if !reader.count(counts::VALUES_OF_STEP, node.place()) {
            break;
        }
        counts::count_input(reader, inputs.len(), node.place());
        if reader.is_over() {
            break;
        }
        let Some(members) = reader.object(node, "an input", input::ALL) else {
            continue;
        };
        let name = reader.required_name(&members, "the input", "the name of an input");
        let name = name.unwrap_or_default();
        reader.name_fits(&name, "the name of an input", node.place());
        if let Some(node) = members.given(input::NAME) {
            declare(reader, inputs.len(), &name, node.place());
        }
        inputs.push(Input {
            secrets: body::secrets(reader, &members, input::SECRETS),
            ..reader.input(&members, name)
        });
    }
    inputs
}

fn declare(reader: &mut PlanReader, index: usize, name: &str, place: Range<usize>) {
    if let Some((_, first)) = reader.here.names.get(name) {
        let message = format!("two inputs have the name `{}`", short(name));
        let note = Note::error(Code::DuplicateId, place, message);
        let note = note.related(first.clone(), "the first one is here");
        return reader.note(note.help(RENAME));
    }
    reader.here.names.insert(name.to_owned(), (index, place));
    reader.input_names.insert(name.into(), Some(index));
}

fn read_output(reader: &mut PlanReader, top: &Members<'_>) -> Output {
    let members = top
        .given(plan::OUTPUT)
        .and_then(|node| reader.object(node, "`output`", output::ALL));
    let Some(members) = members else {
        return Output::new(Template::Null);
    };
    let type_name = reader.optional_text(&members, output::TYPE, "the type of the output");
    let value = members.get(output::VALUE).map(|node| {
        reader.here.spans.output = Some(reader.here.spans.templates.len());
        reader.template(node, None, 0)
    });
    Output {
        type_name: type_name.into(),
        value: value.unwrap_or(Template::Null),
    }
}
