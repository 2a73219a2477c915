//! The requests that run a plan again: the source of a run's plan, a second run, and a retry.

use crate::answer::Text;
use crate::error::{Path, Problem};
use crate::run_id::Start;
use crate::runs::{Answer, Shared, start};
use axum::extract::State as From;
use axum::response::Response;
use serde_json::json;

/// `GET /api/runs/{id}/plan`.
pub(crate) async fn plan(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    state
        .blocking(move |state| {
            let (plan, inputs) = state.plan(&id)?;
            let text = serde_json::to_string_pretty(&plan);
            let text = text.map_err(|error| Problem::storage(&error))?;
            let answer = json!({"text": text, "inputs": inputs});
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
            start(state, &document, inputs, Start::of(&id))
        })
        .await
}

/// `POST /api/runs/{id}/retry`.
pub(crate) async fn retry(From(state): Shared, Path(id): Path<String>) -> Answer {
    state
        .blocking(move |state| {
            state.retry(&id)?;
            state.live.changed(&id);
            Ok(axum::Json(json!({})))
        })
        .await
}
