//! Policies. The members of a policy depend on the body of the step, since no member may be without an effect.

use super::{Builder, any_of, named, object};
use crate::dynamic::DocumentLimits;
use crate::plan::Amount;
use crate::plan::json::names::{catch, optional, policy};
use serde_json::{Value, json};

/// The subject of a step's policy.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Does {
    /// A single action, block or value.
    Once,
    /// A part of a step that runs for each element of a list.
    Each,
    /// Rounds.
    Rounds,
    /// A wait.
    Wait,
}

/// The possible handling of a failure.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Failure {
    /// Every handling.
    Any,
    /// The handling besides `optional`, which is a member of the step.
    Optional,
    /// Nothing, as for steps that undo others and steps that always run.
    None,
}

impl Does {
    const fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Each => "each",
            Self::Rounds => "rounds",
            Self::Wait => "wait",
        }
    }
}

/// A time as `humantime` writes it, within the reader's limit of a year.
pub(super) const DURATION: &str = concat!(
    "^(?:(?:[0-9]{1,2}|[12][0-9]{2}|3[0-5][0-9])days?|[0-7]?[0-9]{1,3}h|[0-9]{1,5}(?:m|s|ms|us|ns))",
    "(?: [0-9]{1,2}h)?(?: [0-9]{1,3}m)?(?: [0-9]{1,3}s)?(?: [0-9]{1,3}ms)?(?: [0-9]{1,3}us)?(?: [0-9]{1,3}ns)?$",
);

impl Builder<'_> {
    /// Adds the schema of a step's policy, and returns a reference to it.
    pub(super) fn policy(&mut self, does: Does, failure: Failure) -> Value {
        let suffix = match failure {
            Failure::Any => "",
            Failure::Optional => "_optional",
            Failure::None => "_end",
        };
        let name = format!("policy_{}{suffix}", does.name());
        if !self.defs.contains_key(&name) {
            let schema = self.policies(does, failure);
            self.defs.insert(name.clone(), schema);
        }
        named(&name)
    }

    fn policies(&self, does: Does, failure: Failure) -> Value {
        let each = does == Does::Each;
        let fallback = || (policy::FALLBACK, named("value"), false);
        let optionals = |values: &[&str]| (policy::OPTIONAL, json!({ "enum": values }), false);
        let catches = |value: Value| (policy::CATCH, json!({ "enum": [value] }), true);
        let with = |more: Vec<(&'static str, Value, bool)>| {
            object(self.amounts(does).into_iter().chain(more))
        };
        if failure == Failure::None {
            return with(Vec::new());
        }
        let is_own = failure == Failure::Optional;
        let mut all = vec![with(match (is_own, each) {
            (true, _) => vec![fallback()],
            (false, false) => vec![optionals(&[optional::NO, optional::WHOLE]), fallback()],
            (false, true) => vec![optionals(optional::ALL), fallback()],
        })];
        if !is_own {
            let mut members = vec![catches(true.into())];
            if each {
                members.push(optionals(&[optional::NO, optional::EACH]));
            }
            all.push(with(members));
        }
        if each {
            let mut members = vec![catches(catch::EACH.into()), fallback()];
            if !is_own {
                members.push(optionals(&[optional::NO, optional::WHOLE]));
            }
            all.push(with(members));
        }
        any_of(all)
    }

    /// Returns the members for numbers and times.
    fn amounts(&self, does: Does) -> Vec<(&'static str, Value, bool)> {
        let is_own = |amount: Amount| {
            self.form.by_place && matches!(amount, Amount::Attempts | Amount::Timeout)
        };
        let mut members = Vec::new();
        for amount in Amount::ALL {
            let fits = match amount {
                Amount::Attempts => does != Does::Wait,
                Amount::Concurrency => does == Does::Each,
                Amount::AtMost | Amount::Every => does == Does::Rounds,
                Amount::Backoff | Amount::Max | Amount::Timeout | Amount::Deadline => true,
            };
            if !fits || is_own(amount) {
                continue;
            }
            let mut schemas = vec![match amount {
                Amount::Attempts => {
                    json!({"type": "integer", "minimum": 1, "maximum": DocumentLimits::DEFAULT.attempts})
                }
                Amount::Concurrency | Amount::AtMost => {
                    json!({"type": "integer", "minimum": 1, "maximum": 1_000_000})
                }
                _ => named("duration"),
            }];
            schemas.extend(self.input());
            let is_required = amount == Amount::AtMost;
            members.push((amount.name(), any_of(schemas), is_required));
        }
        members.push((policy::JITTER, json!({"type": "boolean"}), false));
        if does == Does::Rounds {
            members.push((policy::COLLECT, json!({"type": "boolean"}), false));
        }
        members
    }
}
