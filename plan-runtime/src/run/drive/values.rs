//! The values of a run: the inputs of scopes, and the outputs of steps by their slots.

use super::super::context::Held;
use super::super::limits::CALL_BYTES;
use super::super::start::OwnStart;
use super::convert::bodies;
use super::scope_values::ScopeValues;
use super::scope_values::StepValues;
use super::task::Site;
use crate::error::StepError;
use crate::machine::{CallId, Part, ScopeId, StepSlot};
use crate::plan::{Action, Body, Keep, Plan, Policy, Source, Step};
use crate::resolve::{Handed, Scope, StoredValue};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The values of a run.
pub(super) struct Values<'x> {
    scopes: Vec<Option<ScopeValues<'x>>>,
    outputs: Vec<Option<StoredValue>>,
    /// The number of steps that are still to read each output.
    readers: Vec<u32>,
    /// The values inside steps that are not plain, by slots.
    steps: HashMap<usize, Box<StepValues<'x>>>,
    /// The bytes that the run holds, and the calls that it has made.
    pub(super) held: Held,
    /// `true` if a watch, a journal or an engine may need more of a plain call than its start.
    pub(super) has_layers: bool,
    /// The number of open scopes with secrets.
    with_secrets: usize,
}

impl<'x> Values<'x> {
    pub(super) fn new(held: Held) -> Self {
        Self {
            scopes: Vec::new(),
            outputs: Vec::new(),
            readers: Vec::new(),
            steps: HashMap::new(),
            held,
            has_layers: false,
            with_secrets: 0,
        }
    }

    /// Takes the values of a scope that begins.
    pub(super) fn open(&mut self, scope: ScopeId, mut it: ScopeValues<'x>) {
        it.is_plain = !it.is_more() && it.handing.is_none() && !self.has_layers;
        let (first, count) = (it.first, it.plan.steps.len());
        let end = first + count;
        if self.outputs.len() < end {
            self.outputs.resize_with(end, || None);
            self.readers.resize(end, 0);
        }
        self.readers[first..end].copy_from_slice(&it.graph.readers);
        if self.scopes.len() <= scope.index() {
            self.scopes.resize_with(scope.index() + 1, || None);
        }
        self.held.add(it.bytes);
        self.with_secrets += usize::from(it.secrecy.is_some());
        self.scopes[scope.index()] = Some(it);
    }

    /// Drops the values of a scope that has ended permanently.
    pub(super) fn close(&mut self, scope: ScopeId) {
        // A scope whose inputs were not made has no values, and may have the highest id so far.
        let it = self.scopes.get_mut(scope.index());
        let Some(it) = it.and_then(Option::take) else {
            return;
        };
        for slot in it.first..it.first + it.plan.steps.len() {
            if let Some(output) = self.outputs[slot].take() {
                self.held.remove(output.bytes());
            }
            drop(self.take_step(slot));
        }
        let seen = it
            .seen
            .iter()
            .flatten()
            .map(StoredValue::bytes)
            .sum::<usize>();
        self.held.remove(it.bytes + seen);
        self.with_secrets -= usize::from(it.secrecy.is_some());
    }

    /// Closes the work of a scope after its value is made. The inputs still count if steps in the scope may have to be
    /// undone.
    pub(super) fn close_work(&mut self, scope: ScopeId, is_kept: bool) {
        let it = self.scope(scope);
        let shared = it.inputs.iter().filter(|input| input.is_whole());
        let shared: usize = shared.map(StoredValue::bytes).sum();
        let it = self.scope_mut(scope);
        if let Some(owner) = &mut it.owner {
            owner.has_value = true;
        }
        if is_kept {
            it.bytes += shared;
            self.held.add(shared);
        } else {
            let bytes = std::mem::take(&mut it.bytes);
            self.held.remove(bytes);
        }
    }

    /// Returns `true` if a scope has secrets.
    pub(super) fn has_secrets(&self) -> bool {
        self.with_secrets > 0
    }

    /// Returns `true` if a scope has its values.
    pub(super) fn is_open(&self, scope: ScopeId) -> bool {
        self.scopes.get(scope.index()).is_some_and(Option::is_some)
    }

    #[inline]
    pub(super) fn scope(&self, scope: ScopeId) -> &ScopeValues<'x> {
        let it = self.scopes[scope.index()].as_ref();
        it.expect("a scope has values before its steps start")
    }

    pub(super) fn scope_mut(&mut self, scope: ScopeId) -> &mut ScopeValues<'x> {
        let it = self.scopes[scope.index()].as_mut();
        it.expect("a scope has values before its steps start")
    }

    /// Returns `true` if the run has no layer, and the scope has no secrets and is not part of a called plan.
    pub(super) fn is_unseen(&self, scope: ScopeId) -> bool {
        !self.has_layers && !self.scope(scope).is_more()
    }

    /// Returns the plan whose code starts the steps of a scope.
    pub(super) fn plan_of(&self, scope: ScopeId) -> Option<&'x Plan> {
        let called = self.scope(scope).called?;
        Some(self.scope(called).plan)
    }

    /// Returns the code that starts the steps of a scope, if the scope is part of a called plan.
    #[inline]
    pub(super) fn own(&self, scope: ScopeId) -> Option<&OwnStart<'x>> {
        let called = self.scope(scope).called?;
        self.scope(called).own.as_deref()
    }

    /// Returns the values that a step of the scope can refer to. An always step sees `Result`s.
    #[inline]
    pub(super) fn resolving<'s>(
        &'s self,
        it: &'s ScopeValues<'x>,
        is_always: bool,
        locals: &'s [&'s StoredValue],
    ) -> Scope<'s> {
        let outputs = if is_always {
            &it.seen
        } else {
            &self.outputs[it.first..it.first + it.plan.steps.len()]
        };
        Scope::new(it.plan, &it.inputs, outputs).with_locals(locals)
    }

    /// Counts bytes of a step that is not plain, until the step ends.
    pub(super) fn hold(&mut self, slot: usize, bytes: usize) {
        if let Some(step) = self.steps.get_mut(&slot) {
            step.stored += bytes;
            self.held.add(bytes);
        }
    }

    /// Counts a call, a block or a wait of a step that is not plain, until the step ends.
    pub(super) fn hold_call(&mut self, slot: usize) -> Result<(), StepError> {
        if !self.held.has_room(CALL_BYTES) {
            return Err(self.held.full());
        }
        self.hold(slot, CALL_BYTES);
        Ok(())
    }

    /// Counts the output of a call, until the step ends.
    pub(super) fn hold_made(&mut self, slot: usize, bytes: usize) -> Result<(), StepError> {
        if !self.held.has_room(bytes) {
            return Err(self.held.no_room());
        }
        self.hold(slot, bytes);
        if let Some(step) = self.steps.get_mut(&slot) {
            step.made += bytes;
        }
        Ok(())
    }

    /// Subtracts bytes from the stored bytes of a step.
    pub(super) fn let_go(&mut self, slot: usize, bytes: usize) {
        if let Some(step) = self.steps.get_mut(&slot) {
            step.stored -= bytes;
            self.held.remove(bytes);
        }
    }

    pub(super) fn output(&self, slot: usize) -> Option<&StoredValue> {
        self.outputs[slot].as_ref()
    }

    /// Replaces an output. Returns the previous output.
    pub(super) fn swap(&mut self, slot: usize, value: Option<StoredValue>) -> Option<StoredValue> {
        std::mem::replace(&mut self.outputs[slot], value)
    }

    /// Keeps the output of a step, if another step is still to read the output.
    #[inline]
    pub(super) fn put(&mut self, slot: usize, output: StoredValue) {
        if self.readers[slot] > 0 {
            self.held.add(output.bytes());
            self.outputs[slot] = Some(output);
        } else if output.is_scalar() {
            std::mem::forget(output);
        }
    }

    /// Keeps the output of a plain step, and drops the outputs that nothing is to read after this step.
    #[inline(always)]
    pub(super) fn complete(&mut self, scope: ScopeId, slot: usize, output: StoredValue) {
        self.put(slot, output);
        self.release(scope, slot);
    }

    /// Drops the outputs that nothing is to read after this step.
    #[inline(always)]
    pub(super) fn release(&mut self, scope: ScopeId, slot: usize) {
        let Some(it) = &self.scopes[scope.index()] else {
            return;
        };
        for &read in it.graph.reads().of(slot - it.first) {
            let slot = it.first + read as usize;
            let readers = &mut self.readers[slot];
            *readers -= 1;
            if *readers == 0 {
                let output = &mut self.outputs[slot];
                let Some(value) = output else {
                    continue;
                };
                self.held.remove(value.bytes());
                if value.is_scalar() {
                    std::mem::forget(output.take());
                } else {
                    *output = None;
                }
            }
        }
    }

    /// Returns the form in which the output of a step is kept.
    #[inline]
    pub(super) fn keep(it: &ScopeValues<'_>, step: usize) -> Keep {
        let handing = it.handing.as_ref();
        handing.map_or(Keep::Json, |handing| handing.keep(step))
    }

    /// Returns the values for a step in Rust. On the last attempt, values without other readers are moved.
    #[inline]
    pub(super) fn give(&mut self, scope: ScopeId, step: usize, is_last: bool) -> Option<Handed> {
        let it = self.scopes[scope.index()].as_ref()?;
        let handing = it.handing.as_ref().filter(|handing| handing.takes(step))?;
        match handing.alone(step) {
            _ if !is_last => Some(Handed::default()),
            [] => Some(Handed::default()),
            [source] => {
                let source = *source;
                Some(Handed::one(self.give_one(scope, source)))
            }
            _ => {
                let handing = Arc::clone(handing);
                let alone = handing.alone(step).iter();
                let given = alone.filter_map(|source| self.give_one(scope, *source));
                Some(Handed::more(given.collect()))
            }
        }
    }

    pub(super) fn give_one(
        &mut self,
        scope: ScopeId,
        source: Source,
    ) -> Option<(Source, StoredValue)> {
        let it = self.scopes[scope.index()].as_mut()?;
        match source {
            Source::Step(step) if self.readers[it.first + step] == 1 => {
                let given = self.outputs[it.first + step].take_if(|it| it.is_whole())?;
                self.held.remove(given.bytes());
                Some((source, given))
            }
            Source::Input(input) => {
                let input = it.inputs.get_mut(input).filter(|it| it.is_whole())?;
                let empty = StoredValue::json(Value::Null);
                Some((source, std::mem::replace(input, empty)))
            }
            Source::Step(_) | Source::Local(_) => None,
        }
    }

    /// Returns the values that the step has not taken to their slots.
    #[inline]
    pub(super) fn take_back(&mut self, scope: ScopeId, given: Option<Handed>) {
        if let Some(given) = given {
            given.each(|source, value| {
                let Some(it) = &mut self.scopes[scope.index()] else {
                    return;
                };
                match source {
                    Source::Step(step) => {
                        self.held.add(value.bytes());
                        self.outputs[it.first + step] = Some(value);
                    }
                    Source::Input(input) => it.inputs[input] = value,
                    Source::Local(_) => {}
                }
            });
        }
    }

    /// Counts the JSON that was made of the outputs that a step reads.
    #[inline]
    pub(super) fn count_json(&mut self, scope: ScopeId, step: usize) {
        let Some(it) = &self.scopes[scope.index()] else {
            return;
        };
        if it.handing.is_none() {
            return;
        }
        let reads = it.graph.reads().of(step).iter();
        let outputs = reads.filter_map(|read| self.outputs[it.first + *read as usize].as_ref());
        let bytes = outputs.map(StoredValue::count_json).sum();
        self.held.add(bytes);
    }

    /// Returns the values inside a step.
    pub(super) fn step(&self, slot: usize) -> Option<&StepValues<'x>> {
        self.steps.get(&slot).map(|it| &**it)
    }

    /// Returns the site of a call, a wait, a timer or a question in a step of a scope.
    pub(super) fn of(
        &self,
        call: CallId,
        (scope, slot): (ScopeId, StepSlot),
        part: Option<Part>,
    ) -> Site {
        let step = slot.index() - self.scope(scope).first;
        Site {
            call,
            scope,
            step,
            part,
        }
    }

    /// Returns the site of a plain call.
    pub(super) fn of_plain(&self, call: CallId, scope: ScopeId) -> Site {
        Site {
            call,
            scope,
            step: call.index() - self.scope(scope).first,
            part: None,
        }
    }

    pub(super) fn step_of(&self, of: &Site) -> &'x Step {
        &self.scope(of.scope).plan.steps[of.step]
    }

    /// Returns the error of a step, without its values if one of them may be secret.
    pub(super) fn hushed(&self, of: &Site, error: StepError) -> StepError {
        let is_output = matches!(error, StepError::Output(_));
        match &self.scope(of.scope).secrecy {
            Some(secrecy)
                if secrecy.touches(of.step)
                    || is_output && !secrecy.output_of(of.step).is_empty() =>
            {
                error.without_values()
            }
            _ => error,
        }
    }

    /// Returns the values inside a step that is not plain.
    pub(super) fn inside(&mut self, of: &Site) -> &mut StepValues<'x> {
        let it = self.scope(of.scope);
        let (plan, action) = (it.plan, it.first_action(of.step));
        let make = || Box::new(StepValues::new(bodies(&plan.steps[of.step], action)));
        self.steps.entry(of.slot()).or_insert_with(make)
    }

    /// Returns a body of a step that is not plain, with the number of its first action.
    pub(super) fn body(&mut self, of: &Site) -> (&'x Body, usize) {
        self.inside(of).bodies[of.body() as usize]
    }

    /// Returns the policy of a step, with the amounts from the start of the step.
    pub(super) fn policy(&self, of: &Site) -> Arc<Policy> {
        let given = self.step(of.slot()).and_then(|it| it.policy.as_ref());
        Arc::clone(given.unwrap_or(&self.step_of(of).policy))
    }

    /// Returns the action of a call, and its number in the whole plan.
    pub(super) fn action(&mut self, of: &Site) -> Option<(&'x Action, usize)> {
        let (body, number) = match of.part {
            Some(_) => self.body(of),
            None => {
                let number = self.scope(of.scope).first_action(of.step);
                (&self.step_of(of).body, number)
            }
        };
        match body {
            Body::Action(action) => Some((action, number)),
            _ => None,
        }
    }

    pub(super) fn take_step(&mut self, slot: usize) -> Option<Box<StepValues<'x>>> {
        let step = self.steps.remove(&slot)?;
        self.held.remove(step.stored);
        Some(step)
    }
}
