//! What a run polls: its calls and waits, each when it is new and when it was woken.
//!
//! A run of 300 steps that end immediately takes 70 ns for each with this set, and 170 ns with a `FuturesUnordered`, which allocates a node for each
//! future. The set has its price elsewhere: its lock is taken for each call that is woken, where `FuturesUnordered` needs none, and slots and their
//! wakers stay until the run ends. `BENCHMARKS.md` compares whole runs, some of which are slower than futures that are polled by hand.

use super::super::nesting::may_start;
use super::super::start::{StepFuture, StepResult};
use super::Start;
use super::block_run::BlockRun;
use super::task::{CallState, Task};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The tasks that run. Each is in a slot, whose waker serves one task after the other, so that a new task costs no allocation.
#[derive(Default)]
pub(super) struct Tasks<'x> {
    slots: Vec<TaskSlot<'x>>,
    free: Vec<usize>,
    /// The slot to poll before all others: where steps come one after the other, there is never another.
    next: Option<usize>,
    /// The slots to poll. One whose task is gone, or has been polled already, is polled to no harm.
    queue: VecDeque<usize>,
    woken: Arc<WokenTasks>,
    /// Whether what was woken has been queued in this turn.
    refilled: bool,
}

/// The call or wait that has ended.
pub(super) struct Happened<'x> {
    pub(super) step: usize,
    pub(super) job: usize,
    pub(super) more: Option<Box<CallState<'x>>>,
    /// The bytes that the call's arguments count.
    pub(super) bytes: usize,
}

struct TaskSlot<'x> {
    task: Task<'x>,
    alarm: Arc<TaskWaker>,
    waker: Waker,
}

/// What wakes a slot.
struct TaskWaker {
    slot: usize,
    /// Whether it is among the woken.
    rung: AtomicBool,
    woken: Arc<WokenTasks>,
}

/// The slots that were woken and not queued, and who wakes the run for them.
#[derive(Default)]
struct WokenTasks(Mutex<(Vec<usize>, Option<Waker>)>);

impl<'x> Tasks<'x> {
    /// Adds a call, or a wait, which has no future.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        (step, job): (usize, usize),
        future: Option<StepFuture<'x>>,
        more: Option<Box<CallState<'x>>>,
        bytes: usize,
    ) {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        };
        // One by one: nothing is there that a whole task would have to be dropped for.
        let task = &mut self.slots[slot].task;
        task.step = step;
        task.job = job;
        task.future = future;
        task.more = more;
        task.bytes = bytes;
        if self.next.is_none() && self.queue.is_empty() {
            self.next = Some(slot);
        } else {
            self.queue.push_back(slot);
        }
    }

    /// Takes out the slot to poll now.
    #[inline(always)]
    fn take_next(&mut self) -> Option<usize> {
        match self.next.take() {
            None => self.queue.pop_front(),
            next => next,
        }
    }

    #[cold]
    fn grow(&mut self) -> usize {
        let slot = self.slots.len();
        let alarm = Arc::new(TaskWaker {
            slot,
            rung: AtomicBool::new(false),
            woken: Arc::clone(&self.woken),
        });
        self.slots.push(TaskSlot {
            task: Task::default(),
            waker: Waker::from(Arc::clone(&alarm)),
            alarm,
        });
        slot
    }

    /// The next task of which something has happened, with its result if it is a call; `None` where there are no tasks. What wakes
    /// itself again and again waits for the next turn, so that others on the thread have theirs.
    #[inline(always)]
    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        result: &mut Option<StepResult>,
        start: Start<'_, 'x>,
    ) -> Poll<Option<Happened<'x>>> {
        loop {
            while let Some(slot) = self.take_next() {
                if self.poll_slot(slot, result, start) {
                    let Task {
                        step,
                        job,
                        more,
                        bytes,
                        ..
                    } = &mut self.slots[slot].task;
                    return Poll::Ready(Some(Happened {
                        step: *step,
                        job: *job,
                        more: more.take(),
                        bytes: *bytes,
                    }));
                }
            }
            if self.free.len() == self.slots.len() {
                return Poll::Ready(None);
            }
            if !self.refill(cx) {
                return Poll::Pending;
            }
        }
    }

    #[inline(always)]
    fn poll_slot(
        &mut self,
        slot: usize,
        result: &mut Option<StepResult>,
        start: Start<'_, 'x>,
    ) -> bool {
        let TaskSlot { task, alarm, waker } = &mut self.slots[slot];
        // Before it is polled: what wakes it from then on is to have it polled again.
        alarm.rung.store(false, Ordering::Release);
        let happened = task.poll(&mut Context::from_waker(waker), result, start);
        if happened {
            self.free.push(slot);
        }
        happened
    }

    /// Queues what was woken. Without any, and at the end of a turn, the run is to be polled later.
    fn refill(&mut self, cx: &mut Context<'_>) -> bool {
        let mut woken = self.woken.lock();
        let (slots, run) = &mut *woken;
        if slots.is_empty() {
            let before = match run {
                Some(run) if run.will_wake(cx.waker()) => None,
                run => run.replace(cx.waker().clone()),
            };
            // What it drops with itself may wake what waits here.
            drop(woken);
            drop(before);
        } else if !self.refilled && may_start() {
            self.queue.extend(slots.drain(..));
            self.refilled = true;
            return true;
        } else {
            drop(woken);
            cx.waker().wake_by_ref();
        }
        self.refilled = false;
        false
    }

    /// Whether something was woken that has not been polled since.
    pub(super) fn has_woken(&self) -> bool {
        !self.queue.is_empty() || !self.woken.lock().0.is_empty()
    }

    /// Adds a block, which is polled before all others: the call for which there is a permit now may be in it.
    pub(super) fn push_block(&mut self, place: (usize, usize), state: Box<CallState<'x>>) {
        if let Some(next) = self.next.take() {
            self.queue.push_front(next);
        }
        self.push(place, None, Some(state), 0);
        self.next = self.next.or_else(|| self.queue.pop_back());
    }

    /// Hands over the blocks that run, each with its step and its job. They are polled again.
    pub(super) fn blocks(&mut self, mut each: impl FnMut(usize, usize, &mut BlockRun<'x>)) {
        for (slot, TaskSlot { task, .. }) in self.slots.iter_mut().enumerate() {
            let (step, job) = (task.step, task.job);
            if let Some(block) = task.block_mut() {
                each(step, job, block);
                self.queue.push_back(slot);
            }
        }
    }

    /// Returns the jobs of a step that are calls of tools.
    pub(super) fn calls_of(&self, step: usize) -> impl Iterator<Item = usize> {
        let tasks = self.slots.iter().map(|slot| &slot.task);
        let calls = tasks.filter(move |task| task.step == step && task.is_call());
        calls
            .filter(|task| task.block().is_none())
            .map(|task| task.job)
    }

    /// The blocks that run.
    pub(super) fn running_blocks(&self) -> impl Iterator<Item = &BlockRun<'x>> {
        self.slots.iter().filter_map(|slot| slot.task.block())
    }

    /// Drops the tasks that fit.
    pub(super) fn abandon(&mut self, mut which: impl FnMut(&Task<'x>) -> bool) {
        for (slot, TaskSlot { task, .. }) in self.slots.iter_mut().enumerate() {
            if !task.is_idle() && which(task) {
                task.abandon();
                self.free.push(slot);
            }
        }
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.rung.swap(true, Ordering::AcqRel) {
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

impl WokenTasks {
    fn lock(&self) -> MutexGuard<'_, (Vec<usize>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
