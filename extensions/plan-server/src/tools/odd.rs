//! A slow tool, and a tool that fails.

use super::Office;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, tool};
use schemars::JsonSchema;
use std::time::Duration;

/// The longest duration of a call to `slow`, in milliseconds.
const LONGEST: u64 = 60_000;

/// Waits for a time, and returns the text.
#[tool(name = "slow")]
#[derive(JsonSchema)]
pub(super) async fn slow(
    office: &Office,
    #[context] context: CallContext,
    /// At most 60,000.
    ms: u64,
    text: Option<String>,
) -> Result<String> {
    let _running = office.enter();
    if ms > LONGEST {
        return Err(Error::permanent(format!(
            "{ms} ms is too long; the maximum is {LONGEST} ms"
        )));
    }
    context.sleep(Duration::from_millis(ms)).await;
    office.effect(&context, "slow", |_| text.unwrap_or_default())
}

/// Fails a given number of times before it succeeds, and returns the number of the attempt. The number continues in a retry of the run, until the server restarts.
#[tool(name = "flaky")]
#[derive(JsonSchema)]
pub(super) async fn flaky(
    office: &Office,
    #[context] context: CallContext,
    failures: u32,
) -> Result<u32> {
    let _running = office.enter();
    let attempt = office.try_again(&context);
    if attempt <= failures {
        return Err(Error::msg(format!(
            "the line was busy (failure {attempt} of {failures})"
        )));
    }
    office.effect(&context, "flaky", |_| attempt)
}
