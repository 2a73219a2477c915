//! The critical path explains the time of a run.

use super::stage::{End, Stage, act, each, list, local, ms, plan, step, string, with};
use plan_runtime::plan::Policy;
use plan_runtime::run::OnFailure;
use plan_runtime::{Plan, Report};
use serde_json::{Value, json};

fn report(plan: &Plan, stage: &Stage, concurrency: usize) -> Report {
    let run = stage.run::<Value>(plan).concurrency(concurrency);
    let run = run.on_failure(OnFailure::Continue).with_report();
    stage.play(run).1
}

/// Without a slot, the second call of `c` has no reason to start at 30 ms.
#[test]
fn a_step_that_waited_for_a_slot_comes_after_the_call_that_freed_the_slot() {
    let plan = plan(vec![
        step("a", act(string("a")), &[]),
        step("b", act(string("b")), &[]),
        step("c", act(string("c")), &[]),
        step("d", act(string("d")), &[1]),
    ]);
    let stage = [("a", 30), ("b", 50), ("c", 40), ("d", 5)]
        .into_iter()
        .fold(Stage::default(), |stage, (key, time)| {
            stage.with(key, &[(time, End::Ok)])
        });
    let report = report(&plan, &stage, 2);
    assert_eq!(stage.log(), "a@0 b@0 c@30 d@50");
    let shown = report.to_string();
    let last = shown.lines().last().unwrap();
    assert_eq!(last, "  critical path: a → c (waited for a slot), 70 ms");
    let json = serde_json::to_value(&report).unwrap();
    let path = ["critical_path", "critical_path_ms", "critical_slots"].map(|name| &json[name]);
    assert_eq!(path, [&json!(["a", "c"]), &json!(70.0), &json!(["c"])]);
    #[cfg(feature = "html")]
    {
        let html = report.to_html();
        assert!(html.contains("</a> freed a slot</dd>"), "{html}");
    }
}

/// A plan with random steps, lists, attempts and times.
fn random(random: &mut fastrand::Rng) -> (Plan, Stage) {
    let mut stage = Stage::default();
    let mut steps = Vec::new();
    for number in 0..random.usize(1..9) {
        let name = format!("s{number}");
        let needs: Vec<usize> = (0..number).filter(|_| random.u8(..4) == 0).collect();
        let mut takes = || (random.u64(..60), End::Ok);
        let (first, second) = (takes(), takes());
        let policy = Policy::DEFAULT.attempts(2).jitter(false);
        let new = match random.u8(..4) {
            0 => {
                let keys: Vec<String> = (0..random.usize(1..5))
                    .map(|it| format!("{name}{it}"))
                    .collect();
                for key in &keys {
                    stage = stage.with(key, &[(random.u64(..40), End::Ok)]);
                }
                let keys = list(keys.iter().map(|key| string(key)).collect());
                step(&name, each(keys, act(local(0))), &needs)
            }
            1 => {
                stage = stage.with(&name, &[(first.0, End::Transient), second]);
                with(step(&name, act(string(&name)), &needs), policy)
            }
            2 => {
                stage = stage.with(&name, &[(first.0, End::Permanent)]);
                step(&name, act(string(&name)), &needs)
            }
            _ => {
                stage = stage.with(&name, &[first]);
                step(&name, act(string(&name)), &needs)
            }
        };
        steps.push(new);
    }
    (plan(steps), stage)
}

/// The parts of the path do not overlap, and fill the time of the run. Each part starts at the start of the run, at the end of a needed step, or when a call freed
/// a slot.
#[test]
fn the_critical_path_explains_all_time() {
    let mut slots = 0;
    for seed in 0..600 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (plan, stage) = random(&mut rng);
        let concurrency = rng.usize(1..5);
        let report = report(&plan, &stage, concurrency);
        let index = |id: &str| plan.steps.iter().position(|step| step.id == id).unwrap();
        let mut now = ms(0);
        let mut before: Option<&str> = None;
        for link in report.critical_links() {
            let context = || {
                format!(
                    "seed {seed}, {concurrency} at one time: {}\n{report}",
                    link.step.id()
                )
            };
            // Only gates, retries of runs and the like let a step wait for no step.
            assert_eq!((link.waited, link.started), (ms(0), now), "{}", context());
            assert_eq!(link.step.started(), Some(link.started), "{}", context());
            assert!(
                link.started <= link.ended && Some(link.ended) <= link.step.ended(),
                "{}",
                context()
            );
            let needs = plan.steps[index(link.step.id())].needs();
            match before {
                None => assert!(!link.is_slot, "{}", context()),
                Some(before) if link.is_slot => {
                    let calls = report.steps().iter().flat_map(|step| step.attempts());
                    let running = calls.filter(|it| it.started() < now && it.ended() >= Some(now));
                    assert_eq!(running.count(), concurrency, "{}", context());
                    let mut freed = report.step(before).unwrap().attempts().iter();
                    assert!(freed.any(|it| it.ended() == Some(now)), "{}", context());
                    slots += 1;
                }
                Some(before) => {
                    assert!(needs.contains(&index(before)), "{}", context());
                    assert_eq!(
                        report.step(before).unwrap().ended(),
                        Some(now),
                        "{}",
                        context()
                    );
                }
            }
            (now, before) = (link.ended, Some(link.step.id()));
        }
        assert_eq!(now, report.duration(), "seed {seed}: {report}");
    }
    assert!(slots > 100, "{slots} slots");
}
