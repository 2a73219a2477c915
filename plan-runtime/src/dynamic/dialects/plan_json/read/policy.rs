//! Policies: what is done about failures and time.

use super::PlanReader;
use crate::dynamic::dialects::reading::Members;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::Node;
use crate::plan::json::names;
use crate::plan::{Body, Optional, Policy};
use crate::resolve::describe::short;
use std::time::Duration;

impl PlanReader<'_> {
    /// The policy of a step with this body, which may be broken.
    pub(super) fn policy(&mut self, node: Node<'_>, body: &Body, is_broken: bool) -> Policy {
        let default = Policy::DEFAULT;
        let Some(members) = self.object(node, "`policy`", names::policy::ALL) else {
            return default;
        };
        let count = "a number of attempts: 1, 2, …";
        let at_once = "a number of elements that are worked on at once: 1, 2, …";
        let optional = members
            .given(names::policy::OPTIONAL)
            .and_then(|node| self.one_of(node, "`optional`", names::optional::ALL));
        let attempts = self.scalar(&members, names::policy::ATTEMPTS, count);
        if attempts == Some(0) {
            self.means_nothing(
                &members,
                names::policy::ATTEMPTS,
                "a step is tried at least once",
            );
        }
        let concurrency = self.scalar(&members, names::policy::CONCURRENCY, at_once);
        if concurrency == Some(0) {
            let message = "at least one element must run at a time";
            self.means_nothing(&members, names::policy::CONCURRENCY, message);
        }
        let has_elements = is_broken || body.repeats();
        if concurrency.is_some() && !has_elements {
            let message = "`concurrency` is for the elements of a `for`";
            self.means_nothing(&members, names::policy::CONCURRENCY, message);
        }
        if optional == Some(names::optional::EACH) && !has_elements {
            let message = "`optional` is `each`, which is for the elements of a `for`";
            self.means_nothing(&members, names::policy::OPTIONAL, message);
        }
        Policy {
            attempts: attempts.unwrap_or(default.attempts),
            backoff: self
                .duration(&members, names::policy::BACKOFF)
                .unwrap_or(default.backoff),
            max: self
                .duration(&members, names::policy::MAX)
                .unwrap_or(default.max),
            jitter: self
                .scalar(&members, names::policy::JITTER, "`true` or `false`")
                .unwrap_or(default.jitter),
            timeout: self.duration(&members, names::policy::TIMEOUT),
            deadline: self.duration(&members, names::policy::DEADLINE),
            optional: match optional {
                Some(names::optional::WHOLE) => Optional::Whole,
                Some(names::optional::EACH) => Optional::Each,
                _ => Optional::No,
            },
            fallback: members
                .get(names::policy::FALLBACK)
                .map(|node| self.template(node, None, 0)),
            concurrency,
        }
    }

    /// Refuses what changes nothing, in the words of `plan!`.
    fn means_nothing(&mut self, members: &Members<'_>, name: &str, message: &str) {
        if let Some(node) = members.given(name) {
            let note = Note::error(Code::NotAllowed, self.place(node), message);
            self.draft.note(note);
        }
    }

    fn scalar<T: serde::de::DeserializeOwned>(
        &mut self,
        members: &Members<'_>,
        name: &str,
        expected: &str,
    ) -> Option<T> {
        let node = members.given(name)?;
        let what = format!("`{name}`");
        self.draft.value(&self.source, node, &what, expected)
    }

    fn duration(&mut self, members: &Members<'_>, name: &str) -> Option<Duration> {
        let node = members.given(name)?;
        let text = self.draft.text(&self.source, node, &format!("`{name}`"))?;
        match humantime::parse_duration(&text.value) {
            Ok(duration) => Some(duration),
            Err(_) => {
                let message = format!("`{name}` is `{}`, which is no duration", short(&text.value));
                let note = Note::error(Code::WrongKind, self.place(node), message);
                let help = "a duration is a number with its unit: `200ms`, `10s`, `1m 30s`";
                self.draft.error(note.help(help.to_owned()))
            }
        }
    }
}
