//! Tasks that a run polls: calls, timers and waits for values. A run polls a task when the task is new and when the task was woken.

use super::super::StepError;
use super::super::catch::catch;
use super::super::signals::{Sent, Waiting};
use super::super::start::{StepFuture, StepResult};
use super::super::timer::Sleep;
use crate::machine::{CallId, Part, ScopeId};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The owner of a task.
#[derive(Clone, Copy)]
pub(super) struct Of {
    pub(super) call: CallId,
    pub(super) scope: ScopeId,
    /// The part of the step, unless the step is plain.
    pub(super) part: Option<Part>,
}

impl Of {
    pub(super) fn slot(&self) -> usize {
        match &self.part {
            Some(part) => part.slot.index(),
            None => self.call.index(),
        }
    }
}

/// The work of a task that is not a call.
pub(super) enum Wait {
    Timer(Sleep),
    /// A wait for a value. `true` if something else may end the wait.
    Value(Waiting, bool),
}

/// The end of a task that is not a call.
pub(super) enum Waited {
    Fired,
    Received(Result<Arc<Sent>, StepError>),
}

/// The tasks of a run. A task has a slot of its own as long as it runs, and another task uses the slot after that.
#[derive(Default)]
pub(super) struct Tasks<'x> {
    slots: Vec<TaskSlot<'x>>,
    free: Vec<usize>,
    /// The next slot to poll, and the others after it.
    next: Option<usize>,
    queue: VecDeque<usize>,
    /// The slots of tasks that are not plain calls.
    of_calls: HashMap<CallId, usize>,
    woken: Arc<Woken>,
    is_refilled: bool,
}

struct TaskSlot<'x> {
    call: CallId,
    scope: ScopeId,
    future: Option<StepFuture<'x>>,
    more: Option<Box<More>>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

/// The rest of a task, unless the task is a plain call.
struct More {
    part: Part,
    wait: Option<Wait>,
    waited: Option<Waited>,
}

struct Alarm {
    slot: usize,
    has_rung: AtomicBool,
    woken: Arc<Woken>,
}

/// The slots that were woken, and the waker of the run.
#[derive(Default)]
struct Woken(Mutex<(Vec<usize>, Option<Waker>)>);

impl<'x> Tasks<'x> {
    /// Adds a plain call.
    #[inline(always)]
    pub(super) fn push(&mut self, call: CallId, scope: ScopeId, future: StepFuture<'x>) {
        let slot = self.add(call, scope);
        self.slots[slot].future = Some(future);
    }

    /// Adds a call.
    pub(super) fn push_part(&mut self, of: &Of, future: StepFuture<'x>) {
        let slot = self.add(of.call, of.scope);
        self.slots[slot].future = Some(future);
        if let Some(part) = of.part {
            self.add_more(slot, part, None);
        }
    }

    /// Adds a timer or a wait.
    pub(super) fn push_wait(&mut self, (call, scope): (CallId, ScopeId), part: Part, wait: Wait) {
        let slot = self.add(call, scope);
        self.add_more(slot, part, Some(wait));
    }

    #[cold]
    fn add_more(&mut self, slot: usize, part: Part, wait: Option<Wait>) {
        let it = &mut self.slots[slot];
        self.of_calls.insert(it.call, slot);
        let waited = None;
        it.more = Some(Box::new(More { part, wait, waited }));
    }

    #[inline(always)]
    fn add(&mut self, call: CallId, scope: ScopeId) -> usize {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        };
        let it = &mut self.slots[slot];
        it.call = call;
        it.scope = scope;
        if self.next.is_none() && self.queue.is_empty() {
            self.next = Some(slot);
        } else {
            self.queue.push_back(slot);
        }
        slot
    }

    #[cold]
    fn grow(&mut self) -> usize {
        let slot = self.slots.len();
        let alarm = Arc::new(Alarm {
            slot,
            has_rung: AtomicBool::new(false),
            woken: Arc::clone(&self.woken),
        });
        self.slots.push(TaskSlot {
            call: CallId::NONE,
            scope: ScopeId::ROOT,
            future: None,
            more: None,
            waker: Waker::from(Arc::clone(&alarm)),
            alarm,
        });
        slot
    }

    /// Returns the slot of a task that has ended. The result is that of a call. After `Pending`, the waker of the run is kept, or the run was woken again.
    #[inline(always)]
    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        result: &mut Option<StepResult>,
    ) -> Poll<usize> {
        loop {
            while let Some(slot) = self.next.take().or_else(|| self.queue.pop_front()) {
                if self.poll_slot(slot, result) {
                    return Poll::Ready(slot);
                }
            }
            if !self.refill(cx) {
                return Poll::Pending;
            }
        }
    }

    #[inline(always)]
    fn poll_slot(&mut self, slot: usize, result: &mut Option<StepResult>) -> bool {
        let it = &mut self.slots[slot];
        // A wake during the poll is not lost.
        it.alarm.has_rung.store(false, Ordering::Release);
        let mut cx = Context::from_waker(&it.waker);
        if it.future.is_some() {
            poll_future(&mut it.future, &mut cx, result);
            return result.is_some();
        }
        it.more.as_mut().is_some_and(|more| more.poll(&mut cx))
    }

    /// The call and the scope of a task that has ended, if it was a plain call. The slot is free then.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, slot: usize) -> Option<(CallId, ScopeId)> {
        let it = &self.slots[slot];
        if it.more.is_some() {
            return None;
        }
        let (call, scope) = (it.call, it.scope);
        self.free.push(slot);
        Some((call, scope))
    }

    /// The owner of a task that has ended, and its end unless it was a call. The slot is free then.
    #[cold]
    pub(super) fn take(&mut self, slot: usize) -> (Of, Option<Waited>) {
        let it = &mut self.slots[slot];
        let (call, scope) = (it.call, it.scope);
        let more = it.more.take();
        self.free.push(slot);
        if more.is_some() {
            self.of_calls.remove(&call);
        }
        let part = more.as_ref().map(|more| more.part);
        let waited = more.and_then(|more| more.waited);
        (Of { call, scope, part }, waited)
    }

    /// Takes the tasks that were woken: once a turn, so that a task that wakes itself does not keep the thread.
    fn refill(&mut self, cx: &mut Context<'_>) -> bool {
        let mut woken = self.woken.lock();
        let (slots, run) = &mut *woken;
        if slots.is_empty() {
            let before = match run {
                Some(run) if run.will_wake(cx.waker()) => None,
                run => run.replace(cx.waker().clone()),
            };
            // The destructor of the old waker may wake a task.
            drop(woken);
            drop(before);
        } else if !self.is_refilled {
            self.queue.extend(slots.drain(..));
            self.is_refilled = true;
            return true;
        } else {
            drop(woken);
            cx.waker().wake_by_ref();
        }
        self.is_refilled = false;
        false
    }

    /// Drops a task.
    pub(super) fn drop_call(&mut self, call: CallId) {
        let slot = if call.is_plain() {
            let is_it = |it: &TaskSlot<'_>| it.future.is_some() && it.call == call;
            self.slots.iter().position(is_it)
        } else {
            self.of_calls.remove(&call)
        };
        if let Some(slot) = slot {
            let it = &mut self.slots[slot];
            drop_future(&mut it.future);
            let more = it.more.take();
            let _ = catch(|| drop(more));
            self.free.push(slot);
        }
    }
}

/// Polls a call. The future is dropped before the call counts as ended, and a panic of its destructor is lost.
#[inline]
fn poll_future(
    future: &mut Option<StepFuture<'_>>,
    cx: &mut Context<'_>,
    result: &mut Option<StepResult>,
) {
    let polled = catch(|| {
        if let Some(running) = future
            && let Poll::Ready(ended) = running.as_mut().poll(cx)
        {
            *result = Some(ended);
            *future = None;
        }
    });
    if let Err(panic) = polled {
        drop_future(future);
        result.get_or_insert(Err(panic));
    }
}

#[cold]
fn drop_future(future: &mut Option<StepFuture<'_>>) {
    let future = future.take();
    let _ = catch(|| drop(future));
}

impl More {
    /// Returns `true` once the wait has ended.
    #[cold]
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let polled = catch(|| match &mut self.wait {
            None => None,
            Some(Wait::Timer(sleep)) => match sleep.as_mut().poll(cx) {
                Poll::Ready(()) => Some(Waited::Fired),
                Poll::Pending => None,
            },
            Some(Wait::Value(waiting, has_limit)) => match waiting.poll(cx, *has_limit) {
                Poll::Ready(sent) => Some(Waited::Received(sent.ok_or(StepError::NoSignals))),
                Poll::Pending => None,
            },
        });
        self.waited = polled.unwrap_or_else(|panic| Some(Waited::Received(Err(panic))));
        self.waited.is_some()
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.has_rung.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut woken = self.woken.lock();
        woken.0.push(self.slot);
        let run = woken.1.take();
        drop(woken);
        if let Some(run) = run {
            run.wake();
        }
    }
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, (Vec<usize>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
