use super::layout::{self, Jsons};
use super::value::Takes;
use super::{Source, names};
use crate::plan::{Action, Body, Condition, Entry, Key, Number, Optional, Policy, Step, Template};
use serde_json::Value;
use std::time::Duration;

impl Source<'_> {
    /// A step with its doc comment and its attributes.
    pub(super) fn step(&mut self, index: usize, step: &Step) -> String {
        self.step = Some(step.id.to_string());
        let mut text = layout::doc(&step.intent, 8);
        let after = step.only_after();
        if !after.is_empty() {
            let names = after.iter().filter_map(|&step| self.names.steps.get(step));
            let names: Vec<&str> = names.map(String::as_str).collect();
            text.push_str(&format!("        #[after({})]\n", names.join(", ")));
        }
        for attribute in attributes(&step.policy) {
            text.push_str(&format!("        #[{attribute}]\n"));
        }
        if let Some(fallback) = &step.policy.fallback {
            let mut jsons = Jsons::default();
            let value = self.value("", &fallback.plain(), Takes::Anything, &mut jsons);
            match layout::statement(&value, jsons) {
                Some(value) => {
                    text.push_str(&format!("        #[fallback({})]\n", value.trim()));
                }
                None => self.lack(self.here(), format!("the fallback `{fallback}`")),
            }
        }
        let name = self.names.steps[index].clone();
        let mut jsons = Jsons::default();
        let statement = match &step.body {
            Body::Action(Action {
                tool: None, args, ..
            }) => {
                let args = args.plain();
                let Some(ty) = type_of(&args) else {
                    let what =
                        format!("the computed value `{args}`, whose type the plan does not keep");
                    self.lack(self.here(), what);
                    return text;
                };
                let value = self.value("", &args, Takes::Anything, &mut jsons);
                format!("let {name}: {ty} = {value};")
            }
            body => {
                let body = self.body(body, &mut jsons);
                format!("let {name} = {body};")
            }
        };
        match layout::statement(&statement, jsons) {
            Some(statement) => {
                text.push_str(&statement.replacen("let ", "step ", 1));
                text.push('\n');
            }
            // Of what is no Rust in it, it was said before.
            None if self.lacks.is_empty() => self.lack(self.here(), "what is no Rust"),
            None => {}
        }
        text
    }

    fn body(&mut self, body: &Body, jsons: &mut Jsons) -> String {
        match body {
            Body::Action(action) => self.action(action, jsons),
            Body::If(branches) => {
                let mut text = String::new();
                for (place, branch) in branches.iter().enumerate() {
                    if place > 0 {
                        text.push_str(" else ");
                    }
                    let mut bound = false;
                    match &branch.condition {
                        Condition::Always if place > 0 => {}
                        Condition::Always => text.push_str("if true "),
                        Condition::Holds(value) => {
                            let value = self.value("if", &value.plain(), Takes::Anything, jsons);
                            text.push_str(&format!("if {value} "));
                        }
                        Condition::Binds { pattern, value } => {
                            let value = self.value("if", &value.plain(), Takes::Anything, jsons);
                            // A chain of conditions has its own `let`.
                            let start = match pattern.contains(" let ") {
                                true => "if",
                                false => "if let",
                            };
                            if !layout::is_if(&format!("{start} {pattern} = x {{}}")) {
                                self.lack(self.here(), format!("the pattern `{pattern}`"));
                            }
                            text.push_str(&format!("{start} {pattern} = {value} "));
                            self.locals.push(pattern.to_string());
                            bound = true;
                        }
                    }
                    let body = self.body(&branch.body, jsons);
                    text.push_str(&format!("{{ {body} }}"));
                    if bound {
                        self.locals.pop();
                    }
                }
                if branches.is_empty() {
                    self.lack(self.here(), "an `if` without branches");
                }
                text
            }
            Body::For(rounds) => {
                let Some(each) = rounds.first() else {
                    self.lack(self.here(), "a `for` without a body");
                    return String::new();
                };
                if !layout::is_for(&format!("for {} in x {{}}", each.pattern)) {
                    self.lack(self.here(), format!("the pattern `{}`", each.pattern));
                }
                let list = self.value("in", &each.list.plain(), Takes::Anything, jsons);
                self.locals.push(each.pattern.to_string());
                let body = self.body(&each.body, jsons);
                self.locals.pop();
                format!("for {} in {list} {{ {body} }}", each.pattern)
            }
        }
    }

    fn action(&mut self, action: &Action, jsons: &mut Jsons) -> String {
        let Some(tool) = &action.tool else {
            self.lack(self.here(), format!("the computed value `{}`", action.args));
            return String::new();
        };
        let structure = names::structure(&tool.name).unwrap_or_else(|| {
            self.lack(
                self.here(),
                format!("the tool `{}`, whose name is no name in Rust", tool.name),
            );
            "Tool".to_owned()
        });
        let schema = self.schemas.get(tool.name.as_ref()).copied();
        let entries = match action.args.plain() {
            Template::Object(entries) => entries,
            // A tool without arguments.
            Template::Null => return format!("{structure} {{}}"),
            args => {
                self.lack(self.at(""), format!("`{args}` for all of them"));
                return structure;
            }
        };
        let mut fields: Vec<String> = Vec::with_capacity(entries.len());
        let mut given: Vec<&str> = Vec::with_capacity(entries.len());
        let mut known: Vec<String> = Vec::new();
        for Entry { key, value } in entries.iter() {
            let Key::Name(key) = key else {
                self.lack(self.at(""), format!("the members of `{value}` among them"));
                continue;
            };
            given.push(key);
            let Some(field) = names::argument(key).filter(|field| !known.contains(field)) else {
                self.lack(self.at(key), "a name that is none in Rust");
                continue;
            };
            let value = self.value(key, value, takes(schema, key), jsons);
            fields.push(match field == value {
                true => value,
                false => format!("{field}: {value}"),
            });
            known.push(field);
        }
        let is_left_out = |name: &String| !given.contains(&name.as_str());
        let leaves_out = match properties(schema) {
            Some(properties) => properties.keys().any(is_left_out),
            None => true,
        };
        if leaves_out {
            fields.push(layout::REST.to_owned());
        }
        format!("{structure} {{ {} }}", fields.join(", "))
    }
}

fn properties(schema: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    schema?.get("properties")?.as_object()
}

/// What the tool takes for an argument, as far as its schema says.
fn takes(schema: Option<&Value>, argument: &str) -> Takes {
    let property = properties(schema).and_then(|all| all.get(argument));
    let is_number = |kind: &Value| kind == "number";
    match property.and_then(|property| property.get("type")) {
        Some(Value::Array(kinds)) if kinds.iter().any(is_number) => Takes::Fraction,
        Some(kind) if is_number(kind) => Takes::Fraction,
        _ => Takes::Anything,
    }
}

/// The type of a value, where it shows.
pub(super) fn type_of(template: &Template) -> Option<&'static str> {
    match template {
        Template::Bool(_) => Some("bool"),
        Template::Number(Number::Unsigned(_)) => Some("u64"),
        Template::Number(Number::Signed(_)) => Some("i64"),
        Template::Number(Number::Float(_)) => Some("f64"),
        Template::String(_) | Template::Text(_) => Some("String"),
        _ => None,
    }
}

/// All attributes but `after` and `fallback`.
fn attributes(policy: &Policy) -> Vec<String> {
    let default = Policy::DEFAULT;
    let text = |duration: Duration| humantime::format_duration(duration).to_string();
    let mut retry = String::new();
    for (name, given, default) in [
        ("backoff", policy.backoff, default.backoff),
        ("max", policy.max, default.max),
    ] {
        if given != default {
            retry.push_str(&format!(", {name} = \"{}\"", text(given)));
        }
    }
    if !policy.jitter {
        retry.push_str(", jitter = false");
    }
    let attempts = policy.attempts.max(1);
    let mut attributes = Vec::new();
    if attempts != 1 || !retry.is_empty() {
        attributes.push(format!("retry({attempts}{retry})"));
    }
    for (name, limit) in [("timeout", policy.timeout), ("deadline", policy.deadline)] {
        attributes.extend(limit.map(|limit| format!("{name}(\"{}\")", text(limit))));
    }
    let concurrency = policy
        .concurrency
        .map(|limit| format!("concurrency({limit})"));
    attributes.extend(concurrency);
    match policy.optional {
        Optional::No => {}
        Optional::Whole => attributes.push("optional".into()),
        Optional::Each => attributes.push("optional(each)".into()),
    }
    attributes
}
