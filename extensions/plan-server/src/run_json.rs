//! Runs in the form of the API.

use crate::decisions::Earlier;
use crate::error::Problem;
use crate::facts::idle;
use crate::limits;
use crate::live::{List, StepEvent, millis};
use crate::run_id::{Start, reading, request_of};
use crate::state::{State, now, state_name};
use crate::undoing::{is_inside, not_undone, undone};
use crate::view;
use axum::http::StatusCode;
use plan_graph::{Line, MessageName};
use plan_runtime::dynamic::check_signal;
use plan_runtime::journal::{RunState, RunSummary};
use plan_runtime::plan::Role;
use plan_runtime::run::{Attempt, RunErrorKind, SignalError, Status, StepError};
use plan_runtime::{Plan, Report};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

pub(crate) fn time(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}

impl State {
    pub(crate) fn state_of(&self, run: &RunSummary) -> &'static str {
        match run.state {
            _ if self.waits_for(run).is_some() => "waiting",
            state => state_name(state),
        }
    }

    /// Returns the thing that a waiting run waits for: an answer to a question, a value, a time, or a server that can continue the run.
    pub(crate) fn waits_for(&self, run: &RunSummary) -> Option<&'static str> {
        match run.state {
            RunState::Running if self.desk.asks(&run.id) => Some("answer"),
            RunState::Running if run.is_owned => None,
            RunState::Running if run.waits => Some("value"),
            RunState::Running if run.refusal.is_some() => Some("server"),
            RunState::Running if self.is_due(run) => None,
            RunState::Running => Some("time"),
            _ => None,
        }
    }

    /// Returns the latest end of a run, after which an unfinished run fails. The time counts from the start of the run, or from its latest retry.
    pub(crate) fn expires(&self, run: &RunSummary) -> SystemTime {
        let since = self.decisions.retried_at(&run.id).unwrap_or(run.began);
        since + limits::RUN_TIME
    }

    pub(crate) fn run_json(&self, run: &RunSummary) -> Value {
        let start = Start::of(&run.id);
        let is_open = run.ended.is_none();
        let lists = is_open.then(|| self.live.lists(&run.id));
        let lists = lists.into_iter().flatten();
        let mut lists: Vec<_> = lists.filter(|(_, list)| !list.is_over).collect();
        lists.sort_by(|(a, _), (b, _)| a.cmp(b));
        let lists = lists.iter().map(|(path, list)| list.json(path));
        json!({
            "id": run.id,
            "request_id": request_of(&run.id),
            "name": self.decisions.name(&run.id),
            "plan": run.plan,
            "approve": if start.asks { "each" } else { "none" },
            "profile": reading(start.profile),
            "state": self.state_of(run),
            "waits_for": self.waits_for(run),
            "began": time(run.began),
            "ended": run.ended.map(time),
            "took_ms": null,
            "idle_ms": idle(&self.decisions.earlier(&run.id)),
            "expires": is_open.then(|| time(self.expires(run))),
            "lists": lists.collect::<Vec<_>>(),
            "refusal": run.refusal,
        })
    }
}

/// Returns the report of a run, with or without values.
pub(crate) fn report(state: &State, id: &str, has_values: bool) -> Result<Report, Problem> {
    let report = |has_values| {
        now(state.server.report_with(id, |run| {
            run.capture_arguments(has_values)
                .capture_outputs(has_values)
                .limits(limits::OF_REPORT)
        }))
    };
    let made = match report(has_values) {
        Err(error) if has_values && error.kind() == RunErrorKind::Limit => report(false),
        made => made,
    };
    made.map_err(|error| {
        Problem::new(
            StatusCode::CONFLICT,
            "NO_REPORT",
            error.to_string(),
            "The run may have begun with other tools, or with another version of its tools. Tell the person who operates the server.",
        )
    })
}

/// Returns the output of a run that is done.
pub(crate) fn output(state: &State, id: &str) -> Result<Option<Value>, Problem> {
    now(state.server.output(id)).map_err(|error| Problem::storage(&error))
}

/// Returns a run as JSON. Without `has_values`, the JSON contains no outputs and no arguments, so the server can send the JSON to many watchers.
pub(crate) fn whole(state: &State, id: &str, has_values: bool) -> Result<Value, Problem> {
    let run = state.summary(id)?;
    let (plan, inputs) = state.plan(id)?;
    let report = report(state, id, has_values);
    let mut json = state.run_json(&run);
    if has_values {
        json["output"] = output(state, id)?.unwrap_or_default();
    }
    json["inputs"] = inputs;
    let steps = view::steps(&plan, state.server.toolbox().contracts());
    json["svg"] = json!(crate::picture::svg(&plan.name, &steps));
    json["steps"] = json!(steps);
    json["questions"] = json!(state.desk.questions(id));
    let decisions = state.decisions.of_run(id).into_iter();
    let decisions = decisions.map(|it| if has_values { it } else { it.without_values() });
    json["decisions"] = json!(decisions.collect::<Vec<_>>());
    json["earlier"] = json!(state.decisions.earlier(id));
    json["restarts"] = json!(state.decisions.restarts(&run));
    json["waits"] = json!([]);
    json["undone"] = json!([]);
    json["not_undone"] = json!([]);
    json["is_transient"] = Value::Null;
    json["report"] = Value::Null;
    match report {
        Ok(report) => {
            if run.ended.is_some() {
                json["took_ms"] = millis(state.took(&run, &report)).into();
            }
            if run.state == RunState::Failed {
                json["is_transient"] = is_transient(&plan, &report).into();
            }
            if run.ended.is_none() {
                let mut waits = Vec::new();
                waiting(&plan, &report, ("", ""), &mut waits);
                json["waits"] = Value::Array(waits);
            }
            let mut events = Vec::new();
            progress(&report, "", Duration::ZERO, &mut events);
            if let Some(retried) = state.decisions.retried_at(id) {
                let age = retried.duration_since(run.began);
                begin_at_retry(&mut events, age.unwrap_or_default());
            }
            let lists = state.live.lists(id);
            let repeated = repeated(&plan, &report, &lists);
            for step in &mut events {
                let is_failing = lists.values().any(|list| list.is_failing(&step.path));
                if is_failing || repeated.contains(&step.path) {
                    step.status = "running";
                }
                let list = lists.get(&step.path).filter(|_| step.attempt.is_none());
                step.elements = list.map_or(step.elements, |list| Some(list.elements));
                step.ended = list.map(|list| list.ended);
            }
            json["progress"] = json!(events);
            let undone = undone(&plan, &report);
            json["undone"] = json!(undone);
            if run.ended.is_some() && run.state != RunState::Done {
                json["not_undone"] = json!(not_undone(&steps, &undone, &events));
            }
            json["error"] = json!(cause(state, &run, &report)?);
            json["report"] = json!(report);
        }
        Err(problem) => {
            json["error"] = problem.message().into();
        }
    }
    Ok(json)
}

/// Returns the indices of an attempt's list element, as in the paths of steps. Other attempts have an empty string.
fn element(attempt: &Attempt) -> String {
    let indices = attempt.element().iter();
    indices.map(|at| format!("[{at}]")).collect()
}

/// Returns `false` if the arguments of an attempt were wrong, so that the run made no call.
pub(crate) fn made_call(attempt: &Attempt) -> bool {
    attempt.tool().is_none() || !matches!(attempt.error(), Some(StepError::Arguments(_)))
}

/// Returns the failed elements with a further attempt, in lists without events. After a restart, a run that waits for its next attempt has no events.
fn repeated(plan: &Plan, report: &Report, lists: &HashMap<String, List>) -> HashSet<String> {
    let mut repeated = HashSet::new();
    for (of, step) in plan.steps.iter().zip(report.steps()) {
        let path = MessageName(step.id()).to_string();
        if !is_open(step.status()) || lists.contains_key(&path) {
            continue;
        }
        let elements = step.attempts().iter().filter(|it| !it.element().is_empty());
        for attempt in elements {
            let is_left = attempt.number() < of.policy.attempts;
            let path = format!("{path}{}", element(attempt));
            if attempt
                .error()
                .is_some_and(|it| is_left && it.is_transient())
            {
                repeated.insert(path);
            } else {
                repeated.remove(&path);
            }
        }
    }
    repeated
}

/// Returns `true` if a step has started and has not ended.
fn is_open(status: &Status) -> bool {
    matches!(status, Status::Running | Status::Waiting)
}

/// Adds the steps of a run that wait for a value, with the types of the values. `around` contains two paths of the enclosing step: the path for signals, and the path for people.
pub(crate) fn waiting(top: &Plan, report: &Report, around: (&str, &str), waits: &mut Vec<Value>) {
    for step in report.steps() {
        let path = format!("{}{}", around.0, step.id());
        let shown = format!("{}{}", around.1, MessageName(step.id()));
        if is_open(step.status()) {
            // Only a waiting step can get a value.
            let type_name = match check_signal(top, &path, Value::Null) {
                Ok(_) => Some("any JSON value".to_owned()),
                Err(SignalError::Type { type_name, .. }) => Some(type_name),
                Err(_) => None,
            };
            if let Some(type_name) = type_name {
                let type_name = Line(type_name).to_string();
                let intent = view::intent(top, &shown);
                let mut open = step.waits().iter().filter(|it| it.ended().is_none());
                let since = open.next().map_or(step.started(), |it| Some(it.started()));
                let since = since.map(|since| time(report.started_at() + since));
                waits.push(
                    json!({"path": path, "step": shown, "type": type_name, "intent": intent, "since": since}),
                );
            }
        }
        for attempt in step.attempts() {
            let element = element(attempt);
            for inside in attempt.inside() {
                let (path, shown) = (format!("{path}{element}."), format!("{shown}{element}."));
                waiting(top, inside, (&path, &shown), waits);
            }
        }
    }
}

/// The maximum number of attempts and steps in the progress of a run. The report has no maximum.
const PROGRESS: usize = 2_000;

/// Returns the attempts of a run and the failed steps without attempts, with the time of all waits for people.
pub(crate) fn attempts(state: &State, id: &str) -> Result<(Vec<Earlier>, Duration), Problem> {
    let mut events = Vec::new();
    let report = report(state, id, false)?;
    progress(&report, "", Duration::ZERO, &mut events);
    let tried: HashSet<String> = events
        .iter()
        .filter(|event| event.attempt.is_some())
        .map(|event| event.path.clone())
        .collect();
    let is_shown = |event: &StepEvent| {
        event.attempt.is_some() || event.status == "failed" && !tried.contains(&event.path)
    };
    let attempts = events.into_iter().filter(is_shown);
    Ok((attempts.map(Earlier::from).collect(), report.waited()))
}

/// Lets the steps that run begin at the retry at the earliest, because a viewed report starts an open step after its dependencies. A step
/// keeps its start if a part of the step ended before the retry.
fn begin_at_retry(events: &mut [StepEvent], retried: Duration) {
    let retried = millis(retried);
    let ended: Vec<String> = events
        .iter()
        .filter(|it| it.ended_ms.is_some_and(|ended| ended <= retried))
        .map(|it| it.path.clone())
        .collect();
    let has_ended = |path: &str| ended.iter().any(|it| is_inside(it, path));
    for event in events {
        if event.status == "running" && event.ended_ms.is_none() && !has_ended(&event.path) {
            event.started_ms = event.started_ms.map(|it| it.max(retried));
        }
    }
}

/// Adds the events of a run so far, in the form of the events for watchers.
pub(crate) fn progress(
    report: &Report,
    around: &str,
    began: Duration,
    events: &mut Vec<StepEvent>,
) {
    let at = |time: Duration| Some(millis(began.saturating_add(time)));
    for step in report.steps() {
        if matches!(step.status(), Status::NotStarted) || events.len() >= PROGRESS {
            continue;
        }
        let path = format!("{around}{}", MessageName(step.id()));
        for attempt in step.attempts() {
            let element = element(attempt);
            for inside in attempt.inside() {
                let since = inside.started_at().duration_since(report.started_at());
                let began = began.saturating_add(since.unwrap_or_default());
                progress(inside, &format!("{path}{element}."), began, events);
            }
            let ended = attempt.ended();
            events.push(StepEvent {
                path: format!("{path}{element}"),
                status: match (element.is_empty(), ended, attempt.error()) {
                    (false, Some(_), None) => "completed",
                    (false, _, Some(_)) => "failed",
                    (_, None, None) if !is_open(step.status()) => "cancelled",
                    _ => "running",
                },
                attempt: Some(attempt.number()),
                elements: None,
                ended: None,
                // The first attempt begins with its step, which may begin with a long wait. Subscribers get this time as well.
                started_ms: step
                    .started()
                    .filter(|_| element.is_empty() && attempt.number() == 1)
                    .map_or_else(|| at(attempt.started()), at),
                called_ms: at(attempt.started()).filter(|_| made_call(attempt)),
                ended_ms: ended.and_then(at),
                took_ms: None,
                error: attempt.error().map(ToString::to_string),
            });
        }
        let has_attempts = step
            .attempts()
            .iter()
            .any(|attempt| attempt.element().is_empty());
        events.push(StepEvent {
            path,
            status: if is_open(step.status()) {
                "running"
            } else {
                step.status().name()
            },
            attempt: None,
            elements: step.elements(),
            ended: None,
            started_ms: step.started().filter(|_| !has_attempts).and_then(at),
            called_ms: None,
            ended_ms: step.ended().and_then(at),
            took_ms: None,
            error: match step.status() {
                Status::Blocked { by, .. } => Some(has_failed(by)),
                _ => step.error().map(ToString::to_string),
            },
        });
    }
}

/// Returns the reason of a blocked step.
pub(crate) fn has_failed(step: &str) -> String {
    format!("step `{}` has failed", MessageName(step))
}

/// Returns the error of a run. A cancellation, a deadline and a limit end a run without a failed step.
pub(crate) fn cause(
    state: &State,
    run: &RunSummary,
    report: &Report,
) -> Result<Option<String>, Problem> {
    let first = error(report).filter(|_| run.state == RunState::Failed);
    match first {
        Some(first) => Ok(Some(first)),
        // The run may have ended after this summary was read.
        None if run.ended.is_none() => Ok(None),
        None => now(state.server.error(&run.id)).map_err(|error| Problem::storage(&error)),
    }
}

/// Returns `true` if a retry of a failed run may succeed: if the errors of all failed steps are transient.
fn is_transient(plan: &Plan, report: &Report) -> bool {
    let mut steps = plan.steps.iter().zip(report.steps());
    steps.all(|(step, report)| match report.status() {
        Status::Failed(error) => step.role == Role::Always || error.is_transient(),
        _ => true,
    })
}

/// Returns the error of the first failed step.
fn error(report: &Report) -> Option<String> {
    report.steps().iter().find_map(|step| match step.status() {
        Status::Failed(error) => {
            let indices = step.element().iter();
            let element: String = indices.map(|at| format!("[{at}]")).collect();
            let id = MessageName(step.id());
            Some(format!("step `{id}{element}`: {error}"))
        }
        _ => None,
    })
}
