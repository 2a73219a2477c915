//! A look at the state of a run: its failures, and the parts of steps that calls, questions and scopes are about.

use super::attempt::{Activity, AttemptPhase};
use super::event::QuestionId;
use super::failures::Failures;
use super::ids::{AttemptId, BodyId, CallId, RunId, ScopeId, StepId, StepSlot};
use super::lookup::Lookup;
use super::rows::{COLD_CALLS, OpenQuestion};
use super::state::{Owner, Phase, WHOLE};
use super::tables::Tables;
use super::word::StepStatus;

/// A look at the state of a run. The state of an inner scope exists until the driver has taken the command that frees the scope.
#[derive(Clone, Copy)]
pub struct MachineView<'m> {
    pub(super) lookup: Lookup<'m>,
}

/// A part of a step that is not plain: a body, in an element of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The step.
    pub step: StepId,
    /// The slot of the step in the arena.
    pub slot: StepSlot,
    /// The number of the body among the bodies of the step, in the order of the source.
    pub body: u32,
    /// The number of the element, from 1 on, or 0 for the step itself. The elements of a list have consecutive numbers.
    pub element: u32,
    /// The number of the call, the scope or the wait among those of the step. All attempts have this number.
    pub job: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The scope that the attempt has opened.
    pub inside: Option<ScopeId>,
}

impl Part {
    /// The number of the step itself among its elements.
    pub const WHOLE: u32 = WHOLE;
}

impl CallId {
    /// The id of no call.
    pub const NONE: Self = Self(u32::MAX);

    /// Returns `true` for the call of a plain step. The id is the number of the step's slot.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 < COLD_CALLS
    }
}

impl<'m> MachineView<'m> {
    /// Returns the tables of the plan.
    pub fn tables(self) -> &'m Tables {
        &self.lookup.0.arena.tables
    }

    /// Returns the failures of a run that has failed, with the results of its undo steps.
    ///
    /// # Errors
    ///
    /// The failures.
    pub fn result(self) -> Result<(), Failures> {
        self.lookup.result(ScopeId::ROOT)
    }

    /// Returns the failures so far of a run that may not be over, with the results of its undo steps.
    pub fn so_far(self) -> Failures {
        self.lookup.undoing(ScopeId::ROOT)
    }

    /// Returns the failure of the attempt before a timer. `None` if the timer is no wait between two attempts.
    pub fn waits_after(self, timer: CallId) -> Option<&'m Failures> {
        let core = self.lookup.0;
        let row = core.dispatcher.calls.get(timer)?;
        let attempts = &core.dispatcher.runs[row.run].attempts;
        match &attempts.get(row.attempt)?.activity {
            Activity::Backoff(_, failures) => Some(failures),
            _ => None,
        }
    }

    /// Returns the number of rows that the run has needed so far: of steps, scopes, steps that are not plain, calls and questions.
    pub fn rows(self) -> [usize; 5] {
        let core = self.lookup.0;
        [
            core.arena.hot.len(),
            core.arena.scopes.rows.len(),
            core.dispatcher.runs.rows.len(),
            core.dispatcher.calls.capacity(),
            core.dispatcher.questions.capacity(),
        ]
    }

    /// Returns the scope of a slot.
    #[inline]
    pub fn scope_of(self, slot: StepSlot) -> ScopeId {
        self.lookup.0.arena.hot[slot.index()].scope()
    }

    /// Returns the scope of a plain call.
    pub fn scope_of_plain(self, call: CallId) -> ScopeId {
        self.scope_of(StepSlot(call.0))
    }

    /// Returns `true` if steps in a scope may have to be undone after the scope has succeeded.
    pub fn can_undo(self, scope: ScopeId) -> bool {
        let core = self.lookup.0;
        core.arena.tables.rows[core.arena.scopes[scope].row].can_undo
    }

    /// Returns the first slot of a scope, and the number of its slots.
    pub fn slots(self, scope: ScopeId) -> (StepSlot, usize) {
        let core = self.lookup.0;
        let it = &core.arena.scopes[scope];
        let row = &core.arena.tables.rows[it.row];
        (it.slot(StepId(row.first)), row.len as usize)
    }

    /// Returns the part that a call, a wait or a timer belongs to, unless the step is plain.
    pub fn part(self, call: CallId) -> Option<Part> {
        let row = self.lookup.0.dispatcher.calls.get(call)?;
        match row.attempt {
            AttemptId::NONE => Some(self.whole(row.run)),
            attempt => Some(self.part_of(row.run, attempt)),
        }
    }

    /// Returns the plan that a call may turn out to be, by its position in the list of plans.
    pub fn may_open(self, call: CallId) -> Option<usize> {
        let (_, row) = self.lookup.may_open(call)?;
        Some(row.index())
    }

    /// Returns the part that a question is about.
    pub fn asked(self, id: QuestionId) -> Option<Part> {
        Some(match self.lookup.0.dispatcher.questions.get(id)? {
            OpenQuestion::Body { run, body, element } => Part {
                body: self.number(run, body),
                element,
                ..self.whole(run)
            },
            OpenQuestion::Again { run, attempt } => self.part_of(run, attempt),
            OpenQuestion::Amounts(run) => self.whole(run),
            OpenQuestion::Fallback { run, element } => Part {
                element,
                ..self.whole(run)
            },
            OpenQuestion::Inputs(scope) | OpenQuestion::Output(scope) => self.owner(scope)?,
        })
    }

    /// Returns `true` if the work of a scope has not ended.
    pub fn works(self, scope: ScopeId) -> bool {
        let phase = self.lookup.0.arena.scopes[scope].phase;
        matches!(phase, Phase::Inputs | Phase::Work | Phase::Output)
    }

    /// Returns `true` if a scope inside the scope has succeeded, and has something to undo.
    pub fn has_kept(self, scope: ScopeId) -> bool {
        let core = self.lookup.0;
        let runs = core.arena.scopes[scope].runs.iter().flatten();
        let mut attempts = runs.flat_map(|run| core.dispatcher.runs[*run].attempts.iter());
        attempts.any(|tried| match (&tried.activity, tried.phase) {
            (Activity::Scope(inner), AttemptPhase::Kept | AttemptPhase::IsUndone) => {
                self.has_undo(*inner)
            }
            _ => false,
        })
    }

    fn has_undo(self, scope: ScopeId) -> bool {
        let core = self.lookup.0;
        let it = &core.arena.scopes[scope];
        let mut steps = core.arena.tables.rows[it.row].steps();
        let is_undone = |step| {
            let status = core.arena.hot[it.slot(step).index()].status();
            status == StepStatus::Completed && core.arena.tables.undo_of(it.row, step).is_some()
        };
        steps.any(is_undone) || self.has_kept(scope)
    }

    /// Returns the part that has opened a scope. The scope of the whole plan has none.
    pub fn owner(self, scope: ScopeId) -> Option<Part> {
        let Owner { run, attempt } = self.lookup.0.arena.scopes[scope].owner?;
        Some(self.part_of(run, attempt))
    }

    /// Returns the number of elements that a step has so far.
    pub fn elements(self, slot: StepSlot) -> u32 {
        let run = self.run(slot);
        run.map_or(0, |run| {
            self.lookup.0.dispatcher.runs[run].elements.len() as u32
        })
    }

    /// Returns the positions of an element in the lists around the element, or the number of a round.
    pub fn places(self, slot: StepSlot, element: u32) -> Vec<u32> {
        match self.run(slot) {
            Some(run) if element != WHOLE => self.lookup.0.dispatcher.runs[run].places(element),
            _ => Vec::new(),
        }
    }

    /// Returns the statuses of the steps of a scope.
    pub fn statuses(self, scope: ScopeId) -> Vec<StepStatus> {
        let (first, count) = self.slots(scope);
        let hot = &self.lookup.0.arena.hot[first.index()..first.index() + count];
        hot.iter().map(|hot| hot.status()).collect()
    }

    /// Returns the failure of a step that has failed, by the position of the step in the scope.
    pub fn failed(self, scope: ScopeId, place: usize) -> Option<Failures> {
        let it = &self.lookup.0.arena.scopes[scope];
        let first = self.lookup.0.arena.tables.rows[it.row].first;
        it.failures.get(&StepId(first + place as u32)).cloned()
    }

    /// Returns the failure of a step, or of the first failed step that the step needs.
    pub fn failure(self, scope: ScopeId, place: usize) -> Option<Failures> {
        let it = &self.lookup.0.arena.scopes[scope];
        let step = StepId(self.lookup.0.arena.tables.rows[it.row].first + place as u32);
        let by = it.blocked.get(&step).unwrap_or(&step);
        it.failures.get(by).cloned()
    }

    /// Returns the failed step that has blocked a step of a scope. Each step is a position in the scope.
    pub fn blocker(self, scope: ScopeId, place: usize) -> Option<usize> {
        let it = &self.lookup.0.arena.scopes[scope];
        let first = self.lookup.0.arena.tables.rows[it.row].first;
        let by = it.blocked.get(&StepId(first + place as u32))?;
        Some((by.0 - first) as usize)
    }

    /// Returns the failure of a scope that is over, if the machine tells the ends of scopes. The scope exists until the driver has taken all commands.
    pub fn ended(self, scope: ScopeId) -> Option<&'m Failures> {
        self.lookup.0.arena.scopes[scope].ended.as_deref()
    }

    /// Returns the failure that a question asks to replace.
    pub fn absorbed(self, id: QuestionId) -> Option<Failures> {
        let OpenQuestion::Fallback { run, element } = self.lookup.0.dispatcher.questions.get(id)?
        else {
            return None;
        };
        let it = &self.lookup.0.dispatcher.runs[run];
        if element == WHOLE {
            let mut failures = it.failed.as_ref()?.1.clone();
            failures.add(it.left.clone());
            return Some(failures);
        }
        let absorbed = it.absorbed.iter().find(|it| it.0 == element);
        absorbed.map(|it| it.1.clone())
    }

    fn run(self, slot: StepSlot) -> Option<RunId> {
        let scope = self.scope_of(slot);
        let step = self.lookup.0.arena.scopes[scope].step(slot);
        self.lookup.0.arena.run_of(scope, step)
    }

    /// The number of a body among the bodies of the step.
    fn number(self, run: RunId, body: BodyId) -> u32 {
        let core = self.lookup.0;
        let cold = core.dispatcher.runs[run].cold;
        body.0 - core.arena.tables.colds[cold].body.0
    }

    fn whole(self, run: RunId) -> Part {
        let it = &self.lookup.0.dispatcher.runs[run];
        Part {
            step: it.step,
            slot: it.slot,
            body: 0,
            element: WHOLE,
            job: 0,
            attempt: 1,
            inside: None,
        }
    }

    fn part_of(self, run: RunId, attempt: AttemptId) -> Part {
        let tried = &self.lookup.0.dispatcher.runs[run].attempts[attempt];
        Part {
            body: self.number(run, tried.body),
            element: tried.element,
            job: tried.job,
            attempt: tried.number,
            inside: match tried.activity {
                Activity::Scope(scope) => Some(scope),
                _ => None,
            },
            ..self.whole(run)
        }
    }
}
