//! The loop that accepts connections of Restate.

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long the loop waits if a connection could not be accepted, since too many files are open, say.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves an endpoint until `shutdown` is ready. Then it accepts no further connections, and what runs has `grace` to end. What has not ended then is cut off, and Restate asks another worker.
///
/// The SDK's own server lets each small message wait for the acknowledgement of the one before, which costs some 40 ms a call.
pub(crate) async fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let endpoint = HyperEndpoint::new(endpoint);
    let running = GracefulShutdown::new();
    // All connections end with it.
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            // Those that have ended are not kept.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // Without it, the connection is slow, and works.
        let _ = stream.set_nodelay(true);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .serve_connection(TokioIo::new(stream), endpoint.clone());
        // What ends a connection is Restate's to tell, and to mend.
        connections.spawn(running.watch(connection));
    }
    drop(listener);
    let _ = timeout(grace, running.shutdown()).await;
}
