//! A small HTTP client.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use restate_sdk::ingress::RequestExecutor;
use std::error::Error as StdError;
use std::fmt;

/// At most this many bytes of an answer are read.
const MOST_BYTES: usize = 256 << 20;

/// Sends requests of a [`Client`](crate::Client) over HTTP/1.1, without TLS. For `https`, pass another implementation of [`RequestExecutor`] to the
/// client, such as that of `reqwest`.
#[derive(Clone, Debug)]
pub struct Http(Client<HttpConnector, Full<Bytes>>);

impl Default for Http {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }
}

/// A request had no answer.
#[derive(Debug)]
pub struct HttpError(Box<dyn StdError + Send + Sync>);

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for HttpError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl RequestExecutor for Http {
    type Error = HttpError;

    async fn execute(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = self.0.request(request.map(Full::new)).await;
        let (head, body) = answer
            .map_err(|error| HttpError(error.into()))?
            .into_parts();
        let body = Limited::new(body, MOST_BYTES).collect().await;
        let body = body.map_err(HttpError)?.to_bytes();
        Ok(Response::from_parts(head, body))
    }
}
