//! The inputs and the values of scopes: the plan, called plans, blocks and rounds.

use super::super::StepError;
use super::super::admission::can_receive;
use super::super::catch::catch;
use super::super::making;
use super::super::recorded;
use super::super::start::{CalledPlan, MadeOutput};
use super::super::weights::of_scope;
use super::answers::Answering;
use super::limits::late;
use super::recording::{EndNotes, Keys};
use super::scene::{Host, Opening, Scene};
use super::scope_values::{Opener, ScopeValues};
use super::secrets::{hushed_inputs, secrecy};
use crate::error::{Cause, Error, RunError};
use crate::machine::{Part, ScopeId};
use crate::plan::{Body, Source, Template, number};
use crate::resolve::{Handed, Meter, ResolveError, StoredValue, resolve};
use serde_json::Value;
use std::cell::OnceCell;
use std::sync::Arc;

impl<'x> Answering<'_, 'x> {
    /// Begins a called plan, whose inputs exist already.
    pub(super) fn begin_plan(&mut self, scope: ScopeId, part: Part) -> Result<(), StepError> {
        let (around, slot) = (self.0.scope_of(&part), part.slot.index());
        let opening = self.0.opening.remove(&(slot, part.element));
        let Some(Opening {
            plan,
            context,
            bytes,
        }) = opening
        else {
            return Err(StepError::Unknown);
        };
        let CalledPlan {
            executable,
            inputs,
            hands_over,
            own,
        } = *plan;
        let hands_over = hands_over && !self.0.run.is_kept();
        let plan = executable.plan;
        let known = executable.graph.as_ref().ok();
        let secrecy = known.and_then(|graph| secrecy(plan, graph, Some(&context)));
        let inputs = hushed_inputs(inputs, secrecy.is_some());
        let begun = executable.graph.map_err(Cause::Plan).and_then(|graph| {
            let inputs = inputs?;
            let limits = self.0.allowance.limits();
            if let Some(cause) = self.0.allowance.refuses(plan) {
                return Err(cause);
            }
            if secrecy.is_some() {
                self.0.run.may_have_secrets()?;
            }
            can_receive(plan, &graph, &self.0.run, Some(&context), limits)?;
            let inputs = if context.computes() {
                recorded::inputs(&self.0.run, &context, inputs)
            } else {
                inputs
            };
            Ok((graph, inputs))
        });
        let (graph, inputs) = begun.map_err(|cause| {
            let error = RunError::new(plan, cause, Vec::new()).before_the_start();
            StepError::tool(Error::new(error))
        })?;
        if let Some(durable) = &self.0.run.durable {
            let prefix = context.key_inside(None);
            durable.enter(&prefix, plan, graph.secrecy.is_some());
        }
        let plans = context.depth_inside();
        if let Err(error) = self.0.allowance.enter(plans) {
            if let Some(limit) = error.exceeded() {
                self.0
                    .exceed_at(limit, &format!("step `{context}`: {error}"));
            }
            return Err(StepError::arguments(error));
        }
        let hands_over = hands_over && !self.0.captures_outputs();
        let limit = self.0.values.limit_here(&self.0.clock, around, &part);
        let ends = limit.map(|(until, _)| until);
        let it = self.0.values.scope(around);
        let step = slot - it.first;
        let opened = ScopeValues {
            plan,
            handing: (hands_over && !self.0.run.is_kept())
                .then(|| graph.handing(plan, None))
                .flatten(),
            hands_over,
            first: self.0.machine.view().slots(scope).0.index(),
            actions: 0,
            inputs,
            seen: Vec::new(),
            owner: Some(Opener {
                scope: around,
                part,
                step,
                action: 0,
                element: Vec::new(),
                times: 0,
                until: ends,
                context: OnceCell::from(context),
            }),
            depth: it.depth + 1,
            plans,
            bytes,
            called: Some(scope),
            own: Some(Box::new(own)),
            secrecy,
            is_plain: false,
            graph,
        };
        self.0.values.open(scope, opened);
        self.0.watching().open(scope);
        Ok(())
    }

    /// Makes the inputs of a block or a round.
    pub(super) fn inputs(&mut self, scope: ScopeId, part: Part) -> Result<(), StepError> {
        let (around, slot) = (self.0.scope_of(&part), part.slot.index());
        let inside = self.0.values.inside(around, slot);
        let (body, action) = inside.bodies[part.body as usize];
        let last = inside.last.clone();
        let (block, again) = match body {
            Body::Block(block) => (&**block, None),
            Body::Loop(repeat) => (&repeat.round, Some(&repeat.again)),
            Body::Action(_) => return self.begin_plan(scope, part),
            _ => return Err(StepError::Unknown),
        };
        match body {
            Body::Loop(_) if part.attempt == 1 && self.0.element(&part) == [0] => {
                self.count_round(around, slot, 0)?;
            }
            Body::Block(_) if part.attempt == 1 => self.0.values.hold_call(slot)?,
            _ => {}
        }
        let span = self.0.watching().begin_part(&part)?;
        let limit = self.0.values.limit_here(&self.0.clock, around, &part);
        let ends = limit.as_ref().map(|(until, _)| *until);
        // With a journal, a replay takes no time.
        let until = ends.filter(|_| self.0.run.durable.is_none());
        let made = self.evaluate_until(&part, until, |scope| {
            span.in_scope(|| {
                let inputs = making::inputs_of(block, scope);
                let inputs = inputs.and_then(|inputs| scope.check_arguments().map(|()| inputs));
                inputs.map_err(StepError::arguments)
            })
        });
        let (mut inputs, bytes) = made.map_err(|error| late(error, limit))?;
        let bytes = bytes.saturating_add(of_scope(&block.plan));
        if !self.0.values.held.has_room(bytes) {
            return Err(self.0.values.held.full());
        }
        let mut watching = self.0.watching();
        watching.inputs(&part, action, &block.plan, &inputs);
        if let (Body::Loop(repeat), Some(input)) = (body, inputs.first_mut())
            && repeat.last
        {
            *input = StoredValue::json(last);
        }
        EndNotes(self.0).branch(&part, block);
        let element = self.0.element(&part);
        let it = self.0.values.scope(around);
        let step = slot - it.first;
        let blocks = it.graph.blocks.as_ref();
        let graph = blocks.and_then(|blocks| blocks.get(&number(action - it.actions)));
        let graph = Arc::clone(graph.ok_or(StepError::Unknown)?);
        let handing = (it.hands_over && !self.0.run.is_kept())
            .then(|| graph.handing(&block.plan, Some(again)));
        let opened = ScopeValues {
            plan: &block.plan,
            handing: handing.flatten(),
            hands_over: it.hands_over,
            first: self.0.machine.view().slots(scope).0.index(),
            actions: action + 1,
            inputs,
            seen: Vec::new(),
            owner: Some(Opener {
                scope: around,
                part,
                step,
                action: action - it.actions - it.graph.actions[step] as usize,
                element,
                times: self.0.times(around, step),
                until: ends,
                context: OnceCell::new(),
            }),
            depth: it.depth + 1,
            plans: it.plans,
            bytes,
            called: it.called,
            own: None,
            secrecy: it.secrecy.as_ref().and_then(|secrecy| {
                let block = secrecy.block(action - it.actions);
                block.cloned()
            }),
            is_plain: false,
            graph,
        };
        self.0.values.open(scope, opened);
        self.0.watching().open(scope);
        Ok(())
    }

    /// Makes the value of a block or a round.
    pub(super) fn value(&mut self, scope: ScopeId, part: Part) -> Result<(), StepError> {
        if self.0.values.scope(scope).called == Some(scope) {
            return self.value_of_plan(scope, part);
        }
        let value = self.resolve_output(scope)?;
        let (around, slot) = (self.0.scope_of(&part), part.slot.index());
        let inside = self.0.values.inside(around, slot);
        if matches!(inside.bodies[part.body as usize].0, Body::Loop(_)) {
            inside.last = value;
            return Ok(());
        }
        let room = self.0.values.held.room().of_one();
        let value = StoredValue::made(value, room).map_err(StepError::output)?;
        self.0.close_work(scope);
        self.0.take_made(around, part, value)
    }

    /// Resolves the output of a scope. A crash does not change a decision of Rust code.
    fn resolve_output(&mut self, scope: ScopeId) -> Result<Value, StepError> {
        let output = &self.0.values.scope(scope).plan.output.value;
        let has_code = self.0.run.is_kept() && output.has_code();
        let key = |scene: &Scene<'_>| Keys(scene).prefix(scope) + "?value";
        self.decided(has_code, key, |it| {
            let scene = &mut *it.0;
            let made = {
                let it = scene.values.scope(scope);
                let stop = || scene.look(scope);
                let meter = Meter::new(scene.values.held.room(), Some(&stop));
                let resolving = scene.values.resolving(it, false, &[]).metered(&meter);
                catch(|| resolve::<Value>(output, &resolving))
            };
            made?.map_err(|error| it.no_output(scope, error))
        })
    }

    /// Returns the error of the value of a scope, which may be too large.
    fn no_output(&mut self, scope: ScopeId, error: ResolveError) -> StepError {
        if let Some(limit) = error.exceeded() {
            let place = match self.0.outer(scope) {
                Some(outer) => format!("the output of the plan that step `{outer}` runs: {error}"),
                None => format!("its output: {error}"),
            };
            self.0.exceed_at(limit, &place);
        }
        let error = StepError::arguments(error);
        self.0.values.scope(scope).hushed_output(error)
    }

    /// Makes the value of a called plan.
    fn value_of_plan(&mut self, scope: ScopeId, part: Part) -> Result<(), StepError> {
        let Some((called, own)) = self.0.values.take_own(scope) else {
            return Err(StepError::Unknown);
        };
        let is_kept = self.0.run.is_kept();
        let made = is_kept.then(|| self.resolve_output(scope)).transpose();
        let made = made.map_err(|error| self.of_output(scope, error));
        let given = self.give_output(scope);
        let stored = match made {
            Err(error) => {
                self.0.values.put_own(Some((called, own)));
                return Err(error);
            }
            Ok(Some(json)) => {
                let room = self.0.values.held.room().of_one();
                catch(|| own.store(MadeOutput::Json(json), room))
            }
            Ok(None) => {
                let it = self.0.values.scope(scope);
                let stop = || self.0.look(scope);
                let meter = Meter::new(self.0.values.held.room(), Some(&stop));
                let resolving = self.0.values.resolving(it, false, &[]).metered(&meter);
                let output = &it.plan.output.value;
                let room = self.0.values.held.room().of_one();
                catch(|| own.store(MadeOutput::At(output, &resolving, &given), room))
            }
        };
        self.0.values.take_back(scope, Some(given));
        self.0.values.put_own(Some((called, own)));
        let stored = stored.and_then(|stored| stored.map_err(|error| self.no_output(scope, error)));
        let stored = stored.map_err(|error| self.of_output(scope, error))?;
        self.0.close_work(scope);
        self.0.take_made(self.0.scope_of(&part), part, stored?)
    }

    /// Returns the error of a called plan without an output.
    fn of_output(&self, scope: ScopeId, error: StepError) -> StepError {
        let plan = self.0.values.scope(scope).plan;
        let error = RunError::new(plan, Cause::Output(error), Vec::new());
        StepError::tool(Error::new(error))
    }

    /// Takes the value that is the output of a scope, if the value is a Rust value that nothing else is to read.
    fn give_output(&mut self, scope: ScopeId) -> Handed {
        let it = self.0.values.scope(scope);
        let source = match &it.plan.output.value {
            // Undo steps may read the inputs later.
            Template::Reference(reference)
                if it.handing.is_some() && reference.is_whole() && !it.graph.has_last() =>
            {
                Some(reference.source)
            }
            _ => None,
        };
        Handed::one(source.and_then(|source: Source| self.0.values.give_one(scope, source)))
    }

    /// Makes the output of the plan.
    pub(super) fn make_output(&mut self, host: &mut dyn Host<'x>) -> Result<(), StepError> {
        if self.0.run.is_kept() {
            let json = self.resolve_output(ScopeId::ROOT)?;
            if self.0.run.durable.is_some() {
                self.0.output = json.clone();
            }
            let made = catch(|| host.output(MadeOutput::Json(json)))?;
            return made.map_err(|error| self.no_output(ScopeId::ROOT, error));
        }
        let given = self.give_output(ScopeId::ROOT);
        let made = {
            let it = self.0.values.scope(ScopeId::ROOT);
            let stop = || self.0.look(ScopeId::ROOT);
            let meter = Meter::new(self.0.values.held.room(), Some(&stop));
            let resolving = self.0.values.resolving(it, false, &[]).metered(&meter);
            let output = &it.plan.output.value;
            catch(|| host.output(MadeOutput::At(output, &resolving, &given)))
        };
        self.0.values.take_back(ScopeId::ROOT, Some(given));
        made?.map_err(|error| self.no_output(ScopeId::ROOT, error))
    }
}
