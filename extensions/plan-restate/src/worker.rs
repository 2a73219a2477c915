//! Workers, which run plans and make the calls of their steps.

use crate::host::{Configure, Host, Hosted};
use crate::plans::PlanRuns;
use crate::serve::serve;
use crate::steps::PlanSteps;
use crate::wire::{SERVICE, steps_of};
use plan_runtime::Call;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::Run;
use restate_sdk::endpoint::Endpoint;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, ToSocketAddrs};

/// The default of [`Worker::longest_call`].
pub const LONGEST_CALL: Duration = Duration::from_secs(24 * 60 * 60);

/// The default of [`Worker::retention`].
pub const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The default of [`Worker::grace_period`].
pub const GRACE: Duration = Duration::from_secs(30);

/// A worker of a Restate server. It runs plans, and makes the calls of their steps. An application can run many workers, in many
/// processes, each with equal tools.
///
/// ```no_run
/// use plan_restate::Worker;
/// use plan_runtime::{Result, plan, tool};
///
/// struct Shop;
///
/// /// Charges a card.
/// #[tool]
/// async fn charge(_shop: &Shop, cents: u64) -> Result<String> {
///     Ok(format!("charged {cents}"))
/// }
///
/// plan! {
///     pub Order(cents: u64) -> String {
///         step receipt = Charge { cents };
///         receipt
///     }
/// }
///
/// # async fn serve() -> std::io::Result<()> {
/// Worker::new(Shop).with::<Charge>().with::<Order>().serve("0.0.0.0:9080").await
/// # }
/// ```
#[must_use = "a worker does nothing unless it serves"]
pub struct Worker<App> {
    app: App,
    toolbox: Toolbox<App>,
    configure: Option<Box<Configure<App>>>,
    service: String,
    #[cfg(feature = "identity")]
    keys: Vec<String>,
    longest_call: Duration,
    retention: Duration,
    grace: Duration,
    cancel: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<App: Send + Sync + 'static> Worker<App> {
    /// Creates a worker without tools. All runs and calls of the worker use this application value.
    pub fn new(app: App) -> Self {
        Self {
            app,
            toolbox: Toolbox::new(),
            configure: None,
            service: SERVICE.to_owned(),
            #[cfg(feature = "identity")]
            keys: Vec::new(),
            longest_call: LONGEST_CALL,
            retention: RETENTION,
            grace: GRACE,
            cancel: None,
        }
    }

    /// Adds a tool or a plan.
    ///
    /// # Panics
    ///
    /// Panics if the worker has a tool or a plan of this name.
    #[track_caller]
    pub fn with<T: Call<App> + 'static>(mut self) -> Self {
        self.toolbox = self.toolbox.with::<T>();
        self
    }

    /// Replaces the tools by the tools of a toolbox.
    pub fn with_toolbox(mut self, toolbox: Toolbox<App>) -> Self {
        self.toolbox = toolbox;
        self
    }

    /// Sets a function that configures each run before its start, from the run and its ID. It can set [limits](Run::limits), the
    /// [concurrency](Run::concurrency), a [deadline](Run::deadline) and [observers](Run::observe). The function must return an equal configuration
    /// each time that the run resumes.
    pub fn configure<F>(mut self, configure: F) -> Self
    where
        F: for<'r> Fn(Run<'r, App, Value>, &str) -> Run<'r, App, Value> + Send + Sync + 'static,
    {
        self.configure = Some(Box::new(configure));
        self
    }

    /// Sets the names of the two services in Restate to `NAME` and `NAMESteps`, so that several applications can share a Restate server. The
    /// defaults are `Plans` and `PlansSteps`. The clients of the worker also need the [name](crate::Client::service).
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }

    /// Accepts requests only from the Restate server with this [identity](https://docs.restate.dev/operate/security) key, such as `publickeyv1_…`.
    /// With several keys, accepts requests from several servers. Needs the feature `identity`.
    #[cfg(feature = "identity")]
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// Sets the time limit of a step's call. After this time, Restate considers the worker lost, and repeats the call. The default is
    /// [`LONGEST_CALL`].
    pub fn longest_call(mut self, time: Duration) -> Self {
        self.longest_call = time;
        self
    }

    /// Sets the time for which Restate stores the outcome of a run. After this time, a new run can have the ID. The default
    /// is [`RETENTION`].
    pub fn retention(mut self, time: Duration) -> Self {
        self.retention = time;
        self
    }

    /// Sets the time for running calls to end after the worker stops. Another worker repeats the calls that last longer. The default is
    /// [`GRACE`].
    pub fn grace_period(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    /// Stops the worker when this future completes. By default, the worker stops at Ctrl-C, and on Unix at SIGTERM.
    pub fn cancel_on<F: Future + Send + 'static>(mut self, cancel: F) -> Self {
        self.cancel = Some(Box::pin(async move {
            cancel.await;
        }));
        self
    }

    /// Serves Restate at an address until the worker stops. Restate needs the worker's address once: `restate deployments register http://…:9080`.
    ///
    /// # Errors
    ///
    /// Returns an error if the worker cannot listen at the address, or if an identity key or the name of the service is
    /// invalid.
    pub async fn serve(self, address: impl ToSocketAddrs) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        self.serve_on(listener).await
    }

    /// Serves Restate through a listener until the worker stops.
    ///
    /// # Errors
    ///
    /// Returns an error if an identity key or the name of the service is invalid.
    pub async fn serve_on(mut self, listener: TcpListener) -> io::Result<()> {
        let stop = match self.cancel.take() {
            Some(cancel) => cancel,
            None => Box::pin(stopped()?),
        };
        let grace = self.grace;
        let endpoint = self.endpoint()?;
        serve(listener, endpoint, stop, grace).await;
        Ok(())
    }

    fn endpoint(self) -> io::Result<Endpoint> {
        let steps = steps_of(&self.service);
        let host: Arc<dyn Host> = Arc::new(Hosted {
            app: self.app,
            toolbox: self.toolbox,
            configure: self.configure,
        });
        let plans = PlanRuns {
            host: Arc::clone(&host),
            steps: steps.clone(),
        };
        let plans = plans.named(&self.service, self.retention)?;
        let steps = PlanSteps(host).named(&steps, self.longest_call)?;
        let endpoint = Endpoint::builder().bind(plans).bind(steps);
        #[cfg(feature = "identity")]
        let endpoint = self.keys.iter().try_fold(endpoint, |endpoint, key| {
            let added = endpoint.identity_key(key);
            added.map_err(|error| invalid(format!("`{key}` is not an identity key: {error:?}")))
        })?;
        Ok(endpoint.build())
    }
}

/// Creates an error in the configuration of a worker.
pub(crate) fn invalid(error: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Returns a future that completes at Ctrl-C or SIGTERM.
#[cfg(unix)]
fn stopped() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stopped() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

impl<App> fmt::Debug for Worker<App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("service", &self.service)
            .field("tools", &self.toolbox)
            .finish_non_exhaustive()
    }
}
