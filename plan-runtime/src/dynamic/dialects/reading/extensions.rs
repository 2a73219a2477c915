//! The members of plan JSON that a step of another dialect may have.
//!
//! The original systems of the dialects ignore such members. The reader therefore reads a member only under these conditions:
//!
//! - `if`, `for`, `block` and `loop` need the JSON type of plan JSON in all profiles.
//! - In the compat profile, the other members need the JSON type of plan JSON as well.
//! - An `await` without a tool may have any JSON type in all profiles.
//! - The compat profile ignores `value`, `for` and `await` beside a tool.

use super::layout::{Layout, form};
use super::{Member, Members, PlanReader, unknown};
use crate::dynamic::Profile;
use crate::dynamic::json_node::JsonType;
use crate::plan::json::names::{EXTENSIONS, WITHOUT_ARGUMENTS, step};

/// Returns the members of a step to read, and reports the others. The second value is `true` if one of the reported members was meant as the
/// body.
pub(super) fn known<'a>(
    reader: &mut PlanReader,
    mut members: Members<'a>,
    layout: &Layout,
) -> (Members<'a>, bool) {
    let is_strict = reader.profile != Profile::Compat;
    let calls = members.given(step::TOOL).is_some();
    // The member of a value may be null.
    members.list.retain(|member| {
        let is_value = member.name == step::VALUE && !calls;
        is_value || member.value.kind() != JsonType::Null || !EXTENSIONS.contains(&&*member.name)
    });
    let is_read = |member: &Member<'_>| {
        let name = &*member.name;
        if layout.step.contains(&name) {
            return true;
        }
        if !EXTENSIONS.contains(&name) {
            return false;
        }
        match name {
            // The dialect has another name for the member.
            step::AFTER if layout.after.0 != name => false,
            step::VALUE | step::FOR | step::AWAIT if calls && !is_strict => false,
            step::IF | step::FOR | step::BLOCK | step::LOOP => is_form(member, layout),
            step::AWAIT if !calls => true,
            _ => is_strict || is_form(member, layout),
        }
    };
    let mut read: Vec<bool> = members.list.iter().map(is_read).collect();
    let mut is_meant = false;
    for (index, read) in read.iter_mut().enumerate().filter(|(_, read)| !**read) {
        let member = &members.list[index];
        let (is_error, meant) = unknown::unknown_in_step(reader, &members, member, layout);
        if let Some(meant) = meant {
            unknown::rename(reader, &mut members.list[index], meant);
            *read = is_read(&members.list[index]);
        }
        let is_body = WITHOUT_ARGUMENTS.contains(&&*members.list[index].name);
        is_meant |= is_error && is_body && !*read;
    }
    let mut read = read.into_iter();
    members.list.retain(|_| read.next().unwrap_or(false));
    (members, is_meant)
}

/// Returns `true` if a member has the form of plan JSON.
pub(super) fn is_form(member: &Member<'_>, layout: &Layout) -> bool {
    form(&member.name, layout).is_none_or(|(kind, _)| member.value.kind() == kind)
}
