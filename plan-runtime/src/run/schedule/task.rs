//! A call, a block, or the wait before one.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::slots::{drop_future, poll_future};
use super::super::start::{StepFuture, StepResult};
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::Start;
use super::block_run::BlockRun;
use crate::resolve::drop_quietly;
use std::task::{Context, Poll};

/// A call, a block, or the wait before one; a panic is its error. Without a future and more, it is nothing, and never ends.
#[derive(Default)]
pub(super) struct Task<'x> {
    pub(super) step: usize,
    pub(super) job: usize,
    /// The tool's; `None` for a block and a wait, and for a call that has ended.
    pub(super) future: Option<StepFuture<'x>>,
    pub(super) more: Option<Box<CallState<'x>>>,
    /// The bytes that the call's arguments count toward the limits of the run.
    pub(super) bytes: usize,
}

/// What hardly any call has.
pub(super) struct CallState<'x> {
    pub(super) span: Span,
    /// The block that runs in the place of a call.
    pub(super) block: Option<Box<BlockRun<'x>>>,
    /// What the call knows of itself, if it asked for it.
    pub(super) context: Option<CallContext>,
    /// How long the call may take, or how long to wait.
    limit: Option<TimeLimit>,
    /// Whether it waits for a gate.
    pub(super) asks: bool,
    /// Whether it waits for a value from outside.
    pub(super) receives: bool,
}

/// How long a call may take, and its error when that is over; or how long to wait.
struct TimeLimit {
    sleep: Sleep,
    error: Option<StepError>,
}

impl Drop for CallState<'_> {
    /// What sleeps is the timer's, and its destructor may panic.
    fn drop(&mut self) {
        drop_quietly(self.limit.take());
    }
}

impl<'x> CallState<'x> {
    /// What a call has more than a future, if it has something.
    pub(super) fn of(
        span: Span,
        limit: Option<(Sleep, StepError)>,
        context: Option<CallContext>,
    ) -> Option<Box<Self>> {
        if span.is_none() && limit.is_none() && context.is_none() {
            return None;
        }
        let limit = limit.map(|(sleep, error)| {
            let error = Some(error);
            TimeLimit { sleep, error }
        });
        Some(Box::new(Self {
            span,
            block: None,
            context,
            limit,
            asks: false,
            receives: false,
        }))
    }

    pub(super) fn block(
        block: Box<BlockRun<'x>>,
        span: Span,
        limit: Option<(Sleep, StepError)>,
    ) -> Box<Self> {
        Box::new(Self {
            span,
            block: Some(block),
            context: None,
            limit: limit.map(|(sleep, error)| TimeLimit {
                sleep,
                error: Some(error),
            }),
            asks: false,
            receives: false,
        })
    }

    /// The same of a call that has ended, and whose record is written: it has no time limit any more.
    pub(super) fn writing(mut self: Box<Self>) -> Box<Self> {
        drop_quietly(self.limit.take());
        self
    }

    pub(super) fn wait(sleep: Sleep) -> Box<Self> {
        let error = None;
        Box::new(Self {
            span: Span::none(),
            block: None,
            context: None,
            limit: Some(TimeLimit { sleep, error }),
            asks: false,
            receives: false,
        })
    }

    /// A wait for the answer of a gate.
    pub(super) fn asking(answer: Sleep) -> Box<Self> {
        let mut wait = Self::wait(answer);
        wait.asks = true;
        wait
    }
}

impl CallState<'_> {
    /// A wait for a value, which ends with this.
    pub(super) fn receiving(span: Span, ending: Sleep) -> Box<Self> {
        let mut wait = Self::wait(ending);
        wait.span = span;
        wait.receives = true;
        wait
    }
}

impl<'x> Task<'x> {
    /// Whether a call is running.
    pub(super) fn is_call(&self) -> bool {
        self.future.is_some()
    }

    /// Whether it waits for a gate.
    pub(super) fn asks(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.asks)
    }

    /// Whether it waits for a value from outside.
    pub(super) fn receives(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.receives)
    }

    /// The block, if it is one.
    pub(super) fn block(&self) -> Option<&BlockRun<'x>> {
        self.more.as_ref()?.block.as_deref()
    }

    /// The same, to change it.
    pub(super) fn block_mut(&mut self) -> Option<&mut BlockRun<'x>> {
        self.more.as_mut()?.block.as_deref_mut()
    }

    /// The call's context, if it asked for one.
    pub(super) fn context(&self) -> Option<&CallContext> {
        self.more.as_ref()?.context.as_ref()
    }

    /// Whether it is nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.future.is_none() && self.more.is_none()
    }

    /// Drops a call that is not waited for any more.
    pub(super) fn abandon(&mut self) {
        match self.more.take() {
            None => drop_future(&mut self.future),
            Some(more) => drop_in_span(&mut self.future, &more.span),
        }
    }

    /// Whether something has happened: a wait is over, or a call has ended. Then its future is gone, and its result is there.
    #[inline(always)]
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        stays: bool,
        result: &mut Option<StepResult>,
        start: Start<'_, 'x>,
    ) -> bool {
        if self.more.is_some() {
            return self.poll_more(cx, result, start);
        }
        poll_future(&mut self.future, stays, cx, result);
        result.is_some()
    }

    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        result: &mut Option<StepResult>,
        start: Start<'_, 'x>,
    ) -> bool {
        let Self { future, more, .. } = self;
        let Some(CallState {
            span, block, limit, ..
        }) = more.as_deref_mut()
        else {
            return false;
        };
        if let Some(block) = block {
            *result = poll_block(block, limit, span, cx, start);
            return result.is_some();
        }
        if future.is_some() {
            let polled = catch(|| span.in_scope(|| poll_future(future, false, cx, result)));
            if let Err(panic) = polled {
                drop_in_span(future, span);
                result.get_or_insert(Err(panic));
            }
            if result.is_some() {
                return true;
            }
        }
        let Some(limit) = limit else {
            return false;
        };
        if limit.sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        *result = limit.error.take().map(Err);
        drop_in_span(future, span);
        true
    }
}

/// Polls a block, which ends by itself once its time is over.
fn poll_block<'x>(
    block: &mut BlockRun<'x>,
    limit: &mut Option<TimeLimit>,
    span: &Span,
    cx: &mut Context<'_>,
    start: Start<'_, 'x>,
) -> Option<StepResult> {
    loop {
        let polled = catch(|| span.in_scope(|| block.poll(cx, start)));
        match polled {
            Ok(Poll::Ready(result)) => return Some(result),
            Ok(Poll::Pending) => {}
            Err(panic) => return Some(block.panicked(panic)),
        }
        let is_late = |at: &mut TimeLimit| at.sleep.as_mut().poll(cx).is_ready();
        if !limit.as_mut().is_some_and(is_late) {
            return None;
        }
        drop_quietly(limit.take());
        block.end();
    }
}

#[cold]
fn drop_in_span(future: &mut Option<StepFuture<'_>>, span: &Span) {
    let future = future.take();
    let _ = catch(|| span.in_scope(|| drop(future)));
}
