//! What there is to know of a dialect: a row of the table in [`Dialect::rules`](super::Dialect::rules).

use super::guide::Guide;
use super::reading::{Members, PlanBuilder};
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, ScannedReference, Style, Target};
use super::schema::Form;
use crate::Plan;
use crate::dynamic::Unsupported;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::{Reference, Segment};
use crate::resolve::describe::short;
use std::collections::HashSet;

/// Finds the references in a string.
type Scanner = for<'t> fn(&'t str, &dyn Fn(&str) -> bool) -> Scan<'t>;

/// How a dialect is recognized, read, scanned for references, written, and named in messages.
pub(crate) struct Rules {
    /// Its name: `tool plan`.
    pub(crate) name: &'static str,
    /// What a document in it is called in a message: ``a tool plan (`$ref:`)``.
    pub(crate) document: &'static str,

    /// What of a document as a whole shows that it is in this dialect.
    pub(crate) sign: fn(&Outline<'_>) -> Option<Sign>,
    /// Whether a step shows that the document is in this dialect, where nothing around the steps does.
    pub(crate) has_step: fn(&Outline<'_>, &Members<'_>) -> bool,
    /// Whether a document is in this dialect that has steps, but no call in them.
    pub(crate) may_lack_calls: fn(&Outline<'_>) -> bool,
    /// What a document is that is in this dialect where nothing in it shows another.
    pub(crate) usual: Option<JsonType>,

    /// Reads a document.
    pub(crate) read: fn(&mut PlanBuilder, JsonNode<'_>) -> Option<Plan>,
    /// Writes a document.
    pub(crate) write: fn(&Plan) -> Result<String, Unsupported>,

    /// What the schema of its plans has of its own.
    pub(crate) form_of_schema: Form,
    /// How it is explained to a model.
    pub(crate) guide: Guide,

    /// The member that has the arguments of a step.
    pub(crate) arguments: &'static str,
    /// The member of a step that says how often it is tried again.
    pub(crate) retries: Option<&'static str>,
    /// How a message names a step by its index and its id.
    pub(crate) step: fn(usize, &str) -> String,
    /// The member of a step that waits for the steps with these indexes and ids.
    pub(crate) after: fn(&[(usize, &str)]) -> String,

    /// Where in a string references may be.
    pub(crate) places: Places,
    /// What a reference begins and ends with.
    pub(crate) mark: Option<Mark>,
    /// Finds the references in a string. The function says whether something has this name that references name.
    pub(crate) scan: Scanner,
    /// What is named at a place of a text as only this dialect names things, and where the name ends.
    pub(crate) target: fn(&str, usize) -> Option<(Target, usize)>,
    /// The names of inputs that references anywhere in a document have, but for those with more bytes than the number.
    pub(crate) inputs_in: fn(&str, usize) -> HashSet<Box<str>>,
    /// Whether what looks like a reference to a step that does not exist may be text for another program. In the compat profile
    /// it is.
    pub(crate) unknown_step_may_be_text: bool,
    /// Adds to the path of a reference what the compat profile allows where it leads to nothing.
    pub(crate) allow_absence: fn(&mut Reference, &ScannedReference<'_>),

    /// How a message shows a reference, in the manner of one that was written already; `None` where the dialect has none to it.
    pub(crate) style: fn(ReferenceTarget<'_>, &str) -> Option<Style>,
    /// How a document has a reference; `None` where the dialect has none to it.
    pub(crate) form: fn(ReferenceTarget<'_>, &[Segment]) -> Option<String>,
    /// How messages describe a reference inside a longer text.
    pub(crate) form_in_text: fn(&str) -> String,
    /// How text is written that would be something else.
    pub(crate) literal: fn(&str) -> String,
    /// How a part of a text, the second one, is written, so that it stays text.
    pub(crate) literal_in: fn(&str, &str) -> String,
}

/// Returns the member of a step that waits for the steps with these ids.
pub(crate) fn after_ids(steps: &[(usize, &str)]) -> String {
    let ids = steps
        .iter()
        .map(|(_, id)| format!("{:?}", short(id).to_string()));
    format!("\"after\": [{}]", ids.collect::<Vec<_>>().join(", "))
}
