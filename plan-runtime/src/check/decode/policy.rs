//! Policies.

use super::{Constant, Decoder, Text, bug};
use crate::plan::{Amount, Catch, Optional, Policy, RustText};
use plan_graph::notation::{self, SettingData};
use std::sync::Arc;
use std::time::Duration;

impl Decoder {
    pub(super) fn policy(&mut self, settings: Vec<SettingData<Text>>) -> Arc<Policy> {
        if settings.is_empty() {
            return Policy::shared();
        }
        let mut policy = Policy::DEFAULT;
        for setting in settings {
            match setting {
                SettingData::Count(amount, count) => {
                    set_count(&mut policy, self::amount(amount), count);
                }
                SettingData::Time(amount, time) => {
                    set_time(&mut policy, self::amount(amount), time);
                }
                SettingData::Jitter(is_random) => policy.jitter = is_random,
                SettingData::Optional => policy.optional = Optional::Whole,
                SettingData::OptionalEach => policy.optional = Optional::Each,
                SettingData::Catch => policy.catch = Catch::Whole,
                SettingData::CatchEach => policy.catch = Catch::Each,
                SettingData::Fallback(value) => policy.fallback = Some(self.template(value)),
                SettingData::Collect => policy.collect = true,
                SettingData::Constant(amount, written, constant) => {
                    let written = RustText::of_program(written);
                    let amount = self::amount(amount);
                    policy.named.push((amount, written));
                    match self.constant(constant) {
                        Constant::Count(count) => set_count(&mut policy, amount, count()),
                        Constant::Time(time) => set_time(&mut policy, amount, time()),
                        _ => bug(),
                    }
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

fn set_count(policy: &mut Policy, amount: Amount, count: usize) {
    let rounds = u32::try_from(count).unwrap_or(u32::MAX);
    match amount {
        Amount::Attempts => policy.attempts = rounds,
        Amount::AtMost => policy.at_most = Some(rounds),
        Amount::Concurrency => policy.concurrency = Some(count),
        _ => bug(),
    }
}

fn set_time(policy: &mut Policy, amount: Amount, time: Duration) {
    match amount {
        Amount::Backoff => policy.backoff = time,
        Amount::Max => policy.max = time,
        Amount::Timeout => policy.timeout = Some(time),
        Amount::Deadline => policy.deadline = Some(time),
        Amount::Every => policy.every = Some(time),
        _ => bug(),
    }
}
