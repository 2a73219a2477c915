//! Variables of lists and values that are made to take forever to check.

use plan_runtime::dynamic::{Code, Contract, Contracts, Findings, Reader};
use serde_json::{Map, Value, json};

fn read(contracts: impl IntoIterator<Item = Contract>, text: &str) -> Findings {
    let contracts = Contracts::from_iter(contracts);
    match Reader::new().tools(&contracts).read(text) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

/// Checks that all findings are about a limit.
fn only_limits(findings: &Findings) {
    let mut others = findings.iter().filter(|it| it.code != Code::LimitPassed);
    assert!(others.next().is_none(), "{findings}");
}

fn take() -> Contract {
    Contract::new("take").arguments(
        json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}),
    )
}

/// Each step gives a value that has the one before in it, or has it twice.
#[test]
fn values_that_grow() {
    for form in [
        |before: &str| json!([before, before]),
        |before: &str| json!({"a": before, "b": before}),
        |before: &str| json!({"a": before}),
        |before: &str| json!([before]),
    ] {
        let mut steps = vec![json!({"id": "c0", "value": ["a", "b"]})];
        for index in 1..500 {
            let before = format!("$ref:c{}", index - 1);
            steps.push(json!({"id": format!("c{index}"), "value": form(&before)}));
        }
        let body = json!({"tool": "take", "arguments": {"x": "$ref:x"}});
        steps.push(json!({"id": "d", "for": {"pattern": "x", "list": "$ref:c499", "body": body}}));
        let text = json!({"steps": steps, "output_steps": ["d"]}).to_string();
        let findings = read([take()], &text);
        let mut all = findings.iter();
        // An element is a list, by the information in the document.
        assert!(all.all(|it| it.code != Code::LimitPassed), "{findings}");
    }
}

/// A list of many elements, and many references to each.
#[test]
fn long_lists_with_many_references_to_their_elements() {
    let list: Vec<Value> = (0..20_000)
        .map(|index| json!(format!("text {index}")))
        .collect();
    let calls: Vec<Value> = (0..800)
        .map(|index| json!({"id": format!("s{index}"), "tool": "take", "arguments": {"x": "$ref:x"}}))
        .collect();
    let body = json!({"block": {"steps": calls}});
    let text = json!({"steps": [{"id": "d", "for": {"pattern": "x", "list": list, "body": body}}], "output_steps": ["d"]});
    only_limits(&read([take()], &text.to_string()));
}

/// An object of many members is gone through by many steps.
#[test]
fn large_objects_gone_through_often() {
    let members: Map<String, Value> = (0..5_000)
        .map(|index| {
            (
                format!("member{index}"),
                json!({"type": "string", "maxLength": index}),
            )
        })
        .collect();
    let output = json!({"type": "object", "properties": members, "additionalProperties": false});
    let mut steps = vec![json!({"id": "a", "tool": "make", "arguments": {}})];
    for index in 0..900 {
        let body = json!({"tool": "take", "arguments": {"x": "$ref:v"}});
        steps.push(json!({"id": format!("s{index}"), "for": {"pattern": "(k, v)", "list": "$ref:a", "body": body}}));
    }
    let text = json!({"steps": steps, "output_steps": ["s0"]}).to_string();
    only_limits(&read([Contract::new("make").output(output), take()], &text));
}

/// Loops in loops, each of which reads the value of the round before, and elements of lists of elements.
#[test]
fn deep_loops_and_lists() {
    let mut body = json!({"tool": "take", "arguments": {"x": "$ref:x"}});
    for _ in 0..30 {
        body = json!({"for": {"pattern": "x", "list": "$ref:x", "body": {"block": {"steps": [], "tail": body}}}});
    }
    let mut each = json!({"id": "e", "for": {"pattern": "x", "list": "$ref:a", "body": body}});
    for depth in 0..3 {
        let id = format!("l{depth}");
        let inner = each["id"].clone();
        each = json!({"id": id, "loop": {"last": format!("last{depth}"), "steps": [each], "value": format!("$ref:{}", inner.as_str().unwrap()), "while": true}, "policy": {"at_most": 2, "collect": true}});
    }
    let text = json!({"steps": [{"id": "a", "tool": "make", "arguments": {}}, each], "output_steps": ["l2"]}).to_string();
    let schema = json!({"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"});
    let findings = read([Contract::new("make").output(schema), take()], &text);
    let codes: Vec<Code> = findings.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::WrongType], "{findings}");
}

/// More patterns than the limit are an error, and reading stops there.
#[test]
fn many_patterns_in_one_branch() {
    let all: Vec<Value> = (0..20_000)
        .map(|_| json!({"pattern": "Some(x)", "value": "$ref:a"}))
        .collect();
    let then = json!({"tool": "take", "arguments": {"x": "$ref:x.y"}});
    let text = json!({"steps": [{"id": "a", "tool": "make", "arguments": {}}, {"id": "b", "if": [{"all": all, "then": then}]}], "output_steps": ["b"]});
    let findings = read(
        [
            Contract::new("make").output(json!({"type": "string"})),
            take(),
        ],
        &text.to_string(),
    );
    assert!(
        findings.iter().any(|it| it.code == Code::LimitPassed),
        "{findings}"
    );
}
