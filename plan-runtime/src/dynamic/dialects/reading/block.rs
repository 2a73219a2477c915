//! `{"steps": […], "value": …}`: steps inside a step.

use super::counts::{VALUES_OF_STEP, depth_fits, steps_fit};
use super::names::{BlockRead, ReadKind, declare};
use super::{Members, PlanReader};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::{block, looped};
use crate::plan::{
    Block, Body, Entry, Input, Key, Loop, Output, Plan, Reference, Source, Step, Template,
};

/// Reads a body in a block, with its description and its depth.
type ReadBody = fn(&mut PlanReader, JsonNode<'_>, &str, usize) -> Body;

pub(super) fn block(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    depth: usize,
    tail: ReadBody,
) -> Option<Block> {
    if !depth_fits(reader, depth, node) {
        return None;
    }
    let members = reader.object(node, "`block`", block::ALL)?;
    let (block, ()) = block_of(reader, &members, (depth, tail), |_| ())?;
    Some(block)
}

/// Reads `{"steps": […], "value": …, "while": …}`.
pub(super) fn repeat(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    depth: usize,
    tail: ReadBody,
) -> Option<Loop> {
    if !depth_fits(reader, depth, node) {
        return None;
    }
    let members = reader.object(node, "`loop`", looped::ALL)?;
    let (round, again) = block_of(reader, &members, (depth, tail), |it| {
        let at = it.here.spans.templates.len();
        let again = match members.get(looped::WHILE) {
            Some(again) => it.rules.syntax.test(it, again, 0),
            None => it.missing(node, "the `loop` has no `while`", looped::WHILE),
        };
        it.here.spans.again = Some(at);
        again
    })?;
    Some(Loop {
        last: members.given(looped::LAST).is_some(),
        round,
        again,
    })
}

/// Reads a block, and a part of its object in the scope of its names.
fn block_of<T>(
    reader: &mut PlanReader,
    members: &Members<'_>,
    (depth, tail): (usize, ReadBody),
    then: impl FnOnce(&mut PlanReader) -> T,
) -> Option<(Block, T)> {
    let place = members.given(block::INPUTS).unwrap_or(members.node).place();
    let at = reader.place(place, None);
    let mut reads = Vec::new();
    if let Some(last) = members.given(looped::LAST) {
        let name = reader.text(last, "`last`")?;
        reader.place(last.place(), None);
        reads.push(BlockRead {
            name: name.value.into_owned(),
            template: Template::Null,
            place: last.place(),
            kind: ReadKind::Last,
        });
    }
    if let Some(node) = members.given(block::INPUTS) {
        for member in reader.members(node, "`inputs`")?.list {
            let place = member.key.place();
            if !reader.count(VALUES_OF_STEP, place.clone()) {
                break;
            }
            let template = reader.template(member.value, Some(member.key), 1);
            let name = member.name.into_owned();
            if name.trim().is_empty() {
                let message = "the name of an input is empty";
                reader.report(Code::EmptyName, place.clone(), message, ());
            }
            reader.name_fits(&name, "the name of an input", place.clone());
            let kind = match &template {
                Template::Reference(it) if it.is_whole() => reader.here.kind_of(it.source),
                _ => ReadKind::Value,
            };
            reads.push(BlockRead {
                name,
                template,
                place,
                // The input has a name of its own here.
                kind: match kind {
                    ReadKind::Input => ReadKind::Value,
                    kind => kind,
                },
            });
        }
    }
    let given = reads.len();
    reader.enter(depth + 1, reads);
    let plan = inside(reader, members, tail);
    let then = then(reader);
    let (reads, spans) = reader.leave();
    for read in &reads[given..] {
        reader.place(read.place.clone(), None);
    }
    reader.here.spans.templates.close(at);
    reader.here.spans.blocks.push((at, spans));
    let mut plan = plan?;
    let mut entries = Vec::with_capacity(reads.len());
    plan.inputs = Vec::with_capacity(reads.len());
    for read in reads {
        plan.inputs.push(Input::new(read.name.as_str(), ""));
        entries.push(Entry::new(Key::Name(read.name), read.template));
    }
    Some((Block::new(Template::Object(entries), plan), then))
}

/// Reads the content of a block, as a plan whose inputs are complete only at its end.
fn inside(reader: &mut PlanReader, members: &Members<'_>, read_tail: ReadBody) -> Option<Plan> {
    let nodes = reader.list(members, block::STEPS, "`steps`");
    let tail = members.given(block::TAIL);
    let mut all = nodes.clone();
    all.extend(tail);
    if !steps_fit(reader, &all) {
        return None;
    }
    reader.declare_steps(&nodes);
    if let Some(tail) = tail {
        reader.here.spans.steps.push(StepSpans::of(tail.place()));
        reader.count(VALUES_OF_STEP, tail.place());
        match reader.here.place_of(Block::TAIL) {
            Some(first) => {
                let message = "the step `_` has the id of the `tail`";
                let help = "give the step another id";
                reader.report(Code::DuplicateId, first, message, help);
            }
            None => declare(reader, nodes.len(), Block::TAIL, tail.place()),
        }
    }
    let mut plan = Plan::new("");
    plan.steps = reader.steps(&nodes);
    if let (Some(tail), Some(value)) = (tail, members.member(block::VALUE)) {
        let message = "the block has both a `tail` and a `value`";
        let note = Note::error(Code::WrongKind, value.key.place(), message);
        let note = note.related(tail.place(), "the `tail` is here");
        reader.note(note.help("the value of a block is its `tail`: remove one of them"));
    }
    let value = match (tail, members.get(block::VALUE)) {
        (Some(tail), _) if plan.steps.len() == nodes.len() => {
            reader.here.current = Some((nodes.len(), Block::TAIL.into()));
            reader.here.spans.begin_templates(nodes.len());
            let body = read_tail(reader, tail, "the `tail` of a block", reader.here.depth);
            reader.here.current = None;
            plan.steps.push(Step::new(Block::TAIL, body));
            reader.here.spans.output = Some(reader.place(tail.place(), None));
            let value = Reference::new(Source::Step(nodes.len()));
            value.said(Block::TAIL, Some(Block::TAIL)).into()
        }
        (None, Some(value)) => {
            reader.here.spans.output = Some(reader.here.spans.templates.len());
            reader.template(value, None, 0)
        }
        _ => Template::Null,
    };
    plan.output = Output::new(value);
    Some(plan)
}
