//! What is being read, and what names mean there.

use super::{Members, PlanBuilder, VALUES_OF_STEP, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::names::input;
use crate::plan::{Action, Bound, Step, Template};
use std::collections::HashMap;
use std::ops::Range;

/// How a dialect writes steps, and the values in them.
///
/// What a step does is written in the same members in all dialects; a call and the references in a value are not.
pub(crate) trait Syntax: Sync {
    /// Makes a step known by its id.
    fn declare(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>);

    /// Reads a step.
    fn step(&self, reader: &mut PlanReader<'_>, index: usize, node: JsonNode<'_>) -> Step;

    /// The id of a step that gives none itself.
    fn default_id(&self, reader: &PlanReader<'_>, index: usize) -> Option<String>;

    /// All members that a body in another one may have.
    fn body(&self) -> &'static [&'static str];

    /// The member with the arguments of a call.
    fn arguments(&self) -> &'static str;

    /// What to write for a tool that takes arguments.
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

    /// Reads a condition of a branch or of the rounds of a loop, or what is in one.
    fn test(&self, reader: &mut PlanReader<'_>, node: JsonNode<'_>, depth: usize) -> Template {
        self.template(reader, node, None, depth)
    }

    /// Whether a number or a time of a policy is not there itself, but a template that gives it.
    fn gives(&self, reader: &PlanReader<'_>, node: JsonNode<'_>) -> bool;

    /// The step of the same plan or block that this names.
    fn own_step(
        &self,
        reader: &mut PlanReader<'_>,
        node: JsonNode<'_>,
        what: &str,
    ) -> Option<usize>;

    /// Whether references name steps as they name other values.
    fn names_steps(&self) -> bool;
}

/// What is being read, and what names mean there.
pub(crate) struct PlanReader<'d> {
    pub(crate) builder: &'d mut PlanBuilder,
    pub(crate) syntax: &'static dyn Syntax,
    pub(crate) names: IdKind,
    /// The local values that there are where it is read.
    pub(crate) locals: Vec<Bound>,
    /// The values from around the block that it has read so far.
    pub(super) reads: Vec<BlockRead>,
    /// How many bodies are around the plan or the block.
    pub(crate) depth: usize,
    /// The plans and blocks around it, the outermost first.
    pub(crate) around: Vec<Around>,
}

/// Something that a block reads: an input of its plan.
pub(crate) struct BlockRead {
    /// The name that it has inside.
    pub(crate) name: String,
    /// Its value outside.
    pub(crate) template: Template,
    /// Where the block says so, or first refers to it.
    pub(crate) place: Range<usize>,
    pub(crate) kind: ReadKind,
}

/// What a block reads as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// The output of a step.
    Step,
    /// The value of the round before, which is null in the first one.
    Last,
    /// An input of the plan.
    Input,
    /// Another value, or a part of one.
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
    /// Inputs by their names; steps are known to the draft.
    InPlan(HashMap<String, (usize, Range<usize>)>),
    /// Outside of a plan, places are written instead of names.
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

    /// Reads something that is not in a plan.
    pub(crate) fn outside(builder: &'d mut PlanBuilder, syntax: &'static dyn Syntax) -> Self {
        Self {
            names: IdKind::Places,
            ..Self::new(builder, syntax)
        }
    }

    /// A value with references in it.
    pub(crate) fn template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        self.syntax.template(self, node, key, depth)
    }

    /// The template that is not there, or not to be read.
    pub(crate) fn no_template(&mut self, place: Range<usize>) -> Template {
        let at = self.builder.place(place, None);
        self.builder.broken(at)
    }

    /// Steps may refer to later ones, so all ids come first. They are read again with their steps, rather than kept.
    pub(crate) fn declare_steps(&mut self, nodes: &[JsonNode<'_>]) {
        for (index, node) in nodes.iter().enumerate() {
            if !self.builder.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            self.syntax.declare(self, index, *node);
        }
    }

    pub(crate) fn steps(&mut self, nodes: &[JsonNode<'_>]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if self.builder.is_over() {
                break;
            }
            steps.push(self.syntax.step(self, index, *node));
        }
        self.builder.current = None;
        steps
    }

    /// Adds an error, and says so by `None`.
    pub(crate) fn error<T>(
        &mut self,
        code: Code,
        place: Range<usize>,
        message: impl Into<String>,
    ) -> Option<T> {
        self.builder.error(Note::error(code, place, message))
    }

    /// The members of an object that has these and no others.
    pub(crate) fn object<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
        known: &[&str],
    ) -> Option<Members<'a>> {
        let mut members = self.builder.members(node, what)?;
        self.builder.only(&mut members, what, known);
        Some(members)
    }

    /// The elements of a list that may be left out.
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

    /// A string that may be left out.
    pub(crate) fn text(&mut self, members: &Members<'_>, name: &str, what: &str) -> String {
        self.builder.optional_text(members, name, what)
    }

    /// A string that must be there. Where it is a name, it must be one.
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

    /// One of these strings.
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
