//! Reports as JSON.

use super::{Attempt, Report, Status, StepReport, WaitReason, WaitReport};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let started_at = humantime::format_rfc3339_millis(self.started_at);
        map.serialize_entry("plan", self.plan())?;
        map.serialize_entry("started_at", &started_at.to_string())?;
        map.serialize_entry("duration_ms", &millis(self.duration))?;
        let waited = Some(self.waited()).filter(|waited| !waited.is_zero());
        entry(&mut map, "waited_ms", waited.map(millis))?;
        map.serialize_entry("totals", &self.totals)?;
        let path: Vec<&str> = self.critical_path().map(StepReport::id).collect();
        map.serialize_entry("critical_path", &path)?;
        map.serialize_entry("critical_path_ms", &millis(self.critical_duration()))?;
        let slots = self.critical_links().filter(|link| link.is_slot);
        let slots: Vec<&str> = slots.map(|link| link.step.id()).collect();
        entry(
            &mut map,
            "critical_slots",
            Some(slots).filter(|it| !it.is_empty()),
        )?;
        map.serialize_entry("steps", &self.steps)?;
        map.end()
    }
}

impl Serialize for StepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        entry(&mut map, "tool", self.tool())?;
        map.serialize_entry("status", self.status.name())?;
        if let Status::Blocked { by } = &self.status {
            map.serialize_entry("by", by)?;
        }
        entry(&mut map, "undone", self.is_undone.then_some(true))?;
        entry(&mut map, "error", self.error().map(ToString::to_string))?;
        if !self.element.is_empty() {
            map.serialize_entry("element", &self.element)?;
        }
        entry(&mut map, "started_ms", self.started.map(millis))?;
        entry(&mut map, "duration_ms", self.duration().map(millis))?;
        entry(&mut map, "output", self.output())?;
        if self.policy.is_some() {
            let amounts: BTreeMap<&str, String> = self.amounts().collect();
            map.serialize_entry("amounts", &amounts)?;
        }
        if !self.attempts.is_empty() {
            map.serialize_entry("attempts", &self.attempts)?;
        }
        if !self.waits.is_empty() {
            map.serialize_entry("waits", &self.waits)?;
        }
        let waited = WaitReason::ALL.map(|reason| (reason.name(), self.waited_for(reason)));
        let waited = waited.into_iter().filter(|(_, time)| !time.is_zero());
        let waited: BTreeMap<&str, f64> = waited.map(|(name, time)| (name, millis(time))).collect();
        entry(
            &mut map,
            "waited_ms",
            (!waited.is_empty()).then_some(waited),
        )?;
        map.end()
    }
}

impl Serialize for Attempt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.element.is_empty() {
            map.serialize_entry("element", &self.element)?;
        }
        map.serialize_entry("number", &self.number)?;
        entry(&mut map, "tool", self.tool())?;
        map.serialize_entry("started_ms", &millis(self.started))?;
        let took = self.ended.map(|ended| ended.saturating_sub(self.started));
        entry(&mut map, "duration_ms", took.map(millis))?;
        entry(
            &mut map,
            "error",
            self.error.as_ref().map(ToString::to_string),
        )?;
        entry(&mut map, "called", self.is_without_call().then_some(false))?;
        entry::<_, &Value>(&mut map, "arguments", self.arguments.as_ref())?;
        entry(&mut map, "changed", self.is_changed.then_some(true))?;
        if !self.inside.is_empty() {
            map.serialize_entry("inside", &self.inside)?;
        }
        map.end()
    }
}

impl Serialize for WaitReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.element.is_empty() {
            map.serialize_entry("element", &self.element)?;
        }
        map.serialize_entry("reason", self.reason.name())?;
        map.serialize_entry("started_ms", &millis(self.started))?;
        let took = self.ended.map(|ended| ended.saturating_sub(self.started));
        entry(&mut map, "duration_ms", took.map(millis))?;
        map.end()
    }
}

fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &str,
    value: Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, &value),
        None => Ok(()),
    }
}
