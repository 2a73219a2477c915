//! Events of runs, sent to the subscribers of each run.

use crate::desk::Question;
use crate::limits;
use crate::metrics::{Metrics, OfCall, OfReference, OfTool};
use crate::run_id::{Start, reading};
use crate::run_json::has_failed;
use crate::watch::{Watched, event};
use axum::body::Bytes;
use plan_graph::Line;
use plan_runtime::Plan;
use plan_runtime::plan::Body;
use plan_runtime::run::{Observer, Status, StepError, StepRef, Totals};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
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
struct Channels {
    of_runs: HashMap<String, Channel>,
    subscribers: usize,
    /// Runs in which a plan has finished: the plan of the run itself or a called plan.
    finished: HashSet<String>,
    /// The lists of open runs and of the latest ended runs, by the steps that iterate over the lists.
    lists: HashMap<String, HashMap<String, List>>,
    /// The ended runs with lists, the oldest first.
    ended: VecDeque<String>,
}

/// A list that a step iterates over.
#[derive(Clone, Default)]
pub(crate) struct List {
    pub(crate) elements: usize,
    /// The elements that have ended, and the failed elements among them.
    pub(crate) ended: usize,
    failed: usize,
    /// The paths of open elements whose latest attempt has failed.
    failing: HashSet<String>,
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
    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the cached states of all runs. A response that is being sent keeps its state.
    pub(crate) fn forget(&self) {
        let channels = self.channels();
        channels.of_runs.values().for_each(|it| it.watched.forget());
    }

    fn send(&self, run: &str, event: impl FnOnce() -> Happened) {
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

    fn finished(&self, run: &str) {
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
fn of_event(name: &str, value: &impl Serialize) -> Happened {
    let event = event(name, &json!(value));
    if event.len() > limits::EVENT {
        return Happened::Changed;
    }
    Happened::Event(event)
}

/// An observer that sends the events of a run to its subscribers and counts them.
pub(crate) struct Watch {
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) run: String,
    pub(crate) began: SystemTime,
    /// The starts of the first calls of running steps.
    pub(crate) calls: Mutex<HashMap<String, Instant>>,
}

/// The least wait of a call that is a part of the time of its step, as in reports.
const LONG_WAIT: Duration = Duration::from_millis(200);

impl Watch {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of a step for people: without a short time before its first call.
    fn lasted(&self, step: &StepRef<'_>, took: Duration) -> Duration {
        let called = self.calls().remove(&step.to_string());
        let of_calls = called.map(|called| called.elapsed());
        let of_calls = of_calls.filter(|it| took.saturating_sub(*it) < LONG_WAIT);
        of_calls.unwrap_or(took)
    }

    fn now(&self) -> f64 {
        let since = SystemTime::now().duration_since(self.began);
        millis(since.unwrap_or_default())
    }

    fn step(&self, step: &StepRef<'_>, status: &'static str, fill: impl FnOnce(&mut StepEvent)) {
        self.live.send(&self.run, || {
            let mut event = StepEvent {
                path: step.to_string(),
                status,
                ..StepEvent::default()
            };
            fill(&mut event);
            of_event("step", &event)
        });
    }

    fn tried(
        &self,
        step: &StepRef<'_>,
        status: &'static str,
        attempt: u32,
        took: Duration,
        error: Option<&StepError>,
    ) {
        self.step(step, status, |event| {
            let ended = self.now();
            event.attempt = Some(attempt);
            event.started_ms = Some((ended - millis(took)).max(0.0));
            event.ended_ms = Some(ended);
            event.error = error.map(ToString::to_string);
        });
    }

    /// Changes the outermost list of an element.
    fn count(&self, step: &StepRef<'_>, count: impl FnOnce(&mut List, String)) {
        if step.element().len() == 1 {
            self.change(step, count);
        }
    }

    /// Changes the outermost list of a step or of an element.
    fn change(&self, step: &StepRef<'_>, change: impl FnOnce(&mut List, String)) {
        if step.is_nested() {
            return;
        }
        let path = step.to_string();
        let of = path.split_once('[').map_or(&*path, |(of, _)| of);
        let mut channels = self.live.channels();
        let lists = channels.lists.get_mut(&self.run);
        if let Some(list) = lists.and_then(|lists| lists.get_mut(of)) {
            change(list, path);
        }
    }

    fn called(&self, step: &StepRef<'_>, outcome: &'static str, took: Duration) {
        let Some(tool) = step.tool() else { return };
        let tool = Line(&tool.name).to_string();
        let call = OfCall {
            tool: tool.clone(),
            outcome,
        };
        self.metrics.calls.get_or_create(&call).inc();
        let time = self.metrics.call_time.get_or_create(&OfTool { tool });
        time.observe(took.as_secs_f64());
    }
}

/// Returns `true` for a list whose elements are lists.
pub(crate) fn is_of_lists(body: &Body) -> bool {
    matches!(body, Body::For(each) if matches!(each.body, Body::For(_)))
}

/// Returns milliseconds with the precision of the records of a run.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

impl Observer for Watch {
    fn plan_finished(&self, _: &Plan, _: &Totals, _: Duration) {
        self.live.finished(&self.run);
    }

    fn step_started(&self, step: &StepRef<'_>) {
        self.step(step, "running", |event| event.started_ms = Some(self.now()));
        if matches!(step.step().body, Body::Await(_)) {
            self.live.changed(&self.run);
        }
    }

    fn list_started(&self, step: &StepRef<'_>, length: usize) {
        // The page counts the elements of the outermost lists.
        if step.is_nested() || !step.element().is_empty() {
            return;
        }
        let mut channels = self.live.channels();
        let lists = channels.lists.entry(self.run.clone()).or_default();
        let list = List {
            elements: length,
            ..List::default()
        };
        lists.insert(step.to_string(), list);
        drop(channels);
        self.step(step, "running", |event| event.elements = Some(length));
    }

    fn element_finished(&self, step: &StepRef<'_>) {
        let mut event = None;
        self.count(step, |list, element| {
            list.ended += 1;
            list.failed += usize::from(list.failing.remove(&element));
            event = is_of_lists(&step.step().body).then(|| StepEvent {
                path: element.split('[').next().unwrap_or_default().to_owned(),
                status: "running",
                elements: Some(list.elements),
                ended: Some(list.ended),
                ..StepEvent::default()
            });
        });
        if let Some(event) = event {
            self.live.send(&self.run, || of_event("step", &event));
        }
    }

    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        // The first attempt begins with its step.
        if attempt == 1 && step.element().is_empty() {
            self.calls().insert(step.to_string(), Instant::now());
        }
        if attempt > 1 {
            self.step(step, "running", |event| {
                event.attempt = Some(attempt);
                event.started_ms = Some(self.now());
            });
        }
    }

    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, took: Duration) {
        self.called(step, "completed", took);
        self.count(step, |list, element| {
            list.failing.remove(&element);
        });
        if !step.element().is_empty() {
            self.tried(step, "completed", attempt, took, None);
        } else if attempt > 1 {
            // The event at the end of the step has no number.
            self.tried(step, "running", attempt, took, None);
        }
    }

    fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, error: &StepError, took: Duration) {
        self.called(step, "failed", took);
        self.count(step, |list, element| {
            list.failing.insert(element);
        });
        let status = if step.element().is_empty() {
            "running"
        } else {
            "failed"
        };
        self.tried(step, status, attempt, took, Some(error));
    }

    fn retrying(&self, step: &StepRef<'_>, attempt: u32, _: Duration) {
        if !step.element().is_empty() {
            self.step(step, "running", |event| event.attempt = Some(attempt));
        }
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, took: Duration) {
        if let Status::Failed(StepError::Arguments(_))
        | Status::Recovered(StepError::Arguments(_)) = status
        {
            let reference = OfReference {
                reading: reading(Start::of(&self.run).profile),
                found: "during",
            };
            self.metrics.references.get_or_create(&reference).inc();
        }

        if step.element().is_empty() {
            self.change(step, |list, _| {
                list.is_over = true;
                list.failing.clear();
            });
        }
        let lasted = self.lasted(step, took);
        self.step(step, status.name(), |event| {
            event.took_ms = Some(millis(lasted));
            let ended = self.now();
            event.started_ms = Some((ended - millis(took)).max(0.0));
            event.ended_ms = Some(ended);
            event.error = match status {
                Status::Failed(error) | Status::Recovered(error) => Some(error.to_string()),
                _ => None,
            };
        });
    }

    fn step_skipped(&self, step: &StepRef<'_>) {
        self.step(step, "skipped", |_| ());
    }

    fn step_blocked(&self, step: &StepRef<'_>, by: &plan_runtime::plan::Step) {
        self.step(step, "blocked", |event| {
            event.error = Some(has_failed(&by.id));
        });
    }
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
