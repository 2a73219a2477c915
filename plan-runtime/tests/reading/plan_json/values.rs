//! Templates and references.

use super::{say, value};

#[test]
fn templates() {
    say(value, &[
        (
            "{}",
            r#"error[wrong-kind]: an object without members has no kind of template
  --> 2:24 in step `a`
   = help: an empty object is `{"object": {}}`
"#,
        ),
        (
            r#"{"to": 1}"#,
            r#"error[unknown-member]: `to` is not a kind of template
  --> 2:25 in step `a`
   = help: an object with this member is `{"object": {"to": …}}`; the others are `merge`, `reference`, `text`, `all`, `any`, `not`, `compare`, `is_some`, `is_none`, `is_ok`, `is_err`, `is_empty`, `len`, `computed`
"#,
        ),
        (
            r#"{"objct": {}}"#,
            "error[unknown-member]: `objct` is not a kind of template
  --> 2:25 in step `a`
   = help: did you mean `object`?
",
        ),
        (
            r#"{"to": 1, "cc": 2}"#,
            r#"error[wrong-kind]: the object has no member with a kind of template
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
            "error[unknown-member]: unknown member `x` in a template of the kind `object`
  --> 2:39 in step `a`
   = help: remove `x`: `object` is the only member
",
        ),
        (
            r#"{"object": []}"#,
            "error[wrong-kind]: `object` is a list, but must be an object
  --> 2:35 in step `a`
",
        ),
        (
            r#"{"object": {"x": 1, "x": 2}}"#,
            "error[duplicate-member]: duplicate member `x`
  --> 2:44 in step `a`
   = note: 2:36: the first one is here
   = help: only one of them can be used: remove the other
",
        ),
        (
            r#"{"merge": [{"object": {"x": 1}}, null, {"object": {"x": 2}}]}"#,
            "error[duplicate-member]: duplicate member `x`
  --> 2:75 in step `a`
   = note: 2:47: the first one is here
   = help: only one of them can be used: remove the other
",
        ),
        (
            r#"{"merge": {}}"#,
            "error[wrong-kind]: `merge` is an object, but must be a list
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
            "error[wrong-kind]: `text` is a string, but must be a list
  --> 2:33 in step `a`
   = help: put the value in a list: `[\"x\"]`
",
        ),
        (
            r#"{"text": ["x", 1]}"#,
            "error[wrong-kind]: a part of a text is `1`, but must be a string, or an object with a `value`
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
            "error[wrong-kind]: the format of a value is `8`, but must be a string
  --> 2:55 in step `a`
   = help: write it in quotes: `\"8\"`

error[unknown-member]: unknown member `show` in a part of a text
  --> 2:58 in step `a`
   = help: the members of a part of a text are `value`, `spec`
",
        ),
        (
            r#"{"computed": {"written": "a + b"}}"#,
            "error[missing-member]: a computed value has no `reads`
  --> 2:37 in step `a`
   = help: list the steps and inputs of the computed value, or write `[]`
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
            r#"error[inexact-number]: the number 123456789012345678901 cannot be represented exactly
  --> 2:28 in step `a`
   = help: write it as a string, if the tool takes one

error[invalid-json]: the string contains half of a surrogate pair, which is not valid text
  --> 2:51 in step `a`
   = help: a character beyond U+FFFF is two escapes: `\ud83d\ude00`
"#,
        ),
    ]);
}

#[test]
fn references() {
    say(value, &[
        (
            r#"{"reference": "q"}"#,
            "error[wrong-kind]: `reference` is a string, but must be an object
  --> 2:38 in step `a`
",
        ),
        (
            r#"{"reference": {"pointer": ""}}"#,
            r#"error[missing-member]: the reference has no source
  --> 2:38 in step `a`
   = help: write one of `"step": "id"`, `"input": "name"` and `"local": 0`
"#,
        ),
        (
            r#"{"reference": {"step": "a", "input": "q", "pointer": ""}}"#,
            "error[wrong-kind]: the reference has both `step` and `input`
  --> 2:61 in step `a`
",
        ),
        (
            r#"{"reference": {"step": 0, "pointer": ""}}"#,
            "error[wrong-kind]: the step of a reference is `0`, but must be a string
  --> 2:47 in step `a`
   = help: write it in quotes: `\"0\"`
",
        ),
        (
            r#"{"reference": {"step": "q", "pointer": ""}}"#,
            "error[unknown-step]: `q` is an input, not a step
  --> 2:47 in step `a`
",
        ),
        (
            r#"{"reference": {"input": "a", "pointer": ""}}"#,
            "error[unknown-input]: `a` is a step, not an input
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
            "error[wrong-kind]: the local value of a reference is a string, but must be its number, from the outermost on: 0, 1, …
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
            "error[malformed-reference]: `a/0` is not a JSON Pointer
  --> 2:64 in step `a`
   = help: a pointer begins with `/`: `/a/0`
",
        ),
        (
            r#"{"reference": {"input": "q", "pointer": "/a~2"}}"#,
            "error[malformed-reference]: `/a~2` is not a JSON Pointer
  --> 2:64 in step `a`
   = help: in a name, `~` is written `~0`, and `/` is `~1`
",
        ),
        (
            r#"{"reference": {"input": "q", "path": "a"}}"#,
            "error[wrong-kind]: the path of a reference is a string, but must be a list
  --> 2:61 in step `a`
   = help: put the value in a list: `[\"a\"]`
",
        ),
        (
            r#"{"reference": {"input": "q", "path": [0, {"each": "all"}, {"token": "a", "optional": "null"}, {"absent": "null"}, {"token": "a", "each": "element"}, {}, {"each": "element", "absent": "end"}], "optional": 1}}"#,
            r#"error[wrong-kind]: a part of a path is `0`, but must be a string or an object
  --> 2:62 in step `a`

error[not-allowed]: `each` is `"all"`, but must be `"element"`
  --> 2:74 in step `a`

error[wrong-kind]: `optional` is a string, but must be `true` or `false`
  --> 2:109 in step `a`

error[wrong-kind]: a part of a path is a `token` or `each`
  --> 2:118 in step `a`
   = help: write `token` or `each`; `absent` is allowed only beside `token`

error[wrong-kind]: a part of a path is a `token` or `each`
  --> 2:138 in step `a`
   = help: write `token` or `each`; `absent` is allowed only beside `token`

error[wrong-kind]: a part of a path is a `token` or `each`
  --> 2:173 in step `a`
   = help: write `token` or `each`; `absent` is allowed only beside `token`

error[wrong-kind]: a part of a path is a `token` or `each`
  --> 2:177 in step `a`
   = help: write `token` or `each`; `absent` is allowed only beside `token`

error[wrong-kind]: `optional` is `1`, but must be `true` or `false`
  --> 2:228 in step `a`
"#,
        ),
        (
            r#"{"reference": {"input": "q", "path": [{"token": "a", "absent": "none"}, {"token": "a", "absent": {"value": 1}}, {"key": "a"}]}}"#,
            r#"error[not-allowed]: `absent` is `"none"`, but must be one of `"null"`, `"end"`, `"failure"`
  --> 2:87 in step `a`

error[missing-member]: `absent` has no `default`
  --> 2:121 in step `a`

error[unknown-member]: unknown member `value` in `absent`
  --> 2:122 in step `a`
   = help: the only member of `absent` is `default`

error[unknown-member]: unknown member `key` in a part of a path
  --> 2:137 in step `a`
   = help: the members of a part of a path are `token`, `each`, `absent`, `optional`
"#,
        ),
        (
            r#"{"reference": {"input": "q", "pointer": "", "else": {"a": 1, "a": 1e999}, "optional": true}}"#,
            "error[duplicate-member]: duplicate member `a`
  --> 2:85 in step `a`
   = note: 2:77: the first one is here
   = help: only one of them can be used: remove the other
",
        ),
    ]);
}
