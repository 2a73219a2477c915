//! Measures the cost of a step on Restate, in comparison with hand-written calls of the SDK: ten in a chain, and fifty concurrent
//! ones.
//!
//! `cargo bench --manifest-path extensions/Cargo.toml` prints the median of fifteen runs of each, through the ingress of a server of its own. The runs take turns.

// The macros of the SDK make functions without documentation.
#![allow(missing_docs)]

#[path = "../src/serve.rs"]
mod serve;
#[path = "../tests/support/mod.rs"]
mod support;

use plan_restate::{Client, Worker};
use plan_runtime::{Result, plan, tool};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use serde_json::json;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use support::Server;
use tokio::net::TcpListener;

/// The number of measured runs, after two warm-up runs.
const RUNS: usize = 15;

const LIMIT: Duration = Duration::from_secs(60);

/// Adds one.
#[tool]
async fn add(n: u64) -> Result<u64> {
    Ok(n + 1)
}

plan! {
    Chain(n: u64) -> u64 {
        step a = Add { n };
        step b = Add { n: a };
        step c = Add { n: b };
        step d = Add { n: c };
        step e = Add { n: d };
        step f = Add { n: e };
        step g = Add { n: f };
        step h = Add { n: g };
        step i = Add { n: h };
        step j = Add { n: i };
        j
    }
}

plan! {
    Wide(items: Vec<u64>) -> Vec<u64> {
        step all = for n in items { Add { n } };
        all
    }
}

struct Step;

#[restate_sdk::service(client_visibility = "pub(crate)")]
impl Step {
    /// Does its work in a `run`, as a step of a plan does.
    #[handler]
    async fn call(&self, ctx: Context<'_>, n: Json<u64>) -> Result<Json<u64>, HandlerError> {
        let n = n.into_inner();
        Ok(ctx.run(async move || Ok(Json(n + 1))).name("call").await?)
    }
}

struct ByHand;

#[restate_sdk::workflow(client_visibility = "pub(crate)")]
impl ByHand {
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
            let mut calls: DurableFuturesUnordered<_> = (0..calls).map(call).collect();
            while let Some((_, output)) = calls.next().await? {
                sum += output?.into_inner();
            }
        }
        Ok(Json(sum))
    }
}

fn main() {
    let Some(server) = Server::temporary("cost") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listen = || {
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.unwrap();
        (listener.local_addr().unwrap(), listener)
    };
    let (by_hand, listener) = listen();
    let endpoint = Endpoint::builder().bind(Step).bind(ByHand).build();
    let forever = std::future::pending();
    runtime.spawn(serve::serve(listener, endpoint, forever, Duration::ZERO));
    let (plans, listener) = listen();
    let worker = Worker::new(()).with::<Add>().with::<Chain>().with::<Wide>();
    runtime.spawn(worker.serve_on(listener));
    server.register(by_hand);
    server.register(plans);
    let client = Client::new(&format!("http://{}", server.ingress)).unwrap();

    println!("| | by hand | as a plan | ratio |\n|---|---|---|---|");
    for (shape, calls) in [("chain", 10), ("wide", 50)] {
        let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        for number in 0..RUNS + 2 {
            let begin = Instant::now();
            let path = format!("/ByHand/{shape}-{number}/run");
            let answer = server.post(&path, &json!([shape, calls]), LIMIT).unwrap();
            assert_eq!(answer.status, 200, "{answer:?}");
            times[0].push(begin.elapsed().as_secs_f64());

            let begin = Instant::now();
            let id = format!("{shape}-{number}");
            runtime.block_on(async {
                if shape == "chain" {
                    assert_eq!(Chain { n: 0 }.submit(&client, id).await.unwrap(), 10);
                } else {
                    let items = (0..calls).collect();
                    let output = Wide { items }.submit(&client, id).await.unwrap();
                    assert_eq!(output.len(), 50);
                }
            });
            times[1].push(begin.elapsed().as_secs_f64());
        }
        let [hand, plan] = times.map(|mut times| {
            times.drain(..2);
            times.sort_by(f64::total_cmp);
            times[RUNS / 2] * 1e3 / calls as f64
        });
        let what = if shape == "chain" {
            "a chain of 10"
        } else {
            "50 beside each other"
        };
        println!(
            "| {what} | {hand:.2} ms a call | {plan:.2} ms a call | {:.2} × |",
            plan / hand
        );
    }
}
