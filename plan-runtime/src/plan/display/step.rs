//! Steps, printed for people.

use super::{AT_ONCE, name_of, widest, write_beside};
use crate::plan::{
    Action, Amount, Body, Bound, Catch, Condition, InPlan, Key, Optional, Policy, Role, Step,
    Template,
};
use crate::print::{Code, Name, Quoted, has_outside, is_seen, root, width, word};
use plan_graph::{Amount as SharedAmount, StepAttribute, policy_attributes};
use std::fmt::{Display, Formatter, Result, Write};
use std::time::Duration;

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        InPlan::alone(self).fmt(f)
    }
}

impl Display for InPlan<'_, &Step> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.write(f, 2)?;
        // A step in a block waits for its block.
        if self.part.starts_at_once() {
            writeln!(f, "    // {AT_ONCE}")?;
        }
        Ok(())
    }
}

impl InPlan<'_, &Step> {
    pub(super) fn write(&self, f: &mut Formatter<'_>, indent: usize) -> Result {
        let step = self.part;
        let role = self.of(step.role).attribute();
        let policy = self.of(&*step.policy).attributes();
        for attribute in role.into_iter().chain(policy) {
            writeln!(f, "{:indent$}#[{attribute}]", "")?;
        }
        write!(f, "{:indent$}step {}", "", Name(&step.id))?;
        if let Body::Await(wait) = &step.body
            && !wait.type_name.is_empty()
        {
            write!(f, ": {}", Code(&wait.type_name))?;
        }
        f.write_str(" = ")?;
        self.of(&step.body).write(f, indent, &step.intent)?;
        self.write_needs(f, indent + 2)
    }
}

/// Returns the patterns around a branch with these conditions.
pub(in crate::plan) fn bound(around: &[Bound], conditions: &[Condition]) -> Vec<Bound> {
    let lets = conditions.iter().filter_map(|condition| match condition {
        Condition::Let { pattern, value } => Some(Bound::pattern(pattern, value)),
        Condition::Holds(_) => None,
    });
    around.iter().cloned().chain(lets).collect()
}

impl InPlan<'_, &Body> {
    /// Writes a body whose first line is indented by `indent`, with a comment beside that line.
    pub(super) fn write(&self, f: &mut Formatter<'_>, indent: usize, comment: &str) -> Result {
        let inside = indent + 2;
        match self.part {
            Body::Action(action) => self.of(action).write(f, inside, comment),
            Body::Block(block) => {
                f.write_char('{')?;
                write_beside(f, comment, inside)?;
                self.of(&**block).write(f, inside, false)?;
                writeln!(f, "{:indent$}}}", "")
            }
            Body::Loop(repeat) => self.of(&**repeat).write(f, indent, comment),
            Body::Await(_) => {
                f.write_str("await")?;
                write_beside(f, comment, inside)
            }
            Body::If(branches) if branches.is_empty() => {
                f.write_str("null")?;
                write_beside(f, comment, inside)
            }
            Body::If(branches) => {
                for (place, branch) in branches.iter().enumerate() {
                    if place > 0 {
                        write!(f, "{:indent$}}} else ", "")?;
                    }
                    if place == 0 || !branch.conditions.is_empty() {
                        write!(f, "if {} ", self.of(&branch.conditions[..]))?;
                    }
                    f.write_char('{')?;
                    write_beside(f, if place == 0 { comment } else { "" }, inside)?;
                    let locals = &bound(self.locals, &branch.conditions);
                    let part = &branch.body;
                    self.within(locals, part).write_in_braces(f, inside)?;
                }
                writeln!(f, "{:indent$}}}", "")
            }
            Body::For(each) => {
                let list = PatternText(self.of(&each.list));
                write!(f, "for {} in {list} {{", Code(&each.pattern))?;
                write_beside(f, comment, inside)?;
                let locals = &[self.locals, &[Bound::pattern(&each.pattern, &each.list)]].concat();
                let part = &each.body;
                self.within(locals, part).write_in_braces(f, inside)?;
                writeln!(f, "{:indent$}}}", "")
            }
        }
    }

    /// Writes a body in braces. A block with steps uses these braces as its own.
    fn write_in_braces(&self, f: &mut Formatter<'_>, indent: usize) -> Result {
        match self.part {
            Body::Block(block) if !block.is_bare() => self.of(&**block).write(f, indent, false),
            body => {
                write!(f, "{:indent$}", "")?;
                self.of(body).write(f, indent, "")
            }
        }
    }
}

impl InPlan<'_, &Action> {
    fn write(&self, f: &mut Formatter<'_>, indent: usize, comment: &str) -> Result {
        let Action { tool, args } = self.part;
        let args = self.of(args);
        let Some(tool) = tool else {
            args.fmt(f)?;
            return write_beside(f, comment, indent);
        };
        self.write_tool(f, &tool.name)?;
        write_beside(f, comment, indent)?;
        let Template::Object(entries) = args.part else {
            return writeln!(f, "{:indent$}{args}", "");
        };
        let name = |key: &Key| match key {
            Key::Name(name) => name_of(name),
            Key::Flattened | Key::Inner => String::new(),
        };
        let names: Vec<String> = entries.iter().map(|entry| name(&entry.key)).collect();
        let widest = widest(&names);
        for (entry, name) in entries.iter().zip(&names) {
            let value = self.of(&entry.value);
            let gap = widest - width(name);
            match entry.key {
                Key::Name(_) => writeln!(f, "{:indent$}{name}: {:gap$}{value}", "", "")?,
                Key::Flattened | Key::Inner => writeln!(f, "{:indent$}...{value}", "")?,
            }
        }
        Ok(())
    }

    fn write_tool(&self, f: &mut Formatter<'_>, name: &str) -> Result {
        // A step that only passes on the value of another step is written with that step's name.
        let is_alone = matches!(&self.part.args, Template::Object(entries) if entries.is_empty());
        let root = name.split(['.', '[']).next().unwrap_or_default();
        let is_known = || match (self.names, self.plan) {
            (Some(names), _) => names.contains(root),
            (None, Some(plan)) => plan.step(root).is_some() || plan.input(root).is_some(),
            (None, None) => false,
        };
        if is_alone && is_known() {
            write!(f, "tool {}", Quoted(name))
        } else {
            ToolName(name).fmt(f)
        }
    }
}

/// The value that a pattern destructures. A computed value that only takes a reference apart is written as that reference.
pub(in crate::plan) struct PatternText<'t>(pub(in crate::plan) InPlan<'t, &'t Template>);

impl Display for PatternText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Template::Computed(computed) = self.0.part
            && let ([source], Some(root)) = (computed.reads(), root(computed.written()))
            && self.0.is_named(*source, root)
        {
            return f.write_str(computed.written());
        }
        self.0.fmt(f)
    }
}

/// Writes the conditions of a branch in the notation after `if`.
impl Display for InPlan<'_, &[Condition]> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.part.is_empty() {
            return f.write_str("true");
        }
        let count = self.part.len();
        for (place, condition) in self.part.iter().enumerate() {
            if place > 0 {
                f.write_str(" && ")?;
            }
            let locals = &bound(self.locals, &self.part[..place]);
            let part = condition.template();
            let value = self.within(locals, part);
            match condition {
                Condition::Holds(_) => {
                    let is_clear = |text: &str| {
                        let joins = |sign| has_outside(text, sign);
                        let is_one = match (count, joins("&&")) {
                            (1, joins_and) => !joins_and || joins("||"),
                            (_, joins_and) => !joins_and && !joins("||"),
                        };
                        is_one && word(text) != "let"
                    };
                    write_unless_clear(f, part, &value.to_string(), is_clear)?;
                }
                Condition::Let { pattern, .. } => {
                    // A range has a sign with `=`.
                    if has_outside(&pattern.replace("..=", ".."), "=") {
                        write!(f, "let code({}) = ", Quoted(pattern))?;
                    } else {
                        write!(f, "let {} = ", Code(pattern))?;
                    }
                    let is_clear =
                        |text: &str| !has_outside(text, "&&") && !has_outside(text, "||");
                    write_unless_clear(f, part, &PatternText(value).to_string(), is_clear)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes a template, in quotes or brackets if a reader could mistake it for several conditions.
fn write_unless_clear(
    f: &mut Formatter<'_>,
    template: &Template,
    text: &str,
    is_clear: impl FnOnce(&str) -> bool,
) -> Result {
    match template {
        _ if is_clear(text) => f.write_str(text),
        Template::Reference(_) => write!(f, "reference({})", Quoted(text)),
        Template::Test(_) => write!(f, "({text})"),
        _ => write!(f, "computed({})", Quoted(text)),
    }
}

/// The name of a tool: plain if it cannot be a value, else in quotes, after a word for its kind.
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

impl InPlan<'_, &Step> {
    fn write_needs(&self, f: &mut Formatter<'_>, indent: usize) -> Result {
        for (what, places) in [("needs", &self.part.needs()), ("after", &self.part.after)] {
            for (index, &place) in places.iter().enumerate() {
                match index {
                    0 => write!(f, "{:indent$}// {what} ", "")?,
                    _ => f.write_str(", ")?,
                }
                match self.plan.and_then(|plan| plan.steps.get(place)) {
                    Some(step) => Name(&step.id).fmt(f)?,
                    None => write!(f, "step {place}")?,
                }
            }
            if !places.is_empty() {
                f.write_char('\n')?;
            }
        }
        Ok(())
    }
}

impl InPlan<'_, Role> {
    /// Returns the role in its author's notation.
    pub(in crate::plan) fn attribute(&self) -> Option<String> {
        match self.part {
            Role::Work => None,
            Role::Undo(undone) => {
                let step = self.plan.and_then(|plan| plan.steps.get(undone));
                Some(match step {
                    Some(step) => format!("undo({})", Name(&step.id)),
                    None => format!("undo(step {undone})"),
                })
            }
            Role::Always => Some("always".to_owned()),
        }
    }
}

impl InPlan<'_, &Policy> {
    /// Returns the policy in its author's notation.
    pub(in crate::plan) fn attributes(&self) -> Vec<String> {
        let policy = self.part;
        let mut all = policy.attributes(&mut |amount, value| match policy.gives(amount) {
            Some(template) => Some(self.of(template).to_string()),
            None => {
                let mut named = policy.named.iter();
                let name = named.find_map(|(other, name)| (*other == amount).then_some(name));
                Some(match name {
                    Some(name) => format!("{} /* {} */", value?, Code(name)),
                    None => value?,
                })
            }
        });
        let fallback = policy.fallback.as_ref();
        all.extend(fallback.map(|fallback| format!("fallback({})", self.of(fallback))));
        all
    }
}

impl Policy {
    /// Returns the attributes of the policy as source code of `plan!`, without the fallback. `written` returns the source code of an amount, from the
    /// source code of its value, which is `None` for the default.
    pub fn attributes(
        &self,
        written: &mut dyn FnMut(Amount, Option<String>) -> Option<String>,
    ) -> Vec<String> {
        // Without `..`, a new field is an error here.
        let Self {
            attempts,
            backoff,
            max,
            jitter,
            timeout,
            deadline,
            optional,
            catch,
            fallback: _,
            concurrency,
            at_most,
            every,
            collect,
            given: _,
            named: _,
        } = self;
        let default = Self::DEFAULT;
        let text = |duration: Duration| format!("\"{}\"", humantime::format_duration(duration));
        let wait = |wait: Duration, default: Duration| (wait != default).then(|| text(wait));
        let waits = [
            written(Amount::Backoff, wait(*backoff, default.backoff)),
            written(Amount::Max, wait(*max, default.max)),
        ];
        // The waits of a single attempt are data as well.
        let has_retry = *attempts > 1 || !jitter || waits.iter().any(Option::is_some);
        let [backoff, max] = waits;
        let each = |is_each| {
            if is_each {
                "each".to_owned()
            } else {
                String::new()
            }
        };
        policy_attributes(|attribute, amount| match amount {
            None => match attribute {
                StepAttribute::Retry => (!jitter).then(|| "false".to_owned()),
                StepAttribute::Collect => collect.then(String::new),
                StepAttribute::Optional => {
                    (*optional != Optional::No).then(|| each(*optional == Optional::Each))
                }
                StepAttribute::Catch => (*catch != Catch::No).then(|| each(*catch == Catch::Each)),
                StepAttribute::After
                | StepAttribute::Undo
                | StepAttribute::Always
                | StepAttribute::Timeout
                | StepAttribute::Deadline
                | StepAttribute::Fallback
                | StepAttribute::Concurrency
                | StepAttribute::AtMost => None,
            },
            Some(SharedAmount::Attempts) => {
                let attempts = has_retry.then(|| (*attempts).max(1).to_string());
                written(Amount::Attempts, attempts)
            }
            Some(SharedAmount::Backoff) => backoff.clone(),
            Some(SharedAmount::Max) => max.clone(),
            Some(SharedAmount::Timeout) => written(Amount::Timeout, timeout.map(text)),
            Some(SharedAmount::Deadline) => written(Amount::Deadline, deadline.map(text)),
            Some(SharedAmount::Concurrency) => {
                let limit = concurrency.map(|limit| limit.to_string());
                written(Amount::Concurrency, limit)
            }
            Some(SharedAmount::AtMost) => {
                let rounds = at_most.map(|rounds| rounds.to_string());
                written(Amount::AtMost, rounds)
            }
            Some(SharedAmount::Every) => written(Amount::Every, every.map(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ToolName;

    #[test]
    fn only_names_that_can_be_no_value_are_plain() {
        for plain in ["fetch", "_fetch", "1a", "été", "a-b.c:d/e$f@g"] {
            assert_eq!(ToolName(plain).to_string(), plain);
        }
        for odd in [
            "", "-1", "-fetch", "$a", "@a", ".a", "/a", "1", "1e5", "inf", "null", "true", "a//b",
            "a b",
        ] {
            assert_ne!(ToolName(odd).to_string(), odd);
        }
    }
}
