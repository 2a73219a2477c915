//! Calls that wait before they start: for the answers of gates, for turns of throttles, and for the bound of the run.

use super::blocks::{block, input, taking};
use super::stage::{
    End, Stage, act, branch, each, ending, list, local, ms, of, plan, step, string, value, with,
};
use crate::golden;
use fastrand::Rng;
use plan_runtime::Plan;
use plan_runtime::plan::{Catch, Condition, Optional, Policy, Role, Source, Step, Template};
use plan_runtime::run::{
    Decision, Gate, Limits, ManualTimer, OnFailure, PendingCall, Run, RunErrorKind, Throttle, Timer,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A gate that decides by the argument of a call, after some time.
struct Desk {
    timer: ManualTimer,
    seed: u64,
    asked: Mutex<Vec<String>>,
}

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        let text = call.to_string();
        let mut random = Rng::with_seed(self.seed ^ golden::hash(&text));
        let at = self.timer.elapsed().as_millis();
        self.asked.lock().unwrap().push(format!("{text}@{at}"));
        if random.bool() {
            self.timer.sleep(micros(&mut random, 1..60)).await;
        }
        match random.u8(..12) {
            0 => Decision::Refuse(format!("no {text}")),
            1 | 2 => Decision::AllowStep,
            _ => Decision::Allow,
        }
    }
}

/// The questions, the calls and the result of a run.
#[derive(Debug)]
struct Played {
    asked: Vec<String>,
    calls: Vec<String>,
    ending: String,
}

/// The options of a run.
#[derive(Clone, Debug)]
struct Given {
    /// The seed of the gate.
    gate: Option<u64>,
    concurrency: Option<usize>,
    rate: Option<(usize, u64)>,
    bound: usize,
    limits: Limits,
    on_failure: OnFailure,
    deadline: u64,
}

impl Given {
    fn new(random: &mut Rng) -> Self {
        Self {
            gate: random.bool().then(|| random.u64(..)),
            concurrency: random.bool().then(|| random.usize(1..4)),
            rate: random
                .bool()
                .then(|| (random.usize(1..3), random.u64(1..50))),
            bound: random.choice([1, 2, 3, 5, 64]).unwrap(),
            limits: match random.u8(..8) {
                0 => Limits::DEFAULT.calls(random.usize(..8)),
                1 => Limits::DEFAULT.attempts(random.usize(..8)),
                _ => Limits::DEFAULT,
            },
            on_failure: *random
                .choice(&[OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel])
                .unwrap(),
            deadline: if random.u8(..4) == 0 {
                random.u64(10..200)
            } else {
                100_000
            },
        }
    }

    fn play(&self, stage: &Stage, plan: &Plan) -> Played {
        let desk = Arc::new(Desk {
            timer: stage.timer.clone(),
            seed: self.gate.unwrap_or_default(),
            asked: Mutex::default(),
        });
        let mut throttle = Throttle::new();
        if let Some(concurrency) = self.concurrency {
            throttle = throttle.concurrency("a*", concurrency);
        }
        if let Some((calls, period)) = self.rate {
            throttle = throttle.rate("act", calls, ms(period));
        }
        let mut run: Run<'_, Stage, Value> = stage.run(plan);
        run = run
            .throttle(&throttle)
            .limits(self.limits)
            .concurrency(self.bound)
            .on_failure(self.on_failure)
            .deadline(ms(self.deadline));
        if self.gate.is_some() {
            run = run.gate(desk.clone());
        }
        let result = stage.play(run);
        let bound = self.concurrency.unwrap_or(self.bound).min(self.bound);
        assert!(stage.most() <= bound, "{self:?}");
        let calls = stage.calls().0;
        if let Some((most, period)) = self.rate {
            let mut times: Vec<u64> = calls.iter().map(|it| split(it).1).collect();
            times.sort_unstable();
            for (from, to) in times.iter().zip(times.iter().skip(most)) {
                // The times are rounded down.
                assert!(to - from + 1 >= period, "{self:?} {calls:?}");
            }
        }
        let asked = desk.asked.lock().unwrap().clone();
        let texts = asked.iter().map(|it| split(it).0);
        assert_eq!(texts.collect::<BTreeSet<_>>().len(), asked.len());
        Played {
            asked,
            calls,
            ending: ending(&result),
        }
    }
}

/// Splits a call or a question from its time in ms.
fn split(line: &str) -> (&str, u64) {
    let (text, time) = line.rsplit_once('@').unwrap();
    (text, time.parse().unwrap())
}

/// Returns a random time of some milliseconds, so that few things happen at one time.
fn micros(random: &mut Rng, millis: std::ops::Range<u64>) -> Duration {
    Duration::from_micros(random.u64(millis.start * 1000..millis.end * 1000))
}

fn output(step: usize) -> Template {
    of(Source::Step(step), vec![], "step")
}

/// A plan without blocks, since a bound orders the calls of blocks in another way.
fn flat(random: &mut Rng) -> Plan {
    let count = random.usize(2..7);
    let mut steps: Vec<Step> = Vec::new();
    for place in 0..count {
        let reads: Vec<Template> = (0..place)
            .filter(|_| random.u8(..4) == 0)
            .map(output)
            .chain([string(&format!("k{place}"))])
            .collect();
        let read = list(reads);
        let names = (0..random.usize(1..5)).map(|at| string(&format!("e{place}.{at}")));
        let body = match random.u8(..5) {
            0 => value(read),
            1 | 2 => each(list(names.collect()), act(local(0))),
            3 => {
                let holds = vec![Condition::Holds(Template::Bool(random.bool()))];
                each(
                    list(names.collect()),
                    plan_runtime::plan::Body::If(vec![
                        branch(holds, act(list(vec![local(0), string("one")]))),
                        branch(vec![], act(list(vec![local(0), string("other")]))),
                    ]),
                )
            }
            _ => act(read),
        };
        let mut policy = Policy::DEFAULT;
        if random.u8(..3) == 0 {
            policy = policy.attempts(random.u32(1..4)).jitter(false);
        }
        if random.u8(..4) == 0 {
            policy.concurrency = Some(random.usize(1..3));
        }
        if random.u8(..4) == 0 {
            policy.timeout = Some(micros(random, 5..40));
        }
        match random.u8(..6) {
            0 => policy.optional = Optional::Each,
            1 => policy.optional = Optional::Whole,
            2 => policy.catch = Catch::Whole,
            3 => policy.catch = Catch::Each,
            _ => {}
        }
        steps.push(with(step(&format!("s{place}"), body, &[]), policy));
    }
    plan(steps)
}

/// A stage on which some calls fail.
fn stage(seed: u64) -> Stage {
    let mut stage = Stage::default();
    let mut random = Rng::with_seed(seed);
    for place in 0..7 {
        for at in 0..4 {
            let takes: Vec<_> = (0..3)
                .map(|_| {
                    let end = match random.u8(..10) {
                        0 => End::Permanent,
                        1 | 2 => End::Transient,
                        _ => End::Ok,
                    };
                    (micros(&mut random, 1..30), end)
                })
                .collect();
            stage.script(format!("e{place}.{at}"), takes.clone());
            stage.script(format!("[\"k{place}\"]"), takes);
        }
    }
    stage
}

#[test]
fn random_plans_are_asked_for_and_throttled() {
    let cases = crate::common::amount::<u64>(300, 1_500);
    let (mut asked, mut calls, mut outcomes) = (0, 0, Vec::new());
    for seed in 0..cases {
        let mut random = Rng::with_seed(seed);
        let plan = flat(&mut random);
        let given = Given::new(&mut random);
        let played = given.play(&stage(seed), &plan);
        asked += played.asked.len();
        calls += played.calls.len();
        outcomes.push(format!("{played:#?}"));
    }
    println!("{asked} questions, {calls} calls");
    assert!(asked as u64 > cases && calls as u64 > cases);
    golden::check("admitted", &outcomes);
}

/// Gates decide on undo steps, always steps, rounds and blocks as well.
#[test]
fn every_call_is_asked_for() {
    let inner = vec![step("in", act(input(0)), &[])];
    let mut undo = step("back", act(list(vec![string("back"), output(0)])), &[]);
    undo.role = Role::Undo(0);
    let mut last = step("last", act(string("last")), &[]);
    last.role = Role::Always;
    let mut all = plan(vec![
        step("held", act(string("held")), &[]),
        step("trip", taking(vec![("x", output(0))], inner), &[]),
        step(
            "nested",
            block(vec![step("deep", act(string("deep")), &[])]),
            &[1],
        ),
        step("fails", act(string("fails")), &[1]),
        undo,
        last,
    ]);
    all.output.value = Template::Null;
    let given = Given {
        gate: Some(3),
        concurrency: None,
        rate: Some((1, 20)),
        bound: 64,
        limits: Limits::DEFAULT,
        on_failure: OnFailure::Stop,
        deadline: 100_000,
    };
    let (mut asked, mut outcomes) = (0, Vec::new());
    for seed in 0..200 {
        let given = Given {
            gate: Some(seed),
            ..given.clone()
        };
        let stage = Stage::default().with("fails", &[(30, End::Permanent)]);
        let played = given.play(&stage, &all);
        assert!(played.ending.starts_with("plan `test` failed"), "{seed}");
        for call in &played.calls {
            let (key, _) = split(call);
            assert!(played.asked.iter().any(|it| it.contains(key)), "{call}");
        }
        asked += played.asked.len();
        outcomes.push(format!("{played:#?}"));
    }
    assert!(asked > 800, "{asked}");
    golden::check("asked", &outcomes);
}

/// A gate that allows each call.
struct Allowing;

impl Gate for Allowing {
    async fn ask(&self, _: PendingCall) -> Decision {
        Decision::Allow
    }
}

/// A call that is allowed waits for the bound. A failure cuts the call, and the always steps run.
#[test]
fn always_steps_run_after_an_allowed_call_is_cut() {
    let mut told = step("told", act(string("told")), &[]);
    told.role = Role::Always;
    let mut all = plan(vec![
        step("fails", act(string("fails")), &[]),
        step("gated", act(string("gated")), &[]),
        step("more", act(string("more")), &[]),
        told,
    ]);
    all.output.value = Template::Null;
    for bound in 1..=3 {
        let stage = Stage::default().with("fails", &[(30, End::Permanent)]);
        let run = stage.run::<Value>(&all).gate(Allowing).concurrency(bound);
        stage.play(run).unwrap_err();
        assert!(stage.log().contains("told"), "{bound}: {}", stage.log());
    }
}

/// A gate that answers nothing, and notes the most questions that are open at one time.
#[derive(Default)]
struct Silent(Mutex<[usize; 2]>);

struct Open<'g>(&'g Silent);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.0.lock().unwrap()[0] -= 1;
    }
}

impl Gate for Silent {
    async fn ask(&self, call: PendingCall) -> Decision {
        {
            let mut open = self.0.lock().unwrap();
            open[0] += 1;
            open[1] = open[1].max(open[0]);
        }
        let open = Open(self);
        if call.arguments()["key"] == "first" {
            return Decision::Allow;
        }
        std::future::pending::<()>().await;
        drop(open);
        Decision::Allow
    }
}

#[test]
fn at_most_64_questions_are_open_in_a_run() {
    let many = || {
        let keys = (0..100).map(|at| string(&format!("key {at}")));
        block(vec![step(
            "many",
            each(list(keys.collect()), act(local(0))),
            &[],
        )])
    };
    let plan = plan(vec![
        step("first", act(string("first")), &[]),
        step("one", many(), &[]),
        step("two", many(), &[]),
    ]);
    let gate = Arc::new(Silent::default());
    let stage = Stage::default();
    let run = stage.run::<Value>(&plan).gate(gate.clone());
    let run = run.concurrency(1_000).deadline(ms(500));
    let error = stage.play(run).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Deadline);
    assert_eq!(*gate.0.lock().unwrap(), [0, 64]);
    assert_eq!(stage.log(), "first@0");
}

#[test]
fn a_plan_calls_only_what_it_may() {
    let inner = block(vec![step("in", act(string("a")), &[])]);
    let plan = plan(vec![step("trip", inner, &[])]);
    for (only, log) in [(&["act"][..], "a@0"), (&["other", "a.*"], ""), (&[], "")] {
        let stage = Stage::default();
        let run = stage.run::<Value>(&plan).allow_tools(only.to_vec());
        assert_eq!(stage.play(run).is_ok(), log == "a@0");
        assert_eq!(stage.log(), log);
    }
}

/// Several runs share a throttle, and an error of a tool closes it.
#[test]
fn runs_share_a_throttle() {
    let keys = (0..5).map(|at| string(&format!("k{at}")));
    let mut policy = Policy::DEFAULT.attempts(3).jitter(false);
    policy.timeout = Some(Duration::from_secs(1));
    let many = with(
        step("many", each(list(keys.collect()), act(local(0))), &[]),
        policy,
    );
    let plan = plan(vec![many]);
    let stage = Stage::default().with("k1", &[(10, End::Transient), (5, End::Ok)]);
    let throttle = Throttle::new().rate("act", 2, ms(100)).concurrency("*", 2);
    let [one, two] = [1, 2].map(|_| stage.run::<Value>(&plan).throttle(&throttle));
    let results = stage.play(async { futures_util::future::join(one, two).await });
    assert!(results.0.is_ok() && results.1.is_ok());
    assert_eq!(
        stage.log(),
        "k0@0 k1@0 k2@100 k3@100 k4@200 k0@200 k1@300 k2@300 k3@400 k4@400 k1@500"
    );
}
