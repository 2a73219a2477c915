//! The action, the dependencies and the failure policy of a step, as short Rust for readers.

use super::super::Context;
use crate::ast::{Block, Body, Condition, List, Role, Step, Value};
use crate::docs::text_of;
use crate::names::{Names, Source};
use crate::parse::{tidy, value_text};
use plan_graph::{StepAttribute, is_unseen};
use quote::quote;
use std::fmt::{self, Display, Write};

/// The most characters of an expression.
const MOST: usize = 60;

/// Describes the action of a step in Markdown: `FetchEmails`; if `ready` then `Send` else `Keep`.
pub(super) fn action(step: &Step, names: &Names<'_>) -> String {
    let mut parts = Vec::new();
    body(&step.body, step, names, &mut parts);
    parts.join(" ")
}

fn body(does: &Body, step: &Step, names: &Names<'_>, parts: &mut Vec<String>) {
    let code = |text: &str| Code(text).to_string();
    match does {
        Body::Call(literal) => parts.push(code(&tidy(&literal.path))),
        Body::Compute(_) | Body::Await(_) => {
            let is_wait = matches!(does, Body::Await(_));
            parts.push(if is_wait { "awaits" } else { "computed" }.to_owned());
            let ty = step.ty.as_ref().map(tidy);
            parts.extend(ty.map(|ty| code(&ty)));
        }
        Body::If(branches) => {
            for (number, branch) in branches.iter().enumerate() {
                if branch.conditions.is_empty() {
                    parts.push("else".to_owned());
                } else {
                    let conditions = branch.conditions.iter().map(|it| condition(it, names));
                    let conditions: Vec<_> = conditions.collect();
                    let conditions = code(&short(&conditions.join(" && ")));
                    let word = if number == 0 { "if" } else { "else if" };
                    parts.push(format!("{word} {conditions} then"));
                }
                body(&branch.body, step, names, parts);
            }
        }
        Body::For(repeat) => {
            let list = match names.list(&repeat.list) {
                List::Reference(reference, _) => reference.written(),
                List::Computed(computed, _) => value_text(&computed.written),
                List::Broken => "…".to_owned(),
            };
            let (name, list) = (code(&tidy(&repeat.pat)), code(&short(&list)));
            parts.push(format!("for {name} in {list}"));
            body(&repeat.body, step, names, parts);
        }
        Body::Block(block) => parts.push(block_of(block, names)),
        Body::Loop(repeat) => {
            let condition = code(&short(&text(&repeat.again, names)));
            parts.push(format!(
                "loop {} while {condition}",
                block_of(&repeat.round, names)
            ));
        }
        Body::Broken(path) => {
            parts.push(code(&path.as_ref().map_or("…".to_owned(), tidy)));
        }
    }
}

/// Returns the names of a block's steps.
fn block_of(block: &Block, names: &Names<'_>) -> String {
    let names = block.steps.iter().map(|step| {
        if step.is_tail {
            action(step, names)
        } else {
            Code(&text_of(&step.name)).to_string()
        }
    });
    let names: Vec<String> = names.collect();
    format!("{{ {} }}", names.join("; "))
}

fn condition(condition: &Condition, names: &Names<'_>) -> String {
    match names.condition(condition) {
        Condition::Holds(value) => text(value, names),
        Condition::Let(pattern, computed, _) => {
            format!("let {} = {}", tidy(pattern), value_text(&computed.written))
        }
        Condition::Broken(_) => "…".to_owned(),
    }
}

/// Describes the action of a step by its tools, without conditions and lists.
#[cfg(feature = "docs-svg")]
pub(super) fn action_in_short(step: &Step, names: &Names<'_>) -> String {
    fn collect(body: &Body, names: &Names<'_>, words: &mut Vec<String>) {
        match names.body(body) {
            Body::Call(literal) => words.push(tidy(&literal.path)),
            Body::Compute(_) => words.push("computed".to_owned()),
            Body::Await(_) => words.push("await".to_owned()),
            Body::If(branches) => {
                for (number, branch) in branches.iter().enumerate() {
                    words.push(if number == 0 { "if …" } else { "else" }.to_owned());
                    collect(&branch.body, names, words);
                }
            }
            Body::For(repeat) => {
                words.push("for …".to_owned());
                collect(&repeat.body, names, words);
            }
            Body::Block(_) => words.push("{ … }".to_owned()),
            Body::Loop(_) => words.push("loop { … }".to_owned()),
            Body::Broken(_) => words.push("…".to_owned()),
        }
    }
    let mut words = Vec::new();
    collect(&step.body, names, &mut words);
    words.join(" ")
}

/// Returns the inputs and steps that a step waits for, without duplicates, in the order of their first mention.
pub(super) fn needs(step: &Step, cx: &Context<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mentioned = cx.names.mentions(step).iter();
    let mentioned = mentioned.map(|mention| &mention.name);
    let named = step.role.undone().into_iter().chain(cx.names.after(step));
    for name in mentioned.chain(named) {
        let text = text_of(name);
        let known: Option<Source> = cx.names.get(name);
        if known.is_some() && !names.contains(&text) {
            names.push(text);
        }
    }
    names
}

/// Returns the role and the policy of a step as attributes: `retry(3)`.
pub(super) fn policies(step: &Step, names: &Names<'_>) -> Vec<String> {
    let role = match &step.role {
        Role::Work => None,
        Role::Undo(undone) => Some(format!("undo({})", text_of(undone))),
        Role::Always => Some(StepAttribute::Always.name().to_owned()),
    };
    let policies = step.policy.attributes(|value| short(&text(value, names)));
    role.into_iter().chain(policies).collect()
}

/// Returns the source of a value, if the source is short.
pub(super) fn text(value: &Value, names: &Names<'_>) -> String {
    match names.value(value) {
        Value::Reference(reference) => reference.written(),
        Value::Computed(computed) => value_text(&computed.written),
        Value::Scalar(scalar) => {
            let (minus, lit) = (&scalar.minus, &scalar.lit);
            tidy(quote!(#minus #lit))
        }
        Value::None(_) => "None".to_owned(),
        Value::Some(_, _, value) => format!("Some({})", text(value, names)),
        Value::Literal(literal) => tidy(&literal.path) + " { … }",
        Value::Json(..) => "json!(…)".to_owned(),
        Value::Format(_) => "format!(…)".to_owned(),
        Value::List(_, values) if values.is_empty() => "[]".to_owned(),
        Value::List(..) => "[…]".to_owned(),
        Value::Tuple(..) => "(…)".to_owned(),
        Value::Broken => "…".to_owned(),
    }
}

/// Shortens a string to one line of limited length.
pub(super) fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// A string on one line. A character that could be markup is written as a numeric character reference, which Markdown
/// and HTML both decode.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ' ';
        for c in self.0.trim().chars() {
            match c {
                // Markdown merges spaces as well.
                c if c.is_whitespace() => {
                    if before != ' ' {
                        f.write_char(' ')?;
                    }
                    before = ' ';
                    continue;
                }
                c if is_unseen(c) => f.write_char('\u{fffd}')?,
                ' ' | ',' | '.' | ';' | '(' | ')' | '?' | '/' | '%' | '\'' => f.write_char(c)?,
                // Between words these characters are no markup. A `:` matters only in a URL, because rustdoc warns about
                // bare URLs.
                '-' | '+' | '=' if before.is_alphanumeric() => f.write_char(c)?,
                ':' if !self.0.contains("://") => f.write_char(c)?,
                c if c.is_ascii_punctuation() => write!(f, "&#{};", u32::from(c))?,
                c => f.write_char(c)?,
            }
            before = c;
        }
        Ok(())
    }
}

/// A name or a piece of Rust in a cell of Markdown: as code, unless a character in it would end the code.
pub(super) struct Code<'t>(pub(super) &'t str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = |c: char| matches!(c, '`' | '\\') || is_unseen(c);
        match self.0.trim() {
            "" => Ok(()),
            text if text.contains(ends) => write!(f, "{}", Text(text)),
            // The only character that a table removes from code.
            text => write!(f, "`{}`", text.replace('|', "\\|")),
        }
    }
}
