//! Waits before attempts and rounds, and time limits.

use super::super::super::StepError;
use super::super::super::durable::{Durable, LATE};
use super::super::super::recorded;
use super::super::super::timer::TimerFuture;
use super::super::scene::Scene;
use super::super::task::{Of, Wait};
use super::super::tasks::Tasks;
use super::Keys;
use crate::machine::{Answer, CallId, Event, Part, Pause, Question, QuestionId, ScopeId};
use crate::plan::Body;
use std::collections::HashMap;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

/// The time limits, and the timers of rounds, of a run with a journal.
pub(in super::super) struct TimeRecords {
    durable: Arc<Durable>,
    /// The timers of attempts that are scopes, by slots and elements.
    timeouts: HashMap<(usize, u32), CallId>,
    /// Time limits that are not over, with the keys of the records of their ends.
    limits: HashMap<CallId, String>,
    /// The timers of rounds, by slots, each with the start of its round.
    rounds: HashMap<usize, (CallId, Duration)>,
    /// Attempts that have opened scopes, and whose time limits have not started.
    opened: Vec<(ScopeId, Part)>,
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
    pub(in super::super) fn keep_timer(
        &mut self,
        scene: &mut Scene<'_>,
        (timer, pause): (CallId, Pause),
        (scope, part): (ScopeId, Part),
    ) {
        let (slot, now) = (part.slot.index(), scene.clock.now());
        match pause {
            Pause::Every => {
                self.rounds.insert(slot, (timer, now));
            }
            Pause::Timeout => {
                let mut opened = self.opened.iter();
                if part.inside.is_some() || opened.any(|(_, it)| *it == part) {
                    self.timeouts.insert((slot, part.element), timer);
                }
            }
            Pause::Deadline | Pause::Backoff => {
                let policy = scene.values.policy(scope, slot);
                let limit = policy.deadline.unwrap_or_default();
                let inside = scene.values.inside(scope, slot);
                let until = now.saturating_add(limit);
                let at = inside.deadlines.entry(part.element);
                at.or_insert((timer, until)).0 = timer;
            }
        }
    }

    /// Starts the time limits of attempts that have opened scopes. What is done in these once their time is over depends on that, so the end of the time has a record.
    #[cold]
    pub(in super::super) fn limit_opened<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
    ) {
        for (scope, part) in std::mem::take(&mut self.opened) {
            self.limit_part(scene, tasks, (scope, part));
        }
    }

    fn limit_part<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        (scope, part): (ScopeId, Part),
    ) {
        let slot = part.slot.index();
        let timed = timed(scene, scope, &part);
        let now = scene.clock.now();
        let limit = scene.values.limit(scope, &part, timed, now);
        let inside = scene.values.inside(scope, slot);
        let deadline = inside.deadlines.get(&timed).copied();
        let timeout = self.timeouts.remove(&(slot, part.element));
        let (timer, limit) = match (limit, timeout, deadline) {
            (Some((limit, StepError::Timeout(_))), Some(timer), _)
            | (Some((limit, _)), _, Some((timer, _))) => (timer, limit),
            _ => return,
        };
        if timer == CallId::NONE {
            return;
        }
        tasks.drop_call(timer);
        let key = Keys(scene).of_part(scope, &part) + LATE;
        let wait = match self.durable.find(&key) {
            Ok(None) => {
                self.limits.insert(timer, key);
                scene.clock.sleep(limit)
            }
            found => recorded::time(&self.durable, (key, found), || Box::pin(pending())),
        };
        tasks.push_wait((timer, scope), part, Wait::Timer(wait, Pause::Timeout));
    }

    /// Records that the time of an attempt is over. The time is over when the record has its turn. Returns `false` for other timers.
    pub(in super::super) fn records_limit(&mut self, tasks: &mut Tasks<'_>, of: &Of) -> bool {
        let (Some(part), Some(key)) = (of.part, self.limits.remove(&of.call)) else {
            return false;
        };
        let sleep = || Box::pin(ready(())) as TimerFuture;
        let wait = recorded::time(&self.durable, (key, Ok(None)), sleep);
        tasks.push_wait((of.call, of.scope), part, Wait::Timer(wait, Pause::Timeout));
        true
    }

    /// The wait before an attempt.
    pub(in super::super) fn wait_before_attempt(
        &self,
        scene: &Scene<'_>,
        (scope, part): (ScopeId, &Part),
        wait: Duration,
    ) -> TimerFuture {
        let key = Keys(scene).of_part(scope, part);
        recorded::wait_before(&self.durable, &key, wait, || scene.clock.sleep(wait))
    }

    /// Another round follows the round of a part. Returns the timer and the part of the next round, if the next round has to wait.
    fn before_round<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        (scope, part): (ScopeId, Part),
    ) -> Option<(CallId, Duration)> {
        unlimit(scene, tasks, (scope, &part));
        let slot = part.slot.index();
        let (timer, started) = self.rounds.remove(&slot)?;
        let every = scene.values.policy(scope, slot).every.unwrap_or_default();
        let now = scene.clock.now();
        let mut wait = started.saturating_add(every).saturating_sub(now);
        if let Some((_, until)) = scene.values.inside(scope, slot).deadlines.get(&Part::WHOLE) {
            wait = wait.min(until.saturating_sub(now));
        }
        if wait.is_zero() {
            scene.machine.handle(Event::Fired(timer));
            return None;
        }
        Some((timer, wait))
    }

    /// A question has its answer.
    #[cold]
    pub(in super::super) fn answered<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        id: QuestionId,
        (question, part): (Question, Option<Part>),
        answer: Answer,
    ) {
        let mut wait = None;
        match (question, answer, part) {
            (Question::Inputs(_), Answer::Made, Some(part)) => {
                let scope = scene.scope_of(&part);
                self.opened.push((scope, part));
            }
            (Question::Again(..), Answer::Number(0), Some(part)) => {
                let scope = scene.scope_of(&part);
                unlimit(scene, tasks, (scope, &part));
            }
            (Question::Again(..), Answer::Number(_), Some(part)) => {
                let scope = scene.scope_of(&part);
                let next = self.before_round(scene, tasks, (scope, part));
                wait = next.map(|it| (it, scope));
            }
            _ => {}
        }
        scene.machine.handle(Event::Answered(id, answer));
        if let Some(((timer, wait), scope)) = wait
            && let Some(part) = scene.machine.view().part(timer)
        {
            let sleep = self.wait_before_attempt(scene, (scope, &part), wait);
            tasks.push_wait((timer, scope), part, Wait::Timer(sleep, Pause::Every));
        }
    }

    /// A call is a plan that the machine does not know.
    pub(in super::super) fn limit_plan(&mut self, of: &Of) {
        if let Some(part) = of.part {
            self.opened.push((of.scope, part));
        }
    }
}

/// The element whose time limit is the limit of a part: all rounds of a loop share one.
pub(in super::super) fn timed(scene: &mut Scene<'_>, scope: ScopeId, part: &Part) -> u32 {
    let inside = scene.values.inside(scope, part.slot.index());
    match inside.bodies[part.body as usize].0 {
        Body::Loop(_) => Part::WHOLE,
        _ => part.element,
    }
}

/// An attempt has ended: its time limit is that of the next attempt.
pub(in super::super) fn unlimit<'x>(
    scene: &mut Scene<'x>,
    tasks: &mut Tasks<'x>,
    (scope, part): (ScopeId, &Part),
) {
    let timed = timed(scene, scope, part);
    let inside = scene.values.inside(scope, part.slot.index());
    if let Some((timer, _)) = inside.deadlines.get(&timed).copied() {
        tasks.drop_call(timer);
    }
}
