//! The bytes of answers to clients. The server limits the bytes of one answer, and the bytes of all answers that clients have not received yet.

use crate::error::Problem;
use crate::limits;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory for bytes that are being sent, in KiB.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

impl Room {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes >> 10)))
    }

    /// Takes room for this many bytes until the permit is dropped.
    pub(crate) fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let count = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.0).try_acquire_many_owned(count);
        permit.map_err(|_| Problem::busy("too many open responses"))
    }
}

/// Bytes that occupy memory of the budget until their drop.
pub(crate) struct Text {
    bytes: Vec<u8>,
    room: Vec<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Text {
    /// Encodes a value as JSON between two strings.
    pub(crate) fn new(
        room: &Room,
        before: &str,
        value: &impl Serialize,
        after: &str,
    ) -> Result<Self, Problem> {
        let mut text = Limited {
            bytes: before.into(),
            is_over: false,
        };
        if let Err(error) = serde_json::to_writer(&mut text, value) {
            return Err(if text.is_over {
                too_large()
            } else {
                Problem::storage(&error)
            });
        }
        let mut bytes = text.bytes;
        bytes.extend_from_slice(after.as_bytes());
        Self::of(room, bytes)
    }

    /// Creates a body from finished bytes.
    pub(crate) fn of(room: &Room, bytes: Vec<u8>) -> Result<Self, Problem> {
        let room = vec![room.take(bytes.len())?];
        Ok(Self { bytes, room })
    }

    /// Keeps these permits as well, until the body is dropped.
    pub(crate) fn holding_also(mut self, held: Vec<OwnedSemaphorePermit>) -> Self {
        self.room.extend(held);
        self
    }

    pub(crate) fn response(self, content_type: &'static str) -> Response {
        let body = Body::from(Bytes::from_owner(self));
        let mut response = body.into_response();
        let content_type = HeaderValue::from_static(content_type);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
        response
    }
}

/// A writer that fails once its bytes exceed a limit.
struct Limited {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > limits::ANSWER {
            self.is_over = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The code of the error for an answer that exceeds the size limit.
pub(crate) const TOO_LARGE: &str = "ANSWER_TOO_LARGE";

/// Returns the error for an answer that exceeds the size limit.
pub(crate) fn too_large() -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        TOO_LARGE,
        format!(
            "the response would have more than {} MiB, the limit of one response",
            limits::ANSWER >> 20
        ),
        "Request less data, or split the request.",
    )
}

/// Returns the approximate size of a value in memory, in bytes.
pub(crate) fn weight(value: &Value) -> usize {
    const PART: usize = 64;
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| PART + name.len() + weight(value))
            .sum(),
        _ => 0,
    };
    PART + inside
}
