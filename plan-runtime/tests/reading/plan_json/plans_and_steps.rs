//! Members of the plan, its inputs, its output and its steps.

use super::{say, steps, whole};

#[test]
fn the_plan() {
    say(
        whole,
        &[
            (
                "[]",
                "error[wrong-kind]: a plan is a list, but must be an object
  --> 1:1
",
            ),
            (
                r#"{"name": 1, "steps": []}"#,
                "error[wrong-kind]: the name of the plan is `1`, but must be a string
  --> 1:10
   = help: write it in quotes: `\"1\"`
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
                "error[wrong-kind]: `steps` is an object, but must be a list
  --> 1:24
",
            ),
            (
                r#"{"name": "p", "step": []}"#,
                "error[unknown-member]: unknown member `step` in a plan
  --> 1:15
   = help: did you mean `steps`?
",
            ),
            (
                r#"{"name": "p", "name": "q", "steps": []}"#,
                "error[duplicate-member]: duplicate member `name`
  --> 1:15
   = note: 1:2: the first one is here
   = help: only one of them can be used: remove the other
",
            ),
            (
                r#"{"name": "p", "steps": [1]}"#,
                "error[wrong-kind]: a step is `1`, but must be an object
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
   = help: rename one of the two names, because a reference could mean both
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": " "}, {"type": "u8"}, "x"], "steps": []}"#,
                "error[empty-name]: the name of an input is empty
  --> 1:35

error[missing-member]: the input has no `name`
  --> 1:41

error[wrong-kind]: an input is a string, but must be an object
  --> 1:57
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "x", "kind": "u8", "type": 8}], "steps": []}"#,
                "error[unknown-member]: unknown member `kind` in an input
  --> 1:40
   = help: the members of an input are `name`, `type`, `description`, `secrets`

error[wrong-kind]: the type of an input is `8`, but must be a string
  --> 1:62
   = help: write it in quotes: `\"8\"`
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
                r#"error[missing-member]: the step has no `id`
  --> 2:3
   = help: give it a name that references can use: `"id": "find_john"`
"#,
            ),
            (
                r#"{"id": "a", "tool": {"name": "t"}, "args": {"object": {"x": 99999999999999999999999}}}"#,
                "error[unknown-member]: unknown member `args` in a step
  --> 2:38 in step `a`
   = help: did you mean `arguments`?

error[inexact-number]: the number 99999999999999999999999 cannot be represented exactly
  --> 2:63 in step `a`
   = help: write it as a string, if the tool takes one
",
            ),
            (
                r#"{"id": 7, "tool": {"name": "t"}}"#,
                "error[wrong-kind]: the id of a step is `7`, but must be a string
  --> 2:10
   = help: write it in quotes: `\"7\"`
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
   = help: give one of the two steps another id, because a reference could mean both
",
            ),
            (
                r#"{"id": "q", "tool": {"name": "t"}}"#,
                "error[duplicate-id]: the step `q` has the name of an input
  --> 2:10
   = note: 1:35: the input is here
   = help: steps and inputs need different names: rename one of them
",
            ),
            (
                r#"{"id": "a"}"#,
                "error[missing-member]: the step does nothing
  --> 2:3 in step `a`
   = help: add a `tool` with its `arguments`, or a `value`, an `if`, a `for` or a `block`
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
                "error[wrong-kind]: the step has both `tool` and `value`
  --> 2:38 in step `a`
   = note: 2:15: `tool` is here
   = help: remove one, or split this into two steps
",
            ),
            (
                r#"{"id": "a", "value": 1, "if": []}"#,
                "error[wrong-kind]: the step has both `value` and `if`
  --> 2:27 in step `a`
   = note: 2:15: `value` is here
   = help: remove one, or split this into two steps
",
            ),
            (
                r#"{"id": "a", "value": 1, "arguments": {"object": {}}}"#,
                "error[unknown-member]: the step is a `value`, which takes no `arguments`
  --> 2:27 in step `a`
   = help: only a `tool` takes arguments
",
            ),
            (
                r#"{"id": "a", "tool": "t"}"#,
                r#"error[wrong-kind]: `tool` is a string, but must be an object
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
                "error[unknown-member]: unknown member `params` in a step
  --> 2:38 in step `a`
   = help: the members of a step are `id`, `intent`, `tool`, `arguments`, `value`, `if`, `for`, `block`, `loop`, `await`, `undo`, `always`, `after`, `policy`

error[unknown-member]: unknown member `intnt` in a step
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

error[unknown-step]: `q` is an input, not a step
  --> 3:58 in step `b`

error[wrong-kind]: a step to wait for is `1`, but must be a string
  --> 3:63 in step `b`
   = help: write it in quotes: `\"1\"`
",
            ),
        ],
    );
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
                "error[wrong-kind]: `output` is a list, but must be an object
  --> 3:14
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
  {"id": "a", "tool": {"name": "t"}}
], "output": {"type": 1, "value": {"reference": {"step": "b", "pointer": ""}}}}"#,
                "error[wrong-kind]: the type of the output is `1`, but must be a string
  --> 3:23
   = help: write it in quotes: `\"1\"`

error[unknown-step]: there is no step `b`
  --> 3:58
   = help: the only step is `a`
",
            ),
            (
                r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
  {"id": "a", "tool": {"name": "t"}}
], "output": {"vale": 1}}"#,
                "error[unknown-member]: unknown member `vale` in `output`
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
   = help: remove one of these references, or use a value that does not depend on the step
",
            ),
            (
                r#"{"id": "a", "for": {"pattern": "x", "list": [], "body": {"value": {"reference": {"step": "a", "pointer": ""}}}}}"#,
                "error[cycle]: step `a` waits for itself
  --> 2:69 in step `a`: `a` needs `a`
   = help: remove one of these references, or use a value that does not depend on the step
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
            "error[unknown-member]: unknown member `tol` in a step
  --> 2:15 in step `a`
   = help: did you mean `tool`?

error[unknown-step]: there is no step `c`
  --> 3:91 in step `b`
   = help: the steps are `a`, `b`

error[malformed-reference]: `x` is not a JSON Pointer
  --> 3:107 in step `b`
   = help: a pointer begins with `/`: `/x`

error[unknown-input]: there is no input `r`
  --> 3:163 in step `b`
   = help: the only input is `q`
",
        )],
    );
}
