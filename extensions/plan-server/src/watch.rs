//! The events of a run, for the clients that watch the run. The server makes the state of a run once for all these clients.

use crate::answer::Text;
use crate::error::{BUSY, Path, Problem};
use crate::limits;
use crate::live::{Happened, Subscriber};
use crate::run_json::whole;
use crate::runs::Shared;
use crate::state::State;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::IntoResponse;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

/// The pause between two looks at a watched run, in case an event was missed.
const LOOK: Duration = Duration::from_secs(1);

/// The time without an event after which the server sends a comment, so that both sides keep the connection.
const QUIET: Duration = Duration::from_secs(15);

/// The state that all watchers of a run share.
#[derive(Default)]
pub(crate) struct Watched {
    /// The number of changes of the run.
    changes: AtomicU64,
    /// The number of changes for which no event arrived.
    missed: AtomicU64,
    last: Mutex<Option<Snapshot>>,
}

impl Watched {
    pub(crate) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// Drops the latest state of the run, to make room for the state of another run.
    pub(crate) fn forget(&self) {
        if let Ok(mut last) = self.last.try_lock()
            && let Some(last) = &mut *last
        {
            last.kept = None;
        }
    }
}

/// The state of a run at a moment.
struct Snapshot {
    /// The number of changes before the snapshot.
    changes: u64,
    /// The event of the snapshot, as long as the snapshot keeps the event or the server sends the event.
    event: Weak<Text>,
    kept: Option<Arc<Text>>,
    waits: Value,
    state: String,
    has_ended: bool,
    made: Instant,
    took: Duration,
    looked: Instant,
}

/// The parts of a snapshot that a watcher gets.
struct Seen {
    event: Arc<Text>,
    waits: Value,
    state: String,
    has_ended: bool,
}

impl Snapshot {
    fn make(state: &Arc<State>, id: &str, changes: u64) -> Result<(Self, Arc<Text>), Problem> {
        let began = Instant::now();
        let mut whole = whole(state, id, false)?;
        state.metrics.states.inc();
        let text = |whole: &Value| Text::new(&state.states, "event: state\ndata: ", whole, "\n\n");
        let event = text(&whole).or_else(|_| {
            state.live.forget();
            text(&whole)
        });
        let event = event.or_else(|_| {
            // The report is the long part, and clients can get the report from its own address.
            whole["report"] = Value::Null;
            text(&whole)
        })?;
        let event = Arc::new(event);
        let snapshot = Self {
            changes,
            event: Arc::downgrade(&event),
            kept: Some(Arc::clone(&event)),
            waits: whole["waits"].take(),
            state: whole["state"].as_str().unwrap_or_default().to_owned(),
            has_ended: !whole["ended"].is_null(),
            made: Instant::now(),
            took: began.elapsed(),
            looked: Instant::now(),
        };
        Ok((snapshot, event))
    }

    fn seen(&self, event: Arc<Text>) -> Seen {
        Seen {
            event,
            waits: self.waits.clone(),
            state: self.state.clone(),
            has_ended: self.has_ended,
        }
    }
}

/// Returns the current state of a run, or the state a moment ago. A watcher waits while another watcher makes the state.
async fn snapshot(state: &Arc<State>, id: &str, watched: &Watched) -> Result<Seen, Problem> {
    let wanted = watched.changes.load(Ordering::Acquire);
    let mut last = watched.last.lock().await;
    if let Some(last) = &*last {
        if let Some(event) = last.event.upgrade()
            && last.changes >= wanted
        {
            return Ok(last.seen(event));
        }
        let pause = limits::STATE_TIME.max(last.took);
        tokio::time::sleep_until((last.made + pause).into()).await;
    }
    let changes = watched.changes.load(Ordering::Acquire);
    let run = id.to_owned();
    let made = state.look(id, move |state| Snapshot::make(state, &run, changes));
    let (made, event) = made.await?;
    let seen = made.seen(event);
    *last = Some(made);
    Ok(seen)
}

/// Looks for a change of the run for which no event arrived. Does nothing soon after the previous look.
async fn look(state: &Arc<State>, id: &str, watched: &Watched) -> Result<(), Problem> {
    let known = {
        // Another watcher that makes the state looks at the run as well.
        let Ok(mut last) = watched.last.try_lock() else {
            return Ok(());
        };
        let due = last.as_mut().filter(|last| last.looked.elapsed() >= LOOK);
        let Some(last) = due else {
            return Ok(());
        };
        last.looked = Instant::now();
        (last.state.clone(), last.has_ended)
    };
    let run = id.to_owned();
    let current = state.blocking(move |state| {
        let run = state.summary(&run)?;
        Ok((state.state_of(&run).to_owned(), run.ended.is_some()))
    });
    if current.await? != known {
        watched.changed();
        watched.missed.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}

/// A client that watches a run.
struct Watcher {
    state: Arc<State>,
    id: String,
    subscriber: Subscriber,
    watched: Arc<Watched>,
    /// The number of missed changes before the latest sent state.
    missed: u64,
    /// The latest sent waits.
    waits: Value,
    is_due: bool,
    has_ended: bool,
    last: Instant,
}

impl Watcher {
    /// Returns a watcher whose first events are the state of the run.
    fn new(state: Arc<State>, id: String, subscriber: Subscriber) -> Self {
        Self {
            state,
            id,
            watched: Arc::clone(&subscriber.watched),
            subscriber,
            missed: 0,
            waits: Value::Null,
            is_due: true,
            has_ended: false,
            last: Instant::now(),
        }
    }

    /// Returns the next events, or `None` after the end of the run.
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        if self.has_ended {
            return None;
        }
        let seen = loop {
            if self.last.elapsed() > QUIET {
                return Some(vec![Bytes::from_static(b":\n\n")]);
            }
            let looked = if self.is_due {
                self.missed = self.watched.missed.load(Ordering::Acquire);
                match snapshot(&self.state, &self.id, &self.watched).await {
                    Ok(seen) => break seen,
                    Err(problem) => Err(problem),
                }
            } else {
                match tokio::time::timeout(LOOK, self.subscriber.next()).await {
                    Ok(Happened::Event(event)) => return Some(vec![event]),
                    Ok(Happened::Changed) => {
                        self.is_due = true;
                        continue;
                    }
                    Err(_) => look(&self.state, &self.id, &self.watched).await,
                }
            };
            match looked {
                Ok(()) => self.is_due = self.watched.missed.load(Ordering::Acquire) != self.missed,
                // The watcher tries again when the server has less to do.
                Err(problem) if problem.code() == BUSY => tokio::time::sleep(LOOK).await,
                Err(_) => return None,
            }
        };
        self.is_due = false;
        let mut events = if seen.has_ended {
            self.subscriber.rest()
        } else {
            Vec::new()
        };
        events.push(Bytes::from_owner(Shares(seen.event)));
        if self.waits != seen.waits {
            events.push(event("waits", &seen.waits));
            self.waits = seen.waits;
        }
        if seen.has_ended {
            self.has_ended = true;
            events.push(event("end", &json!({"state": seen.state})));
        }
        Some(events)
    }
}

/// A body that several connections send.
struct Shares(Arc<Text>);

impl AsRef<[u8]> for Shares {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Returns the bytes of an event.
pub(crate) fn event(name: &str, value: &Value) -> Bytes {
    format!("event: {name}\ndata: {value}\n\n").into()
}

pub(crate) async fn events(
    axum::extract::State(state): Shared,
    Path(id): Path<String>,
    axum::Extension(mut is_ending): axum::Extension<watch::Receiver<()>>,
) -> Result<impl IntoResponse, Problem> {
    let run = id.clone();
    state.blocking(move |state| state.summary(&run)).await?;
    let subscriber = state.live.subscribe(&state.metrics, &id);
    let subscriber = subscriber.ok_or_else(|| Problem::busy("too many subscribers"))?;
    let watcher = Watcher::new(state, id, subscriber);
    let batches = stream::unfold(watcher, async |mut watcher| {
        let events = watcher.next().await?;
        watcher.last = Instant::now();
        Some((events, watcher))
    });
    let events = batches.flat_map(|events| stream::iter(events.into_iter().map(Ok)));
    // The client connects again, to the next server.
    let events = events.take_until(async move { is_ending.changed().await });
    let content_type = [(header::CONTENT_TYPE, "text/event-stream")];
    let events = events.map(|event: Result<Bytes, Infallible>| event);
    Ok((content_type, Body::from_stream(events)))
}

#[cfg(test)]
mod tests {
    use super::{LOOK, QUIET, Watcher, look, snapshot};
    use crate::limits;
    use crate::state::tests::Fixture;
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    fn watcher(fixture: &Fixture, id: &str) -> Watcher {
        let state = Arc::clone(&fixture.state);
        let subscriber = state.live.subscribe(&state.metrics, id).unwrap();
        Watcher::new(state, id.to_owned(), subscriber)
    }

    #[tokio::test]
    async fn a_look_for_missed_changes_takes_a_turn() {
        let fixture = Fixture::new("look").await;
        fixture.end("ns-1").await;
        let watcher = watcher(&fixture, "ns-1");
        let (state, watched) = (&fixture.state, &watcher.watched);
        snapshot(state, "ns-1", watched).await.unwrap();
        let set = |change: &dyn Fn(&mut super::Snapshot)| {
            change(watched.last.try_lock().unwrap().as_mut().unwrap());
        };
        let missed = || watched.missed.load(Ordering::Acquire);
        let is_due = |last: &mut super::Snapshot| {
            last.looked = last.looked.checked_sub(LOOK).unwrap();
        };
        set(&is_due);
        let turns = fixture.all_turns().await;
        assert!(look(state, "ns-1", watched).now_or_never().is_none());
        drop(turns);
        set(&is_due);
        look(state, "ns-1", watched).await.unwrap();
        assert_eq!(missed(), 0);
        set(&|last| last.state = "running".into());
        set(&is_due);
        look(state, "ns-1", watched).await.unwrap();
        assert_eq!(missed(), 1);
    }

    /// A server without room for the state of a run keeps the connection of a watcher.
    #[tokio::test]
    async fn a_watcher_without_a_state_gets_comments() {
        let fixture = Fixture::new("quiet").await;
        fixture.begin("ns-1").await;
        let mut watcher = watcher(&fixture, "ns-1");
        let room = fixture.state.states.take(limits::STATES).unwrap();
        watcher.last = watcher.last.checked_sub(QUIET).unwrap();
        assert_eq!(watcher.next().await.unwrap(), [":\n\n"]);
        drop(room);
        watcher.last = Instant::now();
        assert!(watcher.next().await.unwrap()[0].starts_with(b"event: state\n"));
    }
}
