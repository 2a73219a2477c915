//! The observer of a run: the events of its steps, its lists, and the metrics of its calls.

use crate::live::{List, Live, StepEvent, millis, of_event};
use crate::metrics::{Metrics, OfCall, OfReference, OfTool};
use crate::run_id::{Start, reading};
use crate::run_json::has_failed;
use plan_graph::Line;
use plan_runtime::Plan;
use plan_runtime::plan::Body;
use plan_runtime::run::{Observer, Status, StepError, StepRef, Totals};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

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
fn is_of_lists(body: &Body) -> bool {
    matches!(body, Body::For(each) if matches!(each.body, Body::For(_)))
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
