//! Plans that calls run, within the bound and the limits of the run around them.

use super::stage::{Act, End, Stage, each, ending, list, ms, plan, step, string};
use super::support::Driven;
use crate::golden;
use fastrand::Rng;
use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{Action, Await, Body, Optional, Policy, Template};
use plan_runtime::resolve::StoredValue;
use plan_runtime::run::{CallContext, Limits, OnFailure, Run, RunErrorKind, Throttle, Timer};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

/// An application whose tools run plans.
#[derive(Default)]
struct Office {
    stage: Stage,
    plans: Vec<Plan>,
    /// The keys of the calls of the tool that runs plans.
    keys: Mutex<Vec<String>>,
}

/// Runs a plan inside its call.
#[derive(Serialize, Deserialize)]
struct Nest {
    plan: usize,
}

impl Shape for Nest {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Nest {
    type Output = Value;
    const NAME: &'static str = "nest";
}

impl Call<Office> for Nest {
    async fn call(self, _: &Office) -> Result<Value> {
        unreachable!("the call has a context")
    }

    async fn call_in(self, office: &Office, context: CallContext) -> Result<Value> {
        let key = context.idempotency_key();
        let at = office.stage.timer.elapsed().as_millis();
        office.keys.lock().unwrap().push(format!("{key}@{at}"));
        office.stage.timer.sleep(ms(3)).await;
        let result = office.run(self.plan).inside(&context).await;
        office.stage.timer.sleep(ms(3)).await;
        Ok(result?)
    }
}

impl Call<Office> for Act {
    const USES_CONTEXT: bool = false;

    async fn call(self, office: &Office) -> Result<Value> {
        Call::<Stage>::call(self, &office.stage).await
    }
}

fn start<'x>(_: usize, request: Request<'_>, office: &'x Office) -> Started<'x> {
    match request.action().tool.as_ref().map(|tool| &*tool.name) {
        Some("nest") => request.call::<Nest, Office>(office),
        Some(_) => request.call::<Act, Office>(office),
        None => request.compute::<Value>(None),
    }
}

impl Office {
    fn run(&self, number: usize) -> Run<'_, Self, Value> {
        let inputs = Ok(Vec::<StoredValue>::new());
        Run::new(&self.plans[number], inputs, self, start).timer(self.stage.timer.clone())
    }

    /// Plays a run of the last plan.
    fn play(&self, set: impl FnOnce(Run<'_, Self, Value>) -> Run<'_, Self, Value>) -> Played {
        let run = set(self.run(self.plans.len() - 1)).id("run");
        let result = self.stage.play(run);
        let mut keys = self.keys.lock().unwrap().clone();
        keys.sort();
        Played {
            calls: self.stage.calls().0,
            keys,
            most: self.stage.most(),
            ending: ending(&result),
        }
    }
}

#[derive(Debug)]
struct Played {
    calls: Vec<String>,
    keys: Vec<String>,
    most: usize,
    ending: String,
}

fn act(key: &str) -> Body {
    Action::call("act", Template::object([("key", string(key))])).into()
}

fn nest(plan: usize) -> Body {
    let plan = Template::object([("plan", (plan as u64).into())]);
    Action::call("nest", plan).into()
}

/// Plans, each of which may run those before it.
fn plans(random: &mut Rng) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for number in 0..3_usize {
        let mut steps = Vec::new();
        for place in 0..random.usize(1..5) {
            let key = format!("p{number}.{place}");
            let body = match number.checked_sub(1) {
                Some(last) if random.bool() => nest(random.usize(..=last)),
                _ => act(&key),
            };
            let body = match random.u8(..4) {
                0 => each(list(vec![string("x"); random.usize(1..4)]), body),
                _ => body,
            };
            let after: Vec<usize> = (0..place).filter(|_| random.u8(..4) == 0).collect();
            let mut it = step(&key, body, &after);
            if random.u8(..4) == 0 {
                it.policy = Policy::DEFAULT.attempts(2).jitter(false).into();
            }
            steps.push(it);
        }
        let mut made = plan(steps);
        made.name = format!("plan{number}");
        plans.push(made);
    }
    plans
}

fn office(seed: u64) -> Office {
    let mut random = Rng::with_seed(seed);
    let plans = plans(&mut random);
    let mut stage = Stage::default();
    for number in 0..3 {
        for place in 0..5 {
            let takes: Vec<_> = (0..6)
                .map(|_| {
                    let end = match random.u8(..14) {
                        0 => End::Permanent,
                        1 => End::Transient,
                        _ => End::Ok,
                    };
                    (Duration::from_micros(random.u64(5_000..40_000)), end)
                })
                .collect();
            stage.script(format!("p{number}.{place}"), takes);
        }
    }
    Office {
        stage,
        plans,
        keys: Mutex::default(),
    }
}

#[test]
fn random_plans_inside_calls_share_the_bound_and_the_limits() {
    let cases = crate::common::amount::<u64>(200, 1_500);
    let (mut calls, mut full, mut outcomes) = (0, 0, Vec::new());
    for seed in 0..cases {
        let mut random = Rng::with_seed(seed ^ 0xabcd);
        let bound = random.usize(1..5);
        let on_failure = *random
            .choice(&[OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel])
            .unwrap();
        let limits = match random.u8(..6) {
            0 => Limits::DEFAULT.calls(random.usize(..12)),
            1 => Limits::DEFAULT.depth(random.usize(..2)),
            _ => Limits::DEFAULT,
        };
        let deadline = ms(if random.u8(..5) == 0 {
            random.u64(10..200)
        } else {
            100_000
        });
        let played = office(seed).play(|run| {
            let run = run.concurrency(bound).on_failure(on_failure);
            run.limits(limits).deadline(deadline)
        });
        assert!(played.most <= bound, "{seed}");
        // Only another attempt has the key of a call.
        let mut keys = played.keys.windows(2);
        assert!(keys.all(|keys| keys[0] != keys[1]), "{seed}");
        full += usize::from(played.most == bound);
        calls += played.calls.len();
        outcomes.push(format!("{played:#?}"));
    }
    println!("{calls} calls, {full} runs at the bound");
    assert!(calls as u64 > cases && full as u64 > cases / 2);
    golden::check("inside", &outcomes);
}

/// A throttle with a rule.
fn throttle(rule: usize) -> Throttle {
    match rule {
        0 => Throttle::new().concurrency("act", 1),
        1 => Throttle::new().concurrency("nest", 1),
        2 => Throttle::new().concurrency("*", 2),
        _ => Throttle::new().rate("act", 1, ms(7)),
    }
}

/// All plans of three steps that are calls or run plans, with all pairs of rules. Two runs name the throttles in different orders.
#[test]
fn no_call_keeps_what_another_call_waits_for() {
    let (mut calls, mut bunched) = (0, Vec::new());
    for number in 0..8 * 2 * 2 * 16 * 2 {
        let (nests, inner, bound) = (number % 8, number / 8 % 2 + 1, number / 16 % 2 + 1);
        let rules = [number / 32 % 4, number / 128 % 4];
        let has_two = number / 512 == 1;
        let inner = (0..inner).map(|place| step(&format!("i{place}"), act("in"), &[]));
        let steps = (0..3).map(|place| {
            let does_nest = nests >> place & 1 == 1;
            let body = if does_nest { nest(0) } else { act("out") };
            step(&format!("s{place}"), body, &[])
        });
        let office = Office {
            plans: vec![plan(inner.collect()), plan(steps.collect())],
            stage: Stage::default().with("in", &[(4, End::Ok); 12]),
            ..Office::default()
        };
        let [first, second] = rules.map(throttle);
        let run = |throttles: [&Throttle; 2]| {
            let run = office.run(1).concurrency(bound);
            throttles.into_iter().fold(run, Run::throttle)
        };
        let one = run([&first, &second]);
        let two = run([&second, &first]);
        office.stage.play(async {
            if has_two {
                let (one, two) = futures_util::future::join(one, two).await;
                one.and(two).unwrap();
            } else {
                one.await.unwrap();
            }
        });
        let runs = if has_two { 2 } else { 1 };
        assert!(office.stage.most() <= bound * runs, "{number}");
        let made = office.stage.calls().0;
        calls += made.len();
        if rules.contains(&0) {
            assert!(office.stage.most() == 1, "{number}");
        }
        if rules.contains(&3) {
            let times = made.iter().map(|it| it.rsplit_once('@').unwrap().1);
            let mut times: Vec<u64> = times.map(|it| it.parse().unwrap()).collect();
            times.sort_unstable();
            if times.windows(2).any(|it| it[1] - it[0] < 7) {
                bunched.push(number);
            }
        }
    }
    assert!(calls > 4_000, "{calls}");
    assert_eq!(bunched, [0; 0]);
}

/// A plan that outlives the call around it ends.
#[test]
fn a_plan_ends_with_the_call_around_it() {
    let office = Office {
        plans: vec![plan(vec![step("a", act("a"), &[])])],
        ..Office::default()
    };
    let context = CallContext::default();
    let run = office.run(0).inside(&context);
    assert_eq!(office.stage.play(run).unwrap(), "a");
    let outer = Office {
        plans: vec![
            plan(vec![step("slow", act("slow"), &[])]),
            plan(vec![step("nest", nest(0), &[])]),
        ],
        stage: Stage::default().with("slow", &[(1_000, End::Ok)]),
        ..Office::default()
    };
    let mut run = Driven::new(outer.run(1).deadline(ms(50)));
    assert!(run.settle().is_pending());
    outer.stage.timer.advance(ms(3));
    assert!(run.settle().is_pending());
    assert_eq!(outer.stage.running(), 1);
    outer.stage.timer.advance(ms(47));
    let Poll::Ready(result) = run.settle() else {
        panic!("the deadline has passed")
    };
    assert_eq!(result.unwrap_err().kind(), RunErrorKind::Deadline);
    assert_eq!((outer.stage.running(), outer.stage.dropped()), (0, 1));
}

/// The failure of a plan inside a call has no replacement if the plan waits without a sender, or is not undone.
#[test]
fn the_failure_of_a_plan_that_waits_for_nobody_is_not_replaced() {
    let wait = plan(vec![step("reply", Body::Await(Await::new("Value")), &[])]);
    for (optional, list) in [
        (Optional::Whole, false),
        (Optional::Each, true),
        (Optional::Whole, true),
    ] {
        let body = if list {
            each(list_of_one(), nest(0))
        } else {
            nest(0)
        };
        let mut it = step("nest", body, &[]);
        it.policy = Policy::DEFAULT.optional(optional).into();
        let office = Office {
            plans: vec![wait.clone(), plan(vec![it])],
            ..Office::default()
        };
        let played = office.play(|run| run);
        assert!(played.ending.contains("nobody can send it"), "{played:?}");
    }
}

fn list_of_one() -> Template {
    list(vec![string("x")])
}
