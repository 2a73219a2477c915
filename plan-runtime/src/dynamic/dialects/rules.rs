//! What there is to know of a dialect: a row of the table in [`Dialect::rules`].

use super::reading::{Members, PlanBuilder};
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, Style, Target};
use crate::Plan;
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::dynamic::{Severity, Unsupported};
use crate::plan::{Reference, Segment};
use crate::resolve::describe::short;
use std::collections::HashSet;

/// How a dialect is recognized, read, scanned for references, written, and named in messages.
///
/// The methods with a body say what most dialects do.
pub(in crate::dynamic) trait Rules: Sync {
    /// Its name: `tool plan`.
    fn name(&self) -> &'static str;

    /// What a document in it is called in a message: ``a tool plan (`$ref:`)``.
    fn document(&self) -> &'static str;

    /// What of a document as a whole shows that it is in this dialect.
    fn sign(&self, _: &Outline<'_>) -> Option<Sign> {
        None
    }

    /// Whether a step shows that the document is in this dialect, where nothing around the steps does.
    fn has_step(&self, _: &Outline<'_>, _step: &Members<'_>) -> bool {
        false
    }

    /// Whether a list or an object is in this dialect where nothing in it shows another.
    fn is_usual_for(&self, _: JsonType) -> bool {
        false
    }

    /// Reads a document.
    fn read(
        &self,
        builder: &mut PlanBuilder,
        source: &Source<'_>,
        node: JsonNode<'_>,
    ) -> Option<Plan>;

    /// Writes a document.
    fn write(&self, plan: &Plan) -> Result<String, Unsupported>;

    /// The member that has the arguments of a step.
    fn arguments(&self) -> &'static str {
        "arguments"
    }

    /// The member of a step that says how often it is tried again.
    fn retries(&self) -> Option<&'static str> {
        None
    }

    /// What a member is that nothing reads.
    fn unknown_member(&self) -> Severity {
        Severity::Warning
    }

    /// How a message names a step.
    fn step(&self, _index: usize, id: &str) -> String {
        format!("step `{}`", short(id))
    }

    /// Where in a string references may be.
    fn places(&self) -> Places;

    /// Finds the references in a string. `known` says whether a step has this id.
    fn scan<'t>(&self, text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t>;

    /// What a reference begins and ends with.
    fn mark(&self) -> Option<Mark>;

    /// What is named at a place of a text as only this dialect names things, and where the name ends.
    fn target(&self, _text: &str, _at: usize) -> Option<(Target, usize)> {
        None
    }

    /// The names of inputs, of at most `longest` bytes, that references anywhere in a document have.
    fn inputs_in(&self, _json: &str, _longest: usize) -> HashSet<Box<str>> {
        HashSet::new()
    }

    /// How a message shows a reference, in the manner of one that was `written` already; `None` where the dialect has none to it.
    fn style(&self, to: ReferenceTarget<'_>, written: &str) -> Option<Style>;

    /// How a document has a reference; `None` where the dialect has none to it.
    fn form(&self, to: ReferenceTarget<'_>, path: &[Segment]) -> Option<String> {
        Some(self.style(to, "")?.write(path))
    }

    /// How messages describe a reference inside a longer text.
    fn form_in_text(&self, form: &str) -> String {
        format!("the reference is `{form}`")
    }

    /// How text is written that would be something else.
    fn literal(&self, text: &str) -> String;

    /// How `part` of a text is written, so that it stays text.
    fn literal_in(&self, _text: &str, part: &str) -> String {
        self.literal(part)
    }

    /// Whether what looks like a reference to a step that does not exist may be text for another program. In the compat profile
    /// it is.
    fn unknown_step_may_be_text(&self) -> bool {
        false
    }

    /// Adds to the path of a reference what the compat profile allows where it leads to nothing.
    fn allow_absence(&self, _reference: &mut Reference, _written: &str) {}
}
