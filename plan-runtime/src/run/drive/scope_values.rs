//! The values of a scope, and the attempt that has opened the scope.

use super::super::context::CallContext;
use super::super::start::OwnStart;
use crate::machine::{Part, ScopeId};
use crate::plan::{Graph, Handing, Plan, Secrecy};
use crate::resolve::StoredValue;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

/// The plan, the block or the round that a scope runs, with the inputs.
pub(super) struct ScopeValues<'x> {
    pub(super) plan: &'x Plan,
    pub(super) graph: Arc<Graph>,
    pub(super) handing: Option<Arc<Handing>>,
    /// `true` if the code that starts the actions hands over Rust values.
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
    /// `true` if plain calls need nothing of all this.
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
            is_plain: false,
        }
    }

    /// Returns `true` if plain calls need the plan around the scope, Rust values or secrets.
    pub(super) fn is_more(&self) -> bool {
        self.called.is_some() || self.handing.is_some() || self.secrecy.is_some()
    }
}

/// The attempt that has opened a scope.
pub(super) struct Opener {
    pub(super) scope: ScopeId,
    pub(super) part: Part,
    /// The place of the step in its plan.
    pub(super) step: usize,
    /// The number of the action among the actions of the step.
    pub(super) action: usize,
    pub(super) element: Vec<usize>,
    pub(super) times: u32,
    /// The end of the time of the attempt.
    pub(super) until: Option<Duration>,
    pub(super) context: OnceCell<CallContext>,
}
