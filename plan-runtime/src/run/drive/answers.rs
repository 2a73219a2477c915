//! The answers to the questions of the machine: conditions, lists, inputs and outputs of scopes, amounts, and values that replace failures.

use super::super::StepError;
use super::super::catch::catch;
use super::super::making::{self, bind};
use super::super::weights::LIST;
use super::cold::outcome;
use super::convert;
use super::recording::{EndNotes, Keys};
use super::scene::{Host, Scene};
use crate::machine::{Amounts, Answer, Part, Question, QuestionId, ScopeId};
use crate::plan::{Body, Branch, Catch, Condition, ERR, Role, number};
use crate::resolve::{Meter, ResolveError, Scope, StoredValue, resolve};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Makes the values that the machine asks for.
pub(super) struct Answering<'s, 'x>(pub(super) &'s mut Scene<'x>);

impl<'x> Answering<'_, 'x> {
    /// Returns `None` if nothing needs the answer any more.
    pub(super) fn answer(
        &mut self,
        id: QuestionId,
        question: Question,
        host: &mut dyn Host<'x>,
    ) -> Option<Answer> {
        let made = self.make(id, question, host);
        if self.0.is_interrupted() {
            return None;
        }
        let part = self.0.machine.view().asked(id);
        Some(made.unwrap_or_else(|error| self.refuse(question, part, error)))
    }

    fn make(
        &mut self,
        id: QuestionId,
        question: Question,
        host: &mut dyn Host<'x>,
    ) -> Result<Answer, StepError> {
        let part = self.0.machine.view().asked(id);
        let made = |()| Answer::Made;
        match (question, part) {
            (Question::Output(ScopeId::ROOT), _) => self.make_output(host).map(made),
            // A call may be the plan of the run itself, so that the machine asks for its inputs.
            (Question::Inputs(ScopeId::ROOT), _) => Ok(Answer::Made),
            (Question::Amounts(_), Some(part)) => self.amounts(&part).map(Answer::Amounts),
            (Question::Branch(_, body), Some(part)) => self.branch(&part, body).map(Answer::Number),
            (Question::List(_, body), Some(part)) => self.list(&part, body).map(Answer::Number),
            (Question::Inputs(scope), Some(part)) => self.inputs(scope, part).map(made),
            (Question::Output(scope), Some(part)) => self.value(scope, part).map(made),
            (Question::Again(..), Some(part)) => {
                let again = self.again(&part);
                again.map(|again| Answer::Number(u32::from(again)))
            }
            (Question::Fallback(_), Some(part)) => {
                let is_recorded = self.0.run.durable.is_some();
                let view = self.0.machine.view();
                let failures = is_recorded.then(|| view.absorbed(id)).flatten();
                let made_up = self.instead(id, part);
                if made_up.is_ok() && failures.is_some() {
                    EndNotes(self.0).made_up(self.0.scope_of(&part), &part, failures.as_ref());
                }
                made_up.map(made)
            }
            (_, None) => Err(StepError::Unknown),
        }
    }

    /// There is no answer. Returns the reason.
    fn refuse(&mut self, question: Question, part: Option<Part>, error: StepError) -> Answer {
        let error = match &part {
            None => error,
            Some(part) => {
                let (scope, slot) = (self.0.scope_of(part), part.slot.index());
                let step = self.0.values.place_of(scope, slot);
                self.0.values.scope(scope).hushed(step, error)
            }
        };
        if let (Question::Inputs(_) | Question::Again(..), Some(part)) = (question, &part) {
            self.0.watching().end_part(part, Some(&error));
        }
        if let (Some(limit), Some(part)) = (error.exceeded(), part) {
            let element = self.0.element(&part);
            let scope = self.0.scope_of(&part);
            self.0
                .exceed(limit, (scope, part.slot.index()), &element, &error);
        }
        let error = self.0.errors.keep(error);
        if self.0.stops.is_exceeded() {
            Answer::Exceeds(error.error)
        } else {
            Answer::Failed(error)
        }
    }

    /// Makes a value from the values that an element of a step can refer to. Returns the value and the bytes that it counts.
    pub(super) fn evaluate<T>(
        &mut self,
        part: &Part,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        self.evaluate_until(part, None, |scope| {
            read(scope).map_err(StepError::arguments)
        })
    }

    /// Makes a value as [`evaluate`](Self::evaluate) does, unless the time of the part is over before.
    pub(super) fn evaluate_until<T>(
        &mut self,
        part: &Part,
        until: Option<Duration>,
        read: impl FnOnce(&Scope<'_>) -> Result<T, StepError>,
    ) -> Result<(T, usize), StepError> {
        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
        let step = self.0.values.place_of(scope, slot);
        let is_always = self.0.values.scope(scope).plan.steps[step].role == Role::Always;
        if is_always {
            self.0.show_results(scope);
        }
        let seen = self.0.uncatch(scope, step);
        let (made, bytes) = {
            let it = self.0.values.scope(scope);
            let stop = || self.0.clock.is_over(until) || self.0.look(scope);
            let meter = Meter::new(self.0.values.held.room(), Some(&stop));
            let inside = self.0.values.step(slot);
            let locals = inside.map_or_else(Vec::new, |inside| inside.locals(part.element));
            let resolving = self
                .0
                .values
                .resolving(it, is_always, &locals)
                .metered(&meter);
            (catch(|| read(&resolving)), meter.spent())
        };
        self.0.catch_again(seen);
        Ok((made??, bytes))
    }

    /// Chooses the first branch whose conditions hold.
    fn branch(&mut self, part: &Part, body: u32) -> Result<u32, StepError> {
        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
        let (Body::If(branches), _) = self.0.values.inside(scope, slot).bodies[body as usize]
        else {
            return Err(StepError::Unknown);
        };
        let branches: &'x [Branch] = branches;
        for (place, branch) in branches.iter().enumerate() {
            let bound = self.0.values.inside(scope, slot).bound(part.element);
            if self.all_hold(part, (body, place), &branch.conditions)? {
                return Ok(number(place) + 1);
            }
            let inside = self.0.values.inside(scope, slot);
            let left = inside.unbind(part.element, bound);
            self.0.values.let_go(slot, left);
        }
        self.0
            .deliver(scope, *part, StoredValue::json(Value::Null), false)?;
        Ok(0)
    }

    /// Tests conditions up to the first that does not hold.
    fn all_hold(
        &mut self,
        part: &Part,
        (body, branch): (u32, usize),
        conditions: &'x [Condition],
    ) -> Result<bool, StepError> {
        for (place, condition) in conditions.iter().enumerate() {
            let name = |depth, number| format!("if{number}.{depth}.{branch}.{place}");
            let holds = match condition {
                Condition::Holds(test) => {
                    let read = |scope: &Scope<'_>| resolve(test, scope);
                    self.decide(part, (body, test), name, read)?.0
                }
                Condition::Let { pattern, value } => {
                    let read = |scope: &Scope<'_>| bind(pattern, value, scope);
                    let (bound, bytes) = self.decide(part, (body, value), name, read)?;
                    if let Some(value) = bound {
                        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
                        let inside = self.0.values.inside(scope, slot);
                        inside.bind(part.element, StoredValue::weighed(value, bytes));
                        self.0.values.hold(slot, bytes);
                        true
                    } else {
                        false
                    }
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a list. Returns its length.
    fn list(&mut self, part: &Part, body: u32) -> Result<u32, StepError> {
        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
        let (Body::For(each), _) = self.0.values.inside(scope, slot).bodies[body as usize] else {
            return Err(StepError::Unknown);
        };
        let read = |scope: &Scope<'_>| making::items(resolve(&each.list, scope)?, &each.list);
        let name = |_, number| format!("list{number}");
        let (items, bytes) = self.decide(part, (body, &each.list), name, read)?;
        let all = LIST.1.saturating_mul(items.len()).saturating_add(LIST.0);
        let all = all.saturating_add(bytes);
        if !self.0.values.held.has_room(all) {
            return Err(self.0.values.held.full());
        }
        let counted = self.0.allowance.list(items.len());
        counted.map_err(StepError::arguments)?;
        self.0.values.hold(slot, all);
        let length = number(items.len());
        self.0.watching().list(part, items.len());
        if items.is_empty() {
            let empty = StoredValue::json(Value::Array(items));
            self.0.deliver(scope, *part, empty, false)?;
            return Ok(0);
        }
        let first = self.0.machine.view().elements(part.slot) + 1;
        let is_innermost = !matches!(each.body, Body::For(_));
        let inside = self.0.values.inside(scope, slot);
        inside.open_list((part.element, first), items, is_innermost);
        Ok(length)
    }

    /// Returns `true` if another round follows.
    fn again(&mut self, part: &Part) -> Result<bool, StepError> {
        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
        let (body, _) = self.0.values.inside(scope, slot).bodies[part.body as usize];
        let (Body::Loop(repeat), Some(round)) = (body, part.inside) else {
            return Err(StepError::Unknown);
        };
        let has_code = self.0.run.is_kept() && repeat.again.has_code();
        let key = |scene: &Scene<'_>| Keys(scene).prefix(round) + "?while";
        let again = self.decided(has_code, key, |Answering(scene)| {
            let it = scene.values.scope(round);
            let stop = || scene.look(round);
            let meter = Meter::new(scene.values.held.room(), Some(&stop));
            let resolving = scene.values.resolving(it, false, &[]).metered(&meter);
            let again = catch(|| resolve::<bool>(&repeat.again, &resolving))?;
            again.map_err(|error| {
                let error = StepError::arguments(error.of_part("its condition (`while`)"));
                it.hushed_output(error)
            })
        })?;
        self.round_made(scope, part, round, again)?;
        self.0.watching().end_part(part, None);
        self.0.watching().finish(part, &[part.element]);
        let policy = self.0.values.policy(scope, slot);
        let number = self.0.element(part).first().map_or(0, |round| round + 1);
        let may_follow = policy.at_most.is_none_or(|most| number < most as usize);
        if again && may_follow {
            self.count_round(scope, slot, number)?;
        }
        let inside = self.0.values.inside(scope, slot);
        if !again {
            let output = if policy.collect {
                Value::Array(std::mem::take(&mut inside.rounds))
            } else {
                std::mem::take(&mut inside.last)
            };
            inside.output = Some(StoredValue::json(output));
        }
        Ok(again)
    }

    /// Takes the value of a round. The value counts together with the value of the condition.
    fn round_made(
        &mut self,
        scope: ScopeId,
        part: &Part,
        round: ScopeId,
        again: bool,
    ) -> Result<(), StepError> {
        let slot = part.slot.index();
        let value = std::mem::take(&mut self.0.values.inside(scope, slot).last);
        let pair = Value::Array(vec![value, Value::Bool(again)]);
        let made = StoredValue::made(pair, self.0.values.held.room().of_one());
        let made = made.map_err(StepError::output)?;
        self.0.close_work(round);
        let bytes = made.bytes();
        self.0.values.hold_made(slot, bytes)?;
        let value = match made.into_json().map_err(StepError::output)? {
            Value::Array(mut pair) => pair.swap_remove(0),
            value => value,
        };
        let collects = self.0.values.policy(scope, slot).collect;
        let inside = self.0.values.inside(scope, slot);
        if collects {
            inside.rounds.push(value.clone());
            inside.last = value;
            return Ok(());
        }
        inside.last = value;
        let left = std::mem::replace(&mut inside.of_round, bytes);
        inside.made -= left;
        self.0.values.let_go(slot, left);
        Ok(())
    }

    /// Counts a round that is about to begin.
    pub(super) fn count_round(
        &mut self,
        scope: ScopeId,
        slot: usize,
        number: usize,
    ) -> Result<(), StepError> {
        let counted = self.0.allowance.list(1);
        counted.map_err(|error| {
            let error = StepError::arguments(error);
            if let Some(limit) = error.exceeded() {
                self.0.exceed(limit, (scope, slot), &[number], &error);
            }
            error
        })
    }

    /// Resolves the amounts of a step.
    fn amounts(&mut self, part: &Part) -> Result<Amounts, StepError> {
        let (scope, slot) = (self.0.scope_of(part), part.slot.index());
        let policy = self.0.values.policy(scope, slot);
        let mut resolved = (*policy).clone();
        for (amount, template) in &policy.given {
            let name = making::part(*amount);
            self.evaluate(part, |scope| {
                making::take(&mut resolved, *amount, template, scope)
                    .map_err(|error| error.of_part(name))
            })?;
        }
        let is_asked = |asked| {
            let mut named = policy.named.iter();
            policy.gives(asked).is_some() || named.any(|(amount, _)| *amount == asked)
        };
        if let Some((amount, why)) = resolved.contradiction(is_asked) {
            let error = ResolveError::new(format!("it is {why}"));
            let error = error.of_part(making::part(amount));
            return Err(StepError::arguments(error));
        }
        let amounts = convert::amounts(&resolved);
        let resolved = Arc::new(resolved);
        self.0.errors.note_policy(part.step, &resolved);
        self.0.watching().policy(part, &resolved);
        self.0.values.inside(scope, slot).policy = Some(resolved);
        Ok(amounts)
    }

    /// Makes the value that replaces a failure.
    fn instead(&mut self, id: QuestionId, part: Part) -> Result<(), StepError> {
        let (scope, slot) = (self.0.scope_of(&part), part.slot.index());
        let policy = self.0.values.policy(scope, slot);
        self.0.watching().instead(id, &part);
        let is_whole = part.element == Part::WHOLE;
        let caught = if is_whole { Catch::Whole } else { Catch::Each };
        let (value, bytes) = match &policy.fallback {
            _ if policy.catch == caught => {
                let view = self.0.machine.view();
                let around = self.0.values.scope(scope).depth;
                let failures = view.absorbed(id);
                let failure =
                    failures.map(|failures| self.0.errors.caught(view, around, &failures));
                let failure = serde_json::to_value(failure).unwrap_or_default();
                (outcome(ERR, failure), 0)
            }
            Some(fallback) if is_whole => {
                let has_code = self.0.run.is_kept() && fallback.has_code();
                let step = self.0.values.place_of(scope, slot);
                let key = |scene: &Scene<'_>| Keys(scene).of_step(scope, step, &[]) + "?fallback";
                let mut bytes = 0;
                let made = self.decided(has_code, key, |it| {
                    let read =
                        |scope: &Scope<'_>| resolve(fallback, scope).map_err(StepError::fallback);
                    let (made, made_of) = it.evaluate_until(&part, None, read)?;
                    bytes = made_of;
                    Ok(made)
                })?;
                (made, bytes)
            }
            _ => (Value::Null, 0),
        };
        if !is_whole {
            return self.0.deliver(scope, part, StoredValue::json(value), true);
        }
        let inside = self.0.values.inside(scope, slot);
        inside.output = Some(StoredValue::weighed(value, bytes));
        inside.is_replaced = true;
        Ok(())
    }
}
