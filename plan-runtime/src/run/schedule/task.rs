//! What a run polls.

use super::super::StepError;
use super::super::start::{StepFuture, StepResult};
use super::super::timer::Sleep;
use super::super::trace::Span;
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A call, or the wait before one; a panic is its error.
pub(super) struct Task<'x> {
    pub(super) step: usize,
    pub(super) job: usize,
    /// The tool's; `None` for a wait, and for what was dropped.
    future: Option<StepFuture<'x>>,
    limit: Option<Box<Limit>>,
    span: Span,
}

/// How long a call may take, and its error when that is over; or how long to wait.
struct Limit {
    sleep: Sleep,
    error: Option<StepError>,
}

/// What has happened.
pub(super) enum Event {
    Ended(StepResult),
    Waited,
}

impl<'x> Task<'x> {
    pub(super) fn call(
        (step, job): (usize, usize),
        future: StepFuture<'x>,
        limit: Option<(Sleep, StepError)>,
        span: Span,
    ) -> Self {
        Self {
            step,
            job,
            future: Some(future),
            limit: limit.map(|(sleep, error)| {
                let error = Some(error);
                Box::new(Limit { sleep, error })
            }),
            span,
        }
    }

    pub(super) fn wait((step, job): (usize, usize), sleep: Sleep) -> Self {
        let error = None;
        Self {
            step,
            job,
            future: None,
            limit: Some(Box::new(Limit { sleep, error })),
            span: Span::none(),
        }
    }

    /// Whether a call is running.
    pub(super) fn is_call(&self) -> bool {
        self.future.is_some()
    }

    /// Drops the tool's future. What its destructors panic about is lost: the step's fate is known already.
    pub(super) fn abandon(&mut self) {
        let future = self.future.take();
        let span = self.span.clone();
        let _ = catch(|| span.in_scope(|| drop(future)));
        self.limit = None;
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if let Some(future) = &mut self.future {
            let span = &self.span;
            match catch(|| span.in_scope(|| future.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(result)) => return Poll::Ready(Event::Ended(result)),
                Err(panic) => return Poll::Ready(Event::Ended(Err(panic))),
            }
        }
        let Some(limit) = &mut self.limit else {
            return Poll::Pending;
        };
        match limit.sleep.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(match limit.error.take() {
                Some(error) => Event::Ended(Err(error)),
                None => Event::Waited,
            }),
        }
    }
}

impl Future for Task<'_> {
    type Output = (usize, usize, Event, Span);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.poll_event(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(event) => {
                self.abandon();
                let span = std::mem::replace(&mut self.span, Span::none());
                Poll::Ready((self.step, self.job, event, span))
            }
        }
    }
}

/// A panic, as a step's error.
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, StepError> {
    // What `run` leaves half done belongs to the step that ends here, or to its author, who shared it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| StepError::Panic(message(payload)))
}

fn message(payload: Box<dyn Any + Send>) -> Arc<str> {
    match payload.downcast::<String>() {
        Ok(message) => (*message).into(),
        Err(payload) => match payload.downcast_ref::<&str>() {
            Some(message) => (*message).into(),
            None => "(the panic's payload is not text)".into(),
        },
    }
}
