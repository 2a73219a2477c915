//! Tool plans, of agentle4j: strings that are references begin with `$ref:`.
//!
//! ```json
//! {"steps": [
//!     {"id": "mail", "tool": "fetch", "arguments": {"from": "Sarah"}},
//!     {"id": "sent", "tool": "send", "arguments": "{\"to\": \"$ref:mail.0.from\"}"}
//! ], "output_steps": ["sent"]}
//! ```
//!
//! The arguments of a step are an object, or JSON text of one. There are no inputs, and no references inside a text.

mod read;
mod scan;
mod write;

use super::reading::PlanBuilder;
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, Style, end_where_missing};
use super::rules::Rules;
use crate::Plan;
use crate::dynamic::Unsupported;
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::plan::Reference;
use crate::resolve::describe::short;

pub(super) struct ToolPlan;

impl Rules for ToolPlan {
    fn name(&self) -> &'static str {
        "tool plan"
    }

    fn document(&self) -> &'static str {
        "a tool plan (`$ref:`)"
    }

    fn sign(&self, outline: &Outline<'_>) -> Option<Sign> {
        outline.has(&["output_steps"]).then_some(Sign::Certain)
    }

    fn is_usual_for(&self, kind: JsonType) -> bool {
        kind == JsonType::Object
    }

    fn read(
        &self,
        builder: &mut PlanBuilder,
        source: &Source<'_>,
        node: JsonNode<'_>,
    ) -> Option<Plan> {
        read::read(builder, source, node)
    }

    fn write(&self, plan: &Plan) -> Result<String, Unsupported> {
        write::write(plan)
    }

    fn places(&self) -> Places {
        Places::Whole
    }

    fn scan<'t>(&self, text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
        scan::scan(text, known)
    }

    fn mark(&self) -> Option<Mark> {
        Some(scan::MARK)
    }

    fn style(&self, to: ReferenceTarget<'_>, written: &str) -> Option<Style> {
        scan::style(to, written)
    }

    fn form_in_text(&self, form: &str) -> String {
        format!("use a tool to join the parts of the text, of which `{form}` is one")
    }

    fn literal(&self, text: &str) -> String {
        scan::literal(text)
    }

    /// The dialect cannot express a part of a text.
    fn literal_in(&self, text: &str, _: &str) -> String {
        scan::literal(&short(text))
    }

    fn allow_absence(&self, reference: &mut Reference, _: &str) {
        end_where_missing(&mut reference.path);
    }
}
