//! The slots of the tasks of a run. A run polls a slot when its task is new and when the task was woken.

use super::catch::{catch, locked};
use super::start::{StepFuture, StepResult};
use crate::plan::ToolNumber;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// The slots to poll. Polling a slot without a task does no harm.
#[derive(Default)]
pub(super) struct SlotQueue {
    /// The slot to poll first. In a plan of consecutive steps, the queue stays empty.
    next: Option<usize>,
    queue: VecDeque<usize>,
    woken: Arc<WokenSlots>,
    /// `true` if the woken slots were queued in this turn.
    is_refilled: bool,
    /// `true` if the turn ended at its limit of work, before all woken slots were polled.
    is_late: bool,
}

/// A waker that tasks use one after the other, so that a task that ends in its first poll costs no allocation. A wake for an earlier task only causes an
/// unnecessary poll of a later task.
pub(super) struct SlotWaker {
    alarm: Arc<SlotAlarm>,
    waker: Waker,
}

struct SlotAlarm {
    slot: AtomicUsize,
    /// `true` if the slot is among the woken slots.
    has_rung: AtomicBool,
    woken: Arc<WokenSlots>,
}

/// The slots that were woken and not queued, and the waker of the run.
#[derive(Default)]
struct WokenSlots(Mutex<(Vec<usize>, Option<Waker>)>);

impl SlotQueue {
    #[inline(always)]
    pub(super) fn push(&mut self, slot: usize) {
        if self.next.is_none() && self.queue.is_empty() {
            self.next = Some(slot);
        } else {
            self.queue.push_back(slot);
        }
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<usize> {
        match self.next.take() {
            None => self.queue.pop_front(),
            next => next,
        }
    }

    pub(super) fn waker(&self) -> SlotWaker {
        let alarm = Arc::new(SlotAlarm {
            slot: AtomicUsize::new(0),
            has_rung: AtomicBool::new(false),
            woken: Arc::clone(&self.woken),
        });
        SlotWaker {
            waker: Waker::from(Arc::clone(&alarm)),
            alarm,
        }
    }

    /// Queues the woken slots, at most once in a turn, and only if `may_start` allows more work. So a task that wakes itself does not keep the thread busy. Returns `false` if
    /// no slots were queued: the run is then polled again later if slots are still woken.
    pub(super) fn refill(&mut self, cx: &Context<'_>, may_start: impl FnOnce() -> bool) -> bool {
        let mut woken = locked(&self.woken.0);
        let (slots, run) = &mut *woken;
        self.is_late = false;
        if slots.is_empty() {
            let before = match run {
                Some(run) if run.will_wake(cx.waker()) => None,
                run => run.replace(cx.waker().clone()),
            };
            // The destructor of the old waker may wake a task.
            drop(woken);
            drop(before);
        } else if !self.is_refilled && may_start() {
            self.queue.extend(slots.drain(..));
            self.is_refilled = true;
            return true;
        } else {
            drop(woken);
            self.is_late = !self.is_refilled;
            cx.waker().wake_by_ref();
        }
        self.is_refilled = false;
        false
    }

    /// Returns `true` if the turn ended at its limit of work, before all woken slots were polled.
    pub(super) fn is_late(&self) -> bool {
        self.is_late
    }
}

impl SlotWaker {
    /// Returns the context in which to poll the task of a slot. A wake during the poll is not lost.
    #[inline(always)]
    pub(super) fn context(&self, slot: usize) -> Context<'_> {
        self.alarm.slot.store(slot, Ordering::Relaxed);
        self.alarm.has_rung.store(false, Ordering::Release);
        Context::from_waker(&self.waker)
    }
}

impl Wake for SlotAlarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.has_rung.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut woken = locked(&self.woken.0);
        woken.0.push(self.slot.load(Ordering::Relaxed));
        let run = woken.1.take();
        drop(woken);
        if let Some(run) = run {
            run.wake();
        }
    }
}

/// The slots without a task. Some have the future of a call that has ended, for another call to the same tool.
#[derive(Default)]
pub(super) struct FreeSlots(Vec<(usize, Option<ToolNumber>)>);

/// The most free slots that one search visits.
const LOOKS: usize = 8;

impl FreeSlots {
    /// Adds a slot, which has the future of a call to the tool.
    #[inline(always)]
    pub(super) fn push(&mut self, slot: usize, tool: Option<ToolNumber>) {
        self.0.push((slot, tool));
    }

    /// Returns the next slot, if the slot has the future of a call to the tool.
    #[inline(always)]
    pub(super) fn with_future(&mut self, tool: ToolNumber) -> Option<usize> {
        let (slot, of) = self.0.last_mut()?;
        if *of == Some(tool) {
            *of = None;
            return Some(*slot);
        }
        self.search(tool)
    }

    #[inline(never)]
    fn search(&mut self, tool: ToolNumber) -> Option<usize> {
        let last = self.0.len() - 1;
        let slots = &mut self.0;
        let mut looked = slots.iter().rev().take(LOOKS);
        let found = looked.position(|(_, of)| *of == Some(tool))?;
        slots.swap(last - found, last);
        slots[last].1 = None;
        Some(slots[last].0)
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<usize> {
        Some(self.0.pop()?.0)
    }
}

/// Polls a call. The future is dropped before the call counts as ended, unless it `stays` for another call, and a panic of its destructor is lost. The caller keeps the result, so that no poll moves it.
#[inline(always)]
pub(super) fn poll_future(
    future: &mut Option<StepFuture<'_>>,
    stays: bool,
    cx: &mut Context<'_>,
    result: &mut Option<StepResult>,
) {
    let polled = catch(|| {
        if let Some(running) = future
            && let Poll::Ready(ended) = running.as_mut().poll(cx)
        {
            *result = Some(ended);
            if !stays {
                *future = None;
            }
        }
    });
    if let Err(panic) = polled {
        drop_future(future);
        result.get_or_insert(Err(panic));
    }
}

/// Drops the future of a call. A panic of its destructor is lost.
#[cold]
pub(super) fn drop_future(future: &mut Option<StepFuture<'_>>) {
    let future = future.take();
    let _ = catch(|| drop(future));
}

#[cfg(test)]
mod tests {
    use super::{FreeSlots, LOOKS, SlotQueue, ToolNumber};
    use std::task::{Context, Waker};

    /// A woken slot that a turn does not poll is late until the next turn queues the slot.
    #[test]
    fn a_slot_is_late_until_it_is_queued() {
        let cx = Context::from_waker(Waker::noop());
        let mut queue = SlotQueue::default();
        let waker = queue.waker();
        waker.context(0).waker().wake_by_ref();
        assert!(!queue.refill(&cx, || false));
        assert!(queue.is_late());
        assert!(queue.refill(&cx, || true));
        assert!(!queue.is_late());
        // A task that is woken a second time in one turn is not late.
        waker.context(0).waker().wake_by_ref();
        assert!(!queue.refill(&cx, || true));
        assert!(!queue.is_late());
    }

    /// The search for a future looks only at the last slots. A future is found once, and the next call uses its slot.
    #[test]
    fn a_future_serves_one_call_of_its_tool() {
        let tool = |number| ToolNumber::new(number).unwrap();
        let mut free = FreeSlots::default();
        assert_eq!(free.with_future(tool(1)), None);
        for slot in 0..=LOOKS {
            free.push(slot, Some(tool(if slot < 2 { 1 } else { 2 })));
        }
        assert_eq!(free.with_future(tool(3)), None);
        assert_eq!(free.with_future(tool(1)), Some(1));
        assert_eq!(free.with_future(tool(1)), None);
        assert_eq!(free.pop(), Some(1));
        // One slot fewer is free, so the first slot is among the last slots.
        assert_eq!(free.with_future(tool(1)), Some(0));
        assert_eq!(free.pop(), Some(0));
        assert_eq!(free.with_future(tool(2)), Some(6));
    }
}
