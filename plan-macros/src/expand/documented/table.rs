//! The tables of inputs and steps.

use super::super::Context;
use super::escape::{Code, Text};
use super::words;
use crate::ast::Header;
use crate::docs;
use crate::parse::tidy;
use quote::quote;
use std::fmt::{Display, Write};
use syn::ext::IdentExt;

/// The tables of a plan with the author's documentation `own`, with a picture before the steps. Columns without content are left
/// out.
pub(super) fn text(own: &str, head: &Header, cx: &Context<'_>, picture: &str) -> String {
    let steps = &cx.plan.steps;
    let mut text = String::with_capacity(256 + 96 * steps.len());
    // After the author's last line. Without one, lists of items need something to show.
    text.push_str("\n\n");
    if own.trim().is_empty() {
        let plural = if steps.len() == 1 { "" } else { "s" };
        let _ = write!(text, "A plan of {} step{plural}.\n\n", steps.len());
    }
    if !head.inputs.is_empty() {
        let mut inputs = Table::new(&["Input", "Type", "Description"]);
        for input in &head.inputs {
            let ty = &input.ty;
            let description = docs::text(&input.attrs);
            let first = description.split("\n\n").next().unwrap_or_default();
            inputs.row([
                Code(&input.name.unraw().to_string()).to_string(),
                Code(&tidy(&quote!(#ty))).to_string(),
                Text(first).to_string(),
            ]);
        }
        text.push_str("**Inputs**\n\n");
        inputs.write(&mut text);
    }
    if !steps.is_empty() {
        let mut table = Table::new(&["Step", "Does", "Intent", "Needs", "Policy"]);
        for step in steps {
            table.row([
                Code(&step.name.unraw().to_string()).to_string(),
                words::action(step),
                Text(&step.intent).to_string(),
                listed(&words::needs(step, cx)),
                listed(&words::policies(&step.policy)),
            ]);
        }
        text.push_str("**Steps**\n\n");
        text.push_str(picture);
        table.write(&mut text);
    }
    if let (Some(ty), Some(tail)) = (&head.output, &cx.plan.tail) {
        let (ty, value) = (tidy(&quote!(#ty)), words::short(&words::text(&tail.value)));
        let mut output = Table::new(&["Output", "Type"]);
        output.row([Code(&value).to_string(), Code(&ty).to_string()]);
        output.write(&mut text);
    }
    text
}

fn listed(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| Code(name).to_string()).collect();
    names.join(", ")
}

/// A table in Markdown.
struct Table<'t, const N: usize> {
    heads: &'t [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<'t, const N: usize> Table<'t, N> {
    fn new(heads: &'t [&'static str; N]) -> Self {
        let rows = Vec::new();
        Self { heads, rows }
    }

    fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    fn write(&self, text: &mut String) {
        let used: Vec<usize> = (0..N)
            .filter(|column| self.rows.iter().any(|row| !row[*column].is_empty()))
            .collect();
        line(text, used.iter().map(|column| self.heads[*column]));
        line(text, used.iter().map(|_| "---"));
        for row in &self.rows {
            line(text, used.iter().map(|column| &row[*column]));
        }
        text.push('\n');
    }
}

fn line(text: &mut String, cells: impl Iterator<Item = impl Display>) {
    for cell in cells {
        let _ = write!(text, "| {cell} ");
    }
    text.push_str("|\n");
}
