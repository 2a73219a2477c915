//! Unknown members.

use super::body::one_branch;
use super::instead::instead;
use super::layout::{Layout, form};
use super::words::{changes_runs, renamed};
use super::{Member, Members, PlanReader, strings, wrong_kind};
use crate::dynamic::Profile;
use crate::dynamic::finding::Note;
use crate::dynamic::json_node::JsonType;
use crate::plan::json::names::{self, step};

/// Reports unknown members: as errors, or in the compat profile as warnings for members that the original systems ignore.
pub(crate) fn only_known(
    reader: &mut PlanReader,
    members: &Members<'_>,
    what: &str,
    known: &[&'static str],
) {
    for member in members.unknown(known) {
        let is_error = is_error(reader, member, known);
        let note = unknown_member(reader, members, member, what, known, is_error);
        reader.note(note);
    }
}

/// Reports an unknown member of a step. Returns `true` for an error.
pub(super) fn unknown_in_step(
    reader: &mut PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    layout: &Layout,
) -> bool {
    let known = known_in_step(layout);
    let was_ignored = reader.profile == Profile::Compat && is_beside_tool(reader, members, member);
    let is_error = is_error(reader, member, &known) && !was_ignored;
    let is_own = known.contains(&&*member.name);
    let form = form(&member.name, layout);
    let form = form.filter(|(kind, _)| is_own && member.value.kind() != *kind);
    if let Some((_, expected)) = form {
        let note = wrong_kind(member.value, &format!("`{}`", member.name), expected);
        let help = reader.notes.has_room(is_error).then(|| {
            let help = one_branch(reader, members, member);
            help.or_else(|| instead(reader, members, member, ("a step", &known)))
        });
        let note = note.at(member.key.place()).help(help.flatten());
        reader.note(note.warn_if(!is_error));
        return is_error;
    }
    let note = if is_own {
        let help = format!("a step with a `tool` has no `{}`", member.name);
        let note = members.unknown_note(member, "a step", &known, false);
        note.help(help).warn_if(!is_error)
    } else {
        unknown_member(reader, members, member, "a step", &known, is_error)
    };
    reader.note(note);
    is_error
}

/// Returns `true` for a string without references or a wait, if the step has a tool. The systems ignore such members.
fn is_beside_tool(reader: &PlanReader, members: &Members<'_>, member: &Member<'_>) -> bool {
    let is_text = || {
        let text = member.value.text().ok();
        let text = text.filter(|_| member.value.kind() == JsonType::String);
        text.is_some_and(|text| !strings::refers(reader, &text.value))
    };
    let is_ignored = match &*member.name {
        step::AWAIT => true,
        step::FOR => is_text(),
        _ => false,
    };
    is_ignored && members.given(step::TOOL).is_some()
}

/// Returns `true` if the unknown member is an error.
fn is_error(reader: &PlanReader, member: &Member<'_>, known: &[&str]) -> bool {
    reader.profile != Profile::Compat || changes_runs(reader.rules, member, known)
}

/// Returns the finding for an unknown member, with its equivalent.
fn unknown_member(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    what: &str,
    known: &[&'static str],
    is_error: bool,
) -> Note {
    let is_listed = reader.notes.has_room(is_error);
    let help = is_listed.then(|| instead(reader, members, member, (what, known)));
    let help = help.flatten();
    let note = members.unknown_note(member, what, known, is_listed && help.is_none());
    match help {
        Some(help) => note.help(help),
        None => note,
    }
    .warn_if(!is_error)
}

impl PlanReader {
    /// Refuses members that nothing reads. A member with a name from another language is read like the member with the right name.
    pub(crate) fn only(&mut self, members: &mut Members<'_>, what: &str, known: &[&'static str]) {
        for index in 0..members.list.len() {
            let member = &members.list[index];
            if known.contains(&&*member.name) {
                continue;
            }
            let note = unknown_member(self, members, member, what, known, true);
            self.note(note);
            if let Some(meant) = renamed(self, members, member, known) {
                members.list[index].name = meant.into();
            }
        }
    }
}

/// Returns all members of a step.
fn known_in_step(layout: &Layout) -> Vec<&'static str> {
    let extensions = names::EXTENSIONS.iter().copied();
    let extensions = extensions.filter(|name| *name != step::AFTER || layout.after.0 == *name);
    layout.step.iter().copied().chain(extensions).collect()
}
