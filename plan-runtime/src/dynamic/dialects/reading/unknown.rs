//! Members that nothing reads, and what those expect who write them.

use super::{Members, PlanBuilder};
use crate::dynamic::Dialect;
use crate::dynamic::json_node::{JsonNode, JsonType};

impl PlanBuilder {
    /// Warns of members that nothing reads. One that promises what the dialect does not have is an error.
    pub(crate) fn only_known(&mut self, members: &Members<'_>, what: &str, known: &[&str]) {
        for member in members.unknown(known) {
            // That it goes by the name of another dialect is an error of its own.
            let is_arguments = |it: &Dialect| it.rules().arguments == member.name;
            if what == "a step" && Dialect::ALL.iter().any(is_arguments) {
                continue;
            }
            let promise = promise(&member.name, member.value).filter(|_| what != "an input");
            let is_listed = self.notes.has_room(promise.is_some());
            let note = members.unknown_note(member, what, known, is_listed);
            self.note(match promise {
                Some(promise) => note.help(instead(promise, self.dialect)),
                None => note.into_warning(),
            });
        }
    }
}

/// What somebody expects who writes a member that nothing reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Promise {
    /// That a step may not run.
    Condition,
    /// That a step may run again.
    Repetition,
    /// That other steps run in it.
    Steps,
}

/// What a member promises by its name, in any spelling: that a step runs only sometimes or several times, or that others run in it. A value that takes the
/// promise back, such as `"if": null`, is as no member.
fn promise(name: &str, value: JsonNode<'_>) -> Option<Promise> {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let name: String = letters.flat_map(char::to_lowercase).collect();
    // Of true and false, what says that a step runs once and always.
    let (promise, always) = match name.as_str() {
        "if" | "condition" | "when" | "onlyif" | "runif" => (Promise::Condition, "true"),
        "unless" | "skipif" => (Promise::Condition, "false"),
        "foreach" | "loop" | "repeat" => (Promise::Repetition, "false"),
        "while" | "until" => (Promise::Repetition, ""),
        "block" | "steps" | "substeps" if is_list(value) => (Promise::Steps, ""),
        _ => return None,
    };
    let is_taken_back = match value.kind() {
        JsonType::Null => true,
        JsonType::Bool => value.slice() == always,
        JsonType::String => value.text().is_ok_and(|text| text.value.trim().is_empty()),
        JsonType::Number | JsonType::List | JsonType::Object => false,
    };
    (!is_taken_back).then_some(promise)
}

/// Whether it is a list, or an object as a block of plan JSON is.
fn is_list(value: JsonNode<'_>) -> bool {
    matches!(value.kind(), JsonType::List | JsonType::Object)
}

/// What there is instead of a member that promises something.
fn instead(promise: Promise, dialect: Dialect) -> String {
    let (always, of_plan) = match promise {
        Promise::Condition => ("runs in any case", "if"),
        Promise::Repetition => ("runs once", "for"),
        Promise::Steps => ("has no steps in it", "block"),
    };
    let retries = match (promise, dialect.rules().retries) {
        (Promise::Repetition, Some(retries)) => {
            format!(", and `{retries}` tries it again if it fails")
        }
        _ => String::new(),
    };
    let dialect = dialect.rules().document;
    format!("a step of {dialect} {always}{retries}: only plan JSON has `{of_plan}`")
}
