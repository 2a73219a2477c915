//! Random plans with undo steps and always steps, whose calls end in random ways, and which are cancelled or late at random times. These
//! steps do not affect the work, and they keep their own rules.
//!

use super::blocks::block;
use super::stage::{End, Stage, Take, act, plan, step, string, with};
use plan_runtime::plan::{Optional, Policy, Role, Template};
use plan_runtime::run::{OnFailure, Status, StepReport, Timer};
use plan_runtime::{Plan, Report, RunError};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const STEPS: usize = 12;

/// The ends of a step and of its undo step, and `true` if the failure of the step counts.
#[derive(Clone, Debug)]
struct Job {
    needs: Vec<usize>,
    take: Take,
    policy: Policy,
    undo: Option<(Take, Policy)>,
    /// `true` if the call is in a block.
    in_block: bool,
}

#[derive(Clone, Debug)]
struct Always {
    /// Steps of the work, and always steps before this one.
    after: (Vec<usize>, Vec<usize>),
    take: Take,
}

#[derive(Clone, Copy, Debug)]
enum Stop {
    Never,
    Cancel(Duration),
    Deadline(Duration),
}

fn take(wrong: u32) -> impl Strategy<Value = Take> {
    let end = prop_oneof![
        8 => Just(End::Ok),
        wrong => prop_oneof![Just(End::Transient), Just(End::Permanent), Just(End::Panic)],
    ];
    (1..500_000_000_u64, end).prop_map(|(time, end)| (Duration::from_nanos(time), end))
}

fn policy() -> impl Strategy<Value = Policy> {
    (1..3_u32, prop::option::of(100_000_000..900_000_000_u64)).prop_map(|(attempts, timeout)| {
        let mut policy = Policy::DEFAULT.attempts(attempts).jitter(false);
        policy.timeout = timeout.map(Duration::from_nanos);
        policy
    })
}

fn job(place: usize) -> impl Strategy<Value = Job> {
    let needs = prop::collection::btree_set(0..place.max(1), 0..=place.min(3));
    let stands = prop_oneof![8 => Just(0), 1 => Just(1), 1 => Just(2)];
    let undo = prop::option::weighted(0.6, (take(2), policy()));
    let in_block = any::<bool>();
    (needs, take(1), policy(), stands, undo, in_block).prop_map(
        move |(needs, take, policy, stands, undo, in_block)| Job {
            in_block,
            needs: needs.into_iter().filter(|it| *it < place).collect(),
            take,
            policy: match stands {
                1 => policy.optional(Optional::Whole),
                2 => policy.fallback(Template::Null),
                _ => policy,
            },
            undo,
        },
    )
}

fn always(place: usize) -> impl Strategy<Value = Always> {
    let work = prop::collection::btree_set(0..STEPS, 0..3);
    let before = prop::collection::btree_set(0..place.max(1), 0..=place.min(1));
    (work, before, take(2)).prop_map(move |(work, before, take)| Always {
        after: (
            work.into_iter().collect(),
            before.into_iter().filter(|it| *it < place).collect(),
        ),
        take,
    })
}

fn stop() -> impl Strategy<Value = Stop> {
    let time = || (1..4_000_000_000_u64).prop_map(Duration::from_nanos);
    prop_oneof![
        2 => Just(Stop::Never),
        1 => time().prop_map(Stop::Cancel),
        1 => time().prop_map(Stop::Deadline),
    ]
}

/// The work, then the undo steps, then the always steps.
fn build(jobs: &[Job], always: &[Always], stage: &mut Stage) -> Plan {
    let mut script = |key: &str, take: Take| {
        stage.script(key.to_owned(), vec![take]);
        act(string(key))
    };
    let mut steps = Vec::new();
    for (place, job) in jobs.iter().enumerate() {
        let id = format!("s{place}");
        let mut body = script(&id, job.take);
        if job.in_block {
            body = block(vec![step("_", body, &[])]);
        }
        steps.push(with(step(&id, body, &job.needs), job.policy.clone()));
    }
    for (place, job) in jobs.iter().enumerate() {
        if let Some((take, policy)) = &job.undo {
            let id = format!("u{place}");
            let mut undo = with(step(&id, script(&id, *take), &[]), policy.clone());
            undo.role = Role::Undo(place);
            steps.push(undo);
        }
    }
    let first = steps.len();
    for (place, always) in always.iter().enumerate() {
        let id = format!("a{place}");
        let (work, before) = &always.after;
        let before = before.iter().map(|it| first + it);
        let after: Vec<usize> = work.iter().copied().chain(before).collect();
        let mut step = step(&id, script(&id, always.take), &after);
        step.role = Role::Always;
        steps.push(step);
    }
    let mut plan = plan(steps);
    plan.output.value = Template::Null;
    plan
}

fn run(
    jobs: &[Job],
    always: &[Always],
    bound: usize,
    on_failure: OnFailure,
    (stop, grace): (Stop, Duration),
) -> (Result<Value, RunError>, Report, Stage) {
    let mut stage = Stage::default();
    let plan = build(jobs, always, &mut stage);
    let run = stage
        .run::<Value>(&plan)
        .concurrency(bound)
        .on_failure(on_failure)
        .grace_period(grace);
    let run = match stop {
        Stop::Never => run,
        Stop::Cancel(after) => run.cancel_on(stage.timer.sleep(after)),
        Stop::Deadline(after) => run.deadline(after),
    };
    let (result, report) = stage.play(run.with_report());
    (result, report, stage)
}

fn ended(step: &StepReport) -> Option<Duration> {
    Some(step.started()? + step.duration()?)
}

/// Returns the needs of each step of the work, directly and through other steps.
fn needs(jobs: &[Job]) -> Vec<BTreeSet<usize>> {
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for job in jobs {
        let mut needs: BTreeSet<usize> = job.needs.iter().copied().collect();
        needs.extend(job.needs.iter().flat_map(|need| all[*need].clone()));
        all.push(needs);
    }
    all
}

fn cases() -> u32 {
    crate::common::cases(300, 600)
}

static UNDONE: AtomicUsize = AtomicUsize::new(0);
static NOT_UNDONE: AtomicUsize = AtomicUsize::new(0);
static STOPPED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn what_comes_after_the_work_keeps_its_rules() {
    each_end_keeps_its_rules();
    let counts = [&UNDONE, &NOT_UNDONE, &STOPPED].map(|it| it.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2000, ..ProptestConfig::default() })]
    fn each_end_keeps_its_rules(
        jobs in (0..STEPS).map(job).collect::<Vec<_>>(),
        always in (0..3).map(always).collect::<Vec<_>>(),
        bound in 1..6_usize,
        on_failure in prop::sample::select(&[OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel]),
        stop in stop(),
        grace in prop_oneof![Just(60_000_000_000_u64), 1..1_500_000_000_u64].prop_map(Duration::from_nanos),
    ) {
        let (result, report, stage) = run(&jobs, &always, bound, on_failure, (stop, grace));
        prop_assert!(stage.most() <= bound);
        prop_assert_eq!(stage.running(), 0);

        // The work equals the work without the final steps.
        let plain: Vec<Job> = jobs.iter().map(|job| Job { undo: None, ..job.clone() }).collect();
        let (plainly, without, _) = run(&plain, &[], bound, on_failure, (stop, grace));
        let failed = plainly.is_err();
        prop_assert_eq!(result.is_err(), failed);
        for (step, other) in report.steps().iter().zip(without.steps()) {
            prop_assert_eq!(step.status().to_string(), other.status().to_string(), "{}", step.id());
            prop_assert_eq!((step.started(), step.duration()), (other.started(), other.duration()));
        }
        let work_ended = without.duration();

        // From the stop of the run on, the time is limited.
        let stopped = match stop {
            Stop::Never => None,
            Stop::Cancel(at) | Stop::Deadline(at) => Some(at),
        };
        let stopped = stopped.filter(|at| *at <= report.duration());
        let limit = stopped.map(|at| at + grace);
        prop_assert!(limit.is_none_or(|limit| report.duration() <= limit));
        let in_time = limit.is_none_or(|limit| report.duration() < limit);

        let step = |id: &str| report.step(id).unwrap();
        let mut undo_ended = work_ended;
        let (mut undone, mut not_undone) = (BTreeSet::new(), BTreeSet::new());
        for (place, job) in jobs.iter().enumerate() {
            if job.undo.is_none() { continue }
            let (id, undo) = (format!("s{place}"), step(&format!("u{place}")));
            let completed = matches!(step(&id).status(), Status::Completed);
            if !(failed && completed) {
                prop_assert!(matches!(undo.status(), Status::Skipped), "{}", undo.status());
                continue;
            }
            prop_assert!(undo.started().is_none_or(|at| at >= work_ended));
            match undo.status() {
                Status::Completed => { undone.insert(id); }
                Status::Failed(_) => { not_undone.insert(id); }
                other => {
                    prop_assert!(!in_time, "u{} {}", place, other);
                    not_undone.insert(id);
                }
            }
            undo_ended = undo_ended.max(ended(undo).unwrap_or_default());
        }
        UNDONE.fetch_add(undone.len(), Ordering::Relaxed);
        NOT_UNDONE.fetch_add(not_undone.len(), Ordering::Relaxed);
        STOPPED.fetch_add(usize::from(stopped.is_some()), Ordering::Relaxed);
        if let Err(error) = &result {
            prop_assert_eq!(error.undone().map(str::to_owned).collect::<BTreeSet<_>>(), undone);
            prop_assert_eq!(error.not_undone().map(str::to_owned).collect::<BTreeSet<_>>(), not_undone.clone());
            prop_assert!(not_undone.is_empty() || error.is_permanent());
        }
        // The dependents of a step are undone before it.
        let needs = needs(&jobs);
        for (place, needs) in needs.iter().enumerate() {
            for need in needs {
                let (first, then) = (report.step(&format!("u{place}")), report.step(&format!("u{need}")));
                if let (Some(first), Some(started)) = (first.and_then(ended), then.and_then(|it| it.started())) {
                    prop_assert!(first <= started, "u{} before u{}", place, need);
                }
            }
        }
        for (place, always) in always.iter().enumerate() {
            let step = step(&format!("a{place}"));
            match step.started() {
                Some(started) => {
                    prop_assert!(started >= undo_ended);
                    for before in &always.after.1 {
                        let before = report.step(&format!("a{before}")).unwrap();
                        prop_assert!(ended(before).is_some_and(|at| at <= started));
                    }
                }
                None => prop_assert!(!in_time, "a{} {}", place, step.status()),
            }
            let is_over = matches!(step.status(), Status::Completed | Status::Failed(_));
            prop_assert!(is_over || !in_time, "a{} {}", place, step.status());
        }
    }
}
