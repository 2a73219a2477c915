//! Action plans, of the Action/Step/Orchestrator: a list of steps whose strings contain `{{…}}`.
//!
//! ```json
//! [{"id": "mail", "intent": "Find the mail.", "tool": "fetch", "arguments": {"from": "{{PLACEHOLDER_sender}}"}},
//!  {"id": "sent", "tool": "send", "arguments": {"subject": "Re: {{mail.result[0].subject}}"}}]
//! ```
//!
//! `{{PLACEHOLDER_sender}}` is an input. Where more is to be said of a plan, it is an object with the list as its `plan`.

mod read;
mod scan;
mod write;

use super::reading::{Members, PlanBuilder};
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, Style, Target, end_where_missing};
use super::rules::Rules;
use crate::Plan;
use crate::dynamic::Unsupported;
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::plan::{Reference, Segment, Source as From};
use serde_json::Value;
use std::collections::HashSet;

pub(super) struct ActionPlan;

impl Rules for ActionPlan {
    fn name(&self) -> &'static str {
        "action plan"
    }

    fn document(&self) -> &'static str {
        "an action plan (`{{…}}`)"
    }

    fn sign(&self, outline: &Outline<'_>) -> Option<Sign> {
        let list = |top: &Members<'_>| Some(top.get("plan")?.kind() == JsonType::List);
        (outline.top.as_ref().and_then(list) == Some(true)).then_some(Sign::Certain)
    }

    fn is_usual_for(&self, kind: JsonType) -> bool {
        kind == JsonType::List
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
        Places::Anywhere
    }

    fn scan<'t>(&self, text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
        scan::scan(text, known)
    }

    fn mark(&self) -> Option<Mark> {
        Some(scan::MARK)
    }

    fn target(&self, text: &str, at: usize) -> Option<(Target, usize)> {
        scan::input(text, at)
    }

    fn inputs_in(&self, json: &str, longest: usize) -> HashSet<Box<str>> {
        scan::inputs(json, longest)
    }

    fn style(&self, to: ReferenceTarget<'_>, _: &str) -> Option<Style> {
        Some(scan::style(to))
    }

    fn form(&self, to: ReferenceTarget<'_>, path: &[Segment]) -> Option<String> {
        let style = scan::style(to);
        Some(match to {
            ReferenceTarget::Step(..) => style.write(path),
            // The dialect has no path into an input.
            ReferenceTarget::Input(_) => style.write(&[]),
        })
    }

    fn literal(&self, text: &str) -> String {
        scan::literal(text)
    }

    fn unknown_step_may_be_text(&self) -> bool {
        true
    }

    /// What leads to nothing stays in place as text.
    fn allow_absence(&self, reference: &mut Reference, written: &str) {
        end_where_missing(&mut reference.path);
        reference.optional = matches!(reference.source, From::Input(_));
        if reference.can_end() {
            reference.otherwise = Some(Box::new(Value::from(written)));
        }
    }
}
