//! Printed plans that once differed from their behavior.

use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::plan::{
    Absent, Action, Computed, Input, Output, Reference, Selector, Source, Step, Template,
};
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use plan_runtime::{Plan, Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn plan(steps: Value) -> Value {
    json!({"name": "p", "inputs": [{"name": "x", "type": "Value"}], "steps": steps, "output": {"value": null}})
}

fn printed(document: &Value) -> String {
    let text = document.to_string();
    Reader::new().read(&text).unwrap().plan().to_string()
}

fn refused(document: &Value) -> String {
    let text = document.to_string();
    Reader::new().read(&text).unwrap_err()[0].message.clone()
}

#[test]
fn a_default_of_a_path_is_printed() {
    let path = json!([{"token": "email", "absent": {"default": "other@example.org"}}]);
    let to = json!({"reference": {"input": "x", "path": path}});
    let text = printed(&plan(
        json!([{"id": "s", "tool": {"name": "send"}, "arguments": {"object": {"to": to}}}]),
    ));
    assert!(
        text.contains("to: x.email.or(\"other@example.org\")\n"),
        "{text}"
    );
}

#[test]
fn a_list_of_conditions_that_is_empty_or_not_the_only_one_is_refused() {
    for (branch, message) in [
        (json!({"all": []}), "`all` has no conditions"),
        (
            json!({"all": [false], "condition": true}),
            "a branch can have only one of `condition`, `all`, and `pattern` with `value`",
        ),
        (
            json!({"all": [{"pattern": "None", "value": true}]}),
            "an `if` cannot have the pattern `None`",
        ),
    ] {
        let mut branch = branch;
        branch["then"] = json!({"tool": {"name": "t"}});
        let said = refused(&plan(json!([{"id": "s", "if": [branch]}])));
        assert_eq!(said, message);
    }
}

#[test]
fn conditions_that_bind_are_counted() {
    let binds = |count: usize| {
        let one = json!({"pattern": "Some(x)", "value": 1});
        let branch = json!({"all": vec![one; count], "then": {"tool": {"name": "t"}}});
        plan(json!([{"id": "s", "if": [branch]}]))
    };
    assert!(serde_json::from_value::<Plan>(binds(64)).is_ok());
    assert_eq!(
        refused(&binds(65)),
        "more than 64 enclosing patterns define local values"
    );
}

#[test]
fn a_pattern_over_data_only_names_it() {
    let value = json!({"reference": {"input": "x", "pointer": ""}});
    for pattern in [
        "None",
        "Some(\"never\")",
        "true",
        "(a, a)",
        "Mail { a, .. }",
        "5",
    ] {
        let branch = json!({"pattern": pattern, "value": value, "then": {"tool": {"name": "t"}}});
        let message = refused(&plan(json!([{"id": "s", "if": [branch]}])));
        assert!(message.contains("cannot have the pattern"), "{message}");
        let each = json!({"pattern": pattern, "list": value, "body": {"tool": {"name": "t"}}});
        refused(&plan(json!([{"id": "s", "for": each}])));
    }
}

#[test]
fn padding_starts_no_line() {
    let id = format!("note{}step look = find", " ".repeat(70));
    let intent = format!("Look.{}step b = t", " ".repeat(70));
    let document = json!([{"id": id, "intent": intent, "tool": "t", "arguments": {"k": id}}]);
    let text = printed(&document);
    assert!(!text.contains(&" ".repeat(20)), "{text}");
}

#[test]
fn the_output_of_a_step_is_no_path() {
    let text = printed(&json!({"steps": [
        {"id": "paid", "tool": "t", "arguments": {}},
        {"id": "paid[0]", "tool": "t", "arguments": {}}
    ], "output_steps": ["paid[0]"]}));
    assert!(
        text.contains("output { \"paid[0]\": &\"paid[0]\" }"),
        "{text}"
    );
}

#[test]
fn prices_and_lengths_name_no_step() {
    for text in ["$5.00 a month", "$5", "\\vspace{5.5em}", "{5.0}%"] {
        let document = json!({"steps": [
            {"id": "5", "tool": "t", "arguments": {}},
            {"id": "6", "tool": "t", "arguments": {"text": text}}
        ]});
        let document = document.to_string();
        assert!(
            Reader::new().read(&document).unwrap().warnings().is_empty(),
            "{text}"
        );
    }
}

#[test]
fn an_input_is_known_wherever_it_is_named() {
    for (first, second) in [("a", "b"), ("b", "a")] {
        let arguments = json!({first: "Dear ${name},", second: "{{PLACEHOLDER_name}}"});
        let document = json!([{"id": "w", "tool": "t", "arguments": arguments}]).to_string();
        assert_eq!(Reader::new().read(&document).unwrap().warnings().len(), 1);
    }
}

/// A step that gives a tool these arguments.
fn call(arguments: Value) -> Value {
    plan(json!([{"id": "s", "tool": {"name": "send"}, "arguments": arguments}]))
}

#[test]
fn merged_objects_are_printed_in_the_order_that_decides() {
    let (own, rest) = (
        json!({"object": {"id": 1}}),
        json!({"reference": {"input": "x", "pointer": ""}}),
    );
    let other = json!({"reference": {"input": "x", "pointer": "/other"}});
    let nested = |parts: Value| call(json!({"object": {"mail": {"merge": parts}}}));
    let mut all = Vec::new();
    for (parts, lines, value) in [
        (
            json!([own, rest]),
            "      id: 1\n      ...x\n",
            "{ id: 1, ...x }",
        ),
        (
            json!([rest, own]),
            "      ...x\n      id: 1\n",
            "{ ...x, id: 1 }",
        ),
        (
            json!([rest, other]),
            "      ...x\n      ...x.other\n",
            "{ ...x, ...x.other }",
        ),
        (
            json!([other, rest]),
            "      ...x.other\n      ...x\n",
            "{ ...x.other, ...x }",
        ),
        (json!([rest]), "      ...x\n", "{ ...x }"),
    ] {
        let text = printed(&call(json!({"merge": parts})));
        let lines = lines.replace("      ", "    ");
        assert!(text.contains(&format!("step s = send\n{lines}")), "{text}");
        let text = printed(&nested(parts));
        assert!(text.contains(&format!("    mail: {value}\n")), "{text}");
        assert!(
            !text.contains(" ..x"),
            "as Rust's update of a struct: {text}"
        );
        all.push(text);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 5);
    let twice = json!([own, rest, own]);
    assert_eq!(refused(&nested(twice)), "duplicate member `id`");
}

/// The printed winner counts.
#[test]
fn the_last_one_of_a_name_counts() {
    let tools = Toolbox::new().with_fn(
        Contract::new("echo"),
        |given: Value| async move { Ok(given) },
    );
    let (own, rest) = (
        json!({"object": {"id": 1}}),
        json!({"reference": {"step": "rest", "pointer": ""}}),
    );
    for (parts, arguments, id) in [
        (json!([own, rest]), "    id: 1\n    ...rest\n", 2),
        (json!([rest, own]), "    ...rest\n    id: 1\n", 1),
    ] {
        let document = json!({"name": "p", "steps": [
            {"id": "rest", "tool": {"name": "echo"}, "arguments": {"object": {"id": 2}}},
            {"id": "s", "tool": {"name": "echo"}, "arguments": {"merge": parts}},
        ], "output": {"value": {"reference": {"step": "s", "pointer": "/id"}}}});
        let plan: Plan = serde_json::from_value(document).unwrap();
        assert!(plan.to_string().contains(arguments), "{plan}");
        assert_eq!(
            smol::block_on(async { tools.run(&plan, (), &()).await }).unwrap(),
            id
        );
    }
}

#[test]
fn what_a_path_says_of_absent_values_is_printed() {
    for (path, text) in [
        (json!(["a"]), "x.a"),
        (json!([{"token": "a", "absent": "null"}]), "x.a.or(null)"),
        (
            json!([{"token": "a", "absent": {"default": null}}]),
            "x.a.or(null)",
        ),
        (
            json!([{"token": "a", "absent": "end"}]),
            "x.pointer(\"/a\")",
        ),
        (
            json!([{"token": "a", "absent": "end"}, {"token": "0", "absent": "end"}, "b"]),
            "x.pointer(\"/a/0\").b",
        ),
        (json!([{"token": "a", "optional": true}]), "x.a?"),
        (
            json!([{"token": "a", "absent": "end", "optional": true}]),
            "x.get(\"a\")?",
        ),
        (
            json!([{"token": "0", "absent": "end", "optional": true}, "b"]),
            "x.get(0)?.b",
        ),
        (
            json!([{"token": "a", "absent": "end"}, {"token": "b", "absent": "end", "optional": true}]),
            "x.pointer(\"/a/b\")?",
        ),
        (
            json!([{"token": "a", "absent": {"default": 1}, "optional": true}]),
            "x.a.or(1)?",
        ),
        (
            json!([{"each": "element", "optional": true}, "a"]),
            "x[..]?.a",
        ),
    ] {
        let document = call(json!({"object": {"to": {"reference": {"input": "x", "path": path}}}}));
        let text = format!("    to: {text}\n");
        assert!(printed(&document).contains(&text), "{}", printed(&document));
    }
    let reference = json!({"input": "x", "optional": true, "pointer": "/a", "else": 1});
    let document = call(json!({"object": {"to": {"reference": reference}}}));
    let text = "    to: x?.a.unwrap_or(1)\n";
    assert!(printed(&document).contains(text), "{}", printed(&document));
    for part in [
        json!({"each": "element", "absent": "end"}),
        json!({"each": "element", "token": "a"}),
        json!({"absent": "end"}),
        json!({"optional": true}),
    ] {
        let reference = json!({"input": "x", "path": [part]});
        let document = call(json!({"object": {"to": {"reference": reference}}}));
        assert_eq!(
            refused(&document),
            "a part of a path is a `token` or `each`"
        );
    }
}

#[test]
fn a_branch_that_is_skipped_for_null_says_so() {
    let value = json!({"reference": {"input": "x", "pointer": ""}});
    let with = |pattern: &str, value: &Value| {
        let branch = json!({"pattern": pattern, "value": value, "then": {"tool": {"name": "t"}}});
        plan(json!([{"id": "s", "if": [branch]}]))
    };
    for pattern in ["y", "_", "(y, z)", "r#type"] {
        let message = format!("an `if` cannot have the pattern `{pattern}`");
        assert_eq!(refused(&with(pattern, &value)), message);
        let some = format!("Some({pattern})");
        let text = printed(&with(&some, &value));
        assert!(text.contains(&format!("if let {some} = x {{")), "{text}");
        // The code that computes a value decides by itself if the pattern matches.
        let computed = json!({"computed": {"written": "x.clone()", "reads": [{"input": "x"}]}});
        assert!(printed(&with(pattern, &computed)).contains(&format!("if let {pattern} = ")));
    }
}

#[test]
fn numbers_of_a_policy_that_mean_nothing() {
    let each =
        json!({"id": "s", "for": {"pattern": "y", "list": [], "body": {"tool": {"name": "t"}}}});
    let call = json!({"id": "s", "tool": {"name": "t"}});
    let mut inside = each.clone();
    let each_inside = inside.as_object_mut().unwrap().remove("for").unwrap();
    inside["if"] = json!([{"condition": true, "then": {"for": each_inside}}]);
    for (step, name, number, message) in [
        (
            &call,
            "attempts",
            json!(0),
            Some("a step is tried at least once"),
        ),
        (&call, "attempts", json!(1), None),
        (
            &each,
            "concurrency",
            json!(0),
            Some("at least one element must run at a time"),
        ),
        (&each, "concurrency", json!(1), None),
        (
            &call,
            "concurrency",
            json!(2),
            Some("`concurrency` is for the elements of a `for`"),
        ),
        (
            &inside,
            "concurrency",
            json!(2),
            Some("`concurrency` is for the elements of a `for`"),
        ),
        (
            &call,
            "optional",
            json!("each"),
            Some("`optional` is `each`, which is for the elements of a `for`"),
        ),
        (&each, "optional", json!("each"), None),
        (
            &inside,
            "optional",
            json!("each"),
            Some("`optional` is `each`, which is for the elements of a `for`"),
        ),
        (&each, "catch", json!("each"), None),
        (
            &inside,
            "catch",
            json!("each"),
            Some("`catch` is `each`, which is for the elements of a `for`"),
        ),
    ] {
        let mut step = step.clone();
        step["policy"] = json!({name: number});
        let document = plan(json!([step]));
        let text = document.to_string();
        let read = serde_json::from_value::<Plan>(document);
        match (Reader::new().read(&text), message) {
            (Err(found), Some(message)) => {
                assert_eq!((found.len(), &*found[0].message), (1, message));
                assert_eq!(&text[found[0].label.span.clone()], number.to_string());
                if step.get("if").is_some() {
                    // An older version may have recorded the plan.
                    drop(read.unwrap());
                    continue;
                }
                let error = read.unwrap_err().to_string();
                let place = format!("at /steps/0/policy/{name}");
                assert!(error.contains(message) && error.contains(&place), "{error}");
            }
            (Ok(_), None) => drop(read.unwrap()),
            (found, message) => panic!("{found:?}, {message:?}"),
        }
    }
}

#[test]
fn a_default_that_nothing_leads_to_is_refused() {
    let document = |reference: Value| {
        let mut reference = reference;
        reference["input"] = json!("x");
        reference["else"] = json!(1);
        plan(json!([{"id": "s", "value": {"reference": reference}}]))
    };
    for never in [
        json!({"pointer": "/a"}),
        json!({"path": ["a", {"token": "b", "absent": "null"}]}),
        json!({"path": [{"each": "element"}, "a"]}),
    ] {
        assert_eq!(
            refused(&document(never)),
            "`else` has no effect, because the reference cannot stop early"
        );
    }
    for sometimes in [
        json!({"pointer": "/a", "optional": true}),
        json!({"path": ["a", {"token": "b", "absent": "end"}]}),
        json!({"path": [{"each": "element"}, {"token": "a", "optional": true}]}),
    ] {
        serde_json::from_value::<Plan>(document(sometimes)).unwrap();
    }
}

/// The author's notation is dropped with the path that it was written for.
#[test]
fn a_reference_that_was_changed_is_not_printed_as_it_was() {
    let amount = Reference::new(Source::Input(0)).key("amount");
    let amount = amount.written("u.r#amount");
    assert_eq!(amount.to_string(), "u.r#amount");
    type Change = fn(&mut Reference);
    let changes: [(Change, &str); 6] = [
        (
            |it| it.path[0].selector = Selector::Key("password".into()),
            "input0.password",
        ),
        (|it| *it = it.clone().each(), "input0.amount[..]"),
        (|it| it.path = Box::default(), "input0"),
        (|it| it.optional = true, "input0?.amount"),
        (
            |it| it.path[0].absent = Absent::Default(Box::new(1.into())),
            "input0.amount.or(1)",
        ),
        (|it| it.source = Source::Input(1), "input1.amount"),
    ];
    for (change, shown) in changes {
        let mut changed = amount.clone();
        change(&mut changed);
        assert_eq!(changed.to_string(), shown);
        assert_eq!(Template::from(changed.clone()).to_string(), shown);
        assert_eq!(changed.as_written(), None);

        let mut plan = Plan::new("pay");
        plan.inputs = ["u", "v"].map(|name| Input::new(name, "")).into();
        let arguments = Template::object([("value", changed.into())]);
        plan.steps = vec![Step::new("paid", Action::call("pay", arguments))];
        for text in [plan.to_string(), plan.mermaid().to_string()] {
            assert!(!text.contains("r#amount"), "{text}");
        }
    }
}

#[test]
fn a_text_that_says_another_path_is_not_kept() {
    let password = || Reference::new(Source::Input(0)).key("password");
    for text in ["x.amount", "x", "x.password.len", "{{x.amount}}", ""] {
        let shown = password().written("x.password").written(text).to_string();
        assert_eq!(shown, "input0.password", "{text}");
    }
    assert_eq!(password().written("x.password").to_string(), "x.password");
}

/// Errors name what was read, and not what was written before the path was changed.
#[test]
fn an_error_names_the_path_that_was_read() {
    let mut plan = Plan::new("pay");
    plan.inputs = vec![Input::new("u", "")];
    let mut read = Reference::new(Source::Input(0))
        .key("amount")
        .written("u.amount");
    read.path[0].selector = Selector::Key("password".into());
    let inputs = [StoredValue::json(json!({"password": "secret"}))];
    let error = resolve::<u64>(&read.into(), &Scope::new(&plan, &inputs, &[])).unwrap_err();
    assert!(error.to_string().contains("`u.password`"), "{error}");
}

/// Even with names in the author's notation that only the types declare.
#[test]
fn an_error_names_what_was_read_as_it_is_called_now() {
    #[derive(Serialize, Deserialize, Shape)]
    struct Account {
        #[serde(rename = "credential")]
        password: String,
    }
    plan! {
        Read(account: Account, other: Account) -> (String, String) { (account.password, other.password) }
    }
    let error = |plan: &Plan| {
        let inputs = [StoredValue::json(json!({})), StoredValue::json(json!({}))];
        let scope = Scope::new(plan, &inputs, &[]);
        resolve::<(String, String)>(&plan.output.value, &scope)
            .unwrap_err()
            .to_string()
    };
    let mut plan = Read::PLAN.clone();
    assert!(
        error(&plan).contains("`account.password`"),
        "{}",
        error(&plan)
    );
    plan.inputs.swap(0, 1);
    assert!(
        error(&plan).contains("`other.credential`"),
        "{}",
        error(&plan)
    );
    plan.inputs[0].name = "user".into();
    assert!(
        error(&plan).contains("`user.credential`"),
        "{}",
        error(&plan)
    );
}

/// A reference of another language names a step as well.
#[test]
fn an_error_names_a_step_of_a_document_as_it_is_called_now() {
    let text = r#"[{"id": "a", "tool": "t", "arguments": {}}, {"id": "b", "tool": "t", "arguments": {"x": "{{a.result.y}}"}}]"#;
    let document = json!({"plan": serde_json::from_str::<Value>(text).unwrap()}).to_string();
    let Ok(document) = Reader::new().read(&document) else {
        panic!("{document}")
    };
    let mut plan = document.plan().clone();
    let error = |plan: &Plan| {
        let outputs = [Some(StoredValue::json(json!({}))), None];
        let args = &plan.steps[1].action().unwrap().args;
        resolve::<Value>(args, &Scope::new(plan, &[], &outputs))
            .unwrap_err()
            .to_string()
    };
    assert!(
        error(&plan).contains("`{{a.result.y}}`"),
        "{}",
        error(&plan)
    );
    plan.steps[0].id = "c".into();
    assert!(error(&plan).contains("`c.y`"), "{}", error(&plan));
}

#[test]
fn a_computed_value_reads_each_source_once() {
    let sources = [Source::Input(1), Source::Input(0), Source::Input(1)];
    let computed = Computed::new("a + b + a", sources);
    assert_eq!(computed.reads(), [Source::Input(0), Source::Input(1)]);

    let mut plan = Plan::new("sum");
    plan.inputs = ["b", "a"].map(|name| Input::new(name, "u64")).into();
    plan.output = Output::new(computed);
    let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
}
