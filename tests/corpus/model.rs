//! The corpora, as typed tools and plans.
//!
//! - An argument that the schema calls a string is a `String`; a number is an `i64` if all numbers that plans give it are
//!   integers, else an `f64`; a list is what the plans' lists show. One that is not required is an `Option` with a default.
//! - Where a corpus has no schemas, an argument is what the plans give it, and is required if every call gives it.
//! - A tool's output is what its schema says together with every recorded response. One that never answered gives a `Value`.

use crate::names::{field_name, pascal_case, snake_case};
use crate::types::{Seen, Structs, Type};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub struct Corpus {
    pub structs: Structs,
    pub tools: Vec<Tool>,
    pub plans: Vec<Plan>,
}

pub struct Tool {
    /// Its name in the corpus.
    pub name: String,
    /// The name of its struct.
    pub rust: String,
    pub arguments: Vec<Argument>,
    pub output: Type,
}

#[derive(Clone)]
pub struct Argument {
    pub json: String,
    pub ident: String,
    pub ty: Type,
}

#[derive(Clone)]
pub struct Plan {
    pub id: String,
    pub intent: String,
    pub inputs: Vec<(String, Type)>,
    pub steps: Vec<Step>,
}

#[derive(Clone)]
pub struct Step {
    pub name: String,
    pub calls: Calls,
    pub arguments: Vec<(String, Given)>,
    pub after: BTreeSet<String>,
}

#[derive(Clone)]
pub enum Calls {
    Tool(usize),
    /// Another plan: its name, its inputs and its output.
    Plan(String, Vec<Argument>, Type),
}

#[derive(Clone)]
pub enum Given {
    Literal(Value),
    Reference(Reference),
}

#[derive(Clone, PartialEq)]
pub struct Reference {
    pub root: String,
    pub path: Vec<Part>,
}

#[derive(Clone, PartialEq)]
pub enum Part {
    Key(String),
    Index(usize),
    Each,
}

impl Step {
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.arguments.iter().filter_map(|(_, given)| match given {
            Given::Reference(reference) => Some(reference),
            Given::Literal(_) => None,
        })
    }
}

/// What a tool is made from.
#[derive(Default)]
struct Sketch {
    schema: Option<Value>,
    arguments: BTreeMap<String, (usize, Seen)>,
    calls: usize,
    output: Seen,
}

impl Corpus {
    /// Reads both corpora of whole plans.
    pub fn read(folder: &Path) -> Self {
        let read = |path: &str| {
            std::fs::read_to_string(folder.join(path))
                .unwrap_or_else(|error| panic!("{path}: {error}"))
        };
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("a corpus is JSON");
        let mut sketches = BTreeMap::<String, Sketch>::new();
        for tool in json(&read("complexfuncbench/tools.json"))
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = text(&tool["name"]);
            sketches.entry(name).or_default().schema = Some(tool.clone());
        }
        let mut plans: Vec<Raw> = read("complexfuncbench/plans.jsonl")
            .lines()
            .map(|line| Raw::dollar(&json(line)))
            .collect();
        let llm = json(&read("clear_ai_llm_plans.json"));
        plans.extend(
            llm["plans"]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(index, plan)| Raw::step_index(index, plan)),
        );
        for step in plans.iter().flat_map(|plan| &plan.steps) {
            let sketch = sketches.entry(step.tool.clone()).or_default();
            sketch.calls += 1;
            if let Some(response) = &step.response {
                sketch.output.value(response);
            }
        }
        let mut structs = Structs::default();
        let mut outputs = BTreeMap::new();
        for (name, sketch) in &mut sketches {
            outputs.insert(name.clone(), output(name, sketch, &mut structs));
        }
        for plan in &plans {
            plan.sketch_arguments(&mut sketches, &structs, &outputs);
        }
        let tools: Vec<Tool> = sketches
            .into_iter()
            .map(|(name, sketch)| tool(name, sketch, &mut structs, &outputs))
            .collect();
        let plans = plans.into_iter().map(|plan| plan.typed(&tools)).collect();
        Self {
            structs,
            tools,
            plans,
        }
    }

    /// What a step gives.
    pub fn output(&self, step: &Step) -> Type {
        match &step.calls {
            Calls::Tool(tool) => self.tools[*tool].output.clone(),
            Calls::Plan(_, _, output) => output.clone(),
        }
    }

    /// What a step or an input of the plan gives.
    pub fn source(&self, plan: &Plan, name: &str) -> Option<Type> {
        let input = plan
            .inputs
            .iter()
            .find(|(input, _)| input == name)
            .map(|(_, ty)| ty.clone());
        input.or_else(|| {
            plan.steps
                .iter()
                .find(|step| step.name == name)
                .map(|step| self.output(step))
        })
    }
}

fn output(name: &str, sketch: &mut Sketch, structs: &mut Structs) -> Type {
    let mut seen = std::mem::take(&mut sketch.output);
    if let Some(schema) = &sketch.schema {
        seen.answer(&schema["output"]);
    }
    seen.into_type(&module(name), "Output", structs)
}

fn tool(
    name: String,
    sketch: Sketch,
    structs: &mut Structs,
    outputs: &BTreeMap<String, Type>,
) -> Tool {
    let module = module(&name);
    let calls = sketch.calls;
    let mut seen = sketch.arguments;
    let mut arguments = Vec::new();
    let mut add = |json: &str, ty: Type, required: bool| {
        let ty = if required { ty } else { ty.maybe() };
        arguments.push(Argument {
            json: json.to_owned(),
            ident: field_name(json),
            ty,
        });
    };
    if let Some(schema) = &sketch.schema {
        for (json, parameter) in schema["parameters"].as_object().into_iter().flatten() {
            let shown = seen
                .remove(json)
                .map(|(_, seen)| seen.into_type(&module, &pascal_case(json), structs));
            let ty = match (parameter["type"].as_str(), shown) {
                (Some("string"), _) => Type::Text,
                (Some("number"), Some(Type::Int)) => Type::Int,
                (Some("number"), _) => Type::Float,
                (_, shown) => shown.unwrap_or(Type::Json),
            };
            add(json, ty, parameter["required"] == true);
        }
    }
    for (json, (count, seen)) in seen {
        let ty = seen.into_type(&module, &pascal_case(&json), structs);
        add(&json, ty, count == calls);
    }
    let output = outputs[&name].clone();
    Tool {
        rust: pascal_case(&name),
        arguments,
        output,
        name,
    }
}

fn module(tool: &str) -> String {
    snake_case(tool)
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("expected a text, found {value}"))
        .to_owned()
}

/// A plan as its corpus has it.
struct Raw {
    id: String,
    intent: String,
    inputs: Vec<String>,
    steps: Vec<RawStep>,
}

struct RawStep {
    name: String,
    tool: String,
    arguments: Vec<(String, Given)>,
    after: BTreeSet<String>,
    response: Option<Value>,
    /// The values that references were recorded to give.
    resolved: BTreeMap<String, Value>,
}

impl Raw {
    /// `"$var1.coordinates.latitude$"`, with the pointer that was recorded for it.
    fn dollar(plan: &Value) -> Self {
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
    fn step_index(index: usize, plan: &Value) -> Self {
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
    fn sketch_arguments(
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
                                if let Ok(found) =
                                    crate::write::walk(structs, &outputs[&source.tool], reference)
                                {
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

    fn typed(self, tools: &[Tool]) -> Plan {
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
