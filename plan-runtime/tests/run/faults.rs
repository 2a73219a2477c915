//! Random plans whose calls end in random ways, under random policies: every step ends as a small model predicts, and a call in a block
//! ends like a call without one.
//!

use super::blocks::{input, taking};
use super::model::block;
use super::stage::{End, Stage, Take, act, each, list, local, plan, step, string, with};
use super::support::statuses;
use plan_runtime::Plan;
use plan_runtime::plan::{Body, Optional, Policy, Template};
use plan_runtime::run::OnFailure;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const STEPS: usize = 50;

#[derive(Clone, Debug)]
struct Job {
    needs: Vec<usize>,
    /// The attempts of each element; a step without a `for` has one element.
    takes: Vec<Vec<Take>>,
    is_list: bool,
    /// The number of blocks around each call.
    blocks: usize,
    policy: Policy,
}

fn takes() -> impl Strategy<Value = Vec<Take>> {
    let end = prop_oneof![
        40 => Just(End::Ok),
        3 => Just(End::Transient),
        1 => Just(End::Permanent),
        1 => Just(End::Panic),
        1 => Just(End::Hang),
    ];
    // Nothing happens at the same time.
    let take = (1..500_000_000_u64, end).prop_map(|(time, end)| (Duration::from_nanos(time), end));
    prop::collection::vec(take, 4)
}

fn policy() -> impl Strategy<Value = Policy> {
    let optional = prop_oneof![
        6 => Just(Optional::No),
        1 => Just(Optional::Whole),
        1 => Just(Optional::Each),
    ];
    (
        1..5_u32,
        1..1_000_000_000_u64,
        // A call that hangs must have a time limit.
        200_000_000..900_000_000_u64,
        prop::option::of(500_000_000..3_000_000_000_u64),
        optional,
        prop::bool::weighted(0.1),
        prop::option::of(1..3_usize),
    )
        .prop_map(
            |(attempts, backoff, timeout, deadline, optional, fallback, concurrency)| {
                let mut policy = Policy::DEFAULT
                    .attempts(attempts)
                    .backoff(Duration::from_nanos(backoff))
                    .max(Duration::from_secs(2))
                    .jitter(false)
                    .timeout(Duration::from_nanos(timeout))
                    .optional(optional);
                policy.deadline = deadline.map(Duration::from_nanos);
                policy.fallback = fallback.then_some(Template::Null);
                policy.concurrency = concurrency;
                policy
            },
        )
}

fn job(place: usize) -> impl Strategy<Value = Job> {
    let needs = prop::collection::btree_set(0..place.max(1), 0..=place.min(2));
    let list = (any::<bool>(), 0..4_usize).prop_map(|(list, length)| list.then_some(length));
    let blocks = prop_oneof![2 => Just(0), 1 => Just(1), 1 => Just(2)];
    let takes = prop::collection::vec(takes(), 4);
    (needs, takes, policy(), list, blocks).prop_map(
        move |(needs, mut takes, mut policy, list, blocks)| {
            takes.truncate(list.unwrap_or(1));
            if list.is_none() {
                // Policies for the elements of a list.
                policy.concurrency = None;
                if policy.optional == Optional::Each {
                    policy.optional = Optional::No;
                }
            }
            Job {
                needs: needs.into_iter().filter(|it| *it < place).collect(),
                takes,
                is_list: list.is_some(),
                blocks,
                policy,
            }
        },
    )
}

/// A call with this key in as many blocks.
fn call(blocks: usize, key: Template) -> Body {
    match blocks {
        0 => act(key),
        _ => taking(
            vec![("key", key)],
            vec![step("_", call(blocks - 1, input(0)), &[])],
        ),
    }
}

fn build(jobs: &[Job], stage: &mut Stage) -> Plan {
    let steps = jobs.iter().enumerate().map(|(place, job)| {
        let keys: Vec<String> = (0..job.takes.len())
            .map(|element| format!("s{place}.{element}"))
            .collect();
        for (key, takes) in keys.iter().zip(&job.takes) {
            stage.script(key.clone(), takes.clone());
        }
        let body = if job.is_list {
            each(
                list(keys.iter().map(|key| string(key)).collect()),
                call(job.blocks, local(0)),
            )
        } else {
            call(job.blocks, string(&keys[0]))
        };
        with(
            step(&format!("s{place}"), body, &job.needs),
            job.policy.clone(),
        )
    });
    plan(steps.collect())
}

/// The phase of an element, with the time of its end or its possible start.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    New,
    Runs(Duration, Option<End>),
    Waits(Duration),
    Again,
    Over,
}

#[derive(Clone)]
struct Call {
    phase: Phase,
    tried: u32,
    first: Duration,
}

struct Model<'c> {
    jobs: &'c [Job],
    on_failure: OnFailure,
    bound: usize,
    now: Duration,
    status: Vec<Option<String>>,
    calls: Vec<Vec<Call>>,
    begun: Vec<bool>,
    missed: Vec<bool>,
    failed: Vec<bool>,
    stopping: bool,
    blockers: Vec<Option<usize>>,
}

impl Model<'_> {
    fn running(&self, step: usize) -> usize {
        let runs = |call: &&Call| matches!(call.phase, Phase::Runs(..));
        self.calls[step].iter().filter(runs).count()
    }

    /// The first thing that may start.
    fn next(&self) -> Option<(usize, Option<usize>)> {
        let busy: usize = (0..STEPS).map(|step| self.running(step)).sum();
        if busy >= self.bound || self.stopping {
            return None;
        }
        (0..STEPS).find_map(|step| {
            let job = &self.jobs[step];
            let done = |need: &usize| {
                matches!(
                    self.status[*need].as_deref(),
                    Some("completed" | "recovered")
                )
            };
            if !self.begun[step] {
                return (self.status[step].is_none() && job.needs.iter().all(done))
                    .then_some((step, None));
            }
            let room = job
                .policy
                .concurrency
                .is_none_or(|limit| self.running(step) < limit);
            if self.status[step].is_some() || self.failed[step] || !room {
                return None;
            }
            let of = |phase| self.calls[step].iter().position(|call| call.phase == phase);
            of(Phase::Again)
                .or(of(Phase::New))
                .map(|element| (step, Some(element)))
        })
    }

    fn attempt(&mut self, step: usize, element: usize) {
        let (job, call) = (&self.jobs[step], &mut self.calls[step][element]);
        if call.tried == 0 {
            call.first = self.now;
        }
        let left = job
            .policy
            .deadline
            .map(|it| (call.first + it).saturating_sub(self.now));
        let (time, end) = job.takes[element][(call.tried as usize).min(3)];
        call.tried += 1;
        let timeout = job.policy.timeout.unwrap();
        let limit = left.map_or(timeout, |left| left.min(timeout));
        call.phase = match end {
            End::Hang => Phase::Runs(
                self.now + limit,
                (limit == timeout).then_some(End::Transient),
            ),
            _ if time > limit => Phase::Runs(
                self.now + limit,
                (limit == timeout).then_some(End::Transient),
            ),
            end => Phase::Runs(self.now + time, Some(end)),
        };
    }

    fn ended(&mut self, step: usize, element: usize, end: Option<End>) {
        let policy = &self.jobs[step].policy;
        let call = &mut self.calls[step][element];
        let again = matches!(end, Some(End::Transient | End::Panic));
        if end == Some(End::Ok) {
            call.phase = Phase::Over;
        } else if !again || self.stopping || self.failed[step] || call.tried >= policy.attempts {
            self.miss(step, element);
        } else {
            let wait = policy.backoff * 2_u32.pow(call.tried - 1);
            let until = self.now + wait.min(policy.max);
            if policy.deadline.is_some_and(|it| until >= call.first + it) {
                self.miss(step, element);
            } else {
                call.phase = Phase::Waits(until);
            }
        }
    }

    /// An element has failed for good.
    fn miss(&mut self, step: usize, element: usize) {
        self.calls[step][element].phase = Phase::Over;
        let job = &self.jobs[step];
        if job.is_list && job.policy.optional == Optional::Each {
            self.missed[step] = true;
            return;
        }
        self.failed[step] = true;
        let cancel = self.on_failure == OnFailure::Cancel;
        for call in &mut self.calls[step] {
            if cancel || !matches!(call.phase, Phase::Runs(..)) {
                call.phase = Phase::Over;
            }
        }
    }

    fn settle(&mut self, step: usize) {
        if self.status[step].is_some() || !self.begun[step] || self.running(step) > 0 {
            return;
        }
        let over = self.calls[step]
            .iter()
            .all(|call| call.phase == Phase::Over);
        let policy = &self.jobs[step].policy;
        let stands = policy.fallback.is_some() || policy.optional == Optional::Whole;
        let status = match (self.failed[step], over) {
            (true, _) if stands => "recovered",
            (true, _) => "failed",
            (false, true) if self.missed[step] => "recovered",
            (false, true) => "completed",
            (false, false) if self.stopping => "cancelled",
            (false, false) => return,
        };
        self.status[step] = Some(status.into());
        if status != "failed" {
            return;
        }
        let needs: Vec<Vec<usize>> = self.jobs.iter().map(|job| job.needs.clone()).collect();
        block(&needs, step, &mut self.blockers);
        for (next, blocker) in self.blockers.iter().enumerate() {
            let status = &mut self.status[next];
            let is_open = status.as_ref().is_none_or(|it| it.starts_with("blocked"));
            if let Some(by) = blocker
                && is_open
                && !self.begun[next]
            {
                *status = Some(format!("blocked by `s{by}`"));
            }
        }
        if self.on_failure == OnFailure::Continue || self.stopping {
            return;
        }
        self.stopping = true;
        for step in 0..STEPS {
            if !self.begun[step] {
                continue;
            }
            if self.on_failure == OnFailure::Cancel {
                self.status[step].get_or_insert("cancelled".into());
                continue;
            }
            for element in 0..self.calls[step].len() {
                if matches!(
                    self.calls[step][element].phase,
                    Phase::Waits(_) | Phase::Again
                ) {
                    self.miss(step, element);
                }
            }
        }
        (0..STEPS).for_each(|step| self.settle(step));
    }

    fn play(mut self) -> Vec<String> {
        loop {
            while let Some((step, element)) = self.next() {
                if element.is_none() {
                    self.begun[step] = true;
                    let new = Call {
                        phase: Phase::New,
                        tried: 0,
                        first: self.now,
                    };
                    self.calls[step] = vec![new; self.jobs[step].takes.len()];
                    if !self.jobs[step].is_list {
                        self.attempt(step, 0);
                    }
                }
                if let Some(element) = element {
                    self.attempt(step, element);
                }
                self.settle(step);
            }
            let of = |step: usize| {
                self.calls[step]
                    .iter()
                    .enumerate()
                    .filter_map(move |(element, call)| {
                        let at = match call.phase {
                            Phase::Runs(at, _) | Phase::Waits(at) => at,
                            // A deadline ends an attempt that waits in line.
                            Phase::Again => call.first + self.jobs[step].policy.deadline?,
                            _ => return None,
                        };
                        Some((at, step, element))
                    })
            };
            let live = (0..STEPS).filter(|step| self.status[*step].is_none());
            let Some((at, step, element)) = live.flat_map(of).min() else {
                break;
            };
            self.now = at;
            match self.calls[step][element].phase {
                Phase::Runs(_, end) => self.ended(step, element, end),
                Phase::Again => self.miss(step, element),
                _ => self.calls[step][element].phase = Phase::Again,
            }
            self.settle(step);
        }
        let statuses = self.status.into_iter();
        statuses
            .map(|it| it.unwrap_or("not started".into()))
            .collect()
    }
}

fn model(jobs: &[Job], on_failure: OnFailure, bound: usize) -> Vec<String> {
    Model {
        jobs,
        on_failure,
        bound,
        now: Duration::ZERO,
        status: vec![None; STEPS],
        calls: vec![vec![]; STEPS],
        begun: vec![false; STEPS],
        missed: vec![false; STEPS],
        failed: vec![false; STEPS],
        stopping: false,
        blockers: vec![None; STEPS],
    }
    .play()
}

fn cases() -> u32 {
    crate::common::cases(50, 100)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2000, ..ProptestConfig::default() })]
    #[test]
    fn every_step_ends_as_the_model_says(
        jobs in (0..STEPS).map(job).collect::<Vec<_>>(),
        bound in 1..12_usize,
        on_failure in prop::sample::select(&[OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel]),
    ) {
        let mut stage = Stage::default();
        let plan = build(&jobs, &mut stage);
        let run = stage.run::<Option<Value>>(&plan).concurrency(bound).on_failure(on_failure);
        let (result, report) = stage.play(run.with_report());
        let plain = |status: &str| status.split(": ").next().unwrap().to_owned();
        let got: Vec<String> = statuses(&report).split(", s").map(plain).collect();
        let expected: Vec<String> = model(&jobs, on_failure, bound).into_iter().enumerate()
            .map(|(step, status)| format!("s{step} {status}")).collect();
        prop_assert_eq!(got.join(", s"), expected.join(", "));
        prop_assert!(stage.most() <= bound);
        prop_assert_eq!(stage.running(), 0);
        prop_assert_eq!(result.is_ok(), report.totals().failed == 0);
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        for step in report.steps() {
            *words.entry(step.status().name().into()).or_default() += 1;
        }
        println!("{on_failure:?} {words:?}");
    }
}
