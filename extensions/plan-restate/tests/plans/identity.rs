//! Workers that answer only the Restate that has a key.

use super::app::Chain;
use super::runs::block_on;
use super::support::{Server, WorkerProcess, within};
use plan_restate::Client;
use std::time::Duration;

/// The public part of `identity.pem`, a key for this test alone.
const KEY: &str = "publickeyv1_HyHAYMCtwzKYNaugsrvro87jzAetyXDik9P9c8aWdvGH";

#[test]
fn a_worker_answers_only_the_restate_that_has_its_key() {
    let folder = |name: &str| {
        std::env::temp_dir().join(format!("plan-restate-{name}-{}", std::process::id()))
    };
    let pem = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/identity.pem");
    let invoker = format!("request-identity-private-key-pem-file = \"{pem}\"");
    let Some(known) = Server::start_with(folder("known"), &invoker) else {
        return;
    };
    let Some(stranger) = Server::start(folder("stranger")) else {
        return;
    };
    let worker = WorkerProcess::start("worker", &[("PLAN_RESTATE_KEY", KEY)]);
    known.register(worker.address);
    let client = Client::new(&format!("http://{}", known.ingress)).unwrap();
    block_on(async {
        assert_eq!(Chain { n: 1 }.submit(&client, "known").await.unwrap(), 4);
    });
    // The worker does not even list its services.
    let body = serde_json::json!({"uri": format!("http://{}", worker.address)});
    let refused = within(Duration::from_secs(1), || {
        stranger
            .administer("POST", "/deployments", Some(&body))
            .status
            >= 400
    });
    assert!(refused);
}

#[test]
fn what_is_not_a_key_is_refused() {
    let served = plan_restate::Worker::new(super::app::App::silent())
        .identity_key("publickeyv2_x")
        .serve("127.0.0.1:0");
    let error = block_on(served).unwrap_err().to_string();
    assert!(
        error.starts_with("`publickeyv2_x` is not an identity key: "),
        "{error}"
    );
}
