//! What the three dialects of strings have in common: a list of steps, each with one tool.

use super::{Members, PlanBuilder, VALUES_OF_STEP, wrong_kind};
use crate::dynamic::Dialect;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::spans::StepSpans;
use crate::plan::{
    Action, Body, Entry, Key, Output, Plan, Policy, Reference, Role, Source as From, Step,
    Template, ToolInfo,
};
use std::sync::Arc;

/// The members of a dialect, and what is special about them. All of its documents have a list of steps.
pub(crate) struct Layout {
    /// What a document is called if it is an object.
    pub(crate) document: &'static str,
    /// Whether a document may be the list of steps alone.
    pub(crate) may_be_list: bool,
    /// All members of a document.
    pub(crate) top: &'static [&'static str],
    /// Those that may have the list of steps, the usual one first.
    pub(crate) steps: &'static [&'static str],
    /// What is wrong with a document without them, and what helps.
    pub(crate) no_steps: (&'static str, Option<&'static str>),
    /// The member with the name of the plan, and what it is called.
    pub(crate) name: (&'static str, &'static str),
    /// Reads the member `inputs`, if it is one of them.
    pub(crate) inputs: fn(&mut PlanBuilder, JsonNode<'_>),
    /// All members of a step.
    pub(crate) step: &'static [&'static str],
    /// The id of a step that gives none itself.
    pub(crate) id: Option<fn(usize) -> String>,
    /// Reads the arguments of a step.
    pub(crate) arguments: fn(&mut PlanBuilder, usize, &Members<'_>) -> Template,
    /// Reads which steps a step waits for, and its policy, where there are such members.
    pub(crate) order: fn(&mut PlanBuilder, usize, &Members<'_>, &mut Step),
    /// Reads the output of a document that has no template for it.
    pub(crate) output: fn(&mut PlanBuilder, &Members<'_>, &[Step]) -> Output,
}

/// Reads a document.
pub(crate) fn document(
    builder: &mut PlanBuilder,
    node: JsonNode<'_>,
    layout: &Layout,
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
        builder.note(Note::error(Code::NoSteps, list.place(), message));
    }
    if !builder.counted(&nodes) {
        nodes.clear();
    }
    // References may be to later steps, so all ids come first. They are read again with their steps, rather than kept.
    for (index, node) in nodes.iter().enumerate() {
        if !builder.count(VALUES_OF_STEP, node.place()) {
            break;
        }
        head(builder, *node, index, layout.id);
    }
    if let Some(list) = top.given("inputs") {
        (layout.inputs)(builder, list);
    }
    let mut steps = Vec::new();
    if !builder.is_over() {
        steps.reserve_exact(nodes.len());
    }
    for (index, node) in nodes.into_iter().enumerate() {
        if builder.is_over() {
            break;
        }
        steps.push(step(builder, index, node, layout));
    }
    builder.current = None;
    let output = match output(builder, &top) {
        Some(output) => output,
        None => (layout.output)(builder, &top, &steps),
    };
    Some(Plan {
        name,
        description: description.into(),
        inputs: std::mem::take(&mut builder.inputs),
        steps,
        output,
    })
}

/// Reads what comes before the references of a step: its id.
fn head(
    builder: &mut PlanBuilder,
    node: JsonNode<'_>,
    index: usize,
    default: Option<fn(usize) -> String>,
) {
    builder.spans.steps.push(StepSpans::of(node.place()));
    builder.current = Some((index, "".into()));
    let members = builder.members(node, "a step");
    builder.spans.steps[index].broken = members.is_none();
    let dialects = [builder.dialect].into_iter().chain(Dialect::ALL);
    let mut names = dialects.map(|dialect| dialect.rules().arguments);
    if let Some(member) = names.find_map(|name| members.as_ref()?.member(name)) {
        builder.shown_by(member.key.place());
    }
    match (members.as_ref().and_then(|it| it.get("id")), default) {
        (Some(given), _) => drop(builder.declare_as(index, given)),
        (None, Some(default)) => builder.declare(index, &default(index), node.place()),
        (None, None) if members.is_some() => {
            let message = "the step has no `id`";
            let help = r#"give it a name that references can use: `"id": "find_john"`"#;
            let note = Note::error(Code::MissingMember, node.place(), message);
            builder.note(note.help(help.to_owned()));
        }
        (None, None) => {}
    }
    builder.current = None;
}

/// Reads a step. What is wrong with its id and its names was reported with the head.
fn step(builder: &mut PlanBuilder, index: usize, node: JsonNode<'_>, layout: &Layout) -> Step {
    let members = match node.kind() {
        JsonType::Object => Some(Members::split(node, &mut |_| {})),
        _ => None,
    };
    let id = match (members.as_ref().and_then(|it| it.get("id")), layout.id) {
        (Some(given), _) => builder.declared(given),
        (None, Some(default)) => default(index),
        (None, None) => String::new(),
    };
    builder.current = Some((index, id.as_str().into()));
    let mut step = Step {
        id,
        intent: "".into(),
        role: Role::Work,
        body: Body::Action(Action {
            tool: None,
            args: Template::Null,
        }),
        after: Vec::new(),
        policy: Policy::shared(),
    };
    let Some(members) = members else {
        return step;
    };
    builder.only_known(&members, "a step", layout.step);
    let tool = tool(builder, index, &members);
    let intent = builder.optional_text(&members, "intent", "the intent of a step");
    let args = (layout.arguments)(builder, index, &members);
    let reads = args.reads();
    (layout.order)(builder, index, &members, &mut step);
    step.after
        .retain(|step| !reads.contains(&From::Step(*step)));
    step.after.sort_unstable();
    step.after.dedup();
    step.intent = intent.into();
    step.body = Body::Action(Action { tool, args });
    step
}

/// The tool of a step.
fn tool(builder: &mut PlanBuilder, index: usize, members: &Members<'_>) -> Option<Arc<ToolInfo>> {
    let spans = &mut builder.spans.steps[index];
    // Until it is read.
    spans.broken = true;
    let Some(node) = members.given("tool") else {
        let (place, message) = (spans.whole.range(), "the step names no `tool`");
        return builder.error(Note::error(Code::MissingMember, place, message));
    };
    spans.tool = node.place().into();
    let name = builder.text(node, "the tool of a step")?;
    if !builder.name_fits(&name.value, "the name of a tool", node.place()) {
        return None;
    }
    if name.value.trim().is_empty() {
        let message = "the name of the tool is empty";
        return builder.error(Note::error(Code::EmptyName, node.place(), message));
    }
    builder.spans.steps[index].broken = false;
    let what = "the description of a tool";
    let description = builder.optional_text(members, "tool_description", what);
    Some(builder.tool(&name.value, description, Default::default()))
}

/// Arguments under their name in the dialect; a tool without any may leave them out.
pub(crate) fn arguments(
    builder: &mut PlanBuilder,
    index: usize,
    members: &Members<'_>,
) -> Template {
    let name = builder.dialect.rules().arguments;
    builder.spans.begin_templates(index);
    let Some(node) = members.given(name) else {
        other_dialect(builder, members, name);
        builder.place(builder.spans.steps[index].whole.range(), None);
        return Template::Object(Vec::new());
    };
    match node.kind() {
        JsonType::Object => builder.template(node, None, 0),
        _ => whole(builder, node),
    }
}

/// Arguments that are a reference to an object.
pub(crate) fn whole(builder: &mut PlanBuilder, node: JsonNode<'_>) -> Template {
    let at = builder.spans.templates.len();
    let notes = builder.notes.has_errors();
    let template = builder.template(node, None, 0);
    if matches!(template, Template::Reference(_)) || (!notes && builder.notes.has_errors()) {
        return template;
    }
    let what = format!("`{}`", builder.dialect.rules().arguments);
    builder.note(wrong_kind(node, &what, "an object"));
    builder.broken(at)
}

/// Reports arguments under the name that another dialect has for them.
fn other_dialect(builder: &mut PlanBuilder, members: &Members<'_>, name: &str) {
    let others = Dialect::ALL.iter().map(|other| other.rules().arguments);
    let mut others = others.filter(|other| *other != name);
    let Some(member) = others.find_map(|other| members.member(other)) else {
        return;
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
}

/// An object of the outputs of these steps, under their ids.
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

/// The output that a document gives as a template, in a member that no system knows which the dialect comes from.
fn output(builder: &mut PlanBuilder, top: &Members<'_>) -> Option<Output> {
    let type_name = builder.optional_text(top, "output_type", "the type of the output");
    let node = top.get("output")?;
    builder.spans.output = Some(builder.spans.templates.len());
    Some(Output {
        type_name: type_name.into(),
        value: builder.template(node, None, 0),
    })
}
