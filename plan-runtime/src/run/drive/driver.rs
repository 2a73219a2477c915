//! Drives a run in memory: does the commands of the machine, and hands events to the machine.

use super::super::StepError;
use super::super::clock::Clock;
use super::super::context::{Allowance, Blocked, CallContext};
use super::super::nesting::{Turn, may_start};
use super::super::shared::SharedRun;
use super::super::signals::Receiver;
use super::super::start::StepResult;
use super::super::watch::{Keeps, Watch};
use super::admission::Admission;
use super::answers::Answering;
use super::failures::Errors;
use super::records::Records;
use super::scene::{Host, Scene};
use super::scope_values::ScopeValues;
use super::sharing::Sharing;
use super::stops::Stops;
use super::task::{Of, Waited};
use super::tasks::Tasks;
use super::values::Values;
use crate::error::Interrupt;
use crate::machine::{CallEnd, CallId, Command, Event, Machine, Pause, ScopeId};
use crate::plan::Body;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// A run in memory.
pub(in crate::run) struct Driver<'x> {
    pub(super) scene: Scene<'x>,
    pub(super) tasks: Tasks<'x>,
    /// The gates and throttles, if there are any.
    pub(super) admission: Option<Box<Admission<'x>>>,
    pub(super) random: fastrand::Rng,
    /// `true` if the run has a journal.
    pub(super) is_recorded: bool,
    /// `true` if an engine makes the calls of the run.
    is_elsewhere: bool,
    /// `true` if a step has started.
    pub(super) has_begun: bool,
    is_done: bool,
    /// Finds out whether the tool blocks on the plan inside its call.
    pub(super) blocked: Blocked,
    /// Nothing can be sent to the run once the receiver is dropped.
    _signals: OnceLock<Receiver>,
    turn: Turn,
    /// The timers of time limits that are over.
    late: VecDeque<(Of, Pause)>,
    /// The command that waits for the decisions of an engine.
    pub(super) held: Option<Command>,
}

/// The surroundings of a run inside another run.
#[derive(Default)]
pub(super) struct Around {
    /// The call that the run is inside of.
    pub(super) call: Option<CallContext>,
    /// The name of the plan, if a tool runs the plan inside its call.
    pub(super) beside: Option<Arc<str>>,
}

/// Returns the seed of a run. A run with a journal has the same seed after a crash.
fn seed(run: &SharedRun, around: Option<&CallContext>) -> Option<u64> {
    let durable = run.durable.as_ref();
    let seed = run.options.seed.or(durable.map(|durable| durable.seed()));
    seed.map(|seed| seed ^ around.map_or(0, CallContext::hash))
}

impl<'x> Driver<'x> {
    pub(super) fn new(
        machine: Machine,
        root: ScopeValues<'x>,
        plans: &[(usize, u32)],
        (run, allowance, around): (Arc<SharedRun>, Arc<Allowance>, Around),
        (clock, stops, signals): (Clock, Stops<'x>, OnceLock<Receiver>),
        keeps: Keeps,
    ) -> Self {
        let Around {
            call: around,
            beside,
        } = around;
        let is_shared = around.is_some() || allowance.is_among_many();
        let mut values = Values::new(Arc::clone(&allowance), is_shared);
        let errors = Errors::new(root.plan, plans);
        let watch = Watch::new(&run, keeps, around.clone(), clock.start);
        values.has_layers = watch.is_some() || run.is_kept();
        values.open(ScopeId::ROOT, root);
        let is_inner = around.is_some() && beside.is_none();
        let records = run.durable.as_ref();
        let records = records.map(|durable| Records::new(Arc::clone(durable), is_inner));
        let records = records.map(Box::new);
        let sharing = around
            .is_some()
            .then(|| Box::new(Sharing::new(Arc::clone(&run), 0)));
        let seed = seed(&run, around.as_ref());
        let mut scene = Scene {
            machine,
            values,
            errors,
            clock,
            stops,
            run,
            allowance,
            around,
            beside,
            records,
            opening: HashMap::new(),
            watch,
        };
        scene.watching().open(ScopeId::ROOT);
        Self {
            is_recorded: scene.records.is_some(),
            is_elsewhere: scene.run.engine.is_some(),
            scene,
            tasks: Tasks::new(sharing),
            admission: None,
            random: seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
            has_begun: false,
            is_done: false,
            blocked: Blocked::default(),
            _signals: signals,
            turn: Turn::default(),
            late: VecDeque::new(),
            held: None,
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
        self.turn.polled();
        if let Some(command) = self.held.take() {
            if self.must_wait(command, cx) {
                return Poll::Pending;
            }
            self.do_held(command, host);
        }
        if let Some(watch) = &mut self.scene.watch {
            watch.look();
        }
        if self.scene.around.is_some() {
            self.scene.look_at_call(cx);
        }
        self.pass_limit();
        self.scene.stops.polled();
        loop {
            self.look_for_ends(cx);
            while let Some(command) = self.next_command(cx) {
                if self.is_elsewhere && self.must_wait(command, cx) {
                    return Poll::Pending;
                }
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
            if self.is_recorded {
                self.limit_opened();
                if self.look_at_failure() {
                    continue;
                }
            }
            if self.is_done {
                self.tasks.sharing = None;
                return Poll::Ready(());
            }
            let mut result = None;
            let Poll::Ready(slot) = self.tasks.poll_next(cx, &mut result) else {
                let goes_on = self.is_recorded && self.goes_on();
                if self.pass_limit() || goes_on || self.ends_grace(cx) {
                    continue;
                }
                return Poll::Pending;
            };
            // A plan in the call may have exceeded a limit, which ends the run before the call fails.
            if self.scene.values.is_shared() {
                self.look_at_limits(cx);
            }
            if self.is_recorded {
                self.blocked.goes_on();
            }
            let plain = match result {
                Some(Ok(_)) if !self.is_recorded => self.tasks.take_plain(slot),
                _ => None,
            };
            let Some((call, scope, bytes)) = plain else {
                self.ended(slot, result);
                continue;
            };
            self.scene.values.remove(bytes);
            self.tasks.call_ended(None);
            if let Some(Ok(output)) = result {
                self.plain_called((call, scope), output);
            }
        }
    }

    /// Ends the run before its time, if there is a cause.
    #[inline]
    fn look_for_ends(&mut self, cx: &mut Context<'_>) {
        while !self.is_recorded
            && let Some(event) = self.scene.stops.poll(cx, &self.scene.clock)
        {
            self.scene.machine.handle(event);
        }
        if self.scene.values.is_shared() {
            self.look_at_limits(cx);
        }
        if self.is_recorded {
            self.look_at_journal(cx);
        }
    }

    #[inline(always)]
    fn next_command(&mut self, cx: &Context<'_>) -> Option<Command> {
        if let Some(sharing) = &mut self.tasks.sharing {
            return sharing.next(&mut self.scene, cx.waker());
        }
        self.scene.machine.next(true)
    }

    /// Ends the run if a plan in a call has exceeded a limit of the run.
    #[cold]
    fn look_at_limits(&mut self, cx: &Context<'_>) {
        self.scene.allowance.wake(cx.waker());
        if !self.scene.stops.is_exceeded()
            && let Some(place) = self.scene.allowance.exceeded().cloned()
        {
            let is_working = self.scene.machine.view().works(ScopeId::ROOT);
            self.scene.stops.exceed(place, is_working);
            self.scene.machine.handle(Event::GraceOver);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn execute(&mut self, command: Command, host: &mut dyn Host<'x>) {
        self.scene.watching().see(&command);
        self.has_begun |= matches!(
            command,
            Command::Evaluate(..) | Command::Await(..) | Command::Admit(..)
        );
        if self.is_recorded && !matches!(command, Command::Sleep(..)) {
            self.limit_opened();
        }
        match command {
            Command::Start(..) => {}
            Command::Unwinding(scope) => self.scene.note_failed(scope),
            Command::Admit(call, place) => self.admit(call, place, host),
            Command::Free(scope) => {
                self.scene.watching().close(scope);
                self.scene.values.close(scope);
            }
            Command::Await(call, place) => self.wait(call, place),
            Command::Evaluate(id, question) => {
                let part = self.scene.machine.view().asked(id);
                let Some(answer) = Answering(&mut self.scene).answer(id, question, host) else {
                    return;
                };
                if self.is_recorded {
                    return self.answered(id, (question, part), answer);
                }
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
            Command::Over(scope) => self.scene.watching().over(scope),
            Command::Done => {
                self.scene.watching().done();
                self.is_done = true;
            }
        }
    }

    /// Ends the run if the time for undo and always steps is over. That time may have begun after the last look, while a value was made.
    fn ends_grace(&mut self, cx: &Context<'_>) -> bool {
        if self.is_recorded {
            return false;
        }
        let event = self.scene.stops.end_grace(cx);
        event
            .inspect(|event| self.scene.machine.handle(*event))
            .is_some()
    }

    /// The time limit of a call that is over takes effect, after every call that was ready by then. Returns `false` if there is none.
    fn pass_limit(&mut self) -> bool {
        let late = self.late.pop_front();
        late.inspect(|(of, limit)| self.fired(of, *limit)).is_some()
    }

    fn fired(&mut self, of: &Of, pause: Pause) {
        self.scene.watching().fired(of, pause);
        self.scene.machine.handle(Event::Fired(of.call));
    }

    /// Returns `true` for the timer of a call or a wait, as opposed to that of a block or a loop.
    fn limits_call(&mut self, of: &Of, pause: Pause) -> bool {
        let part = self.scene.machine.view().part(of.call);
        let Some(part) = part.filter(|part| part.inside.is_none()) else {
            return false;
        };
        let bodies = &self.scene.values.inside(of.scope, of.slot()).bodies;
        let is_call = matches!(
            bodies[part.body as usize].0,
            Body::Action(_) | Body::Await(_)
        );
        is_call && matches!(pause, Pause::Timeout | Pause::Deadline)
    }

    /// Drops a call, a wait or a timer.
    pub(super) fn drop_call(&mut self, call: CallId) {
        self.late.retain(|(of, _)| of.call != call);
        if self.admission.is_some() {
            self.drop_wait_before(call);
        }
        self.drop_task(call);
        if call.is_plain() {
            let scope = self.scene.machine.view().scope_of_plain(call);
            let step = self.scene.values.place_of(scope, call.index());
            self.scene.watching().plain_dropped(call, scope);
            self.scene.values.release(scope, step);
        }
    }

    pub(super) fn drop_task(&mut self, call: CallId) {
        self.forget_due(call);
        let bytes = self.tasks.drop_call(call);
        self.scene.values.remove(bytes);
    }

    /// A task has ended that is no plain call, or has failed.
    #[cold]
    #[inline(never)]
    fn ended(&mut self, slot: usize, result: Option<StepResult>) {
        let (of, waited, ticket, bytes) = self.tasks.take(slot);
        self.scene.values.remove(bytes);
        let (result, ticket) = match result {
            Some(result) if self.is_recorded => match self.records(of, result, ticket) {
                Some((result, ticket)) => (Some(result), ticket),
                None => return,
            },
            result => (result, ticket),
        };
        if result.is_some() {
            self.tasks.call_ended(Some(&ticket));
        }
        if matches!(waited, Some(Waited::Fired(_))) && self.has_waited(of.call) {
            return;
        }
        match (result, waited) {
            (Some(result), _) => self.counted(of, result),
            (None, Some(Waited::Received(received))) => self.received(of, received),
            // The limit of an attempt whose work has ended is no limit.
            (None, _) if self.is_recorded && (self.records_limit(&of) || self.has_worked(&of)) => {}
            (None, Some(Waited::Fired(pause))) if self.limits_call(&of, pause) => {
                self.late.push_back((of, pause));
            }
            (None, Some(Waited::Fired(pause))) => self.fired(&of, pause),
            (None, None) => {}
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

impl Drop for Driver<'_> {
    /// Drops values of foreign types one by one, since their destructors may panic.
    fn drop(&mut self) {
        self.tasks.clear();
        self.scene.errors.clear();
        self.scene.stops.close();
        match (&self.scene.around, &self.scene.beside) {
            (Some(around), Some(beside)) => around.forget_inside(beside),
            // The call is over with its plan.
            (Some(around), None) => around.close(false),
            (None, _) => {}
        }
    }
}
