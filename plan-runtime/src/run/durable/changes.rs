//! Differences between the recorded plan of a run and the plan that resumes the run.

use super::ADMITTED;
use super::history::Segment;
use crate::print::{Cut, Line, MessageName};
use crate::resolve::describe;
use jsonptr::Token;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// The content of a message about a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Values,
    /// Some of the values are secret.
    Names,
}

/// Returns the first difference between the recorded inputs of a run and its current inputs. A new input that is optional and absent is no
/// difference.
pub(super) fn of_inputs(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    may_be_absent: impl Fn(&str) -> bool,
    shown: Shown,
) -> Option<String> {
    let name = |name: &str| MessageName(name).to_string();
    for (key, value) in new {
        let Some(before) = old.get(key) else {
            if value.is_null() && may_be_absent(key) {
                continue;
            }
            return Some(format!("input `{}` is new", name(key)));
        };
        let mut pointer = String::new();
        if let Some((before, now)) = first_difference(before, value, &mut pointer) {
            if shown == Shown::Names {
                return Some(format!("`{}` had another value", name(key)));
            }
            let place = match &*pointer {
                "" => String::new(),
                pointer => format!(" at `{}`", Cut(Line(pointer), 200)),
            };
            return Some(format!(
                "`{}`{place} was {before}, and is now {now}",
                name(key)
            ));
        }
    }
    let gone = old.keys().find(|key| !new.contains_key(*key));
    gone.map(|key| format!("input `{}` is missing", name(key)))
}

/// Describes the first part in which two values differ, with the pointer to it.
fn first_difference(old: &Value, new: &Value, pointer: &mut String) -> Option<(String, String)> {
    let length = pointer.len();
    let mut enter = |token: &str, old: &Value, new: &Value| {
        pointer.push('/');
        pointer.push_str(Token::new(token).encoded());
        let found = first_difference(old, new, pointer);
        if found.is_none() {
            pointer.truncate(length);
        }
        found
    };
    match (old, new) {
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
    }
}

/// Members of a step that may change after it has run.
const FREE: [&str; 3] = ["intent", "policy", "after"];

/// Members of a policy that must not change after the step has run.
const BINDING: [&str; 4] = ["catch", "optional", "collect", "fallback"];

/// The name of a call that a block ends with.
const TAIL: &str = "_";

/// Members of a block that are compared for each of its runs.
const INSIDE: [&str; 4] = ["inputs", "steps", "tail", "value"];

/// Members whose values contain no blocks.
const LEAVES: [&str; 4] = ["arguments", "condition", "list", "policy"];

/// Describes the changes of steps that have already run. `next_key` returns the first key of a record that does not
/// sort before a string.
///
/// An author may change, add and remove steps without records. A step inside a block has no records only if no run of the block has records of the
/// step. The value of a
/// block may change as long as no call in the value has a record, since the run has not computed the value yet. The plans that steps call are
/// compared at the call, with their own prefixes.
pub(super) fn of_plans(
    old: &Value,
    new: &Value,
    (prefix, shown): (&str, Shown),
    next_key: &impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut comparison = PlanComparison {
        next_key,
        shown,
        found: Vec::new(),
        named: BTreeSet::new(),
    };
    comparison.compare_steps(old, new, prefix, "");
    comparison.found
}

/// The comparison of two plans.
struct PlanComparison<'k, F> {
    next_key: &'k F,
    shown: Shown,
    found: Vec<String>,
    /// The steps in `found`, without their elements.
    named: BTreeSet<String>,
}

impl<F: Fn(&str) -> Option<String>> PlanComparison<'_, F> {
    /// Compares the steps of a plan or of a block, whose records have keys that begin with this prefix.
    fn compare_steps(&mut self, old: &Value, new: &Value, prefix: &str, path: &str) {
        let new_steps: HashMap<&str, &Value> = steps(new).into_iter().rev().collect();
        for (id, step) in steps(old) {
            let key = format!("{prefix}{}", Segment(id));
            if !self.has_run(&key) {
                continue;
            }
            let named = format!("{path}{id}");
            match new_steps.get(id) {
                None => self.refuse(&named, prefix, id, "is missing in the plan"),
                Some(now) => self.compare(step, now, (&key, prefix, id), &named),
            }
        }
    }

    /// Compares a step that has run.
    fn compare(
        &mut self,
        old: &Value,
        new: &Value,
        (key, prefix, id): (&str, &str, &str),
        named: &str,
    ) {
        let (mut blocks, mut new_blocks) = (Vec::new(), Vec::new());
        let old = without_blocks(old, &mut blocks);
        let new = without_blocks(new, &mut new_blocks);
        if let Some(change) = of_step(&old, &new, self.shown) {
            self.refuse(named, prefix, id, &format!("was changed: {change}"));
            return;
        }
        let pairs: Vec<(&Value, &Value)> = blocks.into_iter().zip(new_blocks).collect();
        if pairs.iter().all(|(old, new)| old == new) {
            return;
        }
        for inside in self.runs_inside(key) {
            for (old, new) in &pairs {
                if let Some(change) = self.of_block(old, new, &inside) {
                    self.refuse(named, prefix, id, &format!("was changed: {change}"));
                }
                self.compare_steps(old, new, &inside, &format!("{named}."));
            }
        }
    }

    /// Returns the difference between two versions of a block, apart from its steps.
    fn of_block(&self, old: &Value, new: &Value, inside: &str) -> Option<String> {
        let inputs = |block| Value::get(block, "inputs").and_then(Value::as_object);
        for (name, value) in inputs(old).into_iter().flatten() {
            // A name that is unused before or after the change has no effect.
            if let Some(now) = inputs(new).and_then(|inputs| inputs.get(name))
                && now != value
            {
                return Some(was(name, value, now, self.shown));
            }
        }
        let value = old.get("value")?;
        let now = new.get("value").filter(|now| *now != value)?;
        for (id, step) in steps(old) {
            let is_call = step.get("tool").is_some();
            if is_call && mentions(value, id) && !self.has_run(&format!("{inside}{}", Segment(id)))
            {
                return None;
            }
        }
        Some(was("value", value, now, self.shown))
    }

    /// Returns `true` if a step has records.
    fn has_run(&self, key: &str) -> bool {
        ['@', '[', '?'].into_iter().any(|end| {
            let start = format!("{key}{end}");
            let mut from = start.clone();
            while let Some(next) = (self.next_key)(&from).filter(|next| next.starts_with(&start)) {
                // A call that has only begun may change.
                if !next.ends_with(ADMITTED) {
                    return true;
                }
                from = next + "\0";
            }
            false
        })
    }

    /// Returns the prefixes of keys inside the runs of a step's blocks: one for each element and attempt.
    fn runs_inside(&self, key: &str) -> Vec<String> {
        let mut found = Vec::new();
        for end in ['@', '['] {
            let range = format!("{key}{end}");
            let mut from = range.clone();
            while let Some(next) = (self.next_key)(&from).filter(|next| next.starts_with(&range)) {
                let rest = &next[key.len()..];
                let is_place = |c: char| matches!(c, '[' | ']' | '@') || c.is_ascii_digit();
                let at = rest.find(|c| !is_place(c)).map(|at| key.len() + at);
                match at.filter(|at| next[*at..].starts_with('.')) {
                    Some(at) => {
                        found.push(next[..=at].to_owned());
                        // `/` is the character after the full stop, so the next search skips all keys with this prefix.
                        from = format!("{}/", &next[..at]);
                    }
                    None => from = format!("{next}\0"),
                }
            }
        }
        found
    }

    fn refuse(&mut self, named: &str, prefix: &str, id: &str, why: &str) {
        if self.named.insert(named.to_owned()) {
            let (path, name) = (without_attempts(prefix), MessageName(id));
            let path = Cut(Line(&path), 200);
            self.found
                .push(format!("step `{path}{name}` has already run, but {why}"));
        }
    }
}

/// Returns `pages[3].` for `pages[3]@2.`.
fn without_attempts(prefix: &str) -> String {
    let mut parts = prefix.split('@');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        path += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    path
}

/// Returns the steps of a plan or a block, with their names. The tail of a block is a step as well.
fn steps(plan: &Value) -> Vec<(&str, &Value)> {
    let steps = plan.get("steps").and_then(Value::as_array);
    let name = |step| Value::get(step, "id").and_then(Value::as_str);
    let steps = steps.into_iter().flatten();
    let steps = steps.map(|step| (name(step).unwrap_or_default(), step));
    steps
        .chain(plan.get("tail").map(|tail| (TAIL, tail)))
        .collect()
}

/// Returns a step without the content of its blocks, and adds the blocks to `blocks`.
fn without_blocks<'v>(value: &'v Value, blocks: &mut Vec<&'v Value>) -> Value {
    match value {
        Value::Array(items) => {
            let items = items.iter();
            items.map(|item| without_blocks(item, blocks)).collect()
        }
        Value::Object(members) => {
            let mut without = Map::new();
            for (key, member) in members {
                let is_block = matches!(&**key, "block" | "loop") && member.get("steps").is_some();
                let left = match member {
                    Value::Object(block) if is_block => {
                        blocks.push(member);
                        let around = block.iter();
                        let around = around.filter(|(key, _)| !INSIDE.contains(&key.as_str()));
                        around
                            .map(|(key, value)| (key.clone(), value.clone()))
                            .collect()
                    }
                    leaf if LEAVES.contains(&key.as_str()) => leaf.clone(),
                    member => without_blocks(member, blocks),
                };
                without.insert(key.clone(), left);
            }
            Value::Object(without)
        }
        other => other.clone(),
    }
}

/// Returns `true` if a value refers to a step.
fn mentions(value: &Value, id: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| mentions(item, id)),
        Value::Object(members) => {
            members.get("step").and_then(Value::as_str) == Some(id)
                || members.values().any(|member| mentions(member, id))
        }
        _ => false,
    }
}

fn was(key: &str, old: &Value, new: &Value, shown: Shown) -> String {
    if shown == Shown::Names {
        return format!("its `{}` changed", MessageName(key));
    }
    let (member, (old, new)) = match changed_argument(old, new) {
        Some((name, pair)) if key == "arguments" => {
            (format!("argument `{}`", MessageName(name)), pair)
        }
        _ => (format!("`{}`", MessageName(key)), (old, new)),
    };
    format!(
        "its {member} changed from {} to {}",
        written(old),
        written(new)
    )
}

/// Returns the first argument that differs between two objects with equal names, with its two values.
fn changed_argument<'v>(
    old: &'v Value,
    new: &'v Value,
) -> Option<(&'v str, (&'v Value, &'v Value))> {
    let named = |value: &'v Value| value.get("object")?.as_object();
    let (old, new) = (named(old)?, named(new)?);
    if !old.keys().eq(new.keys()) {
        return None;
    }
    let mut pairs = old.iter().zip(new.values());
    let ((name, old), new) = pairs.find(|((_, old), new)| old != new)?;
    Some((name, (old, new)))
}

/// Returns the notation of a recorded value in `plan!`, or its JSON.
fn written(value: &Value) -> String {
    let text = |value: &Value, member| Some(value.get(member)?.as_str()?.to_owned());
    let in_plan = match value.as_object().and_then(|members| members.iter().next()) {
        Some((kind, computed)) if kind == "computed" => text(computed, "written"),
        Some((kind, reference)) if kind == "reference" => {
            text(reference, "written").or_else(|| {
                let name = text(reference, "step").or_else(|| text(reference, "input"))?;
                let path = text(reference, "pointer")?;
                let is_plain = path
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/'));
                is_plain.then(|| name + &path.replace('/', "."))
            })
        }
        _ => None,
    };
    match in_plan {
        Some(text) => format!("`{}`", Cut(Line(&text), 200)),
        None => Cut(value, 200).to_string(),
    }
}

/// Returns the difference between two versions of a step, in words, apart from its blocks.
fn of_step(old: &Value, new: &Value, shown: Shown) -> Option<String> {
    let (old, new) = (without_words(old), without_words(new));
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return None;
    };
    let binding = |step: &Map<String, Value>| -> Map<String, Value> {
        let policy = step.get("policy").and_then(Value::as_object);
        let members = policy.into_iter().flatten();
        let binding = members.filter(|(key, _)| BINDING.contains(&key.as_str()));
        let own = step.iter().filter(|(key, _)| !FREE.contains(&key.as_str()));
        own.chain(binding)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let (old, new) = (binding(old), binding(new));
    for (key, value) in &old {
        match new.get(key) {
            None => return Some(format!("it has no `{key}` any more")),
            Some(now) if now != value => return Some(was(key, value, now, shown)),
            Some(_) => {}
        }
    }
    let added = new.keys().find(|key| !old.contains_key(*key));
    added.map(|key| format!("it has `{key}` now"))
}

/// Returns a part of a step without the strings for people.
fn without_words(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_words).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| {
                let mut value = without_words(value);
                if key == "tool"
                    && let Some(tool) = value.as_object_mut()
                {
                    tool.remove("description");
                }
                (key.clone(), value)
            });
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, was, without_blocks};
    use allocation_counter::measure;
    use serde_json::json;

    #[test]
    fn a_changed_argument_is_shown_as_in_a_plan() {
        let object = |n| json!({"object": {"m": true, "n": n}});
        let read = |path| json!({"reference": {"step": "mail", "pointer": path}});
        let computed = json!({"computed": {"written": "mail.id + 1", "reads": [{"step": "mail"}]}});
        for (value, shown) in [
            (read("/from/name"), "`mail.from.name`"),
            (read(""), "`mail`"),
            (computed, "`mail.id + 1`"),
            (
                read("/a~1b"),
                r#"{"reference":{"pointer":"/a~1b","step":"mail"}}"#,
            ),
            (json!([2]), "[2]"),
        ] {
            let change = was(
                "arguments",
                &object(json!(1)),
                &object(value),
                Shown::Values,
            );
            assert_eq!(
                change,
                format!("its argument `n` changed from 1 to {shown}")
            );
        }
        let change = was(
            "arguments",
            &json!({"object": {}}),
            &object(json!(1)),
            Shown::Values,
        );
        assert!(
            change.starts_with("its `arguments` changed from"),
            "{change}"
        );
        let change = was(
            "arguments",
            &object(json!(1)),
            &object(json!(2)),
            Shown::Names,
        );
        assert_eq!(change, "its `arguments` changed");
    }

    /// A large value inside many bodies is copied once, and not once for each of the bodies.
    #[test]
    fn the_parts_of_a_step_are_copied_once() {
        let leaf = json!({"arguments": "x".repeat(100_000)});
        let step = (0..30).fold(leaf, |step, _| json!({"if": [{"then": step}]}));
        let copied = measure(|| drop(without_blocks(&step, &mut Vec::new())));
        assert!(copied.bytes_total < 200_000, "{copied:?}");
    }
}
