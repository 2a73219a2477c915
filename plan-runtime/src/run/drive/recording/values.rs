//! Records of values from outside.

use super::super::super::StepError;
use super::super::super::durable::{self, Durable};
use super::super::super::recorded::unusable;
use super::super::super::signals::{Inbox, Sent, Waiting};
use super::super::scene::Scene;
use super::super::task::Receiving;
use super::{Keys, Records};
use crate::journal::JournalError;
use crate::machine::{Part, ScopeId};
use crate::plan::Await;
use crate::resolve::bytes_of;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;

impl Records {
    /// Returns the wait for a value that has a record, or is to have one.
    #[cold]
    pub(in super::super) fn receiving(
        &self,
        scene: &Scene<'_>,
        (scope, part): (ScopeId, Part),
        (inbox, path, wait): (&Arc<Inbox>, &str, &Await),
    ) -> Receiving {
        let durable = &self.durable;
        let key = Keys(scene).of_part(scope, &part);
        match durable.find(&key) {
            // The run is over.
            Err(()) => Box::pin(pending()),
            Ok(Some(found)) => match durable::decode(&found.body) {
                Err(error) => {
                    durable.fail(unusable(&key, error));
                    Box::pin(pending())
                }
                Ok(recorded) => {
                    let (inbox, path) = (Arc::clone(inbox), path.to_owned());
                    let replay = durable.replay(found.number, recorded.ended);
                    Box::pin(async move {
                        replay.await;
                        let value = recorded.result?;
                        let bytes = bytes_of(&value);
                        let sent = Arc::new(Sent { value, bytes });
                        // A further attempt gets the same value.
                        inbox.keep(path, &sent);
                        Ok(sent)
                    })
                }
            },
            Ok(None) => {
                let waiting = Waiting::new(Arc::clone(inbox), path.to_owned(), wait.clone());
                receive_live(durable, scene, (scope, part), (key, waiting))
            }
        }
    }
}

fn receive_live(
    durable: &Arc<Durable>,
    scene: &Scene<'_>,
    (scope, part): (ScopeId, Part),
    (key, waiting): (String, Waiting),
) -> Receiving {
    let durable = Arc::clone(durable);
    let started = scene.clock.in_all(scene.clock.now());
    let limit = limit_of_wait(scene, scope, &part);
    let has_limit = limit.is_some();
    let mut limit = limit.map(|(limit, error)| (scene.clock.sleep(limit), error));
    Box::pin(async move {
        durable.live().await;
        let received = poll_fn(|cx| {
            if let Poll::Ready(sent) = waiting.poll(cx, has_limit) {
                return Poll::Ready(sent.ok_or(StepError::NoSignals));
            }
            match &mut limit {
                Some((sleep, error)) => sleep.as_mut().poll(cx).map(|()| Err(error.clone())),
                None => Poll::Pending,
            }
        });
        let received = received.await;
        let now = durable.time();
        let result = received.as_ref().map(|sent| &sent.value);
        match durable::encode((started, now), result) {
            Ok(body) => durable.write(key, body, now).await,
            Err(error) => {
                durable.fail(JournalError::storage(error));
                pending::<()>().await;
            }
        }
        received
    })
}

/// Returns the first of the time limits of a wait, and its error.
fn limit_of_wait(
    scene: &Scene<'_>,
    scope: ScopeId,
    part: &Part,
) -> Option<(std::time::Duration, StepError)> {
    let policy = scene.values.policy(scope, part.slot.index());
    let timeout = policy.timeout.map(|it| (it, StepError::Timeout(it)));
    let deadline = policy.deadline.map(|it| (it, StepError::Deadline(it)));
    let limits = timeout.into_iter().chain(deadline);
    limits.min_by_key(|(limit, _)| *limit)
}
