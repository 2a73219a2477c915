//! The reader of plan JSON, the serde format of [`Plan`], which reports all errors with their positions.

mod reference;
mod step;
mod template;

use crate::Plan;
use crate::dynamic::dialects::reading::{
    IdKind, Members, PlanBuilder, PlanReader, Syntax, VALUES_OF_STEP,
};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::{self, input, output, plan};
use crate::plan::{Action, Input, Output, Step, Template};
use crate::print::short;
use crate::shape::Secrets;
use std::ops::Range;

pub(super) fn read(builder: &mut PlanBuilder, node: JsonNode<'_>) -> Option<Plan> {
    PlanReader::new(builder, &PlanJson).plan(node)
}

/// The notation of steps and values in plan JSON.
pub(super) struct PlanJson;

impl Syntax for PlanJson {
    fn declare(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) {
        reader.declare_step(index, node);
    }

    fn step(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) -> Step {
        reader.read_step(index, node)
    }

    fn default_id(&self, _: &PlanReader<'_>, index: usize) -> Option<String> {
        Some(format!("step{index}"))
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

    fn call(&self, reader: &mut PlanReader<'_>, members: &Members<'_>) -> Action {
        reader.call(members)
    }

    fn template(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        reader.object_template(node, key, depth)
    }

    /// Returns `true` for an object, which is the form of a template.
    fn gives(&self, _: &PlanReader<'_>, node: JsonNode<'_>) -> bool {
        node.kind() == JsonType::Object
    }

    fn own_step(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        what: &str,
    ) -> Option<usize> {
        let name = reader.builder.text(node, what)?;
        reader.own_step_named(&name.value, node.place())
    }

    fn names_steps(&self) -> bool {
        true
    }
}

/// Returns the value of a step's `id`.
fn id(step: JsonNode<'_>) -> Option<JsonNode<'_>> {
    let is_id = |key: &JsonNode<'_>| key.text().is_ok_and(|text| text.value == names::step::ID);
    step.members().find(|(key, _)| is_id(key)).map(|(_, id)| id)
}

impl PlanReader<'_> {
    fn plan(&mut self, node: JsonNode<'_>) -> Option<Plan> {
        let top = self.object(node, "a plan", plan::ALL)?;
        let name = self.required(&top, plan::NAME, "the plan", "the name of the plan");
        let description = self.text(&top, plan::DESCRIPTION, "the description of the plan");
        let inputs = self.inputs(&top);
        let untyped = inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| input.type_name.is_empty());
        self.builder.spans.untyped = untyped.map(|(place, _)| place).collect();
        let nodes = self.list(&top, plan::STEPS, "`steps`");
        if !self.builder.counted(&nodes) {
            return None;
        }
        self.declare_steps(&nodes);
        let steps = self.steps(&nodes);
        let output = self.output(&top);
        Some(Plan {
            name: name.unwrap_or_default(),
            description: description.into(),
            inputs,
            steps,
            output,
        })
    }

    fn inputs(&mut self, top: &Members<'_>) -> Vec<Input> {
        let mut inputs = Vec::new();
        for node in self.list(top, plan::INPUTS, "`inputs`") {
            if !self.builder.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            self.builder.count_input(inputs.len(), node.place());
            if self.builder.is_over() {
                break;
            }
            let Some(members) = self.object(node, "an input", input::ALL) else {
                continue;
            };
            let name = self.required(&members, input::NAME, "the input", "the name of an input");
            let type_name = self.text(&members, input::TYPE, "the type of an input");
            let name = name.unwrap_or_default();
            for (name, what) in [(&name, "the name"), (&type_name, "the type")] {
                let what = format!("{what} of an input");
                self.builder.name_fits(name, &what, node.place());
            }
            let input = Input {
                name,
                type_name: type_name.into(),
                description: self
                    .text(&members, input::DESCRIPTION, "the description of an input")
                    .into(),
                secrets: self.secrets(&members, input::SECRETS),
                is_guessed: false,
            };
            if let Some(node) = members.given(input::NAME) {
                self.declare(inputs.len(), &input.name, node.place());
            }
            inputs.push(input);
        }
        inputs
    }

    fn declare(&mut self, index: usize, name: &str, place: Range<usize>) {
        let IdKind::InPlan(inputs) = &mut self.names else {
            return;
        };
        if let Some((_, first)) = inputs.get(name) {
            let first = first.clone();
            let message = format!("two inputs have the name `{}`", short(name));
            self.builder.note(
                Note::error(Code::DuplicateId, place, message)
                    .related(first, "the first one is here")
                    .help("a reference could mean either, so rename one of them".to_owned()),
            );
            return;
        }
        inputs.insert(name.to_owned(), (index, place));
        self.builder.input_names.insert(name.into(), Some(index));
    }

    /// Makes a step known by its id.
    fn declare_step(&mut self, index: usize, node: JsonNode<'_>) {
        self.builder.spans.steps.push(StepSpans::of(node.place()));
        let Some(id) = id(node) else { return };
        if !self.builder.declare_as(index, id) {
            self.builder.spans.steps[index].broken = true;
            return;
        }
        let name = self.builder.declared(id);
        if self.is_no_input(&name, id.place()) {
            self.is_new(&name, id.place());
        }
    }

    fn output(&mut self, top: &Members<'_>) -> Output {
        let members = top
            .given(plan::OUTPUT)
            .and_then(|node| self.object(node, "`output`", output::ALL));
        let Some(members) = members else {
            return Output {
                type_name: "".into(),
                value: Template::Null,
            };
        };
        let type_name = self
            .text(&members, output::TYPE, "the type of the output")
            .into();
        let value = match members.get(output::VALUE) {
            Some(node) => {
                self.builder.spans.output = Some(self.builder.spans.templates.len());
                self.template(node, None, 0)
            }
            None => Template::Null,
        };
        Output { type_name, value }
    }

    /// Reads a literal string.
    fn literal(&mut self, node: JsonNode<'_>, what: &str) -> Option<String> {
        let text = self.builder.text(node, what)?;
        #[cfg(feature = "dynamic")]
        self.foreign(&text, &Default::default());
        Some(text.value.into_owned())
    }

    /// Reads the optional pointers to secrets.
    fn secrets(&mut self, members: &Members<'_>, name: &str) -> Secrets {
        let mut pointers = Vec::new();
        for node in self.list(members, name, &format!("`{name}`")) {
            let text = self.builder.text(node, "a pointer to a secret");
            pointers.extend(text.map(|text| text.value.into_owned()));
        }
        pointers.into_iter().collect()
    }
}
