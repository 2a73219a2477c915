//! The parts of an object, each of which must be of its kind.

use super::{MOST_NAMES, PlanBuilder};
use crate::dynamic::Severity;
use crate::dynamic::dialects::Dialect;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, Source, Text};
use crate::resolve::describe::short;
use plan_graph::similar;
use std::borrow::Cow;
use std::collections::HashMap;

/// How many members of an object are compared one by one.
const FEW: usize = 16;

impl<'a> Members<'a> {
    /// The members of an object. `scan_error` receives those that are left out: they have no name, or the name of another.
    pub(in crate::dynamic) fn split(
        source: &Source<'_>,
        node: JsonNode<'a>,
        scan_error: &mut dyn FnMut(Note),
    ) -> Self {
        let mut members: Vec<Member<'a>> = Vec::new();
        let mut seen = HashMap::new();
        for (key, value) in node.members() {
            let name = match key.text() {
                Ok(text) => text.value,
                Err(_) => {
                    scan_error(no_text(source, key));
                    continue;
                }
            };
            let first = match members.len() {
                ..FEW => members.iter().find(|it| it.name == name).map(|it| it.key),
                _ => seen.get(&name).copied(),
            };
            if let Some(first) = first {
                scan_error(duplicate(source, &name, key, first));
                continue;
            }
            members.push(Member { name, key, value });
            if members.len() >= FEW {
                let new = &members[seen.len()..];
                seen.extend(new.iter().map(|it| (it.name.clone(), it.key)));
            }
        }
        Self(members)
    }

    pub(in crate::dynamic) fn get(&self, name: &str) -> Option<JsonNode<'a>> {
        self.member(name).map(|member| member.value)
    }

    /// The same, but null is as nothing.
    pub(in crate::dynamic) fn given(&self, name: &str) -> Option<JsonNode<'a>> {
        self.get(name).filter(|node| node.kind() != JsonType::Null)
    }

    /// Whether one of these is there.
    pub(in crate::dynamic) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.member(name).is_some())
    }

    pub(in crate::dynamic) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.0.iter().find(|member| member.name == name)
    }
}

impl PlanBuilder {
    /// The members of an object that must be one.
    pub(in crate::dynamic) fn members<'a>(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'a>,
        what: &str,
    ) -> Option<Members<'a>> {
        if node.kind() != JsonType::Object {
            let note = wrong_kind(source, node, what, "an object");
            return self.error(note);
        }
        Some(Members::split(source, node, &mut |note| self.note(note)))
    }

    /// Says which members nothing reads.
    pub(in crate::dynamic) fn only(
        &mut self,
        source: &Source<'_>,
        members: &Members<'_>,
        what: &str,
        known: &[&str],
    ) {
        for member in &members.0 {
            let name = &*member.name;
            // That it goes by the name of another dialect is an error of its own.
            let severity = self.dialect.rules().unknown_member();
            let moved = severity == Severity::Warning
                && what == "a step"
                && Dialect::ALL.iter().any(|it| it.rules().arguments() == name);
            if known.contains(&name) || moved {
                continue;
            }
            let meant = similar(&member.name, known.iter().copied());
            let promise = promise(name, member.value)
                .filter(|_| severity == Severity::Warning && what != "an input");
            let help = match (meant, promise) {
                (_, Some(promise)) => instead(promise, self.dialect),
                (Some(meant), None) if members.member(meant).is_none() => {
                    format!("did you mean `{meant}`?")
                }
                _ => format!("{what} has `{}`", known.join("`, `")),
            };
            let message = format!("unknown member `{}` in {what}", short(&member.name));
            let place = source.place(member.key.slice());
            let note = match promise.map_or(severity, |_| Severity::Error) {
                Severity::Error => Note::error(Code::UnknownMember, place, message),
                Severity::Warning => Note::warning(Code::UnknownMember, place, message),
            };
            self.note(note.help(help));
        }
    }

    /// The elements of a list that must be one.
    pub(in crate::dynamic) fn items<'a>(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'a>,
        what: &str,
    ) -> Option<Vec<JsonNode<'a>>> {
        match node.kind() {
            JsonType::List => Some(node.items()),
            _ => {
                let note = wrong_kind(source, node, what, "a list");
                self.error(note)
            }
        }
    }

    /// The text of a string that must be one.
    pub(in crate::dynamic) fn text<'a>(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'a>,
        what: &str,
    ) -> Option<Text<'a>> {
        if node.kind() != JsonType::String {
            let note = wrong_kind(source, node, what, "a string");
            return self.error(note);
        }
        match node.text() {
            Ok(text) if text.value.len() > self.limits.string => {
                let message = format!(
                    "the string has {} bytes, and at most {} are read",
                    text.value.len(),
                    self.limits.string
                );
                let place = source.place(node.slice());
                self.error(Note::error(Code::LimitPassed, place, message))
            }
            Ok(text) => Some(text),
            Err(_) => self.error(no_text(source, node)),
        }
    }

    /// A value as serde reads it, which says itself what it expects.
    pub(in crate::dynamic) fn value<T: serde::de::DeserializeOwned>(
        &mut self,
        source: &Source<'_>,
        node: JsonNode<'_>,
        what: &str,
        expected: &str,
    ) -> Option<T> {
        match node.read() {
            Ok(value) => Some(value),
            Err(_) => {
                let note = wrong_kind(source, node, what, expected);
                self.error(note)
            }
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
}

/// What a member promises by its name, in any spelling: that a step runs only sometimes, or several times. A value that takes the
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

/// What there is instead of a member that promises something.
fn instead(promise: Promise, dialect: Dialect) -> String {
    let (always, of_plan) = match promise {
        Promise::Condition => ("in any case", "if"),
        Promise::Repetition => ("once", "for"),
    };
    let retries = match (promise, dialect.rules().retries()) {
        (Promise::Repetition, Some(retries)) => {
            format!(", and `{retries}` tries it again if it fails")
        }
        _ => String::new(),
    };
    let dialect = dialect.rules().document();
    format!("a step of {dialect} runs {always}{retries}: only plan JSON has `{of_plan}`")
}

/// The members of an object, each there once.
pub(in crate::dynamic) struct Members<'a>(pub(in crate::dynamic) Vec<Member<'a>>);

pub(in crate::dynamic) struct Member<'a> {
    pub(in crate::dynamic) name: Cow<'a, str>,
    pub(in crate::dynamic) key: JsonNode<'a>,
    pub(in crate::dynamic) value: JsonNode<'a>,
}

/// `what` is not what it must be.
pub(in crate::dynamic) fn wrong_kind(
    source: &Source<'_>,
    node: JsonNode<'_>,
    what: &str,
    expected: &str,
) -> Note {
    let found = match node.kind() {
        JsonType::Null => "null".to_owned(),
        JsonType::Bool | JsonType::Number => format!("`{}`", short(node.slice())),
        JsonType::String => "a string".to_owned(),
        JsonType::List => "a list".to_owned(),
        JsonType::Object => "an object".to_owned(),
    };
    Note::error(
        Code::WrongKind,
        source.place(node.slice()),
        format!("{what} is {found}, but must be {expected}"),
    )
}

/// What names there are, where they are few.
pub(in crate::dynamic) fn names<'n>(
    what: &str,
    names: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let names: Vec<&str> = names.take(MOST_NAMES + 1).collect();
    match names[..] {
        [] => None,
        [one] => Some(format!("the only {what} is `{}`", short(one))),
        _ if names.len() > MOST_NAMES => None,
        _ => {
            let names: Vec<String> = names.into_iter().map(short).collect();
            Some(format!("the {what}s are `{}`", names.join("`, `")))
        }
    }
}

fn no_text(source: &Source<'_>, node: JsonNode<'_>) -> Note {
    let message = "the string contains half of a surrogate pair, which is not valid text";
    Note::error(Code::InvalidJson, source.place(node.slice()), message)
        .help(r"a character beyond U+FFFF is two escapes: `\ud83d\ude00`".to_owned())
}

pub(in crate::dynamic) fn duplicate(
    source: &Source<'_>,
    name: &str,
    key: JsonNode<'_>,
    first: JsonNode<'_>,
) -> Note {
    let message = format!("duplicate member `{}`", short(name));
    Note::error(Code::DuplicateMember, source.place(key.slice()), message)
        .related(source.place(first.slice()), "the first one is here")
        .help("only one of them can be used: remove the other".to_owned())
}
