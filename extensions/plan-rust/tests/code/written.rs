//! The written form of a reference matches its source and path.

use fastrand::Rng;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Reader};
use plan_rust::RustSource;
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
        assert!(found[0].help.as_ref().unwrap().contains("remove `written`"));
        found[0].message.clone()
    })?;
    let plan = plan.into_plan();
    let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
    Ok(plan.steps[2].references()[0]
        .reference
        .as_written()
        .unwrap()
        .to_owned())
}

#[test]
fn a_reference_that_says_something_else_is_an_error() {
    let said = read(json!({"step": "secrets", "pointer": "/0", "written": "mail.subject"}));
    assert_eq!(
        said.unwrap_err(),
        "the reference reads `secrets[0]`, but its `written` contains `mail.subject`"
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
    let path = json!([{"token": "a", "absent": "end", "optional": true}, {"each": "element"}, {"token": "0", "absent": "end"}]);
    let said = read(json!({"step": "mail", "path": path, "written": "mail.a?[..].get(0)"}));
    assert_eq!(said.as_deref(), Ok("mail.get(\"a\")?[..].pointer(\"/0\")"));
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
        let written = plan.steps[0].references()[1]
            .reference
            .as_written()
            .unwrap()
            .to_owned();
        Some(written)
    };
    let right = [
        ("mail", "/id", json!("mail.id"), "mail.id"),
        ("mail", "/id", Value::Null, "mail.id"),
        ("(open, secret)", "/1", json!("secret"), "secret"),
    ];
    for (pattern, pointer, written, derived) in right {
        let found = read(plan(pattern, pointer, written));
        assert_eq!(found.as_deref(), Some(derived), "{pattern}");
    }
    assert_eq!(read(plan("(open, secret)", "/1", json!("open"))), None);
    assert_eq!(read(plan("(open, secret)", "", Value::Null)), None);
    assert_eq!(read(plan("mail", "", json!("list"))), None);
}

/// Returns the printed form of a call inside two loops over these patterns, or the reason why it is not read.
fn looped(pattern: &str, inner: &str, reference: Value) -> Result<Plan, String> {
    let list = json!({"computed": {"written": "all()", "reads": []}});
    looped_over(list, pattern, inner, reference)
}

/// Returns the printed form over data, whose patterns only name things.
fn looped_over_data(pattern: &str, inner: &str, reference: Value) -> Result<Plan, String> {
    let list = json!({"reference": {"input": "list", "pointer": ""}});
    looped_over(list, pattern, inner, reference)
}

fn looped_over(list: Value, pattern: &str, inner: &str, reference: Value) -> Result<Plan, String> {
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
    asked(&document)
}

fn asked(document: &Value) -> Result<Plan, String> {
    let text = document.to_string();
    let found = Reader::new().read(&text);
    found
        .map(|read| read.into_plan())
        .map_err(|found| found[0].message.clone())
}

fn secrets() -> Value {
    json!({"step": "secrets", "pointer": "/0"})
}

const HIDDEN: &str =
    "the reference reads `secrets`, but an enclosing pattern defines another `secrets`";

#[test]
fn a_name_that_a_pattern_binds_again_is_an_error() {
    let read = |pattern: &str, inner: &str, reference: Value| {
        looped(pattern, inner, reference).map(|plan| plan.to_string())
    };
    for pattern in [
        "secrets",
        "r#secrets",
        "(secrets)",
        "(a, secrets)",
        "(secrets,)",
        "Some(secrets)",
        "Ok(secrets)",
        "Some((a, secrets))",
        "(a, (b, secrets))",
        "Mail { secrets, .. }",
        "Mail { body: secrets, .. }",
        "[secrets, ..]",
        "[a, secrets @ ..]",
        "ref secrets",
        "mut secrets",
        "&secrets",
        "&mut secrets",
        "box secrets",
        "x @ secrets",
        "x@secrets",
        "secrets @ _",
        "secrets@1..",
        "A | secrets",
        "Foo::<u8>(secrets)",
        "m!(secrets)",
        "(r\"\\\", secrets, \"\")",
        "(br\"\\\", secrets, b\"\")",
        "('\"', secrets, '\"')",
        "(b'\"', secrets, b'\"')",
        "('\\\'', secrets, '\"', '\\\'')",
        "(\"\\\"\", secrets, \"\")",
        "(r#\"\"\"#, secrets, \"\")",
        "/* \" */ secrets /* \" */",
        "x // \"\nsecrets //\"",
        "\"\"\" secrets",
        "sécrets|secrets",
    ] {
        for (outer, inner) in [(pattern, "m"), ("m", pattern), (pattern, pattern)] {
            let found = read(outer, inner, secrets());
            assert_eq!(found.unwrap_err(), HIDDEN, "{outer} {inner}");
        }
        assert_eq!(chained("k", pattern).unwrap_err(), HIDDEN, "{pattern}");
    }
    let over_data = |local: usize| {
        let reference = json!({"local": local, "pointer": ""});
        looped_over_data("m", "m", reference).unwrap().to_string()
    };
    let outer = over_data(0);
    assert!(outer.contains("a: local0\n"), "{outer}");
    let inner = over_data(1);
    assert!(inner.contains("a: m\n"), "{inner}");
    assert!(looped_over_data("m", "local0", json!({"local": 0, "pointer": ""})).is_ok());
    assert!(read("[]", "local0", json!({"local": 0, "pointer": ""})).is_err());
    assert!(read("m", &"a".repeat(5_000), secrets()).is_err());
    for pattern in [
        "n",
        "\"secrets\"",
        "Status { kind: \"secrets\", .. }",
        "'s' | \"secrets\"",
        "my_secrets",
        "secrets2",
    ] {
        let printed = read("m", pattern, secrets()).unwrap();
        assert!(printed.contains("a: secrets[0]"), "{pattern}");
    }
    // The value of a condition is not a pattern.
    assert!(chained("let Ok(secrets) = secrets && secrets", "Ok(a)").is_ok());
    for pattern in [
        "Foo::<A = B>(secrets)",
        "Foo::<{ a = b }>(secrets)",
        "secrets@1..=5",
    ] {
        assert_eq!(chained("k", pattern).unwrap_err(), HIDDEN, "{pattern}");
    }
    assert_eq!(chained("\"\\\\\"", "secrets").unwrap_err(), HIDDEN);
}

/// A step of another kind of name is also what is printed.
#[test]
fn names_that_rust_does_not_have_are_looked_for_as_well() {
    for (id, pattern) in [
        ("my-step", "my-step"),
        ("my-step", "(a, my-step)"),
        ("$x", "$x"),
        ("@x", "@x"),
        ("a-$b", "x@a-$b"),
    ] {
        let reference = json!({"reference": {"step": id, "pointer": "/0"}});
        let list = json!({"reference": {"input": "list", "pointer": ""}});
        let call = json!({"tool": {"name": "t"}, "arguments": {"object": {"a": reference}}});
        let found = asked(&json!({
            "name": "p", "inputs": [{"name": "list"}],
            "steps": [
                {"id": id, "tool": {"name": "t"}, "arguments": {"object": {}}},
                {"id": "s", "for": {"pattern": pattern, "list": list, "body": call}}
            ]
        }));
        assert!(found.is_err(), "{id} {pattern}");
    }
}

/// A test, and a pattern that the one after it and the body are below.
fn chained(test: &str, pattern: &str) -> Result<Plan, String> {
    let arguments = json!({"object": {"a": {"reference": secrets()}}});
    let call = json!({"tool": {"name": "t"}, "arguments": arguments});
    let computed =
        |text: &str| json!({"computed": {"written": text, "reads": [{"input": "list"}]}});
    let all = json!([
        computed(test),
        {"pattern": "Some(_)", "value": computed("list")},
        {"pattern": pattern, "value": computed("list")},
        computed("secrets == \"x\""),
    ]);
    asked(&json!({
        "name": "p", "inputs": [{"name": "list"}],
        "steps": [
            {"id": "secrets", "tool": {"name": "t"}, "arguments": {"object": {}}},
            {"id": "s", "if": [{"all": all, "then": call}]}
        ]
    }))
}

#[test]
fn a_part_goes_by_its_name_in_any_plain_pattern() {
    let mut refused = 0;
    for (pattern, pointer, printed) in [
        ("Some((a, b))", "/1/x", "b.x"),
        ("Some(Some(a))", "/1", "a[1]"),
        ("(a)", "/0", "a[0]"),
        ("(a,)", "/0", "a"),
        ("(a, b,)", "/1", "b"),
        ("((a, b), c)", "/1", "c"),
        ("([a, b], c)", "/0", "local1[0]"),
        ("(_, c)", "/0", "local1[0]"),
        ("(.., c)", "/1", "local1[1]"),
        ("(c, ..)", "/0", "local1[0]"),
        ("(a, x @ ..)", "/0", "local1[0]"),
        ("(a, a)", "/0", "local1[0]"),
        ("(ref a, b)", "/0", "local1[0]"),
        ("(a, \"b\", c)", "/2", "c"),
        ("Some(a, b)", "/1", "local1[1]"),
        ("(a) | (b)", "", "local1"),
        ("(Some(a), b)", "/0", "local1[0]"),
        ("Ok(a)", "", "local1"),
        ("None", "", "local1"),
        ("r#type", "/x", "type.x"),
    ] {
        let reference = json!({"local": 1, "pointer": pointer});
        let plan = match looped_over_data("m", pattern, reference) {
            Ok(plan) => plan,
            Err(message) => {
                let unnamed = message.contains("its pattern has no name");
                assert!(
                    unnamed || message.contains("cannot have the pattern"),
                    "{message}"
                );
                refused += 1;
                continue;
            }
        };
        let found = plan.to_string();
        assert!(
            found.contains(&format!("a: {printed}\n")),
            "{pattern}: {found}"
        );
        // Both are derived in one function, so a part without a name has none in Rust.
        if let Ok(source) = RustSource::new(&plan).allow_code().write() {
            assert!(!printed.starts_with("local1"), "{pattern}: {source}");
            assert!(source.contains(printed), "{pattern}: {source}");
        } else {
            let raw = pattern == "Some(a, b)" || pattern == "None";
            assert!(printed.starts_with("local1") || raw, "{pattern}");
        }
    }
    assert_eq!(refused, 16);
}

/// A pattern, and whether it has the name in it.
fn pattern(random: &mut Rng, depth: usize) -> (String, bool) {
    let leaf = depth == 0 || random.u8(..4) == 0;
    if leaf {
        let (text, named) = random
            .choice([
                ("secrets", true),
                ("ref secrets", true),
                ("ref mut secrets", true),
                ("r#secrets", true),
                ("secrets @ _", true),
                ("a", false),
                ("_", false),
                ("..", false),
                ("None", false),
                ("my_secrets", false),
                ("\"secrets\"", false),
                ("\"\\\" secrets\"", false),
                ("r\"\\\"", false),
                ("r#\"\" secrets\"#", false),
                ("'\"'", false),
                ("-1..=5", false),
                ("'\\\''", false),
            ])
            .unwrap();
        return (text.to_owned(), named);
    }
    let count = random.usize(1..4);
    let inner: Vec<_> = (0..count).map(|_| pattern(random, depth - 1)).collect();
    let named = inner.iter().any(|(_, named)| *named);
    let texts: Vec<&str> = inner.iter().map(|(text, _)| text.as_str()).collect();
    let first = texts[0];
    match random.u8(..8) {
        0 => (format!("({})", texts.join(", ")), named),
        1 => (format!("[{}]", texts.join(",")), named),
        2 => (format!("m::Ok::<u8>({})", texts.join(" , ")), named),
        3 => (texts.join(" | "), named),
        4 => (format!("&mut {first}"), inner[0].1),
        5 => (format!("x @ ({first})"), inner[0].1),
        6 => (format!("Some({first})"), inner[0].1),
        _ => {
            let fields: Vec<_> = texts.iter().map(|text| format!("f: {text}")).collect();
            if random.bool() {
                (format!("m::Mail {{ {}, .. }}", fields.join(", ")), named)
            } else {
                (format!("Mail {{ {}, secrets }}", fields.join(", ")), true)
            }
        }
    }
}

#[test]
fn a_name_anywhere_in_a_pattern_is_found_and_nowhere_else() {
    let (mut counts, mut sources) = ([0; 2], 0);
    for seed in 0..1_000 {
        let mut random = Rng::with_seed(seed);
        let depth = random.usize(..5);
        let (pattern, named) = pattern(&mut random, depth);
        let found = if random.bool() {
            looped("m", &pattern, secrets())
        } else {
            chained("k", &pattern)
        };
        match found {
            Ok(plan) => {
                assert!(!named, "{pattern}");
                assert!(plan.to_string().contains("secrets[0]"));
                if let Ok(source) = RustSource::new(&plan).allow_code().write() {
                    assert!(source.contains("secrets[0]"), "{source}");
                    sources += 1;
                }
            }
            Err(message) => {
                assert_eq!(message, HIDDEN, "{pattern}");
                assert!(named, "{pattern}");
            }
        }
        counts[usize::from(named)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
    assert!(sources > 50, "{sources}");
}
