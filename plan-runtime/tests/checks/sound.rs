//! Values that fit in some runs only: each is a finding, and the narrowed plan has none.

use crate::checks::applied::all_fixes;
use crate::checks::read_with;
use plan_runtime::dynamic::{
    Code, Contract, Contracts, Finding, Findings, Profile, Reader, check_signal,
};
use serde_json::{Value, json};

pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub(crate) fn tools() -> Contracts {
    let (string, strings) = (
        json!({"type": "string"}),
        json!({"type": "array", "items": {"type": "string"}}),
    );
    let mail = json!({"to": string, "cc": string});
    let takes = |name: &str, schema: &Value| {
        Contract::new(name).arguments(object(&json!({"x": schema}), &["x"]))
    };
    [
        Contract::new("find").output(object(
            &json!({
                "id": string,
                "size": {"type": "integer"},
                "cc": string,
                "nick": string,
                "ok": {"type": ["boolean", "string"]},
                "any": {"type": ["string", "integer"]},
                "many": {"type": "array", "items": {"type": ["string", "integer"]}},
                "names": strings,
                "holes": {"type": "array", "items": {"type": ["string", "null"]}},
                "color": {"enum": ["red", "green"]},
                "state": {"enum": ["open", "done"]},
                "mail": object(&mail, &["to"]),
                "mails": object(&mail, &[]),
                "list": {"type": ["array", "string"], "items": {"type": "string"}},
                "part": {"anyOf": [{"type": "string"}, object(&json!({"id": {"type": "string"}}), &["id"])]},
            }),
            &["id", "size", "ok", "any", "many", "names", "holes", "color", "state", "mail", "mails", "list", "part"],
        )),
        Contract::new("defaults").output(object(
            &json!({
                "cc": string,
                "part": object(&json!({"cc": string}), &[]),
                "maybe": object(&json!({"cc": string}), &[]),
            }),
            &["maybe"],
        )),
        Contract::new("call").arguments(object(&json!({"id": string}), &["id"])).output(string.clone()),
        takes("strings", &strings),
        takes("string", &string),
        takes("integer", &json!({"type": "integer"})),
        takes("color", &json!({"enum": ["green", "blue"]})),
        takes("mail", &object(&mail, &["to", "cc"])),
        Contract::new("note").arguments(object(&json!({"text": string}), &[])),
        Contract::new("anything"),
    ]
    .into_iter()
    .collect()
}

fn read(text: &str) -> Findings {
    read_with(&tools(), text)
}

/// A tool plan whose last step is `b`.
fn tool(steps: &str) -> String {
    let find = r#"{"id": "a", "tool": "find", "arguments": {}}"#;
    format!("{{\"steps\": [\n{find},\n{steps}\n], \"output_steps\": [\"b\"]}}")
}

/// Applies each fix of a help, after which the document has no findings. Returns their number.
#[track_caller]
fn fixed(text: &str, finding: &Finding) -> usize {
    let fixes = all_fixes(text, finding);
    for document in &fixes {
        assert_eq!(read(document).to_string(), "", "{document}");
    }
    fixes.len()
}

/// A step of a tool plan that gives this to the argument of a tool.
pub(crate) fn give(tool: &str, value: &str) -> String {
    format!(r#"{{"id": "b", "tool": "{tool}", "arguments": {{"x": "{value}"}}}}"#)
}

#[test]
fn values_that_no_schema_describes() {
    let steps = |value: &str, tool: &str| {
        format!(
            r#"{{"id": "n", "tool": "anything", "arguments": {{}}}}, {}"#,
            give(tool, value)
        )
    };
    // A value with a finding needs no other one.
    let unknown = steps("$ref:n.id", "string").replacen("anything", "unknown_tool", 1);
    let findings = read(&tool(&unknown));
    assert_eq!(findings.len(), 1, "{findings}");
    assert_eq!(findings[0].code, Code::UnknownTool);
    // The typed profile refuses such a plan.
    let tools = tools();
    let typed = Reader::new().tools(&tools).profile(Profile::Typed);
    let findings = typed.read(&tool(&steps("$ref:n", "string"))).unwrap_err();
    assert_eq!(findings[0].code, Code::Unchecked, "{findings}");
    assert!(typed.read(&tool(&steps("$ref:a.id", "string"))).is_ok());
}

/// A formatted string can be any string, and an `enum` lists its strings.
#[test]
fn a_text_where_values_are_listed() {
    let steps = |value: &str| {
        format!(
            r#"[{{"id": "l", "tool": "find", "arguments": {{}}}},
{{"id": "b", "tool": "color", "arguments": {{"x": "{value}"}}}}]"#
        )
    };
    let findings = read(&steps("a {{l.result.id}}"));
    assert_eq!(findings.len(), 1, "{findings}");
    assert_eq!(
        findings[0].message,
        "argument `x` is text, but must be one of `green`, `blue`"
    );
    assert_eq!(read(&steps("blue")).to_string(), "");
}

/// The condition of a loop holds for the previous round's value.
#[test]
fn a_field_that_the_condition_of_a_loop_found_present() {
    let read = |again: &str| {
        read(&r#"{"name": "p", "inputs": [], "steps": [{"id": "b", "loop": {"last": "before", "steps": [
{"id": "n", "tool": {"name": "note"}, "arguments": {"object": {"text": {"reference": {"input": "before", "optional": true, "pointer": "/cc"}}}}},
{"id": "a", "tool": {"name": "find"}, "arguments": {"object": {}}}],
"value": {"reference": {"step": "a", "pointer": ""}}, "while": AGAIN}, "policy": {"at_most": 3}}]}"#.replace("AGAIN", again))
    };
    let codes = |findings: Findings| -> Vec<Code> { findings.errors().map(|it| it.code).collect() };
    let asked = r#"{"is_some": {"reference": {"step": "a", "pointer": "/cc"}}}"#;
    let other = r#"{"compare": [{"reference": {"step": "a", "pointer": "/size"}}, ">", 3]}"#;
    let either = format!(r#"{{"any": [{asked}, {other}]}}"#);
    assert_eq!(codes(read(asked)), []);
    assert_eq!(codes(read(other)), [Code::MaybeAbsent]);
    assert_eq!(codes(read(&either)), [Code::MaybeAbsent]);
}

/// A call of a tool with a field of the first step, in each dialect.
fn in_all(tool: &str, field: &str) -> [String; 4] {
    let given = |value: Value| json!({"x": value});
    let call = |value: String| json!({"id": "b", "tool": tool, "arguments": given(value.into())});
    let find = json!({"id": "a", "tool": "find", "arguments": {}});
    let placed =
        json!({"tool": tool, "params": given(format!("${{step[0].data.{field}}}").into())});
    let own = json!({"reference": {"step": "a", "pointer": format!("/{field}")}});
    let own = json!({"id": "b", "tool": {"name": tool}, "arguments": {"object": given(own)}});
    let output = json!({"value": {"reference": {"step": "b", "pointer": ""}}});
    [
        json!({"steps": [find, call(format!("$ref:a.{field}"))], "output_steps": ["b"]}),
        json!([find, call(format!("{{{{a.result.{field}}}}}"))]),
        json!({"requestId": "r", "steps": [{"tool": "find", "params": {}}, placed]}),
        json!({"name": "p", "inputs": [], "steps": [{"id": "a", "tool": {"name": "find"}}, own], "output": output}),
    ]
    .map(|document| document.to_string())
}

/// Each fix leaves the second mistake alone.
#[test]
fn two_mistakes_in_a_plan() {
    let [one, other] = ["mails", "color"].map(|tool| match tool {
        "color" => give("color", "$ref:a.color").replace(r#""b""#, r#""c""#),
        _ => give("mail", "$ref:a.mails"),
    });
    let find = r#"{"id": "a", "tool": "find", "arguments": {}}"#;
    let text = format!(r#"{{"steps": [{find}, {one}, {other}], "output_steps": ["b", "c"]}}"#);
    let both = read(&text);
    assert_eq!(both.len(), 2, "{both}");
    for (first, second) in [(0, 1), (1, 0)] {
        let documents = all_fixes(&text, &both[first]);
        assert!(!documents.is_empty(), "{both}");
        for document in documents {
            let rest = read(&document);
            assert_eq!(rest.len(), 1, "{rest}\n{document}");
            assert_eq!(rest[0].message, both[second].message);
            assert!(fixed(&document, &rest[0]) > 0, "{rest}");
        }
    }
}

/// A help keeps the defaults of a reference, and its `else`.
#[test]
fn helps_about_references_with_defaults() {
    let missing = |absent: &str| format!(r#"{{"token": "cc", "absent": {absent}}}"#);
    for (reference, count) in [
        (
            format!(
                r#"{{"step": "a", "path": [{{"token": "part", "absent": {{"default": {{"cc": "x"}}}}}}, {}]}}"#,
                missing(r#""null""#)
            ),
            1,
        ),
        (
            format!(r#"{{"step": "a", "path": [{}]}}"#, missing(r#""end""#)),
            1,
        ),
        (
            format!(
                r#"{{"step": "a", "optional": true, "path": ["maybe", {}], "else": "x"}}"#,
                missing(r#""null""#)
            ),
            1,
        ),
    ] {
        let text = format!(
            r#"{{"name": "p", "inputs": [], "steps": [
{{"id": "a", "tool": {{"name": "defaults"}}}},
{{"id": "b", "tool": {{"name": "string"}}, "arguments": {{"object": {{"x": {{"reference": {reference}}}}}}}}}
], "output": {{"value": {{"reference": {{"step": "b", "pointer": ""}}}}}}}}"#
        );
        let findings = read(&text);
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].code, Code::MaybeAbsent, "{findings}");
        assert_eq!(fixed(&text, &findings[0]), count, "{findings}");
    }
}

#[test]
fn each_dialect_shows_the_narrowing() {
    for (tool, field, code) in [
        ("string", "cc", Code::MaybeAbsent),
        ("mail", "mail", Code::MaybeAbsent),
        ("mail", "mails", Code::MaybeAbsent),
        ("color", "color", Code::NotAllowed),
    ] {
        for text in in_all(tool, field) {
            let findings = read(&text);
            assert_eq!(findings.len(), 1, "{findings}");
            assert_eq!(findings[0].code, code, "{findings}");
            assert!(fixed(&text, &findings[0]) > 0, "{findings}\n{text}");
        }
    }
}

/// The `Result` of a step that may be skipped.
#[test]
fn an_outcome_that_may_be_absent() {
    let branch = r#""pattern": "Ok(v)", "value": "$ref:m""#;
    let text = tool(&format!(
        r#"{{"id": "c", "tool": "call", "arguments": {{"id": "x"}}, "policy": {{"catch": true}}}},
{{"id": "m", "if": [{{"condition": {{"compare": ["$ref:a.size", ">", 3]}}, "then": {{"value": "$ref:c"}}}}]}},
{{"id": "b", "if": [{{{branch}, "then": {{"value": "$ref:v"}}}}]}}"#
    ));
    let findings = read(&text);
    let found = findings.to_string();
    assert_eq!(findings.len(), 1, "{found}");
    assert_eq!(findings[0].code, Code::MaybeAbsent, "{found}");
    let fix = found.split('`').find(|part| part.starts_with(r#""all": "#));
    let fixed = text.replace(branch, fix.unwrap());
    assert_eq!(read(&fixed).to_string(), "", "{fixed}");
}

#[test]
fn questions_for_values_that_are_never_absent() {
    let branch = |test: &str, field: &str| {
        format!(r#"{{"id": "b", "if": [{{{test} "$ref:a.{field}", "then": {{"value": 1}}}}]}}"#)
    };
    let pattern = r#""pattern": "Some(v)", "value":"#;
    // An element may be missing.
    let findings = read(&tool(&branch(pattern, "names.0")));
    assert_eq!(findings.to_string(), "");
}

#[test]
fn values_that_are_sent_to_a_step() {
    let wait = |ty: &str| {
        format!(
            r#"{{"id": "w", "await": "{ty}"}}, {}"#,
            give("string", "$ref:w")
        )
    };
    let text = tool(&wait("String"));
    let document = Reader::new().tools(&tools()).read(&text).unwrap();
    let error = check_signal(document.plan(), "w", true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value for `w` has the wrong type: it is `true` or `false`, but must be a string (`String`)"
    );
    assert!(check_signal(document.plan(), "w", "x").is_ok());
}

/// The type of an input follows from its uses, or is unknown.
#[test]
fn inputs_without_a_type() {
    let read = |step: &str| {
        let text = format!(r#"[{{"id": "b", {step}}}]"#);
        let document = Reader::new().tools(&tools()).read(&text).unwrap();
        let input = &document.plan().inputs[0];
        (input.type_name.to_string(), document.warnings().to_string())
    };
    let branch = |condition: &str| {
        format!(r#""if": [{{"condition": {condition}, "then": {{"value": 1}}}}]"#)
    };
    let q = r#""{{PLACEHOLDER_q}}""#;
    for (step, ty) in [
        (branch(q), "bool"),
        (branch(&format!(r#"{{"compare": [{q}, "<", 3]}}"#)), "f64"),
        (
            branch(&format!(r#"{{"compare": ["a", "<", {q}]}}"#)),
            "String",
        ),
        (
            format!(r#""tool": "anything", "arguments": {{}}, "policy": {{"attempts": {q}}}"#),
            "i64",
        ),
    ] {
        assert_eq!(read(&step), (ty.to_owned(), String::new()), "{step}");
    }
    for (step, message) in [
        (
            format!(r#""for": {{"pattern": "x", "list": {q}, "body": {{"value": 1}}}}"#),
            "a `for` iterates over a list or an object, but `{{PLACEHOLDER_q}}` may be anything",
        ),
        (
            branch(&format!(r#"{{"compare": [{{"len": {q}}}, "<", 3]}}"#)),
            "`len` needs a string, a list or an object, but `{{PLACEHOLDER_q}}` may be anything",
        ),
    ] {
        let (_, warnings) = read(&step);
        assert!(
            warnings.starts_with(&format!("warning[unchecked]: {message}\n")),
            "{warnings}"
        );
        assert!(
            warnings.contains("state the type of the input `q`"),
            "{warnings}"
        );
    }
}
