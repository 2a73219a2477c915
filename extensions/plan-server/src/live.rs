//! Events of runs, sent to the subscribers of each run.

use crate::desk::Question;
use crate::limits;
use crate::metrics::Metrics;
use crate::watch::{Watched, event};
use axum::body::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// The new state of a step, or of an element of a step.
#[derive(Clone, Default, Serialize)]
pub(crate) struct StepEvent {
    pub(crate) path: String,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    /// The number of elements of the step's list, after the step has read the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elements: Option<usize>,
    /// The number of ended elements of a list of lists. Only the inner elements have events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<usize>,
    /// Milliseconds since the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_ms: Option<f64>,
    /// The start of an attempt without the wait before its call.
    #[serde(skip)]
    pub(crate) called_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_ms: Option<f64>,
    /// The milliseconds of a step with a call, as in its report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) took_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

#[derive(Clone)]
pub(crate) enum Happened {
    /// An event in its encoded form.
    Event(Bytes),
    /// A sign that the subscriber must read the state again: the run waits for a value, may have ended, or no longer
    /// needs an answer.
    Changed,
}

/// The channels of the runs with subscribers.
#[derive(Default)]
pub(crate) struct Live(Mutex<Channels>);

#[derive(Default)]
pub(crate) struct Channels {
    of_runs: HashMap<String, Channel>,
    subscribers: usize,
    /// Runs in which a plan has finished: the plan of the run itself or a called plan.
    finished: HashSet<String>,
    /// The lists of open runs and of the latest ended runs, by the steps that iterate over the lists.
    pub(crate) lists: HashMap<String, HashMap<String, List>>,
    /// The ended runs with lists, the oldest first.
    ended: VecDeque<String>,
}

/// A list that a step iterates over.
#[derive(Clone, Default)]
pub(crate) struct List {
    pub(crate) elements: usize,
    /// The elements that have ended, and the failed elements among them.
    pub(crate) ended: usize,
    pub(crate) failed: usize,
    /// The paths of open elements whose latest attempt has failed.
    pub(crate) failing: HashSet<String>,
    /// `true` after the end of the step.
    pub(crate) is_over: bool,
}

impl List {
    /// Returns the list as JSON, such as `{"path": "sent", "elements": 500, "ended": 168, "failed": 2}`.
    pub(crate) fn json(&self, path: &str) -> Value {
        json!({"path": path, "elements": self.elements, "ended": self.ended, "failed": self.failed})
    }

    /// Returns `true` for an open element whose latest attempt has failed.
    pub(crate) fn is_failing(&self, element: &str) -> bool {
        self.failing.contains(element)
    }
}

/// The channel of a run.
struct Channel {
    sender: broadcast::Sender<Happened>,
    watched: Arc<Watched>,
}

/// A subscriber of a run.
pub(crate) struct Subscriber {
    pub(crate) watched: Arc<Watched>,
    live: Arc<Live>,
    metrics: Arc<Metrics>,
    run: String,
    /// `None` once the subscriber is dropped.
    receiver: Option<broadcast::Receiver<Happened>>,
}

impl Live {
    pub(crate) fn channels(&self) -> MutexGuard<'_, Channels> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the cached states of all runs. A response that is being sent keeps its state.
    pub(crate) fn forget(&self) {
        let channels = self.channels();
        channels.of_runs.values().for_each(|it| it.watched.forget());
    }

    pub(crate) fn send(&self, run: &str, event: impl FnOnce() -> Happened) {
        let channels = self.channels();
        if let Some(Channel { sender, watched }) = channels.of_runs.get(run) {
            watched.changed();
            // A slow receiver detects lost events itself.
            let _ = sender.send(event());
        }
    }

    pub(crate) fn asked(&self, run: &str, question: Question) {
        self.send(run, || of_event("question", &question));
    }

    pub(crate) fn changed(&self, run: &str) {
        self.send(run, || Happened::Changed);
    }

    pub(crate) fn finished(&self, run: &str) {
        self.channels().finished.insert(run.to_owned());
        self.changed(run);
    }

    /// Takes the runs that may have ended since the last call, and the runs that [`still_open`](Self::still_open) has
    /// put back.
    pub(crate) fn take_finished(&self) -> HashSet<String> {
        std::mem::take(&mut self.channels().finished)
    }

    /// Returns the lists of a run, by the steps that iterate over the lists.
    pub(crate) fn lists(&self, run: &str) -> HashMap<String, List> {
        self.channels().lists.get(run).cloned().unwrap_or_default()
    }

    /// Keeps the lists of a run that has ended until enough later runs have ended.
    pub(crate) fn ended(&self, run: &str) {
        let mut channels = self.channels();
        if let Some(lists) = channels.lists.get_mut(run) {
            lists
                .values_mut()
                .for_each(|it| it.failing = HashSet::new());
            channels.ended.push_back(run.to_owned());
        }
        if channels.ended.len() > limits::LISTS {
            let oldest = channels.ended.pop_front().unwrap_or_default();
            channels.lists.remove(&oldest);
        }
        drop(channels);
        self.changed(run);
    }

    /// Puts back runs that have not ended yet.
    pub(crate) fn still_open(&self, runs: Vec<String>) {
        self.channels().finished.extend(runs);
    }

    /// Watches a run, unless too many do.
    pub(crate) fn subscribe(
        self: &Arc<Self>,
        metrics: &Arc<Metrics>,
        run: &str,
    ) -> Option<Subscriber> {
        let mut channels = self.channels();
        if channels.subscribers >= limits::SUBSCRIBERS {
            return None;
        }
        let channel = channels
            .of_runs
            .entry(run.to_owned())
            .or_insert_with(|| Channel {
                sender: broadcast::channel(limits::EVENTS).0,
                watched: Arc::default(),
            });
        let (sender, watched) = (&channel.sender, Arc::clone(&channel.watched));
        if sender.receiver_count() >= limits::SUBSCRIBERS_OF_RUN {
            return None;
        }
        let receiver = Some(sender.subscribe());
        channels.subscribers += 1;
        metrics.subscribers.inc();
        Some(Subscriber {
            watched,
            live: Arc::clone(self),
            metrics: Arc::clone(metrics),
            run: run.to_owned(),
            receiver,
        })
    }
}

impl Subscriber {
    /// Waits for the next event. A subscriber that has missed events gets [`Happened::Changed`].
    pub(crate) async fn next(&mut self) -> Happened {
        match &mut self.receiver {
            Some(receiver) => receiver.recv().await.unwrap_or(Happened::Changed),
            None => Happened::Changed,
        }
    }

    /// Returns the remaining events of a run that has ended.
    pub(crate) fn rest(&mut self) -> Vec<Bytes> {
        use broadcast::error::TryRecvError::Lagged;
        let mut events = Vec::new();
        while let Some(receiver) = &mut self.receiver {
            match receiver.try_recv() {
                Ok(Happened::Event(event)) => events.push(event),
                Ok(Happened::Changed) | Err(Lagged(_)) => {}
                Err(_) => break,
            }
        }
        events
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.receiver = None;
        let mut channels = self.live.channels();
        channels.subscribers -= 1;
        let is_last = |channel: &Channel| channel.sender.receiver_count() == 0;
        if channels.of_runs.get(&self.run).is_some_and(is_last) {
            channels.of_runs.remove(&self.run);
        }
        self.metrics.subscribers.dec();
    }
}

/// Returns the event, or [`Happened::Changed`] if the event is too long.
pub(crate) fn of_event(name: &str, value: &impl Serialize) -> Happened {
    let event = event(name, &json!(value));
    if event.len() > limits::EVENT {
        return Happened::Changed;
    }
    Happened::Event(event)
}

/// Returns milliseconds with the precision of the records of a run.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::{List, Live};

    #[test]
    fn an_ended_run_keeps_only_numbers() {
        let live = Live::default();
        let list = List {
            elements: 3,
            failing: ["all[1]".to_owned()].into(),
            ..List::default()
        };
        let lists = [("all".to_owned(), list)].into();
        live.channels().lists.insert("as-1".to_owned(), lists);
        live.ended("as-1");
        let list = &live.lists("as-1")["all"];
        assert_eq!((list.elements, list.failing.len()), (3, 0));
    }
}
