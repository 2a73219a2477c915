//! Descriptions are text.

use plan_runtime::Plan;
use plan_runtime::dynamic::Reader;
use serde_json::json;

/// A text in which characters that nobody sees are numbers.
pub(crate) fn seen(text: &str) -> String {
    let mut seen = String::new();
    for c in text.chars() {
        match c {
            '\t' => seen.push(' '),
            '"' | '\\' | '\'' => seen.push(c),
            c if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() => seen.push(c),
            c => match format!("x{c}").escape_debug().count() > 2 {
                true => seen.extend(c.escape_unicode()),
                false => seen.push(c),
            },
        }
    }
    seen
}

fn source(description: &str) -> String {
    let plan = json!({"name": "p", "description": description, "inputs": [{"name": "x", "description": description}],
        "plan": [{"id": "a", "intent": description, "tool": "t", "arguments": {"x": "{{PLACEHOLDER_x}}"}}]});
    let text = plan.to_string();
    let plan = Reader::new().read(&text).unwrap();
    plan.plan().to_rust().unwrap()
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
        for line in source.lines() {
            let Some(doc) = line.trim().strip_prefix("///") else {
                continue;
            };
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
    let plan = Plan {
        description: "Sends *all*.\n\n```\nassert!(true);\n```".into(),
        ..serde_json::from_str(r#"{"name": "p", "steps": []}"#).unwrap()
    };
    assert!(
        plan.to_rust()
            .unwrap()
            .contains("    /// Sends *all*.\n    ///\n    /// ```\n")
    );
}
