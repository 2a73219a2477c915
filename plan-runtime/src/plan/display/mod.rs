//! Plans for people.

mod step;

#[cfg(feature = "rust")]
pub(crate) use step::attributes;
pub(super) use step::{ConditionText, PatternText, ToolName, policies};

use super::{Key, Number, Part, Plan, Tag, Template, is_word};
use crate::print::{Code, Line, Name, Quoted, is_expression, width};
use std::fmt::{Display, Formatter, Result, Write};

/// Names that are not words are in quotes, and so is Rust that could be taken for more than a type, a pattern or a value
/// (`code("…")`, `computed("…")`). A line break or another character that is not seen is an escape (`\u{202e}`). So each line is what
/// it seems to be, and plans that differ in what they do print differently.
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "plan {}", Name(&self.name))?;
        if !self.output.type_name.is_empty() {
            write!(f, " -> {}", Code(&self.output.type_name))?;
        }
        f.write_char('\n')?;
        if !self.description.trim().is_empty() {
            write_comment(f, "  ", &self.description)?;
        }
        let names = self
            .inputs
            .iter()
            .map(|input| Name(&input.name).to_string());
        let names: Vec<String> = names.collect();
        let widest = widest(&names);
        for (input, name) in self.inputs.iter().zip(&names) {
            write!(f, "  input {name}")?;
            if !input.type_name.is_empty() {
                let gap = widest - width(name);
                write!(f, ": {:gap$}{}", "", Code(&input.type_name))?;
            }
            write_beside(f, &input.description)?;
        }
        for step in &self.steps {
            f.write_char('\n')?;
            step::write_step(f, step, Some(self))?;
        }
        if !matches!(self.output.value, Template::Null) {
            write!(f, "\n  output {}\n", self.output.value)?;
        }
        Ok(())
    }
}

/// A comment of one line ends the line; a longer one follows it.
fn write_beside(f: &mut Formatter<'_>, text: &str) -> Result {
    match text.trim() {
        "" => f.write_char('\n'),
        text if !text.contains('\n') => writeln!(f, "  // {}", Line(text)),
        text => {
            f.write_char('\n')?;
            text.split('\n').try_for_each(|line| match line.trim() {
                // In quotes, so that it does not look like the note about a step's dependencies.
                line if NOTES.iter().any(|note| line.starts_with(note)) => {
                    writeln!(f, "    // {}", Quoted(line))
                }
                line => write_comment(f, "    ", line),
            })
        }
    }
}

fn write_comment(f: &mut Formatter<'_>, indent: &str, text: &str) -> Result {
    text.trim()
        .split('\n')
        .try_for_each(|line| match line.trim() {
            "" => writeln!(f, "{indent}//"),
            line => writeln!(f, "{indent}// {}", Line(line)),
        })
}

/// What the comments begin with in which a step's dependencies are named.
const NOTES: [&str; 2] = ["needs ", "after "];

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

/// As an author would write it: references and computed values are as written, texts are `format!`s. Where an object has the members
/// of another one among its own (`{ id: 1, ...rest }`), they are in the order of a run, in which the last one of a name counts.
impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(Number::Unsigned(value)) => write!(f, "{value}"),
            Self::Number(Number::Signed(value)) => write!(f, "{value}"),
            Self::Number(Number::Float(value)) => write!(f, "{value:?}"),
            Self::String(text) => Quoted(text).fmt(f),
            Self::List(items) => {
                f.write_char('[')?;
                write_list(f, items.iter())?;
                f.write_char(']')
            }
            Self::Object(entries) => match &entries[..] {
                [] => f.write_str("{}"),
                [entry] if entry.key == Key::Inner => write!(f, "{}", entry.value),
                entries => {
                    f.write_str("{ ")?;
                    for (index, entry) in entries.iter().enumerate() {
                        if index > 0 {
                            f.write_str(", ")?;
                        }
                        match &entry.key {
                            Key::Name(name) => write!(f, "{}: {}", name_of(name), entry.value)?,
                            Key::Flattened | Key::Inner => write!(f, "...{}", entry.value)?,
                        }
                    }
                    f.write_str(" }")
                }
            },
            Self::Tagged(tag, content) => match (tag, content.as_deref()) {
                (Tag::None, Some(content)) => write!(f, "{content}"),
                (Tag::None, None) => f.write_str("null"),
                (Tag::Variant(_, name), None) => Name(name).fmt(f),
                (Tag::Variant(_, name), Some(content @ Self::Object(_))) => {
                    write!(f, "{} {content}", Name(name))
                }
                (Tag::Variant(_, name), Some(Self::List(items))) => {
                    write!(f, "{}(", Name(name))?;
                    write_list(f, items.iter())?;
                    f.write_char(')')
                }
                (Tag::Variant(_, name), Some(content)) => write!(f, "{}({content})", Name(name)),
            },
            Self::Reference(reference) => reference.fmt(f),
            Self::Text(parts) => write_text(f, parts),
            Self::Computed(computed) => match computed.written.as_ref() {
                written if is_expression(written) => f.write_str(written),
                written => write!(f, "computed({})", Quoted(written)),
            },
        }
    }
}

fn write_list<'a>(f: &mut Formatter<'_>, items: impl Iterator<Item = &'a Template>) -> Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

fn write_text(f: &mut Formatter<'_>, parts: &[Part]) -> Result {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) => text.push_str(&literal.replace('{', "{{").replace('}', "}}")),
            Part::Value { spec, .. } if spec.is_empty() => text.push_str("{}"),
            Part::Value { spec, .. } => write!(text, "{{:{spec}}}")?,
        }
    }
    write!(f, "format!({}", Quoted(&text))?;
    for part in parts {
        if let Part::Value { value, .. } = part {
            write!(f, ", {value}")?;
        }
    }
    f.write_char(')')
}
