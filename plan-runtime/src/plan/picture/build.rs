//! Conversion of a plan to the content of its diagram.

use super::drawing::{Drawing, LocalNode, ReadingNode, Scoping};
use super::model::{Content, EdgeKind, End, Group, NodeKind, PictureNode};
use super::text::{EXPRESSION, id, typed, wrapped};
use crate::plan::display::{PatternText, ToolName, bound};
use crate::plan::{
    Action, Block, Body, Bound, Branch, Condition, For, InPlan, Key, Optional, Plan, Role, Step,
    Template, ToolInfo,
};
use crate::print::{Code, Name, short_to};
use std::collections::HashMap;

/// The largest number of characters of an intent.
const INTENT: usize = 160;
/// The mark of a step that waits for nothing.
const AT_ONCE: &str = "○ ";
/// The largest number of lines in an edge's label.
const LINES: usize = 6;

/// Returns the content of a plan's diagram, in which the plans in `nested` appear at their calls.
pub(super) fn content(plan: &Plan, nested: &[&Plan]) -> Content {
    let mut builder = Builder {
        content: Content {
            nodes: Vec::new(),
            groups: Vec::new(),
            edges: Vec::new(),
        },
        nested,
        known: HashMap::new(),
        ids: HashMap::new(),
        around: vec![plan.name.to_string()],
    };
    let whole = builder.group(String::new(), Vec::new(), 0, false);
    builder.plan(plan, whole);
    for edge in &mut builder.content.edges {
        if edge.lines.len() > LINES {
            let more = edge.lines.len() - (LINES - 1);
            edge.lines.truncate(LINES - 1);
            edge.lines.push(format!("… and {more} more"));
        }
    }
    builder.content
}

pub(super) struct Builder<'p> {
    pub(super) content: Content,
    nested: &'p [&'p Plan],
    /// The index of each existing edge.
    pub(super) known: HashMap<(End, End, EdgeKind), usize>,
    /// The number of nodes and groups that requested each ID.
    ids: HashMap<String, usize>,
    /// The names of the plans that are being drawn: none is drawn inside itself.
    around: Vec<String>,
}

impl<'p> Builder<'p> {
    /// Draws a plan, and returns the indices of its inputs and its output.
    fn plan(&mut self, plan: &'p Plan, group: usize) -> Vec<usize> {
        let mut prefix = self.content.groups[group].id.clone();
        if group > 0 {
            prefix.push('_');
        }
        let mut drawing = Drawing {
            plan,
            prefix,
            inputs: Vec::new(),
            readers: Vec::new(),
            patterns: Vec::new(),
        };
        for (number, input) in plan.inputs.iter().enumerate() {
            let line = typed(&input.name, &input.type_name);
            let id = drawing.prefix.clone() + &id("input", &input.name, number);
            let input = self.node(id, NodeKind::Input, vec![line], group, false);
            drawing.inputs.push(input);
        }
        let mut steps = Vec::new();
        for (number, step) in plan.steps.iter().enumerate() {
            steps.push(self.step(&mut drawing, step, number, group));
        }
        if !matches!(plan.output.value, Template::Null) {
            let line = typed("output", &plan.output.type_name);
            let output = self.node(
                drawing.prefix.clone() + "output",
                NodeKind::Output,
                vec![line],
                group,
                false,
            );
            drawing.read(&plan.output.value, End::Node(output), &[]);
        }
        for reader in &drawing.readers {
            self.read(&drawing, &steps, reader);
        }
        for (step, &to) in plan.steps.iter().zip(&steps) {
            for after in step.only_after() {
                if let Some(&from) = steps.get(after) {
                    self.connect(from, to, EdgeKind::After, String::new());
                }
            }
            if let Role::Undo(undone) = step.role
                && let Some(&undone) = steps.get(undone)
            {
                self.connect(to, undone, EdgeKind::Undo, "undo".into());
            }
        }
        drawing.inputs
    }

    /// Draws a step, and returns the source of its output.
    fn step(
        &mut self,
        drawing: &mut Drawing<'p>,
        step: &'p Step,
        number: usize,
        group: usize,
    ) -> End {
        let id = drawing.prefix.clone() + &id("step", &step.id, number);
        let mut place = Scoping {
            step: &id,
            group,
            locals: Vec::new(),
            patterns: Vec::new(),
            dashed: step.policy.optional != Optional::No || matches!(step.role, Role::Undo(_)),
        };
        let mut lines = wrapped(&short_to(step.intent.trim(), INTENT));
        let role = InPlan::new(drawing.plan, step.role).attribute();
        lines.extend(role.map(|role| short_to(&role, EXPRESSION)));
        let policies = InPlan::new(drawing.plan, &*step.policy).attributes();
        lines.extend(policies.iter().map(|policy| short_to(policy, EXPRESSION)));
        // A step in a frame waits for the frame.
        let is_first = group == 0 && step.starts_at_once();
        let mark = if is_first { AT_ONCE } else { "" };
        let end = match &step.body {
            Body::Action(action) => {
                let called = called(drawing, action, &place);
                // The last expression of a block has no name.
                let name = match &*step.id {
                    Block::TAIL => called,
                    id => format!("{} = {called}", Name(id)),
                };
                lines.insert(0, format!("{mark}{name}"));
                self.action(drawing, action, lines, id.clone(), &place)
            }
            Body::Await(wait) => {
                let name = typed(&step.id, &wait.type_name);
                lines.insert(0, format!("{mark}{name} = await"));
                End::Node(self.node(id.clone(), NodeKind::Await, lines, group, place.dashed))
            }
            body => {
                lines.insert(0, format!("{mark}{}", Name(&step.id)));
                let frame = self.group(id.clone(), lines, group, place.dashed);
                place.group = frame;
                place.dashed = step.policy.optional == Optional::Each;
                match body {
                    Body::Block(block) if !is_empty(&block.plan) => {
                        self.inside(drawing, &block.plan, &block.inputs, frame, &place);
                    }
                    body => {
                        self.part(drawing, body, &place);
                    }
                }
                End::Group(frame)
            }
        };
        drawing
            .readers
            .extend(step.policy.fallback.as_ref().map(|template| ReadingNode {
                template,
                prefix: "fallback ",
                to: end,
                locals: Vec::new(),
            }));
        end
    }

    /// Draws the body of a step, and returns its first end.
    fn part(&mut self, drawing: &mut Drawing<'p>, body: &'p Body, place: &Scoping<'_>) -> End {
        let inner = |kind: &str| format!("{}_{kind}", place.step);
        match body {
            Body::Action(action) => {
                let lines = vec![called(drawing, action, place)];
                self.action(drawing, action, lines, inner("call"), place)
            }
            Body::If(branches) if !branches.is_empty() => self.branches(drawing, branches, place),
            Body::For(each) => self.for_each(drawing, each, place),
            Body::Block(block) if !is_empty(&block.plan) => {
                let lines = vec!["block".to_owned()];
                let frame = self.group(inner("block"), lines, place.group, false);
                self.inside(drawing, &block.plan, &block.inputs, frame, place);
                End::Group(frame)
            }
            Body::Loop(repeat) => {
                let line = format!(
                    "loop … while {}",
                    InPlan::new(&repeat.round.plan, &repeat.again)
                );
                let lines = wrapped(&short_to(&line, EXPRESSION));
                let frame = self.group(inner("loop"), lines, place.group, false);
                self.inside(
                    drawing,
                    &repeat.round.plan,
                    &repeat.round.inputs,
                    frame,
                    place,
                );
                End::Group(frame)
            }
            Body::Await(_) => {
                let line = vec!["await".to_owned()];
                End::Node(self.node(inner("await"), NodeKind::Await, line, place.group, false))
            }
            Body::Block(_) | Body::If(_) => {
                let line = vec!["null".to_owned()];
                End::Node(self.node(inner("call"), NodeKind::Computed, line, place.group, false))
            }
        }
    }

    /// Draws the branches of an `if`, and returns their first end.
    fn branches(
        &mut self,
        drawing: &mut Drawing<'p>,
        branches: &'p [Branch],
        place: &Scoping<'_>,
    ) -> End {
        let (mut first, mut before) = (None, None);
        for branch in branches {
            // An `else` has no condition.
            let begins = if branch.conditions.is_empty() && before.is_some() {
                self.part(drawing, &branch.body, place)
            } else {
                self.branch(drawing, branch, place.clone())
            };
            if let Some(before) = before {
                self.connect(before, begins, EdgeKind::Flow, "else".into());
            }
            before = Some(begins);
            first = first.or(before);
        }
        first.unwrap_or(End::Node(0))
    }

    /// Draws a branch with its conditions.
    fn branch(
        &mut self,
        drawing: &mut Drawing<'p>,
        branch: &'p Branch,
        mut place: Scoping<'_>,
    ) -> End {
        let line = format!("if {}", place.of(drawing, &branch.conditions[..]));
        let line = wrapped(&short_to(&line, EXPRESSION));
        let id = format!("{}_if", place.step);
        let node = self.node(id, NodeKind::Condition, line, place.group, false);
        for condition in &branch.conditions {
            drawing.read(condition.template(), End::Node(node), &place.locals);
            if let Condition::Let { pattern, value } = condition {
                let pattern = drawing.pattern(Bound::pattern(pattern, value));
                place.locals.push(LocalNode { node, pattern });
            }
        }
        place.patterns = bound(&place.patterns, &branch.conditions);
        let then = self.part(drawing, &branch.body, &place);
        self.connect(End::Node(node), then, EdgeKind::Flow, "then".into());
        End::Node(node)
    }

    fn for_each(&mut self, drawing: &mut Drawing<'p>, each: &'p For, place: &Scoping<'_>) -> End {
        let line = format!(
            "for {} in {}",
            Code(&each.pattern),
            PatternText(place.of(drawing, &each.list))
        );
        let line = wrapped(&short_to(&line, EXPRESSION));
        let id = format!("{}_for", place.step);
        let node = self.node(id, NodeKind::Loop, line, place.group, false);
        drawing.read(&each.list, End::Node(node), &place.locals);
        let mut place = place.clone();
        let bound = Bound::pattern(&each.pattern, &each.list);
        let pattern = drawing.pattern(bound.clone());
        place.locals.push(LocalNode { node, pattern });
        place.patterns.push(bound);
        let begins = self.part(drawing, &each.body, &place);
        self.connect(End::Node(node), begins, EdgeKind::Flow, "each".into());
        End::Node(node)
    }

    /// Draws a call: a node, or a plan in a frame.
    fn action(
        &mut self,
        drawing: &mut Drawing<'p>,
        action: &'p Action,
        lines: Vec<String>,
        id: String,
        place: &Scoping<'_>,
    ) -> End {
        let Some(plan) = action.tool.as_deref().and_then(|tool| self.drawn(tool)) else {
            let kind = match &action.tool {
                Some(_) => NodeKind::Call,
                None => NodeKind::Computed,
            };
            let node = End::Node(self.node(id, kind, lines, place.group, place.dashed));
            drawing.read(&action.args, node, &place.locals);
            return node;
        };
        let frame = self.group(id, lines, place.group, place.dashed);
        self.around.push(plan.name.to_string());
        self.inside(drawing, plan, &action.args, frame, place);
        self.around.pop();
        End::Group(frame)
    }

    /// Draws the plan of a call or of a block in a frame, with its arguments.
    fn inside(
        &mut self,
        drawing: &mut Drawing<'p>,
        plan: &'p Plan,
        args: &'p Template,
        frame: usize,
        place: &Scoping<'_>,
    ) {
        let inputs = self.plan(plan, frame);
        let Template::Object(entries) = args else {
            return drawing.read(args, End::Group(frame), &place.locals);
        };
        for entry in entries {
            let input = match &entry.key {
                Key::Name(name) => plan.inputs.iter().position(|it| it.name == *name),
                Key::Flattened | Key::Inner => None,
            };
            let to = input.map_or(End::Group(frame), |input| End::Node(inputs[input]));
            drawing.read(&entry.value, to, &place.locals);
        }
    }

    /// Returns the plan of a tool, if the diagram shows that plan at its calls.
    fn drawn(&self, tool: &ToolInfo) -> Option<&'p Plan> {
        let plan = *self.nested.iter().find(|plan| plan.name == tool.name)?;
        let inside_itself = self.around.contains(&plan.name);
        (!is_empty(plan) && !inside_itself).then_some(plan)
    }

    fn node(
        &mut self,
        id: String,
        kind: NodeKind,
        lines: Vec<String>,
        group: usize,
        dashed: bool,
    ) -> usize {
        let id = self.unique(id);
        let place = self.content.nodes.len();
        self.content.groups[group].nodes.push(place);
        self.content.nodes.push(PictureNode {
            id,
            kind,
            lines,
            group,
            dashed,
        });
        place
    }

    /// Adds a group. Its head is the next node.
    fn group(&mut self, id: String, lines: Vec<String>, parent: usize, dashed: bool) -> usize {
        let id = self.unique(id);
        let place = self.content.groups.len();
        if place > 0 {
            self.content.groups[parent].groups.push(place);
        }
        self.content.groups.push(Group {
            id,
            lines,
            parent,
            nodes: Vec::new(),
            groups: Vec::new(),
            dashed,
            head: self.content.nodes.len(),
        });
        place
    }

    fn unique(&mut self, wanted: String) -> String {
        let mut id = wanted.clone();
        loop {
            let count = self.ids.entry(id.clone()).or_default();
            *count += 1;
            if *count == 1 {
                return id;
            }
            // The second node with a wanted ID gets a number, unless a step has that name as well.
            let number = self.ids.entry(wanted.clone()).or_default();
            *number += usize::from(id != wanted);
            id = format!("{wanted}_{number}");
        }
    }
}

/// Returns `true` if the frame of the plan would be empty. No language draws an empty frame.
fn is_empty(plan: &Plan) -> bool {
    let has_output = !matches!(plan.output.value, Template::Null);
    plan.steps.is_empty() && plan.inputs.is_empty() && !has_output
}

fn called(drawing: &Drawing<'_>, action: &Action, place: &Scoping<'_>) -> String {
    match &action.tool {
        Some(tool) => ToolName(&tool.name).to_string(),
        None => short_to(&place.of(drawing, &action.args).to_string(), EXPRESSION),
    }
}
