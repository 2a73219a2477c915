//! References that may lead to a missing value, and the values that replace them.

use plan_runtime::dynamic::{Code, Contract, Contracts, Finding, Reader, Toolbox};
use plan_runtime::plan::Executable;
use plan_runtime::{Error, Plan};
use serde_json::{Value, json};

/// Reads a plan of two steps: one whose output has the schema, and one whose required argument `x` is the reference.
/// Returns the findings.
pub(crate) fn read(schema: &Value, reference: &Value, takes: &Value) -> (Plan, Vec<Finding>) {
    let takes = json!({"type": "object", "properties": {"x": takes}, "required": ["x"]});
    let tools: Contracts = [
        Contract::new("make").output(schema.clone()),
        Contract::new("take").arguments(takes),
    ]
    .into_iter()
    .collect();
    let text = json!({"name": "p", "steps": [
        {"id": "made", "tool": {"name": "make"}},
        {"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x": reference}}},
    ]})
    .to_string();
    let plan: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(Executable::new(&plan).mistake(), None);
    match Reader::new().tools(&tools).read(&text) {
        Ok(document) => (plan, document.warnings().to_vec()),
        Err(findings) => (plan, findings.to_vec()),
    }
}

/// An `else` replaces a reference that has ended, and no other value.
#[test]
fn an_else_replaces_only_what_has_ended() {
    let schema = json!({"type": "object", "required": ["sure", "null"], "properties": {
        "sure": {"type": "integer"},
        "null": {"type": ["integer", "null"]},
        "missing": {"type": "integer"},
    }});
    let cases = [
        (json!([{"token": "missing", "absent": "end"}]), None),
        (json!([{"token": "null", "optional": true}]), None),
        (
            json!([{"token": "null", "absent": "end"}]),
            Some("`null` may be null"),
        ),
        (
            json!([{"token": "missing", "optional": true}]),
            Some("`missing` may be missing"),
        ),
        (
            json!([{"token": "missing", "absent": "null", "optional": true}]),
            None,
        ),
    ];
    for (path, absent) in cases {
        let reference = json!({"reference": {"step": "made", "path": path, "else": 1}});
        let takes = json!({"type": ["integer", "array", "object"]});
        let (_, findings) = read(&schema, &reference, &takes);
        let message = findings.first().map(|finding| &*finding.message);
        assert_eq!(message.is_some(), absent.is_some(), "{path} {findings:?}");
        assert!(
            message
                .unwrap_or_default()
                .ends_with(absent.unwrap_or_default()),
            "{path} {findings:?}"
        );
    }
}

/// Checks the findings for a reference of plan JSON into a required argument.
#[track_caller]
fn found(schema: &Value, reference: &Value, takes: &Value, expected: &str) {
    let mut reference = reference.clone();
    reference["step"] = json!("made");
    let (_, findings) = read(schema, &json!({"reference": reference}), takes);
    let found = findings.iter().map(|finding| {
        let severity = format!("{:?}", finding.severity).to_lowercase();
        let help = finding.help.iter().map(|help| format!("; {help}"));
        let help: String = help.collect();
        format!("{severity}[{}]: {}{help}", finding.code, finding.message)
    });
    assert_eq!(
        found.collect::<Vec<_>>().join("\n"),
        expected,
        "{schema} {reference} {takes}"
    );
}

fn closed() -> Value {
    json!({"type": "object", "properties": {"total": {"type": "string"}}, "required": ["total"], "additionalProperties": false})
}

/// A scalar has no parts that could be missing, and a list has none with names.
#[test]
fn what_fails_in_each_run_is_an_error() {
    let string = json!({"type": "string"});
    found(
        &string,
        &json!({"path": [{"token": "0", "absent": "end"}], "else": "d"}),
        &string,
        "error[list-or-element]: the output of `make` is a string, which has no element [0]; did you mean `{\"reference\": {\"step\": \"made\", \"pointer\": \"\"}}`?",
    );
    found(
        &json!({"type": "array", "items": string}),
        &json!({"path": [{"token": "a", "absent": "end"}]}),
        &string,
        "error[list-or-element]: the output of `make` is a list of strings, which has no field `a`",
    );
    found(
        &closed(),
        &json!({"path": [{"token": "totl", "absent": "end"}]}),
        &string,
        "error[maybe-absent]: argument `x` is required, but `made.pointer(\"/totl\")` has no value: \
         the output of `make` has no field `totl`; did you mean `{\"reference\": {\"step\": \"made\", \"pointer\": \"/total\"}}`?",
    );
    found(
        &json!({"type": "null"}),
        &json!({"optional": true, "path": []}),
        &string,
        "error[maybe-absent]: argument `x` is required, but `made?` has no value: the output may be null",
    );
    let lost = json!({"properties": {"a": false, "b": string}});
    found(
        &lost,
        &json!({"path": ["a"]}),
        &string,
        "error[unknown-field]: the output of `make` has no field `a`; it has `b`",
    );
}

#[test]
fn what_can_do_without_is_a_warning() {
    let integer = json!({"type": "integer"});
    let warning = "warning[unknown-field]: the output of `make` has no field `totl`; did you mean `{\"reference\": {\"step\": \"made\", \"pointer\": \"/total\"}}`?";
    for (absent, takes) in [
        (json!({"default": 7}), &integer),
        (json!("null"), &json!({"type": ["integer", "null"]})),
    ] {
        let reference = json!({"path": [{"token": "totl", "absent": absent}]});
        found(&closed(), &reference, takes, warning);
    }
    // A string cannot end, so it is known not to be null. A member without a schema may be null.
    let string = json!({"type": "string"});
    found(&string, &json!({"optional": true, "path": []}), &string, "");
    found(
        &json!({}),
        &json!({"optional": true, "path": [], "else": "d"}),
        &string,
        "warning[unchecked]: argument `x` must be a string, but `made?.unwrap_or(\"d\")` may be anything; \
         state its type in the schema of the output of `make`",
    );
    found(
        &json!({}),
        &json!({"optional": true, "path": []}),
        &string,
        "error[maybe-absent]: argument `x` is required, but `made?` may have no value: the reference has a `?`; \
         call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": {\"reference\": \
         {\"step\": \"made\", \"pointer\": \"\", \"optional\": true}}, \"then\": {\"tool\": {\"name\": \"take\"}, \"arguments\": {\"object\": \
         {\"x\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)",
    );
    found(
        &json!({"type": "null"}),
        &json!({"optional": true, "path": [], "else": "d"}),
        &string,
        "",
    );
}

#[test]
fn what_replaces_a_value_has_to_fit_as_if_it_was_written_there() {
    let string = json!({"type": "string"});
    let nullable = json!({"type": ["string", "null"]});
    let optional = |other: &Value| json!({"optional": true, "path": [], "else": other});
    let four = "if the reference stops at a missing part, argument `x` is the number 4, but must be a string; write it as a string: `\"4\"`";
    found(
        &nullable,
        &optional(&json!(4)),
        &string,
        &format!("error[wrong-type]: {four}"),
    );
    found(&nullable, &optional(&json!("4")), &string, "");
    // The `else` is never used.
    found(&string, &optional(&json!(4)), &string, "");
    found(
        &json!({"type": ["array", "null"]}),
        &optional(&json!("d")),
        &json!({"type": "array"}),
        "error[list-or-element]: if the reference stops at a missing part, argument `x` is the string \"d\", but must be a list; put the value in a list: `[\"d\"]`",
    );
    let members = json!({"type": "object", "properties": {"a": string}, "required": []});
    let missing = |default: &Value, rest: &[&str]| {
        let mut path =
            vec![json!({"token": "a", "absent": {"default": default}, "optional": true})];
        path.extend(rest.iter().map(|token| json!(token)));
        json!({"path": path})
    };
    found(
        &members,
        &missing(&json!({"a": "z"}), &[]),
        &json!({"type": ["string", "integer"]}),
        "error[wrong-type]: if `a` is missing, argument `x` is an object, but must be a string or an integer",
    );
    found(&members, &missing(&json!("z"), &[]), &string, "");
    // Each element ends by itself, and the rest of the path applies to a default as well.
    found(
        &json!({"type": "array", "items": nullable}),
        &json!({"path": [{"each": "element", "optional": true}], "else": 4}),
        &json!({"type": "array", "items": string}),
        "error[wrong-type]: if the reference stops at a missing part, argument `x[..]` is the number 4, but must be a string; write it as a string: `\"4\"`",
    );
    let inner = json!({"type": "object", "properties": {"a": members}, "required": []});
    found(
        &inner,
        &missing(&json!({"a": 4}), &["a"]),
        &json!({"type": "integer"}),
        "error[wrong-type]: argument `x` must be an integer, but `made.a.or({\"a\":4})?.a` is a string",
    );
    found(
        &inner,
        &missing(&json!({"b": 4}), &["a"]),
        &nullable,
        "error[unknown-field]: if `a` is missing, `a` in the output of `make` has no field `a`",
    );
}

/// Returns a plan JSON step with `#[optional(each)]`, and a step that takes the value at this pointer in its output.
fn each(body: &Value, taken: Option<&str>) -> String {
    let list = json!({"reference": {"input": "xs", "pointer": ""}});
    let mut steps = vec![json!({"id": "made", "policy": {"optional": "each"},
        "for": {"pattern": "x", "list": list, "body": body}})];
    if let Some(pointer) = taken {
        let part = json!({"reference": {"step": "made", "pointer": pointer}});
        steps.push(
            json!({"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x": part}}}),
        );
    }
    let output = json!({"value": {"reference": {"step": "made", "pointer": ""}}});
    json!({"name": "p", "inputs": [{"name": "xs"}], "steps": steps, "output": output}).to_string()
}

/// Null replaces an element whose call or condition fails, of nested ones the innermost. A list that fails ends the step.
#[test]
fn what_null_replaces_is_what_the_check_says() {
    let takes = json!({"type": "object", "properties": {"x": {"type": ["integer", "array"]}}, "required": ["x"]});
    let make = Contract::new("make").output(json!({"type": "integer"}));
    let toolbox = Toolbox::<()>::new()
        .with_fn(make, |_| async { Err(Error::permanent("no")) })
        .with_fn(Contract::new("take").arguments(takes), |_| async {
            Ok(Value::Null)
        });
    let call = json!({"tool": {"name": "make"}});
    let inner = json!({"for": {"pattern": "y", "list": {"reference": {"local": 0, "pointer": "/list"}}, "body": call}});
    let tests = |then: &Value| {
        let condition = json!({"reference": {"local": 0, "pointer": "/ok"}});
        json!({"if": [{"condition": condition, "then": then}, {"then": then}]})
    };
    let full = json!({"ok": true, "list": [1]});
    let no_list = json!({"ok": true});
    let no_condition = json!({"list": [1]});
    let cases = [
        (&call, &full, Some(json!([null])), &["/0"][..]),
        (&tests(&call), &full, Some(json!([null])), &["/0"]),
        (&tests(&call), &no_condition, Some(json!([null])), &["/0"]),
        (&inner, &full, Some(json!([[null]])), &["/0/0"]),
        (&inner, &no_list, None, &["/0/0"]),
        (
            &tests(&inner),
            &full,
            Some(json!([[null]])),
            &["/0", "/0/0"],
        ),
        (
            &tests(&inner),
            &no_condition,
            Some(json!([null])),
            &["/0", "/0/0"],
        ),
        (&tests(&inner), &no_list, None, &["/0", "/0/0"]),
    ];
    for (body, element, output, absent) in cases {
        let text = each(body, None);
        let document = toolbox.read(&text).unwrap();
        let run = toolbox.run(document.plan(), json!({"xs": [element]}), &());
        assert_eq!(smol::block_on(run).ok(), output, "{body} {element}");
        for pointer in ["/0", "/0/0"] {
            let found = match toolbox.read(&each(body, Some(pointer))) {
                Ok(_) => None,
                Err(findings) => findings.errors().next().map(|it| it.code),
            };
            // An integer has no elements.
            let is_there = pointer == "/0" || absent.contains(&"/0/0");
            let expected = match (is_there, absent.contains(&pointer)) {
                (false, _) => Some(Code::ListOrElement),
                (true, may_be_absent) => may_be_absent.then_some(Code::MaybeAbsent),
            };
            assert_eq!(found, expected, "{body} {pointer}");
        }
    }
}

/// The output of a step whose failure is caught is a `Result` around the type that its tool gives.
#[test]
fn a_caught_failure_leaves_a_result() {
    let tools: Contracts = [
        Contract::new("make").output(json!({
            "type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}},
            "additionalProperties": false,
        })),
        Contract::new("take").arguments(json!({
            "type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}},
        })),
    ]
    .into_iter()
    .collect();
    let found = |path: &Value| -> Vec<Code> {
        let text = json!({"name": "p", "steps": [
            {"id": "made", "tool": {"name": "make"}, "policy": {"catch": true}},
            {"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x":
                {"reference": {"step": "made", "path": path}}}}},
        ]});
        match Reader::new().tools(&tools).read(&text.to_string()) {
            Ok(document) => document.warnings().iter().map(|it| it.code).collect(),
            Err(findings) => findings.iter().map(|it| it.code).collect(),
        }
    };
    let ok = json!({"token": "Ok", "absent": "failure"});
    assert_eq!(found(&json!([ok, "id"])), []);
    assert_eq!(found(&json!([ok, "ib"])), [Code::UnknownField]);
    assert_eq!(found(&json!([ok])), [Code::WrongType]);
    assert_eq!(found(&json!(["id"])), [Code::UnknownField]);
    assert_eq!(
        found(&json!([{"token": "Ok", "absent": "null", "optional": true}, "id"])),
        [Code::MaybeAbsent]
    );
    assert_eq!(found(&json!([])), [Code::WrongType]);
}

/// An undo step reads the output of the call, and an always step reads a `Result`, regardless of the other step's
/// policy.
#[test]
fn undo_steps_and_always_steps_see_other_types() {
    let tools: Contracts = [
        Contract::new("make").output(json!({
            "type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}},
            "additionalProperties": false,
        })),
        Contract::new("take").arguments(json!({
            "type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}},
        })),
    ]
    .into_iter()
    .collect();
    let found = |role: &str, policy: &Value, path: &Value| -> Vec<Code> {
        let mut taken = json!({"id": "taken", "tool": {"name": "take"}, "arguments": {"object": {"x":
            {"reference": {"step": "made", "path": path}}}}});
        match role {
            "undo" => taken["undo"] = "made".into(),
            "always" => taken["always"] = true.into(),
            _ => {}
        }
        let text = json!({"name": "p", "steps": [
            {"id": "made", "tool": {"name": "make"}, "policy": policy}, taken,
        ]});
        match Reader::new().tools(&tools).read(&text.to_string()) {
            Ok(document) => document.warnings().iter().map(|it| it.code).collect(),
            Err(findings) => findings.iter().map(|it| it.code).collect(),
        }
    };
    let ok = json!({"token": "Ok", "absent": "failure"});
    let nothing = json!({"attempts": 2});
    for policy in [
        json!({"catch": true}),
        json!({"optional": "whole"}),
        nothing.clone(),
    ] {
        assert_eq!(found("undo", &policy, &json!(["id"])), [], "{policy}");
        assert_eq!(
            found("undo", &policy, &json!(["ib"])),
            [Code::UnknownField],
            "{policy}"
        );
        assert_eq!(
            found("undo", &policy, &json!([ok, "id"])),
            [Code::UnknownField],
            "{policy}"
        );
    }
    assert_eq!(found("always", &nothing, &json!([ok, "id"])), []);
    assert_eq!(
        found("always", &nothing, &json!(["id"])),
        [Code::UnknownField]
    );
    assert_eq!(
        found("always", &json!({"catch": true}), &json!([ok, "id"])),
        []
    );
    let optional = json!({"optional": "whole"});
    assert_eq!(
        found(
            "always",
            &optional,
            &json!([ok, {"token": "id", "optional": true}])
        ),
        [Code::MaybeAbsent]
    );
    assert_eq!(found("work", &nothing, &json!(["id"])), []);
    assert_eq!(
        found("work", &nothing, &json!([ok, "id"])),
        [Code::UnknownField]
    );
}
