//! The arena of steps, and the scopes whose steps follow each other there.

use super::attempt::{Activity, AttemptPhase};
use super::capacity::Capacity;
use super::failures::Full;
use super::ids::{RowId, RunId, ScopeId, StepId, StepSlot, Table};
use super::ready::ReadySet;
use super::state::{Owner, Runs, ScopeRun};
use super::tables::Tables;
use super::word::Hot;
use std::sync::Arc;

/// The steps of a run in their scopes, and the order in which the steps start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arena {
    pub(super) tables: Arc<Tables>,
    pub(super) hot: Vec<Hot>,
    pub(super) ready: ReadySet,
    pub(super) scopes: Table<ScopeId, ScopeRun>,
    /// Scopes that are over for good. The driver may forget these.
    pub(super) freed: Vec<ScopeId>,
    // A run of plain steps does not look at the rest.
    /// Scopes whose rows are free once the driver has taken all commands.
    released: Vec<ScopeId>,
    /// The last free run of each row of the table of scopes. Each leads to the next by its `open`.
    free: Table<RowId, Option<ScopeId>>,
}

impl Arena {
    pub(super) fn new(tables: &Arc<Tables>) -> Self {
        let mut free = Table::default();
        free.rows.resize(tables.rows.rows.len(), None);
        Self {
            tables: Arc::clone(tables),
            hot: Vec::new(),
            ready: ReadySet::new(),
            scopes: Table::default(),
            freed: Vec::new(),
            released: Vec::new(),
            free,
        }
    }

    /// Adds a scope. The owner of the scope is in the scope around.
    pub(super) fn open(
        &mut self,
        row: RowId,
        around: Option<(Owner, ScopeId)>,
        most: &Capacity,
    ) -> Result<ScopeId, Full> {
        let of = &self.tables.rows[row];
        let (depth, plans) = around.map_or((0, 0), |(_, around)| {
            let around = &self.scopes[around];
            let plans = u32::from(self.tables.is_plan(row));
            (around.depth + 1, around.plans + plans)
        });
        if depth >= most.depth {
            return Err(Full::Depth);
        }
        if plans > most.plans {
            return Err(Full::Plans);
        }
        let owner = around.map(|around| around.0);
        let start = &self.tables.hot[of.first as usize..(of.first + of.len) as usize];
        let (scope, mut it) = if let Some(scope) = self.free[row] {
            let old = &mut self.scopes[scope];
            let next = Some(ScopeId(old.open)).filter(|next| *next != scope);
            let mut it = ScopeRun::new(row, of.first, old.slot(StepId(of.first)), owner);
            it.runs = std::mem::take(&mut old.runs);
            it.line = std::mem::take(&mut old.line);
            it.line.clear();
            self.free[row] = next;
            let base = it.slot(StepId(of.first)).index();
            let hot = &mut self.hot[base..base + start.len()];
            for (hot, start) in hot.iter_mut().zip(start) {
                *hot = start.within(scope);
            }
            (scope, it)
        } else {
            let scope = ScopeId(self.scopes.next(most.scopes).ok_or(Full::Scopes)?);
            let base = self.hot.len();
            if base + start.len() > most.slots as usize {
                return Err(Full::Slots);
            }
            self.hot.extend(start.iter().map(|it| it.within(scope)));
            if owner.is_none() {
                self.ready.grow(self.hot.len());
            }
            let it = ScopeRun::new(row, of.first, StepSlot(base as u32), owner);
            (scope, it)
        };
        it.runs.clear();
        it.runs
            .resize((of.colds.end - of.colds.start) as usize, None);
        (it.depth, it.plans) = (depth, plans);
        if scope.index() == self.scopes.rows.len() {
            self.scopes.rows.push(it);
        } else {
            self.scopes[scope] = it;
        }
        Ok(scope)
    }

    /// The run of a step of a scope.
    pub(super) fn run_of(&self, scope: ScopeId, step: StepId) -> Option<RunId> {
        let it = &self.scopes[scope];
        let cold = self.tables.cold_of(it.row, step)?;
        let first = self.tables.rows[it.row].colds.start as usize;
        it.runs[cold.index() - first]
    }

    /// Frees the values of a scope that is over for good, and of the scopes in it. Its row is free as soon as the driver has taken all commands.
    pub(super) fn release(&mut self, runs: &Runs, scope: ScopeId) {
        let (mut open, mut next) = (Vec::new(), Some(scope));
        while let Some(scope) = next {
            self.freed.push(scope);
            let it = &self.scopes[scope];
            for run in it.runs.iter().flatten() {
                let attempts = runs[*run].attempts.iter();
                open.extend(
                    attempts.filter_map(|tried| match (&tried.activity, tried.phase) {
                        (Activity::Scope(inner), AttemptPhase::Kept) => Some(*inner),
                        _ => None,
                    }),
                );
            }
            next = open.pop();
        }
        self.released.push(scope);
    }

    /// Frees the rows of released scopes and of the runs in these scopes.
    pub(super) fn recycle(&mut self, runs: &mut Runs) {
        while let Some(scope) = self.released.pop() {
            let it = &mut self.scopes[scope];
            for run in it.runs.iter().flatten() {
                for tried in runs[*run].attempts.take_all() {
                    if let (Activity::Scope(inner), AttemptPhase::Kept) =
                        (tried.activity, tried.phase)
                    {
                        self.released.push(inner);
                    }
                }
                runs.free.push(*run);
            }
            // The last of the list leads to itself.
            it.open = self.free[it.row].map_or(scope.0, |next| next.0);
            self.free[it.row] = Some(scope);
        }
    }
}
