//! The state of each step of a run.

use super::super::report::Attempt;
use super::block_run::BlockRun;
use super::body_state::{BodyState, Failed};
use super::step_state::StepState;
use crate::error::Left;
use crate::plan::Policy;
use std::sync::Arc;

/// How far the steps have come.
pub(super) struct StepStates<'x> {
    pub(super) states: Vec<StepState>,
    /// What hardly any step has; there is no list before one has it.
    more: Vec<Option<Box<ExtraState<'x>>>>,
}

/// What there is to know of a step that is more than a call with an output.
#[derive(Default)]
pub(super) struct ExtraState<'x> {
    /// While it runs, unless it is a single call.
    pub(super) flow: Option<Box<BodyState<'x>>>,
    /// Its policy, where amounts of it were given when it started.
    pub(super) policy: Option<Arc<Policy>>,
    /// Whether no condition held.
    pub(super) skipped: bool,
    /// The failure whose output null or a fallback replaces.
    pub(super) recovered: Option<Failed>,
    /// Its attempts, where they are to be in a report and it is not a single call.
    pub(super) log: Vec<Attempt>,
    /// Its blocks that have succeeded, and may have to be undone.
    pub(super) kept: Vec<BlockRun<'x>>,
    /// How many of them are being undone.
    pub(super) undoing: usize,
}

impl<'x> StepStates<'x> {
    /// None has started.
    pub(super) fn new(steps: usize) -> Self {
        Self {
            states: vec![StepState::Waiting; steps],
            more: Vec::new(),
        }
    }

    pub(super) fn more(&mut self, step: usize) -> &mut ExtraState<'x> {
        if self.more.is_empty() {
            self.more.resize_with(self.states.len(), || None);
        }
        self.more[step].get_or_insert_default()
    }

    #[inline]
    pub(super) fn more_of(&self, step: usize) -> Option<&ExtraState<'x>> {
        self.more.get(step)?.as_deref()
    }

    #[inline]
    pub(super) fn more_mut(&mut self, step: usize) -> Option<&mut ExtraState<'x>> {
        self.more.get_mut(step)?.as_deref_mut()
    }

    pub(super) fn flow(&self, step: usize) -> Option<&BodyState<'x>> {
        self.more_of(step)?.flow.as_deref()
    }

    pub(super) fn flow_mut(&mut self, step: usize) -> Option<&mut BodyState<'x>> {
        self.more_mut(step)?.flow.as_deref_mut()
    }

    /// Takes out what became of the undo steps in a step that runs.
    pub(super) fn take_left(&mut self, step: usize) -> Option<Left> {
        Some(std::mem::take(&mut self.flow_mut(step)?.left))
    }

    /// Takes the flow out, for good or for a while.
    pub(super) fn take_flow(&mut self, step: usize) -> Option<Box<BodyState<'x>>> {
        self.more_mut(step)?.flow.take()
    }
}
