//! Plans checked against what is known of tools: each mistake with all that is said of it, and its right neighbour, of which nothing is.

use plan_runtime::dynamic::{
    Code, Contract, Contracts, Findings, Profile, Reader, Severity, Toolbox,
};
use serde_json::json;

fn tools() -> Contracts {
    let person = json!({
        "$defs": {"person": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "email": {"type": ["string", "null"]},
                "age": {"type": "integer"},
                "manager": {"$ref": "#/$defs/person"},
                "manager_of": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
            },
            "required": ["id", "email", "age"],
        }},
        "$ref": "#/$defs/person",
    });
    let hit = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "score": {"type": "number"},
            "from": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "email": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": false,
            },
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "score", "from", "tags"],
    });
    [
        Contract::new("search")
            .read_only()
            .arguments(json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 40},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                },
                "required": ["query"],
                "additionalProperties": false,
            }))
            .output(json!({"type": "array", "items": hit})),
        Contract::new("read_person")
            .read_only()
            .arguments(json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}))
            .output(person),
        Contract::new("send")
            .arguments(json!({
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "who gets it"},
                    "subject": {"type": "string"},
                    "body": {"type": "string"},
                    "cc": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                    "priority": {"enum": ["low", "normal", "high"]},
                    "options": {
                        "type": "object",
                        "properties": {"html": {"type": "boolean"}, "footer": {"type": "string"}},
                        "required": ["html"],
                        "additionalProperties": false,
                    },
                },
                "required": ["to", "subject"],
                "additionalProperties": false,
            }))
            .output(json!({
                "type": "object",
                "properties": {"id": {"type": "string"}, "status": {"enum": ["queued", "sent"]}},
                "required": ["id", "status"],
            })),
        Contract::new("notify").arguments(json!({
            "type": "object",
            "properties": {"user_id": {"type": "string"}, "text": {"type": "string"}},
            "required": ["user_id"],
        })),
        Contract::new("archive").arguments(json!({
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["ids"],
        })),
        Contract::new("draw").arguments(json!({
            "type": "object",
            "properties": {"shape": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
                {"type": "object", "properties": {"kind": {"const": "box"}, "sides": {"type": "array", "items": {"type": "number"}}}, "required": ["kind", "sides"]},
            ]}},
        })),
        Contract::new("list_mail").output(json!({
            "type": "object",
            "properties": {
                "paging": {"type": "object", "properties": {"cursor": {"type": "string"}}},
                "extra": {"type": "object", "additionalProperties": true},
            },
        })),
        Contract::new("locate").output(json!({
            "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false,
        })),
        Contract::new("anything"),
    ]
    .into_iter()
    .collect()
}

fn tool(steps: &str) -> String {
    format!("{{\"steps\": [\n{steps}\n]}}")
}

fn tool_out(steps: &str) -> String {
    format!("{{\"steps\": [\n{steps}\n], \"output_steps\": [\"b\"]}}")
}

fn blueprint(steps: &str) -> String {
    format!("{{\"requestId\": \"r\", \"steps\": [\n{steps}\n]}}")
}

fn action(steps: &str) -> String {
    format!("[\n{steps}\n]")
}

fn read(text: &str) -> Findings {
    match Reader::new().tools(&tools()).read(text) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

#[track_caller]
fn wrong(dialect: fn(&str) -> String, steps: &str, expected: &str) {
    assert_eq!(read(&dialect(steps)).to_string(), expected);
}

#[track_caller]
fn right(dialect: fn(&str) -> String, steps: &str) {
    assert_eq!(read(&dialect(steps)).to_string(), "");
}

#[test]
fn an_unknown_tool() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "serach", "arguments": {"query": "x"}}"#,
        "\
error[unknown-tool]: there is no tool `serach`
  --> 2:25 in step `found`
   = help: a tool with a similar name exists: `search`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x"}}"#,
    );
}

#[test]
fn an_unknown_tool_like_no_other() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "translate", "arguments": {"query": "x"}}"#,
        "\
error[unknown-tool]: there is no tool `translate`
  --> 2:25 in step `found`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "anything", "arguments": {"query": "x"}}"#,
    );
}

#[test]
fn an_unknown_argument() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limt": 5}}"#,
        "\
error[unknown-argument]: `search` has no argument `limt`
  --> 2:63 in step `found`
   = help: did you mean `limit`?
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 5}}"#,
    );
}

#[test]
fn an_unknown_argument_like_no_other() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "colour": "red"}}"#,
        "\
error[unknown-argument]: `search` has no argument `colour`
  --> 2:63 in step `found`
   = help: its arguments are `limit`, `query`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "anything", "arguments": {"query": "x", "colour": "red"}}"#,
    );
}

#[test]
fn a_misspelled_argument_of_an_open_schema() {
    wrong(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"userid": "u1"}}"#,
        "\
error[unknown-argument]: `notify` has no argument `userid`
  --> 2:48 in step `told`
   = help: did you mean `user_id`?
",
    );
    right(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1"}}"#,
    );
}

#[test]
fn an_argument_that_an_open_schema_does_not_name() {
    wrong(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1", "colour": "red"}}"#,
        "\
warning[unknown-argument]: the schema of `notify` names no argument `colour`
  --> 2:65 in step `told`
   = help: its arguments are `text`, `user_id`
",
    );
    right(
        tool,
        r#"{"id": "told", "tool": "notify", "arguments": {"user_id": "u1", "text": "red"}}"#,
    );
}

#[test]
fn missing_arguments() {
    wrong(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"body": "Hi"}}"#,
        "\
error[missing-argument]: `send` needs the arguments `to` and `subject`
  --> 2:24 in step `sent`
   = help: `to` is a string: who gets it; `subject` is a string
",
    );
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "body": "Hi"}}"#,
    );
}

#[test]
fn a_missing_member() {
    wrong(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"footer": "f"}}}"#,
        "\
error[missing-argument]: argument `options` lacks `html`
  --> 2:88 in step `sent`
   = help: `html` is `true` or `false`
",
    );
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": true}}}"#,
    );
}

#[test]
fn a_literal_of_another_type() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": "5"}}"#,
        "\
error[wrong-type]: argument `limit` is the string \"5\", and has to be an integer
  --> 2:72 in step `found`
   = help: without its quotes it fits: `5`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 5.0}}"#,
    );
}

#[test]
fn a_number_for_a_string() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": 2024}}"#,
        "\
error[wrong-type]: argument `query` is the number 2024, and has to be a string
  --> 2:58 in step `found`
   = help: write it as a string: `\"2024\"`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "2024"}}"#,
    );
}

#[test]
fn a_fraction_for_an_integer() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 2.5}}"#,
        "\
error[wrong-type]: argument `limit` is the number 2.5, and has to be an integer
  --> 2:72 in step `found`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 2}}"#,
    );
}

#[test]
fn null_for_a_required_argument() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": null}}"#,
        "\
error[wrong-type]: argument `query` is null, and has to be a string
  --> 2:58 in step `found`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": null}}"#,
    );
}

#[test]
fn a_nested_literal() {
    wrong(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": "yes", "footr": "f"}}}"#,
        "\
error[wrong-type]: argument `options.html` is the string \"yes\", and has to be `true` or `false`
  --> 2:97 in step `sent`

error[unknown-argument]: argument `options` has no member `footr`
  --> 2:104 in step `sent`
   = help: did you mean `footer`?
",
    );
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "options": {"html": true, "footer": "f"}}}"#,
    );
}

#[test]
fn a_value_outside_an_enum() {
    wrong(tool, r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "hihg"}}"#, "\
error[not-allowed]: argument `priority` is the string \"hihg\", and has to be one of `low`, `normal`, `high`
  --> 2:89 in step `sent`
   = help: did you mean `high`?
");
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "high"}}"#,
    );
}

#[test]
fn several_values_of_an_enum() {
    wrong(tool, r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "low,high"}}"#, "\
error[not-allowed]: argument `priority` is the string \"low,high\", and has to be one of `low`, `normal`, `high`
  --> 2:89 in step `sent`
   = help: it takes one of them at a time: make a step for each
");
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "priority": "low"}}"#,
    );
}

#[test]
fn a_number_out_of_bounds() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 51}}"#,
        "\
error[not-allowed]: argument `limit` is the number 51, and has to be at most 50
  --> 2:72 in step `found`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "x", "limit": 50}}"#,
    );
}

#[test]
fn a_string_that_is_too_short() {
    wrong(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": ""}}"#,
        "\
error[not-allowed]: argument `query` is the string \"\", and has to have at least 1 character
  --> 2:58 in step `found`
",
    );
    right(
        tool,
        r#"{"id": "found", "tool": "search", "arguments": {"query": "ä"}}"#,
    );
}

#[test]
fn a_list_that_is_too_long() {
    wrong(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "b", "c"]}}"#,
        "\
error[not-allowed]: argument `cc` is a list of 3 elements, and has to have at most 2 elements
  --> 2:83 in step `sent`
",
    );
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "b"]}}"#,
    );
}

#[test]
fn an_element_of_another_type() {
    wrong(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", 2]}}"#,
        "\
error[wrong-type]: argument `cc[1]` is the number 2, and has to be a string
  --> 2:89 in step `sent`
   = help: write it as a string: `\"2\"`
",
    );
    right(
        tool,
        r#"{"id": "sent", "tool": "send", "arguments": {"to": "a@b.c", "subject": "s", "cc": ["a", "2"]}}"#,
    );
}

#[test]
fn an_element_for_a_list() {
    wrong(
        tool,
        r#"{"id": "done", "tool": "archive", "arguments": {"ids": "m1"}}"#,
        "\
error[list-or-element]: argument `ids` is the string \"m1\", and has to be a list of strings
  --> 2:56 in step `done`
   = help: put it in a list: `[\"m1\"]`
",
    );
    right(
        tool,
        r#"{"id": "done", "tool": "archive", "arguments": {"ids": ["m1"]}}"#,
    );
}

#[test]
fn a_list_for_an_element() {
    wrong(
        tool,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": ["p1", "p2"]}}"#,
        "\
error[list-or-element]: argument `id` is a list of 2 elements, and has to be a string
  --> 2:61 in step `person`
   = help: give one of the elements; for each of them, make a step
",
    );
    right(
        tool,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p1"}}"#,
    );
}

#[test]
fn a_form_of_several() {
    wrong(
        tool,
        r#"{"id": "drawn", "tool": "draw", "arguments": {"shape": {"kind": "circle", "radius": "big"}}}"#,
        "\
error[wrong-type]: argument `shape.radius` is the string \"big\", and has to be a number
  --> 2:85 in step `drawn`
",
    );
    right(
        tool,
        r#"{"id": "drawn", "tool": "draw", "arguments": {"shape": {"kind": "box", "sides": [1, 2.5]}}}"#,
    );
}

#[test]
fn an_unknown_field() {
    wrong(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].from.nam}"}}"#,
        "\
error[unknown-field]: `[0].from` in the output of `search` has no field `nam`
  --> 3:42 in step `step1`
   = help: did you mean `${step[0].data[0].from.name}`?
",
    );
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].from.name}"}}"#,
    );
}

#[test]
fn a_field_like_no_other() {
    wrong(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "anything", "params": {"text": "Since ${step[0].data[0].created_at}."}}"#,
        "\
error[unknown-field]: `[0]` in the output of `search` has no field `created_at`
  --> 3:48 in step `step1`
   = help: it has `from`, `id`, `score`, `tags`
",
    );
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "anything", "params": {"text": "Since ${step[0].data[0].id}."}}"#,
    );
}

#[test]
fn a_field_inside_what_the_output_wraps() {
    wrong(
        action,
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.cursor}}"}}"#,
        "\
error[unknown-field]: the output of `list_mail` has no field `cursor`
  --> 3:58 in step `done`
   = help: did you mean `{{page.result.paging.cursor}}`?
",
    );
    right(
        action,
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.paging.cursor}}"}}"#,
    );
}

#[test]
fn a_field_of_text() {
    wrong(action, r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.paging.cursor.id}}"}}"#, "\
error[unknown-field]: `paging.cursor` in the output of `list_mail` is a string, which has no field `id`
  --> 3:58 in step `done`
");
    right(
        action,
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.extra.id}}"}}"#,
    );
}

#[test]
fn an_element_beyond_a_tuple() {
    wrong(
        tool,
        r#"{"id": "place", "tool": "locate", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"height": "$ref:place.2"}}"#,
        "\
error[unknown-field]: the output of `locate` has 2 elements at most, and so no [2]
  --> 3:60 in step `done`
",
    );
    right(
        tool,
        r#"{"id": "place", "tool": "locate", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"height": "$ref:place.1"}}"#,
    );
}

#[test]
fn a_list_as_an_element() {
    wrong(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data.id}"}}"#,
        "\
error[list-or-element]: the output of `search` is a list of objects, which has no field `id`
  --> 3:42 in step `step1`
   = help: did you mean the first element, `${step[0].data[0].id}`?
",
    );
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].id}"}}"#,
    );
}

#[test]
fn an_object_as_a_list() {
    wrong(
        action,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p"}},
{"id": "sent", "tool": "anything", "arguments": {"age": "{{person.result[0].age}}"}}"#,
        "\
error[list-or-element]: the output of `read_person` is an object, which has no element [0]
  --> 3:57 in step `sent`
   = help: did you mean `{{person.result.age}}`?
",
    );
    right(
        action,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p"}},
{"id": "sent", "tool": "anything", "arguments": {"age": "{{person.result.age}}"}}"#,
    );
}

#[test]
fn a_projection_over_an_object() {
    wrong(
        blueprint,
        r#"{"tool": "read_person", "params": {"id": "p"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].id}"}}"#,
        "\
error[list-or-element]: the output of `read_person` is an object, which has no elements
  --> 3:39 in step `step1`
   = help: did you mean `${step[0].data.id}`?
",
    );
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "p"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].id}"}}"#,
    );
}

#[test]
fn a_projection_where_one_is_meant() {
    wrong(blueprint, r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[*].id}"}}"#, "\
error[list-or-element]: argument `id` has to be a string, and `${step[0].data[*].id}` is a list of strings
  --> 3:42 in step `step1`
   = help: did you mean the first element, `${step[0].data[0].id}`?
");
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].id}"}}"#,
    );
}

#[test]
fn one_where_a_list_is_meant() {
    wrong(action, r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "done", "tool": "archive", "arguments": {"ids": "{{hits.result[0].id}}"}}"#, "\
error[list-or-element]: argument `ids` has to be a list of strings, and `{{hits.result[0].id}}` is a string
  --> 3:56 in step `done`
   = help: put it in a list: `[\"{{hits.result[0].id}}\"]`
");
    right(
        action,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "done", "tool": "archive", "arguments": {"ids": ["{{hits.result[0].id}}"]}}"#,
    );
}

#[test]
fn a_list_of_others() {
    wrong(blueprint, r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].score}"}}"#, "\
error[wrong-type]: argument `ids` has to be a list of strings, and `${step[0].data[*].score}` is a list of numbers
  --> 3:39 in step `step1`
");
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "archive", "params": {"ids": "${step[0].data[0].tags}"}}"#,
    );
}

#[test]
fn a_reference_of_another_type() {
    wrong(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "person", "tool": "read_person", "arguments": {"id": "$ref:hits.0.score"}}"#,
        "\
error[wrong-type]: argument `id` has to be a string, and `$ref:hits.0.score` is a number
  --> 3:61 in step `person`
",
    );
    right(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "more", "tool": "search", "arguments": {"query": "y", "limit": "$ref:hits.0.score"}}"#,
    );
}

#[test]
fn an_object_where_its_field_is_meant() {
    wrong(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "read_person", "arguments": {"id": "$ref:a"}}"#,
        "\
error[wrong-type]: argument `id` has to be a string, and `$ref:a` is an object
  --> 3:56 in step `b`
   = help: did you mean `$ref:a.id`?
",
    );
    right(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "read_person", "arguments": {"id": "$ref:a.id"}}"#,
    );
}

#[test]
fn all_arguments_by_one_reference() {
    wrong(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "b", "tool": "read_person", "arguments": "$ref:hits.0.from"}"#,
        "\
error[wrong-type]: what is in `$ref:hits.0.from` does not fit the arguments: it has no `id`
  --> 3:49 in step `b`
",
    );
    right(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "b", "tool": "read_person", "arguments": "$ref:hits.0"}"#,
    );
}

#[test]
fn text_where_a_number_is_meant() {
    wrong(
        action,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "search", "arguments": {"query": "y", "limit": "{{a.result.age}} at most"}}"#,
        "\
error[wrong-type]: argument `limit` is text, and has to be an integer
  --> 3:68 in step `b`
   = help: a reference in a longer text is text; one that is the whole string keeps its type
",
    );
    right(
        action,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "search", "arguments": {"query": "{{a.result}} at most", "limit": "{{a.result.age}}"}}"#,
    );
}

#[test]
fn values_that_an_enum_does_not_have() {
    wrong(tool, r#"{"id": "a", "tool": "send", "arguments": {"to": "x", "subject": "y"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "y", "priority": "$ref:a.status"}}"#, "\
error[not-allowed]: `$ref:a.status` is one of `queued`, `sent`, and argument `priority` has to be one of `low`, `normal`, `high`
  --> 3:82 in step `b`
");
    right(
        tool,
        r#"{"id": "a", "tool": "send", "arguments": {"to": "x", "subject": "y"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "$ref:a.status"}}"#,
    );
}

#[test]
fn a_field_that_may_be_null() {
    wrong(tool, r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.email", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` has to be given, and `$ref:a.email` may lead to nothing: `email` may be null
  --> 3:49 in step `b`
   = help: refer to what is always there: an optional step or field is not
");
    right(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "y", "body": "$ref:a.email"}}"#,
    );
}

#[test]
fn a_field_that_may_be_missing() {
    wrong(blueprint, r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "send", "params": {"to": "${step[0].data[0].from.email}", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` has to be given, and `${step[0].data[0].from.email}` may lead to nothing: `[0].from.email` need not be there
  --> 3:35 in step `step1`
   = help: refer to what is always there: an optional step or field is not
");
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "send", "params": {"to": "${step[0].data[0].from.name}", "subject": "y", "body": "${step[0].data[0].from.email}"}}"#,
    );
}

#[test]
fn a_way_through_what_may_be_missing() {
    wrong(tool, r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.manager.id", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` has to be given, and `$ref:a.manager.id` may lead to nothing: `manager` need not be there
  --> 3:49 in step `b`
   = help: refer to what is always there: an optional step or field is not
");
    right(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.id", "subject": "s", "body": "$ref:a.manager.id"}}"#,
    );
}

#[test]
fn the_output_of_an_optional_step() {
    wrong(blueprint, r#"{"tool": "read_person", "params": {"id": "p"}, "optional": true},
{"tool": "read_person", "params": {"id": "${step[0].data.id}"}}"#, "\
error[maybe-absent]: argument `id` has to be given, and `${step[0].data.id}` may lead to nothing: step `step0` is optional, and where it fails its output is null
  --> 3:42 in step `step1`
   = help: refer to what is always there: an optional step or field is not
");
    right(
        blueprint,
        r#"{"tool": "read_person", "params": {"id": "p"}, "optional": true},
{"tool": "send", "params": {"to": "x", "subject": "y", "body": "${step[0].data.id}"}}"#,
    );
}

#[test]
fn an_output_that_nothing_uses() {
    wrong(
        tool_out,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "y"}}"#,
        "\
warning[unused-output]: nothing uses the output of step `a`, and `read_person` only reads
  --> 2:8 in step `a`
   = help: take the step out, or use what it finds
",
    );
    right(
        tool_out,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.id", "subject": "y"}}"#,
    );
}

#[test]
fn waiting_without_a_reason() {
    wrong(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "search", "params": {"query": "y"}, "dependsOn": [0]}"#,
        "\
warning[unneeded-dependency]: step[1] uses nothing of step[0], and both only read: it need not wait
  --> 3:60 in step `step1`
   = help: take it out of the list, so that both can run at once
",
    );
    right(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "archive", "params": {"ids": ["y"]}, "dependsOn": [0]}"#,
    );
}

#[test]
fn waiting_by_another_way_already() {
    wrong(
        blueprint,
        r#"{"tool": "send", "params": {"to": "x", "subject": "y"}},
{"tool": "send", "params": {"to": "x", "subject": "${step[0].data.id}"}},
{"tool": "archive", "params": {"ids": ["${step[1].data.id}"]}, "dependsOn": [0, 1]}"#,
        "\
warning[unneeded-dependency]: step[2] waits for step[0] already, by way of step[1]
  --> 4:78 in step `step2`
   = help: take it out of the list
",
    );
    right(
        blueprint,
        r#"{"tool": "send", "params": {"to": "x", "subject": "y"}},
{"tool": "send", "params": {"to": "x", "subject": "y"}},
{"tool": "archive", "params": {"ids": ["${step[1].data.id}"]}, "dependsOn": [0, 1]}"#,
    );
}

#[test]
fn waiting_twice() {
    wrong(
        blueprint,
        r#"{"tool": "send", "params": {"to": "x", "subject": "y"}},
{"tool": "send", "params": {"to": "x", "subject": "y"}, "dependsOn": [0, 0]}"#,
        "\
warning[unneeded-dependency]: step[0] is listed twice
  --> 3:74 in step `step1`
   = help: once is enough
",
    );
    right(
        blueprint,
        r#"{"tool": "send", "params": {"to": "x", "subject": "y"}},
{"tool": "send", "params": {"to": "x", "subject": "y"}, "dependsOn": [0]}"#,
    );
}

#[test]
fn an_input_of_two_types() {
    wrong(
        action,
        r#"{"id": "a", "tool": "search", "arguments": {"query": "{{PLACEHOLDER_what}}", "limit": "{{PLACEHOLDER_what}}"}}"#,
        "\
error[wrong-type]: the input `what` has to be an integer here, and a string elsewhere
  --> 2:87: argument `limit`
   = note: 2:54: argument `query` has to be a string
   = help: make it two inputs
",
    );
    right(
        action,
        r#"{"id": "a", "tool": "search", "arguments": {"query": "{{PLACEHOLDER_what}}", "limit": "{{PLACEHOLDER_most}}"}}"#,
    );
}

#[test]
fn two_mistakes_at_once() {
    wrong(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x", "limit": 0}},
{"id": "sent", "tool": "send", "arguments": {"to": "$ref:hits.0.form.name", "subject": 7}},
{"id": "gone", "tool": "archive", "arguments": {"ids": "$ref:hitz"}}"#,
        "\
error[not-allowed]: argument `limit` is the number 0, and has to be at least 1
  --> 2:71 in step `hits`

error[unknown-field]: `[0]` in the output of `search` has no field `form`
  --> 3:52 in step `sent`
   = help: did you mean `$ref:hits.0.from.name`?

error[wrong-type]: argument `subject` is the number 7, and has to be a string
  --> 3:88 in step `sent`
   = help: write it as a string: `\"7\"`

error[unknown-step]: there is no step `hitz`
  --> 4:62 in step `gone`
   = help: a step with a similar name exists: `hits`
",
    );
    right(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x", "limit": 1}},
{"id": "sent", "tool": "send", "arguments": {"to": "$ref:hits.0.from.name", "subject": "7"}},
{"id": "gone", "tool": "archive", "arguments": {"ids": "$ref:hits[*].id"}}"#,
    );
}

#[test]
fn a_document_that_was_read_can_be_checked_later() {
    let text = tool(r#"{"id": "found", "tool": "serach", "arguments": {"query": "x"}}"#);
    let document = Reader::new().read(&text).unwrap();
    assert!(document.warnings().is_empty());
    let findings = document.check(&tools());
    assert_eq!(
        findings,
        Reader::new().tools(&tools()).read(&text).unwrap_err()
    );
    assert_eq!(findings[0].code, Code::UnknownTool);
}

#[test]
fn what_could_not_be_read_is_no_second_mistake() {
    let text = tool(
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "$ref: gone"}},
{"id": 3, "tool": "search", "arguments": {}},
{"id": "more", "arguments": {"query": 3}},
{"id": "sent", "tool": "send", "arguments": {"to": "x", "subject": "$ref:hits.0.id"}}"#,
    );
    let codes: Vec<Code> = read(&text).iter().map(|finding| finding.code).collect();
    let expected = [
        Code::MalformedReference,
        Code::WrongKind,
        Code::MissingArgument,
        Code::MissingMember,
    ];
    assert_eq!(codes, expected);
}

#[test]
fn where_a_profile_allows_nothing_it_is_a_warning() {
    let text = tool(
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.email", "subject": "$ref:a.name"}}"#,
    );
    let tools = tools();
    let reader = Reader::new().tools(&tools).profile(Profile::Compat);
    let document = reader.read(&text).unwrap();
    let codes: Vec<_> = document
        .warnings()
        .iter()
        .map(|f| (f.code, f.severity))
        .collect();
    let warning = Severity::Warning;
    assert_eq!(
        codes,
        [(Code::MaybeAbsent, warning), (Code::UnknownField, warning)]
    );
    assert!(
        Reader::new()
            .tools(&tools)
            .read(&text)
            .unwrap_err()
            .errors()
            .count()
            == 2
    );
}

#[test]
fn inputs_have_the_types_of_the_arguments_that_they_stand_for() {
    let text = action(
        r#"{"id": "a", "tool": "search", "arguments": {"query": "{{PLACEHOLDER_query}}", "limit": "{{PLACEHOLDER_limit}}"}},
{"id": "b", "tool": "archive", "arguments": {"ids": "{{PLACEHOLDER_ids}}"}},
{"id": "c", "tool": "send", "arguments": {"to": "a", "subject": "To {{PLACEHOLDER_name}}, {{PLACEHOLDER_limit}}", "cc": ["{{PLACEHOLDER_cc}}"],
    "options": {"html": "{{PLACEHOLDER_html}}"}, "body": "{{PLACEHOLDER_query}}"}},
{"id": "d", "tool": "anything", "arguments": {"any": "{{PLACEHOLDER_any}}"}},
{"id": "e", "tool": "send", "arguments": {"to": "a", "subject": "s", "options": "{{PLACEHOLDER_options}}"}}"#,
    );
    let tools = tools();
    let types = |profile| {
        let document = Reader::new()
            .tools(&tools)
            .profile(profile)
            .read(&text)
            .unwrap();
        let inputs = document.plan().inputs.iter();
        inputs
            .map(|input| format!("{}: {}", input.name, input.type_name))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        types(Profile::Strict),
        [
            "query: String",
            "limit: i64",
            "ids: Vec<String>",
            "name: String",
            "cc: String",
            "html: bool",
            "any: String",
            "options: serde_json::Value"
        ]
    );
    assert_eq!(types(Profile::Compat)[1], "limit: Option<i64>");

    let stated = r#"{"inputs": [{"name": "limit", "type": "String"}], "plan": [
{"id": "a", "tool": "search", "arguments": {"query": "x", "limit": "{{PLACEHOLDER_limit}}"}}]}"#;
    assert_eq!(
        read(stated).to_string(),
        "\
error[wrong-type]: argument `limit` has to be an integer, and `{{PLACEHOLDER_limit}}` is a string
  --> 2:68 in step `a`
"
    );
}

#[test]
fn what_a_schema_does_not_say_fits() {
    for schema in [
        json!(true),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {"value": true}}),
        json!({"$ref": "#/nowhere"}),
        json!({"$ref": "https://example.org/schema"}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]}]}),
        json!({"properties": {"value": {"type": "whatever", "format": "date", "pattern": "^x$"}}}),
        json!({"properties": {"value": {"not": {}, "if": {}, "then": false, "contains": 3}}}),
        json!({"patternProperties": {"^v": {"type": "string"}}, "additionalProperties": false}),
        json!({"properties": {"other": {}}, "additionalProperties": true}),
        json!({"type": 3, "properties": 4, "required": 5, "enum": 6, "anyOf": 7, "items": 8}),
    ] {
        let tools = Contracts::from_iter([Contract::new("t")
            .arguments(schema.clone())
            .output(schema.clone())]);
        for value in [
            json!(null),
            json!(1),
            json!("x"),
            json!([[]]),
            json!({"value": {"value": 1}}),
            json!("$ref:a.value.0[*].x"),
        ] {
            let text = json!({"steps": [
                {"id": "a", "tool": "t", "arguments": {"value": 1}},
                {"id": "b", "tool": "t", "arguments": {"value": value}},
            ]});
            let text = text.to_string();
            let read = Reader::new().tools(&tools).read(&text);
            let findings =
                read.map_or_else(|findings| findings, |document| document.warnings().clone());
            assert!(findings.is_empty(), "{schema}\n{findings}");
        }
    }
}

#[test]
fn schemas_that_would_take_for_ever_are_given_up_on() {
    let mut levels = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        levels.insert(level.to_string(), json!({"anyOf": [next, {"type": "object", "properties": {"a": next, "b": next}}, next]}));
    }
    levels.insert("40".into(), json!({"type": "string"}));
    let schema = json!({"$defs": levels, "properties": {"value": {"$ref": "#/$defs/0"}}});
    let mut value = json!(3);
    for _ in 0..40 {
        value = json!({"a": value, "b": [value]});
        if value.to_string().len() > 100_000 {
            break;
        }
    }
    let tools = Contracts::from_iter([Contract::new("t").arguments(schema.clone()).output(schema)]);
    let text = json!({"steps": [
        {"id": "a", "tool": "t", "arguments": {"value": value}},
        {"id": "b", "tool": "t", "arguments": {"value": "$ref:a.a.b.a.b"}},
        {"id": "c", "tool": "t", "arguments": {"value": "$ref:a"}},
    ]});
    let start = std::time::Instant::now();
    let _ = Reader::new().tools(&tools).read(&text.to_string());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn canonical_json_is_checked_where_things_stand_in_it() {
    let text = r#"{"name": "p", "inputs": [{"name": "most"}, {"name": "who", "type": "u32"}], "steps": [
  {"id": "people", "for": {"pattern": "who", "list": [1, 2], "body": {
    "tool": {"name": "read_person"}, "arguments": {"object": {"id": {"reference": {"local": 0, "pointer": ""}}}}}}},
  {"id": "maybe", "if": [{"condition": true, "then":
    {"tool": {"name": "read_person"}, "arguments": {"object": {"id": 5}}}}]},
  {"id": "hits", "tool": {"name": "search"}, "after": ["maybe"], "arguments": {"object": {
    "query": {"reference": {"input": "who", "pointer": ""}},
    "limit": {"reference": {"input": "most", "pointer": ""}}}}},
  {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
    "to": {"reference": {"step": "maybe", "pointer": "/id"}},
    "subject": {"text": ["Re: ", {"value": {"reference": {"step": "people", "pointer": "/0/idd"}}}]},
    "cc": [{"reference": {"step": "people", "path": [{"each": "element"}, "id"]}}]}}}
], "output": {"value": {"reference": {"step": "sent", "pointer": "/state"}}}}"#;
    assert_eq!(read(text).to_string(), "\
error[wrong-type]: argument `id` is the number 5, and has to be a string
  --> 5:70 in step `maybe`
   = help: write it as a string: `\"5\"`

warning[unused-output]: nothing uses the output of step `hits`, and `search` only reads
  --> 6:10 in step `hits`
   = help: take the step out, or use what it finds

warning[unneeded-dependency]: step `hits` uses nothing of step `maybe`, and both only read: it need not wait
  --> 6:56 in step `hits`
   = help: take it out of the list, so that both can run at once

error[wrong-type]: argument `query` has to be a string, and `who` is an integer
  --> 7:14 in step `hits`

error[maybe-absent]: argument `to` has to be given, and `maybe.id` may lead to nothing: step `maybe` may be skipped, and its output is null then
  --> 10:11 in step `sent`
   = help: refer to what is always there: an optional step or field is not

error[unknown-field]: `[0]` in the output of step `people` has no field `idd`
  --> 11:44 in step `sent`
   = help: did you mean `people[0].id`?

error[list-or-element]: argument `cc[0]` has to be a string, and `people[..].id` is a list of strings
  --> 12:12 in step `sent`
   = help: did you mean the first element, `people[0].id`?

error[unknown-field]: the output of `send` has no field `state`
  --> 13:24
   = help: did you mean `sent.status`?
");
}

#[test]
fn what_a_tool_of_json_is_given_is_checked_before_it_is_called() {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "count": {"type": "integer", "maximum": 3}},
        "required": ["to"],
    });
    let toolbox = Toolbox::new()
        .with_fn(
            Contract::new("send").arguments(schema),
            |arguments| async move { Ok(arguments) },
        )
        .with_fn(Contract::new("anything"), |arguments| async move {
            Ok(arguments)
        });
    let run = |given: serde_json::Value| {
        let text = json!({"steps": [
            {"id": "a", "tool": "anything", "arguments": given},
            {"id": "b", "tool": "send", "arguments": "$ref:a"},
        ]});
        let text = text.to_string();
        let document = toolbox.read(&text).unwrap();
        smol::block_on(toolbox.run(document.plan(), (), &())).map_err(|error| error.to_string())
    };
    let given = json!({"to": "x", "count": null, "more": 1});
    assert_eq!(run(given.clone()), Ok(json!({"a": given, "b": given})));
    assert_eq!(
        run(json!({"to": 3, "count": 4})).unwrap_err(),
        "plan `plan` failed: step `b` (send): argument `count` is the number 4, and has to be at most 3; argument `to` is the number 3, and has to be a string"
    );
}

/// What `schemars` says of types of serde.
#[cfg(feature = "schema")]
mod schemas_of_types {
    use super::*;
    use plan_runtime::{Result, tool};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Mail {
        thread_id: String,
        subject: Option<String>,
        from: Person,
        labels: Vec<Label>,
    }

    #[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
    struct Person {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        email: Option<String>,
    }

    #[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Label {
        /// Not read yet.
        Unread,
        /// Of some importance.
        Starred,
    }

    #[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Filter {
        Sender { name: String },
        Newest { count: u8 },
    }

    #[tool(read_only)]
    #[derive(JsonSchema)]
    async fn fetch(filters: Vec<Filter>, label: Option<Label>) -> Result<Vec<Mail>> {
        let _ = (filters, label);
        Ok(Vec::new())
    }

    #[tool]
    #[derive(JsonSchema)]
    async fn reply(thread_id: String, to: String, subject: Option<String>) -> Result<()> {
        let _ = (thread_id, to, subject);
        Ok(())
    }

    #[test]
    fn are_understood() {
        let toolbox = Toolbox::<()>::new()
            .with_schema::<Fetch>()
            .with_schema::<Reply>();
        let read = |steps: &str| match toolbox.read(&tool(steps)) {
            Ok(document) => document.warnings().to_string(),
            Err(findings) => findings.to_string(),
        };
        assert_eq!(
            read(
                r#"{"id": "mail", "tool": "fetch", "arguments": {"filters": [{"kind": "sender", "name": "Ann"}, {"kind": "newest", "count": 3}], "label": "unread"}},
{"id": "sent", "tool": "reply", "arguments": {"thread_id": "$ref:mail.0.threadId", "to": "$ref:mail.0.from.name", "subject": "$ref:mail.0.subject"}}"#
            ),
            ""
        );
        assert_eq!(
            read(
                r#"{"id": "mail", "tool": "fetch", "arguments": {"filters": [{"kind": "sender"}, {"kind": "newest", "count": 300}, {"kind": "oldest"}], "label": "unraed"}},
{"id": "sent", "tool": "reply", "arguments": {"thread_id": "$ref:mail.0.thread_id", "to": "$ref:mail.0.from.email", "subject": "$ref:mail.0.labels"}}"#
            ),
            "\
error[missing-argument]: argument `filters[0]` lacks `name`
  --> 2:59 in step `mail`
   = help: `name` is a string

error[not-allowed]: argument `filters[1].count` is the number 300, and has to be at most 255
  --> 2:107 in step `mail`

error[not-allowed]: argument `filters[2].kind` is the string \"oldest\", and has to be one of `sender`, `newest`
  --> 2:122 in step `mail`

error[not-allowed]: argument `label` is the string \"unraed\", and has to be one of `unread`, `starred`
  --> 2:143 in step `mail`
   = help: did you mean `unread`?

error[unknown-field]: `[0]` in the output of `fetch` has no field `thread_id`
  --> 3:60 in step `sent`
   = help: did you mean `$ref:mail.0.threadId`?

error[maybe-absent]: argument `to` has to be given, and `$ref:mail.0.from.email` may lead to nothing: `[0].from.email` need not be there
  --> 3:91 in step `sent`
   = help: refer to what is always there: an optional step or field is not

error[list-or-element]: argument `subject` has to be a string or null, and `$ref:mail.0.labels` is a list of strings
  --> 3:128 in step `sent`
   = help: did you mean the first element, `$ref:mail.0.labels.0`?
"
        );
    }
}
