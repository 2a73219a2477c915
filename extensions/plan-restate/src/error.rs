//! The errors of a client.

use crate::plans::REFUSED;
use crate::wire::Failed;
use plan_runtime::RunError;
use restate_sdk::ingress::ClientError;
use serde::Deserialize;
use std::error::Error as StdError;
use std::fmt;

/// The error of a client's request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The run cannot be submitted: a plan with errors, inputs that JSON cannot represent, secrets.
    Start(RunError),
    /// The run has failed.
    Failed(Failed),
    /// There is no such run.
    Unknown {
        /// The ID in the request.
        id: String,
    },
    /// A run was refused, or a signal: another run has this id, or no step waits for this value. This says why.
    Refused(String),
    /// The run was killed in Restate itself. Contains the server's message.
    Ended(String),
    /// The stored value is not of the requested type.
    Unfit(String),
    /// The address is not a URL, or the token cannot be sent.
    Address(String),
    /// Restate does not have the service of the workers.
    NoService {
        /// The name of the service.
        service: String,
        /// The message of the server.
        message: String,
    },
    /// Restate could not be reached, or has not understood.
    Restate(Box<dyn StdError + Send + Sync>),
}

/// The server is not at the given address.
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

/// An error of Restate.
#[derive(Deserialize)]
struct Answer {
    message: String,
    #[serde(default)]
    source: String,
}

impl Error {
    /// The error of a request about a run.
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
