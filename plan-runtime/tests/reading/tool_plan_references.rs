//! References in the strings of tool plans.

use crate::reading::{of, say, tool_plan, whole};
use plan_runtime::dynamic::{Dialect, Reader};

#[test]
fn references_of_tool_plans() {
    let reader = of(Dialect::ToolPlan);
    say(
        &reader,
        tool_plan,
        &[
            (
                "$ref: a",
                "error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
            ),
            (
                "$ref:名前.email",
                "error[malformed-reference]: `名` is valid only in a name in quotes
  --> 3:53 in step `b`
   = help: did you mean `$ref:[\"名前\"].email`?
",
            ),
            (
                "$ref:.x",
                "error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 3:48 in step `b`
   = help: a reference is `$ref:id`, or `$ref:id.field`
",
            ),
            (
                "$ref:",
                "error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 3:48 in step `b`
   = help: a reference is `$ref:id`, or `$ref:id.field`
",
            ),
            (
                "$ref: ",
                "error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 3:48 in step `b`
   = help: a reference is `$ref:id`, or `$ref:id.field`
",
            ),
            (
                "$Ref:a",
                "error[malformed-reference]: the reference has a wrong form
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
            ),
            (
                "$refs:a",
                "error[malformed-reference]: the reference has a wrong form
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
            ),
            (
                "  $ref:a",
                "error[malformed-reference]: the reference has a wrong form
  --> 3:50 in step `b`
   = help: did you mean `$ref:a`?
",
            ),
            (
                "see $ref:a.b",
                r#"error[malformed-reference]: a `$ref:` is not a reference inside a longer text
  --> 3:52 in step `b`
   = help: use a tool to join the parts, or, if this is not a reference, write `$ref:"see $ref:a.b"`
"#,
            ),
            (
                "$ref:a b",
                "error[malformed-reference]: a reference cannot contain a space
  --> 3:54 in step `b`
   = help: a `$ref:` must be the whole string: no text can follow it
",
            ),
            (
                "$ref:a!",
                "error[malformed-reference]: `!` cannot be part of a reference
  --> 3:54 in step `b`
   = help: a `$ref:` must be the whole string: no text can follow it
",
            ),
            (
                "$ref:step-1",
                r#"error[malformed-reference]: `-` is valid only in a name in quotes
  --> 3:57 in step `b`
   = help: did you mean `$ref:["step-1"]`?
"#,
            ),
            (
                "$ref:a.x-y",
                r#"error[malformed-reference]: `-` is valid only in a name in quotes
  --> 3:56 in step `b`
   = help: did you mean `$ref:a["x-y"]`?
"#,
            ),
            (
                "$ref:a.",
                r#"error[malformed-reference]: expected a name after the dot
  --> 3:54 in step `b`
   = help: write an empty key as `[""]`
"#,
            ),
            (
                "$ref:a[",
                "error[malformed-reference]: the bracket `[` is not closed
  --> 3:54 in step `b`
",
            ),
            (
                "$ref:a[x]",
                r#"error[malformed-reference]: `[x]` is neither an index nor a key
  --> 3:54 in step `b`
   = help: write a key in quotes: `["x"]`
"#,
            ),
            (
                "$ref:a['x']",
                r#"error[malformed-reference]: `['x']` is neither an index nor a key
  --> 3:54 in step `b`
   = help: write the key as a string of JSON: `["x"]`
"#,
            ),
            (
                "$ref:a[-1]",
                "error[malformed-reference]: `[-1]` is neither an index nor a key
  --> 3:54 in step `b`
   = help: an index counts from the start of the list: `[0]` is its first element
",
            ),
            (
                "$ref:a[01]",
                "error[malformed-reference]: `[01]` is neither an index nor a key
  --> 3:54 in step `b`
   = help: write an index without leading zeros, `[1]`, and a key in quotes
",
            ),
            (
                r#"$ref:"x"#,
                r#"error[malformed-reference]: the text after `$ref:` is not a JSON string
  --> 3:53 in step `b`
   = help: to keep the text, write `$ref:"$ref:\"x"`
"#,
            ),
            (
                "$a.b",
                "error[malformed-reference]: the reference has a wrong form
  --> 3:48 in step `b`
   = help: did you mean `$ref:a.b`?
",
            ),
            (
                "ref:a",
                "error[malformed-reference]: the reference has a wrong form
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
            ),
            (
                "$ref:c",
                "error[unknown-step]: there is no step `c`
  --> 3:53 in step `b`
   = help: the steps are `a`, `b`
",
            ),
            (
                "$ref:aa.x",
                "error[unknown-step]: there is no step `aa`
  --> 3:53 in step `b`
   = help: the steps are `a`, `b`
",
            ),
            (
                "${step[0].data}",
                r#"error[mixed-dialects]: this is a reference of a step blueprint (`${step[0]…}`), but the document is a tool plan (`$ref:`)
  --> 3:48 in step `b`
   = note: 3:28: this is a tool plan (`$ref:`)
   = help: write the reference as `$ref:a`; to keep the text, write `$ref:"${step[0].data}"`
"#,
            ),
            (
                "{{a.result}}",
                r#"error[mixed-dialects]: this is a reference of an action plan (`{{…}}`), but the document is a tool plan (`$ref:`)
  --> 3:48 in step `b`
   = note: 3:28: this is a tool plan (`$ref:`)
   = help: write the reference as `$ref:a`; to keep the text, write `$ref:"{{a.result}}"`
"#,
            ),
        ],
    );
    say(
        &reader,
        whole,
        &[(
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"$ref:a": 1}}
]}"#,
            "error[malformed-reference]: a reference cannot be the name of a member
  --> 3:42 in step `b`
   = help: use a tool to build the object, or write a name that is known
",
        )],
    );
}

/// Reading a document full of errors is not slower than reading a correct one.
#[test]
fn many_unknown_steps_are_said_without_many_searches() {
    let step = |index| {
        format!(
            r#"{{"id": "step_number_{index}", "tool": "t", "arguments": {{"x": "$ref:step_numbr_{index}"}}}}"#
        )
    };
    let steps: Vec<String> = (0..2000).map(step).collect();
    let findings = Reader::new()
        .read(&format!(r#"{{"steps": [{}]}}"#, steps.join(", ")))
        .unwrap_err();
    // The last finding contains the number of the omitted ones.
    assert_eq!(findings.len(), 257);
    let helped = findings.iter().filter(|it| it.help.is_some()).count();
    assert_eq!(helped, 32 + 1);
}
