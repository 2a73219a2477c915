//! The parts that the three dialects of strings share: a list of steps, each with one tool or with members of plan JSON instead.

use super::extensions;
pub(crate) use super::layout::Layout;
use super::{Members, PlanBuilder, PlanReader, Syntax, nothing, wrong_kind};
use crate::dynamic::Dialect;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::step as members;
use crate::plan::{
    Action, Body, Entry, Key, Output, Plan, Policy, Reference, Role, Source as From, Step,
    Template, ToolInfo,
};
use std::sync::Arc;

impl Syntax for Layout {
    /// Reads the part of a step that references need: its ID.
    fn declare(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) {
        let default = self.default_id(reader, index);
        let builder = &mut *reader.builder;
        builder.spans.steps.push(StepSpans::of(node.place()));
        builder.current = Some((index, "".into()));
        let members = builder.members(node, "a step");
        builder.spans.steps[index].broken = members.is_none();
        let dialects = [builder.dialect].into_iter().chain(Dialect::ALL);
        let mut names = dialects.map(|dialect| dialect.rules().arguments);
        if let Some(member) = names.find_map(|name| members.as_ref()?.member(name)) {
            builder.shown_by(member.key.place());
        }
        let new = match (members.as_ref().and_then(|it| it.get("id")), default) {
            (Some(given), _) => {
                builder.declare_as(index, given);
                Some((builder.declared(given), given.place()))
            }
            (None, Some(default)) => {
                builder.declare(index, &default, node.place());
                Some((default, node.place()))
            }
            (None, None) if members.is_some() => {
                let message = "the step has no `id`";
                let help = r#"give it a name that references can use: `"id": "find_john"`"#;
                let note = Note::error(Code::MissingMember, node.place(), message);
                builder.note(note.help(help.to_owned()));
                None
            }
            (None, None) => None,
        };
        builder.current = None;
        if let Some((id, place)) = new
            && reader.is_no_input(&id, place.clone())
        {
            reader.is_new(&id, place);
        }
    }

    /// Reads a step. Errors in its ID and its names were reported at its declaration.
    fn step(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) -> Step {
        let given = match node.kind() {
            JsonType::Object => Some(Members::split(node, &mut |_| {})),
            _ => None,
        };
        let id = match given.as_ref().and_then(|it| it.get("id")) {
            Some(given) => reader.builder.declared(given),
            None => self.default_id(reader, index).unwrap_or_default(),
        };
        reader.builder.current = Some((index, id.as_str().into()));
        reader.builder.spans.begin_templates(index);
        let mut step = Step {
            id,
            intent: "".into(),
            role: Role::Work,
            body: nothing(),
            after: Vec::new(),
            policy: Policy::shared(),
        };
        let Some(given) = given else {
            return step;
        };
        let (given, is_meant) = extensions::known(reader, given, self);
        let what = "the intent of a step";
        let intent = reader.builder.optional_text(&given, "intent", what);
        step.intent = intent.into();
        step.role = reader.role(&given);
        step.body = if given.has(extensions::BODIES) {
            reader.body(&given, "the step", reader.depth)
        } else if is_meant && given.given(members::TOOL).is_none() {
            reader.broken_body()
        } else {
            Body::Action(self.call_of_step(reader, index, &given))
        };
        (self.order)(reader, index, &given, &mut step);
        if !self.by_place {
            step.after = reader.after(index, &given);
        }
        reader.policy_of(index, &given, &mut step, self.policy);
        reader.check_bound(&given, &step);
        step.after = step.only_after();
        step
    }

    fn default_id(&self, reader: &PlanReader<'_>, index: usize) -> Option<String> {
        let around = reader.builder.around_id();
        self.id.map(|id| id(index, around.map(|id| &**id)))
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

    fn call(&self, reader: &mut PlanReader<'_>, members: &Members<'_>) -> Action {
        let tool = members
            .given(members::TOOL)
            .and_then(|node| tool(reader.builder, node, members));
        let args = (self.arguments)(reader, members);
        Action { tool, args }
    }

    fn template(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        reader.string_template(node, key, depth)
    }

    /// Reads a condition. In contrast to a value, an object here is a test.
    fn test(&self, reader: &mut PlanReader<'_>, node: JsonNode<'_>, depth: usize) -> Template {
        match node.kind() {
            JsonType::Object => reader.test_object(node, depth),
            _ => reader.template(node, None, depth),
        }
    }

    /// Returns `true` for the forms of a template: an object, or a string that contains a reference.
    fn gives(&self, reader: &PlanReader<'_>, node: JsonNode<'_>) -> bool {
        match node.kind() {
            JsonType::Object => true,
            JsonType::String => node.text().is_ok_and(|text| {
                text.value.len() <= reader.builder.limits.string && reader.refers(&text.value)
            }),
            _ => false,
        }
    }

    fn own_step(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        what: &str,
    ) -> Option<usize> {
        if self.by_place {
            let index = reader.builder.value(node, what, "the index of a step")?;
            return reader.builder.indexed(index, node.place());
        }
        let name = reader.builder.text(node, what)?;
        reader.own_step_named(&name.value, node.place())
    }

    fn names_steps(&self) -> bool {
        !self.by_place
    }
}

impl Layout {
    /// Reads the call of a step.
    fn call_of_step(
        &self,
        reader: &mut PlanReader<'_>,
        index: usize,
        given: &Members<'_>,
    ) -> Action {
        if given.given(members::TOOL).is_none() {
            let spans = &mut reader.builder.spans.steps[index];
            spans.broken = true;
            let (place, message) = (spans.whole.range(), "the step names no `tool`");
            let note = Note::error(Code::MissingMember, place, message);
            let help = self.tool_form().to_owned();
            reader.builder.note(note.help(help));
        }
        let mut call = self.call(reader, given);
        if given.given(self.arguments()).is_none()
            && other_dialect(reader.builder, given, self.arguments())
        {
            // The arguments were not read.
            let at = reader.builder.spans.templates.len() - 1;
            call.args = reader.builder.broken(at);
        }
        call
    }
}

/// Reads a document.
pub(crate) fn document(
    builder: &mut PlanBuilder,
    node: JsonNode<'_>,
    layout: &'static Layout,
) -> Option<Plan> {
    let (top, list) = if layout.may_be_list && node.kind() == JsonType::List {
        let list = Vec::new();
        (Members { node, list }, node)
    } else {
        let top = builder.members(node, layout.document)?;
        builder.only_known(&top, layout.document, layout.top);
        let Some(list) = layout.steps.iter().find_map(|name| top.get(name)) else {
            let (message, help) = layout.no_steps;
            let note = Note::error(Code::MissingMember, node.place(), message);
            return builder.error(note.help(help.map(str::to_owned)));
        };
        (top, list)
    };
    let mut nodes = builder.items(list, &format!("`{}`", layout.steps[0]))?;
    let name = builder.optional_text(&top, layout.name.0, layout.name.1);
    let description = builder.optional_text(&top, "description", "the description of a plan");
    if nodes.is_empty() {
        let message = "the plan has no steps";
        let help = "add a step for each call that has to be made".to_owned();
        builder.note(Note::error(Code::NoSteps, list.place(), message).help(help));
    }
    if !builder.counted(&nodes) {
        nodes.clear();
    }
    let mut reader = PlanReader::new(builder, layout);
    reader.declare_steps(&nodes);
    if let Some(list) = top.given("inputs") {
        (layout.inputs)(reader.builder, list);
    }
    let steps = reader.steps(&nodes);
    let output = match output(&mut reader, &top) {
        Some(output) => output,
        None => (layout.output)(&mut reader, &top, &steps),
    };
    let plan = Plan {
        name,
        description: description.into(),
        inputs: std::mem::take(&mut builder.inputs),
        steps,
        output,
    };
    builder.names_differ(&plan);
    Some(plan)
}

/// Reads the tool of a call.
fn tool(
    builder: &mut PlanBuilder,
    node: JsonNode<'_>,
    given: &Members<'_>,
) -> Option<Arc<ToolInfo>> {
    let (index, _) = builder.current.as_ref()?;
    let spans = &mut builder.spans.steps[*index];
    // Marked as broken until the step is read.
    let was_broken = std::mem::replace(&mut spans.broken, true);
    // With several tools, the first one counts.
    if spans.tool == spans.whole {
        spans.tool = node.place().into();
    }
    let index = *index;
    let name = builder.text(node, "the tool of a step")?;
    if !builder.name_fits(&name.value, "the name of a tool", node.place()) {
        return None;
    }
    if name.value.trim().is_empty() {
        let message = "the name of the tool is empty";
        let help = "write the name of the tool that the step calls".to_owned();
        let note = Note::error(Code::EmptyName, node.place(), message);
        return builder.error(note.help(help));
    }
    builder.spans.steps[index].broken = was_broken;
    let what = "the description of a tool";
    let description = builder.optional_text(given, "tool_description", what);
    Some(builder.tool(&name.value, description, Default::default()))
}

/// Arguments under their name in the dialect; a tool without any may leave them out.
pub(crate) fn arguments(reader: &mut PlanReader<'_>, members: &Members<'_>) -> Template {
    let Some(node) = members.given(reader.syntax.arguments()) else {
        reader.builder.place(members.node.place(), None);
        return Template::Object(Vec::new());
    };
    match node.kind() {
        JsonType::Object => reader.template(node, None, 0),
        _ => whole(reader, node),
    }
}

/// Arguments that are a reference to an object.
pub(crate) fn whole(reader: &mut PlanReader<'_>, node: JsonNode<'_>) -> Template {
    let at = reader.builder.spans.templates.len();
    let errors = reader.builder.notes.errors();
    let template = reader.template(node, None, 0);
    let is_reported = reader.builder.notes.errors() > errors;
    if matches!(template, Template::Reference(_)) || is_reported {
        return template;
    }
    let what = format!("`{}`", reader.syntax.arguments());
    let help = "write an object with the names of the arguments, or one reference to an object";
    let note = wrong_kind(node, &what, "an object");
    reader.builder.note(note.help(help.to_owned()));
    reader.builder.broken(at)
}

/// Reports arguments under the name that another dialect has for them.
fn other_dialect(builder: &mut PlanBuilder, members: &Members<'_>, name: &str) -> bool {
    let others = Dialect::ALL.iter().map(|other| other.rules().arguments);
    let mut others = others.filter(|other| *other != name);
    let Some(member) = others.find_map(|other| members.member(other)) else {
        return false;
    };
    let message = format!(
        "the arguments of a step are its `{name}`, since the document is {}",
        builder.dialect.rules().document
    );
    let place = member.key.place();
    builder.note(
        Note::error(Code::MixedDialects, place, message)
            .help(format!("call it `{name}`, as in the other steps")),
    );
    true
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
        let id = steps.get(index)?.id.clone();
        Some(Entry {
            key: Key::Name(id.clone()),
            value: Template::Reference({
                let whole = Reference::new(From::Step(index));
                let written = crate::plan::written(&id, whole.path());
                whole.said(written, Some(&id))
            }),
        })
    };
    let entries: Vec<Entry> = chosen.into_iter().filter_map(entry).collect();
    Output {
        type_name: "".into(),
        value: Template::Object(entries),
    }
}

/// Reads the output of a document from a template, in a member that the original systems do not have.
fn output(reader: &mut PlanReader<'_>, top: &Members<'_>) -> Option<Output> {
    let what = "the type of the output";
    let type_name = reader.builder.optional_text(top, "output_type", what);
    let node = top.get("output")?;
    reader.builder.spans.output = Some(reader.builder.spans.templates.len());
    Some(Output {
        type_name: type_name.into(),
        value: reader.template(node, None, 0),
    })
}
