//! The future of a call, whose output is stored when it ends.

use super::StepError;
use super::request::Request;
use super::watch::Span;
use crate::plan::Keep;
use crate::resolve::{HandOver, MemoryBudget, Meter, StoredValue};
use crate::{Result, Tool};
use pin_project_lite::pin_project;
use serde::Serialize;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A future of the output of a step.
pub type StepFuture<'x> = Pin<Box<dyn StepTask + 'x>>;

/// The future of a call. After the call, its memory may serve another call to the same tool.
pub trait StepTask: Future<Output = StepResult> + Send {
    /// Begins another call after the call has ended.
    fn call_again(self: Pin<&mut Self>, request: &Request<'_>) -> CalledAgain {
        let _ = request;
        CalledAgain::No
    }
}

/// The result of an attempt to use the future of a call again.
pub enum CalledAgain {
    /// The future now belongs to the new call.
    Yes,
    /// The arguments cannot be made.
    Failed(StepError),
    /// The future serves one call, or the request is more than a call.
    No,
}

/// The end of a step.
pub type StepResult = Result<StoredValue, StepError>;

pin_project! {
    /// A call to `T`, whose output is stored. An `async` block would be twice as large, and would move the future at the
    /// first poll.
    pub(super) struct Storing<T, F> {
        // `None` after the end, since the call must be dropped before the output is stored.
        #[pin]
        call: Option<F>,
        // The most bytes of the output.
        room: usize,
        keep: Keep,
        tool: PhantomData<fn() -> T>,
    }
}

impl<T, F> Storing<T, F> {
    /// Creates a call whose output is stored in this form, within this budget.
    pub(super) fn new(call: F, keep: Keep, room: MemoryBudget) -> Self {
        Self {
            call: Some(call),
            room: room.value,
            keep,
            tool: PhantomData,
        }
    }
}

impl<T: Tool, F: Future<Output = Result<T::Output>>> Future for Storing<T, F> {
    type Output = Result<StoredValue, StepError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(call) = this.call.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let output = ready!(call.poll(cx));
        this.call.set(None);
        let output = match output {
            Ok(output) => output,
            Err(error) => return Poll::Ready(Err(StepError::tool(error))),
        };
        Poll::Ready(stored(output, *this.keep, T::hand_over, *this.room))
    }
}

/// Stores the output of a call, in the form `keep` and in at most `room` bytes.
// Without optimization, rustc compiles the function once for each type of outputs, and not for each tool.
#[cfg_attr(not(debug_assertions), inline(always))]
fn stored<O: Serialize + Send + 'static>(
    output: O,
    keep: Keep,
    hand_over: fn() -> Option<HandOver<O>>,
    room: usize,
) -> StepResult {
    let meter = Meter::new(MemoryBudget::of_bytes(room), None);
    let stored = match keep {
        Keep::Json => StoredValue::encoded(output, &meter),
        keep => StoredValue::kept(output, keep, hand_over, &meter),
    };
    stored.map_err(StepError::output)
}

pin_project! {
    /// A call that the application makes. Another call to the same tool uses the memory again.
    pub(super) struct Calling<'x, T, A: ?Sized, F> {
        #[pin]
        storing: Storing<T, F>,
        app: &'x A,
        call: fn(T, &'x A) -> F,
    }
}

impl<'x, T, A: ?Sized, F> Calling<'x, T, A, F> {
    pub(super) fn new(
        tool: T,
        app: &'x A,
        call: fn(T, &'x A) -> F,
        (keep, room): (Keep, MemoryBudget),
    ) -> Self {
        let storing = Storing::new(call(tool, app), keep, room);
        Self { storing, app, call }
    }
}

impl<T, A, F> Future for Calling<'_, T, A, F>
where
    T: Tool,
    A: ?Sized,
    F: Future<Output = Result<T::Output>>,
{
    type Output = StepResult;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().storing.poll(cx)
    }
}

impl<T, A, F> StepTask for Calling<'_, T, A, F>
where
    T: Tool,
    A: ?Sized + Sync,
    F: Future<Output = Result<T::Output>> + Send,
{
    fn call_again(self: Pin<&mut Self>, request: &Request<'_>) -> CalledAgain {
        if !request.is_only_a_call() {
            return CalledAgain::No;
        }
        let tool = match request.arguments() {
            Ok(tool) => tool,
            Err(error) => return CalledAgain::Failed(error),
        };
        let mut this = self.project();
        let call = (this.call)(tool, this.app);
        let (keep, room) = request.kept();
        this.storing.set(Storing::new(call, keep, room));
        CalledAgain::Yes
    }
}

pin_project! {
    /// A future that serves one call.
    pub(super) struct Once<F> {
        #[pin]
        future: F,
    }
}

/// Boxes a future that serves one call.
pub fn once<'x>(future: impl Future<Output = StepResult> + Send + 'x) -> StepFuture<'x> {
    Box::pin(Once { future })
}

impl<F: Future<Output = StepResult>> Future for Once<F> {
    type Output = StepResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().future.poll(cx)
    }
}

impl<F: Future<Output = StepResult> + Send> StepTask for Once<F> {}

/// A call that is polled and dropped in its span. The first poll opens the span.
struct InSpan<'x> {
    call: Option<StepFuture<'x>>,
    span: Span,
    has_begun: bool,
}

/// Polls and drops a call in its span.
pub(super) fn in_span(call: StepFuture<'_>, span: Span) -> StepFuture<'_> {
    if span.is_none() {
        return call;
    }
    Box::pin(InSpan {
        call: Some(call),
        span,
        has_begun: false,
    })
}

impl Future for InSpan<'_> {
    type Output = StepResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.has_begun = true;
        this.span.in_scope(|| match &mut this.call {
            Some(call) => {
                let result = ready!(call.as_mut().poll(cx));
                this.call = None;
                Poll::Ready(result)
            }
            None => Poll::Pending,
        })
    }
}

impl Drop for InSpan<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take().filter(|_| self.has_begun) {
            self.span.in_scope(|| drop(call));
        }
    }
}

impl StepTask for InSpan<'_> {}
