//! What gates and Rust code decide, once and for all: what a run with a journal writes down of it, and takes from there.

use super::super::answered::{self, RecordedAnswer};
use super::super::context::Decision as Decided;
use super::super::deciding::{AS_IT_IS, Decider, Errors, Keeper};
use super::super::recorded::unusable;
use super::super::timer::Sleep;
use super::Schedule;
use super::body_state::OutputSlot;
use crate::error::{Interrupt, StepError};
use crate::plan::Template;
use crate::resolve::resolve;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::Cell;
use std::future::pending;

/// Something that a step decides.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    pub(super) step: usize,
    pub(super) slot: OutputSlot,
    /// The number of the first action after it.
    number: usize,
    what: What,
    /// Which condition of the branch it is.
    pub(super) condition: usize,
}

#[derive(Clone, Copy)]
pub(super) enum What {
    List,
    /// A branch, in an `if` that is right in this many branches of others.
    Branch {
        depth: usize,
        place: usize,
    },
}

impl Decision {
    pub(super) fn new(step: usize, slot: OutputSlot, number: usize, what: What) -> Self {
        Self {
            step,
            slot,
            number,
            what,
            condition: 0,
        }
    }

    /// A name that nothing else has which the step decides there. `first` is the number of its first action.
    pub(super) fn name(&self, first: usize) -> String {
        let number = self.number - first;
        match self.what {
            What::List => format!("list{number}"),
            What::Branch { depth, place } => {
                format!("if{number}.{depth}.{place}.{}", self.condition)
            }
        }
    }
}

impl Schedule<'_> {
    /// What the gates decided about a job before a crash, if they did. `Err` means that the run is over.
    #[cold]
    pub(super) fn recorded_answer(
        &self,
        step: usize,
        job: usize,
    ) -> Result<Option<RecordedAnswer>, ()> {
        let Some(durable) = &self.run.durable else {
            return Ok(None);
        };
        // The answer about the job itself was given before an answer about all elements.
        let mut key = self.key_of_answer(step, job);
        let mut found = durable.find(&key)?;
        if found.is_none() {
            key = self.key_of_answers(step, job);
            found = durable.find(&key)?;
        }
        if found.is_some() {
            durable.has_gates();
        }
        let answer = found.map(|found| answered::read(&found));
        answer.transpose().map_err(|error| {
            durable.fail(unusable(&key, error));
        })
    }

    /// Writes the answer of the gates about a job. The future is ready when the record has its turn.
    pub(super) fn record_answer(&self, step: usize, job: usize, decision: &Decided) -> Sleep {
        let Some(durable) = &self.run.durable else {
            return Box::pin(pending());
        };
        let key = match decision {
            Decided::AllowStep => self.key_of_answers(step, job),
            Decided::Allow | Decided::Refuse(_) => self.key_of_answer(step, job),
        };
        let now = durable.time();
        let body = answered::body(decision, now);
        match body {
            Ok(body) => durable.write(key, body, now),
            Err(error) => {
                durable.fail(unusable(&key, error));
                Box::pin(pending())
            }
        }
    }

    /// The key of a decision about all elements of a job's step that make the same call.
    fn key_of_answers(&self, step: usize, job: usize) -> String {
        let number = self
            .steps
            .flow(step)
            .map_or(0, |flow| flow.jobs[job].number);
        let number = number - self.graph.actions[step] as usize;
        self.key_of_decision(step, &[], &format!("gate{number}"))
    }

    fn key_of_answer(&self, step: usize, job: usize) -> String {
        let flow = self.steps.flow(step);
        let element = flow.map_or_else(Vec::new, |flow| flow.elements(flow.jobs[job].place));
        self.key_of_decision(step, &element, "gate")
    }

    /// What Rust code decides, once and for all: what it has decided before a crash, if it has. `None` means that the run is over.
    pub(super) fn decided<T, E>(
        &self,
        has_code: bool,
        key: impl FnOnce() -> String,
        decide: impl FnOnce() -> Result<T, E>,
        errors: Errors<E>,
    ) -> Option<Result<T, E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(keeper) = Keeper::of(&self.run).filter(|_| has_code) else {
            return Some(decide());
        };
        let decider = Decider {
            keeper,
            has_secrets: self.secrecy.is_some(),
            stop: &|interrupt| self.interrupts.happen(interrupt),
            is_over: &|| self.interrupts.happened().is_some(),
        };
        decider.decided(key(), decide, errors)
    }

    /// The error of a decision that is not made, since the journal cannot be used. It is seen nowhere: that ends the run.
    #[cold]
    pub(super) fn stopped(&self) -> StepError {
        if let Some(error) = self
            .run
            .durable
            .as_ref()
            .and_then(|durable| durable.failure())
        {
            self.interrupts.happen(Interrupt::Journal(error));
        }
        StepError::Unknown
    }

    /// The value that replaces the output of a step which has failed.
    pub(super) fn fallback(
        &self,
        step: usize,
        fallback: &Template,
    ) -> Result<(Value, usize), StepError> {
        let bytes = Cell::new(0);
        let has_code = self.run.is_kept() && fallback.has_code();
        let key = || self.key_of_decision(step, &[], "fallback");
        let decided = self.decided(
            has_code,
            key,
            || match self.metered(|scope| resolve::<Value>(fallback, scope)) {
                Ok((Ok(value), spent)) => {
                    bytes.set(spent);
                    Ok(value)
                }
                Ok((Err(error), _)) => Err(self.hushed(step, StepError::fallback(error))),
                Err(panic) => Err(panic),
            },
            AS_IT_IS,
        );
        match decided {
            None => Err(self.stopped()),
            Some(value) => Ok((value?, bytes.get())),
        }
    }

    /// The key of a decision at the end of a plan or a block.
    pub(super) fn key_of_end(&self, what: &str) -> String {
        format!("{}?{what}", self.prefix)
    }

    /// The key of a decision at a place of a step.
    pub(super) fn key_of_decision(&self, step: usize, element: &[usize], what: &str) -> String {
        format!("{}?{what}", self.key(step, element))
    }
}
