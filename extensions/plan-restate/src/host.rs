//! An application and its tools, independent of the application's type.

use crate::seam::Seam;
use plan_runtime::dynamic::{Toolbox, check_signal};
use plan_runtime::journal::spi::RunInfo;
use plan_runtime::run::{CallOutcome, EngineCall, Run, SignalError};
use plan_runtime::{Plan, Report, RunError};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A run, which its driver polls.
pub(crate) type Polled = Pin<Box<dyn Future<Output = (Result<Value, RunError>, Report)> + Send>>;

pub(crate) type Configure<App> =
    dyn for<'r> Fn(Run<'r, App, Value>, &str) -> Run<'r, App, Value> + Send + Sync;

pub(crate) trait Host: Send + Sync {
    /// Returns `true` if the host has a tool.
    fn has(&self, tool: &str) -> bool;

    /// Makes a call.
    fn perform(
        self: Arc<Self>,
        call: EngineCall,
    ) -> Pin<Box<dyn Future<Output = CallOutcome> + Send>>;

    /// Returns the plan of a submitted run as JSON. The plan comes from this host if the host has the plan.
    fn document(&self, run: &RunInfo) -> plan_runtime::Result<String>;

    /// Checks a value for a step of a run, and converts it to JSON of the step's type.
    fn signal(
        &self,
        run: &RunInfo,
        path: &str,
        value: &Value,
    ) -> plan_runtime::Result<Result<Value, SignalError>>;

    /// Begins a run, which sends its requests through the seam.
    fn begin(
        self: Arc<Self>,
        run: RunInfo,
        id: String,
        seam: Seam,
        cancel: oneshot::Receiver<()>,
    ) -> Polled;
}

pub(crate) struct Hosted<App> {
    pub(crate) app: App,
    pub(crate) toolbox: Toolbox<App>,
    pub(crate) configure: Option<Box<Configure<App>>>,
}

impl<App: Send + Sync + 'static> Host for Hosted<App> {
    fn has(&self, tool: &str) -> bool {
        self.toolbox.contains(tool)
    }

    fn perform(
        self: Arc<Self>,
        call: EngineCall,
    ) -> Pin<Box<dyn Future<Output = CallOutcome> + Send>> {
        Box::pin(async move { self.toolbox.perform(call, &self.app).await })
    }

    fn document(&self, run: &RunInfo) -> plan_runtime::Result<String> {
        let submitted = self.toolbox.submitted(run)?;
        Ok(serde_json::to_string(submitted.plan())?)
    }

    fn signal(
        &self,
        run: &RunInfo,
        path: &str,
        value: &Value,
    ) -> plan_runtime::Result<Result<Value, SignalError>> {
        // The run may be of an older version, and run on an older worker.
        if let Ok(submitted) = self.toolbox.submitted(run)
            && serde_json::to_string(submitted.plan())? == run.document
        {
            return Ok(check_signal(submitted.plan(), path, value));
        }
        let plan: Plan = serde_json::from_str(&run.document)?;
        Ok(check_signal(&plan, path, value))
    }

    fn begin(
        self: Arc<Self>,
        run: RunInfo,
        id: String,
        seam: Seam,
        cancel: oneshot::Receiver<()>,
    ) -> Polled {
        // A channel of tokio with an answer is not ready while the budget of its task is spent. The run would then make its calls later than in an
        // earlier attempt, or never.
        Box::pin(tokio::task::unconstrained(async move {
            let submitted = match self.toolbox.submitted(&run) {
                Ok(submitted) => submitted,
                // The driver checked this before it started.
                Err(error) => unreachable!("{error}"),
            };
            let run = submitted.run(&self.app);
            let run = match &self.configure {
                Some(configure) => configure(run, &id),
                None => run,
            };
            let cancel = async move {
                if cancel.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            run.id(id)
                .engine(seam)
                .cancel_on(cancel)
                .with_report()
                .await
        }))
    }
}
