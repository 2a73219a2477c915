//! The server, with its connections, its start and its end.

use crate::connections::{Connection, Connections, Stream};
use crate::decisions::Decisions;
use crate::folder::{lock, private_folder, token};
use crate::host::Hosts;
use crate::routes::router;
use crate::state::State;
use crate::tools::{Office, toolbox};
use crate::{limits, observer, page};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use plan_runtime::journal::{JournalError, SqliteOptions};
use plan_runtime::run::Throttle;
use std::fmt;
use std::fs::File;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address and the port; port 0 is any that is free.
    pub address: SocketAddr,
    /// The folder of the database, of the token, and of the effects that the tools have had. The server creates a missing folder.
    pub data: PathBuf,
    /// The names of proxies in front of the server, which a request may have as its host.
    pub hosts: Vec<String>,
}

/// A server that listens.
pub struct Server {
    state: Arc<State>,
    throttle: Throttle,
    listener: TcpListener,
    address: SocketAddr,
    /// Keeps other servers from the folder. The system releases the lock at the end of the process.
    _lock: File,
    hosts: Arc<Hosts>,
}

/// An error that keeps a server from starting, or ends a server.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// The server cannot read, write or open this.
    Io(String, io::Error),
    /// The server cannot use the database of runs.
    Journal(JournalError),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, error) => write!(f, "{what}: {error}"),
            Self::Journal(error) => write!(f, "the database of runs: {error}"),
        }
    }
}

impl std::error::Error for ServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::Journal(error) => Some(error),
        }
    }
}

impl std::convert::From<JournalError> for ServerError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

pub(crate) fn at(what: impl fmt::Display) -> impl FnOnce(io::Error) -> ServerError {
    move |error| ServerError::Io(what.to_string(), error)
}

impl Server {
    /// Opens the folder, and listens.
    ///
    /// # Errors
    ///
    /// The folder cannot be used, another server has it, its database is that of a newer version, or the address is taken.
    pub async fn bind(settings: &Settings) -> Result<Self, ServerError> {
        let folder = &settings.data;
        private_folder(folder).map_err(at(folder.display()))?;
        let lock = lock(folder)?;
        let token = token(folder)?;
        let options = SqliteOptions::new().max_bytes(limits::DATABASE);
        let db = options.open(folder.join("runs.db"))?;
        let effects = folder.join("effects.jsonl");
        let office = Office::open(&effects).map_err(at(effects.display()))?;
        let decisions = Decisions::open(folder).map_err(at(folder.display()))?;
        let throttle = Throttle::new().concurrency("*", limits::CALLS);
        let state = State::new(db, toolbox(throttle.clone()), office, decisions, token).await?;
        let listening = TcpListener::bind(settings.address).await;
        let listener = listening.map_err(at(settings.address))?;
        let address = listener.local_addr().map_err(at(settings.address))?;
        state.decisions.starts();
        Ok(Self {
            state: Arc::new(state),
            throttle,
            listener,
            address,
            _lock: lock,
            hosts: Hosts::new(address, &settings.hosts),
        })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address to open in a browser. The token is in the fragment, which a browser never sends.
    pub fn url(&self) -> String {
        format!("http://{}/#token={}", self.address, self.state.token)
    }

    /// Serves until `end` completes. Running calls then have at most [`limits::GRACE`] to end and to be recorded. The
    /// next server with this folder resumes all runs.
    ///
    /// # Errors
    ///
    /// The database cannot be read or written.
    pub async fn serve(self, end: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&self.state);
        let mut runs = tokio::spawn(async move { run_runs(&state, stopped).await });
        let counts = tokio::spawn(count(Arc::clone(&self.state)));

        let connections = Connections::new(Arc::clone(&self.state.metrics));
        let graceful = GracefulShutdown::new();
        let (ending, is_ending) = tokio::sync::watch::channel(());
        let router = router(&self.state, &self.hosts, is_ending);
        let mut end = std::pin::pin!(end);
        let failed = loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => match connections.add(address.ip()) {
                        Some(connection) => connect(stream, connection, &router, &graceful),
                        None => drop(tokio::spawn(refuse(stream))),
                    },
                    Err(error) => {
                        // The process may have no file descriptors left.
                        tracing::warn!(%error, "a connection was not accepted");
                        connections.make_room();
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                () = &mut end => break None,
                served = &mut runs => break served.ok(),
            }
        };
        drop(self.listener);
        drop(ending);
        if failed.is_none() {
            tracing::info!(
                "the server stops: no new call starts, and running calls have {:?} to end",
                limits::GRACE
            );
            self.throttle.pause(Duration::from_secs(3_600));
            let until = tokio::time::Instant::now() + limits::GRACE;
            while self.state.server.app().running() > 0 && tokio::time::Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // The journal still writes the records of completed calls.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let _ = stop.send(());
        let served = match failed {
            Some(served) => served,
            None => (&mut runs).await.unwrap_or(Ok(())),
        };
        let _ = tokio::time::timeout(Duration::from_secs(2), graceful.shutdown()).await;
        counts.abort();
        Ok(served?)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.address)
    }
}

/// Answers the requests of a connection until it ends, or makes room for another one.
fn connect(
    stream: TcpStream,
    connection: Connection,
    router: &Router,
    graceful: &GracefulShutdown,
) {
    let _ = stream.set_nodelay(true);
    let stream = Stream::new(stream, Arc::clone(&connection.client));
    let router = TowerToHyperService::new(router.clone());
    let client = Arc::clone(&connection.client);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&client));
        router.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIME)
        .max_buf_size(limits::HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let served = graceful.watch(served);
    tokio::spawn(async move {
        let mut connection = connection;
        tokio::select! {
            served = served => if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            },
            _ = &mut connection.ended => tracing::debug!("a connection made room for another one"),
        }
    });
}

/// Sends a client the answer that the server has no room for the connection.
async fn refuse(mut stream: TcpStream) {
    let body = r#"{"error":{"code":"BUSY","message":"the server is overloaded: too many connections","help":"Retry in a few seconds."}}"#;
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nretry-after: 2\r\nconnection: close\r\n\
         content-security-policy: {}\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\r\n{body}",
        page::POLICY
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
}

/// The time without a failure after which earlier failures do not count.
const WELL: Duration = Duration::from_secs(30);

/// Executes submitted runs. After a failure of the database, the server tries again, because the disk may be full only
/// for a while.
async fn run_runs(state: &Arc<State>, stopped: oneshot::Receiver<()>) -> Result<(), JournalError> {
    let mut stopped = std::pin::pin!(stopped);
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let for_runs = Arc::clone(state);
        let serve = state
            .server
            .serve()
            .concurrency(limits::LOADED_RUNS)
            .total(limits::RUNS_BYTES);
        let serve = serve.configure(move |run, of| {
            let watch = observer::Watch {
                live: Arc::clone(&for_runs.live),
                metrics: Arc::clone(&for_runs.metrics),
                run: of.id.clone(),
                began: of.began,
                calls: Mutex::default(),
            };
            let expires = for_runs.expires(of).duration_since(of.began);
            run.gate(Arc::clone(&for_runs.desk))
                .concurrency(limits::CALLS_OF_RUN)
                .limits(limits::OF_RUN.time(expires.unwrap_or(limits::RUN_TIME)))
                .observe(watch)
        });
        let served = tokio::select! {
            served = serve => served,
            _ = &mut stopped => return Ok(()),
        };
        let Err(error) = served else { return Ok(()) };
        failures = if began.elapsed() > WELL {
            1
        } else {
            failures + 1
        };
        tracing::error!(%error, failures, "the runs cannot continue");
        if failures >= 10 {
            return Err(error);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Counts completed runs, and deletes the runs that ended first if the database has too little room.
async fn count(state: Arc<State>) {
    loop {
        tokio::time::sleep(Duration::from_millis(250)).await;
        state.count_ended().await;
        if let Err(error) = state.delete_ended().await {
            tracing::error!(%error, "runs cannot be deleted");
        }
    }
}
