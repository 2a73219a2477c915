//! The failures of a plan that a tool ran inside its call. After a crash, the plan around the call names the failed steps as before.

use super::record::Failed;
use crate::error::{Cause, Failure, RunError, StepPath, Undoing};
use crate::plan::{Role, ToolInfo};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The error of a plan whose steps failed.
#[derive(Serialize, Deserialize)]
pub(super) struct FailedPlan {
    plan: String,
    failures: Vec<FailedStep>,
    undoing: Undoing,
    /// The number of errors around the error of the plan.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) depth: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
struct FailedStep {
    step: StepPath,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    element: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    error: Failed,
    attempts: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocked: Vec<StepPath>,
    #[serde(default)]
    role: RecordedRole,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedRole {
    #[default]
    Work,
    Undo(usize),
    Always,
}

impl FailedPlan {
    pub(super) fn of(run: &RunError, depth: usize) -> Self {
        let failures = run.failures().iter().map(|failure| FailedStep {
            step: failure.step.clone(),
            element: failure.element.clone(),
            tool: failure.tool().map(str::to_owned),
            error: Failed::of(&failure.error),
            attempts: failure.attempts,
            blocked: failure.blocked.clone(),
            role: match failure.role {
                Role::Work => RecordedRole::Work,
                Role::Undo(undone) => RecordedRole::Undo(undone),
                Role::Always => RecordedRole::Always,
            },
        });
        Self {
            plan: run.plan().to_owned(),
            failures: failures.collect(),
            undoing: run.undoing_of().clone(),
            depth,
        }
    }

    pub(super) fn into_error(self) -> RunError {
        let failures = self.failures.into_iter().map(|failed| Failure {
            step: failed.step,
            element: failed.element,
            tool: failed.tool.map(|tool| Arc::new(ToolInfo::new(tool))),
            error: failed.error.into_error(),
            attempts: failed.attempts,
            blocked: failed.blocked,
            role: match failed.role {
                RecordedRole::Work => Role::Work,
                RecordedRole::Undo(undone) => Role::Undo(undone),
                RecordedRole::Always => Role::Always,
            },
        });
        RunError::of(self.plan, Cause::Steps, failures.collect()).undoing(self.undoing)
    }
}
