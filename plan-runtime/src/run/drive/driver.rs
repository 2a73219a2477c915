//! Drives a run in memory: does the commands of the machine, and hands events to the machine.

use super::super::StepError;
use super::super::context::{Allowance, CallContext};
use super::super::nesting::may_start;
use super::super::shared::SharedRun;
use super::super::signals::Receiver;
use super::super::start::StepResult;
use super::admitting::Admission;
use super::answers::Answering;
use super::failures::Errors;
use super::scene::{Host, Scene};
use super::sharing::Sharing;
use super::stops::{Clock, Stops};
use super::tasks::{Tasks, Waited};
use super::values::{ScopeValues, Values};
use crate::error::Interrupt;
use crate::machine::{CallEnd, CallId, Command, Event, Machine, ScopeId};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// A run in memory.
pub(in crate::run) struct Driver<'x> {
    pub(super) scene: Scene<'x>,
    pub(super) tasks: Tasks<'x>,
    /// The gates and throttles, if there are any.
    pub(super) admission: Option<Box<Admission<'x>>>,
    /// The permits, if plans that calls run share these.
    pub(super) sharing: Option<Box<Sharing>>,
    pub(super) random: fastrand::Rng,
    /// `true` if calls need more than their arguments and contexts.
    pub(super) is_followed: bool,
    /// `true` if a step has started.
    pub(super) has_begun: bool,
    is_done: bool,
    /// Nothing can be sent to the run once the receiver is dropped.
    _signals: OnceLock<Receiver>,
}

impl<'x> Driver<'x> {
    pub(super) fn new(
        machine: Machine,
        root: ScopeValues<'x>,
        plans: &[(usize, u32)],
        (run, allowance, around): (Arc<SharedRun>, Arc<Allowance>, Option<CallContext>),
        (clock, stops, signals): (Clock, Stops<'x>, OnceLock<Receiver>),
    ) -> Self {
        let is_shared = around.is_some() || allowance.is_among_many();
        let mut values = Values::new(Arc::clone(&allowance), is_shared);
        let errors = Errors::new(root.plan, plans);
        values.open(ScopeId::ROOT, root);
        let sharing = around
            .is_some()
            .then(|| Box::new(Sharing::new(Arc::clone(&run), 0)));
        let is_followed = run.is_kept();
        let seed = run.options.seed;
        let seed = seed.map(|seed| seed ^ around.as_ref().map_or(0, CallContext::hash));
        let scene = Scene {
            machine,
            values,
            errors,
            clock,
            stops,
            run,
            allowance,
            around,
            beside: None,
            opening: HashMap::new(),
        };
        Self {
            scene,
            tasks: Tasks::default(),
            admission: None,
            sharing,
            is_followed,
            random: seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            has_begun: false,
            is_done: false,
            _signals: signals,
        }
    }

    /// Ends the run at once.
    pub(in crate::run) fn interrupt(&mut self, interrupt: Interrupt) {
        self.scene.stops.interrupt(interrupt);
        self.scene.machine.handle(Event::GraceOver);
    }

    /// Does the commands of the machine. Is ready once the run is over.
    pub(super) fn poll_commands(
        &mut self,
        cx: &mut Context<'_>,
        host: &mut dyn Host<'x>,
    ) -> Poll<()> {
        if self.scene.around.is_some() {
            self.look_at_call(cx);
        }
        while let Some(event) = self.scene.stops.poll(cx, &self.scene.clock) {
            self.scene.machine.handle(event);
        }
        loop {
            if self.scene.values.is_shared() {
                self.look_at_limits(cx);
            }
            while let Some(command) = self.next_command(cx) {
                let Command::Start(call, place) = command else {
                    self.execute(command, host);
                    continue;
                };
                self.has_begun = true;
                self.start(call, place, host);
                if !may_start() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            if self.is_done {
                self.sharing = None;
                return Poll::Ready(());
            }
            let mut result = None;
            let Poll::Ready(slot) = self.tasks.poll_next(cx, &mut result) else {
                return Poll::Pending;
            };
            let plain = match result {
                Some(Ok(_)) => self.tasks.take_plain(slot),
                _ => None,
            };
            match (result, plain) {
                (Some(Ok(output)), Some((call, scope, bytes))) => {
                    self.scene.values.remove(bytes);
                    if let Some(sharing) = &mut self.sharing {
                        sharing.ended(None);
                    }
                    self.plain_called((call, scope), output);
                }
                (result, _) => self.ended(slot, result),
            }
        }
    }

    #[inline(always)]
    fn next_command(&mut self, cx: &Context<'_>) -> Option<Command> {
        let may_start = self.sharing.is_none() || self.has_permit(cx);
        self.scene.machine.next(may_start)
    }

    /// Ends the run if a plan in a call has exceeded a limit of the run.
    #[cold]
    fn look_at_limits(&mut self, cx: &Context<'_>) {
        self.scene.allowance.wake(cx.waker());
        if !self.scene.stops.is_exceeded()
            && let Some(place) = self.scene.allowance.exceeded().cloned()
        {
            self.scene.stops.exceed(place);
            self.scene.machine.handle(Event::GraceOver);
        }
    }

    #[cold]
    #[inline(never)]
    fn execute(&mut self, command: Command, host: &mut dyn Host<'x>) {
        self.has_begun |= matches!(command, Command::Evaluate(..) | Command::Await(..));
        match command {
            Command::Start(..) => {}
            Command::Admit(call, place) => self.admit(call, place, host),
            Command::Free(scope) => self.scene.values.close(scope),
            Command::Await(call, place) => self.wait(call, place),
            Command::Evaluate(id, question) => {
                let answer = Answering(&mut self.scene).answer(id, question, host);
                self.scene.machine.handle(Event::Answered(id, answer));
            }
            Command::Sleep(timer, pause, place) => self.sleep(timer, pause, place),
            Command::Drop(call) => self.drop_call(call),
            Command::Settled(scope, slot, status) => {
                self.scene.settled(scope, slot.index(), status);
                if let Some(admission) = &mut self.admission {
                    admission.settled(slot.index());
                }
            }
            Command::Done => self.is_done = true,
        }
    }

    /// Drops a call, a wait or a timer.
    pub(super) fn drop_call(&mut self, call: CallId) {
        if self.admission.is_some() {
            self.drop_wait_before(call);
        }
        let (bytes, is_call) = self.tasks.drop_call(call);
        self.scene.values.remove(bytes);
        if is_call && let Some(sharing) = &mut self.sharing {
            sharing.dropped();
        }
        if call.is_plain() {
            let scope = self.scene.machine.view().scope_of_plain(call);
            let step = self.scene.place_of(scope, call.index());
            self.scene.values.release(scope, step);
        }
    }

    /// A task has ended that is no plain call, or has failed.
    #[cold]
    #[inline(never)]
    fn ended(&mut self, slot: usize, result: Option<StepResult>) {
        let (of, waited, ticket, bytes) = self.tasks.take(slot);
        self.scene.values.remove(bytes);
        if result.is_some()
            && let Some(sharing) = &mut self.sharing
        {
            sharing.ended(ticket.context.as_ref());
        }
        if matches!(waited, Some(Waited::Fired)) && self.has_waited(of.call) {
            return;
        }
        match (result, waited) {
            (Some(result), _) => self.called(of, result),
            (None, Some(Waited::Received(received))) => self.received(of, received),
            (None, Some(Waited::Fired) | None) => self.scene.machine.handle(Event::Fired(of.call)),
        }
    }

    /// Hands the end of a call over to the machine.
    pub(super) fn failed(&mut self, call: CallId, error: StepError) {
        let error = self.scene.errors.keep(error);
        self.scene
            .machine
            .handle(Event::Ended(call, CallEnd::Failed(error)));
    }
}
