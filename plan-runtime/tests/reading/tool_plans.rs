//! Members of tool plans and of their steps.

use crate::reading::{arguments, of, say, tool_plan, whole};
use plan_runtime::dynamic::{Dialect, Profile};

#[test]
fn tool_plans() {
    let reader = of(Dialect::ToolPlan);
    say(
        &reader,
        whole,
        &[
            (
                "[]",
                "error[wrong-kind]: a tool plan is a list, but must be an object
  --> 1:1
",
            ),
            (
                "{}",
                "error[missing-member]: the plan has no `steps`
  --> 1:1
",
            ),
            (
                r#"{"steps": {}}"#,
                "error[wrong-kind]: `steps` is an object, but must be a list
  --> 1:11
",
            ),
            (
                r#"{"steps": [1]}"#,
                "error[wrong-kind]: a step is `1`, but must be an object
  --> 1:12
",
            ),
            (
                r#"{"steps": [{"tool": "t"}]}"#,
                r#"error[missing-member]: the step has no `id`
  --> 1:12
   = help: give it a name that references can use: `"id": "find_john"`
"#,
            ),
            (
                r#"{"steps": [{"id": 1, "tool": "t"}]}"#,
                "error[wrong-kind]: the id of a step is `1`, but must be a string
  --> 1:19
   = help: write it in quotes: `\"1\"`
",
            ),
            (
                r#"{"steps": [{"id": " ", "tool": "t"}]}"#,
                "error[empty-name]: the id of the step is empty
  --> 1:19
   = help: references and reports name the step by its id
",
            ),
            (
                r#"{"steps": [{"id": "a"}]}"#,
                "error[missing-member]: the step names no `tool`
  --> 1:12 in step `a`
   = help: name the tool: `\"tool\": \"send\"`
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": ["t"]}]}"#,
                "error[wrong-kind]: the tool of a step is a list, but must be a string
  --> 1:32 in step `a`
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": ""}]}"#,
                "error[empty-name]: the name of the tool is empty
  --> 1:32 in step `a`
   = help: write the name of the tool that the step calls
",
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "a", "tool": "t", "arguments": {}}
]}"#,
                "error[duplicate-id]: two steps have the id `a`
  --> 3:10
   = note: 2:10: the first one is here
   = help: give one of the two steps another id, because a reference could mean both
",
            ),
        ],
    );
    say(
        &reader,
        arguments,
        &[
            (
                "1",
                "error[wrong-kind]: `arguments` is `1`, but must be an object
  --> 3:41 in step `b`
   = help: write an object with the names of the arguments, or one reference to an object
",
            ),
            (
                "[]",
                "error[wrong-kind]: `arguments` is a list, but must be an object
  --> 3:41 in step `b`
   = help: write an object with the names of the arguments, or one reference to an object
",
            ),
            (
                r#""x""#,
                "error[invalid-json]: the string is not JSON: expected a value, found `x`
  --> 3:42 in step `b`
   = help: write the arguments as an object, or as a string with the JSON of an object
",
            ),
            (
                r#""{""#,
                "error[invalid-json]: the string is not JSON: the end is missing
  --> 3:43 in step `b`
   = help: was the document cut off?
",
            ),
            (
                r#""[1]""#,
                "error[wrong-kind]: `arguments` is a list, but must be an object
  --> 3:42 in step `b`
   = help: write an object with the names of the arguments, or one reference to an object
",
            ),
            (
                r#""{\"x\": \"$ref:c.y\"}""#,
                "error[unknown-step]: there is no step `c`
  --> 3:57 in step `b`
   = help: the steps are `a`, `b`
",
            ),
            (
                r#""\"$ref:c\"""#,
                "error[unknown-step]: there is no step `c`
  --> 3:49 in step `b`
   = help: the steps are `a`, `b`
",
            ),
            (
                r#"{"x": 1, "x": 2}"#,
                "error[duplicate-member]: duplicate member `x`
  --> 3:50 in step `b`
   = note: 3:42: the first one is here
   = help: only one of them can be used: remove the other
",
            ),
            (
                r#"{"x": 1e999}"#,
                "error[inexact-number]: the number 1e999 cannot be represented exactly
  --> 3:47 in step `b`
   = help: write it as a string, if the tool takes one
",
            ),
            (
                r#"{"x": "\ud800"}"#,
                r#"error[invalid-json]: the string contains half of a surrogate pair, which is not valid text
  --> 3:47 in step `b`
   = help: a character beyond U+FFFF is two escapes: `\ud83d\ude00`
"#,
            ),
            (
                r#"{"\ud800": 1}"#,
                r#"error[invalid-json]: the string contains half of a surrogate pair, which is not valid text
  --> 3:42 in step `b`
   = help: a character beyond U+FFFF is two escapes: `\ud83d\ude00`
"#,
            ),
        ],
    );
    say(&reader, whole, &[
        (
            r#"{"steps": [{"id": "a", "tool": "t", "params": {}}]}"#,
            "error[mixed-dialects]: the arguments of a step are its `arguments`, since the document is a tool plan (`$ref:`)
  --> 1:37 in step `a`
   = help: call it `arguments`, as in the other steps
",
        ),
        (
            r#"{"steps": [{"id": "a", "tool": "t", "argument": {}, "x": 1}], "output_step": []}"#,
            "error[unknown-member]: unknown member `argument` in a step
  --> 1:37 in step `a`
   = help: did you mean `arguments`?

error[unknown-member]: unknown member `x` in a step
  --> 1:53 in step `a`
   = help: the members of a step are `id`, `tool`, `arguments`, `intent`, `tool_description`, `value`, `if`, `for`, `block`, `loop`, `await`, `undo`, `always`, `after`, `policy`

error[unknown-member]: unknown member `output_step` in a tool plan
  --> 1:63
   = help: did you mean `output_steps`?
",
        ),
        (
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {}}
], "output_steps": "a"}"#,
            "error[wrong-kind]: `output_steps` is a string, but must be a list
  --> 4:20
   = help: put the value in a list: `[\"a\"]`
",
        ),
        (
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {}}
], "output_steps": ["c", 1, "a", "a"]}"#,
            "error[unknown-step]: there is no step `c`
  --> 4:21
   = help: the steps are `a`, `b`

error[wrong-kind]: an output step is `1`, but must be a string
  --> 4:26
   = help: write it in quotes: `\"1\"`

warning[duplicate-member]: `a` is listed twice
  --> 4:34
   = help: remove the second entry
",
        ),
        (
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {}}
], "output": {"x": "$ref:c"}}"#,
            "error[unknown-step]: there is no step `c`
  --> 4:26
   = help: the steps are `a`, `b`
",
        ),
    ]);
    say(
        &reader,
        arguments,
        &[(
            r#"{"x": "$ref:b"}"#,
            "error[cycle]: step `b` waits for itself
  --> 3:47 in step `b`: `b` needs `b`
   = help: remove one of these references, or use a value that does not depend on the step
",
        )],
    );
    say(
        &reader,
        whole,
        &[
            (
                r#"{"steps": [
  {"id": "a", "tool": "t", "arguments": {"y": "$ref:b.z"}},
  {"id": "b", "tool": "t", "arguments": {"x": "$ref:b"}}
]}"#,
                "error[cycle]: step `b` waits for itself
  --> 3:47 in step `b`: `b` needs `b`
   = help: remove one of these references, or use a value that does not depend on the step
",
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t", "arguments": "{\"y\": \"$ref:b.z\"}"},
  {"id": "b", "tool": "t", "arguments": {"x": "$ref:b"}}
]}"#,
                "error[cycle]: step `b` waits for itself
  --> 3:47 in step `b`: `b` needs `b`
   = help: remove one of these references, or use a value that does not depend on the step
",
            ),
            (
                r#"{"name": 1, "steps": [{"id": "a", "tool": "t", "intent": 2, "tool_description": 3}], "description": [], "output_type": {}}"#,
                "error[wrong-kind]: the name of a plan is `1`, but must be a string
  --> 1:10
   = help: write it in quotes: `\"1\"`

error[wrong-kind]: the intent of a step is `2`, but must be a string
  --> 1:58 in step `a`
   = help: write it in quotes: `\"2\"`

error[wrong-kind]: the description of a tool is `3`, but must be a string
  --> 1:81 in step `a`
   = help: write it in quotes: `\"3\"`

error[wrong-kind]: the description of a plan is a list, but must be a string
  --> 1:101

error[wrong-kind]: the type of the output is an object, but must be a string
  --> 1:120
",
            ),
        ],
    );
}

#[test]
fn compat_tool_plans() {
    let reader = of(Dialect::ToolPlan).profile(Profile::Compat);
    say(
        &reader,
        tool_plan,
        &[
            (
                "$ref: a",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "$ref: a"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: the id of a step is missing after `$ref:`
  --> 3:48 in step `b`: the reader uses the string as text
   = help: did you mean `$ref:a`?
"#,
            ),
            (
                "see $ref:a",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "see $ref:a"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: a `$ref:` is not a reference inside a longer text
  --> 3:52 in step `b`: the reader uses the string as text
   = help: use a tool to join the parts, or, if this is not a reference, write `$ref:"see $ref:a"`
"#,
            ),
            (
                "$ref:a!",
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    x: "$ref:a!"
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: `!` cannot be part of a reference
  --> 3:54 in step `b`: the reader uses the string as text
   = help: a `$ref:` must be the whole string: no text can follow it
"#,
            ),
            (
                "$ref:c",
                "error[unknown-step]: there is no step `c`
  --> 3:53 in step `b`
   = help: the steps are `a`, `b`
",
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
            r#"plan plan

  step a = t
    // starts at once

  step b = t
    "$ref:a": 1
    // starts at once

  output { a: a, b: b }

warning[malformed-reference]: a reference cannot be the name of a member
  --> 3:42 in step `b`: the reader uses the string as text
   = help: use a tool to build the object, or write a name that is known
"#,
        )],
    );
}
