//! What a step does, what it needs and what happens when it fails, as Rust that people read.

use super::super::Context;
use super::escape::Code;
use crate::ast::{Amount, Block, Body, Catch, Condition, List, Optional, Role, Step, Value};
use crate::docs::text_of;
use crate::names::Source;
use crate::parse::{path_text, pattern_text, tidy, value_text};
use humantime::format_duration;
use quote::quote;
use std::fmt::Write;
use std::time::Duration;

/// How many characters of an expression are shown.
const MOST: usize = 60;

/// What a step does, in Markdown: `FetchEmails`; if `ready` then `Send` else `Keep`.
pub(super) fn action(step: &Step) -> String {
    let mut parts = Vec::new();
    body(&step.body, step, &mut parts);
    parts.join(" ")
}

fn body(does: &Body, step: &Step, parts: &mut Vec<String>) {
    let code = |text: &str| Code(text).to_string();
    match does {
        Body::Call(literal) => parts.push(code(&path_text(&literal.path))),
        Body::Compute(_) => {
            parts.push("computed".to_owned());
            let ty = step.ty.as_ref().map(|ty| tidy(&quote!(#ty)));
            parts.extend(ty.map(|ty| code(&ty)));
        }
        Body::Await(_) => {
            parts.push("awaits".to_owned());
            let ty = step.ty.as_ref().map(|ty| tidy(&quote!(#ty)));
            parts.extend(ty.map(|ty| code(&ty)));
        }
        Body::If(branches) => {
            for (number, branch) in branches.iter().enumerate() {
                if branch.conditions.is_empty() {
                    parts.push("else".to_owned());
                } else {
                    let conditions: Vec<_> = branch.conditions.iter().map(condition).collect();
                    let conditions = code(&short(&conditions.join(" && ")));
                    let word = if number == 0 { "if" } else { "else if" };
                    parts.push(format!("{word} {conditions} then"));
                }
                body(&branch.body, step, parts);
            }
        }
        Body::For(repeat) => {
            let list = match &repeat.list {
                List::Reference(reference, _) => reference.written(),
                List::Computed(computed, _) => value_text(&computed.written),
                List::Broken => "…".to_owned(),
            };
            let (name, list) = (code(&pattern_text(&repeat.pat)), code(&short(&list)));
            parts.push(format!("for {name} in {list}"));
            body(&repeat.body, step, parts);
        }
        Body::Block(block) => parts.push(block_of(block)),
        Body::Loop(repeat) => {
            let condition = code(&short(&text(&repeat.again)));
            parts.push(format!(
                "loop {} while {condition}",
                block_of(&repeat.round)
            ));
        }
        Body::Broken(path) => {
            parts.push(code(&path.as_ref().map_or("…".to_owned(), path_text)));
        }
    }
}

/// The names of a block's steps.
fn block_of(block: &Block) -> String {
    let names = block.steps.iter().map(|step| {
        if step.is_tail {
            action(step)
        } else {
            Code(&text_of(&step.name)).to_string()
        }
    });
    let names: Vec<String> = names.collect();
    format!("{{ {} }}", names.join("; "))
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Holds(value) => text(value),
        Condition::Let(pattern, computed, _) => {
            format!(
                "let {} = {}",
                pattern_text(pattern),
                value_text(&computed.written)
            )
        }
        Condition::Broken(_) => "…".to_owned(),
    }
}

/// What a step does, with its tools and without its conditions and lists.
#[cfg(feature = "docs-svg")]
pub(super) fn action_in_short(step: &Step) -> String {
    fn collect(body: &Body, words: &mut Vec<String>) {
        match body {
            Body::Call(literal) => words.push(path_text(&literal.path)),
            Body::Compute(_) => words.push("computed".to_owned()),
            Body::Await(_) => words.push("await".to_owned()),
            Body::If(branches) => {
                for (number, branch) in branches.iter().enumerate() {
                    words.push(if number == 0 { "if …" } else { "else" }.to_owned());
                    collect(&branch.body, words);
                }
            }
            Body::For(repeat) => {
                words.push("for …".to_owned());
                collect(&repeat.body, words);
            }
            Body::Block(_) => words.push("{ … }".to_owned()),
            Body::Loop(_) => words.push("loop { … }".to_owned()),
            Body::Broken(_) => words.push("…".to_owned()),
        }
    }
    let mut words = Vec::new();
    collect(&step.body, &mut words);
    words.join(" ")
}

/// The names of the inputs and the steps that a step waits for, each once, in the order in which it mentions them.
pub(super) fn needs(step: &Step, cx: &Context<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mentioned = step.mentions.iter().map(|mention| &mention.name);
    let undone = match &step.role {
        Role::Undo(undone) => Some(undone),
        Role::Work | Role::Always => None,
    };
    for name in mentioned.chain(undone).chain(&step.after) {
        let text = text_of(name);
        let known: Option<Source> = cx.names.get(name);
        if known.is_some() && !names.contains(&text) {
            names.push(text);
        }
    }
    names
}

/// What a step is for, and its policies, as the attributes that say them: `retry(3)`.
pub(super) fn policies(step: &Step) -> Vec<String> {
    let policy = &step.policy;
    let mut policies = Vec::new();
    match &step.role {
        Role::Work => {}
        Role::Undo(undone) => policies.push(format!("undo({})", text_of(undone))),
        Role::Always => policies.push("always".to_owned()),
    }
    let given = |amount: Amount| {
        let mut amounts = policy.amounts.iter();
        let given = amounts.find(|(other, _)| *other == amount);
        given.map(|(_, value)| short(&text(value)))
    };
    let time = |amount, time: Option<Duration>| {
        given(amount).or_else(|| Some(format!("\"{}\"", format_duration(time?))))
    };
    let number = |amount, number: Option<String>| given(amount).or(number);
    let attempts = policy.attempts.map(|attempts| attempts.to_string());
    if let Some(attempts) = number(Amount::Attempts, attempts) {
        let mut retry = format!("retry({attempts}");
        for (name, wait) in [
            ("backoff", time(Amount::Backoff, policy.backoff)),
            ("max", time(Amount::Max, policy.max)),
        ] {
            if let Some(wait) = wait {
                let _ = write!(retry, ", {name} = {wait}");
            }
        }
        if policy.jitter == Some(false) {
            retry.push_str(", jitter = false");
        }
        policies.push(retry + ")");
    }
    for (name, limit) in [
        ("timeout", time(Amount::Timeout, policy.timeout)),
        ("deadline", time(Amount::Deadline, policy.deadline)),
    ] {
        policies.extend(limit.map(|limit| format!("{name}({limit})")));
    }
    let concurrency = policy.concurrency.as_ref();
    let concurrency = concurrency.map(|(_, limit)| limit.to_string());
    let concurrency = number(Amount::Concurrency, concurrency);
    policies.extend(concurrency.map(|limit| format!("concurrency({limit})")));
    let at_most = policy.at_most.map(|rounds| rounds.to_string());
    if let Some(rounds) = number(Amount::AtMost, at_most) {
        let every = time(Amount::Every, policy.every);
        let every = every.map_or_else(String::new, |every| format!(", every = {every}"));
        policies.push(format!("at_most({rounds}{every})"));
    }
    if policy.collect.is_some() {
        policies.push("collect".to_owned());
    }
    match policy.optional {
        Optional::No => {}
        Optional::Whole => policies.push("optional".to_owned()),
        Optional::Each(_) => policies.push("optional(each)".to_owned()),
    }
    match policy.catch {
        Catch::No => {}
        Catch::Whole(_) => policies.push("catch".to_owned()),
        Catch::Each(_) => policies.push("catch(each)".to_owned()),
    }
    let fallback = policy.fallback.as_ref();
    policies.extend(fallback.map(|(_, value)| format!("fallback({})", short(&text(value)))));
    policies
}

/// A value as it was written, where it is short.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Reference(reference) => reference.written(),
        Value::Computed(computed) => value_text(&computed.written),
        Value::Scalar(scalar) => {
            let (minus, lit) = (&scalar.minus, &scalar.lit);
            tidy(&quote!(#minus #lit))
        }
        Value::None(_) => "None".to_owned(),
        Value::Some(_, _, value) => format!("Some({})", text(value)),
        Value::Literal(literal) => path_text(&literal.path) + " { … }",
        Value::Json(..) => "json!(…)".to_owned(),
        Value::Format(_) => "format!(…)".to_owned(),
        Value::List(_, values) if values.is_empty() => "[]".to_owned(),
        Value::List(..) => "[…]".to_owned(),
        Value::Tuple(..) => "(…)".to_owned(),
        Value::Broken => "…".to_owned(),
    }
}

/// On one line, and cut off where it is long.
pub(super) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}
