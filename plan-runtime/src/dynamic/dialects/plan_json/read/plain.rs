//! Values without references.

use crate::dynamic::dialects::reading::PlanReader;
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::print::short;
use serde_json::Value;

/// Reads JSON without references.
pub(super) fn plain(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<Value> {
    let place = node.place();
    // The map of an object takes the room of several templates.
    let is_object = node.kind() == JsonType::Object;
    if !reader.count(if is_object { 8 } else { 1 }, place.clone()) {
        return None;
    }
    // A part with an error is left out, since the plan has an error.
    match node.kind() {
        JsonType::List | JsonType::Object if !reader.fits(depth, place.clone()) => None,
        JsonType::List => {
            let items = node.each_item();
            let items = items.filter_map(|item| plain(reader, item, depth + 1));
            Some(Value::Array(items.collect()))
        }
        JsonType::Object => {
            let members = reader.members(node, "a value")?.list.into_iter();
            let members = members.filter_map(|member| {
                let value = plain(reader, member.value, depth + 1)?;
                Some((member.name.into_owned(), value))
            });
            Some(Value::Object(members.collect()))
        }
        JsonType::String => {
            let text = reader.text(node, "a value")?;
            Some(text.value.into_owned().into())
        }
        JsonType::Null | JsonType::Bool | JsonType::Number => node.read().ok().or_else(|| {
            let message = format!("the number {} is out of range", short(node.slice()));
            reader.fail(Code::InexactNumber, place, message, ())
        }),
    }
}
