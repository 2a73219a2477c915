//! The inputs and the values of scopes: the plan, called plans, blocks and rounds. Conditions, lists and values of Rust code.
//!
//! Rust code may return another result after a crash. So a run with a journal or an engine records each result as a *decision*, and a resumed run uses the record.
//! On an engine, the run evaluates Rust code only after the engine has stored all earlier decisions.

use super::super::begin::hushed_inputs;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::deciding::Keeper;
use super::super::durable::{ARGUMENTS, inputs_before};
use super::super::limits::bytes_of_scope;
use super::super::start::{CalledPlan, MadeOutput};
use super::super::watch::Span;
use super::super::{StepError, making};
use super::admission::{late, may_run};
use super::answers::Answering;
use super::convert::ifs_around;
use super::failures::not_started;
use super::recording::{EndNotes, Keys, follow};
use super::scene::{Host, Scene, Starting};
use super::scope_values::Opening;
use super::scope_values::{At, Opener, ScopeValues, secrecy_of};
use super::task::Site;
use super::values::Values;
use crate::error::{Cause, Error, Interrupt, RunError};
use crate::machine::{Command, Question, ScopeId};
use crate::plan::{Body, Condition, Source, Template, number};
use crate::resolve::{Handed, ResolveError, Scope, StoredValue, resolve, resolve_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

impl<'x> Answering<'_, 'x> {
    /// Begins a called plan, whose inputs exist already.
    fn begin_plan(&mut self, scope: ScopeId, of: &Site) -> Result<(), StepError> {
        let opening = self.0.values.inside(of).opening.remove(&of.element());
        let Opening {
            plan: called,
            context,
            bytes,
        } = opening.ok_or(StepError::Unknown)?;
        let CalledPlan {
            executable,
            inputs,
            hands_over,
            own,
        } = *called;
        let (plan, run) = (executable.plan, &self.0.run);
        let begun = executable.graph.map_err(Cause::Plan).and_then(|graph| {
            let secrecy = secrecy_of(plan, &graph, Some(&context));
            let inputs = hushed_inputs(inputs, secrecy.is_some())?;
            let allowance = &self.0.allowance;
            may_run(
                (plan, &graph),
                secrecy.is_some(),
                (run, allowance),
                Some(&context),
            )?;
            Ok((graph, secrecy, inputs))
        });
        let (graph, secrecy, inputs) =
            begun.map_err(|cause| StepError::tool(Error::new(not_started(plan, cause))))?;
        if let Some(durable) = &run.durable {
            let prefix = context.key_inside(None);
            durable.enter(&prefix, (plan, &graph), secrecy.is_some());
        }
        let plans = context.depth_inside();
        if let Err(error) = self.0.allowance.enter(plans) {
            if let Some(limit) = error.exceeded() {
                self.0
                    .exceed_at(limit, &format!("step `{context}`: {error}"));
            }
            return Err(StepError::arguments(error));
        }
        // A report with outputs needs JSON.
        let watch = self.0.watch.as_ref();
        let captures = watch.is_some_and(|watch| watch.keeps.outputs);
        let hands_over = hands_over && !self.0.run.is_kept() && !captures;
        let limit = self.0.values.limit_here(&self.0.clock, of);
        let at = self.at(of, 0, limit.map(|(until, _)| until));
        let opened = ScopeValues {
            handing: hands_over.then(|| graph.handing(plan, None)).flatten(),
            plans,
            bytes,
            called: Some(scope),
            own: Some(Box::new(own)),
            secrecy,
            ..ScopeValues::root(plan, graph, hands_over, inputs)
        };
        self.open(scope, opened, at, OnceCell::from(context));
        Ok(())
    }

    /// Returns the site of an attempt that opens a scope, with the end of its time.
    fn at(&self, of: &Site, action: usize, until: Option<Duration>) -> At {
        At {
            of: *of,
            action,
            element: self.0.element(of),
            is_plan: true,
            until,
        }
    }

    /// Takes the values of a scope, which an attempt opens.
    fn open(
        &mut self,
        scope: ScopeId,
        opened: ScopeValues<'x>,
        at: At,
        context: OnceCell<CallContext>,
    ) {
        let opened = ScopeValues {
            first: self.0.machine.view().slots(scope).0.index(),
            depth: self.0.values.scope(at.of.scope).depth + 1,
            owner: Some(Opener {
                times: self.0.times(at.of.scope, at.of.step),
                at,
                context,
                has_value: false,
            }),
            ..opened
        };
        self.0.values.open(scope, opened);
        self.0.tell(|it| it.open(scope));
    }

    /// Makes the inputs of a block or a round.
    pub(super) fn inputs(&mut self, scope: ScopeId, of: &Site) -> Result<(), StepError> {
        let (body, action) = self.0.values.body(of);
        let (block, again) = match body {
            Body::Block(block) => (&**block, None),
            Body::Loop(repeat) => (&repeat.round, Some(&repeat.again)),
            Body::Action(_) => return self.begin_plan(scope, of),
            _ => return Err(StepError::Unknown),
        };
        match body {
            Body::Loop(_) if of.attempt() == 1 && self.0.element(of) == [0] => {
                self.count_round(of, 0)?;
            }
            Body::Block(_) if of.attempt() == 1 => self.0.values.hold_call(of.slot())?,
            _ => {}
        }
        let span = self.0.tell(|it| it.begin(of));
        let span = span.unwrap_or_else(|| Ok(Span::none()))?;
        let limit = self.0.values.limit_here(&self.0.clock, of);
        let ends = limit.as_ref().map(|(until, _)| *until);
        // With a journal, a replay takes no time.
        let until = ends.filter(|_| self.0.run.durable.is_none());
        let (made, bytes) = self.0.evaluate(of, until, |_, scope| {
            span.in_scope(|| {
                let inputs = making::inputs_of(block, scope)?;
                scope.check_arguments().map(|()| inputs)
            })
        });
        let made = made.and_then(|made| made.map_err(StepError::arguments));
        let mut inputs = made.map_err(|error| late(error, limit))?;
        let bytes = bytes.saturating_add(bytes_of_scope(&block.plan));
        if !self.0.values.held.has_room(bytes) {
            return Err(self.0.values.held.full());
        }
        self.0
            .tell(|it| it.inputs(of, action, &block.plan, &inputs));
        if let (Body::Loop(repeat), Some(input)) = (body, inputs.first_mut())
            && repeat.last
        {
            *input = StoredValue::json(self.0.values.inside(of).last.clone());
        }
        if let Some(notes) = EndNotes::of(self.0) {
            notes.branch(of, block);
            follow(self.0, of);
        }
        let it = self.0.values.scope(of.scope);
        let blocks = it.graph.blocks.as_ref();
        let graph = blocks.and_then(|blocks| blocks.get(&number(action - it.actions)));
        let graph = Arc::clone(graph.ok_or(StepError::Unknown)?);
        let handing = (it.hands_over && !self.0.run.is_kept())
            .then(|| graph.handing(&block.plan, Some(again)));
        let secrecy = it.secrecy.as_ref();
        let opened = ScopeValues {
            handing: handing.flatten(),
            actions: action + 1,
            plans: it.plans,
            bytes,
            called: it.called,
            secrecy: secrecy.and_then(|secrets| secrets.block(action - it.actions).cloned()),
            ..ScopeValues::root(&block.plan, graph, it.hands_over, inputs)
        };
        let at = self.at(of, action - it.first_action(of.step), ends);
        self.open(scope, opened, at, OnceCell::new());
        Ok(())
    }

    /// Makes the value of a block or a round.
    pub(super) fn value(&mut self, scope: ScopeId, of: &Site) -> Result<(), StepError> {
        if self.0.values.scope(scope).called == Some(scope) {
            return self.value_of_plan(scope, of);
        }
        let value = self.resolve_output(scope)?;
        if matches!(self.0.values.body(of).0, Body::Loop(_)) {
            self.0.values.inside(of).last = value;
            return Ok(());
        }
        let room = self.0.values.held.room().of_one();
        let value = StoredValue::made(value, room).map_err(StepError::output)?;
        self.0.close_work(scope);
        self.0.take_made(of, value)
    }

    /// Resolves the output of a scope. A crash does not change a decision of Rust code.
    fn resolve_output(&mut self, scope: ScopeId) -> Result<Value, StepError> {
        let output = &self.0.values.scope(scope).plan.output.value;
        let has_code = self.0.run.is_kept() && output.has_code();
        let key = |scene: &Scene<'_>| Keys(scene).prefix(scope) + "?value";
        self.decided(has_code, key, |it| {
            let made = it.0.read(scope, |scope| resolve::<Value>(output, scope));
            made?.map_err(|error| it.no_output(scope, error))
        })
    }

    /// Returns the error of a scope whose value could not be made. Ends the run if the value exceeds a limit.
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
    fn value_of_plan(&mut self, scope: ScopeId, of: &Site) -> Result<(), StepError> {
        let stored = self.pass_output(scope, |values, output| match values.own(scope) {
            Some(own) => own.store(output, values.held.room().of_one()),
            None => Ok(Err(StepError::Unknown)),
        });
        let stored = stored.map_err(|error| self.of_output(scope, error))?;
        self.0.close_work(scope);
        self.0.take_made(of, stored?)
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
        self.pass_output(ScopeId::ROOT, |_, output| host.output(output))
    }

    /// Passes the output of a plan to `take`. In a run with a journal or an engine, the output is JSON.
    fn pass_output<T>(
        &mut self,
        scope: ScopeId,
        take: impl FnOnce(&Values<'x>, MadeOutput<'_>) -> Result<T, ResolveError>,
    ) -> Result<T, StepError> {
        let made = if self.0.run.is_kept() {
            let json = self.resolve_output(scope)?;
            if scope == ScopeId::ROOT && self.0.run.durable.is_some() {
                self.0.output = json.clone();
            }
            catch(|| take(&self.0.values, MadeOutput::Json(json)))
        } else {
            let given = self.give_output(scope);
            let values = &self.0.values;
            let made = self.0.read(scope, |resolving| {
                let output = &values.scope(scope).plan.output.value;
                take(values, MadeOutput::At(output, resolving, &given))
            });
            self.0.values.take_back(scope, Some(given));
            made
        };
        made?.map_err(|error| self.no_output(scope, error))
    }
}

impl Answering<'_, '_> {
    /// Evaluates the value `by` for a decision in a step. If the value contains Rust code, the run records the decision.
    pub(super) fn decide<T: Serialize + DeserializeOwned>(
        &mut self,
        of: &Site,
        by: &Template,
        name: impl FnOnce(usize, usize) -> String,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        let has_code = self.0.run.is_kept() && by.has_code();
        if !has_code {
            return self.evaluate(of, read);
        }
        let key = |scene: &Scene<'_>| {
            let first = scene.values.scope(of.scope).first_action(of.step);
            let inside = scene.values.step(of.slot());
            let number = inside.map_or(first, |it| it.bodies[of.body() as usize].1);
            let depth = ifs_around(scene.values.step_of(of), of.body());
            let name = name(depth, number - first);
            format!("{}?{name}", Keys(scene).of_element(of))
        };
        let mut bytes = 0;
        let made = self.decided(true, key, |it| {
            let (made, made_of) = it.evaluate(of, read)?;
            bytes = made_of;
            Ok(made)
        })?;
        Ok((made, bytes))
    }

    /// Makes the arguments of a called plan, which are a decision.
    pub(super) fn arguments(&mut self, of: &Site, args: &Template) -> Result<Value, StepError> {
        let key = Keys(self.0).of_attempt(of);
        let durable = self.0.run.durable.as_ref();
        if let Some(inputs) = durable.and_then(|it| inputs_before(it, &key)) {
            return Ok(inputs);
        }
        let read = |scope: &Scope<'_>| {
            let arguments = resolve_json(args, scope)?;
            scope.check_arguments().map(|()| arguments)
        };
        let made = |it: &mut Self| Ok(it.evaluate(of, read)?.0);
        self.decided(true, |_| key + ARGUMENTS, made)
    }

    /// Makes a decision, or returns its record. The run records only decisions of Rust code.
    pub(super) fn decided<T: Serialize + DeserializeOwned>(
        &mut self,
        has_code: bool,
        key: impl FnOnce(&Scene<'_>) -> String,
        decide: impl FnOnce(&mut Self) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let run = Arc::clone(&self.0.run);
        let Some(keeper) = Keeper::of(&run).filter(|_| has_code) else {
            return decide(self);
        };
        let key = key(self.0);
        let state = (self.0.values.has_secrets(), self.0.stops.is_exceeded());
        let decided = keeper.decided(key, state, || decide(self));
        decided.unwrap_or_else(|failure| {
            self.0.is_undecided = keeper.is_viewed();
            let failure = failure.or_else(|| run.durable.as_ref()?.failure());
            if let Some(error) = failure {
                self.0.fail(Interrupt::Journal(error));
            }
            Err(StepError::Unknown)
        })
    }

    /// Returns `true` if the command may need a decision of Rust code.
    pub(super) fn decides(&mut self, command: &Command) -> bool {
        match command {
            Command::Start(call, place) => {
                let starting = Starting::of(self.0, *call, *place);
                starting.is_some_and(|it| it.action.args.has_code())
            }
            Command::Evaluate(id, question) => {
                let of = self.0.asked(*id);
                self.has_code(*question, of)
            }
            _ => false,
        }
    }

    /// Returns `true` if Rust code may answer a question.
    fn has_code(&mut self, question: Question, of: Option<Site>) -> bool {
        match (question, of) {
            (Question::Output(scope), _) => self.0.values.scope(scope).plan.output.value.has_code(),
            (Question::Fallback(_), Some(of)) => {
                let policy = self.0.values.policy(&of);
                policy.fallback.as_ref().is_some_and(Template::has_code)
            }
            (Question::Branch(..) | Question::List(..) | Question::Again(..), Some(of)) => {
                self.body_has_code(&of)
            }
            _ => false,
        }
    }

    fn body_has_code(&mut self, of: &Site) -> bool {
        match self.0.values.body(of).0 {
            Body::For(each) => each.list.has_code(),
            Body::Loop(repeat) => repeat.again.has_code(),
            Body::If(branches) => {
                branches
                    .iter()
                    .flat_map(|it| &it.conditions)
                    .any(|it| match it {
                        Condition::Holds(value) | Condition::Let { value, .. } => value.has_code(),
                    })
            }
            _ => false,
        }
    }
}
