//! The generated documentation of a plan's struct, after the author's own: inputs and steps as tables in Markdown and,
//! with the feature `docs-svg`, the graph.
//!
//! rustc sees the documentation only under `cfg(doc)`. Derives on the plan must not see the documentation: `JsonSchema`
//! of schemars and `Parser` of clap use a struct's documentation for their own strings. `missing_docs` must still
//! require the author's documentation. An editor shows documentation without `cfg(doc)`, so its expansion contains the
//! documentation unconditionally.
//!
//! A tool's name is not a link. A link to a tool that is less public than the plan causes a warning in the author's
//! crate, and the macro cannot know the visibility of the tool.

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

/// The program that shows the documentation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// rustdoc, and rustc, which throws it away.
    Rustdoc,
    /// An editor that shows Markdown.
    Editor,
}

/// Returns the attribute that extends the documentation of a plan's struct. The attribute follows all others.
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

/// Returns the graph, or an empty string if no graph is needed.
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

/// Returns `true` if Markdown leaves a code block or a comment open at its end.
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

/// Returns `true` in the process of rustdoc, since only rustdoc needs the layout of a graph. A macro cannot read
/// `cfg(doc)`. Under another name of rustdoc, only the graph is missing.
#[cfg(feature = "docs-svg")]
fn is_rustdoc() -> bool {
    static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS.get_or_init(|| {
        let name = |exe: std::path::PathBuf| exe.file_stem()?.to_str().map(str::to_owned);
        // Some distributions wrap rustdoc, and name the real program `.rustdoc-wrapped`.
        std::env::current_exe().is_ok_and(|exe| name(exe).is_some_and(|n| n.contains("rustdoc")))
    })
}
