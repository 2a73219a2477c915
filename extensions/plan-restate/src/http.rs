//! An HTTP client without TLS.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use restate_sdk::ingress::RequestExecutor;
use std::error::Error as StdError;
use std::fmt;

/// The most bytes of a response that a client reads.
const MOST_BYTES: usize = 256 << 20;

/// An HTTP/1.1 client without TLS, for a [`Client`](crate::Client). For `https`, pass another implementation of [`RequestExecutor`] to the client,
/// for example one on top of `reqwest`.
#[derive(Clone, Debug)]
pub struct Http(Client<HttpConnector, Full<Bytes>>);

impl Default for Http {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }
}

/// The error of a request without a response.
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
