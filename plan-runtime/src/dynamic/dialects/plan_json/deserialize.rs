//! Deserialization of plans with serde: the input becomes JSON text, which the reader checks like any other document.

use super::RULES;
use super::read::PlanJson;
use crate::dynamic::dialects::reading::{PlanReader, Syntax, cycle, roles};
use crate::dynamic::finding::Finding;
use crate::dynamic::json_node::{JsonNode, JsonType, Source};
use crate::dynamic::{DocumentLimits, Profile};
use crate::plan::json::Json;
use crate::plan::{Origin, Plan, Template};
use crate::print::{Line, MessageName};
use serde::de::{Deserialize, Deserializer, Error as _};
use std::fmt::Write;
use std::ops::Range;

/// The largest number of errors in one message.
const MOST: usize = 32;

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Origin::Recorded)
    }
}

/// Reads a plan by the rules for its origin.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    origin: Origin,
) -> Result<Plan, D::Error> {
    let json = Json::deserialize(deserializer)?;
    json.read(|reader, node| {
        reader.origin = origin;
        let plan = PlanJson.document(reader, node)?;
        cycle::check(reader, &plan);
        roles::check(reader, &plan);
        Some(plan)
    })
    .map_err(|message| D::Error::custom(Line(message)))
}

/// Reads a template outside of a plan, with indices in place of names.
impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        json.read(|reader, node| {
            reader.in_plan = false;
            Some(reader.template(node, None, 0))
        })
        .map_err(|message| D::Error::custom(Line(message)))
    }
}

impl Json<'_> {
    fn read<T>(
        &self,
        read: impl FnOnce(&mut PlanReader, JsonNode<'_>) -> Option<T>,
    ) -> Result<T, String> {
        let source = Source::document(&self.text);
        let mut reader = PlanReader::new(&RULES, Profile::Strict, DocumentLimits::OF_PLANS);
        let node = JsonNode::of(&self.text, &source).map_err(|error| error.to_string())?;
        let read = read(&mut reader, node);
        match read {
            Some(read) if !reader.notes.has_errors() => Ok(read),
            _ => Err(self.message(&reader.notes.into_findings(&self.text))),
        }
    }

    fn message(&self, findings: &[Finding]) -> String {
        let mut message = match findings.len() {
            1 => String::new(),
            count => format!("{count} errors: "),
        };
        for (index, finding) in findings.iter().take(MOST).enumerate() {
            if index > 0 {
                message.push_str("; ");
            }
            if let Some(step) = &finding.step {
                let _ = write!(message, "step `{}`: ", MessageName(step));
            }
            message.push_str(&finding.message);
            let at = &finding.label;
            let _ = if self.is_written {
                write!(
                    message,
                    " at line {}, column {} of the plan",
                    at.line, at.column
                )
            } else {
                write!(message, " at {}", pointer(&self.text, &at.span))
            };
            if let Some(help) = &finding.help {
                let _ = write!(message, " ({help})");
            }
        }
        if let Some(rest) = findings.len().checked_sub(MOST).filter(|rest| *rest > 0) {
            let _ = write!(message, "; and {rest} more");
        }
        message
    }
}

/// Returns a JSON Pointer to the smallest value that contains a position of the JSON text.
fn pointer(text: &str, place: &Range<usize>) -> String {
    let source = Source::document(text);
    let covers = |node: &JsonNode<'_>| {
        let range = node.place();
        range.start <= place.start && place.end <= range.end
    };
    let mut pointer = jsonptr::PointerBuf::new();
    let mut node = JsonNode::of(text, &source).ok();
    while let Some(around) = node {
        node = match around.kind() {
            JsonType::Object => around.members().find_map(|(key, value)| {
                if !covers(&key) && !covers(&value) {
                    return None;
                }
                pointer.push_back(key.text().ok()?.value.as_ref());
                Some(value).filter(|value| covers(value))
            }),
            JsonType::List => around
                .items()
                .into_iter()
                .enumerate()
                .find_map(|(at, item)| {
                    covers(&item).then(|| pointer.push_back(at))?;
                    Some(item)
                }),
            _ => None,
        };
    }
    if pointer.is_root() {
        "the top".to_owned()
    } else {
        pointer.to_string()
    }
}
