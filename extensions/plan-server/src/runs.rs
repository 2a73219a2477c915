//! The requests about plans and runs.

use crate::answer::{TOO_LARGE, Text};
use crate::error::{Json, Path, Problem, Query, short};
use crate::findings::{findings_json, profile};
use crate::limits;
use crate::run_id::Start;
use crate::run_json::{report, whole};
use crate::state::{State, now};
use crate::view;
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use plan_runtime::Plan;
use plan_runtime::journal::{RunFilter, RunState};
use plan_runtime::run::{Decision, SignalError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

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
                    "plan": view::plan(document.plan(), state.server.toolbox()),
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

pub(crate) async fn list(From(state): Shared, Query(asked): Query<List>) -> Answer {
    state
        .blocking(move |state| {
            let mut filter = RunFilter::new().newest_first();
            if let Some(before) = &asked.before {
                match state.find(before)? {
                    Some(run) => filter = filter.after(run.number),
                    None => return Ok(axum::Json(json!({"runs": [], "next": null}))),
                }
            }
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
            let limit = asked.limit.unwrap_or(25).clamp(1, limits::RUNS_ON_PAGE);
            let (mut runs, mut next) = (Vec::new(), None);
            'pages: loop {
                let page = now(state.server.runs(&filter));
                let page = page.map_err(|error| Problem::storage(&error))?;
                let Some(last) = page.last() else { break };
                filter = filter.after(last.number);
                for run in page {
                    let is_asked = asked
                        .state
                        .as_deref()
                        .is_none_or(|it| it.is_empty() || it == state.state_of(&run));
                    if !is_asked {
                        continue;
                    }
                    if runs.len() == limit {
                        next = runs.last().map(|run: &Value| run["id"].clone());
                        break 'pages;
                    }
                    runs.push(state.run_json(&run));
                }
            }
            Ok(axum::Json(json!({"runs": runs, "next": next})))
        })
        .await
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
            let sent = now(state.server.signal(&id, &asked.path, asked.value));
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
            let cancelled = now(state.server.cancel(&id));
            cancelled.map_err(|error| Problem::storage(&error))?;
            Ok(axum::Json(json!({})))
        })
        .await
}
