//! What the three dialects of strings have in common: a list of steps, each with one tool.

use super::{Members, PlanBuilder, VALUES_OF_STEP, wrong_kind};
use crate::dynamic::Dialect;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::{JsonNode, JsonType, Source};
use crate::dynamic::spans::{Span, StepSpans};
use crate::plan::{
    Action, Body, Entry, Key, Output, Plan, Policy, Reference, Source as From, Step, Template,
    ToolInfo,
};
use std::sync::Arc;

/// A step whose references are not read yet. The heads of all steps exist at the same time, so they do not hold the members, which are
/// found again when the step is read.
pub(in crate::dynamic) struct StepHeader<'a> {
    id: Box<str>,
    node: JsonNode<'a>,
}

/// The heads of all steps, in pieces: each is gone once its steps are read.
pub(in crate::dynamic) struct StepHeaders<'a>(Vec<Vec<StepHeader<'a>>>);

/// How many heads a piece has.
const PIECE: usize = 1024;

impl<'a> StepHeader<'a> {
    /// The step's id, and its members if it is an object. What is wrong with them was said before.
    pub(in crate::dynamic) fn open(self, source: &Source<'_>) -> (String, Option<Members<'a>>) {
        let members = match self.node.kind() {
            JsonType::Object => Some(Members::split(source, self.node, &mut |_| {})),
            _ => None,
        };
        (self.id.into(), members)
    }
}

/// Reads the ids, so that references to later steps are known. `id` names a step that gives none itself.
pub(in crate::dynamic) fn heads<'a>(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    list: JsonNode<'a>,
    nodes: Vec<JsonNode<'a>>,
    id: Option<fn(usize) -> String>,
) -> StepHeaders<'a> {
    if nodes.is_empty() {
        let message = "the plan has no steps";
        let place = source.place(list.slice());
        builder.note(Note::error(Code::NoSteps, place, message));
    }
    if !counted(builder, source, &nodes) {
        return StepHeaders(Vec::new());
    }
    let mut index = 0;
    let mut piece = |nodes: &[JsonNode<'a>]| {
        let mut piece = Vec::new();
        for node in nodes {
            builder.count(VALUES_OF_STEP, source.place(node.slice()));
            if builder.is_over() {
                break;
            }
            piece.push(head(builder, source, *node, index, id));
            index += 1;
        }
        piece
    };
    StepHeaders(nodes.chunks(PIECE).map(&mut piece).collect())
}

/// Reads the steps, once their ids are known.
pub(in crate::dynamic) fn read<'a>(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    StepHeaders(heads): StepHeaders<'a>,
    step: fn(&mut PlanBuilder, &Source<'_>, usize, StepHeader<'a>) -> Step,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if !builder.is_over() {
        steps.reserve_exact(heads.iter().map(Vec::len).sum());
    }
    for (index, head) in heads.into_iter().flatten().enumerate() {
        if builder.is_over() {
            break;
        }
        steps.push(step(builder, source, index, head));
    }
    builder.current = None;
    steps
}

/// A step that is an id, an intent, a tool and its arguments.
pub(in crate::dynamic) fn plain(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    head: StepHeader<'_>,
    known: &[&str],
    arguments: fn(&mut PlanBuilder, &Source<'_>, usize, &Members<'_>) -> Template,
) -> Step {
    let (id, members) = head.open(source);
    builder.current = Some((index, id.as_str().into()));
    let (mut tool, mut intent, mut args) = (None, String::new(), Template::Null);
    if let Some(members) = &members {
        builder.only(source, members, "a step", known);
        tool = self::tool(builder, source, index, members);
        intent = optional_string(builder, source, members, "intent", "the intent of a step");
        args = arguments(builder, source, index, members);
    }
    step(id, intent, tool, args, Vec::new(), Policy::shared())
}

/// Whether there are no more steps than are read; where there are, it is an error.
pub(in crate::dynamic) fn counted(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    nodes: &[JsonNode<'_>],
) -> bool {
    builder.steps = nodes.len();
    let most = builder.limits.steps;
    let Some(first) = nodes.get(most) else {
        return true;
    };
    let message = format!(
        "the plan has {} steps, and at most {most} are read",
        nodes.len()
    );
    let note = Note::error(Code::LimitPassed, source.place(first.slice()), message);
    builder.note(note.label("this step exceeds the limit"));
    false
}

fn head<'a>(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'a>,
    index: usize,
    default: Option<fn(usize) -> String>,
) -> StepHeader<'a> {
    let whole = source.place(node.slice());
    let mut spans = StepSpans {
        whole: Span::from(whole.clone()),
        id: Span::from(whole.clone()),
        tool: Span::from(whole.clone()),
        ..StepSpans::default()
    };
    builder.current = Some((index, "".into()));
    let members = builder.members(source, node, "a step");
    let given = members.as_ref().and_then(|members| members.get("id"));
    let dialects = [builder.dialect].into_iter().chain(Dialect::ALL);
    let mut names = dialects.map(|dialect| dialect.rules().arguments());
    let arguments = names.find_map(|name| members.as_ref()?.member(name));
    if let Some(member) = arguments {
        builder.shown_by(source.place(member.key.slice()));
    }
    let mut id = String::new();
    match (given, default) {
        (Some(given), _) => {
            spans.id = source.place(given.slice()).into();
            if let Some(text) = builder.text(source, given, "the id of a step") {
                let place = source.place(given.slice());
                if builder.name_fits(&text.value, "the id of a step", place.clone()) {
                    id = text.value.into_owned();
                    builder.declare(index, &id, place);
                }
            }
        }
        (None, Some(default)) => {
            id = default(index);
            builder.declare(index, &id, whole);
        }
        (None, None) if members.is_some() => {
            let message = "the step has no `id`";
            let help = r#"give it a name that references can use: `"id": "find_john"`"#.to_owned();
            builder.note(Note::error(Code::MissingMember, whole, message).help(help));
        }
        (None, None) => {}
    }
    spans.broken = members.is_none();
    builder.spans.steps.push(spans);
    builder.current = None;
    StepHeader {
        id: id.into(),
        node,
    }
}

/// The name of the step's tool.
pub(in crate::dynamic) fn tool(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
) -> Option<Arc<ToolInfo>> {
    let whole = builder.spans.steps[index].whole.range();
    let Some(node) = members.given("tool") else {
        let note = Note::error(Code::MissingMember, whole, "the step names no `tool`");
        builder.spans.steps[index].broken = true;
        return builder.error(note);
    };
    let place = source.place(node.slice());
    builder.spans.steps[index].tool = place.clone().into();
    let Some(name) = builder.text(source, node, "the tool of a step") else {
        builder.spans.steps[index].broken = true;
        return None;
    };
    if !builder.name_fits(&name.value, "the name of a tool", place.clone()) {
        builder.spans.steps[index].broken = true;
        return None;
    }
    if name.value.trim().is_empty() {
        builder.spans.steps[index].broken = true;
        return builder.error(Note::error(
            Code::EmptyName,
            place,
            "the name of the tool is empty",
        ));
    }
    let description = match members.given("tool_description") {
        Some(node) => string(builder, source, node, "the description of a tool"),
        None => String::new(),
    };
    Some(builder.tool(&name.value, description))
}

/// A string that may be left out.
pub(in crate::dynamic) fn optional_string(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    members: &Members<'_>,
    name: &str,
    what: &str,
) -> String {
    match members.given(name) {
        Some(node) => string(builder, source, node, what),
        None => String::new(),
    }
}

fn string(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'_>,
    what: &str,
) -> String {
    let text = builder.text(source, node, what);
    text.map(|text| text.value.into_owned()).unwrap_or_default()
}

/// Arguments under this name; a tool without any may leave them out.
pub(in crate::dynamic) fn arguments(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    index: usize,
    members: &Members<'_>,
    name: &str,
) -> Template {
    builder.spans.begin_templates(index);
    let Some(node) = members.given(name) else {
        other_dialect(builder, source, members, name);
        builder.place(builder.spans.steps[index].whole.range(), None);
        return Template::Object(Vec::new());
    };
    match node.kind() {
        JsonType::Object => builder.template(source, node, None, 0),
        _ => whole(builder, source, node),
    }
}

/// Arguments that are a reference to an object.
pub(in crate::dynamic) fn whole(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    node: JsonNode<'_>,
) -> Template {
    let at = builder.spans.templates.len();
    let notes = builder.notes.has_errors();
    let template = builder.template(source, node, None, 0);
    if matches!(template, Template::Reference(_)) || (!notes && builder.notes.has_errors()) {
        return template;
    }
    let what = format!("`{}`", builder.dialect.rules().arguments());
    builder.note(wrong_kind(source, node, &what, "an object"));
    builder.broken(at)
}

/// Reports arguments under the name that another dialect has for them.
fn other_dialect(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    members: &Members<'_>,
    name: &str,
) {
    let others = Dialect::ALL.iter().map(|other| other.rules().arguments());
    let mut others = others.filter(|other| *other != name);
    let Some(member) = others.find_map(|other| members.member(other)) else {
        return;
    };
    let message = format!(
        "the arguments of a step are its `{name}`, since the document is {}",
        builder.dialect.rules().document()
    );
    let place = source.place(member.key.slice());
    builder.note(
        Note::error(Code::MixedDialects, place, message)
            .help(format!("call it `{name}`, as in the other steps")),
    );
}

/// A step that does one thing.
pub(in crate::dynamic) fn step(
    id: String,
    intent: String,
    tool: Option<Arc<ToolInfo>>,
    args: Template,
    mut after: Vec<usize>,
    policy: Arc<Policy>,
) -> Step {
    after.sort_unstable();
    after.dedup();
    Step {
        id,
        intent: intent.into(),
        body: Body::Action(Action { tool, args }),
        after,
        policy,
    }
}

/// A plan of steps out of a document.
pub(in crate::dynamic) fn plan(
    builder: &mut PlanBuilder,
    name: String,
    description: String,
    steps: Vec<Step>,
    output: Output,
) -> Plan {
    Plan {
        name,
        description: description.into(),
        inputs: std::mem::take(&mut builder.inputs),
        steps,
        output,
    }
}

/// An object of the outputs of these steps, under their ids.
pub(in crate::dynamic) fn outputs(
    steps: &[Step],
    chosen: impl IntoIterator<Item = usize>,
) -> Output {
    let entry = |index: usize| {
        let id = steps.get(index)?.id.clone();
        Some(Entry {
            key: Key::Name(id.clone()),
            value: Template::Reference({
                let whole = Reference::new(From::Step(index));
                let written = crate::plan::written(&id, whole.path());
                whole.written(written)
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
pub(in crate::dynamic) fn output(
    builder: &mut PlanBuilder,
    source: &Source<'_>,
    top: &Members<'_>,
) -> Option<Output> {
    let type_name = optional_string(
        builder,
        source,
        top,
        "output_type",
        "the type of the output",
    );
    let node = top.get("output")?;
    builder.spans.output = Some(builder.spans.templates.len());
    Some(Output {
        type_name: type_name.into(),
        value: builder.template(source, node, None, 0),
    })
}
