//! The values of a scope, with its secrets: errors without secret values, and masked arguments.

use super::super::StepError;
use super::super::context::CallContext;
use super::super::start::OwnStart;
use super::task::Site;
use crate::error::Cause;
use crate::machine::ScopeId;
use crate::plan::{Graph, Handing, Plan, Secrecy};
use crate::resolve::StoredValue;
use crate::shape::Secrets;
use serde_json::Value;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

/// The plan, the block or the round that a scope runs, with the inputs.
pub(super) struct ScopeValues<'x> {
    pub(super) plan: &'x Plan,
    pub(super) graph: Arc<Graph>,
    pub(super) handing: Option<Arc<Handing>>,
    /// `true` if the code that starts the actions passes Rust values on.
    pub(super) hands_over: bool,
    /// The slot of the first step.
    pub(super) first: usize,
    /// The number of the first action.
    pub(super) actions: usize,
    pub(super) inputs: Vec<StoredValue>,
    /// The `Result`s that always steps see instead of outputs. The list is empty before the first always step.
    pub(super) seen: Vec<Option<StoredValue>>,
    pub(super) owner: Option<Opener>,
    /// The number of scopes around the scope.
    pub(super) depth: usize,
    /// The number of plans around the plan that the scope is part of.
    pub(super) plans: usize,
    /// The bytes that the inputs and the scope itself count.
    pub(super) bytes: usize,
    /// The scope of the called plan that the steps are part of.
    pub(super) called: Option<ScopeId>,
    /// The code that starts the actions of a called plan, in the scope of the plan.
    pub(super) own: Option<Box<OwnStart<'x>>>,
    pub(super) secrecy: Option<Arc<Secrecy>>,
    /// The steps with undo steps of which gates have allowed a call.
    pub(super) allowed: Vec<usize>,
    /// `true` if plain calls take the fast path. The run has no watch, no journal and no engine. The scope has no secrets, no enclosing called plan and
    /// no Rust values.
    pub(super) is_plain: bool,
}

impl<'x> ScopeValues<'x> {
    /// Returns the scope of the plan of a run.
    pub(super) fn root(
        plan: &'x Plan,
        graph: Arc<Graph>,
        hands_over: bool,
        inputs: Vec<StoredValue>,
    ) -> Self {
        Self {
            plan,
            graph,
            handing: None,
            hands_over,
            first: 0,
            actions: 0,
            inputs,
            seen: Vec::new(),
            owner: None,
            depth: 0,
            plans: 0,
            bytes: 0,
            called: None,
            own: None,
            secrecy: None,
            allowed: Vec::new(),
            is_plain: false,
        }
    }

    /// Returns the number of the first action of a step.
    #[inline]
    pub(super) fn first_action(&self, step: usize) -> usize {
        self.actions + self.graph.actions[step] as usize
    }

    /// Returns `true` if the scope is part of a called plan or has secrets.
    pub(super) fn is_more(&self) -> bool {
        self.called.is_some() || self.secrecy.is_some()
    }

    /// Returns `true` if a step reads a secret.
    pub(super) fn touches(&self, step: usize) -> bool {
        let secrecy = self.secrecy.as_ref();
        secrecy.is_some_and(|secrecy| secrecy.touches(step))
    }

    /// Returns the error of the output of the scope, or of the condition after a round. The error contains no values if the output may be secret.
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

/// The location of a call in a run, with the end of its time.
pub(super) struct At {
    pub(super) of: Site,
    /// The number of the action among the actions of the step.
    pub(super) action: usize,
    pub(super) element: Vec<usize>,
    pub(super) is_plan: bool,
    pub(super) until: Option<Duration>,
}

/// The attempt that has opened a scope.
pub(super) struct Opener {
    pub(super) at: At,
    pub(super) times: u32,
    pub(super) context: OnceCell<CallContext>,
    /// `true` after the value of the scope is made.
    pub(super) has_value: bool,
}

impl Drop for Opener {
    /// Ends the context, which a tool may keep.
    fn drop(&mut self) {
        if let Some(context) = self.context.get() {
            context.close(!self.has_value);
        }
    }
}

/// Returns the secrets of a plan that runs in a call, or of the plan of a run.
pub(super) fn secrecy_of(
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
