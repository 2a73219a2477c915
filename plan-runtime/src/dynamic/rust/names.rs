//! Rust's names for the names of JSON.

use crate::Plan;
use heck::{ToSnakeCase, ToUpperCamelCase};
use syn::Ident;

/// The names of a plan's steps and inputs.
pub(super) struct Names {
    pub(super) inputs: Vec<String>,
    pub(super) steps: Vec<String>,
}

impl Names {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut taken = Vec::new();
        let mut name = |given: &str, kind: &str| {
            let name = distinct(variable(given, kind), &taken);
            taken.push(name.clone());
            name
        };
        // The names of inputs are those of the struct's fields, so they come first.
        let inputs = plan.inputs.iter().map(|input| name(&input.name, "input"));
        let inputs = inputs.collect();
        let steps = plan.steps.iter().map(|step| name(&step.id, "step"));
        let steps = steps.collect();
        Self { inputs, steps }
    }
}

fn is_identifier(name: &str) -> bool {
    syn::parse_str::<Ident>(name).is_ok()
}

/// The name of a step or an input: as it is where that is a Rust name in lower case.
fn variable(given: &str, kind: &str) -> String {
    let is_lower = !given.contains(char::is_uppercase);
    if is_lower && !given.trim_matches('_').is_empty() && is_identifier(given) {
        return given.to_owned();
    }
    let snake = given.to_snake_case();
    keyword(&snake)
        .or_else(|| keyword(&format!("{kind}_{snake}")))
        .unwrap_or_else(|| kind.to_owned())
}

/// The name, raw where it is a keyword; none where it cannot be a name.
fn keyword(name: &str) -> Option<String> {
    if is_identifier(name) {
        return Some(name.to_owned());
    }
    let raw = format!("r#{name}");
    let behind = format!("{name}_");
    [raw, behind].into_iter().find(|name| {
        // Raw, a name that starts with a digit is none either; with a sign behind it, `self` is one.
        is_identifier(name) && *name != "_"
    })
}

fn distinct(name: String, taken: &[String]) -> String {
    let plain = name.trim_start_matches("r#");
    let mut numbered = name.clone();
    let mut number = 1;
    while taken.contains(&numbered) {
        number += 1;
        numbered = format!("{plain}_{number}");
    }
    numbered
}

/// The struct of a tool: what `#[tool]` makes of a function's name.
pub(super) fn structure(tool: &str) -> Option<String> {
    let name = tool.to_upper_camel_case();
    is_identifier(&name).then_some(name)
}

/// The field under which serde has this key, if it looks like one; a key with other signs is one of a map.
pub(super) fn field(key: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match key.chars().all(is_word) {
        true => argument(key),
        false => None,
    }
}

/// The field of an argument.
pub(super) fn argument(key: &str) -> Option<String> {
    match is_identifier(key) && !key.contains(char::is_uppercase) {
        true => Some(key.to_owned()),
        false => keyword(&key.to_snake_case()),
    }
}
