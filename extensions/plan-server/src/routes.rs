//! The routes of the server, and the checks of each request.

use crate::connections::Client;
use crate::error::Problem;
use crate::host::{self, Hosts};
use crate::metrics::OfRequest;
use crate::state::State;
use crate::{again, graphql, list, markdown, page, questions, report, runs, samples, watch};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as From};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::Arc;
use subtle::ConstantTimeEq;

pub(crate) fn router(
    state: &Arc<State>,
    hosts: &Arc<Hosts>,
    is_ending: tokio::sync::watch::Receiver<()>,
) -> Router {
    let question = post(questions::decide).get(questions::question);
    let guarded = Router::new()
        .route("/api/samples", get(samples::list))
        .route("/api/tools", get(runs::tools))
        .route("/api/check", post(runs::check))
        .route("/api/runs", post(runs::begin).get(list::list))
        .route("/api/plans", get(list::plans))
        .route("/api/runs/{id}", get(runs::show))
        .route("/api/runs/{id}/events", get(watch::events))
        .route("/api/runs/{id}/report.html", get(report::page))
        .route("/api/runs/{id}/report.md", get(markdown::page))
        .route("/api/questions", get(questions::questions))
        .route("/api/runs/{id}/questions", post(questions::decide_all))
        .route("/api/runs/{id}/questions/{question}", question)
        .route("/api/runs/{id}/plan", get(again::plan))
        .route("/api/runs/{id}/again", post(again::again))
        .route("/api/runs/{id}/retry", post(again::retry))
        .route("/api/runs/{id}/signals", post(runs::signal))
        .route("/api/runs/{id}/cancel", post(runs::cancel))
        .route("/graphql", post(graphql::execute))
        .route("/graphql/schema", get(graphql::sdl))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(state))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(state),
            authorized,
        ));
    let blueprints = graphql::schema(state);
    Router::new()
        .merge(guarded)
        .merge(page::routes())
        .route("/health", get(|| async { "ok\n" }))
        .fallback(missing)
        .method_not_allowed_fallback(other_method)
        .layer(axum::Extension(blueprints))
        .layer(axum::Extension(is_ending))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            Arc::clone(hosts),
            host::check,
        ))
        .layer(middleware::from_fn_with_state(Arc::clone(state), headers))
}

/// Refuses requests without the token.
async fn authorized(From(state): From<Arc<State>>, request: Request, next: Next) -> Response {
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
    // The comparison takes equally long for all tokens of this length.
    let is_token = given.is_some_and(|given| bool::from(given.ct_eq(state.token.as_bytes())));
    if is_token {
        if let Some(client) = request.extensions().get::<Arc<Client>>() {
            client.is_known();
        }
        return next.run(request).await;
    }
    tracing::debug!(path = request.uri().path(), "a request had no right token");
    let problem = Problem::new(
        StatusCode::UNAUTHORIZED,
        "UNAUTHORIZED",
        if given.is_some() {
            "the token is wrong"
        } else {
            "the request has no token"
        },
        "Send the header `Authorization: Bearer TOKEN`, with the token of the address that the server printed when it started.",
    );
    problem.into_response()
}

/// Adds the headers of all answers.
async fn headers(From(state): From<Arc<State>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let status = response.status().as_u16();
    state
        .metrics
        .requests
        .get_or_create(&OfRequest { status })
        .inc();
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    set("content-security-policy", page::POLICY);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cache-control", "no-store");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    response
}

async fn missing() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        "there is nothing at this address",
        "API.md lists all addresses.",
    )
}

async fn other_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD",
        "this address has no such method",
        "API.md lists the methods of each address.",
    )
}

async fn metrics(From(state): From<Arc<State>>) -> impl IntoResponse {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (
        [(header::CONTENT_TYPE, content_type)],
        state.metrics.encode(),
    )
}
