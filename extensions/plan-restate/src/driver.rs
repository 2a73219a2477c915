//! The driver of a run: it sends the requests of the run to Restate, and passes the answers to the run.

use crate::host::Polled;
use crate::seam::{Ask, Decisions, Seam, value_of};
use crate::wire::{self, Came, Decided, Sent, too_large};
use plan_runtime::run::{CallOutcome, EngineCall};
use plan_runtime::{Report, RunError};
use restate_sdk::context::{DurableFuture, RequestTarget};
use restate_sdk::prelude::*;
use serde_json::Value;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use tokio::sync::oneshot;

/// The name of the promise that is resolved when the run is cancelled.
pub(crate) const CANCEL: &str = "cancel";

/// Returns the name of the promise with the value for the step at this path.
pub(crate) fn value_at(path: &str) -> String {
    format!("await:{path}")
}

/// An event from outside of the run.
enum Happened {
    Called(Result<Json<Came>, TerminalError>),
    Slept(Result<(), TerminalError>),
    Sent(Result<Json<Sent>, TerminalError>),
    Cancelled(Result<Json<u64>, TerminalError>),
}

/// The receiver of an event.
enum Waiting {
    Call(oneshot::Sender<CallOutcome>),
    /// A sleep until a time, in milliseconds since 1970.
    Sleep(u64, oneshot::Sender<()>),
    Receive(oneshot::Sender<Value>),
    Cancel,
    Nobody,
}

impl Waiting {
    /// Returns `true` if the run still waits for the event.
    fn is_open(&self) -> bool {
        match self {
            Self::Call(reply) => !reply.is_closed(),
            Self::Sleep(_, reply) => !reply.is_closed(),
            Self::Receive(reply) => !reply.is_closed(),
            Self::Cancel | Self::Nobody => false,
        }
    }
}

type Coming<'c> = Pin<Box<dyn DurableFuture<Output = Happened> + Send + 'c>>;

pub(crate) type Outcome = (Result<Value, RunError>, Report);

/// A run after a poll, with its result, and the reason if the run cannot continue.
struct Turn {
    run: Polled,
    poll: Poll<Outcome>,
    misfit: Option<String>,
}

/// The names of promises, which live as long as the futures that borrow them.
pub(crate) type Names = elsa::sync::FrozenVec<Box<str>>;

pub(crate) struct Driver<'c, 'w> {
    ctx: &'c WorkflowContext<'w>,
    steps: &'c str,
    names: &'c Names,
    /// `true` once Restate has requested a cancellation of the invocation.
    is_cancelled: bool,
}

impl<'c, 'w> Driver<'c, 'w> {
    pub(crate) fn new(ctx: &'c WorkflowContext<'w>, steps: &'c str, names: &'c Names) -> Self {
        Self {
            ctx,
            steps,
            names,
            is_cancelled: false,
        }
    }

    /// Makes a value, or returns the value that an earlier attempt made and Restate stored.
    pub(crate) async fn once<T>(&mut self, name: &str, make: impl Fn() -> T) -> T
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
    {
        loop {
            let value = Json(make());
            let run = self.ctx.run(move || async move { Ok(value) }).name(name);
            match run.await {
                Ok(value) => return value.into_inner(),
                // Restate reports a cancellation only once, so the driver remembers it.
                Err(_) => self.is_cancelled = true,
            }
        }
    }

    /// Drives a run to its end. Handles one answer of Restate at a time, so that the requests of the run and their order follow from the
    /// answers.
    pub(crate) async fn drive(
        mut self,
        mut run: Polled,
        seam: &Seam,
        cancel: oneshot::Sender<()>,
    ) -> Result<Outcome, HandlerError> {
        let mut cancel = Some(cancel);
        let mut coming: DurableFuturesUnordered<Coming<'_>> = DurableFuturesUnordered::new();
        let cancelled = self.ctx.promise::<Json<u64>>(CANCEL);
        coming.push(Box::pin(cancelled.map(Happened::Cancelled)));
        let mut waiting = vec![Waiting::Cancel];
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        loop {
            if self.is_cancelled
                && let Some(cancel) = cancel.take()
            {
                let _ = cancel.send(());
            }
            while woken.0.swap(false, Ordering::AcqRel) {
                let turn = self.poll(run, seam, &woken).await?;
                if let Some(misfit) = turn.misfit {
                    let error = format!(
                        "the run does not go on as before: {misfit}; keep a worker of the version that began it"
                    );
                    return Err(io::Error::other(error).into());
                }
                run = turn.run;
                if let Poll::Ready(outcome) = turn.poll {
                    return Ok(outcome);
                }
            }
            for ask in seam.asks() {
                let Some((one, waits)) = self.ask(ask, seam) else {
                    continue;
                };
                coming.push(one);
                waiting.push(waits);
            }
            if woken.0.load(Ordering::Acquire) {
                continue;
            }
            if cancel.is_none() && !waiting.iter().any(Waiting::is_open) {
                let error =
                    "the run waits for nothing that can happen: this is a bug of plan-restate";
                return Err(TerminalError::new(error).into());
            }
            let (index, happened) = match coming.next().await {
                Ok(Some(next)) => next,
                Ok(None) => continue,
                Err(error) if is_cancel(&error) => {
                    self.is_cancelled = true;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let waits = std::mem::replace(&mut waiting[index], Waiting::Nobody);
            self.tell(happened, waits, seam);
        }
    }

    /// Polls the run until it waits for an event. Restate stores the decisions of the poll before they have effects.
    async fn poll(
        &mut self,
        mut run: Polled,
        seam: &Seam,
        woken: &Arc<Woken>,
    ) -> Result<Turn, HandlerError> {
        let waker = Waker::from(Arc::clone(woken));
        seam.begin_poll();
        let mut poll = run.as_mut().poll(&mut Context::from_waker(&waker));
        if seam.is_asked() {
            let deciding = Deciding {
                run: Arc::new(Mutex::new((run, None))),
                seam: seam.clone(),
                waker,
            };
            let decided = loop {
                let own = deciding.clone();
                let run = self.ctx.run(move || async move { own.decide() });
                match run.name("decided").await {
                    Ok(decided) => break decided.into_inner(),
                    // Restate reports a cancellation only once, and returns the decisions at the next attempt.
                    Err(error) if is_cancel(&error) => self.is_cancelled = true,
                    Err(error) => return Err(error.into()),
                }
            };
            (run, poll) = deciding.after(decided)?;
        }
        let misfit = seam.end_poll();
        Ok(Turn { run, poll, misfit })
    }

    /// Sends a request of the run to Restate.
    fn ask(&self, ask: Ask, seam: &Seam) -> Option<(Coming<'c>, Waiting)> {
        Some(match ask {
            Ask::Call(call, reply) => {
                let bytes = call.arguments().len();
                if let Some(error) = wire::too_large("the arguments", bytes) {
                    let error = plan_runtime::Error::permanent(error);
                    let _ = reply.send(CallOutcome::failed(error));
                    return None;
                }
                let target = RequestTarget::service(self.steps, "call");
                let call = self
                    .ctx
                    .request::<Json<EngineCall>, Json<Came>>(target, Json(*call));
                let call = call.call().map(Happened::Called);
                (Box::pin(call), Waiting::Call(reply))
            }
            Ask::Sleep(duration, reply) => {
                let millis = u64::try_from(duration.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
                let until = seam.now().saturating_add(millis);
                let sleep = self.ctx.sleep(duration).map(Happened::Slept);
                (Box::pin(sleep), Waiting::Sleep(until, reply))
            }
            Ask::Receive(path, reply) => {
                let name = self.names.push_get(value_at(&path).into());
                let value = self.ctx.promise::<Json<Sent>>(name);
                (Box::pin(value.map(Happened::Sent)), Waiting::Receive(reply))
            }
        })
    }

    /// Passes an event to the run, which may have stopped waiting for it.
    fn tell(&mut self, happened: Happened, waits: Waiting, seam: &Seam) {
        match (happened, waits) {
            (Happened::Called(came), Waiting::Call(reply)) => {
                let outcome = match came {
                    Ok(Json(Came { outcome, at })) => {
                        seam.advance(at);
                        outcome
                    }
                    // A person has cancelled or killed the invocation of the step.
                    Err(error) => {
                        CallOutcome::failed(plan_runtime::Error::permanent(error.message()))
                    }
                };
                let _ = reply.send(outcome);
            }
            (Happened::Slept(slept), Waiting::Sleep(until, reply)) => {
                if slept.is_ok() {
                    seam.advance(until);
                }
                let _ = reply.send(());
            }
            // A rejected promise never has a value.
            (Happened::Sent(Ok(Json(sent))), Waiting::Receive(reply)) => {
                seam.advance(sent.at);
                let _ = reply.send(value_of(&sent));
            }
            (Happened::Cancelled(at), Waiting::Cancel) => {
                if let Ok(Json(at)) = at {
                    seam.advance(at);
                }
                self.is_cancelled = true;
            }
            _ => {}
        }
    }
}

/// A poll that waits for its decisions.
#[derive(Clone)]
struct Deciding {
    /// The run, and the rest of the poll.
    run: Arc<Mutex<(Polled, Option<Rest>)>>,
    seam: Seam,
    waker: Waker,
}

/// The result of a poll after its decisions, with these decisions.
type Rest = (Poll<Outcome>, Decided);

impl Deciding {
    fn poll(&self, run: &mut Polled, decisions: Decisions) -> Poll<Outcome> {
        self.seam.decide(decisions);
        run.as_mut().poll(&mut Context::from_waker(&self.waker))
    }

    /// Makes the decisions of the poll, since Restate has no recorded ones.
    fn decide(self) -> Result<Json<Decided>, HandlerError> {
        let mut polled = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, rest) = &mut *polled;
        let (_, decided) = rest.get_or_insert_with(|| {
            let poll = self.poll(run, Decisions::Live(Decided::new()));
            (poll, self.seam.decided())
        });
        let bytes = decided
            .iter()
            .map(|(key, value)| wire::size_of_text(key) + wire::size_of_text(value))
            .sum();
        if let Some(error) = too_large("what Rust code in the plan has made", bytes) {
            return Err(TerminalError::new(error).into());
        }
        Ok(Json(decided.clone()))
    }

    /// Returns the run and the rest of the poll, with the decisions.
    fn after(self, decided: Decided) -> Result<(Polled, Poll<Outcome>), HandlerError> {
        let lost = || io::Error::other("the poll was lost");
        let Self { run, seam, waker } = self;
        let run = Arc::into_inner(run).ok_or_else(lost)?;
        let (mut run, rest) = run.into_inner().unwrap_or_else(PoisonError::into_inner);
        let poll = match rest {
            Some((poll, _)) => poll,
            None => {
                seam.decide(Decisions::Past(decided));
                run.as_mut().poll(&mut Context::from_waker(&waker))
            }
        };
        Ok((run, poll))
    }
}

/// `true` if the run is ready for a poll.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Returns `true` if the error is a cancellation of the invocation by Restate.
fn is_cancel(error: &TerminalError) -> bool {
    error.code() == 409
}
