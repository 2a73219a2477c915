//! The types of GraphQL, with the names of the step blueprint.

use crate::error::{Problem, short};
use crate::findings::severity;
use async_graphql::{Error, ErrorExtensions, InputObject, Json, SimpleObject};
use plan_graph::{Line, Lines};
use plan_runtime::dynamic::Finding;
use serde_json::{Map, Value, json};

/// A plan: steps that refer to each other by their places, such as `${step[0].data[0].id}`.
#[derive(InputObject)]
pub(super) struct PlanInput {
    /// Names the request. The same request again gives the results of the first; another plan under its name is an error. Without it, a name is made.
    pub(super) request_id: Option<String>,
    pub(super) steps: Vec<PlanStepInput>,
}

/// A step of a plan.
#[derive(InputObject)]
pub(super) struct PlanStepInput {
    pub(super) tool: String,
    pub(super) params: Json<Value>,
    /// The indices of the steps that must end before this step starts. A step always waits for the steps of its references.
    pub(super) depends_on: Option<Vec<u32>>,
    /// Whether it may run beside others. All steps do that do not need each other.
    pub(super) parallel: Option<bool>,
    /// `true` if the plan continues after the step fails.
    pub(super) optional: Option<bool>,
    /// How often it is tried again.
    pub(super) retry_count: Option<u32>,
    /// How many milliseconds an attempt may take.
    pub(super) timeout: Option<u32>,
}

/// A step of a plan.
#[derive(SimpleObject)]
pub(super) struct PlanStep {
    pub(super) tool: String,
    pub(super) params: Json<Value>,
    pub(super) depends_on: Vec<u32>,
    pub(super) parallel: bool,
    pub(super) optional: bool,
    pub(super) retry_count: Option<u32>,
    pub(super) timeout: Option<u32>,
}

/// A plan that was executed.
#[derive(SimpleObject)]
pub(super) struct Plan {
    pub(super) request_id: String,
    /// Whether it was read strictly.
    pub(super) strict: bool,
    /// `running`, `done`, `failed` or `cancelled`.
    pub(super) state: &'static str,
    pub(super) steps: Vec<PlanStep>,
}

/// What became of a plan.
#[derive(SimpleObject)]
pub(super) struct ExecutionResults {
    pub(super) request_id: String,
    /// `running`, `done`, `failed` or `cancelled`. What runs longer than the server waits is `running`: ask for its results later.
    pub(super) state: &'static str,
    pub(super) results: Vec<ToolResult>,
    pub(super) metadata: ExecutionMetadata,
}

#[derive(SimpleObject)]
pub(super) struct ExecutionMetadata {
    pub(super) total_duration_ms: u64,
    pub(super) successful_steps: usize,
    pub(super) failed_steps: usize,
    pub(super) timestamp: String,
}

/// What became of a step.
#[derive(SimpleObject)]
pub(super) struct ToolResult {
    pub(super) success: bool,
    pub(super) tool: String,
    pub(super) data: Option<Json<Value>>,
    pub(super) error: Option<ErrorDetails>,
    pub(super) metadata: ToolResultMetadata,
    pub(super) step_index: usize,
    /// The parameters with values in place of references.
    pub(super) resolved_params: Option<Json<Value>>,
}

#[derive(SimpleObject)]
pub(super) struct ErrorDetails {
    pub(super) code: String,
    pub(super) message: String,
}

#[derive(SimpleObject)]
pub(super) struct ToolResultMetadata {
    /// Milliseconds.
    pub(super) execution_time: u64,
    pub(super) timestamp: String,
}

/// What is wrong with a plan, or odd.
#[derive(SimpleObject)]
pub(super) struct PlanFinding {
    /// `error` or `warning`.
    pub(super) severity: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The place of the step, counted from 0.
    pub(super) step_index: Option<usize>,
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let (code, help) = (problem.code(), problem.help().to_owned());
        Error::new(problem.message()).extend_with(|_, more| {
            more.set("code", code);
            more.set("help", help);
        })
    }
}

impl PlanInput {
    /// The plan as a document in its dialect.
    pub(super) fn document(&self, request: &str) -> Value {
        let step = |step: &PlanStepInput| {
            let mut members = Map::new();
            members.insert("tool".into(), step.tool.clone().into());
            members.insert("params".into(), step.params.0.clone());
            let mut add = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    members.insert(name.into(), value);
                }
            };
            add("dependsOn", step.depends_on.as_ref().map(|it| json!(it)));
            add("parallel", step.parallel.map(Value::from));
            add("optional", step.optional.map(Value::from));
            add("retryCount", step.retry_count.map(Value::from));
            add("timeout", step.timeout.map(Value::from));
            Value::Object(members)
        };
        json!({"requestId": request, "steps": self.steps.iter().map(step).collect::<Vec<_>>()})
    }

    pub(super) fn request(&self) -> Result<String, Problem> {
        let Some(request) = &self.request_id else {
            return Ok(format!("{:016x}", fastrand::u64(..)));
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        if (1..=100).contains(&request.len()) && request.chars().all(is_plain) {
            return Ok(request.clone());
        }
        Err(Problem::bad(
            format!("`{}` is not a request id", short(request)),
            "Use up to 100 ASCII letters, digits, and `.`, `_`, `-`, `:`.",
        ))
    }
}

pub(super) fn found(finding: &Finding) -> PlanFinding {
    let step = finding.step.as_deref();
    PlanFinding {
        severity: severity(finding.severity),
        code: finding.code.as_str(),
        message: Line(&finding.message).to_string(),
        help: finding.help.as_ref().map(|help| Lines(help).to_string()),
        step_index: step.and_then(|step| step.strip_prefix("step")?.parse().ok()),
    }
}
