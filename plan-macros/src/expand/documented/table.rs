//! The tables of inputs and steps.

use super::super::Context;
use super::words::{self, Code, Text};
use crate::ast::Header;
use crate::docs::{self, text_of};
use crate::parse::tidy;
use std::fmt::{Display, Write};

/// Returns the tables of a plan, with the author's documentation `own` and the graph `picture` before the steps.
/// Columns without content are omitted.
pub(super) fn text(own: &str, head: &Header, cx: &Context<'_>, picture: &str) -> String {
    let steps = &cx.plan.steps;
    let mut text = String::with_capacity(256 + 96 * steps.len());
    // After the author's last line. Without one, lists of items need something to show.
    text.push_str("\n\n");
    if own.trim().is_empty() {
        let plural = if steps.len() == 1 { "" } else { "s" };
        let _ = write!(text, "A plan of {} step{plural}.\n\n", steps.len());
    }
    let inputs = &cx.names.inputs;
    if !inputs.is_empty() {
        text.push_str("**Inputs**\n\n");
        let rows = inputs.iter().map(|input| {
            let ty = &input.ty;
            let description = docs::text(&input.attrs);
            let first = description.split("\n\n").next().unwrap_or_default();
            [
                Code(&text_of(&input.name)).to_string(),
                Code(&tidy(ty)).to_string(),
                Text(first).to_string(),
            ]
        });
        table(["Input", "Type", "Description"], rows, &mut text);
    }
    if !steps.is_empty() {
        text.push_str("**Steps**\n\n");
        text.push_str(picture);
        let rows = steps.iter().map(|step| {
            [
                Code(&text_of(&step.name)).to_string(),
                words::action(step, cx.names),
                Text(&step.intent).to_string(),
                listed(&words::needs(step, cx)),
                listed(&words::policies(step, cx.names)),
            ]
        });
        let heads = ["Step", "Does", "Intent", "Needs", "Policy"];
        table(heads, rows, &mut text);
    }
    if let (Some(ty), Some(tail)) = (&head.output, &cx.plan.tail) {
        let value = words::short(&words::text(&tail.value, cx.names));
        let ty = tidy(ty);
        let row = [&value, &ty].map(|code| Code(code).to_string());
        table(["Output", "Type"], [row], &mut text);
    }
    text
}

fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| Code(name).to_string()).collect();
    names.join(", ")
}

/// Writes a table in Markdown.
fn table<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    text: &mut String,
) {
    let rows: Vec<_> = rows.into_iter().collect();
    let used: Vec<usize> = (0..N)
        .filter(|column| rows.iter().any(|row| !row[*column].is_empty()))
        .collect();
    line(text, used.iter().map(|column| heads[*column]));
    line(text, used.iter().map(|_| "---"));
    for row in &rows {
        line(text, used.iter().map(|column| &row[*column]));
    }
    text.push('\n');
}

fn line(text: &mut String, cells: impl Iterator<Item = impl Display>) {
    for cell in cells {
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}
