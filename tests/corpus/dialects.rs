//! The dialects of the corpora: how each writes a plan, and a reference in it.

use crate::corpus::model::{Calls, Given, Part, Plan, Reference, Sketch, Step, Tool, text};
use crate::corpus::types::{Structs, Type};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A plan as its corpus has it.
pub(crate) struct Raw {
    pub id: String,
    pub intent: String,
    pub inputs: Vec<String>,
    pub steps: Vec<RawStep>,
}

pub(crate) struct RawStep {
    pub name: String,
    pub tool: String,
    pub arguments: Vec<(String, Given)>,
    pub after: BTreeSet<String>,
    pub response: Option<Value>,
    /// The values that references were recorded to give.
    pub resolved: BTreeMap<String, Value>,
}

impl Raw {
    /// `"$var1.coordinates.latitude$"`, with the pointer that was recorded for it.
    pub(crate) fn dollar(plan: &Value) -> Self {
        let steps = plan["steps"].as_array().into_iter().flatten().map(|step| {
            let recorded: Vec<&Value> = step["references"]
                .as_array()
                .into_iter()
                .flatten()
                .collect();
            let mut resolved = BTreeMap::new();
            let arguments =
                step["arguments"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, value)| {
                        let given = match recorded.iter().find(|reference| {
                            reference["arg"] == **name && reference["raw"] == *value
                        }) {
                            Some(reference) => {
                                resolved.insert(name.clone(), reference["resolved"].clone());
                                let path = reference["path"]
                                    .as_array()
                                    .into_iter()
                                    .flatten()
                                    .map(|part| part_of(&text(part)));
                                Given::Reference(Reference {
                                    root: text(&reference["step"]),
                                    path: path.collect(),
                                })
                            }
                            None => Given::Literal(value.clone()),
                        };
                        (name.clone(), given)
                    });
            let arguments = arguments.collect();
            let (name, tool) = (text(&step["id"]), text(&step["tool"]));
            RawStep {
                name,
                tool,
                arguments,
                after: BTreeSet::new(),
                response: Some(step["response"].clone()),
                resolved,
            }
        });
        Self {
            id: text(&plan["id"]),
            intent: text(&plan["query"]),
            inputs: Vec::new(),
            steps: steps.collect(),
        }
    }

    /// `"${step[0].data[0].id}"`; another `${name}` is an input of the plan.
    pub(crate) fn step_index(index: usize, plan: &Value) -> Self {
        let mut inputs = BTreeSet::new();
        let steps = plan["steps"].as_array().into_iter().flatten().enumerate().map(|(number, step)| {
            let arguments = step["params"].as_object().into_iter().flatten().map(|(name, value)| {
                let inside = value.as_str().and_then(|text| text.strip_prefix("${")).and_then(|text| text.strip_suffix('}'));
                let given = match inside.map(|inside| (inside, step_reference(inside))) {
                    Some((_, Some(reference))) => Given::Reference(reference),
                    Some((input, None)) => {
                        inputs.insert(input.to_owned());
                        Given::Reference(Reference { root: input.to_owned(), path: Vec::new() })
                    }
                    None => Given::Literal(value.clone()),
                };
                (name.clone(), given)
            });
            let arguments: Vec<(String, Given)> = arguments.collect();
            let after = step["dependsOn"].as_array().into_iter().flatten().map(|step| format!("step{step}"));
            let used = |name: &String| {
                arguments.iter().any(|(_, given)| matches!(given, Given::Reference(reference) if reference.root == *name))
            };
            let after = after.filter(|name| !used(name)).collect();
            let result = &plan["execution"][number];
            let response = (result["success"] == true && result["tool"] == step["tool"]).then(|| result["data"].clone());
            let name = format!("step{number}");
            RawStep { name, tool: text(&step["tool"]), arguments, after, response, resolved: BTreeMap::new() }
        });
        let steps = steps.collect();
        Self {
            id: format!("llm-{index:04}"),
            intent: text(&plan["query"]),
            inputs: inputs.into_iter().collect(),
            steps,
        }
    }

    /// Adds what this plan's calls show of their tools' arguments.
    pub(crate) fn sketch_arguments(
        &self,
        sketches: &mut BTreeMap<String, Sketch>,
        structs: &Structs,
        outputs: &BTreeMap<String, Type>,
    ) {
        for step in &self.steps {
            let sketch = sketches
                .get_mut(&step.tool)
                .expect("each tool has a sketch");
            for (name, given) in &step.arguments {
                let (count, seen) = sketch.arguments.entry(name.clone()).or_default();
                *count += 1;
                match given {
                    Given::Literal(value) => seen.value(value),
                    Given::Reference(_) if sketch.schema.is_some() => {
                        if let Some(number @ Value::Number(_)) = step.resolved.get(name) {
                            seen.value(number);
                        }
                    }
                    Given::Reference(reference) => {
                        match self.steps.iter().find(|step| step.name == reference.root) {
                            Some(source) => {
                                if let Ok(found) = crate::corpus::write::walk(
                                    structs,
                                    &outputs[&source.tool],
                                    reference,
                                ) {
                                    seen.reference(&found.ty);
                                }
                            }
                            None => seen.reference(&Type::Text),
                        }
                    }
                }
            }
        }
    }

    /// Adds the types of the values that references give to arguments. Each argument gets an entry, even without references.
    pub(crate) fn sketch_references(
        &self,
        sketches: &mut BTreeMap<String, Sketch>,
        structs: &Structs,
        outputs: &BTreeMap<String, Type>,
    ) {
        for step in &self.steps {
            for (name, given) in &step.arguments {
                let ty = match given {
                    Given::Literal(_) => None,
                    Given::Reference(reference) => {
                        match self.steps.iter().find(|step| step.name == reference.root) {
                            Some(source) => {
                                let output = &outputs[&source.tool];
                                let found = crate::corpus::write::walk(structs, output, reference);
                                found.ok().map(|found| found.ty)
                            }
                            None => Some(Type::Text),
                        }
                    }
                };
                let sketch = sketches
                    .get_mut(&step.tool)
                    .expect("each tool has a sketch");
                sketch
                    .references
                    .entry(name.clone())
                    .or_default()
                    .extend(ty);
            }
        }
    }

    pub(crate) fn typed(self, tools: &[Tool]) -> Plan {
        let steps = self.steps.into_iter().map(|step| {
            let tool = tools
                .iter()
                .position(|tool| tool.name == step.tool)
                .expect("each tool is known");
            Step {
                name: step.name,
                calls: Calls::Tool(tool),
                arguments: step.arguments,
                after: step.after,
            }
        });
        let inputs = self
            .inputs
            .into_iter()
            .map(|input| (input, Type::Text))
            .collect();
        Plan {
            id: self.id,
            intent: self.intent,
            inputs,
            steps: steps.collect(),
        }
    }
}

fn part_of(part: &str) -> Part {
    match part {
        "*" => Part::Each,
        part => part
            .parse()
            .map_or_else(|_| Part::Key(part.to_owned()), Part::Index),
    }
}

/// `step[0].data[0].id`, where `data` names the step's output.
fn step_reference(inside: &str) -> Option<Reference> {
    let (number, rest) = inside.strip_prefix("step[")?.split_once(']')?;
    let rest = rest
        .strip_prefix(".data")?
        .replace('[', ".")
        .replace(']', "");
    let path = rest
        .split('.')
        .filter(|part| !part.is_empty())
        .map(part_of)
        .collect();
    Some(Reference {
        root: format!("step{number}"),
        path,
    })
}
