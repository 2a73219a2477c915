//! References in the strings of blueprints.

use crate::reading::{blueprint, of, say, whole};
use plan_runtime::dynamic::Dialect;

#[test]
fn references_of_blueprints() {
    let reader = of(Dialect::Blueprint);
    say(&reader, blueprint, &[
        (
            "${steps[0].data.x}",
            "error[malformed-reference]: `${steps[0].data.x}` is not a reference to a step
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "${step[0].x}",
            "error[malformed-reference]: `${step[0].x}` has no `.data` after `step[0]`
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "${step[0]}",
            "error[malformed-reference]: `${step[0]}` has no `.data` after `step[0]`
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
            r#"error[malformed-reference]: a reference cannot contain a space
  --> 3:34 in step `step1`
   = help: write a key with such characters in quotes: `["odd key"]`
"#,
        ),
        (
            "${step[5].data}",
            "error[step-out-of-range]: there is no step[5]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
   = help: steps are counted from 0, in the order of the list
",
        ),
        (
            "${step[1].data}",
            "error[later-step]: step[1] refers to itself
  --> 3:36 in step `step1`
   = help: the steps of a blueprint run in order: a step can use only earlier steps
",
        ),
        (
            "${step[x].data}",
            r#"error[malformed-reference]: `${step[x].data}` is not a reference to a step
  --> 3:34 in step `step1`
   = help: a reference is `${step[0].data…}`; to keep the text, write `${"${step[x].data}"}`
"#,
        ),
        (
            "${ step[0].data }",
            "error[malformed-reference]: `${ step[0].data }` is not a reference to a step
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "$step[0].data",
            "error[malformed-reference]: the reference has a wrong form
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "{step[0].data.x}",
            "error[malformed-reference]: the reference has a wrong form
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data.x}`?
",
        ),
        (
            "$(step[0].data)",
            "error[malformed-reference]: the reference has a wrong form
  --> 3:34 in step `step1`
   = help: did you mean `${step[0].data}`?
",
        ),
        (
            "${name}",
            r#"error[malformed-reference]: `${name}` is not a reference to a step
  --> 3:34 in step `step1`
   = help: a reference is `${step[0].data…}`; to keep the text, write `${"${name}"}`
"#,
        ),
        (
            r#"${"x}"#,
            "error[malformed-reference]: the braces contain no reference and no JSON string
  --> 3:34 in step `step1`
",
        ),
        (
            "${step[0].data[a]}",
            r#"error[malformed-reference]: `[a]` is neither an index nor a key
  --> 3:48 in step `step1`
   = help: write a key in quotes: `["a"]`
"#,
        ),
        (
            "$ref:step0",
            r#"error[mixed-dialects]: this is a reference of a tool plan (`$ref:`), but the document is a step blueprint (`${step[0]…}`)
  --> 3:34 in step `step1`
   = note: 2:17: this is a step blueprint (`${step[0]…}`)
   = help: write the reference as `${step[0].data}`; to keep the text, write `${"$ref:step0"}`
"#,
        ),
        (
            "{{step0.result}}",
            r#"error[mixed-dialects]: this is a reference of an action plan (`{{…}}`), but the document is a step blueprint (`${step[0]…}`)
  --> 3:34 in step `step1`
   = note: 2:17: this is a step blueprint (`${step[0]…}`)
   = help: write the reference as `${step[0].data}`; to keep the text, write `${"{{step0.result}}"}`
"#,
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
   = help: use a tool to build the object, or write a name that is known
",
        ),
        (
            r#"{"requestId": "r", "steps": [
  {"tool": "t"},
  {"tool": "t", "params": {"x": "${step[2].data}"}}
]}"#,
            "error[step-out-of-range]: there is no step[2]: the plan has 2 steps, step[0] to step[1]
  --> 3:36 in step `step1`
   = help: steps are counted from 0, in the order of the list
",
        ),
    ]);
}

/// The help contains one `.data`.
#[test]
fn a_name_in_place_of_an_index() {
    let reader = of(Dialect::Blueprint);
    for (written, meant) in [
        ("${mail.data[0].x}", "${step[0].data[0].x}"),
        ("${mail.result.x}", "${step[0].data.x}"),
        ("${mail.data}", "${step[0].data}"),
        ("${mail[0].data}", "${step[0].data[0].data}"),
        ("${mail}", "${step[0].data}"),
    ] {
        let document = format!(
            r#"{{"requestId": "r", "steps": [
  {{"id": "mail", "tool": "t", "params": {{}}}},
  {{"tool": "t", "params": {{"x": "{written}"}}}}
]}}"#
        );
        let findings = reader.read(&document).unwrap_err().to_string();
        let help = format!("did you mean `{meant}`?");
        assert!(findings.contains(&help), "{findings}");
        let meant = document.replace(written, meant);
        assert!(reader.read(&meant).is_ok(), "{meant}");
    }
}
