//! Descriptions are text.

use crate::unseen::is_unseen;
use plan_runtime::Plan;
use plan_runtime::dynamic::Reader;
use plan_runtime::plan::RustText;
use plan_rust::{RustSource, to_rust};
use serde_json::json;

/// Returns a string with numbers in place of invisible characters, by the tables of Unicode.
pub(crate) fn seen(text: &str) -> String {
    let mut seen = String::new();
    // The number of further marks for the preceding letter.
    let mut marks = 0;
    for c in text.chars() {
        let is_mark = c == '\u{301}';
        let is_hidden = is_unseen(c) || (is_mark && marks == 0);
        match c {
            '\t' => seen.push(' '),
            c if is_hidden => seen.extend(c.escape_default()),
            c => seen.push(c),
        }
        marks = match c {
            _ if is_hidden => 0,
            _ if is_mark => marks - 1,
            c if c.is_alphanumeric() => 4,
            _ => 0,
        };
    }
    seen
}

fn source(description: &str) -> String {
    let plan = json!({"name": "p", "description": description, "inputs": [{"name": "x", "description": description}],
        "plan": [{"id": "a", "intent": description, "tool": "t", "arguments": {"x": "{{PLACEHOLDER_x}}"}}]});
    let text = plan.to_string();
    let plan = Reader::new().read(&text).unwrap();
    to_rust(plan.plan()).unwrap()
}

#[test]
fn nothing_in_a_description_is_code_or_html_in_documentation() {
    for description in [
        "```\npanic!()\n```",
        "~~~rust\npanic!()\n~~~",
        "a\n\n    panic!()\n\nb",
        "a\n\n\tpanic!()",
        "- a\n\n      panic!()",
        "> ```\n> panic!()\n> ```",
        "1. ```\n   panic!()\n   ```",
        "<script>alert(1)</script>",
        "<!-- a",
        "&lt;b&gt;",
        "[a](javascript:alert(1)) [`Vec`] [b][c]\n\n[c]: https://example.com",
        "https://example.com/a",
        "a */ b /* c",
        "# Examples\n---\na\n===",
        "|a|\n|-|\n|b|",
        "a\u{202e}b\rc\u{2028}#![evil]\u{200b}",
        "\\`a\\` \\u{202e}",
        "![a](b) [^1]\n\n[^1]: c",
    ] {
        let source = source(description);
        let plan: syn::ItemMacro = syn::parse_str(&source).unwrap();
        let tokens = plan.mac.tokens.to_string();
        assert!(!tokens.contains("panic !"), "{source}");
        let docs = source
            .lines()
            .filter_map(|line| line.trim().strip_prefix("///"));
        let docs: Vec<&str> = docs.collect();
        assert!(!docs.is_empty(), "{source}");
        for doc in docs {
            assert!(!doc.contains(['\r', '\u{202e}', '\u{2028}', '\u{200b}']));
            for sign in ["`", "~~", "<", "[", "&", "|", "    ", "\t", "://"] {
                let mut found = doc.match_indices(sign).map(|(at, _)| &doc[..at]);
                assert!(found.all(|before| before.ends_with('\\')), "{doc}");
            }
        }
    }
}

#[test]
fn a_plain_description_stays_as_it_is() {
    let text = "Finds the mail_id of Sarah's mail (the 1st one), e.g. \"a-b\": 50% + 3 = 5; ünïcödé 邮件 e\u{301}.";
    let source = source(text);
    assert!(source.contains(&format!("    /// {text}\n")), "{source}");
}

#[test]
fn what_the_program_itself_says_is_markdown() {
    let mut plan = Plan::new("p");
    plan.description = RustText::of_program("Sends *all*.\n\n```\nassert!(true);\n```");
    assert!(
        to_rust(&plan)
            .unwrap()
            .contains("    /// Sends *all*.\n    ///\n    /// ```\n")
    );
}

/// Fillers, joiners, selectors and others that are letters or marks for some tables.
const FILLERS: &str = "\u{3164}\u{115f}\u{1160}\u{ffa0}\u{34f}\u{2800}\u{fe0f}\u{e0100}\u{17b4}\u{180b}\u{200d}\u{e000}\u{ad}";

#[test]
fn nothing_that_is_written_is_unseen() {
    for filler in FILLERS.chars() {
        let text = format!("a{filler}b");
        let computed = |written: &str| json!({"computed": {"written": written, "reads": []}});
        let literal = format!("\"{text}\"");
        let plan = json!({
            "name": text, "description": text,
            "inputs": [{"name": text, "type": "u8", "description": text}, {"name": filler.to_string(), "type": "u8"}],
            "steps": [
                {"id": format!("x{filler}"), "intent": text, "tool": {"name": "t"}, "arguments": {"object": {
                    "s": text, "o": {"object": {text.clone(): 1}},
                    "r": {"reference": {"input": text, "pointer": format!("/{text}")}},
                    "c": computed(&literal), "d": computed(&format!("r{literal}"))
                }}}
            ]
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let source = RustSource::new(&plan).allow_code();
        let source = source.write().unwrap();
        let unseen = source.chars().find(|c| *c != '\n' && is_unseen(*c));
        assert_eq!(unseen, None, "{source}");
        syn::parse_str::<syn::ItemMacro>(&source).unwrap();
        // A name of a program could not be written in another way.
        let name = json!({"name": "p", "steps": [{"id": "s", "tool": {"name": "t"}, "arguments": {"object": {
            "c": computed(&text)
        }}}]});
        let name: Plan = serde_json::from_value(name).unwrap();
        let source = RustSource::new(&name).allow_code();
        assert!(source.write().is_err(), "{text:?}");
        let mut plan = Plan::new("p");
        plan.description = RustText::of_program("\tcode of the program\u{3164}");
        let source = to_rust(&plan).unwrap();
        assert!(
            source.contains("/// \tcode of the program\\u{3164}\n"),
            "{source}"
        );
    }
}
