//! The labels of diagrams, cut to fit into a node.

use crate::print::{self, Code, Name, short_to};

/// The largest number of characters of an expression.
pub(super) const EXPRESSION: usize = 60;
/// The number of characters on a line.
const WIDTH: usize = 36;

/// Returns an ID for a node, from its kind and its name in the plan. The number replaces a name that a language would not
/// accept.
pub(super) fn id(sort: &str, name: &str, number: usize) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.len() <= 40 && name.chars().all(plain) {
        format!("{sort}_{name}")
    } else {
        format!("{sort}{number}")
    }
}

pub(super) fn typed(name: &str, type_name: &str) -> String {
    match type_name {
        "" => Name(name).to_string(),
        type_name => {
            let type_name = Code(type_name).to_string();
            format!("{}: {}", Name(name), short_to(&type_name, EXPRESSION))
        }
    }
}

/// Breaks a string into lines of at most a node's width.
pub(super) fn wrapped(text: &str) -> Vec<String> {
    print::wrapped(text, WIDTH)
}
