//! The rules for plans that a tool runs inside its call. The call must not be over.
//!
//! In a durable run, the tool must await the inner plan, in its own task. The outermost plan writes and replays the records of all inner plans, so a
//! tool that blocks the thread would wait for itself.

use super::super::shared::SharedRun;
use super::{CallContext, locked};
use pin_project_lite::pin_project;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::iter::successors;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

const OVER: &str =
    "the enclosing call is over; await the plan in the tool, before the tool returns";

const ELSEWHERE: &str = "its run has a journal, so only the enclosing call can poll the plan; await the plan in the tool, and in no other thread or task";

const BLOCKS: &str = "its run has a journal, and the tool blocks the thread of the run until it ends; await the plan in the tool";

thread_local! {
    /// The calls of durable runs that this thread polls, the outermost first, each with the number of the poll.
    static POLLED: RefCell<Vec<PolledCall>> = const { RefCell::new(Vec::new()) };
    static POLLS: Cell<u64> = const { Cell::new(0) };
}

/// A call that is polled.
struct PolledCall {
    context: CallContext,
    number: u64,
    waker: Waker,
}

impl PolledCall {
    /// Returns the number of the current poll on this thread, if the thread polls the call or a call inside it. `true` means that
    /// this waker wakes the call.
    fn find(call: &CallContext, waker: &Waker) -> Option<(u64, bool)> {
        let place = call.0.as_ref()?;
        let is_inside = |inner: &CallContext| {
            let mut around = successors(Some(inner), |inner| inner.outer());
            around.any(|it| it.0.as_ref().is_some_and(|it| Arc::ptr_eq(it, place)))
        };
        POLLED.with_borrow(|polled| {
            let mut polled = polled.iter().rev();
            let inner = polled.find(|inner| is_inside(&inner.context))?;
            Some((inner.number, inner.waker.will_wake(waker)))
        })
    }
}

pin_project! {
    /// A call of a tool, which registers itself with the plans that it polls.
    pub(in crate::run) struct Polled<F> {
        #[pin]
        future: F,
        // The call, if its run has a journal.
        context: Option<CallContext>,
    }
}

impl<F> Polled<F> {
    pub(in crate::run) fn new(context: &CallContext, future: F) -> Self {
        let is_durable = context.run().is_some_and(SharedRun::is_durable);
        Self {
            future,
            context: is_durable.then(|| context.clone()),
        }
    }
}

impl<F: Future> Future for Polled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.context.as_ref().map(|call| Entered::new(call, cx));
        this.future.poll(cx)
    }
}

/// A guard for the poll of a call on this thread.
struct Entered;

impl Entered {
    fn new(context: &CallContext, cx: &Context<'_>) -> Self {
        let number = POLLS.get().wrapping_add(1);
        POLLS.set(number);
        let call = PolledCall {
            context: context.clone(),
            number,
            waker: cx.waker().clone(),
        };
        POLLED.with_borrow_mut(|polled| polled.push(call));
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let left = POLLED.with_borrow_mut(Vec::pop);
        drop(left);
    }
}

impl CallContext {
    /// Returns an error if a plan inside the call must not run now, on this thread. Otherwise the end of the call wakes the plan.
    pub(in crate::run) fn refuses_inside(
        &self,
        plan: Option<(&Arc<str>, &Waker)>,
    ) -> Option<&'static str> {
        let place = self.0.as_ref()?;
        let mut dropped = locked(&place.state.dropped);
        if dropped.is_over {
            return Some(OVER);
        }
        let before = plan.and_then(|(name, waker)| match dropped.inside.get(name) {
            Some(known) if known.will_wake(waker) => None,
            _ => dropped.inside.insert(Arc::clone(name), waker.clone()),
        });
        drop(dropped);
        drop(before);
        let is_elsewhere =
            place.run.is_durable() && PolledCall::find(self, Waker::noop()).is_none();
        is_elsewhere.then_some(ELSEWHERE)
    }
}

/// The most polls of a plan in one poll of its call. With more, the tool blocks on the plan.
const MOST_POLLS: u32 = 10_000;

/// In this number of polls of a call, a waiting plan checks if the tool blocks on the plan. Progress of the plan resets the count.
const MOST_TURNS: u32 = 64;

/// Determines if a tool blocks on a plan inside its call. The plan wakes itself whenever it waits. If all polls that follow belong to one poll of the
/// call, the tool never returns to the run.
#[derive(Default)]
pub(in crate::run) struct Blocked {
    /// The number of the call's poll at the start of the wait.
    poll: u64,
    polls: u32,
    turns: u32,
}

impl Blocked {
    /// Notes that the plan makes progress.
    pub(in crate::run) fn goes_on(&mut self) {
        *self = Self::default();
    }

    /// Notes that the plan waits. Returns an error if the plan waits forever.
    pub(in crate::run) fn waits(
        &mut self,
        call: &CallContext,
        waker: &Waker,
    ) -> Option<&'static str> {
        let (poll, is_own) = PolledCall::find(call, waker)?;
        // The tool awaits the plan itself, so the call has returned to the run when it is woken.
        if is_own {
            return None;
        }
        if self.poll != poll {
            if self.turns == MOST_TURNS {
                return None;
            }
            *self = Self {
                poll,
                polls: 0,
                turns: self.turns + 1,
            };
        }
        self.polls += 1;
        if self.polls > MOST_POLLS {
            return Some(BLOCKS);
        }
        waker.wake_by_ref();
        None
    }
}
