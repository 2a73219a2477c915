//! Secrets of plans and schemas that nobody trusts: there may be any number of them, and they may be anywhere.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Contract, DocumentLimits, Reader, Toolbox};
use plan_runtime::plan::{Executable, Secrets};
use plan_runtime::run::RunErrorKind;
use serde_json::{Value, json};

fn plan(input: &Value, steps: &[Value]) -> Plan {
    let document = json!({
        "name": "p",
        "inputs": [{"name": "x", "secrets": input}],
        "steps": steps,
        "output": {"value": null},
    });
    let limits = DocumentLimits::DEFAULT.bytes(8 << 20).references(1 << 20);
    match Reader::new().limits(limits).read(&document.to_string()) {
        Ok(document) => document.into_plan(),
        Err(findings) => panic!("{findings}"),
    }
}

fn input(pointer: &str) -> Value {
    json!({"reference": {"input": "x", "pointer": pointer}})
}

#[test]
fn pointers_of_any_length() {
    for parts in [1, 127, 128, 129, 100_000] {
        let pointer = "/a".repeat(parts);
        let plan = plan(&json!([pointer]), &[]);
        let found = plan.inputs[0].secrets.pointers();
        assert_eq!(found.len(), 1);
        assert!(pointer.starts_with(&found[0]), "{found:?}");
        let kept = if parts < 128 { pointer } else { String::new() };
        assert_eq!(found, [kept], "{parts}");
    }
}

#[test]
fn any_number_of_pointers() {
    let pointers =
        |count: usize| -> Vec<String> { (0..count).map(|it| format!("/k{it}")).collect() };
    let some: Secrets = pointers(100).iter().collect();
    assert_eq!(some.pointers().len(), 100);
    let many: Secrets = pointers(50_000).iter().collect();
    assert_eq!(many, Secrets::whole());
    // Their container is read from them as often as a document can.
    let reference = input("/k7");
    let list = vec![reference; 5_000];
    let step = |id: String| json!({"id": id, "value": list});
    let steps: Vec<Value> = (0..10).map(|it| step(format!("s{it}"))).collect();
    let measured = allocation_counter::measure(|| {
        let plan = plan(&json!(pointers(100)), &steps);
        assert_eq!(Executable::new(&plan).mistake(), None);
    });
    assert!(measured.bytes_max < 256 << 20, "{measured:?}");
}

#[test]
fn secrets_that_double() {
    let twice = |step: usize| {
        let of = match step {
            0 => input(""),
            _ => json!({"reference": {"step": format!("s{}", step - 1), "pointer": ""}}),
        };
        json!({"id": format!("s{step}"), "value": {"object": {"a": of, "b": [of, of]}}})
    };
    let steps: Vec<Value> = (0..60).map(twice).collect();
    let plan = plan(&json!(["/key"]), &steps);
    let toolbox = Toolbox::<()>::new();
    let measured = allocation_counter::measure(|| {
        let run = toolbox.run(&plan, json!({"x": {"key": "hunter2"}}), &());
        let run = run.limits(plan_runtime::run::Limits::UNTRUSTED.value(1 << 20));
        let (result, report) = smol::block_on(run.capture_outputs(true).with_report());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
        assert!(!format!("{error} {report:?}").contains("hunter2"));
    });
    assert!(measured.bytes_max < 64 << 20, "{measured:?}");
}

#[test]
fn schemas_that_refer_to_each_other() {
    let secret = |schema: Value| {
        let toolbox = Toolbox::<()>::new()
            .with_fn(Contract::new("t").arguments(schema), |given| async move {
                Ok(given)
            });
        let document = toolbox
            .read(r#"[{"id": "a", "tool": "t", "arguments": {"x": 1}}]"#)
            .map(|document| {
                document.plan().steps[0]
                    .tool()
                    .unwrap()
                    .secret_arguments
                    .pointers()
            });
        document.ok()
    };
    // A chain. A plan with a tool whose schema takes too much work to search is refused.
    for (length, expected) in [(10, true), (30_000, false)] {
        let mut definitions: serde_json::Map<String, Value> = (0..length)
            .map(|it| {
                (
                    format!("d{it}"),
                    json!({"$ref": format!("#/$defs/d{}", it + 1)}),
                )
            })
            .collect();
        definitions.insert(format!("d{length}"), json!({"writeOnly": true}));
        let schema = json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
        let found = secret(schema);
        assert_eq!(found, expected.then(|| vec!["/x".to_owned()]), "{length}");
    }
    // Of 2⁶⁰ ways.
    let mut definitions: serde_json::Map<String, Value> = (0..60)
        .map(|it| {
            let next = json!({"$ref": format!("#/$defs/d{}", it + 1)});
            (format!("d{it}"), json!({"allOf": [next, next]}))
        })
        .collect();
    definitions.insert("d60".into(), json!({"format": "password"}));
    let found = secret(json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}));
    assert_eq!(found, None);
    // Of itself.
    let tree = json!({"properties": {
        "x": {"type": "integer"}, "key": {"writeOnly": true}, "inner": {"$ref": "#"}
    }});
    assert_eq!(
        secret(tree).unwrap(),
        ["/inner/inner", "/inner/key", "/key"]
    );
}
