//! Random nested blocks, whose calls end in random ways, and whose run is cancelled or late at random times: they release each resource
//! once, unless the run succeeds.
//!

use super::blocks::{block, call, undo};
use super::stage::{End, Stage, Take, each, list, plan, step, with};
use plan_runtime::Plan;
use plan_runtime::plan::{Catch, Optional, Policy, Step, Template};
use plan_runtime::run::{OnFailure, Timer};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A block that takes something, and works; in a block with others.
#[derive(Clone, Debug)]
struct Job {
    takes: Vec<Take>,
    policy: Policy,
    /// `true` if the step waits for the one before it.
    after: bool,
    /// The number of elements with this work, if the step is a list.
    elements: Option<usize>,
}

fn policy(in_list: bool) -> impl Strategy<Value = Policy> {
    let time = || prop::option::weighted(0.3, 1..600_000_000_u64);
    (1..3_u32, time(), time(), 0..8_u32).prop_map(move |(attempts, timeout, deadline, stands)| {
        let mut policy = Policy::DEFAULT.attempts(attempts).jitter(false);
        policy.timeout = timeout.map(Duration::from_nanos);
        policy.deadline = deadline.map(Duration::from_nanos);
        match stands {
            0 => policy.optional(Optional::Whole),
            1 => policy.catch(Catch::Whole),
            2 if in_list => policy.optional(Optional::Each),
            3 if in_list => policy.catch(Catch::Each),
            4 if in_list => policy.concurrency(1),
            _ => policy,
        }
    })
}

fn job() -> impl Strategy<Value = Job> {
    let end = prop_oneof![
        6 => Just(End::Ok),
        2 => Just(End::Transient),
        1 => Just(End::Permanent),
        1 => Just(End::Panic),
    ];
    let take = (1..300_000_000_u64, end).prop_map(|(time, end)| (Duration::from_nanos(time), end));
    let takes = prop::collection::vec(take, 6);
    let elements = prop::option::of(0..3_usize);
    (takes, elements, any::<bool>()).prop_flat_map(|(takes, elements, after)| {
        policy(elements.is_some()).prop_map(move |policy| Job {
            takes: takes.clone(),
            policy,
            after,
            elements,
        })
    })
}

type Group = (Vec<Job>, Policy, bool);

fn group() -> impl Strategy<Value = Group> {
    (
        prop::collection::vec(job(), 1..4),
        policy(false),
        any::<bool>(),
    )
}

fn build(groups: &[Group], stage: &mut Stage) -> Plan {
    let mut steps: Vec<Step> = Vec::new();
    for (place, (jobs, policy, after)) in groups.iter().enumerate() {
        let mut inner = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            let name = |kind: &str| format!("{kind}{place}.{number}");
            stage.script(name("work"), job.takes.clone());
            // A dropped call took no resource.
            stage.script(name("take"), vec![(Duration::ZERO, End::Ok)]);
            let mut body = block(vec![
                call("taken", &name("take"), &[]),
                undo(0, call("released", &name("release"), &[])),
                call("_", &name("work"), &[0]),
            ]);
            if let Some(elements) = job.elements {
                body = each(list(vec![Template::Null; elements]), body);
            }
            let after: Vec<usize> = (0..number).filter(|_| job.after).collect();
            inner.push(with(
                step(&format!("s{number}"), body, &after),
                job.policy.clone(),
            ));
        }
        let after: Vec<usize> = (0..place).filter(|_| *after).collect();
        let group = step(&format!("g{place}"), block(inner), &after);
        steps.push(with(group, policy.clone()));
    }
    let mut plan = plan(steps);
    plan.output.value = Template::Null;
    plan
}

fn cases() -> u32 {
    crate::common::cases(150, 300)
}

static RELEASED: AtomicUsize = AtomicUsize::new(0);
/// Runs that succeeded, and runs that failed.
static ENDS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[test]
fn what_blocks_take_is_released_once() {
    each_block_releases_once();
    let counts = [&RELEASED, &ENDS[0], &ENDS[1]].map(|it| it.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2000, ..ProptestConfig::default() })]
    fn each_block_releases_once(
        groups in prop::collection::vec(group(), 1..4),
        bound in 1..5_usize,
        on_failure in prop::sample::select(&[OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel]),
        stop in prop::option::of((1..2_000_000_000_u64, any::<bool>())),
    ) {
        let mut stage = Stage::default();
        let plan = build(&groups, &mut stage);
        let run = stage.run::<Value>(&plan).concurrency(bound).on_failure(on_failure);
        let run = match stop {
            None => run,
            Some((at, true)) => run.deadline(Duration::from_nanos(at)),
            Some((at, false)) => run.cancel_on(stage.timer.sleep(Duration::from_nanos(at))),
        };
        let result = stage.play(run);
        prop_assert!(stage.most() <= bound);
        prop_assert_eq!(stage.running(), 0);
        ENDS[usize::from(result.is_err())].fetch_add(1, Ordering::Relaxed);
        if let Err(error) = &result {
            prop_assert_eq!(error.not_undone().count(), 0, "{}; {}", error, stage.log());
        }
        let log = stage.log();
        for (place, (jobs, ..)) in groups.iter().enumerate() {
            for (number, job) in jobs.iter().enumerate() {
                let count = |kind: &str| log.matches(&format!("{kind}{place}.{number}@")).count();
                let (taken, released) = (count("take"), count("release"));
                prop_assert!(released <= taken, "{}", log);
                RELEASED.fetch_add(released, Ordering::Relaxed);
                let left = taken - released;
                let most = if result.is_ok() { job.elements.unwrap_or(1) } else { 0 };
                prop_assert!(left <= most, "{} left of {}.{}: {}", left, place, number, log);
            }
        }
    }
}
