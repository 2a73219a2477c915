//! Whole runs: they end, whatever a plan says and its tools do, and give the same in whichever order the steps run.

use super::{generate, reader};
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::plan::{Body, Plan, Selector, Step, Template};
use plan_runtime::run::{Limits, ManualTimer, OnFailure, Report, Run, Status, Timer};
use plan_runtime::{Error, RunError};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// How many calls a plan may make, as far as it shows. What it makes beyond that takes time, and nothing else.
const MOST_CALLS: u64 = 1_000;
/// How often a run of such a plan is polled at most.
const MOST_POLLS: usize = 100_000;
/// So that runs reach them, and none takes much memory.
const LIMITS: Limits = Limits::DEFAULT.value(1 << 20).total(8 << 20);
/// How many elements a list has that a tool here makes.
const LIST: u64 = 5;

/// What holds of the runs of the plan that a text says. The first byte of the text says how they are run.
pub fn runs(data: &[u8]) {
    let Some(text) = generate::text(data, generate::run) else {
        return;
    };
    let (options, text) = match text.chars().next() {
        Some(first) => (first as u32, &text[first.len_utf8()..]),
        None => return,
    };
    let Ok(document) = reader().read(text) else {
        return;
    };
    let plan = document.plan();
    if calls(plan) > MOST_CALLS {
        return;
    }
    quiet_panics();
    let timer = ManualTimer::new();
    let toolbox = toolbox(&timer);
    let inputs = inputs(plan);
    let run = || toolbox.run(plan, &inputs, &()).limits(LIMITS);

    let alone = drive(&timer, run().timer(timer.clone()).concurrency(1));
    let together = drive(&timer, run().timer(timer.clone()));
    match (&alone, &together) {
        (Some(Ok(alone)), Some(Ok(together))) => assert_eq!(alone, together),
        (Some(alone), Some(together)) => assert_eq!(alone.is_ok(), together.is_ok(), "{text}"),
        (None, _) | (_, None) => return,
    }

    let on_failure = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];
    let configured = run()
        .timer(timer.clone())
        .on_failure(on_failure[options as usize % 3])
        .concurrency(1 + (options / 3 % 3) as usize)
        .deadline(Duration::from_secs(u64::from(options / 9 % 4) * 1800))
        .capture_arguments(true)
        .capture_outputs(true);
    let before = timer.elapsed();
    if let Some((result, report)) = drive(&timer, configured.with_report()) {
        told(plan, &result, &report);
        let most = Duration::from_secs(u64::from(options / 9 % 4) * 1800);
        assert!(timer.elapsed() - before <= most);
    }

    let mut dropped = pin!(run().timer(timer.clone()));
    for _ in 0..options / 36 % 8 {
        if dropped
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
        {
            break;
        }
    }
}

/// The report of a run in which steps fail, panic and wait, if the plan is one that can be run here.
pub fn report(plan: &Plan) -> Option<(Result<Value, RunError>, Report)> {
    if calls(plan) > MOST_CALLS {
        return None;
    }
    quiet_panics();
    let timer = ManualTimer::new();
    let toolbox = toolbox(&timer);
    let inputs = inputs(plan);
    let run: Run<'_, (), Value> = toolbox.run(plan, &inputs, &()).limits(LIMITS);
    let run = run.timer(timer.clone()).on_failure(OnFailure::Continue);
    let run = run.capture_arguments(true).capture_outputs(true);
    drive(&timer, run.with_report())
}

/// What a report says agrees with how the run ended.
fn told(plan: &Plan, result: &Result<Value, RunError>, report: &Report) {
    let steps = report.steps();
    assert_eq!(steps.len(), plan.steps.len());
    let failed = |step: &Status| matches!(step, Status::Failed(_) | Status::Blocked { .. });
    if result.is_ok() {
        assert!(!steps.iter().any(|step| failed(step.status())));
    }
    for step in steps {
        if let Status::Blocked { by, .. } = step.status() {
            assert!(plan.steps.iter().any(|step| step.id == *by));
        }
    }
}

/// Tools that do whatever tools can do.
fn toolbox(timer: &ManualTimer) -> Toolbox<()> {
    let mut toolbox = Toolbox::new();
    let strange = generate::TEXTS.iter().filter(|name| !name.is_empty());
    for name in strange.chain(&["t", "u"]) {
        toolbox = toolbox.with_fn(Contract::new(*name), |given| async move { Ok(given) });
    }
    let timer = timer.clone();
    toolbox
        .with_fn(Contract::new("fail"), |given: Value| async move {
            Err(Error::msg(format!("failed with {given}")))
        })
        .with_fn(Contract::new("panic"), |given: Value| async move {
            Panicking::with(|| panic!("panicked with {given}"))
        })
        .with_fn(Contract::new("hang"), move |given: Value| {
            let sleep = timer.sleep(Duration::from_secs(3600));
            async move {
                sleep.await;
                Ok(given)
            }
        })
        .with_fn(Contract::new("list"), |given: Value| async move {
            Ok(json!([given, 1, "two", null, { "x": [given] }]))
        })
        .with_fn(Contract::new("huge"), |_| async move {
            Ok("x".repeat(1 << 16).into())
        })
        .with_fn(Contract::new("deep"), |given| async move {
            Ok((0..100).fold(given, |inner, _| json!([inner])))
        })
        .with_fn(Contract::new("nothing"), |_| async move { Ok(Value::Null) })
        .with_fn(
            Contract::new("typed").arguments(json!({"required": ["x"]})),
            |given| async move { Ok(given) },
        )
}

fn inputs(plan: &Plan) -> Value {
    let value = |index: usize| match index % 3 {
        0 => json!("${step[0]} {{a.result}} $ref:a"),
        1 => json!([1, 2]),
        _ => json!({ "x": { "reference": { "step": "a" } } }),
    };
    let inputs = plan.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, input)| (input.name.to_string(), value(index)));
    Value::Object(inputs.collect::<Map<_, _>>())
}

/// Polls until the future is ready, and moves the time on when nothing else happens; `None` where it moves too far.
fn drive<F: Future>(timer: &ManualTimer, future: F) -> Option<F::Output> {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(woken.clone());
    let mut future = pin!(future);
    for _ in 0..MOST_POLLS {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        if !woken.0.swap(false, Ordering::Relaxed) {
            let next = timer.next().expect("nothing wakes the run");
            timer
                .elapsed()
                .checked_add(next)
                .filter(|end| end.as_secs() < 1 << 40)?;
            timer.advance(next);
        }
    }
    panic!("the run does not end");
}

/// How many calls a plan makes at most, as far as it shows.
fn calls(plan: &Plan) -> u64 {
    let mut lists = Lists {
        longest: LIST,
        projections: 0,
    };
    let fallbacks = plan
        .steps
        .iter()
        .filter_map(|step| step.policy.fallback.as_ref());
    fallbacks
        .chain([&plan.output.value])
        .for_each(|it| lists.see(it));
    plan.steps.iter().for_each(|step| lists.see_all(&step.body));
    // A list of lists is one list after a projection, whose elements may be projected again.
    let unknown = lists.longest.saturating_pow(1 + lists.projections);
    let of_step = |step: &Step| {
        of_body(&step.body, unknown).saturating_mul(u64::from(step.policy.attempts.max(1)))
    };
    plan.steps.iter().map(of_step).fold(0, u64::saturating_add)
}

/// The lists of a plan.
struct Lists {
    longest: u64,
    projections: u32,
}

impl Lists {
    fn see_all(&mut self, body: &Body) {
        match body {
            Body::Action(action) => self.see(&action.args),
            Body::If(branches) => branches.iter().for_each(|it| self.see_all(&it.body)),
            Body::For(each) => {
                self.see(&each.list);
                self.see_all(&each.body);
            }
            other => panic!("{other:?}"),
        }
    }

    fn see(&mut self, template: &Template) {
        match template {
            Template::Tagged(_, content) => {
                self.longest = self.longest.max(1);
                content.iter().for_each(|content| self.see(content));
            }
            Template::List(items) => {
                self.longest = self.longest.max(items.len() as u64);
                items.iter().for_each(|item| self.see(item));
            }
            Template::Object(entries) => entries.iter().for_each(|it| self.see(&it.value)),
            Template::Reference(reference) => {
                let segments = reference.path.iter();
                let each = segments.filter(|segment| segment.selector == Selector::Each);
                self.projections += each.count() as u32;
            }
            _ => {}
        }
    }
}

fn of_body(body: &Body, unknown: u64) -> u64 {
    match body {
        Body::Action(_) => 1,
        Body::If(branches) => {
            let branches = branches
                .iter()
                .map(|branch| 1 + of_body(&branch.body, unknown));
            branches.fold(0, u64::saturating_add)
        }
        Body::For(each) => {
            let elements = match &each.list {
                Template::List(items) => items.len() as u64,
                _ => unknown,
            };
            let elements = elements.max(1).saturating_mul(of_body(&each.body, unknown));
            elements.saturating_add(1)
        }
        other => panic!("{other:?}"),
    }
}

/// A panic of a tool, which is not a panic of the run.
struct Panicking;

thread_local! {
    static IN_TOOL: Cell<bool> = const { Cell::new(false) };
}

impl Panicking {
    fn with<T>(panic: impl FnOnce() -> T) -> T {
        IN_TOOL.set(true);
        panic()
    }
}

/// Panics of tools are not reported, and do not end the fuzzer; all others do.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IN_TOOL.replace(false) {
                report(panic);
            }
        }));
    });
}
