//! Undo steps and always steps.

use super::{say, steps};

const A: &str = r#"{"id": "a", "tool": {"name": "t"}},"#;

fn after_a(rest: &str) -> String {
    steps(&format!("{A}\n  {rest}"))
}

#[test]
fn what_is_undone() {
    say(
        after_a,
        &[
            (
                r#"{"id": "b", "undo": "x", "tool": {"name": "u"}}"#,
                r#"error[unknown-step]: there is no step `x`
  --> 3:23 in step `b`
   = help: the steps are `a`, `b`
"#,
            ),
            (
                r#"{"id": "b", "undo": 1, "tool": {"name": "u"}}"#,
                r#"error[wrong-kind]: the step to undo is `1`, but must be a string
  --> 3:23 in step `b`
   = help: write it in quotes: `"1"`
"#,
            ),
            (
                r#"{"id": "b", "undo": "b", "tool": {"name": "u"}}"#,
                r#"error[role]: step `b` undoes itself
  --> 3:23 in step `b`
   = help: name a step that calls a tool
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "always": true, "tool": {"name": "u"}}"#,
                r#"error[not-allowed]: a step cannot be both an undo step and an always step
  --> 3:23 in step `b`
   = help: remove `undo` or `always`
"#,
            ),
            (
                r#"{"id": "b", "always": "yes", "tool": {"name": "u"}}"#,
                r#"error[wrong-kind]: `always` is a string, but must be `true`, or the member is left out
  --> 3:25 in step `b`
"#,
            ),
            (
                r#"{"id": "b", "value": 1}, {"id": "c", "undo": "b", "tool": {"name": "u"}}"#,
                r#"error[role]: step `c` undoes `b`, which calls no tool
  --> 3:48 in step `c`
   = help: name a step that calls a tool
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}}, {"id": "c", "undo": "a", "tool": {"name": "u"}}"#,
                r#"error[role]: step `c` undoes `a`, as `b` does
  --> 3:72 in step `c`
   = help: remove one of the two undo steps
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}}, {"id": "c", "undo": "b", "tool": {"name": "u"}}"#,
                r#"error[role]: step `c` undoes `b`, which is an undo step or an always step
  --> 3:72 in step `c`
   = help: name a step that calls a tool
"#,
            ),
            (
                r#"{"id": "b", "for": {"pattern": "x", "list": [], "body": {"tool": {"name": "u"}}}}, {"id": "c", "undo": "b", "tool": {"name": "u"}}"#,
                r#"error[role]: step `c` undoes `b`, whose calls may be half done when one of them fails
  --> 3:106 in step `c`
   = help: undo a step that makes exactly one call
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}, "after": ["a"]}"#,
                r#"error[role]: step `b` waits for other steps, but undo steps run in the reverse order of the steps that they undo
  --> 3:61 in step `b`
   = help: let `a` wait for these steps
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}, "policy": {"catch": true, "fallback": 1}}"#,
                r#"error[not-allowed]: `catch` has no effect on an undo step
  --> 3:71 in step `b`
   = help: remove `catch`

error[not-allowed]: `fallback` has no effect on an undo step
  --> 3:89 in step `b`
   = help: remove `fallback`
"#,
            ),
            (
                r#"{"id": "b", "always": true, "tool": {"name": "u"}, "policy": {"optional": "whole"}}"#,
                r#"error[not-allowed]: `optional` has no effect on an always step
  --> 3:77 in step `b`
   = help: remove `optional`
"#,
            ),
        ],
    );
}

#[test]
fn who_refers_to_whom() {
    say(
        after_a,
        &[
            (
                r#"{"id": "b", "tool": {"name": "u"}}, {"id": "c", "undo": "a", "tool": {"name": "u"}, "arguments": {"object": {"x": {"reference": {"step": "b", "pointer": ""}}}}}"#,
                r#"error[role]: step `c` refers to `b`, which may be missing, because `a` does not need it
  --> 3:117 in step `c`
   = help: use `a`, an input, or a step that `a` needs
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}}, {"id": "c", "tool": {"name": "u"}, "arguments": {"object": {"x": {"reference": {"step": "b", "pointer": ""}}}}}"#,
                r#"error[role]: step `c` refers to the undo step `b`, which may never run
  --> 3:117 in step `c`
   = help: refer to `a`
"#,
            ),
            (
                r#"{"id": "b", "tool": {"name": "u"}, "after": ["c"]}, {"id": "c", "undo": "b", "tool": {"name": "u"}}"#,
                r#"error[role]: step `b` refers to the undo step `c`, which may never run
  --> 3:48 in step `b`
   = help: refer to `b`
"#,
            ),
            (
                r#"{"id": "b", "always": true, "tool": {"name": "u"}}, {"id": "c", "tool": {"name": "u"}, "after": ["b"]}"#,
                r#"error[role]: step `c` refers to `b`, which runs later
  --> 3:100 in step `c`
   = help: only always steps can refer to `b`
"#,
            ),
            (
                r#"{"id": "b", "always": true, "tool": {"name": "u"}, "after": ["c"]}, {"id": "c", "undo": "a", "tool": {"name": "u"}}"#,
                r#"error[role]: step `b` refers to the undo step `c`, which may never run
  --> 3:64 in step `b`
   = help: refer to `a`
"#,
            ),
            (
                r#"{"id": "b", "always": true, "tool": {"name": "u"}, "after": ["a"]}"#,
                r#"error[role]: step `b` waits for `a`, but an always step runs after `a` anyway
  --> 3:64 in step `b`
   = help: remove the step from `after`, which may list only always steps
"#,
            ),
            (
                r#"{"id": "b", "always": true, "tool": {"name": "u"}}, {"id": "c", "always": true, "tool": {"name": "u"}, "after": ["b", "a"]}"#,
                r#"error[role]: step `c` waits for `a`, but an always step runs after `a` anyway
  --> 3:121 in step `c`
   = help: remove the step from `after`, which may list only always steps
"#,
            ),
            (
                r#"{"id": "b", "undo": "a", "tool": {"name": "u"}}], "output": {"value": [1, {"reference": {"step": "b", "pointer": ""}}]}, "steps2": ["#,
                r#"error[role]: the output refers to the undo step `b`, which may never run
  --> 3:77
   = help: refer to `a`

error[unknown-member]: unknown member `steps2` in a plan
  --> 3:124
   = help: the members of a plan are `name`, `description`, `inputs`, `steps`, `output`
"#,
            ),
        ],
    );
}
