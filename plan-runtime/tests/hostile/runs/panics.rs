//! Panics in all code that a run calls: they never unwind out of the run, and lose no data of it.

use plan_runtime::run::{
    Observer, OnFailure, Run, RunErrorKind, Status, StepError, StepRef, Timer, TimerFuture, Totals,
};
use plan_runtime::{Error, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Panics at its nth use only. It is an application.
#[derive(Clone, Debug, Default)]
struct Fuse(Arc<(AtomicUsize, usize)>);

impl Fuse {
    fn new(at: usize) -> Self {
        Self(Arc::new((AtomicUsize::new(0), at)))
    }

    fn touch(&self, what: &str) {
        if self.0.0.fetch_add(1, Ordering::SeqCst) == self.0.1 {
            panic!("{what} blew");
        }
    }

    fn blew(&self) -> bool {
        self.0.0.load(Ordering::SeqCst) > self.0.1
    }
}

thread_local! {
    /// The fuse of code without access to the application.
    static HERE: std::cell::RefCell<Fuse> = std::cell::RefCell::new(Fuse::new(usize::MAX));
}

fn touch(what: &str) {
    let fuse = HERE.with(|here| here.borrow().clone());
    fuse.touch(what);
}

/// An output: writing it, reading it and dropping it may panic.
#[derive(Debug, Shape)]
struct Hot {
    degrees: u64,
}

impl Serialize for Hot {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        touch("writing");
        let mut hot = serializer.serialize_struct("Hot", 1)?;
        hot.serialize_field("degrees", &self.degrees)?;
        hot.end()
    }
}

impl<'de> Deserialize<'de> for Hot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Plain {
            degrees: u64,
        }
        touch("reading");
        let degrees = Plain::deserialize(deserializer)?.degrees;
        Ok(Self { degrees })
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        touch("dropping an output");
    }
}

#[tool]
async fn heat(degrees: u64) -> Result<Hot> {
    touch("heating");
    let mut waited = false;
    poll_fn(|cx| {
        touch("polling");
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    Ok(Hot { degrees })
}

#[tool]
async fn cool(degrees: u64) -> Result<u64> {
    match degrees {
        13 => Err(Error::msg("it is stuck")),
        _ => Ok(degrees - 1),
    }
}

struct Watching(Fuse);

impl Observer for Watching {
    fn plan_started(&self, _: &Plan) {
        self.0.touch("observing");
    }
    fn plan_finished(&self, _: &Plan, _: &Totals, _: Duration) {
        self.0.touch("observing");
    }
    fn step_ready(&self, _: &StepRef<'_>) {
        self.0.touch("observing");
    }
    fn step_started(&self, _: &StepRef<'_>) {
        self.0.touch("observing");
    }
    fn list_started(&self, _: &StepRef<'_>, _: usize) {
        self.0.touch("observing");
    }
    fn element_finished(&self, _: &StepRef<'_>) {
        self.0.touch("observing");
    }
    fn attempt_started(&self, _: &StepRef<'_>, _: u32) {
        self.0.touch("observing");
    }
    fn attempt_completed(&self, _: &StepRef<'_>, _: u32, _: Duration) {
        self.0.touch("observing");
    }
    fn attempt_failed(&self, _: &StepRef<'_>, _: u32, _: &StepError, _: Duration) {
        self.0.touch("observing");
    }
    fn retrying(&self, _: &StepRef<'_>, _: u32, _: Duration) {
        self.0.touch("observing");
    }
    fn step_finished(&self, _: &StepRef<'_>, _: &Status, _: Duration) {
        self.0.touch("observing");
    }
    fn step_skipped(&self, _: &StepRef<'_>) {
        self.0.touch("observing");
    }
    fn step_blocked(&self, _: &StepRef<'_>, _: &plan_runtime::plan::Step) {
        self.0.touch("observing");
    }
}

/// A timer whose methods and sleeps may panic. A sleep ends at its second poll.
struct Ticking(Fuse, Instant);

struct Nap(Fuse, bool);

impl Timer for Ticking {
    fn now(&self) -> Instant {
        self.0.touch("telling the time");
        self.1
    }

    fn sleep(&self, duration: Duration) -> TimerFuture {
        self.0.touch("falling asleep");
        if duration > Duration::from_secs(60) {
            Box::pin(Nap(self.0.clone(), false))
        } else {
            Box::pin(Nap(self.0.clone(), true))
        }
    }
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.touch("sleeping");
        if !self.1 {
            return Poll::Pending;
        }
        self.1 = false;
        cx.waker().wake_by_ref();
        self.1 = true;
        Poll::Ready(())
    }
}

impl Drop for Nap {
    fn drop(&mut self) {
        self.0.touch("waking up");
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.0.touch("dropping the timer");
    }
}

plan! {
    Kitchen(start: u64) -> u64 {
        step oven = Heat { degrees: start };
        #[retry(2, backoff = "1s", jitter = false)]
        #[timeout("1h")]
        step pans = for extra in [1, 2] { Heat { degrees: extra } };
        step sum: u64 = oven.degrees + pans.len() as u64;
        #[optional]
        step spare = Heat { degrees: sum };
        #[fallback(7)]
        step stuck = Cool { degrees: 13 };
        step cold = if sum > 1 { Cool { degrees: sum } } else { Cool { degrees: oven.degrees } };
        step none = if sum > 1000 { Cool { degrees: stuck } };
        sum
    }
}

/// Checks that a run ends in any form, and is dropped.
fn ends<O>(run: impl Future<Output = O>) -> O {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut run = Box::pin(run);
        let woken = Waker::from(Arc::new(Nobody));
        let mut cx = Context::from_waker(&woken);
        for _ in 0..1000 {
            if let Poll::Ready(output) = run.as_mut().poll(&mut cx) {
                return output;
            }
        }
        panic!("the run does not end");
    }));
    outcome.unwrap_or_else(|_| panic!("something unwound out of the run"))
}

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn whatever_panics_the_run_ends_and_says_what_it_knows() {
    let mut seen = std::collections::BTreeSet::new();
    for at in 0.. {
        let fuse = Fuse::new(at);
        HERE.set(fuse.clone());
        let asked = fuse.clone();
        let cancel = poll_fn(move |_| {
            asked.touch("asking what cancels");
            Poll::<()>::Pending
        });
        let (result, report) = ends(
            Kitchen { start: 3 }
                .run(&())
                .observe(Watching(fuse.clone()))
                .timer(Ticking(fuse.clone(), Instant::now()))
                .cancel_on(cancel)
                .deadline(Duration::from_secs(3600))
                .on_failure(OnFailure::Continue)
                .capture_arguments(true)
                .capture_outputs(true)
                .with_report(),
        );
        assert_eq!(report.steps().len(), 7);
        match &result {
            Ok(sum) => assert_eq!(*sum, 5, "a wrong result after {at}"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(" blew"), "{text}");
                let what = text.split("panicked: ").nth(1).unwrap();
                seen.insert(what.split(" blew").next().unwrap().to_owned());
            }
        }
        HERE.set(Fuse::new(usize::MAX));
        if !fuse.blew() {
            result.unwrap();
            assert!(at > 100, "{at}");
            break;
        }
    }
    let seen: Vec<_> = seen.iter().map(String::as_str).collect();
    assert_eq!(
        seen,
        [
            "asking what cancels",
            "falling asleep",
            "heating",
            "polling",
            "reading",
            "sleeping",
            "telling the time",
            "writing"
        ],
        "what observes, and what is dropped, is not in the result's way"
    );
}

struct Count(Arc<AtomicUsize>, usize);

impl Observer for Count {
    fn attempt_started(&self, _: &StepRef<'_>, _: u32) {
        if self.0.fetch_add(1, Ordering::SeqCst) == self.1 {
            panic!("the observer looks away");
        }
    }
}

#[test]
fn an_observer_that_panicked_is_told_nothing_more() {
    let plan = plan! {
        step all = for degrees in [1, 2, 3, 4] { Cool { degrees } };
        all
    };
    for at in [0, 2, 100] {
        let told = Arc::new(AtomicUsize::new(0));
        let result = ends(plan.run(&()).observe(Count(told.clone(), at)));
        assert_eq!(result.unwrap(), [0, 1, 2, 3]);
        assert_eq!(told.load(Ordering::SeqCst), 4.min(at + 1));
    }
}

/// Panics whenever it is dropped, unless a panic is on its way.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb");
    }
}

#[tool]
async fn guard() -> Result<u64> {
    let _bomb = Bomb;
    pending().await
}

#[test]
fn calls_whose_destructors_panic_are_all_dropped() {
    let plan = plan! {
        step one = Guard {};
        #[timeout("1h")]
        step two = Guard {};
        step all = for n in [1, 2, 3] { if n > 0 { Guard {} } };
        (one, two, all.len())
    };
    let poll = |run: Pin<&mut Run<'_, (), (u64, u64, usize)>>| {
        assert!(
            run.poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
    };
    // Five bombs: the second one would abort the process.
    let dropped = catch_unwind(AssertUnwindSafe(|| {
        let mut run = Box::pin(plan.run(&()));
        poll(run.as_mut());
        drop(run);
    }));
    assert!(dropped.is_ok());
    let run = plan.run(&()).cancel_on(async {});
    assert_eq!(ends(run).unwrap_err().kind(), RunErrorKind::Cancelled);
}

#[tool]
async fn throw() -> Result<u64> {
    panic_any(Bomb)
}

#[test]
fn a_payload_whose_destructor_panics_is_a_failure_like_any() {
    let plan = plan! { step thrown = Throw {}; thrown };
    let error = ends(plan.run(&())).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("panicked: (the panic's payload is not text)"),
        "{error}"
    );
}

#[derive(Debug, Deserialize, Serialize, Shape)]
struct Armed {
    x: u64,
}

impl Drop for Armed {
    fn drop(&mut self) {
        panic!("an output that must not go");
    }
}

#[test]
fn outputs_whose_destructors_panic_are_kept_and_dropped() {
    static ARMED: AtomicUsize = AtomicUsize::new(0);

    /// Held as a Rust value, since a computed step mentions it.
    #[tool]
    async fn arm() -> Result<Box<Armed>> {
        ARMED.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Armed { x: 1 }))
    }

    let held = plan! {
        step a = Arm {};
        step b: u64 = a.x + 1;
        step c = Cool { degrees: b };
        (b, c)
    };
    assert_eq!(ends(held.run(&())).unwrap(), (2, 1));
    assert_eq!(ARMED.load(Ordering::SeqCst), 1);
}

#[test]
fn a_run_that_panicked_is_over() {
    struct Broken;
    impl Timer for Broken {
        fn now(&self) -> Instant {
            panic!("no clock")
        }
        fn sleep(&self, _: Duration) -> TimerFuture {
            panic!("no sleep")
        }
    }
    let plan = plan! { step a = Cool { degrees: 2 }; a };
    let mut run = pin!(plan.run(&()).timer(Broken).with_report());
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready((result, report)) = run.as_mut().poll(&mut cx) else {
        panic!("it waits")
    };
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "plan `plan` panicked: no clock");
    assert!(error.failures().is_empty());
    assert_eq!(report.totals().not_started, 1);
    let again = catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(&mut cx).is_ready()));
    let message = again.unwrap_err();
    assert_eq!(
        *message.downcast::<&str>().unwrap(),
        "a run was polled after it had ended"
    );
}
