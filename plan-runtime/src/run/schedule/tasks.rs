//! What a run polls: its calls and waits, each when it is new and when it was woken.
//!
//! A run of 300 steps that end immediately takes 70 ns for each with this set, and 170 ns with a `FuturesUnordered`, which allocates a node for each
//! future. The set has its price elsewhere: its lock is taken for each call that is woken, where `FuturesUnordered` needs none, and slots and their
//! wakers stay until the run ends. `BENCHMARKS.md` compares whole runs, some of which are slower than futures that are polled by hand.

use super::super::nesting::may_start;
use super::super::slots::{FreeSlots, SlotQueue, SlotWaker};
use super::super::start::{StepFuture, StepResult};
use super::Start;
use super::block_run::BlockRun;
use super::task::{CallState, Task};
use crate::plan::ToolNumber;
use std::task::{Context, Poll};

/// The tasks that run. Each is in a slot, whose waker serves one task after the other, so that a new task costs no allocation.
#[derive(Default)]
pub(super) struct Tasks<'x> {
    slots: Vec<TaskSlot<'x>>,
    free: FreeSlots,
    queue: SlotQueue,
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
    waker: SlotWaker,
    /// The tool that the task calls, if another call may use the future again.
    tool: Option<ToolNumber>,
    /// The future of the call that has ended.
    ended: Option<StepFuture<'x>>,
}

impl<'x> Tasks<'x> {
    /// Adds a call, or a wait, which has no future.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        place: (usize, usize),
        future: Option<StepFuture<'x>>,
        more: Option<Box<CallState<'x>>>,
        bytes: usize,
    ) {
        let slot = self.fill(place, future, more, bytes);
        self.queue.push(slot);
    }

    /// Adds a call of a tool. Another call of the tool may use the future again.
    #[inline(always)]
    pub(super) fn push_call(
        &mut self,
        step: usize,
        future: StepFuture<'x>,
        tool: Option<ToolNumber>,
        bytes: usize,
    ) {
        let slot = self.fill((step, 0), Some(future), None, bytes);
        self.slots[slot].tool = tool;
        self.queue.push(slot);
    }

    /// Returns the future of a call of the tool that has ended.
    #[inline(always)]
    pub(super) fn ended_call(&mut self, tool: Option<ToolNumber>) -> Option<StepFuture<'x>> {
        let slot = self.free.with_future(tool?)?;
        self.slots[slot].ended.take()
    }

    #[inline(always)]
    fn fill(
        &mut self,
        (step, job): (usize, usize),
        future: Option<StepFuture<'x>>,
        more: Option<Box<CallState<'x>>>,
        bytes: usize,
    ) -> usize {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        };
        // One by one: nothing is there that a whole task would have to be dropped for.
        self.slots[slot].ended = None;
        let task = &mut self.slots[slot].task;
        task.step = step;
        task.job = job;
        task.future = future;
        task.more = more;
        task.bytes = bytes;
        slot
    }

    #[cold]
    fn grow(&mut self) -> usize {
        let slot = self.slots.len();
        self.slots.push(TaskSlot {
            task: Task::default(),
            waker: self.queue.waker(slot),
            tool: None,
            ended: None,
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
            while let Some(slot) = self.queue.pop() {
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
                self.queue.forget_late();
                return Poll::Ready(None);
            }
            if !self.queue.refill(cx, may_start) {
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
        let TaskSlot {
            task,
            waker,
            tool,
            ended,
        } = &mut self.slots[slot];
        let happened = task.poll(&mut waker.context(), tool.is_some(), result, start);
        if happened {
            let tool = tool.take();
            if tool.is_some() {
                *ended = task.future.take();
            }
            self.free.push(slot, tool);
        }
        happened
    }

    /// Returns `true` if a woken call was not polled in this turn, which has done enough.
    pub(super) fn is_late(&self) -> bool {
        self.queue.is_late()
    }

    /// Returns the blocks that were woken and not polled since.
    pub(super) fn woken_blocks(&self) -> impl Iterator<Item = &BlockRun<'x>> {
        let woken = self.queue.woken().into_iter();
        woken.filter_map(|slot| self.slots[slot].task.block())
    }

    /// Adds a block, which is polled before all others: the call for which there is a permit now may be in it.
    pub(super) fn push_block(&mut self, place: (usize, usize), state: Box<CallState<'x>>) {
        let slot = self.fill(place, None, Some(state), 0);
        self.queue.push_first(slot);
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
        for (slot, TaskSlot { task, tool, .. }) in self.slots.iter_mut().enumerate() {
            if !task.is_idle() && which(task) {
                task.abandon();
                *tool = None;
                self.free.push(slot, None);
            }
        }
    }
}
