//! The requests about plans and runs.

use crate::answer::{TOO_LARGE, Text};
use crate::decisions::{Answered, Named};
use crate::draft::draft;
use crate::error::{Json, Path, Problem, short};
use crate::findings::{findings_json, profile};
use crate::limits;
use crate::run_id::Start;
use crate::run_json::whole;
use crate::state::{State, now};
use crate::title::titled;
use crate::view;
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use plan_graph::Line;
use plan_runtime::Plan;
use plan_runtime::run::SignalError;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) type Answer<T = axum::Json<Value>> = Result<T, Problem>;
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
        "Split the plan into several plans.",
    ))
}

pub(crate) async fn check(From(state): Shared, Json(asked): Json<Check>) -> Answer {
    plan_size(&asked.text)?;
    let profile = profile(asked.profile.as_deref())?;
    state
        .blocking(move |state| {
            let (text, contracts) = (&asked.text, state.server.toolbox().contracts());
            let checked = match state.read(text, profile) {
                Ok(document) => json!({
                    "dialect": document.dialect().to_string(),
                    "findings": findings_json(text, document.warnings()),
                    "plan": view::plan(document.plan(), state.server.toolbox()),
                }),
                Err(findings) => json!({
                    "dialect": state.reader(profile).recognize(text).map(|it| it.to_string()),
                    "findings": findings_json(text, &findings),
                    "plan": null,
                    "draft": draft(text, &|tool| contracts.get(tool).is_some_and(|it| it.read_only)),
                }),
            };
            Ok(axum::Json(checked))
        })
        .await
}

/// `GET /api/tools`.
pub(crate) async fn tools(From(state): Shared) -> axum::Json<Value> {
    let mut contracts = json!(state.server.toolbox().contracts());
    for contract in contracts.as_array_mut().into_iter().flatten() {
        if contract["read_only"].is_null() {
            contract["read_only"] = false.into();
        }
    }
    axum::Json(contracts)
}

/// `POST /api/runs`.
#[derive(Deserialize)]
pub(crate) struct Begin {
    text: String,
    profile: Option<String>,
    #[serde(default)]
    inputs: Value,
    approve: Option<String>,
    /// The name of the run, beside the name of its plan.
    name: Option<String>,
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
            let name = asked.name.as_deref().unwrap_or_default();
            let how = Start { asks, profile };
            start(state, &asked.text, asked.inputs, (how, name))
        })
        .await
}

/// Starts a run of a plan, under a new id. The name of the run may be empty.
pub(crate) fn start(
    state: &Arc<State>,
    text: &str,
    inputs: Value,
    (how, name): (Start, &str),
) -> Result<Response, Problem> {
    let document = state.read_for_run(text, how.profile).map_err(|findings| {
        let problem = Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "FAULTY_PLAN",
            "the plan has errors",
            "Each finding contains its position, and usually its correction.",
        );
        problem.with("findings", findings_json(text, &findings))
    })?;
    let wrong = wrong_inputs(document.plan(), &inputs);
    if wrong.as_object().is_some_and(|wrong| !wrong.is_empty()) {
        let problem = Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "INPUTS",
            "some inputs are missing or wrong",
            "`inputs` contains the error of each input.",
        );
        return Err(problem.with("inputs", wrong));
    }
    // Plan JSON has a name, which may be the name of a plan without a name.
    let text = titled(document.plan());
    let document = text
        .as_deref()
        .and_then(|text| state.reader(how.profile).read(text).ok())
        .unwrap_or(document);
    let id = how.id();
    state.decisions.names(&id, name)?;
    state.submit(&document, inputs, &id)?;
    Ok((StatusCode::CREATED, axum::Json(json!({"id": id}))).into_response())
}

/// Returns the errors of inputs by input name. The run checks the inputs again.
fn wrong_inputs(plan: &Plan, given: &Value) -> Value {
    let mut wrong = serde_json::Map::new();
    for input in &plan.inputs {
        let name = input.name.to_string();
        let is_optional = input.type_name.to_string().starts_with("Option<");
        if given.get(&name).is_none() && !is_optional {
            wrong.insert(name, "a value is missing".into());
        }
    }
    for name in given.as_object().into_iter().flat_map(|given| given.keys()) {
        if plan.input(name).is_none() {
            wrong.insert(name.clone(), "the plan has no such input".into());
        }
    }
    Value::Object(wrong)
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

/// `POST /api/runs/{id}/signals`.
#[derive(Deserialize)]
pub(crate) struct Send {
    path: String,
    #[serde(default)]
    value: Value,
    #[serde(flatten)]
    named: Named,
}

pub(crate) async fn signal(
    From(state): Shared,
    Path(id): Path<String>,
    Json(asked): Json<Send>,
) -> Answer {
    state
        .blocking(move |state| {
            state.summary(&id)?;
            let sent = now(state.server.signal(&id, &asked.path, asked.value.clone()));
            sent.map_err(|error| match error {
                SignalError::Journal(error) => Problem::storage(&error),
                SignalError::Ended | SignalError::Second { .. } => Problem::new(
                    StatusCode::CONFLICT,
                    "NOT_WAITING",
                    error.to_string(),
                    "Look at the run: it no longer waits for this value.",
                ),
                error => Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "WRONG_VALUE",
                    error.to_string(),
                    "Look at the run: it lists the waiting steps and the types of their values.",
                ),
            })?;
            let answered = Answered {
                path: Line(asked.path).to_string(),
                value: Some(asked.value),
                ..Answered::new("send", &asked.named)
            };
            tracing::info!(run = id, path = answered.path, "{}", answered.sentence());
            let recorded = state.decisions.record(&id, &answered);
            state.live.changed(&id);
            recorded?;
            Ok(axum::Json(json!({})))
        })
        .await
}

/// `POST /api/runs/{id}/cancel`.
pub(crate) async fn cancel(
    From(state): Shared,
    Path(id): Path<String>,
    Json(named): Json<Named>,
) -> Answer {
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
            state.cancel(&id, &named)?;
            Ok(axum::Json(json!({})))
        })
        .await
}

impl State {
    /// Cancels a run, and records the decision.
    pub(crate) fn cancel(&self, id: &str, named: &Named) -> Result<(), Problem> {
        now(self.server.cancel(id)).map_err(|error| Problem::storage(&error))?;
        self.decided(id, &Answered::new("cancel", named))
    }

    /// Records a decision about a whole run.
    pub(crate) fn decided(&self, id: &str, decision: &Answered) -> Result<(), Problem> {
        tracing::info!(run = id, "the run was {}", decision.sentence());
        let recorded = self.decisions.record(id, decision);
        self.live.changed(id);
        recorded
    }
}
