//! The readers of values, counted plainly: no value is read after it was dropped, each value is dropped once, and nothing is kept after its last possible reader.

use plan_runtime::machine::{
    Duty, Freed, Inquiry, MachineView, Node, NodeBlock, NodeBody, Reaction, ScopeId, StepSlot,
    StepStatus, Tables,
};
use std::collections::{BTreeMap, BTreeSet};

/// A step of a description. Steps are numbered by their labels.
struct Source {
    duty: Duty,
    /// The labels of the steps whose outputs the step reads.
    reads: Vec<u32>,
    block: usize,
}

struct SourceBlock {
    /// The labels of the steps whose outputs are read after the work.
    read: Vec<u32>,
    has_output: bool,
    is_loop: bool,
}

/// Plans whose steps have labels of their own.
pub(super) struct Sources {
    pub(super) tables: Tables,
    steps: Vec<Source>,
    blocks: Vec<SourceBlock>,
}

impl Sources {
    pub(super) fn new(mut plans: Vec<NodeBlock>) -> Self {
        let mut sources = Self {
            tables: Tables::default(),
            steps: Vec::new(),
            blocks: Vec::new(),
        };
        plans.iter_mut().for_each(|it| sources.add(it, false));
        sources.tables = Tables::new(&plans).unwrap();
        sources
    }

    fn add(&mut self, block: &mut NodeBlock, is_loop: bool) {
        let (first, number) = (self.steps.len() as u32, self.blocks.len());
        let label = |place: &usize| first + *place as u32;
        let is_work = |place: &usize| block.steps[*place].duty == Duty::Work;
        let work = (0..block.steps.len()).filter(is_work).collect();
        self.blocks.push(SourceBlock {
            read: block
                .read
                .as_ref()
                .unwrap_or(&work)
                .iter()
                .map(label)
                .collect(),
            has_output: block.has_output,
            is_loop,
        });
        for (place, node) in block.steps.iter_mut().enumerate() {
            node.label = label(&place);
            let reads = node.after.iter().filter(|it| !node.unread.contains(it));
            self.steps.push(Source {
                duty: node.duty,
                reads: reads.map(label).collect(),
                block: number,
            });
        }
        block
            .steps
            .iter_mut()
            .for_each(|Node { body, .. }| self.body(body));
    }

    fn body(&mut self, body: &mut NodeBody) {
        match body {
            NodeBody::If(branches) => branches.iter_mut().for_each(|it| self.body(it)),
            NodeBody::For(body) => self.body(body),
            NodeBody::Loop(block) => self.add(block, true),
            NodeBody::Block(block) => self.add(block, false),
            NodeBody::Call
            | NodeBody::Value
            | NodeBody::Open(_)
            | NodeBody::Await
            | NodeBody::Plan(_) => {}
        }
    }
}

/// The steps of a scope: the label of each, with its slot and its status.
type Steps = BTreeMap<u32, (StepSlot, StepStatus)>;

/// The values that a driver has, and their readers.
pub(super) struct Values<'d> {
    sources: &'d Sources,
    reaction: Reaction,
    /// The scopes of steps that the driver has seen.
    scopes: BTreeSet<ScopeId>,
    /// Slots whose values were dropped.
    freed: BTreeSet<StepSlot>,
    /// Scopes whose question was answered.
    read: BTreeSet<ScopeId>,
    pub(super) dropped: usize,
}

const fn has_output(status: StepStatus) -> bool {
    matches!(
        status,
        StepStatus::Completed | StepStatus::Skipped | StepStatus::Recovered
    )
}

const fn has_ended(status: StepStatus) -> bool {
    has_output(status) || matches!(status, StepStatus::Failed | StepStatus::Cancelled)
}

impl<'d> Values<'d> {
    pub(super) fn new(sources: &'d Sources, reaction: Reaction) -> Self {
        Self {
            sources,
            reaction,
            scopes: BTreeSet::from([ScopeId::ROOT]),
            freed: BTreeSet::new(),
            read: BTreeSet::new(),
            dropped: 0,
        }
    }

    fn steps(&self, view: MachineView<'_, '_>, scope: ScopeId) -> Steps {
        let steps = view.steps(scope).into_iter();
        let labeled = steps.map(|(step, status)| {
            let slot = view.slot(scope, step);
            (self.sources.tables.label(step), (slot, status))
        });
        labeled.collect()
    }

    /// The driver has a call, a wait or a question of a step.
    pub(super) fn see(&mut self, view: MachineView<'_, '_>, slot: StepSlot) {
        self.scopes.insert(view.scope_of(slot));
    }

    /// The scope whose outputs a question reads after the work.
    fn asked(view: MachineView<'_, '_>, inquiry: Inquiry) -> Option<ScopeId> {
        match inquiry {
            Inquiry::Output(scope) => Some(scope),
            Inquiry::Again(place, _) => {
                let tries = view.tries(view.scope_of(place.slot), place.step);
                tries.last().and_then(|it| it.inside)
            }
            _ => None,
        }
    }

    /// Returns the scope whose outputs nothing reads once the question is answered.
    pub(super) fn ask(&mut self, view: MachineView<'_, '_>, inquiry: Inquiry) -> Option<ScopeId> {
        match inquiry {
            Inquiry::Branch(place, _)
            | Inquiry::List(place, _)
            | Inquiry::Again(place, _)
            | Inquiry::Amounts(place)
            | Inquiry::Instead(place) => self.see(view, place.slot),
            Inquiry::Inputs(_) | Inquiry::Output(_) => {}
        }
        let scope = Self::asked(view, inquiry)?;
        self.scopes.insert(scope);
        self.check_output(view, scope);
        // The condition of a loop is asked after the value of the round.
        let is_round = self
            .block(&self.steps(view, scope))
            .is_some_and(|it| it.is_loop);
        let is_last = matches!(inquiry, Inquiry::Again(..)) || !is_round;
        is_last.then_some(scope)
    }

    fn block(&self, steps: &Steps) -> Option<&SourceBlock> {
        let (label, _) = steps.first_key_value()?;
        Some(&self.sources.blocks[self.sources.steps[*label as usize].block])
    }

    /// The driver has answered a question about the outputs of a scope.
    pub(super) fn answer(&mut self, scope: ScopeId) {
        self.read.insert(scope);
    }

    pub(super) fn free(&mut self, view: MachineView<'_, '_>, freed: Freed) {
        match freed {
            Freed::Output(slot) => {
                let scope = view.scope_of(slot);
                let steps = self.steps(view, scope);
                let status = steps.values().find(|it| it.0 == slot).unwrap().1;
                assert!(has_ended(status), "{slot:?} is dropped early: {status:?}");
                assert!(self.freed.insert(slot), "{slot:?} is dropped twice");
                self.scopes.insert(scope);
                self.dropped += 1;
            }
            Freed::Scope(scope) => {
                for (label, (slot, status)) in self.steps(view, scope) {
                    assert_ne!(status, StepStatus::Running);
                    let was_freed = self.freed.remove(&slot);
                    assert_eq!(was_freed, has_ended(status), "{label} {slot:?} {status:?}");
                }
                self.scopes.remove(&scope);
                self.read.remove(&scope);
            }
        }
    }

    /// The outputs that a scope reads after its work are there.
    fn check_output(&self, view: MachineView<'_, '_>, scope: ScopeId) {
        let steps = self.steps(view, scope);
        let Some(block) = self.block(&steps) else {
            return;
        };
        for read in &block.read {
            let (slot, status) = steps[read];
            assert!(has_output(status) && !self.freed.contains(&slot), "{read}");
        }
    }

    /// Compares the values that the driver has with their possible readers.
    pub(super) fn check(&self, view: MachineView<'_, '_>) {
        for scope in &self.scopes {
            let steps = self.steps(view, *scope);
            for (label, (slot, status)) in &steps {
                if !has_output(*status) {
                    assert!(
                        !has_ended(*status) || self.freed.contains(slot),
                        "the parts of {label} are left"
                    );
                    continue;
                }
                let is_held = !self.freed.contains(slot);
                let reader = self.certain(&steps, *label);
                assert!(
                    is_held || reader.is_none(),
                    "{label} is gone, and {reader:?} reads it"
                );
                assert!(
                    !is_held || self.may_be_read(*scope, &steps, *label),
                    "{label} is kept for nothing: {steps:?}"
                );
            }
        }
    }

    fn readers<'a>(
        &'a self,
        steps: &'a Steps,
        label: u32,
    ) -> impl Iterator<Item = (u32, Duty, StepStatus)> + 'a {
        let all = steps.iter().map(|(reader, it)| {
            let source = &self.sources.steps[*reader as usize];
            (*reader, source, it.1)
        });
        let readers = all.filter(move |it| it.1.reads.contains(&label));
        readers.map(|(reader, source, status)| (reader, source.duty, status))
    }

    /// A step that reads the output of another now, or will in any case.
    fn certain(&self, steps: &Steps, label: u32) -> Option<u32> {
        let is_certain = |it: &(u32, Duty, StepStatus)| match it.2 {
            StepStatus::Running => true,
            StepStatus::Waiting => it.1 == Duty::Always,
            _ => false,
        };
        self.readers(steps, label).find(is_certain).map(|it| it.0)
    }

    fn may_be_read(&self, scope: ScopeId, steps: &Steps, label: u32) -> bool {
        let work = || {
            let is_work = |label: &u32| self.sources.steps[*label as usize].duty == Duty::Work;
            steps
                .iter()
                .filter(move |it| is_work(it.0))
                .map(|it| it.1.1)
        };
        let has = |status| work().any(|it| it == status);
        let is_stopped = has(StepStatus::Cancelled)
            || has(StepStatus::Failed) && self.reaction != Reaction::Continue;
        let by_step = self
            .readers(steps, label)
            .any(|(_, duty, status)| match duty {
                Duty::Undo(_) => true,
                Duty::Always => matches!(status, StepStatus::Waiting | StepStatus::Running),
                Duty::Work => {
                    status == StepStatus::Running || status == StepStatus::Waiting && !is_stopped
                }
            });
        let block = &self.sources.blocks[self.sources.steps[label as usize].block];
        let is_over = work().all(has_ended) && !block.has_output && !block.is_loop;
        let by_scope = block.read.contains(&label)
            && !self.read.contains(&scope)
            && !is_stopped
            && !has(StepStatus::Failed)
            && !is_over;
        by_step || by_scope
    }
}
