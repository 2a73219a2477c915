//! Error responses, and the bodies of requests.

use crate::limits;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plan_graph::Line;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;

/// An error as `{"error": {"code", "message", "help"}}`. Some errors have further members.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    help: Cow<'static, str>,
    more: Option<(&'static str, Value)>,
}

/// The code of the errors of a busy server.
pub(crate) const BUSY: &str = "BUSY";

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        // A message may repeat names of a plan or of a request.
        let (message, help) = (Line(message.into()).to_string(), help.into());
        Self {
            status,
            code,
            message,
            help,
            more: None,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.more = Some((name, value));
        self
    }

    pub(crate) fn bad(message: impl Into<String>, help: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message, help)
    }

    pub(crate) fn busy(what: &str) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            BUSY,
            format!("the server is overloaded: {what}"),
            "Retry in a few seconds.",
        )
    }

    pub(crate) fn no_run(id: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NO_SUCH_RUN",
            format!("there is no run `{}`", short(id)),
            "The page “Runs”, or `GET /api/runs`, lists the runs.",
        )
    }

    /// Creates the error of a failed journal. The reason goes to the operator's log, not to the client.
    pub(crate) fn storage(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "the journal failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "STORAGE",
            "the server cannot read or write its runs",
            "Check whether your last action took effect, then try again. The log of the server contains the cause.",
        )
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn help(&self) -> &str {
        &self.help
    }
}

/// Cuts a string of a client for an error message.
pub(crate) fn short(text: &str) -> Cow<'_, str> {
    shortened(text, 80)
}

/// Shortens a string to a number of characters, and marks the cut with an ellipsis.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self {
            status,
            code,
            message,
            help,
            more,
        } = self;
        let mut body = json!({"error": {"code": code, "message": message, "help": help}});
        if let Some((name, value)) = more {
            body["error"][name] = value;
        }
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
        }
        response
    }
}

/// The body of a request as JSON. The content type of the request is ignored.
pub(crate) struct Json<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = bytes_of(request.into_body()).await?;
        let malformed = |why: String| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "MALFORMED_BODY",
                format!("the body of the request cannot be read: {why}"),
                "Send a JSON object with the members that API.md describes.",
            )
        };
        // A list of values would be taken for the members in their order.
        match bytes.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(&bytes)
                .map(Self)
                .map_err(|error| malformed(error.to_string())),
            Some(_) => Err(malformed("it is not a JSON object".into())),
            // All members of some bodies are optional.
            None => serde_json::from_str("{}")
                .map(Self)
                .map_err(|_| malformed("it is empty".into())),
        }
    }
}

/// The parameters in the path of a request.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(it)| Self(it)).map_err(|_| {
            Problem::bad(
                "the address cannot be read",
                "Write the address in UTF-8, with `%` and two hexadecimal digits for each byte that is not a plain ASCII character.",
            )
        })
    }
}

/// The parameters in the query string of a request.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        query
            .map(|axum::extract::Query(it)| Self(it))
            .map_err(|error| {
                let message = format!("the query string cannot be read: {}", error.body_text());
                Problem::bad(message, "API.md describes the parameters.")
            })
    }
}

async fn bytes_of(body: Body) -> Result<axum::body::Bytes, Problem> {
    let most = limits::BODY;
    match tokio::time::timeout(limits::BODY_TIME, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "TOO_LARGE",
            format!("the body of the request has more than {} KiB", most >> 10),
            "Send a smaller plan, or smaller inputs.",
        )),
        Ok(Err(_)) => Err(Problem::bad(
            "the body of the request ended early",
            "Send as many bytes as `Content-Length` states.",
        )),
        Err(_) => {
            let seconds = limits::BODY_TIME.as_secs();
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "TOO_SLOW",
                format!("the body of the request took longer than {seconds} seconds"),
                "Send the request again in one piece.",
            ))
        }
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        // The type belongs to a crate that axum does not export.
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        cause = error.source();
    }
    false
}
