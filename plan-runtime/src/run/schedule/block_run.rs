//! The run of a block, which the schedule around it polls.

use super::super::StepError;
use super::super::nesting::Nested;
use super::super::start::{OwnStart, StepResult};
use super::{Schedule, Start};
use crate::Error;
use crate::error::{BlockPlace, Interrupt, Left};
use crate::plan::Template;
use crate::resolve::StoredValue;
use serde_json::Value;
use std::task::{Context, Poll, ready};

/// A block that runs, or has succeeded and may have to be undone.
pub(super) struct BlockRun<'x> {
    pub(super) schedule: Box<Schedule<'x>>,
    pub(super) by: Starts<'x>,
    pub(super) place: BlockPlace,
    /// Its error if its time is over before it ends.
    pub(super) limit: Option<StepError>,
    /// The condition of the loop whose round it is. Its result is a pair then: its value, and whether there is another round.
    pub(super) again: Option<&'x Template>,
    /// Whether its work has succeeded, although that condition may have failed.
    pub(super) has_succeeded: bool,
    /// Whether it was ended because of something around it, so that its error is of no interest.
    pub(super) is_cut: bool,
    /// What became of its undo steps, once they have run after it had succeeded.
    pub(super) left: Option<Left>,
    /// The bytes that its inputs count.
    pub(super) bytes: usize,
}

/// What starts its actions.
pub(super) enum Starts<'x> {
    /// What starts those around it. Of those, this is the number of its first.
    Around(usize),
    /// That of the plan that is called.
    Own(OwnStart<'x>),
}

impl<'x> BlockRun<'x> {
    /// Is ready once nothing of it runs.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, start: Start<'_, 'x>) -> Poll<StepResult> {
        let nested = match self.by {
            Starts::Around(_) => Nested::enter_block(),
            Starts::Own(_) => Nested::enter_plan(),
        };
        if let Err(too_deep) = &nested {
            self.schedule.interrupt(too_deep.clone());
        }
        loop {
            let schedule = &mut self.schedule;
            ready!(match &mut self.by {
                Starts::Around(first) => {
                    schedule.poll(cx, &mut |number, request| start(*first + number, request))
                }
                Starts::Own(own) => schedule.poll(cx, &mut *own.start),
            });
            if !schedule.is_before_ending() {
                return Poll::Ready(self.result());
            }
            match &self.by {
                Starts::Around(_) => schedule.begin_ending(|_| Ok(())),
                Starts::Own(own) => schedule.begin_ending(|output| own.fits(output)),
            }
        }
    }

    fn result(&mut self) -> StepResult {
        let output = match &self.by {
            Starts::Own(own) if self.left.is_none() => {
                let room = self.schedule.room().of_one();
                match self.schedule.output_with(|output| own.store(output, room)) {
                    Ok(output) => {
                        self.has_succeeded = output.is_ok();
                        return output;
                    }
                    Err(run) => Err(run),
                }
            }
            Starts::Around(_) | Starts::Own(_) => self.schedule.output::<Value>(),
        };
        let run = match output {
            Ok(output) => {
                self.has_succeeded = true;
                let room = self.schedule.room().of_one();
                let output = match self.again {
                    Some(again) => Value::Array(vec![output, self.schedule.goes_on(again)?]),
                    None => output,
                };
                return StoredValue::made(output, room).map_err(StepError::output);
            }
            Err(run) => run,
        };
        if let Some(left) = &mut self.left {
            let failures = self.place.failures(run.failures());
            left.failures = failures.filter(|it| it.is_of_undo()).collect();
            left.undoing = self.place.undoing(run.undoing_of());
            return Ok(StoredValue::json(Value::Null));
        }
        let mut instead = None;
        if run.is_ended_block() && !self.is_cut {
            instead = self.limit.take();
            // The time of something around it is over, which will be found out there.
            self.is_cut = instead.is_none();
        }
        match self.by {
            // What it says is what a call says.
            Starts::Own(_) if !run.is_ended_block() => Err(StepError::tool(Error::new(run))),
            _ => Err(StepError::of_block(run, instead, &self.place)),
        }
    }

    /// Whether something in it may have to run once its time is over.
    pub(super) fn has_ending(&self) -> bool {
        self.schedule.has_ending()
    }

    /// Something outside the steps of the block has panicked.
    pub(super) fn panicked(&mut self, panic: StepError) -> StepResult {
        let run = self.schedule.panicked(panic);
        Err(StepError::of_block(run, None, &self.place))
    }

    /// What it counts besides its values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops its calls, since its time is over. Its undo steps and always steps run then.
    pub(super) fn end(&self) {
        if !self.is_ending() {
            self.schedule.interrupt(Interrupt::Block);
        }
    }

    /// Whether its work is over, or about to be: that it is to end changes nothing.
    fn is_ending(&self) -> bool {
        self.schedule.ending.is_some() || self.schedule.winding.is_some()
    }

    /// The same, since the step does not go on, whatever becomes of the block.
    pub(super) fn cut(&mut self) {
        self.is_cut |= !self.is_ending();
        self.end();
    }

    /// Returns what is left in it of failures that were caught.
    pub(super) fn absorbed(&self) -> Left {
        let absorbed = self.schedule.absorbed();
        Left {
            failures: self.place.failures(&absorbed.failures).collect(),
            undoing: self.place.undoing(&absorbed.undoing),
        }
    }

    /// What was undone in it so far, and what was not.
    pub(super) fn left(&self) -> Left {
        let failures = self.schedule.failures();
        let failures = self.place.failures(&failures);
        Left {
            failures: failures.filter(|it| it.is_of_undo()).collect(),
            undoing: self.place.undoing(&self.schedule.all_undoing()),
        }
    }
}
