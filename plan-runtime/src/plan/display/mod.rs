//! Plans for people.

mod block;
mod computed;
mod step;

pub(super) use step::{PatternText, ToolName, bound};

use super::masked::without_secrets;
use super::{Bound, InPlan, Key, Number, Part, Plan, Reference, Source, Tag, Template, Test};
use super::{is_word, root_name, seen, written};
use crate::print::{Code, Line, Name, Quoted, is_expression, is_whole, width};
use std::collections::HashSet;
use std::fmt::{Display, Formatter, Result, Write};

/// Names other than words are in quotes. Rust code that could be mistaken for more than a type, a pattern or a value is in quotes as well
/// (`code("…")`, `computed("…")`). Rust code that reads like a [`Test`], which is data, is in braces: `{ list.len() }`. Line breaks and invisible
/// characters are escapes (`\u{202e}`). So no line can imitate another line, and plans that behave differently print differently, unless they differ in
/// [secrets](crate::Shape#secrets).
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(hidden) = without_secrets(self) {
            return write_plan(&hidden, f);
        }
        write_plan(self, f)
    }
}

fn write_plan(plan: &Plan, f: &mut Formatter<'_>) -> Result {
    write!(f, "plan {}", Name(&plan.name))?;
    if !plan.output.type_name.is_empty() {
        write!(f, " -> {}", Code(&plan.output.type_name))?;
    }
    f.write_char('\n')?;
    if !plan.description.trim().is_empty() {
        write_comment(f, 2, &plan.description)?;
    }
    let names = plan
        .inputs
        .iter()
        .map(|input| Name(&input.name).to_string());
    let names: Vec<String> = names.collect();
    let widest = widest(&names);
    for (input, name) in plan.inputs.iter().zip(&names) {
        write!(f, "  input {name}")?;
        if !input.type_name.is_empty() {
            let gap = widest - width(name);
            write!(f, ": {:gap$}{}", "", Code(&input.type_name))?;
        }
        write_beside(f, &input.description, 4)?;
    }
    let known = names_of(plan);
    for step in &plan.steps {
        f.write_char('\n')?;
        let step = InPlan {
            names: Some(&known),
            ..InPlan::new(plan, step)
        };
        step.fmt(f)?;
    }
    if !matches!(plan.output.value, Template::Null) {
        let value = InPlan::new(plan, &plan.output.value);
        write!(f, "\n  output {value}\n")?;
    }
    Ok(())
}

/// Returns the names of the steps and the inputs.
fn names_of(plan: &Plan) -> HashSet<&str> {
    let ids = plan.steps.iter().map(|step| step.id.as_str());
    let inputs = plan.inputs.iter().map(|input| input.name.as_str());
    ids.chain(inputs).collect()
}

/// Writes a comment. A single line ends the current line, and a longer comment follows that line, indented by `indent`.
fn write_beside(f: &mut Formatter<'_>, text: &str, indent: usize) -> Result {
    match text.trim() {
        "" => f.write_char('\n'),
        text if !text.contains('\n') => writeln!(f, "  // {}", Line(text)),
        text => {
            f.write_char('\n')?;
            text.split('\n').try_for_each(|line| match line.trim() {
                // In quotes, so that it does not look like the note about a step's dependencies.
                line if is_note(line) => {
                    writeln!(f, "{:indent$}// {}", "", Quoted(line))
                }
                line => write_comment(f, indent, line),
            })
        }
    }
}

fn write_comment(f: &mut Formatter<'_>, indent: usize, text: &str) -> Result {
    text.trim()
        .split('\n')
        .try_for_each(|line| match line.trim() {
            "" => writeln!(f, "{:indent$}//", ""),
            line => writeln!(f, "{:indent$}// {}", "", Line(line)),
        })
}

/// Returns `true` if a line of a comment looks like the note about a step's dependencies.
pub(crate) fn is_note(line: &str) -> bool {
    NOTES.iter().any(|note| line.starts_with(note))
}

/// The beginnings of the comments that name a step's dependencies.
const NOTES: [&str; 3] = ["needs ", "after ", AT_ONCE];

/// The comment about a step that waits for nothing.
const AT_ONCE: &str = "starts at once";

fn widest(names: &[String]) -> usize {
    names.iter().map(|name| width(name)).max().unwrap_or(0)
}

fn name_of(name: &str) -> String {
    if is_word(name) {
        name.to_owned()
    } else {
        Quoted(name).to_string()
    }
}

impl<T> InPlan<'_, T> {
    /// Returns `true` if source code that begins with this name refers to this source, or may refer to it.
    fn is_named(&self, source: Source, name: &str) -> bool {
        let binds = |bound: &Bound| bound.binds(name);
        match (source, self.plan) {
            (Source::Local(depth), _) if depth < self.locals.len() => {
                binds(&self.locals[depth]) && !self.locals[depth + 1..].iter().any(binds)
            }
            (Source::Local(_), Some(plan)) => {
                plan.step(name).is_none() && plan.input(name).is_none()
            }
            (source, Some(plan)) => {
                plan.name_of(source) == Some(name) && !self.locals.iter().any(binds)
            }
            (_, None) => true,
        }
    }
}

/// Writes the reference [as written](Reference::as_written) if that string refers to the actual source, and as derived otherwise. Writes
/// the reference in quotes if it could be mistaken for more than a reference, or for another one.
impl Display for InPlan<'_, &Reference> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Reference { source, .. } = *self.part;
        let path = self.part.path();
        if let Some(text) = self.part.as_written()
            && self.is_named(source, root_name(text))
        {
            return write_reference(f, text, true);
        }
        let own = source.name();
        let name = self.plan.and_then(|plan| plan.name_of(source));
        let name = name.unwrap_or(&own);
        match seen(source, name, path, self.locals) {
            Some((name, rest)) => write_reference(f, &written(name, rest), true),
            None => write_reference(f, &written(name, path), false),
        }
    }
}

fn write_reference(f: &mut Formatter<'_>, text: &str, is_clear: bool) -> Result {
    if is_clear && is_whole(text) {
        f.write_str(text)
    } else {
        write!(f, "reference({})", Quoted(text))
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        InPlan::alone(self).fmt(f)
    }
}

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        InPlan::alone(self).fmt(f)
    }
}

/// Writes the template in the author's notation: references and computed values as written, and formatted strings as `format!`.
/// Members of a flattened object (`{ id: 1, ...rest }`) have the order of a run, where the last of several members with equal names
/// counts.
impl Display for InPlan<'_, &Template> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.part {
            Template::Null => f.write_str("null"),
            Template::Bool(value) => write!(f, "{value}"),
            Template::Number(Number::Unsigned(value)) => write!(f, "{value}"),
            Template::Number(Number::Signed(value)) => write!(f, "{value}"),
            Template::Number(Number::Float(value)) => write!(f, "{value:?}"),
            Template::String(text) => Quoted(text).fmt(f),
            Template::List(items) => {
                f.write_char('[')?;
                self.write_list(f, items)?;
                f.write_char(']')
            }
            Template::Object(entries) => match &entries[..] {
                [] => f.write_str("{}"),
                [entry] if entry.key == Key::Inner => self.of(&entry.value).fmt(f),
                entries => {
                    f.write_str("{ ")?;
                    for (index, entry) in entries.iter().enumerate() {
                        if index > 0 {
                            f.write_str(", ")?;
                        }
                        let value = self.of(&entry.value);
                        match &entry.key {
                            Key::Name(name) => write!(f, "{}: {value}", name_of(name))?,
                            Key::Flattened | Key::Inner => write!(f, "...{value}")?,
                        }
                    }
                    f.write_str(" }")
                }
            },
            Template::Tagged(Tag::None, content) => self
                .of(content.as_deref().unwrap_or(&Template::Null))
                .fmt(f),
            Template::Tagged(Tag::Variant(_, name), content) => {
                Name(name).fmt(f)?;
                match content.as_deref() {
                    None => Ok(()),
                    Some(object @ Template::Object(_)) => write!(f, " {}", self.of(object)),
                    Some(content) => {
                        let items = match content {
                            Template::List(items) => items,
                            other => std::slice::from_ref(other),
                        };
                        f.write_char('(')?;
                        self.write_list(f, items)?;
                        f.write_char(')')
                    }
                }
            }
            Template::Reference(reference) => self.of(reference).fmt(f),
            Template::Text(parts) => self.write_text(f, parts),
            Template::Test(test) => self.write_test(f, test),
            Template::Computed(computed) => match &**computed.written() {
                written if !is_expression(written) => {
                    write!(f, "computed({})", Quoted(written))
                }
                written if computed::may_be_test(written) => write!(f, "{{ {written} }}"),
                written => f.write_str(written),
            },
        }
    }
}

impl InPlan<'_, &Template> {
    fn write_list(&self, f: &mut Formatter<'_>, items: &[Template]) -> Result {
        for (index, item) in items.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{}", self.of(item))?;
        }
        Ok(())
    }

    fn write_test(&self, f: &mut Formatter<'_>, test: &Test) -> Result {
        let binding = test.binding();
        let operand = |f: &mut Formatter<'_>, operand: &Template| {
            if operand.is_bracketed_in(binding) {
                write!(f, "({})", self.of(operand))
            } else {
                self.of(operand).fmt(f)
            }
        };
        let sign = match test {
            Test::All(_) => "&&",
            Test::Any(_) => "||",
            Test::Compare(_, how) => how.sign(),
            Test::Not(inner) => {
                f.write_char('!')?;
                return operand(f, inner);
            }
            Test::Ask(question, inner) => {
                operand(f, inner)?;
                return write!(f, ".{}()", question.name());
            }
        };
        for (place, inner) in test.operands().iter().enumerate() {
            if place > 0 {
                write!(f, " {sign} ")?;
            }
            operand(f, inner)?;
        }
        Ok(())
    }

    fn write_text(&self, f: &mut Formatter<'_>, parts: &[Part]) -> Result {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => {
                    text.push_str(&literal.replace('{', "{{").replace('}', "}}"));
                }
                Part::Value { spec, .. } if spec.is_empty() => text.push_str("{}"),
                Part::Value { spec, .. } => write!(text, "{{:{spec}}}")?,
            }
        }
        write!(f, "format!({}", Quoted(&text))?;
        for value in self.part.parts() {
            write!(f, ", {}", self.of(value))?;
        }
        f.write_char(')')
    }
}
