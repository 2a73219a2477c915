//! Plans in a dialect of JSON, and out of it as Rust.

use crate::corpus::model::{Calls, Corpus, Given, Part, Plan, Reference, Step, Tool};
use crate::corpus::types::Type;
use plan_runtime::dynamic::{Dialect, Reader};
use plan_rust::{RustSource, to_rust};
use serde_json::{Map, Value, json};

/// The description of the tools.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Told {
    Nothing,
    Schemas,
}

impl Told {
    pub(crate) const ALL: [Told; 2] = [Told::Nothing, Told::Schemas];

    pub(crate) fn package(self) -> &'static str {
        match self {
            Told::Nothing => "promote_plans",
            Told::Schemas => "promote_known",
        }
    }
}

/// The module of a plan that went through JSON, or what is wrong with the plan.
pub(crate) fn module(
    corpus: &Corpus,
    index: usize,
    plan: &Plan,
    told: Told,
) -> Result<String, String> {
    check(corpus, plan)?;
    let dialect = match index % 3 {
        _ if !plan.inputs.is_empty() => Dialect::ActionPlan,
        0 => Dialect::ActionPlan,
        1 => Dialect::ToolPlan,
        _ => Dialect::Blueprint,
    };
    let text = document(corpus, plan, dialect).to_string();
    let reader = Reader::new().dialect(dialect).name(&plan.id);
    let read = reader
        .read(&text)
        .expect("a clean plan is read")
        .into_plan();
    let source = match told {
        Told::Nothing => to_rust(&read),
        Told::Schemas => {
            let tools = corpus.tools.iter();
            let schemas: Vec<(&str, Value)> =
                tools.map(|tool| (&*tool.name, schema(tool))).collect();
            let mut source = RustSource::new(&read);
            for (tool, schema) in &schemas {
                source = source.schema(tool, schema);
            }
            source.write()
        }
    };
    let source = source.expect("a plan out of JSON has a form in Rust");
    Ok(format!(
        "use ::plan_runtime::plan;\nuse ::promote_tools::*;\n\n{source}"
    ))
}

/// Returns the number of typed and of untyped tool arguments.
pub(crate) fn typed(corpus: &Corpus) -> (usize, usize) {
    let arguments = corpus.tools.iter().flat_map(|tool| &tool.arguments);
    let (untyped, typed): (Vec<_>, Vec<_>) =
        arguments.partition(|argument| *argument.ty.present().0 == Type::Json);
    (typed.len(), untyped.len())
}

/// Returns an error for a plan that no tools could fit: it refers to values that a tool never returned, or lacks required
/// arguments.
fn check(corpus: &Corpus, plan: &Plan) -> Result<(), String> {
    for step in &plan.steps {
        let Calls::Tool(tool) = &step.calls else {
            continue;
        };
        let tool = &corpus.tools[*tool];
        for argument in &tool.arguments {
            let is_given = step
                .arguments
                .iter()
                .any(|(name, _)| *name == argument.json);
            if !is_given && !argument.ty.present().1 {
                return Err(format!("{} requires `{}`", tool.name, argument.json));
            }
        }
        for (name, given) in &step.arguments {
            let Given::Reference(reference) = given else {
                continue;
            };
            let source = corpus.source(plan, &reference.root);
            let source = source.ok_or_else(|| format!("there is no step {}", reference.root))?;
            let walked = crate::corpus::write::walk(&corpus.structs, &source, reference);
            walked.map_err(|why| format!("{}.{name}: {why}", step.name))?;
            if source == Type::Json && !reference.path.is_empty() {
                return Err(format!(
                    "{}.{name}: {} never answered",
                    step.name, reference.root
                ));
            }
        }
    }
    Ok(())
}

/// The JSON Schema of a tool's arguments.
fn schema(tool: &Tool) -> Value {
    let arguments = tool.arguments.iter();
    let properties: Map<String, Value> = arguments
        .map(|argument| {
            let property = match argument.ty.present().0 {
                Type::Float => json!({"type": "number"}),
                Type::Int => json!({"type": "integer"}),
                Type::Text => json!({"type": "string"}),
                _ => json!({}),
            };
            (argument.json.clone(), property)
        })
        .collect();
    json!({"type": "object", "properties": properties})
}

fn document(corpus: &Corpus, plan: &Plan, dialect: Dialect) -> Value {
    let steps = plan.steps.iter().map(|step| {
        let Calls::Tool(tool) = &step.calls else { return Value::Null };
        let tool = &corpus.tools[*tool].name;
        let arguments: Map<String, Value> = step
            .arguments
            .iter()
            .map(|(name, given)| (name.clone(), value(plan, given, dialect)))
            .collect();
        match dialect {
            Dialect::Blueprint => json!({
                "id": step.name, "intent": intent(step, tool), "tool": tool, "params": arguments, "dependsOn": depends_on(plan, step)
            }),
            Dialect::ToolPlan => {
                let arguments = Value::Object(arguments).to_string();
                json!({"id": step.name, "tool": tool, "arguments": arguments})
            }
            _ => json!({"id": step.name, "intent": intent(step, tool), "tool": tool, "arguments": arguments}),
        }
    });
    let steps: Vec<Value> = steps.collect();
    match dialect {
        Dialect::ActionPlan => json!({"description": plan.intent, "plan": steps}),
        _ => json!({"description": plan.intent, "steps": steps}),
    }
}

fn intent(step: &Step, tool: &str) -> String {
    format!("Calls {tool} as {}.", step.name)
}

fn depends_on(plan: &Plan, step: &Step) -> Vec<usize> {
    let place = |name: &String| plan.steps.iter().position(|step| step.name == *name);
    step.after.iter().filter_map(place).collect()
}

fn value(plan: &Plan, given: &Given, dialect: Dialect) -> Value {
    let reference = match given {
        Given::Literal(value) => return value.clone(),
        Given::Reference(reference) => reference,
    };
    let root = &reference.root;
    let place = plan.steps.iter().position(|step| step.name == *root);
    Value::from(match (dialect, place) {
        (Dialect::ToolPlan, _) => format!("$ref:{root}{}", way(reference, ".", "")),
        (Dialect::Blueprint, Some(place)) => {
            format!("${{step[{place}].data{}}}", way(reference, "[", "]"))
        }
        (_, Some(_)) => format!("{{{{{root}.result{}}}}}", way(reference, "[", "]")),
        (_, None) => format!("{{{{PLACEHOLDER_{root}}}}}"),
    })
}

fn way(reference: &Reference, open: &str, close: &str) -> String {
    let part = |part: &Part| match part {
        Part::Key(key) => format!("[{}]", Value::from(key.as_str())),
        Part::Index(index) => format!("{open}{index}{close}"),
        Part::Each => "[*]".to_owned(),
    };
    reference.path.iter().map(part).collect()
}
