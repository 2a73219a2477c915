//! Step blueprints: steps without ids, whose strings contain `${step[0]…}`.
//!
//! ```json
//! {"requestId": "reply", "steps": [
//!     {"tool": "fetch", "params": {"from": "Sarah"}, "retryCount": 2},
//!     {"tool": "send", "params": {"to": "${step[0].data[0].from}"}, "dependsOn": [0], "timeout": 500}
//! ]}
//! ```
//!
//! Planners also write the list of steps alone. A step refers to steps before it by their places, and there are no inputs.

mod read;
mod scan;
mod write;

use super::reading::{Members, PlanBuilder};
use super::recognize::{Outline, Sign};
use super::references::{Mark, Places, ReferenceTarget, Scan, Style, Target};
use super::rules::Rules;
use crate::Plan;
use crate::dynamic::Unsupported;
use crate::dynamic::json_node::{JsonNode, Source};

pub(super) struct Blueprint;

impl Rules for Blueprint {
    fn name(&self) -> &'static str {
        "blueprint"
    }

    fn document(&self) -> &'static str {
        "a step blueprint (`${step[0]…}`)"
    }

    fn sign(&self, outline: &Outline<'_>) -> Option<Sign> {
        outline.has(&["requestId"]).then_some(Sign::Certain)
    }

    fn has_step(&self, _: &Outline<'_>, step: &Members<'_>) -> bool {
        step.has(&["params", "dependsOn", "parallel", "retryCount"])
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

    fn arguments(&self) -> &'static str {
        "params"
    }

    fn retries(&self) -> Option<&'static str> {
        Some("retryCount")
    }

    fn step(&self, index: usize, _: &str) -> String {
        format!("step[{index}]")
    }

    fn places(&self) -> Places {
        Places::Anywhere
    }

    fn scan<'t>(&self, text: &'t str, _: &dyn Fn(&str) -> bool) -> Scan<'t> {
        scan::scan(text)
    }

    fn mark(&self) -> Option<Mark> {
        Some(scan::MARK)
    }

    fn target(&self, text: &str, at: usize) -> Option<(Target, usize)> {
        scan::step(text, at)
    }

    fn style(&self, to: ReferenceTarget<'_>, written: &str) -> Option<Style> {
        scan::style(to, written)
    }

    fn literal(&self, text: &str) -> String {
        scan::literal(text)
    }
}
