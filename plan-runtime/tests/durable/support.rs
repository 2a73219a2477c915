//! A tool whose calls end as the test decides, and runs that crash.

use plan_runtime::run::{CallContext, ManualTimer};
use plan_runtime::{Call, Error, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The outcome of a call.
#[derive(Clone)]
pub(crate) enum Goes {
    Well,
    Fails(fn() -> Error),
    Panics,
    /// The call does not end, unless it is released.
    Hangs,
    /// The call fails after its release.
    FailsLate(fn() -> Error),
}

/// The state of the tools. The world records each call, and decides its outcome.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) timer: ManualTimer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    called: Vec<String>,
    keys: Vec<(String, String)>,
    /// The paths of the answered calls, by idempotency key. A call with a known key has no effect.
    effects: BTreeMap<String, String>,
    answers: usize,
    hangs_as: Option<usize>,
    goes: BTreeMap<String, Vec<Goes>>,
    released: Vec<String>,
    wakers: Vec<Waker>,
    in_scope: BTreeMap<String, Vec<Goes>>,
    hangs: (String, u32),
    lives: u32,
}

/// Returns `n`.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
pub(crate) struct Act {
    pub(crate) n: u64,
}

impl Call<World> for Act {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        world.call(&context).await?;
        Ok(self.n)
    }
}

/// Undoes the call of this `n`.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
pub(crate) struct Undo {
    pub(crate) n: u64,
}

impl Call<World> for Undo {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        world.call(&context).await?;
        Ok(self.n)
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns the number of restarts of the process.
    pub(crate) fn lives(&self) -> u32 {
        self.state().lives
    }

    pub(crate) fn begin_again(&self) {
        self.state().lives += 1;
    }

    /// The path and the key of each call.
    pub(crate) fn keys(&self) -> Vec<(String, String)> {
        self.state().keys.clone()
    }

    /// Sets the outcome of the call with a path in each attempt of the block or plan around it. Later attempts have the last outcome.
    pub(crate) fn on_scope(&self, path: &str, goes: &[Goes]) {
        self.state().in_scope.insert(path.to_owned(), goes.to_vec());
    }

    /// The call with a path hangs in this attempt of the block or plan around it.
    pub(crate) fn hang_at(&self, path: &str, attempt: u32) {
        self.state().hangs = (path.to_owned(), attempt);
    }

    /// Has the call with this number hang, counted from 0.
    pub(crate) fn hang_as(&self, number: Option<usize>) {
        self.state().hangs_as = number;
    }

    /// Returns the paths of the calls that had an effect, by idempotency key, and the number of answered calls.
    pub(crate) fn effects(&self) -> (BTreeMap<String, String>, usize) {
        let state = self.state();
        (state.effects.clone(), state.answers)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Sets the outcomes of the attempts of the call with a path. Later attempts have the last outcome.
    pub(crate) fn on(&self, path: &str, goes: &[Goes]) {
        self.state().goes.insert(path.to_owned(), goes.to_vec());
    }

    /// All calls go well again.
    pub(crate) fn all_well(&self) {
        self.state().goes.clear();
    }

    /// Returns the paths of the calls, and clears the list. An attempt after the first has its number: `paid`, `paid#2`.
    pub(crate) fn called(&self) -> String {
        std::mem::take(&mut self.state().called).join(" ")
    }

    /// The calls that hang with this path end.
    pub(crate) fn release(&self, path: &str) {
        let mut state = self.state();
        state.released.push(path.to_owned());
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) async fn call(&self, context: &CallContext) -> Result<()> {
        let (path, attempt) = (context.to_string(), context.attempt());
        let goes = {
            let mut state = self.state();
            let shown = match attempt {
                1 => path.clone(),
                _ => format!("{path}#{attempt}"),
            };
            state.called.push(shown);
            state.keys.push((path.clone(), context.idempotency_key()));
            let around = context.outer().map_or(1, CallContext::attempt);
            let of = |goes: Option<&Vec<Goes>>, attempt: u32| {
                goes.and_then(|goes| goes.get(attempt as usize - 1).or(goes.last()))
                    .cloned()
            };
            let goes = of(state.goes.get(&path), attempt);
            let goes = goes.or_else(|| of(state.in_scope.get(&path), around));
            if state.hangs_as == Some(state.keys.len() - 1) || state.hangs == (path.clone(), around)
            {
                Goes::Hangs
            } else {
                goes.unwrap_or(Goes::Well)
            }
        };
        match goes {
            Goes::Well => {
                let mut state = self.state();
                state.answers += 1;
                let key = context.idempotency_key();
                state.effects.entry(key).or_insert(path);
                Ok(())
            }
            Goes::Fails(error) => Err(error()),
            Goes::Panics => panic!("it fell over"),
            Goes::Hangs | Goes::FailsLate(_) => {
                poll_fn(|cx| {
                    let mut state = self.state();
                    if let Some(place) = state.released.iter().position(|it| *it == path) {
                        state.released.remove(place);
                        return Poll::Ready(());
                    }
                    state.wakers.push(cx.waker().clone());
                    Poll::Pending
                })
                .await;
                match goes {
                    Goes::FailsLate(error) => Err(error()),
                    _ => Ok(()),
                }
            }
        }
    }
}

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Polls a future, but only after it was woken.
pub(crate) struct Driven<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<F: Future> Driven<F> {
    pub(crate) fn new(future: F) -> Self {
        Self {
            future: Box::pin(future),
            woken: Arc::new(Woken(AtomicBool::new(true))),
        }
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst)
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polls for as long as there is reason to.
    pub(crate) fn settle(&mut self) -> Poll<F::Output> {
        while self.is_woken() {
            if let Poll::Ready(output) = self.poll() {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    }

    #[track_caller]
    pub(crate) fn pending(&mut self) {
        assert!(self.settle().is_pending(), "the run has ended");
    }

    #[track_caller]
    pub(crate) fn ended(&mut self) -> F::Output {
        match self.settle() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("the run waits, and nothing wakes it"),
        }
    }
}

/// Runs a future as far as it gets, and drops the future.
#[track_caller]
pub(crate) fn crash<F: Future>(future: F) {
    Driven::new(future).pending();
}

/// Runs a future that waits for nothing.
#[track_caller]
pub(crate) fn finish<F: Future>(future: F) -> F::Output {
    Driven::new(future).ended()
}
