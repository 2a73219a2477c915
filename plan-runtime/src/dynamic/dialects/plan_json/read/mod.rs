//! The reader of plan JSON, the serde format of [`Plan`], which reports all errors with their positions.

mod plain;
mod reference;
mod step;
mod template;

use crate::Plan;
use crate::dynamic::dialects::reading::foreign;
use crate::dynamic::dialects::reading::{
    Members, PlanReader, Syntax, body, counts, inputs, names::OwnStep, names::own_step, policy,
    steps,
};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::{self, input, output, plan};
use crate::plan::{Action, Output, Step, Template};

/// The notation of steps and values in plan JSON.
pub(super) struct PlanJson;

impl Syntax for PlanJson {
    fn document(&self, reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Plan> {
        let top = reader.object(node, "a plan", plan::ALL)?;
        let name = reader.required(&top, plan::NAME, "the plan", "the name of the plan");
        let description =
            reader.optional_text(&top, plan::DESCRIPTION, "the description of the plan");
        let nodes = reader.list(&top, plan::INPUTS, "`inputs`");
        inputs::declared(reader, nodes, input::ALL);
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
            inputs: std::mem::take(&mut reader.inputs),
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
        reader.only(&mut members, ("a step", names::step::ALL), false);
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
        let name = reader.text(node, &of.words(reader))?;
        own_step(reader, (&name.value, of), node.place())
    }

    fn after(&self) -> (&'static str, JsonType) {
        (names::step::AFTER, JsonType::String)
    }
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
