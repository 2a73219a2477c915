//! Properties of runs: they end within their limits for any plan and any tools, and their result does not depend on the order of the
//! steps.

use super::{generate, reader};
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::plan::Role;
use plan_runtime::run::{
    CallContext, DEFAULT_GRACE, Decision, Gate, Limits, ManualTimer, OnFailure, PendingCall, Run,
    RunErrorKind, Status, StepReport, Throttle, Timer,
};
use plan_runtime::{Error, Plan, Report, RunError, tool};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The largest number of polls of a run.
const MOST_POLLS: usize = 100_000;
/// Limits that runs reach often, with little memory and time.
const LIMITS: Limits = Limits::UNTRUSTED
    .value(1 << 20)
    .arguments(1 << 19)
    .total(8 << 20)
    .calls(300)
    .attempts(600)
    .elements(2_000)
    .depth(4);
/// The tool that a gate refuses.
const REFUSED: &str = "u";

/// Checks the runs of the plan in a document. The first byte of the document selects the options of the runs.
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
    quiet_panics();
    let world = World::new(document.plan());
    let timer = &world.timer;

    let Some(alone) = world.drive(world.run().concurrency(1)) else {
        return;
    };
    let Some(together) = world.drive(world.run()) else {
        return;
    };
    super::reached();
    // Memory use differs with the order, so that only one of the runs may reach a limit.
    let limited = |result: &Result<Value, RunError>| {
        result
            .as_ref()
            .is_err_and(|error| error.kind() == RunErrorKind::Limit)
    };
    if !limited(&alone) && !limited(&together) {
        match (&alone, &together) {
            (Ok(alone), Ok(together)) => assert_eq!(alone, together),
            _ => assert_eq!(alone.is_ok(), together.is_ok(), "{text}"),
        }
    }

    let on_failure = [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];
    let most = Duration::from_secs(u64::from(options / 9 % 4) * 1800);
    let configured = world
        .run()
        .on_failure(on_failure[options as usize % 3])
        .concurrency(1 + (options / 3 % 3) as usize)
        .deadline(most)
        .capture_arguments(true)
        .capture_outputs(true);
    let before = timer.elapsed();
    if let Some((result, report)) = world.drive(configured.with_report()) {
        told(&world.plan, &result, &report);
        assert!(timer.elapsed() - before <= most + DEFAULT_GRACE);
    }

    let throttle = Throttle::new()
        .concurrency("*", 1 + (options % 2) as usize)
        .rate("t", 3, Duration::from_secs(1));
    let gate = Arc::new(Desk {
        asked: AtomicUsize::new(0),
        timer: timer.clone(),
    });
    let watched = world.run().gate(gate.clone()).throttle(&throttle);
    if let Some((result, report)) = world.drive(watched.with_report()) {
        told(&world.plan, &result, &report);
        assert!(gate.asked.load(Ordering::Relaxed) <= LIMITS.calls);
        assert_eq!(world.calls.refused.load(Ordering::Relaxed), 0);
        assert!(world.calls.most_open.load(Ordering::Relaxed) <= 1 + options as usize % 2);
    }

    let mut dropped = pin!(world.run());
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

/// Returns the report of a run with steps that fail, panic and wait, if the plan can run here.
pub fn report(plan: &Plan) -> Option<(Result<Value, RunError>, Report)> {
    quiet_panics();
    let world = World::new(plan);
    let run = world.run().on_failure(OnFailure::Continue);
    let run = run.capture_arguments(true).capture_outputs(true);
    world.drive(run.with_report())
}

/// A plan with the application of its runs.
struct World {
    plan: Plan,
    inputs: Value,
    toolbox: Toolbox<World>,
    timer: ManualTimer,
    calls: Calls,
}

impl World {
    fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            inputs: inputs(plan),
            toolbox: toolbox(),
            timer: ManualTimer::new(),
            calls: Calls::default(),
        }
    }

    fn run(&self) -> Run<'_, Self, Value> {
        let run = self.toolbox.run(&self.plan, &self.inputs, self);
        // Some of the steps that wait for a value get one, and nobody sends more.
        let signals = run.signals();
        for (number, step) in self.plan.steps.iter().enumerate() {
            if number % 2 == 0 {
                let _ = signals.send(&step.id, number);
            }
        }
        run.limits(LIMITS).timer(self.timer.clone())
    }

    /// Polls until the run is ready, and moves the time on when nothing else happens; `None` where it moves too far.
    fn drive<F: Future>(&self, future: F) -> Option<F::Output> {
        self.calls.reset();
        let output = drive(&self.timer, future);
        assert_eq!(self.calls.open.load(Ordering::Relaxed), 0, "a call is left");
        assert!(self.calls.made.load(Ordering::Relaxed) <= LIMITS.attempts);
        assert!(self.calls.depth.load(Ordering::Relaxed) <= LIMITS.depth);
        output
    }
}

/// The calls so far.
#[derive(Default)]
struct Calls {
    made: AtomicUsize,
    open: AtomicUsize,
    most_open: AtomicUsize,
    refused: AtomicUsize,
    depth: AtomicUsize,
}

impl Calls {
    fn reset(&self) {
        DEPTH.set(0);
        for count in [&self.made, &self.most_open, &self.refused, &self.depth] {
            count.store(0, Ordering::Relaxed);
        }
    }
}

/// A call that has not ended.
struct Open<'w>(&'w Calls);

impl<'w> Open<'w> {
    fn new(calls: &'w Calls, is_refused: bool) -> Self {
        calls.made.fetch_add(1, Ordering::Relaxed);
        calls
            .refused
            .fetch_add(is_refused.into(), Ordering::Relaxed);
        let open = 1 + calls.open.fetch_add(1, Ordering::Relaxed);
        calls.most_open.fetch_max(open, Ordering::Relaxed);
        Self(calls)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Refuses the calls of one tool, and thinks about some others for a while.
struct Desk {
    asked: AtomicUsize,
    timer: ManualTimer,
}

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if call.tool() == REFUSED {
            return Decision::Refuse(call.to_string());
        }
        if asked.is_multiple_of(3) {
            self.timer.sleep(Duration::from_secs(1)).await;
        }
        match asked % 5 {
            4 => Decision::AllowStep,
            _ => Decision::Allow,
        }
    }
}

thread_local! {
    /// The number of plans around the plan that is being polled. The contexts of calls do not contain it, since blocks have
    /// contexts as well.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs the plan inside of itself.
#[tool(crate = plan_runtime)]
async fn nest(world: &World, #[context] context: CallContext) -> plan_runtime::Result<Value> {
    let depth = DEPTH.get();
    world.calls.depth.fetch_max(depth, Ordering::Relaxed);
    let nested = world.toolbox.run(&world.plan, &world.inputs, world);
    let mut nested = pin!(nested.inside(&context).into_future());
    let inside = poll_fn(|cx| {
        DEPTH.set(depth + 1);
        let output = nested.as_mut().poll(cx);
        DEPTH.set(depth);
        output
    });
    Ok(inside.await?)
}

/// Returns tools with every possible behavior.
fn toolbox() -> Toolbox<World> {
    let strange = generate::TEXTS.iter().filter(|name| !name.is_empty());
    let echoes = strange.chain(&["t", REFUSED]);
    let toolbox = echoes.fold(Toolbox::new().with::<Nest>(), |toolbox, name| {
        with(toolbox, Contract::new(*name), |_, given| async {
            Ok(given)
        })
    });
    let toolbox = with(toolbox, Contract::new("fail"), |_, given| async move {
        Err(Error::msg(format!("failed with {given}")))
    });
    let toolbox = with(toolbox, Contract::new("busy"), |_, _| async {
        Err(Error::msg("busy").retry_after(Duration::from_secs(60)))
    });
    let toolbox = with(toolbox, Contract::new("panic"), |_, given| async move {
        Panicking::with(|| panic!("panicked with {given}"))
    });
    let toolbox = with(toolbox, Contract::new("hang"), |world, given| {
        let sleep = world.timer.sleep(Duration::from_secs(3600));
        async move {
            sleep.await;
            Ok(given)
        }
    });
    let toolbox = with(toolbox, Contract::new("list"), |_, given| async move {
        Ok(json!([given, 1, "two", null, { "x": [given] }]))
    });
    let toolbox = with(toolbox, Contract::new("huge"), |_, _| async {
        Ok("x".repeat(1 << 16).into())
    });
    let toolbox = with(toolbox, Contract::new("deep"), |_, given| async {
        Ok((0..100).fold(given, |inner, _| json!([inner])))
    });
    let toolbox = with(toolbox, Contract::new("nothing"), |_, _| async {
        Ok(Value::Null)
    });
    let typed = Contract::new("typed").arguments(json!({"required": ["x"]}));
    with(toolbox, typed, |_, given| async { Ok(given) })
}

/// Adds a tool whose calls are counted.
fn with<F, R>(toolbox: Toolbox<World>, contract: Contract, call: F) -> Toolbox<World>
where
    F: Fn(&World, Value) -> R + Send + Sync + 'static,
    R: Future<Output = plan_runtime::Result<Value>> + Send + 'static,
{
    let is_refused = contract.name == REFUSED;
    toolbox.with_app_fn(contract, move |world, given| {
        let open = Open::new(&world.calls, is_refused);
        let result = call(world, given);
        Box::pin(async move {
            let _open = open;
            result.await
        })
    })
}

/// Checks that a report agrees with the end of the run.
fn told(plan: &Plan, result: &Result<Value, RunError>, report: &Report) {
    let steps = report.steps();
    assert_eq!(steps.len(), plan.steps.len());
    let failed = |step: &Status| matches!(step, Status::Failed(_) | Status::Blocked { .. });
    let is_undone = |step: &StepReport, id: &str| match result {
        Ok(_) => false,
        Err(error) => {
            let undone = error.undone().any(|it| it == id);
            assert!(!undone || !error.not_undone().any(|it| it == id), "{id}");
            assert_eq!(undone, matches!(step.status(), Status::Completed), "{id}");
            undone
        }
    };
    for (report, step) in steps.iter().zip(&plan.steps) {
        match step.role {
            Role::Work => assert!(result.is_err() || !failed(report.status())),
            Role::Undo(undone) => {
                let undone = is_undone(report, &plan.steps[undone].id);
                assert!(result.is_err() || matches!(report.status(), Status::Skipped));
                assert!(!undone || result.is_err());
            }
            _ => {}
        }
    }
    for step in steps {
        if let Status::Blocked { by, .. } = step.status() {
            assert!(plan.steps.iter().any(|step| step.id == *by));
        }
    }
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
