//! Error messages: the failed action, the address of the database, and the reason. A message never contains the
//! password.

use plan_runtime::journal::JournalError;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::{Config, Host};
use tokio_postgres::error::SqlState;

/// The database and its host, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Place(Arc<str>);

impl Place {
    pub(crate) fn new(config: &Config) -> Self {
        let ports = config.get_ports();
        let port = |n: usize| ports.get(n).or(ports.last()).copied().unwrap_or(5432);
        let named = config.get_hosts().iter().enumerate().map(|(n, host)| {
            let port = port(n);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(path) => format!("{}:{port}", path.display()),
            }
        });
        let mut hosts: Vec<String> = named.collect();
        if hosts.is_empty() {
            let addresses = config.get_hostaddrs().iter().enumerate();
            hosts.extend(addresses.map(|(n, address)| format!("{address}:{}", port(n))));
        }
        let user = config.get_user().unwrap_or_default();
        let database = config.get_dbname().unwrap_or(user);
        Self(format!("database `{database}` at {}", hosts.join(", ")).into())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A failed action of the journal.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    place: Place,
    what: &'static str,
    why: String,
    /// `true` after a lost connection or another transient failure. The database may have completed the action.
    pub(crate) is_lost: bool,
}

impl Failure {
    pub(crate) fn new(place: &Place, what: &'static str, why: impl Into<String>) -> Self {
        Self {
            place: place.clone(),
            what,
            why: why.into(),
            is_lost: false,
        }
    }

    pub(crate) fn from_error(
        place: &Place,
        what: &'static str,
        error: &tokio_postgres::Error,
    ) -> Self {
        Self {
            is_lost: is_transient(error),
            ..Self::new(place, what, words(error))
        }
    }

    pub(crate) fn no_answer(place: &Place, what: &'static str, time: Duration) -> Self {
        Self {
            is_lost: true,
            ..Self::new(place, what, format!("no answer within {time:?}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place, what, why, ..
        } = self;
        write!(f, "{what} in Postgres {place}: {why}")
    }
}

impl StdError for Failure {}

impl From<Failure> for JournalError {
    fn from(failure: Failure) -> Self {
        Self::storage(failure)
    }
}

/// Returns the message of an error, with its code and its sources.
pub(crate) fn words(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let (code, message) = (error.code().code(), error.message());
        return match error.detail() {
            Some(detail) => format!("{message} ({detail}; code {code})"),
            None => format!("{message} (code {code})"),
        };
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !words.ends_with(&next) {
            words = format!("{words}: {next}");
        }
        source = error.source();
    }
    words
}

/// Returns `true` if the connection is unusable after this error.
pub(crate) fn is_connection_lost(error: &tokio_postgres::Error) -> bool {
    let Some(code) = error.code() else {
        return error.is_closed() || has_io_source(error);
    };
    // A server that became a standby refuses writes. A new connection reaches the new primary.
    code.code().starts_with("08")
        || [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
            SqlState::READ_ONLY_SQL_TRANSACTION,
        ]
        .contains(code)
}

/// Returns `true` if a later attempt may succeed.
pub(crate) fn is_transient(error: &tokio_postgres::Error) -> bool {
    is_connection_lost(error)
        || error.code().is_some_and(|code| {
            [
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::LOCK_NOT_AVAILABLE,
                SqlState::TOO_MANY_CONNECTIONS,
            ]
            .contains(code)
        })
}

fn has_io_source(error: &tokio_postgres::Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.is::<std::io::Error>() {
            return true;
        }
        source = error.source();
    }
    // An unexpected message of the server is an error without a code and a source as well.
    false
}
