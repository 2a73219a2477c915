//! The corpora, as typed tools and plans.
//!
//! - An argument with a string schema is a `String`. A number is an `i64` if all its values in plans are integers, and an
//!   `f64` otherwise. The type of a list follows from the lists in plans. An optional argument is an `Option` with a
//!   default.
//! - In a corpus without schemas, the type of an argument follows from the values in plans, and the argument is
//!   required if every call has it.
//! - For plans in JSON, which contains no types, an argument with values of several types is a `Value`, and so are objects in it. A
//!   member of an output is always present.
//! - The type of a tool's output follows from its schema together with every recorded response. A tool without responses
//!   returns a `Value`.

use crate::corpus::dialects::Raw;
use crate::corpus::names::{field_name, pascal_case, snake_case};
use crate::corpus::types::{Seen, Structs, Type};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) struct Corpus {
    pub structs: Structs,
    pub tools: Vec<Tool>,
    pub plans: Vec<Plan>,
}

pub(crate) struct Tool {
    /// The name in the corpus.
    pub name: String,
    /// The name of its struct.
    pub rust: String,
    pub arguments: Vec<Argument>,
    pub output: Type,
}

#[derive(Clone)]
pub(crate) struct Argument {
    pub json: String,
    pub ident: String,
    pub ty: Type,
}

#[derive(Clone)]
pub(crate) struct Plan {
    pub id: String,
    pub intent: String,
    pub inputs: Vec<(String, Type)>,
    pub steps: Vec<Step>,
}

#[derive(Clone)]
pub(crate) struct Step {
    pub name: String,
    pub calls: Calls,
    pub arguments: Vec<(String, Given)>,
    pub after: BTreeSet<String>,
}

#[derive(Clone)]
pub(crate) enum Calls {
    Tool(usize),
    /// Another plan: its name, its inputs and its output.
    Plan(String, Vec<Argument>, Type),
}

#[derive(Clone)]
pub(crate) enum Given {
    Literal(Value),
    Reference(Reference),
}

#[derive(Clone, PartialEq)]
pub(crate) struct Reference {
    pub root: String,
    pub path: Vec<Part>,
}

#[derive(Clone, PartialEq)]
pub(crate) enum Part {
    Key(String),
    Index(usize),
    Each,
}

impl Step {
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.arguments.iter().filter_map(|(_, given)| match given {
            Given::Reference(reference) => Some(reference),
            Given::Literal(_) => None,
        })
    }
}

/// The sources of a tool's definition.
#[derive(Default)]
pub(crate) struct Sketch {
    pub schema: Option<Value>,
    pub arguments: BTreeMap<String, (usize, Seen)>,
    /// The types of references in arguments, if they determine the argument's type.
    pub references: BTreeMap<String, Vec<Type>>,
    calls: usize,
    output: Seen,
}

impl Corpus {
    /// Reads both corpora of whole plans.
    pub(crate) fn read(folder: &Path) -> Self {
        Self::read_with(folder, false)
    }

    /// Reads both corpora of whole plans, with tools for plans that are read from JSON.
    pub(crate) fn read_untyped(folder: &Path) -> Self {
        Self::read_with(folder, true)
    }

    fn read_with(folder: &Path, untyped: bool) -> Self {
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
        if untyped {
            let fields = structs.0.iter_mut().flat_map(|one| &mut one.fields);
            for ty in fields
                .map(|field| &mut field.ty)
                .chain(outputs.values_mut())
            {
                *ty = ty.clone().sure();
            }
        }
        for plan in &plans {
            plan.sketch_arguments(&mut sketches, &structs, &outputs);
            if untyped {
                plan.sketch_references(&mut sketches, &structs, &outputs);
            }
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

    /// Returns the output of a step.
    pub(crate) fn output(&self, step: &Step) -> Type {
        match &step.calls {
            Calls::Tool(tool) => self.tools[*tool].output.clone(),
            Calls::Plan(_, _, output) => output.clone(),
        }
    }

    /// Returns the value of a step or an input of the plan.
    pub(crate) fn source(&self, plan: &Plan, name: &str) -> Option<Type> {
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
        let ty = match sketch.references.get(json) {
            Some(given) if given.iter().any(|given| *given != ty) => Type::Json,
            Some(_) => ty.untyped(),
            None => ty,
        };
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

/// Returns the content of a value that must be a string.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("expected a text, found {value}"))
        .to_owned()
}
