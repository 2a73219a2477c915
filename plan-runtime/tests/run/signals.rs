//! Values that come from outside of a run.

use super::support::{Driven, Lab, Outcome, plan, run, statuses};
use plan_runtime::plan::{Await, Catch, Executable, For, Optional, Policy, Role, Template};
use plan_runtime::run::{
    Limits, ManualTimer, Observer, OnFailure, RunErrorKind, SignalError, Signals, StepRef,
};
use plan_runtime::{Plan, RunError, check};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The plan in which these steps wait for a value instead.
fn awaiting(text: &str, waits: &str) -> Plan {
    let mut plan = plan(text);
    for step in &mut plan.steps {
        if waits.split_whitespace().any(|id| id == step.id) {
            step.body = Await::new("u64").into();
        }
    }
    plan
}

fn with_policy(mut plan: Plan, step: usize, set: impl FnOnce(&mut Policy)) -> Plan {
    set(Arc::make_mut(&mut plan.steps[step].policy));
    plan
}

fn text(error: Result<(), SignalError>) -> String {
    error.unwrap_err().to_string()
}

#[test]
fn a_value_comes_before_the_run_starts_or_while_it_waits() {
    let plan = awaiting("reply, done < reply", "reply");
    let lab = Lab::open();
    let early = run(&plan, &lab);
    early.signals().send("reply", 7).unwrap();
    assert_eq!(Driven::new(early).ended().unwrap(), 8);

    let late = run(&plan, &lab);
    let signals = late.signals();
    let mut driven = Driven::new(late);
    driven.pending();
    let polls = driven.polls;
    driven.pending();
    assert_eq!(driven.polls, polls, "it sleeps");
    signals.send("reply", 8).unwrap();
    assert_eq!(driven.ended().unwrap(), 9);
}

#[test]
fn what_is_wrong_about_a_value_is_said() {
    let plan = awaiting("reply, other, done < reply other", "reply other");
    let lab = Lab::default();
    let run = run(&plan, &lab);
    let signals = run.signals();
    for (path, similar) in [
        ("replay", " (`reply` is similar)"),
        ("done", ""),
        ("reply[0]", ""),
        ("reply.reply", ""),
    ] {
        assert_eq!(
            text(signals.send(path, 1)),
            format!("no step of the run waits for a value at `{path}`{similar}"),
        );
    }
    let nan = text(signals.send("reply", f64::NAN));
    assert_eq!(
        nan,
        "the value for `reply` cannot be sent: the value is NaN, which JSON cannot represent"
    );
    // Nothing checks the types of a plan that was built in Rust.
    signals.send("reply", 1).unwrap();
    let second = signals.send("reply", 2).unwrap_err();
    assert!(matches!(second, SignalError::Second { .. }));
    assert_eq!(second.to_string(), "step `reply` has its value already");

    let mut driven = Driven::new(run);
    driven.pending();
    assert_eq!(
        text(signals.send("reply", 2)),
        "step `reply` has its value already"
    );
    signals.clone().send("other", 3).unwrap();
    driven.pending();
    lab.let_through("done");
    assert_eq!(driven.ended().unwrap(), 5);
    assert_eq!(text(signals.send("other", 3)), "the run has ended");
}

#[test]
fn nothing_is_sent_to_a_run_that_is_gone() {
    let plan = awaiting("reply", "reply");
    let lab = Lab::open();
    let signals = run(&plan, &lab).signals();
    assert_eq!(text(signals.send("reply", 1)), "the run has ended");
    assert!(!format!("{signals:?}").is_empty());
    fn is_shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    is_shared(&signals);
}

#[test]
fn a_run_without_signals_does_not_start() {
    let plan = awaiting("first, reply, other", "reply other");
    let lab = Lab::open();
    let (result, report) = Driven::new(run(&plan, &lab).with_report()).ended();
    assert_eq!(
        result.unwrap_err().to_string(),
        "plan `test` cannot start: steps `reply` and `other` wait for values, and nobody can send them: call `Run::signals` before the run starts"
    );
    assert_eq!(lab.started(), "");
    assert_eq!(report.totals().not_started, 3);

    // Asking too late gives nothing.
    let plan = super::support::plan("first");
    let lab = Lab::default();
    let mut driven = Driven::new(run(&plan, &lab));
    driven.pending();
    lab.let_through("first");
    assert_eq!(driven.ended().unwrap(), 1);
}

#[test]
fn signals_that_are_all_dropped_end_the_waits_without_a_limit() {
    let lab = Lab::open();
    let plan = awaiting("reply, other", "reply other");
    let timed = with_policy(plan.clone(), 0, |policy| {
        policy.timeout = Some(Duration::from_secs(5));
        policy.optional = Optional::Whole;
    });
    let begun = |plan| {
        let run = run(plan, &lab).on_failure(OnFailure::Continue);
        let signals = run.signals();
        (Driven::new(run.with_report()), signals)
    };
    let (mut driven, signals) = begun(&plan);
    driven.pending();
    signals.send("other", 1).unwrap();
    let again = signals.clone();
    drop(signals);
    driven.pending();
    drop(again);
    let (result, report) = driven.ended();
    assert_eq!(
        result.unwrap_err().to_string(),
        "plan `test` failed: step `reply`: no value can arrive: the program dropped all `Signals` of the run"
    );
    let reply = report.step("reply").unwrap();
    assert_eq!(reply.error().unwrap().code(), "NO_SIGNALS");

    // Before the start of the run as well.
    let (mut driven, signals) = begun(&plan);
    signals.send("other", 1).unwrap();
    drop(signals);
    assert!(driven.ended().0.is_err());

    // A time limit ends the wait instead.
    let timer = ManualTimer::new();
    let run = run(&timed, &lab).timer(timer.clone());
    run.signals().send("other", 3).unwrap();
    let mut driven = Driven::new(run);
    driven.pending();
    timer.advance(Duration::from_secs(5));
    assert_eq!(driven.ended().unwrap(), 3);
}

#[test]
fn a_wait_is_no_call() {
    let plan = awaiting("slow, reply, done < reply", "reply");
    let plan = with_policy(plan, 1, |policy| {
        policy.timeout = Some(Duration::from_secs(5));
    });
    let (lab, timer) = (Lab::default(), ManualTimer::new());
    let run = run(&plan, &lab).concurrency(1).timer(timer.clone());
    let signals = run.signals();
    let mut driven = Driven::new(run);
    driven.pending();
    assert_eq!(lab.started(), "slow");
    // Its time passes while the other call runs.
    timer.advance(Duration::from_secs(4));
    driven.pending();
    signals.send("reply", 1).unwrap();
    driven.pending();
    timer.advance(Duration::from_secs(4));
    driven.pending();
    lab.let_through("slow done");
    assert_eq!(driven.ended().unwrap(), 2);
    assert_eq!(lab.most(), 1);
}

#[test]
fn time_limits_hold_from_the_end_of_the_steps_before() {
    let second = Duration::from_secs(1);
    for (timeout, deadline, code) in [
        (Some(5), None, "TIMEOUT"),
        (None, Some(5), "DEADLINE"),
        (Some(5), Some(9), "TIMEOUT"),
    ] {
        let mut plan = awaiting("asked, reply", "reply");
        plan.steps[1].after = vec![0];
        let plan = with_policy(plan, 1, |policy| {
            policy.timeout = timeout.map(|seconds| second * seconds);
            policy.deadline = deadline.map(|seconds| second * seconds);
        });
        let (lab, timer) = (Lab::default(), ManualTimer::new());
        let run = run(&plan, &lab).timer(timer.clone());
        let signals = run.signals();
        let mut driven = Driven::new(run);
        driven.pending();
        timer.advance(second * 100);
        driven.pending();
        lab.let_through("asked");
        driven.pending();
        timer.advance(second * 4);
        driven.pending();
        timer.advance(second);
        let error = driven.ended().unwrap_err();
        assert_eq!(error.failures()[0].error().code(), code);
        assert_eq!(text(signals.send("reply", 1)), "the run has ended");
    }
}

#[test]
fn the_end_of_a_run_ends_its_waits() {
    let statuses_of = |on_failure: OnFailure, send: bool| {
        let plan = awaiting("bad, reply, done < reply", "reply");
        let lab = Lab::default().with("bad", Outcome::Fail);
        lab.let_through("done");
        let run = run(&plan, &lab).on_failure(on_failure);
        let signals = run.signals();
        let mut driven = Driven::new(run.with_report());
        driven.pending();
        lab.let_through("bad");
        if send {
            driven.pending();
            signals.send("reply", 1).unwrap();
        }
        statuses(&driven.ended().1)
    };
    let dropped = "bad failed: no bad today, reply cancelled, done not started";
    assert_eq!(statuses_of(OnFailure::Stop, false), dropped);
    assert_eq!(statuses_of(OnFailure::Cancel, false), dropped);
    assert_eq!(
        statuses_of(OnFailure::Continue, true),
        "bad failed: no bad today, reply completed, done completed"
    );
}

#[test]
fn no_wait_begins_once_the_work_has_ended() {
    let mut plan = awaiting("bad, slow, reply, told", "reply");
    plan.steps[2].after = vec![1];
    plan.steps[3].role = Role::Always;
    plan.output = plan_runtime::plan::Output::new(Template::Null);
    let lab = Lab::default().with("bad", Outcome::Fail);
    let run: plan_runtime::run::Run<'_, Lab, ()> =
        plan_runtime::run::Run::new(&plan, Ok(Vec::new()), &lab, super::support::start);
    let _signals = run.signals();
    let mut driven = Driven::new(run.with_report());
    driven.pending();
    lab.let_through("bad");
    driven.pending();
    lab.let_through("slow told");
    assert_eq!(
        statuses(&driven.ended().1),
        "bad failed: no bad today, slow completed, reply not started, told completed"
    );
}

#[test]
fn a_run_that_is_cancelled_or_late_drops_its_waits() {
    let plan = awaiting("reply", "reply");
    let lab = Lab::open();
    let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
    let begun = run(&plan, &lab).cancel_on(cancelled);
    let _signals = begun.signals();
    let mut driven = Driven::new(begun);
    driven.pending();
    cancel.send(()).unwrap();
    assert_eq!(driven.ended().unwrap_err().kind(), RunErrorKind::Cancelled);

    let timer = ManualTimer::new();
    let begun = run(&plan, &lab).timer(timer.clone());
    let begun = begun.deadline(Duration::from_secs(3));
    let _signals = begun.signals();
    let mut driven = Driven::new(begun);
    driven.pending();
    timer.advance(Duration::from_secs(3));
    assert_eq!(driven.ended().unwrap_err().kind(), RunErrorKind::Deadline);
}

#[test]
fn failures_of_a_wait_are_recovered_as_others_are() {
    let ended = |set: fn(&mut Policy)| -> Result<serde_json::Value, RunError> {
        let plan = with_policy(awaiting("reply", "reply"), 0, set);
        let lab = Lab::open();
        let run = plan_runtime::run::Run::new(&plan, Ok(Vec::new()), &lab, super::support::start);
        drop(run.signals());
        Driven::new(run).ended()
    };
    let recovered = ended(|policy| policy.fallback = Some(5.into()));
    assert_eq!(recovered.unwrap(), 5);
    let recovered = ended(|policy| policy.optional = Optional::Whole);
    assert!(recovered.unwrap().is_null());
    let caught = ended(|policy| policy.catch = Catch::Whole).unwrap();
    assert_eq!(caught["Err"]["code"], "NO_SIGNALS");
    assert_eq!(caught["Err"]["step"], "reply");
}

#[test]
fn what_is_sent_counts_toward_the_limits() {
    let plan = awaiting("reply, other, done < reply", "reply other");
    let lab = Lab::open();
    let limits = Limits::DEFAULT.value(200).total(300);
    let begun = run(&plan, &lab).limits(limits);
    let signals = begun.signals();
    assert_eq!(
        text(signals.send("reply", "x".repeat(300))),
        "the value for `reply` cannot be sent: the value would take more than 200 bytes, the run's limit for one value; \
         read less of it, or raise `run::Limits::value`"
    );
    signals.send("reply", "x".repeat(150)).unwrap();
    let error = text(signals.send("other", "x".repeat(150)));
    assert!(
        error.contains("the run would hold more than 300 bytes, its limit"),
        "{error}"
    );

    // Limits that are set later apply as well.
    let begun = run(&plan, &lab);
    let signals = begun.signals();
    signals.send("reply", "x".repeat(500)).unwrap();
    let error = Driven::new(begun.limits(limits)).ended().unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
}

#[test]
fn plans_that_cannot_wait_do_not_run() {
    let mistake = |change: fn(&mut Plan)| {
        let mut plan = awaiting("first, reply", "reply");
        change(&mut plan);
        let executable = Executable::new(&plan);
        executable.mistake().map(str::to_owned).unwrap_or_default()
    };
    assert_eq!(mistake(|_| {}), "");
    assert_eq!(
        mistake(|plan| {
            let each = For::new("x", Template::List(Vec::new()), Await::new("u64"));
            plan.steps[1].body = each.into();
        }),
        "step `reply` waits for a value in an `if` or a `for`"
    );
    assert_eq!(
        mistake(|plan| Arc::make_mut(&mut plan.steps[1].policy).attempts = 2),
        "step `reply` has a policy that means nothing: a wait has no attempts"
    );
    for role in [Role::Undo(0), Role::Always] {
        let mut plan = awaiting("first, reply", "reply");
        plan.output = plan_runtime::plan::Output::new(Template::Null);
        plan.steps[1].role = role;
        let executable = Executable::new(&plan);
        let mistake = executable.mistake().unwrap();
        assert!(
            mistake.contains("cannot wait for one; wait in a step before"),
            "{mistake}"
        );
    }
    assert!(
        mistake(|plan| {
            let mut undo = plan.steps[0].clone();
            undo.id = "undo".into();
            undo.role = Role::Undo(1);
            plan.steps.push(undo);
        })
        .contains("undoes `reply`, which calls no tool")
    );
}

#[derive(Default)]
struct Events(Mutex<Vec<String>>);

impl Observer for Events {
    fn step_ready(&self, step: &StepRef<'_>) {
        self.0.lock().unwrap().push(format!("{step} is ready"));
    }
    fn step_started(&self, step: &StepRef<'_>) {
        self.0.lock().unwrap().push(format!("{step} starts"));
    }
    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, took: Duration) {
        let event = format!("{step} has its value, {attempt}, after {took:?}");
        self.0.lock().unwrap().push(event);
    }
    fn step_finished(&self, step: &StepRef<'_>, status: &plan_runtime::run::Status, _: Duration) {
        self.0.lock().unwrap().push(format!("{step}: {status}"));
    }
}

#[test]
fn whoever_watches_sees_the_wait_as_any_step() {
    let plan = awaiting("reply", "reply");
    let (lab, timer, events) = (Lab::open(), ManualTimer::new(), Arc::new(Events::default()));
    let run = run(&plan, &lab)
        .timer(timer.clone())
        .observe(Arc::clone(&events))
        .capture_outputs(true);
    let signals = run.signals();
    let mut driven = Driven::new(run.with_report());
    driven.pending();
    timer.advance(Duration::from_secs(2));
    signals.send("reply", 1).unwrap();
    let (_, report) = driven.ended();
    assert_eq!(
        *events.0.lock().unwrap(),
        [
            "reply is ready",
            "reply starts",
            "reply has its value, 1, after 2s",
            "reply: completed"
        ]
    );
    let reply = report.step("reply").unwrap();
    assert_eq!(reply.output(), Some(&1.into()));
    assert_eq!(reply.duration(), Some(Duration::from_secs(2)));
    assert_eq!((reply.tool(), reply.attempts().len()), (None, 1));
}

/// Values for many steps, sent by several threads at random moments and in random order, while the run waits for some and not yet for others.
#[test]
fn every_value_arrives_exactly_once() {
    const VALUES: usize = 40;
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut steps = Vec::new();
        for number in 0..VALUES {
            steps.push(format!("v{number}"));
            steps.push(format!("w{number} < v{number}"));
        }
        let waits: Vec<String> = (0..VALUES).map(|number| format!("v{number}")).collect();
        let mut plan = awaiting(&steps.join(", "), &waits.join(" "));
        // Some steps wait for values that others read.
        for number in 1..VALUES {
            if random.bool() {
                plan.steps[2 * number].after = vec![2 * random.usize(0..number) + 1];
            }
        }
        let all = (0..VALUES).map(|number| super::support::reference(2 * number + 1));
        let all: Vec<Template> = all.collect();
        plan.output = plan_runtime::plan::Output::new(Template::List(all));

        let lab = Lab::open();
        let run: plan_runtime::run::Run<'_, Lab, Vec<usize>> =
            plan_runtime::run::Run::new(&plan, Ok(Vec::new()), &lab, super::support::start);
        let signals = run.signals();
        let mut order: Vec<usize> = (0..VALUES).collect();
        random.shuffle(&mut order);
        let refused = AtomicUsize::new(0);
        let output = std::thread::scope(|scope| {
            for part in order.chunks(VALUES / 4) {
                let (signals, refused): (Signals, _) = (signals.clone(), &refused);
                let mut random = random.fork();
                scope.spawn(move || {
                    for &number in part {
                        std::thread::sleep(Duration::from_micros(random.u64(0..200)));
                        signals.send(&format!("v{number}"), number).unwrap();
                        let again = signals.send(&format!("v{number}"), 1_000);
                        refused.fetch_add(usize::from(again.is_err()), Ordering::Relaxed);
                    }
                });
            }
            drop(signals);
            smol::block_on(run).unwrap()
        });
        let expected: Vec<usize> = (1..=VALUES).collect();
        assert_eq!(output, expected, "seed {seed}");
        assert_eq!(refused.into_inner(), VALUES);
    }
}

#[test]
fn the_json_of_a_value_is_that_of_its_type() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Reply {
        yes: bool,
        #[serde(default)]
        note: String,
    }
    let sent = serde_json::json!({ "yes": true, "more": 1 });
    let received = check::received::<Reply>(&sent).unwrap();
    assert_eq!(received, serde_json::json!({ "yes": true, "note": "" }));
}
