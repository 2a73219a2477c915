//! What a run does when it is polled: it starts what is ready, and goes on with what has happened.

use super::super::nesting::may_start;
use super::super::on_failure::OnFailure;
use super::super::start::StepResult;
use super::step_state::StepState;
use super::task::CallState;
use super::tasks::Happened;
use super::{Schedule, Start};
use crate::error::{Interrupt, StepError};
use std::task::{Context, Poll};

impl<'x> Schedule<'x> {
    /// Is ready once no step runs and none is to start.
    pub(in crate::run) fn poll(&mut self, cx: &mut Context<'_>, start: Start<'_, 'x>) -> Poll<()> {
        self.look_who_watches();
        self.turn.polled();
        self.interrupts.polled();
        if self.is_shared {
            self.allowance.wake(cx.waker());
            self.look_at_call(cx);
        }
        loop {
            self.look_at_limits();
            if self.clock.is_durable {
                self.look_at_journal(cx);
                self.drop_unstarted();
                self.interrupts.poll(cx, &self.clock);
                self.record_interrupt();
                self.interrupts.poll_record(cx);
            }
            if self.interrupts.poll(cx, &self.clock) {
                if self.begin_grace() {
                    continue;
                }
                // A call that has ended is done, and to be undone.
                if self.is_writing() {
                    // No call starts, so a permit would keep the next record from its turn.
                    self.give_back();
                    self.is_paused = false;
                    self.drop_unrecorded();
                    let mut result = None;
                    match self.running.poll_next(cx, &mut result, start) {
                        Poll::Ready(Some(happened)) => {
                            self.happened(happened, &mut result);
                            // All of it was taken.
                            std::mem::forget(result);
                            continue;
                        }
                        Poll::Pending if self.goes_on_recorded() => continue,
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(None) => {}
                    }
                }
                if self.wind_down() {
                    continue;
                }
                self.cancel();
                break;
            }
            self.start_waits(start);
            self.resume_deferred();
            self.is_paused = false;
            // A block has its turn before more is started, since a call in it comes first.
            let mut has_opened = false;
            let mut is_waiting = false;
            while self.calls < self.run.options.concurrency {
                let Some(step) = self.next_ready() else { break };
                if !may_start() {
                    self.ready.insert(step);
                    self.is_paused = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                if self.is_shared && !self.may_call(cx, step) {
                    self.ready.insert(step);
                    is_waiting = true;
                    break;
                }
                match self.steps.states[step] {
                    StepState::Waiting => self.start(step, start),
                    _ => self.advance(step, start),
                }
                has_opened = std::mem::take(&mut self.has_opened);
                if has_opened {
                    break;
                }
            }
            if self.is_shared && !is_waiting {
                self.give_back();
            }
            if self.interrupts.happened().is_some()
                || self.has_waits_to_start()
                || self.clock.is_durable && self.has_no_journal()
            {
                continue;
            }
            if self.open == 0 && !is_waiting {
                break;
            }
            let mut result = None;
            match self.running.poll_next(cx, &mut result, start) {
                Poll::Ready(Some(happened)) => {
                    self.happened(happened, &mut result);
                    // All of it was taken.
                    std::mem::forget(result);
                }
                Poll::Ready(None) if !is_waiting => break,
                Poll::Pending if has_opened => {}
                Poll::Ready(None) | Poll::Pending
                    if self.clock.is_durable && self.goes_on_recorded() => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
        self.give_back();
        if self.clock.is_durable {
            self.look_for_end();
        }
        // Waits may be left, for a step that has failed by now.
        self.abandon_all();
        if self.is_before_ending() {
            return Poll::Ready(());
        }
        let is_undo = self.ending.as_ref().is_some_and(|it| it.is_undo());
        self.close_ending();
        self.ended = Some(self.clock.now());
        if !is_undo {
            self.watch_plan_end();
        }
        Poll::Ready(())
    }

    /// Ends a plan that a tool runs inside its call where the plan must not run any more.
    #[cold]
    fn look_at_call(&self, cx: &Context<'_>) {
        if let (Some(outer), Some(beside)) = (&self.outer, &self.beside)
            && let Some(why) = outer.refuses_inside(Some((beside, cx.waker())))
        {
            self.interrupts.happen(Interrupt::Outside(why));
        }
    }

    /// Returns `true` if the plan waits in vain, since a tool blocks on the plan. The next poll ends the plan then.
    #[cold]
    pub(in crate::run) fn waits_in_vain(&mut self, cx: &Context<'_>) -> bool {
        let (Some(outer), true, true) = (&self.outer, self.beside.is_some(), self.clock.is_durable)
        else {
            return false;
        };
        let why = self.blocked.waits(outer, cx.waker());
        why.is_some_and(|why| {
            self.interrupts.happen(Interrupt::Outside(why));
            true
        })
    }

    /// Ends the run before its time, when it is polled next.
    pub(in crate::run) fn interrupt(&self, interrupt: Interrupt) {
        self.interrupts.happen(interrupt);
    }

    fn next_ready(&mut self) -> Option<usize> {
        if self.is_stopping() || self.interrupts.happened().is_some() {
            return None;
        }
        if self.ending.is_some() {
            return self.next_of_ending();
        }
        self.ready.pop()
    }

    /// Whether nothing more is started.
    pub(super) fn is_stopping(&self) -> bool {
        self.ending.is_none()
            && (self.winding.is_some()
                || self.run.options.on_failure != OnFailure::Continue && !self.failed.is_empty())
    }

    #[inline(always)]
    pub(super) fn happened(&mut self, happened: Happened<'x>, result: &mut Option<StepResult>) {
        let Happened {
            step,
            job,
            mut more,
            bytes,
        } = happened;
        self.held.remove(bytes);
        self.blocked.goes_on();
        if let Some(more) = &mut more
            && let Some(block) = more.block.take()
        {
            let result = result.take().unwrap_or(Err(StepError::Unknown));
            return self.block_ended(step, job, *block, result, &more.span);
        }
        match result {
            Some(result) if self.steps.more_of(step).is_some() => {
                let result = std::mem::replace(result, Err(StepError::Unknown));
                self.flow_call_ended((step, job), result, more);
            }
            Some(result) => {
                self.count_end(more.as_deref());
                self.single_ended(step, result, more.as_deref().map(|more| &more.span));
            }
            None if more.as_deref().is_some_and(|more| more.receives) => {
                self.received(step, job, more.as_deref().map(|more| &more.span));
            }
            None if more.is_some_and(|more| more.asks) => self.answered(step, job),
            None => self.waited(step, job),
        }
    }

    /// A call has ended of a step that is more than a single call, which all steps are that are recorded.
    #[inline(never)]
    fn flow_call_ended(
        &mut self,
        (step, job): (usize, usize),
        result: StepResult,
        more: Option<Box<CallState<'x>>>,
    ) {
        if self.is_to_record(step, job) {
            return self.record_call((step, job), result, more);
        }
        self.in_writing.remove(&(step, job));
        self.count_end(more.as_deref());
        self.called(step, job, result, more.as_deref().map(|more| &more.span));
    }

    /// A call runs no more.
    #[inline(always)]
    fn count_end(&mut self, more: Option<&CallState<'x>>) {
        self.calls -= 1;
        if self.is_shared {
            self.call_ended(more);
        }
    }
}
