//! How plan JSON is recognized and written, and how messages show its references.

use crate::Plan;
use crate::dynamic::dialects::reading::{Members, PlanBuilder};
use crate::dynamic::dialects::recognize::{Outline, Sign};
use crate::dynamic::dialects::references::{Mark, Places, ReferenceTarget, Scan, Style, quote};
use crate::dynamic::dialects::rules::Rules;
use crate::dynamic::node::{JsonNode, JsonType};
use crate::dynamic::{Dialect, Unsupported, UnsupportedPart};
use crate::plan::Segment;
use crate::plan::json::names::{self, element, reference, segment, source, template};

pub(in crate::dynamic::dialects) struct PlanJson;

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

    fn read(&self, builder: &mut PlanBuilder, node: JsonNode<'_>) -> Option<Plan> {
        super::read::read(builder, node)
    }

    fn write(&self, plan: &Plan) -> Result<String, Unsupported> {
        write(plan)
    }

    fn places(&self) -> Places {
        Places::Nowhere
    }

    fn scan<'t>(&self, text: &'t str, _: &dyn Fn(&str) -> bool) -> Scan<'t> {
        Scan::of_text(text)
    }

    fn mark(&self) -> Option<Mark> {
        None
    }

    fn style(&self, to: ReferenceTarget<'_>, _: &str) -> Option<Style> {
        let (ReferenceTarget::Step(_, name) | ReferenceTarget::Input(name)) = to;
        Some(Style::rust(name))
    }

    fn form(&self, to: ReferenceTarget<'_>, path: &[Segment]) -> Option<String> {
        Some(form(to, path))
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

/// A reference as a template.
fn form(to: ReferenceTarget<'_>, path: &[Segment]) -> String {
    let source = match to {
        ReferenceTarget::Step(_, id) => member(source::STEP, &quote(id)),
        ReferenceTarget::Input(name) => member(source::INPUT, &quote(name)),
    };
    let reads = format!("{{{source}, {}}}", way(path));
    format!("{{{}}}", member(template::REFERENCE, &reads))
}

/// The path, as a member of a reference.
fn way(path: &[Segment]) -> String {
    if !path.iter().any(Segment::is_each) {
        let pointer = jsonptr::PointerBuf::from_tokens(path.iter().filter_map(Segment::token));
        return member(reference::POINTER, &quote(pointer.as_str()));
    }
    let parts = path.iter().map(|part| match part.token() {
        Some(token) => quote(&token.decoded()),
        None => format!("{{{}}}", member(segment::EACH, &quote(element::ELEMENT))),
    });
    let parts: Vec<String> = parts.collect();
    member(reference::PATH, &format!("[{}]", parts.join(", ")))
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", quote(name))
}

/// What a plan serializes to, if it can be read back.
fn write(plan: &Plan) -> Result<String, Unsupported> {
    let written = serde_json::to_string_pretty(plan).and_then(|text| {
        serde_json::from_str::<Plan>(&text)?;
        Ok(text)
    });
    written.map_err(|error| {
        let part = UnsupportedPart {
            place: "the plan".to_owned(),
            construct: error.to_string(),
        };
        Unsupported::new(Dialect::PlanJson.rules().document(), vec![part])
    })
}
