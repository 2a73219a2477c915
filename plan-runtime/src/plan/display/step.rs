use super::{name_of, widest, write_beside};
use crate::plan::{Action, Body, Condition, Key, Optional, Plan, Policy, Step, Template};
use std::fmt::{Display, Formatter, Result, Write};
use std::time::Duration;

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write_step(f, self, None)
    }
}

pub(super) fn write_step(f: &mut Formatter<'_>, step: &Step, plan: Option<&Plan>) -> Result {
    for attribute in attributes(&step.policy) {
        writeln!(f, "  #[{attribute}]")?;
    }
    write!(f, "  step {} = ", step.id)?;
    write_body(f, &step.body, 2, &step.intent)?;
    write_needs(f, step, plan)
}

/// Writes a body whose first line stands at `indent`, with a comment beside that line.
fn write_body(f: &mut Formatter<'_>, body: &Body, indent: usize, comment: &str) -> Result {
    let inside = indent + 2;
    match body {
        Body::Action(action) => write_action(f, action, inside, comment),
        Body::If(branches) => {
            for (place, branch) in branches.iter().enumerate() {
                if place > 0 {
                    write!(f, "{:indent$}}} else ", "")?;
                }
                match &branch.condition {
                    Condition::Always if place > 0 => {}
                    condition => write!(f, "if {condition} ")?,
                }
                f.write_char('{')?;
                write_beside(f, if place == 0 { comment } else { "" })?;
                write!(f, "{:inside$}", "")?;
                write_body(f, &branch.body, inside, "")?;
            }
            match branches.is_empty() {
                true => write_null(f, comment),
                false => writeln!(f, "{:indent$}}}", ""),
            }
        }
        Body::For(rounds) => match rounds.first() {
            Some(each) => {
                write!(f, "for {} in {} {{", each.pattern, each.list)?;
                write_beside(f, comment)?;
                write!(f, "{:inside$}", "")?;
                write_body(f, &each.body, inside, "")?;
                writeln!(f, "{:indent$}}}", "")
            }
            None => write_null(f, comment),
        },
    }
}

fn write_null(f: &mut Formatter<'_>, comment: &str) -> Result {
    f.write_str("null")?;
    write_beside(f, comment)
}

fn write_action(f: &mut Formatter<'_>, action: &Action, indent: usize, comment: &str) -> Result {
    let Some(tool) = &action.tool else {
        write!(f, "{}", action.args)?;
        return write_beside(f, comment);
    };
    write!(f, "{}", tool.name)?;
    write_beside(f, comment)?;
    match &action.args {
        Template::Object(entries) => {
            let name = |key: &Key| match key {
                Key::Name(name) => name_of(name),
                Key::Flattened | Key::Inner => "..".into(),
            };
            let names: Vec<String> = entries.iter().map(|entry| name(&entry.key)).collect();
            let widest = widest(names.iter().map(String::as_str));
            for (entry, name) in entries.iter().zip(&names) {
                let gap = widest - name.chars().count();
                writeln!(f, "{:indent$}{name}: {:gap$}{}", "", "", entry.value)?;
            }
            Ok(())
        }
        args => writeln!(f, "{:indent$}{args}", ""),
    }
}

fn write_needs(f: &mut Formatter<'_>, step: &Step, plan: Option<&Plan>) -> Result {
    for (what, places) in [("needs", &step.needs), ("after", &step.after)] {
        if places.is_empty() {
            continue;
        }
        write!(f, "    // {what} ")?;
        for (index, &place) in places.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            match plan.and_then(|plan| plan.steps.get(place)) {
                Some(step) => f.write_str(&step.id)?,
                None => write!(f, "step {place}")?,
            }
        }
        f.write_char('\n')?;
    }
    Ok(())
}

/// The policy as its author would write it.
pub(in crate::plan) fn attributes(policy: &Policy) -> Vec<String> {
    let default = Policy::DEFAULT;
    let text = |duration: Duration| humantime::format_duration(duration).to_string();
    let mut attributes = Vec::new();
    if policy.attempts > 1 {
        let mut retry = format!("retry({}", policy.attempts);
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
        attributes.push(retry + ")");
    }
    for (name, limit) in [("timeout", policy.timeout), ("deadline", policy.deadline)] {
        attributes.extend(limit.map(|limit| format!("{name}(\"{}\")", text(limit))));
    }
    attributes.extend(
        policy
            .concurrency
            .map(|limit| format!("concurrency({limit})")),
    );
    match policy.optional {
        Optional::No => {}
        Optional::Whole => attributes.push("optional".into()),
        Optional::Each => attributes.push("optional(each)".into()),
    }
    attributes.extend(
        policy
            .fallback
            .as_ref()
            .map(|fallback| format!("fallback({fallback})")),
    );
    attributes
}
