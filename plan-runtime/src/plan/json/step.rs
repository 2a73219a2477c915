use super::{InPlan, Named, entry_unless_empty};
use crate::plan::{Body, Branch, Condition, Optional, Policy, Source, Step};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::time::Duration;

impl Serialize for InPlan<'_, &Step> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let step = self.part;
        map.serialize_entry("id", &step.id)?;
        entry_unless_empty(&mut map, "intent", &step.intent)?;
        self.write_body(&mut map, &step.body)?;
        let after = step.only_after();
        if !after.is_empty() {
            let after: Vec<_> = after
                .into_iter()
                .map(|place| self.of(Named(Source::Step(place))))
                .collect();
            map.serialize_entry("after", &after)?;
        }
        if !step.policy.is_default() {
            map.serialize_entry("policy", &self.of(&*step.policy))?;
        }
        map.end()
    }
}

impl<T> InPlan<'_, T> {
    fn write_body<M: SerializeMap>(&self, map: &mut M, body: &Body) -> Result<(), M::Error> {
        match body {
            Body::Action(action) => match &action.tool {
                Some(tool) => {
                    let mut written = serde_json::Map::new();
                    written.insert("name".into(), Value::from(tool.name.as_ref()));
                    if !tool.description.is_empty() {
                        let description = Value::from(tool.description.as_ref());
                        written.insert("description".into(), description);
                    }
                    map.serialize_entry("tool", &written)?;
                    map.serialize_entry("arguments", &self.of(&action.args))
                }
                None => map.serialize_entry("value", &self.of(&action.args)),
            },
            Body::If(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| self.of(branch)).collect();
                map.serialize_entry("if", &branches)
            }
            Body::For(rounds) => match &rounds[..] {
                [_] => map.serialize_entry("for", &self.of(body)),
                _ => Err(M::Error::custom("a `for` has not one body")),
            },
        }
    }
}

/// The body alone: of a branch, or what stands in a `for`.
impl Serialize for InPlan<'_, &Body> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.part {
            Body::For(rounds) => {
                for each in rounds.iter() {
                    map.serialize_entry("pattern", &each.pattern)?;
                    map.serialize_entry("list", &self.of(&each.list))?;
                    map.serialize_entry("body", &self.of(Alone(&each.body)))?;
                }
            }
            body => self.write_body(&mut map, body)?,
        }
        map.end()
    }
}

/// A body as an object of its own.
struct Alone<'a>(&'a Body);

impl Serialize for InPlan<'_, Alone<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        self.write_body(&mut map, self.part.0)?;
        map.end()
    }
}

impl Serialize for InPlan<'_, &Branch> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.part.condition {
            Condition::Always => {}
            Condition::Holds(condition) => {
                map.serialize_entry("condition", &self.of(condition))?;
            }
            Condition::Binds { pattern, value } => {
                map.serialize_entry("pattern", pattern)?;
                map.serialize_entry("value", &self.of(value))?;
            }
            Condition::Chain(chain) => map.serialize_entry("chain", &self.of(chain))?,
        }
        map.serialize_entry("then", &self.of(Alone(&self.part.body)))?;
        map.end()
    }
}

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
            map.serialize_entry("attempts", attempts)?;
        }
        if *backoff != default.backoff {
            map.serialize_entry("backoff", &text(backoff))?;
        }
        if *max != default.max {
            map.serialize_entry("max", &text(max))?;
        }
        if *jitter != default.jitter {
            map.serialize_entry("jitter", jitter)?;
        }
        if let Some(timeout) = timeout {
            map.serialize_entry("timeout", &text(timeout))?;
        }
        if let Some(deadline) = deadline {
            map.serialize_entry("deadline", &text(deadline))?;
        }
        match optional {
            Optional::No => {}
            Optional::Whole => map.serialize_entry("optional", "whole")?,
            Optional::Each => map.serialize_entry("optional", "each")?,
        }
        if let Some(fallback) = fallback {
            map.serialize_entry("fallback", &self.of(fallback))?;
        }
        if let Some(concurrency) = concurrency {
            map.serialize_entry("concurrency", concurrency)?;
        }
        map.end()
    }
}
