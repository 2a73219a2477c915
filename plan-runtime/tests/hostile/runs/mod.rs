//! Runs that never end, grow without a bound, or panic.

mod counts;
mod depth;
mod limits;
mod memory;
mod order;
mod panics;
mod reentrant;
mod time;
mod turns;

use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::run::{Limits, Run};
use plan_runtime::{Error, Plan, RunError};
use serde_json::{Value, json};

/// A plan in plan JSON.
fn plan(steps: Value) -> Plan {
    let text =
        json!({"name": "p", "inputs": [], "steps": steps, "output": {"value": null}}).to_string();
    read(&text)
}

fn read(text: &str) -> Plan {
    let limits = plan_runtime::dynamic::DocumentLimits::DEFAULT.attempts(u32::MAX);
    match Reader::new().limits(limits).read(text) {
        Ok(document) => document.into_plan(),
        Err(findings) => panic!("{findings}"),
    }
}

fn step(id: &str) -> Value {
    json!({"reference": {"step": id, "pointer": ""}})
}

/// `echo` returns its argument, `list` a list of `n` numbers, `text` a string of `n` bytes; `fail` fails, and `hang` never
/// ends.
fn tools() -> Toolbox<()> {
    Toolbox::new()
        .with_fn(Contract::new("echo"), |given| async move { Ok(given) })
        .with_fn(Contract::new("list"), |given: Value| async move {
            Ok((0..given["n"].as_u64().unwrap_or(0)).collect())
        })
        .with_fn(Contract::new("text"), |given: Value| async move {
            let length = given["n"].as_u64().unwrap_or(0);
            Ok("x".repeat(usize::try_from(length)?).into())
        })
        .with_fn(Contract::new("fail"), |_| async {
            Err(Error::permanent("no"))
        })
        .with_fn(Contract::new("hang"), |_| std::future::pending())
}

fn ended(run: Run<'_, (), Value>, limits: Limits) -> Result<Value, RunError> {
    smol::block_on(run.limits(limits))
}
