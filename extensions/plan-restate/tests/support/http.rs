//! Requests with JSON, one per connection.

use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The response of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    pub status: u16,
    pub body: String,
}

impl Response {
    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// Sends a request, and waits at most `limit` for each part of the answer.
pub fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&Value>,
    limit: Duration,
) -> io::Result<Response> {
    let mut stream = TcpStream::connect_timeout(&address, limit)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(limit))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    // The answers of HTTP 1.0 end with the connection, and are not in chunks.
    let mut text =
        format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\naccept: application/json\r\n");
    if !body.is_empty() {
        text += &format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
    }
    text += "\r\n";
    text += &body;
    stream.write_all(text.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let broken = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("not an answer: {answer:?}"),
        )
    };
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|it| it.parse().ok())
        .ok_or_else(broken)?;
    Ok(Response {
        status,
        body: body.to_owned(),
    })
}
