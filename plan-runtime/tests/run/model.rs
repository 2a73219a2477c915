//! Random plans with random outcomes: every step has the status that a small model predicts.

use super::support::{Driven, Lab, Outcome, graph, run, statuses};
use plan_runtime::run::OnFailure;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

const POLICIES: [OnFailure; 3] = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];

#[derive(Debug)]
struct Case {
    needs: Vec<Vec<usize>>,
    outcomes: Vec<Outcome>,
    /// The ranks of the steps. The running step with the lowest rank ends first.
    ranks: Vec<u32>,
    bound: usize,
    policy: OnFailure,
}

/// Steps in random order: a step may need one that is written later.
fn cases() -> impl Strategy<Value = Case> {
    let step = (
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        prop_oneof![8 => Just(Outcome::Ok), 1 => Just(Outcome::Fail), 1 => Just(Outcome::Panic)],
        any::<u32>(),
    );
    let steps = prop::collection::vec(step, 1..40);
    let order = any::<u64>();
    (steps, order, 1..8_usize, prop::sample::select(&POLICIES)).prop_map(
        |(steps, order, bound, policy)| {
            let count = steps.len();
            // The position of the step that comes nth in time.
            let mut places: Vec<usize> = (0..count).collect();
            places.sort_by_key(|place| (*place as u64 + 1).wrapping_mul(order | 1).rotate_left(17));
            let mut case = Case {
                needs: vec![vec![]; count],
                outcomes: vec![Outcome::Ok; count],
                ranks: vec![0; count],
                bound,
                policy,
            };
            for (time, (needs, outcome, rank)) in steps.into_iter().enumerate() {
                let place = places[time];
                if time > 0 {
                    let needs = needs.iter().map(|need| places[need.index(time)]);
                    case.needs[place].extend(needs);
                    case.needs[place].sort_unstable();
                    case.needs[place].dedup();
                }
                case.outcomes[place] = outcome;
                case.ranks[place] = rank;
            }
            case
        },
    )
}

/// Records the first failed step, in the order of the plan, for each step that needs it.
pub(crate) fn block(needs: &[Vec<usize>], failed: usize, blockers: &mut [Option<usize>]) {
    let mut blocked = vec![failed];
    while let Some(by) = blocked.pop() {
        for (step, blocker) in blockers.iter_mut().enumerate() {
            if needs[step].contains(&by) && blocker.is_none_or(|other| failed < other) {
                *blocker = Some(failed);
                blocked.push(step);
            }
        }
    }
}

fn running_or_over(status: &Option<String>) -> bool {
    status.as_ref().is_some_and(|it| !it.starts_with("blocked"))
}

/// Returns the expected status of each step.
fn model(case: &Case) -> Vec<String> {
    let count = case.needs.len();
    let mut status: Vec<Option<String>> = vec![None; count];
    let mut running: Vec<usize> = vec![];
    let mut failed = false;
    let mut blockers = vec![None; count];
    loop {
        while running.len() < case.bound && (!failed || case.policy == OnFailure::Continue) {
            let completed = |need: &usize| status[*need].as_deref() == Some("completed");
            let next = (0..count).find(|step| {
                let new = status[*step].is_none() && !running.contains(step);
                new && case.needs[*step].iter().all(completed)
            });
            let Some(next) = next else { break };
            running.push(next);
        }
        let Some(&step) = running
            .iter()
            .min_by_key(|step| (case.ranks[**step], **step))
        else {
            break;
        };
        running.retain(|other| *other != step);
        status[step] = Some(match case.outcomes[step] {
            Outcome::Ok => "completed".into(),
            Outcome::Fail => format!("failed: no s{step} today"),
            Outcome::Panic => format!("failed: panicked: s{step} is upside down"),
        });
        if case.outcomes[step] == Outcome::Ok {
            continue;
        }
        failed = true;
        if case.policy == OnFailure::Cancel {
            running
                .drain(..)
                .for_each(|step| status[step] = Some("cancelled".into()));
        }
        block(&case.needs, step, &mut blockers);
        for (status, blocker) in status.iter_mut().zip(&blockers) {
            if let Some(by) = blocker
                && !running_or_over(status)
            {
                *status = Some(format!("blocked by `s{by}`"));
            }
        }
    }
    status
        .into_iter()
        .map(|it| it.unwrap_or("not started".into()))
        .collect()
}

static BLOCKED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn every_step_ends_as_the_model_says() {
    each_step_ends_as_the_model_says();
    let blocked = BLOCKED.load(Ordering::Relaxed);
    assert!(blocked > 100, "{blocked}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases(500, 2_000)))]
    fn each_step_ends_as_the_model_says(case in cases()) {
        let steps = case.needs.iter().enumerate();
        let plan = graph(steps.map(|(step, needs)| (format!("s{step}"), needs.clone())).collect());
        let outcomes = case.outcomes.iter().enumerate();
        let lab = outcomes.fold(Lab::default(), |lab, (step, outcome)| {
            lab.with(&format!("s{step}"), *outcome)
        });
        let run = run(&plan, &lab).concurrency(case.bound).on_failure(case.policy);
        let mut driven = Driven::new(run.with_report());
        let (result, report) = loop {
            if let std::task::Poll::Ready(ended) = driven.settle() {
                break ended;
            }
            let running = lab.running();
            let step = running.iter().min_by_key(|id| {
                let step: usize = id[1..].parse().unwrap();
                (case.ranks[step], step)
            });
            lab.let_through(step.expect("a run that waits has a step that runs"));
        };
        let expected: Vec<_> = model(&case)
            .into_iter()
            .enumerate()
            .map(|(step, status)| format!("s{step} {status}"))
            .collect();
        prop_assert_eq!(statuses(&report), expected.join(", "));
        prop_assert!(lab.most() <= case.bound);
        prop_assert_eq!(result.is_ok(), report.totals().failed == 0);
        prop_assert_eq!(lab.running().len(), 0);
        if let Err(error) = result && let [failure] = error.failures() {
            let foretold = plan.blocked_by(failure.step());
            let foretold: Vec<&str> = foretold.iter().map(|step| &*step.id).collect();
            BLOCKED.fetch_add(foretold.len(), Ordering::Relaxed);
            prop_assert_eq!(failure.blocked().collect::<Vec<_>>(), foretold);
        }
    }
}
