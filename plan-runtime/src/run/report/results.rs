//! Reports in the form of a step blueprint's `ExecutionResults`.

use super::{Report, Status, StepReport};
use crate::print::MessageName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A report with the names of the step blueprint's `ExecutionResults`. [`Report::to_execution_results`] makes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionResults {
    /// What asked for the run: the plan's name, unless it is replaced.
    pub request_id: String,
    /// What became of the steps, in the plan's order.
    pub results: Vec<ToolResult>,
    /// Totals.
    pub metadata: ExecutionMetadata,
}

/// Totals of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExecutionMetadata {
    /// How long the run took, in milliseconds.
    pub total_duration_ms: u64,
    /// How many results say `success`.
    pub successful_steps: usize,
    /// How many results do not.
    pub failed_steps: usize,
    /// When the run ended, by RFC 3339.
    pub timestamp: String,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// Whether the step completed or was skipped.
    pub success: bool,
    /// The tool's name; empty where there is no single one.
    pub tool: String,
    /// The step's output, where it was [captured](crate::run::Run::capture_outputs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why there is no success.
    pub error: Option<ErrorDetails>,
    /// Times.
    pub metadata: ToolMetadata,
    /// The step's place in the plan, counted from 0.
    pub step_index: usize,
    /// The arguments of the last attempt, where they were captured; of a `for`, a list of those of each call.
    pub resolved_params: Option<Value>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorDetails {
    /// A word for programs; see [`StepError::code`](crate::run::StepError::code).
    pub code: String,
    /// A text for people.
    pub message: String,
}

/// Times of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolMetadata {
    /// How long the step took, in milliseconds.
    pub execution_time: u64,
    /// When the step ended, by RFC 3339.
    pub timestamp: String,
}

impl Report {
    /// The report in the form of the step blueprint: `requestId`, `results`, `metadata` with `successfulSteps`, and so on.
    ///
    /// Steps that were not started are left out.
    ///
    /// ```
    /// # use plan_runtime::{Error, Result, plan, tool};
    /// # #[tool] async fn pay(cents: u32) -> Result<()> { Err(Error::msg(format!("cannot pay {cents}"))) }
    /// let plan = plan! { step paid = Pay { cents: 5 }; paid };
    /// let (_, report) = smol::block_on(plan.run(&()).capture_arguments(true).with_report());
    /// let json = serde_json::to_value(report.to_execution_results())?;
    /// assert_eq!(json["metadata"]["failedSteps"], 1);
    /// assert_eq!(json["results"][0]["tool"], "pay");
    /// assert_eq!(json["results"][0]["error"]["message"], "cannot pay 5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_execution_results(&self) -> ExecutionResults {
        let steps = self.steps.iter().enumerate();
        let results: Vec<ToolResult> = steps
            .filter(|(_, step)| !matches!(step.status, Status::NotStarted))
            .map(|(index, step)| self.result(index, step))
            .collect();
        let successful = results.iter().filter(|result| result.success).count();
        ExecutionResults {
            request_id: self.plan().to_owned(),
            metadata: ExecutionMetadata {
                total_duration_ms: millis(self.duration),
                successful_steps: successful,
                failed_steps: results.len() - successful,
                timestamp: timestamp(self.started_at, self.duration),
            },
            results,
        }
    }

    fn result(&self, index: usize, step: &StepReport) -> ToolResult {
        let error = |code: &str, message: String| {
            let code = code.to_owned();
            Some(ErrorDetails { code, message })
        };
        let error = match &step.status {
            Status::Completed | Status::Skipped => None,
            Status::Failed(failed) | Status::Recovered(failed) => {
                // The blueprint has one code for all errors of tools.
                let code = match failed.as_tool() {
                    Some(_) => "EXECUTION_FAILED",
                    None => failed.code(),
                };
                error(code, failed.to_string())
            }
            Status::Blocked { by } => {
                let by = MessageName(by);
                error("DEPENDENCIES_NOT_MET", format!("step `{by}` has failed"))
            }
            Status::Cancelled => error("CANCELLED", "the step was cancelled".into()),
            Status::Running => error("RUNNING", "the step has not ended".into()),
            Status::NotStarted => error("NOT_STARTED", "the step was not started".into()),
        };
        let captured = || step.attempts.iter().filter_map(|it| it.arguments.as_ref());
        let in_list = step.attempts.iter().any(|it| !it.element.is_empty());
        ToolResult {
            success: error.is_none(),
            tool: step.tool().unwrap_or_default().to_owned(),
            data: step.output().cloned(),
            error,
            metadata: ToolMetadata {
                execution_time: millis(step.duration().unwrap_or_default()),
                timestamp: timestamp(self.started_at, step.ended.unwrap_or(self.duration)),
            },
            step_index: index,
            resolved_params: match captured().next_back() {
                Some(_) if in_list => Some(captured().cloned().collect()),
                last => last.cloned(),
            },
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn timestamp(start: SystemTime, after: Duration) -> String {
    let at = start.checked_add(after).unwrap_or(start);
    humantime::format_rfc3339_millis(at).to_string()
}
