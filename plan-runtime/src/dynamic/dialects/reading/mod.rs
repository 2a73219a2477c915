//! The parts that readers share: names, templates, and findings.

mod around;
mod block;
mod block_reads;
mod body;
pub(crate) mod cycle;
#[cfg(feature = "dynamic")]
mod extensions;
#[cfg(feature = "dynamic")]
mod foreign;
#[cfg(feature = "dynamic")]
mod layout;
mod members;
#[cfg(feature = "dynamic")]
mod names;
mod pattern;
mod plan_reader;
mod policy;
#[cfg(feature = "dynamic")]
mod reference;
pub(crate) mod roles;
#[cfg(feature = "dynamic")]
pub(crate) mod steps;
#[cfg(feature = "dynamic")]
mod template;
mod test;
#[cfg(feature = "dynamic")]
mod unknown;
#[cfg(feature = "dynamic")]
mod words;

pub(crate) use block_reads::Found;
pub(crate) use body::nothing;
pub(crate) use members::{Member, Members, duplicate, names, wrong_kind};
pub(crate) use plan_reader::{IdKind, PlanReader, Syntax};
pub(crate) use test::{is_reference, meant, unknown_beside};

use crate::dynamic::dialects::{Dialect, Profile};
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::json_node::JsonNode;
use crate::dynamic::limits::DocumentLimits;
use crate::dynamic::spans::{Span, Spans};
use crate::plan::depth::DEEPEST_VALUE;
use crate::plan::json::{MOST_PARTS, number};
use crate::plan::{AsJson, InnerPlan, Input, Origin, Template, ToolInfo, ToolType};
use crate::print::short;
use crate::resolve::describe::counted;
use crate::shape::Secrets;
use around::Around;
use plan_graph::similar;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of listed names in a finding without a similar name.
pub(crate) const MOST_NAMES: usize = 8;

/// The largest number of unknown names with a search for a similar one, in a document with many names.
const MOST_SEARCHES: usize = 32;

/// The number of values that a step counts as, in addition to the values in it.
pub(crate) const VALUES_OF_STEP: usize = 4;

/// The smallest average size in bytes of a value in a document with many values.
const BYTES_PER_VALUE: usize = 8;

/// A plan that is being read.
pub(crate) struct PlanBuilder {
    pub(crate) dialect: Dialect,
    pub(crate) profile: Profile,
    pub(crate) origin: Origin,
    pub(crate) limits: DocumentLimits,
    pub(crate) notes: Notes,
    pub(crate) spans: Spans,
    pub(crate) inputs: Vec<Input>,
    /// The inputs by their names. An input that only a later reference declares has no index.
    pub(crate) input_names: HashMap<Box<str>, Option<usize>>,
    /// The steps that references can name.
    ids: HashMap<Box<str>, usize>,
    pub(crate) steps: usize,
    /// The tools that were called last under each name.
    tools: HashMap<String, Arc<ToolInfo>>,
    /// The number of steps so far, including those in blocks.
    all_steps: usize,
    /// The step that is being read, with its id.
    pub(crate) current: Option<(usize, Arc<str>)>,
    /// The plans and blocks around the block that is being read, the outermost first.
    around: Vec<Around>,
    /// The number of searches for a similar name so far.
    searches: usize,
    /// The position that shows the document's dialect.
    shows: Option<Range<usize>>,
    /// The largest number of values to read, and the number so far.
    most_values: usize,
    values: usize,
    /// The number of references so far.
    references: usize,
    /// `true` after a limit of another kind was exceeded.
    too_many: bool,
}

impl PlanBuilder {
    pub(crate) fn new(dialect: Dialect, profile: Profile, limits: DocumentLimits) -> Self {
        Self {
            dialect,
            profile,
            origin: Origin::Written,
            limits: DocumentLimits {
                depth: limits.depth.min(DEEPEST_VALUE),
                ..limits
            },
            notes: Notes::of(limits.findings),
            spans: Spans::default(),
            inputs: Vec::new(),
            input_names: HashMap::new(),
            ids: HashMap::new(),
            steps: 0,
            tools: HashMap::new(),
            all_steps: 0,
            current: None,
            around: Vec::new(),
            searches: 0,
            shows: None,
            most_values: limits.values,
            values: 0,
            references: 0,
            too_many: false,
        }
    }

    /// Allows as many values as a document of this length may have.
    pub(crate) fn allow_values(&mut self, bytes: usize) {
        self.most_values = self.limits.values.saturating_add(bytes / BYTES_PER_VALUE);
    }

    /// Counts values, and reports an exceeded limit. Returns `true` if the reader has to read the values.
    pub(crate) fn count(&mut self, values: usize, place: Range<usize>) -> bool {
        let before = self.values;
        self.values = before.saturating_add(values);
        if before <= self.most_values && self.values > self.most_values {
            let message = format!(
                "the document has more than {} values, the limit for its length",
                self.most_values
            );
            let help = format!(
                "beyond {} values, each takes {BYTES_PER_VALUE} bytes on average; if the document is right, raise `DocumentLimits::values`",
                self.limits.values
            );
            let note = Note::error(Code::LimitPassed, place, message);
            self.note(note.label("the first value over the limit").help(help));
        }
        !self.is_over()
    }

    /// Returns `true` if the rest of the document is not read, because of exceeded limits or too many errors.
    pub(crate) fn is_over(&self) -> bool {
        self.values > self.most_values || self.too_many || self.notes.is_full()
    }

    /// Counts a reference. Returns `true` if the reader has to read it.
    pub(crate) fn count_reference(&mut self, place: Range<usize>) -> bool {
        self.references += 1;
        let most = self.limits.references;
        self.no_more(self.references, most, "reference", "references", place);
        !self.is_over()
    }

    /// Counts an input, before which there were as many as this.
    pub(crate) fn count_input(&mut self, before: usize, place: Range<usize>) {
        self.no_more(before + 1, self.limits.inputs, "input", "inputs", place);
    }

    fn no_more(
        &mut self,
        number: usize,
        most: usize,
        what: &str,
        limit: &'static str,
        place: Range<usize>,
    ) {
        if number <= most || self.too_many {
            return;
        }
        self.too_many = true;
        let message = format!("the plan has more than {}", counted(most, what));
        let note = Note::limit(limit, place, message);
        self.note(note.label(format!("the first {what} over the limit")));
    }

    /// Adds an error if a member exceeds the allowed number of attempts.
    pub(crate) fn attempts_fit(&mut self, attempts: u32, member: &str, place: Range<usize>) {
        let most = self.limits.attempts;
        if attempts > most {
            let attempts = counted(attempts as usize, "attempt");
            let message =
                format!("`{member}` asks for {attempts}, but a step may have at most {most}");
            self.note(Note::limit("attempts", place, message));
        }
    }

    /// Adds an error if a member states a longer time than is allowed.
    pub(crate) fn time_fits(&mut self, time: Duration, member: &str, place: Range<usize>) {
        let most = self.limits.time;
        if time > most {
            let [time, most] = [time, most].map(humantime::format_duration);
            let message = format!("`{member}` is {time}, but may be at most {most}");
            self.note(Note::limit("time", place, message));
        }
    }

    /// Checks the number of a reference's parts, and reports an exceeded limit.
    pub(crate) fn path_fits(&mut self, parts: usize, place: Range<usize>) -> Option<()> {
        if parts <= MOST_PARTS {
            // A part needs more memory than its characters in the document.
            self.count(parts / 2, place);
            return Some(());
        }
        let message = format!("the reference has {parts} parts, and at most {MOST_PARTS} are read");
        self.error(Note::error(Code::LimitPassed, place, message))
    }

    /// Checks the number of steps, and reports an exceeded limit.
    pub(crate) fn counted(&mut self, nodes: &[JsonNode<'_>]) -> bool {
        self.steps = nodes.len();
        let (before, most) = (self.all_steps, self.limits.steps);
        self.all_steps = before.saturating_add(nodes.len());
        let Some(first) = nodes.get(most.saturating_sub(before)) else {
            return true;
        };
        let message = if self.around.is_empty() {
            let count = nodes.len();
            format!("the plan has {count} steps, and at most {most} are read")
        } else {
            self.too_many = true;
            format!("the plan has more than {most} steps, those in blocks included")
        };
        let note = Note::limit("steps", first.place(), message);
        self.note(note.label("this step exceeds the limit"));
        false
    }

    /// Reports a list or an object inside more than the allowed number of lists and objects, and returns `false` for
    /// it.
    pub(crate) fn fits(&mut self, depth: usize, place: Range<usize>) -> bool {
        if depth < self.limits.depth {
            return true;
        }
        let most = self.limits.depth;
        let levels = counted(most, "level");
        let message = format!("lists and objects are nested more than {levels} deep");
        let raised = (most < DEEPEST_VALUE).then_some("depth");
        self.note(Note::limit(raised, place, message));
        false
    }

    /// Reads a number as the template with the index `at`.
    pub(crate) fn number(&mut self, node: JsonNode<'_>, at: usize) -> Template {
        if let Some(number) = number(node.slice()) {
            return Template::Number(number);
        }
        let message = format!(
            "the number {} cannot be represented exactly",
            short(node.slice())
        );
        let help = "write it as a string, if the tool takes one".to_owned();
        let place = node.place();
        self.note(Note::error(Code::InexactNumber, place, message).help(help));
        self.broken(at)
    }

    /// Returns the capacity to reserve for these parts, if each counts as `values` values. Parts beyond it are not
    /// read.
    pub(crate) fn room(&self, parts: usize, values: usize) -> usize {
        let rest = self.most_values.saturating_sub(self.values);
        parts.min(rest / values + 1)
    }

    /// Reports a name that is too long, and returns `false` for it.
    pub(crate) fn name_fits(&mut self, name: &str, what: &str, place: Range<usize>) -> bool {
        let most = self.limits.name;
        if name.len() > most {
            let message = format!(
                "{what} has {} bytes, and at most {most} are read",
                name.len()
            );
            self.note(Note::limit("name", place, message));
        }
        name.len() <= most
    }

    /// Records the position of the next template, whose parts come next.
    pub(crate) fn place(&mut self, value: Range<usize>, key: Option<Range<usize>>) -> usize {
        let key = key.map(Span::from);
        self.spans.templates.open(Span::from(value), key)
    }

    /// Returns null in place of the template whose parts would come next.
    pub(crate) fn broken(&mut self, at: usize) -> Template {
        self.spans.break_template(at);
        Template::Null
    }

    /// Adds a note on the step that is being read.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(match self.path() {
            Some(path) => note.step(&path),
            None => note,
        });
    }

    /// Records an error and returns `None`.
    pub(crate) fn error<T>(&mut self, note: Note) -> Option<T> {
        self.note(note);
        None
    }

    /// Records the first part that shows the document's dialect.
    pub(crate) fn shown_by(&mut self, place: Range<usize>) {
        self.shows.get_or_insert(place);
    }

    /// Returns the results after the plan is complete.
    pub(crate) fn end(self) -> (Notes, Spans) {
        (self.notes, self.spans)
    }

    /// Registers a step under its declared ID. Returns `false` if the ID cannot be read.
    pub(crate) fn declare_as(&mut self, index: usize, given: JsonNode<'_>) -> bool {
        const WHAT: &str = "the id of a step";
        self.spans.steps[index].id = given.place().into();
        let text = self.text(given, WHAT);
        let text = text.filter(|text| self.name_fits(&text.value, WHAT, given.place()));
        if let Some(text) = &text {
            self.declare(index, &text.value, given.place());
        }
        text.is_some()
    }

    /// Returns the declared ID of a step, or an empty string if it cannot be read.
    pub(crate) fn declared(&self, given: JsonNode<'_>) -> String {
        let longest = self.limits.name.min(self.limits.string);
        let id = given.text().ok().filter(|id| id.value.len() <= longest);
        id.map(|id| id.value.into_owned()).unwrap_or_default()
    }

    /// Makes a step known under an id.
    pub(crate) fn declare(&mut self, index: usize, id: &str, place: Range<usize>) {
        if id.trim().is_empty() {
            let help = "references and reports name the step by its id".to_owned();
            self.note(
                Note::error(Code::EmptyName, place, "the id of the step is empty").help(help),
            );
            return;
        }
        if let Some(&other) = self.ids.get(id) {
            let first = self.spans.steps.get(other).map(|step| step.id.range());
            let note = Note::error(
                Code::DuplicateId,
                place,
                format!("two steps have the id `{}`", short(id)),
            );
            let note = match first {
                Some(first) => note.related(first, "the first one is here"),
                None => note,
            };
            self.note(
                note.help(
                    "a reference could mean either, so give one of them another id".to_owned(),
                ),
            );
            return;
        }
        self.ids.insert(id.into(), index);
    }

    /// Returns the description of a step's tool. Steps with equal descriptions share it.
    pub(crate) fn tool(
        &mut self,
        name: &str,
        description: String,
        [secret_arguments, secret_output]: [Secrets; 2],
    ) -> Arc<ToolInfo> {
        if let Some(tool) = self.tools.get(name)
            && tool.description == description
            && tool.secret_arguments == secret_arguments
            && tool.secret_output == secret_output
        {
            return tool.clone();
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
        self.tools.insert(name.to_owned(), tool.clone());
        tool
    }

    pub(crate) fn step_of(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// Returns the step with this ID. Reports an unknown ID at `place`.
    pub(crate) fn known_step(&mut self, id: &str, place: Range<usize>) -> Option<usize> {
        if let Some(index) = self.step_of(id) {
            return Some(index);
        }
        let (note, _) = self.unknown_step(id, place);
        self.error(note)
    }

    /// Returns the finding for a missing step, and `true` if a step has a similar ID.
    pub(super) fn unknown_step(&mut self, id: &str, place: Range<usize>) -> (Note, bool) {
        let message = format!("there is no step `{}`", short(id));
        let names = self.steps_to_compare();
        let meant = similar(id, names.iter().map(|(_, name)| name.as_str()));
        let help = match meant {
            Some(meant) => Some(format!(
                "a step with a similar name exists: `{}`",
                short(meant)
            )),
            None => self::names("step", names.iter().map(|(_, name)| name.as_str())),
        };
        let note = Note::error(Code::UnknownStep, place, message).help(help);
        (note, meant.is_some())
    }

    /// Returns the steps that a reference may name, with their indices, unless the document has too many errors to compare all names.
    pub(super) fn steps_to_compare(&mut self) -> Vec<(usize, String)> {
        if self.ids.len() > MOST_NAMES && !self.looks_for_similar() {
            return Vec::new();
        }
        let ids = self.ids.iter();
        let mut names: Vec<(usize, String)> = ids
            .map(|(name, index)| (*index, name.to_string()))
            .collect();
        names.sort_unstable();
        names.extend(self.steps_around());
        names
    }

    /// Counts a search for a similar name. Returns `false` at the limit, since a document may consist of errors.
    pub(crate) fn looks_for_similar(&mut self) -> bool {
        self.searches += 1;
        self.searches <= MOST_SEARCHES
    }
}
