//! `{"steps": […], "value": …}`: steps inside a step.

use super::plan_reader::{BlockRead, ReadKind};
use super::{Members, PlanReader, VALUES_OF_STEP};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::{block, looped};
use crate::plan::{
    Block, Entry, Input, Key, Loop, Output, Plan, Reference, Source, Step, Template,
};

impl PlanReader<'_> {
    pub(super) fn block(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Block> {
        if !self.depth_fits(depth, node) {
            return None;
        }
        let members = self.object(node, "`block`", block::ALL)?;
        let (block, ()) = self.block_of(node, &members, depth, |_| ())?;
        Some(block)
    }

    /// Reads `{"steps": […], "value": …, "while": …}`.
    pub(super) fn repeat(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Loop> {
        if !self.depth_fits(depth, node) {
            return None;
        }
        let members = self.object(node, "`loop`", looped::ALL)?;
        let (round, again) = self.block_of(node, &members, depth, |it| {
            let at = it.builder.spans.templates.len();
            let again = match members.get(looped::WHILE) {
                Some(again) => it.syntax.test(it, again, 0),
                None => it.missing(node, "the `loop` has no `while`"),
            };
            it.builder.spans.again = Some(at);
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
        &mut self,
        node: JsonNode<'_>,
        members: &Members<'_>,
        depth: usize,
        then: impl FnOnce(&mut Self) -> T,
    ) -> Option<(Block, T)> {
        let place = members.given(block::INPUTS).unwrap_or(node).place();
        let at = self.builder.place(place, None);
        let mut reads = Vec::new();
        if let Some(last) = members.given(looped::LAST) {
            let name = self.builder.text(last, "`last`")?;
            self.builder.place(last.place(), None);
            reads.push(BlockRead {
                name: name.value.into_owned(),
                template: Template::Null,
                place: last.place(),
                kind: ReadKind::Last,
            });
        }
        reads.extend(self.block_inputs(members)?);
        let given = reads.len();
        self.enter(depth + 1, reads);
        let plan = self.inside(members);
        let then = then(self);
        let (reads, spans) = self.leave();
        for read in &reads[given..] {
            self.builder.place(read.place.clone(), None);
        }
        self.builder.spans.templates.close(at);
        self.builder.spans.blocks.push((at, spans));
        let mut plan = plan?;
        let mut entries = Vec::with_capacity(reads.len());
        plan.inputs = Vec::with_capacity(reads.len());
        for read in reads {
            plan.inputs.push(Input::new(read.name.as_str(), ""));
            entries.push(Entry::new(Key::Name(read.name), read.template));
        }
        Some((Block::new(Template::Object(entries), plan), then))
    }

    /// Reads the `inputs` of a block.
    fn block_inputs(&mut self, members: &Members<'_>) -> Option<Vec<BlockRead>> {
        let Some(node) = members.given(block::INPUTS) else {
            return Some(Vec::new());
        };
        let given = self.builder.members(node, "`inputs`")?.list;
        let mut reads = Vec::with_capacity(self.builder.room(given.len(), VALUES_OF_STEP));
        for member in given {
            let place = member.key.place();
            if !self.builder.count(VALUES_OF_STEP, place.clone()) {
                break;
            }
            let name = member.name.into_owned();
            let template = self.template(member.value, Some(member.key), 1);
            if name.trim().is_empty() {
                let what = "the name of an input is empty";
                self.builder
                    .note(Note::error(Code::EmptyName, place.clone(), what));
            }
            let what = "the name of an input";
            self.builder.name_fits(&name, what, place.clone());
            let kind = match &template {
                Template::Reference(reference) if reference.is_whole() => {
                    match self.kind_of(reference.source) {
                        // The input has a name of its own here.
                        ReadKind::Input => ReadKind::Value,
                        kind => kind,
                    }
                }
                _ => ReadKind::Value,
            };
            reads.push(BlockRead {
                name,
                template,
                place,
                kind,
            });
        }
        Some(reads)
    }

    /// Reads the content of a block, as a plan whose inputs are complete only at its end.
    fn inside(&mut self, members: &Members<'_>) -> Option<Plan> {
        let nodes = self.list(members, block::STEPS, "`steps`");
        let tail = members.given(block::TAIL);
        let mut all = nodes.clone();
        all.extend(tail);
        if !self.builder.counted(&all) {
            return None;
        }
        self.declare_steps(&nodes);
        if let Some(tail) = tail {
            self.builder.spans.steps.push(StepSpans::of(tail.place()));
            self.builder.count(VALUES_OF_STEP, tail.place());
            self.builder.declare(nodes.len(), Block::TAIL, tail.place());
        }
        let mut plan = Plan::new("");
        plan.steps = self.steps(&nodes);
        let value = members.get(block::VALUE);
        if let (Some(tail), Some(value)) = (tail, members.member(block::VALUE)) {
            let message = "the block has both a `tail` and a `value`";
            let note = Note::error(Code::WrongKind, value.key.place(), message);
            let note = note.related(tail.place(), "the `tail` is here");
            let help = "the value of a block is its `tail`: remove one of them".to_owned();
            self.builder.note(note.help(help));
        }
        let at = self.builder.spans.templates.len();
        let value = match (tail, value) {
            (Some(tail), _) if plan.steps.len() == nodes.len() => {
                plan.steps.push(self.tail(nodes.len(), tail));
                let at = self.builder.spans.templates.len();
                self.builder.place(tail.place(), None);
                self.builder.spans.output = Some(at);
                let value = Reference::new(Source::Step(nodes.len()));
                value.said(Block::TAIL, Some(Block::TAIL)).into()
            }
            (None, Some(value)) => {
                self.builder.spans.output = Some(at);
                self.template(value, None, 0)
            }
            _ => Template::Null,
        };
        plan.output = Output::new(value);
        Some(plan)
    }

    /// Reads the last expression of a block as a step.
    fn tail(&mut self, index: usize, node: JsonNode<'_>) -> Step {
        self.builder.current = Some((index, Block::TAIL.into()));
        self.builder.spans.begin_templates(index);
        let what = "the `tail` of a block";
        let body = match self.object(node, what, self.syntax.body()) {
            Some(members) => self.body(&members, what, self.depth),
            None => self.broken_body(),
        };
        self.builder.current = None;
        Step::new(Block::TAIL, body)
    }
}
