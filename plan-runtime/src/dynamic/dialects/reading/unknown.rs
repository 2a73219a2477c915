//! Unknown members.

use super::body::one_branch;
use super::instead::instead;
use super::layout::{Layout, form, is_arguments};
use super::words::{changes_runs, plain, renamed};
use super::{Member, Members, PlanReader, strings, wrong_kind};
use crate::dynamic::Profile;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonType;
use crate::plan::json::names::{self, WITHOUT_ARGUMENTS, step};
use crate::print::short;
use plan_graph::similar;

/// Reports an unknown member of a step. Returns `true` for an error, and the member with the probable meaning of the unknown one.
pub(super) fn unknown_in_step(
    reader: &mut PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    layout: &Layout,
) -> (bool, Option<&'static str>) {
    let known = known_in_step(layout);
    let was_ignored = reader.profile == Profile::Compat && is_beside_tool(reader, members, member);
    let is_own = known.contains(&&*member.name);
    // No profile ignores the only body of a step, or its only arguments.
    let is_body = WITHOUT_ARGUMENTS.contains(&&*member.name);
    let is_needed = (is_body && members.given(step::TOOL).is_none())
        || (is_arguments(&member.name) && members.can_have(layout.body[1], member));
    let is_error = is_needed || (is_error(reader, member, &known) && !was_ignored);
    let form = form(&member.name, layout);
    let form = form.filter(|(kind, _)| is_own && member.value.kind() != *kind);
    if let Some((_, expected)) = form {
        let note = wrong_kind(member.value, &format!("`{}`", member.name), expected);
        let help = reader.notes.has_room(is_error).then(|| {
            let help = one_branch(reader, members, member);
            help.or_else(|| instead(reader, members, member, ("a step", &known)))
        });
        let note = note.help(help.flatten());
        let ignored = |note: Note| note.at(member.key.place()).into_warning();
        reader.note(if is_error { note } else { ignored(note) });
        return (is_error, None);
    }
    let (note, meant) = if is_own {
        let help = format!("a step with a `tool` has no `{}`", member.name);
        let note = unknown_note(member, "a step").help(help);
        (note.warn_if(!is_error), None)
    } else {
        unknown_member(reader, members, member, ("a step", &known), is_error)
    };
    reader.note(note);
    (is_error, meant)
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

fn unknown_note(member: &Member<'_>, what: &str) -> Note {
    let message = format!("unknown member `{}` in {what}", short(&member.name));
    Note::error(Code::UnknownMember, member.key.place(), message)
}

/// Returns the finding for an unknown member, and the member with its probable meaning. A similar name is searched only for a finding that
/// is listed.
fn unknown_member(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (what, known): (&str, &[&'static str]),
    is_error: bool,
) -> (Note, Option<&'static str>) {
    let note = unknown_note(member, what).warn_if(!is_error);
    let can_have = |meant: &&'static str| members.can_have(meant, member);
    let word = plain(&member.name);
    let mut same = known.iter().copied().filter(|known| plain(known) == word);
    let same = same.next().filter(can_have);
    let meant = same.or_else(|| renamed(reader, members, member, known));
    if !reader.notes.has_room(is_error) {
        return (note, meant.filter(|_| is_error));
    }
    if meant.is_none()
        && let Some(other) = instead(reader, members, member, (what, known))
    {
        return (note.help(other), None);
    }
    let is_free = |meant: &&'static str| members.member(meant).is_none();
    let similar = || similar(&member.name, known.iter().copied()).filter(is_free);
    let meant = meant.or_else(similar);
    let help = match (meant, known) {
        (Some(_), _) if reader.rules.wraps() && is_arguments(&member.name) => {
            let object = reader.rules.object_of("…");
            format!("write `\"{}\": {object}`", step::ARGUMENTS)
        }
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, [only]) => format!("the only member of {what} is `{only}`"),
        (None, _) => format!("the members of {what} are `{}`", known.join("`, `")),
    };
    (note.help(help), meant.filter(|it| is_error && can_have(it)))
}

/// Gives a member the name that its author probably meant. Errors in a value without members, and in the arguments of another dialect, wait
/// for the next reading.
pub(super) fn rename(reader: &mut PlanReader, member: &mut Member<'_>, meant: &'static str) {
    if !member.value.slice().contains('{') || is_arguments(&member.name) {
        reader.notes.skipped.push(member.value.place());
    }
    member.name = meant.into();
}

impl PlanReader {
    /// Refuses members that nothing reads. A member with a misspelled name or a name from another language is read like the member with the
    /// right name. With `may_ignore`, the compat profile only warns about members that the original systems ignore.
    pub(crate) fn only(
        &mut self,
        members: &mut Members<'_>,
        (what, known): (&str, &[&'static str]),
        may_ignore: bool,
    ) {
        for index in 0..members.list.len() {
            let member = &members.list[index];
            if known.contains(&&*member.name) {
                continue;
            }
            let is_error = !may_ignore || is_error(self, member, known);
            let (note, meant) = unknown_member(self, members, member, (what, known), is_error);
            self.note(note);
            if let Some(meant) = meant {
                rename(self, &mut members.list[index], meant);
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
