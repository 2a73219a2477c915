//! The three string dialects: how a plan is written, its document's resolver, and where the project differs.

use super::super::reference::{
    placeholder_resolver, plan_reference_resolver, step_reference_resolver,
};
use super::Case;
use super::draw::{Forms, Part, Step, Token, Words};
use plan_runtime::dynamic::{Dialect, Profile};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A difference, and the strings that it applies to.
pub(crate) type Difference = (&'static str, fn(&Case<'_>) -> bool);

pub(crate) trait Seed {
    fn dialect(&self) -> Dialect;
    fn forms(&self) -> Forms;
    fn document(&self, ids: &[String], arguments: &[Value]) -> Value;
    /// A part of a string, as the dialect writes it.
    fn written(&self, part: &Part, ids: &[String]) -> String;
    /// The value of one string by the document's resolver; `None` for an error.
    fn resolve(&self, text: &str, steps: &[Step], outputs: &[Option<Value>]) -> Option<Value>;
    /// The project's value for a reference that leads nowhere.
    fn missing(&self, profile: Profile, part: &Part, ids: &[String]) -> Option<Value>;
    fn differences(&self) -> &'static [Difference];

    /// The steps that arguments depend on, by the document, if it finds them in arguments.
    fn dependencies(&self, _arguments: &Value) -> Option<BTreeSet<String>> {
        None
    }

    fn string(&self, words: &Words, ids: &[String]) -> String {
        match words {
            Words::Parts(parts) => parts.iter().map(|part| self.written(part, ids)).collect(),
            Words::Near(text) => text.clone(),
        }
    }
}

/// `.a[0].b`
fn brackets(path: &[Token]) -> String {
    let part = |token: &Token| match token {
        Token::Key(key) => format!(".{key}"),
        Token::Index(index) => format!("[{index}]"),
    };
    path.iter().map(part).collect()
}

fn is_strict(case: &Case<'_>) -> bool {
    case.profile == Profile::Strict
}

pub(crate) struct PlanReferenceResolver;

impl Seed for PlanReferenceResolver {
    fn dialect(&self) -> Dialect {
        Dialect::ToolPlan
    }

    fn forms(&self) -> Forms {
        Forms {
            embedded: false,
            inputs: false,
            plain_text: true,
            ids: &["s", "Step_"],
            near: &["see $ref:@", " $ref:@", "$ref:s-0", "$ref:@.", "$ref:"],
        }
    }

    /// Returns a document with arguments as a string of JSON in every second step.
    fn document(&self, ids: &[String], arguments: &[Value]) -> Value {
        let steps = ids.iter().zip(arguments).enumerate();
        let steps = steps.map(|(place, (id, arguments))| {
            let arguments = match place % 2 {
                0 => arguments.clone(),
                _ => arguments.to_string().into(),
            };
            json!({"id": id, "tool": format!("t{place}"), "arguments": arguments})
        });
        json!({"steps": steps.collect::<Vec<_>>()})
    }

    fn written(&self, part: &Part, ids: &[String]) -> String {
        let dots = |token: &Token| match token {
            Token::Key(key) => format!(".{key}"),
            Token::Index(index) => format!(".{index}"),
        };
        match part {
            Part::Text(text) => text.clone(),
            Part::Input(_) => unreachable!("the dialect has no inputs"),
            Part::Read { step, path } => {
                let path: String = path.iter().map(dots).collect();
                format!("$ref:{}{path}", ids[*step])
            }
        }
    }

    fn resolve(&self, text: &str, steps: &[Step], outputs: &[Option<Value>]) -> Option<Value> {
        let done = steps
            .iter()
            .zip(outputs)
            .filter(|(_, output)| output.is_some());
        let done = done.filter_map(|(step, _)| Some((step.id.clone(), step.output.clone()?.0)));
        let arguments = Value::from(text).to_string();
        let resolved = plan_reference_resolver::resolve(&arguments, &done.collect()).ok()?;
        Some(serde_json::from_str(&resolved).expect("the arguments are JSON"))
    }

    fn missing(&self, profile: Profile, _: &Part, _: &[String]) -> Option<Value> {
        (profile == Profile::Compat).then_some(Value::Null)
    }

    fn dependencies(&self, arguments: &Value) -> Option<BTreeSet<String>> {
        let arguments = arguments.to_string();
        Some(plan_reference_resolver::extract_dependencies(&arguments))
    }

    fn differences(&self) -> &'static [Difference] {
        &[
            (
                "strict: a missing field is an error, and not null",
                |case| is_strict(case) && case.is_missing(),
            ),
            ("a list and a number have no fields", |case| {
                case.has_no_keys()
            }),
        ]
    }
}

pub(crate) struct StepReferenceResolver;

impl Seed for StepReferenceResolver {
    fn dialect(&self) -> Dialect {
        Dialect::Blueprint
    }

    fn forms(&self) -> Forms {
        Forms {
            embedded: true,
            inputs: false,
            plain_text: false,
            ids: &["step"],
            near: &["${steps[0].data}", "${step[0]}", "see $step[0].data"],
        }
    }

    fn document(&self, ids: &[String], arguments: &[Value]) -> Value {
        let steps = ids.iter().zip(arguments).enumerate();
        let steps = steps
            .map(|(place, (_, params))| json!({"tool": format!("t{place}"), "params": params}));
        json!({"steps": steps.collect::<Vec<_>>()})
    }

    fn written(&self, part: &Part, _: &[String]) -> String {
        match part {
            Part::Text(text) => text.clone(),
            Part::Input(_) => unreachable!("the dialect has no inputs"),
            Part::Read { step, path } => format!("${{step[{step}].data{}}}", brackets(path)),
        }
    }

    fn resolve(&self, text: &str, _: &[Step], outputs: &[Option<Value>]) -> Option<Value> {
        let record = |output: &Option<Value>| json!({"success": output.is_some(), "data": output});
        let cache = outputs.iter().map(record).enumerate().collect();
        step_reference_resolver::resolve_references(&text.into(), &cache).ok()
    }

    fn missing(&self, _: Profile, _: &Part, _: &[String]) -> Option<Value> {
        None
    }

    fn differences(&self) -> &'static [Difference] {
        &[
            (
                "a missing value is an error, and not the text `undefined`",
                |case| case.is_missing() || case.has_no_keys(),
            ),
            ("a list in a list has two indices", |case| {
                case.has_list_in_list()
            }),
            ("a whole string keeps the type of its value", |case| {
                case.is_whole() && case.values().all(|value| !value.is_string())
            }),
            ("an object or a list within a text is its JSON", |case| {
                case.values().any(|it| it.is_object() || it.is_array())
            }),
        ]
    }
}

pub(crate) struct PlaceholderResolver;

impl Seed for PlaceholderResolver {
    fn dialect(&self) -> Dialect {
        Dialect::ActionPlan
    }

    fn forms(&self) -> Forms {
        Forms {
            embedded: true,
            inputs: true,
            plain_text: false,
            ids: &["s", "find_", "s", "of-", "Step"],
            near: &["{ @.result.a }", "see {@.result}"],
        }
    }

    fn document(&self, ids: &[String], arguments: &[Value]) -> Value {
        let steps = ids.iter().zip(arguments).enumerate();
        let steps = steps.map(|(place, (id, arguments))| json!({"id": id, "tool": format!("t{place}"), "arguments": arguments}));
        steps.collect()
    }

    fn written(&self, part: &Part, ids: &[String]) -> String {
        match part {
            Part::Text(text) => text.clone(),
            Part::Input(name) => format!("{{{{PLACEHOLDER_{name}}}}}"),
            Part::Read { step, path } => {
                format!("{{{{{}.result{}}}}}", ids[*step], brackets(path))
            }
        }
    }

    fn resolve(&self, text: &str, steps: &[Step], outputs: &[Option<Value>]) -> Option<Value> {
        let executed = steps.iter().zip(outputs);
        let executed = executed.map(|(step, output)| match output {
            Some(result) => json!({"stepId": step.id, "status": "completed", "result": result}),
            None => json!({"stepId": step.id, "status": "failed"}),
        });
        let executed: Vec<Value> = executed.collect();
        placeholder_resolver::resolve(&text.into(), &executed).ok()
    }

    fn missing(&self, profile: Profile, part: &Part, ids: &[String]) -> Option<Value> {
        (profile == Profile::Compat).then(|| self.written(part, ids).into())
    }

    fn dependencies(&self, arguments: &Value) -> Option<BTreeSet<String>> {
        let step = json!({ "arguments": arguments });
        Some(placeholder_resolver::find_dependencies(&step))
    }

    fn differences(&self) -> &'static [Difference] {
        &[
            (
                "compat: a reference that leads nowhere stays as text",
                |case| !is_strict(case) && case.is_missing(),
            ),
            ("a list in a list has two indices", |case| {
                case.has_list_in_list()
            }),
            ("a whole string keeps the type of its value", |case| {
                case.is_whole() && case.values().all(|value| !value.is_string())
            }),
            ("a value is never written into JSON text", |case| {
                let quoted = |text: &str| Value::from(text).to_string().len() > text.len() + 2;
                case.values().any(|value| match value {
                    Value::String(text) => quoted(text),
                    value => value.to_string().contains('"'),
                })
            }),
        ]
    }
}
