//! Plans by hand, for tests.
#![allow(dead_code, unreachable_pub)]

use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Body, Entry, Key, Output, Reference, Segment, Selector, Shared, Source, Step, Template,
};
use plan_runtime::resolve::{Held, ResolveError, Scope, resolve};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A plan of one step, `inbox`.
pub fn plan() -> Plan {
    Plan {
        name: "p".into(),
        description: "".into(),
        inputs: vec![].into(),
        steps: vec![Step {
            id: "inbox".into(),
            intent: "".into(),
            body: Body::Action(Action {
                site: 0,
                tool: None,
                args: Template::Null,
            }),
            after: vec![].into(),
            needs: vec![].into(),
            policy: Shared::default(),
        }]
        .into(),
        output: Output {
            type_name: "".into(),
            value: Template::Null,
        },
    }
}

/// Resolves a template in which `inbox` has this output.
pub fn resolved<T: DeserializeOwned>(
    template: &Template,
    inbox: impl Into<Value>,
) -> Result<T, ResolveError> {
    let outputs = [Some(Held::json(inbox.into()))];
    resolve(template, &Scope::new(&plan(), &[], &outputs))
}

pub fn reference(written: &str, path: Vec<Segment>) -> Template {
    let mut reference = Reference::new(Source::Step(0)).written(written);
    reference.path = path;
    Template::Reference(reference)
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
        .map(|(name, value)| Entry {
            key: match name {
                ".." => Key::Flattened,
                "=" => Key::Inner,
                name => Key::Name(name.to_owned().into()),
            },
            value,
        })
        .collect();
    Template::Object(entries.into())
}

pub fn string(text: &str) -> Template {
    Template::String(text.to_owned().into())
}
