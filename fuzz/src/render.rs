//! Properties of printing and drawing: the output contains no character that a terminal or a browser would obey, and its size is
//! bounded by the document's.

use super::{generate, reader, run};
use plan_runtime::dynamic::Findings;
use std::fmt::Display;

/// The largest size of each output, per byte of the document; an output repeats a name at each use.
const TIMES: usize = 256;
/// The size of an output for an empty document: a page has its style and its script.
const BASE: usize = 1 << 16;

/// The elements of the page of a report.
const ELEMENTS: [&str; 43] = [
    "a", "aside", "body", "button", "circle", "code", "dd", "defs", "desc", "details", "div", "dl",
    "dt", "em", "g", "h1", "h2", "h3", "head", "header", "html", "input", "label", "li", "line",
    "main", "marker", "meta", "ol", "p", "path", "pre", "rect", "section", "span", "strong",
    "summary", "svg", "text", "time", "title", "tspan", "ul",
];

/// Checks all outputs of a document, of its plan and of a run of the plan.
pub fn render(data: &[u8]) {
    let Some(text) = generate::text(data, generate::plan) else {
        return;
    };
    let text = &*text;
    let document = match reader().read(text) {
        Ok(document) => document,
        Err(findings) => return found(&findings, text),
    };
    found(document.warnings(), text);
    let plan = document.plan();
    printed(plan, text);
    printed(plan.mermaid(), text);
    printed(plan.dot(), text);
    if let Err(lacking) = plan.to_blueprint() {
        printed(lacking, text);
    }
    let Some((result, report)) = run::report(plan) else {
        return;
    };
    super::reached();
    if let Err(error) = result {
        printed(error, text);
    }
    printed(&report, text);
    page(&report.to_html(), text);
}

fn found(findings: &Findings, text: &str) {
    printed(findings, text);
    let rendered = findings.render("plan.json");
    short(&rendered, text);
    harmless(&rendered, Hidden::InExcerpts);
}

fn printed(what: impl Display, text: &str) {
    let printed = what.to_string();
    short(&printed, text);
    harmless(&printed, Hidden::Nowhere);
}

fn short(printed: &str, text: &str) {
    let most = TIMES * text.len() + BASE;
    assert!(
        printed.len() <= most,
        "{} bytes for {}",
        printed.len(),
        text.len()
    );
}

/// The allowed positions of characters without a width.
#[derive(PartialEq)]
enum Hidden {
    Nowhere,
    /// Excerpts show the lines of the document unchanged.
    InExcerpts,
}

/// Checks that no character moves the cursor, hides or turns text.
fn harmless(printed: &str, hidden: Hidden) {
    let harms = |c: &char| match *c {
        '\n' => false,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c if is_ignorable(c) => hidden == Hidden::Nowhere,
        c => c.is_control(),
    };
    if let Some(c) = printed.chars().find(harms) {
        panic!("{c:?} in {printed:?}");
    }
}

/// Returns `true` for an invisible character: Unicode's `Default_Ignorable_Code_Point`, ends of lines, and a pattern
/// without dots.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Checks that a page contains only its own elements and attributes, and no styles in attributes.
fn page(page: &str, text: &str) {
    short(page, text);
    let mut rest = page;
    while let Some((_, tag)) = rest.split_once('<') {
        let end = tag_end(tag).unwrap_or_else(|| panic!("a tag without an end: {page}"));
        let (tag, after) = tag.split_at(end);
        rest = after;
        let name = tag.trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next();
        let name = name.unwrap_or_default();
        match name {
            "" => assert_eq!(tag.to_ascii_lowercase(), "!doctype html", "in {page}"),
            // Their contents are the library's own, up to the first end of it.
            "style" | "script" => {
                let close = format!("</{name}>");
                rest = rest.split_once(&close).expect("its end").1;
            }
            name => assert!(ELEMENTS.contains(&name), "<{tag}> in {page}"),
        }
        no_handlers(tag, page);
    }
    let parts = [
        "<style nonce=\"",
        "</style>",
        "<script nonce=\"",
        "</script>",
    ];
    for part in parts {
        assert_eq!(page.matches(part).count(), 1, "{part} in {page}");
    }
}

/// Returns the end of a tag, which quotes may contain.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '>') => return Some(at),
            _ => {}
        }
        None
    })
}

fn no_handlers(tag: &str, page: &str) {
    // Every other part is inside of quotes.
    let names = tag.split('"').step_by(2).flat_map(str::split_whitespace);
    // The first is the name of the element.
    for name in names.skip(1) {
        let name = name.trim_end_matches('=');
        assert!(
            !name.starts_with("on") && name != "style" && !name.contains('\''),
            "<{tag}> in {page}"
        );
    }
    assert!(
        !tag.contains("javascript:") || tag.contains("#"),
        "<{tag}> in {page}"
    );
}
