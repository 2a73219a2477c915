//! Random plans that are dropped at random polls: in the end, all is as if they had not been.
//!
//! A call ends when the run can do nothing else. The running call with the least hash ends first, so that a crash changes nothing.

mod settings;

use super::rough::Rough;
use super::support::Driven;
use crate::journal::asking::Asking;
use fastrand::Rng;
use plan_runtime::check::{CalledPlan, Request, Started, plan_of};
use plan_runtime::plan::{
    Action, Block, Body, Branch, Catch, Condition, Executable, For, Input, Loop, Number, Optional,
    Output, Policy, Reference, Role, Source, Step, Template,
};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{CallContext, Observer, OnFailure, Run, Status, StepRef};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, RunError, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// A tool that ends when the test ends it.
#[derive(Serialize, Deserialize)]
struct Act {}

/// A plan.
#[derive(Serialize, Deserialize)]
struct Called {
    plan: usize,
}

macro_rules! tool {
    ($tool:ident, $name:literal) => {
        impl Shape for $tool {
            const SHAPE: TypeShape = TypeShape::Opaque;
        }

        impl Tool for $tool {
            type Output = Value;
            const NAME: &'static str = $name;
        }
    };
}

tool!(Act, "act");
tool!(Called, "called");

pub(crate) struct World<'p> {
    plans: &'p [Executable<'p>],
    pub(crate) seed: u64,
    /// `true` if the path alone identifies a call, without the attempts of the steps around it.
    by_path: bool,
    /// The average number of calls for each failed one.
    fails: u64,
    state: Mutex<State>,
    undone: Mutex<Arc<Undone>>,
}

#[derive(Default)]
struct State {
    running: BTreeMap<String, (bool, Option<Waker>)>,
    started: Vec<String>,
    /// The number of calls so far.
    calls: usize,
    /// The idempotency key of each attempt.
    keys: BTreeMap<String, BTreeSet<String>>,
    /// The effect and the output of each key. A call with a known key has no effect.
    effects: BTreeMap<String, (String, Value)>,
    /// The effects that the answered calls should have had.
    due: BTreeSet<String>,
}

/// The counts of undone steps in this life of the run, by path. An observer counts them.
#[derive(Default)]
pub(crate) struct Undone(Mutex<BTreeMap<String, u32>>);

impl Observer for Undone {
    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        if let (Role::Undo(undone), Status::Completed) = (step.step().role, status) {
            let path = step.to_string();
            let undone = &step.plan().steps[undone].id;
            let (outer, _) = path.rsplit_once('.').unwrap_or_default();
            let mut counts = self.0.lock().unwrap();
            *counts.entry(format!("{outer}.{undone}")).or_default() += 1;
        }
    }
}

impl Undone {
    /// Returns the effect of a call: its path, and the count of the parts of the path that were undone. In an always step, the attempt of the scope around the step is a part of the effect.
    fn effect(&self, context: &CallContext) -> String {
        let counts = self.0.lock().unwrap();
        let (mut times, mut scope) = (0, String::new());
        let mut at = Some(context);
        while let Some(call) = at {
            let outer = call.outer().map(ToString::to_string).unwrap_or_default();
            // `u7_s3` undoes `s3`.
            let (_, undone) = call.step().split_once('_').unwrap_or(("", call.step()));
            let undone = counts.get(&format!("{outer}.{undone}"));
            times += undone.copied().unwrap_or_default();
            if call.step().starts_with('a') && scope.is_empty() {
                scope = format!(" in {}", call.outer().map(key).unwrap_or_default());
            }
            at = call.outer();
        }
        format!("{context} after {times}{scope}")
    }
}

/// The key of the record of a call.
pub(crate) fn key(context: &CallContext) -> String {
    let outer = context
        .outer()
        .map_or_else(String::new, |outer| key(outer) + ".");
    let element: String = context
        .element()
        .iter()
        .map(|at| format!("[{at}]"))
        .collect();
    format!("{outer}{}{element}@{}", context.step(), context.attempt())
}

pub(crate) fn hash(seed: u64, key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, key).hash(&mut hasher);
    hasher.finish()
}

struct RunningCall<'w>(&'w World<'w>, String);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().running.remove(&self.1);
    }
}

impl<'p> Call<World<'p>> for Act {
    async fn call(self, _: &World<'p>) -> Result<Value> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World<'p>, context: CallContext) -> Result<Value> {
        let key = if world.by_path {
            format!("{context}@{}", context.attempt())
        } else {
            key(&context)
        };
        {
            let mut state = world.state.lock().unwrap();
            state.started.push(key.clone());
            state.calls += 1;
            let before = state.running.insert(key.clone(), (false, None));
            assert!(before.is_none(), "{key} runs twice");
            let keys = state.keys.entry(key.clone()).or_default();
            keys.insert(context.idempotency_key());
        }
        let running = RunningCall(world, key);
        poll_fn(|cx| {
            let mut state = world.state.lock().unwrap();
            let slot = state.running.get_mut(&running.1).unwrap();
            slot.1 = Some(cx.waker().clone());
            if slot.0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        let outcome = world.outcome(&running.1, &context.idempotency_key());
        if outcome.is_ok() {
            let effect = world.undone.lock().unwrap().effect(&context);
            world.answered(&context.idempotency_key(), effect);
        }
        outcome
    }
}

/// Returns the index of the plan that an action calls.
pub(crate) fn place_called(action: &Action) -> Option<usize> {
    let Template::Object(members) = &action.args else {
        return None;
    };
    match members.first()?.value {
        Template::Number(Number::Unsigned(place)) => usize::try_from(place).ok(),
        _ => None,
    }
}

impl<'p> Call<World<'p>> for Called {
    async fn call(self, _: &World<'p>) -> Result<Value> {
        Err(Error::permanent("it is called as a tool"))
    }

    fn plan_on<'x>(self, world: &'x World<'p>) -> std::result::Result<CalledPlan<'x>, Self>
    where
        Self: 'x,
    {
        let inputs = Ok(Vec::<StoredValue>::new());
        let run = Run::<World<'p>, Value>::new(&world.plans[self.plan], inputs, world, start);
        Ok(plan_of::<Self, _>(run))
    }
}

fn start<'x>(_: usize, request: Request<'_>, world: &'x World<'_>) -> Started<'x> {
    let tool = request.action().tool.as_ref();
    match tool.map(|tool| &*tool.name) {
        Some("act") => request.call::<Act, World<'_>>(world),
        Some("called") => request.call::<Called, World<'_>>(world),
        Some(_) => request.unknown(),
        None => request.compute::<Value>(None),
    }
}

impl World<'_> {
    /// Returns the output of the call with this name. A known idempotency key has its first output.
    pub(crate) fn outcome(&self, call: &str, key: &str) -> Result<Value> {
        let before = self.state.lock().unwrap().effects.get(key).cloned();
        if let Some((_, before)) = before {
            return Ok(before);
        }
        let hash = hash(self.seed ^ 1, call);
        if hash.is_multiple_of(self.fails) {
            return Err(if hash.is_multiple_of(3) {
                Error::permanent("gone")
            } else {
                Error::msg("busy")
            });
        }
        let output = Value::from(hash % 100);
        let effect = (String::new(), output.clone());
        let mut state = self.state.lock().unwrap();
        state.effects.insert(key.to_owned(), effect);
        Ok(output)
    }

    /// Notes that a call with this key was answered, and should have this effect.
    fn answered(&self, key: &str, effect: String) {
        let mut state = self.state.lock().unwrap();
        state.due.insert(effect.clone());
        if let Some((had, _)) = state.effects.get_mut(key)
            && had.is_empty()
        {
            *had = effect;
        }
    }

    /// Returns the effects that the calls should have had, and the effects that they have had.
    fn effects(&self) -> (Vec<String>, Vec<String>) {
        let state = self.state.lock().unwrap();
        let had = state.effects.values().map(|(effect, _)| effect.clone());
        let mut had: Vec<String> = had.collect();
        had.sort();
        (state.due.iter().cloned().collect(), had)
    }

    /// Returns the observer of another life of the run, which counts from the beginning.
    pub(crate) fn observer(&self) -> Arc<Undone> {
        let undone = Arc::new(Undone::default());
        *self.undone.lock().unwrap() = Arc::clone(&undone);
        undone
    }

    /// Forgets all calls.
    pub(crate) fn forget(&self) {
        *self.state.lock().unwrap() = State::default();
    }

    /// The idempotency keys of the attempts.
    pub(crate) fn keys(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.state.lock().unwrap().keys.clone()
    }

    /// Returns the calls that run and are not about to end, by the keys of their records.
    pub(crate) fn running(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let open = state.running.iter().filter(|(_, (ends, _))| !ends);
        open.map(|(key, _)| key.clone()).collect()
    }

    /// Takes the calls that have started since the last call of this method, by the keys of their records.
    pub(crate) fn started(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().started)
    }

    /// Returns the number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.state.lock().unwrap().calls
    }

    /// Ends a call.
    pub(crate) fn end(&self, key: &str) {
        let waker = {
            let mut state = self.state.lock().unwrap();
            let slot = state.running.get_mut(key);
            let slot = slot.expect("it runs");
            slot.0 = true;
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ends the next call. Returns `true` if a call ran.
    fn end_one(&self) -> bool {
        let open = self.running();
        let next = open.iter().min_by_key(|key| hash(self.seed, key));
        next.is_some_and(|next| {
            self.end(next);
            true
        })
    }
}

fn template(source: Source, written: &str) -> Template {
    Template::Reference(Reference::new(source).written(written))
}

/// Makes random plans.
pub(crate) struct Maker<'r> {
    random: &'r mut Rng,
    plans: Vec<Plan>,
    depth: usize,
    number: usize,
}

impl<'r> Maker<'r> {
    pub(crate) fn new(random: &'r mut Rng) -> Self {
        Self {
            random,
            plans: Vec::new(),
            depth: 0,
            number: 0,
        }
    }

    /// The plans that are called.
    pub(crate) fn into_plans(self) -> Vec<Plan> {
        self.plans
    }

    pub(crate) fn plan(&mut self, mut left: usize, shift: usize) -> Plan {
        self.depth += 1;
        let mut plan = Plan::new("test");
        let mut works: Vec<usize> = Vec::new();
        let mut undone: BTreeSet<usize> = BTreeSet::new();
        let mut stage = 0;
        while left > 0 {
            let size = if self.random.bool() {
                1
            } else {
                self.random.usize(1..=left)
            };
            left -= size;
            if !works.is_empty() && stage < 2 && self.random.u8(..4) == 0 {
                stage += 1;
            }
            let open: Vec<usize> = works
                .iter()
                .copied()
                .filter(|place| {
                    let can = matches!(
                        plan.steps[*place - shift].body,
                        Body::Action(_) | Body::Block(_) | Body::If(_)
                    );
                    can && !undone.contains(place)
                })
                .collect();
            let role = match (stage, self.random.choice(open)) {
                (0, _) => Role::Work,
                (1, Some(place)) => {
                    undone.insert(place);
                    Role::Undo(place)
                }
                _ => {
                    stage = 2;
                    Role::Always
                }
            };
            self.number += 1;
            let id = match role {
                Role::Undo(undone) => format!("u{}_{}", self.number, plan.steps[undone - shift].id),
                Role::Always => format!("a{}", self.number),
                _ => format!("s{}", self.number),
            };
            let mut policy = Policy::DEFAULT.backoff(Duration::ZERO);
            // Attempts matter most in scopes.
            if self.random.u8(..4) == 0 || size > 2 && self.random.bool() {
                policy = policy.attempts(self.random.u32(2..=3));
            }
            let body = self.body(size);
            if role == Role::Work {
                match self.random.u8(..9) {
                    0 => policy.optional = Optional::Whole,
                    1 => policy.catch = Catch::Whole,
                    2 => policy.fallback = Some(Template::from("instead".to_owned())),
                    3 if matches!(body, Body::For(_)) => policy.optional = Optional::Each,
                    4 if matches!(body, Body::For(_)) => policy.catch = Catch::Each,
                    5 if matches!(body, Body::For(_)) => policy.concurrency = Some(1),
                    _ => {}
                }
            }
            if let Body::Loop(_) = body {
                policy.at_most = Some(3);
            }
            let mut step = Step::new(id, body);
            step.policy = policy.into();
            for (place, before) in plan.steps.iter().enumerate() {
                let may_be = before.role == role && !matches!(role, Role::Undo(_));
                if may_be && self.random.u8(..3) == 0 {
                    step.after.push(place + shift);
                }
            }
            step.role = role;
            let place = plan.steps.len() + shift;
            if role == Role::Work {
                works.push(place);
            }
            plan.steps.push(step);
        }
        let values = works
            .iter()
            .map(|place| template(Source::Step(*place), &plan.steps[*place - shift].id));
        let values: Vec<Template> = values.collect();
        plan.output = Output::new(values);
        self.depth -= 1;
        plan
    }

    fn body(&mut self, size: usize) -> Body {
        if size == 1 {
            return Action::call("act", Template::object::<&str>([])).into();
        }
        match self.random.u8(..6) {
            0 => {
                let holds = Condition::Holds(Template::Bool(self.random.u8(..4) > 0));
                Body::If(vec![Branch::new(vec![holds], self.element(size - 1))])
            }
            1 | 2 => {
                let items = vec![Template::Null; self.random.usize(0..4)];
                For::new("x", Template::from(items), self.element(size - 1)).into()
            }
            3 => {
                // As long as there was no round before.
                let mut round = self.plan(size - 1, 1);
                round.inputs = vec![Input::new("last", "Option<Value>")];
                let last = template(Source::Input(0), "last");
                let bound = Condition::Let {
                    pattern: "Some(_)".into(),
                    value: last,
                };
                let more = Body::If(vec![
                    Branch::new(
                        vec![bound],
                        Action::value(Template::Bool(self.random.u8(..5) == 0)),
                    ),
                    Branch::new(vec![], Action::value(Template::Bool(true))),
                ]);
                self.number += 1;
                let name = format!("more{}", self.number);
                round.steps.insert(0, Step::new(name.clone(), more));
                let inputs = Template::object([("last", Template::Null)]);
                let mut repeat =
                    Loop::new(Block::new(inputs, round), template(Source::Step(0), &name));
                repeat.last = true;
                repeat.into()
            }
            _ => self.element(size),
        }
    }

    fn element(&mut self, size: usize) -> Body {
        if size < 2 {
            return Action::call("act", Template::object::<&str>([])).into();
        }
        let inner = self.plan(size - 1, 0);
        if self.random.bool() {
            return Block::new(Template::object::<&str>([]), inner).into();
        }
        self.plans.push(inner);
        let place = (self.plans.len() - 1) as u64;
        Action::call("called", Template::object([("plan", place.into())])).into()
    }
}

#[derive(Debug, PartialEq)]
struct Came {
    result: Told,
    /// Each call that ended in a way that counted.
    effects: Vec<String>,
    /// The effects of the calls. Calls with the same key have one effect.
    done: Vec<String>,
}

pub(crate) fn told(result: std::result::Result<Value, RunError>) -> Told {
    result.map_err(|error| {
        let undone: Vec<&str> = error.undone().collect();
        let left: Vec<&str> = error.not_undone().collect();
        format!("{error} | {undone:?} | {left:?}")
    })
}

/// The output of a run, or its error with the undone steps.
pub(crate) type Told = std::result::Result<Value, String>;

pub(crate) struct Case<'p> {
    pub(crate) plan: &'p Executable<'p>,
    pub(crate) world: World<'p>,
    pub(crate) on_failure: OnFailure,
    pub(crate) concurrency: usize,
}

impl<'p> Case<'p> {
    /// Creates a plan whose calls are identified by their paths.
    pub(crate) fn of_paths(
        plan: &'p Executable<'p>,
        plans: &'p [Executable<'p>],
        seed: u64,
    ) -> Self {
        Self::known_by(true, plan, plans, seed)
    }

    /// Creates a plan whose calls are identified by the keys of their records.
    pub(crate) fn of_attempts(
        plan: &'p Executable<'p>,
        plans: &'p [Executable<'p>],
        seed: u64,
    ) -> Self {
        Self::known_by(false, plan, plans, seed)
    }

    fn known_by(
        by_path: bool,
        plan: &'p Executable<'p>,
        plans: &'p [Executable<'p>],
        seed: u64,
    ) -> Self {
        Self {
            plan,
            world: World {
                plans,
                seed,
                by_path,
                fails: [5, 20, 1000][seed as usize % 3],
                state: Mutex::default(),
                undone: Mutex::default(),
            },
            on_failure: POLICIES[seed as usize / 3 % 3],
            concurrency: [1, 2, 64][seed as usize / 9 % 3],
        }
    }

    /// A run that finds the plans it calls.
    pub(crate) fn begin(&self) -> Run<'_, World<'p>, Value> {
        let inputs = Ok(Vec::<StoredValue>::new());
        let find = |action: &Action| Some(self.world.plans[place_called(action)?].clone());
        Run::<World<'_>, Value>::new(self.plan, inputs, &self.world, start)
            .on_failure(self.on_failure)
            .concurrency(self.concurrency)
            .find_plans(Box::new(find))
    }

    /// A run that counts undone steps.
    fn observed(&self) -> Run<'_, World<'p>, Value> {
        self.begin().observe(self.world.observer())
    }

    /// Runs it in this process, without a journal.
    pub(crate) fn play_here(&self) -> Told {
        let mut run = Driven::new(self.observed().id("run"));
        loop {
            if let Poll::Ready(result) = run.settle() {
                let (due, had) = self.world.effects();
                assert_eq!(had, due, "{}", plan_text(self.plan));
                return told(result);
            }
            assert!(self.world.end_one(), "the run waits, and nothing wakes it");
        }
    }

    /// Runs it to its end; where it crashes, it begins again. After that number of polls, flushes and ends of calls each time.
    fn play(&self, journal: &Rough, crashes: &mut dyn FnMut() -> usize) -> (Told, usize) {
        let mut count = 0;
        loop {
            let recorded = journal.keys();
            let mut left = crashes();
            let mut run = Driven::new(self.observed().durable(journal, "run"));
            let ended = loop {
                if left == 0 {
                    break None;
                }
                left -= 1;
                if run.is_woken() {
                    if let Poll::Ready(result) = run.poll() {
                        break Some(result);
                    }
                } else if !journal.flush() && !self.world.end_one() {
                    panic!("the run waits, and nothing wakes it");
                }
            };
            // Crashes lose what is queued.
            drop(run);
            let started = self.world.started();
            for key in &started {
                assert!(
                    !recorded.contains(key),
                    "`{key}` is recorded, and was called again"
                );
            }
            match ended {
                Some(result) => return (told(result), count),
                None => {
                    count += 1;
                    journal.lose();
                }
            }
        }
    }

    fn came(&self, result: Told, journal: &Rough) -> Came {
        let effects = journal.keys().into_iter();
        // Notes of decisions may be there or not.
        let effects = effects.filter(|key| !key.contains(['!', '?']));
        let (due, done) = self.world.effects();
        assert_eq!(
            done,
            due,
            "seed {}: {}",
            self.world.seed,
            plan_text(self.plan)
        );
        Came {
            result,
            effects: effects.collect(),
            done,
        }
    }
}

pub(crate) fn cases() -> u64 {
    crate::common::cases(100, 300)
}

#[cfg(feature = "sqlite")]
fn most_steps() -> usize {
    14
}

const POLICIES: [OnFailure; 3] = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];

#[test]
fn random_plans_that_crash_come_to_the_same_end() {
    let (mut crashed, mut failed) = (0, 0);
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(4..=14);
        let mut maker = Maker::new(&mut random);
        let plan = maker.plan(size, 0);
        let plans = std::mem::take(&mut maker.plans);
        let called: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
        let plan = Executable::new(&plan);
        assert_eq!(plan.mistake(), None);
        let case = || Case {
            plan: &plan,
            world: World {
                plans: &called,
                seed,
                by_path: false,
                fails: [5, 20, 1000][seed as usize % 3],
                state: Mutex::default(),
                undone: Mutex::default(),
            },
            on_failure: POLICIES[seed as usize / 3 % 3],
            concurrency: [1, 2, 64][seed as usize / 9 % 3],
        };
        let whole = case();
        let journal = Rough::slow();
        let (result, _) = whole.play(&journal, &mut || usize::MAX);
        let expected = whole.came(result, &journal);
        failed += usize::from(expected.result.is_err());
        for _ in 0..4 {
            let broken = case();
            let journal = Rough::slow();
            let most = random.usize(2..60);
            let mut times = random.usize(1..=10);
            let (result, count) = broken.play(&journal, &mut || {
                if times == 0 {
                    return usize::MAX;
                }
                times -= 1;
                random.usize(..most)
            });
            crashed += count;
            let came = broken.came(result, &journal);
            assert_eq!(came, expected, "seed {seed}: {}", plan_text(&plan));
            // Each attempt has one key, before and after a crash.
            for (call, keys) in &broken.world.state.lock().unwrap().keys {
                assert_eq!(keys.len(), 1, "seed {seed}: {call} {keys:?}");
            }
            // Once more, it is only told.
            let (again, _) = broken.play(&journal, &mut || usize::MAX);
            assert_eq!(again, came.result, "seed {seed}");
        }
    }
    println!("{} plans, {crashed} crashes, {failed} failed", cases());
    assert!(failed as u64 > cases() / 20 && crashed as u64 > cases());
}

pub(crate) fn plan_text(plan: &Executable<'_>) -> String {
    let text = serde_json::to_string(plan.plan()).unwrap_or_default();
    text.chars().take(4000).collect()
}

#[cfg(feature = "sqlite")]
#[test]
fn random_plans_that_crash_with_a_file_come_to_the_same_end() {
    use plan_runtime::journal::Sqlite;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!(
        "random-{}-{:x}",
        std::process::id(),
        fastrand::u64(..)
    ));
    std::fs::create_dir_all(&folder).unwrap();
    let db = plan_runtime::journal::SqliteOptions::new()
        .normal()
        .open(folder.join("runs.db"));
    let db: Sqlite = db.unwrap();
    for seed in 0..cases() / 10 {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(4..=most_steps());
        let mut maker = Maker::new(&mut random);
        let plan = maker.plan(size, 0);
        let plans = std::mem::take(&mut maker.plans);
        let called: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
        let plan = Executable::new(&plan);
        let case = || Case {
            plan: &plan,
            world: World {
                plans: &called,
                seed,
                by_path: false,
                fails: 10,
                state: Mutex::default(),
                undone: Mutex::default(),
            },
            // The time of a write determines which call ends first, and so would determine the failures.
            on_failure: OnFailure::Continue,
            concurrency: 64,
        };
        let expected = {
            let (whole, journal) = (case(), Rough::slow());
            let (result, _) = whole.play(&journal, &mut || usize::MAX);
            result
        };
        let id = format!("run-{seed}");
        let broken = case();
        let mut times = random.usize(1..=10);
        let result = loop {
            let recorded: BTreeSet<String> = match db.records_now(&id) {
                Ok(records) => records.into_iter().map(|record| record.key).collect(),
                Err(_) => BTreeSet::new(),
            };
            let mut run = Driven::new(broken.observed().durable(&db, &id));
            let mut left = if times == 0 {
                usize::MAX
            } else {
                random.usize(..30)
            };
            times = times.saturating_sub(1);
            let mut idle = 0;
            let ended = loop {
                if left == 0 {
                    break None;
                }
                if run.is_woken() {
                    left -= 1;
                    idle = 0;
                    if let Poll::Ready(result) = run.poll() {
                        break Some(result);
                    }
                } else if idle < 20 {
                    // The thread that writes may be about to wake it.
                    idle += 1;
                    std::thread::sleep(Duration::from_micros(100));
                } else {
                    broken.world.end_one();
                    idle = 0;
                }
            };
            drop(run);
            let started = std::mem::take(&mut broken.world.state.lock().unwrap().started);
            for key in &started {
                assert!(
                    !recorded.contains(key),
                    "`{key}` is recorded, and was called again"
                );
            }
            if let Some(result) = ended {
                break told(result);
            }
        };
        let (due, had) = broken.world.effects();
        assert_eq!(had, due, "seed {seed}");
        assert_eq!(
            result.is_ok(),
            expected.is_ok(),
            "seed {seed}: {result:?} {expected:?}"
        );
        if !format!("{expected:?}").contains("Err") {
            assert_eq!(result, expected, "seed {seed}");
        }
    }
    drop(db);
    std::fs::remove_dir_all(folder).unwrap();
}
