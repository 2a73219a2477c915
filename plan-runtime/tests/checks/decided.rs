//! Schemas whose values are compared exactly: each misfit is a finding, and a similar schema that fits has none.

use crate::checks::sound::{give, object};
use crate::checks::{after_find, read_with, shown};
use plan_runtime::dynamic::{Contract, Contracts, Reader};
use serde_json::{Map, Value, json};
use std::time::Instant;

fn string() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

/// The tool `find` has this output, and `take` needs an argument of this schema, whose definitions are those of the document.
fn tools(output: &Value, takes: &Value) -> Contracts {
    let mut takes = takes.clone();
    let definitions = takes.as_object_mut().and_then(|it| it.remove("$defs"));
    let whole = json!({"type": "object", "properties": {"x": takes}, "required": ["x"], "$defs": definitions.unwrap_or_default()});
    let note = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    [
        Contract::new("find").output(output.clone()),
        Contract::new("take").arguments(whole),
        Contract::new("note").arguments(note),
    ]
    .into_iter()
    .collect()
}

/// Returns the findings for these steps of a tool plan after a call of `find`.
fn found(output: &Value, takes: &Value, steps: &str) -> Vec<String> {
    shown(&read_with(&tools(output, takes), &after_find(steps)))
}

/// Returns the findings for a call of `take` with the output of `find`.
fn passed(output: &Value, takes: &Value) -> Vec<String> {
    found(output, takes, &give("take", "$ref:a"))
}

#[test]
fn nested_choices_are_compared_in_polynomial_time() {
    let choices = |leaf: Value| {
        let mut definitions = Map::new();
        for level in 0..24 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            let form = |tag: &str| json!({"type": "object", "properties": {"v": next, tag: string()}, "required": ["v"]});
            definitions.insert(
                format!("d{level}"),
                json!({"anyOf": [form("p"), form("q")]}),
            );
        }
        definitions.insert("d24".to_owned(), leaf);
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    let start = Instant::now();
    let wrong = passed(&choices(string()), &choices(integer()));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("wrong-type: "), "{wrong:?}");
    assert_eq!(passed(&choices(string()), &choices(string())), [""; 0]);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// Many forms that contain each other, in two documents.
#[test]
fn a_large_recursive_schema_is_compared() {
    let large = |leaf: Value| {
        let mut definitions = Map::new();
        for form in 0..12 {
            let mut members = Map::new();
            for member in 0..8 {
                let next = json!({"$ref": format!("#/$defs/f{}", (form + member) % 12)});
                members.insert(
                    format!("m{member}"),
                    match member % 2 {
                        0 => json!({"anyOf": [string(), next]}),
                        _ => json!({"type": "array", "items": {"$ref": "#/$defs/any"}}),
                    },
                );
            }
            members.insert("kind".to_owned(), json!({"const": form}));
            members.insert("leaf".to_owned(), leaf.clone());
            let form_of =
                json!({"type": "object", "properties": members, "required": ["kind", "leaf"]});
            definitions.insert(format!("f{form}"), form_of);
        }
        let forms = (0..12).map(|form| json!({"$ref": format!("#/$defs/f{form}")}));
        let forms = forms.collect::<Vec<_>>();
        definitions.insert("any".to_owned(), json!({"anyOf": forms}));
        json!({"$ref": "#/$defs/any", "$defs": definitions})
    };
    assert_eq!(passed(&large(string()), &large(string())), [""; 0]);
    let wrong = passed(&large(string()), &large(integer()));
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("wrong-type: "), "{wrong:?}");
}

#[test]
fn a_recursive_schema_of_several_parts() {
    let tree = |id: &Value| {
        let part = json!({"type": "object", "properties": {"c": {"$ref": "#/$defs/t"}}, "required": ["c"]});
        let other = json!({"type": "object", "properties": {"c": {"$ref": "#/$defs/t"}, "id": id}, "required": ["id"]});
        json!({"$ref": "#/$defs/t", "$defs": {"t": {"allOf": [part, other]}}})
    };
    assert_eq!(passed(&tree(&string()), &tree(&string())), [""; 0]);
    assert_eq!(
        passed(&tree(&string()), &tree(&integer())),
        [
            "wrong-type: the value of `$ref:a` does not fit argument `x`: its `id` is a string, but must be an integer"
        ]
    );
    let deep = give("take", &format!("$ref:a{}.id", ".c".repeat(30)));
    assert_eq!(found(&tree(&string()), &string(), &deep), [""; 0]);
}

#[test]
fn parts_of_a_schema_that_have_a_name() {
    for (keyword, anchor) in [("$ref", "$anchor"), ("$dynamicRef", "$dynamicAnchor")] {
        let named = |ty: &str| json!({keyword: "#n", "$defs": {"d": {anchor: "n", "type": ty}}});
        let expected = ["wrong-type: argument `x` must be a string, but `$ref:a` is an integer"];
        assert_eq!(passed(&named("string"), &string()), [""; 0]);
        assert_eq!(passed(&named("integer"), &string()), expected);
        assert_eq!(passed(&integer(), &named("string")), expected);
    }
    let own = json!({"$id": "https://e.org/s", "$ref": "https://e.org/s#/$defs/d", "$defs": {"d": string()}});
    assert_eq!(passed(&own, &string()), [""; 0]);
    let missing = passed(&json!({"$ref": "#n", "const": {"$anchor": "n"}}), &string());
    assert!(missing[0].starts_with("limit-passed: "), "{missing:?}");
}

#[test]
fn forms_that_accept_an_object_together() {
    let either = json!({"anyOf": [string(), integer()]});
    let v = |ty: &Value| object(&json!({"v": ty}), &["v"]);
    let w = |ty: &Value| object(&json!({"w": ty}), &["w"]);
    let both = |one: Value, other: Value| json!({"anyOf": [one, other]});
    let forms = both(v(&string()), v(&integer()));
    assert_eq!(passed(&v(&either), &forms), [""; 0]);
    let nested = both(w(&v(&string())), w(&v(&integer())));
    assert_eq!(passed(&w(&v(&either)), &nested), [""; 0]);
    let optional = object(&json!({"v": string()}), &[]);
    assert_eq!(
        passed(&optional, &both(v(&string()), object(&json!({}), &[]))),
        [""; 0]
    );
    let tuple =
        |ty: &Value| json!({"type": "array", "prefixItems": [ty, string()], "items": false});
    let tuples = both(tuple(&string()), tuple(&integer()));
    assert_eq!(passed(&tuple(&either), &tuples), [""; 0]);
    let three = json!({"type": ["string", "integer", "boolean"]});
    for (given, takes) in [
        (v(&three), forms),
        (w(&v(&three)), nested),
        (optional, both(v(&string()), v(&integer()))),
        (tuple(&three), tuples),
        // Two members, whose forms differ together.
        (
            object(&json!({"v": either, "w": either}), &["v", "w"]),
            both(
                object(&json!({"v": string(), "w": string()}), &["v", "w"]),
                object(&json!({"v": integer(), "w": integer()}), &["v", "w"]),
            ),
        ),
        // A list may contain both kinds.
        (
            json!({"type": "array", "items": either}),
            both(
                json!({"type": "array", "items": string()}),
                json!({"type": "array", "items": integer()}),
            ),
        ),
        // Null is one of the values.
        (
            v(&json!({"type": "string", "enum": ["a"], "nullable": true})),
            both(v(&json!({"const": "a"})), v(&json!({"const": "b"}))),
        ),
    ] {
        let found = passed(&given, &takes);
        assert_eq!(found.len(), 1, "{given}\n{takes}\n{found:?}");
        assert!(!found[0].starts_with("unchecked: "), "{found:?}");
    }
}

#[test]
fn elements_with_schemas_of_their_own() {
    let tuple = |one: Value, other: Value| json!({"type": "array", "prefixItems": [one, other], "items": false});
    let strings = json!({"type": "array", "items": string()});
    let (right, wrong) = (tuple(string(), string()), tuple(string(), integer()));
    for reference in ["$ref:a", "$ref:a[*]"] {
        let call = give("take", reference);
        assert_eq!(found(&right, &strings, &call), [""; 0]);
        let found = found(&wrong, &strings, &call);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("wrong-type: "), "{found:?}");
    }
    let each = r#"{"id": "b", "for": {"pattern": "n", "list": "$ref:a", "body": {"tool": "take", "arguments": {"x": "$ref:n"}}}}"#;
    assert_eq!(found(&right, &string(), each), [""; 0]);
    assert_eq!(found(&wrong, &string(), each).len(), 1);
    let three = json!({"type": "array", "prefixItems": [string(), string(), string()]});
    assert_eq!(
        passed(&three, &right),
        [
            "wrong-type: the value of `$ref:a` does not fit argument `x`: it may have more than 2 elements"
        ]
    );
    assert_eq!(
        passed(&strings, &right),
        [
            "unchecked: the value of `$ref:a` may not fit argument `x`: it may have more than 2 elements"
        ]
    );
}

/// The variables of a pattern that takes a list apart.
#[test]
fn parts_of_an_element_that_is_no_list() {
    let pairs = |ty: Value| json!({"type": "array", "items": ty});
    let pair = json!({"type": "array", "prefixItems": [string(), string()], "minItems": 2});
    let each = |tool: &str| {
        format!(
            r#"{{"id": "b", "for": {{"pattern": "(k, v)", "list": "$ref:a", "body": {{"tool": "{tool}", "arguments": {{"x": "$ref:k"}}}}}}}}"#
        )
    };
    for tool in ["take", "note"] {
        assert_eq!(found(&pairs(pair.clone()), &string(), &each(tool)), [""; 0]);
        for other in [string(), json!({"type": "null"})] {
            let output = pairs(json!({"anyOf": [pair, other]}));
            let found = found(&output, &string(), &each(tool));
            assert_eq!(found.len(), 1, "{tool} {output}\n{found:?}");
            assert!(!found[0].starts_with("unchecked: "), "{found:?}");
        }
    }
}

/// Returns a plan in plan JSON with these steps after a call of `find`.
fn plan(steps: &Value) -> String {
    let find = json!({"id": "a", "tool": {"name": "find"}});
    let mut all = vec![find];
    all.extend(steps.as_array().unwrap().iter().cloned());
    let output = json!({"value": {"reference": {"step": "b", "pointer": ""}}});
    json!({"name": "p", "inputs": [], "steps": all, "output": output}).to_string()
}

#[test]
fn a_question_about_a_replacement() {
    let part = |absent: Value| json!({"token": "l", "absent": absent});
    let asked = |reference: Value, used: Value| {
        let test = json!({"all": [{"is_some": {"reference": reference}}, {"compare": [{"reference": used}, "==", "x"]}]});
        let steps = json!([{"id": "b", "if": [{"condition": test, "then": {"value": 1}}]}]);
        let output = object(&json!({"l": string()}), &[]);
        let findings = read_with(&tools(&output, &string()), &plan(&steps));
        findings.errors().count()
    };
    let plain = json!({"step": "a", "pointer": "/l"});
    let null = json!({"step": "a", "path": [part(json!("null"))]});
    let default = json!({"step": "a", "path": [part(json!({"default": "d"}))]});
    let otherwise = json!({"step": "a", "path": [part(json!("end"))], "else": "d"});
    assert_eq!(asked(plain.clone(), plain.clone()), 0);
    assert_eq!(asked(null, plain.clone()), 0);
    assert_eq!(asked(default.clone(), default.clone()), 0);
    assert_eq!(asked(otherwise.clone(), otherwise.clone()), 0);
    assert_eq!(asked(default, plain.clone()), 1);
    assert_eq!(asked(otherwise, plain), 1);
}

#[test]
fn null_in_the_list_that_is_a_default() {
    let each = |default: Value| {
        let list = json!({"reference": {"step": "a", "path": [{"token": "l", "absent": {"default": default}}]}});
        let element = json!({"reference": {"local": 0, "pointer": ""}});
        let call = json!({"tool": {"name": "take"}, "arguments": {"object": {"x": element}}});
        let steps = json!([{"id": "b", "for": {"pattern": "n", "list": list, "body": call}}]);
        let output = object(&json!({"l": {"type": "array", "items": string()}}), &[]);
        shown(&read_with(&tools(&output, &string()), &plan(&steps)))
    };
    assert_eq!(each(json!(["x", "y"])), [""; 0]);
    assert_eq!(
        each(json!(["x", null])),
        ["maybe-absent: argument `x` is required, but `n` may have no value: `l` is missing"]
    );
}

/// A variable that a pattern binds to the previous round's value.
#[test]
fn a_member_that_the_condition_of_a_loop_found_present() {
    let round = |again: &str| {
        format!(
            r#"{{"id": "b", "loop": {{"last": "before", "steps": [
{{"id": "m", "if": [{{"pattern": "Some(p)", "value": "$ref:before", "then": {{"tool": "take", "arguments": {{"x": "$ref:p.cc"}}}}}}]}},
{{"id": "k", "tool": "find", "arguments": {{}}}}], "value": "$ref:k", "while": {again}}}, "policy": {{"at_most": 3}}}}"#
        )
    };
    let members = json!({"cc": string(), "nick": string()});
    let silent = json!({"type": "object", "properties": members});
    for output in [object(&members, &[]), silent] {
        let found = |again: &str| found(&output, &string(), &round(again));
        assert_eq!(found(r#"{"is_some": "$ref:k.cc"}"#), [""; 0]);
        assert_eq!(found(r#"{"is_some": "$ref:k.nick"}"#).len(), 1);
    }
}

/// The type of an input follows from its uses, which one value has to fit.
#[test]
fn an_input_of_two_forms() {
    let read = |one: &Value, other: &Value| {
        let argument = |name: &str, ty: &Value| {
            let schema = json!({"type": "object", "properties": {"x": ty}, "required": ["x"]});
            Contract::new(name).arguments(schema)
        };
        let tools = [argument("one", one), argument("two", other)];
        let text = r#"[{"id": "a", "tool": "one", "arguments": {"x": "{{PLACEHOLDER_q}}"}},
{"id": "b", "tool": "two", "arguments": {"x": "{{PLACEHOLDER_q}}"}}]"#;
        let read = Reader::new().tools(&tools.into_iter().collect()).read(text);
        read.map(|document| document.plan().inputs[0].type_name.to_string())
            .map_err(|findings| findings[0].message.clone())
    };
    let list = |ty: &str| json!({"type": "array", "items": {"type": ty}});
    let p = |ty: &Value, required: &[&str]| object(&json!({"p": ty}), required);
    assert_eq!(
        read(&list("string"), &list("integer")).unwrap_err(),
        "the input `q` must be a list of integers here, but a list of strings elsewhere"
    );
    for (one, other) in [
        (p(&string(), &["p"]), p(&integer(), &["p"])),
        (
            p(&string(), &["p"]),
            object(&json!({"q": integer()}), &["q"]),
        ),
    ] {
        assert_eq!(
            read(&one, &other).unwrap_err(),
            "the input `q` must be an object here, but an object of another form elsewhere"
        );
    }
    assert_eq!(
        read(&json!({"enum": ["r"]}), &json!({"enum": ["g"]})).unwrap_err(),
        "the input `q` must be a string here, but a string of another form elsewhere"
    );
    assert_eq!(read(&list("number"), &list("integer")).unwrap(), "Vec<i64>");
    let (open, maybe) = (json!({"type": "object"}), p(&integer(), &[]));
    assert!(read(&p(&string(), &["p"]), &open).is_ok());
    assert!(read(&p(&string(), &[]), &maybe).is_ok());
    assert!(read(&json!({"enum": ["r", "g"]}), &json!({"enum": ["g"]})).is_ok());
}
