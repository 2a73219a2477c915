//! Descriptions of values in error messages, bounded in length.

pub(crate) use crate::print::short;
use crate::print::{SHORT as LONGEST, short_to as cut};
use plan_graph::similar;
use serde_json::{Map, Value};
use std::fmt::Write;

const MOST_KEYS: usize = 8;

/// Truncates a pointer, with a higher limit than for a name.
pub(super) fn pointer(text: &str) -> String {
    cut(text, 3 * LONGEST)
}

/// Describes a value: `the string "ten"`, `null`, `a list of 3 elements`.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {}", short(&number.to_string())),
        Value::String(text) => match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("the string {:?}… ({} bytes)", &text[..end], text.len()),
            None => format!("the string {text:?}"),
        },
        Value::Array(items) => list(items.len()),
        Value::Object(members) if members.is_empty() => "an empty object".into(),
        Value::Object(members) => format!("an object with {}", keys(members)),
    }
}

/// Describes a list: `a list of 3 elements`.
pub(crate) fn list(length: usize) -> String {
    format!("a list of {}", counted(length, "element"))
}

/// Describes a size: `64 MiB`, `1500 bytes`.
pub(crate) fn bytes(bytes: usize) -> String {
    const UNITS: [(usize, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS
        .iter()
        .find(|(size, _)| bytes > 0 && bytes.is_multiple_of(*size));
    match unit {
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => counted(bytes, "byte"),
    }
}

/// Describes a number: `1 element`, `2 elements`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// Lists names in quotes: `` `a`, `b` ``.
pub(crate) fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names = names.into_iter().map(|name| format!("`{}`", short(name)));
    names.collect::<Vec<_>>().join(", ")
}

/// Describes the members of an object that lacks a member.
pub(super) fn known(members: &Map<String, Value>, missing: &str) -> String {
    if members.is_empty() {
        return "it is an empty object".into();
    }
    match similar(missing, members.keys().map(String::as_str)) {
        Some(name) => format!("it has {}, and `{}` is similar", keys(members), short(name)),
        None => format!("it has {}", keys(members)),
    }
}

fn keys(members: &Map<String, Value>) -> String {
    let mut list = quoted(members.keys().take(MOST_KEYS).map(String::as_str));
    if members.len() > MOST_KEYS {
        let _ = write!(list, " and {} more", members.len() - MOST_KEYS);
    }
    list
}
