//! Plans that fail in some runs, with outputs of which a schema states little.

use crate::checks::sound::give;
use crate::checks::{after_find, read_with, shown};
use plan_runtime::dynamic::{Contract, Contracts};
use serde_json::{Value, json};

fn tools(output: &Value) -> Contracts {
    let takes = |name: &str, schema: &Value| {
        let arguments = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        Contract::new(name).arguments(arguments)
    };
    [
        Contract::new("find").output(output.clone()),
        takes("string", &json!({"type": "string"})),
        takes(
            "strings",
            &json!({"type": "array", "items": {"type": "string"}}),
        ),
        takes(
            "color",
            &json!({"anyOf": [{"enum": ["green"]}, {"type": "integer"}]}),
        ),
        takes("point", &json!({"enum": [[1, 2], [3, 4]]})),
        takes(
            "mails",
            &json!({"type": "array", "items": {
                "type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"],
            }}),
        ),
    ]
    .into_iter()
    .collect()
}

/// Returns the findings for steps after a call of `find`, which has this output.
fn found(output: &Value, rest: &str) -> Vec<String> {
    shown(&read_with(&tools(output), &after_find(rest)))
}
fn branch(condition: &str) -> String {
    format!(r#"{{"id": "b", "if": [{{{condition}, "then": {{"value": 1}}}}]}}"#)
}

#[test]
fn conditions_over_a_member_that_may_be_missing_by_an_omission() {
    let output = |required: &[&str]| {
        json!({"type": "object", "required": required, "properties": {
            "size": {"type": "integer"},
            "text": {"type": "string"},
            "ok": {"type": "boolean"},
            "end": {"anyOf": [
                {"type": "object", "properties": {"Ok": {}}, "required": ["Ok"]},
                {"type": "object", "properties": {"Err": {}}, "required": ["Err"]},
            ]},
        }})
    };
    let mut silent = output(&[]);
    silent.as_object_mut().unwrap().remove("required");
    let stated = output(&["size", "text", "ok", "end"]);
    for (condition, part) in [
        (
            r#""condition": {"compare": ["$ref:a.size", ">", 3]}"#,
            "size",
        ),
        (
            r#""condition": {"compare": ["$ref:a.size", "==", 3]}"#,
            "size",
        ),
        (
            r#""condition": {"compare": [{"len": "$ref:a.text"}, ">", 3]}"#,
            "text",
        ),
        (r#""condition": {"is_empty": "$ref:a.text"}"#, "text"),
        (r#""condition": {"is_ok": "$ref:a.end"}"#, "end"),
        (r#""condition": "$ref:a.ok""#, "ok"),
        (r#""condition": {"not": "$ref:a.ok"}"#, "ok"),
        (r#""pattern": "Ok(v)", "value": "$ref:a.end""#, "end"),
    ] {
        let expected = format!(
            "unchecked: `$ref:a.{part}` is not checked: no schema states whether `{part}` is always present"
        );
        assert_eq!(
            found(&silent, &branch(condition)),
            [expected],
            "{condition}"
        );
        assert_eq!(found(&stated, &branch(condition)), [""; 0], "{condition}");
    }
    for condition in [
        r#""condition": {"is_some": "$ref:a.size"}"#,
        r#""condition": {"all": [{"is_some": "$ref:a.size"}, {"compare": ["$ref:a.size", ">", 3]}]}"#,
        r#""pattern": "Some(v)", "value": "$ref:a.size""#,
    ] {
        assert_eq!(found(&silent, &branch(condition)), [""; 0], "{condition}");
    }
}
#[test]
fn references_that_end_at_a_member_of_which_nothing_is_stated() {
    let output = json!({"type": "object", "properties": {"cc": {"type": "string"}}});
    let find = json!({"id": "a", "tool": {"name": "find"}});
    for absent in ["null", "end"] {
        let cc = json!({"reference": {"step": "a", "path": [{"token": "cc", "absent": absent}]}});
        let found = |step: &Value| {
            let value = json!({"value": {"reference": {"step": "b", "pointer": ""}}});
            let plan = json!({"name": "p", "inputs": [], "steps": [find, step], "output": value});
            shown(&read_with(&tools(&output), &plan.to_string()))
        };
        let arguments = json!({"object": {"x": cc}});
        let call = found(&json!({"id": "b", "tool": {"name": "string"}, "arguments": arguments}));
        let [call] = &call[..] else {
            panic!("{call:?}");
        };
        assert!(
            call.starts_with("maybe-absent: argument `x` is required"),
            "{call}"
        );
        assert!(
            call.ends_with("no schema states whether `cc` is always present"),
            "{call}"
        );
        let branch = json!({"condition": {"is_some": cc}, "then": {"value": 1}});
        assert_eq!(found(&json!({"id": "b", "if": [branch]})), [""; 0]);
    }
}
#[test]
fn elements_of_a_written_list() {
    let list = |items: &str, tool: &str, reference: &str| {
        format!(
            r#"{{"id": "l", "for": {{"pattern": "n", "list": {items}, "body": {{"value": "$ref:n"}}}}}}, {}"#,
            give(tool, reference)
        )
    };
    let found =
        |items: &str, tool: &str, reference: &str| found(&json!({}), &list(items, tool, reference));
    for (items, tool) in [
        (r#"["a", 5]"#, "strings"),
        (r#"[{"to": "a"}, {"to": 5}]"#, "mails"),
        (r#"[{"to": "a"}, {}]"#, "mails"),
    ] {
        let found = found(items, tool, "$ref:l");
        assert_eq!(found.len(), 1, "{items}: {found:?}");
        assert!(found[0].starts_with("wrong-type: "), "{found:?}");
    }
    for (items, tool, reference) in [
        (r#"["a", "b"]"#, "strings", "$ref:l"),
        (r#"["a", "b"]"#, "string", "$ref:l.0"),
        (r#"[{"to": "a"}, {"to": "b"}]"#, "mails", "$ref:l"),
        (r#"[{"to": "a"}, {"to": "b"}]"#, "string", "$ref:l.0.to"),
    ] {
        assert_eq!(found(items, tool, reference), [""; 0], "{items}");
    }
}

#[test]
fn rounds_that_a_step_collects() {
    let steps = |value: &str| {
        format!(
            r#"{{"id": "l", "loop": {{"steps": [{{"id": "k", "tool": "find", "arguments": {{}}, "policy": {{"fallback": {value}}}}}], "value": "$ref:k", "while": {{"compare": ["$ref:k", "==", "x"]}}}}, "policy": {{"at_most": 2, "collect": true}}}}, {}"#,
            give("strings", "$ref:l")
        )
    };
    let output = json!({"type": "string"});
    let wrong = found(&output, &steps("5"));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("wrong-type: "), "{wrong:?}");
    assert_eq!(found(&output, &steps(r#""none""#)), [""; 0]);
}
#[test]
fn a_listed_value_that_may_be_null() {
    let output = |nullable: bool| {
        let items = json!({"type": "string", "nullable": nullable, "enum": ["a", "b"]});
        json!({"type": "object", "properties": {"many": {"type": "array", "items": items}}, "required": ["many"]})
    };
    let call = give("strings", "$ref:a.many");
    assert_eq!(
        found(&output(true), &call),
        [
            "maybe-absent: the value of `$ref:a.many` does not fit argument `x`: an element may be null, but must be a string"
        ]
    );
    assert_eq!(found(&output(false), &call), [""; 0]);
    // A kind that the schema excludes is no value.
    let one = json!({"type": "array", "items": {"type": "string", "enum": ["a", null, 5]}});
    assert_eq!(found(&one, &give("strings", "$ref:a")), [""; 0]);
}
#[test]
fn lists_where_some_lists_are_accepted() {
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let call = give("point", "$ref:a");
    assert_eq!(
        found(&integers, &call),
        [
            "not-allowed: `$ref:a` is a list of integers, but argument `x` must be one of `[1,2]`, `[3,4]`"
        ]
    );
    assert_eq!(found(&json!({"const": [3, 4]}), &call), [""; 0]);
}
#[test]
fn an_element_of_a_list_or_an_object() {
    let output =
        |other: &Value| json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, other]});
    let object = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let call = give("string", "$ref:a.0");
    assert_eq!(
        found(&output(&object("id")), &call),
        [
            "wrong-type: `$ref:a.0` fails in some runs: in the output of `find`, it may be an object, which has no `[0]`"
        ]
    );
    assert_eq!(found(&output(&object("0")), &call), [""; 0]);
}
#[test]
fn a_help_has_the_branches_of_accepted_values() {
    let output = json!({"enum": ["red", "green"]});
    let call = give("color", "$ref:a");
    let findings = read_with(&tools(&output), &after_find(&call)).to_string();
    assert!(findings.contains(r#""==", "green"]"#), "{findings}");
    assert!(!findings.contains(r#""==", "red"]"#), "{findings}");
}

#[test]
fn a_literal_behind_steps_obeys_the_bounds() {
    let bounds = json!({
        "small": {"type": "integer", "maximum": 255},
        "any": {"maximum": 255},
        "name": {"type": "string", "maxLength": 3},
        "pair": {"type": "array", "items": {"type": "integer", "minimum": 2}, "minItems": 2},
        "color": {"type": "object", "properties": {"red": {"type": "integer", "maximum": 255}}, "required": ["red"]},
    });
    let output = json!({"type": "object", "properties": {"level": {"enum": [7, 300]}}, "required": ["level"]});
    let tools: Contracts = [
        Contract::new("find").output(output),
        Contract::new("take").arguments(json!({"type": "object", "properties": bounds})),
    ]
    .into_iter()
    .collect();
    let found = |rest: &str, arguments: &str| {
        let call = format!(r#"{{"id": "b", "tool": "take", "arguments": {arguments}}}"#);
        shown(&read_with(&tools, &after_find(&format!("{rest}, {call}"))))
    };
    let value = |value: &str| format!(r#"{{"id": "m", "value": {value}}}"#);
    let cases = [
        (
            value("300"),
            r#"{"small": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `small`: it is the number 300, but must be at most 255",
        ),
        (
            value("300"),
            r#"{"any": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `any`: it is the number 300, but must be at most 255",
        ),
        (
            value("\"long\""),
            r#"{"name": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `name`: it is the string \"long\", but must have at most 3 characters",
        ),
        (
            value("[2]"),
            r#"{"pair": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `pair`: it is a list of 1 element, but must have at least 2 elements",
        ),
        (
            value("[2, 1]"),
            r#"{"pair": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `pair`: its `[1]` is the number 1, but must be at least 2",
        ),
        (
            value(r#"{"red": 256}"#),
            r#"{"color": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `color`: its `red` is the number 256, but must be at most 255",
        ),
        (
            r#"{"id": "m", "if": [{"condition": {"compare": ["$ref:a.level", "==", 7]}, "then": {"value": 7}}, {"then": {"value": 300}}]}"#.to_owned(),
            r#"{"small": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `small`: it may be the number 300, but must be at most 255",
        ),
        (
            r#"{"id": "m", "for": {"pattern": "x", "list": [2, 1], "body": {"value": "$ref:x"}}}"#.to_owned(),
            r#"{"pair": "$ref:m"}"#,
            "the value of `$ref:m` does not fit argument `pair`: an element may be the number 1, but must be at least 2",
        ),
        (
            value("1"),
            r#"{"small": "$ref:a.level"}"#,
            "the value of `$ref:a.level` does not fit argument `small`: it may be the number 300, but must be at most 255",
        ),
    ];
    for (rest, arguments, message) in cases {
        let findings = found(&rest, arguments);
        assert_eq!(findings, [format!("not-allowed: {message}")], "{rest}");
    }
}

#[test]
fn an_object_fits_no_form_in_all_members() {
    let form = |a: &str, b: &str| {
        let inside = json!({"type": "object", "properties": {"c": {"type": b}}});
        json!({"type": "object", "properties": {"a": {"type": a}, "b": inside}})
    };
    let forms = json!({"anyOf": [form("string", "integer"), form("integer", "string")]});
    let tools: Contracts = [
        Contract::new("find"),
        Contract::new("take").arguments(json!({"type": "object", "properties": {"x": forms}})),
    ]
    .into_iter()
    .collect();
    let rest = r#"{"id": "m", "value": {"a": "text", "b": {"c": "text"}}}, {"id": "b", "tool": "take", "arguments": {"x": "$ref:m"}}"#;
    assert_eq!(
        shown(&read_with(&tools, &after_find(rest))),
        [
            "wrong-type: the value of `$ref:m` does not fit argument `x`: its `b.c` is a string, but must be an integer"
        ]
    );
}
