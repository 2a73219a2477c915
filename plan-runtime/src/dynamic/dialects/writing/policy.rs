//! The policies of steps: the members that a dialect has for them, and a `policy` in the form of plan JSON for the rest.

use super::json::{OutputJson, OutputMembers};
use super::{Part, Writer};
use crate::plan::json::meaningless;
use crate::plan::json::names::{catch, optional, policy as names};
use crate::plan::{Amount, Catch, Number, Optional, Origin, Policy, Source, Step, Template};
use std::time::Duration;

impl<'p> Writer<'p> {
    /// Writes the part of a policy that is not in members of the dialect. `known` is the part in these members.
    pub(super) fn policy(&mut self, step: &'p Step, known: &Policy) -> OutputMembers<'p> {
        let (policy, default) = (&*step.policy, &Policy::DEFAULT);
        for (_, message) in meaningless(policy, false, &step.body, step.role, Origin::Written) {
            self.cannot_express(self.here(), format!("a policy in which {message}"));
        }
        let mut members = OutputMembers::default();
        let number = |number: u64| OutputJson::Number(Number::Unsigned(number));
        let time = |time: Duration| {
            let text = humantime::format_duration(time).to_string();
            OutputJson::String(text.into())
        };
        let attempts = (policy.attempts != known.attempts).then_some(policy.attempts.into());
        self.amount(&mut members, policy, Amount::Attempts, attempts.map(number));
        let backoff = (policy.backoff != default.backoff).then_some(policy.backoff);
        self.amount(&mut members, policy, Amount::Backoff, backoff.map(time));
        let max = (policy.max != default.max).then_some(policy.max);
        self.amount(&mut members, policy, Amount::Max, max.map(time));
        if policy.jitter != default.jitter {
            members.add(names::JITTER, OutputJson::Bool(policy.jitter));
        }
        let timeout = policy.timeout.filter(|_| policy.timeout != known.timeout);
        self.amount(&mut members, policy, Amount::Timeout, timeout.map(time));
        let deadline = policy.deadline.map(time);
        self.amount(&mut members, policy, Amount::Deadline, deadline);
        if policy.optional != known.optional {
            members.text(
                names::OPTIONAL,
                match policy.optional {
                    Optional::No => optional::NO,
                    Optional::Whole => optional::WHOLE,
                    Optional::Each => optional::EACH,
                },
            );
        }
        match policy.catch {
            Catch::No => {}
            Catch::Whole => members.add(names::CATCH, OutputJson::Bool(true)),
            Catch::Each => members.text(names::CATCH, catch::EACH),
        }
        let concurrency = policy.concurrency.map(|count| number(count as u64));
        self.amount(&mut members, policy, Amount::Concurrency, concurrency);
        let at_most = policy.at_most.map(|most| number(most.into()));
        self.amount(&mut members, policy, Amount::AtMost, at_most);
        self.amount(&mut members, policy, Amount::Every, policy.every.map(time));
        if policy.collect {
            members.add(names::COLLECT, OutputJson::Bool(true));
        }
        // A reader expects the fallback after the amounts.
        if let Some(fallback) = &policy.fallback {
            let fallback = self.part(Part::Fallback, &fallback.plain());
            members.add(names::FALLBACK, fallback);
        }
        members
    }

    /// Writes the template of an amount, or its value.
    fn amount(
        &mut self,
        members: &mut OutputMembers<'p>,
        policy: &'p Policy,
        amount: Amount,
        value: Option<OutputJson<'p>>,
    ) {
        let Some(given) = policy.gives(amount) else {
            if let Some(value) = value {
                members.add(amount.name(), value);
            }
            return;
        };
        let plain = given.plain();
        // A reader would read any other template as the amount itself.
        let is_template = match &plain {
            Template::Reference(_) | Template::Object(_) => true,
            Template::Text(_) => !given.reads().is_empty(),
            _ => false,
        };
        let is_input = |source: &Source| matches!(source, Source::Input(_));
        if !is_template || !given.reads().iter().all(is_input) {
            let construct = format!("that `{given}` gives its `{}`", amount.name());
            return self.cannot_express(self.here(), construct);
        }
        self.part = Part::Policy;
        let written = self.template(&mut amount.name().to_owned(), &plain);
        members.add(amount.name(), written);
    }
}
