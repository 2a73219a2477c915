//! The secrets of a scope: errors without secret values, and masked arguments.

use super::super::StepError;
use super::super::context::CallContext;
use super::scope_values::ScopeValues;
use crate::error::Cause;
use crate::plan::{Graph, Plan, Secrecy};
use crate::resolve::StoredValue;
use crate::shape::Secrets;
use serde_json::Value;
use std::sync::Arc;

/// Returns the secrets of a plan that runs in a call, or of the plan of a run.
pub(super) fn secrecy(
    plan: &Plan,
    graph: &Graph,
    around: Option<&CallContext>,
) -> Option<Arc<Secrecy>> {
    match around.and_then(CallContext::secrets) {
        Some(given) => Secrecy::of(plan, given, &|_| None),
        None => graph.secrecy.clone(),
    }
}

/// Returns the inputs of a plan, or an error without the values in it if the plan has secrets.
pub(super) fn hushed_inputs(
    inputs: Result<Vec<StoredValue>, Cause>,
    has_secrets: bool,
) -> Result<Vec<StoredValue>, Cause> {
    inputs.map_err(|cause| match cause {
        Cause::Inputs(error) if has_secrets => Cause::Inputs(error.without_values()),
        cause => cause,
    })
}

impl ScopeValues<'_> {
    /// Returns `true` if a step reads a secret.
    pub(super) fn touches(&self, step: usize) -> bool {
        let secrecy = self.secrecy.as_ref();
        secrecy.is_some_and(|secrecy| secrecy.touches(step))
    }

    /// Returns the error of a step, without the values in it if one of them may be secret.
    pub(super) fn hushed(&self, step: usize, error: StepError) -> StepError {
        let has_secret_output = || {
            let secrecy = self.secrecy.as_ref();
            secrecy.is_some_and(|secrecy| !secrecy.output_of(step).is_empty())
        };
        let is_output = matches!(error, StepError::Output(_));
        if self.touches(step) || is_output && has_secret_output() {
            error.without_values()
        } else {
            error
        }
    }

    /// Returns the error of the value of the scope or of the condition after a round, without the values in it if one of them may be secret.
    pub(super) fn hushed_output(&self, error: StepError) -> StepError {
        match &self.secrecy {
            Some(secrecy) if secrecy.output_touches() => error.without_values(),
            _ => error,
        }
    }

    /// Returns the secrets among the arguments of an action.
    pub(super) fn secrets(&self, number: usize) -> Option<&Secrets> {
        let secrecy = self.secrecy.as_ref()?;
        Some(secrecy.arguments(number - self.actions))
    }

    /// Masks the secrets among the arguments of an action.
    pub(super) fn mask(&self, number: usize, arguments: &mut Value) {
        if let Some(secrets) = self.secrets(number) {
            secrets.mask_in(arguments);
        }
    }
}
