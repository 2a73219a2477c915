//! The state of the parts of a run: of each step in eight bytes, and of scopes, steps that are not plain, and their attempts.

use super::event::{CallError, QuestionId, StepPlace, StepStatus};
use super::failures::{Cutoff, Failures};
use super::ids::{
    AttemptId, BodyId, CallId, ColdId, RowId, RunId, ScopeId, StepId, StepSlot, Table,
};
use super::nodes::{Amounts, Duty, Node};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const STATUSES: [StepStatus; 8] = [
    StepStatus::Waiting,
    StepStatus::Running,
    StepStatus::Completed,
    StepStatus::Skipped,
    StepStatus::Recovered,
    StepStatus::Failed,
    StepStatus::Blocked,
    StepStatus::Cancelled,
];

const STATUS: u32 = 0b111;
const HAS_UNDO: u32 = 1 << 3;
const UNDO: u32 = 1 << 4;
const ALWAYS: u32 = 1 << 5;
const PLAIN: u32 = 1 << 7;

/// The maximum number of scopes: `Hot::word` has 24 bits for the scope.
pub(super) const SCOPES: u32 = 1 << 24;

/// The hot state of a step: a cache line has eight of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hot {
    /// The number of steps that the step waits for.
    pub(super) waiting: u32,
    /// The number of the scope in the upper three bytes. The status and the kind of the step in the lowest byte.
    word: u32,
}

impl Hot {
    /// Returns the initial state of a step. `node` is `None` for a plain step.
    pub(super) fn new(waiting: u32, node: Option<&Node>) -> Self {
        let word = match node.map(|node| node.duty) {
            None => PLAIN,
            Some(Duty::Work) => 0,
            Some(Duty::Undo(_)) => UNDO,
            Some(Duty::Always) => ALWAYS,
        };
        Self { waiting, word }
    }

    pub(super) fn mark_undo(&mut self) {
        self.word |= HAS_UNDO;
    }

    #[inline]
    pub(super) fn within(self, scope: ScopeId) -> Self {
        Self {
            waiting: self.waiting,
            word: self.word | scope.0 << 8,
        }
    }

    #[inline]
    pub(super) fn scope(self) -> ScopeId {
        ScopeId(self.word >> 8)
    }

    #[inline]
    pub(super) fn status(self) -> StepStatus {
        STATUSES[(self.word & STATUS) as usize]
    }

    #[inline]
    pub(super) fn is_running(self) -> bool {
        self.word & STATUS == StepStatus::Running as u32
    }

    #[inline]
    pub(super) fn set(&mut self, status: StepStatus) {
        self.word = self.word & !STATUS | status as u32;
    }

    /// Starts a step that waits.
    #[inline]
    pub(super) fn start(&mut self) {
        self.word += StepStatus::Running as u32 - StepStatus::Waiting as u32;
    }

    /// Ends a step that runs.
    #[inline]
    pub(super) fn complete(&mut self) {
        self.word += StepStatus::Completed as u32 - StepStatus::Running as u32;
    }

    #[inline]
    pub(super) fn is_plain(self) -> bool {
        self.word & PLAIN != 0
    }

    /// Returns `true` for a plain step of the plan itself.
    #[inline]
    pub(super) fn is_plain_in_root(self) -> bool {
        self.word & (!0xFF | PLAIN) == PLAIN
    }

    /// Returns `true` if the step has not started and waits for nothing.
    pub(super) fn is_ready(self) -> bool {
        self.waiting == 0 && self.word & STATUS == StepStatus::Waiting as u32
    }

    #[inline]
    pub(super) fn has_undo(self) -> bool {
        self.word & HAS_UNDO != 0
    }

    #[inline]
    pub(super) fn is_work(self) -> bool {
        self.word & (UNDO | ALWAYS) == 0
    }

    #[inline]
    pub(super) fn is_always(self) -> bool {
        self.word & ALWAYS != 0
    }
}

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
    /// The number of the call, the scope or the wait in its step.
    pub(super) job: u32,
    /// The attempt that has opened a scope, or [`AttemptId::NONE`].
    pub(super) attempt: AttemptId,
}

/// The state of an opened scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScopeRun {
    /// The number of open steps. In the phase `Work`: the steps that are ready or run. In the phase `Undo`: the steps that are not undone. In the
    /// phase `Always`: the always steps that have not ended.
    pub(super) open: u32,
    /// The difference between a step and its slot.
    pub(super) shift: u32,
    pub(super) row: RowId,
    pub(super) phase: Phase,
    /// `true` if the work starts no more steps.
    pub(super) is_stopping: bool,
    pub(super) has_failed: bool,
    /// `true` if the scope has succeeded, and has returned to its undo phase because the scope around it fails.
    pub(super) is_reopened: bool,
    pub(super) cutoff: Option<Cutoff>,
    pub(super) owner: Option<Owner>,
    pub(super) depth: u32,
    /// The number of called plans around the scope, including the scope itself.
    pub(super) plans: u32,
    /// The question for the inputs or the value of the scope.
    pub(super) question: Option<QuestionId>,
    /// The runs of the steps that are not plain, in the order of `Tables::colds`.
    pub(super) runs: Vec<Option<RunId>>,
    /// The steps, runs and inner scopes that wait for their turn.
    pub(super) line: BTreeSet<LinePlace>,
    pub(super) failures: BTreeMap<StepId, Failures>,
    /// Steps that do not run, each with a failed step that it needs. During the work, the failed step is the first in time. After the work,
    /// `find_blockers` replaces it by the failed step that is first in the plan.
    pub(super) blocked: BTreeMap<StepId, StepId>,
    /// While the scope is undone, the number of dependents of each step that are not undone.
    pub(super) not_undone: Vec<u32>,
    /// Failures and results of undo steps that are in no failure of a step in the scope. They come from absorbed failures, from cancelled steps, from
    /// the value of the scope, and from an exceeded capacity.
    pub(super) left: Failures,
    /// The failure of the scope, if the scope is over and the machine reports the ends of scopes. The trails of the failure need the attempt that has
    /// opened the scope, whose row may be free when the driver asks.
    pub(super) ended: Option<Box<Failures>>,
}

impl ScopeRun {
    pub(super) fn new(row: RowId, owner: Option<Owner>, depth: u32, plans: u32) -> Self {
        Self {
            open: 0,
            shift: 0,
            row,
            phase: Phase::Work,
            is_stopping: false,
            has_failed: false,
            is_reopened: false,
            cutoff: None,
            owner,
            depth,
            plans,
            question: None,
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

    /// Returns `true` if the work has not ended, and starts no more steps.
    pub(super) fn stops_work(&self) -> bool {
        self.is_stopping && self.phase == Phase::Work
    }
}

/// The position of an element or a round. `around` is the enclosing element, or `WHOLE`. `place` is the index in the list, or the number of the
/// round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementRow {
    pub(super) around: u32,
    pub(super) place: u32,
}

/// The number that stands for the whole step instead of an element.
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
    /// The lowest job of this step in the line of the scope.
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
    pub(super) attempts: Table<AttemptId, Attempt>,
    /// The element with the number `n` is at `n - 1`.
    pub(super) elements: Vec<ElementRow>,
    /// Elements and attempts that have not begun.
    pub(super) pending: Pending,
    /// Attempts that run or wait for their start.
    pub(super) running: u32,
    /// Attempts that run, or that the driver decides about.
    pub(super) active: u32,
    /// Questions that are open.
    pub(super) questions: BTreeSet<QuestionId>,
    /// The number of elements without a value. A step counts as one element until the machine has the length of its list. A failed element
    /// stays in the number.
    pub(super) outstanding: u32,
    /// The failed element that is first in the list, with its failure.
    pub(super) failed: Option<Box<(u32, Failures)>>,
    /// Failures of elements whose values the driver replaces.
    pub(super) absorbed: BTreeMap<u32, Failures>,
    /// Failures and results of undo steps that are not in `failed`.
    pub(super) left: Failures,
    /// The timer of a loop with a time limit.
    pub(super) deadline: Option<CallId>,
    /// The error of the time limit that the loop has reached.
    pub(super) late: Option<CallError>,
    /// Attempts that have succeeded and may have to be undone, in the order of time.
    pub(super) kept: Vec<AttemptId>,
    /// Facts about the step, such as `is.stopped`.
    pub(super) is: RunFlags,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunFlags {
    /// Another value replaces the value of an element.
    pub(super) recovered: bool,
    pub(super) skipped: bool,
    /// No attempt, element or round of the step starts.
    pub(super) stopped: bool,
    /// The step had failed when its calls were dropped, so that no value replaces the failure.
    pub(super) doomed: bool,
    /// The driver cannot decide about a further call now.
    pub(super) deferred: bool,
    pub(super) ended: bool,
}

impl StepRun {
    pub(super) fn new(
        scope: ScopeId,
        slot: StepSlot,
        step: StepId,
        cold: ColdId,
        amounts: Amounts,
    ) -> Self {
        Self {
            scope,
            slot,
            step,
            cold,
            amounts,
            attempts: Table::default(),
            elements: Vec::new(),
            pending: Pending::default(),
            running: 0,
            active: 0,
            questions: BTreeSet::new(),
            outstanding: 1,
            failed: None,
            absorbed: BTreeMap::new(),
            left: Failures::default(),
            deadline: None,
            late: None,
            kept: Vec::new(),
            is: RunFlags::default(),
        }
    }

    /// Starts the call, the wait or the scope of an attempt.
    pub(super) fn start(&mut self, attempt: AttemptId, activity: Activity) {
        let tried = &mut self.attempts[attempt];
        (tried.activity, tried.failed) = (activity, None);
        self.active += 1;
    }

    /// Returns the position of an attempt.
    pub(super) fn step_place(&self, attempt: AttemptId) -> StepPlace {
        let tried = self.attempts.get(attempt);
        StepPlace {
            step: self.step,
            slot: self.slot,
            attempt: tried.map_or(1, |it| it.number),
        }
    }

    /// Returns the positions of an element in the lists around it.
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

    /// Records the failure of an element. The failure of the first failed element in the list becomes the failure of the step. `left` keeps the
    /// results of undo steps from the other failures.
    pub(super) fn note(&mut self, element: u32, failures: Failures) {
        let noted = self.failed.as_ref().map(|noted| noted.0);
        let is_first =
            noted.is_none_or(|noted| element != noted && self.places(element) < self.places(noted));
        let other = if is_first {
            let noted = self.failed.replace(Box::new((element, failures)));
            noted.map(|noted| noted.1)
        } else {
            Some(failures)
        };
        self.left.add(other.unwrap_or_default().of_undo_steps());
    }
}

/// An attempt of an element or a round, or the wait before the attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) body: BodyId,
    /// The number of the element or the round, or `WHOLE`.
    pub(super) element: u32,
    /// The number of the attempt of its element or its round, from 1 on.
    pub(super) number: u32,
    /// The number of the job in the step, which determines the order of starts.
    pub(super) job: u32,
    pub(super) activity: Activity,
    /// `true` if the next attempt or round had begun before a crash, so that it begins even beyond the amounts of the step.
    pub(super) is_followed: bool,
    /// The failure of the previous attempt. `None` after this attempt has started.
    pub(super) failed: Option<Box<Failures>>,
    pub(super) phase: AttemptPhase,
    /// The error of the time limit that the attempt has reached. The error of a deadline replaces the error of a timeout, because no attempt may
    /// follow a deadline.
    pub(super) late: Option<CallError>,
    pub(super) timeout: Option<CallId>,
    pub(super) deadline: Option<CallId>,
    /// The timer of `every`. The next round starts after this timer.
    pub(super) every: Option<CallId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Nothing,
    /// The wait for a permit.
    Ready,
    /// The wait for the driver, which decides whether the attempt may start.
    Asked(CallId),
    Call(CallId),
    Await(CallId),
    Scope(ScopeId),
    /// The wait before the attempt.
    Backoff(CallId),
    /// The wait before a round.
    Every,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptPhase {
    Runs,
    /// The attempt has succeeded, and may have to be undone.
    Kept,
    Undoing,
    Over,
}

impl Attempt {
    pub(super) fn new(body: BodyId, element: u32, number: u32, job: u32) -> Self {
        Self {
            body,
            element,
            number,
            job,
            activity: Activity::Nothing,
            is_followed: false,
            failed: None,
            phase: AttemptPhase::Runs,
            late: None,
            timeout: None,
            deadline: None,
            every: None,
        }
    }

    /// Returns the scope that the attempt has opened.
    pub(super) fn inside(&self) -> Option<ScopeId> {
        match self.activity {
            Activity::Scope(scope) => Some(scope),
            _ => None,
        }
    }

    /// Returns the scope of an attempt that has succeeded, if the scope may have to be undone.
    pub(super) fn kept(&self) -> Option<ScopeId> {
        self.inside().filter(|_| self.phase == AttemptPhase::Kept)
    }

    /// Returns `true` if the attempt has not started, or waits for a value from outside.
    pub(super) fn waits(&self) -> bool {
        matches!(
            self.activity,
            Activity::Ready
                | Activity::Asked(_)
                | Activity::Backoff(_)
                | Activity::Every
                | Activity::Await(_)
        )
    }
}

impl Table<AttemptId, Attempt> {
    pub(super) fn runs(&self, id: AttemptId) -> bool {
        self.get(id)
            .is_some_and(|it| it.phase == AttemptPhase::Runs)
    }

    /// Frees the row of an ended attempt. Only one round of a loop runs at a time, and its row is the last one, so the rows of rounds remain in order.
    pub(super) fn release(&mut self, id: AttemptId) {
        if id.index() + 1 == self.rows.len() {
            self.rows.pop();
        } else {
            self[id].activity = Activity::Nothing;
            self.free.push(id);
        }
    }

    /// Returns the attempts in the order of their elements. Rows are reused, so their order differs from the order of the elements.
    pub(super) fn in_order(&self) -> Vec<AttemptId> {
        let mut ids: Vec<_> = (0..self.rows.len() as u32).map(AttemptId).collect();
        ids.sort_unstable_by_key(|id| (self[*id].element, self[*id].number));
        ids
    }
}
