//! A task of a run: a call, a timer, or a wait for a value.

use super::super::StepError;
use super::super::admission::Turn;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::signals::Sent;
use super::super::slots::{SlotWaker, drop_future};
use super::super::start::StepFuture;
use super::super::timer::TimerFuture;
use super::super::watch::Spot;
use crate::machine::{CallId, MachineView, Part, Pause, ScopeId};
use crate::plan::ToolNumber;
use crate::resolve::drop_quietly;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A site in a run: a call, a wait, a timer or a question.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) call: CallId,
    pub(super) scope: ScopeId,
    /// The position of the step in its plan.
    pub(super) step: usize,
    /// The part of the step, unless the step is plain.
    pub(super) part: Option<Part>,
}

impl Site {
    pub(super) fn slot(&self) -> usize {
        self.part
            .map_or(self.call.index(), |part| part.slot.index())
    }

    /// Returns the number of the element.
    pub(super) fn element(&self) -> u32 {
        self.part.map_or(Part::WHOLE, |part| part.element)
    }

    pub(super) fn attempt(&self) -> u32 {
        self.part.map_or(1, |part| part.attempt)
    }

    /// Returns the number of the body among those of the step.
    pub(super) fn body(&self) -> u32 {
        self.part.map_or(0, |part| part.body)
    }

    /// Returns the scope that the attempt has opened.
    pub(super) fn inside(&self) -> Option<ScopeId> {
        self.part?.inside
    }

    /// Returns the positions of the element in the lists around it.
    pub(super) fn places(&self, view: MachineView<'_>) -> Vec<usize> {
        let places = self.part.map(|part| view.places(part.slot, part.element));
        let places = places.into_iter().flatten();
        places.map(|place| place as usize).collect()
    }

    pub(super) fn spot(&self) -> Spot {
        Spot {
            scope: self.scope,
            step: self.step,
            element: self.element(),
        }
    }
}

/// The work of a task that is not a call.
pub(super) enum Wait {
    Timer(TimerFuture, Pause),
    /// The wait of a call for the answers of gates, or for its turn.
    Admission(TimerFuture),
    Value(Receiving),
    /// A value that has come.
    Received(Result<Arc<Sent>, StepError>),
}

/// A future of a value from outside.
pub(super) type Receiving = Pin<Box<dyn Future<Output = Result<Arc<Sent>, StepError>> + Send>>;

pub(super) struct TaskSlot<'x> {
    pub(super) call: CallId,
    pub(super) scope: ScopeId,
    /// The bytes that the arguments of a call count.
    pub(super) bytes: usize,
    /// The future of a call. After the call, another call to the same tool may use the future again.
    pub(super) future: Option<StepFuture<'x>>,
    /// `true` if the future is a call that runs.
    pub(super) is_running: bool,
    /// `true` before the first poll of a call, if the run has a watch.
    pub(super) is_new: bool,
    /// The tool of the call, if another call may use the future again.
    pub(super) tool: Option<ToolNumber>,
    pub(super) more: Option<Box<More>>,
    /// The waker of the slot, once a task of the slot has had to wait.
    pub(super) waker: Option<SlotWaker>,
}

impl TaskSlot<'_> {
    /// Returns `true` for a call that runs without a context.
    pub(super) fn is_call(&self) -> bool {
        let more = self.more.as_ref();
        self.is_running && more.is_none_or(|more| more.ticket.context.is_none())
    }

    /// Drops the task. A panic of a destructor is lost.
    pub(super) fn clear(&mut self) {
        drop_future(&mut self.future);
        drop_quietly(self.more.take());
        self.is_running = false;
        self.is_new = false;
        self.tool = None;
    }
}

/// The rarely used fields of a task. A plain call with an empty ticket has none.
pub(super) struct More {
    pub(super) of: Site,
    pub(super) wait: Option<Wait>,
    pub(super) ticket: Ticket,
}

/// The resources that a call holds until its end, besides its arguments.
pub(super) struct Ticket {
    /// The turn of the call among the calls of its tool.
    pub(super) turn: Option<Turn>,
    /// The context of the call, unless the call runs without a context.
    pub(super) context: Option<CallContext>,
}

impl Ticket {
    /// Creates the ticket of a call. A call with a context may run a plan, and then needs no turn.
    pub(super) fn new(turn: Option<Turn>, context: Option<CallContext>) -> Self {
        let turn = match &context {
            Some(context) => {
                context.keep(turn);
                None
            }
            None => turn,
        };
        Self { turn, context }
    }

    /// Returns the ticket of a task that is no call.
    pub(super) fn none() -> Self {
        Self::new(None, None)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turn.is_none() && self.context.is_none()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.stop_counting();
        }
    }
}

impl Wait {
    /// Returns `true` once the wait has ended. A timer that panics ends the run, since the machine would wait forever.
    #[cold]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        match self {
            Self::Timer(sleep, _) | Self::Admission(sleep) => sleep.as_mut().poll(cx).is_ready(),
            Self::Value(receiving) => {
                let polled = catch(|| receiving.as_mut().poll(cx));
                let polled = polled.unwrap_or_else(|panic| Poll::Ready(Err(panic)));
                polled.map(|it| *self = Self::Received(it)).is_ready()
            }
            Self::Received(_) => true,
        }
    }
}
