//! Recorded plans: a check finds all errors that it can find before a run, and no others.

use crate::corpus::{corpora, say};
use plan_runtime::dynamic::{
    Code, Contract, Contracts, Dialect, Document, Finding, Findings, Reader,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The arguments that tools refused with a message of their own, with the accepted ones.
const ALLOWED: &[(&str, &str, &[&str])] = &[
    (
        "contaminants_list",
        "risk_level",
        &["low", "medium", "high", "critical"],
    ),
    (
        "facilities_list",
        "type",
        &["sorting", "processing", "disposal"],
    ),
    (
        "shipments_list",
        "status",
        &["pending", "in_transit", "delivered", "rejected"],
    ),
];
const REQUIRED: &[(&str, &[&str])] = &[
    (
        "shipments_create",
        &[
            "id",
            "facility_id",
            "date",
            "status",
            "weight_kg",
            "has_contaminants",
        ],
    ),
    (
        "facilities_create",
        &["id", "name", "location", "type", "capacity_tons"],
    ),
];
/// Tools that there are although no call of theirs went well.
const OTHERS: &[&str] = &[
    "shipments_update",
    "inspections_create",
    "facilities_update",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Enum,
    Missing,
    UnknownTool,
    Reference,
    Cascade,
    Other,
}

#[test]
fn what_a_check_can_know_is_found_before_a_plan_runs() {
    let Some(folder) = corpora() else { return };
    let text = std::fs::read_to_string(folder.join("clear_ai_llm_plans.json")).unwrap();
    let corpus: Value = serde_json::from_str(&text).unwrap();
    let plans = corpus["plans"].as_array().unwrap();
    let tools = tools(plans);
    let mut found: BTreeMap<Failure, (usize, usize)> = BTreeMap::new();
    let (mut clean, mut steps, mut errors, mut warnings) = (0, 0, 0, BTreeMap::new());
    for plan in plans {
        let text = json!({"steps": plan["steps"]}).to_string();
        let reader = Reader::new().dialect(Dialect::Blueprint).tools(&tools);
        let findings = findings(reader.read(&text));
        let mut failures = 0;
        for (index, run) in plan["execution"].as_array().unwrap().iter().enumerate() {
            steps += 1;
            let id = format!("step{index}");
            let of_step = findings.errors().filter(|f| f.step.as_deref() == Some(&id));
            let of_step: Vec<&Finding> = of_step.collect();
            errors += of_step.len();
            let Some(failure) = failure(run) else {
                assert!(
                    of_step.is_empty(),
                    "{}: a step that went well: {:#?}",
                    plan["id"],
                    of_step
                );
                continue;
            };
            failures += 1;
            let (known, all) = found.entry(failure).or_default();
            *all += 1;
            *known += usize::from(!of_step.is_empty());
            let code = match failure {
                Failure::Enum => Code::NotAllowed,
                Failure::Missing => Code::MissingArgument,
                Failure::UnknownTool => Code::UnknownTool,
                _ => continue,
            };
            assert!(
                of_step.iter().any(|finding| finding.code == code),
                "{} step {index}: {code} in {findings}",
                plan["id"]
            );
        }
        for warning in findings.warnings() {
            *warnings.entry(warning.code).or_insert(0) += 1;
        }
        if failures == 0 {
            clean += 1;
            assert!(!findings.has_errors(), "{}: {findings}", plan["id"]);
        }
    }
    say(&format!(
        "{} plans, {steps} steps, {clean} plans without a failure and without an error; {errors} errors; found of those that failed: {found:?}; warnings: {warnings:?}",
        plans.len()
    ));
    // The check takes no string of a real plan for a malformed reference.
    for code in [Code::MalformedReference, Code::MixedDialects] {
        assert!(!warnings.contains_key(&code), "{warnings:?}");
    }
    assert_eq!(found[&Failure::Enum], (5, 5));
    assert_eq!(found[&Failure::Missing], (2, 2));
    assert_eq!(found[&Failure::UnknownTool], (2, 2));
}

fn findings(read: Result<Document<'_>, Findings>) -> Findings {
    match read {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

fn failure(run: &Value) -> Option<Failure> {
    if run["success"] == true {
        return None;
    }
    let message = run["error"]["message"].as_str().unwrap_or_default();
    let starts = |start: &str| message.starts_with(start);
    Some(match () {
        () if message.contains("Must be one of") && starts("Invalid") => Failure::Enum,
        () if starts("Missing required fields") => Failure::Missing,
        () if starts("Tool not found") => Failure::UnknownTool,
        () if message.contains("failed: ") && message.contains("Step ") => Failure::Cascade,
        () if starts("Path not found")
            || starts("Parameter resolution")
            || starts("Invalid step") =>
        {
            Failure::Reference
        }
        () => Failure::Other,
    })
}

/// Returns the tools of the successful calls, with schemas derived from their arguments and outputs.
fn tools(plans: &[Value]) -> Contracts {
    let mut arguments: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    let mut outputs: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for plan in plans {
        let runs = plan["execution"].as_array().unwrap();
        for (step, run) in plan["steps"].as_array().unwrap().iter().zip(runs) {
            if run["success"] != true {
                continue;
            }
            let tool = step["tool"].as_str().unwrap();
            outputs.entry(tool).or_default().push(&run["data"]);
            let arguments = arguments.entry(tool).or_default();
            for (name, value) in step["params"].as_object().unwrap() {
                arguments.entry(name).or_default().insert(kind(value));
            }
        }
    }
    for (tool, _) in REQUIRED {
        arguments.entry(tool).or_default();
    }
    for tool in OTHERS {
        arguments.entry(tool).or_default();
    }
    let contract = |(tool, arguments): (&str, BTreeMap<&str, BTreeSet<&str>>)| {
        let mut properties = Map::new();
        for (name, mut kinds) in arguments {
            // An argument for several IDs accepts a single ID.
            if kinds.contains("array") {
                kinds.insert("string");
            }
            properties.insert(name.to_owned(), json!({"type": kinds}));
        }
        for (_, name, allowed) in ALLOWED.iter().filter(|(other, ..)| *other == tool) {
            properties.insert(
                (*name).to_owned(),
                json!({"type": "string", "enum": allowed}),
            );
        }
        let required = REQUIRED.iter().find(|(other, _)| *other == tool);
        let required = required.map_or(&[][..], |(_, names)| names);
        let mut contract = Contract::new(tool.to_owned()).arguments(json!({
            "type": "object", "properties": properties, "required": required,
        }));
        contract.read_only = tool.ends_with("_list");
        match outputs.get(tool) {
            Some(outputs) => contract.output(schema(outputs)),
            None => contract,
        }
    };
    arguments.into_iter().map(contract).collect()
}

/// Returns the kind of a value after its resolution.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(text) if text.starts_with("${") && text.contains('*') => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Null => "null",
    }
}

/// Returns a schema that all these values fit.
fn schema(values: &[&Value]) -> Value {
    let types: BTreeSet<&str> = values.iter().map(|value| kind(value)).collect();
    let mut schema = json!({ "type": types });
    let lists = values.iter().filter_map(|value| value.as_array());
    let elements: Vec<&Value> = lists.flatten().collect();
    if !elements.is_empty() {
        schema["items"] = self::schema(&elements);
    }
    let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|v| v.as_object()).collect();
    if !objects.is_empty() {
        let names: BTreeSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
        let mut required = Vec::new();
        for name in names {
            let members: Vec<&Value> = objects.iter().filter_map(|o| o.get(name)).collect();
            schema["properties"][name.as_str()] = self::schema(&members);
            if members.len() == objects.len() {
                required.push(name.as_str());
            }
        }
        schema["required"] = json!(required);
    }
    schema
}

/// A reference of `complexfuncbench` as a tool plan writes it; with no index where the corpus leaves one out.
fn reference(given: &Value, implicit: bool) -> String {
    let mut text = format!("$ref:{}", given["step"].as_str().unwrap());
    let path = given["path"].as_array().unwrap().iter();
    let leaves_out = implicit && given["implicit_first_element"] == true;
    for token in path.skip(usize::from(leaves_out)) {
        let token = token.as_str().unwrap();
        let plain = !token.is_empty()
            && token
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if plain {
            text.push_str(&format!(".{token}"));
        } else {
            text.push_str(&format!("[{}]", json!(token)));
        }
    }
    text
}

fn replaced(value: &Value, references: &BTreeMap<&str, String>) -> Value {
    match value {
        Value::String(text) => json!(references.get(text.as_str()).unwrap_or(text)),
        Value::Array(items) => items
            .iter()
            .map(|item| replaced(item, references))
            .collect(),
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| (name.clone(), replaced(value, references));
            members.iter().map(member).collect()
        }
        other => other.clone(),
    }
}

/// The number of references in a plan whose values the specification of the argument forbids, although the tool accepted them.
///
/// In one plan, two numbers are passed as strings. In the others, `dest_id` of a destination, an integer or a string, is passed
/// as a string or as a number.
fn clashes(plan: &str) -> usize {
    match plan {
        "cfb-0188" => 2,
        "cfb-0337" | "cfb-0399" => 1,
        _ if plan.starts_with("cfb-037") => 1,
        _ => 0,
    }
}

#[test]
fn real_calls_have_no_mistakes_and_an_index_that_is_left_out_is_found() {
    let Some(folder) = corpora() else { return };
    let folder = folder.join("complexfuncbench");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let lines = read("plans.jsonl");
    let plans: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let tools = booking_tools(&serde_json::from_str(&read("tools.json")).unwrap(), &plans);
    let (mut references, mut errors, mut warnings) = (0, 0, 0);
    let (mut left_out, mut found) = (0, 0);
    for plan in &plans {
        for implicit in [false, true] {
            let steps = plan["steps"].as_array().unwrap().iter().map(|step| {
                let given = step["references"].as_array().unwrap();
                let written = |given: &Value| reference(given, implicit);
                let written = given.iter().map(|given| (given["raw"].as_str().unwrap(), written(given)));
                json!({"id": step["id"], "tool": step["tool"], "arguments": replaced(&step["arguments"], &written.collect())})
            });
            let text = json!({"steps": steps.collect::<Vec<_>>()}).to_string();
            let findings = findings(
                Reader::new()
                    .dialect(Dialect::ToolPlan)
                    .tools(&tools)
                    .read(&text),
            );
            let given = plan["steps"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|s| s["references"].as_array().unwrap());
            if !implicit {
                let clashes = clashes(plan["id"].as_str().unwrap());
                assert_eq!(
                    findings.errors().count(),
                    clashes,
                    "{}: {findings}",
                    plan["id"]
                );
                assert!(
                    findings
                        .errors()
                        .all(|finding| finding.code == Code::WrongType)
                );
                errors += clashes;
                warnings += findings.warnings().count();
                references += given.count();
                continue;
            }
            for given in given.filter(|given| given["implicit_first_element"] == true) {
                left_out += 1;
                let help = format!(
                    "did you mean the first element, `{}`?",
                    reference(given, false)
                );
                found +=
                    usize::from(findings.errors().any(|f| {
                        f.code == Code::ListOrElement && f.help.as_deref() == Some(&help)
                    }));
            }
        }
    }
    say(&format!(
        "{} plans, {references} references, {errors} errors, {warnings} warnings; of {left_out} that leave an index out, {found} are found with what is right",
        plans.len()
    ));
    assert_eq!(found, left_out);
}

/// The tools as their specifications describe them. Their responses show which of them return a list.
fn booking_tools(tools: &Value, plans: &[Value]) -> Contracts {
    let steps = || {
        plans
            .iter()
            .flat_map(|plan| plan["steps"].as_array().unwrap())
    };
    let contract = |tool: &Value| {
        let name = tool["name"].as_str().unwrap();
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (argument, schema) in tool["parameters"].as_object().unwrap() {
            let mut schema = schema.clone();
            if schema.as_object_mut().unwrap().remove("required") == Some(json!(true)) {
                required.push(argument);
            }
            properties.insert(argument.clone(), schema);
        }
        let arguments = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let object = json!({"type": "object", "properties": tool["output"]});
        let is_list = steps().any(|step| step["tool"] == name && step["response"].is_array());
        let output = if is_list {
            json!({"type": "array", "items": object})
        } else {
            object
        };
        Contract::new(name.to_owned())
            .arguments(arguments)
            .output(output)
    };
    tools.as_array().unwrap().iter().map(contract).collect()
}
