//! Hand-written plans, for tests.
#![allow(dead_code, unreachable_pub)]

pub mod plans;
pub mod unseen;

use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Entry, Key, Reference, Segment, Selector, Source, Step, Template,
};
use plan_runtime::resolve::{ResolveError, Scope, StoredValue, resolve};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A plan of one step, `inbox`.
pub fn plan() -> Plan {
    let mut plan = Plan::new("p");
    plan.steps = vec![Step::new("inbox", Action::value(Template::Null))];
    plan
}

/// Resolves a template in which `inbox` has this output.
pub fn resolved<T: DeserializeOwned>(
    template: &Template,
    inbox: impl Into<Value>,
) -> Result<T, ResolveError> {
    let outputs = [Some(StoredValue::json(inbox.into()))];
    resolve(template, &Scope::new(&plan(), &[], &outputs))
}

pub fn reference(written: &str, path: Vec<Segment>) -> Template {
    let mut reference = Reference::new(Source::Step(0));
    reference.path = path.into();
    Template::Reference(reference.written(written))
}

pub fn key(key: &str) -> Segment {
    Segment::new(Selector::Key(key.to_owned()))
}

pub fn at(index: usize) -> Segment {
    Segment::new(Selector::Index(index))
}

pub fn each() -> Segment {
    Segment::new(Selector::Each)
}

pub fn object(members: Vec<(&str, Template)>) -> Template {
    let entries: Vec<Entry> = members
        .into_iter()
        .map(|(name, value)| {
            let key = match name {
                ".." => Key::Flattened,
                "=" => Key::Inner,
                name => Key::Name(name.to_owned()),
            };
            Entry::new(key, value)
        })
        .collect();
    Template::Object(entries)
}

pub fn string(text: &str) -> Template {
    text.to_owned().into()
}
