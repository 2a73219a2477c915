//! Calls that run: their ends, and the permits that they hold.

use super::super::admission::{Applicant, Turn};
use super::super::durable::Resting;
use super::super::timer::{ThreadTimer, Timer};
use super::{CallContext, locked};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The state of a call.
#[derive(Default)]
pub(in crate::run) struct CallState {
    /// `true` if the call counts toward the calls that the run makes at one time.
    counts: AtomicBool,
    /// `true` if the call gave its permit to the plans inside it.
    has_lent: AtomicBool,
    /// The number of plans that run inside the call.
    runs_inside: AtomicUsize,
    pub(super) dropped: Mutex<Dropped>,
    /// The call's turn among the calls to the same tools.
    turn: Mutex<Option<Turn>>,
    /// The end of the last sleep of the call in a run with a journal.
    slept: Mutex<Option<Duration>>,
    /// The number of plans that the tool has run inside the call, by their names.
    pub(super) plans_inside: Mutex<BTreeMap<String, usize>>,
}

/// The end of a call, and the wakers of the tasks that wait for the end.
#[derive(Default)]
pub(super) struct Dropped {
    pub(super) is_over: bool,
    /// Set if the call was dropped before its end.
    is_dropped: bool,
    wakers: Vec<Waker>,
    /// The wakers of the plans inside the call, by their names.
    pub(super) inside: BTreeMap<Arc<str>, Waker>,
}

impl CallContext {
    /// Sleeps for a time, by the run's [timer](crate::run::Run::timer). In a [durable](crate::run::Run::durable) run, the time passes while no
    /// process runs the run: a call that is repeated after a crash sleeps for the rest of the time. The
    /// repeated call skips consecutive sleeps that were over.
    ///
    /// The tool [`Sleep`](crate::Sleep) only sleeps. During a `Sleep`, a [server](crate::guide::durable#a-process-that-serves-runs) can remove the run from memory. During this
    /// method, the server cannot do so.
    pub async fn sleep(&self, time: Duration) {
        let Some(place) = &self.0 else {
            return ThreadTimer.sleep(time).await;
        };
        let (Some(durable), Some(began)) = (&place.run.durable, place.began) else {
            return place.run.timer.sleep(time).await;
        };
        let slept = *locked(&place.state.slept);
        let until = durable.end_of_sleep(slept.unwrap_or(began), time).await;
        durable.sleep_until(until).await;
        let mut slept = locked(&place.state.slept);
        *slept = (*slept).max(Some(until));
    }

    /// Marks the call as a call that only sleeps, so that a process may drop a run that only waits.
    pub(in crate::run) fn rest(&self) -> Option<Resting<'_>> {
        let durable = self.0.as_ref()?.run.durable.as_ref()?;
        Some(Resting::begin(durable))
    }

    /// Returns `true` if the run dropped the call before its end: a time limit passed, the run was cancelled, or another step failed.
    ///
    /// The future of the tool is dropped with the call, so it does not need this method. Call this method in a thread or a task that the tool started,
    /// or await [`cancelled`](Self::cancelled) there.
    pub fn is_cancelled(&self) -> bool {
        let place = self.0.as_ref();
        place.is_some_and(|place| locked(&place.state.dropped).is_dropped)
    }

    /// Completes when the run [drops the call](Self::is_cancelled) before its end. If the call ends, the future never
    /// completes.
    ///
    /// ```
    /// use plan_runtime::run::{CallContext, RunErrorKind};
    /// use plan_runtime::{Result, plan, tool};
    /// use std::time::Duration;
    ///
    /// /// Takes forever.
    /// #[tool]
    /// async fn count(#[context] context: CallContext) -> Result<()> {
    ///     smol::spawn(async move {
    ///         context.cancelled().await;
    ///         println!("counts no further");
    ///     })
    ///     .detach();
    ///     std::future::pending().await
    /// }
    ///
    /// let plan = plan! { step counted = Count {}; counted };
    /// let error = smol::block_on(plan.run(&()).deadline(Duration::from_millis(5))).unwrap_err();
    /// assert_eq!(error.kind(), RunErrorKind::Deadline);
    /// ```
    pub async fn cancelled(&self) {
        poll_fn(|cx| {
            let Some(place) = &self.0 else {
                return Poll::Pending;
            };
            let mut dropped = locked(&place.state.dropped);
            if dropped.is_dropped {
                return Poll::Ready(());
            }
            let mut wakers = dropped.wakers.iter();
            if !wakers.any(|waker| waker.will_wake(cx.waker())) {
                dropped.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Notes the end of the call, or its drop before the end.
    pub(in crate::run) fn close(&self, is_dropped: bool) {
        let Some(place) = &self.0 else { return };
        let (wakers, inside) = {
            let mut dropped = locked(&place.state.dropped);
            dropped.is_over = true;
            dropped.is_dropped |= is_dropped;
            let inside = std::mem::take(&mut dropped.inside);
            let wakers = if is_dropped {
                std::mem::take(&mut dropped.wakers)
            } else {
                Vec::new()
            };
            (wakers, inside)
        };
        wakers
            .into_iter()
            .chain(inside.into_values())
            .for_each(Waker::wake);
    }

    /// Counts the call from now on, and returns `true`, unless the call is a plan.
    pub(in crate::run) fn count(&self) -> bool {
        let place = self.0.as_ref().filter(|place| place.called.is_none());
        if let Some(place) = place {
            place.state.counts.store(true, Ordering::Relaxed);
        }
        place.is_some()
    }

    /// Stores the call's turn until the call stops counting.
    pub(in crate::run) fn keep(&self, turn: Option<Turn>) {
        if let Some(place) = &self.0 {
            *locked(&place.state.turn) = turn;
        }
    }

    /// Stops counting the call as long as a plan runs inside it.
    pub(in crate::run) fn enter_inside(&self) {
        let Some(place) = &self.0 else { return };
        place.state.runs_inside.fetch_add(1, Ordering::Relaxed);
        if self.has_counted() {
            place.state.has_lent.store(true, Ordering::Relaxed);
            place.run.permits.give_back(1);
        }
    }

    /// Counts the end of a plan inside the call, and forgets its waker.
    pub(in crate::run) fn leave_inside(&self, plan: &Arc<str>) {
        if let Some(place) = &self.0 {
            let waker = locked(&place.state.dropped).inside.remove(plan);
            drop(waker);
            place.state.runs_inside.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts the call again at the end of the last plan inside it. Returns `false` if no permit is free.
    pub(in crate::run) fn counts_again(&self, applicant: &mut Applicant, waker: &Waker) -> bool {
        let Some(place) = &self.0 else { return true };
        let state = &place.state;
        if state.runs_inside.load(Ordering::Relaxed) > 1
            || !state.has_lent.load(Ordering::Relaxed)
            || locked(&state.dropped).is_over
        {
            return true;
        }
        let at = || self.at().to_vec();
        let counts = place.run.permits.take(applicant, at, waker);
        state.has_lent.store(!counts, Ordering::Relaxed);
        state.counts.store(counts, Ordering::Relaxed);
        counts
    }

    /// Stops counting the call: the call has ended or was dropped.
    pub(in crate::run) fn stop_counting(&self) {
        if let Some(place) = &self.0
            && self.has_counted()
        {
            place.run.permits.give_back(1);
        }
    }

    /// Stops counting the call. Returns `true` if another call has its permit now.
    pub(in crate::run) fn has_counted(&self) -> bool {
        let turn = self
            .0
            .as_ref()
            .map(|place| locked(&place.state.turn).take());
        drop(turn);
        let place = self.0.as_ref();
        place.is_some_and(|place| place.state.counts.swap(false, Ordering::Relaxed))
    }
}

/// A call that runs. A drop before the end of the call cancels the call.
pub(in crate::run) struct RunningCall(Option<CallContext>);

impl RunningCall {
    pub(in crate::run) fn of(context: &CallContext) -> Self {
        Self(Some(context.clone()))
    }

    pub(in crate::run) fn end(mut self) {
        if let Some(context) = self.0.take() {
            context.close(false);
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let Some(context) = self.0.take() {
            context.close(true);
        }
    }
}
