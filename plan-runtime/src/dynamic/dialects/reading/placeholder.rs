//! The finding for a placeholder in the position of a value.

use super::PlanReader;
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::Text;
use crate::print::short;

/// Reports a string without references that is a placeholder of another system as a whole.
pub(super) fn placeholder(reader: &mut PlanReader, text: &Text<'_>) {
    let Some(name) = name_of(&text.value) else {
        return;
    };
    let place = text.place(&(0..text.value.len()));
    let name: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
    let mut name = name.join("_").trim_matches('_').to_owned();
    if !name.contains(char::is_lowercase) {
        name = name.to_lowercase();
    }
    let rules = reader.rules;
    let form = rules.form(ReferenceTarget::Input(&name), &[]);
    let help = match form.filter(|_| !name.is_empty()) {
        Some(form) if !rules.wraps() || reader.input_names.contains_key(&*name) => {
            format!("write a value, or an input: `{form}`")
        }
        Some(form) => format!(
            r#"write a value, or an input: add `{{"name": "{name}", "type": "String"}}` to the `inputs` of the plan, and write `{form}`"#
        ),
        None => "write a value".to_owned(),
    };
    let message = format!("`{}` is a placeholder", short(text.value.trim()));
    let note = Note::warning(Code::Placeholder, place, message);
    reader.note(
        note.label("the reader uses the placeholder as text")
            .help(help),
    );
}

/// Returns the name of a placeholder, which is empty for an ellipsis.
pub(crate) fn name_of(text: &str) -> Option<&str> {
    let text = text.trim();
    let inner = |open, close| Some(text.strip_prefix(open)?.strip_suffix(close)?.trim());
    let is_path = |inner: &&str| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '$');
        !inner.is_empty() && inner.chars().all(is_part)
    };
    // Shells replace names such as `${HOME}`.
    let is_of_shell = |inner: &&str| !inner.contains(char::is_lowercase);
    let request = |inner: &'_ str| -> Option<usize> {
        let first = inner.split([' ', '_', '-']).next()?;
        let is_request = ["your", "insert", "enter"].contains(&&*first.to_lowercase());
        (is_request && first.len() < inner.len()).then_some(first.len())
    };
    let of_braces = inner("{{", "}}").filter(is_path);
    let of_dollar = || {
        inner("${", "}")
            .filter(is_path)
            .filter(|it| !is_of_shell(it))
    };
    let of_angles = || {
        let inner = inner("<", ">").filter(|it| it.len() <= 60 && !it.contains(['<', '>']))?;
        Some(&inner[request(inner)?..])
    };
    let of_dots = || matches!(text, "..." | "…").then_some("");
    of_braces
        .or_else(of_dollar)
        .or_else(of_angles)
        .or_else(of_dots)
}
