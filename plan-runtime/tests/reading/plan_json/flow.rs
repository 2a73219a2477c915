//! Conditions, loops and policies.

use super::{say, step};

#[test]
fn conditions_and_loops() {
    say(
        step,
        &[
            (
                r#""if": {}"#,
                "error[wrong-kind]: `if` is an object, but must be a list
  --> 3:21 in step `b`
",
            ),
            (
                r#""if": [{"condition": true}]"#,
                "error[missing-member]: the branch has no `then`
  --> 3:22 in step `b`
   = help: write an object like a step without an `id`, such as a call to a tool
",
            ),
            (
                r#""if": [{"condition": true, "pattern": "Some(x)", "value": 1, "then": {"value": 1}}]"#,
                "error[wrong-kind]: a branch can have only one of `condition`, `all`, and `pattern` with `value`
  --> 3:23 in step `b`
   = help: remove one of them
",
            ),
            (
                r#""if": [{"all": [true], "condition": true, "then": {"value": 1}}]"#,
                "error[wrong-kind]: a branch can have only one of `condition`, `all`, and `pattern` with `value`
  --> 3:38 in step `b`
   = help: remove one of them
",
            ),
            (
                r#""if": [{"condition": true, "pattern": "Some(x)", "value": 1, "then": {"value": {"reference": {"local": 0, "pointer": ""}}}}]"#,
                "error[wrong-kind]: a branch can have only one of `condition`, `all`, and `pattern` with `value`
  --> 3:23 in step `b`
   = help: remove one of them
",
            ),
            (
                r#""if": [{"all": [], "then": {"value": 1}}]"#,
                "error[wrong-kind]: `all` has no conditions
  --> 3:30 in step `b`
   = help: remove `all` from a branch that always runs
",
            ),
            (
                r#""if": [{"all": true, "then": {"value": 1}}]"#,
                "error[wrong-kind]: `all` is `true`, but must be a list
  --> 3:30 in step `b`
",
            ),
            (
                r#""if": [{"all": [true, {"pattern": "Some(x)", "valeu": 1}], "then": {"value": 1}}]"#,
                "error[missing-member]: the condition has a `pattern`, but no `value` for it
  --> 3:37 in step `b`

error[unknown-member]: unknown member `valeu` in a condition
  --> 3:60 in step `b`
   = help: did you mean `value`?
",
            ),
            (
                r#""if": [{"all": [{"pattern": "Some(1)", "value": 1}], "then": {"value": 1}}]"#,
                "error[not-allowed]: the run cannot compare the pattern `Some(1)` with a value
  --> 3:43 in step `b`
   = help: over data, a pattern is `Some(…)`, `Ok(…)` or `Err(…)` with a name, `_`, or a tuple of them in it
",
            ),
            (
                r#""if": [{"all": [{"reference": {"local": 0, "pointer": ""}}, {"pattern": "Some(x)", "value": 1}], "then": {"value": 1}}]"#,
                "error[unknown-local]: there is no local value 0 here
  --> 3:55 in step `b`
   = help: only a `for` or a `pattern` around the reference has local values
",
            ),
            (
                r#""for": {"pattern": "(i, x)", "list": ["a"], "body": {"value": {"reference": {"local": 0, "pointer": ""}}}}"#,
                "error[unknown-local]: this reads a local value for which its pattern has no name, but only for `i` and `x`
  --> 3:91 in step `b`
   = help: the pattern `x` names the whole value, and `(a, b)` the parts of a pair
",
            ),
            (
                r#""if": [{"pattern": "Some(_)", "value": 1, "then": {"value": {"reference": {"local": 0, "pointer": "/a"}}}}]"#,
                "error[unknown-local]: this reads a local value for which its pattern has no name
  --> 3:89 in step `b`
   = help: the pattern `x` names the whole value, and `(a, b)` the parts of a pair
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
   = help: write `condition` for a branch that runs if a value is true
",
            ),
            (
                r#""if": [{"then": {"value": 1, "policy": {}}}]"#,
                "error[unknown-member]: unknown member `policy` in the `then` of a branch
  --> 3:44 in step `b`
   = help: write the `policy` in the step
",
            ),
            (
                r#""if": [{"then": {}}]"#,
                "error[missing-member]: the `then` of a branch does nothing
  --> 3:31 in step `b`
   = help: add a `tool` with its `arguments`, or a `value`, an `if`, a `for` or a `block`
",
            ),
            (
                r#""if": [true]"#,
                "error[wrong-kind]: a branch is `true`, but must be an object
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
   = help: write an object like a step without an `id`, such as a call to a tool
",
            ),
            (
                r#""for": []"#,
                "error[wrong-kind]: `for` is a list, but must be an object
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
   = help: only a `for` or a `pattern` around the reference has local values
",
            ),
            (
                r#""for": {"pattern": "x", "list": [], "body": {"if": [{"pattern": "Some(y)", "value": 1, "then": {"value": {"reference": {"local": 2, "pointer": ""}}}}]}}"#,
                "error[unknown-local]: there is no local value 2 here
  --> 3:144 in step `b`
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
            "error[wrong-kind]: `timeout` is `soon`, which is not a duration
  --> 3:49 in step `b`
   = help: a duration is a number with a unit: `200ms`, `10s`, `1m 30s`

error[wrong-kind]: `deadline` is `1 parsec`, which is not a duration
  --> 3:69 in step `b`
   = help: a duration is a number with a unit: `200ms`, `10s`, `1m 30s`
",
        ),
        (
            r#""value": 1, "policy": {"attempts": -1, "jitter": 1, "concurrency": 1.5, "backoff": 200}"#,
            "error[wrong-kind]: `attempts` is `-1`, but must be a number of attempts: 1, 2, …
  --> 3:50 in step `b`

error[wrong-kind]: `jitter` is `1`, but must be `true` or `false`
  --> 3:64 in step `b`

error[wrong-kind]: `concurrency` is `1.5`, but must be the number of elements to process concurrently: 1, 2, …
  --> 3:82 in step `b`

error[wrong-kind]: `backoff` is `200`, but must be a duration as a string
  --> 3:98 in step `b`
   = help: a duration is a number with a unit: `200ms`, `10s`, `1m 30s`
",
        ),
        (
            r#""value": 1, "policy": {"optional": "maybe", "retries": 3}"#,
            r#"error[not-allowed]: `optional` is `"maybe"`, but must be one of `"no"`, `"whole"`, `"each"`
  --> 3:50 in step `b`

error[unknown-member]: unknown member `retries` in `policy`
  --> 3:59 in step `b`
   = help: write `"attempts": 4`
"#,
        ),
        (
            r#""value": 1, "policy": {"optional": true}"#,
            r#"error[wrong-kind]: `optional` is `true`, but must be one of `"no"`, `"whole"`, `"each"`
  --> 3:50 in step `b`
   = help: write `"optional": "whole"`
"#,
        ),
        (
            r#""value": 1, "policy": 3"#,
            "error[wrong-kind]: `policy` is `3`, but must be an object
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
        (
            r#""tool": {"name": "t"}, "policy": {"attempts": {"reference": {"input": "q", "pointer": "/n"}}, "timeout": {"reference": {"step": "a", "pointer": ""}}}"#,
            "error[not-allowed]: `timeout` reads a step; policies take constants and inputs
  --> 3:120 in step `b`
   = help: make it an input
",
        ),
        (
            r#""tool": {"name": "t"}, "policy": {"attempts": {"reference": {"input": "r", "pointer": ""}}, "concurrency": {"reference": {"input": "q", "pointer": ""}}}"#,
            "error[unknown-input]: there is no input `r`
  --> 3:85 in step `b`
   = help: the only input is `q`

error[not-allowed]: `concurrency` is for the elements of a `for`
  --> 3:122 in step `b`
   = help: remove `concurrency`
",
        ),
    ]);
}
