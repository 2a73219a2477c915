//! Members that nothing reads, and what those expect who write them.

use super::layout::Layout;
use super::{Member, Members, PlanBuilder, extensions};
use crate::dynamic::dialects::references::{ReferenceTarget, quote};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::{Dialect, Profile};
use crate::plan::Segment;
use crate::plan::Selector;
use crate::plan::json::names::step;
use plan_graph::similar;

impl PlanBuilder {
    /// Warns of members that nothing reads. One that promises what the dialect does not have is an error.
    pub(crate) fn only_known(&mut self, members: &Members<'_>, what: &str, known: &[&str]) {
        for member in members.unknown(known) {
            let promise = promise(member).filter(|_| what != "an input");
            self.unknown(members, member, what, known, promise);
        }
    }

    /// The same for a member of a step. Says whether it is an error.
    pub(super) fn unknown_in_step(
        &mut self,
        members: &Members<'_>,
        member: &Member<'_>,
        layout: &Layout,
    ) -> bool {
        let known = layout.step;
        let promise = promise(member);
        // The systems ignore one of this name beside a tool.
        let was_ignored = member.name == step::FOR
            && self.profile == Profile::Compat
            && members.given(step::TOOL).is_some();
        let promise = promise.filter(|_| !was_ignored);
        let extensions = extensions::ALL.iter().copied();
        let meant = match promise {
            None if self.notes.has_room(false) => similar(&member.name, extensions),
            _ => None,
        };
        let help = match meant {
            Some(meant) if meant == member.name => form(meant, layout, self.dialect),
            Some(meant) if members.member(meant).is_none() => {
                Some(format!("did you mean `{meant}`?"))
            }
            _ => None,
        };
        if help.is_none() {
            self.unknown(members, member, "a step", known, promise);
            return promise.is_some();
        }
        let note = members.unknown_note(member, "a step", known, false);
        self.note(note.help(help).into_warning());
        false
    }

    fn unknown(
        &mut self,
        members: &Members<'_>,
        member: &Member<'_>,
        what: &str,
        known: &[&str],
        promise: Option<Promise>,
    ) {
        let is_listed = self.notes.has_room(promise.is_some());
        let note = members.unknown_note(member, what, known, is_listed);
        self.note(match promise {
            Some(promise) => note.help(instead(promise, self.dialect)),
            None => note.into_warning(),
        });
    }
}

/// What somebody expects who writes a member that nothing reads.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Promise {
    /// That a step may not run.
    Condition,
    /// That a step runs for each element of a list.
    Elements,
    /// That a step may run again.
    Rounds,
    /// That other steps run in it.
    Steps,
}

/// What a member promises by its name, in any spelling: that a step runs only sometimes or several times, or that others run in it. A value that takes the
/// promise back, such as `"if": null`, is as no member.
fn promise(member: &Member<'_>) -> Option<Promise> {
    let value = member.value;
    let letters = member.name.chars();
    let letters = letters.filter(|c| !matches!(c, '_' | '-' | ' '));
    let name: String = letters.flat_map(char::to_lowercase).collect();
    // Of true and false, what says that a step runs once and always.
    let (promise, always) = match name.as_str() {
        "if" | "condition" | "when" | "onlyif" | "runif" => (Promise::Condition, "true"),
        "unless" | "skipif" => (Promise::Condition, "false"),
        "for" | "foreach" => (Promise::Elements, "false"),
        "loop" | "repeat" => (Promise::Rounds, "false"),
        "while" | "until" => (Promise::Rounds, ""),
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

/// How a member is written that the systems ignore, so that it counts.
fn form(name: &str, layout: &Layout, dialect: Dialect) -> Option<String> {
    let form = match name {
        step::VALUE => return Some("a step with a `tool` has no `value`".to_owned()),
        step::FOR => return Some(instead(Promise::Elements, dialect)),
        step::AWAIT => r#""await": "String""#,
        step::UNDO if layout.by_place => r#""undo": 0"#,
        step::AFTER if layout.by_place => r#""dependsOn": [0]"#,
        step::UNDO => r#""undo": "a""#,
        step::ALWAYS => r#""always": true"#,
        step::AFTER => r#""after": ["a"]"#,
        step::POLICY => r#""policy": {"deadline": "1m"}"#,
        _ => return None,
    };
    Some(format!("one that counts is written `{form}`"))
}

/// What there is instead of a member that promises something.
fn instead(promise: Promise, dialect: Dialect) -> String {
    let rules = dialect.rules();
    let key = |key: &str| Segment::new(Selector::Key(key.to_owned()));
    let form = |path: &[Segment]| (rules.form)(ReferenceTarget::Step(0, "a"), path);
    let form = |path: &[Segment]| quote(&form(path).unwrap_or_default());
    let call = format!(r#"{{"tool": "t", "{}": {{}}}}"#, rules.arguments);
    let (always, instead) = match promise {
        Promise::Condition => (
            "runs in any case",
            format!(
                r#""if": [{{"condition": {}, "then": {call}}}]"#,
                form(&[key("ok")])
            ),
        ),
        Promise::Elements => (
            "runs once",
            format!(
                r#""for": {{"pattern": "x", "list": {}, "body": {call}}}"#,
                form(&[])
            ),
        ),
        Promise::Rounds => (
            "runs once",
            format!(
                r#""loop": {{"steps": [], "tail": {call}, "while": true}}, "policy": {{"at_most": 100}}"#
            ),
        ),
        Promise::Steps => (
            "has no steps in it",
            format!(r#""block": {{"steps": [], "tail": {call}}}"#),
        ),
    };
    let retries = match (promise, rules.retries) {
        (Promise::Elements | Promise::Rounds, Some(retries)) => {
            format!(", and `{retries}` tries it again if it fails")
        }
        _ => String::new(),
    };
    format!("a step {always}{retries}; in place of its `tool`, it can have `{instead}`")
}
