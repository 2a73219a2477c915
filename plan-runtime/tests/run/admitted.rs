//! Calls that wait before they start: a run that the machine decides asks gates about the same calls, waits for the same turns, and ends as a run of the scheduler.

use super::blocks::{block, input, taking};
use super::stage::{
    End, Stage, act, branch, each, ending, list, local, ms, of, plan, step, string, value, with,
};
use fastrand::Rng;
use plan_runtime::plan::{Catch, Condition, Optional, Plan, Policy, Role, Source, Step, Template};
use plan_runtime::run::{
    Decision, Gate, GatedCall, Limits, ManualTimer, OnFailure, Run, Throttle, Timer,
};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A gate that decides by the text of a call, after some time.
struct Desk {
    timer: ManualTimer,
    seed: u64,
    asked: Mutex<Vec<String>>,
}

impl Gate for Desk {
    async fn ask(&self, call: GatedCall) -> Decision {
        let text = call.to_string();
        let hash = text.bytes().fold(self.seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Rng::with_seed(hash);
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
#[derive(Debug, Default, PartialEq)]
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
        // Calls that have their answers at one time wait for turns in the order of the plan here, and in the order of tasks in the scheduler.
        let gate = random.bool().then(|| random.u64(..));
        let has_throttle = |random: &mut Rng| gate.is_none() && random.bool();
        let concurrency = has_throttle(random).then(|| random.usize(1..4));
        let rate = has_throttle(random).then(|| (random.usize(1..3), random.u64(1..50)));
        let is_throttled = concurrency.is_some() || rate.is_some();
        Self {
            gate,
            concurrency,
            rate,
            // The machine has a call start as soon as the call has its turn, and the scheduler lets other calls wait for turns first.
            bound: if is_throttled { 64 } else { random.usize(1..6) },
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

    fn play(&self, stage: &Stage, plan: &Plan, is_driven: bool) -> Played {
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
        let result = if is_driven {
            stage.play(run.driven())
        } else {
            stage.play(run)
        };
        let asked = desk.asked.lock().unwrap().clone();
        let played = Played {
            asked,
            calls: stage.calls().0,
            ending: ending(&result),
        };
        // At the time of a limit, a call that has started may not have been polled, and the scheduler names calls that wait for another attempt.
        if played.ending.contains("its limit") {
            return Played {
                ending: "a limit is exceeded".to_owned(),
                ..Played::default()
            };
        }
        played
    }
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
fn random_plans_are_asked_for_and_throttled_as_the_scheduler_has_them() {
    let cases = crate::common::amount::<u64>(300, 1_500);
    let (mut asked, mut calls) = (0, 0);
    for seed in 0..cases {
        let mut random = Rng::with_seed(seed);
        let plan = flat(&mut random);
        let given = Given::new(&mut random);
        let [scheduled, driven] = [false, true].map(|it| given.play(&stage(seed), &plan, it));
        assert_eq!(driven, scheduled, "{seed} {given:?}\n{plan}");
        asked += driven.asked.len();
        calls += driven.calls.len();
    }
    println!("{asked} questions, {calls} calls");
    assert!(asked as u64 > cases && calls as u64 > cases);
}

/// Undo steps, always steps, rounds and blocks are asked for as well.
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
    let mut asked = 0;
    for seed in 0..200 {
        let given = Given {
            gate: Some(seed),
            ..given.clone()
        };
        let stage = || Stage::default().with("fails", &[(30, End::Permanent)]);
        let [scheduled, driven] = [false, true].map(|it| given.play(&stage(), &all, it));
        // The scheduler asks about the first call in a block before the calls around the block.
        let [scheduled, driven] = [scheduled, driven].map(|mut played| {
            played.asked.sort();
            played
        });
        assert_eq!(driven, scheduled, "{seed}");
        asked += driven.asked.len();
    }
    assert!(asked > 800, "{asked}");
}

/// A gate that allows each call.
struct Allowing;

impl Gate for Allowing {
    async fn ask(&self, _: GatedCall) -> Decision {
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
    for (bound, is_driven) in [(1, false), (1, true), (2, false), (2, true), (3, false)] {
        let stage = Stage::default().with("fails", &[(30, End::Permanent)]);
        let run = stage.run::<Value>(&all).gate(Allowing).concurrency(bound);
        let result = stage.play(if is_driven { run.driven() } else { run });
        result.unwrap_err();
        assert!(
            stage.log().contains("told"),
            "{bound} {is_driven}: {}",
            stage.log()
        );
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
    async fn ask(&self, call: GatedCall) -> Decision {
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
    let run = run.concurrency(1_000).deadline(ms(500)).driven();
    let error = stage.play(run).unwrap_err();
    assert!(error.is_deadline());
    assert_eq!(*gate.0.lock().unwrap(), [0, 64]);
    assert_eq!(stage.log(), "first@0");
}

#[test]
fn a_plan_calls_only_what_it_may() {
    let inner = block(vec![step("in", act(string("a")), &[])]);
    let plan = plan(vec![step("trip", inner, &[])]);
    for only in [&["act"][..], &["other", "a.*"], &[]] {
        let [scheduled, driven] = [false, true].map(|is_driven| {
            let stage = Stage::default();
            let run = stage.run::<Value>(&plan).only(only.to_vec());
            let result = if is_driven {
                stage.play(run.driven())
            } else {
                stage.play(run)
            };
            (ending(&result), stage.log())
        });
        assert_eq!(driven, scheduled);
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
    let logs = [false, true].map(|is_driven| {
        let stage = Stage::default().with("k1", &[(10, End::Transient), (5, End::Ok)]);
        let throttle = Throttle::new().rate("act", 2, ms(100)).concurrency("*", 2);
        let runs = [1, 2].map(|_| stage.run::<Value>(&plan).throttle(&throttle));
        let [one, two] = runs;
        let results = if is_driven {
            stage.play(async { futures_util::future::join(one.driven(), two.driven()).await })
        } else {
            stage.play(async { futures_util::future::join(one, two).await })
        };
        assert!(results.0.is_ok() && results.1.is_ok());
        stage.log()
    });
    assert_eq!(logs[1], logs[0]);
}
