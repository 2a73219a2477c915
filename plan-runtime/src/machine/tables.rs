//! A plan as flat tables. The steps of all scopes have consecutive numbers, and the steps of one scope are adjacent.

use super::event::StepStatus;
use super::ids::{BodyId, ColdId, RowId, StepId, Table};
use super::nodes::{Amounts, BadNodes, Duty, NodeBlock, NodeBody, Nodes, Recovery, Timing, number};
use super::parts::Hot;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The edges of a step, as indices of tables of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StepRow {
    /// The index of the first dependent in `Tables::readers`. The dependents end at `readers` of the next row.
    readers: u32,
    /// The index of the first dependency in `Tables::needs`. The dependencies end at `needs` of the next row.
    needs: u32,
}

/// The description of a step that is not plain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cold {
    /// The outermost body of the step. The other bodies of the step have the next ids.
    pub(super) body: BodyId,
    pub(super) recovery: Recovery,
    /// The reaction to the failure of an element of a list.
    pub(super) each: Recovery,
    pub(super) amounts: Amounts,
    pub(super) timing: Timing,
    /// The step that the step undoes.
    pub(super) undoes: Option<StepId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepBody {
    Call,
    Value,
    /// A call that may turn out to be a plan.
    Open(RowId),
    Await,
    /// The branches, as a range of `branches`.
    If(u32, u32),
    For(BodyId),
    Loop(RowId),
    Scope(RowId),
}

/// The description of a scope. Each opened scope is a `ScopeRun`, whose `row` is the id of the description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeRow {
    /// The id of the first step.
    pub(super) first: u32,
    /// The number of steps of all duties.
    pub(super) len: u32,
    /// The number of steps of the work.
    pub(super) work: u32,
    /// The number of always steps.
    pub(super) always: u32,
    /// The rows of `colds`, `roots` and `undos` that belong to the scope.
    pub(super) colds: Range<u32>,
    roots: Range<u32>,
    undos: Range<u32>,
    /// `true` if a step in the scope may have to be undone after the scope has succeeded.
    pub(super) can_undo: bool,
    pub(super) has_inputs: bool,
    pub(super) has_output: bool,
}

impl ScopeRow {
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = StepId> + use<> {
        (self.first..self.first + self.len).map(StepId)
    }
}

/// A plan as flat tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    steps: Vec<StepRow>,
    labels: Table<StepId, u32>,
    /// The initial state of each step.
    pub(super) hot: Vec<Hot>,
    readers: Vec<StepId>,
    needs: Vec<StepId>,
    pub(super) rows: Table<RowId, ScopeRow>,
    pub(super) colds: Table<ColdId, Cold>,
    /// The step of each row of `colds`: in order within a scope.
    cold_steps: Vec<StepId>,
    pub(super) bodies: Table<BodyId, StepBody>,
    branches: Vec<BodyId>,
    /// The steps of the work without dependencies.
    roots: Vec<StepId>,
    /// Steps with their undo steps: in order within a scope.
    undos: Vec<(StepId, StepId)>,
    /// The number of plans, whose rows come first.
    plans: u32,
}

impl Tables {
    /// Creates the tables for a run of the first plan. The other plans are plans that steps call. Each plan may call any plan in the list, including
    /// itself.
    ///
    /// # Errors
    ///
    /// [`BadNodes`] if the description contradicts itself.
    pub fn new(plans: &[NodeBlock]) -> Result<Arc<Self>, BadNodes> {
        if plans.is_empty() {
            return Err(BadNodes::NoPlan(0));
        }
        let mut builder = TablesBuilder {
            tables: Self {
                plans: number(plans.len())?,
                // The edges of a step end where the edges of the next row begin, so the table has one row more than steps.
                steps: vec![StepRow::default()],
                ..Self::default()
            },
            scopes: plans.iter().collect(),
            inside: Vec::new(),
        };
        let mut row = 0;
        while let Some(scope) = builder.scopes.pop_front() {
            builder.scope(RowId(row), scope)?;
            row = number(row as usize + 1)?;
        }
        Ok(Arc::new(builder.finish()))
    }

    /// Returns the label of a step.
    pub fn label(&self, step: StepId) -> u32 {
        self.labels[step]
    }

    /// Returns the number of steps of the plan, without the steps of inner scopes.
    pub fn len(&self) -> usize {
        self.rows[RowId(0)].len as usize
    }

    /// Returns `true` if the plan has no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dependencies of a step.
    #[inline]
    pub fn needs(&self, step: StepId) -> &[StepId] {
        match &self.steps[step.index()..] {
            [it, next, ..] => &self.needs[it.needs as usize..next.needs as usize],
            _ => &[],
        }
    }

    /// Returns the dependents of a step.
    #[inline]
    pub fn readers(&self, step: StepId) -> &[StepId] {
        match &self.steps[step.index()..] {
            [it, next, ..] => &self.readers[it.readers as usize..next.readers as usize],
            _ => &[],
        }
    }

    #[inline]
    pub(super) fn start(&self, step: StepId) -> Hot {
        self.hot[step.index()]
    }

    pub(super) fn roots(&self, row: RowId) -> &[StepId] {
        let Range { start, end } = self.rows[row].roots;
        &self.roots[start as usize..end as usize]
    }

    /// Returns the undo step of a step of a scope.
    pub(super) fn undo_of(&self, row: RowId, step: StepId) -> Option<StepId> {
        if !self.start(step).has_undo() {
            return None;
        }
        let Range { start, end } = self.rows[row].undos;
        let undos = &self.undos[start as usize..end as usize];
        let at = undos.binary_search_by_key(&step, |it| it.0).ok()?;
        Some(undos[at].1)
    }

    /// Returns the row of a step of a scope, unless the step is plain.
    pub(super) fn cold_of(&self, row: RowId, step: StepId) -> Option<ColdId> {
        if self.start(step).is_plain() {
            return None;
        }
        let of = &self.rows[row];
        let Range { start, end } = of.colds;
        let colds = &self.cold_steps[start as usize..end as usize];
        let at = if colds.len() == of.len as usize {
            step.index() - of.first as usize
        } else {
            colds.binary_search(&step).ok()?
        };
        Some(ColdId(start + at as u32))
    }

    pub(super) fn branch(&self, first: u32, number: u32) -> BodyId {
        self.branches[(first + number) as usize]
    }

    /// Returns `true` if a scope is a called plan, or the whole plan.
    pub(super) fn is_plan(&self, row: RowId) -> bool {
        row.0 < self.plans
    }

    pub(super) fn is_loop(&self, body: BodyId) -> bool {
        matches!(self.bodies[body], StepBody::Loop(_))
    }

    /// Returns `true` if a scope that a body opens may have to be undone after the scope has succeeded.
    pub(super) fn can_undo(&self, body: BodyId) -> bool {
        match self.bodies[body] {
            StepBody::Open(row) | StepBody::Loop(row) | StepBody::Scope(row) => {
                self.rows[row].can_undo
            }
            _ => false,
        }
    }
}

/// The position of a body in a step.
#[derive(Clone, Copy)]
struct BodyPlace {
    row: RowId,
    label: u32,
    depth: u32,
    is_listed: bool,
}

struct TablesBuilder<'d> {
    tables: Tables,
    /// The scopes that wait for their rows, in the order of their row numbers.
    scopes: VecDeque<&'d NodeBlock>,
    /// Scopes with the scopes right inside them.
    inside: Vec<(RowId, RowId)>,
}

impl<'d> TablesBuilder<'d> {
    fn scope(&mut self, row: RowId, scope: &'d NodeBlock) -> Result<(), BadNodes> {
        let (nodes, labels) = (&scope.steps, scope.steps.labels());
        let first = number(self.tables.hot.len())?;
        number(self.tables.hot.len() + labels.len())?;
        let mut of = ScopeRow {
            first,
            len: number(labels.len())?,
            has_inputs: scope.has_inputs,
            has_output: scope.has_output,
            roots: number(self.tables.roots.len())?..0,
            ..ScopeRow::default()
        };
        self.needs(first, nodes)?;
        self.readers(&of);
        if let Some(step) = self.in_circle(&of) {
            return Err(BadNodes::Circle(labels[step.index() - first as usize]));
        }
        let tables = &mut self.tables;
        tables.labels.rows.extend(labels);
        tables.hot.reserve(labels.len());
        for (place, step) in of.steps().enumerate() {
            let waiting = tables.needs(step).len() as u32;
            tables.hot.push(Hot::new(waiting, nodes.other(place)));
            match nodes.duty(place) {
                Duty::Work if waiting == 0 => tables.roots.push(step),
                Duty::Always => of.always += 1,
                Duty::Work | Duty::Undo(_) => {}
            }
            of.work += u32::from(nodes.duty(place) == Duty::Work);
        }
        of.roots.end = number(self.tables.roots.len())?;
        of.undos = self.undos(first, nodes)?;
        of.can_undo = !of.undos.is_empty();
        let colds = number(self.tables.colds.rows.len())?;
        for (place, node) in nodes.others() {
            let at = BodyPlace {
                row,
                label: node.label,
                depth: 0,
                is_listed: false,
            };
            let body = self.body(at, &node.body)?;
            self.tables.cold_steps.push(StepId(first + place));
            self.tables.colds.rows.push(Cold {
                body,
                recovery: node.recovery,
                each: node.each,
                amounts: node.amounts,
                timing: node.timing,
                undoes: match node.duty {
                    Duty::Undo(undone) => Some(StepId(first + undone as u32)),
                    Duty::Work | Duty::Always => None,
                },
            });
        }
        of.colds = colds..number(self.tables.colds.rows.len())?;
        self.tables.rows.rows.push(of);
        debug_assert_eq!(self.tables.rows.rows.len(), row.index() + 1);
        Ok(())
    }

    /// Adds the dependencies of the steps of a scope, in order and without repetitions.
    fn needs(&mut self, first: u32, nodes: &Nodes) -> Result<(), BadNodes> {
        let Tables { steps, needs, .. } = &mut self.tables;
        let count = nodes.labels().len();
        steps.reserve(count);
        needs.reserve((0..count).map(|place| nodes.after(place).len()).sum());
        let mut own = Vec::new();
        for (place, &label) in nodes.labels().iter().enumerate() {
            for &need in nodes.after(place) {
                if need as usize >= count {
                    return Err(BadNodes::NoStep(label));
                }
                match (nodes.duty(need as usize), nodes.duty(place)) {
                    (Duty::Work, Duty::Work) | (Duty::Always, Duty::Always) => {
                        own.push(StepId(first + need));
                    }
                    // The other steps of a scope come after all work.
                    (Duty::Work, Duty::Undo(_) | Duty::Always) => {}
                    _ => return Err(BadNodes::BadOrder(label)),
                }
            }
            own.sort_unstable();
            own.dedup();
            needs.append(&mut own);
            steps.push(StepRow {
                readers: 0,
                needs: number(needs.len())?,
            });
        }
        Ok(())
    }

    /// Adds the dependents of the steps of a scope. Call this method after `needs`.
    fn readers(&mut self, of: &ScopeRow) {
        let tables = &mut self.tables;
        let before = tables.readers.len();
        for need in &tables.needs[before..] {
            tables.steps[need.index() + 1].readers += 1;
        }
        let mut next = Vec::with_capacity(of.len as usize);
        for step in of.steps().map(StepId::index) {
            let first = tables.steps[step].readers;
            next.push(first);
            tables.steps[step + 1].readers += first;
        }
        tables.readers.resize(tables.needs.len(), StepId(0));
        for step in of.steps() {
            let [it, end] = [step.index(), step.index() + 1].map(|at| tables.steps[at].needs);
            for need in &tables.needs[it as usize..end as usize] {
                let next = &mut next[need.index() - of.first as usize];
                tables.readers[*next as usize] = step;
                *next += 1;
            }
        }
    }

    /// Returns a step that waits for itself, if the scope has one.
    fn in_circle(&self, of: &ScopeRow) -> Option<StepId> {
        let (tables, first) = (&self.tables, of.first as usize);
        let mut waits: Vec<u32> = of.steps().map(|it| tables.needs(it).len() as u32).collect();
        let mut open: Vec<StepId> = of
            .steps()
            .filter(|it| tables.needs(*it).is_empty())
            .collect();
        while let Some(step) = open.pop() {
            for &reader in tables.readers(step) {
                let waits = &mut waits[reader.index() - first];
                *waits -= 1;
                if *waits == 0 {
                    open.push(reader);
                }
            }
        }
        let is_stuck = |step: &StepId| waits[step.index() - first] > 0;
        let mut step = of.steps().find(is_stuck)?;
        // A step that depends on a cycle is stuck as well. A walk along stuck dependencies ends on a cycle.
        for _ in of.steps() {
            let needs = tables.needs(step).iter().copied();
            step = { needs }.find(is_stuck).unwrap_or(step);
        }
        Some(step)
    }

    fn undos(&mut self, first: u32, nodes: &Nodes) -> Result<Range<u32>, BadNodes> {
        let from = self.tables.undos.len();
        for (undo, node) in nodes.others() {
            let Duty::Undo(undone) = node.duty else {
                continue;
            };
            if undone >= nodes.labels().len() || nodes.duty(undone) != Duty::Work {
                return Err(BadNodes::NoStep(node.label));
            }
            let [undone, undo] = [undone as u32, undo].map(|it| StepId(first + it));
            self.tables.undos.push((undone, undo));
            self.tables.hot[undone.index()].mark_undo();
        }
        let undos = &mut self.tables.undos[from..];
        undos.sort_unstable();
        if let Some(two) = undos.windows(2).find(|it| it[0].0 == it[1].0) {
            let place = (two[1].1.0 - first) as usize;
            return Err(BadNodes::TwoUndos(nodes.labels()[place]));
        }
        Ok(number(from)?..number(self.tables.undos.len())?)
    }

    /// Adds a body with its inner bodies. The numbers of the bodies of a step follow the order of the source.
    fn body(&mut self, at: BodyPlace, node: &'d NodeBody) -> Result<BodyId, BadNodes> {
        if at.depth > BadNodes::DEPTH {
            return Err(BadNodes::TooDeep(at.label));
        }
        let inside = BodyPlace {
            depth: at.depth + 1,
            is_listed: at.is_listed || matches!(node, NodeBody::For(_)),
            ..at
        };
        let body = BodyId(number(self.tables.bodies.rows.len())?);
        self.tables.bodies.rows.push(StepBody::Call);
        self.tables.bodies[body] = match node {
            NodeBody::Call => StepBody::Call,
            NodeBody::Value => StepBody::Value,
            NodeBody::Await => StepBody::Await,
            NodeBody::If(nodes) => {
                let mut branches = Vec::with_capacity(nodes.len());
                for node in nodes {
                    branches.push(self.body(inside, node)?);
                }
                let first = number(self.tables.branches.len())?;
                self.tables.branches.append(&mut branches);
                StepBody::If(first, number(nodes.len())?)
            }
            NodeBody::For(node) => StepBody::For(self.body(inside, node)?),
            // A step stores only one sequence of rounds, so a list cannot contain a loop.
            NodeBody::Loop(_) if at.is_listed => return Err(BadNodes::ListedLoop(at.label)),
            NodeBody::Loop(scope) => StepBody::Loop(self.inner(at.row, scope)?),
            NodeBody::Block(scope) => StepBody::Scope(self.inner(at.row, scope)?),
            NodeBody::Plan(plan) => StepBody::Scope(self.plan(at.row, *plan)?),
            NodeBody::Open(plan) => StepBody::Open(self.plan(at.row, *plan)?),
        };
        Ok(body)
    }

    /// Returns the row of a plan that a step of a scope may call.
    fn plan(&mut self, row: RowId, plan: usize) -> Result<RowId, BadNodes> {
        if plan >= self.tables.plans as usize {
            return Err(BadNodes::NoPlan(plan));
        }
        let inner = RowId(number(plan)?);
        self.inside.push((row, inner));
        Ok(inner)
    }

    /// Returns the row of a new inner scope.
    fn inner(&mut self, row: RowId, scope: &'d NodeBlock) -> Result<RowId, BadNodes> {
        // The scope that is being added has no row yet, and is no longer in `scopes`.
        let inner = RowId(number(row.index() + 1 + self.scopes.len())?);
        self.scopes.push_back(scope);
        self.inside.push((row, inner));
        Ok(inner)
    }

    fn finish(mut self) -> Tables {
        let tables = &mut self.tables;
        // Propagate `can_undo` outward. One pass is enough for blocks and rounds, whose rows come after the row of the enclosing scope. Plans may
        // call each other in cycles, so the passes repeat until no row changes.
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for &(outer, inner) in self.inside.iter().rev() {
                if tables.rows[inner].can_undo && !tables.rows[outer].can_undo {
                    tables.rows[outer].can_undo = true;
                    is_new = true;
                }
            }
        }
        self.tables
    }
}

const _: () = assert!(size_of::<Hot>() == 8 && StepStatus::Waiting as u32 == 0);
