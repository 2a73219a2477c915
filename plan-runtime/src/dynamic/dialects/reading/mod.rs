//! The parts that readers share: names, templates, and findings.

mod block;
pub(crate) mod body;
pub(crate) mod counts;
pub(crate) mod cycle;
mod extensions;
pub(crate) mod foreign;
pub(crate) mod inputs;
mod instead;
pub(crate) mod layout;
pub(crate) mod listing;
mod lookup;
mod members;
pub(crate) mod names;
pub(crate) mod placeholder;
pub(crate) mod policy;
pub(crate) mod roles;
pub(crate) mod steps;
mod strings;
mod template;
mod test;
pub(crate) mod unknown;
mod words;

pub(crate) use body::nothing;
pub(crate) use members::{Member, Members, duplicate, wrong_kind};
pub(crate) use test::{is_reference, meant, test, unknown_beside};

use crate::dynamic::dialects::{Profile, Rules};
use crate::dynamic::finding::{Code, Help, Note, Notes};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::limits::DocumentLimits;
use crate::dynamic::spans::{Span, Spans};
use crate::plan::depth::DEEPEST_VALUE;
use crate::plan::json::names::plan;
use crate::plan::{Action, Body, Bound, Input, Origin, Plan, Step, Template, ToolInfo};
use counts::{Counts, VALUES_OF_STEP};
use names::{BlockRead, OwnStep};
use policy::Own;
use std::collections::HashMap;
use std::mem::replace;
use std::ops::Range;
use std::sync::Arc;

/// The largest number of listed names in a finding without a similar name.
pub(crate) const MOST_NAMES: usize = 8;

/// The notation of documents, steps and values in a dialect.
///
/// All dialects have equal members for the bodies of steps, but not for calls and for the references in values.
pub(crate) trait Syntax: Sync {
    /// Reads a document.
    fn document(&self, reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Plan>;

    /// Returns the ID of a step without a declared one.
    fn default_id(&self, reader: &PlanReader, index: usize) -> Option<String>;

    /// Reads the members of a step except its ID.
    fn step(&self, reader: &mut PlanReader, index: usize, members: Members<'_>, step: &mut Step);

    /// Returns the possible members of a document for the list of steps.
    fn lists(&self) -> &'static [&'static str];

    /// Returns the member of a document for a list of outputs.
    fn outputs(&self) -> &'static str {
        plan::OUTPUT
    }

    /// Returns all members of a body inside a step.
    fn body(&self) -> &'static [&'static str];

    /// Returns the name of the member with a call's arguments.
    fn arguments(&self) -> &'static str;

    /// Returns the notation of a tool with arguments, for a message.
    fn tool_form(&self) -> &'static str;

    /// Reads a call.
    fn call(&self, reader: &mut PlanReader, members: &Members<'_>) -> Action;

    /// Reads a string as the template with the index `at`.
    fn string(&self, reader: &mut PlanReader, node: JsonNode<'_>, at: usize) -> Option<Template>;

    /// Reads an object as a template.
    fn object(&self, reader: &mut PlanReader, node: JsonNode<'_>, depth: usize)
    -> Option<Template>;

    /// Reads a condition of a branch or of a loop's rounds, or a part of a condition.
    fn test(&self, reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Template {
        reader.template(node, None, depth)
    }

    /// Returns `true` if an amount in a policy is a template.
    fn gives(&self, reader: &PlanReader, node: JsonNode<'_>) -> bool;

    /// Reads the name of a step in the current plan or block.
    fn own_step(&self, reader: &mut PlanReader, node: JsonNode<'_>, of: OwnStep) -> Option<usize>;

    /// Returns the member of a step with its dependencies, and the kind of their names.
    fn after(&self) -> (&'static str, JsonType);

    /// Returns the amounts of a policy that are members of a step.
    fn policy(&self) -> &'static Own {
        &[]
    }

    /// Returns `true` if references name steps like other values, instead of by index.
    fn names_steps(&self) -> bool {
        self.after().1 == JsonType::String
    }
}

/// The state of reading a plan.
pub(crate) struct PlanReader {
    pub(crate) rules: &'static Rules,
    pub(crate) profile: Profile,
    pub(crate) origin: Origin,
    /// `false` for a template outside of a plan, with indices instead of names.
    pub(crate) in_plan: bool,
    pub(crate) limits: DocumentLimits,
    pub(crate) counts: Counts,
    pub(crate) notes: Notes,
    pub(crate) inputs: Vec<Input>,
    /// The inputs by their names. An input that only a later reference declares has no index.
    pub(crate) input_names: HashMap<Box<str>, Option<usize>>,
    /// The tools that were called last under each name.
    tools: HashMap<String, Arc<ToolInfo>>,
    /// The position that shows the document's dialect.
    shows: Option<Range<usize>>,
    /// The plan or the block that is being read.
    pub(crate) here: Scope,
    /// The enclosing plans and blocks, the outermost first.
    pub(crate) around: Vec<Scope>,
}

/// A plan or a block that is being read.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) spans: Spans,
    /// The steps that references can name.
    ids: HashMap<Box<str>, usize>,
    /// The number of steps.
    pub(crate) steps: usize,
    /// The step that is being read, with its id.
    pub(crate) current: Option<(usize, Arc<str>)>,
    /// The inputs by their names.
    pub(crate) names: HashMap<String, (usize, Range<usize>)>,
    /// The local values in scope.
    pub(crate) locals: Vec<Bound>,
    /// The values from around a block that the block has read so far.
    reads: Vec<BlockRead>,
    /// The number of bodies around the plan or the block.
    pub(crate) depth: usize,
}

impl PlanReader {
    pub(crate) fn new(rules: &'static Rules, profile: Profile, limits: DocumentLimits) -> Self {
        Self {
            rules,
            profile,
            origin: Origin::Written,
            in_plan: true,
            limits: DocumentLimits {
                depth: limits.depth.min(DEEPEST_VALUE),
                ..limits
            },
            counts: Counts::of(&limits),
            notes: Notes::of(limits.findings),
            inputs: Vec::new(),
            input_names: HashMap::new(),
            tools: HashMap::new(),
            shows: None,
            here: Scope::default(),
            around: Vec::new(),
        }
    }

    /// Returns the plan or block of this level.
    pub(crate) fn at(&self, level: usize) -> &Scope {
        self.around.get(level).unwrap_or(&self.here)
    }

    fn at_mut(&mut self, level: usize) -> &mut Scope {
        self.around.get_mut(level).unwrap_or(&mut self.here)
    }

    /// Begins a block inside this number of bodies, with these declared inputs.
    fn enter(&mut self, depth: usize, reads: Vec<BlockRead>) {
        let names = reads.iter().enumerate();
        let names = names.map(|(index, read)| (read.name.clone(), (index, read.place.clone())));
        let block = Scope {
            names: names.collect(),
            reads,
            depth,
            ..Scope::default()
        };
        self.around.push(replace(&mut self.here, block));
    }

    /// Ends a block, and returns all its inputs and its positions.
    fn leave(&mut self) -> (Vec<BlockRead>, Spans) {
        let around = self.around.pop().unwrap_or_default();
        let mut block = replace(&mut self.here, around);
        block.spans.shrink_to_fit();
        (block.reads, block.spans)
    }

    /// Reads a value that may contain references.
    pub(crate) fn template(
        &mut self,
        node: JsonNode<'_>,
        key: Option<JsonNode<'_>>,
        depth: usize,
    ) -> Template {
        let place = node.place();
        self.count(1, place.clone());
        let at = self.place(place, key.map(|key| key.place()));
        let template = template::value_at(self, node, at, depth);
        self.here.spans.templates.close(at);
        template
    }

    /// Records the position of the next template, whose parts come next.
    pub(crate) fn place(&mut self, value: Range<usize>, key: Option<Range<usize>>) -> usize {
        let key = key.map(Span::from);
        self.here.spans.templates.open(Span::from(value), key)
    }

    /// Returns null instead of the template whose parts would come next.
    pub(crate) fn broken(&mut self, at: usize) -> Template {
        self.here.spans.break_template(at);
        Template::Null
    }

    /// Returns null for a template that is missing or not to be read.
    pub(crate) fn no_template(&mut self, place: Range<usize>) -> Template {
        let at = self.place(place, None);
        self.broken(at)
    }

    /// Reports a missing template in the member `name`, and returns a placeholder for the template.
    pub(crate) fn missing(&mut self, node: JsonNode<'_>, message: &str, name: &str) -> Template {
        let help = format!("add `\"{name}\": …`");
        self.report(Code::MissingMember, node.place(), message, help);
        self.no_template(node.place())
    }

    /// Marks the current step as broken, and returns a placeholder for its body.
    pub(crate) fn broken_body(&mut self) -> Body {
        if let Some((index, _)) = self.here.current {
            self.here.spans.steps[index].broken = true;
        }
        nothing()
    }

    /// Records the IDs of all steps first, since steps may refer to later steps. To save memory, the reader reads the IDs again with the
    /// steps.
    pub(crate) fn declare_steps(&mut self, nodes: &[JsonNode<'_>]) {
        for (index, node) in nodes.iter().enumerate() {
            if !self.count(VALUES_OF_STEP, node.place()) {
                break;
            }
            steps::declare(self, index, *node);
        }
    }

    pub(crate) fn steps(&mut self, nodes: &[JsonNode<'_>]) -> Vec<Step> {
        let mut steps = Vec::with_capacity(self.room(nodes.len(), VALUES_OF_STEP));
        for (index, node) in nodes.iter().enumerate() {
            if self.is_over() {
                break;
            }
            steps.push(steps::step(self, index, *node));
        }
        self.here.current = None;
        steps
    }

    /// Reads nodes until a limit is exceeded. Each counts as this number of values.
    pub(crate) fn each<T>(
        &mut self,
        nodes: Vec<JsonNode<'_>>,
        values: usize,
        mut read: impl FnMut(&mut Self, JsonNode<'_>) -> Option<T>,
    ) -> Vec<T> {
        let mut all = Vec::with_capacity(self.room(nodes.len(), values.max(1)));
        for node in nodes {
            if !self.count(values, node.place()) {
                break;
            }
            all.extend(read(self, node));
        }
        all.shrink_to_fit();
        all
    }

    /// Adds a note on the step that is being read.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(match self.path() {
            Some(path) => note.step(&path),
            None => note,
        });
    }

    /// Adds an error and its help.
    pub(crate) fn report(
        &mut self,
        code: Code,
        place: Range<usize>,
        message: impl Into<String>,
        help: impl Help,
    ) {
        self.note(Note::error(code, place, message).help(help));
    }

    /// Adds an error and its help, and returns `None`.
    pub(crate) fn fail<T>(
        &mut self,
        code: Code,
        place: Range<usize>,
        message: impl Into<String>,
        help: impl Help,
    ) -> Option<T> {
        self.report(code, place, message, help);
        None
    }

    /// Adds an error and returns `None`.
    pub(crate) fn error<T>(&mut self, note: Note) -> Option<T> {
        self.note(note);
        None
    }

    /// Returns the current step: its ID, after the IDs of the enclosing steps.
    fn path(&self) -> Option<Arc<str>> {
        let scopes = self.around.iter().chain([&self.here]);
        let ids = scopes.filter_map(|scope| Some(&*scope.current.as_ref()?.1));
        let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
        (!ids.is_empty()).then(|| ids.join(".").into())
    }

    /// Returns the results after the plan is complete.
    pub(crate) fn end(self) -> (Notes, Spans) {
        (self.notes, self.here.spans)
    }
}
