//! Members of blueprints and of their steps.

use crate::reading::{blueprint, blueprint_step, of, say, whole};
use plan_runtime::dynamic::{Dialect, Profile};

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
                "error[wrong-kind]: `requestId` is `1`, but must be a string
  --> 1:15
   = help: write it in quotes: `\"1\"`
",
            ),
        ],
    );
    say(&reader, blueprint_step, &[
        (
            r#""dependsOn": 0"#,
            "error[wrong-kind]: `dependsOn` is `0`, but must be a list
  --> 3:30 in step `step1`
   = help: put the value in a list: `[0]`
",
        ),
        (
            r#""dependsOn": [1, 2, "a", -1]"#,
            "error[later-step]: step[1] refers to itself
  --> 3:31 in step `step1`
   = help: the steps of a blueprint run in order: a step can use only earlier steps

error[step-out-of-range]: there is no step[2]: the plan has 2 steps, step[0] to step[1]
  --> 3:34 in step `step1`
   = help: steps are counted from 0, in the order of the list

error[wrong-kind]: a step to wait for is a string, but must be the index of a step
  --> 3:37 in step `step1`

error[wrong-kind]: a step to wait for is `-1`, but must be the index of a step
  --> 3:42 in step `step1`
",
        ),
        (
            r#""optional": "yes", "parallel": 1"#,
            "error[wrong-kind]: `optional` is a string, but must be `true` or `false`
  --> 3:29 in step `step1`

error[wrong-kind]: `parallel` is `1`, but must be `true` or `false`
  --> 3:48 in step `step1`
",
        ),
        (
            r#""retryCount": -1, "timeout": "10s""#,
            "error[wrong-kind]: `retryCount` is `-1`, but must be a number of further attempts: 0, 1, 2, …
  --> 3:31 in step `step1`

error[wrong-kind]: `timeout` is a string, but must be a number of milliseconds
  --> 3:46 in step `step1`
   = help: write the time in milliseconds: `10000`
",
        ),
        (
            r#""timeout": 0"#,
            "error[wrong-kind]: `timeout` is `0`, but must be more than 0 milliseconds
  --> 3:28 in step `step1`
   = help: remove `timeout` if an attempt has no time limit
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
            "error[unknown-member]: unknown member `depends_on` in a step
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
   = help: give one of the two steps another id, because a reference could mean both
",
            ),
            (
                r#"{"steps": [{"params": {}}]}"#,
                "error[missing-member]: the step names no `tool`
  --> 1:12 in step `step0`
   = help: name the tool: `\"tool\": \"send\"`
",
            ),
        ],
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
    // starts at once

  step step1 = t
    x: "${steps[0].data.x}"
    // starts at once

  output { step0: step0, step1: step1 }

warning[malformed-reference]: `${steps[0].data.x}` is not a reference to a step
  --> 3:34 in step `step1`: the reader uses the string as text
   = help: did you mean `${step[0].data.x}`?
"#,
        ),
        (
            "${step[0].x} y",
            r#"error[malformed-reference]: `${step[0].x}` has no `.data` after `step[0]`
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
"#,
        ),
        (
            "${step[5].data}",
            "error[step-out-of-range]: there is no step[5]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
   = help: steps are counted from 0, in the order of the list
",
        ),
    ]);
}
