//! The limits of documents, and the numbers that they bound.

use super::PlanReader;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::dynamic::limits::DocumentLimits;
use crate::plan::depth::{DEEPEST_BODY, DEEPEST_VALUE};
use crate::plan::json::MOST_PARTS;
use crate::resolve::describe::counted;
use std::ops::Range;
use std::time::Duration;

/// The largest number of unknown names with a search for a similar one, in a document with many names.
const MOST_SEARCHES: usize = 32;

/// The number of values that a step counts as, in addition to the values in it.
pub(crate) const VALUES_OF_STEP: usize = 4;

/// The smallest average size in bytes of a value in a document with many values.
const BYTES_PER_VALUE: usize = 8;

/// The numbers so far.
pub(crate) struct Counts {
    /// The largest number of values to read, and the number so far.
    most_values: usize,
    values: usize,
    references: usize,
    /// The number of steps, including those in blocks.
    steps: usize,
    /// The number of searches for a similar name.
    searches: usize,
    /// `true` after a limit other than the number of values was exceeded.
    too_many: bool,
}

impl Counts {
    pub(super) fn of(limits: &DocumentLimits) -> Self {
        Self {
            most_values: limits.values,
            values: 0,
            references: 0,
            steps: 0,
            searches: 0,
            too_many: false,
        }
    }
}

impl PlanReader {
    /// Allows as many values as a document of this length may have.
    pub(crate) fn allow_values(&mut self, bytes: usize) {
        self.counts.most_values = self.limits.values.saturating_add(bytes / BYTES_PER_VALUE);
    }

    /// Counts values, and reports an exceeded limit. Returns `true` if the reader has to read the values.
    pub(crate) fn count(&mut self, values: usize, place: Range<usize>) -> bool {
        let (before, most) = (self.counts.values, self.counts.most_values);
        self.counts.values = before.saturating_add(values);
        if before <= most && self.counts.values > most {
            let message =
                format!("the document has more than {most} values, the limit for its length");
            let help = format!(
                "after {} values, the document needs {BYTES_PER_VALUE} bytes for each further value; if the document is right, raise `DocumentLimits::values`",
                self.limits.values
            );
            let note = Note::error(Code::LimitPassed, place, message);
            self.note(note.label("the first value over the limit").help(help));
        }
        !self.is_over()
    }

    /// Returns `true` if the rest of the document is not read, because of exceeded limits or too many errors.
    pub(crate) fn is_over(&self) -> bool {
        let counts = &self.counts;
        counts.values > counts.most_values || counts.too_many || self.notes.is_full()
    }

    /// Returns the capacity to reserve for these parts, if each counts as `values` values. Parts beyond it are not
    /// read.
    pub(crate) fn room(&self, parts: usize, values: usize) -> usize {
        let rest = self.counts.most_values.saturating_sub(self.counts.values);
        parts.min(rest / values + 1)
    }

    /// Counts a search for a similar name. Returns `false` at the limit, since a document may consist of errors.
    pub(crate) fn looks_for_similar(&mut self) -> bool {
        self.counts.searches += 1;
        self.counts.searches <= MOST_SEARCHES
    }

    /// Reports a list or an object inside more than the allowed number of lists and objects, and returns `false` for
    /// it.
    pub(crate) fn fits(&mut self, depth: usize, place: Range<usize>) -> bool {
        let most = self.limits.depth;
        if depth < most {
            return true;
        }
        let levels = counted(most, "level");
        let message = format!("lists and objects are nested more than {levels} deep");
        let raised = (most < DEEPEST_VALUE).then_some("depth");
        self.note(Note::limit(raised, place, message));
        false
    }

    /// Reports a name that is too long, and returns `false` for it.
    pub(crate) fn name_fits(&mut self, name: &str, what: &str, place: Range<usize>) -> bool {
        let (bytes, most) = (name.len(), self.limits.name);
        if bytes > most {
            let message = format!("{what} has {bytes} bytes, but the limit is {most}");
            self.note(Note::limit("name", place, message));
        }
        bytes <= most
    }
}

/// Counts a reference. Returns `true` if the reader has to read it.
pub(crate) fn count_reference(reader: &mut PlanReader, place: Range<usize>) -> bool {
    reader.counts.references += 1;
    let (number, most) = (reader.counts.references, reader.limits.references);
    no_more(reader, (number, most), "reference", "references", place);
    !reader.is_over()
}

/// Counts an input, before which there were as many as this.
pub(crate) fn count_input(reader: &mut PlanReader, before: usize, place: Range<usize>) {
    let most = reader.limits.inputs;
    no_more(reader, (before + 1, most), "input", "inputs", place);
}

fn no_more(
    reader: &mut PlanReader,
    (number, most): (usize, usize),
    what: &str,
    limit: &'static str,
    place: Range<usize>,
) {
    if number > most && !reader.counts.too_many {
        reader.counts.too_many = true;
        let message = format!("the plan has more than {}", counted(most, what));
        let note = Note::limit(limit, place, message);
        reader.note(note.label(format!("the first {what} over the limit")));
    }
}

/// Adds an error if a member exceeds the allowed number of attempts.
pub(crate) fn attempts_fit(
    reader: &mut PlanReader,
    attempts: u32,
    member: &str,
    place: Range<usize>,
) {
    let most = reader.limits.attempts;
    if attempts > most {
        let attempts = counted(attempts as usize, "attempt");
        let message = format!("`{member}` asks for {attempts}, but the limit is {most}");
        reader.note(Note::limit("attempts", place, message));
    }
}

/// Adds an error if a member states a longer time than is allowed.
pub(crate) fn time_fits(
    reader: &mut PlanReader,
    time: Duration,
    member: &str,
    place: Range<usize>,
) {
    let most = reader.limits.time;
    if time > most {
        let [time, most] = [time, most].map(humantime::format_duration);
        let message = format!("`{member}` is {time}, but the limit is {most}");
        reader.note(Note::limit("time", place, message));
    }
}

/// Checks the number of a reference's parts, and reports an exceeded limit.
pub(crate) fn path_fits(reader: &mut PlanReader, parts: usize, place: Range<usize>) -> Option<()> {
    if parts <= MOST_PARTS {
        // A part needs more memory than its characters in the document.
        reader.count(parts / 2, place);
        return Some(());
    }
    let message = format!("the reference has {parts} parts, but the limit is {MOST_PARTS}");
    reader.fail(Code::LimitPassed, place, message, None::<&str>)
}

/// Checks the number of steps, and reports an exceeded limit.
pub(crate) fn steps_fit(reader: &mut PlanReader, nodes: &[JsonNode<'_>]) -> bool {
    reader.here.steps = nodes.len();
    let (before, most) = (reader.counts.steps, reader.limits.steps);
    reader.counts.steps = before.saturating_add(nodes.len());
    let Some(first) = nodes.get(most.saturating_sub(before)) else {
        return true;
    };
    let message = if reader.around.is_empty() {
        let count = nodes.len();
        format!("the plan has {count} steps, but the limit is {most}")
    } else {
        reader.counts.too_many = true;
        format!("the plan has more than {most} steps, including the steps in blocks")
    };
    let note = Note::limit("steps", first.place(), message);
    reader.note(note.label("the first step over the limit"));
    false
}

/// Reports a body that is nested too deep, and returns `false` for it.
pub(super) fn depth_fits(reader: &mut PlanReader, depth: usize, node: JsonNode<'_>) -> bool {
    let deepest = reader.limits.depth.min(DEEPEST_BODY);
    if depth >= deepest {
        let levels = counted(deepest, "level");
        let message = format!("conditions, loops and blocks are nested more than {levels} deep");
        let raised = (deepest < DEEPEST_BODY).then_some("depth");
        reader.note(Note::limit(raised, node.place(), message));
    }
    depth < deepest
}
