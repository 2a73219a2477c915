//! Plans over random schemas, and runs with outputs that obey these schemas.

use crate::checks::random::Random;
use crate::checks::read_with;
use crate::checks::runs::{coin, fits, fitting, schema};
use plan_runtime::dynamic::{Code, Contract, Contracts, Reader, Toolbox};
use plan_runtime::{Error, Plan};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const NAMES: [&str; 2] = ["a", "b"];

/// A member that `properties` does not list.
const UNLISTED: &str = "c";

/// A schema with unions and listed values in it.
fn wide(random: &mut Random, depth: usize) -> Value {
    let mut all = schema(random, depth);
    widen(random, &mut all);
    all
}

fn widen(random: &mut Random, schema: &mut Value) {
    // Lengths are not compared.
    for length in ["minItems", "maxItems"] {
        schema.as_object_mut().unwrap().remove(length);
    }
    if schema["type"] == "string" && coin(random, 3) {
        let values = ["red", "green", "blue"];
        let first = random.below(2);
        let values = &values[first..first + 1 + random.below(2)];
        schema["enum"] = json!(values);
    }
    if let Some(items) = schema.get_mut("items") {
        widen(random, items);
        if coin(random, 4) {
            let mut other = self::schema(random, 0);
            widen(random, &mut other);
            schema["prefixItems"] = json!([items.take(), other]);
            schema["items"] = json!(false);
        }
    }
    if let Some(properties) = schema.get_mut("properties") {
        for name in NAMES {
            widen(random, &mut properties[name]);
        }
        if coin(random, 6) {
            schema.as_object_mut().unwrap().remove("required");
        } else if coin(random, 4) && schema["additionalProperties"] != false {
            schema["required"]
                .as_array_mut()
                .unwrap()
                .push(json!(UNLISTED));
        }
    }
    if coin(random, 4) {
        let kind = ["integer", "string"][random.below(2)];
        let other = json!({"type": kind});
        let one = schema.take();
        *schema = json!({"anyOf": [one, other]});
    }
}

/// Adds bounds, and with `lengths` the lengths of lists, near the values of the schema.
fn bound(random: &mut Random, schema: &mut Value, lengths: bool) {
    let bounds = match schema["type"].as_str() {
        Some("integer") => ["minimum", "maximum"].map(|it| (it, 6)),
        Some("string") => ["minLength", "maxLength"].map(|it| (it, 3)),
        Some("array") if lengths => ["minItems", "maxItems"].map(|it| (it, 1)),
        _ => [("description", 0); 2],
    };
    for (keyword, least) in bounds.into_iter().filter(|(_, least)| *least > 0) {
        if coin(random, 3) {
            schema[keyword] = json!(least + random.below(3));
        }
    }
    for part in ["items", "anyOf", "prefixItems", "properties"] {
        match schema.get_mut(part) {
            Some(Value::Array(parts)) => parts.iter_mut().for_each(|it| bound(random, it, lengths)),
            Some(Value::Object(parts)) if part == "properties" => {
                parts.values_mut().for_each(|it| bound(random, it, lengths));
            }
            Some(one @ Value::Object(_)) => bound(random, one, lengths),
            _ => {}
        }
    }
}

/// Writes a schema in another way, with definitions for the whole document.
fn written(random: &mut Random, schema: &Value, definitions: &mut Map<String, Value>) -> Value {
    let mut all = schema.clone();
    for name in ["items", "a", "b"] {
        let of = if name == "items" {
            &mut all
        } else {
            &mut all["properties"]
        };
        if let Some(part) = of.get_mut(name).filter(|part| part.is_object()) {
            *part = written(random, part, definitions);
        }
    }
    if all["properties"].is_null() {
        all.as_object_mut().unwrap().remove("properties");
    }
    for name in ["anyOf", "prefixItems"] {
        for part in all
            .get_mut(name)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            *part = written(random, part, definitions);
        }
    }
    let name = format!("d{}", definitions.len());
    match random.below(8) {
        0 => {
            definitions.insert(name.clone(), all);
            json!({"$ref": format!("#/$defs/{name}")})
        }
        1 => {
            all["$anchor"] = json!(name);
            definitions.insert(name.clone(), all);
            json!({"$ref": format!("#{name}")})
        }
        2 => json!({"allOf": [all, {"description": "more"}]}),
        3 if all["type"] == "object"
            && all["nullable"] != true
            && !is_required(&all, UNLISTED)
            && all.get("additionalProperties").is_none() =>
        {
            let half = |name: &str| {
                let mut half =
                    json!({"type": "object", "properties": {name: all["properties"][name]}});
                if let Some(required) = all["required"].as_array() {
                    half["required"] = required.iter().filter(|it| *it == name).cloned().collect();
                }
                half
            };
            json!({"allOf": [half("a"), half("b")]})
        }
        _ => all,
    }
}

/// Writes the schema of an output.
fn document(random: &mut Random, schema: &Value) -> Value {
    let mut definitions = Map::new();
    let mut all = written(random, schema, &mut definitions);
    all["$defs"] = definitions.into();
    all
}

/// Writes the schema of the argument `x`.
fn arguments(random: &mut Random, schema: &Value, required: &[&str]) -> Value {
    let mut definitions = Map::new();
    let x = written(random, schema, &mut definitions);
    json!({"type": "object", "properties": {"x": x}, "required": required, "$defs": definitions})
}

/// Reads a plan. Returns `None` if the plan has an object as operand of a condition.
fn plan(text: &str) -> Option<Plan> {
    let findings = match Reader::new().read(text) {
        Ok(document) => return Some(document.into_plan()),
        Err(findings) => findings,
    };
    let codes = [Code::UnknownMember, Code::WrongKind];
    let is_operand = findings.iter().all(|it| codes.contains(&it.code));
    assert!(is_operand, "{text}\n{findings}");
    None
}

/// Writes a tool plan as a tool plan, a blueprint or plan JSON. In plan JSON, a missing part may have a replacement, if `replaces`.
fn in_dialect(random: &mut Random, text: &str, dialect: usize, replaces: bool) -> String {
    let Some(plan) = plan(text) else {
        return text.to_owned();
    };
    let text = match dialect {
        0 => return text.to_owned(),
        1 => return plan.to_blueprint().unwrap_or_else(|_| text.to_owned()),
        _ => serde_json::to_string(&plan).unwrap(),
    };
    if !replaces {
        return text;
    }
    let mut document = serde_json::from_str(&text).unwrap();
    replace(random, &mut document);
    document.to_string()
}

/// Gives parts of references a replacement.
fn replace(random: &mut Random, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(random, item)),
        Value::Object(members) => members.values_mut().for_each(|it| replace(random, it)),
        _ => {}
    }
    let Some(pointer) = value["reference"]["pointer"]
        .as_str()
        .filter(|it| !it.is_empty())
    else {
        return;
    };
    let values = [
        json!("red"),
        json!(7),
        json!({"a": "red"}),
        json!(["red", null]),
        json!([]),
    ];
    let mut path = Vec::new();
    for token in pointer[1..].split('/') {
        let absent = match random.below(6) {
            0 => json!("null"),
            1 => json!({"default": values[random.below(values.len())]}),
            2 => json!("end"),
            _ => Value::Null,
        };
        let mut part = json!({"token": token, "optional": coin(random, 5)});
        if !absent.is_null() {
            part["absent"] = absent;
        }
        path.push(part);
    }
    let reference = value["reference"].as_object_mut().unwrap();
    reference.remove("pointer");
    reference.insert("path".to_owned(), path.into());
    if coin(random, 5) {
        reference.insert(
            "else".to_owned(),
            values[random.below(values.len())].clone(),
        );
    }
}

/// Returns `true` if each value of a schema has this member.
fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema["required"].as_array();
    required.is_some_and(|all| all.contains(&json!(name)))
}

/// A value of a schema.
fn value(random: &mut Random, schema: &Value) -> Value {
    if let Some(all) = schema["anyOf"].as_array() {
        let form = &all[random.below(all.len())];
        return value(random, form);
    }
    if schema["nullable"] == true && coin(random, 3) {
        return Value::Null;
    }
    if let Some(all) = schema["enum"].as_array() {
        return all[random.below(all.len())].clone();
    }
    if let Some(all) = schema["prefixItems"].as_array() {
        return all.iter().map(|part| value(random, part)).collect();
    }
    match schema["type"].as_str() {
        Some("array") => (0..2).map(|_| value(random, &schema["items"])).collect(),
        Some("object") => {
            let mut members = serde_json::Map::new();
            for name in NAMES {
                if is_required(schema, name) || coin(random, 2) {
                    members.insert(name.to_owned(), value(random, &schema["properties"][name]));
                }
            }
            let is_open = schema["additionalProperties"] == true && coin(random, 2);
            if is_open || is_required(schema, UNLISTED) {
                let any = [json!(1), json!("red"), Value::Null][random.below(3)].clone();
                members.insert(UNLISTED.to_owned(), any);
            }
            members.into()
        }
        _ => fitting(random, schema),
    }
}

/// Merges the argument of the last step in plan JSON with other objects. Returns `false` without a reference in the argument.
fn merge(random: &mut Random, text: &mut String) -> bool {
    let mut plan: Value = serde_json::from_str(text).unwrap();
    let steps = plan["steps"].as_array_mut();
    let last = steps.and_then(|steps| steps.last_mut());
    let argument = last.and_then(|step| step.pointer_mut("/arguments/object/x"));
    let Some(argument) = argument.filter(|it| it["reference"].is_object()) else {
        return false;
    };
    let given = argument.take();
    let mut parts = vec![given.clone()];
    for _ in 0..1 + random.below(2) {
        let name = NAMES[random.below(2)];
        let value = [json!("red"), json!(7), given.clone()][random.below(3)].clone();
        let made = json!({"reference": {"step": "made", "pointer": ""}});
        let part = [json!({"object": {name: value}}), made][random.below(2)].clone();
        parts.insert(random.below(parts.len() + 1), part);
    }
    *argument = json!({"merge": parts});
    *text = plan.to_string();
    true
}

/// A schema that accepts more than another.
fn wider(random: &mut Random, schema: &Value) -> Value {
    let mut all = schema.clone();
    if let Some(parts) = schema["prefixItems"].as_array() {
        all["prefixItems"] = parts.iter().map(|part| wider(random, part)).collect();
    } else if let Some(items) = schema.get("items") {
        all["items"] = wider(random, items);
    }
    if schema["properties"].is_object() {
        for name in NAMES {
            all["properties"][name] = wider(random, &schema["properties"][name]);
        }
        if let Some(required) = schema["required"].as_array() {
            let required = required.iter();
            all["required"] = required.filter(|_| coin(random, 2)).cloned().collect();
        }
        all.as_object_mut().unwrap().remove("additionalProperties");
        // Each form of a member in a form of the object. Of too many forms, the check decides nothing.
        let forms = all["properties"]["a"]["anyOf"].as_array().cloned();
        let is_small = all.to_string().matches("anyOf").count() <= 3;
        if let Some(forms) =
            forms.filter(|_| is_small && all["nullable"] != true && coin(random, 2))
        {
            let with = |form| {
                let mut one = all.clone();
                one["properties"]["a"] = form;
                one
            };
            return json!({"anyOf": forms.into_iter().map(with).collect::<Vec<_>>()});
        }
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        all["anyOf"] = forms.iter().map(|form| wider(random, form)).collect();
    }
    if coin(random, 4) {
        all = json!({"anyOf": [{"type": "boolean"}, all]});
    }
    all
}

fn path(random: &mut Random, schema: &Value) -> Vec<&'static str> {
    let (mut path, mut at) = (Vec::new(), schema);
    while !coin(random, 3) && path.len() < 4 {
        if let Some(forms) = at["anyOf"].as_array() {
            at = &forms[random.below(forms.len())];
            continue;
        }
        let part = match at["type"].as_str() {
            Some("object") if is_required(at, UNLISTED) && coin(random, 4) => UNLISTED,
            Some("object") => NAMES[random.below(2)],
            Some("array") => ["0", "1", "*"][random.below(3)],
            _ => break,
        };
        path.push(part);
        at = inside(at, part);
    }
    path
}

fn reference(name: &str, path: &[&str]) -> Value {
    let mut text = format!("$ref:{name}");
    for part in path {
        text += &match *part {
            "*" => "[*]".to_owned(),
            part => format!(".{part}"),
        };
    }
    text.into()
}

/// A step that computes something of the output, and is read by the last step.
fn between(random: &mut Random, given: &Value) -> Value {
    let call = json!({"value": given});
    let test = json!({"compare": [given, "==", "red"]});
    let asked = json!({"is_some": given});
    let mut policy = [
        json!({}),
        json!({"fallback": "none"}),
        json!({"fallback": given}),
        json!({"optional": "whole"}),
        json!({"catch": true}),
    ][random.below(5)]
    .clone();
    let each = [
        json!({}),
        json!({"optional": "each"}),
        json!({"catch": "each"}),
    ];
    let body = match random.below(12) {
        0 | 1 => call,
        8 => json!({"block": {"steps": [{"id": "k", "value": given}], "value": "$ref:k"}}),
        9 => {
            policy = json!({"at_most": 2, "collect": coin(random, 2)});
            let last = json!([
                {"pattern": "Some(y)", "value": "$ref:before", "then": {"value": "$ref:y"}},
                {"then": call},
            ]);
            let condition = json!({"compare": [given, "!=", 3]});
            json!({"loop": {"last": "before", "steps": [{"id": "k", "if": last}], "value": "$ref:k", "while": condition}})
        }
        10 => {
            policy = each[random.below(3)].clone();
            let test = json!({"compare": ["$ref:x", "==", "red"]});
            let body = json!({"if": [{"condition": test, "then": {"value": "$ref:x"}}, {"then": {"value": given}}]});
            json!({"for": {"pattern": "x", "list": given, "body": body}})
        }
        11 => json!({"value": {"a": given, "b": [given, "red"]}}),
        2 => json!({"if": [{"condition": test, "then": call}]}),
        3 => json!({"if": [{"condition": asked, "then": call}, {"then": {"value": "none"}}]}),
        4 => json!({"if": [{"pattern": "Some(x)", "value": given, "then": {"value": "$ref:x"}}]}),
        5 => {
            policy = each[random.below(3)].clone();
            json!({"for": {"pattern": "x", "list": given, "body": {"value": "$ref:x"}}})
        }
        6 => {
            let pattern = ["Ok(x)", "Err(x)"][random.below(2)];
            json!({"if": [{"pattern": pattern, "value": given, "then": {"value": "$ref:x"}}]})
        }
        _ => {
            let sign = ["<", "==", ">="][random.below(3)];
            let other = [json!(3), json!("red")][random.below(2)].clone();
            json!({"if": [{"condition": {"compare": [given, sign, other]}, "then": call}]})
        }
    };
    let mut step = json!({"id": "m", "policy": policy});
    for (name, value) in body.as_object().unwrap() {
        step[name] = value.clone();
    }
    step
}

/// Returns the schema of a part. The elements of a tuple have the first schema.
fn inside<'s>(schema: &'s Value, part: &str) -> &'s Value {
    match part {
        "a" | "b" | UNLISTED => &schema["properties"][part],
        _ if schema["prefixItems"].is_array() => &schema["prefixItems"][usize::from(part == "1")],
        _ => &schema["items"],
    }
}

/// Returns `true` if a part of a value may be an object.
fn may_be_object(schema: &Value, path: &[&str]) -> bool {
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().any(|form| may_be_object(form, path));
    }
    match path {
        [] => schema["type"] == "object",
        ["*", ..] => false,
        [part, rest @ ..] => may_be_object(inside(schema, part), rest),
    }
}

/// A path that every value of a schema has, and the schema of what it leads to.
fn sure(random: &mut Random, schema: &Value) -> (Vec<&'static str>, Value) {
    let is_end = coin(random, 4) || schema["nullable"] == true;
    let part = match schema["type"].as_str().filter(|_| !is_end) {
        Some("array") => {
            let is_tuple = schema["prefixItems"].is_array();
            ["0", "1", "*"][random.below(if is_tuple { 2 } else { 3 })]
        }
        Some("object") => {
            let name = NAMES[random.below(2)];
            if is_required(schema, UNLISTED) && coin(random, 4) {
                return (vec![UNLISTED], json!({}));
            }
            if !is_required(schema, name) {
                return (Vec::new(), schema.clone());
            }
            name
        }
        _ => return (Vec::new(), schema.clone()),
    };
    let (mut path, mut end) = sure(random, inside(schema, part));
    path.insert(0, part);
    if part == "*" {
        end = json!({"type": "array", "items": end});
    }
    (path, end)
}

/// A step with the value of the reference.
fn as_it_is(random: &mut Random, given: &Value, schema: &Value) -> Value {
    let call = json!({"value": given});
    let test = json!({"compare": [given, "==", given]});
    let mut step = match random.below(4) {
        0 => call,
        1 => json!({"if": [{"condition": test, "then": call}, {"then": call}]}),
        2 if schema["items"].is_object() && schema["nullable"] != true => {
            json!({"for": {"pattern": "x", "list": given, "body": {"value": "$ref:x"}}})
        }
        _ => json!({"block": {"steps": [{"id": "k", "value": given}], "value": "$ref:k"}}),
    };
    step["id"] = json!("m");
    step
}

/// Plans without findings, over an output and over a value of the document.
static CLEAN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Plans without findings that merge objects.
static MERGED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_plan_without_findings_does_not_fail_by_type() {
    no_clean_plan_fails_by_type();
    let clean = CLEAN.each_ref().map(|it| it.load(Ordering::Relaxed));
    let merged = MERGED.load(Ordering::Relaxed);
    println!("{clean:?} plans without findings, {merged} with merged objects");
    // About 60 of 600 plans of each kind are clean, and about 30 of 600 merge objects. With these bounds, one run of the test in 100 million fails by chance.
    let least = crate::common::amount(20, 40_000);
    assert!(clean.iter().all(|count| *count > least), "{clean:?}");
    assert!(merged > crate::common::amount(3, 10_000), "{merged}");
}

proptest! {
    // About a fifth of the plans has no findings.
    #![proptest_config(ProptestConfig { cases: crate::common::cases(600, 600_000), ..ProptestConfig::default() })]

    fn no_clean_plan_fails_by_type(seed in any::<u64>()) {
        let mut random = Random(seed);
        let merges = coin(&mut random, 4);
        let mut made = wide(&mut random, 2);
        while merges && (made["type"] != "object" || made["nullable"] == true) {
            made = wide(&mut random, 2);
        }
        let mut takes = if merges || coin(&mut random, 2) { wider(&mut random, &made) } else { wide(&mut random, 2) };
        // The document fixes the output of `made`, or contains the value at the reference.
        let fixed = coin(&mut random, 2).then(|| value(&mut random, &made));
        let mut from = if merges { Vec::new() } else { path(&mut random, &made) };
        let mut given = reference("made", &from);
        let first = match &fixed {
            Some(value) if coin(&mut random, 4) => {
                from.clear();
                given = value.clone();
                json!({"id": "made", "value": 1})
            }
            Some(value) => json!({"id": "made", "value": value}),
            None => json!({"id": "made", "tool": "make", "arguments": {}}),
        };
        let middle = between(&mut random, &given);
        let mut steps = vec![first];
        let taken = if coin(&mut random, 2) {
            let mut path = path(&mut random, &takes);
            // A `for` over an object may have no elements, and the check promises nothing about indices.
            if middle.get("for").is_some() && may_be_object(&made, &from) && matches!(path.first(), Some(&("0" | "1"))) {
                path[0] = "*";
            }
            steps.push(middle);
            reference("m", &path)
        } else {
            given
        };
        steps.push(json!({"id": "b", "tool": "take", "arguments": {"x": taken}}));
        let text = json!({"steps": steps, "output_steps": ["b"]}).to_string();
        // The run checks the bounds.
        let unbound = takes.clone();
        if fixed.is_some() {
            // The length of a list is unknown if each element is made in turn.
            let lengths = !["[*]", "\"for\"", "\"loop\""].iter().any(|it| text.contains(it));
            bound(&mut random, &mut takes, lengths);
        }
        let dialect = if merges { 2 } else { random.below(3) };
        let mut text = in_dialect(&mut random, &text, dialect, true);
        let is_merged = merges && merge(&mut random, &mut text);
        let required: &[&str] = if coin(&mut random, 3) { &[] } else { &["x"] };
        let whole = arguments(&mut random, &takes, required);
        let outputs = document(&mut random, &made);
        let output = Arc::new(Mutex::new(Value::Null));
        let made_now = Arc::clone(&output);
        let toolbox = Toolbox::<()>::new()
            .with_fn(Contract::new("make").output(outputs), move |_| {
                let output = made_now.lock().unwrap().clone();
                async move { Ok(output) }
            })
            .with_fn(Contract::new("take").arguments(whole), {
                move |given| {
                    let fits = given.get("x").is_none_or(|x| fits(x, &unbound));
                    async move {
                        let wrong = || Error::msg(format!("{given} does not obey the schema"));
                        fits.then_some(Value::Null).ok_or_else(wrong)
                    }
                }
            });
        let document = toolbox.read(&text).ok().filter(|it| it.warnings().is_empty());
        let Some(document) = document else {
            return Ok(());
        };
        CLEAN[usize::from(fixed.is_some())].fetch_add(1, Ordering::Relaxed);
        MERGED.fetch_add(usize::from(is_merged), Ordering::Relaxed);
        for _ in 0..6 {
            let shown = value(&mut random, &made);
            output.lock().unwrap().clone_from(&shown);
            let run = smol::block_on(toolbox.run(document.plan(), (), &()));
            prop_assert!(run.is_ok(), "{text}\n{made}\n{takes}\n{shown}\n{:?}", run.err().map(|it| it.to_string()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(400, 100_000), ..ProptestConfig::default() })]

    /// A value has no finding if the argument accepts all values of its schema.
    #[test]
    fn values_that_fit_have_no_finding(seed in any::<u64>()) {
        let mut random = Random(seed);
        let made = wide(&mut random, 3);
        let (path, end) = sure(&mut random, &made);
        let takes = wider(&mut random, &end);
        let mut given = reference("made", &path);
        let mut steps = vec![json!({"id": "made", "tool": "make", "arguments": {}})];
        if coin(&mut random, 2) {
            steps.push(as_it_is(&mut random, &given, &end));
            given = reference("m", &[]);
        }
        steps.push(json!({"id": "b", "tool": "take", "arguments": {"x": given}}));
        let text = json!({"steps": steps, "output_steps": ["b"]}).to_string();
        let dialect = random.below(3);
        let text = in_dialect(&mut random, &text, dialect, false);
        let whole = arguments(&mut random, &takes, &["x"]);
        let outputs = document(&mut random, &made);
        let tools: Contracts = [Contract::new("make").output(outputs.clone()), Contract::new("take").arguments(whole.clone())].into_iter().collect();
        let findings = read_with(&tools, &text);
        prop_assert!(findings.is_empty(), "{text}\n{outputs}\n{whole}\n{findings}");
    }
}
