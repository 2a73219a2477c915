//! The three dialects with references in strings: what is said of each mistake, and what is read next to it.

use plan_runtime::dynamic::{Dialect, Limits, Profile, Reader};
use serde_json::Value;
fn of(dialect: Dialect) -> Reader<'static> {
    Reader::new().dialect(dialect)
}

/// All that is said of a document; of one that is read, the plan and the warnings.
fn said(reader: &Reader, document: &str) -> String {
    match reader.read(document) {
        Ok(document) if document.warnings().is_empty() => document.plan().to_string(),
        Ok(document) => format!("{}\n{}", document.plan(), document.warnings()),
        Err(findings) => findings.to_string(),
    }
}

#[track_caller]
fn say(reader: &Reader, document: fn(&str) -> String, parts: &[(&str, &str)]) {
    for (part, expected) in parts {
        let document = document(part);
        assert_eq!(said(reader, &document), *expected, "of {document}");
    }
}

fn whole(document: &str) -> String {
    document.to_owned()
}

/// The arguments of a step `b` after a step `a`.
fn arguments(json: &str) -> String {
    format!(
        r#"{{"steps": [
  {{"id": "a", "tool": "t"}},
  {{"id": "b", "tool": "t", "arguments": {json}}}
]}}"#
    )
}

/// A string as the argument `x` of that step.
fn tool_plan(text: &str) -> String {
    arguments(&format!(r#"{{"x": {}}}"#, Value::from(text)))
}

fn blueprint(text: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [
  {{"tool": "t", "params": {{}}}},
  {{"tool": "t", "params": {{"x": {}}}}}
]}}"#,
        Value::from(text)
    )
}

fn action_plan(text: &str) -> String {
    format!(
        r#"[
  {{"id": "a", "tool": "t", "arguments": {{}}}},
  {{"id": "b", "tool": "t", "arguments": {{"x": {}}}}}
]"#,
        Value::from(text)
    )
}

/// Members of the second of two steps.
fn blueprint_step(members: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [
  {{"tool": "t"}},
  {{"tool": "t", {members}}}
]}}"#
    )
}

#[test]
fn references_of_tool_plans() {
    let reader = of(Dialect::ToolPlan);
    say(&reader, tool_plan, &[
        (
            "$ref: a",
            "error[malformed-reference]: the id of a step is missing behind `$ref:`
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
        ),
        (
            "$ref:",
            "error[malformed-reference]: the id of a step is missing behind `$ref:`
  --> 3:48 in step `b`
   = help: a reference is `$ref:id`, or `$ref:id.field`
",
        ),
        (
            "$ref: ",
            "error[malformed-reference]: the id of a step is missing behind `$ref:`
  --> 3:48 in step `b`
   = help: a reference is `$ref:id`, or `$ref:id.field`
",
        ),
        (
            "$Ref:a",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
        ),
        (
            "$refs:a",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:48 in step `b`
   = help: did you mean `$ref:a`?
",
        ),
        (
            "  $ref:a",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:50 in step `b`
   = help: did you mean `$ref:a`?
",
        ),
        (
            "see $ref:a.b",
            r#"error[malformed-reference]: a `$ref:` is not read inside a longer text
  --> 3:52 in step `b`
   = help: let a tool join the parts, or, if this is no reference, write `$ref:"see $ref:a.b"`
"#,
        ),
        (
            "$ref:a b",
            "error[malformed-reference]: a space is no part of a reference
  --> 3:54 in step `b`
   = help: a `$ref:` is the whole string: no text can stand behind it
",
        ),
        (
            "$ref:a!",
            "error[malformed-reference]: `!` is no part of a reference
  --> 3:54 in step `b`
   = help: a `$ref:` is the whole string: no text can stand behind it
",
        ),
        (
            "$ref:step-1",
            r#"error[malformed-reference]: `-` can only stand in a name in quotes
  --> 3:57 in step `b`
   = help: did you mean `$ref:["step-1"]`?
"#,
        ),
        (
            "$ref:a.x-y",
            r#"error[malformed-reference]: `-` can only stand in a name in quotes
  --> 3:56 in step `b`
   = help: did you mean `$ref:a["x-y"]`?
"#,
        ),
        (
            "$ref:a.",
            r#"error[malformed-reference]: a name is missing behind the dot
  --> 3:54 in step `b`
   = help: a key that is empty is `[""]`
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
   = help: a key stands in quotes: `["x"]`
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
            r#"error[malformed-reference]: what follows `$ref:` is no string of JSON
  --> 3:53 in step `b`
   = help: the text as it is would be `$ref:"$ref:\"x"`
"#,
        ),
        (
            "$a.b",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:48 in step `b`
   = help: did you mean `$ref:a.b`?
",
        ),
        (
            "ref:a",
            "error[malformed-reference]: this is not how a reference is written
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
            "error[mixed-dialects]: this reference is one of a step blueprint (`${step[0]…}`), but the document is a tool plan (`$ref:`)
  --> 3:48 in step `b`
   = note: 3:28: this is a tool plan (`$ref:`)
",
        ),
        (
            "{{a.result}}",
            "error[mixed-dialects]: this reference is one of an action plan (`{{…}}`), but the document is a tool plan (`$ref:`)
  --> 3:48 in step `b`
   = note: 3:28: this is a tool plan (`$ref:`)
",
        ),
    ]);
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
   = help: let a tool build the object, or write a name that is known
",
        )],
    );
}

#[test]
fn references_of_blueprints() {
    let reader = of(Dialect::Blueprint);
    say(&reader, blueprint, &[
        (
            "${steps[0].data.x}",
            "error[malformed-reference]: `${steps[0].data.x}` is no reference to a step
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "${step[0].x}",
            "error[malformed-reference]: `${step[0].x}` does not say that it reads the step's output
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "${step[0]}",
            "error[malformed-reference]: `${step[0]}` does not say that it reads the step's output
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "${step[0].data.x",
            "error[malformed-reference]: the reference is not closed with `}`
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "${step[0].data x}",
            r#"error[malformed-reference]: a space is no part of a reference
  --> 3:34 in step `step1`
   = help: a key with such signs stands in quotes: `["odd key"]`
"#,
        ),
        (
            "${step[5].data}",
            "error[step-out-of-range]: there is no step[5]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
",
        ),
        (
            "${step[1].data}",
            "error[later-step]: step[1] refers to itself
  --> 3:36 in step `step1`
   = help: the steps of a blueprint run in their order: a step can use those before it
",
        ),
        (
            "${step[x].data}",
            r#"error[malformed-reference]: `${step[x].data}` is no reference to a step
  --> 3:34 in step `step1`
   = help: a reference is `${step[0].data…}`; this text as it is would be `${"${step[x].data}"}`
"#,
        ),
        (
            "${ step[0].data }",
            "error[malformed-reference]: `${ step[0].data }` is no reference to a step
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "$step[0].data",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "{step[0].data.x}",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "$(step[0].data)",
            "error[malformed-reference]: this is not how a reference is written
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "${name}",
            r#"error[malformed-reference]: `${name}` is no reference to a step
  --> 3:34 in step `step1`
   = help: a reference is `${step[0].data…}`; this text as it is would be `${"${name}"}`
"#,
        ),
        (
            r#"${"x}"#,
            "error[malformed-reference]: this is neither a reference nor a string of JSON
  --> 3:34 in step `step1`
",
        ),
        (
            "${step[0].data[a]}",
            r#"error[malformed-reference]: `[a]` is neither an index nor a key
  --> 3:48 in step `step1`
   = help: a key stands in quotes: `["a"]`
"#,
        ),
        (
            "$ref:step0",
            "error[mixed-dialects]: this reference is one of a tool plan (`$ref:`), but the document is a step blueprint (`${step[0]…}`)
  --> 3:34 in step `step1`
   = note: 2:17: this is a step blueprint (`${step[0]…}`)
",
        ),
        (
            "{{step0.result}}",
            "error[mixed-dialects]: this reference is one of an action plan (`{{…}}`), but the document is a step blueprint (`${step[0]…}`)
  --> 3:34 in step `step1`
   = note: 2:17: this is a step blueprint (`${step[0]…}`)
",
        ),
    ]);
    say(&reader, whole, &[
        (
            r#"{"requestId": "r", "steps": [
  {"tool": "t", "params": {}},
  {"tool": "t", "params": {"${step[0].data}": 1}}
]}"#,
            "error[malformed-reference]: a reference cannot be the name of a member
  --> 3:28 in step `step1`
   = help: let a tool build the object, or write a name that is known
",
        ),
        (
            r#"{"requestId": "r", "steps": [
  {"tool": "t"},
  {"tool": "t", "params": {"x": "${step[2].data}"}}
]}"#,
            "error[step-out-of-range]: there is no step[2]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
",
        ),
    ]);
}

#[test]
fn references_of_action_plans() {
    let reader = of(Dialect::ActionPlan);
    say(&reader, action_plan, &[
        (
            "{{ a.result }}",
            r#"error[malformed-reference]: a reference has no spaces in it
  --> 3:48 in step `b`
   = help: did you mean `{{a.result}}`? This text as it is would be `{{"{{ a.result }}"}}`
"#,
        ),
        (
            "{{a.result.x}",
            "error[malformed-reference]: the reference is not closed with `}}`
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`?
",
        ),
        (
            "{{a.result.x",
            "error[malformed-reference]: the reference is not closed with `}}`
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`?
",
        ),
        (
            "{a.result.x}",
            "error[malformed-reference]: a reference stands in two braces
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`?
",
        ),
        (
            "{{a.x}}",
            r#"error[malformed-reference]: `{{a.x}}` does not say that it reads the step's output
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`? This text as it is would be `{{"{{a.x}}"}}`
"#,
        ),
        (
            "{{a}}",
            r#"error[malformed-reference]: `{{a}}` does not say that it reads the step's output
  --> 3:48 in step `b`
   = help: did you mean `{{a.result}}`? This text as it is would be `{{"{{a}}"}}`
"#,
        ),
        (
            "{{}}",
            r#"error[malformed-reference]: the id of a step is missing
  --> 3:48 in step `b`
   = help: a reference is `{{id.result…}}`; this text as it is would be `{{"{{}}"}}`
"#,
        ),
        (
            "{{a.result x}}",
            r#"error[malformed-reference]: a space is no part of a reference
  --> 3:48 in step `b`
   = help: a reference is `{{id.result…}}`; this text as it is would be `{{"{{a.result x}}"}}`
"#,
        ),
        (
            "{{c.result}}",
            r#"error[unknown-step]: there is no step `c`
  --> 3:50 in step `b`
   = help: if this is no reference, write `{{"{{c.result}}"}}`
"#,
        ),
        (
            "{{aa.result}}",
            r#"error[unknown-step]: there is no step `aa`
  --> 3:50 in step `b`
   = help: if this is no reference, write `{{"{{aa.result}}"}}`
"#,
        ),
        (
            "{{PLACEHOLDER_x.y}}",
            "error[malformed-reference]: an input is given as a whole, and has no path
  --> 3:63 in step `b`
   = help: write `{{PLACEHOLDER_x}}`
",
        ),
        (
            "{{PLACEHOLDER_}}",
            "error[malformed-reference]: the name of an input is missing behind `PLACEHOLDER_`
  --> 3:48 in step `b`
",
        ),
        (
            r#"{{"x}}"#,
            "error[malformed-reference]: this is neither a reference nor a string of JSON
  --> 3:48 in step `b`
",
        ),
        (
            "{{ name }}",
            r#"error[malformed-reference]: a reference has no spaces in it
  --> 3:48 in step `b`
   = help: this text as it is would be `{{"{{ name }}"}}`
"#,
        ),
        (
            "{{a.result[x]}}",
            r#"error[malformed-reference]: `[x]` is neither an index nor a key
  --> 3:58 in step `b`
   = help: a key stands in quotes: `["x"]`
"#,
        ),
        (
            "{{a.result.}}",
            r#"error[malformed-reference]: a name is missing behind the dot
  --> 3:58 in step `b`
   = help: a key that is empty is `[""]`
"#,
        ),
        (
            "to {{a.result.x} and {{a.result.y}}",
            "error[malformed-reference]: the reference is not closed with `}}`
  --> 3:51 in step `b`
   = help: did you mean `{{a.result.x}}`?
",
        ),
        (
            "{{name with spaces",
            r#"error[malformed-reference]: the reference is not closed with `}}`
  --> 3:48 in step `b`
   = help: this text as it is would be `{{"{{"}}`
"#,
        ),
        (
            "$ref:a",
            "error[mixed-dialects]: this reference is one of a tool plan (`$ref:`), but the document is an action plan (`{{…}}`)
  --> 3:48 in step `b`
   = note: 2:28: this is an action plan (`{{…}}`)
",
        ),
        (
            "${step[0].data}",
            "error[mixed-dialects]: this reference is one of a step blueprint (`${step[0]…}`), but the document is an action plan (`{{…}}`)
  --> 3:48 in step `b`
   = note: 2:28: this is an action plan (`{{…}}`)
",
        ),
    ]);
    say(
        &reader,
        whole,
        &[(
            r#"[
  {"id": "a", "tool": "t", "arguments": {}},
  {"id": "b", "tool": "t", "arguments": {"{{a.result}}": 1}}
]"#,
            "error[malformed-reference]: a reference cannot be the name of a member
  --> 3:42 in step `b`
   = help: let a tool build the object, or write a name that is known
",
        )],
    );
}

#[test]
fn documents() {
    let reader = Reader::new();
    say(
        &reader,
        whole,
        &[
            (
                "",
                "error[invalid-json]: this is no JSON: it ends too early
  --> 1:1
   = help: was the document cut off?
",
            ),
            (
                "{",
                "error[invalid-json]: this is no JSON: it ends too early
  --> 1:2
   = help: was the document cut off?
",
            ),
            (
                "[1, 2",
                "error[invalid-json]: this is no JSON: it ends too early
  --> 1:6
   = help: was the document cut off?
",
            ),
            (
                r#"{"steps": [],}"#,
                "error[invalid-json]: this is no JSON: nothing follows the comma
  --> 1:13
   = help: take the comma out
",
            ),
            (
                r#"{"steps": nul}"#,
                "error[invalid-json]: this is no JSON: its words are `true`, `false` and `null`
  --> 1:14
",
            ),
            (
                r#"{"a": 1} x"#,
                "error[invalid-json]: this is no JSON: nothing can follow behind the value
  --> 1:10
",
            ),
            (
                "hello",
                "error[invalid-json]: this is no JSON: a value has to stand here
  --> 1:1
",
            ),
            (
                r#"{"a": 1}"#,
                "error[unknown-dialect]: this is no plan in any dialect that is known
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                "3",
                "error[unknown-dialect]: this is no plan in any dialect that is known
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                r#""text""#,
                "error[unknown-dialect]: this is no plan in any dialect that is known
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                r#"{"steps": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:11
",
            ),
            (
                "[]",
                "error[no-steps]: the plan has no steps
  --> 1:1
",
            ),
            (
                r#"{"requestId": "r", "steps": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:29
",
            ),
            (
                r#"{"plan": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:10
",
            ),
            (
                r#"{"steps": 1, "requestId": "r"}"#,
                "error[wrong-kind]: `steps` is `1`, and has to be a list
  --> 1:11
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": "t"}], "steps": []}"#,
                "error[duplicate-member]: the member `steps` is there twice
  --> 1:39
   = note: 1:2: the first one is here
   = help: only one of them could be used: take one out
",
            ),
            (
                "```json
[]
```",
                "error[no-steps]: the plan has no steps
  --> 2:1
",
            ),
        ],
    );
}

#[test]
fn tool_plans() {
    let reader = of(Dialect::ToolPlan);
    say(
        &reader,
        whole,
        &[
            (
                "[]",
                "error[wrong-kind]: a tool plan is a list, and has to be an object
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
                "error[wrong-kind]: `steps` is an object, and has to be a list
  --> 1:11
",
            ),
            (
                r#"{"steps": [1]}"#,
                "error[wrong-kind]: a step is `1`, and has to be an object
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
                "error[wrong-kind]: the id of a step is `1`, and has to be a string
  --> 1:19
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
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": ["t"]}]}"#,
                "error[wrong-kind]: the tool of a step is a list, and has to be a string
  --> 1:32 in step `a`
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": ""}]}"#,
                "error[empty-name]: the name of the tool is empty
  --> 1:32 in step `a`
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
   = help: a reference could mean either: give one of them another id
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
                "error[wrong-kind]: `arguments` is `1`, and has to be an object
  --> 3:41 in step `b`
",
            ),
            (
                "[]",
                "error[wrong-kind]: `arguments` is a list, and has to be an object
  --> 3:41 in step `b`
",
            ),
            (
                r#""x""#,
                "error[invalid-json]: this is no JSON: a value has to stand here
  --> 3:41 in step `b`
   = help: the arguments are an object, or a string with the JSON text of one
",
            ),
            (
                r#""{""#,
                "error[invalid-json]: this is no JSON: it ends too early
  --> 3:41 in step `b`
   = help: the arguments are an object, or a string with the JSON text of one
",
            ),
            (
                r#""[1]""#,
                "error[wrong-kind]: `arguments` is a list, and has to be an object
  --> 3:42 in step `b`
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
                "error[duplicate-member]: the member `x` is there twice
  --> 3:50 in step `b`
   = note: 3:42: the first one is here
   = help: only one of them could be used: take one out
",
            ),
            (
                r#"{"x": 1e999}"#,
                "error[inexact-number]: the number 1e999 cannot be held exactly
  --> 3:47 in step `b`
   = help: write it as a string, if the tool takes one
",
            ),
            (
                r#"{"x": "\ud800"}"#,
                r#"error[invalid-json]: the string has half of a surrogate pair in it, which is no text
  --> 3:47 in step `b`
   = help: a sign beyond U+FFFF is two escapes: `\ud83d\ude00`
"#,
            ),
            (
                r#"{"\ud800": 1}"#,
                r#"error[invalid-json]: the string has half of a surrogate pair in it, which is no text
  --> 3:42 in step `b`
   = help: a sign beyond U+FFFF is two escapes: `\ud83d\ude00`
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
            "plan plan

  step a = t

  output { a: a }

warning[unknown-member]: nothing reads the member `argument` of a step
  --> 1:37 in step `a`
   = help: did you mean `arguments`?

warning[unknown-member]: nothing reads the member `x` of a step
  --> 1:53 in step `a`
   = help: a step has `id`, `tool`, `arguments`, `intent`, `tool_description`

warning[unknown-member]: nothing reads the member `output_step` of a tool plan
  --> 1:63
   = help: did you mean `output_steps`?
",
        ),
        (
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {}}
], "output_steps": "a"}"#,
            "error[wrong-kind]: `output_steps` is a string, and has to be a list
  --> 4:20
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

error[wrong-kind]: an output step is `1`, and has to be a string
  --> 4:26

warning[duplicate-member]: `a` is listed twice
  --> 4:34
   = help: its output is given once
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
   = help: take one of these references out, or have its value come from elsewhere
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
   = help: take one of these references out, or have its value come from elsewhere
",
            ),
            (
                r#"{"steps": [
  {"id": "a", "tool": "t", "arguments": "{\"y\": \"$ref:b.z\"}"},
  {"id": "b", "tool": "t", "arguments": {"x": "$ref:b"}}
]}"#,
                "error[cycle]: step `b` waits for itself
  --> 3:47 in step `b`: `b` needs `b`
   = help: take one of these references out, or have its value come from elsewhere
",
            ),
            (
                r#"{"name": 1, "steps": [{"id": "a", "tool": "t", "intent": 2, "tool_description": 3}], "description": [], "output_type": {}}"#,
                "error[wrong-kind]: the name of a plan is `1`, and has to be a string
  --> 1:10

error[wrong-kind]: the intent of a step is `2`, and has to be a string
  --> 1:58 in step `a`

error[wrong-kind]: the description of a tool is `3`, and has to be a string
  --> 1:81 in step `a`

error[wrong-kind]: the description of a plan is a list, and has to be a string
  --> 1:101

error[wrong-kind]: the type of the output is an object, and has to be a string
  --> 1:120
",
            ),
        ],
    );
}

#[test]
fn blueprints() {
    let reader = of(Dialect::Blueprint);
    say(
        &reader,
        whole,
        &[
            (
                "{}",
                "error[missing-member]: the plan has no `steps`
  --> 1:1
",
            ),
            (
                r#"{"requestId": 1, "steps": [{"tool": "t"}]}"#,
                "error[wrong-kind]: `requestId` is `1`, and has to be a string
  --> 1:15
",
            ),
        ],
    );
    say(&reader, blueprint_step, &[
        (
            r#""dependsOn": 0"#,
            "error[wrong-kind]: `dependsOn` is `0`, and has to be a list
  --> 3:30 in step `step1`
",
        ),
        (
            r#""dependsOn": [1, 2, "a", -1]"#,
            "error[later-step]: step[1] refers to itself
  --> 3:31 in step `step1`
   = help: the steps of a blueprint run in their order: a step can use those before it

error[step-out-of-range]: there is no step[2]: the plan has 2 steps, step[0] to step[1]
  --> 3:34 in step `step1`

error[wrong-kind]: a step to wait for is a string, and has to be the index of a step
  --> 3:37 in step `step1`

error[wrong-kind]: a step to wait for is `-1`, and has to be the index of a step
  --> 3:42 in step `step1`
",
        ),
        (
            r#""optional": "yes", "parallel": 1"#,
            "error[wrong-kind]: `optional` is a string, and has to be `true` or `false`
  --> 3:29 in step `step1`

error[wrong-kind]: `parallel` is `1`, and has to be `true` or `false`
  --> 3:48 in step `step1`
",
        ),
        (
            r#""retryCount": -1, "timeout": "10s""#,
            "error[wrong-kind]: `retryCount` is `-1`, and has to be a number of further attempts: 0, 1, 2, …
  --> 3:31 in step `step1`

error[wrong-kind]: `timeout` is a string, and has to be a number of milliseconds
  --> 3:46 in step `step1`
",
        ),
        (
            r#""timeout": 0"#,
            "error[wrong-kind]: `timeout` is `0`, and has to be more than 0 milliseconds
  --> 3:28 in step `step1`
   = help: leave it out where an attempt may take as long as it likes
",
        ),
        (
            r#""arguments": {}"#,
            "error[mixed-dialects]: the arguments of a step are its `params`, since the document is a step blueprint (`${step[0]…}`)
  --> 3:17 in step `step1`
   = help: call it `params`, as in the other steps
",
        ),
        (
            r#""depends_on": [0]"#,
            "plan r

  step step0 = t

  step step1 = t

  output { step0: step0, step1: step1 }

warning[unknown-member]: nothing reads the member `depends_on` of a step
  --> 3:17 in step `step1`
   = help: did you mean `dependsOn`?
",
        ),
    ]);
    say(
        &reader,
        whole,
        &[
            (
                r#"{"steps": [{"id": "a", "tool": "t", "params": {}}, {"id": "a", "tool": "t"}]}"#,
                "error[duplicate-id]: two steps have the id `a`
  --> 1:59
   = note: 1:19: the first one is here
   = help: a reference could mean either: give one of them another id
",
            ),
            (
                r#"{"steps": [{"params": {}}]}"#,
                "error[missing-member]: the step names no `tool`
  --> 1:12 in step `step0`
",
            ),
        ],
    );
}

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
                "error[wrong-kind]: `plan` is `1`, and has to be a list
  --> 1:10
",
            ),
            (
                "[1]",
                "error[wrong-kind]: a step is `1`, and has to be an object
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

warning[unknown-member]: nothing reads the member `typ` of an input
  --> 1:77
   = help: did you mean `type`?

error[duplicate-id]: two inputs have the name `x`
  --> 1:91

error[wrong-kind]: an input is `1`, and has to be an object
  --> 1:106
",
            ),
            (
                r#"{"plan": [{"id": "a", "tool": "t"}], "inputs": {}}"#,
                "error[wrong-kind]: `inputs` is an object, and has to be a list
  --> 1:48
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

  step b = t
    x: "$ref: a"

  output { a: a, b: b }

warning[malformed-reference]: the id of a step is missing behind `$ref:`
  --> 3:48 in step `b`: it stays as it is
   = help: did you mean `$ref:a`?
"#,
            ),
            (
                "see $ref:a",
                r#"plan plan

  step a = t

  step b = t
    x: "see $ref:a"

  output { a: a, b: b }

warning[malformed-reference]: a `$ref:` is not read inside a longer text
  --> 3:52 in step `b`: it stays as it is
   = help: let a tool join the parts, or, if this is no reference, write `$ref:"see $ref:a"`
"#,
            ),
            (
                "$ref:a!",
                r#"plan plan

  step a = t

  step b = t
    x: "$ref:a!"

  output { a: a, b: b }

warning[malformed-reference]: `!` is no part of a reference
  --> 3:54 in step `b`: it stays as it is
   = help: a `$ref:` is the whole string: no text can stand behind it
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

  step b = t
    "$ref:a": 1

  output { a: a, b: b }

warning[malformed-reference]: a reference cannot be the name of a member
  --> 3:42 in step `b`: it stays as it is
   = help: let a tool build the object, or write a name that is known
"#,
        )],
    );
}

#[test]
fn compat_blueprints() {
    let reader = of(Dialect::Blueprint).profile(Profile::Compat);
    say(&reader, blueprint, &[
        (
            "${steps[0].data.x}",
            r#"plan r

  step step0 = t

  step step1 = t
    x: "${steps[0].data.x}"

  output { step0: step0, step1: step1 }

warning[malformed-reference]: `${steps[0].data.x}` is no reference to a step
  --> 3:34 in step `step1`: it stays as it is
   = help: did you mean `${step[0].data.x}`?
"#,
        ),
        (
            "${step[0].x} y",
            r#"error[malformed-reference]: `${step[0].x}` does not say that it reads the step's output
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
"#,
        ),
        (
            "${step[5].data}",
            "error[step-out-of-range]: there is no step[5]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
",
        ),
    ]);
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

  step b = t
    x: "{{ a.result }}"

  output { a: a, b: b }

warning[malformed-reference]: a reference has no spaces in it
  --> 3:48 in step `b`: it stays as it is
   = help: did you mean `{{a.result}}`? This text as it is would be `{{"{{ a.result }}"}}`
"#,
            ),
            (
                "{{c.result}} and {{a.result}}",
                r#"plan plan

  step a = t

  step b = t
    x: format!("{{{{c.result}}}} and {}", {{a.result}})
    // needs a

  output { a: a, b: b }

warning[unknown-step]: there is no step `c`
  --> 3:48 in step `b`: it stays as it is
"#,
            ),
            (
                "{{a.x}}",
                "plan plan

  step a = t

  step b = t
    x: {{a.x}}
    // needs a

  output { a: a, b: b }
",
            ),
            (
                "{{c.x}}",
                r#"plan plan

  step a = t

  step b = t
    x: "{{c.x}}"

  output { a: a, b: b }

warning[malformed-reference]: `{{c.x}}` does not say that it reads the step's output
  --> 3:48 in step `b`: it stays as it is
   = help: did you mean `{{c.result.x}}`? This text as it is would be `{{"{{c.x}}"}}`
"#,
            ),
            (
                "{a.result.x}",
                r#"plan plan

  step a = t

  step b = t
    x: "{a.result.x}"

  output { a: a, b: b }

warning[malformed-reference]: a reference stands in two braces
  --> 3:48 in step `b`: it stays as it is
   = help: did you mean `{{a.result.x}}`?
"#,
            ),
        ],
    );
}

#[test]
fn limits() {
    let limits = Limits {
        steps: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]}"#
        ),
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step is the first too many
"
    );
    let limits = Limits {
        steps: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"[
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]"#
        ),
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step is the first too many
"
    );
    let limits = Limits {
        depth: 2,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": [[1]]}}
]}"#
        ),
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:48 in step `b`
"
    );
    let limits = Limits {
        depth: 2,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "{\"x\": [[1]]}"}
]}"#
        ),
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:51 in step `b`
"
    );
    let limits = Limits {
        string: 4,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "12345"}}
]}"#
        ),
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 3:47 in step `b`
"
    );
    let limits = Limits {
        bytes: 6,
        ..Limits::default()
    };
    assert_eq!(
        said(
            &Reader::new().limits(limits),
            r#"[
  "é"
]"#
        ),
        "error[limit-passed]: the document has 10 bytes, and at most 6 are read
  --> 2:4: the limit is here
"
    );
    let limits = Limits {
        bytes: 2,
        ..Limits::default()
    };
    assert_eq!(
        said(&Reader::new().limits(limits), "xxx"),
        "error[limit-passed]: the document has 3 bytes, and at most 2 are read
  --> 1:3: the limit is here
"
    );
}

/// Neighbours of what is wrong above.
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

  step b = t
    x: $ref:a
    y: $ref:a.b.0[1][*].*["odd key"]
    z: $ref:["a"].x
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

  step b = t
    x: $ref:a.y
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

  step b = t
    $ref:a
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

  step b = t
    $ref:a
    // needs a

  output { a: a, b: b }
",
            ),
            (
                r#"{"name": "n", "steps": [{"id": "a", "tool": "t", "intent": "Why."}], "output": "$ref:a.x", "output_type": "u8"}"#,
                "plan n -> u8

  step a = t  // Why.

  output $ref:a.x
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

  step step1 = t
    x: ${step[0].data.b}
    y: format!("at {}!", ${step[0].result[0].c})
    l: "${step}"
    // needs step0

  output { step0: step0, step1: step1 }
"#,
            ),
            (
                r#"[{"tool": "t", "params": {}}]"#,
                "plan plan

  step step0 = t

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

  step b = t
    x: {{a.result}}
    y: format!("at {}, {}", {{a.result[0].c}}, {{PLACEHOLDER_q}})
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
    x: {{PLACEHOLDER_q}}

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
            "plan plan

  step a = t

  step b = t
    x: $ref:a.b
    // needs a

  output { a: a, b: b }
",
        )],
    );
    say(
        &of(Dialect::Blueprint).profile(Profile::Compat),
        blueprint,
        &[(
            "${step[0].data.b}",
            "plan r

  step step0 = t

  step step1 = t
    x: ${step[0].data.b}
    // needs step0

  output { step0: step0, step1: step1 }
",
        )],
    );
    say(
        &of(Dialect::ActionPlan).profile(Profile::Compat),
        action_plan,
        &[
            (
                "{{a.result.b}}",
                "plan plan

  step a = t

  step b = t
    x: {{a.result.b}}
    // needs a

  output { a: a, b: b }
",
            ),
            (
                "{{PLACEHOLDER_q}}",
                "plan plan
  input q: Option<String>

  step a = t

  step b = t
    x: {{PLACEHOLDER_q}}

  output { a: a, b: b }
",
            ),
        ],
    );
}

/// Nothing but mistakes takes no longer than a plan without any.
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
    assert_eq!(findings.len(), 2000);
    let helped = findings.iter().filter(|it| it.help.is_some()).count();
    assert_eq!(helped, 32);
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
    let neighbour = used.replace("PLACEHOLDER_a", "PLACEHOLDER_b");
    assert!(Reader::new().read(&neighbour).is_ok());
}

#[test]
fn what_other_languages_write_for_json() {
    let quotes = "names and strings stand in double quotes: `\"id\"`";
    for (document, help) in [
        ("[{'id': 1}]", quotes),
        ("[{\"id\": “a”}]", quotes),
        ("[{\"id\": True}]", "JSON writes `true` and `false`"),
        ("[{\"id\": None}]", "JSON writes `null`"),
        ("[ // steps\n]", "JSON has no comments"),
    ] {
        let said = said(&Reader::new(), document);
        assert!(said.ends_with(&format!("   = help: {help}\n")), "{said}");
    }
    let said = said(&Reader::new(), "[;]");
    assert!(!said.contains("help"), "{said}");
}
