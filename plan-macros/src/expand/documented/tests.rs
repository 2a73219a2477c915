//! The documentation matches the plan, and no name or string breaks the Markdown.

use super::super::Context;
use super::words::{Code, Text};
use super::{is_open, table};
use crate::graph::Graphs;
use crate::names::{self, Names};
use crate::report::Report;
use crate::{docs, parse};
use proc_macro2::TokenStream;
use proptest::prelude::*;
use quote::quote;

/// Calls `look` with a plan.
fn with<T>(plan: TokenStream, look: impl FnOnce(&Context<'_>) -> T) -> T {
    let mut report = Report::default();
    let plan = parse::parse(crate::syntax::scan(plan), &mut report).expect("it is a plan");
    let mut names = Names::new(&plan, &mut report);
    names::resolve(&plan, &mut names, &mut report);
    let graphs = Graphs::new(&names, &mut report);
    look(&Context::new(&plan, &names, &graphs, None))
}

fn text_of(plan: TokenStream) -> String {
    with(plan, |cx| {
        let head = cx.plan.head.as_ref().expect("it has a name");
        table::text(&docs::text(&head.attrs), head, cx, "")
    })
}

#[test]
fn tables() {
    let text = text_of(quote! {
        /// The author's words.
        pub Weather(
            /// Where.
            ///
            /// As the post office writes it.
            city: String,
            days: Vec<u8>,
        ) -> Vec<Option<u64>> {
            /// Find the station.
            #[retry(3, backoff = "200ms")]
            #[timeout("10s")]
            step station = tools::Find { city };
            #[optional(each)]
            #[concurrency(4)]
            step seen = for day in days { if ready { Look { day, station } } else { Guess { day } } };
            step ready: bool = station == 1;
            #[after(seen)]
            #[fallback(None)]
            step told = if let Some(x) = &seen[0] { Tell { x } };
            seen
        }
    });
    let expected = r#"

**Inputs**

| Input | Type | Description |
| --- | --- | --- |
| `city` | `String` | Where. |
| `days` | `Vec<u8>` |  |

**Steps**

| Step | Does | Intent | Needs | Policy |
| --- | --- | --- | --- | --- |
| `station` | `tools::Find` | Find the station. | `city` | `retry(3, backoff = "200ms")`, `timeout("10s")` |
| `seen` | for `day` in `days` if `ready` then `Look` else `Guess` |  | `days`, `ready`, `station` | `concurrency(4)`, `optional(each)` |
| `ready` | computed `bool` |  | `station` |  |
| `told` | if `let Some(x) = &seen[0]` then `Tell` |  | `seen` | `fallback(None)` |

| Output | Type |
| --- | --- |
| `seen` | `Vec<Option<u64>>` |

"#;
    assert_eq!(text, expected);
}

/// Lists of items show the first line.
#[test]
fn a_plan_without_words_is_told_of() {
    let text = text_of(quote!(pub P() { step a = T {}; }));
    assert_eq!(
        text,
        "\n\nA plan of 1 step.\n\n**Steps**\n\n| Step | Does |\n| --- | --- |\n| `a` | `T` |\n\n"
    );
}

/// A row has as many cells as the header, for any strings.
#[test]
fn texts_end_no_cell() {
    let intent = "two || pipes\n\n```\n</svg></table> `a|b` [x](y) \\| *b* https://x.y";
    let text = text_of(quote! {
        /// The author's words.
        P(bits: [u8; 1 | 2]) -> u8 {
            #[doc = #intent]
            #[fallback("a|b`c")]
            step a = if bits[0] == 1 || bits[1] == "`|".len() { T { bits } } else { T { bits } };
            bits[0]
        }
    });
    let row = text.lines().find(|line| line.starts_with("| `a`")).unwrap();
    assert_eq!(row.matches('|').count(), 6, "{row}");
    assert!(
        row.contains("two &#124;&#124; pipes &#96;&#96;&#96; &#60;/svg&#62;"),
        "{row}"
    );
    assert!(!row.contains("://"), "{row}");
}

#[test]
fn what_is_open() {
    for open in [
        "```",
        "```rust\nlet x = 1;",
        "~~~~\n~~~",
        "````\n```",
        "a\n<!-- b",
    ] {
        assert!(is_open(open), "{open}");
    }
    for closed in [
        "",
        "```\n```",
        "```rust\nx\n```",
        "~~~\n```\n~~~",
        "<!-- b -->",
        "`a`",
        "  ```\nx\n  ```",
    ] {
        assert!(!is_open(closed), "{closed}");
    }
}

/// The first and the last character of each Unicode range of controls, formats, line ends, private characters and
/// invisible characters.
const UNSEEN: &[(char, char)] = &[
    ('\u{1}', '\u{8}'),
    ('\u{e}', '\u{1b}'),
    ('\u{7f}', '\u{84}'),
    ('\u{86}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{e000}', '\u{f8ff}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{fffe}', '\u{ffff}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
    ('\u{f0000}', '\u{10ffff}'),
];

#[test]
fn what_cannot_be_seen_is_in_no_documentation() {
    for c in UNSEEN.iter().flat_map(|(first, last)| *first..=*last) {
        let text = format!("a{c}b");
        assert_eq!(Text(&text).to_string(), "a\u{fffd}b", "{c:?}");
        assert_eq!(Code(&text).to_string(), "a\u{fffd}b", "{c:?}");
    }
    for c in ['\u{85}', '\u{2028}', '\u{2029}', '\n'] {
        let text = format!("a{c}b");
        assert_eq!(Text(&text).to_string(), "a b");
        assert_eq!(Code(&text).to_string(), "a b");
    }
    for text in [
        "größe",
        "gro\u{308}ße",
        "名前",
        "नाम",
        "日本語　全角",
        "emoji 😀",
    ] {
        assert!(!Text(text).to_string().contains('\u{fffd}'), "{text}");
        assert_eq!(Code(text).to_string(), format!("`{text}`"));
    }
}

proptest! {
    /// Special characters become numeric character references, and decoding restores the string.
    #[test]
    fn text_is_never_markup(text in "\\PC*|[ -~\n\t]*|[`|\\\\<>&#\\[\\]*_:/ a-]*") {
        let written = Text(&text).to_string();
        let mut read = String::new();
        let mut rest = written.as_str();
        while let Some(c) = rest.chars().next() {
            if let Some(number) = rest.strip_prefix("&#") {
                let (number, after) = number.split_once(';').expect("it ends");
                read.push(char::from_u32(number.parse().unwrap()).unwrap());
                rest = after;
            } else {
                prop_assert!(!"|`\\<>&[]*_~$\"{}!#^@\n\r\t".contains(c), "{}", written);
                read.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        prop_assert!(!written.contains("://") && !written.contains("  ") && !written.contains("--"));
        let words: Vec<&str> = text.split_whitespace().collect();
        if !read.contains('\u{fffd}') {
            prop_assert_eq!(read, words.join(" "));
        }
    }

    #[test]
    fn code_ends_no_cell(text in "\\PC*|[`|\\\\<>&a ]*") {
        let written = Code(&text).to_string();
        match written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            Some(inside) => {
                prop_assert!(!inside.contains('`'));
                prop_assert_eq!(inside.replace("\\|", "|"), text.trim());
                prop_assert!(!inside.replace("\\|", "").contains(['|', '\\']));
            }
            None => prop_assert!(!written.contains(['`', '|', '\\', '<'])),
        }
    }
}

#[cfg(feature = "docs-svg")]
mod pictures {
    use super::super::picture::svg;
    use super::with;
    use quote::{format_ident, quote};

    #[test]
    fn a_box_for_each_step_and_an_arrow_for_each_need() {
        let svg = with(
            quote! {
                P(day: u8) -> u8 {
                    /// Read it.
                    step a = Read { day };
                    #[optional]
                    step b = tools::Load { a };
                    #[after(b)]
                    step c: u8 = a;
                    c
                }
            },
            svg,
        );
        assert_eq!(svg.matches("<rect ").count(), 3, "{svg}");
        assert_eq!(svg.matches("marker-end").count(), 3, "{svg}");
        assert!(svg.contains("<title>a: Read it.</title>"), "{svg}");
        assert!(
            svg.contains("stroke-dasharray=\"5 4\"><title>b → c (after)</title>"),
            "{svg}"
        );
        assert!(svg.contains(">tools::Load</text>"), "{svg}");
    }

    #[test]
    fn undo_is_dashed() {
        let svg = with(
            quote!(P() { step a = T {}; #[undo(a)] step b = U { a }; a }),
            svg,
        );
        let arrow = "stroke-dasharray=\"5 4\"><title>a → b (undo)</title>";
        assert!(svg.contains(arrow), "{svg}");
        assert_eq!(svg.matches("stroke-dasharray=\"4 3\"").count(), 1, "{svg}");
    }

    #[test]
    fn texts_end_no_tag_and_no_line_is_empty() {
        let intent = "</title></svg></div>\n\n| <script>alert(1)</script> & \"quoted\" `code`";
        let svg = with(quote!(P() { #[doc = #intent] step a = T {}; }), svg);
        assert!(!svg.contains("<script") && !svg.contains("\n\n<"), "{svg}");
        assert_eq!(svg.matches("</svg>").count(), 1);
        let inside = svg.trim_end();
        assert!(inside.starts_with("<div ") && inside.ends_with("</svg></div>"));
        assert!(!inside.contains("\n\n"));
        // Each tag has its closing tag, which rustdoc's lint on HTML requires.
        for tag in [
            "div", "svg", "g", "rect", "text", "title", "path", "marker", "defs",
        ] {
            let opened =
                svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn cycles_and_many_steps_are_drawn_too() {
        let cycle = with(
            quote!(P() { step a = T { x: b }; step b = T { x: a }; }),
            svg,
        );
        assert_eq!(cycle.matches("<rect ").count(), 2);
        let name = |number: usize| format_ident!("s{number}");
        let steps = (1..400).map(|number| {
            let (this, before) = (name(number), name(number - 1));
            quote!(step #this = T { x: #before };)
        });
        let many = with(quote!(P() { step s0 = T { x: 1 }; #(#steps)* }), svg);
        assert_eq!(many.matches("<rect ").count(), 400);
    }
}
