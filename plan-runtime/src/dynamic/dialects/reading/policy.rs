//! Policies for failures and time limits.

use super::{Members, PlanReader, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::meaningless;
use crate::plan::json::names::{catch, optional, policy, step};
use crate::plan::{Amount, Catch, Optional, Origin, Policy, Source, Step, Template};
use crate::print::short;
use std::time::Duration;

impl PlanReader<'_> {
    /// Reads the policy of a step. `own` lists the amounts that the dialect has as members of the step, which were read already: their names in a
    /// policy, and the names of the members.
    pub(crate) fn policy_of(
        &mut self,
        index: usize,
        members: &Members<'_>,
        step: &mut Step,
        own: &[(&'static str, &'static str)],
    ) {
        let node = members.given(step::POLICY);
        let given = node.and_then(|node| self.object(node, "`policy`", policy::ALL));
        if let Some(given) = &given {
            for (name, own) in own {
                if let (Some(given), Some(own)) = (given.member(name), members.member(own)) {
                    let message = format!(
                        "the step has both `{}` and the `{name}` of a `policy`",
                        own.name
                    );
                    let note = Note::error(Code::WrongKind, given.key.place(), message);
                    let note = note.related(own.key.place(), format!("`{}` is here", own.name));
                    self.builder
                        .note(note.help("remove one of them".to_owned()));
                }
            }
            step.policy = self.policy(given, &step.policy).into();
        }
        self.times(&step.policy, given.as_ref(), members, own);
        let is_broken = self.builder.spans.steps[index].broken;
        let origin = self.builder.origin;
        for (name, message) in meaningless(&step.policy, is_broken, &step.body, step.role, origin) {
            let own = own.iter().find(|(own, _)| *own == name);
            let own_name = own.map(|(_, own)| *own);
            let own = own_name.and_then(|own| members.given(own));
            if let Some(node) = given.as_ref().and_then(|it| it.given(name)).or(own) {
                let note = Note::error(Code::NotAllowed, node.place(), message);
                let member = if given.as_ref().is_some_and(|it| it.given(name).is_some()) {
                    name
                } else {
                    own_name.unwrap_or(name)
                };
                let help = match node.slice() {
                    "0" => "write 1 or more, or remove it".to_owned(),
                    _ => format!("remove `{member}`"),
                };
                self.builder.note(note.help(help));
            }
        }
    }

    /// Reports a time that another time of the policy makes useless.
    fn times(
        &mut self,
        policy: &Policy,
        given: Option<&Members<'_>>,
        members: &Members<'_>,
        own: &[(&'static str, &'static str)],
    ) {
        // A recorded plan was accepted by a compiler.
        if matches!(self.builder.origin, Origin::Recorded) {
            return;
        }
        let node = |name: &str| {
            let own = own.iter().find(|(own, _)| *own == name);
            let own = own.and_then(|(_, own)| members.given(own));
            given.and_then(|given| given.given(name)).or(own)
        };
        let is_late = |timeout| policy.deadline.is_some_and(|deadline| timeout > deadline);
        let times = [
            (
                policy.timeout.is_some_and(is_late),
                [policy::TIMEOUT, policy::DEADLINE],
                "`timeout` is longer than `deadline`, which ends the step before",
            ),
            (
                policy.max < policy.backoff,
                [policy::MAX, policy::BACKOFF],
                "the longest wait between attempts is shorter than `backoff`, the first one",
            ),
        ];
        for (is_wrong, [name, other], message) in times {
            if let (true, Some(node), Some(other_node)) = (is_wrong, node(name), node(other))
                && !self.syntax.gives(self, node)
                && !self.syntax.gives(self, other_node)
            {
                let note = Note::warning(Code::NotAllowed, node.place(), message);
                let note = note.related(other_node.place(), format!("`{other}` is here"));
                self.builder
                    .note(note.help(format!("remove `{name}`, or change `{other}`")));
            }
        }
    }

    /// Reads a policy. A missing member has its value from `default`.
    fn policy(&mut self, members: &Members<'_>, default: &Policy) -> Policy {
        let count = "a number of attempts: 1, 2, …";
        let rounds = "the most rounds of a loop: 1, 2, …";
        let at_once = "the number of elements to process concurrently: 1, 2, …";
        let optional = members
            .given(policy::OPTIONAL)
            .and_then(|node| self.optional_kind(node));
        let mut given = Vec::new();
        for amount in Amount::ALL {
            given.extend(self.given(members, amount));
        }
        let policy = Policy {
            attempts: self
                .scalar(members, policy::ATTEMPTS, count)
                .unwrap_or(default.attempts),
            backoff: self
                .duration(members, policy::BACKOFF)
                .unwrap_or(default.backoff),
            max: self.duration(members, policy::MAX).unwrap_or(default.max),
            jitter: self
                .scalar(members, policy::JITTER, "`true` or `false`")
                .unwrap_or(default.jitter),
            timeout: self.duration(members, policy::TIMEOUT).or(default.timeout),
            deadline: self.duration(members, policy::DEADLINE),
            optional: match optional {
                Some(optional::WHOLE) => Optional::Whole,
                Some(optional::EACH) => Optional::Each,
                _ => default.optional,
            },
            catch: self.catch(members),
            fallback: members
                .get(policy::FALLBACK)
                .map(|node| self.template(node, None, 0)),
            concurrency: self.scalar(members, policy::CONCURRENCY, at_once),
            at_most: self.scalar(members, policy::AT_MOST, rounds),
            every: self.duration(members, policy::EVERY),
            collect: self
                .scalar(members, policy::COLLECT, "`true` or `false`")
                .unwrap_or(default.collect),
            given,
            named: Vec::new(),
        };
        if let Some(node) = self.fixed(members, policy::ATTEMPTS) {
            let builder = &mut self.builder;
            builder.attempts_fit(policy.attempts, policy::ATTEMPTS, node.place());
        }
        policy
    }

    /// Returns the member of an amount that is a constant.
    fn fixed<'a>(&self, members: &Members<'a>, name: &str) -> Option<JsonNode<'a>> {
        let node = members.given(name)?;
        (!self.syntax.gives(self, node)).then_some(node)
    }

    /// Returns the template of an amount that is not a constant.
    fn given(&mut self, members: &Members<'_>, amount: Amount) -> Option<(Amount, Template)> {
        let node = members.given(amount.name())?;
        if !self.syntax.gives(self, node) {
            return None;
        }
        let template = self.template(node, None, 0);
        if matches!(template, Template::String(_)) {
            // A malformed reference, which the profile leaves literal.
            let note = wrong_kind(
                node,
                &format!("`{}`", amount.name()),
                "an amount or a reference",
            );
            return self.builder.error(note);
        }
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

    fn optional_kind(&mut self, node: JsonNode<'_>) -> Option<&'static str> {
        if node.kind() == JsonType::Bool {
            let meant = match node.slice() {
                "true" => optional::WHOLE,
                _ => optional::NO,
            };
            let expected = format!("one of `\"{}\"`", optional::ALL.join("\"`, `\""));
            let note = wrong_kind(node, "`optional`", &expected);
            return self
                .builder
                .error(note.help(format!("write `\"optional\": \"{meant}\"`")));
        }
        self.one_of(node, "`optional`", optional::ALL)
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
        let node = self.fixed(members, name)?;
        let what = format!("`{name}`");
        self.builder.value(node, &what, expected)
    }

    fn duration(&mut self, members: &Members<'_>, name: &str) -> Option<Duration> {
        let node = self.fixed(members, name)?;
        const HELP: &str = "a duration is a number with a unit: `200ms`, `10s`, `1m 30s`";
        if node.kind() != JsonType::String {
            let note = wrong_kind(node, &format!("`{name}`"), "a duration as a string");
            return self.builder.error(note.help(HELP.to_owned()));
        }
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
                self.builder.error(note.help(HELP.to_owned()))
            }
        }
    }
}
