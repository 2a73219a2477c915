//! The types of GraphQL, with the names of a blueprint.

use crate::error::{Problem, short};
use crate::findings::severity;
use async_graphql::{Error, ErrorExtensions, InputObject, Json, SimpleObject};
use plan_graph::{Line, Lines};
use plan_runtime::dynamic::Finding;
use serde_json::{Map, Value, json};

/// A plan. The steps refer to outputs of other steps by their indices, such as `${step[0].data[0].id}`.
#[derive(InputObject)]
pub(super) struct PlanInput {
    /// The name of the request. A repeated request returns the results of the first request. Another plan with this name is an error. By default, the server creates a name.
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
    /// Has no effect: independent steps always run in parallel.
    pub(super) parallel: Option<bool>,
    /// `true` if the plan continues after the step fails.
    pub(super) optional: Option<bool>,
    /// The number of retries.
    pub(super) retry_count: Option<u32>,
    /// The timeout of each attempt, in milliseconds.
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

/// An executed plan.
#[derive(SimpleObject)]
pub(super) struct Plan {
    pub(super) request_id: String,
    /// `true` for the strict reading.
    pub(super) strict: bool,
    /// `running`, `done`, `failed` or `cancelled`.
    pub(super) state: &'static str,
    pub(super) steps: Vec<PlanStep>,
}

/// The results of a plan.
#[derive(SimpleObject)]
pub(super) struct ExecutionResults {
    pub(super) request_id: String,
    /// `running`, `done`, `failed` or `cancelled`. If the plan is still `running`, query `results` later.
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

/// The result of a step.
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

/// An error or a warning about a plan.
#[derive(SimpleObject)]
pub(super) struct PlanFinding {
    /// `error` or `warning`.
    pub(super) severity: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The index of the step, counted from 0.
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
    /// Returns the plan as a blueprint.
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
