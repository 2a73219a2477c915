//! Correct documents that are similar to the wrong ones in the other tables.

use crate::reading::{action_plan, blueprint, blueprint_step, of, say, tool_plan, whole};
use plan_runtime::dynamic::{Dialect, Profile};

/// Correct documents that are similar to the wrong ones above.
#[test]
fn what_is_right() {
    say(
        &of(Dialect::ToolPlan),
        whole,
        &[
            (
                r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "$ref:a", "y": "$ref:a.b.0[1][*].*[\"odd key\"]", "z": "$ref:[\"a\"].x", "l": "$ref:\"$ref:a\"", "t": "costs $5", "n": [1.5, null, true]}}
], "output_steps": ["b"]}"#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: a
    y: a.b[0][1][..][..]["odd key"]
    z: a.x
    l: "$ref:a"
    t: "costs $5"
    n: [1.5, null, true]
    // needs a

  output { b: b }
"#,
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "{\"x\": \"$ref:a.y\"}"}
]}"#,
                "plan plan

  step a = t
    // starts at once

  step b = t
    x: a.y
    // needs a

  output { a: a, b: b }
",
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "$ref:a"}
]}"#,
                "plan plan

  step a = t
    // starts at once

  step b = t
    a
    // needs a

  output { a: a, b: b }
",
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "\"$ref:a\""}
]}"#,
                "plan plan

  step a = t
    // starts at once

  step b = t
    a
    // needs a

  output { a: a, b: b }
",
            ),
            (
                r#"{"name": "n", "steps": [{"id": "a", "tool": "t", "intent": "Why."}], "output": "$ref:a.x", "output_type": "u8"}"#,
                "plan n -> u8

  step a = t  // Why.
    // starts at once

  output a.x
",
            ),
        ],
    );
    say(
        &of(Dialect::Blueprint),
        whole,
        &[
            (
                r#"{"requestId": "r", "steps": [
  {"tool": "t", "params": {}},
  {"tool": "t", "params": {"x": "${step[0].data.b}", "y": "at ${step[0].result[0].c}!", "l": "${\"${step}\"}"}}
]}"#,
                r#"plan r

  step step0 = t
    // starts at once

  step step1 = t
    x: step0.b
    y: format!("at {}!", step0[0].c)
    l: "${step}"
    // needs step0

  output { step0: step0, step1: step1 }
"#,
            ),
            (
                r#"[{"tool": "t", "params": {}}]"#,
                "plan plan

  step step0 = t
    // starts at once

  output { step0: step0 }
",
            ),
        ],
    );
    say(
        &of(Dialect::Blueprint),
        blueprint_step,
        &[(
            r#""dependsOn": [0], "optional": true, "retryCount": 2, "timeout": 500, "parallel": false"#,
            r#"plan r

  step step0 = t
    // starts at once

  #[retry(3)]
  #[timeout("500ms")]
  #[optional]
  step step1 = t
    // needs step0
    // after step0

  output { step0: step0, step1: step1 }
"#,
        )],
    );
    say(
        &of(Dialect::ActionPlan),
        whole,
        &[
            (
                r#"[
  {"id": "a", "tool": "t", "arguments": {}},
  {"id": "b", "tool": "t", "arguments": {"x": "{{a.result}}", "y": "at {{a.result[0].c}}, {{PLACEHOLDER_q}}", "l": "{{\"{{ name }}\"}}", "s": "{a: 1}"}}
]"#,
                r#"plan plan
  input q: String

  step a = t
    // starts at once

  step b = t
    x: a
    y: format!("at {}, {}", a[0].c, q)
    l: "{{ name }}"
    s: "{a: 1}"
    // needs a

  output { a: a, b: b }
"#,
            ),
            (
                r#"{"plan": [{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_q}}"}}], "inputs": [{"name": "q", "type": "u8", "description": "How many."}]}"#,
                "plan plan
  input q: u8  // How many.

  step a = t
    x: q
    // starts at once

  output { a: a }
",
            ),
        ],
    );
    say(
        &of(Dialect::ToolPlan).profile(Profile::Compat),
        tool_plan,
        &[(
            "$ref:a.b",
            r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: a.pointer("/b")
    // needs a

  output { a: a, b: b }
"#,
        )],
    );
    say(
        &of(Dialect::Blueprint).profile(Profile::Compat),
        blueprint,
        &[(
            "${step[0].data.b}",
            r#"plan r

  step step0 = t
    // starts at once

  step step1 = t
    x: step0.b
    // needs step0

  output { step0: step0, step1: step1 }
"#,
        )],
    );
    say(
        &of(Dialect::ActionPlan).profile(Profile::Compat),
        action_plan,
        &[
            (
                "{{a.result.b}}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: a.pointer("/b").unwrap_or("{{a.result.b}}")
    // needs a

  output { a: a, b: b }
"#,
            ),
            (
                "{{PLACEHOLDER_q}}",
                r#"plan plan
  input q: Option<String>

  step a = t
    // starts at once

  step b = t
    x: q?.unwrap_or("{{PLACEHOLDER_q}}")
    // starts at once

  output { a: a, b: b }
"#,
            ),
        ],
    );
}
