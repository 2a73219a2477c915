//! Waits before attempts and rounds, and time limits.

use super::super::super::StepError;
use super::super::super::durable::{Durable, LATE};
use super::super::super::recorded;
use super::super::super::timer::TimerFuture;
use super::super::scene::Scene;
use super::super::task::{Site, Wait};
use super::super::tasks::Tasks;
use super::Keys;
use crate::machine::{Answer, CallId, Event, Part, Pause, Question, QuestionId};
use std::collections::HashMap;
use std::future::{pending, ready};
use std::sync::Arc;
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
