//! References in the strings of action plans.

use crate::reading::{action_plan, of, say, whole};
use plan_runtime::dynamic::Dialect;

#[test]
fn references_of_action_plans() {
    let reader = of(Dialect::ActionPlan);
    say(
        &reader,
        action_plan,
        &[
            (
                "{{ a.result }}",
                r#"error[malformed-reference]: a reference cannot contain spaces
  --> 3:48 in step `b`
   = help: did you mean `{{a.result}}`? To keep the text, write `{{"{{ a.result }}"}}`
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
                "error[malformed-reference]: a reference is written in double braces
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`?
",
            ),
            (
                "{{a.x}}",
                r#"error[malformed-reference]: `{{a.x}}` has no `.result` after `a`
  --> 3:48 in step `b`
   = help: did you mean `{{a.result.x}}`? To keep the text, write `{{"{{a.x}}"}}`
"#,
            ),
            // An unknown name is an input.
            (
                "{{city}}",
                r#"error[malformed-reference]: `{{city}}` has no `.result` after `city`
  --> 3:48 in step `b`
   = help: did you mean `{{PLACEHOLDER_city}}`? To keep the text, write `{{"{{city}}"}}`
"#,
            ),
            (
                "{{placeholder_city}}",
                r#"error[malformed-reference]: `{{placeholder_city}}` has no `.result` after `placeholder_city`
  --> 3:48 in step `b`
   = help: did you mean `{{PLACEHOLDER_city}}`? To keep the text, write `{{"{{placeholder_city}}"}}`
"#,
            ),
            (
                "{{a}}",
                r#"error[malformed-reference]: `{{a}}` has no `.result` after `a`
  --> 3:48 in step `b`
   = help: did you mean `{{a.result}}`? To keep the text, write `{{"{{a}}"}}`
"#,
            ),
            (
                "{{}}",
                r#"error[malformed-reference]: the id of a step is missing
  --> 3:48 in step `b`
   = help: a reference is `{{id.result…}}`; to keep the text, write `{{"{{}}"}}`
"#,
            ),
            (
                "{{a.result x}}",
                r#"error[malformed-reference]: a reference cannot contain a space
  --> 3:48 in step `b`
   = help: a reference is `{{id.result…}}`; to keep the text, write `{{"{{a.result x}}"}}`
"#,
            ),
            (
                "{{c.result}}",
                r#"error[unknown-step]: there is no step `c`
  --> 3:50 in step `b`
   = help: the steps are `a`, `b`; if this is not a reference, write `{{"{{c.result}}"}}`
"#,
            ),
            (
                "{{aa.result}}",
                r#"error[unknown-step]: there is no step `aa`
  --> 3:50 in step `b`
   = help: the steps are `a`, `b`; if this is not a reference, write `{{"{{aa.result}}"}}`
"#,
            ),
            (
                "{{PLACEHOLDER_x.y}}",
                "error[malformed-reference]: an input is inserted as a whole, so it cannot have a path
  --> 3:63 in step `b`
   = help: write `{{PLACEHOLDER_x}}`
",
            ),
            (
                "{{PLACEHOLDER_}}",
                "error[malformed-reference]: the name of an input is missing after `PLACEHOLDER_`
  --> 3:48 in step `b`
",
            ),
            (
                r#"{{"x}}"#,
                "error[malformed-reference]: the braces contain no reference and no JSON string
  --> 3:48 in step `b`
",
            ),
            (
                "{{ name }}",
                r#"error[malformed-reference]: a reference cannot contain spaces
  --> 3:48 in step `b`
   = help: did you mean `{{PLACEHOLDER_name}}`? To keep the text, write `{{"{{ name }}"}}`
"#,
            ),
            (
                "{{a.result[x]}}",
                r#"error[malformed-reference]: `[x]` is neither an index nor a key
  --> 3:58 in step `b`
   = help: write a key in quotes: `["x"]`
"#,
            ),
            (
                "{{a.result.}}",
                r#"error[malformed-reference]: expected a name after the dot
  --> 3:58 in step `b`
   = help: write an empty key as `[""]`
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
   = help: to keep the text, write `{{"{{"}}`
"#,
            ),
            (
                "$ref:a",
                r#"error[mixed-dialects]: this is a reference of a tool plan (`$ref:`), but the document is an action plan (`{{…}}`)
  --> 3:48 in step `b`
   = note: 2:28: this is an action plan (`{{…}}`)
   = help: write the reference as `{{a.result}}`; to keep the text, write `{{"$ref:a"}}`
"#,
            ),
            (
                "${step[0].data}",
                r#"error[mixed-dialects]: this is a reference of a step blueprint (`${step[0]…}`), but the document is an action plan (`{{…}}`)
  --> 3:48 in step `b`
   = note: 2:28: this is an action plan (`{{…}}`)
   = help: write the reference as `{{a.result}}`; to keep the text, write `{{"${step[0].data}"}}`
"#,
            ),
        ],
    );
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
   = help: use a tool to build the object, or write a name that is known
",
        )],
    );
}
