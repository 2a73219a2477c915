//! What Restate costs without plans: ten calls one after the other, and fifty side by side, written with the SDK alone. It is what plans are compared with.
//!
//! `cargo bench -p plan-restate --bench baseline` prints the median of fifteen runs through the ingress, with a server of its own.

// The macros of the SDK make functions without documentation.
#![allow(missing_docs)]

#[path = "../tests/support/mod.rs"]
mod support;

use restate_sdk::context::{DurableFuturesUnordered, RequestTarget};
use restate_sdk::prelude::*;
use serde_json::json;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use support::Server;

/// How many runs are measured, after two that are not.
const RUNS: usize = 15;
const LIMIT: Duration = Duration::from_secs(60);

struct Step;

#[restate_sdk::service(client_visibility = "pub(crate)")]
impl Step {
    /// Does its work in a `run`, as a step of a plan does: the output is recorded before it is answered.
    #[handler]
    async fn call(&self, ctx: Context<'_>, n: Json<u64>) -> Result<Json<u64>, HandlerError> {
        let n = n.into_inner();
        Ok(ctx.run(async move || Ok(Json(n + 1))).name("call").await?)
    }
}

struct Baseline;

#[restate_sdk::workflow(client_visibility = "pub(crate)")]
impl Baseline {
    #[handler]
    async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        shape: Json<(String, u64)>,
    ) -> Result<Json<u64>, HandlerError> {
        let (shape, calls) = shape.into_inner();
        let call = |n: u64| {
            let step = RequestTarget::service("Step", "call");
            ctx.request::<_, Json<u64>>(step, Json(n)).call()
        };
        let mut sum = 0;
        if shape == "chain" {
            for _ in 0..calls {
                sum = call(sum).await?.into_inner();
            }
        } else {
            let mut futures: DurableFuturesUnordered<_> = (0..calls).map(call).collect();
            while let Some((_, output)) = futures.next().await? {
                sum += output?.into_inner();
            }
        }
        Ok(Json(sum))
    }
}

fn main() {
    let Some(server) = Server::temporary("baseline") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bound = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = runtime.block_on(bound).unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::builder().bind(Step).bind(Baseline).build();
    runtime.spawn(plan_restate::serve(
        listener,
        endpoint,
        std::future::pending(),
    ));
    server.register(address);

    for (shape, calls, expected) in [("chain", 10, "10"), ("wide", 50, "1275")] {
        let mut times: Vec<Duration> = (0..RUNS + 2)
            .map(|number| {
                let begin = Instant::now();
                let path = format!("/Baseline/{shape}-{number}/run");
                let response = server.post(&path, &json!([shape, calls]), LIMIT).unwrap();
                assert_eq!((response.status, response.body.as_str()), (200, expected));
                begin.elapsed()
            })
            .skip(2)
            .collect();
        times.sort_unstable();
        let median = times[RUNS / 2].as_secs_f64() * 1e3;
        let each = median / f64::from(calls);
        println!(
            "{shape}, {calls} calls: median of {RUNS} runs {median:.1} ms, {each:.2} ms a call"
        );
    }
}
