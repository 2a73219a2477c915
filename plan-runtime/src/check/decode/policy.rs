//! Policies.

use super::{Constant, Decoder, Text, bug};
use crate::plan::{Amount, Catch, Optional, Policy, RustText};
use plan_graph::notation::{self, SettingData};
use std::sync::Arc;

impl Decoder {
    pub(super) fn policy(&mut self, settings: Vec<SettingData<Text>>) -> Arc<Policy> {
        if settings.is_empty() {
            return Policy::shared();
        }
        let mut policy = Policy::DEFAULT;
        for setting in settings {
            match setting {
                SettingData::Attempts(attempts) => policy.attempts = attempts,
                SettingData::Backoff(pause) => policy.backoff = pause,
                SettingData::Max(pause) => policy.max = pause,
                SettingData::Timeout(time) => policy.timeout = Some(time),
                SettingData::Deadline(time) => policy.deadline = Some(time),
                SettingData::Jitter(is_random) => policy.jitter = is_random,
                SettingData::Optional => policy.optional = Optional::Whole,
                SettingData::OptionalEach => policy.optional = Optional::Each,
                SettingData::Catch => policy.catch = Catch::Whole,
                SettingData::CatchEach => policy.catch = Catch::Each,
                SettingData::Fallback(value) => policy.fallback = Some(self.template(value)),
                SettingData::Concurrency(elements) => policy.concurrency = Some(elements),
                SettingData::AtMost(rounds) => policy.at_most = Some(rounds),
                SettingData::Every(time) => policy.every = Some(time),
                SettingData::Collect => policy.collect = true,
                SettingData::Constant(amount, written, constant) => {
                    let written = RustText::of_program(written);
                    let amount = self::amount(amount);
                    policy.named.push((amount, written));
                    set(&mut policy, amount, self.constant(constant));
                }
                SettingData::Given(amount, value) => {
                    policy
                        .given
                        .push((self::amount(amount), self.template(value)));
                }
            }
        }
        if !policy.named.is_empty() {
            policy.wait_as_long_as_asked();
        }
        policy.into()
    }
}

fn amount(amount: notation::Amount) -> Amount {
    match amount {
        notation::Amount::Attempts => Amount::Attempts,
        notation::Amount::Backoff => Amount::Backoff,
        notation::Amount::Max => Amount::Max,
        notation::Amount::Timeout => Amount::Timeout,
        notation::Amount::Deadline => Amount::Deadline,
        notation::Amount::Concurrency => Amount::Concurrency,
        notation::Amount::AtMost => Amount::AtMost,
        notation::Amount::Every => Amount::Every,
    }
}

/// Sets an amount that is a constant of the program.
fn set(policy: &mut Policy, amount: Amount, constant: Constant) {
    match (amount, constant) {
        (Amount::Attempts, Constant::Count(count)) => {
            policy.attempts = u32::try_from(count()).unwrap_or(u32::MAX);
        }
        (Amount::Concurrency, Constant::Count(count)) => policy.concurrency = Some(count()),
        (Amount::AtMost, Constant::Count(count)) => {
            policy.at_most = Some(u32::try_from(count()).unwrap_or(u32::MAX));
        }
        (Amount::Every, Constant::Time(time)) => policy.every = Some(time()),
        (Amount::Backoff, Constant::Time(time)) => policy.backoff = time(),
        (Amount::Max, Constant::Time(time)) => policy.max = time(),
        (Amount::Timeout, Constant::Time(time)) => policy.timeout = Some(time()),
        (Amount::Deadline, Constant::Time(time)) => policy.deadline = Some(time()),
        _ => bug(),
    }
}
