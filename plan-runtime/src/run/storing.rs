//! The future of a call, whose output is stored when it ends.

use super::StepError;
use crate::plan::Keep;
use crate::resolve::{MemoryBudget, Meter, StoredValue};
use crate::{Result, Tool};
use pin_project_lite::pin_project;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// A call to `T`. As an `async` block, it would have room for the future twice, and move it when it is polled first.
    pub(super) struct Storing<T, F> {
        // Nothing once it has ended: then it is dropped before the output is stored.
        #[pin]
        call: Option<F>,
        room: MemoryBudget,
        keep: Keep,
        tool: PhantomData<fn() -> T>,
    }
}

impl<T, F> Storing<T, F> {
    /// A call whose output is kept like this, where there is this much room.
    pub(super) fn new(call: F, keep: Keep, room: MemoryBudget) -> Self {
        Self {
            call: Some(call),
            room,
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
        Poll::Ready(match output {
            Ok(output) => {
                let meter = Meter::new(*this.room, None);
                StoredValue::kept(output, *this.keep, T::hand_over, &meter)
                    .map_err(StepError::output)
            }
            Err(error) => Err(StepError::tool(error)),
        })
    }
}
