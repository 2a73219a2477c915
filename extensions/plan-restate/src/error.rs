//! The errors of a client.

use crate::plans::REFUSED;
use crate::wire::Failed;
use plan_runtime::RunError;
use restate_sdk::ingress::ClientError;
use serde::Deserialize;
use std::error::Error as StdError;
use std::fmt;

/// An error of a [`Client`](crate::Client)'s request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A run cannot be submitted: the plan has errors or contains secrets, or JSON cannot represent an input.
    Start(RunError),
    /// The run failed.
    Failed(Failed),
    /// No run has this ID.
    Unknown {
        /// The ID in the request.
        id: String,
    },
    /// The workers refused a run or a signal, for example because another run has this ID, or because no step waits for the
    /// value. Contains the reason.
    Refused(String),
    /// Restate itself ended the run, for example because a person killed it. Contains the server's message.
    Ended(String),
    /// The stored value has another type than the requested one. Contains the reason.
    Unfit(String),
    /// The address is not a URL, or an HTTP header cannot contain the token. Contains the reason.
    Address(String),
    /// Restate has no service with the workers' name.
    NoService {
        /// The name of the service.
        service: String,
        /// The message of the server.
        message: String,
    },
    /// Restate could not be reached, or returned an error or an unknown response.
    Restate(Box<dyn StdError + Send + Sync>),
}

/// The error of a request without an answer from a Restate server.
#[derive(Debug)]
struct Away {
    address: String,
    error: ClientError,
}

impl Away {
    fn of(error: ClientError, address: &str) -> Self {
        let address = address.to_owned();
        Self { address, error }
    }
}

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, error } = self;
        write!(
            f,
            "its ingress does not answer at `{address}`; start the server, or give the client the address of the ingress, whose port is 8080 unless configured ({error}"
        )?;
        let mut said = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let text = error.to_string();
            // An error may contain the message of its source.
            if !said.contains(&text) {
                write!(f, ": {text}")?;
            }
            said = text;
            source = error.source();
        }
        f.write_str(")")
    }
}

impl StdError for Away {}

/// The body of an error response from Restate.
#[derive(Deserialize)]
struct Answer {
    message: String,
    #[serde(default)]
    source: String,
}

impl Error {
    /// Converts an error of a request about a run.
    pub(crate) fn of(error: ClientError, id: &str, (service, address): (&str, &str)) -> Self {
        let ClientError::Status { status, response } = &error else {
            return match error {
                ClientError::Transport { .. } => Self::Restate(Away::of(error, address).into()),
                error => Self::Restate(error.into()),
            };
        };
        let Ok(answer) = serde_json::from_slice::<Answer>(response.body()) else {
            return match status.as_u16() {
                // A 404 of Restate itself has a body with more details.
                404 => Self::Restate(Away::of(error, address).into()),
                _ => Self::Restate(error.into()),
            };
        };
        let Answer { message, source } = answer;
        match status.as_u16() {
            404 if message.contains("service") => Self::NoService {
                service: service.to_owned(),
                message,
            },
            404 => Self::Unknown { id: id.to_owned() },
            REFUSED => Self::Refused(message),
            409 if source == "invocation" => Self::Ended(message),
            _ if source == "invocation" => Self::Failed(Failed {
                message,
                cancelled: false,
                undone: Vec::new(),
                not_undone: Vec::new(),
            }),
            code => Self::Restate(format!("{message} (HTTP status {code})").into()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Failed(failed) => f.write_str(&failed.message),
            Self::Unknown { id } => write!(f, "there is no run `{id}`"),
            Self::Refused(message) | Self::Unfit(message) | Self::Address(message) => {
                f.write_str(message)
            }
            Self::Ended(message) => write!(f, "Restate has ended the run: {message}"),
            Self::NoService { service, message } => write!(
                f,
                "Restate has no service `{service}`: register a worker, `restate deployments register http://…:9080` ({message})"
            ),
            Self::Restate(error) => {
                write!(f, "Restate: {error}")?;
                let mut source = error.source();
                while let Some(error) = source {
                    write!(f, ": {error}")?;
                    source = error.source();
                }
                Ok(())
            }
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Start(error) => Some(error),
            _ => None,
        }
    }
}
