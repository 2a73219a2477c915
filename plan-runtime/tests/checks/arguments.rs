//! Tools, their arguments, and literal values of arguments.

use crate::checks::{check, tool, tools};
use plan_runtime::dynamic::Reader;

#[test]
fn an_unknown_tool() {
    check(
        tool,
        r#"{"id": "found", "tool": "serach", "arguments": {"query": "x"}}"#,
        "\
error[unknown-tool]: there is no tool `serach`
  --> 2:25 in step `found`
   = help: a tool with a similar name exists: `search`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x"}}"#,
    );
}

#[test]
fn an_unknown_tool_like_no_other() {
    check(
        tool,
        r#"{"id": "found", "tool": "translate", "arguments": {"query": "x"}}"#,
        "\
error[unknown-tool]: there is no tool `translate`
  --> 2:25 in step `found`
",
        r#"{"id": "found", "tool": "anything", "arguments": {"query": "x"}}"#,
    );
}

#[test]
fn an_unknown_argument() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limt": 5}}"#,
        "\
error[unknown-argument]: `search` has no argument `limt`
  --> 2:63 in step `found`
   = help: did you mean `limit`?
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 5}}"#,
    );
}

#[test]
fn an_unknown_argument_like_no_other() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "color": "red"}}"#,
        "\
error[unknown-argument]: `search` has no argument `color`
  --> 2:63 in step `found`
   = help: its arguments are `limit`, `query`
",
        r#"{"id": "found", "tool": "anything", "arguments": {"query": "x", "color": "red"}}"#,
    );
}

#[test]
fn a_misspelled_argument_of_an_open_schema() {
    check(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"userid": "u1"}}"#,
        "\
error[unknown-argument]: `notify` has no argument `userid`
  --> 2:48 in step `told`
   = help: did you mean `user_id`?
",
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1"}}"#,
    );
}

#[test]
fn an_argument_that_an_open_schema_does_not_name() {
    check(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1", "color": "red"}}"#,
        "\
warning[unknown-argument]: the schema of `notify` does not list the argument `color`
  --> 2:65 in step `told`
   = help: its arguments are `text`, `user_id`
",
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1", "text": "red"}}"#,
    );
}

#[test]
fn missing_arguments() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"body": "Hi"}}"#,
        "\
error[missing-argument]: `send` needs the arguments `to` and `subject`
  --> 2:24 in step `sent`
   = help: `to` is a string: who gets it; `subject` is a string
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "body": "Hi"}}"#,
    );
}

#[test]
fn a_missing_member() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"footer": "f"}}}"#,
        "\
error[missing-argument]: argument `options` lacks `html`
  --> 2:88 in step `sent`
   = help: `html` is `true` or `false`
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": true}}}"#,
    );
}

#[test]
fn a_literal_of_another_type() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": "5"}}"#,
        "\
error[wrong-type]: argument `limit` is the string \"5\", but must be an integer
  --> 2:72 in step `found`
   = help: remove the quotes: `5`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 5.0}}"#,
    );
}

#[test]
fn a_number_for_a_string() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": 2024}}"#,
        "\
error[wrong-type]: argument `query` is the number 2024, but must be a string
  --> 2:58 in step `found`
   = help: write it as a string: `\"2024\"`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "2024"}}"#,
    );
}

#[test]
fn a_fraction_for_an_integer() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 2.5}}"#,
        "\
error[wrong-type]: argument `limit` is the number 2.5, but must be an integer
  --> 2:72 in step `found`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 2}}"#,
    );
}

#[test]
fn null_for_a_required_argument() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": null}}"#,
        "\
error[wrong-type]: argument `query` is null, but must be a string
  --> 2:58 in step `found`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": null}}"#,
    );
}

#[test]
fn a_nested_literal() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": "yes", "footr": "f"}}}"#,
        "\
error[wrong-type]: argument `options.html` is the string \"yes\", but must be `true` or `false`
  --> 2:97 in step `sent`

error[unknown-argument]: argument `options` has no member `footr`
  --> 2:104 in step `sent`
   = help: did you mean `footer`?
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": true, "footer": "f"}}}"#,
    );
}

#[test]
fn a_value_outside_an_enum() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "hihg"}}"#, "\
error[not-allowed]: argument `priority` is the string \"hihg\", but must be one of `low`, `normal`, `high`
  --> 2:89 in step `sent`
   = help: did you mean `high`?
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "high"}}"#,
    );
}

#[test]
fn several_values_of_an_enum() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "low,high"}}"#, "\
error[not-allowed]: argument `priority` is the string \"low,high\", but must be one of `low`, `normal`, `high`
  --> 2:89 in step `sent`
   = help: write one step for each value
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "low"}}"#,
    );
}

#[test]
fn a_number_out_of_bounds() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 51}}"#,
        "\
error[not-allowed]: argument `limit` is the number 51, but must be at most 50
  --> 2:72 in step `found`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 50}}"#,
    );
}

#[test]
fn a_string_that_is_too_short() {
    check(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": ""}}"#,
        "\
error[not-allowed]: argument `query` is the string \"\", but must have at least 1 character
  --> 2:58 in step `found`
",
        r#"{"id": "found", "tool": "search", "arguments": {"query": "ä"}}"#,
    );
}

#[test]
fn a_list_that_is_too_long() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "b", "c"]}}"#,
        "\
error[not-allowed]: argument `cc` is a list of 3 elements, but must have at most 2 elements
  --> 2:83 in step `sent`
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "b"]}}"#,
    );
}

#[test]
fn an_element_of_another_type() {
    check(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", 2]}}"#,
        "\
error[wrong-type]: argument `cc[1]` is the number 2, but must be a string
  --> 2:89 in step `sent`
   = help: write it as a string: `\"2\"`
",
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "2"]}}"#,
    );
}

#[test]
fn an_element_for_a_list() {
    check(
        tool,
        r#"{"id": "done", "tool": "archive", "arguments": {"ids": "m1"}}"#,
        "\
error[list-or-element]: argument `ids` is the string \"m1\", but must be a list of strings
  --> 2:56 in step `done`
   = help: put the value in a list: `[\"m1\"]`
",
        r#"{"id": "done", "tool": "archive", "arguments": {"ids": ["m1"]}}"#,
    );
}

#[test]
fn a_list_for_an_element() {
    check(
        tool,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": ["p1", "p2"]}}"#,
        "\
error[list-or-element]: argument `id` is a list of 2 elements, but must be a string
  --> 2:61 in step `person`
   = help: pass one of the elements, or write a step for each element
",
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p1"}}"#,
    );
}

#[test]
fn a_form_of_several() {
    check(
        tool,
        r#"{"id": "drawn", "tool": "draw", "arguments": {"shape": {"kind": "circle", "radius": "big"}}}"#,
        "\
error[wrong-type]: argument `shape.radius` is the string \"big\", but must be a number
  --> 2:85 in step `drawn`
",
        r#"{"id": "drawn", "tool": "draw", "arguments": {"shape": {"kind": "box", "sides": [1, 2.5]}}}"#,
    );
}

#[test]
fn what_a_step_gives_whose_call_cannot_be_read() {
    for (wrong, message) in [
        (
            r#""tool": 2.5, "arguments": {"query": "x"}"#,
            "the tool of a step is `2.5`, but must be a string",
        ),
        (r#""arguments": {"query": "x"}"#, "the step names no `tool`"),
        (
            r#""tool": "search", "arguments": {"query": "x"}, "value": [1]"#,
            "the step has both `tool` and `value`",
        ),
        (r#""for": 5"#, "`for` is `5`, but must be an object"),
    ] {
        let text = format!(
            r#"{{"steps": [{{"id": "found", {wrong}}}, {{"id": "read", "tool": "read_person", "arguments": {{"id": "$ref:found.0.id"}}}}]}}"#
        );
        let findings = Reader::new().tools(&tools()).read(&text).unwrap_err();
        let messages: Vec<&str> = findings.iter().map(|it| &*it.message).collect();
        assert_eq!(messages, [message], "{findings}");
    }
}

#[test]
fn arguments_that_are_not_an_object() {
    let text =
        r#"{"name": "p", "steps": [{"id": "a", "tool": {"name": "search"}, "arguments": []}]}"#;
    let findings = Reader::new().tools(&tools()).read(text).unwrap_err();
    assert_eq!(
        findings[0].message,
        "the arguments are a list of 0 elements, but must be an object"
    );
}
