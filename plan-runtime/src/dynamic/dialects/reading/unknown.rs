//! Unknown members, and the expectations behind them.

use super::body::one_branch;
use super::holder::Holder;
use super::layout::Layout;
use super::promise::{Instead, Promise, elsewhere, plain, synonym};
use super::{Member, Members, PlanBuilder, extensions, wrong_kind};
use crate::dynamic::finding::Note;
use crate::dynamic::{Dialect, Profile};
use crate::plan::json::names::step;

impl PlanBuilder {
    /// Reports unknown members: as errors, or in the compat profile as warnings for members that the original systems ignore.
    pub(crate) fn only_known(&mut self, members: &Members<'_>, what: &str, known: &[&str]) {
        let holder = Holder::of(known);
        for member in members.unknown(known) {
            let promise = holder.and_then(|_| Promise::of(member));
            self.unknown(members, member, what, known, promise);
        }
    }

    /// Reports an unknown member of a step. Returns `true` for an error.
    pub(super) fn unknown_in_step(
        &mut self,
        members: &Members<'_>,
        member: &Member<'_>,
        layout: &Layout,
    ) -> bool {
        let known = known_in_step(layout);
        let promise = Promise::of(member);
        // The systems ignore a member with this name beside a tool.
        let was_ignored = member.name == step::FOR
            && self.profile == Profile::Compat
            && members.given(step::TOOL).is_some();
        let is_own = known.contains(&&*member.name);
        let promise = promise.filter(|_| !was_ignored);
        let is_error = self.is_error(promise);
        if is_own && !is_error {
            let note = match form(&member.name, layout) {
                Some(help) => members
                    .unknown_note(member, "a step", &known, false)
                    .help(help),
                None => self.unknown_member(members, member, "a step", &known, false),
            };
            self.note(note.into_warning());
            return false;
        }
        if is_own && !extensions::is_form(member, layout) {
            let expected = extensions::expected(&member.name, layout);
            let note = wrong_kind(member.value, &format!("`{}`", member.name), expected);
            let has_room = self.notes.has_room(true);
            let help = has_room
                .then(|| {
                    let arguments = self.dialect.rules().arguments;
                    let branch = one_branch(members, member, arguments);
                    branch.or_else(|| self.instead(members, member, &known))
                })
                .flatten();
            self.note(note.at(member.key.place()).help(help));
            return true;
        }
        self.unknown(members, member, "a step", &known, promise);
        is_error
    }

    /// Returns `true` if the unknown member with this expectation is an error.
    fn is_error(&self, promise: Option<Promise>) -> bool {
        self.profile != Profile::Compat || promise.is_some_and(|it| !it.may_be_ignored())
    }

    fn unknown(
        &mut self,
        members: &Members<'_>,
        member: &Member<'_>,
        what: &str,
        known: &[&str],
        promise: Option<Promise>,
    ) {
        let is_error = self.is_error(promise);
        let note = self.unknown_member(members, member, what, known, is_error);
        self.note(note.warn_if(!is_error));
    }

    /// Returns the finding for an unknown member, with its equivalent.
    fn unknown_member(
        &self,
        members: &Members<'_>,
        member: &Member<'_>,
        what: &str,
        known: &[&str],
        is_error: bool,
    ) -> Note {
        let is_listed = self.notes.has_room(is_error);
        let help = is_listed.then(|| self.instead(members, member, known));
        let help = help.flatten();
        let note = members.unknown_note(member, what, known, is_listed && help.is_none());
        match help {
            Some(help) => note.help(help),
            None => note,
        }
    }

    /// Returns the dialect's name for a member that has another name elsewhere.
    pub(super) fn synonym(&self, holder: Holder, member: &Member<'_>) -> Option<&'static str> {
        let rules = self.dialect.rules();
        // Plan JSON cannot read the arguments of another dialect under any name.
        let is_foreign = rules.wraps()
            && Dialect::ALL
                .iter()
                .any(|it| it.rules().arguments == member.name);
        match synonym(holder, member)? {
            step::ARGUMENTS if is_foreign => None,
            step::ARGUMENTS => Some(rules.arguments),
            other => Some(other),
        }
    }

    /// Returns the equivalent of a member that has another name in this dialect, or whose expectation has another notation.
    fn instead(
        &self,
        members: &Members<'_>,
        member: &Member<'_>,
        known: &[&str],
    ) -> Option<String> {
        let holder = Holder::of(known)?;
        let name = plain(&member.name);
        let mut same = known.iter().filter(|known| plain(known) == name).copied();
        let meant = same.next().or_else(|| self.synonym(holder, member));
        if let Some(meant) = meant.filter(|meant| known.contains(meant))
            && members.member(meant).is_none()
        {
            return Some(format!("did you mean `{meant}`?"));
        }
        if let Some(elsewhere) = elsewhere(holder, member) {
            return Some(elsewhere.to_owned());
        }
        let has_promises = matches!(
            holder,
            Holder::Plan | Holder::Step | Holder::Body | Holder::Policy
        );
        let promise = Promise::of(member).filter(|_| has_promises)?;
        let dialect = self.dialect;
        let instead = Instead {
            dialect,
            holder,
            members,
            member,
        };
        Some(instead.of(promise))
    }

    /// Reports unknown members. A member with a name from another language is read like the member with the right name.
    pub(super) fn only_named(&mut self, members: &mut Members<'_>, what: &str, known: &[&str]) {
        let holder = Holder::of(known);
        let given = known.iter().filter(|name| members.member(name).is_some());
        let mut given: Vec<&str> = given.copied().collect();
        for index in 0..members.list.len() {
            let member = &members.list[index];
            if known.contains(&&*member.name) {
                continue;
            }
            let meant = holder.and_then(|holder| self.synonym(holder, member));
            let meant = meant.filter(|meant| known.contains(meant) && !given.contains(meant));
            let note = match meant {
                Some(meant) => {
                    let note = members.unknown_note(member, what, known, false);
                    note.help(format!("did you mean `{meant}`?"))
                }
                None => self.unknown_member(members, member, what, known, true),
            };
            self.note(note);
            if let Some(meant) = meant {
                given.push(meant);
                members.list[index].name = meant.into();
            }
        }
    }
}

/// Returns all members of a step.
fn known_in_step(layout: &Layout) -> Vec<&'static str> {
    let extensions = extensions::ALL.iter().copied();
    let extensions = extensions.filter(|name| !layout.by_place || *name != step::AFTER);
    layout.step.iter().copied().chain(extensions).collect()
}

/// Returns the notation with which a member that the original systems ignore takes effect.
fn form(name: &str, layout: &Layout) -> Option<String> {
    let form = match name {
        step::VALUE => return Some("a step with a `tool` has no `value`".to_owned()),
        step::AWAIT => r#""await": "String""#,
        step::UNDO if layout.by_place => r#""undo": 0"#,
        step::UNDO => r#""undo": "a""#,
        step::ALWAYS => r#""always": true"#,
        step::AFTER => r#""after": ["a"]"#,
        step::POLICY => r#""policy": {"deadline": "1m"}"#,
        _ => return None,
    };
    Some(format!("one that counts is written `{form}`"))
}
