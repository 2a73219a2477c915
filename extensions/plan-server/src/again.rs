//! The requests that run a plan again: the source of a run's plan, a second run, and a retry.

use crate::answer::Text;
use crate::decisions::{Answered, Earlier, Named};
use crate::error::{Json, Path, Problem};
use crate::run_id::Start;
use crate::run_json::attempts;
use crate::runs::{Answer, Shared, start};
use crate::state::{State, bytes_of, now};
use crate::title::{NO_NAME, title};
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::Response;
use plan_runtime::Plan;
use plan_runtime::journal::RunState;
use serde_json::json;

/// Returns the plan JSON of a plan. A title from the server does not remain as the name, because a changed plan gets another title.
fn text_of(plan: &Plan) -> serde_json::Result<String> {
    let mut plan = plan.clone();
    if title(&plan).is_some_and(|title| title == plan.name) {
        plan.name = NO_NAME.into();
    }
    serde_json::to_string_pretty(&plan)
}

/// `GET /api/runs/{id}/plan`.
pub(crate) async fn plan(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    state
        .blocking(move |state| {
            let (plan, inputs) = state.plan(&id)?;
            let text = text_of(&plan).map_err(|error| Problem::storage(&error))?;
            let answer = json!({
                "text": text, "inputs": inputs, "printed": plan.to_string(),
                "mermaid": plan.mermaid().to_string(), "dot": plan.dot().to_string(),
            });
            let text = Text::new(&state.answers, "", &answer, "")?;
            Ok(text.response("application/json"))
        })
        .await
}

/// `POST /api/runs/{id}/again`.
pub(crate) async fn again(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    state
        .blocking(move |state| {
            let (document, inputs) = state.document(&id)?;
            let name = state.decisions.name(&id).unwrap_or_default();
            start(state, &document, inputs, (Start::of(&id), &name))
        })
        .await
}

/// `POST /api/runs/{id}/retry`.
pub(crate) async fn retry(
    From(state): Shared,
    Path(id): Path<String>,
    Json(named): Json<Named>,
) -> Answer {
    state
        .blocking(move |state| {
            let word = match state.summary(&id)?.state {
                RunState::Cancelled => "resume",
                _ => "retry",
            };
            state.retry(&id)?;
            state.decided(&id, &Answered::new(word, &named))?;
            Ok(axum::Json(json!({})))
        })
        .await
}

impl State {
    /// Resumes a failed run at its failure. The run is open again, so it needs room.
    pub(crate) fn retry(&self, id: &str) -> Result<(), Problem> {
        let bytes = bytes_of(&self.info(id)?);
        let run = self.summary(id)?;
        let why = match run.state {
            _ if run.ended.is_none() => Some("it has not ended"),
            RunState::Done => Some("it has not failed"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(cannot_retry(format!(
                "run `{id}` cannot be retried, because {why}"
            )));
        }
        self.decisions.retries(id)?;
        self.reserve(id, bytes)?;
        // The retry removes the records of the repeated attempts.
        let (before, waited) = attempts(self, id).unwrap_or_default();
        let retried = now(self.server.retry_failed(id));
        self.settle(id, bytes);
        self.forget_due();
        if retried.is_ok() {
            let (after, kept) = attempts(self, id).unwrap_or_default();
            let is_gone = |it: &Earlier| !after.iter().any(|after| it.is(after));
            let gone = before.into_iter().filter(is_gone);
            let waited = waited.saturating_sub(kept);
            self.decisions.retried(id, gone.collect(), waited, &run);
        }
        retried.map_err(|error| cannot_retry(error.to_string()))
    }
}

fn cannot_retry(message: String) -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "CANNOT_RETRY",
        message,
        "Only a run that has failed or was cancelled can be retried. “Run again…” on the page of the run, or `POST /api/runs/{id}/again`, starts a new run of the plan.",
    )
}
