//! References: fields of outputs, and outputs in place of arguments.

use crate::checks::{action, blueprint, check, plan_json, tool};

#[test]
fn an_unknown_field() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].from.nam}"}}"#,
        "\
error[unknown-field]: `[0].from` in the output of `search` has no field `nam`
  --> 3:42 in step `step1`
   = help: did you mean `${step[0].data[0].from.name}`?
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].from.name}"}}"#,
    );
}

#[test]
fn a_field_like_no_other() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "anything", "params": {"text": "Since ${step[0].data[0].created_at}."}}"#,
        "\
error[unknown-field]: `[0]` in the output of `search` has no field `created_at`
  --> 3:48 in step `step1`
   = help: it has `from`, `id`, `score`, `tags`
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "anything", "params": {"text": "Since ${step[0].data[0].id}."}}"#,
    );
}

#[test]
fn a_field_inside_what_the_output_wraps() {
    check(
        action,
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.cursor}}"}}"#,
        "\
error[unknown-field]: the output of `list_mail` has no field `cursor`
  --> 3:58 in step `done`
   = help: did you mean `{{page.result.paging.cursor}}`?
",
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.paging.cursor}}"}}"#,
    );
}

#[test]
fn a_field_of_text() {
    check(
        action,
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.paging.cursor.id}}"}}"#, "\
error[unknown-field]: `paging.cursor` in the output of `list_mail` is a string, which has no field `id`
  --> 3:58 in step `done`
",
        r#"{"id": "page", "tool": "list_mail", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"next": "{{page.result.extra.id}}"}}"#,
    );
}

#[test]
fn an_element_beyond_a_tuple() {
    check(
        tool,
        r#"{"id": "place", "tool": "locate", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"height": "$ref:place.2"}}"#,
        "\
error[unknown-field]: the output of `locate` has at most 2 elements, so it has no [2]
  --> 3:60 in step `done`
",
        r#"{"id": "place", "tool": "locate", "arguments": {}},
{"id": "done", "tool": "anything", "arguments": {"height": "$ref:place.1"}}"#,
    );
}

#[test]
fn a_list_as_an_element() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data.id}"}}"#,
        "\
error[list-or-element]: the output of `search` is a list of objects, which has no field `id`
  --> 3:42 in step `step1`
   = help: did you mean the first element, `${step[0].data[0].id}`?
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].id}"}}"#,
    );
}

#[test]
fn an_object_as_a_list() {
    check(
        action,
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p"}},
{"id": "sent", "tool": "anything", "arguments": {"age": "{{person.result[0].age}}"}}"#,
        "\
error[list-or-element]: the output of `read_person` is an object, which has no element [0]
  --> 3:57 in step `sent`
   = help: did you mean `{{person.result.age}}`?
",
        r#"{"id": "person", "tool": "read_person", "arguments": {"id": "p"}},
{"id": "sent", "tool": "anything", "arguments": {"age": "{{person.result.age}}"}}"#,
    );
}

#[test]
fn a_projection_over_an_object() {
    check(
        blueprint,
        r#"{"tool": "read_person", "params": {"id": "p"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].id}"}}"#,
        "\
error[list-or-element]: the output of `read_person` is an object, which has no elements
  --> 3:39 in step `step1`
   = help: did you mean `${step[0].data.id}`?
",
        r#"{"tool": "search", "params": {"query": "p"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].id}"}}"#,
    );
}

#[test]
fn a_projection_where_one_is_meant() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[*].id}"}}"#, "\
error[list-or-element]: argument `id` must be a string, but `${step[0].data[*].id}` is a list of strings
  --> 3:42 in step `step1`
   = help: did you mean the first element, `${step[0].data[0].id}`?
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "read_person", "params": {"id": "${step[0].data[0].id}"}}"#,
    );
}

#[test]
fn one_where_a_list_is_meant() {
    check(
        action,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "done", "tool": "archive", "arguments": {"ids": "{{hits.result[0].id}}"}}"#, "\
error[list-or-element]: argument `ids` must be a list of strings, but `{{hits.result[0].id}}` is a string
  --> 3:56 in step `done`
   = help: put the reference in a list: `[\"{{hits.result[0].id}}\"]`
",
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "done", "tool": "archive", "arguments": {"ids": ["{{hits.result[0].id}}"]}}"#,
    );
}

#[test]
fn a_list_of_others() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "archive", "params": {"ids": "${step[0].data[*].score}"}}"#, "\
error[wrong-type]: argument `ids` must be a list of strings, but `${step[0].data[*].score}` is a list of numbers
  --> 3:39 in step `step1`
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "archive", "params": {"ids": "${step[0].data[0].tags}"}}"#,
    );
}

#[test]
fn a_reference_of_another_type() {
    check(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "person", "tool": "read_person", "arguments": {"id": "$ref:hits.0.score"}}"#,
        "\
error[wrong-type]: argument `id` must be a string, but `$ref:hits.0.score` is a number
  --> 3:61 in step `person`
",
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "more", "tool": "search", "arguments": {"query": "$ref:hits.0.id"}}"#,
    );
}

#[test]
fn an_object_where_its_field_is_meant() {
    check(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "read_person", "arguments": {"id": "$ref:a"}}"#,
        "\
error[wrong-type]: argument `id` must be a string, but `$ref:a` is an object
  --> 3:56 in step `b`
   = help: did you mean `$ref:a.id`?
",
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "read_person", "arguments": {"id": "$ref:a.id"}}"#,
    );
}

#[test]
fn all_arguments_by_one_reference() {
    check(
        tool,
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "b", "tool": "read_person", "arguments": "$ref:hits.0.from"}"#,
        "\
error[wrong-type]: the value of `$ref:hits.0.from` does not fit the arguments: it has no `id`
  --> 3:49 in step `b`
",
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "x"}},
{"id": "b", "tool": "read_person", "arguments": "$ref:hits.0"}"#,
    );
}

#[test]
fn text_where_a_number_is_meant() {
    check(
        action,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "search", "arguments": {"query": "y", "limit": "{{a.result.age}} at most"}}"#,
        "\
error[wrong-type]: argument `limit` is text, but must be an integer
  --> 3:68 in step `b`
   = help: to keep the type of the value, write the reference as the whole string
",
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "search", "arguments": {"query": "{{a.result}} at most", "limit": "{{a.result.age}}"}}"#,
    );
}

#[test]
fn values_that_an_enum_does_not_have() {
    check(
        tool,
        r#"{"id": "a", "tool": "send", "arguments": {"to": "x", "subject": "y"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "y", "priority": "$ref:a.status"}}"#, "\
error[not-allowed]: `$ref:a.status` is one of `queued`, `sent`, but argument `priority` must be one of `low`, `normal`, `high`
  --> 3:82 in step `b`
",
        r#"{"id": "a", "tool": "send", "arguments": {"to": "x", "subject": "y"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "$ref:a.status"}}"#,
    );
}

#[test]
fn a_field_that_may_be_null() {
    check(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.email", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` is required, but `$ref:a.email` may have no value: `email` may be null
  --> 3:49 in step `b`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"$ref:a.email\", \"then\": {\"tool\": \"send\", \"arguments\": {\"to\": \"$ref:x\", \"subject\": \"y\"}}}]`, or use another field: `$ref:a.id` is always present
",
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "x", "subject": "y", "body": "$ref:a.email"}}"#,
    );
}

#[test]
fn a_field_that_may_be_missing() {
    check(
        blueprint,
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "send", "params": {"to": "${step[0].data[0].from.email}", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` is required, but `${step[0].data[0].from.email}` may have no value: `[0].from.email` may be missing
  --> 3:35 in step `step1`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"${step[0].data[0].from.email}\", \"then\": {\"tool\": \"send\", \"params\": {\"to\": \"${x.data}\", \"subject\": \"y\"}}}]`, or use another field: `${step[0].data[0].from.name}` is always present
",
        r#"{"tool": "search", "params": {"query": "x"}},
{"tool": "send", "params": {"to": "${step[0].data[0].from.name}", "subject": "y"}}"#,
    );
}

#[test]
fn a_way_through_what_may_be_missing() {
    check(
        tool,
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.manager.id", "subject": "y"}}"#, "\
error[maybe-absent]: argument `to` is required, but `$ref:a.manager.id` may have no value: `manager` may be missing
  --> 3:49 in step `b`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"$ref:a.manager.id\", \"then\": {\"tool\": \"send\", \"arguments\": {\"to\": \"$ref:x\", \"subject\": \"y\"}}}]`
",
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.id", "subject": "s"}}"#,
    );
}

#[test]
fn the_output_of_an_optional_step() {
    check(
        blueprint,
        r#"{"tool": "read_person", "params": {"id": "p"}, "optional": true},
{"tool": "read_person", "params": {"id": "${step[0].data.id}"}}"#, "\
error[maybe-absent]: argument `id` is required, but `${step[0].data.id}` may have no value: step `step0` is optional: if it fails, its output is null
  --> 3:42 in step `step1`
   = help: replace `optional` of `step0` with a `fallback` in its `policy`, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"${step[0].data.id}\", \"then\": {\"tool\": \"read_person\", \"params\": {\"id\": \"${x.data}\"}}}]`
",
        r#"{"tool": "read_person", "params": {"id": "p"}, "optional": true},
{"if": [{"pattern": "Some(found)", "value": "${step[0].data.id}", "then": {"tool": "send", "params": {"to": "x", "subject": "y", "body": "${found.data}"}}}]}"#,
    );
}

#[test]
fn an_optional_argument_whose_way_leads_through_null() {
    check(
        blueprint,
        r#"{"tool": "read_person", "params": {"id": "p"}, "optional": true},
{"tool": "send", "params": {"to": "x", "subject": "y", "body": "${step[0].data.id}"}}"#, "\
error[maybe-absent]: argument `body` may be omitted, but `${step[0].data.id}` fails if the reference passes through null: step `step0` is optional: if it fails, its output is null
  --> 3:64 in step `step1`
   = help: replace `optional` of `step0` with a `fallback` in its `policy`, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": \"${step[0].data.id}\", \"then\": {\"tool\": \"send\", \"params\": {\"to\": \"x\", \"subject\": \"y\", \"body\": \"${found.data}\"}}}]`
",
        r#"{"tool": "read_person", "params": {"id": "p"}},
{"tool": "send", "params": {"to": "x", "subject": "y", "body": "${step[0].data.id}"}}"#,
    );
    check(
        plan_json,
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}, "policy": {"optional": "whole"}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "pointer": "/id"}}}}}"#, "\
error[maybe-absent]: argument `body` may be omitted, but `a.id` fails if the reference passes through null: step `a` is optional: if it fails, its output is null
  --> 3:99 in step `b`
   = help: stop the reference at null: add `\"optional\": true` to it, or replace `optional` of `a` with a `fallback` in its `policy`, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": {\"reference\": {\"step\": \"a\", \"pointer\": \"/id\"}}, \"then\": {\"tool\": {\"name\": \"send\"}, \"arguments\": {\"object\": {\"to\": \"x\", \"subject\": \"y\", \"body\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)
",
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}, "policy": {"optional": "whole"}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "optional": true, "pointer": "/id"}}}}}"#,
    );
    check(
        plan_json,
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "pointer": "/manager_of/id"}}}}}"#, "\
error[maybe-absent]: argument `body` may be omitted, but `a.manager_of.id` fails if the reference has no value: `manager_of` may be missing
  --> 3:99 in step `b`
   = help: replace the missing part with null: `{\"reference\": {\"step\": \"a\", \"path\": [{\"token\": \"manager_of\", \"absent\": \"null\", \"optional\": true}, \"id\"]}}`, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": {\"reference\": {\"step\": \"a\", \"pointer\": \"/manager_of/id\"}}, \"then\": {\"tool\": {\"name\": \"send\"}, \"arguments\": {\"object\": {\"to\": \"x\", \"subject\": \"y\", \"body\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)
",
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "path": [{"token": "manager_of", "absent": "null", "optional": true}, "id"]}}}}}"#,
    );
    // Null in place of a missing part has no parts.
    check(
        plan_json,
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "path": [{"token": "manager_of", "absent": "null"}, "id"]}}}}}"#, "\
error[maybe-absent]: argument `body` may be omitted, but `a.manager_of.or(null).id` fails if the reference passes through null: `manager_of` may be missing
  --> 3:99 in step `b`
   = help: stop the reference at null: `{\"reference\": {\"step\": \"a\", \"path\": [{\"token\": \"manager_of\", \"absent\": \"null\", \"optional\": true}, \"id\"]}}`, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": {\"reference\": {\"step\": \"a\", \"path\": [{\"token\": \"manager_of\", \"absent\": \"null\"}, \"id\"]}}, \"then\": {\"tool\": {\"name\": \"send\"}, \"arguments\": {\"object\": {\"to\": \"x\", \"subject\": \"y\", \"body\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)
",
        r#"{"id": "a", "tool": {"name": "read_person"}, "arguments": {"object": {"id": "p"}}},
{"id": "b", "tool": {"name": "send"}, "arguments": {"object": {"to": "x", "subject": "y", "body": {"reference": {"step": "a", "path": [{"token": "manager_of", "absent": "null", "optional": true}, "id"]}}}}}"#,
    );
}
