//! The server, the balancer and the workers of the other tests, and the accept loop, with hand-written services.

#[path = "../src/serve.rs"]
mod serve;
mod support;

use restate_sdk::prelude::*;
use serde_json::json;
use std::thread;
use std::time::Duration;
use support::{Balancer, Server, WorkerProcess, within};

const LIMIT: Duration = Duration::from_secs(60);

struct Hand;

#[restate_sdk::workflow(client_visibility = "pub(crate)")]
impl Hand {
    /// Adds one to a number, a number of times, with a pause before each.
    #[handler(invocation_retry_policy(initial_interval = "20ms", max_interval = "200ms"))]
    async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        times: Json<u64>,
    ) -> Result<Json<u64>, HandlerError> {
        let mut sum = 0;
        for _ in 0..times.into_inner() {
            ctx.sleep(Duration::from_millis(100)).await?;
            sum = ctx.run(async || Ok(Json(sum + 1))).await?.into_inner();
        }
        Ok(Json(sum))
    }
}

struct Slow;

#[restate_sdk::service(client_visibility = "pub(crate)")]
impl Slow {
    #[handler]
    async fn wait(&self, ctx: Context<'_>, millis: Json<u64>) -> Result<Json<u64>, HandlerError> {
        let millis = millis.into_inner();
        let work = async move || {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(Json(millis))
        };
        Ok(ctx.run(work).await?)
    }
}

#[test]
#[ignore = "a worker of the other tests"]
fn worker() {
    let Some(address) = WorkerProcess::address_in_worker() else {
        return;
    };
    // A file that asks it to stop.
    let stop = std::env::var_os("STOP").unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let shutdown = async {
            while !std::path::Path::new(&stop).exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        serve::serve(
            listener,
            Endpoint::builder().bind(Hand).bind(Slow).build(),
            shutdown,
            Duration::from_secs(10),
        )
        .await;
    });
}

#[test]
fn a_workflow_ends_although_its_worker_and_the_server_are_killed() {
    let Some(mut server) = Server::temporary("killed") else {
        return;
    };
    let mut workers = [
        WorkerProcess::start("worker", &[]),
        WorkerProcess::start("worker", &[]),
    ];
    let balancer = Balancer::start([workers[0].address, workers[1].address]);
    server.register(balancer.address);
    let sent = server
        .post("/Hand/one/run/send", &json!(10), LIMIT)
        .unwrap();
    assert_eq!(sent.status, 202, "{sent:?}");

    thread::sleep(Duration::from_millis(300));
    workers[0].kill();
    thread::sleep(Duration::from_millis(200));
    server.kill();
    server.restart();
    workers[1].kill();
    workers[0].restart();
    let result = server
        .get("/restate/workflow/Hand/one/attach", LIMIT)
        .unwrap();
    assert_eq!((result.status, result.body.as_str()), (200, "10"));
    // Nothing of it is left to run.
    assert_eq!(
        server.query("SELECT id FROM sys_invocation WHERE status <> 'completed'"),
        Vec::<serde_json::Value>::new()
    );
}

#[test]
fn a_worker_that_stops_lets_its_requests_end() {
    let Some(server) = Server::temporary("stops") else {
        return;
    };
    let file = std::env::temp_dir().join(format!("plan-restate-stop-{}", std::process::id()));
    let stops = WorkerProcess::start("worker", &[("STOP", file.to_str().unwrap())]);
    server.register(stops.address);
    let result = thread::scope(|scope| {
        let result = scope.spawn(|| server.post("/Slow/wait", &json!(3000), LIMIT).unwrap());
        thread::sleep(Duration::from_millis(500));
        std::fs::write(&file, "").unwrap();
        result.join().unwrap()
    });
    std::fs::remove_file(file).unwrap();
    // No other worker could answer.
    assert_eq!((result.status, result.body.as_str()), (200, "3000"));
    assert!(
        within(Duration::from_secs(5), || std::net::TcpStream::connect(
            stops.address
        )
        .is_err()),
        "it still accepts connections"
    );
}

#[test]
fn a_balancer_takes_other_workers() {
    let Some(server) = Server::temporary("balancer") else {
        return;
    };
    let mut first = WorkerProcess::start("worker", &[]);
    let balancer = Balancer::start([first.address]);
    server.register(balancer.address);
    assert_eq!(
        server.post("/Slow/wait", &json!(1), LIMIT).unwrap().body,
        "1"
    );
    first.kill();
    let second = WorkerProcess::start("worker", &[]);
    balancer.set([first.address, second.address]);
    assert_eq!(
        server.post("/Slow/wait", &json!(2), LIMIT).unwrap().body,
        "2"
    );
    balancer.cut();
    assert_eq!(
        server.post("/Slow/wait", &json!(3), LIMIT).unwrap().body,
        "3"
    );
}

#[test]
fn a_server_leaves_nothing_after_a_panic() {
    let folder = std::env::temp_dir().join(format!("plan-restate-panic-{}", std::process::id()));
    let its = folder.clone();
    let ended = thread::spawn(move || {
        if let Some(server) = Server::start(its) {
            std::panic::panic_any(server.admin);
        }
    });
    let Err(panic) = ended.join() else {
        return;
    };
    let admin = *panic.downcast::<std::net::SocketAddr>().unwrap();
    assert!(!folder.exists());
    assert!(std::net::TcpStream::connect(admin).is_err());
}
