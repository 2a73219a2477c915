//! Runs that end before their time, at any moment: between two steps, while they ask or wait, and by a panic outside their steps.

use super::support::{Broken, Silent};
use plan_runtime::run::{CallContext, Limits, ManualTimer, Observer, RunErrorKind, StepRef, Timer};
use plan_runtime::{Error, Result, RunError, plan, tool};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The time, the calls, and the switch that cancels.
#[derive(Default)]
struct Lab {
    timer: ManualTimer,
    calls: Mutex<Vec<String>>,
    is_cancelled: Arc<AtomicBool>,
}

impl Lab {
    fn note(&self, text: impl Into<String>) {
        self.calls.lock().unwrap().push(text.into());
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.calls.lock().unwrap()).join(" ")
    }

    /// Is ready once the switch is on, and wakes nobody.
    fn cancelling(&self) -> impl Future<Output = ()> + Send + use<> {
        let is_cancelled = Arc::clone(&self.is_cancelled);
        poll_fn(move |_| {
            if is_cancelled.load(Ordering::SeqCst) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Does one thing after the other.
#[tool]
async fn act(lab: &Lab, #[context] context: CallContext, what: String) -> Result<String> {
    lab.note(context.step());
    for word in what.split(' ') {
        match word {
            "cancel" => lab.is_cancelled.store(true, Ordering::SeqCst),
            "late" => lab.timer.advance(secs(100)),
            "hang" => pending().await,
            "fail" => return Err(Error::permanent("no")),
            "busy" => return Err(Error::msg("busy")),
            "later" if context.outer().is_some_and(|it| it.attempt() == 1) => {
                return Err(Error::msg("later").retry_after(secs(60)));
            }
            "time" => {
                let end = context.deadline();
                let left = end.map(|end| end.saturating_duration_since(lab.timer.now()));
                lab.note(format!("{left:?}"));
            }
            _ => {}
        }
    }
    Ok(what)
}

plan! {
    Chain(first: String) -> String {
        step a = Act { what: first };
        step b = Act { what: a };
        b
    }
}

plan! {
    Elements(first: String) -> Vec<String> {
        #[concurrency(1)]
        step a = for what in [first, "b".to_owned()] { Act { what } };
        a
    }
}

plan! {
    Inside(first: String) -> String {
        step block = { step a = Act { what: first }; step b = Act { what: a }; b };
        block
    }
}

plan! {
    Rounds(first: String) -> String {
        #[at_most(3)]
        step round = loop |last| { step a = Act { what: last.unwrap_or(first) }; a } while true;
        round
    }
}

plan! {
    Calling(first: String) -> String {
        #[retry(2, backoff = "1s", jitter = false)]
        step called = Chain { first };
        called
    }
}

plan! {
    Again(first: String) -> String {
        #[retry(2, backoff = "1s", jitter = false)]
        step block = { step a = Act { what: first }; a };
        block
    }
}

plan! {
    Undoing(work: String, undo: String, always: String) -> String {
        step held = Act { what: "hold" };
        #[undo(held)]
        step released = Act { what: undo };
        #[after(held)]
        step worked = Act { what: work };
        #[always]
        step told = Act { what: always };
        worked
    }
}

plan! {
    Limited(first: String) -> String {
        #[timeout("5s")]
        step block = { step a = Act { what: first }; a };
        #[timeout("7s")]
        step called = Chain { first };
        format!("{block}{called}")
    }
}

/// Polls a run, and moves the time on whenever nothing else can happen. `None` means that the run waits in vain.
fn ends<O>(timer: &ManualTimer, run: impl Future<Output = O>) -> Option<O> {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut run = pin!(run);
    loop {
        if let Poll::Ready(output) = run.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        while !woken.0.swap(false, Ordering::SeqCst) {
            timer.advance(timer.next()?);
        }
    }
}

/// A step that cancels, or exceeds the time, is the last one, even if all end in one poll.
#[test]
fn a_run_ends_between_two_steps() {
    macro_rules! ended {
        ($name:ident) => {{
            let lab = Lab::default();
            let run = $name {
                first: "cancel".into(),
            }
            .run(&lab);
            let run = run.cancel_on(lab.cancelling());
            let error = ends(&lab.timer, run).unwrap().unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Cancelled, "{error}");
            assert_eq!(lab.take(), "a");
            let run = $name {
                first: "late".into(),
            }
            .run(&lab);
            let run = run.timer(lab.timer.clone()).deadline(secs(1));
            let error = ends(&lab.timer, run).unwrap().unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Deadline, "{error}");
            assert_eq!(lab.take(), "a");
        }};
    }
    ended!(Chain);
    ended!(Elements);
    ended!(Inside);
    ended!(Rounds);
    ended!(Calling);
}

#[test]
fn a_tool_delays_the_next_attempt_of_everything_around_it() {
    let lab = Lab::default();
    let again = Again {
        first: "later".into(),
    };
    let calling = Calling {
        first: "later".into(),
    };
    let runs = [again.run(&lab), calling.run(&lab)];
    for (at, run) in (1..).zip(runs) {
        ends(&lab.timer, run.timer(lab.timer.clone()))
            .unwrap()
            .unwrap();
        assert_eq!(lab.timer.elapsed(), secs(60 * at));
    }
}

#[test]
fn calls_know_the_end_of_their_time() {
    let lab = Lab::default();
    let timed = || "time".to_owned();
    let run = Limited { first: timed() }.run(&lab);
    ends(&lab.timer, run.timer(lab.timer.clone()))
        .unwrap()
        .unwrap();
    assert_eq!(lab.take(), "a Some(5s) a Some(7s) b Some(7s)");
    let run = |work: &str| {
        let work = format!("time {work}");
        let (undo, always) = (timed(), timed());
        Undoing { work, undo, always }
    };
    for (work, expected) in [
        ("", "held worked Some(60s) told Some(90s)"),
        (
            "fail",
            "held worked Some(60s) released Some(90s) told Some(90s)",
        ),
        (
            "cancel",
            "held worked Some(60s) released Some(30s) told Some(30s)",
        ),
    ] {
        let lab = Lab::default();
        let run = run(work).run(&lab).timer(lab.timer.clone());
        let run = run.cancel_on(lab.cancelling());
        let _ = ends(&lab.timer, run.deadline(secs(60)).grace_period(secs(30))).unwrap();
        assert_eq!(lab.take(), expected);
    }
}

fn undoing(work: &str) -> Undoing {
    let work = work.to_owned();
    let (undo, always) = ("undo".into(), "always".into());
    Undoing { work, undo, always }
}

#[test]
fn a_panic_outside_the_steps_hides_no_work() {
    let lab = Lab::default();
    let is_cancelled = Arc::clone(&lab.is_cancelled);
    let cancel = poll_fn(move |_| {
        assert!(!is_cancelled.load(Ordering::SeqCst), "no switch");
        Poll::<()>::Pending
    });
    let run = undoing("cancel hang").run(&lab).cancel_on(cancel);
    let run = run.timer(lab.timer.clone()).deadline(secs(60));
    let error = ends(&lab.timer, run).unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `undoing` panicked: no switch; not undone: `held`"
    );
}

#[test]
fn a_run_whose_timer_panics_is_over() {
    let lab = Lab::default();
    let error = |ended: Option<Result<String, RunError>>| ended.unwrap().unwrap_err().to_string();
    let again = Again {
        first: "busy".into(),
    }
    .run(&lab);
    let again = again.timer(Broken(lab.timer.clone(), secs(1)));
    assert_eq!(
        error(ends(&lab.timer, again)),
        "plan `again` panicked: no sleep"
    );
    let limited = Limited {
        first: "hang".into(),
    }
    .run(&lab);
    let limited = limited.timer(Broken(lab.timer.clone(), secs(7)));
    assert_eq!(
        error(ends(&lab.timer, limited)),
        "plan `limited` panicked: no sleep"
    );
}

struct Starts(Arc<Mutex<Vec<String>>>);

impl Observer for Starts {
    fn step_started(&self, step: &StepRef<'_>) {
        self.0.lock().unwrap().push(step.to_string());
    }
}

#[test]
fn a_step_starts_with_the_question_about_its_call() {
    let (lab, started) = (Lab::default(), Arc::default());
    let run = Chain { first: "a".into() }.run(&lab).gate(Silent);
    let run = run.observe(Starts(Arc::clone(&started)));
    let run = run.timer(lab.timer.clone()).deadline(secs(3)).with_report();
    let (result, report) = ends(&lab.timer, run).unwrap();
    assert!(result.unwrap_err().has_started());
    assert_eq!(*started.lock().unwrap(), ["a"]);
    let step = report.step("a").unwrap();
    assert_eq!(
        (step.started(), step.duration()),
        (Some(secs(0)), Some(secs(3)))
    );
}

/// The work has its result before a step after the work exceeds a limit.
#[test]
fn a_limit_after_the_work_leaves_the_cause() {
    for calls in 1..4 {
        let lab = Lab::default();
        let run = undoing("fail").run(&lab);
        let error = ends(&lab.timer, run.limits(Limits::DEFAULT.calls(calls)));
        let error = error.unwrap().unwrap_err().to_string();
        let cause = if calls == 1 {
            "was ended: "
        } else {
            "failed: step `worked` (act): no"
        };
        assert!(
            error.starts_with(&format!("plan `undoing` {cause}")),
            "{error}"
        );
        assert!(error.contains("its limit"), "{error}");
    }
}

plan! {
    Condition() -> String {
        #[at_most(3)]
        step round = loop { step a = Act { what: "a" }; a } while panics();
        round
    }
}

fn panics() -> bool {
    panic!("no condition")
}

#[test]
fn a_condition_fails_after_an_attempt() {
    let lab = Lab::default();
    let error = ends(&lab.timer, Condition {}.run(&lab))
        .unwrap()
        .unwrap_err();
    assert_eq!(error.failures()[0].attempts(), 1);
}
