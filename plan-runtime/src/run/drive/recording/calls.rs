//! Records of calls.

use super::super::super::StepError;
use super::super::super::admission::Turn;
use super::super::super::catch::locked;
use super::super::super::clock::Clock;
use super::super::super::context::{CallContext, Question};
use super::super::super::durable::{self, Durable, Recorded};
use super::super::super::recorded::{self, held_back};
use super::super::super::request::Mode;
use super::super::super::start::{Request, Started, StepFuture, StepResult};
use super::super::super::storing::once;
use super::super::super::timer::{Timer, before};
use super::super::Values;
use super::super::scene::{Host, Scene, Starting};
use super::super::task::{Site, Ticket};
use super::super::tasks::Tasks;
use super::{EndNotes, Keys};
use crate::journal::JournalError;
use crate::machine::{CallId, Event, ScopeId};
use crate::plan::Body;
use crate::resolve::{StoredValue, resolve};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The calls of a run that are to be recorded.
pub(in super::super) struct CallRecords {
    durable: Arc<Durable>,
    /// The calls that are to be recorded.
    due: HashMap<CallId, DueCall>,
    /// The calls that are held back no longer, until the driver takes them.
    begun: Arc<Mutex<Vec<Site>>>,
    /// The calls of the plan itself that have ended, and whose records have not had their turns.
    ending: HashSet<CallId>,
}

/// A call that is to be recorded.
struct DueCall {
    key: String,
    started: Duration,
    /// `true` if Rust code makes a part of the call, so that a failure without a call is recorded as well.
    is_computed: bool,
    /// The time that the call has left, and the error after that time.
    limit: Option<(Duration, StepError)>,
    context: Option<CallContext>,
    /// `false` as long as a call of a live run is held back.
    has_begun: bool,
}

/// The turn that a throttled call still has to wait for, with the timer of the wait.
type NextTurn = (Turn, Arc<dyn Timer>);

impl CallRecords {
    pub(super) fn new(durable: Arc<Durable>) -> Self {
        Self {
            durable,
            due: HashMap::new(),
            begun: Arc::default(),
            ending: HashSet::new(),
        }
    }

    /// Returns `false` during a replay, when a call without a record may have begun in an earlier process.
    pub(in super::super) fn is_live(&self) -> bool {
        self.durable.is_live()
    }

    /// Returns `true` if the record of a call that has ended is still to have its turn.
    pub(super) fn is_ending(&self) -> bool {
        !self.ending.is_empty()
    }

    /// Returns the calls that are to be recorded.
    pub(in super::super) fn due(&self) -> Vec<CallId> {
        self.due.keys().copied().collect()
    }

    /// Returns the calls that are held back.
    pub(in super::super) fn unbegun(&self) -> impl Iterator<Item = CallId> {
        let held = self.due.iter().filter(|(_, due)| !due.has_begun);
        held.map(|(call, _)| *call)
    }

    /// Returns the calls that have begun since the last call of this method.
    pub(in super::super) fn take_begun(&mut self) -> Vec<Site> {
        let begun = std::mem::take(&mut *locked(&self.begun));
        for of in &begun {
            if let Some(due) = self.due.get_mut(&of.call) {
                due.has_begun = true;
            }
        }
        begun
    }

    /// Takes the end of a call from its record. Returns `false` if the driver has to make the call.
    #[cold]
    pub(in super::super) fn replays<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        question: Option<&Question>,
        it: &Starting<'x>,
        host: &mut dyn Host<'x>,
    ) -> Result<bool, StepError> {
        self.due.remove(&it.of.call);
        let is_computed = it.action.tool.is_none() || it.action.args.has_code();
        if it.action.tool.is_none() && !it.action.args.has_code() {
            return Ok(false);
        }
        let key = Keys(scene).of_attempt(&it.of);
        self.durable.history(|it| it.reach(&key));
        follow(scene, &it.of);
        let (number, recorded) = match recorded::found(&self.durable, &key) {
            Ok(Some(found)) => found,
            Ok(None) => return self.makes(scene, tasks, it, (key, is_computed)),
            // The run has ended.
            Err(()) => return Ok(true),
        };
        if let Some(why) = misfit(scene, it, &recorded, host) {
            self.durable.fail(misfits(scene, it, why));
            return Ok(true);
        }
        let Recorded {
            started,
            ended,
            result,
            undone,
        } = recorded;
        // The plans inside the call do not run again.
        scene.run.take_undone(undone);
        let started = scene.clock.in_here(started);
        scene.values.begin_time(&it.of, || started);
        let attempt = it.of.attempt();
        scene.values.held.charge(it.action, attempt == 1)?;
        let tool = it.action.tool.as_ref();
        let begun = scene.tell(|told| {
            told.begin_at(&it.of, (attempt, started), tool)?;
            told.watch.has_begun(it.of.spot());
            Ok(())
        });
        begun.unwrap_or(Ok(()))?;
        if question.is_some_and(|question| question.is_changed) {
            scene.tell(|told| told.watch.changed(it.of.spot()));
        }
        capture_again(scene, it, question.map(|question| &question.arguments));
        let room = scene.values.held.room().of_one();
        let result =
            result.and_then(|value| StoredValue::made(value, room).map_err(StepError::output));
        let replay = self.durable.replay(number, ended);
        let future: StepFuture<'x> = once(async move {
            replay.await;
            result
        });
        tasks.count_call();
        tasks.push_part(it.of, future, Ticket::none(), 0);
        self.end_later(scene, &it.of);
        Ok(true)
    }

    /// Prepares a call without a record. Returns `true` if its time has passed.
    fn makes<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        it: &Starting<'x>,
        (key, is_computed): (String, bool),
    ) -> Result<bool, StepError> {
        let has_begun = !self.durable.is_live() && self.durable.history(|it| it.has_begun(&key));
        // A new call starts at the current time, even during a replay. A call from before a crash keeps its recorded time.
        let now = if has_begun {
            scene.clock.now()
        } else {
            scene.clock.time()
        };
        scene.values.begin_time(&it.of, || now);
        let limit = scene.values.limit(&it.of, now);
        let is_late = limit.as_ref().is_some_and(|(left, _)| left.is_zero());
        let failed = it.of.part.and_then(|part| {
            let inside = scene.values.inside(&it.of);
            inside.failed.remove(&part.element)
        });
        let due = DueCall {
            key,
            started: now,
            is_computed,
            limit,
            context: None,
            // The call may have begun before a crash.
            has_begun: !self.durable.is_live(),
        };
        self.due.insert(it.of.call, due);
        // An attempt that would begin too late ends like the previous attempt.
        let Some(error) = failed.filter(|_| is_late) else {
            return Ok(false);
        };
        tasks.count_call();
        match self.records(scene, tasks, it.of, Err(error), Ticket::none()) {
            Some((Err(error), _)) => Err(error),
            _ => Ok(true),
        }
    }

    /// Holds a call back as long as the run replays, and limits its time.
    pub(in super::super) fn held_back<'x>(
        &mut self,
        clock: &Clock,
        of: &Site,
        (future, turn): (StepFuture<'x>, Option<NextTurn>),
        context: Option<&CallContext>,
    ) -> StepFuture<'x> {
        let durable = Arc::clone(&self.durable);
        let (of, begun) = (*of, Arc::clone(&self.begun));
        let limit = self.due.get_mut(&of.call).and_then(|due| {
            due.context = context.cloned();
            due.limit.take()
        });
        let future = match limit {
            None => future,
            Some((limit, error)) => {
                let limit = Some((clock.sleep_live(limit), error));
                once(async { before(future, limit).await.flatten() })
            }
        };
        once(held_back(durable, async move {
            let _turn = match turn {
                Some((turn, timer)) => Some(turn.come(timer).await),
                None => None,
            };
            locked(&begun).push(of);
            future.await
        }))
    }

    /// Handles a call that has ended without a future. Returns `true` if the end is to be recorded.
    pub(in super::super) fn ends_at_once(&mut self, call: CallId) -> bool {
        let is_computed = self.due.get(&call).is_some_and(|due| due.is_computed);
        if !is_computed {
            // After a crash, the call ends as before.
            self.due.remove(&call);
        }
        is_computed
    }

    /// Forgets that a call is to be recorded. Returns `false` if the call is still held back.
    pub(super) fn forget(&mut self, call: CallId) -> bool {
        self.ending.remove(&call);
        let due = self.due.remove(&call);
        due.is_none_or(|due| due.has_begun)
    }

    /// Keeps the error of an attempt of a step with a deadline, in case the next attempt would start too late.
    #[cold]
    pub(in super::super) fn keep_failure(values: &mut Values<'_>, of: &Site, error: &StepError) {
        if of.part.is_some() && values.policy(of).deadline.is_some() {
            let inside = values.inside(of);
            inside.failed.insert(of.element(), error.clone());
        }
    }

    /// Records the end of a call. The end counts when the record has its turn. Returns the end of a call without a record.
    pub(in super::super) fn records<'x>(
        &mut self,
        scene: &mut Scene<'x>,
        tasks: &mut Tasks<'x>,
        of: Site,
        result: StepResult,
        ticket: Ticket,
    ) -> Option<(StepResult, Ticket)> {
        // After a failure of the journal, the end of a call has no consequences, since they could not be recorded.
        if self.durable.failure().is_some() {
            return None;
        }
        let Some(due) = self.due.remove(&of.call) else {
            self.ending.remove(&of.call);
            return Some((result, ticket));
        };
        // The tool does not run the recorded plans again, so nothing would undo them.
        if result.is_err()
            && due.context.is_none()
            && self.durable.history(|it| it.has_plans(&due.key))
        {
            self.durable.fail(JournalError::Untaken { record: due.key });
            return None;
        }
        // An error that ends the run has no record, since the run would continue after a crash.
        let exceeds = |error: &StepError| error.exceeded().is_some();
        if result.as_ref().is_err_and(exceeds) {
            return Some((result, ticket));
        }
        let context = due.context.as_ref();
        let undone = context.map(CallContext::undone_inside).unwrap_or_default();
        let now = scene.clock.in_all(scene.clock.time());
        let times = (scene.clock.in_all(due.started), now);
        let body = match &result {
            Ok(output) => match output.as_json() {
                Ok(json) => {
                    if EndNotes::of(scene).is_some_and(|notes| notes.undo_call(&of)) {
                        scene.values.inside(&of).is_noted = true;
                    }
                    durable::encode_call(times, Ok(json), &undone)
                }
                // The step fails where the output is read.
                Err(_) => return Some((result, ticket)),
            },
            // The record has the error as the report shows it, so that the error does not change after a crash.
            Err(error) => {
                let error = scene.values.hushed(&of, error.clone());
                durable::encode_call(times, Err(&error), &undone)
            }
        };
        let write = recorded::write(&self.durable, due.key, body, now);
        let future: StepFuture<'x> = once(async move {
            write.await;
            result
        });
        tasks.push_part(of, future, ticket, 0);
        // A run that had ended writes no record, so nothing waits for the turn of a new record.
        if !self.durable.claimed.is_closed() {
            self.end_later(scene, &of);
        }
        None
    }

    /// Tells the machine that a call has ended and its record waits for its turn. A scope that is cut short then waits for that turn.
    fn end_later(&mut self, scene: &mut Scene<'_>, of: &Site) {
        if of.scope == ScopeId::ROOT {
            self.ending.insert(of.call);
        }
        scene.machine.handle(Event::Certain(of.call));
    }
}

/// The part of a call that fails after a restart.
const REPEATED: &str = "its arguments (an earlier process may have made the call)";

/// Returns the error of a call whose arguments fail after a restart. An earlier process may have made the call.
pub(in super::super) fn mark_repeated(error: StepError) -> StepError {
    match error {
        StepError::Arguments(error) => match Arc::try_unwrap(error) {
            Ok(error) => StepError::arguments(error.of_part(REPEATED)),
            Err(error) => StepError::Arguments(error),
        },
        StepError::Panic(message) => StepError::Panic(format!("{REPEATED}: {message}").into()),
        error => error,
    }
}

/// Tells the machine if the next attempt or round after this attempt has begun in an earlier process. The next one begins again, even if the policy has
/// changed since.
pub(in super::super) fn follow(scene: &mut Scene<'_>, of: &Site) {
    let Some(part) = of.part else {
        return;
    };
    let is_loop = matches!(scene.values.body(of).0, Body::Loop(_));
    let durable = scene.run.durable.as_ref();
    let Some(durable) = durable.filter(|it| !it.history(|it| it.is_empty())) else {
        return;
    };
    let (keys, element) = (Keys(scene), scene.element(of));
    let next = format!("{}@{}", keys.of_step(of, &element), of.attempt() + 1);
    let round = element.split_last().filter(|_| is_loop);
    let round = round.map(|(last, around)| [around, &[last + 1]].concat());
    let round = round.map(|round| format!("{}@1", keys.of_step(of, &round)));
    let followers = [Some(next), round].into_iter().flatten();
    if durable.history(|it| followers.into_iter().any(|key| it.has_attempt(&key))) {
        scene.machine.follow(part);
    }
}

/// Resolves the arguments of a recorded call for the report. A call whose arguments could not be resolved has failed for that reason.
fn capture_again(scene: &mut Scene<'_>, it: &Starting<'_>, shown: Option<&Value>) {
    let keeps = scene.watch.as_ref().map(|watch| watch.keeps);
    if it.action.tool.is_none() || !keeps.is_some_and(|keeps| keeps.arguments) {
        return;
    }
    let (arguments, _) = scene.evaluate(&it.of, None, |_, scope| match shown {
        Some(shown) => Ok(shown.clone()),
        None => resolve(&it.action.args, scope),
    });
    if let Ok(Ok(arguments)) = arguments {
        scene.tell(|watch| watch.arguments(&it.of, it.number, arguments));
    }
}

/// Returns the reason why a recorded output is not of the type that the action has now.
fn misfit<'x>(
    scene: &Scene<'x>,
    it: &Starting<'x>,
    recorded: &Recorded,
    host: &mut dyn Host<'x>,
) -> Option<String> {
    let value = recorded.result.as_ref().ok()?;
    let started = {
        let at = scene.values.scope(it.of.scope);
        let scope = scene.values.resolving(at, false, &[]);
        let request = Request {
            mode: Mode::Recorded(value),
            ..Request::new(&scope, it.action)
        };
        it.start(&scene.values, request, host)
    };
    match started {
        Started::Ended(Err(error)) => Some(match scene.values.hushed(&it.of, error) {
            StepError::Output(error) => error.to_string(),
            error => error.to_string(),
        }),
        _ => None,
    }
}

fn misfits(scene: &Scene<'_>, it: &Starting<'_>, why: String) -> JournalError {
    JournalError::Misfit {
        what: format!("the recorded output of step `{}`", scene.path_of(&it.of)),
        why,
    }
}
