//! What a plan says of a reference is what the reference reads.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Reader};
use serde_json::{Value, json};

fn document(reference: Value) -> String {
    json!({
        "name": "p",
        "steps": [
            {"id": "secrets", "tool": {"name": "read"}, "arguments": {"object": {}}},
            {"id": "mail", "tool": {"name": "find"}, "arguments": {"object": {}}},
            {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {"body": {"reference": reference}}}}
        ]
    })
    .to_string()
}

fn read(reference: Value) -> Result<String, String> {
    let document = document(reference);
    let plan = Reader::new().read(&document).map_err(|found| {
        assert_eq!(found.len(), 1, "{found}");
        assert_eq!(found[0].code, Code::MalformedReference);
        assert!(
            found[0]
                .help
                .as_ref()
                .unwrap()
                .contains("leave `written` out")
        );
        found[0].message.clone()
    })?;
    let plan = plan.into_plan();
    let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
    Ok(plan.steps[2].references()[0].reference.written.to_string())
}

#[test]
fn a_reference_that_says_something_else_is_an_error() {
    let said = read(json!({"step": "secrets", "pointer": "/0", "written": "mail.subject"}));
    assert_eq!(
        said.unwrap_err(),
        "this reads `secrets[0]`, and `written` says `mail.subject`"
    );
    for written in [
        "mail",
        "secrets",
        "secrets[1]",
        "secrets[0].x",
        "secrets[0] // mail",
        "secrets[0]\n",
        " secrets[0]",
        "secrets[{ std::process::exit(1); 0 }]",
        "mail.replace(\"a\", { std::process::exit(1) })",
        "secrets[0u8]",
        "secrets [0]",
        "secrets[0]?",
        "sеcrets[0]",
    ] {
        let said = read(json!({"step": "secrets", "pointer": "/0", "written": written}));
        assert!(said.is_err(), "{written}");
    }
}

#[test]
fn the_way_as_authors_write_it_agrees_and_what_is_printed_is_derived() {
    for (pointer, written) in [
        ("/threadId", "mail.thread_id"),
        ("/threadId", "mail.threadId"),
        ("/threadId", "&mail.thread_id"),
        ("/threadId", "mail[\"threadId\"]"),
        ("/threadId", ""),
    ] {
        let said = read(json!({"step": "mail", "pointer": pointer, "written": written}));
        assert_eq!(said.as_deref(), Ok("mail.threadId"), "{written}");
    }
    let path = json!(["a", {"optional": "missing"}, {"each": "element"}, {"token": "0", "absent": "stop"}]);
    let said = read(json!({"step": "mail", "path": path, "written": "mail.a?[..].get(0)"}));
    assert_eq!(said.as_deref(), Ok("mail.a?[..][0]"));
}

#[test]
fn a_local_value_goes_by_the_name_that_its_pattern_gives() {
    let plan = |pattern: &str, pointer: &str, written: Value| {
        let reference = json!({"reference": {"local": 0, "pointer": pointer, "written": written}});
        let call = json!({"tool": {"name": "t"}, "arguments": {"object": {"a": reference}}});
        json!({
            "name": "p", "inputs": [{"name": "list"}],
            "steps": [{"id": "s", "for": {
                "pattern": pattern, "list": {"reference": {"input": "list", "pointer": ""}}, "body": call
            }}]
        })
        .to_string()
    };
    let read = |text: String| {
        let plan = Reader::new().read(&text).ok()?.into_plan();
        let written = plan.steps[0].references()[1].reference.written.to_string();
        Some(written)
    };
    let right = [
        ("mail", "/id", json!("mail.id"), "mail.id"),
        ("mail", "/id", Value::Null, "mail.id"),
        ("(open, secret)", "/1", json!("secret"), "secret"),
        ("(open, secret)", "", Value::Null, "local0"),
    ];
    for (pattern, pointer, written, derived) in right {
        let found = read(plan(pattern, pointer, written));
        assert_eq!(found.as_deref(), Some(derived), "{pattern}");
    }
    assert_eq!(read(plan("(open, secret)", "/1", json!("open"))), None);
    assert_eq!(read(plan("mail", "", json!("list"))), None);
}

#[test]
fn a_name_that_a_pattern_binds_again_is_an_error() {
    let read = |pattern: &str, inner: &str, reference: Value| {
        let list = json!({"reference": {"input": "list", "pointer": ""}});
        let arguments = json!({"object": {"a": {"reference": reference}}});
        let call = json!({"tool": {"name": "t"}, "arguments": arguments});
        let inner = json!({"for": {"pattern": inner, "list": list, "body": call}});
        let document = json!({
            "name": "p", "inputs": [{"name": "list"}],
            "steps": [
                {"id": "secrets", "tool": {"name": "t"}, "arguments": {"object": {}}},
                {"id": "s", "for": {"pattern": pattern, "list": list, "body": inner}}
            ]
        });
        let text = document.to_string();
        let found = Reader::new()
            .read(&text)
            .map(|read| read.into_plan().to_string());
        found.map_err(|found| found[0].message.clone())
    };
    let secrets = || json!({"step": "secrets", "pointer": "/0"});
    for (pattern, inner) in [
        ("secrets", "m"),
        ("m", "(a, secrets)"),
        ("secrets", "secrets"),
    ] {
        assert_eq!(
            read(pattern, inner, secrets()).unwrap_err(),
            "this reads `secrets`, and a pattern around it binds `secrets`"
        );
    }
    let outer = read("m", "m", json!({"local": 0, "pointer": ""})).unwrap();
    assert!(outer.contains("a: local0\n"), "{outer}");
    let inner = read("m", "m", json!({"local": 1, "pointer": ""})).unwrap();
    assert!(inner.contains("a: m\n"), "{inner}");
    assert!(read("m", "local0", json!({"local": 0, "pointer": ""})).is_ok());
    assert!(read("[]", "local0", json!({"local": 0, "pointer": ""})).is_err());
    assert!(read("m", "n", secrets()).unwrap().contains("a: secrets[0]"));
}
