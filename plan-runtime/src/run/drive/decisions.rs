//! Evaluates conditions, lists and values of Rust code.
//!
//! Rust code may return another result after a crash. So a run with a journal or an engine records each result as a *decision*, and a resumed run uses the record.
//! On an engine, the run evaluates Rust code only after the engine has stored all earlier decisions.

use super::super::StepError;
use super::super::deciding::Keeper;
use super::answers::Answering;
use super::convert::ifs_around;
use super::recording::Keys;
use super::scene::Scene;
use super::starting::Starting;
use super::task::Site;
use crate::error::Interrupt;
use crate::machine::{Command, Question};
use crate::plan::{Body, Condition, Template};
use crate::resolve::{ResolveError, Scope};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

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
