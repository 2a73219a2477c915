//! Conditions, loops, blocks, roles and policies in the dialects of strings: each error, with its position.

use crate::reading::{of, said, say};
use plan_runtime::dynamic::{Dialect, Profile};

fn in_tool_plan(members: &str) -> String {
    format!(
        r#"{{"steps": [{{"id": "a", "tool": "t"}},
  {{"id": "b", {members}}}
]}}"#
    )
}

fn in_blueprint(members: &str) -> String {
    format!(
        r#"{{"requestId": "r", "steps": [{{"tool": "t", "params": {{}}}},
  {{{members}}}
]}}"#
    )
}

fn in_action_plan(members: &str) -> String {
    format!(
        r#"[{{"id": "a", "tool": "t", "arguments": {{"x": "{{{{PLACEHOLDER_q}}}}"}}}},
  {{"id": "b", {members}}}
]"#
    )
}

#[test]
fn tool_plans() {
    say(
        &of(Dialect::ToolPlan),
        in_tool_plan,
        &[
            (
                r#""if": "x""#,
                r#"error[wrong-kind]: `if` is a string, but must be a list of branches
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`
"#,
            ),
            (
                r#""if": {"condition": "$ref:a"}"#,
                r#"error[wrong-kind]: `if` is an object, but must be a list of branches
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`
"#,
            ),
            (
                r#""if": [{"condition": {"all": []}, "then": {"tool": "t"}}]"#,
                r#"error[missing-member]: `all` needs at least two conditions
  --> 2:44 in step `b`
   = help: write a single condition without `all`
"#,
            ),
            (
                r#""if": [{"condition": "$ref:a.ok", "then": {"tool": "t", "params": {}}}]"#,
                r#"error[unknown-member]: unknown member `params` in the `then` of a branch
  --> 2:71 in step `b`
   = help: did you mean `arguments`?
"#,
            ),
            (
                r#""if": [{"value": "$ref:a", "then": {"tool": "t"}}]"#,
                r#"error[missing-member]: the branch has a `value`, but no `pattern` for it
  --> 2:22 in step `b`
   = help: write `condition` for a branch that runs if a value is true
"#,
            ),
            (
                r#""if": [{"condition": "$ref:a"}]"#,
                r#"error[missing-member]: the branch has no `then`
  --> 2:22 in step `b`
   = help: write an object like a step without an `id`, such as a call to a tool
"#,
            ),
            (
                r#""if": [{"pattern": "x", "value": "$ref:a", "then": {"tool": "t"}}]"#,
                r#"error[not-allowed]: the pattern `x` matches every value in Rust, but a plan treats null as no match
  --> 2:34 in step `b`
   = help: a branch for values other than null has the pattern `Some(x)`
"#,
            ),
            (
                r#""if": [{"all": [], "then": {"tool": "t"}}]"#,
                r#"error[wrong-kind]: `all` has no conditions
  --> 2:30 in step `b`
   = help: remove `all` from a branch that always runs
"#,
            ),
            (
                r#""if": [{"all": [{"pattern": "Some(x)", "value": "$ref:a"}, "$ref:y.ok"], "then": {"tool": "t", "arguments": {"x": "$ref:x.y"}}}]"#,
                r#"error[unknown-step]: there is no step `y`
  --> 2:80 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#""for": "x in a""#,
                r#"error[wrong-kind]: `for` is a string, but must be an object
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`
"#,
            ),
            (
                r#""for": {"pattern": "x", "in": "$ref:a", "body": {"tool": "t"}}"#,
                r#"error[unknown-member]: unknown member `in` in `for`
  --> 2:39 in step `b`
   = help: did you mean `list`?
"#,
            ),
            (
                r#""for": {"pattern": "x", "list": "$ref:a", "body": {"tool": {"name": "t"}}}"#,
                r#"error[wrong-kind]: the tool of a step is an object, but must be a string
  --> 2:74 in step `b`
"#,
            ),
            (
                r#""for": {"pattern": "Some(x)", "list": "$ref:a", "body": {"tool": "t", "arguments": {"y": "$ref:x.z"}}}"#,
                r#"error[not-allowed]: the run cannot compare the pattern `Some(x)` with a value
  --> 2:34 in step `b`
   = help: over data, a pattern is a name, `_`, or a tuple of them
"#,
            ),
            (
                r#""for": {"pattern": "x", "list": "$ref:a", "body": {"arguments": {}}}"#,
                r#"error[missing-member]: the body of a `for` has `arguments`, but no `tool` that takes them
  --> 2:65 in step `b`
   = help: name the tool: `"tool": "send"`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "$ref:a", "body": {"tool": "t", "arguments": {"x": "$ref:itme.y"}}}"#,
                r#"error[unknown-step]: there is no step or value `itme`
  --> 2:107 in step `b`
   = help: a value with a similar name exists: `item`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "$ref:a", "body": {"tool": "t", "arguments": {"x": "$ref:item.", "y": "$ref: item.y", "z": "{{item.result.y}}", "v": "see {item.y}"}}}"#,
                r#"error[malformed-reference]: expected a name after the dot
  --> 2:111 in step `b`
   = help: write an empty key as `[""]`

error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 2:121 in step `b`
   = help: did you mean `$ref:item.y`?

error[mixed-dialects]: this is a reference of an action plan (`{{…}}`), but the document is a tool plan (`$ref:`)
  --> 2:142 in step `b`
   = help: write the reference as `$ref:item.y`; to keep the text, write `$ref:"{{item.result.y}}"`

warning[malformed-reference]: `{item.y}` is not a reference in a tool plan (`$ref:`), though it names the value `item`
  --> 2:172 in step `b`: the reader uses this string as text
   = help: use a tool to join the text and `$ref:item.y`; to keep the text, write `$ref:"see {item.y}"`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "$ref:a", "body": {"tool": "t", "arguments": "{\"x\": \"$ref:itme.y\"}"}}"#,
                r#"error[unknown-step]: there is no step or value `itme`
  --> 2:111 in step `b`
   = help: a value with a similar name exists: `item`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "$ref:a", "body": {"await": "String"}}"#,
                r#"error[unknown-member]: unknown member `await` in the body of a `for`
  --> 2:69 in step `b`
   = help: a step that waits for an answer has `"await": "bool"` in place of its `tool`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "$ref:item", "body": {"tool": "t"}}"#,
                r#"error[unknown-step]: there is no step `item`
  --> 2:56 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#""loop": {"steps": [], "value": "$ref:a"}"#,
                r#"error[missing-member]: the `loop` has no `while`
  --> 2:23 in step `b`

error[missing-member]: this loop has no bound
  --> 2:23 in step `b`
   = help: add `"at_most": 100` to the `policy` of the step
"#,
            ),
            (
                r#""loop": {"steps": [], "while": {"nott": true}}, "policy": {"at_most": 3}"#,
                r#"error[unknown-member]: `nott` is not a kind of condition
  --> 2:47 in step `b`
   = help: did you mean `not`?
"#,
            ),
            (
                r#""loop": {"last": 1, "steps": [], "while": true}, "policy": {"at_most": 3}"#,
                r#"error[wrong-kind]: `last` is `1`, but must be a string
  --> 2:32 in step `b`
   = help: write it in quotes: `"1"`
"#,
            ),
            (
                r#""loop": true"#,
                r#"error[wrong-kind]: `loop` is `true`, but must be an object
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"loop": {"steps": [], "tail": …, "while": …}`, with `"policy": {"at_most": 100}`
"#,
            ),
            (
                r#""block": [{"id": "c", "tool": "t"}]"#,
                r#"error[wrong-kind]: `block` is a list, but must be an object
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"block": {"steps": [], "tail": …}`
"#,
            ),
            (
                r#""block": {"steps": [{"tool": "t"}, {"id": "a", "tool": "t"}, {"id": "z", "tool": "t", "after": ["b"]}]}"#,
                r#"error[missing-member]: the step has no `id`
  --> 2:35 in step `b.`
   = help: give it a name that references can use: `"id": "find_john"`

error[duplicate-id]: the step `a` has the name of a step or a value outside its block
  --> 2:57 in step `b`
   = note: 1:19: the other `a` is here
   = help: rename one of the two names, because a reference could mean both

error[unknown-step]: `b` is a step outside of this block
  --> 2:111 in step `b.z`
   = help: `after` can name only steps of the same block; to wait for a step outside, put `after` on the step that contains the block
"#,
            ),
            (
                r#""block": {"steps": [{"id": "c", "tool": "t", "when": "$ref:a", "undo": "a"}]}"#,
                r#"error[unknown-member]: unknown member `when` in a step
  --> 2:60 in step `b.c`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`

error[unknown-step]: `a` is a step outside of this block
  --> 2:86 in step `b.c`
   = help: write the undo step outside of the block, beside the step to undo
"#,
            ),
            (
                r#""block": {"steps": [{"id": "c", "tool": "t", "arguments": {"x": "$ref:c"}}], "tail": {"tool": "t", "arguments": {"x": "$ref:q"}}, "value": 1}"#,
                r#"error[cycle]: step `c` waits for itself
  --> 2:79 in step `b.c`: `c` needs `c`
   = help: remove one of these references, or use a value that does not depend on the step

error[unknown-step]: there is no step `q`
  --> 2:139 in step `b._`
   = help: the steps are `c`, `_`, `a`, `b`

error[wrong-kind]: the block has both a `tail` and a `value`
  --> 2:145 in step `b`
   = note: 2:100: the `tail` is here
   = help: the value of a block is its `tail`: remove one of them
"#,
            ),
            (
                r#""block": {"inputs": {"c": "$ref:a.x", " ": 1}, "steps": [{"id": "c", "tool": "t"}]}"#,
                r#"error[empty-name]: the name of an input is empty
  --> 2:53 in step `b`

error[duplicate-id]: the step `c` has the name of an input
  --> 2:79 in step `b`
   = note: 2:36: the input is here
   = help: steps and inputs need different names: rename one of them
"#,
            ),
            (
                r#""value": "$ref:q.x""#,
                r#"error[unknown-step]: there is no step `q`
  --> 2:30 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#""value": 1, "arguments": {}"#,
                r#"error[unknown-member]: the step is a `value`, which takes no `arguments`
  --> 2:27 in step `b`
   = help: only a `tool` takes arguments
"#,
            ),
            (
                r#""value": 1, "await": "String""#,
                r#"error[wrong-kind]: the step has both `value` and `await`
  --> 2:27 in step `b`
   = note: 2:15: `value` is here
   = help: remove one, or split this into two steps
"#,
            ),
            (
                r#""await": 1"#,
                r#"error[wrong-kind]: the type of the value is `1`, but must be a string
  --> 2:24 in step `b`
   = help: write the name of a type of Rust: `"await": "String"`
"#,
            ),
            (
                r#""await": "boolean""#,
                r#"error[wrong-kind]: `boolean` is not a type of Rust
  --> 2:24 in step `b`
   = help: write `"await": "bool"`
"#,
            ),
            (
                r#""tool": "t", "args": {"x": "$ref:q"}"#,
                r#"error[unknown-member]: unknown member `args` in a step
  --> 2:28 in step `b`
   = help: did you mean `arguments`?

error[unknown-step]: there is no step `q`
  --> 2:48 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#""if": true"#,
                r#"error[wrong-kind]: `if` is `true`, but must be a list of branches
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`
"#,
            ),
            (
                r#""tool": "t", "undoes": "a""#,
                r#"error[unknown-member]: unknown member `undoes` in a step
  --> 2:28 in step `b`
   = help: did you mean `undo`?
"#,
            ),
            (
                r#""if": [{"condition": "$ref:a.ok", "then": {"tool": "t"}}], "else": {"tool": "t"}"#,
                r#"error[unknown-member]: unknown member `else` in a step
  --> 2:74 in step `b`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`
"#,
            ),
            (
                r#""await": 2"#,
                r#"error[wrong-kind]: the type of the value is `2`, but must be a string
  --> 2:24 in step `b`
   = help: write the name of a type of Rust: `"await": "String"`
"#,
            ),
            (
                r#""tool": "t", "for": "me", "await": "x""#,
                r#"error[wrong-kind]: `for` is a string, but must be an object
  --> 2:28 in step `b`
   = help: in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`

error[wrong-kind]: the step has both `tool` and `await`
  --> 2:41 in step `b`
   = note: 2:15: `tool` is here
   = help: remove one, or split this into two steps
"#,
            ),
            (
                r#""tool": "t", "value": 1"#,
                r#"error[wrong-kind]: the step has both `tool` and `value`
  --> 2:28 in step `b`
   = note: 2:15: `tool` is here
   = help: remove one, or split this into two steps
"#,
            ),
            (
                r#""tool": "t", "arguments": {}, "block": {"steps": []}"#,
                r#"error[wrong-kind]: the step has both `tool` and `block`
  --> 2:45 in step `b`
   = note: 2:15: `tool` is here
   = help: remove one, or split this into two steps
"#,
            ),
            (
                r#""tool": "t", "undo": "x", "after": ["a", "y"]"#,
                r#"error[unknown-step]: there is no step `x`
  --> 2:36 in step `b`
   = help: the steps are `a`, `b`

error[unknown-step]: there is no step `y`
  --> 2:56 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#""tool": "t", "undo": 0"#,
                r#"error[wrong-kind]: the step to undo is `0`, but must be a string
  --> 2:36 in step `b`
   = help: write it in quotes: `"0"`
"#,
            ),
            (
                r#""tool": "t", "always": "yes""#,
                r#"error[wrong-kind]: `always` is a string, but must be `true`, or the member is left out
  --> 2:38 in step `b`
"#,
            ),
            (
                r#""tool": "t", "undo": "a", "always": true"#,
                r#"error[not-allowed]: a step cannot be both an undo step and an always step
  --> 2:36 in step `b`
   = help: remove `undo` or `always`
"#,
            ),
            (
                r#""tool": "t", "after": "a""#,
                r#"error[wrong-kind]: `after` is a string, but must be a list
  --> 2:37 in step `b`
   = help: put the value in a list: `["a"]`
"#,
            ),
            (
                r#""tool": "t", "policy": true"#,
                r#"error[wrong-kind]: `policy` is `true`, but must be an object
  --> 2:38 in step `b`
"#,
            ),
            (
                r#""tool": "t", "policy": {"timeout": "soon", "attempts": "3", "tries": 4}"#,
                r#"error[wrong-kind]: `timeout` is `soon`, which is not a duration
  --> 2:50 in step `b`
   = help: a duration is a number with a unit: `200ms`, `10s`, `1m 30s`

error[wrong-kind]: `attempts` is a string, but must be a number of attempts: 1, 2, …
  --> 2:70 in step `b`
   = help: remove the quotes: `3`

error[unknown-member]: unknown member `tries` in `policy`
  --> 2:75 in step `b`
   = help: remove `tries`, because the `policy` has `attempts`
"#,
            ),
            (
                r#""tool": "t", "policy": {"at_most": 3, "timeout": "$ref:a.t"}"#,
                r#"error[not-allowed]: `at_most` needs a `loop`
  --> 2:50 in step `b`
   = help: remove `at_most`

error[not-allowed]: `timeout` reads a step; policies take constants and inputs
  --> 2:64 in step `b`
   = help: make it an input
"#,
            ),
            (
                r#""tool": "t", "policy": {"timeout": "$ref: a"}"#,
                r#"error[malformed-reference]: the id of a step is missing after `$ref:`
  --> 2:51 in step `b`
   = help: did you mean `$ref:a`?
"#,
            ),
            (
                r#""tool": "t", "always": true, "policy": {"catch": true}"#,
                r#"error[not-allowed]: `catch` has no effect on an always step
  --> 2:64 in step `b`
   = help: remove `catch`
"#,
            ),
            (
                r#""tool": "t", "alwyas": true, "for_each": "$ref:a", "Repeat": 3"#,
                r#"error[unknown-member]: unknown member `alwyas` in a step
  --> 2:28 in step `b`
   = help: did you mean `always`?

error[unknown-member]: unknown member `for_each` in a step
  --> 2:44 in step `b`
   = help: in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`

error[unknown-member]: unknown member `Repeat` in a step
  --> 2:66 in step `b`
   = help: in place of its `tool`, a step can have `"loop": {"steps": [], "tail": …, "while": …}`, with `"policy": {"at_most": 100}`
"#,
            ),
        ],
    );
}

#[test]
fn blueprints() {
    say(
        &of(Dialect::Blueprint),
        in_blueprint,
        &[
            (
                r#""tool": "t", "retryCount": 2, "policy": {"attempts": 3}"#,
                r#"error[wrong-kind]: the step has both `retryCount` and the `attempts` of a `policy`
  --> 2:45 in step `step1`
   = note: 2:17: `retryCount` is here
   = help: remove one of them
"#,
            ),
            (
                r#""tool": "t", "timeout": 5, "optional": true, "policy": {"timeout": "1s", "optional": "no"}"#,
                r#"error[wrong-kind]: the step has both `timeout` and the `timeout` of a `policy`
  --> 2:60 in step `step1`
   = note: 2:17: `timeout` is here
   = help: remove one of them

error[wrong-kind]: the step has both `optional` and the `optional` of a `policy`
  --> 2:77 in step `step1`
   = note: 2:31: `optional` is here
   = help: remove one of them
"#,
            ),
            (
                r#""tool": "t", "undo": "step0""#,
                r#"error[wrong-kind]: the step to undo is a string, but must be the index of a step
  --> 2:25 in step `step1`
"#,
            ),
            (
                r#""tool": "t", "undo": 9"#,
                r#"error[step-out-of-range]: there is no step[9]: the plan has 2 steps, step[0] to step[1]
  --> 2:25 in step `step1`
   = help: steps are counted from 0, in the order of the list
"#,
            ),
            (
                r#""tool": "t", "undo": 1"#,
                r#"error[later-step]: step[1] refers to itself
  --> 2:25 in step `step1`
   = help: the steps of a blueprint run in order: a step can use only earlier steps
"#,
            ),
            (
                r#""tool": "t", "undo": 0, "optional": true"#,
                r#"error[not-allowed]: `optional` has no effect on an undo step
  --> 2:40 in step `step1`
   = help: remove `optional`
"#,
            ),
            (
                r#""tool": "t", "after": [0]"#,
                r#"error[unknown-member]: unknown member `after` in a step
  --> 2:17 in step `step1`
   = help: a step starts after the steps that it refers to; to wait for another step, write `"dependsOn": [0]`
"#,
            ),
            (
                r#""await": "String", "retryCount": 2"#,
                r#"error[not-allowed]: a wait has no attempts
  --> 2:37 in step `step1`
   = help: remove `retryCount`
"#,
            ),
            (
                r#""if": [{"condition": "${step[1].data}", "then": {"tool": "t", "arguments": {}}}]"#,
                r#"error[later-step]: step[1] refers to itself
  --> 2:28 in step `step1`
   = help: the steps of a blueprint run in order: a step can use only earlier steps

error[unknown-member]: unknown member `arguments` in the `then` of a branch
  --> 2:66 in step `step1`
   = help: did you mean `params`?
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "${step[0].data}", "body": {"tool": "t", "params": {"x": "${item.id}", "y": "${itme.data.x}", "z": "${item.data", "v": "<${y.data}>", "w": "{{item.result.x}}"}}}"#,
                r#"error[malformed-reference]: `${item.id}` has no `.data` after `item`
  --> 2:97 in step `step1`
   = help: did you mean `${item.data.id}`?

error[malformed-reference]: `${itme.data.x}` is not a reference to a step
  --> 2:116 in step `step1`
   = help: did you mean `${item.data.x}`? To keep the text, write `${"${itme.data.x}"}`

error[malformed-reference]: the reference is not closed with `}`
  --> 2:139 in step `step1`
   = help: did you mean `${item.data}`?

error[malformed-reference]: `${y.data}` is not a reference to a step
  --> 2:160 in step `step1`
   = help: a reference is `${step[0].data…}`; to keep the text, write `${"${y.data}"}`

error[mixed-dialects]: this is a reference of an action plan (`{{…}}`), but the document is a step blueprint (`${step[0]…}`)
  --> 2:179 in step `step1`
   = note: 1:44: this is a step blueprint (`${step[0]…}`)
   = help: write the reference as `${item.data.x}`; to keep the text, write `${"{{item.result.x}}"}`
"#,
            ),
            (
                r#""for": {"pattern": "step0", "list": "${step[0].data}", "body": {"tool": "t", "params": {"x": "${step[0].data}"}}}"#,
                r#"error[duplicate-id]: the reference reads `step0`, but an enclosing pattern defines another `step0`
  --> 2:100 in step `step1`
   = help: rename one of the two names, because a reference could mean both
"#,
            ),
            (
                r#""block": {"steps": [{"tool": "t", "params": {"x": "${step[5].data}"}}, {"tool": "t", "params": {"x": "${step[1].data}"}, "dependsOn": [4]}], "value": "${step[2].data}"}"#,
                r#"error[step-out-of-range]: there is no step[5]: the block has 2 steps, step[0] to step[1]
  --> 2:57 in step `step1.step1_0`
   = help: a block counts only its own steps; list the values of other steps in its `inputs`: `"inputs": {"x": "${step[0].data}"}`, and write `${x.data}` in the block

error[later-step]: step[1] refers to itself
  --> 2:108 in step `step1.step1_1`
   = help: the steps of a blueprint run in order: a step can use only earlier steps

error[step-out-of-range]: there is no step[4]: the block has 2 steps, step[0] to step[1]
  --> 2:139 in step `step1.step1_1`
   = help: a block counts only its own steps; list the values of other steps in its `inputs`: `"inputs": {"x": "${step[0].data}"}`, and write `${x.data}` in the block

error[step-out-of-range]: there is no step[2]: the block has 2 steps, step[0] to step[1]
  --> 2:157 in step `step1`
   = help: a block counts only its own steps; list the values of other steps in its `inputs`: `"inputs": {"x": "${step[0].data}"}`, and write `${x.data}` in the block
"#,
            ),
            (
                r#""block": {"steps": [{"id": "step0", "tool": "t"}], "value": "${step0.data}"}"#,
                r#"error[duplicate-id]: the step `step0` has the name of a step or a value outside its block
  --> 2:31 in step `step1`
   = note: 1:30: the other `step0` is here
   = help: rename one of the two names, because a reference could mean both

error[malformed-reference]: `${step0.data}` is not a reference to a step
  --> 2:65 in step `step1`
   = help: did you mean `${step[0].data}`? To keep the text, write `${"${step0.data}"}`
"#,
            ),
            (
                r#""loop": {"last": "l", "steps": [], "tail": {"tool": "t", "params": {"x": "${l.data.x}", "y": "${step[0].data}"}}, "while": "${step[0].data.more}"}, "policy": {"at_most": 3}"#,
                r#"error[later-step]: step[0] is this `tail` itself: the block has no steps before it
  --> 2:100 in step `step1._`
   = help: a block counts only its own steps; list the values of other steps in its `inputs`: `"inputs": {"x": "${step[0].data}"}`, and write `${x.data}` in the block
"#,
            ),
        ],
    );
}

#[test]
fn action_plans() {
    say(
        &of(Dialect::ActionPlan),
        in_action_plan,
        &[
            (
                r#""if": [{"condition": {"and": [true, {"gt": [1, 2]}]}, "then": {"tool": "t"}}]"#,
                r#"error[unknown-member]: `and` is not a kind of condition
  --> 2:37 in step `b`
   = help: did you mean `all`?
"#,
            ),
            (
                r#""if": [{"condition": {}, "then": {"tool": "t"}}]"#,
                r#"error[wrong-kind]: a condition object must have exactly one member
  --> 2:36 in step `b`
   = help: write one of `all`, `any`, `not`, `compare`, `is_some`, `is_none`, `is_ok`, `is_err`, `is_empty`, `len`
"#,
            ),
            (
                r#""for": {"pattern": "item", "list": "{{a.result}}", "body": {"tool": "t", "arguments": {"x": "{{item.id}}", "y": "{{ item.result }}", "z": "{{itme.result}}", "v": "${item.data}", "w": "<{item.result.y}>"}}}"#,
                r#"error[malformed-reference]: `{{item.id}}` has no `.result` after `item`
  --> 2:108 in step `b`
   = help: did you mean `{{item.result.id}}`? To keep the text, write `{{"{{item.id}}"}}`

error[malformed-reference]: a reference cannot contain spaces
  --> 2:128 in step `b`
   = help: did you mean `{{item.result}}`? To keep the text, write `{{"{{ item.result }}"}}`

error[unknown-step]: there is no step or value `itme`
  --> 2:156 in step `b`
   = help: a value with a similar name exists: `item`

warning[malformed-reference]: `${item.data}` is not a reference in an action plan (`{{…}}`), though it names the value `item`
  --> 2:178 in step `b`: the reader uses this string as text
   = help: write the reference as `{{item.result}}`; to keep the text, write `{{"${item.data}"}}`

error[malformed-reference]: a reference is written in double braces
  --> 2:200 in step `b`
   = help: did you mean `{{item.result.y}}`?
"#,
            ),
            (
                r#""block": {"steps": [{"id": "q", "tool": "t"}]}"#,
                r#"error[duplicate-id]: the step `q` has the name of an input
  --> 2:42 in step `b.q`
   = help: rename one of the two names, because a reference could mean both
"#,
            ),
            (
                r#""block": {"steps": [{"id": "d", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_q}}", "y": "{{q.result}}", "z": "{{PLACEHOLDER_a}}"}}]}"#,
                r#"error[unknown-step]: there is no step `q`
  --> 2:108 in step `b.d`
   = help: did you mean `{{PLACEHOLDER_q}}`?

error[duplicate-id]: the input `a` has the name of a step
  --> 2:129 in step `b.d`
   = note: 1:9: the step is here
   = help: give one of them another name
"#,
            ),
            (
                r#""block": {"inputs": {"v": "{{a.result.v}}"}, "steps": [{"id": "v", "tool": "t"}]}"#,
                r#"error[duplicate-id]: the step `v` has the name of an input
  --> 2:77 in step `b`
   = note: 2:36: the input is here
   = help: steps and inputs need different names: rename one of them
"#,
            ),
            (
                r#""for": {"pattern": "q", "list": "{{a.result}}", "body": {"tool": "t", "arguments": {"x": "{{PLACEHOLDER_q}}"}}}"#,
                r#"error[duplicate-id]: the reference reads `q`, but an enclosing pattern defines another `q`
  --> 2:107 in step `b`
   = help: rename one of the two names, because a reference could mean both
"#,
            ),
            (
                r#""for": {"pattern": "(k, v)", "list": "{{a.result}}", "body": {"tool": "t", "arguments": {"x": "{{k.result}}", "y": "{{w.result}}"}}}"#,
                r#"error[unknown-step]: there is no step `w`
  --> 2:133 in step `b`
   = help: the steps are `a`, `b`; if this is not a reference, write `{{"{{w.result}}"}}`
"#,
            ),
            (
                r#""tool": "t", "policy": {"attempts": "{{PLACEHOLDER_n}}", "timeout": "{{PLACEHOLDER_n}}s", "deadline": "{{a.result}}"}"#,
                r#"error[not-allowed]: `deadline` reads a step; policies take constants and inputs
  --> 2:117 in step `b`
   = help: make it an input
"#,
            ),
        ],
    );
}

/// Members that the original systems ignore stay ignored without the form of plan JSON, and a step with a tool still
/// calls the tool.
#[test]
fn compat() {
    say(
        &of(Dialect::ToolPlan).profile(Profile::Compat),
        in_tool_plan,
        &[
            (
                r#""for": "x in a""#,
                r#"error[wrong-kind]: `for` is a string, but must be an object
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`
"#,
            ),
            (
                r#""if": true"#,
                r#"error[missing-member]: the step names no `tool`
  --> 2:3 in step `b`
   = help: name the tool: `"tool": "send"`

warning[wrong-kind]: `if` is `true`, but must be a list of branches
  --> 2:15 in step `b`
   = help: in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`
"#,
            ),
            (
                r#""await": 2"#,
                r#"error[wrong-kind]: the type of the value is `2`, but must be a string
  --> 2:24 in step `b`
   = help: write the name of a type of Rust: `"await": "String"`
"#,
            ),
            (
                r#""tool": "t", "for": "me", "await": "x""#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[wrong-kind]: `for` is a string, but must be an object
  --> 2:28 in step `b`
   = help: in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`

warning[unknown-member]: unknown member `await` in a step
  --> 2:41 in step `b`
   = help: a step with a `tool` has no `await`
"#,
            ),
            (
                r#""tool": "t", "value": 1"#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[unknown-member]: unknown member `value` in a step
  --> 2:28 in step `b`
   = help: a step with a `tool` has no `value`
"#,
            ),
            (
                r#""tool": "t", "arguments": {}, "block": {"steps": []}"#,
                r#"error[wrong-kind]: the step has both `tool` and `block`
  --> 2:45 in step `b`
   = note: 2:15: `tool` is here
   = help: remove one, or split this into two steps
"#,
            ),
            (
                r#""tool": "t", "undo": 0"#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[wrong-kind]: `undo` is `0`, but must be a string
  --> 2:28 in step `b`
   = help: the step that undoes another step has `"undo": "a"`
"#,
            ),
            (
                r#""tool": "t", "always": "yes""#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[wrong-kind]: `always` is a string, but must be `true`
  --> 2:28 in step `b`
   = help: a step that runs after any failure has `"always": true`
"#,
            ),
            (
                r#""tool": "t", "after": "a""#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[wrong-kind]: `after` is a string, but must be a list
  --> 2:28 in step `b`
   = help: a step starts after the steps that it refers to; to wait for another step, write `"after": ["a"]`
"#,
            ),
            (
                r#""tool": "t", "policy": true"#,
                r#"plan plan

  step a = t
    // starts at once

  step b = t
    // starts at once

  output { a: a, b: b }

warning[wrong-kind]: `policy` is `true`, but must be an object
  --> 2:28 in step `b`
"#,
            ),
        ],
    );
}

#[test]
fn a_block_without_steps() {
    let document = in_blueprint(r#""block": {"steps": [], "value": "${step[0].data}"}"#);
    let found = said(&of(Dialect::Blueprint), &document);
    let message = "error[step-out-of-range]: there is no step[0]: the block has no steps\n";
    assert!(found.starts_with(message), "{found}");
}

/// Even in the compat profile, plan JSON of the plan reads back.
#[test]
fn compat_plans_are_plans() {
    let reader = of(Dialect::ActionPlan).profile(Profile::Compat);
    let document = in_action_plan(
        r#""for": {"pattern": "(k, v)", "list": "{{a.result}}", "body": {"value": "{{v.result.x}}"}}"#,
    );
    let plan = reader.read(&document).unwrap().into_plan();
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(
        serde_json::from_str::<plan_runtime::Plan>(&json).unwrap(),
        plan
    );
    let document = in_action_plan(r#""tool": "t", "policy": {"attempts": "{{PLACEHOLDER_n}: "}"#);
    let found = said(&reader, &document);
    let message = "`attempts` is a string, but must be an amount or a reference";
    assert!(found.contains(message), "{found}");
}
