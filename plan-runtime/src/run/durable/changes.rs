//! What differs between the plan that a run was begun with, and the one that it is to go on with.

use super::key::Segment;
use crate::print::{Cut, Line, MessageName};
use crate::resolve::describe;
use jsonptr::Token;
use serde_json::{Map, Value};

/// Where the inputs of a run differ from those that it was begun with.
pub(super) fn of_inputs(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<String> {
    let name = |name: &str| MessageName(name).to_string();
    for (key, value) in new {
        let Some(before) = old.get(key) else {
            return Some(format!("it had no `{}`", name(key)));
        };
        let mut pointer = String::new();
        if let Some((before, now)) = first_difference(before, value, &mut pointer) {
            let place = match &*pointer {
                "" => String::new(),
                pointer => format!(" at `{}`", Cut(Line(pointer), 200)),
            };
            return Some(format!("`{}`{place} was {before}, and is {now}", name(key)));
        }
    }
    let gone = old.keys().find(|key| !new.contains_key(*key));
    gone.map(|key| format!("it had `{}`", name(key)))
}

/// The first part in which two values differ, in words, with the pointer to it.
fn first_difference(old: &Value, new: &Value, pointer: &mut String) -> Option<(String, String)> {
    let length = pointer.len();
    let mut enter = |token: &str, old: &Value, new: &Value| {
        pointer.push('/');
        pointer.push_str(&Token::new(token).encoded());
        let found = first_difference(old, new, pointer);
        if found.is_none() {
            pointer.truncate(length);
        }
        found
    };
    let inside = match (old, new) {
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => old
            .iter()
            .zip(new)
            .enumerate()
            .find_map(|(index, (old, new))| enter(&index.to_string(), old, new)),
        (Value::Object(old), Value::Object(new)) if old.keys().eq(new.keys()) => old
            .iter()
            .zip(new.values())
            .find_map(|((key, old), new)| enter(key, old, new)),
        _ if old == new => None,
        _ => Some((describe::value(old), describe::value(new))),
    };
    inside
}

/// Members of a step that do not decide what its records mean.
const FREE: [&str; 3] = ["intent", "policy", "after"];

/// Members of a policy that do.
const BINDING: [&str; 4] = ["catch", "optional", "collect", "fallback"];

/// What has run, and was changed since. `has_run` says whether there is a record whose key begins so.
pub(super) fn of_plans<E>(
    old: &Value,
    new: &Value,
    has_run: &impl Fn(&str) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut found = Vec::new();
    let new_steps = steps(new);
    for step in steps(old) {
        let id = id_of(step);
        let key = Segment(id);
        let mut ran = false;
        for end in ['@', '[', '?'] {
            ran = ran || has_run(&format!("{key}{end}"))?;
        }
        if !ran {
            continue;
        }
        let name = MessageName(id);
        match new_steps.iter().find(|it| id_of(it) == id) {
            None => found.push(format!(
                "step `{name}` has run, and is not in the plan any more"
            )),
            Some(now) => {
                if let Some(change) = of_step(step, now) {
                    found.push(format!("step `{name}` has run, and was changed: {change}"));
                }
            }
        }
    }
    Ok(found)
}

fn steps(plan: &Value) -> Vec<&Value> {
    let steps = plan.get("steps").and_then(Value::as_array);
    steps.into_iter().flatten().collect()
}

fn id_of(step: &Value) -> &str {
    step.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// How a step differs from what it was, in words.
fn of_step(old: &Value, new: &Value) -> Option<String> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return None;
    };
    let binding = |step: &Map<String, Value>| -> Map<String, Value> {
        let policy = step.get("policy").and_then(Value::as_object);
        let members = policy.into_iter().flatten();
        let binding = members.filter(|(key, _)| BINDING.contains(&key.as_str()));
        let own = step.iter().filter(|(key, _)| !FREE.contains(&key.as_str()));
        own.chain(binding)
            .map(|(key, value)| (key.clone(), without_words(key, value)))
            .collect()
    };
    let (old, new) = (binding(old), binding(new));
    let shown = |value: &Value| Cut(value, 200).to_string();
    for (key, value) in &old {
        match new.get(key) {
            None => return Some(format!("it has no `{key}` any more")),
            Some(now) if now != value => {
                return Some(format!(
                    "its `{key}` was {}, and is {}",
                    shown(value),
                    shown(now)
                ));
            }
            Some(_) => {}
        }
    }
    let added = new.keys().find(|key| !old.contains_key(*key));
    added.map(|key| format!("it has `{key}` now"))
}

/// A part of a step without what is only for people.
fn without_words(key: &str, value: &Value) -> Value {
    let mut value = value.clone();
    if key == "tool"
        && let Some(tool) = value.as_object_mut()
    {
        tool.remove("description");
    }
    value
}
