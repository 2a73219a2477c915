//! Random plans that crash and resume with narrower settings: each recorded effect counts, or the run stops and resumes with the earlier settings.

use super::*;
use plan_runtime::journal::{Journal, JournalError};

/// The attempts that have started in this process.
#[derive(Default)]
struct Started(Mutex<BTreeSet<String>>);

impl Observer for Started {
    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        self.0.lock().unwrap().insert(format!("{step}@{attempt}"));
    }
}

/// Lowers the amounts of some steps of a plan.
fn narrow(plan: &mut Plan, random: &mut Rng) {
    for step in &mut plan.steps {
        let mut policy = (*step.policy).clone();
        if random.bool() {
            policy.attempts = random.u32(1..=policy.attempts);
        }
        if random.bool() && policy.at_most.is_some() {
            policy.at_most = Some(1);
        }
        if random.bool() && matches!(step.body, Body::For(_)) {
            policy.concurrency = Some(1);
        }
        step.policy = policy.into();
        narrow_body(&mut step.body, random);
    }
}

fn narrow_body(body: &mut Body, random: &mut Rng) {
    match body {
        Body::If(branches) => {
            for branch in branches {
                narrow_body(&mut branch.body, random);
            }
        }
        Body::For(each) => narrow_body(&mut each.body, random),
        Body::Block(block) => narrow(&mut block.plan, random),
        Body::Loop(repeat) => narrow(&mut repeat.round.plan, random),
        _ => {}
    }
}

/// Returns the path of a recorded attempt, without the attempts of the blocks around it.
fn path(key: &str) -> String {
    let (around, attempt) = key.rsplit_once('@').unwrap();
    let mut parts = around.split('@');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        path += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    format!("{path}@{attempt}")
}

/// Drives a run for this number of polls, flushes and ends of calls.
fn drive(
    case: &Case<'_>,
    journal: &Rough,
    (started, mut left): (&Arc<Started>, usize),
) -> Option<std::result::Result<Value, RunError>> {
    let run = case.begin().observe(Arc::clone(started));
    let run = run.observe(case.world.observer());
    let mut run = Driven::new(run.durable(journal, "run"));
    while left > 0 {
        left -= 1;
        if run.is_woken() {
            if let Poll::Ready(result) = run.poll() {
                return Some(result);
            }
        } else if !journal.flush() && !case.world.end_one() {
            panic!(
                "the run waits, and nothing wakes it: {}",
                plan_text(case.plan)
            );
        }
    }
    None
}

#[test]
fn random_plans_lose_no_effect_under_narrower_settings() {
    let (mut stopped, mut ended, mut crashes) = (0, 0, 0);
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(4..=14);
        let mut maker = Maker::new(&mut random);
        let wide = maker.plan(size, 0);
        let plans = std::mem::take(&mut maker.plans);
        let mut narrower = wide.clone();
        narrow(&mut narrower, &mut random);
        let called: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
        let (wide, narrower) = (Executable::new(&wide), Executable::new(&narrower));
        assert_eq!((wide.mistake(), narrower.mistake()), (None, None));
        for _ in 0..4 {
            let mut case = Case::of_attempts(&wide, &called, seed);
            case.world.fails = 3;
            let journal = Rough::slow();
            let left = random.usize(2..120);
            let mine = Arc::new(Started::default());
            if drive(&case, &journal, (&mine, left)).is_some() {
                continue;
            }
            journal.lose();
            let stored = smol::block_on(journal.look("run")).unwrap();
            if stored.is_some_and(|run| run.end.is_some()) {
                continue;
            }
            crashes += 1;
            let succeeded = |(key, body): &(String, String)| {
                !key.contains(['!', '?']) && !body.contains("\"error\":")
            };
            let recorded = journal.records();
            let recorded: Vec<String> = recorded
                .iter()
                .filter(|it| succeeded(it))
                .map(|(key, _)| path(key))
                .collect();
            let concurrency = case.concurrency;
            (case.plan, case.concurrency) = (&narrower, random.usize(1..=concurrency.min(2)));
            let mine = Arc::new(Started::default());
            let result = drive(&case, &journal, (&mine, usize::MAX)).unwrap();
            let words = plan_text(&wide);
            if let Err(error) = &result
                && let Some(journaled) = error.journal()
            {
                let is_untaken = matches!(journaled, JournalError::Untaken { .. });
                assert!(is_untaken, "seed {seed}: {error}: {words}");
                stopped += 1;
                journal.lose();
                (case.plan, case.concurrency) = (&wide, concurrency);
                let again = drive(&case, &journal, (&mine, usize::MAX)).unwrap();
                let lost = again.as_ref().err().and_then(RunError::journal);
                assert!(
                    lost.is_none(),
                    "seed {seed}: {error}, then {lost:?}: {words}"
                );
                continue;
            }
            ended += 1;
            let mine = mine.0.lock().unwrap();
            for record in &recorded {
                assert!(
                    mine.contains(record),
                    "seed {seed}: {record} in {result:?}: {words}"
                );
            }
        }
    }
    println!("{crashes} crashes, {stopped} stopped, {ended} ended");
    assert!(stopped > 0 && ended > 10 * stopped);
}
