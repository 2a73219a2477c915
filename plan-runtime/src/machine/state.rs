//! The parts of a run: its scopes, and the runs of steps that are not plain.

use super::attempt::Attempts;
use super::describe::Amounts;
use super::failures::{Cutoff, Failures};
use super::ids::{AttemptId, BodyId, CallId, ColdId, RowId, RunId, ScopeId, StepId, StepSlot};
use super::rows::QuestionList;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::{Index, IndexMut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The driver makes the inputs.
    Inputs,
    Work,
    /// The driver makes the value.
    Output,
    Undo,
    Always,
    Over,
}

/// The attempt that opened a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) run: RunId,
    pub(super) attempt: AttemptId,
}

/// A member of the line of a scope: a step, the run of a step, or an inner scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinePlace {
    pub(super) step: StepId,
    /// The number of the call, the scope or the wait among those of the step.
    pub(super) job: u32,
    /// The attempt that has opened a scope, or [`AttemptId::NONE`].
    pub(super) attempt: AttemptId,
}

/// The run of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScopeRun {
    /// In the work: steps that are ready or run. Then steps that are not undone, then always steps that are not over.
    pub(super) open: u32,
    /// The difference between a step and its slot.
    shift: u32,
    pub(super) row: RowId,
    pub(super) phase: Phase,
    /// `true` if no further step of the work starts.
    pub(super) is_stopping: bool,
    pub(super) has_failed: bool,
    /// `true` if the scope has succeeded, and is undone because the scope around it fails.
    pub(super) is_undone: bool,
    pub(super) cutoff: Option<Cutoff>,
    pub(super) owner: Option<Owner>,
    pub(super) depth: u32,
    /// The called plans around the scope, with the scope itself.
    pub(super) plans: u32,
    /// The question for the value of the scope.
    pub(super) questions: QuestionList,
    /// The runs of the steps that are not plain, in the order of `Tables::colds`.
    pub(super) runs: Vec<Option<RunId>>,
    /// The steps, runs and inner scopes that wait for their turn.
    pub(super) line: BTreeSet<LinePlace>,
    pub(super) failures: BTreeMap<StepId, Failures>,
    /// Steps that do not run, with the first failed step that they need.
    pub(super) blocked: BTreeMap<StepId, StepId>,
    /// While the scope is undone, the number of dependents of each step that are not undone.
    pub(super) not_undone: Vec<u32>,
    /// The results of undo steps in inner scopes that no failure of a step holds.
    pub(super) left: Failures,
    /// The failure of the scope, if the scope is over and the machine tells the ends of scopes.
    pub(super) ended: Option<Box<Failures>>,
}

impl ScopeRun {
    pub(super) fn new(row: RowId, first: u32, base: StepSlot, owner: Option<Owner>) -> Self {
        Self {
            open: 0,
            shift: base.0.wrapping_sub(first),
            row,
            phase: Phase::Work,
            is_stopping: false,
            has_failed: false,
            is_undone: false,
            cutoff: None,
            owner,
            depth: 0,
            plans: 0,
            questions: QuestionList::default(),
            runs: Vec::new(),
            line: BTreeSet::new(),
            failures: BTreeMap::new(),
            blocked: BTreeMap::new(),
            not_undone: Vec::new(),
            left: Failures::default(),
            ended: None,
        }
    }

    #[inline]
    pub(super) fn slot(&self, step: StepId) -> StepSlot {
        StepSlot(step.0.wrapping_add(self.shift))
    }

    #[inline]
    pub(super) fn step(&self, slot: StepSlot) -> StepId {
        StepId(slot.0.wrapping_sub(self.shift))
    }

    /// Returns `true` if the work has not ended, and no further step of the work starts.
    pub(super) fn stops_work(&self) -> bool {
        self.is_stopping && self.phase == Phase::Work
    }
}

/// An element or a round, as the element around it and its place there. `WHOLE` is no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementRow {
    pub(super) around: u32,
    pub(super) place: u32,
}

/// The step itself, where steps have elements.
pub(super) const WHOLE: u32 = 0;

/// The elements and attempts of a step that have not begun. A job is a call, a scope or a wait with all its attempts. All rounds of a loop are one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending {
    /// Bodies of elements that have not started.
    pub(super) queue: VecDeque<(BodyId, u32)>,
    /// The number of jobs so far.
    pub(super) jobs: u32,
    /// The jobs with an attempt that may start, and the attempts.
    pub(super) again: BTreeSet<(u32, AttemptId)>,
    /// The first job of the run in the line of the scope.
    pub(super) lined_up: Option<u32>,
}

/// The run of a step that is not plain: its elements or rounds, each with its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepRun {
    pub(super) scope: ScopeId,
    pub(super) slot: StepSlot,
    pub(super) step: StepId,
    pub(super) cold: ColdId,
    pub(super) amounts: Amounts,
    pub(super) attempts: Attempts,
    /// The element with the number `n` is at `n - 1`.
    pub(super) elements: Vec<ElementRow>,
    /// Elements and attempts that have not begun.
    pub(super) pending: Pending,
    /// Attempts that run or wait for their start, and questions that are open.
    pub(super) running: u32,
    pub(super) asking: u32,
    /// Attempts that run, or that the driver decides about.
    pub(super) active: u32,
    pub(super) questions: QuestionList,
    /// Elements that have no value yet.
    pub(super) outstanding: u32,
    pub(super) failed: Option<Box<(u32, Failures)>>,
    /// Failures of elements whose values the driver replaces.
    pub(super) absorbed: Vec<(u32, Failures)>,
    pub(super) left: Failures,
    /// The timer of a loop with a time limit.
    pub(super) deadline: Option<CallId>,
    /// Attempts that have succeeded and may have to be undone, in the order of time.
    pub(super) kept: Vec<AttemptId>,
    pub(super) is: RunFlags,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunFlags {
    /// Another value replaces the value of an element.
    pub(super) recovered: bool,
    pub(super) skipped: bool,
    /// Calls of the step were dropped, or an element or an attempt will not start.
    pub(super) cut: bool,
    /// The scope around the step was ended before its time, so that no value replaces a failure.
    pub(super) doomed: bool,
    /// The loop has reached its time limit.
    pub(super) late: bool,
    /// The driver cannot decide about a further call now.
    pub(super) deferred: bool,
    pub(super) ended: bool,
}

impl StepRun {
    /// The positions of an element in the lists around it.
    pub(super) fn places(&self, mut element: u32) -> Vec<u32> {
        let mut places = Vec::new();
        while element != WHOLE {
            let ElementRow { around, place } = self.elements[element as usize - 1];
            places.push(place);
            element = around;
        }
        places.reverse();
        places
    }

    pub(super) fn place(&self, element: u32) -> u32 {
        element
            .checked_sub(1)
            .map_or(0, |at| self.elements[at as usize].place)
    }

    pub(super) fn add_element(&mut self, around: u32, place: u32) -> u32 {
        self.elements.push(ElementRow { around, place });
        self.elements.len() as u32
    }

    /// Notes the failure of an element. The failure of the first element in the list counts, and the results of all undo steps.
    pub(super) fn note(&mut self, element: u32, failures: Failures) {
        let other = match &mut self.failed {
            None => {
                self.failed = Some(Box::new((element, failures)));
                return;
            }
            Some(noted) => {
                let is_first = element != noted.0 && {
                    let noted = noted.0;
                    self.places(element) < self.places(noted)
                };
                match &mut self.failed {
                    Some(noted) if is_first => {
                        std::mem::replace(&mut **noted, (element, failures)).1
                    }
                    _ => failures,
                }
            }
        };
        self.left.add(other.of_undo_steps());
    }
}

/// Runs of steps, whose rows are used again with their memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) rows: Vec<StepRun>,
    pub(super) free: Vec<RunId>,
}

impl Runs {
    pub(super) fn open(&mut self, new: StepRun) -> RunId {
        let Some(run) = self.free.pop() else {
            // Runs are as many as slots at most.
            self.rows.push(new);
            return RunId(self.rows.len() as u32 - 1);
        };
        let old = &mut self[run];
        let (mut attempts, mut elements) = (
            std::mem::take(&mut old.attempts),
            std::mem::take(&mut old.elements),
        );
        attempts.take_all().for_each(drop);
        elements.clear();
        *old = StepRun {
            attempts,
            elements,
            ..new
        };
        run
    }
}

impl Index<RunId> for Runs {
    type Output = StepRun;

    #[inline]
    fn index(&self, run: RunId) -> &StepRun {
        &self.rows[run.index()]
    }
}

impl IndexMut<RunId> for Runs {
    #[inline]
    fn index_mut(&mut self, run: RunId) -> &mut StepRun {
        &mut self.rows[run.index()]
    }
}
