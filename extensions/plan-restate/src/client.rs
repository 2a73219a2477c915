//! Clients, which submit runs to a Restate server and read their outcomes.

use crate::error::Error;
use crate::http::Http;
use crate::wire::{Ended, Failed, SERVICE, Signal, Submitted, size_of_text, too_large};
use plan_runtime::RunError;
use plan_runtime::journal::spi::RunInfo;
use plan_runtime::run::Submit;
use restate_sdk::context::RequestTarget;
use restate_sdk::ingress::{self, ClientError, Output, RequestExecutor, SendStatus};
use restate_sdk::serde::Json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The default of [`Client::patience`].
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between the first attempt of a request and the second. Each later pause is longer.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A client that submits runs to a Restate server, and queries their outcomes.
///
/// ```no_run
/// use plan_restate::Client;
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn charge(cents: u64) -> Result<String> { Ok(format!("{cents}")) }
/// # plan! { pub Order(cents: u64) -> String { step receipt = Charge { cents }; receipt } }
///
/// # async fn order() -> Result<(), plan_restate::Error> {
/// let restate = Client::new("http://localhost:8080")?;
/// // A second submission with this ID returns the output of this run.
/// let receipt = Order { cents: 500 }.submit(&restate, "order-17").await?;
///
/// // Does not wait for the output.
/// Order { cents: 900 }.submit(&restate, "order-18").send().await?;
/// let receipt: String = restate.run("order-18").output().await?;
/// # Ok(())
/// # }
/// ```
pub struct Client<E = Http> {
    ingress: ingress::Client<E>,
    /// The address as the caller passed it, for the messages of errors.
    address: String,
    service: String,
    patience: Duration,
}

impl<E> Clone for Client<E> {
    fn clone(&self) -> Self {
        Self {
            ingress: self.ingress.clone(),
            address: self.address.clone(),
            service: self.service.clone(),
            patience: self.patience,
        }
    }
}

impl Client {
    /// Creates a client of the Restate server whose ingress has this address, such as `http://localhost:8080`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Address`] if the address is not a URL that begins with `http:`. For `https`, see
    /// [`with_executor`](Self::with_executor).
    pub fn new(ingress: &str) -> Result<Self, Error> {
        let client = Self::with_executor(ingress, Http::default())?;
        let scheme = ingress.split_once(':').map(|(scheme, _)| scheme);
        if scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) {
            return Ok(client);
        }
        let error = format!(
            "`{ingress}` does not begin with `http:`; for TLS, give `Client::with_executor` an HTTP client that has it"
        );
        Err(Error::Address(error))
    }
}

impl<E: RequestExecutor> Client<E> {
    /// Creates a client with another HTTP client, for example one with TLS.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Address`] if the address is not a URL.
    pub fn with_executor(ingress: &str, executor: E) -> Result<Self, Error> {
        let uri: http::Uri = ingress
            .parse()
            .map_err(|error| Error::Address(format!("`{ingress}` is not a URL: {error}")))?;
        let client = ingress::Client::new(uri, executor).map_err(|error| {
            Error::Address(format!("`{ingress}` is not the URL of a Restate: {error}"))
        })?;
        Ok(Self {
            ingress: client,
            address: ingress.to_owned(),
            service: SERVICE.to_owned(),
            patience: PATIENCE,
        })
    }

    /// Authenticates the client with a token, such as an API key of Restate Cloud.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Address`] if an HTTP header cannot contain the token.
    pub fn token(mut self, token: &str) -> Result<Self, Error> {
        let client = self.ingress.with_restate_auth_token(token);
        self.ingress = client.map_err(|error| Error::Address(error.to_string()))?;
        Ok(self)
    }

    /// Sets the name of the service that runs plans. Needed if the workers have set a [name](crate::Worker::service).
    #[must_use]
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }

    /// Sets the time limit for the retries of a request while the server cannot be reached. The default is [`PATIENCE`].
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Returns a handle to the run with this ID. Sends no request, so the run need not exist.
    pub fn run(&self, id: impl Into<String>) -> RunHandle<'_, E> {
        RunHandle {
            client: self,
            id: id.into(),
        }
    }

    fn target(&self, id: &str, handler: &str) -> RequestTarget {
        RequestTarget::workflow(&self.service, id, handler)
    }

    /// Sends a request, and repeats it while the server cannot be reached. So each request must be idempotent.
    async fn patiently<T, F>(&self, ask: impl Fn() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>>,
    {
        let end = Instant::now() + self.patience;
        let mut pause = PAUSE;
        loop {
            let error = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !is_away(&error) || Instant::now() + pause > end {
                return Err(error);
            }
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    async fn send(&self, id: &str, run: &Submitted) -> Result<(), Error> {
        let bytes = size_of_text(&run.document) + size_of_text(&run.inputs);
        if let Some(error) = too_large("the plan with its inputs", bytes) {
            return Err(Error::Refused(error));
        }
        let sent = self.patiently(|| {
            let target = self.target(id, "run");
            let request = self
                .ingress
                .request::<_, Json<Ended>>(target, Json(run.clone()));
            request.send()
        });
        let sent = sent.await.map_err(|error| self.of(id, error))?;
        if sent.send_status() == SendStatus::Accepted {
            return Ok(());
        }
        // The ID may belong to another run.
        self.ask(id, "same", run.clone()).await
    }

    /// Calls a handler of a run exactly once, even if the request is repeated.
    async fn ask<Q>(&self, id: &str, handler: &str, question: Q) -> Result<(), Error>
    where
        Q: Serialize + Clone + Send + Sync + 'static,
    {
        let key = format!("{:032x}", fastrand::u128(..));
        let asked = self.patiently(|| async {
            let target = self.target(id, handler);
            let request = self
                .ingress
                .request::<_, ()>(target, Json(question.clone()));
            let request = request.idempotency_key(key.clone());
            request.call().await?.into_body()
        });
        asked.await.map_err(|error| self.of(id, error))
    }

    /// Converts an error of a request about a run.
    fn of(&self, id: &str, error: ClientError) -> Error {
        Error::of(error, id, (&self.service, &self.address))
    }
}

/// Returns `true` if the server could not be reached.
fn is_away(error: &ClientError) -> bool {
    match error {
        ClientError::Transport { .. } => true,
        // The server itself has failed. A run's error would come from a handler.
        ClientError::Status { status, response } => {
            status.is_server_error() && is_of_ingress(response.headers())
        }
        _ => false,
    }
}

/// Returns `true` if a response is from the server, and not from a handler.
fn is_of_ingress(headers: &http::HeaderMap) -> bool {
    let source = headers.get("x-restate-error-source");
    source.is_none_or(|source| source == "ingress")
}

impl<E: RequestExecutor> Submit for Client<E> {
    type Submission<'s, O>
        = Submission<'s, E, O>
    where
        E: 's,
        O: 's;

    fn submit<O: DeserializeOwned + 'static>(
        &self,
        run: Result<RunInfo, RunError>,
        id: String,
    ) -> Submission<'_, E, O> {
        Submission {
            client: self,
            run: run.map(Submitted::from),
            id,
            output: PhantomData,
        }
    }
}

/// A run to submit. Await the value to submit the run and get its output, or call [`send`](Self::send) to submit it
/// without waiting.
///
/// If a run with this ID, this plan and these inputs exists, the submission refers to that run.
#[must_use = "nothing is submitted unless this is awaited"]
pub struct Submission<'s, E, O> {
    client: &'s Client<E>,
    run: Result<Submitted, RunError>,
    id: String,
    output: PhantomData<fn() -> O>,
}

impl<'s, E: RequestExecutor, O: DeserializeOwned + 'static> Submission<'s, E, O> {
    /// Submits the run, and does not wait for its output.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Start`] if the plan or its inputs cannot be submitted, [`Error::Refused`] if they are too large or if another
    /// run has this ID, and [`Error::Restate`] if the server cannot be reached.
    pub async fn send(self) -> Result<RunHandle<'s, E>, Error> {
        let run = self.run.map_err(Error::Start)?;
        self.client.send(&self.id, &run).await?;
        Ok(self.client.run(self.id))
    }

    /// Submits the run, waits for its end, and returns its result and a report of every step: a [`Report`](plan_runtime::Report) as
    /// JSON.
    ///
    /// # Errors
    ///
    /// Returns an error of [`send`](Self::send), or [`Error::Unfit`] if the output has another type than `O`. A failure
    /// of the run is not an error here: the result contains a [`Failed`] then.
    pub async fn with_report(self) -> Result<(Result<O, Failed>, Value), Error> {
        let run = self.send().await?;
        let ended = run.ended().await?;
        Ok((ended.output(&run.id)?, ended.report(&run.id)?))
    }
}

impl<'s, E: RequestExecutor, O: DeserializeOwned + 'static> IntoFuture for Submission<'s, E, O> {
    type Output = Result<O, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 's>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.send().await?.output().await })
    }
}

impl<E, O> fmt::Debug for Submission<'_, E, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Submission(`{}`)", self.id)
    }
}

/// A handle to a run, from [`Client::run`].
pub struct RunHandle<'s, E> {
    client: &'s Client<E>,
    id: String,
}

impl<E: RequestExecutor> RunHandle<'_, E> {
    /// Returns the ID of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the output of the run.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unknown`] if the run does not exist, [`Error::Failed`] if it has failed, and an error if its output is not of the type
    /// `O`.
    pub async fn output<O: DeserializeOwned + 'static>(&self) -> Result<O, Error> {
        let output = self.ended().await?.output::<O>(&self.id)?;
        output.map_err(Error::Failed)
    }

    /// Waits for the end of the run, and returns a report of every step: a [`Report`](plan_runtime::Report) as JSON.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unknown`] if the run does not exist.
    pub async fn report(&self) -> Result<Value, Error> {
        self.ended().await?.report(&self.id)
    }

    /// Returns `true` if the run has ended, without waiting.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unknown`] if the run does not exist.
    pub async fn has_ended(&self) -> Result<bool, Error> {
        let run = self.handle().await?;
        let output = self.client.patiently(|| run.output()).await;
        let output = output.map_err(|error| self.client.of(&self.id, error))?;
        Ok(matches!(output.into_body(), Output::Ready(_)))
    }

    /// Sends a value to a step of the run that waits for a value, or will wait for one. [`Signals::send`](plan_runtime::run::Signals::send)
    /// describes the path.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unknown`] if the run does not exist. Returns [`Error::Refused`] if the run has ended, if no step waits
    /// for a value at this path, if the step already has a value, or if the value has another type.
    pub async fn signal(
        &self,
        path: impl Into<String>,
        value: impl Serialize,
    ) -> Result<(), Error> {
        let value = to_raw_value(&value).map_err(|error| {
            Error::Refused(format!("the value cannot be written as JSON: {error}"))
        })?;
        if let Some(error) = too_large("the value", value.get().len()) {
            return Err(Error::Refused(error));
        }
        if self.has_ended().await? {
            return Err(Error::Refused(format!("run `{}` has ended", self.id)));
        }
        let path = path.into();
        self.client
            .ask(&self.id, "signal", Signal { path, value })
            .await
    }

    /// Cancels the run: its undo steps and always steps run, and then it ends. The cancellation of an ended run has no
    /// effect.
    ///
    /// A worker finishes the current calls of the run, whose outcomes have no effect.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unknown`] if the run does not exist.
    pub async fn cancel(&self) -> Result<(), Error> {
        if self.has_ended().await? {
            return Ok(());
        }
        self.client.ask(&self.id, "cancel", Value::Null).await
    }

    async fn handle(&self) -> Result<ingress::InvocationHandle<E, Json<Ended>>, Error> {
        let client = self.client;
        let found = client.patiently(|| {
            client
                .ingress
                .lookup_workflow(client.service.clone(), self.id.clone(), None)
        });
        found.await.map_err(|error| client.of(&self.id, error))
    }

    async fn ended(&self) -> Result<Ended, Error> {
        let run = self.handle().await?;
        let of = |error| self.client.of(&self.id, error);
        loop {
            match run.attach().await {
                Ok(ended) => return Ok(ended.into_body().into_inner()),
                Err(error) if is_away(&error) => sleep(PAUSE).await,
                Err(error) => return Err(of(error)),
            }
            // The connection may have been open for days before it was lost, so a separate request checks the server.
            let output = self.client.patiently(|| run.output()).await.map_err(of)?;
            if let Output::Ready(ended) = output.into_body() {
                return Ok(ended.into_inner());
            }
        }
    }
}

impl<E> fmt::Debug for RunHandle<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunHandle(`{}`)", self.id)
    }
}

impl<E> fmt::Debug for Client<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Ended {
    /// Returns the output, or the failure of the run.
    fn output<O: DeserializeOwned>(&self, id: &str) -> Result<Result<O, Failed>, Error> {
        if let Some(failed) = &self.failed {
            return Ok(Err(failed.clone()));
        }
        let output = self.output.as_ref().map_or("null", |output| output.get());
        let output = serde_json::from_str(output);
        output.map(Ok).map_err(|error| unfit("output", id, &error))
    }

    /// Returns the report of the run.
    fn report(&self, id: &str) -> Result<Value, Error> {
        let report = serde_json::from_str(self.report.get());
        report.map_err(|error| unfit("report", id, &error))
    }
}

fn unfit(what: &str, id: &str, error: &serde_json::Error) -> Error {
    Error::Unfit(format!("the {what} of run `{id}` does not fit: {error}"))
}
