//! Policies: what is done about failures and time.

use super::PlanReader;
use crate::dynamic::dialects::reading::Members;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::meaningless;
use crate::plan::json::names::{catch, optional, policy};
use crate::plan::{Amount, Catch, Optional, Policy, Source, Step, Template};
use crate::print::short;
use std::time::Duration;

impl PlanReader<'_> {
    /// The policy of this step, whose body may be broken.
    pub(super) fn policy(&mut self, node: JsonNode<'_>, step: &Step, is_broken: bool) -> Policy {
        let default = Policy::DEFAULT;
        let Some(members) = self.object(node, "`policy`", policy::ALL) else {
            return default;
        };
        let count = "a number of attempts: 1, 2, …";
        let rounds = "the most rounds of a loop: 1, 2, …";
        let at_once = "the number of elements to process concurrently: 1, 2, …";
        let optional = members
            .given(policy::OPTIONAL)
            .and_then(|node| self.one_of(node, "`optional`", optional::ALL));
        let mut given = Vec::new();
        for amount in Amount::ALL {
            given.extend(self.given(&members, amount));
        }
        let policy = Policy {
            attempts: self
                .scalar(&members, policy::ATTEMPTS, count)
                .unwrap_or(default.attempts),
            backoff: self
                .duration(&members, policy::BACKOFF)
                .unwrap_or(default.backoff),
            max: self.duration(&members, policy::MAX).unwrap_or(default.max),
            jitter: self
                .scalar(&members, policy::JITTER, "`true` or `false`")
                .unwrap_or(default.jitter),
            timeout: self.duration(&members, policy::TIMEOUT),
            deadline: self.duration(&members, policy::DEADLINE),
            optional: match optional {
                Some(optional::WHOLE) => Optional::Whole,
                Some(optional::EACH) => Optional::Each,
                _ => Optional::No,
            },
            catch: self.catch(&members),
            fallback: members
                .get(policy::FALLBACK)
                .map(|node| self.template(node, None, 0)),
            concurrency: self.scalar(&members, policy::CONCURRENCY, at_once),
            at_most: self.scalar(&members, policy::AT_MOST, rounds),
            every: self.duration(&members, policy::EVERY),
            collect: self
                .scalar(&members, policy::COLLECT, "`true` or `false`")
                .unwrap_or(default.collect),
            given,
            named: Vec::new(),
        };
        if let Some(node) = members.given(policy::ATTEMPTS).filter(is_fixed) {
            let builder = &mut self.builder;
            builder.attempts_fit(policy.attempts, policy::ATTEMPTS, node.place());
        }
        for (member, message) in meaningless(&policy, is_broken, &step.body, step.role) {
            if let Some(node) = members.given(member) {
                let note = Note::error(Code::NotAllowed, node.place(), message);
                self.builder.note(note);
            }
        }
        policy
    }

    /// What gives an amount when the step starts, if it is not an amount itself.
    fn given(&mut self, members: &Members<'_>, amount: Amount) -> Option<(Amount, Template)> {
        let node = members.given(amount.name())?;
        if is_fixed(&node) {
            return None;
        }
        let template = self.template(node, None, 0);
        let reads = template.reads().into_iter();
        let steps = reads.filter(|source| !matches!(source, Source::Input(_)));
        if steps.count() > 0 {
            let message = format!(
                "`{}` reads a step; policies take constants and inputs",
                amount.name()
            );
            let note = Note::error(Code::NotAllowed, node.place(), message);
            self.builder.note(note.help("make it an input".to_owned()));
        }
        Some((amount, template))
    }

    fn catch(&mut self, members: &Members<'_>) -> Catch {
        let Some(node) = members.given(policy::CATCH) else {
            return Catch::No;
        };
        if node.kind() == JsonType::String {
            return match self.one_of(node, "`catch`", catch::ALL) {
                Some(_) => Catch::Each,
                None => Catch::No,
            };
        }
        let expected = "`true`, or `\"each\"` for the elements of a `for`";
        match self.builder.value(node, "`catch`", expected) {
            Some(true) => Catch::Whole,
            _ => Catch::No,
        }
    }

    fn scalar<T: serde::de::DeserializeOwned>(
        &mut self,
        members: &Members<'_>,
        name: &str,
        expected: &str,
    ) -> Option<T> {
        let node = members.given(name).filter(is_fixed)?;
        let what = format!("`{name}`");
        self.builder.value(node, &what, expected)
    }

    fn duration(&mut self, members: &Members<'_>, name: &str) -> Option<Duration> {
        let node = members.given(name).filter(is_fixed)?;
        let text = self.builder.text(node, &format!("`{name}`"))?;
        match humantime::parse_duration(&text.value) {
            Ok(duration) => {
                self.builder.time_fits(duration, name, node.place());
                Some(duration)
            }
            Err(_) => {
                let message = format!(
                    "`{name}` is `{}`, which is not a duration",
                    short(&text.value)
                );
                let note = Note::error(Code::WrongKind, node.place(), message);
                let help = "a duration is a number with a unit: `200ms`, `10s`, `1m 30s`";
                self.builder.error(note.help(help.to_owned()))
            }
        }
    }
}

/// Whether an amount is not given by a template, which is an object.
fn is_fixed(node: &JsonNode<'_>) -> bool {
    node.kind() != JsonType::Object
}
