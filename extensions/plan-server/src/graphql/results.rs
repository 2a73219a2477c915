//! Reports in the form of a blueprint's `ExecutionResults`.

use super::objects::{
    ErrorDetails, ExecutionMetadata, ExecutionResults, ToolResult, ToolResultMetadata,
};
use crate::run_json::time;
use async_graphql::Json;
use plan_graph::MessageName;
use plan_runtime::Report;
use plan_runtime::run::{Attempt, Status, StepReport};
use std::time::Duration;

/// Returns the results of the steps that have started.
pub(super) fn results(report: &Report, request_id: &str, state: &'static str) -> ExecutionResults {
    let steps = report.steps().iter().enumerate();
    let started = steps.filter(|(_, step)| !matches!(step.status(), Status::NotStarted));
    let results: Vec<ToolResult> = started
        .map(|(index, step)| result(report, index, step))
        .collect();
    let successful_steps = results.iter().filter(|result| result.success).count();
    ExecutionResults {
        request_id: request_id.to_owned(),
        state,
        metadata: ExecutionMetadata {
            total_duration_ms: millis(report.duration()),
            successful_steps,
            failed_steps: results.len() - successful_steps,
            timestamp: timestamp(report, report.duration()),
        },
        results,
    }
}

fn result(report: &Report, step_index: usize, step: &StepReport) -> ToolResult {
    let error = error(step.status());
    let captured = || step.attempts().iter().filter_map(Attempt::arguments);
    let is_list = step.attempts().iter().any(|it| !it.element().is_empty());
    let resolved_params = match captured().next_back() {
        Some(_) if is_list => Some(captured().cloned().collect()),
        last => last.cloned(),
    };
    ToolResult {
        success: error.is_none(),
        tool: step.tool().unwrap_or_default().to_owned(),
        data: step.output().cloned().map(Json),
        error,
        metadata: ToolResultMetadata {
            execution_time: millis(step.duration().unwrap_or_default()),
            timestamp: timestamp(report, step.ended().unwrap_or(report.duration())),
        },
        step_index,
        resolved_params: resolved_params.map(Json),
    }
}

fn error(status: &Status) -> Option<ErrorDetails> {
    let (code, message) = match status {
        Status::Completed | Status::Skipped => return None,
        Status::Failed(failed) | Status::Recovered(failed) => {
            // The blueprint has one code for all errors of tools.
            let code = match failed.as_tool() {
                Some(_) => "EXECUTION_FAILED",
                None => failed.code(),
            };
            (code, failed.to_string())
        }
        Status::Blocked { by, .. } => {
            let by = MessageName(by);
            ("DEPENDENCIES_NOT_MET", format!("step `{by}` has failed"))
        }
        Status::Cancelled => ("CANCELLED", "the step was cancelled".to_owned()),
        Status::Running | Status::Waiting => ("RUNNING", "the step has not ended".to_owned()),
        Status::NotStarted => ("NOT_STARTED", "the step was not started".to_owned()),
        status => ("UNKNOWN", status.to_string()),
    };
    let code = code.to_owned();
    Some(ErrorDetails { code, message })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time this long after the start.
fn timestamp(report: &Report, after: Duration) -> String {
    let start = report.started_at();
    time(start.checked_add(after).unwrap_or(start))
}

#[cfg(test)]
mod tests {
    use super::{ExecutionResults, results};
    use plan_runtime::Error;
    use plan_runtime::dynamic::{Contract, Dialect, Reader, Toolbox};
    use plan_runtime::run::OnFailure;
    use serde_json::{Value, json};

    fn ran(steps: &Value) -> ExecutionResults {
        let document = json!({"requestId": "r-7", "steps": steps}).to_string();
        let plan = Reader::new().dialect(Dialect::Blueprint).read(&document);
        let toolbox = Toolbox::<()>::new()
            .with_fn(Contract::new("echo"), |given| async move { Ok(given) })
            .with_fn(Contract::new("fails"), |_| async {
                Err(Error::permanent("the tool is broken"))
            });
        let plan = plan.unwrap().into_plan();
        let run = toolbox.run(&plan, json!({}), &());
        let run = run.on_failure(OnFailure::Continue);
        let run = run.capture_arguments(true).capture_outputs(true);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.unwrap();
        let (_, report) = runtime.block_on(run.with_report());
        results(&report, "r-7", "failed")
    }

    #[test]
    fn results_have_the_codes_and_totals_of_the_blueprint() {
        let found = ran(&json!([
            {"tool": "echo", "params": {"id": 1}},
            {"tool": "echo", "params": {"id": "${step[0].data.id}"}},
            {"tool": "fails", "params": {}, "optional": true},
            {"tool": "fails", "params": {"id": 2}},
            {"tool": "echo", "params": {}, "dependsOn": [3]},
        ]));
        assert_eq!((&*found.request_id, found.state), ("r-7", "failed"));
        let totals = (found.metadata.successful_steps, found.metadata.failed_steps);
        assert_eq!(totals, (2, 3));
        let expected = [
            ("echo", Some(json!({"id": 1})), None),
            ("echo", Some(json!({"id": 1})), None),
            (
                "fails",
                Some(json!({})),
                Some(("EXECUTION_FAILED", "the tool is broken")),
            ),
            (
                "fails",
                Some(json!({"id": 2})),
                Some(("EXECUTION_FAILED", "the tool is broken")),
            ),
            (
                "echo",
                None,
                Some(("DEPENDENCIES_NOT_MET", "step `step3` has failed")),
            ),
        ];
        assert_eq!(found.results.len(), expected.len());
        for (index, (result, of)) in found.results.iter().zip(expected).enumerate() {
            let (tool, params, error) = of;
            let found = result.error.as_ref();
            assert_eq!(found.map(|it| (&*it.code, &*it.message)), error);
            assert_eq!((&*result.tool, result.step_index), (tool, index));
            assert_eq!(result.success, error.is_none());
            assert_eq!(
                result.resolved_params.as_ref().map(|it| &it.0),
                params.as_ref()
            );
            assert!(result.metadata.timestamp.ends_with('Z'));
            if result.success {
                assert_eq!(result.data.as_ref().map(|it| &it.0), params.as_ref());
            }
        }
    }
}
