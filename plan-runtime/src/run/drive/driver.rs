//! The driver of a run, which executes the commands of the machine, and passes events to the machine.

use super::super::context::{Blocked, CallContext};
use super::super::nesting::{Turn, may_start};
use super::super::shared::SharedRun;
use super::super::signals::Receiver;
use super::admission::Admission;
use super::answers::Answering;
use super::calls::Calls;
use super::recording::{EndNotes, Records};
use super::scene::{Host, Scene};
use super::sharing::Sharing;
use super::tasks::Tasks;
use crate::error::Interrupt;
use crate::machine::{Command, Event, ScopeId};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// The driver of a run in memory, in a journal or on an engine.
pub(in crate::run) struct Driver<'x> {
    pub(super) calls: Calls<'x>,
    /// `true` if an engine makes the calls of the run.
    is_elsewhere: bool,
    /// `true` if a step has started.
    pub(super) has_begun: bool,
    is_done: bool,
    /// Detects a tool that blocks on the plan inside its call.
    blocked: Blocked,
    /// The receiver whose drop ends the signals to the run.
    _signals: OnceLock<Receiver>,
    turn: Turn,
    /// The command that waits for the decisions of an engine.
    held: Option<Command>,
}

/// Returns the seed of a run. A run with a journal has the same seed after a crash.
fn seed(run: &SharedRun, around: Option<&CallContext>) -> Option<u64> {
    let durable = run.durable.as_ref();
    let seed = run.seed.or(durable.map(|durable| durable.seed()));
    seed.map(|seed| seed ^ around.map_or(0, CallContext::hash))
}

impl<'x> Driver<'x> {
    pub(super) fn new(
        mut scene: Scene<'x>,
        admission: Option<Box<Admission<'x>>>,
        signals: OnceLock<Receiver>,
    ) -> Self {
        scene.tell(|it| it.open(ScopeId::ROOT));
        let is_watched = scene.watch.is_some();
        let (run, around) = (&scene.run, scene.around.as_ref());
        let records = run.durable.as_ref().map(|durable| {
            let mut records = Box::new(Records::new(durable));
            records.begin(&scene);
            records
        });
        let sharing = around.map(|_| Box::new(Sharing::new(Arc::clone(run), 0)));
        let seed = seed(run, around);
        let root = scene.values.scope(ScopeId::ROOT);
        // The list of tasks of a run with a large bound grows later.
        let at_once = run.concurrency.min(root.plan.steps.len()).min(64);
        let mut tasks = Tasks::new(sharing, at_once);
        // With a journal, a call may be held back after its first poll.
        tasks.begun = (is_watched && records.is_none()).then(Vec::new);
        let tools = root.graph.called(root.plan);
        let tools = tools
            .are_told_apart(root.hands_over)
            .then(|| Arc::clone(tools));
        Self {
            is_elsewhere: run.engine.is_some(),
            calls: Calls {
                scene,
                tasks,
                admission,
                records,
                random: seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed),
                late: VecDeque::new(),
                tools,
            },
            has_begun: false,
            is_done: false,
            blocked: Blocked::default(),
            _signals: signals,
            turn: Turn::default(),
            held: None,
        }
    }

    /// Ends the run at once.
    pub(in crate::run) fn interrupt(&mut self, interrupt: Interrupt) {
        self.calls.scene.interrupt(interrupt);
    }

    /// Executes the commands of the machine. Is ready at the end of the run.
    pub(super) fn poll_commands(
        &mut self,
        cx: &mut Context<'_>,
        host: &mut dyn Host<'x>,
    ) -> Poll<()> {
        self.turn.polled();
        // The line for permits has the call around the plan, and no call of the plan.
        if self.is_done {
            return self.poll_permit(cx);
        }
        if let Some(command) = self.held.take()
            && !self.calls.scene.machine.is_over()
        {
            if self.must_wait(command, cx) {
                return Poll::Pending;
            }
            self.execute(command, host);
        }
        if let Some(watch) = &mut self.calls.scene.watch {
            watch.listeners.look();
        }
        if self.calls.scene.around.is_some() {
            self.calls.scene.look_at_call(cx);
        }
        self.calls.pass_limit();
        self.calls.scene.stops.polled();
        loop {
            self.look_for_ends(cx);
            while let Some(command) = self.next_command(cx) {
                if self.is_elsewhere && self.must_wait(command, cx) {
                    return Poll::Pending;
                }
                match command {
                    Command::Start(call, place) => {
                        self.has_begun = true;
                        self.calls.start(call, place, host);
                    }
                    command => self.execute(command, host),
                }
                if !may_start() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            if self.look_at_records() {
                continue;
            }
            if self.is_done {
                return self.poll_permit(cx);
            }
            let mut result = None;
            let polled = self.calls.tasks.poll_next(cx, &mut result);
            self.calls.look_at_begun();
            let is_recorded = self.calls.records.is_some();
            let Poll::Ready(slot) = polled else {
                let goes_on = is_recorded && self.goes_on();
                if self.calls.pass_limit() || goes_on || self.ends_grace(cx) {
                    continue;
                }
                return Poll::Pending;
            };
            // A plan in the call may have exceeded a limit, which ends the run before the call fails.
            if self.calls.scene.values.held.is_shared() {
                self.calls.scene.look_at_limits(cx);
            }
            if is_recorded {
                self.blocked.goes_on();
            }
            let plain = match result {
                Some(Ok(_)) if !is_recorded => self.calls.tasks.take_plain(slot),
                _ => None,
            };
            let Some((call, scope, bytes)) = plain else {
                self.calls.ended(slot, result);
                continue;
            };
            self.calls.scene.values.held.remove(bytes);
            self.calls.tasks.call_ended(None);
            if let Some(Ok(output)) = result {
                self.calls.plain_called((call, scope), output);
            }
        }
    }

    /// Starts the time limits of opened attempts that are recorded. Returns `true` if the journal has failed now.
    #[inline]
    fn look_at_records(&mut self) -> bool {
        let Calls {
            records,
            scene,
            tasks,
            ..
        } = &mut self.calls;
        records.as_mut().is_some_and(|records| {
            records.times.limit_opened(scene, tasks);
            scene.look_at_failure()
        })
    }

    /// Waits at the end of the run for a permit of the call around it, if a tool runs the plan inside its call.
    fn poll_permit(&mut self, cx: &Context<'_>) -> Poll<()> {
        let Calls { scene, tasks, .. } = &mut self.calls;
        if let (Some(around), Some(sharing), None) =
            (&scene.around, &mut tasks.sharing, &scene.stops.stopped)
            && !around.counts_again(&mut sharing.applicant, cx.waker())
        {
            return Poll::Pending;
        }
        tasks.sharing = None;
        Poll::Ready(())
    }

    /// Ends the run early, if a cause has occurred.
    #[inline]
    fn look_for_ends(&mut self, cx: &mut Context<'_>) {
        while self.calls.records.is_none()
            && let Some(event) = self.calls.scene.stops.poll(cx, &self.calls.scene.clock)
        {
            self.calls.scene.machine.handle(event);
        }
        if self.calls.scene.values.held.is_shared() {
            self.calls.scene.look_at_limits(cx);
        }
        if let Some(records) = &mut self.calls.records {
            records.look(&mut self.calls.scene, cx);
        }
    }

    #[inline(always)]
    fn next_command(&mut self, cx: &Context<'_>) -> Option<Command> {
        if let Some(sharing) = &mut self.calls.tasks.sharing {
            return sharing.next(&mut self.calls.scene, cx.waker());
        }
        self.calls.scene.machine.next(true)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn execute(&mut self, command: Command, host: &mut dyn Host<'x>) {
        self.calls.scene.tell(|it| it.see(&command));
        self.has_begun |= matches!(
            command,
            Command::Start(..) | Command::Evaluate(..) | Command::Await(..) | Command::Admit(..)
        );
        let (scene, tasks) = (&mut self.calls.scene, &mut self.calls.tasks);
        if let Some(records) = &mut self.calls.records
            && !matches!(command, Command::Sleep(..))
        {
            records.times.limit_opened(scene, tasks);
        }
        match command {
            Command::Start(call, place) => self.calls.start(call, place, host),
            Command::Unwinding(scope) => {
                if let Some(notes) = EndNotes::of(scene) {
                    notes.failed(scope);
                }
            }
            Command::Admit(call, place) => self.calls.admit(call, place, host),
            Command::Free(scope) => {
                scene.tell(|it| it.watch.close(scope));
                scene.values.close(scope);
            }
            Command::Await(call, place) => self.calls.wait(call, place),
            Command::Evaluate(id, question) => {
                let of = scene.asked(id);
                let Some(answer) = Answering(scene).answer(id, question, host) else {
                    return;
                };
                match &mut self.calls.records {
                    None => scene.machine.handle(Event::Answered(id, answer)),
                    Some(records) => {
                        let (times, asked) = (&mut records.times, (question, of));
                        times.answered(scene, tasks, id, asked, answer);
                    }
                }
            }
            Command::Sleep(timer, pause, place) => self.calls.sleep(timer, pause, place),
            Command::Drop(call) => self.calls.drop_call(call),
            Command::Settled(scope, slot, status) => {
                scene.settled(scope, slot.index(), status);
                if let Some(admission) = &mut self.calls.admission {
                    admission.settled(slot.index());
                }
            }
            Command::Over(scope) => {
                scene.tell(|it| it.over(scope));
            }
            Command::Done => {
                self.calls.end_unbegun();
                self.calls.scene.tell(|it| it.done());
                self.is_done = true;
            }
        }
    }

    /// Ends the run at the end of the grace period. The grace period may have begun while the run computed a value.
    fn ends_grace(&mut self, cx: &Context<'_>) -> bool {
        if self.calls.records.is_some() {
            return false;
        }
        let event = self.calls.scene.stops.end_grace(cx);
        event
            .inspect(|event| self.calls.scene.machine.handle(*event))
            .is_some()
    }

    /// Returns `true` if a command has to wait until the engine has the decisions of Rust code in the plan.
    #[cold]
    fn must_wait(&mut self, command: Command, cx: &mut Context<'_>) -> bool {
        let scene = &mut self.calls.scene;
        let decides = Answering(scene).decides(&command);
        let engine = scene.run.engine.as_ref().filter(|_| decides);
        let must_wait = engine.is_some_and(|engine| engine.poll_decisions(cx).is_pending());
        self.held = must_wait.then_some(command);
        must_wait
    }

    /// Returns `true` if a tool blocks on the plan, which can therefore never continue. The plan then ends.
    #[cold]
    pub(super) fn waits_in_vain(&mut self, cx: &Context<'_>) -> bool {
        let scene = &self.calls.scene;
        let (Some(call), Some(_)) = (&scene.around, &self.calls.records) else {
            return false;
        };
        let why = self.blocked.waits(call, cx.waker());
        why.inspect(|why| self.interrupt(Interrupt::Outside(why)))
            .is_some()
    }

    /// Returns `true` if the outermost plan continues by itself: the next record has its turn, or the run becomes live.
    #[cold]
    fn goes_on(&mut self) -> bool {
        let sharing = self.calls.tasks.sharing.as_ref();
        if sharing.is_some_and(|sharing| sharing.applicant.has_come()) {
            return true;
        }
        let scene = &mut self.calls.scene;
        let durable = scene.run.durable.clone();
        let durable = durable.filter(|_| scene.around.is_none() && !self.calls.tasks.is_late());
        let extra = scene.machine.extra();
        let goes_on = durable.is_some_and(|it| it.go_on(|untaken| scene.reach(untaken)));
        // Only recorded calls start beyond the bounds, and the calls before them.
        if scene.machine.extra() == extra {
            scene.loosen(0);
        }
        goes_on
    }
}

impl Drop for Driver<'_> {
    /// Drops values of foreign types one by one, since their destructors may panic.
    fn drop(&mut self) {
        self.calls.end_unbegun();
        self.calls.tasks.clear();
        self.calls.scene.errors.clear();
        self.calls.scene.stops.close();
        if let (Some(around), Some(beside)) = (&self.calls.scene.around, &self.calls.scene.beside) {
            around.leave_inside(beside);
        }
    }
}
