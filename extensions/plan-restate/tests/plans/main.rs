//! Plans on a Restate server, with workers in processes of their own, some of which are killed.

mod app;
mod chaos;
#[cfg(feature = "identity")]
mod identity;
mod refused;
mod rough;
mod runs;
#[path = "../support/mod.rs"]
mod support;

use plan_restate::Worker;
use support::WorkerProcess;

/// The variable with the folder of the service that all workers call.
const SERVICE: &str = "PLAN_RESTATE_SERVICE";

#[test]
#[ignore = "a worker of the other tests"]
fn worker() {
    let Some(address) = WorkerProcess::address_in_worker() else {
        return;
    };
    let app = app::App::new(std::env::var_os(SERVICE).map(Into::into));
    let is_other = std::env::var_os("PLAN_RESTATE_OTHER").is_some();
    let toolbox = if is_other {
        app::other_toolbox()
    } else {
        app::toolbox()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let worker = Worker::new(app).with_toolbox(toolbox);
    let worker = if std::env::var_os("PLAN_RESTATE_CAPTURE").is_some() {
        worker.configure(|run, _| run.capture_outputs(true))
    } else {
        worker
    };
    #[cfg(feature = "identity")]
    let worker = match std::env::var("PLAN_RESTATE_KEY") {
        Ok(key) => worker.identity_key(key),
        Err(_) => worker,
    };
    runtime.block_on(worker.serve(address)).unwrap();
}
