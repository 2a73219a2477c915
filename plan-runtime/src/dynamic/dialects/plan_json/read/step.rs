//! The calls of plan JSON.

use crate::dynamic::dialects::reading::{Members, PlanReader, body, steps, wrong_kind};
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{step, template, tool};
use crate::plan::{Action, Template, ToolInfo};
use crate::print::short;
use std::ops::Range;
use std::sync::Arc;

/// Reads a tool and its arguments.
pub(super) fn call(reader: &mut PlanReader, members: &Members<'_>) -> Action {
    let tool = members.get(step::TOOL).and_then(|node| {
        let (tool, place) = read_tool(reader, node).unzip();
        steps::found_tool(reader, tool, place.unwrap_or(node.place()))
    });
    let args = match members.get(step::ARGUMENTS) {
        Some(arguments) if is_no_object(reader, arguments) => reader.no_template(arguments.place()),
        Some(arguments) => reader.template(arguments, None, 0),
        None => {
            reader.place(members.node.place(), None);
            Template::Object(Vec::new())
        }
    };
    Action { tool, args }
}

/// Reports arguments with a single member that has the name of a kind of template but not its form. Returns `true`
/// for such arguments.
fn is_no_object(reader: &mut PlanReader, node: JsonNode<'_>) -> bool {
    if node.kind() != JsonType::Object {
        return false;
    }
    let mut members = node.members();
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return false;
    };
    let Ok(name) = key.text() else { return false };
    let kind = match &*name.value {
        template::TEXT | template::ALL_OF | template::ANY | template::COMPARE => JsonType::List,
        template::REFERENCE => JsonType::Object,
        _ => return false,
    };
    if value.kind() == kind {
        return false;
    }
    let name = &name.value;
    let message = format!("`{name}` is a kind of value, but contains a wrong type");
    let object = on_one_line(node.slice());
    let object = object.unwrap_or_else(|| format!(r#"{{"{name}": …}}"#));
    let help = format!(r#"an object with this member is `{{"object": {object}}}`"#);
    reader.report(Code::WrongKind, node.place(), message, help);
    true
}

/// Returns the tool, and the position of its name.
fn read_tool(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<(Arc<ToolInfo>, Range<usize>)> {
    if node.kind() == JsonType::String {
        let name = short(node.slice());
        let note = wrong_kind(node, "`tool`", "an object");
        return reader.error(note.help(format!(r#"a tool is an object: `{{"name": {name}}}`"#)));
    }
    let members = reader.object(node, "`tool`", tool::ALL)?;
    let name = reader.required_name(&members, "the tool", "the name of a tool")?;
    let place = members.get(tool::NAME)?.place();
    let what = "the description of a tool";
    let description = reader.optional_text(&members, tool::DESCRIPTION, what);
    let secrets = [tool::SECRET_ARGUMENTS, tool::SECRET_OUTPUT];
    let secrets = secrets.map(|name| body::secrets(reader, &members, name));
    let tool = steps::tool(reader, (&name, place.clone()), description, secrets)?;
    Some((tool, place))
}
