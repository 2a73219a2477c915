//! What a plan would do, for people.

use crate::tools::Office;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Contracts, Toolbox};
use plan_runtime::plan::{Body, Input, Role, Step};
use serde::Serialize;
use serde_json::{Value, json};

/// A step of a plan.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StepView {
    pub(crate) path: String,
    /// The tool that it calls, or those, with commas between them.
    pub(crate) tool: Option<String>,
    /// What the tool does, as it says itself.
    pub(crate) description: String,
    pub(crate) read_only: bool,
    /// Whether it waits for a value from a person.
    pub(crate) waits: bool,
    /// The step that it undoes, if it does.
    pub(crate) undoes: Option<String>,
    pub(crate) needs: Vec<String>,
    /// What cannot run if it fails.
    pub(crate) affects: Vec<String>,
}

impl StepView {
    /// What it does, in a word or two.
    pub(crate) fn what(&self) -> &str {
        match &self.tool {
            Some(tool) => tool,
            None if self.waits => "waits for a value",
            None => "computed",
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match (self.waits, self.read_only) {
            (true, _) => "waits",
            (_, true) => "reads",
            _ => "acts",
        }
    }

    pub(crate) fn spoken(&self) -> String {
        let how = match self.kind() {
            "waits" => "waits for a person",
            "reads" => "only reads",
            _ => "acts",
        };
        format!("{}: {}, {how}", self.path, self.what())
    }
}

/// The plan as the API describes it.
pub(crate) fn plan(plan: &Plan, toolbox: &Toolbox<Office>) -> Value {
    let steps = steps(plan, toolbox.contracts());
    let svg = crate::picture::svg(&steps);
    json!({
        "name": plan.name.to_string(),
        "text": plan.to_string(),
        "inputs": plan.inputs.iter().map(input).collect::<Vec<_>>(),
        "steps": steps,
        "svg": svg,
    })
}

pub(crate) fn steps(plan: &Plan, contracts: &Contracts) -> Vec<StepView> {
    let ids = |steps: Vec<&Step>| steps.iter().map(|step| step.id.to_string()).collect();
    let view = |step: &Step| {
        let actions = step.body.actions();
        let mut tools: Vec<&str> = actions
            .iter()
            .filter_map(|it| Some(&*it.tool.as_ref()?.name))
            .collect();
        tools.dedup();
        let is_read_only = |tool: &&str| contracts.get(tool).is_some_and(|it| it.read_only);
        let description = match tools[..] {
            [tool] => contracts.get(tool).map(|it| it.description.clone()),
            _ => None,
        };
        StepView {
            path: step.id.to_string(),
            read_only: tools.iter().all(is_read_only),
            tool: (!tools.is_empty()).then(|| tools.join(", ")),
            description: description.unwrap_or_default(),
            waits: waits(&step.body),
            undoes: match step.role {
                Role::Undo(of) => plan.steps.get(of).map(|of| of.id.to_string()),
                _ => None,
            },
            needs: ids(plan.dependencies(&step.id)),
            affects: ids(plan.blocked_by(&step.id)),
        }
    };
    plan.steps.iter().map(view).collect()
}

/// Whether a body waits for a value somewhere.
fn waits(body: &Body) -> bool {
    match body {
        Body::Await(_) => true,
        Body::If(branches) => branches.iter().any(|branch| waits(&branch.body)),
        Body::For(each) => waits(&each.body),
        Body::Block(block) => block.plan.steps.iter().any(|step| waits(&step.body)),
        Body::Loop(repeat) => repeat.round.plan.steps.iter().any(|step| waits(&step.body)),
        _ => false,
    }
}

fn input(input: &Input) -> Value {
    let name = input.type_name.to_string();
    let (inner, required) = match name
        .strip_prefix("Option<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        Some(inner) => (inner.trim(), false),
        None => (&*name, true),
    };
    json!({
        "name": input.name.to_string(),
        "type": name,
        "required": required,
        "kind": kind(inner),
        "description": input.description.to_string(),
    })
}

/// What a form has for values of a type.
fn kind(type_name: &str) -> &'static str {
    match type_name {
        "String" | "&str" | "char" => "text",
        "bool" => "boolean",
        "f32" | "f64" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32"
        | "i64" | "i128" | "isize" => "number",
        _ => "json",
    }
}
