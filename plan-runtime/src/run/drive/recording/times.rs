//! Waits before attempts and rounds, and time limits. Messages from outside, and early ends of a run.

use super::super::super::durable::{Durable, GRACE, INTERRUPT, LATE, Stop};
use super::super::super::messages::Messages;
use super::super::super::signals::Signals;
use super::super::super::timer::TimerFuture;
use super::super::super::{StepError, recorded};
use super::super::scene::Scene;
use super::super::task::{Site, Wait};
use super::super::tasks::Tasks;
use super::Keys;
use crate::error::Interrupt;
use crate::machine::{Answer, CallId, Event, Part, Pause, Question, QuestionId, ScopeId};
use crate::resolve::Limit;
use std::collections::HashMap;
use std::future::{pending, ready};
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

/// The time limits, and the timers of rounds, of a run with a journal.
pub(in super::super) struct TimeRecords {
    durable: Arc<Durable>,
    /// The timers of attempts that are scopes, by slots and elements.
    timeouts: HashMap<(usize, u32), CallId>,
    /// Time limits that are not over, with their kinds and the keys of the records of their ends.
    limits: HashMap<CallId, (Pause, String)>,
    /// The timers of rounds, by slots, each with the start of its round.
    rounds: HashMap<usize, (CallId, Duration)>,
    /// Attempts that have opened scopes, and whose time limits have not started.
    opened: Vec<Site>,
}

impl TimeRecords {
    pub(super) fn new(durable: Arc<Durable>) -> Self {
        Self {
            durable,
            timeouts: HashMap::new(),
            limits: HashMap::new(),
            rounds: HashMap::new(),
            opened: Vec::new(),
        }
    }

    /// Forgets a time limit.
    pub(super) fn forget(&mut self, timer: CallId) {
        self.limits.remove(&timer);
    }

    /// Keeps a timer of the machine. The driver starts the timer when the attempt begins, or when the round has ended.
    pub(in super::super) fn keep_timer(&mut self, scene: &mut Scene<'_>, of: Site, pause: Pause) {
        let now = scene.clock.now();
        match pause {
            Pause::Every => {
                self.rounds.insert(of.slot(), (of.call, now));
            }
            Pause::Timeout => {
                let mut opened = self.opened.iter();
                if of.inside().is_some() || opened.any(|it| it.part == of.part) {
                    self.timeouts.insert((of.slot(), of.element()), of.call);
                }
            }
            Pause::Deadline | Pause::Backoff => {
                let limit = scene.values.policy(&of).deadline.unwrap_or_default();
                let until = now.saturating_add(limit);
                let at = scene.values.inside(&of).deadlines.entry(of.element());
                at.or_insert((of.call, until)).0 = of.call;
            }
        }
    }

    /// Starts the time limits of attempts that have opened scopes. The end of such a time limit has a record, because
    /// the actions in these scopes depend on it.
    #[cold]
    pub(in super::super) fn limit_opened<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
    ) {
        for of in std::mem::take(&mut self.opened) {
            self.limit_attempt(scene, tasks, of);
        }
    }

    fn limit_attempt<'x>(&mut self, scene: &mut Scene<'x>, tasks: &mut Tasks<'x>, of: Site) {
        let timed = scene.values.timed(&of);
        let limit = scene.values.limit(&of, scene.clock.now());
        let inside = scene.values.inside(&of);
        let deadline = inside.deadlines.get(&timed).copied();
        let timeout = self.timeouts.remove(&(of.slot(), of.element()));
        let (timer, limit, pause) = match (limit, timeout, deadline) {
            (Some((limit, StepError::Timeout(_))), Some(timer), _) => {
                (timer, limit, Pause::Timeout)
            }
            (Some((limit, _)), _, Some((timer, _))) => (timer, limit, Pause::Deadline),
            _ => return,
        };
        if timer == CallId::NONE {
            return;
        }
        self.drop_limit(tasks, timer);
        let key = Keys(scene).of_attempt(&of) + LATE;
        let wait = match recorded::found(&self.durable, &key) {
            Ok(None) => {
                self.limits.insert(timer, (pause, key));
                scene.clock.sleep(limit)
            }
            found => recorded::time(&self.durable, (key, found), || Box::pin(pending())),
        };
        let of = Site { call: timer, ..of };
        tasks.push_wait(of, Wait::Timer(wait, pause));
    }

    /// Records that the time of an attempt has passed. The time is over when the record has its turn. Returns `false` for other timers.
    pub(in super::super) fn records_limit(&mut self, tasks: &mut Tasks<'_>, of: &Site) -> bool {
        let Some((pause, key)) = self.limits.remove(&of.call) else {
            return false;
        };
        let sleep = || Box::pin(ready(())) as TimerFuture;
        let wait = recorded::time(&self.durable, (key, Ok(None)), sleep);
        tasks.push_wait(*of, Wait::Timer(wait, pause));
        true
    }

    /// Returns `true` if an attempt has begun in an earlier process, perhaps under another policy.
    pub(in super::super) fn has_begun(&self, scene: &Scene<'_>, of: &Site) -> bool {
        let key = Keys(scene).of_attempt(of);
        self.durable.history(|it| it.has_attempt(&key))
    }

    /// Returns the wait before an attempt.
    pub(in super::super) fn wait_before_attempt(
        &self,
        scene: &Scene<'_>,
        of: &Site,
        wait: Duration,
    ) -> TimerFuture {
        let key = Keys(scene).of_attempt(of);
        recorded::wait_before(&self.durable, &key, || scene.clock.sleep(wait))
    }

    /// Prepares the next round. Returns its timer, if the round has to wait.
    fn before_round(&mut self, scene: &mut Scene<'_>, of: &Site) -> Option<(CallId, Duration)> {
        let (timer, started) = self.rounds.remove(&of.slot())?;
        let every = scene.values.policy(of).every.unwrap_or_default();
        let now = scene.clock.now();
        let mut wait = started.saturating_add(every).saturating_sub(now);
        if let Some((_, until)) = scene.values.inside(of).deadlines.get(&Part::WHOLE) {
            wait = wait.min(until.saturating_sub(now));
        }
        if wait.is_zero() {
            scene.machine.handle(Event::Fired(timer));
            return None;
        }
        Some((timer, wait))
    }

    /// Handles the answer to a question.
    #[cold]
    pub(in super::super) fn answered<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        id: QuestionId,
        (question, of): (Question, Option<Site>),
        answer: Answer,
    ) {
        let mut next = None;
        match (question, answer, of) {
            (Question::Inputs(_), Answer::Made, Some(of)) => self.opened.push(of),
            (Question::Again(..), Answer::Number(rounds), Some(of)) => {
                self.unlimit(scene, tasks, &of);
                next = (rounds > 0)
                    .then(|| self.before_round(scene, &of))
                    .flatten();
            }
            _ => {}
        }
        scene.machine.handle(Event::Answered(id, answer));
        if let (Some((timer, wait)), Some(of)) = (next, of)
            && let Some(part) = scene.machine.view().part(timer)
        {
            let (call, part) = (timer, Some(part));
            let of = Site { call, part, ..of };
            let sleep = self.wait_before_attempt(scene, &of, wait);
            tasks.push_wait(of, Wait::Timer(sleep, Pause::Every));
        }
    }

    /// Drops the sleep of the deadline at the end of an attempt. The next attempt sleeps for the remaining time.
    pub(in super::super) fn unlimit(
        &mut self,
        scene: &mut Scene<'_>,
        tasks: &mut Tasks<'_>,
        of: &Site,
    ) {
        let timed = scene.values.timed(of);
        let inside = scene.values.inside(of);
        if let Some((timer, _)) = inside.deadlines.get(&timed).copied() {
            self.drop_limit(tasks, timer);
        }
    }

    /// Drops the sleep of a time limit. The record of its end is the record of one attempt.
    fn drop_limit(&mut self, tasks: &mut Tasks<'_>, timer: CallId) {
        tasks.drop_call(timer);
        self.limits.remove(&timer);
    }
}

/// The early ends of a run, *interrupts*. An interrupt has a record, and ends the run at the turn of the record.
pub(super) struct Interrupts {
    durable: Arc<Durable>,
    /// The interrupt that has occurred.
    coming: Option<Interrupt>,
    /// The interrupt whose record waits for its turn.
    recorded: Option<(TimerFuture, Interrupt)>,
    /// `true` from the turn of an interrupt's record until the grace period begins.
    is_pausing: bool,
    /// Holds back new calls from the write of an interrupt's record until the grace period begins.
    stop: Option<Stop>,
    messages: Option<Messages>,
    /// `true` after the last record of a run that had ended.
    is_exhausted: bool,
}

impl Interrupts {
    pub(super) fn new(durable: Arc<Durable>) -> Self {
        Self {
            durable,
            coming: None,
            recorded: None,
            is_pausing: false,
            stop: None,
            messages: None,
            is_exhausted: false,
        }
    }

    /// Stores an interrupt, unless the run already has an interrupt. The run ends at the turn of the interrupt's record.
    fn come(&mut self, interrupt: Interrupt) {
        self.coming.get_or_insert(interrupt);
    }

    /// Reads the recorded interrupt of the run, which waits for its turn.
    pub(super) fn replay(&mut self, scene: &Scene<'_>, key: &str) {
        let key = Keys(scene).prefix(ScopeId::ROOT) + key;
        self.recorded = recorded::interrupt(&self.durable, &key);
    }

    /// Polls the journal, and ends the run if the journal has failed or if a recorded interrupt has its turn. The grace
    /// period does not begin while a call `is_ending`.
    pub(super) fn look(&mut self, scene: &mut Scene<'_>, is_ending: bool, cx: &mut Context<'_>) {
        if scene.machine.is_over() {
            if scene.around.is_none() {
                self.durable.poll(cx);
            }
            return;
        }
        if scene.around.is_none() {
            self.durable.poll(cx);
            if self.durable.is_live() {
                self.receive(scene, cx);
                self.look_at_recorded(scene);
            }
        }
        scene.look_at_failure();
        self.look_at_end(scene);
        if !scene.stops.is_exceeded() {
            self.begin_grace(scene, is_ending);
            self.look_for_interrupts(scene, cx);
            self.record_interrupt(scene);
            self.take_interrupt(scene, is_ending, cx);
        }
    }

    /// Drops the calls without records, after the last record of a run that had ended with a failure.
    fn look_at_end(&mut self, scene: &mut Scene<'_>) {
        let is_outermost = scene.around.is_none();
        if !self.is_exhausted && is_outermost && self.durable.is_exhausted() {
            self.is_exhausted = true;
            scene.machine.handle(Event::Exhausted);
        }
    }

    /// Takes the messages that were sent to the run from outside.
    fn receive(&mut self, scene: &Scene<'_>, cx: &mut Context<'_>) {
        let inbox = scene.run.inbox.clone();
        let messages = self.messages.get_or_insert_with(|| {
            let signals = match inbox {
                Some(inbox) => {
                    let _ = self.durable.inbox.set(Arc::clone(&inbox));
                    Signals::new(inbox, None)
                }
                None => Signals::to_nobody(false),
            };
            Messages::new(&self.durable, signals)
        });
        // After a crash, the journal returns the message that ended the run again.
        if messages.poll(&self.durable, cx) && scene.stops.stopped.is_none() {
            self.come(Interrupt::Cancelled);
        }
    }

    /// Ends the run if its records exceed the limit. In the grace period, the limit is twice as large.
    fn look_at_recorded(&mut self, scene: &Scene<'_>) {
        let limit = scene.allowance.limits().recorded;
        let in_grace = scene.stops.stopped.is_some();
        let most = limit.saturating_mul(if in_grace { 2 } else { 1 });
        if self.durable.recorded() > most {
            let place = Limit::Recorded(limit).to_string().into();
            self.come(Interrupt::Recorded(place));
        }
    }

    /// Polls the cancellation, the deadline, and the end of the grace period.
    fn look_for_interrupts(&mut self, scene: &mut Scene<'_>, cx: &mut Context<'_>) {
        if self.coming.is_none() {
            // No new interrupt occurs before the end of the replay.
            self.coming = scene.stops.coming(cx, self.durable.is_live());
        }
    }

    /// Records the interrupt that has occurred. The run ends at the turn of this record, so all earlier records have their turns first.
    fn record_interrupt(&mut self, scene: &Scene<'_>) {
        if self.recorded.is_some() || self.stop.is_some() {
            return;
        }
        let Some(interrupt) = self.coming.clone() else {
            return;
        };
        let in_grace = scene.stops.stopped.is_some();
        let key = if in_grace { GRACE } else { INTERRUPT };
        let key = Keys(scene).prefix(ScopeId::ROOT) + key;
        let now = self.durable.time();
        let body = recorded::interrupt_body(&interrupt, now);
        let write = recorded::write(&self.durable, key, body, now);
        self.recorded = Some((write, interrupt));
        // The end of a plan inside a call holds no calls back, since the tool may stop polling that plan.
        self.stop = scene.beside.is_none().then(|| self.durable.stop());
    }

    /// Ends the run if the record of its interrupt has its turn.
    fn take_interrupt(&mut self, scene: &mut Scene<'_>, is_ending: bool, cx: &mut Context<'_>) {
        let Some((turn, _)) = &mut self.recorded else {
            return;
        };
        if turn.as_mut().poll(cx).is_pending() {
            return;
        }
        let Some((_, interrupt)) = self.recorded.take() else {
            return;
        };
        if scene.stops.stopped.is_some() {
            return scene.machine.handle(Event::GraceOver);
        }
        self.coming = None;
        self.is_pausing = true;
        let event = scene.stops.stop(interrupt);
        scene.machine.handle(event);
        self.begin_grace(scene, is_ending);
    }

    /// Begins the grace period, after the calls that have ended are counted.
    fn begin_grace(&mut self, scene: &mut Scene<'_>, is_ending: bool) {
        if !self.is_pausing || is_ending {
            return;
        }
        self.is_pausing = false;
        self.stop = None;
        scene.stops.begin_grace(&scene.clock);
        // A grace period of zero ends immediately, and does so after a crash as well.
        if scene.stops.grace.is_zero() {
            scene.stops.end = None;
            return scene.machine.handle(Event::GraceOver);
        }
        self.replay(scene, GRACE);
    }
}
