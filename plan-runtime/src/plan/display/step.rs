//! Steps as text for people.

use super::{name_of, widest, write_beside};
use crate::plan::{Action, Body, Condition, Key, Optional, Plan, Policy, Step, Template};
use crate::print::{Code, Name, Quoted, has_outside, is_seen, root, width, word};
use std::fmt::{Display, Formatter, Result, Write};
use std::time::Duration;

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write_step(f, self, None)
    }
}

pub(super) fn write_step(f: &mut Formatter<'_>, step: &Step, plan: Option<&Plan>) -> Result {
    for attribute in policies(&step.policy) {
        writeln!(f, "  #[{attribute}]")?;
    }
    write!(f, "  step {} = ", Name(&step.id))?;
    write_body(f, &step.body, plan, 2, &step.intent)?;
    write_needs(f, step, plan)
}

/// Writes a body whose first line is indented by `indent`, with a comment beside that line.
fn write_body(
    f: &mut Formatter<'_>,
    body: &Body,
    plan: Option<&Plan>,
    indent: usize,
    comment: &str,
) -> Result {
    let inside = indent + 2;
    match body {
        Body::Action(action) => write_action(f, action, plan, inside, comment),
        Body::If(branches) if branches.is_empty() => {
            f.write_str("null")?;
            write_beside(f, comment)
        }
        Body::If(branches) => {
            for (place, branch) in branches.iter().enumerate() {
                if place > 0 {
                    write!(f, "{:indent$}}} else ", "")?;
                }
                if place == 0 || !branch.conditions.is_empty() {
                    write!(f, "if {} ", ConditionText(&branch.conditions, plan))?;
                }
                f.write_char('{')?;
                write_beside(f, if place == 0 { comment } else { "" })?;
                write!(f, "{:inside$}", "")?;
                write_body(f, &branch.body, plan, inside, "")?;
            }
            writeln!(f, "{:indent$}}}", "")
        }
        Body::For(each) => {
            write!(
                f,
                "for {} in {} {{",
                Code(&each.pattern),
                PatternText(&each.list, plan)
            )?;
            write_beside(f, comment)?;
            write!(f, "{:inside$}", "")?;
            write_body(f, &each.body, plan, inside, "")?;
            writeln!(f, "{:indent$}}}", "")
        }
    }
}

fn write_action(
    f: &mut Formatter<'_>,
    action: &Action,
    plan: Option<&Plan>,
    indent: usize,
    comment: &str,
) -> Result {
    let Some(tool) = &action.tool else {
        write!(f, "{}", action.args)?;
        return write_beside(f, comment);
    };
    write_tool(f, &tool.name, &action.args, plan)?;
    write_beside(f, comment)?;
    match &action.args {
        Template::Object(entries) => {
            let name = |key: &Key| match key {
                Key::Name(name) => name_of(name),
                Key::Flattened | Key::Inner => String::new(),
            };
            let names: Vec<String> = entries.iter().map(|entry| name(&entry.key)).collect();
            let widest = widest(&names);
            for (entry, name) in entries.iter().zip(&names) {
                let gap = widest - width(name);
                match entry.key {
                    Key::Name(_) => {
                        writeln!(f, "{:indent$}{name}: {:gap$}{}", "", "", entry.value)?;
                    }
                    Key::Flattened | Key::Inner => {
                        writeln!(f, "{:indent$}...{}", "", entry.value)?;
                    }
                }
            }
            Ok(())
        }
        args => writeln!(f, "{:indent$}{args}", ""),
    }
}

/// What a pattern is bound to. Where the pattern takes it apart, it is computed, but written as the reference that it is.
pub(in crate::plan) struct PatternText<'t>(
    pub(in crate::plan) &'t Template,
    pub(in crate::plan) Option<&'t Plan>,
);

impl Display for PatternText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Template::Computed(computed) = self.0
            && let ([source], Some(root)) = (&computed.reads[..], root(&computed.written))
            && self.1.is_none_or(|plan| match plan.name_of(*source) {
                Some(name) => name == root,
                // The variable of a pattern, which is not to be taken for a step or an input.
                None => plan.step(root).is_none() && plan.input(root).is_none(),
            })
        {
            return f.write_str(&computed.written);
        }
        self.0.fmt(f)
    }
}

/// The conditions of a branch, as they are written after `if`.
pub(in crate::plan) struct ConditionText<'t>(
    pub(in crate::plan) &'t [Condition],
    pub(in crate::plan) Option<&'t Plan>,
);

impl Display for ConditionText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0.is_empty() {
            return f.write_str("true");
        }
        for (place, condition) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(" && ")?;
            }
            match condition {
                Condition::Holds(test) => {
                    let is_clear = |code: &str| {
                        let joins = |sign| has_outside(code, sign);
                        let is_clear = match (self.0.len(), joins("&&")) {
                            (1, joins_and) => !joins_and || joins("||"),
                            (_, joins_and) => !joins_and && !joins("||"),
                        };
                        is_clear && word(code) != "let"
                    };
                    write_unless(f, test, is_clear, &test)?;
                }
                Condition::Let { pattern, value } => {
                    // A range has a sign of its own.
                    if has_outside(&pattern.replace("..=", ".."), "=") {
                        write!(f, "let code({}) = ", Quoted(pattern))?;
                    } else {
                        write!(f, "let {} = ", Code(pattern))?;
                    }
                    let is_clear =
                        |code: &str| !has_outside(code, "&&") && !has_outside(code, "||");
                    write_unless(f, value, is_clear, &PatternText(value, self.1))?;
                }
            }
        }
        Ok(())
    }
}

/// Writes a template, but as `computed("…")` if it is code that would be taken for more than one condition.
fn write_unless(
    f: &mut Formatter<'_>,
    template: &Template,
    is_clear: impl FnOnce(&str) -> bool,
    clear: &dyn Display,
) -> Result {
    match template {
        Template::Computed(code) if !is_clear(&code.written) => {
            write!(f, "computed({})", Quoted(&code.written))
        }
        _ => clear.fmt(f),
    }
}

/// The name of a tool: plain where it can be no value, else in quotes, after a word that says what it is.
pub(in crate::plan) struct ToolName<'t>(pub(in crate::plan) &'t str);

impl ToolName<'_> {
    fn is_plain(&self) -> bool {
        let name = self.0;
        let part_of_name = |c: char| c.is_alphanumeric() || "_-$@.:/".contains(c);
        name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && name.chars().all(part_of_name)
            && is_seen(name)
            && !name.contains("//")
            && name.parse::<f64>().is_err()
            && !matches!(name, "null" | "true" | "false")
    }
}

impl Display for ToolName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.is_plain() {
            f.write_str(self.0)
        } else {
            write!(f, "tool {}", Quoted(self.0))
        }
    }
}

fn write_tool(f: &mut Formatter<'_>, name: &str, args: &Template, plan: Option<&Plan>) -> Result {
    // A step that does nothing but give what another gave is written by the other's name.
    let is_alone = matches!(args, Template::Object(entries) if entries.is_empty());
    let root = name.split(['.', '[']).next().unwrap_or_default();
    let known = |plan: &Plan| plan.step(root).is_some() || plan.input(root).is_some();
    if is_alone && plan.is_some_and(known) {
        write!(f, "tool {}", Quoted(name))
    } else {
        ToolName(name).fmt(f)
    }
}

fn write_needs(f: &mut Formatter<'_>, step: &Step, plan: Option<&Plan>) -> Result {
    for (what, places) in [("needs", &step.needs()), ("after", &step.after)] {
        if places.is_empty() {
            continue;
        }
        write!(f, "    // {what} ")?;
        for (index, &place) in places.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            match plan.and_then(|plan| plan.steps.get(place)) {
                Some(step) => Name(&step.id).fmt(f)?,
                None => write!(f, "step {place}")?,
            }
        }
        f.write_char('\n')?;
    }
    Ok(())
}

/// The policy as its author would write it.
pub(in crate::plan) fn policies(policy: &Policy) -> Vec<String> {
    let mut policies = attributes(policy);
    let fallback = policy.fallback.as_ref();
    policies.extend(fallback.map(|fallback| format!("fallback({fallback})")));
    policies
}

/// All of the policy but the fallback.
pub(crate) fn attributes(policy: &Policy) -> Vec<String> {
    let default = Policy::DEFAULT;
    let text = |duration: Duration| humantime::format_duration(duration).to_string();
    let mut retry = String::new();
    for (name, duration, default) in [
        ("backoff", policy.backoff, default.backoff),
        ("max", policy.max, default.max),
    ] {
        if duration != default {
            retry.push_str(&format!(", {name} = \"{}\"", text(duration)));
        }
    }
    if !policy.jitter {
        retry.push_str(", jitter = false");
    }
    let attempts = policy.attempts.max(1);
    let mut attributes = Vec::new();
    // How a single attempt would be repeated is data, too.
    if attempts != 1 || !retry.is_empty() {
        attributes.push(format!("retry({attempts}{retry})"));
    }
    for (name, limit) in [("timeout", policy.timeout), ("deadline", policy.deadline)] {
        attributes.extend(limit.map(|limit| format!("{name}(\"{}\")", text(limit))));
    }
    let concurrency = policy.concurrency;
    attributes.extend(concurrency.map(|limit| format!("concurrency({limit})")));
    match policy.optional {
        Optional::No => {}
        Optional::Whole => attributes.push("optional".into()),
        Optional::Each => attributes.push("optional(each)".into()),
    }
    attributes
}
