//! Runs that are polled after their end, dropped inside of a poll, and woken by their own drops.

use plan_runtime::run::{Limits, Run};
use plan_runtime::{Result, plan, tool};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[tool]
async fn double(n: u64) -> Result<u64> {
    Ok(n * 2)
}

#[tool]
async fn fail() -> Result<u64> {
    Err(plan_runtime::Error::msg("no"))
}

#[tool]
async fn wait() -> Result<u64> {
    pending().await
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The message if a run is polled after it has ended.
fn once_more<F: Future>(future: F) -> String {
    let mut future = Box::pin(future);
    assert!(poll(future.as_mut()).is_ready());
    let again = catch_unwind(AssertUnwindSafe(|| poll(future.as_mut()).is_ready()));
    *again
        .unwrap_err()
        .downcast::<&str>()
        .map(|it| Box::new(it.to_string()))
        .unwrap()
}

#[test]
fn a_run_that_has_ended_says_so_however_it_ended() {
    let sound = plan! { step a = Double { n: 1 }; a };
    let broken = plan! { step a = Fail {}; a };
    let long = plan! { step a = Wait {}; a };
    let small = Limits::DEFAULT.value(1);
    let over = "a run was polled after it had ended";
    assert_eq!(once_more(sound.run(&())), over);
    assert_eq!(once_more(sound.run(&()).with_report()), over);
    assert_eq!(once_more(sound.run(&()).limits(small)), over);
    assert_eq!(once_more(broken.run(&())), over);
    assert_eq!(once_more(broken.run(&()).with_report()), over);
    assert_eq!(once_more(long.run(&()).cancel_on(async {})), over);
    assert_eq!(
        once_more(long.run(&()).deadline(Duration::ZERO).cancel_on(async {})),
        over
    );
}

struct Dropped<'d>(&'d AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Held = Pin<Box<Run<'static, AtomicUsize, (u64, u64)>>>;

/// A run that waits, and counts the drops of its calls.
#[derive(Default)]
struct Shelf {
    run: Mutex<Option<Held>>,
}

#[tool]
async fn hold(dropped: &AtomicUsize) -> Result<u64> {
    let _dropped = Dropped(dropped);
    pending().await
}

/// Drops a run that waits.
#[tool]
async fn clear(shelf: &Shelf) -> Result<bool> {
    Ok(shelf.run.lock().unwrap().take().is_some())
}

#[test]
fn a_run_may_be_dropped_inside_of_the_poll_of_another() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let holding = plan! { step a = Hold {}; step b = Hold {}; (a, b) };
    let mut run = Box::pin(holding.run(&DROPPED));
    assert!(poll(run.as_mut()).is_pending());
    let shelf = Shelf::default();
    *shelf.run.lock().unwrap() = Some(run);
    let clearing = plan! { step a = Clear {}; a };
    assert!(smol::block_on(clearing.run(&shelf)).unwrap());
    assert_eq!(DROPPED.load(Ordering::SeqCst), 2);
}

/// Wakes a call when it is dropped, like a task with the last handle of another one.
#[derive(Default)]
struct Parting(Mutex<Option<Waker>>);

impl Wake for Parting {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Parting {
    fn drop(&mut self) {
        if let Some(waker) = self.0.get_mut().unwrap().take() {
            waker.wake();
        }
    }
}

#[derive(Default)]
struct Bell(Mutex<Option<Waker>>);

/// Stores its waker, and ends when it is woken.
#[tool]
async fn listen(bell: &Bell) -> Result<u64> {
    let mut polls = 0;
    poll_fn(|cx| {
        *bell.0.lock().unwrap() = Some(cx.waker().clone());
        polls += 1;
        if polls > 1 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    Ok(polls)
}

#[test]
fn a_waker_that_wakes_a_call_when_it_is_dropped_does_not_block_the_run() {
    let listening = plan! { step a = Listen {}; a };
    let bell = Bell::default();
    let mut run = Box::pin(listening.run(&bell));
    let parting = Arc::new(Parting::default());
    let first = Waker::from(Arc::clone(&parting));
    assert!(
        run.as_mut()
            .poll(&mut Context::from_waker(&first))
            .is_pending()
    );
    *parting.0.lock().unwrap() = bell.0.lock().unwrap().clone();
    drop((first, parting));
    // The run has the last one, and drops it for another.
    assert!(poll(run.as_mut()).is_pending());
    assert!(
        matches!(poll(run.as_mut()), Poll::Ready(Ok(2))),
        "the call was woken"
    );
}
