//! Services under the names that a worker sets. The SDK's macros only support names known at compile time, so this code calls the functions that
//! they generate.

use crate::plans::PlanRuns;
use crate::steps::PlanSteps;
use crate::worker::invalid;
use restate_sdk::discovery::{self, RetryPolicyOnMaxAttempts, ServiceName};
use restate_sdk::endpoint::{self, ContextInternal};
use restate_sdk::errors::HandlerError;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Discoverable, Service, ServiceDefinition};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Calls a handler, and passes its result to Restate.
macro_rules! answer {
    ($ctx:ident, $service:ident.$handler:ident($input:ident)) => {{
        let ($input, metadata) = $ctx.input().await;
        let answer = $service.$handler((&$ctx, metadata).into(), $input).await;
        $ctx.handle_handler_result(answer.map_err(HandlerError::from));
    }};
}

struct NamedPlans(Arc<PlanRuns>);

impl Service for NamedPlans {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> ServiceBoxFuture {
        let service = Arc::clone(&self.0);
        Box::pin(async move {
            match ctx.handler_name() {
                "run" => answer!(ctx, service.run(input)),
                "same" => answer!(ctx, service.same(input)),
                "signal" => answer!(ctx, service.signal(input)),
                "cancel" => answer!(ctx, service.cancel(input)),
                _ => return Err(unknown(&ctx)),
            }
            ctx.end();
            Ok(())
        })
    }
}

struct NamedSteps(Arc<PlanSteps>);

impl Service for NamedSteps {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> ServiceBoxFuture {
        let service = Arc::clone(&self.0);
        Box::pin(async move {
            match ctx.handler_name() {
                "call" => answer!(ctx, service.call(input)),
                _ => return Err(unknown(&ctx)),
            }
            ctx.end();
            Ok(())
        })
    }
}

fn unknown(ctx: &ContextInternal) -> endpoint::Error {
    endpoint::Error::unknown_handler(ctx.service_name(), ctx.handler_name())
}

impl PlanRuns {
    pub(crate) fn named(self, name: &str, retention: Duration) -> io::Result<ServiceDefinition> {
        let mut service = discovered::<Self>(name)?;
        service.journal_retention = Some(millis(retention));
        // A waiting run counts as a running one until Restate suspends it.
        service.inactivity_timeout = Some(10_000);
        for handler in &mut service.handlers {
            if &**handler.name == "run" {
                handler.workflow_completion_retention = Some(millis(retention));
            }
        }
        Ok(service_definition(NamedPlans(Arc::new(self)), service))
    }
}

impl PlanSteps {
    pub(crate) fn named(self, name: &str, longest: Duration) -> io::Result<ServiceDefinition> {
        let mut service = discovered::<Self>(name)?;
        // A call sends nothing until it has ended.
        service.inactivity_timeout = Some(millis(longest));
        service.abort_timeout = Some(millis(longest));
        service.ingress_private = Some(true);
        Ok(service_definition(NamedSteps(Arc::new(self)), service))
    }
}

fn discovered<S: Discoverable>(name: &str) -> io::Result<discovery::Service> {
    let mut service = S::discover();
    service.name = ServiceName::try_from(name)
        .map_err(|error| invalid(format!("`{name}` cannot be the name of a service: {error}")))?;
    // Retries until the worker is repaired or the run is cancelled. A person would have to resume a paused invocation.
    service.retry_policy_initial_interval = Some(50);
    service.retry_policy_exponentiation_factor = Some(2.0);
    service.retry_policy_max_interval = Some(10_000);
    service.retry_policy_max_attempts = Some(u64::from(u32::MAX));
    service.retry_policy_on_max_attempts = Some(RetryPolicyOnMaxAttempts::Pause);
    Ok(service)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
