//! What is wrong with canonical JSON is said at once, with its place.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Limits, Reader};
use proptest::prelude::*;

#[path = "support/plans.rs"]
mod plans;

fn reader() -> Reader<'static> {
    Reader::new().dialect(Dialect::Canonical)
}

fn said(reader: Reader, document: &str) -> String {
    match reader.read(document) {
        Ok(document) => panic!("it is read: {}", document.plan()),
        Err(findings) => findings.to_string(),
    }
}

/// Parts of documents, each with all that is said of it.
#[track_caller]
fn say(document: fn(&str) -> String, parts: &[(&str, &str)]) {
    for (part, expected) in parts {
        let document = document(part);
        assert_eq!(said(reader(), &document), *expected, "of {document}");
        // All that serde reads goes the same way.
        assert!(
            serde_json::from_str::<Plan>(&document).is_err(),
            "{document}"
        );
    }
}

fn whole(document: &str) -> String {
    document.to_owned()
}

fn steps(steps: &str) -> String {
    format!(
        r#"{{"name": "p", "inputs": [{{"name": "q"}}], "steps": [
  {steps}
]}}"#
    )
}

/// A step `b` after a step `a`.
fn step(members: &str) -> String {
    steps(&format!(
        r#"{{"id": "a", "tool": {{"name": "t"}}}},
  {{"id": "b", {members}}}"#
    ))
}

/// The value of the only step.
fn value(value: &str) -> String {
    steps(&format!(r#"{{"id": "a", "value": {value}}}"#))
}

#[test]
fn the_plan() {
    say(
        whole,
        &[
            (
                "[]",
                "error[wrong-kind]: a plan is a list, and has to be an object
  --> 1:1
",
            ),
            (
                r#"{"name": 1, "steps": []}"#,
                "error[wrong-kind]: the name of the plan is `1`, and has to be a string
  --> 1:10
",
            ),
            (
                r#"{"steps": []}"#,
                "error[missing-member]: the plan has no `name`
  --> 1:1
",
            ),
            (
                r#"{"name": "p", "steps": {}}"#,
                "error[wrong-kind]: `steps` is an object, and has to be a list
  --> 1:24
",
            ),
            (
                r#"{"name": "p", "step": []}"#,
                "error[unknown-member]: nothing reads the member `step` of a plan
  --> 1:15
   = help: did you mean `steps`?
",
            ),
            (
                r#"{"name": "p", "name": "q", "steps": []}"#,
                "error[duplicate-member]: the member `name` is there twice
  --> 1:15
   = note: 1:2: the first one is here
   = help: only one of them could be used: take one out
",
            ),
            (
                r#"{"name": "p", "steps": [1]}"#,
                "error[wrong-kind]: a step is `1`, and has to be an object
  --> 1:25
",
            ),
        ],
    );
}

#[test]
fn inputs() {
    say(
        whole,
        &[
            (
                r#"{"name": "p", "inputs": [{"name": "x"}, {"name": "x"}], "steps": []}"#,
                "error[duplicate-id]: two inputs have the name `x`
  --> 1:50
   = note: 1:35: the first one is here
   = help: a reference could mean either: give one of them another name
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": " "}, {"type": "u8"}, "x"], "steps": []}"#,
                "error[empty-name]: the name of an input is empty
  --> 1:35

error[missing-member]: the input has no `name`
  --> 1:41

error[wrong-kind]: an input is a string, and has to be an object
  --> 1:57
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "x", "kind": "u8", "type": 8}], "steps": []}"#,
                "error[unknown-member]: nothing reads the member `kind` of an input
  --> 1:40
   = help: an input has `name`, `type`, `description`

error[wrong-kind]: the type of an input is `8`, and has to be a string
  --> 1:62
",
            ),
        ],
    );
}

#[test]
fn members_of_steps() {
    say(
        steps,
        &[
            (
                r#"{"tool": {"name": "t"}}"#,
                "error[missing-member]: the step has no `id`
  --> 2:3
   = help: references and reports name the step by its id
",
            ),
            (
                r#"{"id": 7, "tool": {"name": "t"}}"#,
                "error[wrong-kind]: the id of a step is `7`, and has to be a string
  --> 2:10
",
            ),
            (
                r#"{"id": "", "tool": {"name": "t"}}"#,
                "error[empty-name]: the id of the step is empty
  --> 2:10
   = help: references and reports name the step by its id
",
            ),
            (
                r#"{"id": "a", "tool": {"name": "t"}},
  {"id": "a", "tool": {"name": "t"}}"#,
                "error[duplicate-id]: two steps have the id `a`
  --> 3:10
   = note: 2:10: the first one is here
   = help: a reference could mean either: give one of them another id
",
            ),
            (
                r#"{"id": "q", "tool": {"name": "t"}}"#,
                "error[duplicate-id]: the step `q` has the name of an input
  --> 2:10
   = note: 1:35: the input is here
   = help: steps and inputs have different names: give one of them another
",
            ),
            (
                r#"{"id": "a"}"#,
                "error[missing-member]: the step does nothing
  --> 2:3 in step `a`
   = help: it has a `tool` with its `arguments`, or a `value`, an `if` or a `for`
",
            ),
            (
                r#"{"id": "a", "arguments": {"object": {}}}"#,
                r#"error[missing-member]: the step has `arguments`, but no `tool` that takes them
  --> 2:3 in step `a`
   = help: name the tool: `"tool": {"name": "send"}`
"#,
            ),
            (
                r#"{"id": "a", "tool": {"name": "t"}, "value": 1}"#,
                "error[wrong-kind]: the step does one thing, and has both `tool` and `value`
  --> 2:38 in step `a`
   = note: 2:15: `tool` is here
   = help: take one out, or make two steps of it
",
            ),
            (
                r#"{"id": "a", "value": 1, "if": []}"#,
                "error[wrong-kind]: the step does one thing, and has both `value` and `if`
  --> 2:27 in step `a`
   = note: 2:15: `value` is here
   = help: take one out, or make two steps of it
",
            ),
            (
                r#"{"id": "a", "value": 1, "arguments": {"object": {}}}"#,
                "error[unknown-member]: the step is a `value`, and has no `arguments`
  --> 2:27 in step `a`
   = help: only a `tool` takes arguments
",
            ),
            (
                r#"{"id": "a", "tool": "t"}"#,
                r#"error[wrong-kind]: `tool` is a string, and has to be an object
  --> 2:23 in step `a`
   = help: a tool is an object: `{"name": "t"}`
"#,
            ),
            (
                r#"{"id": "a", "tool": {"name": ""}}"#,
                "error[empty-name]: the name of a tool is empty
  --> 2:32 in step `a`
",
            ),
            (
                r#"{"id": "a", "tool": {"description": "x"}}"#,
                "error[missing-member]: the tool has no `name`
  --> 2:23 in step `a`
",
            ),
            (
                r#"{"id": "a", "tool": {"name": "t"}, "params": {}, "intnt": "x"}"#,
                "error[unknown-member]: nothing reads the member `params` of a step
  --> 2:38 in step `a`
   = help: a step has `id`, `intent`, `tool`, `arguments`, `value`, `if`, `for`, `after`, `policy`

error[unknown-member]: nothing reads the member `intnt` of a step
  --> 2:52 in step `a`
   = help: did you mean `intent`?
",
            ),
            (
                r#"{"id": "a", "tool": {"name": "t"}},
  {"id": "b", "tool": {"name": "t"}, "after": ["a", "c", "q", 1]}"#,
                "error[unknown-step]: there is no step `c`
  --> 3:53 in step `b`
   = help: the steps are `a`, `b`

error[unknown-step]: `q` is an input, and no step
  --> 3:58 in step `b`

error[wrong-kind]: a step to wait for is `1`, and has to be a string
  --> 3:63 in step `b`
",
            ),
        ],
    );
}

#[test]
fn conditions_and_loops() {
    say(
        step,
        &[
            (
                r#""if": {}"#,
                "error[wrong-kind]: `if` is an object, and has to be a list
  --> 3:21 in step `b`
",
            ),
            (
                r#""if": [{"condition": true}]"#,
                "error[missing-member]: the branch has no `then`
  --> 3:22 in step `b`
",
            ),
            (
                r#""if": [{"condition": true, "pattern": "x", "value": 1, "then": {"value": 1}}]"#,
                "error[wrong-kind]: a branch has a `condition`, or else a `pattern` and its `value`
  --> 3:23 in step `b`
   = help: take one of them out
",
            ),
            (
                r#""if": [{"pattern": "Some(x)", "then": {"value": 1}}]"#,
                "error[missing-member]: the branch has a `pattern`, but no `value` for it
  --> 3:22 in step `b`
",
            ),
            (
                r#""if": [{"value": true, "then": {"value": 1}}]"#,
                "error[missing-member]: the branch has a `value`, but no `pattern` for it
  --> 3:22 in step `b`
   = help: a branch that is taken where a value is true has a `condition`
",
            ),
            (
                r#""if": [{"then": {"value": 1, "policy": {}}}]"#,
                "error[unknown-member]: nothing reads the member `policy` of the `then` of a branch
  --> 3:44 in step `b`
   = help: the `then` of a branch has `tool`, `arguments`, `value`, `if`, `for`
",
            ),
            (
                r#""if": [{"then": {}}]"#,
                "error[missing-member]: the `then` of a branch does nothing
  --> 3:31 in step `b`
   = help: it has a `tool` with its `arguments`, or a `value`, an `if` or a `for`
",
            ),
            (
                r#""if": [true]"#,
                "error[wrong-kind]: a branch is `true`, and has to be an object
  --> 3:22 in step `b`
",
            ),
            (
                r#""for": {"pattern": "x", "body": {"value": 1}}"#,
                "error[missing-member]: the `for` has no `list`
  --> 3:22 in step `b`
",
            ),
            (
                r#""for": {"list": [], "body": {"value": 1}}"#,
                "error[missing-member]: the `for` has no `pattern`
  --> 3:22 in step `b`
",
            ),
            (
                r#""for": {"pattern": "x", "list": []}"#,
                "error[missing-member]: the `for` has no `body`
  --> 3:22 in step `b`
",
            ),
            (
                r#""for": []"#,
                "error[wrong-kind]: `for` is a list, and has to be an object
  --> 3:22 in step `b`
",
            ),
            (
                r#""for": {"pattern": "x", "list": [], "body": {"if": [{"then": {"value": {"reference": {"step": "c", "pointer": ""}}}}]}}"#,
                "error[unknown-step]: there is no step `c`
  --> 3:109 in step `b`
   = help: the steps are `a`, `b`
",
            ),
            (
                r#""for": {"pattern": "x", "list": [], "body": {"value": {"reference": {"local": 1, "pointer": ""}}}}"#,
                "error[unknown-local]: there is no local value 1 here
  --> 3:93 in step `b`
   = help: there is one: 0
",
            ),
            (
                r#""value": {"reference": {"local": 0, "pointer": ""}}"#,
                "error[unknown-local]: there is no local value 0 here
  --> 3:48 in step `b`
   = help: a local value is that of a `for` or a `pattern` around it, and there is none
",
            ),
            (
                r#""for": {"pattern": "x", "list": [], "body": {"if": [{"pattern": "y", "value": 1, "then": {"value": {"reference": {"local": 2, "pointer": ""}}}}]}}"#,
                "error[unknown-local]: there is no local value 2 here
  --> 3:138 in step `b`
   = help: there are 2: 0 is the outermost, 1 the innermost
",
            ),
        ],
    );
}

#[test]
fn policies() {
    say(step, &[
        (
            r#""value": 1, "policy": {"timeout": "soon", "deadline": "1 parsec"}"#,
            "error[wrong-kind]: `timeout` is `soon`, which is no duration
  --> 3:49 in step `b`
   = help: a duration is a number with its unit: `200ms`, `10s`, `1m 30s`

error[wrong-kind]: `deadline` is `1 parsec`, which is no duration
  --> 3:69 in step `b`
   = help: a duration is a number with its unit: `200ms`, `10s`, `1m 30s`
",
        ),
        (
            r#""value": 1, "policy": {"attempts": -1, "jitter": 1, "concurrency": 1.5, "backoff": 200}"#,
            "error[wrong-kind]: `attempts` is `-1`, and has to be a number of attempts: 1, 2, …
  --> 3:50 in step `b`

error[wrong-kind]: `jitter` is `1`, and has to be `true` or `false`
  --> 3:64 in step `b`

error[wrong-kind]: `concurrency` is `1.5`, and has to be a number of elements that are worked on at once: 1, 2, …
  --> 3:82 in step `b`

error[wrong-kind]: `backoff` is `200`, and has to be a string
  --> 3:98 in step `b`
",
        ),
        (
            r#""value": 1, "policy": {"optional": "maybe", "retries": 3}"#,
            r#"error[not-allowed]: `optional` is `"maybe"`, and has to be one of `"no"`, `"whole"`, `"each"`
  --> 3:50 in step `b`

error[unknown-member]: nothing reads the member `retries` of `policy`
  --> 3:59 in step `b`
   = help: `policy` has `attempts`, `backoff`, `max`, `jitter`, `timeout`, `deadline`, `optional`, `fallback`, `concurrency`
"#,
        ),
        (
            r#""value": 1, "policy": {"optional": true}"#,
            r#"error[wrong-kind]: `optional` is `true`, and has to be one of `"no"`, `"whole"`, `"each"`
  --> 3:50 in step `b`
"#,
        ),
        (
            r#""value": 1, "policy": 3"#,
            "error[wrong-kind]: `policy` is `3`, and has to be an object
  --> 3:37 in step `b`
",
        ),
        (
            r#""value": 1, "policy": {"fallback": {"reference": {"step": "aa", "pointer": ""}}}"#,
            "error[unknown-step]: there is no step `aa`
  --> 3:73 in step `b`
   = help: the steps are `a`, `b`
",
        ),
    ]);
}

#[test]
fn templates() {
    say(value, &[
        (
            "{}",
            r#"error[wrong-kind]: an object without members does not say which kind of template it is
  --> 2:24 in step `a`
   = help: an empty object is `{"object": {}}`
"#,
        ),
        (
            r#"{"to": 1}"#,
            r#"error[unknown-member]: `to` is no kind of template
  --> 2:25 in step `a`
   = help: an object with this member is `{"object": {"to": …}}`; the others are `merge`, `reference`, `text`, `computed`
"#,
        ),
        (
            r#"{"objct": {}}"#,
            "error[unknown-member]: `objct` is no kind of template
  --> 2:25 in step `a`
   = help: did you mean `object`?
",
        ),
        (
            r#"{"to": 1, "cc": 2}"#,
            r#"error[wrong-kind]: an object does not say which kind of template it is
  --> 2:24 in step `a`
   = help: an object is `{"object": {…}}`, with its members inside
"#,
        ),
        (
            r#"{"object": {}, "text": []}"#,
            "error[wrong-kind]: a template is of one kind, not `object` and `text`
  --> 2:24 in step `a`
",
        ),
        (
            r#"{"object": {}, "x": 1}"#,
            "error[wrong-kind]: a template of the kind `object` has no other members
  --> 2:24 in step `a`
",
        ),
        (
            r#"{"object": []}"#,
            "error[wrong-kind]: `object` is a list, and has to be an object
  --> 2:35 in step `a`
",
        ),
        (
            r#"{"object": {"x": 1, "x": 2}}"#,
            "error[duplicate-member]: the member `x` is there twice
  --> 2:44 in step `a`
   = note: 2:36: the first one is here
   = help: only one of them could be used: take one out
",
        ),
        (
            r#"{"merge": [{"object": {"x": 1}}, null, {"object": {"x": 2}}]}"#,
            "error[duplicate-member]: the member `x` is there twice
  --> 2:75 in step `a`
   = note: 2:47: the first one is here
   = help: only one of them could be used: take one out
",
        ),
        (
            r#"{"merge": {}}"#,
            "error[wrong-kind]: `merge` is an object, and has to be a list
  --> 2:34 in step `a`
",
        ),
        (
            r#"{"merge": [{"reference": {"step": "b", "pointer": ""}}, 1]}"#,
            "error[unknown-step]: there is no step `b`
  --> 2:58 in step `a`
   = help: the only step is `a`
",
        ),
        (
            r#"{"text": "x"}"#,
            "error[wrong-kind]: `text` is a string, and has to be a list
  --> 2:33 in step `a`
",
        ),
        (
            r#"{"text": ["x", 1]}"#,
            "error[wrong-kind]: a part of a text is `1`, and has to be a string, or an object with a `value`
  --> 2:39 in step `a`
",
        ),
        (
            r#"{"text": [{"spec": ">8"}]}"#,
            "error[missing-member]: a part of a text has no `value`
  --> 2:34 in step `a`
",
        ),
        (
            r#"{"text": [{"value": 1, "spec": 8, "show": 1}]}"#,
            "error[wrong-kind]: the format of a value is `8`, and has to be a string
  --> 2:55 in step `a`

error[unknown-member]: nothing reads the member `show` of a part of a text
  --> 2:58 in step `a`
   = help: a part of a text has `value`, `spec`
",
        ),
        (
            r#"{"computed": {"written": "a + b"}}"#,
            "error[missing-member]: a computed value has no `reads`
  --> 2:37 in step `a`
   = help: they are the steps and inputs that it mentions; `[]` is none
",
        ),
        (
            r#"{"computed": {"reads": [{"step": "b"}, {"input": "r"}]}}"#,
            "error[missing-member]: a computed value has no `written`
  --> 2:37 in step `a`

error[unknown-step]: there is no step `b`
  --> 2:57 in step `a`
   = help: the only step is `a`

error[unknown-input]: there is no input `r`
  --> 2:73 in step `a`
   = help: the only input is `q`
",
        ),
        (
            r#"[1, 123456789012345678901, "\ud800"]"#,
            r#"error[inexact-number]: the number 123456789012345678901 cannot be held exactly
  --> 2:28 in step `a`
   = help: write it as a string, if the tool takes one

error[invalid-json]: the string has half of a surrogate pair in it, which is no text
  --> 2:51 in step `a`
   = help: a sign beyond U+FFFF is two escapes: `\ud83d\ude00`
"#,
        ),
    ]);
}

#[test]
fn references() {
    say(value, &[
        (
            r#"{"reference": "q"}"#,
            "error[wrong-kind]: `reference` is a string, and has to be an object
  --> 2:38 in step `a`
",
        ),
        (
            r#"{"reference": {"pointer": ""}}"#,
            r#"error[missing-member]: the reference does not say what it reads
  --> 2:38 in step `a`
   = help: it is one of `"step": "id"`, `"input": "name"` and `"local": 0`
"#,
        ),
        (
            r#"{"reference": {"step": "a", "input": "q", "pointer": ""}}"#,
            "error[wrong-kind]: the reference reads one thing, and has both `step` and `input`
  --> 2:61 in step `a`
",
        ),
        (
            r#"{"reference": {"step": 0, "pointer": ""}}"#,
            "error[wrong-kind]: the step of a reference is `0`, and has to be a string
  --> 2:47 in step `a`
",
        ),
        (
            r#"{"reference": {"step": "q", "pointer": ""}}"#,
            "error[unknown-step]: `q` is an input, and no step
  --> 2:47 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "a", "pointer": ""}}"#,
            "error[unknown-input]: `a` is a step, and no input
  --> 2:48 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "Q", "pointer": ""}}"#,
            "error[unknown-input]: there is no input `Q`
  --> 2:48 in step `a`
   = help: an input with a similar name exists: `q`
",
        ),
        (
            r#"{"reference": {"input": "sender", "pointer": ""}}"#,
            "error[unknown-input]: there is no input `sender`
  --> 2:48 in step `a`
   = help: the only input is `q`
",
        ),
        (
            r#"{"reference": {"local": "x", "pointer": ""}}"#,
            "error[wrong-kind]: the local value of a reference is a string, and has to be its number, from the outermost on: 0, 1, …
  --> 2:48 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "q"}}"#,
            r#"error[missing-member]: the reference has neither a `pointer` nor a `path`
  --> 2:38 in step `a`
   = help: the whole value is `"pointer": ""`
"#,
        ),
        (
            r#"{"reference": {"input": "q", "pointer": "/a", "path": ["a"]}}"#,
            "error[wrong-kind]: the reference has both a `pointer` and a `path`
  --> 2:78 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "q", "pointer": "a/0"}}"#,
            "error[malformed-reference]: `a/0` is no JSON Pointer
  --> 2:64 in step `a`
   = help: a pointer begins with `/`: `/a/0`
",
        ),
        (
            r#"{"reference": {"input": "q", "pointer": "/a~2"}}"#,
            "error[malformed-reference]: `/a~2` is no JSON Pointer
  --> 2:64 in step `a`
   = help: in a name, `~` is written `~0`, and `/` is `~1`
",
        ),
        (
            r#"{"reference": {"input": "q", "path": "a"}}"#,
            "error[wrong-kind]: the path of a reference is a string, and has to be a list
  --> 2:61 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "q", "path": [0, {"each": "all"}, {"optional": true}, {"absent": "null"}, {"token": "a", "each": "element"}, {}]}}"#,
            r#"error[wrong-kind]: a part of a path is `0`, and has to be a string or an object
  --> 2:62 in step `a`

error[not-allowed]: `each` is `"all"`, and has to be `"element"`
  --> 2:74 in step `a`

error[wrong-kind]: `optional` is `true`, and has to be one of `"null"`, `"missing"`
  --> 2:95 in step `a`

error[wrong-kind]: a part of a path is one thing: a `token`, `each`, `optional` or `else`
  --> 2:102 in step `a`
   = help: an `absent` says what a `token` is that leads to nothing

error[wrong-kind]: a part of a path is one thing: a `token`, `each`, `optional` or `else`
  --> 2:122 in step `a`
   = help: an `absent` says what a `token` is that leads to nothing

error[wrong-kind]: a part of a path is one thing: a `token`, `each`, `optional` or `else`
  --> 2:157 in step `a`
   = help: an `absent` says what a `token` is that leads to nothing
"#,
        ),
        (
            r#"{"reference": {"input": "q", "path": [{"token": "a", "absent": "none"}, {"token": "a", "absent": {"value": 1}}, {"key": "a"}]}}"#,
            r#"error[not-allowed]: `absent` is `"none"`, and has to be one of `"null"`, `"stop"`
  --> 2:87 in step `a`

error[missing-member]: `absent` has no `default`
  --> 2:121 in step `a`

error[unknown-member]: nothing reads the member `value` of `absent`
  --> 2:122 in step `a`
   = help: `absent` has `default`

error[unknown-member]: nothing reads the member `key` of a part of a path
  --> 2:137 in step `a`
   = help: a part of a path has `token`, `absent`, `each`, `optional`, `else`
"#,
        ),
        (
            r#"{"reference": {"input": "q", "path": [{"else": {"a": 1, "a": 1e999}}]}}"#,
            "error[duplicate-member]: the member `a` is there twice
  --> 2:80 in step `a`
   = note: 2:72: the first one is here
   = help: only one of them could be used: take one out
",
        ),
    ]);
}

#[test]
fn the_output() {
    say(
        whole,
        &[
            (
                r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
  {"id": "a", "tool": {"name": "t"}}
], "output": []}"#,
                "error[wrong-kind]: `output` is a list, and has to be an object
  --> 3:14
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
  {"id": "a", "tool": {"name": "t"}}
], "output": {"type": 1, "value": {"reference": {"step": "b", "pointer": ""}}}}"#,
                "error[wrong-kind]: the type of the output is `1`, and has to be a string
  --> 3:23

error[unknown-step]: there is no step `b`
  --> 3:58
   = help: the only step is `a`
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
  {"id": "a", "tool": {"name": "t"}}
], "output": {"vale": 1}}"#,
                "error[unknown-member]: nothing reads the member `vale` of `output`
  --> 3:15
   = help: did you mean `value`?
",
            ),
        ],
    );
}

#[test]
fn cycles() {
    say(
        steps,
        &[
            (
                r#"{"id": "a", "value": {"reference": {"step": "c", "pointer": ""}}},
  {"id": "b", "tool": {"name": "t"}, "after": ["a"]},
  {"id": "c", "value": {"computed": {"written": "b + 1", "reads": [{"step": "b"}]}}}"#,
                "error[cycle]: steps wait for one another: `a` → `c` → `b` → `a`
  --> 2:24 in step `a`: `a` needs `c`
   = note: 4:24: `c` needs `b`
   = note: 3:48: `b` needs `a`
   = help: take one of these references out, or have its value come from elsewhere
",
            ),
            (
                r#"{"id": "a", "for": {"pattern": "x", "list": [], "body": {"value": {"reference": {"step": "a", "pointer": ""}}}}}"#,
                "error[cycle]: step `a` waits for itself
  --> 2:69 in step `a`: `a` needs `a`
   = help: take one of these references out, or have its value come from elsewhere
",
            ),
        ],
    );
}

#[test]
fn two_mistakes() {
    say(
        steps,
        &[(
            r#"{"id": "a", "tol": {"name": "t"}, "value": 1},
  {"id": "b", "tool": {"name": "t"}, "arguments": {"object": {"x": {"reference": {"step": "c", "pointer": "x"}}, "y": {"text": [{"value": {"reference": {"input": "r", "pointer": ""}}}]}}}}"#,
            "error[unknown-member]: nothing reads the member `tol` of a step
  --> 2:15 in step `a`
   = help: did you mean `tool`?

error[unknown-step]: there is no step `c`
  --> 3:91 in step `b`
   = help: the steps are `a`, `b`

error[malformed-reference]: `x` is no JSON Pointer
  --> 3:107 in step `b`
   = help: a pointer begins with `/`: `/x`

error[unknown-input]: there is no input `r`
  --> 3:163 in step `b`
   = help: the only input is `q`
",
        )],
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
            reader().limits(limits),
            &steps(
                r#"{"id": "a", "tool": {"name": "t"}},
  {"id": "a", "tool": {"name": "t"}}"#
            )
        ),
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step is the first too many
"
    );
    let limits = Limits {
        depth: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(reader().limits(limits), &value("[[1]]")),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:25 in step `a`
"
    );
    let limits = Limits {
        depth: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            reader().limits(limits),
            &value(r#"{"merge": [{"merge": []}]}"#)
        ),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:35 in step `a`
"
    );
    let limits = Limits {
        depth: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            reader().limits(limits),
            &value(r#"{"text": [{"value": {"text": []}}]}"#)
        ),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:44 in step `a`
"
    );
    let limits = Limits {
        depth: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            reader().limits(limits),
            &step(
                r#""for": {"pattern": "x", "list": [], "body": {"if": [{"then": {"value": 1}}]}}"#
            )
        ),
        "error[limit-passed]: conditions and loops are nested more than 1 levels deep
  --> 3:76 in step `b`
"
    );
    let limits = Limits {
        string: 4,
        ..Limits::default()
    };
    assert_eq!(
        said(reader().limits(limits), &value(r#""12345""#)),
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 2:24 in step `a`
"
    );
    let limits = Limits {
        bytes: 73,
        ..Limits::default()
    };
    assert_eq!(
        said(reader().limits(limits), &value(r#""é""#)),
        "error[limit-passed]: the document has 83 bytes, and at most 73 are read
  --> 2:22: the limit is here
"
    );
    let limits = Limits {
        depth: 1,
        ..Limits::default()
    };
    assert_eq!(
        said(
            reader().limits(limits),
            &value(r#"{"reference": {"input": "q", "path": [{"else": [[1]]}]}}"#)
        ),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:72 in step `a`
"
    );
}

/// What is right next to what is wrong above.
#[test]
fn what_is_right() {
    let document = r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
        {"id": "a", "tool": {"name": "t"}, "after": [], "intent": "Why."},
        {"id": "b", "for": {"pattern": "x", "list": [1], "body": {"if": [
            {"pattern": "Some(y)", "value": {"reference": {"local": 0, "pointer": ""}}, "then": {
                "tool": {"name": "u"},
                "arguments": {"merge": [{"object": {"l": {"reference": {"local": 1, "pointer": "/a~1b"}}}}, null, {"merge": [{"object": {"m": {"object": {}}}}]}]}
            }},
            {"condition": true, "then": {"value": {"text": ["a", {"value": 1, "spec": ">8"}]}}},
            {"then": {"value": null}}
        ]}}, "after": ["a"], "policy": {"timeout": "1m 30s", "optional": "no", "fallback": null}},
        {"id": "c", "value": {"reference": {"input": "q", "path": [
            "a", {"token": "0", "absent": "null"}, {"each": "element"}, {"optional": "missing"},
            {"token": "b", "absent": {"default": [1]}}, {"else": null}
        ]}}}
    ], "output": {"type": "u8", "value": {"computed": {"written": "c + 1", "reads": [{"step": "c"}]}}}}"#;
    let read = Reader::new().read(document).unwrap();
    assert_eq!(read.dialect(), Dialect::Canonical);
    assert!(read.warnings().is_empty());
    assert_eq!(
        read.plan(),
        &serde_json::from_str::<Plan>(document).unwrap()
    );
    let printed = r#"plan p -> u8
  input q

  step a = t  // Why.

  #[timeout("1m 30s")]
  #[fallback(null)]
  step b = for x in [1] {
    if let Some(y) = local0 {
      u
        l: local1["a/b"]
        m: {}
    } else if true {
      format!("a{:>8}", 1)
    } else {
      null
    }
  }
    // needs a
    // after a

  step c = q.a[0][..]?.b

  output c + 1
"#;
    assert_eq!(read.plan().to_string(), printed);
}

proptest! {
    /// Written, recognised, read, and equal.
    #[test]
    fn round_trip(mut plan in plans::plan()) {
        plan.name = "p".into();
        let text = serde_json::to_string_pretty(&plan).unwrap();
        match Reader::new().read(&text) {
            Ok(read) => {
                prop_assert_eq!(read.dialect(), Dialect::Canonical);
                prop_assert_eq!(read.plan(), &plan);
                prop_assert!(read.warnings().is_empty());
            }
            // Only what no plan of an author has: a name twice in what tagging makes one object.
            Err(findings) => prop_assert!(
                findings.iter().all(|it| it.code == plan_runtime::dynamic::Code::DuplicateMember),
                "{findings}\n{text}"
            ),
        }
    }
}
