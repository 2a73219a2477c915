//! Policies: their differences from the default.

use super::InPlan;
use crate::plan::json::names::{catch as caught, optional as values, policy as names};
use crate::plan::{Amount, Catch, Optional, Policy};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::time::Duration;

impl Serialize for InPlan<'_, &Policy> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let Policy {
            attempts,
            backoff,
            max,
            jitter,
            timeout,
            deadline,
            optional,
            catch,
            fallback,
            concurrency,
            at_most,
            every,
            collect,
            given: _,
            named: _,
        } = self.part;
        let default = Policy::DEFAULT;
        let text = |duration: &Duration| humantime::format_duration(*duration).to_string();
        let written = |duration: &Duration, default| (*duration != default).then(|| text(duration));
        let attempts = (*attempts != default.attempts).then_some(attempts);
        let jitter = (*jitter != default.jitter).then_some(jitter);
        let optional = match optional {
            Optional::No => None,
            Optional::Whole => Some(values::WHOLE),
            Optional::Each => Some(values::EACH),
        };
        let fallback = fallback.as_ref().map(|fallback| self.of(fallback));
        self.amount(&mut map, Amount::Attempts, attempts)?;
        self.amount(&mut map, Amount::Backoff, written(backoff, default.backoff))?;
        self.amount(&mut map, Amount::Max, written(max, default.max))?;
        entry(&mut map, names::JITTER, jitter)?;
        self.amount(&mut map, Amount::Timeout, timeout.as_ref().map(text))?;
        self.amount(&mut map, Amount::Deadline, deadline.as_ref().map(text))?;
        entry(&mut map, names::OPTIONAL, optional)?;
        match catch {
            Catch::No => {}
            Catch::Whole => map.serialize_entry(names::CATCH, &true)?,
            Catch::Each => map.serialize_entry(names::CATCH, caught::EACH)?,
        }
        entry(&mut map, names::FALLBACK, fallback)?;
        self.amount(&mut map, Amount::Concurrency, *concurrency)?;
        self.amount(&mut map, Amount::AtMost, *at_most)?;
        self.amount(&mut map, Amount::Every, every.as_ref().map(text))?;
        entry(&mut map, names::COLLECT, collect.then_some(true))?;
        map.end()
    }
}

impl InPlan<'_, &Policy> {
    /// Writes the template of an amount, or its value.
    fn amount<M: SerializeMap, T: Serialize>(
        &self,
        map: &mut M,
        amount: Amount,
        value: Option<T>,
    ) -> Result<(), M::Error> {
        match self.part.gives(amount) {
            Some(template) => map.serialize_entry(amount.name(), &self.of(template)),
            None => entry(map, amount.name(), value),
        }
    }
}

fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &str,
    value: Option<T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, &value))
}
