//! Members of action plans and of their steps.

use crate::reading::{action_plan, of, said, say};
use plan_runtime::dynamic::{Dialect, Profile, Reader};

#[test]
fn a_missing_part_remains_as_text() {
    let reader = of(Dialect::ActionPlan).profile(Profile::Compat);
    let expected = r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: a.pointer("/x").unwrap_or("{{a.x}}")
    // needs a

  output { a: a, b: b }
"#;
    say(&reader, action_plan, &[("{{a.x}}", expected)]);
}

#[test]
fn inputs_with_the_names_of_steps() {
    let expected = |place: &str, step: &str| {
        format!(
            "error[duplicate-id]: the input `a` has the name of a step\n  --> {place}{step}\n   \
             = note: 1:{}: the step is here\n   = help: give one of them another name\n",
            if step.is_empty() { 45 } else { 9 }
        )
    };
    let used = r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_a}}"}}]"#;
    assert_eq!(said(&Reader::new(), used), expected("1:49", " in step `a`"));
    let declared = r#"{"inputs": [{"name": "a"}], "plan": [{"id": "a", "tool": "t"}]}"#;
    assert_eq!(said(&Reader::new(), declared), expected("1:22", ""));
    let neighbor = used.replace("PLACEHOLDER_a", "PLACEHOLDER_b");
    assert!(Reader::new().read(&neighbor).is_ok());
}
