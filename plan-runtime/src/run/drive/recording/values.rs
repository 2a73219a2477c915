//! Records of values from outside.

use super::super::super::StepError;
use super::super::super::durable::{self, Durable};
use super::super::super::recorded;
use super::super::super::signals::{Inbox, Sent, Waiting};
use super::super::super::timer::before;
use super::super::scene::Scene;
use super::super::task::{Receiving, Site};
use super::{Keys, Records};
use crate::plan::Await;
use crate::resolve::bytes_of;
use std::future::{pending, poll_fn};
use std::sync::Arc;

impl Records {
    /// Returns the wait for a value that has a record, or is to have one.
    #[cold]
    pub(in super::super) fn receiving(
        &self,
        scene: &Scene<'_>,
        of: &Site,
        (inbox, path, wait): (&Arc<Inbox>, &str, &Await),
    ) -> Receiving {
        let durable = &self.durable;
        let key = Keys(scene).of_attempt(of);
        match recorded::found(durable, &key) {
            // The run has ended.
            Err(()) => Box::pin(pending()),
            Ok(Some((number, recorded))) => {
                let (inbox, path) = (Arc::clone(inbox), path.to_owned());
                let replay = durable.replay(number, recorded.ended);
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
            Ok(None) => {
                let waiting = Waiting::new(Arc::clone(inbox), path.to_owned(), wait.clone());
                receive_live(durable, scene, of, (key, waiting))
            }
        }
    }
}

fn receive_live(
    durable: &Arc<Durable>,
    scene: &Scene<'_>,
    of: &Site,
    (key, waiting): (String, Waiting),
) -> Receiving {
    let durable = Arc::clone(durable);
    let started = scene.clock.in_all(scene.clock.now());
    let limit = scene.values.limit(of, scene.clock.now());
    let has_limit = limit.is_some();
    let limit = limit.map(|(limit, error)| (scene.clock.sleep(limit), error));
    Box::pin(async move {
        durable.live().await;
        let received = before(poll_fn(|cx| waiting.poll(cx, has_limit)), limit).await;
        let received = received.and_then(|sent| sent.ok_or(StepError::NoSignals));
        let now = durable.time();
        let result = received.as_ref().map(|sent| &sent.value);
        let body = durable::encode((started, now), result);
        recorded::write(&durable, key, body, now).await;
        received
    })
}
