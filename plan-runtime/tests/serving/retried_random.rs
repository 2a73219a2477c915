//! Random plans that fail, are cancelled and crash, and are retried: in the end, each output is one of calls that are not undone.

use crate::common::cases;
use crate::durable::random::{Maker, place_called, plan_text};
use crate::journal::asking::Asking;
use crate::serving::support::{Folder, Place, at};
use fastrand::Rng;
use plan_runtime::check::{CalledPlan, Request, Started, plan_of};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{Sqlite, SqliteOptions};
use plan_runtime::plan::{
    Action, Body, Branch, Condition, Executable, Reference, Role, Source, Step, Template,
};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{CallContext, OnFailure, Run};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol::future::yield_now;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

/// Has an effect.
#[derive(Serialize, Deserialize)]
struct Act {}

/// Undoes the effects that an output contains.
#[derive(Serialize, Deserialize)]
struct Undo {
    of: Value,
}

/// A plan.
#[derive(Serialize, Deserialize)]
struct Called {
    plan: usize,
}

/// Runs a plan inside its call.
#[derive(Serialize, Deserialize)]
struct Inside {
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
tool!(Undo, "undo");
tool!(Called, "called");
tool!(Inside, "inside");

struct World<'p> {
    plans: &'p [Executable<'p>],
    seed: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The life of the run: in another one, other calls fail.
    life: u64,
    /// The number of calls for each call that fails.
    fails: Option<u64>,
    calls: usize,
    /// The effects by idempotency key. A call with a known key has no effect.
    effects: BTreeMap<String, Effect>,
    /// The effects that each undo call has undone.
    undone: BTreeMap<String, BTreeSet<String>>,
    /// The errors that no service can repair.
    wrong: Vec<String>,
}

struct Effect {
    name: String,
    is_undone: bool,
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The names of the effects in an output.
fn effects_of(output: &Value, found: &mut BTreeSet<String>) {
    match output {
        Value::String(name) if name.starts_with("effect ") => {
            found.insert(name.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| effects_of(item, found)),
        Value::Object(members) => members.values().for_each(|it| effects_of(it, found)),
        _ => {}
    }
}

/// Returns the key of the call that was undone before this call, if the last part of the path was undone.
fn key_before(key: &str) -> Option<String> {
    let (before, times) = key.rsplit_once('~')?;
    let times: u32 = times.parse().ok()?;
    Some(match times - 1 {
        0 => before.to_owned(),
        times => format!("{before}~{times}"),
    })
}

/// Returns `true` if the call is part of an always step, which has a new key each time.
fn in_always(context: &CallContext) -> bool {
    context.step().starts_with('a') || context.outer().is_some_and(in_always)
}

impl World<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Takes some time, and fails if it is to fail.
    async fn take_time(&self, context: &CallContext) -> Result<()> {
        let (life, fails) = {
            let mut state = self.state();
            state.calls += 1;
            (state.life, state.fails)
        };
        let around = context.outer().map_or(1, CallContext::attempt);
        let call = (context.to_string(), context.attempt(), around);
        let hash = hash((self.seed, life, call));
        for _ in 0..hash % 4 {
            yield_now().await;
        }
        match fails {
            Some(fails) if (hash >> 8).is_multiple_of(fails) => {
                Err(if (hash >> 32).is_multiple_of(3) {
                    Error::permanent("gone")
                } else {
                    Error::msg("busy")
                })
            }
            _ => Ok(()),
        }
    }
}

impl<'p> Call<World<'p>> for Act {
    async fn call(self, _: &World<'p>) -> Result<Value> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World<'p>, context: CallContext) -> Result<Value> {
        world.take_time(&context).await?;
        let key = context.idempotency_key();
        let mut state = world.state();
        let number = state.effects.len();
        if !in_always(&context)
            && let Some(before) = key_before(&key)
            && !state.effects.contains_key(&key)
            && !state.effects.get(&before).is_none_or(|it| it.is_undone)
        {
            state.wrong.push(format!("`{key}` is done twice"));
        }
        let effect = state.effects.entry(key.clone()).or_insert_with(|| Effect {
            name: format!("effect {number} of {key}"),
            is_undone: false,
        });
        let (name, is_undone) = (effect.name.clone(), effect.is_undone);
        if is_undone {
            state.wrong.push(format!("`{key}` was undone"));
        }
        Ok(name.into())
    }
}

impl<'p> Call<World<'p>> for Undo {
    async fn call(self, _: &World<'p>) -> Result<Value> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World<'p>, context: CallContext) -> Result<Value> {
        world.take_time(&context).await?;
        let key = context.idempotency_key();
        let mut names = BTreeSet::new();
        effects_of(&self.of, &mut names);
        let mut state = world.state();
        if let Some(before) = state.undone.get(&key) {
            if *before != names {
                let wrong = format!("`{key}` has undone {before:?}, and not {names:?}");
                state.wrong.push(wrong);
            }
            return Ok(Value::Null);
        }
        for effect in state.effects.values_mut() {
            effect.is_undone |= names.contains(&effect.name);
        }
        state.undone.insert(key, names);
        Ok(Value::Null)
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
        Ok(plan_of::<Self, _>(run(&world.plans[self.plan], world)))
    }
}

impl<'p> Call<World<'p>> for Inside {
    async fn call(self, _: &World<'p>) -> Result<Value> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World<'p>, context: CallContext) -> Result<Value> {
        let output = run(&world.plans[self.plan], world).inside(&context).await;
        // The call may be dropped after the plan has failed.
        world.take_time(&context).await?;
        Ok(output?)
    }
}

fn run<'x, 'p>(plan: &'x Executable<'p>, world: &'x World<'p>) -> Run<'x, World<'p>, Value> {
    let find = |action: &Action| match &*action.tool.as_ref()?.name {
        "called" => Some(world.plans[place_called(action)?].clone()),
        _ => None,
    };
    let run = Run::new(plan, Ok(Vec::<StoredValue>::new()), world, start);
    run.find_plans(Box::new(find))
}

fn start<'x>(_: usize, request: Request<'_>, world: &'x World<'_>) -> Started<'x> {
    let tool = request.action().tool.as_ref();
    match tool.map(|tool| &*tool.name) {
        Some("act") => request.call::<Act, World<'_>>(world),
        Some("undo") => request.call::<Undo, World<'_>>(world),
        Some("called") => request.call::<Called, World<'_>>(world),
        Some("inside") => request.call::<Inside, World<'_>>(world),
        Some(_) => request.unknown(),
        None => request.compute::<Value>(None),
    }
}

/// Has each undo step undo the effects of its step, adds undo steps, and runs some of the called plans inside calls.
fn adapt(plan: &mut Plan, random: &mut Rng) {
    let ids: Vec<String> = plan.steps.iter().map(|step| step.id.clone()).collect();
    let mut undone = BTreeSet::new();
    for step in &mut plan.steps {
        if let Role::Undo(of) = step.role {
            undo(step, of, &ids[of], random);
            undone.insert(of);
        } else {
            adapt_body(&mut step.body, random);
        }
    }
    for (of, id) in ids.iter().enumerate() {
        let step = &plan.steps[of];
        let is_open = step.role == Role::Work && !undone.contains(&of);
        if is_open && can_be_undone(&step.body) && random.bool() {
            let mut step = Step::new(format!("u_{id}"), Action::value(Template::Null));
            step.role = Role::Undo(of);
            undo(&mut step, of, id, random);
            plan.steps.push(step);
        }
    }
}

fn can_be_undone(body: &Body) -> bool {
    match body {
        Body::Action(action) => action.tool.is_some(),
        Body::Block(block) => block
            .plan
            .steps
            .iter()
            .any(|step| step.role == Role::Work && can_be_undone(&step.body)),
        _ => false,
    }
}

fn undo(step: &mut Step, undone: usize, id: &str, random: &mut Rng) {
    let of = Reference::new(Source::Step(undone)).written(id);
    let of = Template::object([("of", Template::Reference(of))]);
    step.body = Action::call("undo", of).into();
    if random.u8(..3) == 0 {
        let holds = vec![Condition::Holds(Template::Bool(true))];
        let body = std::mem::replace(&mut step.body, Action::value(Template::Null).into());
        step.body = Body::If(vec![Branch::new(holds, body)]);
    }
    let mut policy = (*step.policy).clone();
    policy.at_most = None;
    step.policy = policy.into();
}

fn adapt_body(body: &mut Body, random: &mut Rng) {
    match body {
        Body::Action(action) => {
            let is_plan = action
                .tool
                .as_ref()
                .is_some_and(|tool| tool.name == "called");
            if is_plan && random.u8(..3) == 0 {
                *action = Action::call("inside", action.args.clone());
            }
        }
        Body::If(branches) => {
            let bodies = branches.iter_mut().map(|branch| &mut branch.body);
            bodies.for_each(|body| adapt_body(body, random));
        }
        Body::For(each) => adapt_body(&mut each.body, random),
        Body::Block(block) => adapt(&mut block.plan, random),
        Body::Loop(repeat) => adapt(&mut repeat.round.plan, random),
        _ => {}
    }
}

/// Drives one life of a run, which may crash and be cancelled.
async fn live<'x, 'p>(
    run: &impl Fn() -> Run<'x, World<'p>, Value>,
    world: &'x World<'p>,
    random: &mut Rng,
) -> std::result::Result<Value, String> {
    let fails = world.state().fails.is_some();
    let mut crashes = if fails { random.usize(..3) } else { 0 };
    let calls = world.state().calls;
    let most = calls + random.usize(1..12);
    let is_cancelled = fails && random.u8(..4) == 0;
    loop {
        let cancel = poll_fn(move |_| {
            if is_cancelled && world.state().calls >= most {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let whole = async { Some(run().cancel_on(cancel).await) };
        let polls = random.usize(1..40);
        let crash = async {
            for _ in 0..polls {
                yield_now().await;
            }
            match crashes {
                0 => std::future::pending().await,
                _ => None,
            }
        };
        match smol::future::or(whole, crash).await {
            Some(result) => return result.map_err(|error| error.to_string()),
            None => crashes -= 1,
        }
    }
}

fn check(
    plan: &Plan,
    plans: &[Executable<'_>],
    db: &Sqlite,
    seed: u64,
    random: &mut Rng,
) -> (u32, u32) {
    let executable = Executable::new(plan);
    assert_eq!(executable.mistake(), None);
    let world = |fails| World {
        plans,
        seed,
        state: Mutex::new(State {
            fails,
            ..State::default()
        }),
    };
    let good = world(None);
    let is_good = smol::block_on(run(&executable, &good)).is_ok();
    let world = Arc::new(world(Some([2, 4, 8][seed as usize % 3])));
    let toolbox = Toolbox::new()
        .with::<Act>()
        .with::<Undo>()
        .with::<Called>()
        .with::<Inside>();
    let id = format!("run-{seed}");
    let on_failure =
        [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel][seed as usize / 3 % 3];
    let concurrency = [1, 2, 64][seed as usize / 9 % 3];
    let run = || {
        let run = run(&executable, &world).on_failure(on_failure);
        run.concurrency(concurrency).durable(db, &*id)
    };
    let (mut others, mut retries) = (0, 0);
    let text = || format!("seed {seed}: {}", plan_text(&executable));
    let result = loop {
        let result = smol::block_on(live(&run, &world, random));
        let calls = world.state().calls;
        match (&result, smol::block_on(run())) {
            (Ok(output), again) => assert_eq!(again.unwrap(), *output),
            (Err(error), again) => {
                let again = again.unwrap_err();
                others += u32::from(again.to_string() != *error);
                let recorded = db.error_now(&id).unwrap().unwrap_or_default();
                assert_eq!(recorded, *error, "{}", text());
            }
        }
        let mut state = world.state();
        assert_eq!(state.calls, calls, "an ended run makes calls; {}", text());
        let (life, may_fail) = (state.life, state.fails.is_some());
        if result.is_ok() || !may_fail {
            break result;
        }
        state.life += 1;
        state.fails = state.fails.filter(|_| life < 2);
        drop(state);
        at(db, &toolbox, &world).retry_failed(&id).unwrap();
        retries += 1;
    };
    let state = world.state();
    assert_eq!(state.wrong, [""; 0], "{}", text());
    assert_eq!(result.is_ok(), is_good, "{result:?} {}", text());
    let mut claimed = BTreeSet::new();
    effects_of(&result.unwrap_or_default(), &mut claimed);
    let undone = state.effects.values().filter(|effect| effect.is_undone);
    let undone: Vec<&String> = undone
        .map(|effect| &effect.name)
        .filter(|name| claimed.contains(*name))
        .collect();
    assert!(undone.is_empty(), "{undone:?} {}", text());
    (others, retries)
}

/// A retried run ends when nothing fails any more, and its output contains no undone effect. No key is used for two effects, and a run that
/// ended makes no call.
#[test]
fn retried_runs_end_as_if_nothing_had_failed() {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let (mut others, mut retries) = (0, 0);
    for seed in 0..cases(200, 1_000) {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(4..=14);
        let mut maker = Maker::new(&mut random);
        let mut plan = maker.plan(size, 0);
        let mut plans = maker.into_plans();
        for plan in plans.iter_mut().chain([&mut plan]) {
            adapt(plan, &mut random);
        }
        let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
        let found = check(&plan, &plans, &db, seed, &mut random);
        others += found.0;
        retries += found.1;
    }
    println!("{retries} retries, {others} replays with another error");
    // The steps that a failure kept from starting depend on the permits of plans inside calls.
    assert!(
        retries > 10 && others * 100 <= retries,
        "{retries} {others}"
    );
}
