//! The state of reading a plan, with the names in scope.

use super::{Members, PlanBuilder, VALUES_OF_STEP, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::input;
use crate::plan::{Action, Bound, Step, Template};
use std::collections::HashMap;
use std::ops::Range;

/// The notation of steps and their values in a dialect.
///
/// All dialects have equal members for the bodies of steps, but not for calls and for the references in values.
pub(crate) trait Syntax: Sync {
    /// Makes a step known by its id.
    fn declare(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>);

    /// Reads a step.
    fn step(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) -> Step;

    /// Returns the ID of a step without a declared one.
    fn default_id(&self, reader: &PlanReader<'_>, index: usize) -> Option<String>;

    /// Returns all members of a body inside a step.
    fn body(&self) -> &'static [&'static str];

    /// Returns the name of the member with a call's arguments.
    fn arguments(&self) -> &'static str;

    /// Returns the notation of a tool with arguments, for a message.
    fn tool_form(&self) -> &'static str;

    /// Reads a call.
    fn call(&self, reader: &mut PlanReader<'_>, members: &Members<'_>) -> Action;

    /// Reads a value with references in it.
    fn template(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template;

    /// Reads a condition of a branch or of a loop's rounds, or a part of a condition.
    fn test(&self, reader: &mut PlanReader<'_>, node: JsonNode<'_>, depth: usize) -> Template {
        self.template(reader, node, None, depth)
    }

    /// Returns `true` if an amount in a policy is a template.
    fn gives(&self, reader: &PlanReader<'_>, node: JsonNode<'_>) -> bool;

    /// Reads the name of a step in the current plan or block.
    fn own_step(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        what: &str,
    ) -> Option<usize>;

    /// Returns `true` if references name steps like other values.
    fn names_steps(&self) -> bool;
}

/// The state of reading a plan, with the names in scope.
pub(crate) struct PlanReader<'d> {
    pub(crate) builder: &'d mut PlanBuilder,
    pub(crate) syntax: &'static dyn Syntax,
    pub(crate) names: IdKind,
    /// The local values in scope.
    pub(crate) locals: Vec<Bound>,
    /// The values from around the block that it has read so far.
    pub(super) reads: Vec<BlockRead>,
    /// The number of bodies around the plan or the block.
    pub(crate) depth: usize,
    /// The plans and blocks around it, the outermost first.
    pub(crate) around: Vec<Around>,
}

/// A value that a block reads: an input of its plan.
pub(crate) struct BlockRead {
    /// The name that it has inside.
    pub(crate) name: String,
    /// The value outside of the block.
    pub(crate) template: Template,
    /// The position of the declaration, or of the first reference.
    pub(crate) place: Range<usize>,
    pub(crate) kind: ReadKind,
}

/// The whole value that a block reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// The output of a step.
    Step,
    /// The value of the previous round, which is null in the first round.
    Last,
    /// An input of the plan.
    Input,
    /// Any other value, or a part of it.
    Value,
}

/// A plan or a block, while a block in it is read.
pub(crate) struct Around {
    pub(super) names: HashMap<String, (usize, Range<usize>)>,
    pub(crate) locals: Vec<Bound>,
    pub(super) reads: Vec<BlockRead>,
    pub(super) depth: usize,
}

pub(crate) enum IdKind {
    /// Inputs by their names. The builder has the steps.
    InPlan(HashMap<String, (usize, Range<usize>)>),
    /// A template outside of a plan, with indices instead of names.
    Places,
}

impl<'d> PlanReader<'d> {
    /// Reads a plan.
    pub(crate) fn new(builder: &'d mut PlanBuilder, syntax: &'static dyn Syntax) -> Self {
        Self {
            builder,
            syntax,
            names: IdKind::InPlan(HashMap::new()),
            locals: Vec::new(),
            reads: Vec::new(),
            depth: 0,
            around: Vec::new(),
        }
    }

    /// Creates a reader of a value outside of a plan.
    pub(crate) fn outside(builder: &'d mut PlanBuilder, syntax: &'static dyn Syntax) -> Self {
        Self {
            names: IdKind::Places,
            ..Self::new(builder, syntax)
        }
    }

    /// Reads a value that may contain references.
    pub(crate) fn template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        self.syntax.template(self, node, key, depth)
    }

    /// Returns null in place of a template that is missing or not to be read.
    pub(crate) fn no_template(&mut self, place: Range<usize>) -> Template {
        let at = self.builder.place(place, None);
        self.builder.broken(at)
    }

    /// Records the IDs of all steps first, since steps may refer to later ones. They are read again with their steps to
    /// save memory.
    pub(crate) fn declare_steps(&mut self, nodes: &[JsonNode<'_>]) {
        for (index, node) in nodes.iter().enumerate() {
            if !self.builder.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            self.syntax.declare(self, index, *node);
        }
    }

    pub(crate) fn steps(&mut self, nodes: &[JsonNode<'_>]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(self.builder.room(nodes.len(), VALUES_OF_STEP));
        for (index, node) in nodes.iter().enumerate() {
            if self.builder.is_over() {
                break;
            }
            steps.push(self.syntax.step(self, index, *node));
        }
        self.builder.current = None;
        steps
    }

    /// Records an error and returns `None`.
    pub(crate) fn error<T>(
        &mut self,
        code: Code,
        place: Range<usize>,
        message: impl Into<String>,
    ) -> Option<T> {
        self.builder.error(Note::error(code, place, message))
    }

    /// Returns the members of an object, and reports members with other names than these.
    pub(crate) fn object<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
        known: &[&'static str],
    ) -> Option<Members<'a>> {
        let mut members = self.builder.members(node, what)?;
        self.builder.only(&mut members, what, known);
        Some(members)
    }

    /// Returns the elements of an optional list.
    pub(crate) fn list<'a>(
        &mut self,
        members: &Members<'a>,
        name: &str,
        what: &str,
    ) -> Vec<JsonNode<'a>> {
        members
            .given(name)
            .and_then(|node| self.builder.items(node, what))
            .unwrap_or_default()
    }

    /// Returns an optional string, which is empty if the member is missing.
    pub(crate) fn text(&mut self, members: &Members<'_>, name: &str, what: &str) -> String {
        self.builder.optional_text(members, name, what)
    }

    /// Reads a required string. A name must be valid.
    pub(crate) fn required(
        &mut self,
        members: &Members<'_>,
        name: &str,
        owner: &str,
        what: &str,
    ) -> Option<String> {
        let Some(node) = members.given(name) else {
            let message = format!("{owner} has no `{name}`");
            return self.error(Code::MissingMember, members.node.place(), message);
        };
        let text = self.builder.text(node, what)?.value.into_owned();
        if name == input::NAME && owner != "the plan" && text.trim().is_empty() {
            return self.error(Code::EmptyName, node.place(), format!("{what} is empty"));
        }
        Some(text)
    }

    /// Reads one of the allowed strings.
    pub(crate) fn one_of(
        &mut self,
        node: JsonNode<'_>,
        what: &str,
        allowed: &'static [&'static str],
    ) -> Option<&'static str> {
        let expected = match allowed {
            [one] => format!("`\"{one}\"`"),
            all => format!("one of `\"{}\"`", all.join("\"`, `\"")),
        };
        if node.kind() != JsonType::String {
            let note = wrong_kind(node, what, &expected);
            return self.builder.error(note);
        }
        let text = self.builder.text(node, what)?.value;
        let found = allowed.iter().find(|allowed| **allowed == text);
        if found.is_none() {
            let text = crate::print::short(&text);
            let message = format!("{what} is `\"{text}\"`, but must be {expected}");
            return self.error(Code::NotAllowed, node.place(), message);
        }
        found.copied()
    }
}
