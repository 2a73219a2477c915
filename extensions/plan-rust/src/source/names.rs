//! Conversion of names in JSON to Rust identifiers.

use super::fragment::is_identifier;
use heck::{ToSnakeCase, ToUpperCamelCase};
use plan_runtime::Plan;
use plan_runtime::plan::Step;
use std::collections::{HashMap, HashSet};
use unicode_normalization::UnicodeNormalization;

/// The largest size in bytes of a name.
const LONGEST: usize = 1024;

/// Names of types in every program, which a plan's struct must not have.
const KNOWN: [&str; 12] = [
    "Box", "Err", "None", "Ok", "Option", "Plan", "Result", "Some", "String", "Tool", "ToString",
    "Vec",
];

/// The names of a plan's steps and inputs.
pub(super) struct RustNames {
    pub(super) inputs: Vec<String>,
    pub(super) steps: Vec<String>,
}

impl RustNames {
    pub(super) fn of(plan: &Plan, taken: &mut TakenNames) -> Self {
        // The names of inputs are field names of the struct, so they take precedence.
        let inputs = plan.inputs.iter();
        let inputs = inputs.map(|input| taken.distinct(variable(&input.name, "input")));
        let inputs = inputs.collect();
        Self::of_steps(&plan.steps, inputs, taken)
    }

    /// Returns the names in a block, whose inputs have these names.
    pub(super) fn of_steps(steps: &[Step], inputs: Vec<String>, taken: &mut TakenNames) -> Self {
        let steps = steps.iter();
        let steps = steps.map(|step| taken.distinct(variable(&step.id, "step")));
        let steps = steps.collect();
        Self { inputs, steps }
    }
}

/// The assigned names.
#[derive(Default)]
pub(super) struct TakenNames {
    /// The last number assigned to each name.
    last: HashMap<String, usize>,
    /// The changes since the start, in chronological order.
    changes: Vec<(String, Option<usize>)>,
}

impl TakenNames {
    /// Returns the number of changes, as an argument for [`Self::back_to`].
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    /// Forgets the names of a block that has ended.
    pub(super) fn back_to(&mut self, changes: usize) {
        for (name, before) in self.changes.drain(changes..).rev() {
            match before {
                Some(number) => self.last.insert(name, number),
                None => self.last.remove(&name),
            };
        }
    }

    /// Returns a free name for a variable, as similar to this one as possible.
    pub(super) fn variable(&mut self, given: &str, kind: &str) -> String {
        self.distinct(variable(given, kind))
    }

    fn take(&mut self, name: String, number: usize) {
        let before = self.last.insert(name.clone(), number);
        self.changes.push((name, before));
    }

    /// Returns the name, with a number if the name is in use.
    fn distinct(&mut self, name: String) -> String {
        let first = plain(&name).to_owned();
        let Some(mut number) = self.last.get(&first).copied() else {
            self.take(first, 1);
            return name;
        };
        let numbered = loop {
            number += 1;
            let numbered = format!("{first}_{number}");
            if !self.last.contains_key(&numbered) {
                break numbered;
            }
        };
        self.take(first, number);
        self.take(numbered.clone(), 1);
        numbered
    }
}

/// Returns the name without the `r#` of a raw identifier.
pub(super) fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Returns `true` for a valid name that is not a keyword.
pub(super) fn is_name(name: &str) -> bool {
    is_identifier(name) && plain(name) == name
}

/// Returns the name of a step or an input: the given name if it is a lowercase Rust name.
fn variable(given: &str, kind: &str) -> String {
    let is_lower = !given.contains(char::is_uppercase);
    if is_lower && !given.trim_matches('_').is_empty() && is_name(given) {
        return given.to_owned();
    }
    let snake = if given.len() > LONGEST {
        String::new()
    } else {
        given.to_snake_case()
    };
    keyword(&snake)
        .or_else(|| keyword(&format!("{kind}_{snake}")))
        .unwrap_or_else(|| kind.to_owned())
}

/// Returns the name, as a raw name for a keyword. Returns `None` if it cannot be a name.
pub(super) fn keyword(name: &str) -> Option<String> {
    // rustc takes two spellings of one letter for one name.
    let name: String = name.nfc().collect();
    if is_name(&name) {
        return Some(name);
    }
    let raw = format!("r#{name}");
    let behind = format!("{name}_");
    [raw, behind].into_iter().find(|name| {
        // A name that starts with a digit is not valid as a raw name. `r#self` is not valid, but `self_` is.
        is_identifier(name) && *name != "_" && plain(plain(name)) == plain(name)
    })
}

/// Returns the struct of a tool, by the rule of `#[tool]` for a function's name.
pub(super) fn structure(tool: &str) -> Option<String> {
    if tool.len() > LONGEST {
        return None;
    }
    let name = tool.to_upper_camel_case();
    is_name(&name).then_some(name)
}

/// Returns the name of a plan's struct, which differs from the names of its tools and from the names in every program.
pub(super) fn plan(name: &str, tools: &HashSet<String>) -> String {
    let mut name = structure(name).unwrap_or_else(|| "Plan".to_owned());
    while tools.contains(&name) || (KNOWN.contains(&name.as_str()) && name != "Plan") {
        name.push_str("Plan");
    }
    name
}

/// Returns the field for which serde has this key, if the key looks like a field's. A key with other characters belongs
/// to a map.
pub(super) fn field(key: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if key.chars().all(is_word) {
        argument(key)
    } else {
        None
    }
}

/// Returns the field of an argument.
pub(super) fn argument(key: &str) -> Option<String> {
    if key.len() > LONGEST {
        return None;
    }
    if is_name(key) && !key.contains(char::is_uppercase) {
        Some(key.to_owned())
    } else {
        keyword(&key.to_snake_case())
    }
}
