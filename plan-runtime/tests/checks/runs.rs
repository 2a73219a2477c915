//! Findings about a reference, compared with runs.

use crate::checks::absence::read;
use crate::checks::random::Random;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Severity};
use plan_runtime::plan::Action;
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Members with schemas of their own have the first two names.
const LISTED: usize = 2;

pub(crate) fn coin(random: &mut Random, of: usize) -> bool {
    random.below(of) == 0
}

/// Returns a schema: an object with required and optional members, a list of two elements, or a scalar. Each may be null if its
/// schema allows null. An object may have other members unless its schema forbids them.
pub(crate) fn schema(random: &mut Random, depth: usize) -> Value {
    let mut schema = match random.below(if depth == 0 { 2 } else { 6 }) {
        0 => json!({"type": "integer"}),
        1 => json!({"type": "string"}),
        2 => {
            json!({"type": "array", "items": schema(random, depth - 1), "minItems": 2, "maxItems": 2})
        }
        _ => {
            let names = &NAMES[..LISTED];
            let members = names
                .iter()
                .map(|name| ((*name).to_owned(), schema(random, depth - 1)));
            let members: Map<String, Value> = members.collect();
            let required: Vec<_> = names.iter().filter(|_| coin(random, 2)).collect();
            let mut object = json!({"type": "object", "properties": members, "required": required});
            if coin(random, 2) {
                object["additionalProperties"] = json!(coin(random, 2));
            }
            object
        }
    };
    if coin(random, 3) {
        schema["nullable"] = json!(true);
    }
    schema
}

/// A schema of arguments: that of an output, or several kinds.
fn taking(random: &mut Random) -> Value {
    if coin(random, 3) {
        let mut schema = schema(random, 1);
        // A member too many does no harm.
        schema
            .as_object_mut()
            .unwrap()
            .remove("additionalProperties");
        return schema;
    }
    let kinds = ["integer", "string", "array", "object", "null"];
    let kinds: Vec<_> = kinds.into_iter().filter(|_| coin(random, 2)).collect();
    if kinds.is_empty() {
        return json!({"type": "string"});
    }
    json!({"type": kinds})
}

pub(crate) fn fitting(random: &mut Random, schema: &Value) -> Value {
    if schema["nullable"] == true && coin(random, 3) {
        return Value::Null;
    }
    match schema["type"].as_str().unwrap() {
        "integer" => json!(7),
        "string" => json!("text"),
        "array" => json!([
            fitting(random, &schema["items"]),
            fitting(random, &schema["items"])
        ]),
        _ => {
            let mut members = Map::new();
            for (name, member) in schema["properties"].as_object().unwrap() {
                let required = schema["required"].as_array().unwrap();
                if required.contains(&json!(name)) || coin(random, 2) {
                    members.insert(name.clone(), fitting(random, member));
                }
            }
            if schema["additionalProperties"] != false && coin(random, 2) {
                let any = self::schema(random, 1);
                members.insert(NAMES[LISTED].to_owned(), fitting(random, &any));
            }
            Value::Object(members)
        }
    }
}

/// Returns `true` if a value obeys a schema. A member too many does no harm.
pub(crate) fn fits(value: &Value, schema: &Value) -> bool {
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().any(|form| fits(value, form));
    }
    if value.is_null() && schema["nullable"] == true {
        return true;
    }
    if let Some(all) = schema["enum"].as_array() {
        return all.contains(value);
    }
    let is = |kind: &Value| match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(_) => kind == "integer",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    };
    let fits_kind = match &schema["type"] {
        Value::Null => schema != false,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let within = |size: u64, least: &str, most: &str| {
        let (least, most) = (schema[least].as_u64(), schema[most].as_u64());
        least.is_none_or(|least| size >= least) && most.is_none_or(|most| size <= most)
    };
    let fits_inside = match value {
        Value::Number(number) => number
            .as_u64()
            .is_none_or(|number| within(number, "minimum", "maximum")),
        Value::String(text) => within(text.chars().count() as u64, "minLength", "maxLength"),
        Value::Array(items) => {
            let parts = schema["prefixItems"].as_array();
            let part = |index| {
                parts
                    .and_then(|it| it.get(index))
                    .or_else(|| schema.get("items"))
            };
            let mut all = items.iter().enumerate();
            within(items.len() as u64, "minItems", "maxItems")
                && all.all(|(index, item)| part(index).is_none_or(|part| fits(item, part)))
        }
        Value::Object(members) => {
            let mut required = schema["required"].as_array().into_iter().flatten();
            let mut members = members.iter();
            let part = |name: &String| schema["properties"].get(name);
            required.all(|name| value.get(name.as_str().unwrap()).is_some())
                && members.all(|(name, member)| part(name).is_none_or(|it| fits(member, it)))
        }
        _ => true,
    };
    fits_kind && fits_inside
}

/// A value for a missing one, which fits the schema of it or does not.
fn other(random: &mut Random, like: &Value) -> Value {
    match random.below(3) {
        0 => fitting(random, like),
        1 => Value::Null,
        _ => {
            let any = schema(random, 2);
            fitting(random, &any)
        }
    }
}

/// Returns a reference in plan JSON to a random depth of the schema, sometimes to a missing value.
fn reference(random: &mut Random, schema: &Value) -> Value {
    let (anything, mut schema) = (json!({"type": "string"}), schema);
    let mut reference = json!({"step": "made", "optional": coin(random, 4)});
    let mut ends = reference["optional"] == true;
    let mut path = Vec::new();
    while !coin(random, 4) && path.len() < 5 {
        let mut part = json!({"optional": coin(random, 4)});
        // In an open object, all unlisted names are equivalent.
        let is_open = schema["type"] == "object" && schema["additionalProperties"] != false;
        let kind = if coin(random, 12) && !is_open {
            "string"
        } else {
            schema["type"].as_str().unwrap()
        };
        let (token, inside) = match kind {
            "object" => {
                let name = NAMES[random.below(NAMES.len())];
                (Some(name), schema["properties"].get(name))
            }
            "array" => (
                [None, Some("0"), Some("1")][random.below(3)],
                schema.get("items"),
            ),
            _ => {
                let token = [None, Some("0"), Some("a")][random.below(3)];
                let inside = match token {
                    Some("a") => schema["properties"].get("a"),
                    _ => schema.get("items"),
                };
                (token, inside)
            }
        };
        let is_listed =
            inside.is_some() || kind != "object" || schema["additionalProperties"].is_boolean();
        schema = inside.unwrap_or(&anything);
        match token {
            None => part["each"] = json!("element"),
            Some(token) => {
                part["token"] = json!(token);
                // A plan that relies on a value without a schema is wrong, even if the value may exist.
                part["absent"] = match random.below(if is_listed { 6 } else { 3 }) {
                    0 => json!("null"),
                    1 => json!({"default": other(random, schema)}),
                    2 => json!("end"),
                    _ => Value::Null,
                };
            }
        }
        ends |= part["optional"] == true || part["absent"] == "end";
        path.push(part);
    }
    reference["path"] = path.into();
    if ends && coin(random, 2) {
        reference["else"] = other(random, schema);
    }
    json!({"reference": reference})
}

/// Returns the results of a reference in a run: the output's value, or the replacement in the plan.
fn ways(value: &Value, reference: &Value) -> BTreeSet<String> {
    let path = reference["reference"]["path"].as_array().unwrap();
    let mut ways = BTreeSet::new();
    way(
        value,
        path,
        reference["reference"]["optional"] == true,
        "there",
        &mut ways,
    );
    ways
}

fn way(value: &Value, path: &[Value], optional: bool, from: &str, ways: &mut BTreeSet<String>) {
    let mut from = from.to_owned();
    let mut at = value;
    let mut optional = optional;
    for (place, part) in path.iter().enumerate() {
        let end = format!("{from}, ended before {}", path.len() - place);
        if optional && at.is_null() {
            ways.insert(end);
            return;
        }
        optional = part["optional"] == true;
        let Some(token) = part["token"].as_str() else {
            match at.as_array() {
                Some(items) => items
                    .iter()
                    .for_each(|item| way(item, &path[place + 1..], optional, &from, ways)),
                None => {
                    ways.insert(format!("{from}, failed"));
                }
            }
            return;
        };
        let found = match at {
            Value::Array(items) => token
                .parse::<usize>()
                .ok()
                .and_then(|index| items.get(index)),
            at => at.get(token),
        };
        let has_parts = at.is_object() || (at.is_array() && token.parse::<usize>().is_ok());
        at = match (found, &part["absent"]) {
            (Some(found), _) => {
                if token == NAMES[LISTED] {
                    from.push_str(", unlisted");
                }
                found
            }
            (None, absent) if absent == "end" && (has_parts || at.is_null()) => {
                ways.insert(end);
                return;
            }
            (None, absent) if has_parts && (absent == "null" || absent.is_object()) => {
                from = format!("{from}, missing {}", path.len() - place);
                absent.get("default").unwrap_or(&Value::Null)
            }
            (None, _) => {
                ways.insert(format!("{from}, failed"));
                return;
            }
        };
    }
    let null = match at {
        Value::Null => ", null",
        at if at.to_string().contains("null") => ", null inside",
        _ => "",
    };
    ways.insert(if optional && at.is_null() {
        format!("{from}, ended")
    } else {
        format!("{from}{null}")
    });
}

/// Returns the argument.
fn given(plan: &Plan, output: &Value) -> Option<Value> {
    let outputs = [Some(StoredValue::json(output.clone())), None];
    let scope = Scope::new(plan, &[], &outputs);
    let action: &Action = plan.steps[1].action().unwrap();
    let arguments: Result<Value, _> = resolve(&action.args, &scope);
    Some(arguments.ok()?["x"].clone())
}

/// The number of runs of a plan, and the number of further runs before a result counts as one that always fails.
const RUNS: usize = 400;
const MORE_RUNS: usize = 20_000;

/// Cases without an error, and with one.
static ERRORS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[test]
fn what_is_an_error_is_what_fails() {
    each_error_is_what_fails();
    let counts = ERRORS.each_ref().map(|it| it.load(Ordering::Relaxed));
    // Between 15 and 16 percent of the cases have no error. With these bounds, one run of the test in ten billion fails by chance.
    let least = crate::common::cases(3, 60);
    assert!(counts.iter().all(|count| *count > least), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(200, 1_000), ..ProptestConfig::default() })]

    /// An error means that no run with one of the results succeeds, and every such result has a finding.
    fn each_error_is_what_fails(seed in any::<u64>()) {
        let mut random = Random(seed);
        let schema = schema(&mut random, 3);
        let reference = reference(&mut random, &schema);
        let takes = taking(&mut random);
        let (plan, findings) = read(&schema, &reference, &takes);
        let all = format!("{schema}\n{reference}\n{takes}\n{findings:?}");
        prop_assert!(findings.len() <= 2, "{all}");
        let errors: Vec<_> = findings.iter().filter(|it| it.severity == Severity::Error).collect();
        prop_assert!(errors.len() <= 1, "{all}");

        let mut of_ways: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut may_succeed = false;
        let mut run = |of_ways: &mut BTreeMap<String, (usize, usize)>| {
            let output = fitting(&mut random, &schema);
            let given = given(&plan, &output);
            let succeeds = given.as_ref().is_some_and(|x| fits(x, &takes));
            for way in ways(&output, &reference) {
                // A value without a schema is unknown.
                may_succeed |= succeeds || way.contains("unlisted");
                let (runs, successes) = of_ways.entry(way).or_default();
                *runs += 1;
                *successes += usize::from(succeeds);
            }
        };
        (0..RUNS).for_each(|_| run(&mut of_ways));
        let has_else = !reference["reference"]["else"].is_null();
        let has_each = reference.to_string().contains("each");
        let unexplained = |of_ways: &BTreeMap<String, (usize, usize)>| {
            let is_open = of_ways.keys().any(|way| way.contains("unlisted"));
            let is_free = is_open || has_each;
            let way = of_ways.iter().find(|(way, (runs, successes))| {
                // That a reference leads to nothing may be a warning. Elements of a list may be null, and so may what no schema speaks of.
                let is_nothing = way.ends_with("null") || (way.contains("ended") && !has_else);
                let is_said = is_nothing && (is_free || !findings.is_empty());
                let some_fail = ["failed", "unlisted", "null inside"];
                let is_said = is_said || some_fail.iter().any(|it| way.contains(it));
                !(is_said || *successes > 0 || *runs < 20)
            });
            way.map(|(way, _)| way.clone())
        };
        // All elements of a list have to succeed, which is rare where they go different ways.
        if errors.is_empty() && unexplained(&of_ways).is_some() {
            (0..MORE_RUNS).for_each(|_| run(&mut of_ways));
        }
        let all = format!("{all}\n{of_ways:?}");
        ERRORS[usize::from(!errors.is_empty())].fetch_add(1, Ordering::Relaxed);
        match errors.first() {
            Some(_) => {
                let fails = of_ways.values().any(|(runs, successes)| successes < runs);
                prop_assert!(fails, "{all}");
            }
            None => {
                // The check cannot know which lists have null elements.
                let has_null_elements = has_each
                    && of_ways.keys().any(|way| way.contains("ended") || way.ends_with("null"));
                prop_assert!(may_succeed || has_null_elements || of_ways.is_empty(), "{all}");
                let unexplained = unexplained(&of_ways);
                prop_assert!(unexplained.is_none(), "{unexplained:?}\n{all}");
            }
        }
    }
}

/// Returns the operand of a test: a member of the output, or a literal. It is null only if the schema allows null.
fn operand(random: &mut Random) -> Value {
    match random.below(5) {
        0 => json!([json!(3), json!("text"), json!(true), json!(null), json!([])][random.below(5)]),
        at => json!({"reference": {"step": "made", "pointer": format!("/{}", NAMES[at % LISTED])}}),
    }
}

fn test(random: &mut Random) -> Value {
    const SIGNS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
    const QUESTIONS: [&str; 6] = ["is_some", "is_none", "is_ok", "is_err", "is_empty", "len"];
    match random.below(4) {
        0 => json!({"not": operand(random)}),
        1 => {
            let question = QUESTIONS[random.below(6)];
            json!({question: operand(random)})
        }
        _ => json!({"compare": [operand(random), SIGNS[random.below(6)], operand(random)]}),
    }
}

/// Returns a schema of an object with both members, each of one kind, and possibly null.
fn members(random: &mut Random) -> Value {
    let mut member = || {
        let kind = ["integer", "string", "array", "object"][random.below(4)];
        let mut schema = json!({ "type": kind });
        if schema["type"] == "array" {
            schema = json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2});
        }
        if schema["type"] == "object" {
            schema = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        }
        schema["nullable"] = json!(coin(random, 3));
        schema
    };
    json!({"type": "object", "properties": {"a": member(), "b": member()}, "required": ["a", "b"], "additionalProperties": false})
}

/// Tests that never fail, and that may.
static IN_TESTS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[test]
fn an_error_in_a_test_is_what_fails() {
    each_error_in_a_test_is_what_fails();
    let counts = IN_TESTS.each_ref().map(|it| it.load(Ordering::Relaxed));
    let least = crate::common::cases(40, 200);
    assert!(counts.iter().all(|count| *count > least), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(400, 2_000), ..ProptestConfig::default() })]

    /// The check reports a test exactly if a run may fail. If an operator may stop before the error, the check reports only the
    /// error that it reaches.
    fn each_error_in_a_test_is_what_fails(seed in any::<u64>()) {
        let mut random = Random(seed);
        let schema = members(&mut random);
        let (one, other) = (test(&mut random), test(&mut random));
        let join = random.below(3);
        let whole = match join {
            0 => json!({"all": [one, other]}),
            1 => json!({"any": [one, other]}),
            _ => one,
        };
        let (plan, findings) = read(&schema, &whole, &json!({}));
        let errors = findings.iter().filter(|it| it.severity == Severity::Error).count();
        let runs: Vec<_> = (0..60)
            .map(|_| {
                let output = fitting(&mut random, &schema);
                given(&plan, &output)
            })
            .collect();
        let fails = runs.iter().any(Option::is_none);
        let all = format!("{schema}\n{whole}\n{findings:?}\n{runs:?}");
        IN_TESTS[usize::from(fails)].fetch_add(1, Ordering::Relaxed);
        if join > 1 {
            // The check does not compare an object's members with those of a `Result`.
            let is_outcome = ["is_ok", "is_err"].iter().any(|it| !whole[it].is_null());
            let is_unknown = is_outcome && schema.to_string().contains("\"properties\":{}");
            prop_assert!((errors > 0) == fails || (errors == 0 && is_unknown), "{all}");
        } else if errors == 0 && fails {
            // The first operand may guard the second one.
            let (first, second) = (&whole[["all", "any"][join]][0], &whole[["all", "any"][join]][1]);
            let fails = |test: &Value| {
                let (plan, findings) = read(&schema, test, &json!({}));
                let is_error = findings.iter().any(|it| it.severity == Severity::Error && it.code != Code::MaybeAbsent);
                let fails = (0..60).any(|_| given(&plan, &fitting(&mut Random(seed), &schema)).is_none());
                is_error && fails
            };
            prop_assert!(!fails(first) && !fails(second), "{all}");
        }
    }
}
