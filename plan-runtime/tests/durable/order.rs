//! A run makes equal decisions before and after a crash, even with many events at one moment.
//!
//! Each case is a random plan and a script. A turn of the script ends calls, answers questions of a gate, moves the clock or cancels the run, all before the run is polled again.
//! The run crashes after each turn, once with all records and once without the last records. An ended run has its recorded end after another start.

use super::heard::Heard;
use super::random::{Case, Maker, Told, World, cases, hash, key, plan_text, told};
use super::rough::Rough;
use super::support::{Driven, secs};
use crate::golden;
use fastrand::Rng;
use plan_runtime::plan::{Action, Body, Condition, Executable, Policy, Role, Template};
use plan_runtime::run::{
    CallContext, Decision, Gate, ManualTimer, PendingCall, Throttle, WithReport,
};
use plan_runtime::{Plan, Report, Result as ToolResult, plan, tool};
use serde_json::Value;
use smol::future::yield_now;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

plan! {
    Coded() -> bool {
        step coded: bool = !std::hint::black_box(false);
        coded
    }
}

/// Rust code that gives `true`.
fn code() -> Template {
    match &Coded::PLAN.steps[0].body {
        Body::Action(action) => action.args.clone(),
        body => panic!("{body:?}"),
    }
}

/// Adds times and Rust code to a plan.
fn vary(plan: &mut Plan, may_compute: bool, random: &mut Rng) {
    // `u7_s3` undoes `s3`.
    let undone = plan.steps.iter().filter_map(|step| step.id.split_once('_'));
    let undone: BTreeSet<String> = undone.map(|(_, undone)| undone.to_owned()).collect();
    for step in &mut plan.steps {
        let mut policy = Policy::clone(&step.policy);
        if policy.attempts > 1 && random.u8(..3) > 0 {
            policy.backoff = secs(random.u64(1..=2) * 5);
            policy.jitter = false;
        }
        if random.u8(..4) == 0 {
            policy.timeout = Some(secs(random.u64(1..=4) * 5));
        }
        if random.u8(..8) == 0 {
            // No wait ends at exactly this time, which would depend on the length of a crash.
            policy.deadline = Some(secs(random.u64(1..=6) * 5 - 2));
        }
        if let Body::Loop(_) = step.body
            && random.bool()
        {
            policy.every = Some(secs(5));
        }
        let may_compute = may_compute && step.role == Role::Work && !undone.contains(&step.id);
        vary_body(&mut step.body, may_compute, random);
        step.policy = policy.into();
    }
}

fn vary_body(body: &mut Body, may_compute: bool, random: &mut Rng) {
    match body {
        Body::Action(action) => {
            let is_plain = action.tool.as_ref().is_some_and(|tool| tool.name == "act");
            if is_plain && may_compute && random.u8(..4) == 0 {
                *body = Action::value(code()).into();
            }
        }
        Body::If(branches) => {
            for branch in branches {
                if let [Condition::Holds(holds @ Template::Bool(true))] = &mut *branch.conditions
                    && random.bool()
                {
                    *holds = code();
                }
                vary_body(&mut branch.body, may_compute, random);
            }
        }
        Body::For(each) => vary_body(&mut each.body, may_compute, random),
        Body::Block(block) => vary(&mut block.plan, may_compute, random),
        Body::Loop(repeat) => vary(&mut repeat.round.plan, may_compute, random),
        _ => {}
    }
}

/// The state outside of the run: open questions, and a cancellation.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    asked: BTreeMap<String, (Option<Decision>, Waker)>,
    is_cancelled: bool,
    waker: Option<Waker>,
}

struct Asked(Desk, String);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().asked.remove(&self.1);
    }
}

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        let asked = Asked(self.clone(), format!("?{}", key(call.context())));
        poll_fn(|cx| {
            let mut open = self.0.lock().unwrap();
            let at = open.asked.entry(asked.1.clone());
            let (answer, waker) = at.or_insert_with(|| (None, Waker::noop().clone()));
            waker.clone_from(cx.waker());
            answer.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl Desk {
    fn open(&self) -> Vec<String> {
        let open = self.0.lock().unwrap();
        let open = open
            .asked
            .iter()
            .filter(|(_, (answer, _))| answer.is_none());
        open.map(|(key, _)| key.clone()).collect()
    }

    fn answer(&self, key: &str, seed: u64) {
        let mut open = self.0.lock().unwrap();
        let (answer, waker) = open.asked.get_mut(key).unwrap();
        *answer = Some(match hash(seed, key) % 8 {
            0 => Decision::Refuse("no".into()),
            1..=3 => Decision::AllowStep,
            _ => Decision::Allow,
        });
        let waker = waker.clone();
        drop(open);
        waker.wake();
    }

    fn cancel(&self) {
        let mut open = self.0.lock().unwrap();
        open.is_cancelled = true;
        let waker = open.waker.take();
        drop(open);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn cancelled(self) {
        poll_fn(|cx| {
            let mut open = self.0.lock().unwrap();
            open.waker = Some(cx.waker().clone());
            if open.is_cancelled {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// The most things that happen at one moment.
const MOST: u32 = 3;

/// A grace that does not end.
const LONG: u64 = 100_000;

/// The options and the events of a run.
#[derive(Clone, Copy, Debug)]
struct Shape {
    has_gate: bool,
    has_deadline: bool,
    is_cancelled: bool,
    /// The grace period in seconds.
    grace: u64,
    /// The most concurrent calls of a throttle.
    throttle: Option<usize>,
}

type Running<'r, 'p> = Driven<WithReport<'r, World<'p>, Value>>;

/// Returns the number of calls in a report.
fn calls(report: &Report) -> usize {
    let attempts = report.steps().iter().flat_map(|step| step.attempts());
    let calls = attempts.map(|attempt| {
        let inside: usize = attempt.inside().iter().map(calls).sum();
        usize::from(attempt.tool() == Some("act")) + inside
    });
    calls.sum()
}

/// Returns the path of a call with a key, and the number of its attempt.
fn path(key: &str) -> String {
    let (outer, call) = key.rsplit_once('.').map_or(("", key), |it| it);
    let outer = outer.split('.').filter(|part| !part.is_empty());
    let outer = outer.map(|part| part.split('@').next().unwrap().to_owned() + ".");
    outer.collect::<String>() + call
}

/// A run that goes as a script tells, in all its lives.
struct Played<'p> {
    case: Case<'p>,
    shape: Shape,
    journal: Rough,
    timer: ManualTimer,
    desk: Desk,
    throttle: Throttle,
    heard: Arc<Heard>,
    is_durable: bool,
}

impl<'p> Played<'p> {
    fn new(case: Case<'p>, shape: Shape) -> Self {
        Self {
            case,
            shape,
            journal: Rough::slow(),
            timer: ManualTimer::new(),
            desk: Desk::default(),
            throttle: match shape.throttle {
                Some(calls) => Throttle::new().concurrency("act", calls),
                None => Throttle::new(),
            },
            heard: Arc::default(),
            is_durable: true,
        }
    }

    fn live(&self) -> Running<'_, 'p> {
        self.journal.set_age(self.timer.elapsed());
        self.heard.forget();
        let run = self.case.begin().observe(self.heard.clone());
        let mut run = run
            .timer(self.timer.clone())
            .grace_period(secs(self.shape.grace))
            .cancel_on(self.desk.clone().cancelled());
        if self.shape.has_gate {
            run = run.gate(self.desk.clone());
        }
        if self.shape.has_deadline {
            run = run.deadline(secs(40));
        }
        run = run.throttle(&self.throttle);
        if self.is_durable {
            run = run.durable(&self.journal, "run");
        }
        Driven::new(run.with_report())
    }

    /// Checks that each started step has one end, and each attempt unless a failure or a cancellation drops the attempt. Checks that the tool saw each call
    /// that has started, or that a record proves the call.
    fn check_events(&self, report: Option<&Report>) -> Result<(), String> {
        let mut made: BTreeSet<String> = self.journal.keys();
        made.extend(self.case.world.started());
        self.heard
            .check(&made.iter().map(|key| path(key)).collect())?;
        let (reported, made) = (report.map(calls), self.case.world.calls());
        match reported.filter(|reported| *reported != made) {
            Some(reported) => Err(format!("{reported} calls are reported, and {made} made")),
            None => Ok(()),
        }
    }

    /// Polls, and writes records, until both have no effect.
    fn settle(&self, run: &mut Running<'_, 'p>, random: &mut Rng) -> Option<Ended> {
        loop {
            if random.bool() && self.journal.flush() {
                continue;
            }
            if run.is_woken() {
                if let Poll::Ready((result, report)) = run.poll() {
                    return Some((told(result), report));
                }
            } else if !self.journal.flush() {
                return None;
            }
        }
    }

    /// The calls that run, and the questions that are open.
    fn open(&self) -> Vec<String> {
        let mut open = self.case.world.running();
        open.extend(self.desk.open());
        open
    }

    fn end(&self, event: &str) {
        if event.starts_with('?') {
            self.desk.answer(event, self.case.world.seed);
        } else {
            self.case.world.end(event);
        }
    }

    /// Has up to this many things happen at one moment.
    fn happen(&self, turn: u64, most: u32, random: &mut Rng) {
        let mut open = self.open();
        if self.shape.is_cancelled && turn == 3 {
            self.desk.cancel();
        }
        for _ in 0..random.u32(1..=most) {
            let sleeps = self.timer.next().is_some();
            match random.usize(..=open.len()) {
                event if event < open.len() => self.end(&open.remove(event)),
                // All times are multiples of this time, so that many things happen at one moment.
                _ if sleeps => self.timer.advance(secs(5)),
                _ => {}
            }
        }
    }

    /// Runs the script up to a turn. Returns the end of the run if that comes before.
    fn play(&self, run: &mut Running<'_, 'p>, turns: u64, most: u32) -> Option<Ended> {
        for turn in 0..=turns {
            let mut random = Rng::with_seed(hash(self.case.world.seed, &format!("turn {turn}")));
            if turn > 0 {
                self.happen(turn, most, &mut random);
            }
            let ended = self.settle(run, &mut random);
            if ended.is_some() {
                return ended;
            }
        }
        None
    }

    /// Runs on to the end, with one thing at a time.
    fn finish(&self, run: &mut Running<'_, 'p>) -> Ended {
        let mut random = Rng::with_seed(0);
        loop {
            if let Some(ended) = self.settle(run, &mut random) {
                return ended;
            }
            let open = self.open();
            let next = open.iter().min_by_key(|it| hash(self.case.world.seed, it));
            match (next, self.timer.next()) {
                (Some(event), _) => self.end(event),
                (None, Some(_)) => self.timer.advance(secs(5)),
                (None, None) => panic!("the run waits, and nothing wakes it"),
            }
        }
    }

    /// Begins the run again, which replays all records and makes the calls that these leave open.
    fn again(&self, times: usize) -> Result<Result<Running<'_, 'p>, Ended>, String> {
        let mut before: Option<Vec<String>> = None;
        for time in 0..=times {
            let mut run = self.live();
            let ended = self.settle(&mut run, &mut Rng::with_seed(1));
            if let Some(ended) = ended {
                return Ok(Err(ended));
            }
            let open = self.open();
            if let Some(before) = before.replace(open.clone())
                && before != open
            {
                return Err(format!("life {time} has open {open:?} and not {before:?}"));
            }
            if time == times {
                return Ok(Ok(run));
            }
        }
        unreachable!()
    }

    /// Starts the ended run again. The run returns its recorded end, and makes no call.
    fn repeat(&self, told: &Told) -> Result<(), String> {
        let made = self.case.world.calls();
        let again = self.settle(&mut self.live(), &mut Rng::with_seed(2));
        let again = again.map(|(again, _)| again);
        if again.as_ref() != Some(told) || self.case.world.calls() != made {
            return Err(format!(
                "after another start, it has {again:?} and not {told:?}"
            ));
        }
        Ok(())
    }
}

/// The end of a run, and its report.
type Ended = (Told, Report);

/// Crashes after each turn of the script. Returns the number of crashes, or the first difference.
fn crash_everywhere<'p>(
    case: &dyn Fn() -> Case<'p>,
    shape: Shape,
    most: u64,
) -> Result<u64, String> {
    for turns in 0..most {
        // With all records, the state after the crash is the state before the crash.
        let whole = Played::new(case(), shape);
        let mut run = whole.live();
        let played = whole.play(&mut run, turns, MOST);
        let (has_ended, open) = (played.is_some(), whole.open());
        let (expected, report) = played.unwrap_or_else(|| whole.finish(&mut run));
        drop(run);
        let of = |why: String| format!("after turn {turns}: {why}");
        let (reported, made) = (calls(&report), whole.case.world.calls());
        if reported != made {
            return Err(of(format!(
                "{reported} calls are reported, and {made} made: {report}"
            )));
        }
        whole.repeat(&expected).map_err(of)?;
        if has_ended {
            return Ok(turns);
        }
        let broken = Played::new(case(), shape);
        let mut run = broken.live();
        let _ = broken.play(&mut run, turns, MOST);
        drop(run);
        let (told, _) = match broken.again(1).map_err(of)? {
            Ok(mut run) => {
                let now = broken.open();
                if now != open {
                    return Err(of(format!("open are {now:?} and not {open:?}")));
                }
                broken.finish(&mut run)
            }
            Err(told) => told,
        };
        // After a crash, a grace begins again.
        if told != expected && shape.grace != 10 {
            return Err(of(format!("{told:?} and not {expected:?}")));
        }
        broken.repeat(&told).map_err(of)?;
        // Without the last records, a call may be repeated. Afterwards, each state is durable.
        let broken = Played::new(case(), shape);
        let mut run = broken.live();
        let _ = broken.play(&mut run, turns, MOST);
        let mut random = Rng::with_seed(turns);
        broken.happen(turns + 1, MOST, &mut random);
        let mut has_ended = false;
        for _ in 0..random.usize(..12) {
            if random.bool() {
                broken.journal.flush();
            } else if run.is_woken() && run.poll().is_ready() {
                has_ended = true;
                break;
            }
        }
        drop(run);
        broken.journal.lose();
        if !has_ended
            && let Ok(mut run) = broken.again(2).map_err(|why| of(format!("lossy: {why}")))?
        {
            let (told, _) = broken.finish(&mut run);
            drop(run);
            broken
                .repeat(&told)
                .map_err(|why| of(format!("lossy: {why}")))?;
        }
    }
    Ok(most)
}

/// Makes the plan and the shape of a seed, and tries a case.
fn with_seed<T>(
    seed: u64,
    attempt: impl for<'p> FnOnce(&dyn Fn() -> Case<'p>, Shape) -> Result<T, String>,
) -> Result<T, String> {
    let mut random = Rng::with_seed(seed);
    let size = random.usize(2..=10);
    let mut maker = Maker::new(&mut random);
    let mut plan = maker.plan(size, 0);
    let mut plans = maker.into_plans();
    vary(&mut plan, true, &mut random);
    for plan in &mut plans {
        vary(plan, true, &mut random);
    }
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let plan = Executable::new(&plan);
    assert_eq!(plan.mistake(), None);
    let shape = Shape {
        has_gate: random.u8(..3) == 0,
        has_deadline: random.u8(..3) == 0,
        is_cancelled: random.u8(..4) == 0,
        grace: random.choice([0, 10, LONG]).unwrap_or(LONG),
        throttle: (random.u8(..4) == 0).then(|| random.usize(1..=2)),
    };
    let case = || Case::of_attempts(&plan, &plans, seed);
    let tried = catch_unwind(AssertUnwindSafe(|| attempt(&case, shape)));
    let tried = tried.unwrap_or_else(|_| Err("it panicked".into()));
    let texts: String = plans.iter().map(plan_text).collect();
    tried.map_err(|why| {
        format!(
            "seed {seed}, {shape:?}, {why}\n{}\n{texts}",
            plan_text(&plan)
        )
    })
}

/// Tries all seeds and the `known` ones, which have found errors. Tells the shortest failures.
fn all_seeds(known: &[u64], mut try_seed: impl FnMut(u64) -> Result<u64, String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    let known = known.iter().copied().filter(|seed| *seed >= cases());
    for seed in (0..cases()).chain(known) {
        match try_seed(seed) {
            Ok(more) => count += more,
            Err(why) => wrong.push(why),
        }
    }
    println!("{count}");
    wrong.sort_by_key(|why| (why.contains("has_gate: true"), why.len()));
    let first: String = wrong.iter().take(3).map(|why| format!("\n{why}")).collect();
    assert!(wrong.is_empty(), "{} of {}: {first}", wrong.len(), cases());
}

/// Cancels a run after each turn of the script, in memory and with a journal, and crashes the run with the journal. No call that never began has a start, an
/// end or an attempt.
fn cancel_everywhere<'p>(
    case: &dyn Fn() -> Case<'p>,
    shape: Shape,
    most: u64,
) -> Result<u64, String> {
    for turns in 0..most {
        let mut has_ended = true;
        for is_durable in [false, true] {
            let of = |why: String| format!("after turn {turns}, journal {is_durable}: {why}");
            let played = Played {
                is_durable,
                ..Played::new(case(), shape)
            };
            let mut run = played.live();
            let ended = played.play(&mut run, turns, MOST);
            has_ended &= ended.is_some();
            let (_, report) = ended.unwrap_or_else(|| {
                played.desk.cancel();
                played.finish(&mut run)
            });
            played.check_events(Some(&report)).map_err(of)?;
        }
        let played = Played::new(case(), shape);
        let _ = played.play(&mut played.live(), turns, MOST);
        played.check_events(None)?;
        played.journal.lose();
        let mut run = played.live();
        played.desk.cancel();
        let _ = played.finish(&mut run);
        let of = |why: String| format!("after turn {turns} and a crash: {why}");
        played.check_events(None).map_err(of)?;
        if has_ended {
            return Ok(turns);
        }
    }
    Ok(most)
}

#[test]
fn a_call_that_never_began_has_no_event_and_no_attempt() {
    // An inner scope has the id of a scope that has ended.
    all_seeds(&[204], |seed| {
        with_seed(seed, |case, shape| cancel_everywhere(case, shape, 25))
    });
}

#[test]
fn many_things_at_one_moment_are_decided_after_a_crash_as_before() {
    // Throttles let calls wait. After a crash, the calls start in the same order.
    all_seeds(&[124, 227], |seed| {
        with_seed(seed, |case, shape| crash_everywhere(case, shape, 25))
    });
}

/// The records of a run without times, by their keys. The counts of undone steps and the documents of plans contain no times.
fn without_times(records: Vec<(String, String)>) -> BTreeMap<String, Value> {
    let records = records.into_iter().map(|(key, body)| {
        let mut body: Value = serde_json::from_str(&body).unwrap();
        if let Some(body) = body.as_object_mut() {
            body.remove("at");
        }
        // The end of the grace is a time.
        if key.ends_with("!grace") {
            body = Value::Null;
        }
        (key, body)
    });
    records.collect()
}

#[test]
fn the_records_of_runs_stay_the_same() {
    let mut outcomes = Vec::new();
    all_seeds(&[], |seed| {
        let (told, records) = with_seed(seed, |case, shape| {
            let shape = Shape {
                throttle: None,
                ..shape
            };
            let played = Played::new(case(), shape);
            let mut run = played.live();
            let (told, _) = match played.play(&mut run, 25, 1) {
                Some(told) => told,
                None => played.finish(&mut run),
            };
            Ok((told, without_times(played.journal.records())))
        })?;
        outcomes.push(format!("{told:?}\n{records:#?}"));
        Ok(records.len() as u64)
    });
    golden::check("records", &outcomes);
}

/// The names of the calls that have started.
#[derive(Default)]
struct Beside(Mutex<Vec<String>>);

/// Counts, after a while.
#[tool]
async fn count(world: &Beside, #[context] context: CallContext, n: u64) -> ToolResult<u64> {
    world.0.lock().unwrap().push(key(&context));
    for _ in 0..n % 3 {
        yield_now().await;
    }
    Ok(n)
}

plan! {
    Counted(n: u64) -> u64 {
        step one = Count { n };
        step two = Count { n: n + 1 };
        step three = Count { n: one + two };
        step other = Count { n: n + 7 };
        three + other
    }
}

/// Runs a plan inside its call.
#[tool]
async fn wrap(world: &Beside, #[context] context: CallContext, n: u64) -> ToolResult<u64> {
    Ok(Counted { n }.run(world).inside(&context).await?)
}

plan! {
    Wrapped() -> u64 {
        step first = Wrap { n: 1 };
        step second = Wrap { n: 2 };
        step count = Count { n: 5 };
        step last = Wrap { n: first + count };
        first + second + last
    }
}

/// Plans inside calls have the order of the records in common with the run.
#[test]
fn plans_inside_calls_are_decided_after_a_crash_as_before() {
    let world = Beside::default();
    let whole = Rough::slow();
    let expected = smol::block_on(Wrapped {}.run(&world)).unwrap();
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let world = Beside::default();
        let journal = if seed == 0 {
            whole.clone()
        } else {
            Rough::slow()
        };
        let mut crashes = if seed == 0 { 0 } else { random.u32(1..6) };
        let ended = loop {
            world.0.lock().unwrap().clear();
            let recorded = journal.keys();
            let mut run = Driven::new(Wrapped {}.run(&world).durable(&journal, "run"));
            let mut left = if crashes == 0 {
                usize::MAX
            } else {
                random.usize(..60)
            };
            crashes = crashes.saturating_sub(1);
            let ended = loop {
                if left == 0 {
                    break None;
                }
                left -= 1;
                if run.is_woken() && (random.bool() || !journal.flush()) {
                    if let Poll::Ready(ended) = run.poll() {
                        break Some(ended);
                    }
                } else if !run.is_woken() && !journal.flush() {
                    panic!("seed {seed}: the run waits, and nothing wakes it");
                }
            };
            drop(run);
            journal.lose();
            for called in &*world.0.lock().unwrap() {
                assert!(!recorded.contains(called), "seed {seed}: {called} again");
            }
            if let Some(ended) = ended {
                break ended;
            }
        };
        assert_eq!(ended.unwrap(), expected, "seed {seed}");
        let records = without_times(journal.records());
        assert_eq!(records, without_times(whole.records()), "seed {seed}");
    }
}
