//! The requests about plans and runs.

use crate::answer::{TOO_LARGE, Text};
use crate::error::{Json, Path, Problem, Query, short};
use crate::limits;
use crate::live::{StepEvent, millis};
use crate::run_id::{Start, request_of};
use crate::state::{State, findings_json, profile, state_name};
use crate::view;
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use plan_graph::{Line, MessageName};
use plan_runtime::Plan;
use plan_runtime::dynamic::check_signal;
use plan_runtime::journal::{RunFilter, RunState, RunSummary};
use plan_runtime::plan::Role;
use plan_runtime::run::{Attempt, Decision, Report, SignalError, Status};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

type Answer<T = axum::Json<Value>> = Result<T, Problem>;
pub(crate) type Shared = From<Arc<State>>;

/// `POST /api/check`.
#[derive(Deserialize)]
pub(crate) struct Check {
    text: String,
    profile: Option<String>,
}

fn plan_size(text: &str) -> Result<(), Problem> {
    if text.len() <= limits::PLAN {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "TOO_LARGE",
        format!("the plan has more than {} KiB", limits::PLAN >> 10),
        "Split it into several plans.",
    ))
}

pub(crate) async fn check(From(state): Shared, Json(asked): Json<Check>) -> Answer {
    plan_size(&asked.text)?;
    let profile = profile(asked.profile.as_deref())?;
    state
        .blocking(move |state| {
            let text = &asked.text;
            let checked = match state.read(text, profile) {
                Ok(document) => json!({
                    "dialect": document.dialect().to_string(),
                    "findings": findings_json(text, document.warnings()),
                    "plan": view::plan(document.plan(), &state.toolbox),
                }),
                Err(findings) => json!({
                    "dialect": null,
                    "findings": findings_json(text, &findings),
                    "plan": null,
                }),
            };
            Ok(axum::Json(checked))
        })
        .await
}

/// `POST /api/runs`.
#[derive(Deserialize)]
pub(crate) struct Begin {
    text: String,
    profile: Option<String>,
    #[serde(default)]
    inputs: Value,
    approve: Option<String>,
}

pub(crate) async fn begin(From(state): Shared, Json(asked): Json<Begin>) -> Answer<Response> {
    plan_size(&asked.text)?;
    let profile = profile(asked.profile.as_deref())?;
    let asks = match asked.approve.as_deref() {
        None | Some("none") => false,
        Some("each") => true,
        Some(other) => {
            let message = format!("`{}` is not a way to approve calls", short(other));
            return Err(Problem::bad(message, "Write `none` or `each`."));
        }
    };
    state
        .blocking(move |state| {
            let document = state.read(&asked.text, profile).map_err(|findings| {
                let problem = Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "FAULTY_PLAN",
                    "the plan has errors",
                    "Each finding says where it is and what to write.",
                );
                problem.with("findings", findings_json(&asked.text, &findings))
            })?;
            let wrong = wrong_inputs(document.plan(), &asked.inputs);
            if wrong.as_object().is_some_and(|wrong| !wrong.is_empty()) {
                let problem = Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "INPUTS",
                    "some inputs are missing or wrong",
                    "`inputs` says for each of them what is wrong.",
                );
                return Err(problem.with("inputs", wrong));
            }
            let id = Start { asks, profile }.id();
            state.submit(&document, asked.inputs, &id)?;
            Ok((StatusCode::CREATED, axum::Json(json!({"id": id}))).into_response())
        })
        .await
}

/// What is wrong with inputs, by their names. The run looks at them again.
fn wrong_inputs(plan: &Plan, given: &Value) -> Value {
    let mut wrong = serde_json::Map::new();
    for input in &plan.inputs {
        let name = input.name.to_string();
        let is_optional = input.type_name.to_string().starts_with("Option<");
        if given.get(&name).is_none() && !is_optional {
            wrong.insert(name, "it is missing".into());
        }
    }
    for name in given.as_object().into_iter().flat_map(|given| given.keys()) {
        if plan.input(name).is_none() {
            wrong.insert(name.clone(), "the plan has no such input".into());
        }
    }
    Value::Object(wrong)
}

/// `GET /api/runs`.
#[derive(Deserialize)]
pub(crate) struct List {
    state: Option<String>,
    plan: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
}

fn time(at: SystemTime) -> String {
    humantime::format_rfc3339_millis(at).to_string()
}

impl State {
    pub(crate) fn state_of(&self, run: &RunSummary) -> &'static str {
        match run.state {
            RunState::Running if !run.is_owned || self.desk.asks(&run.id) => "waiting",
            state => state_name(state),
        }
    }

    fn run_json(&self, run: &RunSummary) -> Value {
        json!({
            "id": run.id,
            "request_id": request_of(&run.id),
            "plan": run.plan,
            "state": self.state_of(run),
            "began": time(run.began),
            "ended": run.ended.map(time),
            "refusal": run.refusal,
        })
    }
}

pub(crate) async fn list(From(state): Shared, Query(asked): Query<List>) -> Answer {
    state
        .blocking(move |state| {
            let mut filter = RunFilter::new().newest_first();
            filter = match asked.state.as_deref() {
                None | Some("") => filter,
                Some("running" | "waiting") => filter.state(RunState::Running),
                Some("done") => filter.state(RunState::Done),
                Some("failed") => filter.state(RunState::Failed),
                Some("cancelled") => filter.state(RunState::Cancelled),
                Some(other) => {
                    let message = format!("there is no state `{}`", short(other));
                    return Err(Problem::bad(
                        message,
                        "Write `running`, `waiting`, `done`, `failed` or `cancelled`.",
                    ));
                }
            };
            if let Some(plan) = asked.plan.filter(|plan| !plan.is_empty()) {
                filter = filter.plan(plan);
            }
            if let Some(before) = asked.before {
                filter = filter.before(before);
            }
            let limit = asked.limit.unwrap_or(25).clamp(1, limits::RUNS_ON_PAGE);
            let (mut runs, mut next) = (Vec::new(), None);
            for run in state.db.runs(&filter) {
                let run = run.map_err(|error| Problem::storage(&error))?;
                let is_asked = asked
                    .state
                    .as_deref()
                    .is_none_or(|it| it.is_empty() || it == state.state_of(&run));
                if !is_asked {
                    continue;
                }
                if runs.len() == limit {
                    next = runs.last().map(|run: &Value| run["id"].clone());
                    break;
                }
                runs.push(state.run_json(&run));
            }
            Ok(axum::Json(json!({"runs": runs, "next": next})))
        })
        .await
}

/// The report of a run, with its values or without them.
pub(crate) fn report(state: &State, id: &str, has_values: bool) -> Result<Report, Problem> {
    let report = |has_values| {
        let (db, toolbox) = (&state.db, &state.toolbox);
        db.report_with(toolbox, &state.office, id, |run| {
            run.capture_arguments(has_values)
                .capture_outputs(has_values)
                .limits(limits::OF_REPORT)
        })
    };
    let made = match report(has_values) {
        Err(error) if has_values && error.is_limit() => report(false),
        made => made,
    };
    made.map_err(|error| {
        Problem::new(
            StatusCode::CONFLICT,
            "NO_REPORT",
            error.to_string(),
            "The run was begun with other tools or another version of them.",
        )
    })
}

/// What is known of a run: all, or as much as many who watch it may be sent again and again, which is without values of any size.
pub(crate) fn whole(state: &State, id: &str, has_values: bool) -> Answer<Value> {
    let run = state.summary(id)?;
    let (plan, inputs) = state.plan(id)?;
    let report = report(state, id, has_values);
    let mut json = state.run_json(&run);
    if has_values {
        let output = state.db.output(id);
        json["output"] = output
            .map_err(|error| Problem::storage(&error))?
            .unwrap_or_default();
    }
    json["inputs"] = inputs;
    let steps = view::steps(&plan, state.toolbox.contracts());
    json["svg"] = json!(crate::picture::svg(&steps));
    json["steps"] = json!(steps);
    json["questions"] = json!(state.desk.questions(id));
    json["waits"] = json!([]);
    json["undone"] = json!([]);
    json["error"] = Value::Null;
    match report {
        Ok(report) => {
            if run.ended.is_none() {
                let mut waits = Vec::new();
                waiting(&plan, &report, ("", ""), &mut waits);
                json["waits"] = Value::Array(waits);
            }
            let mut steps = Vec::new();
            progress(&report, "", Duration::ZERO, &mut steps);
            json["progress"] = json!(steps);
            json["undone"] = undone(&plan, &report);
            let first = error(&report).filter(|_| run.state == RunState::Failed);
            // A cancellation, a deadline and a limit end a run without a failed step.
            let whole = || state.db.error(id).map_err(|error| Problem::storage(&error));
            let error = first.map_or_else(whole, |first| Ok(Some(first)))?;
            json["error"] = error.map_or(Value::Null, Value::String);
            json["report"] = json!(report);
        }
        Err(problem) => {
            json["error"] = problem.message().into();
            json["report"] = Value::Null;
        }
    }
    Ok(json)
}

/// Which element of a list an attempt was for, as in the paths of steps; empty if it was for none.
fn element(attempt: &Attempt) -> String {
    let indices = attempt.element().iter();
    indices.map(|at| format!("[{at}]")).collect()
}

/// Adds the steps of a run that wait for a value, with the types of the values. `around` contains two paths of the enclosing step: the path for signals, and the path for people.
fn waiting(plan: &Plan, report: &Report, around: (&str, &str), waits: &mut Vec<Value>) {
    for step in report.steps() {
        let path = format!("{}{}", around.0, step.id());
        let shown = format!("{}{}", around.1, MessageName(step.id()));
        if matches!(step.status(), Status::Running) {
            // What is not a step that waits is not known to be sent a value.
            let type_name = match check_signal(plan, &path, Value::Null) {
                Ok(_) => Some("any JSON value".to_owned()),
                Err(SignalError::Type { type_name, .. }) => Some(type_name),
                Err(_) => None,
            };
            if let Some(type_name) = type_name {
                let type_name = Line(type_name).to_string();
                waits.push(json!({"path": path, "step": shown, "type": type_name}));
            }
        }
        for attempt in step.attempts() {
            let element = element(attempt);
            for inside in attempt.inside() {
                let (path, shown) = (format!("{path}{element}."), format!("{shown}{element}."));
                waiting(plan, inside, (&path, &shown), waits);
            }
        }
    }
}

/// How many attempts and steps are described of a run; its report has all.
const PROGRESS: usize = 2_000;

/// What has happened in a run so far, as those who have watched it from the beginning know it.
fn progress(report: &Report, around: &str, began: Duration, events: &mut Vec<StepEvent>) {
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
                    (_, None, None) if !matches!(step.status(), Status::Running) => "cancelled",
                    _ => "running",
                },
                attempt: Some(attempt.number()),
                // It begins with its step, as for those who watch, also if it has to wait before its call.
                started_ms: step
                    .started()
                    .filter(|_| element.is_empty() && attempt.number() == 1)
                    .map_or_else(|| at(attempt.started()), at),
                ended_ms: ended.and_then(at),
                error: attempt.error().map(ToString::to_string),
            });
        }
        let has_attempts = step
            .attempts()
            .iter()
            .any(|attempt| attempt.element().is_empty());
        events.push(StepEvent {
            path,
            status: step.status().name(),
            attempt: None,
            started_ms: step.started().filter(|_| !has_attempts).and_then(at),
            ended_ms: step.ended().and_then(at),
            error: step.error().map(ToString::to_string),
        });
    }
}

/// The undo steps that ran.
fn undone(plan: &Plan, report: &Report) -> Value {
    let steps = plan.steps.iter().zip(report.steps());
    steps
        .filter_map(|(step, report)| {
            let Role::Undo(of) = step.role else {
                return None;
            };
            let undoes = MessageName(&plan.steps.get(of)?.id).to_string();
            let has_run = !matches!(report.status(), Status::NotStarted | Status::Skipped);
            has_run.then(
                || json!({"path": MessageName(report.id()).to_string(), "undoes": undoes, "status": report.status().name()}),
            )
        })
        .collect()
}

/// Why a run failed: what the first step said that failed.
fn error(report: &Report) -> Option<String> {
    report.steps().iter().find_map(|step| match step.status() {
        Status::Failed(error) => Some(format!("step `{}`: {error}", MessageName(step.id()))),
        _ => None,
    })
}

pub(crate) async fn show(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    let run = id.clone();
    state
        .look(&run, move |state| {
            let text = |whole: &Value| Text::new(&state.answers, "", whole, "");
            let whole = |has_values| whole(state, &id, has_values);
            let made = match text(&whole(true)?) {
                Err(problem) if problem.code() == TOO_LARGE => text(&whole(false)?),
                made => made,
            };
            Ok(made?.response("application/json"))
        })
        .await
}

pub(crate) async fn page(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    let run = id.clone();
    state
        .look(&run, move |state| {
            let report = report(state, &id, true)?;
            let html = report.to_html_linked("/report.css", "/report.js");
            let text = Text::of(&state.answers, html.into_bytes())?;
            Ok(text.response("text/html; charset=utf-8"))
        })
        .await
}

/// `POST /api/runs/{id}/questions/{question}`.
#[derive(Deserialize)]
pub(crate) struct Decide {
    decision: String,
    reason: Option<String>,
}

pub(crate) async fn decide(
    From(state): Shared,
    Path((id, question)): Path<(String, String)>,
    Json(asked): Json<Decide>,
) -> Answer {
    let decision = match &*asked.decision {
        "allow" => Decision::Allow,
        "allow_step" => Decision::AllowStep,
        "refuse" => Decision::Refuse(match asked.reason.as_deref().map(str::trim) {
            None | Some("") => "somebody decided so".to_owned(),
            Some(reason) => reason.chars().take(2_000).collect(),
        }),
        other => {
            let message = format!("`{}` is not a decision", short(other));
            return Err(Problem::bad(
                message,
                "Write `allow`, `allow_step` or `refuse`.",
            ));
        }
    };
    if state.desk.answer(&id, &question, decision) {
        return Ok(axum::Json(json!({})));
    }
    Err(Problem::new(
        StatusCode::CONFLICT,
        "NO_SUCH_QUESTION",
        format!(
            "the run does not ask question `{}` any more",
            short(&question)
        ),
        "Somebody has answered it, the run has ended, or the server was restarted and asks again. Look at the run's questions.",
    ))
}

/// `POST /api/runs/{id}/signals`.
#[derive(Deserialize)]
pub(crate) struct Send {
    path: String,
    #[serde(default)]
    value: Value,
}

pub(crate) async fn signal(
    From(state): Shared,
    Path(id): Path<String>,
    Json(asked): Json<Send>,
) -> Answer {
    state
        .blocking(move |state| {
            state.summary(&id)?;
            let sent = state
                .db
                .signal(&state.toolbox, &id, &asked.path, asked.value);
            sent.map_err(|error| match error {
                SignalError::Journal(error) => Problem::storage(&error),
                SignalError::Ended | SignalError::Second { .. } => Problem::new(
                    StatusCode::CONFLICT,
                    "NOT_WAITING",
                    error.to_string(),
                    "Look at the run: it does not wait for this value any more.",
                ),
                error => Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "WRONG_VALUE",
                    error.to_string(),
                    "The run's `waits` say which steps wait, and for what.",
                ),
            })?;
            state.live.changed(&id);
            Ok(axum::Json(json!({})))
        })
        .await
}

pub(crate) async fn cancel(From(state): Shared, Path(id): Path<String>) -> Answer {
    state
        .blocking(move |state| {
            let run = state.summary(&id)?;
            if run.ended.is_some() {
                return Err(Problem::new(
                    StatusCode::CONFLICT,
                    "ENDED",
                    "the run has ended already",
                    "There is nothing to cancel.",
                ));
            }
            state
                .db
                .cancel(&id)
                .map_err(|error| Problem::storage(&error))?;
            Ok(axum::Json(json!({})))
        })
        .await
}
