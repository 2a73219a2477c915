//! The JSON Schema of plans stays in the subset of JSON Schema that large providers accept, and the reader accepts the documents of the schema.

use super::prompts::nested;
use super::tools;
use crate::reading::fuzzed::fuzz::generate;
use fastrand::Rng;
use plan_runtime::dynamic::{Code, Contract, Contracts, Dialect, Finding, Reader, Severity};
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The limits of providers.
const MOST_LEVELS: usize = 10;
const MOST_MEMBERS: usize = 5_000;
const MOST_VALUES: usize = 1_000;
const MOST_CHARACTERS: usize = 120_000;

/// The amounts of a schema that providers limit.
#[derive(Default)]
struct Amounts {
    members: usize,
    values: usize,
    characters: usize,
}

/// Panics for a schema outside of the subset.
pub(super) fn assert_subset(schema: &Value) {
    let mut amounts = Amounts::default();
    let mut root = schema.clone();
    let defs = root.as_object_mut().unwrap().remove("$defs").unwrap();
    assert_eq!(root["type"], "object");
    amounts.node(&root, &defs, 0);
    for (name, def) in defs.as_object().unwrap() {
        amounts.characters += name.chars().count();
        amounts.node(def, &defs, 0);
    }
    assert!(amounts.members <= MOST_MEMBERS, "{}", amounts.members);
    assert!(amounts.values <= MOST_VALUES, "{}", amounts.values);
    assert!(
        amounts.characters <= MOST_CHARACTERS,
        "{}",
        amounts.characters
    );
}

impl Amounts {
    fn node(&mut self, schema: &Value, defs: &Value, level: usize) {
        assert!(level <= MOST_LEVELS, "{schema}");
        let keywords = schema.as_object().unwrap();
        let mut names: BTreeSet<&str> = keywords.keys().map(String::as_str).collect();
        if let Some(target) = keywords.get("$ref") {
            assert_eq!(names.len(), 1, "{schema}");
            assert!(!target_of(defs, target).is_null(), "{schema}");
            return;
        }
        if let Some(all) = keywords.get("anyOf") {
            assert_eq!(names.len(), 1, "{schema}");
            let all = all.as_array().unwrap();
            assert!(all.len() > 1);
            return all.iter().for_each(|one| self.node(one, defs, level));
        }
        names.remove("type");
        match schema["type"].as_str().unwrap() {
            "object" => {
                let expected = ["additionalProperties", "properties", "required"];
                assert!(names.into_iter().eq(expected), "{schema}");
                assert_eq!(schema["additionalProperties"], false);
                let members = schema["properties"].as_object().unwrap();
                let required = schema["required"].as_array().unwrap().iter();
                let required: BTreeSet<&str> = required.map(|it| it.as_str().unwrap()).collect();
                assert!(members.keys().map(String::as_str).collect::<BTreeSet<_>>() == required);
                self.members += members.len();
                for (name, member) in members {
                    self.characters += name.chars().count();
                    self.node(member, defs, level + 1);
                }
            }
            "array" => {
                assert!(names.into_iter().eq(["items"]), "{schema}");
                self.node(&schema["items"], defs, level + 1);
            }
            kind @ ("string" | "number") => {
                let keyword = names.pop_first();
                assert!(names.is_empty(), "{schema}");
                match keyword {
                    None => {}
                    Some("enum") => self.listed(schema, kind),
                    Some("pattern") => {
                        drop(Regex::new(schema["pattern"].as_str().unwrap()).unwrap());
                    }
                    Some(other) => assert_eq!(other, "description"),
                }
            }
            kind => {
                assert!(["integer", "boolean", "null"].contains(&kind), "{schema}");
                assert!(names.is_empty(), "{schema}");
            }
        }
    }

    fn listed(&mut self, schema: &Value, kind: &str) {
        let values = schema["enum"].as_array().unwrap();
        self.values += values.len();
        assert!((1..=250).contains(&values.len()), "{schema}");
        for value in values {
            assert_eq!(value.is_string(), kind == "string", "{schema}");
            self.characters += value.as_str().map_or(0, |text| text.chars().count());
        }
    }
}

fn target_of<'s>(defs: &'s Value, target: &Value) -> &'s Value {
    let name = target.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
    &defs[name]
}

/// Returns the reason why a document does not fit a schema.
pub(super) fn mistake(root: &Value, document: &Value) -> Option<String> {
    check(root, root, document, "").err()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(target) = schema.get("$ref") {
        return check(root, target_of(&root["$defs"], target), value, at);
    }
    if let Some(all) = schema.get("anyOf") {
        let all = all.as_array().unwrap().iter();
        let mut all: Vec<_> = all.map(|one| check(root, one, value, at)).collect();
        let is_met = all.iter().any(Result::is_ok);
        return if is_met { Ok(()) } else { all.swap_remove(0) };
    }
    let is_of = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let listed = schema["enum"].as_array();
    let pattern = schema["pattern"].as_str().zip(value.as_str());
    if !is_of
        || listed.is_some_and(|listed| !listed.contains(value))
        || pattern.is_some_and(|(pattern, text)| !Regex::new(pattern).unwrap().is_match(text))
    {
        return Err(format!("{at}: {value} is not {schema}"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(root, &schema["items"], item, &format!("{at}/{index}"))?;
    }
    let Some(members) = value.as_object() else {
        return Ok(());
    };
    let expected = schema["properties"].as_object().unwrap();
    let names = |members: &Map<String, Value>| members.keys().cloned().collect::<BTreeSet<_>>();
    if names(members) != names(expected) {
        return Err(format!("{at}: other members than {:?}", names(expected)));
    }
    for (name, member) in members {
        check(root, &expected[name], member, &format!("{at}/{name}"))?;
    }
    Ok(())
}

/// References to a value of an unknown type, and to lists.
const REFERENCES: [&str; 3] = ["$ref:s0", "$ref:s0.a.0", r#"$ref:s0[0]["odd key"]"#];
const LISTS: [&str; 2] = ["$ref:s0[*].id", "$ref:s0.*"];

/// Returns a random document of a schema.
fn make(root: &Value, schema: &Value, random: &mut Rng, depth: usize) -> Value {
    const TEXTS: [&str; 6] = ["a", "", "5 $", "{x}", "漢字\n", "refer"];
    if let Some(target) = schema.get("$ref") {
        return make(root, target_of(&root["$defs"], target), random, depth);
    }
    if let Some(all) = schema.get("anyOf") {
        let all = all.as_array().unwrap();
        // Below this depth, a value is a scalar.
        let is_deep = |one: &&Value| {
            depth > 8
                && (one["type"] == "array"
                    || one["$ref"].as_str().is_some_and(|it| it.contains("type")))
        };
        let all: Vec<&Value> = all.iter().filter(|one| !is_deep(one)).collect();
        return make(root, all[random.usize(..all.len())], random, depth + 1);
    }
    if let Some(listed) = schema["enum"].as_array() {
        return listed[random.usize(..listed.len())].clone();
    }
    match schema["type"].as_str().unwrap() {
        "object" => {
            let members = schema["properties"].as_object().unwrap().iter();
            let made =
                members.map(|(name, member)| (name.clone(), make(root, member, random, depth + 1)));
            Value::Object(made.collect())
        }
        "array" => {
            let count = random.usize(..3);
            let items = (0..count).map(|_| make(root, &schema["items"], random, depth + 1));
            items.collect()
        }
        "string" if schema.get("description").is_some() => "$ref:s0".into(),
        "string"
            if schema
                .get("pattern")
                .is_some_and(|it| it.as_str().unwrap().contains("ref")) =>
        {
            REFERENCES[random.usize(..REFERENCES.len())].into()
        }
        "string" if schema.get("pattern").is_some() => "s0".into(),
        "string" => TEXTS[random.usize(..TEXTS.len())].into(),
        "number" => json!(f64::from(random.i16(..)) / 4.0),
        "integer" => random.i16(..).into(),
        "boolean" => random.bool().into(),
        _ => Value::Null,
    }
}

/// Returns `true` for a finding that a document of the schema cannot have. The schema has no bounds, and no names of steps. An exact schema has no
/// values of any type.
fn is_excluded(finding: &Finding, is_exact: bool) -> bool {
    finding.severity == Severity::Error
        && (matches!(
            finding.code,
            Code::InvalidJson
                | Code::UnknownDialect
                | Code::MixedDialects
                | Code::WrongKind
                | Code::MissingMember
                | Code::UnknownMember
                | Code::InexactNumber
                | Code::NoSteps
                | Code::EmptyName
                | Code::MalformedReference
                | Code::DuplicateMember
                | Code::UnknownTool
                | Code::UnknownArgument
                | Code::MissingArgument
        ) || (is_exact && finding.code == Code::WrongType))
}

/// Reads random documents of the schema, and returns the number of documents without errors.
fn read_documents(tools: &Contracts, count: usize, random: &mut Rng) -> usize {
    let schema = tools.schema();
    assert_subset(&schema);
    let mut typed = schema.clone();
    typed["$defs"]["value"].take();
    let is_exact = !typed.to_string().contains("#/$defs/value");
    let mut sound = 0;
    for _ in 0..count {
        let mut document = make(&schema, &schema, random, 0);
        let steps = document["steps"].as_array_mut().unwrap();
        // The first step has the name that references use.
        let step = &schema["properties"]["steps"]["items"];
        steps.insert(0, make(&schema, step, random, 0));
        for (at, step) in steps.iter_mut().enumerate() {
            step["id"] = format!("s{at}").into();
        }
        document["output_steps"] = json!(["s0"]);
        assert_eq!(mistake(&schema, &document), None, "{document:#}");
        let text = document.to_string();
        let findings = match Reader::new()
            .dialect(Dialect::ToolPlan)
            .tools(tools)
            .read(&text)
        {
            Ok(document) => document.warnings().clone(),
            Err(findings) => findings,
        };
        if let Some(wrong) = findings.iter().find(|it| is_excluded(it, is_exact)) {
            panic!("{wrong}\n{document:#}\n{schema:#}");
        }
        sound += usize::from(!findings.has_errors());
    }
    sound
}

#[test]
fn documents_of_the_schema_are_read() {
    let mut random = Rng::with_seed(3);
    let cases: usize = crate::common::cases(300, 2_000);
    let sound = read_documents(&tools(), cases, &mut random);
    assert!(sound > cases / 20, "{sound} of {cases}");
}

#[test]
fn documents_of_random_tools_are_read() {
    let mut random = Rng::with_seed(5);
    let cases: usize = crate::common::cases(400, 4_000);
    let (mut sound, mut typed) = (0, 0);
    for _ in 0..cases {
        let mut bytes = vec![0; 1 + random.usize(..200)];
        random.fill(&mut bytes[1..]);
        let text = generate::text(&bytes, generate::checked).unwrap();
        let arguments: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let tools: Contracts = [Contract::new("t").arguments(arguments)]
            .into_iter()
            .collect();
        sound += read_documents(&tools, 2, &mut random);
        let step = &tools.schema()["properties"]["steps"]["items"];
        typed += usize::from(step["properties"]["arguments"] != json!({"$ref": "#/$defs/json"}));
    }
    assert!(
        sound > cases / 8 && typed > cases / 10,
        "{sound} and {typed} of {cases}"
    );
}

fn arguments_of(contract: Contract) -> Value {
    let tools: Contracts = [contract].into_iter().collect();
    let schema = tools.schema();
    assert_subset(&schema);
    schema["properties"]["steps"]["items"]["properties"]["arguments"].clone()
}

#[test]
fn types_outside_of_the_subset_are_json_text() {
    let text = json!({"$ref": "#/$defs/json"});
    assert_eq!(arguments_of(Contract::new("t")), text);
    let open = json!({"type": "object"});
    assert_eq!(
        arguments_of(Contract::new("t").arguments(open.clone())),
        text
    );
    let with = |member: Value| {
        let schema =
            json!({"type": "object", "properties": {"a": member}, "additionalProperties": false});
        arguments_of(Contract::new("t").arguments(schema))
    };
    for member in [
        open,
        json!({}),
        json!({"enum": [{"x": 1}]}),
        json!({"type": "array", "prefixItems": [{"type": "string"}]}),
    ] {
        assert_eq!(with(member)["anyOf"][1], text);
    }
    for member in [
        json!({"type": "string", "minLength": 3}),
        json!({"enum": ["a", 1, null]}),
        json!({"type": "array", "items": {"type": "integer"}}),
    ] {
        assert_eq!(with(member.clone())["type"], "object", "{member}");
    }
}

/// The pattern of references agrees with the reader.
#[test]
fn references_of_the_schema_are_read() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let schema =
        json!({"type": "object", "properties": {"a": list}, "additionalProperties": false});
    let tools: Contracts = [Contract::new("t").arguments(schema)].into_iter().collect();
    let document = |text: &str| json!({"steps": [{"tool": "t", "id": "s0", "arguments": {"a": []}}, {"tool": "t", "id": "s1", "arguments": {"a": text}}], "output_steps": []});
    for text in REFERENCES.into_iter().chain(LISTS) {
        let document = document(text);
        assert_eq!(mistake(&tools.schema(), &document), None);
        let read = Reader::new()
            .tools(&tools)
            .read(&document.to_string())
            .map(|_| ());
        assert_eq!(read, Ok(()), "{text}");
    }
    for text in [
        "$ref:",
        "$ref:s0.",
        "$ref:s0[01]",
        "$ref: s0",
        "$ref:s0 x",
        "$ref:s0[\"a\\n\"]",
        "s0",
    ] {
        assert!(
            mistake(&tools.schema(), &document(text)).is_some(),
            "{text}"
        );
    }
}

/// JSON text of arguments is read like an object.
#[test]
fn json_text_is_read() {
    let open = Contract::new("t").arguments(json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}));
    let tools: Contracts = [open].into_iter().collect();
    for (arguments, is_right) in [
        (r#"{"a": 1, "b": "x"}"#, true),
        (r#"{"a": 1, "b": 2}"#, false),
    ] {
        let document = json!({"steps": [{"tool": "t", "id": "a", "arguments": arguments}], "output_steps": []});
        assert_eq!(mistake(&tools.schema(), &document), None);
        assert_eq!(
            Reader::new()
                .tools(&tools)
                .read(&document.to_string())
                .is_ok(),
            is_right
        );
    }
}

#[test]
fn deep_and_large_types_stay_within_the_limits() {
    let deep = |levels| {
        arguments_of(nested(
            levels,
            |ty| json!({"type": "object", "properties": {"a": ty}, "additionalProperties": false}),
        ))
    };
    let text = json!({"$ref": "#/$defs/json"});
    assert_eq!(deep(6)["type"], "object");
    assert_eq!(deep(8)["anyOf"][1], text);
    let values: Vec<String> = (0..251).map(|at| format!("v{at}")).collect();
    let argument = |values: &[String]| {
        let schema =
            json!({"type": "object", "properties": {"a": {"enum": values}}, "required": ["a"]});
        arguments_of(Contract::new("t").arguments(schema))["properties"]["a"].take()
    };
    assert_eq!(argument(&values), json!({"type": "string"}));
    assert_eq!(argument(&values[1..])["anyOf"][0]["enum"][0], "v1");
}

/// Tools beyond the limits have no types, and tools after a large tool keep their types.
#[test]
fn every_tool_has_a_step() {
    let tool = |at: usize, members: usize| {
        let members: Map<String, Value> = (0..members)
            .map(|at| (format!("a{at}"), json!({"type": "integer"})))
            .collect();
        Contract::new(format!("t{at}")).arguments(
            json!({"type": "object", "properties": members, "additionalProperties": false}),
        )
    };
    let tools: Contracts = (0..200)
        .map(|at| tool(at, if at == 3 { 6_000 } else { 20 }))
        .collect();
    let schema = tools.schema();
    assert_subset(&schema);
    let steps = schema["properties"]["steps"]["items"]["anyOf"]
        .as_array()
        .unwrap();
    let names = |step: &Value| {
        step["properties"]["tool"]["enum"]
            .as_array()
            .unwrap()
            .clone()
    };
    assert!(steps.len() > 150, "{}", steps.len());
    assert_eq!(names(&steps[3]), ["t4"]);
    let others = names(steps.last().unwrap());
    assert_eq!(
        (&others[0], steps.len() - 1 + others.len()),
        (&json!("t3"), 200)
    );
    // Too many names are not listed.
    let many: Contracts = (0..2_000).map(|at| tool(at, 1)).collect();
    let schema = many.schema();
    assert_subset(&schema);
    let call = json!({"steps": [{"tool": "t1999", "id": "a", "arguments": "{\"a0\": 1}"}], "output_steps": []});
    assert_eq!(mistake(&schema, &call), None);
    assert_subset(&Contracts::new().schema());
}
