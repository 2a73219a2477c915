//! Conditions that are data.

use super::{say, step, value};

#[test]
fn tests_in_templates() {
    say(
        value,
        &[
            (
                r#"{"all": [true]}"#,
                r#"error[missing-member]: `all` needs at least two conditions
  --> 2:32 in step `a`
   = help: write a single condition without `all`
"#,
            ),
            (
                r#"{"and": [true, true]}"#,
                r#"error[unknown-member]: `and` is not a kind of template
  --> 2:25 in step `a`
   = help: did you mean `all`?
"#,
            ),
            (
                r#"{"==": [1, 1]}"#,
                r#"error[unknown-member]: `==` is not a kind of template
  --> 2:25 in step `a`
   = help: did you mean `compare`?
"#,
            ),
            (
                r#"{"any": []}"#,
                r#"error[missing-member]: `any` needs at least two conditions
  --> 2:32 in step `a`
   = help: write a single condition without `any`
"#,
            ),
            (
                r#"{"all": true}"#,
                r#"error[wrong-kind]: `all` is `true`, but must be a list
  --> 2:32 in step `a`
"#,
            ),
            (
                r#"{"compare": [1, "<"]}"#,
                r#"error[missing-member]: `compare` has 2 parts, but needs 3
  --> 2:36 in step `a`
   = help: write a value, an operator and a value: `[a, "<", b]`
"#,
            ),
            (
                r#"{"compare": []}"#,
                r#"error[missing-member]: `compare` has 0 parts, but needs 3
  --> 2:36 in step `a`
   = help: write a value, an operator and a value: `[a, "<", b]`
"#,
            ),
            (
                r#"{"compare": {"a": 1}}"#,
                r#"error[wrong-kind]: `compare` is an object, but must be a list
  --> 2:36 in step `a`
"#,
            ),
            (
                r#"{"compare": [1, "=", 2]}"#,
                r#"error[not-allowed]: `=` is not a comparison operator
  --> 2:40 in step `a`
   = help: the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`
"#,
            ),
            (
                r#"{"compare": [1, "gte", 2]}"#,
                r#"error[not-allowed]: `gte` is not a comparison operator
  --> 2:40 in step `a`
   = help: the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`
"#,
            ),
            (
                r#"{"compare": [1, "~", 2]}"#,
                r#"error[not-allowed]: `~` is not a comparison operator
  --> 2:40 in step `a`
   = help: the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`
"#,
            ),
            (
                r#"{"compare": [1, 5, 2]}"#,
                r#"error[wrong-kind]: the operator of `compare` is `5`, but must be a string
  --> 2:40 in step `a`
   = help: write it in quotes: `"5"`
"#,
            ),
            (
                r#"{"not": true, "all": [true, false]}"#,
                r#"error[wrong-kind]: a template is of one kind, not `not` and `all`
  --> 2:24 in step `a`
"#,
            ),
            (
                r#"{"not": true, "x": 1}"#,
                r#"error[unknown-member]: unknown member `x` in a template of the kind `not`
  --> 2:38 in step `a`
   = help: remove `x`: `not` is the only member
"#,
            ),
            (
                r#"{"lenn": []}"#,
                r#"error[unknown-member]: `lenn` is not a kind of template
  --> 2:25 in step `a`
   = help: did you mean `len`?
"#,
            ),
            (
                r#"{"not": {"compare": [{"reference": {"step": "z", "pointer": ""}}, "=>", {"lne": 1}]}}"#,
                r#"error[unknown-step]: there is no step `z`
  --> 2:68 in step `a`
   = help: the only step is `a`

error[not-allowed]: `=>` is not a comparison operator
  --> 2:90 in step `a`
   = help: the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`

error[unknown-member]: `lne` is not a kind of template
  --> 2:97 in step `a`
   = help: did you mean `len`?
"#,
            ),
        ],
    );
}

#[test]
fn tests_in_conditions() {
    say(
        step,
        &[
            (
                r#""if": [{"condition": {"compare": [1, "<>", 2]}, "then": {"value": 1}}]"#,
                r#"error[not-allowed]: `<>` is not a comparison operator
  --> 3:52 in step `b`
   = help: the operators are `==`, `!=`, `<`, `<=`, `>`, `>=`
"#,
            ),
            (
                r#""if": [{"condition": {"isome": 1}, "then": {"value": 1}}]"#,
                r#"error[unknown-member]: `isome` is not a kind of template
  --> 3:37 in step `b`
   = help: did you mean `is_some`?
"#,
            ),
            (
                r#""if": [{"all": [{"not": {"any": [true]}}, true], "then": {"value": 1}}]"#,
                r#"error[missing-member]: `any` needs at least two conditions
  --> 3:47 in step `b`
   = help: write a single condition without `any`
"#,
            ),
        ],
    );
}
