//! Schemas and arguments that are expensive to check: no check is skipped silently, and none takes forever.

use plan_runtime::dynamic::{Code, Contract, Contracts, Findings, Reader, Toolbox};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A plan that calls `t` with these arguments.
fn plan(arguments: &Value) -> String {
    json!([{"id": "a", "tool": "t", "arguments": arguments}]).to_string()
}

fn read(contract: Contract, text: &str) -> Result<(), Findings> {
    let contracts = Contracts::from_iter([contract]);
    Reader::new().tools(&contracts).read(text).map(drop)
}

/// Calls `t` with arguments that no reader has checked. Returns the number of calls, and the message of the run's
/// error.
fn call(schema: &Value, arguments: &Value) -> (usize, String) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let contract = Contract::new("t").arguments(schema.clone());
    let toolbox = Toolbox::<()>::new().with_fn(contract, move |_| {
        counted.fetch_add(1, Relaxed);
        async { Ok(json!(1)) }
    });
    let text = plan(arguments);
    let document = Reader::new().read(&text).unwrap();
    let result = smol::block_on(toolbox.run(document.plan(), (), &()));
    let error = result
        .err()
        .map_or_else(String::new, |error| error.to_string());
    (calls.load(Relaxed), error)
}

/// Checks that both checks refuse these arguments, since comparing them is too much work.
fn is_given_up(what: &str, schema: &Value, arguments: &Value) {
    let contract = Contract::new("t").arguments(schema.clone());
    let findings = read(contract, &plan(arguments)).expect_err(what);
    assert!(
        findings
            .errors()
            .any(|finding| finding.code == Code::LimitPassed),
        "{what}: {findings}"
    );
    assert!(
        findings.to_string().contains("`t` cannot be checked"),
        "{what}"
    );
    let (calls, error) = call(schema, arguments);
    assert_eq!(calls, 0, "{what}");
    assert!(error.contains("`t` cannot be checked"), "{what}: {error}");
}

fn payment() -> Value {
    json!({
        "type": "object",
        "properties": {
            "a_list": {"type": "array", "items": {"type": "integer"}},
            "amount": {"type": "integer", "maximum": 100},
            "to": {
                "type": "object",
                "properties": {"iban": {"enum": ["DE1", "DE2"]}},
                "required": ["iban"],
                "additionalProperties": false,
            },
        },
        "required": ["amount"],
        "additionalProperties": false,
    })
}

#[test]
fn nothing_hides_after_many_elements() {
    for count in [10, 20_100] {
        let list = vec![1_234_567; count];
        let wrong = json!({"a_list": list, "amount": 1_000_000, "to": {"iban": "EVIL", "more": 1}});
        let findings = read(Contract::new("t").arguments(payment()), &plan(&wrong)).unwrap_err();
        let messages: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
        assert_eq!(
            messages,
            [
                "argument `amount` is the number 1000000, but must be at most 100",
                "argument `to.iban` is the string \"EVIL\", but must be one of `DE1`, `DE2`",
                "argument `to` has no member `more`",
            ]
        );
        assert_eq!(call(&payment(), &wrong).0, 0);

        let right = json!({"a_list": list, "amount": 100, "to": {"iban": "DE1"}});
        read(Contract::new("t").arguments(payment()), &plan(&right)).unwrap();
        assert_eq!(call(&payment(), &right), (1, String::new()));
    }
}

/// Each step gets the work that the earlier steps left, and the values of all steps count.
#[test]
fn nothing_hides_after_many_steps() {
    let list = vec![1_234_567; 5_000];
    let step = |id: usize, amount: usize| {
        let arguments = json!({"a_list": list, "amount": amount});
        json!({"id": format!("s{id}"), "tool": "t", "arguments": arguments})
    };
    let mut steps: Vec<Value> = (0..10).map(|id| step(id, 1)).collect();
    steps.push(step(10, 101));
    let contract = Contract::new("t").arguments(payment());
    let findings = read(contract, &Value::from(steps).to_string()).unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, Code::NotAllowed);
}

/// Returns an object with several forms on each level, which contain the object again.
fn nested_choices(forms: usize) -> Value {
    let form = |index: usize| {
        let tag = format!("t{index}");
        json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/S"}, &tag: {"type": "string"}},
            "required": [tag],
            "additionalProperties": false,
        })
    };
    let forms: Vec<Value> = (0..forms).map(form).collect();
    json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/S"}},
        "additionalProperties": false,
        "$defs": {"S": {"anyOf": forms}},
    })
}

#[test]
fn choices_in_choices_are_compared_to_the_end() {
    for (forms, depth) in [(2, 10), (2, 20), (2, 60), (8, 20), (8, 60)] {
        let schema = nested_choices(forms);
        let mut wrong = json!({"t0": "x", "zz": 1});
        let mut right = json!({"t0": "x"});
        for _ in 1..depth {
            wrong = json!({"a": wrong, "t1": "x"});
            right = json!({"a": right, "t1": "x"});
        }
        let (wrong, right) = (json!({"a": wrong}), json!({"a": right}));
        let contract = || Contract::new("t").arguments(schema.clone());
        let findings = read(contract(), &plan(&wrong)).unwrap_err();
        let codes: Vec<Code> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(
            codes,
            [Code::UnknownArgument],
            "{forms} {depth}: {findings}"
        );
        let (calls, error) = call(&schema, &wrong);
        assert_eq!(calls, 0);
        assert!(error.contains("has no member `zz`"), "{error}");
        read(contract(), &plan(&right)).unwrap();
        assert_eq!(call(&schema, &right), (1, String::new()));
    }
}

/// A list in a list is never taken out of it twice to see whether it fits then.
#[test]
fn lists_in_lists_are_wrong_at_once() {
    let mut list = json!(1);
    for _ in 0..60 {
        list = json!([list]);
    }
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let findings = read(
        Contract::new("t").arguments(schema),
        &plan(&json!({"x": list})),
    )
    .unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, Code::WrongType);
}

/// Returns definitions that each contain the next one twice.
fn doubled(keyword: &str, levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("d{levels}"), json!({"type": "string"}));
    definitions.into()
}

#[test]
fn schemas_that_are_too_large_are_errors() {
    let of = |definitions: Value| json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    let arguments = json!({"x": 1});
    for keyword in ["anyOf", "allOf", "oneOf"] {
        is_given_up(keyword, &of(doubled(keyword, 60)), &arguments);
    }
    for length in [1_000, 30_000] {
        let mut chain = Map::new();
        for at in 0..length {
            chain.insert(
                format!("d{at}"),
                json!({"$ref": format!("#/$defs/d{}", at + 1)}),
            );
        }
        chain.insert(format!("d{length}"), json!({"type": "string"}));
        is_given_up("a chain of references", &of(chain.into()), &arguments);
    }
    let mut deep = json!({"type": "string"});
    for _ in 0..200 {
        deep = json!({"allOf": [deep]});
    }
    let schema = json!({"type": "object", "properties": {"x": deep}});
    is_given_up("deep", &schema, &arguments);
    let choices: Vec<Value> = (0..50_000).map(|at| json!({"const": at})).collect();
    let schema = json!({"type": "object", "properties": {"x": {"anyOf": choices}}});
    is_given_up("choices", &schema, &arguments);
    // The whole is too large, and not a part.
    let schema = json!({"$ref": "#/$defs/d0", "$defs": doubled("anyOf", 20)});
    is_given_up("the arguments", &schema, &arguments);
}

/// A type that compares with no other value is visited as well.
#[test]
fn a_schema_is_too_large_only_where_it_is_used() {
    let schema = json!({
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}, "y": {"type": "integer"}},
        "$defs": doubled("anyOf", 60),
    });
    read(
        Contract::new("t").arguments(schema.clone()),
        &plan(&json!({"y": 1})),
    )
    .unwrap();
    let findings = read(
        Contract::new("t").arguments(schema),
        &plan(&json!({"y": "1"})),
    )
    .unwrap_err();
    assert_eq!(findings[0].code, Code::WrongType);
}

#[test]
fn outputs_that_are_too_large_to_be_known_are_errors() {
    let output = json!({"$ref": "#/$defs/d0", "$defs": doubled("anyOf", 60)});
    let tools = Contracts::from_iter([Contract::new("find").output(output), Contract::new("send")]);
    let read = |text: &str| {
        let step = json!({"id": "sent", "tool": "send", "arguments": {"text": text}});
        let text = json!([{"id": "found", "tool": "find", "arguments": {}}, step]).to_string();
        Reader::new().tools(&tools).read(&text).map(drop)
    };
    for text in [
        "{{found.result}}",
        "{{found.result.a.b}}",
        "is {{found.result.a}}",
    ] {
        let findings = read(text).unwrap_err();
        assert_eq!(findings[0].code, Code::LimitPassed, "{findings}");
        assert!(
            findings[0]
                .message
                .contains("the output of `find` cannot be checked"),
            "{findings}"
        );
    }
    read("nothing").unwrap();
}

#[test]
fn schemas_that_contain_themselves_end() {
    let arguments = json!({"x": {"x": {"x": 1}}});
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"anyOf": vec![json!({"$ref": "#"}); 100]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        read(
            Contract::new("t").arguments(schema.clone()),
            &plan(&arguments),
        )
        .unwrap();
        assert_eq!(call(&schema, &arguments).0, 1);
    }
    let tree = json!({"type": "object", "properties": {"x": {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}}});
    assert_eq!(call(&tree, &arguments).0, 1);
    assert_eq!(call(&tree, &json!({"x": {"x": {"x": "1"}}})).0, 0);
}

/// A tree as output fits another tree as argument, or does not, at any depth.
#[test]
fn types_that_contain_themselves_are_compared() {
    let tree = |leaf: &str| {
        json!({
            "type": "object",
            "properties": {"leaf": {"type": leaf}, "inner": {"$ref": "#"}},
            "required": ["leaf", "inner"],
        })
    };
    let deeper = |levels: usize, leaf: &str| {
        let mut schema = json!({"type": leaf});
        for _ in 0..levels {
            schema = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        }
        schema
    };
    let read = |given: Value, takes: Value| {
        let takes = json!({"type": "object", "properties": {"text": takes}});
        let tools = Contracts::from_iter([
            Contract::new("find").output(given),
            Contract::new("send").arguments(takes),
        ]);
        let text = json!([
            {"id": "found", "tool": "find", "arguments": {}},
            {"id": "sent", "tool": "send", "arguments": {"text": "{{found.result}}"}},
        ]);
        let findings = Reader::new()
            .tools(&tools)
            .read(&text.to_string())
            .map(drop);
        findings.err().map(|findings| findings[0].code)
    };
    // The `$ref`s of an argument's schema lead to the schema of all arguments.
    let inside = |leaf: &str| {
        let mut tree = tree(leaf);
        tree["properties"]["inner"]["$ref"] = json!("#/properties/text");
        tree
    };
    assert_eq!(read(tree("string"), inside("string")), None);
    assert_eq!(
        read(tree("string"), inside("integer")),
        Some(Code::WrongType)
    );
    for levels in [3, 9, 60] {
        assert_eq!(
            read(deeper(levels, "string"), deeper(levels, "string")),
            None
        );
        let clash = read(deeper(levels, "string"), deeper(levels, "integer"));
        assert_eq!(clash, Some(Code::WrongType), "{levels}");
    }
    assert_eq!(
        read(deeper(200, "string"), deeper(200, "string")),
        Some(Code::LimitPassed)
    );
}

/// Realistic schemas with many choices and many values are compared completely.
#[test]
fn large_and_honest_is_checked() {
    let form = |index: usize| {
        json!({
            "type": "object",
            "properties": {"kind": {"const": format!("kind{index}")}, "size": {"type": "integer"}},
            "required": ["kind"],
        })
    };
    let forms: Vec<Value> = (0..200).map(form).collect();
    let schema = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"oneOf": forms}}}});
    let item = |index: usize| json!({"kind": format!("kind{}", index % 200), "size": 1});
    let mut items: Vec<Value> = (0..1_000).map(item).collect();
    let read = |items: &[Value]| {
        let contract = Contract::new("t").arguments(schema.clone());
        read(contract, &plan(&json!({"x": items})))
    };
    read(&items).unwrap();
    items[999]["size"] = json!("1");
    assert_eq!(read(&items).unwrap_err()[0].code, Code::WrongType);

    let names = || (0..2_000).map(|at| format!("name{at}"));
    let properties: Map<String, Value> = names()
        .map(|name| (name, json!({"type": "string"})))
        .collect();
    let required: Vec<String> = names().collect();
    let schema =
        json!({"properties": properties, "required": required, "additionalProperties": false});
    let mut arguments: Map<String, Value> = names().map(|name| (name, json!("x"))).collect();
    let contract = || Contract::new("t").arguments(schema.clone());
    super::schemas::read(contract(), &plan(&arguments.clone().into())).unwrap();
    arguments.insert("name7".to_owned(), json!(7));
    assert_eq!(
        super::schemas::read(contract(), &plan(&arguments.into()))
            .unwrap_err()
            .len(),
        1
    );
}

#[test]
fn many_allowed_values_are_compared() {
    let values: Vec<String> = (0..100_000)
        .map(|at| format!("value number {at}"))
        .collect();
    let schema = json!({"type": "object", "properties": {"x": {"enum": values}}});
    let findings = read(
        Contract::new("t").arguments(schema),
        &plan(&json!({"x": "value numbr 5"})),
    )
    .unwrap_err();
    assert_eq!(findings.len(), 1);
    assert!(findings.to_string().len() < 2_000, "{findings}");
    assert!(
        findings[0].message.ends_with("and 99984 more"),
        "{findings}"
    );
}

/// A plan with this number of values, each one of an `enum` of 50,000, is correct.
#[test]
fn many_values_are_each_one_of_many() {
    const ALLOWED: usize = 50_000;
    let name = |at: usize| format!("value number {at}");
    let one = |at: usize| match at % 3 {
        0 => json!(name(at)),
        1 => json!(at),
        _ => json!({"name": name(at), "parts": [at]}),
    };
    let allowed: Vec<Value> = (0..ALLOWED).map(one).collect();
    let schema = json!({"properties": {"x": {"items": {"$ref": "#/$defs/one"}}}, "$defs": {"one": {"enum": allowed}}});
    let contract = || Contract::new("t").arguments(schema.clone());
    let given: Vec<Value> = (0..4000).map(|at| one(at * 7 % ALLOWED)).collect();
    read(contract(), &plan(&json!({"x": given}))).unwrap();
    let (calls, error) = call(&schema, &json!({"x": given}));
    assert_eq!(calls, 1, "{error}");

    // The wrong values are found, each with its intended value while that takes little work.
    let mut wrong = given;
    for at in [0, 1500, 3000] {
        wrong[at] = json!(format!("vale number {at}"));
    }
    let findings = read(contract(), &plan(&json!({"x": wrong}))).unwrap_err();
    assert_eq!(findings.len(), 3, "{findings}");
    let meant = findings
        .iter()
        .filter_map(|finding| finding.help.as_deref());
    let meant: Vec<&str> = meant.collect();
    assert_eq!(meant[0], "did you mean `value number 0`?", "{findings}");
    let all = json!(vec!["wrong"; 4000]);
    let findings = read(contract(), &plan(&json!({"x": all}))).unwrap_err();
    assert!(findings.to_string().len() < 1_000_000);
}

/// The steps that pass on one of many values are compared once together.
#[test]
fn references_to_one_of_many_values_are_compared() {
    let values = |names: &str| -> Vec<String> {
        (0..50_000)
            .map(|at| format!("{names} number {at}"))
            .collect()
    };
    let object = |values: Vec<String>| json!({"type": "object", "properties": {"x": {"enum": values}}, "required": ["x"]});
    let gives = Contract::new("gives").output(object(values("city")));
    let takes = |names: &str| Contract::new("takes").arguments(object(values(names)));
    let steps = (0..2000).map(
        |at| json!({"id": format!("s{at}"), "tool": "takes", "arguments": {"x": "{{g.result.x}}"}}),
    );
    let first = json!({"id": "g", "tool": "gives", "arguments": {}});
    let steps: Vec<Value> = [first].into_iter().chain(steps).collect();
    let json = Value::from(steps).to_string();
    let read = |names: &str| {
        let contracts = Contracts::from_iter([gives.clone(), takes(names)]);
        Reader::new().tools(&contracts).read(&json).map(drop)
    };
    read("city").unwrap();
    let findings = read("street").unwrap_err();
    assert!(findings[0].message.contains("is one of"), "{findings}");
}

/// Returns an error with the reader's findings if the two checks refuse this argument `x`.
fn takes(schema: &Value, x: &Value) -> Result<(), String> {
    let mut whole = json!({"type": "object", "properties": {"x": schema}});
    if let Some(definitions) = schema.get("$defs") {
        whole["$defs"] = definitions.clone();
    }
    let arguments = json!({"x": x});
    let findings = read(
        Contract::new("t").arguments(whole.clone()),
        &plan(&arguments),
    );
    let (calls, error) = call(&whole, &arguments);
    assert_eq!(calls == 1, findings.is_ok(), "{schema} {x}: {error}");
    findings.map_err(|findings| findings.to_string())
}

#[test]
fn a_bound_with_a_zero_fraction_is_a_bound() {
    for (schema, right, wrong) in [
        (json!({"maxLength": 5.0}), json!("abcde"), json!("abcdef")),
        (json!({"minLength": 5.0}), json!("abcde"), json!("abcd")),
        (json!({"maxItems": 2.0}), json!([1, 2]), json!([1, 2, 3])),
        (json!({"minItems": 2e0}), json!([1, 2]), json!([1])),
        (json!({"maxLength": -0.0}), json!(""), json!("a")),
        (json!({"maxLength": 1e300}), json!("a"), json!(5)),
    ] {
        takes(&schema, &right).unwrap();
        if wrong.is_number() {
            takes(&json!({"minLength": 1e300}), &right).unwrap_err();
        } else {
            takes(&schema, &wrong).unwrap_err();
        }
    }
    takes(&json!({"maxLength": 1.5}), &json!("abc")).unwrap();
}

#[test]
fn references_that_lead_nowhere_are_errors() {
    let with = |target: Value| {
        json!({
            "$ref": target,
            "$defs": {"a": {"$anchor": "a", "type": "string"}, "no schema": 5},
        })
    };
    for target in [
        json!("#/$defs/missing"),
        json!("#b"),
        json!("#/$defs/no%20schema"),
        json!("#/%FF"),
        json!("# /$defs/a"),
        json!(5),
        json!(null),
    ] {
        for schema in [
            with(target.clone()),
            json!({"allOf": [with(target.clone())]}),
            json!({"anyOf": [{"type": "string"}, with(target.clone())]}),
        ] {
            let error = takes(&schema, &json!("x")).unwrap_err();
            assert!(
                error.contains("`t` cannot be checked: its schema refers to `"),
                "{error}"
            );
            let words = target
                .as_str()
                .map_or_else(|| target.to_string(), str::to_owned);
            assert!(
                error.contains(&format!("`{words}`, which does not exist")),
                "{error}"
            );
        }
        // Without a value that reaches it, it has no effect.
        let whole = json!({"properties": {"x": with(target), "y": {"type": "string"}}});
        assert_eq!(call(&whole, &json!({"y": "a"})).0, 1);
    }
    // Other documents are not looked at.
    for target in ["https://example.com/a.json#/b", "other.json"] {
        takes(&with(json!(target)), &json!("x")).unwrap();
    }
}

#[test]
fn references_are_decoded() {
    let schema = |target: &str| {
        json!({
            "$ref": target,
            "$defs": {"a b/c~d%é": {"type": "string"}, "List<T>": {"type": "string"}},
        })
    };
    for target in [
        "#/$defs/a%20b~1c~0d%25%C3%A9",
        "#/%24defs/a b%7E1c%7e0d%é",
        "#%2F$defs%2FList%3CT%3e",
        "#/$defs/List<T>",
    ] {
        takes(&schema(target), &json!("x")).unwrap();
        let error = takes(&schema(target), &json!(5)).unwrap_err();
        assert!(error.contains("must be a string"), "{target}: {error}");
    }
}

#[test]
fn outputs_with_references_that_lead_nowhere_are_errors() {
    let output = json!({"properties": {"a": {"$ref": "#/$defs/gone"}, "b": {"type": "string"}}});
    let tools = Contracts::from_iter([Contract::new("find").output(output), Contract::new("send")]);
    let read = |text: &str| {
        let step = json!({"id": "sent", "tool": "send", "arguments": {"text": text}});
        let text = json!([{"id": "found", "tool": "find", "arguments": {}}, step]).to_string();
        Reader::new().tools(&tools).read(&text).map(drop)
    };
    let findings = read("{{found.result.a}}").unwrap_err();
    assert_eq!(
        findings[0].message,
        "the output of `find` cannot be checked: the schema of its output refers to `#/$defs/gone`, which does not exist"
    );
    read("{{found.result.b}}").unwrap();
}

#[test]
fn lists_and_objects_are_compared_with_allowed_values() {
    for (schema, right, wrong) in [
        (
            json!({"const": {"to": "bob"}}),
            json!({"to": "bob"}),
            json!({"to": "evil"}),
        ),
        (
            json!({"const": {"to": "bob"}}),
            json!({"to": "bob"}),
            json!({"to": "bob", "cc": "x"}),
        ),
        (
            json!({"const": {"to": "bob"}}),
            json!({"to": "bob"}),
            json!({}),
        ),
        (
            json!({"enum": [["a"], ["b"]]}),
            json!(["b"]),
            json!(["evil", "x"]),
        ),
        (json!({"enum": [["a"], ["b"]]}), json!(["b"]), json!([])),
        (
            json!({"enum": [[1], {"a": [2.0]}]}),
            json!({"a": [2]}),
            json!({"a": [3]}),
        ),
        (
            json!({"anyOf": [{"const": ["a"]}, {"type": "string"}]}),
            json!(["a"]),
            json!(["b"]),
        ),
        (
            json!({"const": "y", "enum": ["x", "y"]}),
            json!("y"),
            json!("x"),
        ),
        (json!({"enum": ["x", 1]}), json!(1.0), json!("y")),
    ] {
        takes(&schema, &right).unwrap();
        takes(&schema, &wrong).unwrap_err();
    }
    takes(&json!({"const": "x", "enum": ["y"]}), &json!("x")).unwrap_err();
    takes(&json!({"const": "x", "enum": ["y"]}), &json!("y")).unwrap_err();
}

#[test]
fn values_are_compared_as_far_as_they_are_literal() {
    let schema = json!({"properties": {"x": {"enum": [["a", "b"], {"to": "bob", "cc": "c"}]}}});
    let tools = || {
        let takes = Contract::new("t").arguments(schema.clone());
        Contracts::from_iter([Contract::new("find"), takes])
    };
    let read = |x: Value| {
        let step = json!({"id": "sent", "tool": "t", "arguments": {"x": x}});
        let text = json!([{"id": "found", "tool": "find", "arguments": {}}, step]).to_string();
        Reader::new().tools(&tools()).read(&text).map(drop)
    };
    read(json!(["a", "{{found.result}}"])).unwrap();
    read(json!({"to": "{{found.result}}", "cc": "c"})).unwrap();
    for wrong in [
        json!(["{{found.result}}", "x"]),
        json!(["{{found.result}}"]),
        json!({"to": "{{found.result}}", "cc": "d"}),
        json!({"to": "{{found.result}}", "bcc": "c"}),
    ] {
        let findings = read(wrong).unwrap_err();
        assert_eq!(findings[0].code, Code::NotAllowed, "{findings}");
    }
}

/// Each listed value and each member opens the schemas that it is compared with.
#[test]
fn comparisons_that_open_many_schemas_are_errors() {
    let large = |forms: usize| -> Value {
        let forms: Vec<Value> = (0..forms).map(|at| json!({"const": at})).collect();
        json!({ "anyOf": forms })
    };
    let listed = |value: fn(usize) -> Value| {
        let values: Vec<Value> = (0..300).map(value).collect();
        json!({ "enum": values })
    };
    let names: Vec<String> = (0..400).map(|at| format!("p{at}")).collect();
    let member = json!({"$ref": "#/$defs/large"});
    let members = names.iter().map(|name| (name.clone(), member.clone()));
    let members = json!({
        "$defs": {"large": large(4000)},
        "type": "object",
        "properties": members.collect::<Map<_, _>>(),
        "required": names,
    });
    for (gives, takes) in [
        (
            listed(|at| json!([at])),
            json!({"type": "array", "items": large(10_000)}),
        ),
        (
            listed(|at| json!({"m": at})),
            json!({"type": "object", "properties": {"m": large(10_000)}}),
        ),
        (members, json!({"type": "object", "required": names})),
    ] {
        let takes = json!({"type": "object", "properties": {"x": takes}, "required": ["x"]});
        let tools = Contracts::from_iter([
            Contract::new("gives").output(gives),
            Contract::new("takes").arguments(takes),
        ]);
        let text = json!([
            {"id": "g", "tool": "gives", "arguments": {}},
            {"id": "t", "tool": "takes", "arguments": {"x": "{{g.result}}"}},
        ]);
        let findings = Reader::new()
            .tools(&tools)
            .read(&text.to_string())
            .unwrap_err();
        assert_eq!(findings[0].code, Code::LimitPassed, "{findings}");
    }
}
