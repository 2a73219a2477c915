//! The three string dialects: a list of steps, each with one tool or with members of plan JSON instead.

use super::layout::Layout;
use super::lookup::names_differ;
use super::steps::{self, found_tool};
use super::{
    Members, PlanReader, Syntax, body, counts, extensions, inputs, names, policy, strings, test,
    wrong_kind,
};
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::{WITHOUT_ARGUMENTS, step as members};
use crate::plan::{
    Action, Body, Entry, Key, Output, Plan, Reference, Role, Source, Step, Template, ToolInfo,
};
use crate::print::short;
use std::sync::Arc;

impl Syntax for Layout {
    fn document(&self, reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Plan> {
        let (top, list) = if self.may_be_list && node.kind() == JsonType::List {
            let list = Vec::new();
            (Members { node, list }, node)
        } else {
            let mut top = reader.members(node, self.document)?;
            reader.only(&mut top, (self.document, self.top), true);
            let Some(list) = self.steps.iter().find_map(|name| top.get(name)) else {
                let (message, help) = self.no_steps;
                return reader.fail(Code::MissingMember, node.place(), message, help);
            };
            (top, list)
        };
        let mut nodes = reader.items(list, &format!("`{}`", self.steps[0]))?;
        let name = reader.optional_text(&top, self.name.0, self.name.1);
        let what = "the description of a plan";
        let description = reader.optional_text(&top, "description", what);
        if nodes.is_empty() {
            let help = "add a step for each call that has to be made";
            let message = "the plan has no steps";
            reader.report(Code::NoSteps, list.place(), message, help);
        }
        if !counts::steps_fit(reader, &nodes) {
            nodes.clear();
        }
        let arguments = |(key, _): (JsonNode<'_>, JsonNode<'_>)| {
            let name = key.text().ok()?.value;
            (name == self.arguments()).then(|| key.place())
        };
        let mut steps = nodes.iter().filter(|it| it.kind() == JsonType::Object);
        reader.shows = steps.find_map(|step| step.members().find_map(arguments));
        reader.declare_steps(&nodes);
        if let Some(list) = top.given("inputs") {
            (self.inputs)(reader, list);
        }
        let steps = reader.steps(&nodes);
        let output = match output(reader, &top) {
            Some(output) => output,
            None => (self.output)(reader, &top, &steps),
        };
        let plan = Plan {
            name,
            description: description.into(),
            inputs: std::mem::take(&mut reader.inputs),
            steps,
            output,
        };
        names_differ(reader, &plan);
        Some(plan)
    }

    fn default_id(&self, reader: &PlanReader, index: usize) -> Option<String> {
        let around = reader.around.last().and_then(|it| it.current.as_ref());
        self.id.map(|id| id(index, around.map(|(_, id)| &**id)))
    }

    fn step(&self, reader: &mut PlanReader, index: usize, given: Members<'_>, step: &mut Step) {
        let (given, is_meant) = extensions::known(reader, given, self);
        steps::purpose(reader, &given, step);
        step.body = if given.has(WITHOUT_ARGUMENTS) {
            body::body(reader, &given, "the step", reader.here.depth)
        } else if is_meant && given.given(members::TOOL).is_none() {
            reader.broken_body()
        } else {
            Body::Action(self.call_of_step(reader, index, &given))
        };
        (self.own_policy)(reader, &given, step);
        step.after = body::after(reader, index, &given);
        policy::policy_of(reader, index, &given, step);
        body::check_bound(reader, &given, step);
        step.after = step.only_after();
    }

    fn lists(&self) -> &'static [&'static str] {
        self.steps
    }

    fn outputs(&self) -> &'static str {
        self.outputs
    }

    fn body(&self) -> &'static [&'static str] {
        self.body
    }

    fn arguments(&self) -> &'static str {
        self.body[1]
    }

    fn tool_form(&self) -> &'static str {
        r#"name the tool: `"tool": "send"`"#
    }

    fn call(&self, reader: &mut PlanReader, members: &Members<'_>) -> Action {
        let tool = members.given(members::TOOL).and_then(|node| {
            let tool = tool(reader, node, members);
            found_tool(reader, tool, node.place())
        });
        let args = (self.arguments)(reader, members);
        Action { tool, args }
    }

    fn string(&self, reader: &mut PlanReader, node: JsonNode<'_>, at: usize) -> Option<Template> {
        strings::string(reader, node, at)
    }

    fn object(
        &self,
        reader: &mut PlanReader,
        node: JsonNode<'_>,
        depth: usize,
    ) -> Option<Template> {
        Some(strings::object(reader, node, depth))
    }

    /// Reads a condition. In contrast to a value, an object here is a test.
    fn test(&self, reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Template {
        match node.kind() {
            JsonType::Object => test::test_object(reader, node, depth),
            _ => reader.template(node, None, depth),
        }
    }

    /// Returns `true` for the forms of a template: an object, or a string that contains a reference.
    fn gives(&self, reader: &PlanReader, node: JsonNode<'_>) -> bool {
        match node.kind() {
            JsonType::Object => true,
            JsonType::String => {
                let text = node.text();
                text.is_ok_and(|text| strings::refers(reader, &text.value))
            }
            _ => false,
        }
    }

    fn own_step(
        &self,
        reader: &mut PlanReader,
        node: JsonNode<'_>,
        of: names::OwnStep,
    ) -> Option<usize> {
        if !self.names_steps() {
            let index = reader.value(node, &of.words(reader), "the index of a step")?;
            return inputs::indexed(reader, index, Some(of), node.place());
        }
        let name = reader.text(node, &of.words(reader))?;
        names::own_step(reader, (&name.value, of), node.place())
    }

    fn policy(&self) -> &'static policy::Own {
        self.policy
    }

    fn after(&self) -> (&'static str, JsonType) {
        self.after
    }
}

impl Layout {
    /// Reads the call of a step.
    fn call_of_step(&self, reader: &mut PlanReader, index: usize, given: &Members<'_>) -> Action {
        if given.given(members::TOOL).is_none() {
            let spans = &mut reader.here.spans.steps[index];
            spans.broken = true;
            let (place, message) = (spans.whole.range(), "the step names no `tool`");
            reader.report(Code::MissingMember, place, message, self.tool_form());
        }
        self.call(reader, given)
    }
}

/// Reads the tool of a call.
fn tool(reader: &mut PlanReader, node: JsonNode<'_>, given: &Members<'_>) -> Option<Arc<ToolInfo>> {
    let members = (node.kind() == JsonType::Object).then(|| Members::split(node, &mut |_| {}));
    if let Some(name) = members.and_then(|it| it.given("name")) {
        let help = format!("write `\"tool\": {}`", short(name.slice()));
        return reader.error(wrong_kind(node, "`tool`", "a string").help(help));
    }
    let name = reader.text(node, "`tool`")?.value;
    if name.trim().is_empty() {
        let help = "write the name of the tool that the step calls";
        let message = "the name of the tool is empty";
        return reader.fail(Code::EmptyName, node.place(), message, help);
    }
    let what = "the description of a tool";
    let description = reader.optional_text(given, "tool_description", what);
    steps::tool(
        reader,
        (&name, node.place()),
        description,
        Default::default(),
    )
}

/// Arguments under their name in the dialect; a tool without any may leave them out.
pub(crate) fn arguments(reader: &mut PlanReader, members: &Members<'_>) -> Template {
    let Some(node) = members.given(reader.rules.syntax.arguments()) else {
        reader.place(members.node.place(), None);
        return Template::Object(Vec::new());
    };
    match node.kind() {
        JsonType::Object => reader.template(node, None, 0),
        _ => whole(reader, node),
    }
}

/// Arguments that are a reference to an object.
pub(crate) fn whole(reader: &mut PlanReader, node: JsonNode<'_>) -> Template {
    let at = reader.here.spans.templates.len();
    let errors = reader.notes.errors();
    let template = reader.template(node, None, 0);
    let is_reported = reader.notes.errors() > errors;
    if matches!(template, Template::Reference(_)) || is_reported {
        return template;
    }
    let what = format!("`{}`", reader.rules.syntax.arguments());
    let help = "write an object with the names of the arguments, or one reference to an object";
    reader.note(wrong_kind(node, &what, "an object").help(help));
    reader.broken(at)
}

/// Returns an object with the outputs of all steps that a plan's output can refer to.
pub(crate) fn all_outputs(steps: &[Step]) -> Output {
    let all = steps.iter().enumerate();
    let work = all.filter(|(_, step)| step.role == Role::Work);
    outputs(steps, work.map(|(index, _)| index))
}

/// Returns an object with the outputs of these steps, under the steps' IDs.
pub(crate) fn outputs(steps: &[Step], chosen: impl IntoIterator<Item = usize>) -> Output {
    let entry = |index: usize| {
        let id = &steps.get(index)?.id;
        let whole = Reference::new(Source::Step(index));
        let written = crate::plan::written(id, whole.path());
        let value = Template::Reference(whole.said(written, Some(id)));
        Some(Entry::new(Key::Name(id.clone()), value))
    };
    let entries: Vec<Entry> = chosen.into_iter().filter_map(entry).collect();
    Output::new(Template::Object(entries))
}

/// Reads the output of a document from a template, in a member that the original systems do not have.
fn output(reader: &mut PlanReader, top: &Members<'_>) -> Option<Output> {
    let what = "the type of the output";
    let type_name = reader.optional_text(top, "output_type", what);
    let node = top.get("output")?;
    reader.here.spans.output = Some(reader.here.spans.templates.len());
    Some(Output {
        type_name: type_name.into(),
        value: reader.template(node, None, 0),
    })
}
