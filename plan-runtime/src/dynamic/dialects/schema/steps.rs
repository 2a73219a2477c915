//! Steps, and their bodies.

use super::policy::{Does, Failure};
use super::{BYTES_OF_CALL, Builder, any_of, named, object};
use crate::dynamic::DocumentLimits;
use crate::plan::KEYWORDS;
use crate::plan::json::names::{binding, block, branch, each, looped, step, tool};
use serde_json::{Value, json};

/// A member of an object. The flag is `true` for a required member.
type Member = (&'static str, Value, bool);

/// The largest number of tools that each kind of step lists.
const FEW: usize = 8;

/// A variable of a pattern that is never a keyword of Rust.
const PLAIN_NAME: &str = "(?:_|[a-z]|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+[0-9][a-z0-9_]*)";

/// A name.
const NAME: &str = "[a-z][a-z0-9_]*";

impl Builder<'_> {
    /// Adds the schemas of steps and bodies, each under its name.
    pub(super) fn steps(&mut self) {
        let calls = self.calls();
        let mut bodies: Vec<Value> = calls.iter().cloned().map(object).collect();
        let inside = [step::VALUE, step::IF, step::FOR, step::BLOCK];
        bodies.extend(inside.map(|name| object([(name, named(name), true)])));
        let mut steps = Vec::new();
        for call in calls {
            self.step(&mut steps, call, Does::Once);
        }
        for (name, does) in [
            (step::VALUE, Does::Once),
            (step::IF, Does::Once),
            (step::FOR, Does::Each),
            (step::BLOCK, Does::Once),
            (step::LOOP, Does::Rounds),
            (step::AWAIT, Does::Wait),
        ] {
            self.step(&mut steps, vec![(name, named(name), true)], does);
        }
        let steps_inside = json!({"type": "array", "items": named("step")});
        let all = [
            ("step", any_of(steps)),
            ("body", any_of(bodies)),
            ("if", branches()),
            ("for", each_element()),
            ("block", round(&steps_inside, &[])),
            (
                "loop",
                round(
                    &steps_inside,
                    &[
                        (looped::LAST, named("id"), false),
                        (looped::WHILE, named("condition"), true),
                    ],
                ),
            ),
            ("await", json!({"type": "string"})),
            ("variable", variable("", "")),
            ("wrapped_variable", variable("(?:Some|Ok|Err)\\(", "\\)")),
        ];
        let all = all.into_iter();
        self.defs
            .extend(all.map(|(name, schema)| (name.to_owned(), schema)));
    }

    /// Returns the calls to all tools. The tools without a schema share one.
    fn calls(&mut self) -> Vec<Vec<Member>> {
        let contracts = self.contracts;
        let arguments = self.dialect.rules().arguments;
        let mut unknown = Vec::new();
        let mut calls = Vec::new();
        for (at, contract) in contracts.iter().enumerate() {
            self.bytes += contract.name.len();
            let known = self.arguments(contract);
            // A blueprint has one more kind, and more members in each.
            self.bytes += BYTES_OF_CALL * if self.form.by_place { 6 } else { 3 };
            let Some(known) = known else {
                unknown.push(contract.name.as_str());
                continue;
            };
            let name = format!("arguments{at}");
            let given = (arguments, named(&name), known.required);
            self.defs.insert(name, known.schema);
            let names = json!({ "enum": [contract.name] });
            calls.push([self.tool(names), vec![given]].concat());
        }
        if !unknown.is_empty() {
            let names = json!({ "enum": unknown });
            let names = match unknown.len() {
                ..=FEW => names,
                // Listed once, instead of in each kind of step.
                _ => {
                    self.defs.insert("others".to_owned(), names);
                    named("others")
                }
            };
            let any = vec![self.open_object(named("value")), named("reference")];
            let given = (arguments, any_of(any), false);
            calls.push([self.tool(names), vec![given]].concat());
        }
        calls
    }

    /// Returns the members that name one of these tools.
    fn tool(&self, names: Value) -> Vec<Member> {
        let description = json!({"type": "string"});
        if self.strings.is_some() {
            return vec![
                (step::TOOL, names, true),
                ("tool_description", description, false),
            ];
        }
        let tool = object([
            (tool::NAME, names, true),
            (tool::DESCRIPTION, description, false),
        ]);
        vec![(step::TOOL, tool, true)]
    }

    /// Adds the steps that do this, in all roles.
    fn step(&mut self, steps: &mut Vec<Value>, body: Vec<Member>, does: Does) {
        let by_place = self.form.by_place;
        let mut common = vec![
            (step::ID, named("id"), self.form.needs_id),
            (step::INTENT, json!({"type": "string"}), false),
        ];
        let own = if by_place {
            let last = DocumentLimits::DEFAULT.steps - 1;
            let index = json!({"type": "integer", "minimum": 0, "maximum": last});
            let list = json!({"type": "array", "items": index});
            common.push(("dependsOn", list, false));
            common.push(("parallel", json!({"type": "boolean"}), false));
            let most = DocumentLimits::DEFAULT.attempts - 1;
            let retries = json!({"type": "integer", "minimum": 0, "maximum": most});
            if does != Does::Wait {
                common.push(("retryCount", retries, false));
            }
            let longest = DocumentLimits::DEFAULT.time.as_millis();
            let limit = json!({"type": "integer", "minimum": 1, "maximum": longest});
            common.push(("timeout", limit, false));
            index
        } else {
            let list = json!({"type": "array", "items": named("id")});
            common.push((step::AFTER, list, false));
            named("id")
        };
        common.extend(body);
        let needs_policy = does == Does::Rounds;
        let mut with = |failure: Failure, more: Option<Member>| {
            let policy = self.policy(does, failure);
            let members = common.iter().cloned().chain(more);
            object(members.chain([(step::POLICY, policy, needs_policy)]))
        };
        if by_place {
            let optional = json!({"type": "boolean"});
            steps.push(with(Failure::Optional, Some(("optional", optional, true))));
        }
        steps.push(with(Failure::Any, None));
        steps.push(with(Failure::None, Some((step::UNDO, own, true))));
        let always = json!({"enum": [true]});
        steps.push(with(Failure::None, Some((step::ALWAYS, always, true))));
    }
}

/// Branches, each with its conditions.
fn branches() -> Value {
    let then = (branch::THEN, named("body"), true);
    let binding = [
        (binding::PATTERN, named("wrapped_variable"), true),
        (binding::VALUE, named("value"), true),
    ];
    let condition = any_of(vec![named("condition"), object(binding.clone())]);
    let all = json!({"type": "array", "items": condition, "minItems": 1});
    let branch = any_of(vec![
        object([(branch::CONDITION, named("condition"), true), then.clone()]),
        object(binding.into_iter().chain([then.clone()])),
        object([(branch::CONDITIONS, all, true), then.clone()]),
        object([then]),
    ]);
    json!({"type": "array", "items": branch, "minItems": 1})
}

fn each_element() -> Value {
    let elements = json!({"type": "array", "items": named("value")});
    object([
        (each::PATTERN, named("variable"), true),
        (each::LIST, any_of(vec![named("reference"), elements]), true),
        (each::BODY, named("body"), true),
    ])
}

/// Returns the schema of the steps of a block or a round, with further members.
fn round(steps: &Value, more: &[Member]) -> Value {
    let inputs = json!({
        "type": "object",
        "propertyNames": named("id"),
        "additionalProperties": named("value"),
    });
    let with = |value: Member| {
        let members = [
            (block::INPUTS, inputs.clone(), false),
            (block::STEPS, steps.clone(), false),
            value,
        ];
        object(members.into_iter().chain(more.iter().cloned()))
    };
    any_of(vec![
        with((block::TAIL, named("body"), true)),
        with((block::VALUE, named("value"), false)),
    ])
}

/// Returns the schema of a pattern's variables: a name, or a tuple of names.
fn variable(open: &str, close: &str) -> Value {
    let wrappers = match open {
        "" => &[""][..],
        _ => &["Some(", "Ok(", "Err("],
    };
    let close_of = |open: &str| if open.is_empty() { "" } else { ")" };
    let keywords = wrappers.iter().flat_map(|open| {
        let close = close_of(open);
        KEYWORDS
            .iter()
            .map(move |word| format!("{open}{word}{close}"))
    });
    let keywords: Vec<String> = keywords.collect();
    let mut one = pattern(&format!("{open}(?:_|{NAME}){close}"));
    one["not"] = json!({ "enum": keywords });
    let tuple = pattern(&format!(
        "{open}\\({PLAIN_NAME}(?:, {PLAIN_NAME})+\\){close}"
    ));
    any_of(vec![one, tuple])
}

fn pattern(pattern: &str) -> Value {
    json!({"type": "string", "pattern": super::patterns::whole(pattern)})
}
