//! The failures of steps and scopes.

use super::hand::err;
use plan_runtime::plan::Role;
use serde_json::{Value, json};

/// The failure of a step or a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The first of these counts.
    pub(crate) failures: Vec<Failure>,
    pub(crate) undone: Vec<String>,
    pub(crate) not_undone: Vec<String>,
    /// The reason, if it was ended rather than failed.
    pub(crate) cut: Option<Why>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The path of the step, and the failure as `#[catch]` returns it.
    pub(crate) path: String,
    pub(crate) code: &'static str,
    pub(crate) transient: bool,
    /// The step with its attempts.
    pub(crate) attempts: usize,
    pub(crate) blocked: Vec<String>,
    pub(crate) role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Another step has failed, under `OnFailure::Cancel`.
    Beside,
    Cancelled,
    Late,
}

impl Failure {
    pub(crate) fn text(&self) -> String {
        let Self {
            path,
            attempts,
            blocked,
            ..
        } = self;
        format!("{path} #{attempts} blocks {blocked:?}")
    }
}

impl Failed {
    /// Returns the first failure as a value, for the step with this path. The failure names the step relative to the scope
    /// that catches it.
    pub(crate) fn caught(&self, path: &str) -> Value {
        let first = &self.failures[0];
        let scope = path.rfind('.').map_or(0, |dot| dot + 1);
        json!({ "Err": err(&first.path[scope..], first.code, self.is_transient()) })
    }

    /// Returns `true` if another attempt may help.
    pub(crate) fn is_transient(&self) -> bool {
        self.not_undone.is_empty() && self.failures.first().is_some_and(|it| it.transient)
    }

    /// Adds the failures and the undone steps of an inner scope.
    pub(crate) fn add(&mut self, other: Self) {
        self.failures.extend(other.failures);
        self.undone.extend(other.undone);
        self.not_undone.extend(other.not_undone);
    }

    /// Adds the work that a caught failure leaves.
    pub(crate) fn add_absorbed(&mut self, failed: Self) {
        if !failed.not_undone.is_empty() {
            self.add(failed.of_cut());
        }
    }

    /// Returns the failure of an interrupted scope, without the failures of its work.
    pub(crate) fn of_cut(mut self) -> Self {
        self.failures.retain(|it| matches!(it.role, Role::Undo(_)));
        self
    }
}
