//! What the documentation of a plan's struct says after the author's own words: its inputs and its steps, as tables in Markdown, and
//! with the feature `docs-svg` a picture of its graph.
//!
//! rustc gets it only under `cfg(doc)`. A derive that the author has put on a plan must not see it: `JsonSchema` of schemars and
//! `Parser` of clap take a struct's documentation for their own texts. And `missing_docs` still asks for the author's words. An
//! editor, which shows documentation without `cfg(doc)`, has an expansion of its own, in which it is not conditional.
//!
//! A tool's name is text, not a link: a link to a tool that is less public than the plan would be a warning in the author's crate, and
//! whether it is cannot be known here.

mod escape;
#[cfg(feature = "docs-svg")]
mod picture;
mod table;
#[cfg(test)]
mod tests;
mod words;

use super::Context;
use crate::ast::Header;
use crate::docs;
use proc_macro2::TokenStream;
use quote::quote;

/// For whom documentation is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// rustdoc, and rustc, which throws it away.
    Rustdoc,
    /// An editor that shows Markdown.
    Editor,
}

/// The attribute that adds to the documentation of a plan's struct. It is after all others.
pub(super) fn attribute(head: &Header, cx: &Context<'_>, reader: Audience) -> TokenStream {
    let own = docs::text(&head.attrs);
    // After a code block that is not closed, a table would be part of an example that rustdoc runs.
    if is_open(&own) {
        return TokenStream::new();
    }
    match reader {
        Audience::Editor => {
            let text = table::text(&own, head, cx, "");
            quote!(#[doc = #text])
        }
        Audience::Rustdoc => {
            let text = table::text(&own, head, cx, &picture(cx));
            quote!(#[cfg_attr(doc, doc = #text)])
        }
    }
}

/// The picture of the graph, if there is to be one.
#[cfg(feature = "docs-svg")]
fn picture(cx: &Context<'_>) -> String {
    if is_rustdoc() {
        picture::svg(cx)
    } else {
        String::new()
    }
}

#[cfg(not(feature = "docs-svg"))]
fn picture(_: &Context<'_>) -> String {
    String::new()
}

/// Whether a block of code or a comment begins in a text and does not end in it.
fn is_open(markdown: &str) -> bool {
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let line = line.trim_start();
        let sign = ['`', '~'].into_iter().find_map(|sign| {
            let rest = line.trim_start_matches(sign);
            let marks = &line[..line.len() - rest.len()];
            (marks.len() >= 3).then_some((marks, rest))
        });
        fence = match (fence, sign) {
            (None, Some((marks, _))) => Some(marks),
            (Some(open), Some((marks, rest)))
                if marks.starts_with(open) && rest.trim().is_empty() =>
            {
                None
            }
            (fence, _) => fence,
        };
    }
    let comment = |sign: &str| markdown.matches(sign).count();
    fence.is_some() || comment("<!--") > comment("-->")
}

/// Whether documentation is made, for which alone a graph is laid out: macros run in the process of rustdoc, which a macro cannot ask
/// for `cfg(doc)`. Nothing but the picture depends on it, so where rustdoc has another name, only that is missing.
#[cfg(feature = "docs-svg")]
fn is_rustdoc() -> bool {
    static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS.get_or_init(|| {
        let name = |exe: std::path::PathBuf| exe.file_stem()?.to_str().map(str::to_owned);
        // Some distributions wrap it, and call the program itself `.rustdoc-wrapped`.
        std::env::current_exe().is_ok_and(|exe| name(exe).is_some_and(|n| n.contains("rustdoc")))
    })
}
