//! Values of random schemas: a fitting value has no finding, and one error has one finding.

use crate::checks::read_with;
use plan_runtime::dynamic::{Contract, Contracts, Findings};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn word(&mut self, length: usize) -> String {
        let letters = "abcdefghijklmnopqrstuvwxyzäöü";
        let letter = |_| {
            letters
                .chars()
                .nth(self.below(letters.chars().count()))
                .unwrap()
        };
        (0..length).map(letter).collect()
    }
}

const DEFINED: &str = "#/$defs/node";

/// Returns a schema. The kinds of values distinguish the alternatives of a choice.
fn schema(random: &mut Random, depth: usize) -> Value {
    let kinds = if depth == 0 { 7 } else { 13 };
    match random.below(kinds) {
        0 => {
            let least = random.below(4);
            json!({"type": "string", "minLength": least, "maxLength": least + random.below(4)})
        }
        1 => json!({"enum": [random.word(3), random.word(4), 12]}),
        2 => json!({"const": random.word(5)}),
        3 => json!({"type": "integer", "minimum": -3, "exclusiveMaximum": 9}),
        4 => json!({"type": ["number", "null"], "minimum": 0.5, "maximum": 8}),
        5 => json!({"type": "boolean", "description": "whether"}),
        6 => json!({"type": "string", "nullable": true, "format": "date", "pattern": "^x"}),
        7 => {
            let least = random.below(3);
            json!({"type": "array", "items": schema(random, depth - 1), "minItems": least, "maxItems": least + 2})
        }
        8 => {
            let first = [schema(random, depth - 1), schema(random, depth - 1)];
            json!({"type": "array", "prefixItems": first, "items": false})
        }
        9 => {
            json!({"anyOf": [{"type": "boolean"}, object(random, depth - 1), {"type": "array", "items": schema(random, depth - 1)}]})
        }
        10 => json!({"allOf": [{"$ref": DEFINED}], "description": "one of those"}),
        _ => object(random, depth - 1),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for index in 0..1 + random.below(4) {
        // Names that are too long and too different to be similar.
        let name = format!("{}{index}", random.word(12));
        if random.below(2) == 0 {
            required.push(name.clone());
        }
        properties.insert(name, schema(random, depth));
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schemas of a whole tool: an object, with another that is referred to.
fn whole(random: &mut Random) -> Value {
    let mut whole = object(random, 3);
    whole["$defs"] = json!({"node": object(random, 1)});
    // Nothing in it leads back to itself, so that it has values.
    let node = whole["$defs"]["node"]
        .to_string()
        .replace(DEFINED, "#/$defs/leaf");
    whole["$defs"] = json!({"node": serde_json::from_str::<Value>(&node).unwrap(), "leaf": {"type": "integer", "minimum": 0, "maximum": 5}});
    whole
}

/// The schema itself, where this only leads to it.
fn opened<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    match schema["allOf"][0]["$ref"].as_str() {
        Some(target) => opened(root.pointer(&target[1..]).unwrap(), root),
        None => schema,
    }
}

/// The choice that a value is of.
fn chosen<'s>(schema: &'s Value, value: &Value, root: &'s Value) -> &'s Value {
    let schema = opened(schema, root);
    match (schema["anyOf"].as_array(), value) {
        (None, _) => schema,
        (Some(choices), Value::Bool(_)) => &choices[0],
        (Some(choices), Value::Object(_)) => &choices[1],
        (Some(choices), _) => &choices[2],
    }
}

fn fitting(random: &mut Random, schema: &Value, root: &Value) -> Value {
    let schema = opened(schema, root);
    if let Some(choices) = schema["anyOf"].as_array() {
        let choice = random.below(choices.len());
        return fitting(random, &choices[choice], root);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[random.below(values.len())].clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    let length = |name: &str| {
        schema[name]
            .as_u64()
            .map_or(0, |n| usize::try_from(n).unwrap())
    };
    match &schema["type"] {
        Value::Array(_) if random.below(3) == 0 => Value::Null,
        Value::Array(_) => json!(0.5 + f64::from(u8::try_from(random.below(30)).unwrap()) / 4.0),
        kind if kind == "string" && schema["nullable"] == true && random.below(2) == 0 => {
            Value::Null
        }
        kind if kind == "string" => {
            let (least, most) = (length("minLength"), length("maxLength"));
            let length = least + random.below(most.saturating_sub(least) + 1);
            json!(random.word(length))
        }
        kind if kind == "integer" => {
            let least = schema["minimum"].as_i64().unwrap();
            json!(least + i64::try_from(random.below(6)).unwrap())
        }
        kind if kind == "boolean" => json!(random.below(2) == 0),
        kind if kind == "array" => match schema["prefixItems"].as_array() {
            Some(first) => first
                .iter()
                .map(|part| fitting(random, part, root))
                .collect(),
            None => {
                let count = length("minItems") + random.below(3);
                (0..count)
                    .map(|_| fitting(random, &schema["items"], root))
                    .collect()
            }
        },
        _ => {
            let mut members = Map::new();
            for (name, property) in schema["properties"].as_object().unwrap() {
                let required = schema["required"].as_array().unwrap();
                if required.contains(&json!(name)) || random.below(2) == 0 {
                    members.insert(name.clone(), fitting(random, property, root));
                }
            }
            Value::Object(members)
        }
    }
}

/// Puts one error into a value.
fn mistaken(random: &mut Random, value: &mut Value, schema: &Value, root: &Value, top: bool) {
    let schema = chosen(schema, value, root);
    let inside = random.below(4) > 0;
    match value {
        Value::Object(members) if !members.is_empty() && inside => {
            let index = random.below(members.len());
            let (name, member) = members.iter_mut().nth(index).unwrap();
            mistaken(random, member, &schema["properties"][name], root, false);
        }
        Value::Array(items) if !items.is_empty() && inside => {
            let index = random.below(items.len());
            let item = match schema["prefixItems"].get(index) {
                Some(item) => item,
                None => &schema["items"],
            };
            mistaken(random, &mut items[index], item, root, false);
        }
        Value::Object(members) if top || random.below(2) == 0 => {
            let required = schema["required"].as_array().unwrap();
            match required.len() {
                count if count > 0 && random.below(2) == 0 => {
                    let name = required[random.below(count)].as_str().unwrap();
                    members.remove(name);
                }
                _ => {
                    members.insert("MISTAKE_123".to_owned(), json!(1));
                }
            }
        }
        Value::Array(items) if schema["prefixItems"].is_array() => items.push(json!(1)),
        Value::String(text) if schema["maxLength"].is_u64() => text.push_str("too long"),
        Value::Number(number) if !number.is_f64() && schema["type"] == "integer" => {
            *value = json!(99);
        }
        Value::Number(number) if number.is_f64() => *value = json!(-1.5),
        // A value that no schema here accepts.
        Value::Object(_) | Value::Array(_) => *value = json!("a mistake"),
        _ => *value = json!(77.5),
    }
}

fn read(schema: &Value, arguments: &Value) -> Findings {
    let tools: Contracts = [Contract::new("t").arguments(schema.clone())]
        .into_iter()
        .collect();
    let text = json!({"steps": [{"id": "a", "tool": "t", "arguments": arguments}]}).to_string();
    read_with(&tools, &text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(500, 2_000), ..ProptestConfig::default() })]

    #[test]
    fn what_fits_is_never_found_and_one_mistake_is_one_finding(seed in any::<u64>()) {
        let mut random = Random(seed);
        let schema = whole(&mut random);
        let value = fitting(&mut random, &schema, &schema);
        let findings = read(&schema, &value);
        prop_assert!(findings.is_empty(), "{}\n{}\n{}", schema, value, findings);

        let mut wrong = value.clone();
        mistaken(&mut random, &mut wrong, &schema, &schema, true);
        let findings = read(&schema, &wrong);
        prop_assert!(findings.len() == 1, "{:#}\n{}\n{}\n{}", schema, value, wrong, findings);
    }
}
