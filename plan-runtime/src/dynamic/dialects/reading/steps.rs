//! The parts of steps that all dialects share.

use super::names::{declare as declare_id, declared, is_new};
use super::{Member, Members, PlanReader, body, nothing, wrong_kind};
use crate::dynamic::Profile;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::step;
use crate::plan::{AsJson, InnerPlan, Policy, Role, RustText, Step, ToolInfo, ToolType};
use crate::shape::Secrets;
use plan_graph::similar;
use std::ops::Range;
use std::sync::Arc;

/// Reads the part of a step that references need: its ID.
pub(super) fn declare(reader: &mut PlanReader, index: usize, node: JsonNode<'_>) {
    const WHAT: &str = "the id of a step";
    reader.here.spans.steps.push(StepSpans::of(node.place()));
    let given = members(node, &mut |_| {}).and_then(|members| id_of(reader, &members));
    let (id, place) = match (given, reader.rules.syntax.default_id(reader, index)) {
        (Some(given), _) => {
            reader.here.spans.steps[index].id = given.place().into();
            let text = reader.text(given, WHAT);
            let text = text.filter(|text| reader.name_fits(&text.value, WHAT, given.place()));
            let Some(text) = text else {
                // Other parts may mean this step.
                reader.here.spans.steps[index].broken = true;
                return;
            };
            (text.value.into_owned(), given.place())
        }
        (None, Some(default)) => (default, node.place()),
        (None, None) => return,
    };
    declare_id(reader, index, &id, place.clone());
    is_new(reader, &id, place);
}

/// Reads a step. Errors in its ID were reported at its declaration.
pub(super) fn step(reader: &mut PlanReader, index: usize, node: JsonNode<'_>) -> Step {
    let mut notes = Vec::new();
    let members = members(node, &mut |note| notes.push(note));
    let given = members.as_ref().and_then(|members| id_of(reader, members));
    let default = reader.rules.syntax.default_id(reader, index);
    let id = match (given, &default) {
        (Some(given), _) => declared(reader, given),
        (None, default) => default.clone().unwrap_or_default(),
    };
    reader.here.current = Some((index, id.as_str().into()));
    reader.here.spans.begin_templates(index);
    notes.into_iter().for_each(|note| reader.note(note));
    let mut step = Step {
        id,
        intent: RustText::default(),
        role: Role::Work,
        body: nothing(),
        after: Vec::new(),
        policy: Policy::shared(),
    };
    let Some(members) = members else {
        reader.note(wrong_kind(node, "a step", "an object"));
        reader.broken_body();
        return step;
    };
    if given.is_none() && default.is_none() {
        let help = r#"give it a name that references can use: `"id": "find_john"`"#;
        let message = "the step has no `id`";
        reader.report(Code::MissingMember, node.place(), message, help);
    }
    reader.rules.syntax.step(reader, index, members, &mut step);
    step
}

/// Returns the ID of a step, whose member may be misspelled.
fn id_of<'a>(reader: &PlanReader, members: &Members<'a>) -> Option<JsonNode<'a>> {
    let is_strict = reader.profile != Profile::Compat;
    let is_id = |it: &&Member<'_>| is_strict && similar(&it.name, [step::ID]).is_some();
    let misspelled = || members.list.iter().find(is_id);
    Some(members.member(step::ID).or_else(misspelled)?.value)
}

/// Splits a step into its members.
fn members<'a>(node: JsonNode<'a>, note: &mut dyn FnMut(Note)) -> Option<Members<'a>> {
    (node.kind() == JsonType::Object).then(|| Members::split(node, note))
}

/// Reads the intent and the role of a step.
pub(crate) fn purpose(reader: &mut PlanReader, members: &Members<'_>, step: &mut Step) {
    let what = "the intent of a step";
    step.intent = reader.optional_text(members, step::INTENT, what).into();
    step.role = body::role(reader, members);
}

/// Records the position of a call's tool. The step of an unreadable tool is broken.
pub(crate) fn found_tool(
    reader: &mut PlanReader,
    tool: Option<Arc<ToolInfo>>,
    place: Range<usize>,
) -> Option<Arc<ToolInfo>> {
    let (index, _) = reader.here.current.as_ref()?;
    let spans = &mut reader.here.spans.steps[*index];
    spans.broken |= tool.is_none();
    // With several tools, the first one counts.
    if spans.tool == spans.whole {
        spans.tool = place.into();
    }
    tool
}

/// Returns the description of the tool with this name, at a position. Steps with equal descriptions share it.
pub(crate) fn tool(
    reader: &mut PlanReader,
    (name, place): (&str, Range<usize>),
    description: String,
    [secret_arguments, secret_output]: [Secrets; 2],
) -> Option<Arc<ToolInfo>> {
    if !reader.name_fits(name, "the name of a tool", place) {
        return None;
    }
    if let Some(tool) = reader.tools.get(name)
        && tool.description == description
        && tool.secret_arguments == secret_arguments
        && tool.secret_output == secret_output
    {
        return Some(tool.clone());
    }
    let tool = Arc::new(ToolInfo {
        name: name.to_owned(),
        description,
        secret_arguments,
        secret_output,
        plan: InnerPlan::default(),
        as_json: AsJson::default(),
        of: ToolType::default(),
    });
    reader.tools.insert(name.to_owned(), tool.clone());
    Some(tool)
}
