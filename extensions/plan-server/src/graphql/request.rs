//! The requests of GraphQL, before and after a query runs.

use super::Blueprints;
use crate::budget::Budget;
use crate::error::{Json, Problem};
use crate::limits;
use crate::state::State;
use async_graphql::parser::types::{Selection, SelectionSet};
use async_graphql::{Error, ErrorExtensions, Pos, Request, Response};
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response as Reply};
use plan_graph::Lines;
use serde_json::Value;
use std::sync::Arc;

/// Answers a request with a query.
pub(crate) async fn execute(
    From(state): From<Arc<State>>,
    axum::Extension(schema): axum::Extension<Blueprints>,
    Json(body): Json<Value>,
) -> Result<Reply, Problem> {
    let malformed = |message: String, help: &'static str| {
        Problem::new(StatusCode::BAD_REQUEST, "MALFORMED_BODY", message, help)
    };
    if body.is_array() {
        return Err(malformed(
            "the body is a list, but the server accepts only one request in a body".to_owned(),
            "Send each request on its own.",
        ));
    }
    let help = "Send an object with `query`, and with `variables` and `operationName` if the query has them.";
    if body.get("query").is_none_or(Value::is_null) {
        return Err(malformed("the body has no `query`".to_owned(), help));
    }
    let mut request: Request = serde_json::from_value(body)
        .map_err(|error| malformed(format!("the body is not a GraphQL request: {error}"), help))?;
    if let Some(refused) = refused(&mut request) {
        return Ok(axum::Json(shown(refused)).into_response());
    }
    let budget = Budget::new(&state);
    let answer = shown(schema.execute(request.data(Arc::clone(&budget))).await);
    // Encoding a long answer would block the other requests.
    let text = tokio::task::spawn_blocking(move || budget.text(&answer)).await;
    let text = text.map_err(|error| Problem::storage(&error))??;
    Ok(text.response("application/json"))
}

/// Returns the schema.
pub(crate) async fn sdl(axum::Extension(schema): axum::Extension<Blueprints>) -> String {
    schema.sdl()
}

/// Escapes invisible characters in the errors of a response, which repeat parts of queries and plans.
fn shown(mut response: Response) -> Response {
    for error in &mut response.errors {
        error.message = Lines(&error.message).to_string();
    }
    response
}

/// Returns the error for a request that exceeds a limit before its validation. The complexity of a query does not count `__typename` and repeated spreads of a fragment.
fn refused(request: &mut Request) -> Option<Response> {
    if request.query.len() > limits::QUERY {
        let most = limits::QUERY >> 10;
        return Some(too_complex(format!("the query has more than {most} KiB")));
    }
    let document = match request.parsed_query() {
        Ok(document) => document,
        Err(error) => return Some(Response::from_errors(vec![error])),
    };
    let operations = document.operations.iter().map(|(_, it)| &it.node);
    let variables: usize = operations
        .clone()
        .map(|it| it.variable_definitions.len())
        .sum();
    let sets = operations.map(|it| &it.selection_set.node);
    let fragments = document.fragments.values();
    let mut open: Vec<&SelectionSet> = sets
        .chain(fragments.map(|it| &it.node.selection_set.node))
        .collect();
    let mut count = variables;
    while let Some(set) = open.pop() {
        count += set.items.len();
        open.extend(set.items.iter().filter_map(|it| match &it.node {
            Selection::Field(field) => Some(&field.node.selection_set.node),
            Selection::InlineFragment(inline) => Some(&inline.node.selection_set.node),
            Selection::FragmentSpread(_) => None,
        }));
    }
    let most = limits::QUERY_COMPLEXITY;
    (count > most).then(|| {
        too_complex(format!(
            "the query has more than {most} fields, fragments and variables"
        ))
    })
}

fn too_complex(message: String) -> Response {
    let error = Error::new(message).extend_with(|_, more| {
        more.set("code", "TOO_COMPLEX");
        more.set("help", "Request less data, or split the request.");
    });
    Response::from_errors(vec![error.into_server_error(Pos::default())])
}
