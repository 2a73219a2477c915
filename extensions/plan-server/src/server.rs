//! The server, with its routes, its connections, its start and its end.

use crate::budget::Budget;
use crate::connections::{Client, Connection, Connections, Stream};
use crate::error::Problem;
use crate::folder::{lock, private_folder, token};
use crate::graphql::{Blueprints, refused, schema, shown};
use crate::host::{self, Hosts};
use crate::metrics::OfRequest;
use crate::state::State;
use crate::tools::{Office, toolbox};
use crate::{limits, live, page, runs, samples, watch};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State as From};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
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
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
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
        let throttle = Throttle::new().concurrency("*", limits::CALLS);
        let state = State::new(db, toolbox(throttle.clone()), office, token)?;
        let listening = TcpListener::bind(settings.address).await;
        let listener = listening.map_err(at(settings.address))?;
        let address = listener.local_addr().map_err(at(settings.address))?;
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

    /// The address to open in a browser. The token in it never leaves the browser with a request for the page, since it is the fragment.
    pub fn url(&self) -> String {
        format!("http://{}/#token={}", self.address, self.state.token)
    }

    /// Serves until `end` is ready, and then until calls that run have ended and are recorded, which takes at most [`limits::GRACE`]. The next server of the folder goes on
    /// with all runs.
    ///
    /// # Errors
    ///
    /// The database cannot be read or written.
    pub async fn serve(self, end: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&self.state);
        // Journals block for some milliseconds, so that runs have a thread of their own.
        let runtime = tokio::runtime::Handle::current();
        let (told, mut ended) = oneshot::channel();
        let runs = std::thread::Builder::new()
            .name("runs".into())
            .spawn(move || {
                let served = runtime.block_on(run_runs(&state, stopped));
                let _ = told.send(served);
            });
        runs.map_err(at("the thread of the runs"))?;
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
                served = &mut ended => break served.ok(),
            }
        };
        drop(self.listener);
        drop(ending);
        if failed.is_none() {
            tracing::info!(
                "ends: no call starts any more, and those that run have {:?}",
                limits::GRACE
            );
            self.throttle.pause(Duration::from_secs(3_600));
            let until = tokio::time::Instant::now() + limits::GRACE;
            while self.state.office.running() > 0 && tokio::time::Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // The journal still writes the records of completed calls.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let _ = stop.send(());
        let served = match failed {
            Some(served) => served,
            None => (&mut ended).await.unwrap_or(Ok(())),
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
    let body = r#"{"error":{"code":"BUSY","message":"the server has too many connections at present","help":"Try again in some seconds."}}"#;
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

/// After how long without a failure earlier ones do not count.
const WELL: Duration = Duration::from_secs(30);

/// Runs what was submitted. After a failure of the database it is tried again, since the disk may be full for a while only.
async fn run_runs(state: &Arc<State>, stopped: oneshot::Receiver<()>) -> Result<(), JournalError> {
    let mut stopped = std::pin::pin!(stopped);
    let mut failures = 0;
    loop {
        let began = Instant::now();
        let for_runs = Arc::clone(state);
        let serve = state
            .db
            .serve(&state.toolbox, &state.office)
            .concurrency(limits::LOADED_RUNS)
            .total(limits::RUNS_BYTES);
        let serve = serve.configure(move |run, id| {
            let watch = live::Watch {
                live: Arc::clone(&for_runs.live),
                metrics: Arc::clone(&for_runs.metrics),
                run: id.to_owned(),
                began: for_runs.begins(id),
            };
            run.gate(Arc::clone(&for_runs.desk))
                .concurrency(limits::CALLS_OF_RUN)
                .limits(limits::OF_RUN)
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
        tracing::error!(%error, failures, "the runs cannot go on");
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
        let counted = Arc::clone(&state);
        let work = move || {
            counted.count_ended();
            counted.delete_ended()
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(work).await {
            tracing::error!(%error, "runs cannot be deleted");
        }
    }
}

fn router(
    state: &Arc<State>,
    hosts: &Arc<Hosts>,
    is_ending: tokio::sync::watch::Receiver<()>,
) -> Router {
    let guarded = Router::new()
        .route("/api/samples", get(samples::list))
        .route("/api/check", post(runs::check))
        .route("/api/runs", post(runs::begin).get(runs::list))
        .route("/api/runs/{id}", get(runs::show))
        .route("/api/runs/{id}/events", get(watch::events))
        .route("/api/runs/{id}/report.html", get(runs::page))
        .route("/api/runs/{id}/questions/{question}", post(runs::decide))
        .route("/api/runs/{id}/signals", post(runs::signal))
        .route("/api/runs/{id}/cancel", post(runs::cancel))
        .route("/graphql", post(graphql))
        .route("/graphql/schema", get(sdl))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(state))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(state),
            authorized,
        ));
    let blueprints = schema(state);
    Router::new()
        .merge(guarded)
        .merge(page::routes())
        .route("/health", get(|| async { "ok\n" }))
        .fallback(missing)
        .method_not_allowed_fallback(other_method)
        .layer(axum::Extension(blueprints))
        .layer(axum::Extension(is_ending))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            Arc::clone(hosts),
            host::check,
        ))
        .layer(middleware::from_fn_with_state(Arc::clone(state), headers))
}

/// Lets nobody through without the token.
async fn authorized(From(state): From<Arc<State>>, request: Request, next: Next) -> Response {
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .map(HeaderValue::as_bytes);
    let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
    // The comparison takes equally long for all tokens of this length.
    let is_token = given.is_some_and(|given| bool::from(given.ct_eq(state.token.as_bytes())));
    if is_token {
        if let Some(client) = request.extensions().get::<Arc<Client>>() {
            client.is_known();
        }
        return next.run(request).await;
    }
    tracing::debug!(path = request.uri().path(), "a request had no right token");
    let problem = Problem::new(
        StatusCode::UNAUTHORIZED,
        "UNAUTHORIZED",
        if given.is_some() {
            "the token is wrong"
        } else {
            "the request has no token"
        },
        "Send the header `Authorization: Bearer TOKEN`, with the token of the address that the server printed when it started.",
    );
    problem.into_response()
}

/// Adds the headers of all answers.
async fn headers(From(state): From<Arc<State>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let status = response.status().as_u16();
    state
        .metrics
        .requests
        .get_or_create(&OfRequest { status })
        .inc();
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    };
    set("content-security-policy", page::POLICY);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cache-control", "no-store");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    response
}

async fn missing() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "NOT_FOUND",
        "there is nothing at this address",
        "API.md lists what there is.",
    )
}

async fn other_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "METHOD",
        "this address has no such method",
        "API.md lists the methods of each address.",
    )
}

async fn graphql(
    From(state): From<Arc<State>>,
    axum::Extension(schema): axum::Extension<Blueprints>,
    crate::error::Json(body): crate::error::Json<serde_json::Value>,
) -> Result<Response, Problem> {
    let malformed = |message: String, help: &'static str| {
        Problem::new(StatusCode::BAD_REQUEST, "MALFORMED_BODY", message, help)
    };
    if body.is_array() {
        return Err(malformed(
            "the body is a list; a body is one request, and batches are not taken".to_owned(),
            "Send each request on its own.",
        ));
    }
    let help = "Send an object with `query`, and with `variables` and `operationName` if the query has them.";
    if body.get("query").is_none_or(serde_json::Value::is_null) {
        return Err(malformed("the body has no `query`".to_owned(), help));
    }
    let mut request: async_graphql::Request = serde_json::from_value(body)
        .map_err(|error| malformed(format!("the body is not a GraphQL request: {error}"), help))?;
    if let Some(refused) = refused(&mut request) {
        return Ok(axum::Json(shown(refused)).into_response());
    }
    let budget = Budget::new(&state);
    let answer = shown(schema.execute(request.data(Arc::clone(&budget))).await);
    // It may be long.
    let text = tokio::task::spawn_blocking(move || budget.text(&answer)).await;
    let text = text.map_err(|error| Problem::storage(&error))??;
    Ok(text.response("application/json"))
}

async fn sdl(axum::Extension(schema): axum::Extension<Blueprints>) -> String {
    schema.sdl()
}

async fn metrics(From(state): From<Arc<State>>) -> impl IntoResponse {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    (
        [(header::CONTENT_TYPE, content_type)],
        state.metrics.encode(),
    )
}
