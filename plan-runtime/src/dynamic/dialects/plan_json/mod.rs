//! Plan JSON: what [`Plan`] serializes to, which has all that a plan can be.
//!
//! ```json
//! {"name": "reply", "inputs": [{"name": "text", "type": "String"}], "steps": [
//!     {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
//!         "body": {"reference": {"input": "text", "pointer": ""}}
//!     }}}
//! ], "output": {"value": {"reference": {"step": "sent", "pointer": ""}}}}
//! ```
//!
//! A reference is an object, so a string is text, whatever it contains.

mod deserialize;
mod read;
mod scan;
mod write;

use super::reading::{Members, PlanBuilder};
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, Style};
use super::rules::Rules;
use crate::Plan;
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::dynamic::{Severity, Unsupported};
use crate::plan::Segment;
use crate::plan::json::names;

pub(super) struct PlanJson;

impl Rules for PlanJson {
    fn name(&self) -> &'static str {
        "plan JSON"
    }

    fn document(&self) -> &'static str {
        "plan JSON"
    }

    fn sign(&self, outline: &Outline<'_>) -> Option<Sign> {
        // No other dialect has a plan without steps.
        let is_empty = outline.steps.is_empty();
        if is_empty && outline.has(&[names::plan::NAME]) && outline.has(&[names::plan::OUTPUT]) {
            return Some(Sign::Certain);
        }
        let is_likely = outline.has(&[names::plan::INPUTS])
            || (is_empty && outline.has(&[names::plan::OUTPUT]));
        is_likely.then_some(Sign::Likely)
    }

    fn has_step(&self, outline: &Outline<'_>, step: &Members<'_>) -> bool {
        let tool = step.get(names::step::TOOL).map(JsonNode::kind);
        let has = tool == Some(JsonType::Object)
            || step.has(&[
                names::step::IF,
                names::step::FOR,
                names::step::VALUE,
                names::step::POLICY,
                names::step::AFTER,
            ]);
        has && outline.top.is_some()
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

    /// Nobody writes it by heart.
    fn unknown_member(&self) -> Severity {
        Severity::Error
    }

    fn places(&self) -> Places {
        Places::Nowhere
    }

    fn scan<'t>(&self, text: &'t str, _: &dyn Fn(&str) -> bool) -> Scan<'t> {
        scan::scan(text)
    }

    fn mark(&self) -> Option<Mark> {
        None
    }

    fn style(&self, to: ReferenceTarget<'_>, _: &str) -> Option<Style> {
        let (ReferenceTarget::Step(_, name) | ReferenceTarget::Input(name)) = to;
        Some(Style::rust(name))
    }

    fn form(&self, to: ReferenceTarget<'_>, path: &[Segment]) -> Option<String> {
        Some(scan::form(to, path))
    }

    fn form_in_text(&self, form: &str) -> String {
        format!(r#"the text with it is `{{"text": ["…", {{"value": {form}}}]}}`"#)
    }

    fn literal(&self, text: &str) -> String {
        text.to_owned()
    }

    fn literal_in(&self, _: &str, _: &str) -> String {
        r#"{"text": ["…"]}"#.to_owned()
    }
}
