//! The service that runs plans.

use crate::driver::{CANCEL, Driver, Names, value_at};
use crate::host::Host;
use crate::seam::Seam;
use crate::wire::{self, Began, Ended, Failed, Sent, Signal, Submitted, too_large};
use plan_runtime::run::RunErrorKind;
use plan_runtime::{Report, RunError};
use restate_sdk::prelude::*;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::io;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The HTTP status of a refusal. Restate itself uses other statuses.
pub(crate) const REFUSED: u16 = 422;

/// The name of the promise with the submitted run.
const RUN: &str = "run";

pub(crate) struct PlanRuns {
    pub(crate) host: Arc<dyn Host>,
    /// The name of the service that makes the calls of steps.
    pub(crate) steps: String,
}

#[restate_sdk::workflow]
impl PlanRuns {
    #[handler]
    pub(crate) async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        run: Json<Submitted>,
    ) -> Result<Json<Ended>, HandlerError> {
        let run = run.into_inner();
        let id = ctx.key().to_owned();
        ctx.resolve_promise(RUN, Json(run.clone()));
        let info = run.into();
        let document = self.host.document(&info).map_err(other)?;
        let fingerprint = wire::fingerprint(&document);
        let names = Names::new();
        let mut driver = Driver::new(&ctx, &self.steps, &names);
        let began = driver
            .once("began", || Began {
                at: wire::now(),
                fingerprint: fingerprint.clone(),
            })
            .await;
        if began.fingerprint != fingerprint {
            // Restate retries, and another worker may have the version of the plan that began the run.
            return Err(io::Error::other(format!(
                "run `{id}` was begun with another version of plan `{}` ({}, and this worker has {fingerprint}): keep a worker of that version until its runs have ended",
                info.plan, began.fingerprint
            ))
            .into());
        }
        let seam = Seam::new(began.at, wire::hash(&id));
        let (cancel, cancelled) = oneshot::channel();
        let polled = Arc::clone(&self.host).begin(info, id, seam.clone(), cancelled);
        let (result, report) = driver.drive(polled, &seam, cancel).await?;
        ended(&result, &report)
    }

    /// Checks that a run equals the run that was submitted under its ID.
    #[handler]
    pub(crate) async fn same(
        &self,
        ctx: SharedWorkflowContext<'_>,
        run: Json<Submitted>,
    ) -> Result<(), HandlerError> {
        let known = ctx.promise::<Json<Submitted>>(RUN).await?.into_inner();
        let run = run.into_inner();
        let what = if known.document != run.document {
            format!("another plan `{}`", known.plan)
        } else if known.inputs != run.inputs {
            "other inputs".to_owned()
        } else {
            return Ok(());
        };
        let key = ctx.key();
        let error = format!("run `{key}` already exists with {what}; use a new ID");
        Err(TerminalError::new_with_code(REFUSED, error).into())
    }

    #[handler]
    pub(crate) async fn signal(
        &self,
        ctx: SharedWorkflowContext<'_>,
        signal: Json<Signal>,
    ) -> Result<(), HandlerError> {
        let Signal { path, value } = signal.into_inner();
        let run = ctx.promise::<Json<Submitted>>(RUN).await?.into_inner();
        let refused = |error: String| TerminalError::new_with_code(REFUSED, error);
        let value: Value =
            serde_json::from_str(value.get()).map_err(|error| refused(error.to_string()))?;
        let checked = self.host.signal(&run.into(), &path, &value);
        let checked = checked.map_err(other)?;
        let value = checked.map_err(|error| refused(error.to_string()))?;
        let value = to_raw_value(&value).map_err(|error| refused(error.to_string()))?;
        let name = value_at(&path);
        let second = || HandlerError::from(refused(format!("step `{path}` has its value already")));
        if ctx.peek_promise::<Json<Sent>>(&name).await?.is_some() {
            return Err(second());
        }
        let at = ctx.run(async || Ok(wire::now())).name("sent").await?;
        let by = ctx.invocation_id().to_owned();
        let sent = Sent {
            value,
            at,
            by: by.clone(),
        };
        ctx.resolve_promise(&name, Json(sent));
        // If several values are sent concurrently, the first one counts.
        let first = ctx.promise::<Json<Sent>>(&name).await?.into_inner();
        if first.by == by {
            Ok(())
        } else {
            Err(second())
        }
    }

    #[handler]
    pub(crate) async fn cancel(
        &self,
        ctx: SharedWorkflowContext<'_>,
        _: Json<Value>,
    ) -> Result<(), HandlerError> {
        ctx.promise::<Json<Submitted>>(RUN).await?;
        ctx.resolve_promise(CANCEL, Json(wire::now()));
        Ok(())
    }
}

/// Converts an error after which Restate retries.
fn other(error: plan_runtime::Error) -> io::Error {
    io::Error::other(error.to_string())
}

fn ended(result: &Result<Value, RunError>, report: &Report) -> Result<Json<Ended>, HandlerError> {
    let (output, failed) = match result {
        Ok(output) => (Some(to_raw_value(output)?), None),
        Err(error) => {
            let failed = Failed {
                message: error.to_string(),
                cancelled: error.kind() == RunErrorKind::Cancelled,
                undone: error.undone().map(str::to_owned).collect(),
                not_undone: error.not_undone().map(str::to_owned).collect(),
            };
            (None, Some(failed))
        }
    };
    let report = to_raw_value(report)?;
    let size = |text: &Option<Box<RawValue>>| text.as_ref().map_or(0, |text| text.get().len());
    let (output, failed) = match too_large("the output of the run", size(&output)) {
        None => (output, failed),
        Some(message) => {
            let failed = Failed {
                message,
                cancelled: false,
                undone: Vec::new(),
                not_undone: Vec::new(),
            };
            (None, Some(failed))
        }
    };
    // The report is only for people. So the run ends without its report if the report is too large, or if its values are nested too deep for a JSON
    // reader.
    let is_large = too_large("", size(&output) + report.get().len()).is_some();
    let report = if is_large || serde_json::from_str::<Value>(report.get()).is_err() {
        to_raw_value(&Value::Null)?
    } else {
        report
    };
    Ok(Json(Ended {
        output,
        failed,
        report,
    }))
}
