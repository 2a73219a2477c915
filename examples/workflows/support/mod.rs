//! The parts that the workflows share: a simulated world that follows a scenario, and a comparison of both versions in
//! it.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each workflow uses a part of this"
)]

pub mod by_hand;

use plan_runtime::run::{RunErrorKind, Timer, TimerFuture};
use plan_runtime::{Error, Failure, Report, Result, RunError, Terminal};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The world outside, on which the tools work. It notes each call. A call takes a second and succeeds, unless the scenario has a fault for it.
#[derive(Default)]
pub struct World {
    calls: Mutex<Vec<(Instant, String)>>,
    faults: Mutex<Vec<Fault>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

/// The outcome of the next calls whose description starts with `call`.
struct Fault {
    call: &'static str,
    times: usize,
    effect: Effect,
}

#[derive(Clone)]
enum Effect {
    Breaks(&'static str),
    Busy,
    Takes(Duration),
}

impl World {
    /// All these calls fail, permanently.
    pub fn breaks(self, call: &'static str, reason: &'static str) -> Self {
        self.fault(call, usize::MAX, Effect::Breaks(reason))
    }

    /// The first of these calls fail, and another try may succeed.
    pub fn busy(self, call: &'static str, times: usize) -> Self {
        self.fault(call, times, Effect::Busy)
    }

    /// All these calls take longer.
    pub fn takes(self, call: &'static str, seconds: u64) -> Self {
        let effect = Effect::Takes(Duration::from_secs(seconds));
        self.fault(call, usize::MAX, effect)
    }

    fn fault(self, call: &'static str, times: usize, effect: Effect) -> Self {
        let fault = Fault {
            call,
            times,
            effect,
        };
        locked(&self.faults).push(fault);
        self
    }

    /// Records a call and applies its fault, as the first action of every tool.
    pub async fn call(&self, call: impl Into<String>) -> Result<()> {
        let call = call.into();
        let effect = self.effect(&call);
        locked(&self.calls).push((TokioTimer.now(), call));

        let _open = Open::new(self);
        match effect {
            Some(Effect::Takes(duration)) => tokio::time::sleep(duration).await,
            _ => tokio::time::sleep(Duration::from_secs(1)).await,
        }
        match effect {
            Some(Effect::Breaks(reason)) => Err(Error::permanent(reason)),
            Some(Effect::Busy) => Err(Error::msg("busy")),
            _ => Ok(()),
        }
    }

    fn effect(&self, call: &str) -> Option<Effect> {
        let mut faults = locked(&self.faults);
        let mut matching = faults.iter_mut().filter(|fault| fault.times > 0);
        let fault = matching.find(|fault| call.starts_with(fault.call))?;
        fault.times -= 1;
        Some(fault.effect.clone())
    }

    /// Returns all calls so far, in the order of their starts. Concurrent calls are sorted by their descriptions.
    pub fn calls(&self) -> Vec<String> {
        let mut calls = locked(&self.calls).clone();
        calls.sort();
        calls.into_iter().map(|(_, call)| call).collect()
    }

    /// Returns the largest number of concurrent calls.
    pub fn most_open(&self) -> usize {
        self.most_open.load(Ordering::Relaxed)
    }
}

/// A call that runs, until it ends or is dropped.
struct Open<'a>(&'a World);

impl<'a> Open<'a> {
    fn new(world: &'a World) -> Self {
        let open = world.open.fetch_add(1, Ordering::Relaxed) + 1;
        world.most_open.fetch_max(open, Ordering::Relaxed);
        Self(world)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics that has the lock")
}

/// The clock of tokio, for plans. All workflows pause it, so that waits take no time, and equal time in each run.
pub struct TokioTimer;

impl Timer for TokioTimer {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Prints how both versions ended, and the report of the plan's run.
pub fn show<T: Debug>(
    title: &str,
    (plan, report): (Result<T, RunError>, Report),
    by_hand: impl Debug,
) {
    let terminal = Terminal::stdout();
    println!("\n== {title}");
    let plan = match plan {
        Ok(output) => format!("as a plan: {output:?}"),
        Err(error) => format!("as a plan: {error}"),
    };
    println!("{}", terminal.text(plan));
    println!("{}", terminal.text(format!("by hand:   {by_hand:?}")));
    println!("{}", terminal.report(&report));
}

/// The result of a workflow, with its calls.
#[derive(Debug, PartialEq)]
pub struct Done<T> {
    pub output: Result<T, String>,
    pub calls: Vec<String>,
    pub most_open: usize,
    pub took: Duration,
}

impl<T> Done<T> {
    /// Runs a workflow in a new world.
    pub async fn of(world: World, run: impl AsyncFnOnce(&World) -> Result<T>) -> Self {
        let start = TokioTimer.now();
        let output = run(&world).await.map_err(|error| reason(&error));
        Self {
            output,
            calls: world.calls(),
            most_open: world.most_open(),
            took: TokioTimer.now() - start,
        }
    }
}

/// Runs both versions, each in its own world, and returns their common calls and result.
///
/// # Panics
///
/// Panics if the two versions differ in a call or in the result.
pub async fn both<T: Debug + PartialEq>(
    world: impl Fn() -> World,
    plan: impl AsyncFnOnce(&World) -> Result<T>,
    by_hand: impl AsyncFnOnce(&World) -> Result<T>,
) -> Done<T> {
    let plan = Done::of(world(), plan).await;
    let mut by_hand = Done::of(world(), by_hand).await;
    // Calls take whole seconds. A fraction comes from random waits before the next attempt.
    if [&plan, &by_hand]
        .iter()
        .any(|it| it.took.subsec_nanos() > 0)
    {
        assert_eq!(sorted(&plan.calls), sorted(&by_hand.calls));
        by_hand.calls.clone_from(&plan.calls);
        by_hand.took = plan.took;
    }
    assert_eq!(plan, by_hand, "as a plan, and by hand");
    plan
}

fn sorted(calls: &[String]) -> Vec<&String> {
    let mut calls: Vec<_> = calls.iter().collect();
    calls.sort();
    calls
}

/// Returns the reason of a version's failure: the code, or else the message without the names of the plan and the step, which only a plan's
/// error contains.
fn reason(error: &Error) -> String {
    let Some(run) = error.downcast_ref::<RunError>() else {
        return error.code().map_or(error.to_string(), Into::into);
    };
    let reason = match run.failures() {
        _ if run.kind() == RunErrorKind::Cancelled => "CANCELLED".into(),
        _ if run.kind() == RunErrorKind::Deadline => "DEADLINE".into(),
        // Only the output could not be computed.
        [] => error
            .chain()
            .last()
            .map_or_else(String::new, ToString::to_string),
        [first, ..] => match Failure::from(first) {
            failure if failure.code == "FAILED" => failure.message,
            failure => failure.code,
        },
    };
    let not_undone: Vec<&str> = run.not_undone().collect();
    match &*not_undone {
        [] => reason,
        steps => format!("{reason}; not undone: {}", steps.join(", ")),
    }
}
