//! Handles for code that watches runs: a server with many runs, or a reader of one run.

use super::context::Allowance;
use super::durable::{Durable, Target};
use super::polling::failed_end;
use super::timer::yield_now;
use super::{Cause, Report, Run, RunError, Stage};
use crate::error::Interrupt;
use crate::journal::Journal;
use crate::journal::spi::{Claim, End, Rest};
use serde_json::Value;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

/// A handle on a run, for outside code that checks if the run has work to do.
#[derive(Clone, Default)]
pub(crate) struct Following {
    begun: Arc<OnceLock<Weak<Durable>>>,
    among: Together,
}

/// A limit that several runs share, if the options have one.
#[derive(Clone, Default)]
pub(crate) struct Together(Option<Arc<Allowance>>);

impl Together {
    pub(crate) fn at_most(bytes: usize) -> Self {
        Self(Some(Allowance::of_many(bytes)))
    }
}

impl Following {
    /// Creates the state for a run that shares the limits of these runs.
    pub(crate) fn among(together: &Together) -> Self {
        Self {
            begun: Arc::default(),
            among: together.clone(),
        }
    }

    /// Returns the claim and the rest of the run if the run only waits for a message or for time to pass.
    pub(crate) fn rests(&self) -> Option<(Claim, Rest)> {
        let durable = self.begun.get()?.upgrade()?;
        Some((durable.claimed.claim.clone(), durable.rests()?))
    }

    /// Returns `true` after the run was claimed.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.get().is_some()
    }
}

#[derive(Default)]
struct WokenView(AtomicBool);

impl Wake for WokenView {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl<App: ?Sized> Run<'_, App, Value> {
    /// Makes the run durable, like [`Run::durable`], with a follower outside the run.
    pub(crate) fn followed(self, journal: Arc<dyn Journal>, id: &str, by: &Following) -> Self {
        self.configure(|options| {
            options.id = Some(id.to_owned());
            let mut target = Target::new(journal, id.to_owned());
            target.begun = Some(Arc::clone(&by.begun));
            options.target = Some(target);
            options.among.clone_from(&by.among.0);
        })
    }

    /// Replays the records, makes no call, and returns the report. Returns an error if the replay exceeds a limit that has not ended
    /// the run.
    pub(crate) async fn view(
        self,
        journal: Arc<dyn Journal>,
        id: &str,
        end: Option<&End>,
    ) -> Result<Report, RunError> {
        let mut run = self.configure(|options| {
            options.id = Some(id.to_owned());
            options.keeps.report = true;
            let mut target = Target::new(journal, id.to_owned());
            target.is_viewed = true;
            options.target = Some(target);
        });
        if let Some(Err(error)) = poll_fn(|cx| run.poll_start(Ok(()), cx)).await {
            return Err(error);
        }
        let woken = Arc::new(WokenView::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut report = None;
        loop {
            let polled = run.poll_run(&mut Context::from_waker(&waker), Some(&mut report));
            match polled {
                Poll::Ready(Err(error)) if has_not_run(&error) => return Err(error),
                Poll::Ready(Err(error)) if exceeds_more(end, &error) => {
                    return Err(error);
                }
                // A long run is replayed in many polls, and other tasks have their turn between them.
                Poll::Pending if woken.0.swap(false, Ordering::AcqRel) => yield_now().await,
                Poll::Ready(_) | Poll::Pending => break,
            }
        }
        if report.is_none() {
            let failure = match &run.stage {
                Stage::Running(driver) => driver.journal_failure(),
                _ => None,
            };
            if let Some(error) = failure {
                return Err(error);
            }
            report = match &mut run.stage {
                Stage::Running(driver) => driver.report(),
                _ => None,
            };
        }
        report.ok_or_else(|| {
            let why = vec!["its records cannot be looked at".to_owned()];
            RunError::new(&crate::Plan::new(id), Cause::Unfit(why), Vec::new())
        })
    }
}

/// Returns `true` if an error is about the start of a run, or about the records of a run.
fn has_not_run(error: &RunError) -> bool {
    error.is_of_start() || error.journal().is_some()
}

/// Returns `true` if an error is about a limit that has not ended the run itself.
fn exceeds_more(end: Option<&End>, error: &RunError) -> bool {
    matches!(error.cause(), Cause::Interrupted(Interrupt::Limit(_)))
        && end != Some(&failed_end(error))
}
