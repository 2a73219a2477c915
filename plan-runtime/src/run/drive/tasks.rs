//! Tasks that a run polls: calls, timers and waits for values. A run polls a task when the task is new and when the task was woken.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::nesting::may_start;
use super::super::signals::{Sent, Waiting};
use super::super::slots::{FreeSlots, SlotQueue, SlotWaker, drop_future, poll_future};
use super::super::start::{Request, StepFuture, StepResult};
use super::super::storing::CalledAgain;
use super::super::throttle::Turn;
use super::super::timer::Sleep;
use super::super::trace::Span;
use crate::machine::{CallId, Part, Pause, ScopeId};
use crate::plan::ToolNumber;
use crate::resolve::drop_quietly;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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

    /// The number of the element.
    pub(super) fn element(&self) -> u32 {
        self.part.map_or(Part::WHOLE, |part| part.element)
    }
}

/// The work of a task that is not a call.
pub(super) enum Wait {
    Timer(Sleep, Pause),
    /// A wait for a value. `true` if something else may end the wait.
    Value(Waiting, bool),
    /// A wait for a value that an engine or a journal receives.
    Elsewhere(Receiving),
}

/// A value on its way.
pub(super) type Receiving = Pin<Box<dyn Future<Output = Result<Arc<Sent>, StepError>> + Send>>;

/// The end of a task that is not a call.
pub(super) enum Waited {
    Fired(Pause),
    Received(Result<Arc<Sent>, StepError>),
}

/// The tasks of a run. A task has a slot of its own as long as it runs, and another task uses the slot after that.
#[derive(Default)]
pub(super) struct Tasks<'x> {
    slots: Vec<TaskSlot<'x>>,
    free: FreeSlots,
    queue: SlotQueue,
    /// The slots of tasks that are not plain calls.
    of_calls: HashMap<CallId, usize>,
    /// The slots of plain calls that ran when the last was dropped.
    plain: HashMap<CallId, usize>,
}

struct TaskSlot<'x> {
    call: CallId,
    scope: ScopeId,
    /// The bytes that the arguments of a call count.
    bytes: usize,
    /// The future of a call. After the call, another call to the same tool may use the future again.
    future: Option<StepFuture<'x>>,
    /// `true` if the future is a call that runs.
    is_running: bool,
    /// The tool of the call, if another call may use the future again.
    tool: Option<ToolNumber>,
    more: Option<Box<More>>,
    waker: SlotWaker,
}

impl TaskSlot<'_> {
    /// Returns `true` for a call that runs without a context.
    fn is_call(&self) -> bool {
        let more = self.more.as_ref();
        self.is_running && more.is_none_or(|more| more.ticket.context.is_none())
    }

    /// Drops the task. A panic of a destructor is lost.
    fn clear(&mut self) {
        let more = self.more.take();
        match &more {
            None => drop_future(&mut self.future),
            Some(more) => drop_in(&more.ticket.span, &mut self.future),
        }
        drop_quietly(more);
        self.is_running = false;
        self.tool = None;
    }
}

/// The rest of a task, unless the task is a plain call with an empty ticket.
struct More {
    part: Option<Part>,
    wait: Option<Wait>,
    waited: Option<Waited>,
    ticket: Ticket,
}

/// The things that a call has until its end, beside its arguments.
pub(super) struct Ticket {
    /// The turn of the call among those to the same tools.
    pub(super) turn: Option<Turn>,
    /// The context of the call, unless the call runs without a context.
    pub(super) context: Option<CallContext>,
    /// The span of the call, for its polls and its drop.
    pub(super) span: Span,
}

impl Ticket {
    /// Creates the ticket of a call. A call with a context may run a plan, and needs no turn any more then.
    pub(super) fn new(turn: Option<Turn>, context: Option<CallContext>, span: Span) -> Self {
        let turn = match &context {
            Some(context) => {
                context.keep(turn);
                None
            }
            None => turn,
        };
        Self {
            turn,
            context,
            span,
        }
    }

    /// Returns the ticket of a task that is no call.
    pub(super) fn none() -> Self {
        Self::new(None, None, Span::none())
    }

    fn is_empty(&self) -> bool {
        self.turn.is_none() && self.context.is_none() && self.span.is_none()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.stop_counting();
        }
    }
}

impl<'x> Tasks<'x> {
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

    /// Adds the call that the future of the next free slot has become.
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
        self.queue.push(slot);
    }

    /// Adds a call.
    pub(super) fn push_part(
        &mut self,
        of: &Of,
        future: StepFuture<'x>,
        ticket: Ticket,
        bytes: usize,
    ) {
        let slot = self.next_slot();
        self.slots[slot].future = Some(future);
        self.run(slot, (of.call, of.scope), None, bytes);
        if of.part.is_some() || !ticket.is_empty() {
            self.add_more(slot, of.part, None, ticket);
        }
    }

    /// Adds a timer or a wait.
    pub(super) fn push_wait(&mut self, of: (CallId, ScopeId), part: Part, wait: Wait) {
        let slot = self.next_slot();
        self.slots[slot].future = None;
        self.run(slot, of, None, 0);
        self.slots[slot].is_running = false;
        self.add_more(slot, Some(part), Some(wait), Ticket::none());
    }

    #[cold]
    fn add_more(&mut self, slot: usize, part: Option<Part>, wait: Option<Wait>, ticket: Ticket) {
        let it = &mut self.slots[slot];
        self.of_calls.insert(it.call, slot);
        it.more = Some(Box::new(More {
            part,
            wait,
            waited: None,
            ticket,
        }));
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
            tool: None,
            more: None,
            waker: self.queue.waker(slot),
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
        let mut cx = it.waker.context();
        if let Some(more) = &mut it.more {
            return more.poll(&mut it.future, &mut cx, result);
        }
        if it.is_running {
            poll_future(&mut it.future, it.tool.is_some(), &mut cx, result);
            it.is_running = result.is_none();
        }
        result.is_some()
    }

    /// The call and the scope of a task that has ended, and the bytes that it counted, if it was a plain call. The slot is free then.
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

    /// Returns `true` if a woken task was not polled in this turn, which has done enough.
    pub(super) fn is_late(&self) -> bool {
        self.queue.is_late()
    }

    /// The owner of a task that has ended, its end unless it was a call, its ticket, and the bytes that it counted. The slot is free then.
    #[cold]
    pub(super) fn take(&mut self, slot: usize) -> (Of, Option<Waited>, Ticket, usize) {
        let it = &mut self.slots[slot];
        let (call, scope, bytes) = (it.call, it.scope, it.bytes);
        let more = it.more.take();
        it.is_running = false;
        self.free.push(slot, it.tool.take());
        if more.is_some() {
            self.of_calls.remove(&call);
        }
        let part = more.as_ref().and_then(|more| more.part);
        let (waited, ticket) = match more {
            Some(more) => (more.waited, more.ticket),
            None => (None, Ticket::none()),
        };
        (Of { call, scope, part }, waited, ticket, bytes)
    }

    /// Returns the number of calls that run without contexts.
    #[cold]
    pub(super) fn calls(&self) -> usize {
        self.slots.iter().filter(|it| it.is_call()).count()
    }

    /// Drops a task. Returns the bytes that it counted, and `true` for a call without a context.
    pub(super) fn drop_call(&mut self, call: CallId) -> (usize, bool) {
        let Some(slot) = self.slot_of(call) else {
            return (0, false);
        };
        self.of_calls.remove(&call);
        let it = &mut self.slots[slot];
        let (bytes, is_call) = (it.bytes, it.is_call());
        it.clear();
        self.free.push(slot, None);
        (bytes, is_call)
    }

    /// Drops all tasks.
    pub(super) fn clear(&mut self) {
        self.slots.drain(..).for_each(|mut it| it.clear());
    }

    /// Returns the owner of a task.
    pub(super) fn of(&mut self, call: CallId) -> Option<Of> {
        let slot = self.slot_of(call)?;
        let it = &self.slots[slot];
        Some(Of {
            call,
            scope: it.scope,
            part: it.more.as_ref().and_then(|more| more.part),
        })
    }

    fn slot_of(&mut self, call: CallId) -> Option<usize> {
        match self.of_calls.get(&call) {
            None if call.is_plain() => self.slot_of_plain(call),
            slot => slot.copied(),
        }
    }

    /// The slot of a plain call that runs. One pass over the slots finds all calls to drop.
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

impl More {
    /// Returns `true` once the call or the wait has ended.
    #[cold]
    fn poll(
        &mut self,
        future: &mut Option<StepFuture<'_>>,
        cx: &mut Context<'_>,
        result: &mut Option<StepResult>,
    ) -> bool {
        if future.is_some() {
            let span = &self.ticket.span;
            // A subscriber may panic.
            let polled = catch(|| span.in_scope(|| poll_future(future, false, cx, result)));
            if let Err(panic) = polled {
                drop_in(span, future);
                result.get_or_insert(Err(panic));
            }
            return result.is_some();
        }
        // A timer that panics ends the run, since the machine would wait for it in vain.
        if let Some(Wait::Timer(sleep, pause)) = &mut self.wait {
            if sleep.as_mut().poll(cx).is_ready() {
                self.waited = Some(Waited::Fired(*pause));
            }
            return self.waited.is_some();
        }
        let polled = catch(|| match &mut self.wait {
            None | Some(Wait::Timer(..)) => None,
            Some(Wait::Elsewhere(receiving)) => match receiving.as_mut().poll(cx) {
                Poll::Ready(received) => Some(Waited::Received(received)),
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

/// Drops the future of a call in its span. A panic is lost.
#[cold]
fn drop_in(span: &Span, future: &mut Option<StepFuture<'_>>) {
    let future = future.take();
    let _ = catch(|| span.in_scope(|| drop(future)));
}
