//! Decisions of Rust code in a plan. With a journal, the run makes each decision once. On an engine, code decides once the engine has its earlier decisions.

use super::super::StepError;
use super::super::deciding::{AS_IT_IS, Decider, Keeper};
use super::answers::Answering;
use super::convert::ifs_around;
use super::recording::Keys;
use super::scene::Scene;
use super::starting::Starting;
use crate::error::Interrupt;
use crate::machine::{Command, Part, Question};
use crate::plan::{Body, Condition, Template};
use crate::resolve::{ResolveError, Scope};
use serde::{Serialize, de::DeserializeOwned};
use std::cell::RefCell;
use std::sync::Arc;

impl Answering<'_, '_> {
    /// Decides something in a step by a value. A crash does not change a decision of Rust code.
    pub(super) fn decide<T: Serialize + DeserializeOwned>(
        &mut self,
        part: &Part,
        (body, by): (u32, &Template),
        name: impl FnOnce(usize, usize) -> String,
        read: impl FnOnce(&Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<(T, usize), StepError> {
        let has_code = self.0.run.is_kept() && by.has_code();
        if !has_code {
            return self.evaluate(part, read);
        }
        let key = |scene: &Scene<'_>| {
            let (scope, slot) = (scene.scope_of(part), part.slot.index());
            let it = scene.values.scope(scope);
            let step = slot - it.first;
            let first = it.actions + it.graph.actions[step] as usize;
            let inside = scene.values.step(slot);
            let number = inside.map_or(first, |it| it.bodies[body as usize].1);
            let name = name(ifs_around(&it.plan.steps[step], body), number - first);
            format!(
                "{}?{name}",
                Keys(scene).of_step(scope, step, &scene.element(part))
            )
        };
        let mut bytes = 0;
        let made = self.decided(true, key, |it| {
            let (made, made_of) = it.evaluate(part, read)?;
            bytes = made_of;
            Ok(made)
        })?;
        Ok((made, bytes))
    }

    /// Makes a decision. A run with a journal makes each decision of Rust code once.
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
        let stopped = RefCell::new(None);
        let is_over = self.0.stops.is_exceeded();
        let decider = Decider {
            keeper,
            has_secrets: self.0.values.has_secrets(),
            stop: &|interrupt| *stopped.borrow_mut() = Some(interrupt),
            is_over: &|| is_over,
        };
        let decided = decider.decided(key, || decide(self), AS_IT_IS);
        if let Some(Interrupt::Journal(error)) = stopped.into_inner() {
            self.0.fail_journal(error);
        }
        decided.unwrap_or_else(|| {
            let failure = run.durable.as_ref().and_then(|it| it.failure());
            if let Some(error) = failure {
                self.0.fail_journal(error);
            }
            Err(StepError::Unknown)
        })
    }

    /// Returns `true` if Rust code may decide something in a command.
    pub(super) fn decides(&mut self, command: &Command) -> bool {
        match command {
            Command::Start(call, place) => {
                let starting = Starting::of(self.0, *call, *place);
                starting.is_some_and(|it| it.action.args.has_code())
            }
            Command::Evaluate(id, question) => {
                let part = self.0.machine.view().asked(*id);
                self.has_code(*question, part)
            }
            _ => false,
        }
    }

    /// Returns `true` if Rust code may answer a question.
    fn has_code(&mut self, question: Question, part: Option<Part>) -> bool {
        match (question, part) {
            (Question::Output(scope), _) => self.0.values.scope(scope).plan.output.value.has_code(),
            (Question::Fallback(_), Some(part)) => {
                let policy = self
                    .0
                    .values
                    .policy(self.0.scope_of(&part), part.slot.index());
                policy.fallback.as_ref().is_some_and(Template::has_code)
            }
            (Question::Branch(_, body) | Question::List(_, body), Some(part)) => {
                self.body_has_code(&part, body)
            }
            (Question::Again(..), Some(part)) => self.body_has_code(&part, part.body),
            _ => false,
        }
    }

    fn body_has_code(&mut self, part: &Part, body: u32) -> bool {
        let scope = self.0.scope_of(part);
        match self.0.values.inside(scope, part.slot.index()).bodies[body as usize].0 {
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
