//! Runs on an engine: Rust code in the plan decides once the engine knows its decisions.

use super::driver::Driver;
use super::scene::{Host, Scene};
use crate::machine::{Command, Part, Question};
use crate::plan::{Body, Condition, Template};
use std::task::Context;

impl<'x> Driver<'x> {
    /// Returns `true` if a command has to wait until the engine knows the decisions of Rust code in the plan.
    #[cold]
    pub(super) fn must_wait(&mut self, command: Command, cx: &mut Context<'_>) -> bool {
        let must_wait = self.decides(&command)
            && self.scene.run.engine.as_ref().is_some_and(|engine| {
                let polled = engine.poll_decisions(cx);
                polled.is_pending()
            });
        self.held = must_wait.then_some(command);
        must_wait
    }

    /// Does a command that has waited.
    #[cold]
    pub(super) fn do_held(&mut self, command: Command, host: &mut dyn Host<'x>) {
        match command {
            Command::Start(call, place) => {
                self.has_begun = true;
                self.start(call, place, host);
            }
            command => self.execute(command, host),
        }
    }

    /// Returns `true` if Rust code may decide something in a command.
    fn decides(&mut self, command: &Command) -> bool {
        match command {
            Command::Start(call, place) => {
                let starting = self.starting(*call, *place);
                starting.is_some_and(|it| it.action.args.has_code())
            }
            Command::Evaluate(id, question) => {
                let part = self.scene.machine.view().asked(*id);
                self.scene.has_code(*question, part)
            }
            _ => false,
        }
    }
}

impl Scene<'_> {
    /// Returns `true` if Rust code may answer a question.
    fn has_code(&mut self, question: Question, part: Option<Part>) -> bool {
        match (question, part) {
            (Question::Output(scope), _) => self.values.scope(scope).plan.output.value.has_code(),
            (Question::Fallback(_), Some(part)) => {
                let policy = self.values.policy(self.scope_of(&part), part.slot.index());
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
        let scope = self.scope_of(part);
        match self.values.inside(scope, part.slot.index()).bodies[body as usize].0 {
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
