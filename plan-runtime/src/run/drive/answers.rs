//! The answers to the questions of the machine: conditions, lists, inputs and outputs of scopes, amounts, and values that replace failures.

use super::super::StepError;
use super::super::limits::{ELEMENT_BYTES, LIST_BYTES};
use super::super::making::{self, bind};
use super::admission::late;
use super::convert;
use super::recording::{EndNotes, Keys};
use super::scene::{Host, Scene};
use super::scope_values::outcome;
use super::task::Site;
use crate::machine::{Amounts, Answer, Failures, Part, Question, QuestionId, ScopeId};
use crate::plan::{Body, Branch, Catch, Condition, ERR, number};
use crate::resolve::{ResolveError, Scope, StoredValue, resolve};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Makes the values that the machine asks for.
pub(super) struct Answering<'s, 'x>(pub(super) &'s mut Scene<'x>);

impl<'x> Answering<'_, 'x> {
    /// Returns `None` if the answer is no longer needed, and in a view if only Rust code can make the answer.
    pub(super) fn answer(
        &mut self,
        id: QuestionId,
        question: Question,
        host: &mut dyn Host<'x>,
    ) -> Option<Answer> {
        let made = self.make(id, question, host);
        if std::mem::take(&mut self.0.is_undecided) || self.0.is_interrupted() {
            return None;
        }
        Some(made.unwrap_or_else(|error| self.refuse(id, question, error)))
    }

    fn make(
        &mut self,
        id: QuestionId,
        question: Question,
        host: &mut dyn Host<'x>,
    ) -> Result<Answer, StepError> {
        match question {
            Question::Output(ScopeId::ROOT) => {
                return self.make_output(host).map(|()| Answer::Made);
            }
            // If a call may be the plan of the run itself, the machine asks for the inputs of the whole plan as well. The run already has these
            // inputs.
            Question::Inputs(ScopeId::ROOT) => return Ok(Answer::Made),
            _ => {}
        }
        let of = &self.0.asked(id).ok_or(StepError::Unknown)?;
        match question {
            Question::Amounts(_) => return self.amounts(of).map(Answer::Amounts),
            Question::Branch(..) => return self.branch(of).map(Answer::Number),
            Question::List(..) => return self.list(of).map(Answer::Number),
            Question::Again(..) => return Ok(Answer::Number(self.again(of)?.into())),
            Question::Inputs(scope) => self.inputs(scope, of)?,
            Question::Output(scope) => self.value(scope, of)?,
            Question::Fallback(_) => {
                let failures = self.0.machine.view().absorbed(id);
                self.instead(of, failures.as_ref())?;
                if let (Some(notes), Some(failures)) = (EndNotes::of(self.0), &failures) {
                    notes.made_up(of, failures);
                }
            }
        }
        Ok(Answer::Made)
    }

    /// Answers a question with an error. Returns the answer.
    fn refuse(&mut self, id: QuestionId, question: Question, mut error: StepError) -> Answer {
        if let Some(of) = &self.0.asked(id) {
            error = self.0.values.hushed(of, error);
            if matches!(question, Question::Inputs(_) | Question::Again(..)) {
                self.0.tell(|it| it.end(of, Some(&error)));
            }
            self.0.exceeds(of, &error);
        }
        let error = self.0.keep(error);
        if self.0.stops.is_exceeded() {
            Answer::Exceeds(error.error)
        } else {
            Answer::Failed(error)
        }
    }

    /// Makes a value from the values that an element of a step can refer to. Returns the value and the bytes that it counts.
    pub(super) fn evaluate<T>(
        &mut self,
        of: &Site,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        let (made, bytes) = self.0.evaluate(of, None, |_, scope| read(scope));
        Ok((made?.map_err(StepError::arguments)?, bytes))
    }

    /// Chooses the first branch whose conditions hold.
    fn branch(&mut self, of: &Site) -> Result<u32, StepError> {
        let (Body::If(branches), _) = self.0.values.body(of) else {
            return Err(StepError::Unknown);
        };
        let branches: &'x [Branch] = branches;
        for (place, branch) in branches.iter().enumerate() {
            let bound = self.0.values.inside(of).bound(of.element());
            if self.all_hold(of, place, &branch.conditions)? {
                return Ok(number(place) + 1);
            }
            let left = self.0.values.inside(of).unbind(of.element(), bound);
            self.0.values.let_go(of.slot(), left);
        }
        self.0.deliver(of, StoredValue::json(Value::Null), false)?;
        Ok(0)
    }

    /// Tests conditions up to the first false condition.
    fn all_hold(
        &mut self,
        of: &Site,
        branch: usize,
        conditions: &'x [Condition],
    ) -> Result<bool, StepError> {
        for (place, condition) in conditions.iter().enumerate() {
            let name = |depth, number| format!("if{number}.{depth}.{branch}.{place}");
            let holds = match condition {
                Condition::Holds(test) => {
                    let read = |scope: &Scope<'_>| resolve(test, scope);
                    self.decide(of, test, name, read)?.0
                }
                Condition::Let { pattern, value } => {
                    let read = |scope: &Scope<'_>| bind(pattern, value, scope);
                    let (bound, bytes) = self.decide(of, value, name, read)?;
                    let holds = bound.is_some();
                    if let Some(value) = bound {
                        let value = StoredValue::weighed(value, bytes);
                        self.0.values.inside(of).bind(of.element(), value);
                        self.0.values.hold(of.slot(), bytes);
                    }
                    holds
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a list. Returns its length.
    fn list(&mut self, of: &Site) -> Result<u32, StepError> {
        let (Body::For(each), _) = self.0.values.body(of) else {
            return Err(StepError::Unknown);
        };
        let read = |scope: &Scope<'_>| making::items(resolve(&each.list, scope)?, &each.list);
        let name = |_, number| format!("list{number}");
        let (items, bytes) = self.decide(of, &each.list, name, read)?;
        let all = ELEMENT_BYTES
            .saturating_mul(items.len())
            .saturating_add(LIST_BYTES);
        let all = all.saturating_add(bytes);
        if !self.0.values.held.has_room(all) {
            return Err(self.0.values.held.full());
        }
        let counted = self.0.allowance.list(items.len());
        counted.map_err(StepError::arguments)?;
        self.0.values.hold(of.slot(), all);
        let length = number(items.len());
        self.0.tell(|it| it.list(of, items.len()));
        if items.is_empty() {
            let empty = StoredValue::json(Value::Array(items));
            self.0.deliver(of, empty, false)?;
            return Ok(0);
        }
        let view = self.0.machine.view();
        let first = of.part.map_or(0, |part| view.elements(part.slot)) + 1;
        let is_innermost = !matches!(each.body, Body::For(_));
        let inside = self.0.values.inside(of);
        inside.open_list((of.element(), first), items, is_innermost);
        Ok(length)
    }

    /// Returns `true` if another round follows.
    fn again(&mut self, of: &Site) -> Result<bool, StepError> {
        let (body, _) = self.0.values.body(of);
        let (Body::Loop(repeat), Some(round)) = (body, of.inside()) else {
            return Err(StepError::Unknown);
        };
        let has_code = self.0.run.is_kept() && repeat.again.has_code();
        let key = |scene: &Scene<'_>| Keys(scene).prefix(round) + "?while";
        let limit = self.limit_of_loop(of);
        let again = self.decided(has_code, key, |Answering(scene)| {
            let until = limit.as_ref().map(|(until, _)| *until);
            // The round is over, and its time limits with it.
            let stop = || scene.clock.is_over(until) || scene.look(of.scope);
            let read = |scope: &Scope<'_>| resolve::<bool>(&repeat.again, scope);
            let again = scene.read_unless(&stop, round, read)?;
            again.map_err(|error| {
                let error = StepError::arguments(error.of_part("its condition (`while`)"));
                late(scene.values.scope(round).hushed_output(error), limit)
            })
        })?;
        self.round_made(of, round, again)?;
        self.0.tell(|it| {
            it.end(of, None);
            it.finish(of, &[of.element()]);
        });
        let policy = self.0.values.policy(of);
        let number = self.0.element(of).first().map_or(0, |round| round + 1);
        let may_follow = policy.at_most.is_none_or(|most| number < most as usize);
        if again && may_follow {
            self.count_round(of, number)?;
        }
        let inside = self.0.values.inside(of);
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

    /// Returns the end of the time of a loop, and the error after that. With a journal, a replay takes no time.
    fn limit_of_loop(&self, of: &Site) -> Option<(Duration, StepError)> {
        let inside = self.0.values.step(of.slot());
        let inside = inside.filter(|_| self.0.run.durable.is_none())?;
        let (_, until) = inside.deadlines.get(&Part::WHOLE)?;
        let limit = self.0.values.policy(of).deadline?;
        Some((*until, StepError::Deadline(limit)))
    }

    /// Stores the value of a round. The limits count the value together with the value of the condition.
    fn round_made(&mut self, of: &Site, round: ScopeId, again: bool) -> Result<(), StepError> {
        let slot = of.slot();
        let value = std::mem::take(&mut self.0.values.inside(of).last);
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
        let collects = self.0.values.policy(of).collect;
        let inside = self.0.values.inside(of);
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
    pub(super) fn count_round(&mut self, of: &Site, number: usize) -> Result<(), StepError> {
        let counted = self.0.allowance.list(1);
        counted.map_err(|error| {
            let error = StepError::arguments(error);
            if let Some(limit) = error.exceeded() {
                self.0.exceed(limit, of, &[number], &error);
            }
            error
        })
    }

    /// Resolves the amounts of a step.
    fn amounts(&mut self, of: &Site) -> Result<Amounts, StepError> {
        let policy = self.0.values.policy(of);
        let mut resolved = (*policy).clone();
        for (amount, template) in &policy.given {
            let name = making::part(*amount);
            self.evaluate(of, |scope| {
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
        self.0.tell(|it| it.policy(of, &resolved));
        self.0.values.inside(of).policy = Some(resolved);
        Ok(amounts)
    }

    /// Makes the value that replaces a failure.
    fn instead(&mut self, of: &Site, failures: Option<&Failures>) -> Result<(), StepError> {
        let policy = self.0.values.policy(of);
        self.0.tell(|it| it.instead(of, failures));
        let is_whole = of.element() == Part::WHOLE;
        let caught = if is_whole { Catch::Whole } else { Catch::Each };
        let (value, bytes) = match &policy.fallback {
            _ if policy.catch == caught => {
                let view = self.0.machine.view();
                let around = self.0.values.scope(of.scope).depth;
                let failure = failures.map(|failures| self.0.errors.caught(view, around, failures));
                let failure = serde_json::to_value(failure).unwrap_or_default();
                (outcome(ERR, failure), 0)
            }
            Some(fallback) if is_whole => {
                let has_code = self.0.run.is_kept() && fallback.has_code();
                let key = |scene: &Scene<'_>| Keys(scene).of_step(of, &[]) + "?fallback";
                let mut bytes = 0;
                let made = self.decided(has_code, key, |Answering(scene)| {
                    let (made, made_of) =
                        scene.evaluate(of, None, |_, scope| resolve(fallback, scope));
                    bytes = made_of;
                    made?.map_err(StepError::fallback)
                })?;
                (made, bytes)
            }
            _ => (Value::Null, 0),
        };
        if !is_whole {
            return self.0.deliver(of, StoredValue::json(value), true);
        }
        let inside = self.0.values.inside(of);
        inside.output = Some(StoredValue::weighed(value, bytes));
        inside.is_replaced = true;
        Ok(())
    }
}
