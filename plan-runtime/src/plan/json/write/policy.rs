//! Policies: what differs from the default.

use super::InPlan;
use crate::plan::json::names::{optional as values, policy as names};
use crate::plan::{Optional, Policy};
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
            fallback,
            concurrency,
        } = self.part;
        let default = Policy::DEFAULT;
        let text = |duration: &Duration| humantime::format_duration(*duration).to_string();
        if *attempts != default.attempts {
            map.serialize_entry(names::ATTEMPTS, attempts)?;
        }
        if *backoff != default.backoff {
            map.serialize_entry(names::BACKOFF, &text(backoff))?;
        }
        if *max != default.max {
            map.serialize_entry(names::MAX, &text(max))?;
        }
        if *jitter != default.jitter {
            map.serialize_entry(names::JITTER, jitter)?;
        }
        if let Some(timeout) = timeout {
            map.serialize_entry(names::TIMEOUT, &text(timeout))?;
        }
        if let Some(deadline) = deadline {
            map.serialize_entry(names::DEADLINE, &text(deadline))?;
        }
        match optional {
            Optional::No => {}
            Optional::Whole => map.serialize_entry(names::OPTIONAL, values::WHOLE)?,
            Optional::Each => map.serialize_entry(names::OPTIONAL, values::EACH)?,
        }
        if let Some(fallback) = fallback {
            map.serialize_entry(names::FALLBACK, &self.of(fallback))?;
        }
        if let Some(concurrency) = concurrency {
            map.serialize_entry(names::CONCURRENCY, concurrency)?;
        }
        map.end()
    }
}
