//! Reads plan JSON, to which [`Plan`] serializes, and reports all mistakes with their places.

mod around;
mod block;
mod body;
mod pattern;
mod policy;
mod reference;
mod template;

use crate::Plan;
use crate::dynamic::dialects::reading::{Members, PlanBuilder, VALUES_OF_STEP, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::spans::StepSpans;
use crate::plan::json::names::{input, output, plan, step};
use crate::plan::{Bound, Input, Output, Step, Template};
use crate::print::short;
use crate::shape::Secrets;
use around::{Around, BlockRead};
use std::collections::HashMap;
use std::ops::Range;

pub(super) fn read(builder: &mut PlanBuilder, node: JsonNode<'_>) -> Option<Plan> {
    PlanReader::new(builder, IdKind::InPlan(HashMap::new())).plan(node)
}

/// What is being read, and what names mean there.
pub(super) struct PlanReader<'d> {
    builder: &'d mut PlanBuilder,
    names: IdKind,
    /// The local values that there are where it is read.
    locals: Vec<Bound>,
    /// The values from around the block that it has read so far.
    reads: Vec<BlockRead>,
    /// How many bodies are around the plan or the block.
    depth: usize,
    /// The plans and blocks around it, the outermost first.
    around: Vec<Around>,
}

/// What a step has as its `id`.
fn id(step: JsonNode<'_>) -> Option<JsonNode<'_>> {
    let is_id = |key: &JsonNode<'_>| key.text().is_ok_and(|text| text.value == step::ID);
    step.members().find(|(key, _)| is_id(key)).map(|(_, id)| id)
}

pub(super) enum IdKind {
    /// Inputs by their names; steps are known to the draft.
    InPlan(HashMap<String, (usize, Range<usize>)>),
    /// Outside of a plan, places are written instead of names.
    Places,
}

impl<'d> PlanReader<'d> {
    pub(super) fn new(builder: &'d mut PlanBuilder, names: IdKind) -> Self {
        Self {
            builder,
            names,
            locals: Vec::new(),
            reads: Vec::new(),
            depth: 0,
            around: Vec::new(),
        }
    }

    fn plan(&mut self, node: JsonNode<'_>) -> Option<Plan> {
        let top = self.object(node, "a plan", plan::ALL)?;
        let name = self.required(&top, plan::NAME, "the plan", "the name of the plan");
        let description = self.text(&top, plan::DESCRIPTION, "the description of the plan");
        let inputs = self.inputs(&top);
        let untyped = inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| input.type_name.is_empty());
        self.builder.spans.untyped = untyped.map(|(place, _)| place).collect();
        let nodes = self.list(&top, plan::STEPS, "`steps`");
        if !self.builder.counted(&nodes) {
            return None;
        }
        self.declare_steps(&nodes);
        let steps = self.steps(&nodes);
        let output = self.output(&top);
        Some(Plan {
            name: name.unwrap_or_default(),
            description: description.into(),
            inputs,
            steps,
            output,
        })
    }

    /// Steps may refer to later ones, so all ids come first. They are read again with their steps, rather than kept.
    fn declare_steps(&mut self, nodes: &[JsonNode<'_>]) {
        for (index, node) in nodes.iter().enumerate() {
            if !self.builder.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            self.declare_step(index, *node);
        }
    }

    fn steps(&mut self, nodes: &[JsonNode<'_>]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if self.builder.is_over() {
                break;
            }
            steps.push(self.step(index, *node));
        }
        self.builder.current = None;
        steps
    }

    fn inputs(&mut self, top: &Members<'_>) -> Vec<Input> {
        let mut inputs = Vec::new();
        for node in self.list(top, plan::INPUTS, "`inputs`") {
            if !self.builder.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            self.builder.count_input(inputs.len(), node.place());
            if self.builder.is_over() {
                break;
            }
            let Some(members) = self.object(node, "an input", input::ALL) else {
                continue;
            };
            let name = self.required(&members, input::NAME, "the input", "the name of an input");
            let type_name = self.text(&members, input::TYPE, "the type of an input");
            let name = name.unwrap_or_default();
            for (name, what) in [(&name, "the name"), (&type_name, "the type")] {
                let what = format!("{what} of an input");
                self.builder.name_fits(name, &what, node.place());
            }
            let input = Input {
                name,
                type_name: type_name.into(),
                description: self
                    .text(&members, input::DESCRIPTION, "the description of an input")
                    .into(),
                secrets: self.secrets(&members, input::SECRETS),
            };
            if let Some(node) = members.given(input::NAME) {
                self.declare(inputs.len(), &input.name, node.place());
            }
            inputs.push(input);
        }
        inputs
    }

    fn declare(&mut self, index: usize, name: &str, place: Range<usize>) {
        let IdKind::InPlan(inputs) = &mut self.names else {
            return;
        };
        if let Some((_, first)) = inputs.get(name) {
            let first = first.clone();
            let message = format!("two inputs have the name `{}`", short(name));
            self.builder.note(
                Note::error(Code::DuplicateId, place, message)
                    .related(first, "the first one is here")
                    .help("a reference could mean either, so rename one of them".to_owned()),
            );
            return;
        }
        inputs.insert(name.to_owned(), (index, place));
        self.builder.input_names.insert(name.into(), index);
    }

    /// Makes a step known by its id.
    fn declare_step(&mut self, index: usize, node: JsonNode<'_>) {
        self.builder.spans.steps.push(StepSpans::of(node.place()));
        let Some(id) = id(node) else { return };
        if !self.builder.declare_as(index, id) {
            self.builder.spans.steps[index].broken = true;
            return;
        }
        let name = self.builder.declared(id);
        if let IdKind::InPlan(inputs) = &self.names
            && let Some((_, input)) = inputs.get(&name)
        {
            let message = format!("the step `{}` has the name of an input", short(&name));
            let note = Note::error(Code::DuplicateId, id.place(), message);
            let note = note.related(input.clone(), "the input is here");
            let help = "steps and inputs need different names: rename one of them".to_owned();
            self.builder.note(note.help(help));
            return;
        }
        self.is_new(&name, id.place());
    }

    fn output(&mut self, top: &Members<'_>) -> Output {
        let members = top
            .given(plan::OUTPUT)
            .and_then(|node| self.object(node, "`output`", output::ALL));
        let Some(members) = members else {
            return Output {
                type_name: "".into(),
                value: Template::Null,
            };
        };
        let type_name = self
            .text(&members, output::TYPE, "the type of the output")
            .into();
        let value = match members.get(output::VALUE) {
            Some(node) => {
                self.builder.spans.output = Some(self.builder.spans.templates.len());
                self.template(node, None, 0)
            }
            None => Template::Null,
        };
        Output { type_name, value }
    }

    /// A string, which is text whatever it looks like.
    fn literal(&mut self, node: JsonNode<'_>, what: &str) -> Option<String> {
        let text = self.builder.text(node, what)?;
        #[cfg(feature = "dynamic")]
        self.builder.foreign(&text, &Default::default());
        Some(text.value.into_owned())
    }

    /// Adds an error, and says so by `None`.
    fn error<T>(
        &mut self,
        code: Code,
        place: Range<usize>,
        message: impl Into<String>,
    ) -> Option<T> {
        self.builder.error(Note::error(code, place, message))
    }

    /// The members of an object that has these and no others.
    fn object<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
        known: &[&str],
    ) -> Option<Members<'a>> {
        let members = self.builder.members(node, what)?;
        self.builder.only(&members, what, known);
        Some(members)
    }

    /// The elements of a list that may be left out.
    fn list<'a>(&mut self, members: &Members<'a>, name: &str, what: &str) -> Vec<JsonNode<'a>> {
        members
            .given(name)
            .and_then(|node| self.builder.items(node, what))
            .unwrap_or_default()
    }

    /// Pointers to what is secret, which may be left out.
    fn secrets(&mut self, members: &Members<'_>, name: &str) -> Secrets {
        let mut pointers = Vec::new();
        for node in self.list(members, name, &format!("`{name}`")) {
            let text = self.builder.text(node, "a pointer to a secret");
            pointers.extend(text.map(|text| text.value.into_owned()));
        }
        pointers.into_iter().collect()
    }

    /// A string that may be left out.
    fn text(&mut self, members: &Members<'_>, name: &str, what: &str) -> String {
        self.builder.optional_text(members, name, what)
    }

    /// A string that must be there. Where it is a name, it must be one.
    fn required(
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
    fn one_of(
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
