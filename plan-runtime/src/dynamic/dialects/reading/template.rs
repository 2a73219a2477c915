//! Values with references in them.

use super::PlanReader;
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::Template;
use crate::plan::json::number;
use crate::print::short;

/// Reads a value as the template with the index `at`.
pub(super) fn value_at(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    at: usize,
    depth: usize,
) -> Template {
    let read = match node.kind() {
        JsonType::Null => Some(Template::Null),
        JsonType::Bool => Some(Template::Bool(node.slice() == "true")),
        JsonType::Number => exact(reader, node),
        JsonType::String => reader.rules.syntax.string(reader, node, at),
        JsonType::List | JsonType::Object if !reader.fits(depth, node.place()) => None,
        JsonType::List => list(reader, node, depth),
        JsonType::Object => reader.rules.syntax.object(reader, node, depth),
    };
    read.unwrap_or_else(|| reader.broken(at))
}

fn exact(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Template> {
    let number = number(node.slice()).map(Template::Number);
    number.or_else(|| {
        let written = short(node.slice());
        let message = format!("the number {written} cannot be represented exactly");
        let help = "write it as a string, if the tool takes one";
        reader.fail(Code::InexactNumber, node.place(), message, help)
    })
}

fn list(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<Template> {
    let mut items = Vec::with_capacity(reader.room(node.each_item().count(), 1));
    for item in node.each_item() {
        if reader.is_over() {
            return None;
        }
        items.push(reader.template(item, None, depth + 1));
    }
    Some(Template::List(items))
}
