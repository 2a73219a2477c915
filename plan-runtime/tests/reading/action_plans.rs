//! Members of action plans and of their steps.

use crate::reading::{action_plan, of, said, say, whole};
use plan_runtime::dynamic::{Dialect, Profile, Reader};

#[test]
fn action_plans() {
    let reader = of(Dialect::ActionPlan);
    say(
        &reader,
        whole,
        &[
            (
                "{}",
                "error[missing-member]: the plan has no steps
  --> 1:1
   = help: an action plan is a list of steps, or an object with that list as its `plan`
",
            ),
            (
                r#"{"plan": 1}"#,
                "error[wrong-kind]: `plan` is `1`, but must be a list
  --> 1:10
",
            ),
            (
                "[1]",
                "error[wrong-kind]: a step is `1`, but must be an object
  --> 1:2
",
            ),
            (
                r#"[{"tool": "t"}]"#,
                r#"error[missing-member]: the step has no `id`
  --> 1:2
   = help: give it a name that references can use: `"id": "find_john"`
"#,
            ),
            (
                r#"{"plan": [{"id": "a", "tool": "t"}], "inputs": [{"name": ""}, {"name": "x", "typ": "u8"}, {"name": "x"}, 1]}"#,
                "error[empty-name]: the input has no name
  --> 1:49

error[unknown-member]: unknown member `typ` in an input
  --> 1:77
   = help: did you mean `type`?

error[duplicate-id]: two inputs have the name `x`
  --> 1:91

error[wrong-kind]: an input is `1`, but must be an object
  --> 1:106
",
            ),
            (
                r#"{"plan": [{"id": "a", "tool": "t"}], "inputs": {}}"#,
                "error[wrong-kind]: `inputs` is an object, but must be a list
  --> 1:48
",
            ),
        ],
    );
}

#[test]
fn compat_action_plans() {
    let reader = of(Dialect::ActionPlan).profile(Profile::Compat);
    say(
        &reader,
        action_plan,
        &[
            (
                "{{ a.result }}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "{{ a.result }}"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: a reference cannot contain spaces
  --> 3:48 in step `b`: the reader uses the string as text
   = help: did you mean `{{a.result}}`? To keep the text, write `{{"{{ a.result }}"}}`
"#,
            ),
            (
                "{{c.result}} and {{a.result}}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: format!("{{{{c.result}}}} and {}", a)
    // needs a

  output { a: a, b: b }

warning[unknown-step]: there is no step `c`
  --> 3:48 in step `b`: the reader uses the string as text
"#,
            ),
            (
                "{{a.x}}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: a.pointer("/x").unwrap_or("{{a.x}}")
    // needs a

  output { a: a, b: b }
"#,
            ),
            (
                "{{c.x}}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "{{c.x}}"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: `{{c.x}}` has no `.result` after `c`
  --> 3:48 in step `b`: the reader uses the string as text
   = help: did you mean `{{c.result.x}}`? To keep the text, write `{{"{{c.x}}"}}`
"#,
            ),
            (
                "{a.result.x}",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "{a.result.x}"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: a reference is written in double braces
  --> 3:48 in step `b`: the reader uses the string as text
   = help: did you mean `{{a.result.x}}`?
"#,
            ),
        ],
    );
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
    assert_eq!(said(&Reader::new(), declared), expected("1:13", ""));
    let neighbor = used.replace("PLACEHOLDER_a", "PLACEHOLDER_b");
    assert!(Reader::new().read(&neighbor).is_ok());
}
