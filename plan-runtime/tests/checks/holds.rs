//! Plans that read without findings, and do not fail by type; each wrong plan has one finding.

use crate::checks::sound::object;
use crate::checks::{after_find, all_findings, shown};
use plan_runtime::dynamic::{Contract, Document, Findings, Profile, Reader, Toolbox};
use serde_json::{Value, json};

/// Returns tools that give an output, and tools that take arguments.
fn toolbox(outputs: &[(&str, Value)], arguments: &[(&str, Value)]) -> Toolbox<()> {
    let takes = |all: Toolbox<()>, (name, schema): &(&str, Value)| {
        let contract = Contract::new(*name).arguments(schema.clone());
        all.with_fn(contract, |given| async { Ok(given) })
    };
    let gives = |all: Toolbox<()>, (name, schema): &(&str, Value)| {
        let contract = Contract::new(*name).output(schema.clone());
        all.with_fn(contract, |_| async { Ok(Value::Null) })
    };
    let all = outputs.iter().fold(Toolbox::new(), gives);
    arguments.iter().fold(all, takes)
}

fn findings(read: Result<Document<'_>, Findings>) -> Vec<String> {
    shown(&all_findings(read))
}

/// Returns plan JSON with a step that calls `take` with merged parts.
fn merged(parts: &Value) -> String {
    json!({"name": "p", "inputs": [], "output": {}, "steps": [
        {"id": "a", "tool": {"name": "find"}},
        {"id": "b", "tool": {"name": "take"}, "arguments": {"merge": parts}},
    ]})
    .to_string()
}

#[test]
fn a_merged_object_has_the_members_of_its_parts() {
    let (string, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
    let output = object(
        &json!({
            "all": object(&json!({"subject": string, "cc": string}), &["subject", "cc"]),
            "some": object(&json!({"subject": string}), &[]),
            "silent": {"type": "object", "properties": {"subject": string}},
            "wrong": object(&json!({"subject": integer}), &["subject"]),
            "nothing": object(&json!({"cc": string}), &[]),
            "nullable": {"type": ["object", "null"], "properties": {"subject": string}, "required": ["subject"]},
            "list": {"type": "array", "items": string},
            "open": {},
        }),
        &[
            "all", "some", "silent", "wrong", "nothing", "nullable", "list", "open",
        ],
    );
    let takes = object(
        &json!({"to": string, "subject": string, "cc": string}),
        &["to", "subject"],
    );
    let toolbox = toolbox(&[("find", output)], &[("take", takes)]);
    let part = |name: &str| json!({"reference": {"step": "a", "pointer": format!("/{name}")}});
    let to = json!({"object": {"to": "a"}});
    let subject = json!({"object": {"subject": "a"}});
    let cases = [
        (json!([to, part("all")]), ""),
        (json!([part("wrong"), to, subject]), ""),
        (json!([part("some"), to, subject]), ""),
        (json!([to, subject, part("some")]), ""),
        (
            json!([to, part("some")]),
            "maybe-absent: the merged object does not fit the arguments: its `subject` may be missing",
        ),
        (
            json!([to, part("nullable")]),
            "maybe-absent: the merged object does not fit the arguments: its `subject` may be missing",
        ),
        (
            json!([to, part("silent")]),
            "unchecked: `subject` is required, but no schema states whether the merged object has `subject`",
        ),
        (
            json!([to, part("nothing")]),
            "missing-argument: `take` needs the argument `subject`",
        ),
        (
            json!([to, subject, part("wrong")]),
            "wrong-type: the merged object does not fit the arguments: its `subject` is an integer, but must be a string",
        ),
        (
            json!([to, subject, part("list")]),
            "wrong-type: only an object can be merged, but `a.list` is a list of strings",
        ),
        (
            json!([to, subject, part("open")]),
            "unchecked: only an object can be merged, but `a.open` may be anything",
        ),
        (
            json!([to, subject, [1]]),
            "wrong-type: only an object can be merged, but this part is a list of integers",
        ),
    ];
    for (parts, expected) in cases {
        let findings = findings(toolbox.read(&merged(&parts)));
        assert_eq!(findings.join("\n"), expected, "{parts}");
    }
}

#[test]
fn forms_accept_a_merged_object_together() {
    let form = |ty: Value| object(&json!({"to": {"type": "string"}, "v": ty}), &["to", "v"]);
    let (string, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
    let either = json!({"type": ["string", "integer"]});
    let toolbox = toolbox(
        &[("find", object(&json!({"v": either}), &["v"]))],
        &[("take", json!({"anyOf": [form(string), form(integer)]}))],
    );
    let part = json!({"reference": {"step": "a", "pointer": ""}});
    let parts = json!([{"object": {"to": "a"}}, part]);
    assert_eq!(findings(toolbox.read(&merged(&parts))), [""; 0]);
}

#[test]
fn a_form_accepts_a_merged_object_and_its_named_members() {
    let form = |kind: &str| {
        let kind = json!({"type": kind});
        object(&json!({"a": kind, "b": kind}), &["b"])
    };
    let all = object(&json!({"b": {"type": "string"}}), &["b"]);
    let output = object(
        &json!({"all": all, "five": object(&json!({"a": {"type": "integer"}}), &["a"]), "n": {"type": ["string", "null"]}}),
        &["all", "five", "n"],
    );
    let forms = json!({"anyOf": [form("string"), form("integer")]});
    let toolbox = toolbox(
        &[("find", output)],
        &[("take", forms), ("one", form("string"))],
    );
    let part = |pointer: &str| json!({"reference": {"step": "a", "pointer": pointer}});
    let integer = json!({"object": {"a": 5}});
    for (parts, expected) in [
        (json!([part("/all"), {"object": {"a": "x"}}]), ""),
        (json!([part("/all"), {"object": {"a": null}}]), ""),
        (json!([part("/all"), {"object": {"a": part("/n")}}]), ""),
        (
            json!([part("/all"), integer]),
            "wrong-type: the merged object does not fit the arguments: its `a` is an integer, but must be a string",
        ),
        (
            json!([part("/all"), part("/five"), {"object": {"a": part("/n")}}]),
            "wrong-type: the merged object does not fit the arguments: its `a` may be an integer, but must be a string",
        ),
    ] {
        let text = merged(&parts);
        assert_eq!(
            findings(toolbox.read(&text)).join("\n"),
            expected,
            "{parts}"
        );
    }
    let parts = json!([part("/all"), part("/five"), {"object": {"a": part("/n")}}]);
    let text = merged(&parts).replace(r#""take""#, r#""one""#);
    assert_eq!(
        findings(toolbox.read(&text)),
        [
            "wrong-type: the merged object does not fit the arguments: its `a` may be an integer, but must be a string"
        ]
    );
}

#[test]
fn a_required_member_that_properties_does_not_list() {
    let one = json!({"type": "object", "properties": {"a": {}}, "required": ["a", "b"]});
    let string = object(&json!({"x": {"type": "string"}}), &["x"]);
    let whole = object(&json!({"x": one}), &["x"]);
    let toolbox = toolbox(
        &[("find", one.clone())],
        &[("take", one), ("string", string), ("whole", whole)],
    );
    let call = |tool: &str, arguments: &str| {
        let call = format!(r#"{{"id": "b", "tool": "{tool}", "arguments": {arguments}}}"#);
        findings(toolbox.read(&after_find(&call))).join("\n")
    };
    assert_eq!(call("take", r#"{"a": 1, "b": "$ref:a.b"}"#), "");
    assert_eq!(call("whole", r#"{"x": "$ref:a"}"#), "");
    assert_eq!(
        call("take", r#"{"a": 1}"#),
        "missing-argument: `take` needs the argument `b`"
    );
    assert_eq!(
        call("string", r#"{"x": "$ref:a.b"}"#),
        "unchecked: argument `x` must be a string, but `$ref:a.b` may be anything"
    );
}

#[test]
fn null_inside_of_a_reference_remains() {
    let output = |is_nullable: bool| {
        let x = json!({"type": "string", "nullable": is_nullable});
        object(&json!({"x": x}), &["x"])
    };
    let takes = object(
        &json!({"p": object(&json!({"x": {"type": "string"}}), &[])}),
        &[],
    );
    for (is_nullable, message) in [
        (
            true,
            "maybe-absent: the value of `$ref:a` does not fit argument `p`: its `x` may be null, but must be a string",
        ),
        (false, ""),
    ] {
        let toolbox = toolbox(&[("find", output(is_nullable))], &[("take", takes.clone())]);
        let call = r#"{"id": "b", "tool": "take", "arguments": {"p": "$ref:a"}}"#;
        assert_eq!(
            findings(toolbox.read(&after_find(call))).join("\n"),
            message
        );
        // A call leaves null in its own members out.
        let call = r#"{"id": "b", "tool": "take", "arguments": {"p": {"x": "$ref:a.x"}}}"#;
        assert_eq!(findings(toolbox.read(&after_find(call))), [""; 0]);
    }
}

#[test]
fn null_is_left_out_of_all_forms_or_remains() {
    let (string, integer) = (json!({"type": "string"}), json!({"type": "integer"}));
    let form = |kind: &str, a: &Value, required: &[&str]| {
        let kind = json!({"const": kind});
        let required: Vec<&str> = required.iter().copied().chain(["kind"]).collect();
        object(&json!({"kind": kind, "a": a}), &required)
    };
    let takes = |forms: &[Value]| object(&json!({"p": {"anyOf": forms}}), &["p"]);
    let optional = form("x", &string, &[]);
    let find = object(&json!({"a": {"type": ["string", "null"]}}), &["a"]);
    let either = json!({"type": ["integer", "null"]});
    for (forms, is_left_out) in [
        ([optional.clone(), form("y", &integer, &[])], true),
        // The tag selects the form.
        ([optional.clone(), form("y", &integer, &["a"])], true),
        ([optional.clone(), form("x", &integer, &["a"])], false),
        ([optional.clone(), form("x", &either, &[])], false),
    ] {
        let toolbox = toolbox(&[("find", find.clone())], &[("take", takes(&forms))]);
        let call =
            r#"{"id": "b", "tool": "take", "arguments": {"p": {"kind": "x", "a": "$ref:a.a"}}}"#;
        let found = findings(toolbox.read(&after_find(call)));
        assert_eq!(found.is_empty(), is_left_out, "{forms:?}\n{found:?}");
    }
}

#[test]
fn null_in_a_value_that_is_no_argument_remains() {
    let takes = object(
        &json!({"p": object(&json!({"x": {"type": "string"}}), &[])}),
        &[],
    );
    let output = json!({"enum": [{"x": null}]});
    let tools = toolbox(&[("find", output)], &[("take", takes.clone())]);
    let call = r#"{"id": "b", "tool": "take", "arguments": {"p": "$ref:a"}}"#;
    let found = findings(tools.read(&after_find(call))).join("\n");
    assert_eq!(
        found,
        "wrong-type: the value of `$ref:a` does not fit argument `p`: it may be `{\"x\":null}`, which is not accepted"
    );
    let output = object(&json!({"x": object(&json!({}), &[])}), &[]);
    let tools = toolbox(&[("find", output)], &[("take", takes)]);
    let path = json!([{"token": "x", "absent": {"default": {"x": null}}}]);
    let text = json!({"name": "p", "inputs": [], "output": {}, "steps": [
        {"id": "a", "tool": {"name": "find"}},
        {"id": "b", "tool": {"name": "take"}, "arguments": {"object": {"p": {"reference": {"step": "a", "path": path}}}}},
    ]});
    let found = findings(tools.read(&text.to_string())).join("\n");
    assert_eq!(
        found,
        "wrong-type: if `x` is missing, argument `p.x` is null, but must be a string"
    );
}

#[test]
fn text_in_place_of_a_missing_value() {
    let id = |kind: &str| object(&json!({"id": {"type": kind}}), &["id"]);
    let tools = |kind: &str| toolbox(&[("find", id(kind))], &[("take", id(kind))]);
    let read = |tools: &Toolbox<()>, text| {
        let reader = Reader::new().profile(Profile::Compat);
        findings(reader.tools(tools.contracts()).read(text))
    };
    let text = r#"[{"id": "a", "tool": "find", "arguments": {}, "policy": {"optional": "whole"}}, {"id": "b", "tool": "take", "arguments": {"id": "{{a.result.id}}"}}]"#;
    assert_eq!(
        read(&tools("integer"), text),
        [
            "wrong-type: if the reference stops at a missing part, argument `id` is the string \"{{a.result.id}}\", but must be an integer"
        ]
    );
    assert_eq!(read(&tools("string"), text), [""; 0]);
}

#[test]
fn a_large_number_is_no_multiple() {
    let takes = object(
        &json!({"n": {"type": "integer", "multipleOf": 5}, "m": {"type": "number", "multipleOf": 0.01}}),
        &[],
    );
    let toolbox = toolbox(&[], &[("take", takes)]);
    let call = |arguments: &str| {
        let text =
            format!(r#"{{"steps": [{{"id": "b", "tool": "take", "arguments": {arguments}}}]}}"#);
        findings(toolbox.read(&text)).join("\n")
    };
    assert_eq!(
        call(r#"{"n": 10000000003}"#),
        "not-allowed: argument `n` is the number 10000000003, but must be a multiple of 5"
    );
    for right in [
        r#"{"n": 10000000005}"#,
        r#"{"m": 0.07}"#,
        r#"{"m": 1234567.89}"#,
        r#"{"m": 98765432101.37}"#,
    ] {
        assert_eq!(call(right), "", "{right}");
    }
    assert_eq!(
        call(r#"{"m": 1234567.895}"#),
        "not-allowed: argument `m` is the number 1234567.895, but must be a multiple of 0.01"
    );
}

/// The schemas of `schemars` have no maximum for `u32`.
#[test]
fn a_format_of_integers_is_a_bound() {
    for (format, largest) in [
        ("int8", 127_u64),
        ("uint32", 4_294_967_295),
        ("int64", 9_223_372_036_854_775_807),
    ] {
        let takes = object(&json!({"n": {"type": "integer", "format": format}}), &[]);
        let toolbox = toolbox(&[], &[("take", takes)]);
        let wrong = |n: u64| toolbox.check_arguments("take", &json!({"n": n})).unwrap();
        assert_eq!(wrong(largest), [""; 0], "{format}");
        let found = wrong(largest.saturating_mul(2)).join("\n");
        assert!(found.contains("must be at most"), "{format}: {found}");
        let below = toolbox.check_arguments("take", &json!({"n": -1})).unwrap();
        assert_eq!(
            below.len(),
            usize::from(format.starts_with('u')),
            "{below:?}"
        );
    }
}

#[test]
fn a_step_that_an_always_step_reads() {
    let output = object(&json!({"subject": {"type": "string"}}), &["subject"]);
    let takes = object(&json!({"name": {"type": "string"}}), &["name"]);
    let toolbox = toolbox(&[("find", output)], &[("take", takes)]);
    let step =
        r#"{"id": "b", "always": true, "tool": "take", "arguments": {"name": "$ref:a.subject"}}"#;
    let text = toolbox.read(&after_find(step)).unwrap_err().to_string();
    assert_eq!(
        text,
        r#"error[unknown-field]: an always step reads the `Result` of step `a`, which has no field `subject`
  --> 1:124 in step `b`
   = help: read the output in a branch: `"pattern": "Ok(x)", "value": "$ref:a"`

error[role]: the output refers to `b`, which runs later
  --> 1:162
   = help: only always steps can refer to `b`
"#
    );
}

#[test]
fn a_fence_around_json_with_backquotes() {
    let toolbox = toolbox(&[], &[("t", json!({"type": "object"}))]);
    for text in [
        "Here:\n```json\n{\"steps\":[{\"id\":\"a\",\"tool\":\"t\",\"arguments\":{\"x\":\"a ``` b\"}}]}\n```\n",
        "Here:\n```\n{\"steps\":[{\"id\":\"a\",\"tool\":\"t\",\"arguments\":{}}]}\n```\nThat is all.",
        "Here: ```{\"steps\":[{\"id\":\"a\",\"tool\":\"t\",\"arguments\":{}}]}```",
    ] {
        assert!(toolbox.read(text).is_ok(), "{text}");
    }
}

#[test]
fn inputs_that_fail_before_the_start() {
    let takes = |schema: &Value| object(&json!({"x": schema}), &["x"]);
    let start = |toolbox: &Toolbox<()>, plan: &plan_runtime::Plan, value: &Value| {
        let run = smol::block_on(toolbox.run(plan, json!({"x": value}), &()));
        run.map_err(|it| it.to_string()).err()
    };
    let text = r#"[{"id": "a", "tool": "take", "arguments": {"x": "{{PLACEHOLDER_x}}"}}]"#;
    for (schema, right, wrong) in [
        (json!({"type": "string"}), json!("a"), json!(5)),
        (json!({"enum": ["a", "b"]}), json!("a"), json!(5)),
        (json!({"type": "integer"}), json!(5), json!("a")),
        (json!({}), json!(0), Value::Null),
    ] {
        let toolbox = toolbox(&[], &[("take", takes(&schema))]);
        let plan = toolbox.read(text).unwrap().into_plan();
        let again: plan_runtime::Plan =
            serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        for plan in [&plan, &again] {
            assert_eq!(start(&toolbox, plan, &right), None, "{schema}");
            if !wrong.is_null() {
                let why = start(&toolbox, plan, &wrong).unwrap();
                assert!(why.contains("cannot start: the input `x`"), "{why}");
            }
        }
    }
}

#[test]
fn a_value_of_an_input_that_an_argument_does_not_accept() {
    let part = object(
        &json!({"n": {"type": "integer"}, "s": {"type": "string"}}),
        &["n"],
    );
    let x = |schema: Value| {
        object(
            &json!({"x": schema, "list": {"type": "array", "items": {"enum": ["a", "b"]}}}),
            &[],
        )
    };
    let color = json!({"enum": ["red", "green"]});
    let short = json!({"type": "string", "maxLength": 3});
    let tools = [("color", x(color)), ("part", x(part)), ("short", x(short))];
    let toolbox = toolbox(&[], &tools);
    let given = json!({"reference": {"input": "v", "pointer": ""}});
    let call = |tool: &str, arguments: Value| json!({"id": "a", "tool": {"name": tool}, "arguments": {"object": arguments}});
    let calls = |tool: &str| call(tool, json!({"x": given}));
    let start = |step: Value, value: &Value| {
        let plan = json!({"name": "p", "inputs": [{"name": "v", "type": "Value"}], "steps": [step], "output": {}});
        let plan: plan_runtime::Plan = serde_json::from_value(plan).unwrap();
        let run = smol::block_on(toolbox.run(&plan, json!({"v": value}), &()));
        run.map_or_else(|it| it.to_string(), |_| String::new())
    };
    for (step, value, message) in [
        (calls("color"), json!("red"), ""),
        (
            calls("color"),
            json!("blue"),
            "must be one of `red`, `green` (argument `x` of `color`)",
        ),
        (calls("color"), json!(null), ""),
        (calls("part"), json!({"n": 1, "s": null}), ""),
        (
            calls("part"),
            json!({"n": "1"}),
            "does not fit (argument `x` of `part`)",
        ),
        (
            calls("part"),
            json!("secret"),
            "is a string, but must be an object (argument `x` of `part`)",
        ),
        (
            calls("short"),
            json!("secret"),
            "must have at most 3 characters (argument `x` of `short`)",
        ),
        (
            call("color", json!({"list": ["a", given]})),
            json!("c"),
            "must be one of `a`, `b` (argument `list[1]` of `color`)",
        ),
    ] {
        let message = match message {
            "" => String::new(),
            why => format!("plan `p` cannot start: the input `v` {why}"),
        };
        assert_eq!(start(step.clone(), &value), message, "{value}");
        // The value passes through a block.
        let mut inner = step.clone();
        inner["arguments"] =
            serde_json::from_str(&step["arguments"].to_string().replace(r#""v""#, r#""w""#))
                .unwrap();
        let block = json!({"inputs": {"w": given}, "steps": [inner]});
        assert_eq!(
            start(json!({"id": "k", "block": block}), &value),
            message,
            "{value}"
        );
        // A step that may not run, or whose failure does not fail the plan, is not compared.
        let mut optional = step.clone();
        optional["policy"] = json!({"optional": "whole"});
        assert_eq!(start(optional, &value), "", "{value}");
    }
}

#[test]
fn a_number_with_a_fraction_of_zero_is_no_integer_of_rust() {
    let take = || Toolbox::<()>::new().with_fn(Contract::new("take"), |it| async { Ok(it) });
    let text = |of: &str| {
        format!(
            r#"{{"name": "p", "inputs": [{{"name": "n", "type": "{of}"}}], "steps": [], "output": {{"value": {{"reference": {{"input": "n", "pointer": ""}}}}}}}}"#
        )
    };
    for (of, value, message) in [
        (
            "u32",
            json!(4.0),
            "is a number, but must be an integer (`u32`)",
        ),
        (
            "Vec<u8>",
            json!([1, 4.0]),
            "at [1], is a number, but must be an integer (`Vec<u8>`)",
        ),
        ("char", json!("ab"), "must have 1 character (`char`)"),
        ("u32", json!(4), ""),
        ("f64", json!(4.0), ""),
        ("char", json!("ä"), ""),
    ] {
        let text = text(of);
        let plan = take().read(&text).unwrap().into_plan();
        let run = smol::block_on(take().run(&plan, json!({"n": value}), &()));
        let shown = run.err().map(|it| it.to_string()).unwrap_or_default();
        assert_eq!(
            shown.is_empty(),
            message.is_empty(),
            "{of} {value}: {shown}"
        );
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn a_help_for_arguments_inside_of_a_string() {
    let mail = object(
        &json!({"from": {"type": "string"}, "size": {"type": "integer"}}),
        &[],
    );
    let output = object(
        &json!({"mails": {"type": "array", "items": mail}}),
        &["mails"],
    );
    let froms = json!({"type": "array", "items": {"type": "string"}});
    let takes = object(&json!({"to": {"type": "string"}, "froms": froms}), &["to"]);
    let toolbox = toolbox(&[("find", output)], &[("take", takes)]);
    let call = |arguments: &str| {
        let call = format!(
            r#"{{"id": "b", "tool": "take", "arguments": {}}}"#,
            json!(arguments)
        );
        toolbox.read(&after_find(&call)).unwrap_err().to_string()
    };
    let help = call(r#"{"to": "$ref:a.mails.0.from", "froms": []}"#);
    let branch = r#""then": {"tool": "take", "arguments": {"to": "$ref:x", "froms": []}}"#;
    assert!(help.contains(branch), "{help}");
    let help = call(r#"{"to": "a", "froms": ["$ref:a.mails[*].from"]}"#);
    let whole = r#"remove the brackets: `"$ref:a.mails[*].from"`"#;
    assert!(help.contains(whole), "{help}");
}

#[test]
fn an_object_with_one_member_is_no_result() {
    let toolbox = toolbox(&[("find", json!({"type": "string"}))], &[]);
    let steps = |member: &str| {
        format!(
            r#"{{"id": "m", "value": [{{"{member}": 1}}, 1]}}, {{"id": "b", "if": [{{"pattern": "Ok(x)", "value": "$ref:m.0", "then": {{"value": "$ref:a"}}}}]}}"#
        )
    };
    let wrong = "wrong-type: `Ok(x)` needs a `Result`, but the value is an object";
    assert_eq!(findings(toolbox.read(&after_find(&steps("c")))), [wrong]);
    assert_eq!(findings(toolbox.read(&after_find(&steps("Ok")))), [""; 0]);
}
