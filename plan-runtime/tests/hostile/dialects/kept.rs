//! Helps for words of other systems, with the values of the document.

use super::promises::{help, in_steps};
use plan_runtime::dynamic::{Reader, Severity};
use serde_json::{Value, json};

/// Returns the only help for a member of a step in each dialect, plan JSON last.
fn helps(name: &str, value: &Value) -> [String; 4] {
    let own = json!({"name": "p", "inputs": [], "steps": [{"id": "s", "tool": {"name": "pay"}, (name): value}]});
    let [tool_plan, action_plan, blueprint] = in_steps(name, value);
    [tool_plan, action_plan, blueprint, own.to_string()]
        .map(|text| help(&Reader::new(), &text, name, Severity::Error))
}

#[test]
fn helps_keep_the_values_of_the_document() {
    for (name, value, by_id, by_place) in [
        // A retry is a further attempt.
        (
            "retries",
            json!(5),
            r#""attempts": 6"#,
            r#""retryCount": 5"#,
        ),
        (
            "max_retries",
            json!(0),
            r#""attempts": 1"#,
            r#""retryCount": 0"#,
        ),
        (
            "maxAttempts",
            json!(5),
            r#""attempts": 5"#,
            r#""retryCount": 4"#,
        ),
        ("tries", json!(1), r#""attempts": 1"#, r#""retryCount": 0"#),
        (
            "timeout_ms",
            json!(500),
            r#""timeout": "500ms""#,
            r#""timeout": 500"#,
        ),
        (
            "timeoutSeconds",
            json!(3),
            r#""timeout": "3s""#,
            r#""timeout": 3000"#,
        ),
        (
            "timeLimit",
            json!("1m 30s"),
            r#""timeout": "1m 30s""#,
            r#""timeout": 90000"#,
        ),
        (
            "deadline",
            json!("9s"),
            r#""deadline": "9s""#,
            r#""deadline": "9s""#,
        ),
        (
            "retry_delay",
            json!("2s"),
            r#""attempts": 3, "backoff": "2s""#,
            r#""backoff": "2s""#,
        ),
        (
            "continue_on_error",
            json!(true),
            r#""optional": "whole""#,
            r#""optional": true"#,
        ),
        (
            "continue_on_error",
            json!(false),
            r#""optional": "no""#,
            r#""optional": false"#,
        ),
        (
            "required",
            json!(true),
            r#""optional": "no""#,
            r#""optional": false"#,
        ),
        ("default", json!(7), r#""fallback": 7"#, r#""fallback": 7"#),
        (
            "onError",
            json!(false),
            r#""catch": false"#,
            r#""catch": false"#,
        ),
        (
            "max_concurrency",
            json!(9),
            r#""concurrency": 9"#,
            r#""concurrency": 9"#,
        ),
        (
            "depends_on",
            json!(["x", "y"]),
            r#""after": ["x", "y"]"#,
            r#""dependsOn": [0]"#,
        ),
        (
            "depends_on",
            json!([3, 4]),
            r#""after": ["a"]"#,
            r#""dependsOn": [3, 4]"#,
        ),
        // Only values that the member can have are repeated.
        (
            "depends_on",
            json!(["x", 1]),
            r#""after": ["a"]"#,
            r#""dependsOn": [0]"#,
        ),
        (
            "depends_on",
            json!([1, "x"]),
            r#""after": ["a"]"#,
            r#""dependsOn": [0]"#,
        ),
        (
            "depends_on",
            json!([1, -1.5]),
            r#""after": ["a"]"#,
            r#""dependsOn": [0]"#,
        ),
        (
            "depends_on",
            json!([]),
            r#""after": ["a"]"#,
            r#""dependsOn": [0]"#,
        ),
        (
            "retries",
            json!("5"),
            r#""attempts": 3"#,
            r#""retryCount": 2"#,
        ),
        (
            "retries",
            json!(4_294_967_295_u32),
            r#""attempts": 3"#,
            r#""retryCount": 2"#,
        ),
        (
            "retries",
            json!(1_000_000_000),
            r#""attempts": 3"#,
            r#""retryCount": 2"#,
        ),
        (
            "maxAttempts",
            json!(0),
            r#""attempts": 3"#,
            r#""retryCount": 2"#,
        ),
        (
            "timeout_ms",
            json!(0),
            r#""timeout": "10s""#,
            r#""timeout": 10000"#,
        ),
        (
            "timeout_ms",
            json!(u64::MAX),
            r#""timeout": "10s""#,
            r#""timeout": 10000"#,
        ),
        (
            "backoff",
            json!("exponential"),
            r#""backoff": "200ms""#,
            r#""backoff": "200ms""#,
        ),
        (
            "default",
            json!({"x": 1}),
            r#""fallback": "none""#,
            r#""fallback": "none""#,
        ),
        (
            "max_concurrency",
            json!(0),
            r#""concurrency": 4"#,
            r#""concurrency": 4"#,
        ),
    ] {
        let helps = helps(name, &value);
        for (at, help) in helps.iter().enumerate() {
            let kept = if at == 2 { by_place } else { by_id };
            assert!(help.contains(kept), "{name}: {value}: {help}");
        }
    }
    // A number of parallel elements is no order, which lists and booleans mean.
    for (value, kept) in [(json!(6), "concurrency\": 6"), (json!(true), "after\": [")] {
        for text in &in_steps("parallel", &value)[..2] {
            let help = help(&Reader::new(), text, "parallel", Severity::Error);
            assert!(help.contains(kept), "{help}");
        }
    }
}
