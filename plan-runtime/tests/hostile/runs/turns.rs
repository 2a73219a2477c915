//! Runs that only decide, and make no calls. They yield like runs that make calls, so that their cancellation and their deadline count.

use super::{plan, step, tools};
use plan_runtime::Plan;
use plan_runtime::run::{ManualTimer, RunErrorKind};
use serde_json::{Value, json};
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

const MANY: u32 = 10_000;

/// More than the looks at the cancellation while the list is copied.
const LOOKS: u32 = 20;

fn call() -> Value {
    json!({"tool": {"name": "echo"}, "arguments": {"object": {}}})
}

/// Plans whose steps ask for many conditions, inputs, outputs and amounts, and make no calls.
fn plans() -> Vec<Plan> {
    let list = json!({"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": MANY}}});
    let each = |body: Value, policy: Value| {
        plan(json!([list, {
            "id": "s",
            "for": {"pattern": "x", "list": step("t"), "body": body},
            "policy": policy,
        }]))
    };
    let empty = json!({"block": {"steps": [], "value": null}});
    vec![
        each(
            json!({"if": [{"condition": false, "then": call()}]}),
            json!({}),
        ),
        each(empty.clone(), json!({})),
        each(empty, json!({"concurrency": 1})),
        plan(json!([{
            "id": "s",
            "loop": {"steps": [], "value": null, "while": true},
            "policy": {"at_most": MANY},
        }])),
    ]
}

#[test]
fn a_run_without_calls_is_cancelled() {
    for (number, plan) in plans().iter().enumerate() {
        let asked = AtomicU32::new(0);
        let cancel = poll_fn(|_| match asked.fetch_add(1, Ordering::Relaxed) {
            0..LOOKS => Poll::Pending,
            _ => Poll::Ready(()),
        });
        let tools = tools();
        let run = tools.run(plan, (), &()).cancel_on(cancel);
        let error = smol::block_on(run).unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Cancelled, "{number}: {error}");
    }
}

#[test]
fn a_run_without_calls_reaches_its_deadline() {
    for (number, plan) in plans().iter().enumerate() {
        let (tools, timer) = (tools(), ManualTimer::new());
        let asked = AtomicU32::new(0);
        // The time passes between two polls.
        let passes = poll_fn(|_| {
            if asked.fetch_add(1, Ordering::Relaxed) == LOOKS {
                timer.advance(Duration::from_secs(60));
            }
            Poll::<()>::Pending
        });
        let run = tools
            .run(plan, (), &())
            .timer(timer.clone())
            .deadline(Duration::from_secs(60))
            .cancel_on(passes);
        let error = smol::block_on(run).unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Deadline, "{number}: {error}");
    }
}
