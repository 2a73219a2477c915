//! A call, or the wait before one.

use super::super::StepError;
use super::super::start::{StepFuture, StepResult};
use super::super::timer::Sleep;
use super::super::trace::Span;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

/// A call, or the wait before one; a panic is its error.
pub(super) struct Task<'x> {
    pub(super) step: usize,
    pub(super) job: usize,
    /// The tool's; `None` for a wait, and for a call that has ended.
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

    pub(super) fn take_span(&mut self) -> Span {
        std::mem::replace(&mut self.span, Span::none())
    }

    /// Drops a call that is not waited for any more.
    pub(super) fn abandon(mut self) {
        self.drop_call();
    }

    /// What has happened, if anything has; a call's future is gone then.
    #[inline]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if self.future.is_some()
            && let Some(result) = self.poll_call(cx)
        {
            return Poll::Ready(Event::Ended(result));
        }
        match &self.limit {
            None => Poll::Pending,
            Some(_) => self.poll_limit(cx),
        }
    }

    fn poll_call(&mut self, cx: &mut Context<'_>) -> Option<StepResult> {
        let Self { future, span, .. } = self;
        let mut result = None;
        let polled = catch(|| {
            span.in_scope(|| {
                if let Some(running) = future
                    && let Poll::Ready(ended) = running.as_mut().poll(cx)
                {
                    result = Some(ended);
                    // What its destructors panic about is lost: the step's fate is known already.
                    *future = None;
                }
            });
        });
        match (result, polled) {
            (Some(result), _) => Some(result),
            (None, Ok(())) => None,
            (None, Err(panic)) => {
                self.drop_call();
                Some(Err(panic))
            }
        }
    }

    /// Drops the tool's future. What its destructors panic about is lost, as above.
    #[cold]
    fn drop_call(&mut self) {
        let (future, span) = (self.future.take(), &self.span);
        let _ = catch(|| span.in_scope(|| drop(future)));
    }

    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let Some(limit) = &mut self.limit else {
            return Poll::Pending;
        };
        if limit.sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let event = match limit.error.take() {
            Some(error) => Event::Ended(Err(error)),
            None => Event::Waited,
        };
        self.drop_call();
        Poll::Ready(event)
    }
}

/// A panic, as a step's error.
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, StepError> {
    // What `run` leaves half done belongs to the step that ends here, or to its author, who shared it.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| StepError::Panic(message(payload)))
}

#[cold]
fn message(payload: Box<dyn Any + Send>) -> Arc<str> {
    match payload.downcast::<String>() {
        Ok(message) => (*message).into(),
        Err(payload) => match payload.downcast_ref::<&str>() {
            Some(message) => (*message).into(),
            None => "(the panic's payload is not text)".into(),
        },
    }
}
