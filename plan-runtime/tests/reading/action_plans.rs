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
    let expected = |place: &str| {
        format!(
            "error[duplicate-id]: the step `a` has the name of an input\n  --> {place} in step `a`\n   \
             = help: rename one of the two names, because a reference could mean both\n"
        )
    };
    let used = r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_a}}"}}]"#;
    assert_eq!(said(&Reader::new(), used), expected("1:9"));
    let declared = r#"{"inputs": [{"name": "a"}], "plan": [{"id": "a", "tool": "t"}]}"#;
    assert_eq!(said(&Reader::new(), declared), expected("1:45"));
    let neighbor = used.replace("PLACEHOLDER_a", "PLACEHOLDER_b");
    assert!(Reader::new().read(&neighbor).is_ok());
}
