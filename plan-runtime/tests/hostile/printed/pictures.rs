use super::{assert_safe, document, hostile, texts};
use plan_runtime::Plan;
use proptest::prelude::*;
use serde_json::{Value, json};

fn plan(document: &Value) -> Plan {
    serde_json::from_value(document.clone()).unwrap()
}

/// Mermaid without its labels.
fn bones(text: &str) -> String {
    let mut bones = String::new();
    let mut inside = false;
    for c in text.chars() {
        inside ^= c == '"';
        if !inside {
            bones.push(c);
        }
    }
    bones
}

/// DOT without its labels, in which quotes are escaped.
fn dot_bones(text: &str) -> String {
    let mut bones = String::new();
    let mut chars = text.chars();
    let mut inside = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if inside => drop(chars.next()),
            '"' => inside = !inside,
            c if !inside => bones.push(c),
            _ => {}
        }
    }
    bones
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_picture_has_what_the_plan_has(texts in texts()) {
        let harmless = plan(&document(|number| format!("-{number}")));
        let hostile = plan(&document(|number| format!("-{}", texts[number % texts.len()])));
        let (mermaid, dot) = (hostile.mermaid().to_string(), hostile.dot().to_string());
        assert_safe(&mermaid);
        assert_safe(&dot);
        prop_assert_eq!(bones(&mermaid), bones(&harmless.mermaid().to_string()), "{}", mermaid);
        prop_assert_eq!(dot_bones(&dot), dot_bones(&harmless.dot().to_string()), "{}", dot);
        prop_assert!(!mermaid.contains("<b>") && !mermaid.contains("<!--"), "{}", mermaid);
    }

    /// A name takes one line of a node, regardless of its characters.
    #[test]
    fn names_stay_on_their_line(name in hostile(), tool in hostile()) {
        let steps = json!([{"id": format!("-{name}"), "tool": {"name": format!("-{tool}")}}]);
        let plan = plan(&json!({"name": "p", "steps": steps}));
        let (mermaid, dot) = (plan.mermaid().to_string(), plan.dot().to_string());
        prop_assert!(!mermaid.contains("<br/>"), "{}", mermaid);
        // A backslash in a label is two.
        prop_assert!(!dot.replace("\\\\", "").contains("\\n"), "{}", dot);
    }
}

#[test]
fn what_cannot_be_seen_is_shown() {
    let plan = plan(&json!({"name": "a\u{202e}b", "steps": [
        {"id": "x\u{200b}", "tool": {"name": "send\u{1b}[8m"}},
        {"id": "y\nz", "tool": {"name": "\\N"}}
    ]}));
    let mermaid = plan.mermaid().to_string();
    assert!(
        mermaid.contains(r#"title: "\u0022a\u005cu{202e}b\u0022""#),
        "{mermaid}"
    );
    assert!(
        mermaid.contains("#34;x#92;u{200b}#34; = tool #34;send#92;u{1b}[8m#34;"),
        "{mermaid}"
    );
    let dot = plan.dot().to_string();
    assert!(
        dot.contains(r#"[label="○ \"x\\u{200b}\" = tool \"send\\u{1b}[8m\""]"#),
        "{dot}"
    );
    assert!(
        dot.contains(r#"[label="○ \"y\\nz\" = tool \"\\\\N\""]"#),
        "{dot}"
    );
}
