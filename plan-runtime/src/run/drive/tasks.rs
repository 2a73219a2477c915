//! Tasks that a run polls: calls, timers and waits for values. A run polls a task when the task is new and when the task was woken.

use super::super::nesting::may_start;
use super::super::shared::SharedRun;
use super::super::slots::{FreeSlots, SlotQueue, SlotWaker, poll_future};
use super::super::start::{Request, StepFuture, StepResult};
use super::super::storing::CalledAgain;
use super::sharing::Sharing;
use super::task::{More, Site, TaskSlot, Ticket, Wait};
use super::values::Values;
use crate::machine::{CallId, ScopeId};
use crate::plan::ToolNumber;
use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The tasks of a run. A task has a slot of its own as long as it runs, and another task uses the slot after that.
pub(super) struct Tasks<'x> {
    slots: Vec<TaskSlot<'x>>,
    free: FreeSlots,
    queue: SlotQueue,
    /// The slots of calls after their first polls, in a run with a watch.
    pub(super) begun: Option<Vec<usize>>,
    /// The waker of tasks in slots without wakers.
    spare: SlotWaker,
    /// The slots of tasks that are not plain calls.
    of_calls: HashMap<CallId, usize>,
    /// A cache of the slots of the plain calls that were running when a plain call was last dropped.
    plain: HashMap<CallId, usize>,
    /// The permits, if plans that calls run share these.
    pub(super) sharing: Option<Box<Sharing>>,
}

impl<'x> Tasks<'x> {
    /// Creates the tasks of a run. About `at_once` tasks run at one time.
    pub(super) fn new(sharing: Option<Box<Sharing>>, at_once: usize) -> Self {
        let queue = SlotQueue::default();
        Self {
            slots: Vec::with_capacity(at_once),
            free: FreeSlots::default(),
            spare: queue.waker(),
            queue,
            begun: None,
            of_calls: HashMap::new(),
            plain: HashMap::new(),
            sharing,
        }
    }

    /// Counts a call without a context that is about to run.
    #[inline(always)]
    pub(super) fn count_call(&mut self) {
        if let Some(sharing) = &mut self.sharing {
            sharing.started(None);
        }
    }

    /// Counts an ended call.
    #[inline(always)]
    pub(super) fn call_ended(&mut self, ticket: Option<&Ticket>) {
        if let Some(sharing) = &mut self.sharing {
            sharing.ended(ticket.and_then(|ticket| ticket.context.as_ref()));
        }
    }

    /// Shares the run with a call that has a context. The call may run plans, so calls need permits from now on.
    fn share(&mut self, run: &Arc<SharedRun>, ticket: &Ticket) {
        let Some(context) = &ticket.context else {
            return self.count_call();
        };
        let calls = self.calls();
        let sharing = self
            .sharing
            .get_or_insert_with(|| Box::new(Sharing::new(Arc::clone(run), calls)));
        if !sharing.has_permit {
            sharing.has_permit = sharing.run.permits.try_take();
        }
        sharing.started(Some(context));
    }

    /// Adds a plain call.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        (call, scope): (CallId, ScopeId),
        future: StepFuture<'x>,
        tool: Option<ToolNumber>,
        bytes: usize,
    ) {
        let slot = self.next_slot();
        self.slots[slot].future = Some(future);
        self.run(slot, (call, scope), tool, bytes);
    }

    /// Returns a free slot with the future of a call of the tool that has ended.
    #[inline(always)]
    pub(super) fn ended_call(&mut self, tool: Option<ToolNumber>) -> Option<usize> {
        self.free.with_future(tool?)
    }

    /// Begins another call with the future of a free slot.
    #[inline(always)]
    pub(super) fn call_again(&mut self, slot: usize, request: &Request<'_>) -> CalledAgain {
        match &mut self.slots[slot].future {
            Some(future) => future.as_mut().call_again(request),
            None => CalledAgain::No,
        }
    }

    /// Adds the call that reuses the future of the next free slot.
    #[inline(always)]
    pub(super) fn push_again(
        &mut self,
        of: (CallId, ScopeId),
        tool: Option<ToolNumber>,
        bytes: usize,
    ) {
        if let Some(slot) = self.free.pop() {
            self.run(slot, of, tool, bytes);
        }
    }

    #[inline(always)]
    fn run(
        &mut self,
        slot: usize,
        (call, scope): (CallId, ScopeId),
        tool: Option<ToolNumber>,
        bytes: usize,
    ) {
        let it = &mut self.slots[slot];
        it.call = call;
        it.scope = scope;
        it.bytes = bytes;
        it.tool = tool;
        it.is_running = true;
        it.is_new = self.begun.is_some();
        self.queue.push(slot);
    }

    /// Adds a call of a run that has not counted the call.
    pub(super) fn push_call(
        &mut self,
        run: &Arc<SharedRun>,
        of: Site,
        future: StepFuture<'x>,
        (ticket, bytes): (Ticket, usize),
    ) {
        self.share(run, &ticket);
        self.push_part(of, future, ticket, bytes);
    }

    /// Adds a call.
    pub(super) fn push_part(
        &mut self,
        of: Site,
        future: StepFuture<'x>,
        ticket: Ticket,
        bytes: usize,
    ) {
        let slot = self.next_slot();
        self.slots[slot].future = Some(future);
        self.run(slot, (of.call, of.scope), None, bytes);
        if of.part.is_some() || !ticket.is_empty() {
            self.add_more(slot, of, None, ticket);
        }
    }

    /// Adds a timer or a wait.
    pub(super) fn push_wait(&mut self, of: Site, wait: Wait) {
        let slot = self.next_slot();
        self.slots[slot].future = None;
        self.run(slot, (of.call, of.scope), None, 0);
        let it = &mut self.slots[slot];
        it.is_running = false;
        // An attempt has begun even if its time limit was never polled.
        it.is_new &= !matches!(wait, Wait::Timer(..));
        self.add_more(slot, of, Some(wait), Ticket::none());
    }

    #[cold]
    fn add_more(&mut self, slot: usize, of: Site, wait: Option<Wait>, ticket: Ticket) {
        let it = &mut self.slots[slot];
        self.of_calls.insert(it.call, slot);
        it.more = Some(Box::new(More { of, wait, ticket }));
    }

    #[inline(always)]
    fn next_slot(&mut self) -> usize {
        match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        }
    }

    #[cold]
    fn grow(&mut self) -> usize {
        let slot = self.slots.len();
        self.slots.push(TaskSlot {
            call: CallId::NONE,
            scope: ScopeId::ROOT,
            bytes: 0,
            future: None,
            is_running: false,
            is_new: false,
            tool: None,
            more: None,
            waker: None,
        });
        slot
    }

    /// Returns the slot of a task that has ended, and the result of a call. After `Pending`, the waker of the run is
    /// kept, or the run was woken again.
    #[inline(always)]
    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        result: &mut Option<StepResult>,
    ) -> Poll<usize> {
        loop {
            while let Some(slot) = self.queue.pop() {
                if self.poll_slot(slot, result) {
                    return Poll::Ready(slot);
                }
            }
            if !self.queue.refill(cx, may_start) {
                return Poll::Pending;
            }
        }
    }

    #[inline(always)]
    fn poll_slot(&mut self, slot: usize, result: &mut Option<StepResult>) -> bool {
        let it = &mut self.slots[slot];
        if let Some(begun) = &mut self.begun
            && std::mem::take(&mut it.is_new)
        {
            begun.push(slot);
        }
        let mut cx = it.waker.as_ref().unwrap_or(&self.spare).context(slot);
        let has_ended = if it.is_running {
            poll_future(&mut it.future, it.tool.is_some(), &mut cx, result);
            it.is_running = result.is_none();
            result.is_some()
        } else if let Some(wait) = it.more.as_mut().and_then(|more| more.wait.as_mut()) {
            wait.poll(&mut cx)
        } else {
            return false;
        };
        if !has_ended && it.waker.is_none() {
            let next = self.queue.waker();
            it.waker = Some(std::mem::replace(&mut self.spare, next));
        }
        has_ended
    }

    /// Takes the call, the scope and the counted bytes of an ended plain call, and frees the slot.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, slot: usize) -> Option<(CallId, ScopeId, usize)> {
        let it = &mut self.slots[slot];
        if it.more.is_some() {
            return None;
        }
        let (call, scope, bytes) = (it.call, it.scope, it.bytes);
        self.free.push(slot, it.tool.take());
        Some((call, scope, bytes))
    }

    /// Returns `true` if the turn ended at its limit of work, before all woken tasks were polled.
    pub(super) fn is_late(&self) -> bool {
        self.queue.is_late()
    }

    /// Returns the owner of a task that has ended, its wait unless it was a call, its ticket, and the bytes that it
    /// counted. The slot is free then.
    #[cold]
    pub(super) fn take(
        &mut self,
        slot: usize,
        values: &Values<'_>,
    ) -> (Site, Option<Wait>, Ticket, usize) {
        let it = &mut self.slots[slot];
        it.is_running = false;
        self.free.push(slot, it.tool.take());
        match it.more.take() {
            Some(more) => {
                self.of_calls.remove(&it.call);
                (more.of, more.wait, more.ticket, it.bytes)
            }
            None => {
                let of = values.of_plain(it.call, it.scope);
                (of, None, Ticket::none(), it.bytes)
            }
        }
    }

    /// Returns the number of calls that run without contexts.
    #[cold]
    fn calls(&self) -> usize {
        self.slots.iter().filter(|it| it.is_call()).count()
    }

    /// Returns the owners of calls after their first polls.
    pub(super) fn take_begun(&mut self, values: &Values<'_>) -> Vec<Site> {
        let begun = self.begun.as_mut().map(std::mem::take);
        let begun = begun.into_iter().flatten();
        begun.map(|slot| owner(&self.slots[slot], values)).collect()
    }

    /// Returns the calls without a poll.
    pub(super) fn unbegun(&self) -> Vec<CallId> {
        let new = self.slots.iter().filter(|it| it.is_new);
        new.map(|it| it.call).collect()
    }

    /// Drops a task. Returns the bytes of its arguments, and `true` for a call without a poll.
    pub(super) fn drop_call(&mut self, call: CallId) -> (usize, bool) {
        let Some(slot) = self.slot_of(call) else {
            return (0, false);
        };
        self.of_calls.remove(&call);
        let it = &mut self.slots[slot];
        let (bytes, is_new, is_call) = (it.bytes, it.is_new, it.is_call());
        it.clear();
        self.free.push(slot, None);
        if is_call && let Some(sharing) = &mut self.sharing {
            sharing.dropped();
        }
        (bytes, is_new)
    }

    /// Drops all tasks.
    pub(super) fn clear(&mut self) {
        self.slots.drain(..).for_each(|mut it| it.clear());
    }

    /// Returns the owner of a task.
    pub(super) fn of(&mut self, call: CallId, values: &Values<'_>) -> Option<Site> {
        let slot = self.slot_of(call)?;
        Some(owner(&self.slots[slot], values))
    }

    fn slot_of(&mut self, call: CallId) -> Option<usize> {
        match self.of_calls.get(&call) {
            None if call.is_plain() => self.slot_of_plain(call),
            slot => slot.copied(),
        }
    }

    /// Returns the slot of a plain call that runs. One pass over the slots finds all calls to drop.
    #[cold]
    fn slot_of_plain(&mut self, call: CallId) -> Option<usize> {
        let runs = |it: &TaskSlot<'_>| it.is_running && it.more.is_none();
        let is_it = |it: &TaskSlot<'_>| runs(it) && it.call == call;
        let known = self.plain.remove(&call);
        if let Some(slot) = known.filter(|slot| is_it(&self.slots[*slot])) {
            return Some(slot);
        }
        let running = self.slots.iter().enumerate().filter(|it| runs(it.1));
        self.plain = running.map(|(slot, it)| (it.call, slot)).collect();
        self.plain.remove(&call)
    }
}

/// Returns the owner of a task.
fn owner(it: &TaskSlot<'_>, values: &Values<'_>) -> Site {
    let more = it.more.as_ref();
    more.map_or_else(|| values.of_plain(it.call, it.scope), |more| more.of)
}
