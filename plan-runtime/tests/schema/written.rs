//! A schema accepts the output of the writers.

use super::DIALECTS;
use super::json_schema::JsonSchema;
use crate::reading::fuzzed::fuzz::generate;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Contract, Contracts, Dialect};
use serde_json::{Map, Value};

/// Members that are always literal.
const FREE: [&str; 15] = [
    "tool",
    "undo",
    "after",
    "output_steps",
    "last",
    "pattern",
    "name",
    "requestId",
    "description",
    "tool_description",
    "intent",
    "type",
    "output_type",
    "id",
    "await",
];

/// Removes the parts of a document that the schema leaves to the reader, and records if it removed any.
struct Plainer {
    dialect: Dialect,
    text: regex::Regex,
    reference: Option<regex::Regex>,
    changed: bool,
}

impl Plainer {
    fn new(dialect: Dialect, schema: &JsonSchema) -> Self {
        let pattern = |name: &str| schema.root["$defs"][name]["pattern"].as_str();
        let patterns: Vec<&str> = ["text", "template"]
            .into_iter()
            .filter_map(pattern)
            .collect();
        let text = regex::Regex::new(&patterns.join("|")).unwrap();
        let reference = pattern("reference").map(|pattern| regex::Regex::new(pattern).unwrap());
        Self {
            dialect,
            text,
            reference,
            changed: false,
        }
    }

    fn of(&mut self, value: &mut Value, around: &str) {
        match value {
            // Strings with braces or dollars that are no references.
            Value::String(text) if !FREE.contains(&around) && !self.text.is_match(text) => {
                self.change(value, "text".into());
            }
            Value::String(text) if text.contains("( ") => {
                let plain = text.replace("( ", "(").replace(" )", ")");
                self.change(value, plain.into());
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.of(item, around)),
            Value::Object(members) => self.members(members),
            _ => {}
        }
    }

    fn change(&mut self, value: &mut Value, new: Value) {
        *value = new;
        self.changed = true;
    }

    fn members(&mut self, members: &mut Map<String, Value>) {
        let old = std::mem::take(members);
        let is_call = old.contains_key("tool");
        let repeats = old.contains_key("for");
        for (at, (mut name, mut value)) in old.into_iter().enumerate() {
            if self.dialect != Dialect::PlanJson && name.contains(['$', '{']) {
                name = format!("name{at}");
                self.changed = true;
            }
            let is_test = value.is_object();
            let is_text = self.is_text(&value);
            match name.as_str() {
                // A boolean in a condition is a reference, a test or `true`.
                "condition" | "while" | "not"
                    if !value.is_boolean() && !is_test && (is_text || !value.is_string()) =>
                {
                    self.change(&mut value, true.into());
                }
                "condition" | "while" | "not" if is_object_of_data(&value) => {
                    self.change(&mut value, true.into());
                }
                "all" | "any" if value.is_array() => {
                    for item in value.as_array_mut().unwrap() {
                        let is_text = self.is_text(item);
                        let is_binding = item.get("pattern").is_some();
                        let plain = !item.is_boolean()
                            && !item.is_object()
                            && (is_text || !item.is_string());
                        if !is_binding && (plain || is_object_of_data(item)) {
                            self.change(item, true.into());
                        }
                    }
                }
                // The notation of a reference follows from its source and path.
                "written" if self.dialect == Dialect::PlanJson => continue,
                // A list is one, or a reference.
                "list" if !value.is_array() && !is_test && (is_text || !value.is_string()) => {
                    self.change(&mut value, Value::Array(Vec::new()));
                }
                "policy" => self.policy(&mut value, repeats, is_call),
                _ => {}
            }
            self.of(&mut value, &name);
            members.insert(name, value);
        }
    }

    /// Returns `true` for a string that is not a reference.
    fn is_text(&self, value: &Value) -> bool {
        value
            .as_str()
            .is_some_and(|text| !self.reference.as_ref().is_some_and(|it| it.is_match(text)))
    }

    /// Removes amounts from inputs of a block, and policies for list elements in a condition.
    fn policy(&mut self, policy: &mut Value, repeats: bool, _: bool) {
        let Value::Object(policy) = policy else {
            return;
        };
        let before = policy.len();
        let named = [
            "attempts",
            "backoff",
            "max",
            "timeout",
            "deadline",
            "concurrency",
            "at_most",
            "every",
        ];
        policy.retain(|name, value| {
            let text = value.as_str().unwrap_or_default();
            let is_given = named.contains(&&**name)
                && match self.dialect {
                    Dialect::PlanJson => {
                        value["reference"]["pointer"].as_str().is_none() && value.is_object()
                    }
                    _ => text.contains(['$', '{']) && !text.contains("PLACEHOLDER_"),
                };
            let is_of_list = !repeats
                && (name == "concurrency"
                    || (matches!(&**name, "optional" | "catch") && text == "each"));
            // A blueprint has members for these.
            let is_own =
                self.dialect == Dialect::Blueprint && matches!(&**name, "attempts" | "timeout");
            !is_given && !is_of_list && !is_own
        });
        self.changed |= policy.len() < before;
    }
}

/// Returns `true` for an object, a list or a formatted string of plan JSON in the position of a condition.
fn is_object_of_data(value: &Value) -> bool {
    let data = ["object", "merge", "text"];
    data.iter().any(|name| value.get(name).is_some())
}

/// The tools that a part of plan JSON calls.
fn called(part: &Value, tools: &mut Contracts) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| called(item, tools)),
        Value::Object(members) => {
            if let Some(name) = part["tool"]["name"].as_str() {
                tools.insert(Contract::new(name));
            }
            members.values().for_each(|member| called(member, tools));
        }
        _ => {}
    }
}

#[test]
fn what_is_written_fits_the_schema() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut all, mut unchanged) = ([0; 4], [0; 4]);
    let cases: usize = crate::common::cases(120, 800);
    for _ in 0..cases {
        let mut bytes = vec![0; 1 + random.usize(..300)];
        random.fill(&mut bytes[1..]);
        let text = generate::text(&bytes, generate::plan).unwrap();
        let Ok(plan) = serde_json::from_str::<Plan>(&text) else {
            continue;
        };
        let mut tools = Contracts::new();
        called(&serde_json::from_str(&text).unwrap(), &mut tools);
        for (at, dialect) in DIALECTS.into_iter().enumerate() {
            let Ok(written) = dialect.write(&plan) else {
                continue;
            };
            let schema = JsonSchema::new(dialect.schema(&tools));
            let mut document: Value = serde_json::from_str(&written).unwrap();
            let mut plainer = Plainer::new(dialect, &schema);
            plainer.of(&mut document, "");
            if let Some(why) = schema.mistake(&document) {
                panic!("{dialect}: {why}\n{document:#}");
            }
            all[at] += 1;
            unchanged[at] += usize::from(!plainer.changed);
        }
    }
    println!("{unchanged:?} of {all:?} fit without a change");
    for (all, unchanged) in all.into_iter().zip(unchanged) {
        assert!(
            all * 13 > cases && unchanged * 4 > all,
            "{unchanged} of {all}"
        );
    }
}
