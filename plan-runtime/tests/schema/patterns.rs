//! The patterns of schemas.

use super::json_schema::JsonSchema;
use super::{DIALECTS, tools};
use plan_runtime::dynamic::{Contract, Dialect, Reader};
use serde_json::{Value, json};

/// Engines like RE2 refuse a schema if an escape or a group in one of its patterns is unsupported.
#[test]
fn patterns_are_of_what_all_engines_have() {
    fn collect(schema: &Value, patterns: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        Value::String(text) if name == "pattern" => patterns.push(text.clone()),
                        other => collect(other, patterns),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, patterns)),
            _ => {}
        }
    }
    for dialect in DIALECTS {
        let mut patterns = Vec::new();
        collect(&dialect.schema(&tools()), &mut patterns);
        assert!(patterns.len() > 5, "{dialect}");
        for pattern in patterns {
            let mut signs = pattern.chars().peekable();
            while let Some(sign) = signs.next() {
                match sign {
                    '\\' => {
                        let escaped = signs.next().unwrap();
                        if escaped == 'x' {
                            let digits: Vec<char> = signs.by_ref().take(2).collect();
                            let is_hex = digits.iter().all(char::is_ascii_hexdigit);
                            assert!(digits.len() == 2 && is_hex, "{pattern}");
                        } else {
                            assert!(
                                r"tnr\^$.*+?()[]{}|/".contains(escaped),
                                "\\{escaped}: {pattern}"
                            );
                        }
                    }
                    '(' if signs.peek() == Some(&'?') => {
                        signs.next();
                        assert_eq!(signs.next(), Some(':'), "{pattern}");
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A name cannot consist of spaces, of any kind.
#[test]
fn names_are_not_blank() {
    let schema =
        JsonSchema::new(Dialect::ToolPlan.schema(&[Contract::new("t")].into_iter().collect()));
    let fits = |id: &str| {
        let plan = json!({"steps": [{"id": id, "tool": "t"}]});
        (
            schema.mistake(&plan).is_none(),
            Reader::new()
                .dialect(Dialect::ToolPlan)
                .read(&plan.to_string())
                .is_ok(),
        )
    };
    for space in (0..=0x10_ffff)
        .filter_map(char::from_u32)
        .filter(|c| c.is_whitespace())
    {
        assert_eq!(
            fits(&format!("{space} {space}")),
            (false, false),
            "{space:?}"
        );
        assert!(fits(&format!("{space}a")).0, "{space:?}");
    }
    for name in ["a", "\u{1fff}", "\u{200b}", "\u{86}"] {
        assert!(fits(name).0, "{name:?}");
    }
}
